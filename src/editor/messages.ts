import type { Fault } from './validate';
import { text } from './text';

export const sentenceOf = (fault: Fault): string =>
  'sentence' in fault ? fault.sentence : text(fault.key, fault.params);

/**
 * Says in words, below the field it is about, what is wrong with it; "" takes it back. Screen readers are led from the
 * field to the words.
 */
export function explain(field: string, sentence: string, kind: 'error' | 'warning' = 'error'): void {
  const row = $(`#smart-strip-row-${field}`);
  let message = row.children('.smart-strip-message');
  if (message.length === 0) {
    const id = `smart-strip-message-${field}`;
    message = $('<div class="smart-strip-message">').attr({ id, role: 'status' });
    const hint = row.children('.smart-strip-hint');
    if (hint.length > 0) message.insertBefore(hint);
    else message.appendTo(row);
    row.find('input:not([type=hidden]), select').first().attr('aria-describedby', id);
  }
  const said = sentence === '' ? '' : `${kind === 'error' ? '✕' : '⚠'} ${sentence}`;
  message.toggleClass('smart-strip-warning', kind === 'warning');
  if (message.text() !== said) message.text(said);
  row.find('input, select').attr('aria-invalid', sentence !== '' && kind === 'error' ? 'true' : 'false');
}
