import { READINGS } from '../api/types';
import { fieldToCorrect, type Answer, type NoteInfo, type SentInfo, type StripInfo } from './answers';
import { textOf } from '../settings';
import { showMessage } from './form';
import { text, type EditorNode } from './red';
import { stateText, type AskedFor } from './strips';

/** After the last key stroke in the mapping, milliseconds. */
const PAUSE = 400;
/** Of a longer list the first strips say enough about its shape. */
const MOST_STRIPS = 50;

/** The mapping that the dialog holds; "" where it is switched off. */
export const typedMapping = (): string =>
  $('#smart-strip-use-mapping').prop('checked') === true
    ? $('#node-config-input-mapping').typedInput('value')
    : '';

/** Puts the mapping where Node-RED reads it; none where it is switched off. */
export function savePreview(): void {
  $('#node-config-input-mapping').val(typedMapping());
}

/**
 * Shows what the service sends, the list or one strip, beside what is read from it, and reads it again, without a request, whenever the
 * mapping changes. `ask`: asks with what the dialog holds. Returns what shows the list when Test connection has asked for it.
 */
export function openPreview(
  node: EditorNode,
  ask: (asked: AskedFor) => Promise<Answer>,
): (list: Answer) => void {
  openMapping(node);
  const told = $('#smart-strip-preview-told');
  const choice = $('#smart-strip-answer');
  const compare = $('#smart-strip-compare').hide();
  const column = (title: string, content: string) =>
    $(content).appendTo(
      $('<section>')
        .append($('<h5>').text(text(title)))
        .appendTo(compare),
    );
  const left = column('strip-account.preview.sent', '<pre tabindex="0">');
  const right = column('strip-account.preview.read', '<div role="status" tabindex="0">');
  let sent: SentInfo | null = null;
  let turn = 0;
  let timer = 0;

  const show = (answer: Answer) => {
    sent = answer.sent;
    told.empty();
    showMessage('mapping', !answer.ok && isMappingFault(answer) ? text(answer.key, answer.params) : '');
    compare.toggle(sent !== null);
    if (sent === null) return;
    left.text(JSON.stringify(sent.body, null, 2));
    drawRead(right.empty(), answer, sent.shortened);
    if (answer.ok && choice.val() === '') offer(answer.strips);
  };
  /** Strips that can be chosen; one that a mapping hides stays. */
  const offer = (strips: readonly StripInfo[]) => {
    const offered = new Set(choice.find('option').map((_, option) => option.getAttribute('value')));
    for (const { mac, name } of strips) {
      if (!offered.has(mac))
        $('<option>')
          .val(mac)
          .text(name === null ? mac : `${name} (${mac})`)
          .appendTo(choice);
    }
  };
  const refresh = async (body?: { body: unknown }) => {
    const mine = ++turn;
    told.text(text(body ? 'strip-account.preview.reading' : 'strip-account.test.running'));
    const answer = await ask({ mac: String(choice.val()), ...body });
    // Something newer may have been asked since, or the dialog closed.
    if (mine !== turn) return;
    show(body ? { ...answer, sent } : answer);
    if (!answer.ok && answer.sent === null) told.text(text(answer.key, answer.params));
  };

  choice.on('change', () => void refresh());
  let last = typedMapping();
  $('#smart-strip-preview').on('input change keyup', () => {
    // A key that types nothing asks for nothing.
    if (typedMapping() === last) return;
    last = typedMapping();
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (sent !== null) void refresh({ body: sent.body });
    }, PAUSE);
  });

  const row = $('#smart-strip-row-answer').hide();
  return (list) => {
    turn++;
    choice.empty().append($('<option value="">').text(text('strip-account.preview.list')));
    row.toggle(list.sent !== null);
    show(list);
  };
}

const isMappingFault = (answer: Answer): boolean =>
  !answer.ok && fieldToCorrect(answer.code, answer.key) === 'mapping';

function openMapping(node: EditorNode): void {
  const use = $('#smart-strip-use-mapping');
  const row = $('#smart-strip-row-mapping');
  const hasMapping = textOf(node, 'mapping') !== '';
  $('#node-config-input-mapping').typedInput({ default: 'jsonata', types: ['jsonata'] });
  row.find('.red-ui-typedInput-input').attr({
    id: 'smart-strip-mapping',
    'aria-describedby': 'smart-strip-message-mapping smart-strip-hint-mapping',
  });
  row.children('label').attr('for', 'smart-strip-mapping');
  use.prop('checked', hasMapping).on('change', () => row.toggle(use.prop('checked') === true));
  row.toggle(hasMapping);
  if (hasMapping) $('#smart-strip-preview').attr('open', '');
}

function drawRead(read: JQuery, answer: Answer, shortened: boolean): void {
  const say = (sentence: string, kind = 'note') =>
    $(`<p class="smart-strip-${kind}">`).text(sentence).appendTo(read);
  if (shortened) say(text('strip-account.preview.shortened'));
  if (!answer.ok) {
    // What is wrong with the mapping stands below its field.
    if (!isMappingFault(answer)) say(`✕ ${text(answer.key, answer.params)}`, 'failure');
    return;
  }
  const { strips, notes, readable, complete } = answer;
  if (strips.length === 0) say(text('strip-account.preview.none'), 'caution');
  else if (!readable) say(`⚠ ${text('strip-account.preview.unreadable')}`, 'caution');
  for (const strip of strips.slice(0, MOST_STRIPS)) {
    const about = notes.filter(({ mac }) => mac === strip.mac);
    drawStrip(strip, about).appendTo(read);
  }
  for (const note of notes) if (note.mac === null) say(noteText(note), 'caution');
  if (!complete && strips.length > 0) say(text('strip-account.preview.incomplete'));
}

function drawStrip(strip: StripInfo, notes: readonly NoteInfo[]): JQuery {
  const drawn = $('<div class="smart-strip-read">');
  const title = $('<p>').appendTo(drawn);
  if (strip.name !== null) $('<b>').text(strip.name).appendTo(title).after(' ');
  $('<code>').text(strip.mac).appendTo(title);
  if (!strip.available) title.append(` – ${text('strip-account.state.unavailable')}`);
  const list = $('<ul>').appendTo(drawn);
  const item = (name: string, value: string) => $('<li>').text(`${name}: ${value}`).appendTo(list);
  for (const { port, name, on } of strip.outlets) {
    item(outletText(String(port), name), stateText(on === null ? 'unknown' : on ? 'on' : 'off'));
  }
  for (const name of READINGS) {
    const reading = strip.readings.find((each) => each.name === name);
    const value = reading ? `${reading.value} ${reading.unit}`.trim() : text('strip-account.preview.unknown');
    item(text(`strip-account.reading.${name}`), value);
  }
  for (const note of notes) $('<p class="smart-strip-caution">').text(noteText(note)).appendTo(drawn);
  return drawn;
}

const outletText = (port: string, name: string | null): string =>
  name === null ? text('strip-account.preview.unnamed', { port }) : `${port} ${name}`;

/** Why a value is unknown: "2: two values disagree: physical_state, state". */
function noteText({ about, reason, fields }: NoteInfo): string {
  const isReading = READINGS.some((name) => name === about);
  const subject = isReading ? text(`strip-account.reading.${about}`) : outletText(about, null);
  return text(`strip-account.preview.reasons.${reason}`, { about: subject, fields: fields.join(', ') });
}
