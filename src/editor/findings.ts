import { PORTS } from '../api/types';
import type { Answer, StripRow } from './answer';
import { outletState, SIGNS } from './outlets';
import { text } from './text';

/** Shows the strips an account was found to have, with every outlet's state in a sign and a word. */
export function findings(result: JQuery, answer: Answer & { ok: true }): void {
  const { strips } = answer;
  if (!answer.readable) {
    $('<p class="smart-strip-caution">')
      .text(`⚠ ${text('strip-account.test.unreadable')}`)
      .appendTo(result);
  } else {
    const outlets = strips.reduce((sum, strip) => sum + strip.outlets.length, 0);
    const summary = strips.length === 0 ? 'none' : 'found';
    $('<p class="smart-strip-success">')
      .text(`✓ ${text(`strip-account.test.${summary}`, { strips: strips.length, outlets })}`)
      .appendTo(result);
  }
  if (strips.length > 0) table(strips).appendTo(result);
}

function table(strips: readonly StripRow[]): JQuery {
  const header = $('<tr>');
  const columns = [text('strip-account.test.name'), text('strip-account.test.mac'), ...PORTS.map(String)];
  for (const column of columns) $('<th scope="col">').text(column).appendTo(header);
  const body = $('<tbody>');
  for (const strip of strips) row(strip).appendTo(body);
  const whole = $('<table>').attr('aria-label', text('strip-account.picker.strips'));
  return $('<div class="smart-strip-table">').append(whole.append($('<thead>').append(header), body));
}

function row(strip: StripRow): JQuery {
  const line = $('<tr>');
  const name = strip.name ?? '–';
  $('<td>').attr('title', name).text(name).appendTo(line);
  $('<td>').append($('<code>').text(strip.mac)).appendTo(line);
  for (const port of PORTS) {
    const state = outletState(strip, String(port));
    const cell = $('<td>').appendTo(line);
    if (state !== null) cell.text(`${SIGNS[state]} ${text(`strip-account.state.${state}`)}`);
  }
  return line;
}
