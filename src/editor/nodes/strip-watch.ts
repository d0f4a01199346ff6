import { choiceOf, SETTINGS, textOf } from '../../settings';
import { checkPort, checkStrip } from '../checks';
import { type Descriptor, targetOf } from '../descriptor';
import { showMessage, followAccount, plainSegments, showHint, showRow, watchField } from '../form';
import { text, type EditorNode } from '../red';
import { outletSegments, stripPicker } from '../strip-picker';

export const stripWatch: Descriptor = {
  type: 'strip watch',
  checks: {
    mac: (value, node, open) => (value === '' ? null : checkStrip(value, node, open)),
    port: checkPort(''),
  },
  label: (node, words) => {
    const { strip, outlet } = targetOf(node, SETTINGS['strip watch'], words);
    if (strip !== '' || textOf(node, 'mac') !== '') return { strip, outlet };
    return { strip: words.text('strip-account.canvas.every'), outlet };
  },
  outputLabel: (node, words) => {
    const output = choiceOf(node, 'output', SETTINGS['strip watch'].output);
    return words.text(`strip-account.out.${output}`);
  },
  open,
};

function open(node: EditorNode): void {
  const picker = stripPicker(stripWatch, node, () => {
    port.redraw();
    const all = picker.type() === 'str' && picker.value() === '';
    const kind = all ? 'every' : picker.type() === 'str' ? 'only' : 'variable';
    showHint('mac', text(`strip-watch.hint.${kind}`));
  });
  const port = plainSegments('port', () =>
    outletSegments(picker, { value: '', label: text('strip-account.port.every') }),
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
