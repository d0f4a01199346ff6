import { choiceOf, SETTINGS, textOf } from '../../settings';
import type { Descriptor } from '../descriptors';
import { showMessage, followAccount, segmentedField, showHint, showRow, watchField } from '../form';
import { text, type EditorNode } from '../red';
import { checkPort, checkStrip, outletSegments, stripPicker, targetOf } from '../strip-picker';

export const stripWatch: Descriptor = {
  type: 'strip watch',
  checks: {
    mac: (value, node, open) => (value === '' ? null : checkStrip(value, node, open)),
    port: checkPort(''),
  },
  label: (node) => {
    const target = targetOf(node, SETTINGS['strip watch']);
    const isEvery = target.strip === '' && textOf(node, 'mac') === '';
    return isEvery ? { ...target, strip: text('strip-account.canvas.every') } : target;
  },
  outputLabel: (node) => {
    const output = choiceOf(node, 'output', SETTINGS['strip watch'].output);
    return text(`strip-account.out.${output}`);
  },
  open,
};

function open(node: EditorNode): void {
  const picker = stripPicker(stripWatch, node, () => {
    port.redraw();
    const all = picker.type() === 'str' && picker.value() === '';
    const kind = all ? 'every' : picker.type() === 'str' ? 'only' : 'variable';
    showHint('mac', `strip-watch.hint.${kind}`);
  });
  const every = { value: '', label: text('strip-account.port.every') };
  const port = segmentedField(stripWatch, 'port', { value: 'port', label: '' }, () =>
    outletSegments(picker, every),
  );
  const outlets = $('#node-input-outlets');
  const readings = $('#node-input-readings');
  const availability = $('#node-input-availability');
  const showWhatMatters = () => {
    const checked = [outlets, readings, availability].map((box) => box.prop('checked') === true);
    const [sendsOutlets = false, sendsReadings = false] = checked;
    showRow('port', sendsOutlets);
    showRow('output', sendsOutlets);
    showRow('change', sendsReadings);
    showMessage('send', checked.includes(true) ? '' : text('strip-account.invalid.nothing'), 'warning');
  };
  for (const box of [outlets, readings, availability]) box.on('change', showWhatMatters);
  showWhatMatters();
  watchField(stripWatch, node, 'change');
  followAccount(node, picker.show);
}
