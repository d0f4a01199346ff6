import { flagOf, SETTINGS, textOf, type Config } from '../../settings';
import { segmentedField, type Descriptor, type Dialog } from '../form';
import { text } from '../red';
import { checkPort, checkStrip, StripPicker, targetOf } from '../strip-picker';

const SETTING = SETTINGS['strip watch'];

/** Which kinds of change a node sends. */
const sentBy = (node: Config) => ({
  outlets: flagOf(node, 'outlets', SETTING.outlets),
  readings: flagOf(node, 'readings', SETTING.readings),
  availability: flagOf(node, 'availability', SETTING.availability),
});

export const stripWatch: Descriptor = {
  type: 'strip watch',
  checks: {
    mac: (value, node) => (value === '' ? '' : checkStrip(value, node)),
    port: checkPort(''),
  },
  usedIf: { port: (node) => sentBy(node).outlets, change: (node) => sentBy(node).readings },
  label: (node) => {
    const target = targetOf(sentBy(node).outlets ? node : { ...node, port: '' });
    const isEvery = target.strip === '' && textOf(node, 'mac') === '';
    return isEvery ? { ...target, strip: text('strip-account.canvas.every') } : target;
  },
  open,
};

function open(dialog: Dialog): void {
  const picker = new StripPicker(dialog, () => {
    port.redraw();
    const fixed = picker.field.value() === '' ? 'strip-watch.hint.every' : '';
    picker.field.showHint({ str: fixed }, 'strip-watch.hint.variable');
  });
  const every = { value: '', label: text('strip-account.port.every') };
  const own = { value: 'port', label: '' };
  const port = segmentedField(dialog, 'port', own, () => picker.segments(every));
  const showWhatMatters = () => {
    const { outlets, readings, availability } = sentBy(dialog.values());
    for (const field of ['port', 'output']) dialog.showRow(field, outlets);
    dialog.showRow('change', readings);
    for (const field of ['port', 'change']) dialog.field(field).trigger('change');
    const nothing = outlets || readings || availability ? '' : text('strip-account.invalid.nothing');
    dialog.showMessage('send', '', nothing);
  };
  for (const kind of ['outlets', 'readings', 'availability'])
    dialog.field(kind).on('change', showWhatMatters);
  showWhatMatters();
}
