import type { Note } from '../api/decode';
import { READINGS, type Strip } from '../api/types';
import { MAX_PREVIEWED, type Failure, type SentAnswer, type StripsAnswer } from '../flow/admin-answers';
import { typedField, type Dialog } from './form';
import { block, html, line, text } from './red';
import { fieldToCorrect, onOff, readingText, stateText, type AskedFor } from './strips';

/** Milliseconds from the last key stroke in the mapping until the answer is read again. */
const PAUSE = 400;

/** Prepares the field of the mapping, which is used only while the box above it is checked. */
function openMapping(dialog: Dialog): void {
  typedField(dialog, 'mapping');
  const use = dialog.find('#smart-strip-use-mapping');
  const row = dialog.find('#smart-strip-row-mapping');
  const field = dialog.field('mapping');
  const hasMapping = field.val() !== '';
  row.toggle(hasMapping);
  if (hasMapping) dialog.find('#smart-strip-preview').attr('open', '');
  use.prop('checked', hasMapping).on('change', () => {
    row.toggle(use.is(':checked'));
    field.triggerHandler('change');
  });
  dialog.readers.mapping = () => (use.is(':checked') ? String(field.val()) : '');
}

/**
 * Shows what the service sends (the list or one strip) beside what is read from it, and reads it again, without a request, whenever the mapping
 * changes. `ask`: requests an answer with the values in the dialog. `show` of the result shows the list that _Test connection_ has requested; `clear`
 * removes it, because another service may be meant now.
 */
export function openPreview(dialog: Dialog, ask: (asked: AskedFor) => Promise<StripsAnswer>) {
  openMapping(dialog);
  const told = dialog.find('#smart-strip-preview-told');
  const answerRow = dialog.find('#smart-strip-row-answer').hide();
  const choice = dialog.find('#smart-strip-answer');
  const compare = dialog.find('#smart-strip-compare');
  /** The answer that is shown. */
  let sent: SentAnswer | undefined;
  /** Counts what is to be shown, so that an outdated answer is ignored. */
  let turn = 0;
  let timer = 0;

  const draw = (answer: StripsAnswer) => {
    told.empty();
    if (!answer.ok && isMappingFault(answer)) dialog.showMessage('mapping', text(answer.key, answer.params));
    // An error of the field itself stays.
    else dialog.field('mapping').triggerHandler('change');
    compare.toggle(sent !== undefined);
    if (sent === undefined) return;
    compare.find('pre').text(JSON.stringify(sent.body, null, 2));
    const read = compare.find('div').empty();
    if (sent.shortened) read.append(line('note', text('strip-account.preview.shortened')));
    if (!answer.ok) return;
    read.append(...readLines(answer));
    if (choice.val() === '') offerStrips(choice, answer.strips);
  };
  /** `again`: what was sent, to be read once more instead of asking the service. */
  const refresh = async (again?: SentAnswer) => {
    const mine = ++turn;
    told.text(text(again ? 'strip-account.preview.reading' : 'strip-account.test.running'));
    const answer = await ask({ mac: String(choice.val()), ...again });
    // There may have been a newer request meanwhile, or the dialog was closed.
    if (!dialog.isOpen || mine !== turn) return;
    if (!again) sent = answer.sent;
    draw(answer);
    told.text(summaryOf(answer));
  };

  choice.on('change', () => void refresh());
  dialog.find('#smart-strip-use-mapping, #smart-strip-row-mapping').on('input change', () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (sent && dialog.isOpen) void refresh(sent);
    }, PAUSE);
  });

  return {
    show: (list: StripsAnswer) => {
      turn++;
      choice.empty().append(html('option', { value: '' }, text('strip-account.preview.list')));
      sent = list.sent;
      answerRow.toggle(sent !== undefined);
      draw(list);
    },
    clear: () => {
      turn++;
      sent = undefined;
      told.empty();
      answerRow.add(compare).hide();
    },
  };
}

/** Adds strips to those that can be chosen. A strip that a mapping hides stays. */
function offerStrips(choice: JQuery, strips: readonly Strip[]): void {
  const offered = new Set(choice.find('option').map((_, option) => option.getAttribute('value')));
  for (const { mac, name } of strips) {
    const label = name === null ? mac : `${name} (${mac})`;
    if (!offered.has(mac)) choice.append(html('option', { value: mac }, label));
  }
}

const isMappingFault = ({ code, key }: Failure): boolean => fieldToCorrect(code, key) === 'mapping';

/** One line about an answer, which a screen reader reads out. To read out everything in the answer could take minutes. */
function summaryOf(answer: StripsAnswer): string {
  // What is wrong with the mapping is shown below its field.
  if (!answer.ok) return isMappingFault(answer) ? '' : text(answer.key, answer.params);
  const all = answer.strips.length;
  return text('strip-account.picker.shown', { shown: Math.min(all, MAX_PREVIEWED), all });
}

/** What was read from an answer. */
function readLines({ strips, notes, readable, complete }: StripsAnswer & { ok: true }): HTMLElement[] {
  const lines = strips.slice(0, MAX_PREVIEWED).map((strip) => readStrip(strip, notes));
  if (strips.length === 0) lines.unshift(line('caution', text('strip-account.preview.none')));
  else if (!readable) lines.unshift(line('caution', `⚠ ${text('strip-account.preview.unreadable')}`));
  lines.push(...notes.filter(({ mac }) => mac === null).map(noteLine));
  if (!complete && strips.length > 0) lines.push(line('note', text('strip-account.preview.incomplete')));
  return lines;
}

function readStrip(strip: Strip, notes: readonly Note[]): HTMLElement {
  const name = strip.name === null ? [] : [html('b', {}, strip.name), ' '];
  const available = strip.available ? '' : ` – ${text('status.unavailable')}`;
  const item = (name: string, value: string) =>
    html('li', {}, text('strip-account.preview.value', { name, value }));
  const outlets = strip.outlets.map(({ port, name, on }) =>
    item(outletText(port, name), stateText(onOff(on))),
  );
  const readings = READINGS.map((name) => {
    const value = readingText(strip, name) ?? text('strip-account.preview.unknown');
    return item(text(`strip-account.reading.${name}`), value);
  });
  return block(
    'read',
    html('p', {}, ...name, html('code', {}, strip.mac), available),
    html('ul', {}, ...outlets, ...readings),
    ...notes.filter(({ mac }) => mac === strip.mac).map(noteLine),
  );
}

const outletText = (port: Note['about'], name: string | null): string =>
  name === null ? text('strip-account.preview.unnamed', { port }) : `${port} ${name}`;

/** Why a value is unknown: "2: two values disagree: physical_state, state". */
function noteLine({ about, reason, fields }: Note): HTMLElement {
  const isReading = READINGS.some((name) => name === about);
  const subject = isReading ? text(`strip-account.reading.${about}`) : outletText(about, null);
  const params = { about: subject, fields: fields.join(', ') };
  return line('caution', text(`strip-account.preview.reasons.${reason}`, params));
}
