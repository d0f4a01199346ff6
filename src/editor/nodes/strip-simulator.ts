import { PORTS } from '../../api/types';
import { ON_AT_START, SETTINGS, simulatorPath, textOf, type Config } from '../../settings';
import { isRecord } from '../../values';
import type { Check, Descriptor } from '../descriptors';
import { showMessage, faultIn, fieldOf, nameRemoval, faultText, showHint, watchField } from '../form';
import { text, type EditorNode } from '../red';

const checkPath: Check = (value) =>
  simulatorPath(String(value)) === null ? { key: 'strip-simulator.invalid.path' } : null;

const checkStrips: Check = (value) => {
  if (!Array.isArray(value)) return { key: 'strip-simulator.invalid.strips' };
  const macs = value.map((strip: unknown) =>
    textOf(strip, 'mac')
      .replace(/[\s:._-]/g, '')
      .toLowerCase(),
  );
  if (macs.includes('')) return { key: 'strip-simulator.invalid.mac' };
  return new Set(macs).size === macs.length ? null : { key: 'strip-simulator.invalid.macTwice' };
};

export const stripSimulator: Descriptor = {
  type: 'strip simulator',
  checks: { path: checkPath, strips: checkStrips },
  inputLabel: () => text('strip-simulator.port.input'),
  outputLabel: () => text('strip-simulator.port.output'),
  open,
  save: (node) => {
    node.strips = listed();
  },
};

const LIST = '#smart-strip-strips';

/** Strips as the list holds them. What its fields do not show is kept as it is. */
const listed = (): object[] =>
  Array.from($(LIST).editableList('items'), (item) => {
    const stored: unknown = $(item).data('data'); // what was added to the list
    const typed = (part: string) => String($(item).find(`[data-part=${part}]`).val()).trim();
    const names = PORTS.map((port) => typed(`outlet${port}`));
    return {
      ...withNames(isRecord(stored) ? stored : {}, names),
      mac: typed('mac'),
      name: typed('name'),
    };
  });

const nameOf = (outlet: unknown): string => textOf(outlet, 'name');

/** A strip whose outlets have these names; one that has them already, or none, is left as it is. */
export function withNames(strip: Config, names: readonly string[]): Config {
  const outlets: unknown[] = Array.isArray(strip.outlets)
    ? strip.outlets
    : PORTS.map((port) => ({ on: ON_AT_START.includes(port) }));
  if (names.every((name, index) => name === nameOf(outlets[index]))) return strip;
  return {
    ...strip,
    outlets: names.map((name, index) => {
      const outlet = outlets[index] ?? { on: false };
      return name === nameOf(outlet) ? outlet : { ...(isRecord(outlet) ? outlet : {}), name };
    }),
  };
}

function open(node: EditorNode): void {
  const path = fieldOf(node, 'path');
  const showPath = () => {
    const typed = simulatorPath(String(path.val()));
    if (typed === null) showHint('path', '');
    else showHint('path', 'strip-simulator.hint.path', { path: typed === '' ? '/' : typed });
  };
  path.on('input change', showPath);
  showPath();
  for (const field of ['path', 'latency']) watchField(stripSimulator, node, field);

  const list = $(LIST);
  const check = () => {
    const fault = faultIn(stripSimulator, node, 'strips', listed());
    showMessage('strips', fault === null ? '' : faultText(fault));
  };
  const part = (row: JQuery, name: string, label: string, value: string) =>
    $('<input type="text">')
      .attr({
        'data-part': name,
        placeholder: label,
        'aria-label': label,
        'aria-describedby': 'smart-strip-message-strips',
      })
      .val(value)
      .on('input', check)
      .appendTo(row);
  list.editableList({
    addButton: text('strip-simulator.add'),
    sortable: true,
    removable: true,
    height: 'auto',
    addItem: (container, _, strip) => {
      const row = $('<div class="smart-strip-outlet-row smart-strip-simulated">').appendTo(container);
      const values = isRecord(strip) ? strip : {};
      const mac = part(row, 'mac', text('strip-simulator.label.mac'), textOf(values, 'mac'));
      part(row, 'name', text('strip-simulator.label.stripName'), textOf(values, 'name'));
      const stored: unknown[] = Array.isArray(values.outlets) ? values.outlets : [];
      for (const port of PORTS) {
        const label = text('strip-account.preview.unnamed', { port });
        part(row, `outlet${port}`, label, nameOf(stored[port - 1]));
      }
      nameRemoval(container);
      if (Object.keys(values).length > 0) return;
      // It was added by hand.
      mac.trigger('focus');
      check();
    },
    removeItem: check,
  });
  list.editableList(
    'addItems',
    Array.isArray(node.strips) ? node.strips : SETTINGS['strip simulator'].strips.default,
  );
  check();
}
