import { isRecord } from '../values';
import { problemOf } from './answers';
import { textOf } from './descriptor';
import { text, type EditorNode } from './red';
import { readAnswer, type AccountValues } from './strips';

/** What the runtime said of an answer of the service. */
interface Preview {
  /** The service's body, for reading it again; `null` while nothing was asked. */
  body: unknown;
  shortened: boolean;
  read: unknown;
}

/** After the last key stroke in the mapping, milliseconds. */
const PAUSE = 400;

/**
 * Shows what the service sends beside what is read from it, and reads it again, without a request, whenever the mapping changes. `values`:
 * what the dialog holds now.
 */
export function openPreview(node: EditorNode, values: () => AccountValues): void {
  const parts = drawParts();
  const field = $('#node-config-input-mapping');
  let shown: Preview | null = null;
  let latest = 0;
  let timer = 0;

  const refresh = async (request: object, running: string) => {
    const turn = ++latest;
    parts.told.text(text(running));
    const answer = await ask({ ...values(), mapping: mapping(), ...request });
    // The dialog may have been closed, or something newer be asked.
    if (turn !== latest || !parts.read.closest('body').length) return;
    parts.told.empty();
    if (typeof answer === 'string') {
      parts.told.text(answer);
      return;
    }
    shown =
      'body' in request && shown !== null
        ? { ...answer, body: shown.body, shortened: shown.shortened }
        : answer;
    draw(parts, shown);
  };

  const mapping = () => (parts.use.prop('checked') === true ? field.typedInput('value') : '');
  let last = '';
  const again = () => {
    // A key that types nothing asks for nothing.
    if (mapping() === last) return;
    last = mapping();
    window.clearTimeout(timer);
    const body = shown?.body;
    if (body !== undefined)
      timer = window.setTimeout(() => void refresh({ body }, 'strip-account.preview.reading'), PAUSE);
  };

  parts.ask.on('click', () => void refresh({}, 'strip-account.preview.running'));
  field.typedInput({ default: 'jsonata', types: ['jsonata'] });
  const hasMapping = textOf(node, 'mapping').trim() !== '';
  parts.use.prop('checked', hasMapping);
  last = mapping();
  parts.row.toggle(hasMapping);
  if (hasMapping) $('#smart-strip-preview').attr('open', '');
  parts.use.on('change', () => {
    parts.row.toggle(parts.use.prop('checked') === true);
    again();
  });
  parts.row.on('input change keyup', again);
}

/** Puts the mapping where Node-RED reads it; none where it is switched off. */
export function savePreview(): void {
  const field = $('#node-config-input-mapping');
  field.val($('#smart-strip-use-mapping').prop('checked') === true ? field.typedInput('value') : '');
}

interface Parts {
  ask: JQuery;
  use: JQuery;
  row: JQuery;
  told: JQuery;
  sent: JQuery;
  read: JQuery;
}

function drawParts(): Parts {
  const ask = $('#smart-strip-preview-ask');
  const compare = $('#smart-strip-compare').hide();
  const column = (title: string) =>
    $('<section>')
      .append($('<h5>').text(text(title)))
      .appendTo(compare);
  const sent = $('<pre tabindex="0">').appendTo(column('strip-account.preview.sent'));
  const read = $('<div role="status" tabindex="0">').appendTo(column('strip-account.preview.read'));
  return {
    ask,
    use: $('#smart-strip-use-mapping'),
    row: $('#smart-strip-row-mapping'),
    told: $('#smart-strip-preview-told'),
    sent,
    read,
  };
}

/** A sentence in place of a preview where there is none. */
function ask(request: object): Promise<Preview | string> {
  return new Promise((resolve) => {
    void $.ajax({
      url: 'strip-account/preview',
      type: 'POST',
      contentType: 'application/json; charset=utf-8',
      data: JSON.stringify(request),
      dataType: 'json',
      success: (answer: unknown) => resolve(readPreview(answer)),
      error: ({ status }) => resolve(text(`strip-account.trouble.${problemOf(status)}`)),
    });
  });
}

function readPreview(answer: unknown): Preview | string {
  if (!isRecord(answer)) return text('strip-account.trouble.unexpected');
  if (answer.ok === true)
    return { body: answer.body, shortened: answer.shortened === true, read: answer.read };
  return failureText(answer);
}

function failureText(answer: unknown): string {
  const failed = readAnswer(answer);
  return failed === null || failed.ok
    ? text('strip-account.trouble.unexpected')
    : text(failed.key, failed.params);
}

function draw({ sent, read }: Parts, { body, shortened, read: found }: Preview): void {
  $('#smart-strip-compare').show();
  sent.text(JSON.stringify(body, null, 2));
  read.empty();
  const say = (sentence: string, kind = 'note') =>
    $(`<p class="smart-strip-${kind}">`).text(sentence).appendTo(read);
  if (shortened) say(text('strip-account.preview.shortened'));
  if (!isRecord(found) || found.ok !== true) {
    say(`✕ ${failureText(found)}`, 'failure');
    return;
  }
  const strips = Array.isArray(found.strips) ? found.strips.filter(isRecord) : [];
  const notes = Array.isArray(found.notes) ? found.notes.filter(isRecord) : [];
  if (strips.length === 0) say(text('strip-account.preview.none'), 'caution');
  else if (found.readable !== true) say(`⚠ ${text('strip-account.preview.unreadable')}`, 'caution');
  for (const strip of strips) {
    drawStrip(
      strip,
      notes.filter((note) => note.mac === strip.mac),
    ).appendTo(read);
  }
  for (const note of notes) if (note.mac === null) say(noteText(note), 'caution');
  if (found.complete !== true && strips.length > 0) say(text('strip-account.preview.incomplete'));
}

function drawStrip(strip: Record<string, unknown>, notes: readonly Record<string, unknown>[]): JQuery {
  const drawn = $('<div class="smart-strip-read">');
  const title = $('<p>').appendTo(drawn);
  if (typeof strip.name === 'string') $('<b>').text(strip.name).appendTo(title).after(' ');
  $('<code>').text(String(strip.mac)).appendTo(title);
  if (strip.available === false) title.append(` – ${text('strip-account.preview.offline')}`);
  const list = $('<ul>').appendTo(drawn);
  const unknown = text('strip-account.preview.unknown');
  for (const outlet of Array.isArray(strip.outlets) ? strip.outlets.filter(isRecord) : []) {
    const on =
      outlet.on === true ? `● ${text('strip-account.preview.on')}` : `○ ${text('strip-account.preview.off')}`;
    const name = outletText(Number(outlet.port), outlet.name);
    $('<li>')
      .text(`${name}: ${typeof outlet.on === 'boolean' ? on : `? ${unknown}`}`)
      .appendTo(list);
  }
  const units = isRecord(strip.units) ? strip.units : {};
  for (const reading of ['load', 'voltage', 'signal'] as const) {
    const value = strip[reading];
    const unit = units[reading];
    const shown =
      typeof value === 'number' ? `${value}${typeof unit === 'string' ? ` ${unit}` : ''}` : unknown;
    $('<li>')
      .text(`${text(`strip-account.reading.${reading}`)}: ${shown}`)
      .appendTo(list);
  }
  for (const note of notes) $('<p class="smart-strip-caution">').text(noteText(note)).appendTo(drawn);
  return drawn;
}

const outletText = (port: number, name: unknown): string =>
  typeof name === 'string' ? `${port} ${name}` : text('strip-account.preview.unnamed', { port });

/** Why a value is unknown: "2: two values disagree: physical_state, state". */
function noteText({ about, reason, fields }: Record<string, unknown>): string {
  const isReading = about === 'load' || about === 'voltage' || about === 'signal';
  const subject = isReading ? text(`strip-account.reading.${about}`) : outletText(Number(about), null);
  const names = Array.isArray(fields) ? fields.map(String).join(', ') : '';
  return text(`strip-account.preview.reasons.${String(reason)}`, { about: subject, fields: names });
}
