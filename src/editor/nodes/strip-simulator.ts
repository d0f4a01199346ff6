import { isRecord } from '../../values';
import { textOf, type Check, type Descriptor } from '../descriptor';
import { explain, faultIn, fieldOf, nameRemoval, sentenceOf, showHint, watchField } from '../form';
import { text, type EditorNode } from '../red';

const checkPath: Check = (value) =>
  /^\/$|^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+)+\/*$/.test(String(value))
    ? null
    : { key: 'strip-simulator.invalid.path' };

const checkStrips: Check = (value) => {
  if (!Array.isArray(value)) return { key: 'strip-simulator.invalid.strips' };
  const macs = value.map((strip: unknown) =>
    (isRecord(strip) ? textOf(strip, 'mac') : '').replace(/[\s:._-]/g, '').toLowerCase(),
  );
  if (macs.includes('')) return { key: 'strip-simulator.invalid.mac' };
  return new Set(macs).size === macs.length ? null : { key: 'strip-simulator.invalid.macTwice' };
};

export const stripSimulator: Descriptor = {
  type: 'strip simulator',
  checks: { path: checkPath, strips: checkStrips },
  inputLabel: (_, words) => words.text('strip-simulator.port.input'),
  outputLabel: (_, words) => words.text('strip-simulator.port.output'),
  open,
  save: (node) => {
    node.strips = listed();
  },
};

const LIST = '#smart-strip-strips';

function keptOf(line: JQuery): object {
  const kept: unknown = line.data('strip');
  return isRecord(kept) ? kept : {};
}

/** What the fields do not show, such as a strip's outlets, is kept as it is. */
const listed = (): object[] =>
  $(LIST)
    .editableList('items')
    .toArray()
    .map((item) => ({
      ...keptOf($(item)),
      mac: String($(item).find('[data-part=mac]').val()).trim(),
      name: String($(item).find('[data-part=name]').val()).trim(),
    }));

function open(node: EditorNode): void {
  const path = fieldOf(node, 'path');
  const showPath = () => {
    const typed = String(path.val()).trim();
    const valid = checkPath(typed, node, true) === null;
    showHint(
      'path',
      valid ? text('strip-simulator.hint.path', { path: typed.replace(/(.)\/+$/, '$1') }) : '',
    );
  };
  path.on('input change', showPath);
  showPath();
  for (const field of ['path', 'latency']) watchField(stripSimulator, node, field);

  const list = $(LIST);
  const check = () => {
    const fault = faultIn(stripSimulator, node, 'strips', listed());
    explain('strips', fault === null ? '' : sentenceOf(fault));
  };
  const part = (row: JQuery, name: 'mac' | 'name', label: string, value: string) =>
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
  let filling = true;
  list.editableList({
    addButton: text('strip-simulator.add'),
    sortable: true,
    removable: true,
    height: 'auto',
    addItem: (container, _, strip) => {
      const row = $('<div class="smart-strip-outlet-row">').appendTo(container);
      const values = isRecord(strip) ? strip : {};
      container.data('strip', values);
      const mac = part(row, 'mac', text('strip-simulator.label.mac'), textOf(values, 'mac'));
      part(row, 'name', text('strip-simulator.label.stripName'), textOf(values, 'name'));
      nameRemoval(container);
      if (filling) return;
      mac.trigger('focus');
      check();
    },
    removeItem: check,
  });
  if (Array.isArray(node.strips)) list.editableList('addItems', node.strips);
  filling = false;
  check();
}
