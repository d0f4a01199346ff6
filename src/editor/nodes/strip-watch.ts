import { flagOf, SETTINGS, textOf, type Config } from '../../settings';
import {
  fieldOf,
  isDialogOpen,
  segmentedField,
  showHint,
  showMessage,
  showRow,
  type Descriptor,
} from '../form';
import { text, type EditorNode } from '../red';
import { checkPort, checkStrip, StripPicker, targetOf } from '../strip-picker';

/** Returns whether a node sends this kind of change. */
const sendsKind =
  (kind: 'outlets' | 'readings') =>
  (node: Config): boolean =>
    isDialogOpen(node)
      ? $(`#node-input-${kind}`).prop('checked') === true
      : flagOf(node, kind, SETTINGS['strip watch'][kind]);

export const stripWatch: Descriptor = {
  type: 'strip watch',
  checks: {
    mac: (value, node) => (value === '' ? '' : checkStrip(value, node)),
    port: checkPort(''),
  },
  usedIf: { port: sendsKind('outlets'), change: sendsKind('readings') },
  label: (node) => {
    const sendsOutlets = flagOf(node, 'outlets', SETTINGS['strip watch'].outlets);
    const target = targetOf(sendsOutlets ? node : { ...node, port: '' }, SETTINGS['strip watch']);
    const isEvery = target.strip === '' && textOf(node, 'mac') === '';
    return isEvery ? { ...target, strip: text('strip-account.canvas.every') } : target;
  },
  open,
};

function open(node: EditorNode): void {
  const picker = new StripPicker(stripWatch, node, () => {
    port.redraw();
    const fixed = picker.field.value() === '' ? 'strip-watch.hint.every' : '';
    showHint('mac', picker.field.type() === 'str' ? fixed : 'strip-watch.hint.variable');
  });
  const every = { value: '', label: text('strip-account.port.every') };
  const own = { value: 'port', label: '' };
  const port = segmentedField(node, 'port', own, () => picker.segments(every));
  const kinds = ['outlets', 'readings', 'availability'];
  const sends = (kind: string) => fieldOf(node, kind).prop('checked') === true;
  const showWhatMatters = () => {
    showRow('port', sends('outlets'));
    showRow('output', sends('outlets'));
    showRow('change', sends('readings'));
    for (const field of ['port', 'change']) fieldOf(node, field).trigger('change');
    showMessage('send', '', kinds.some(sends) ? '' : text('strip-account.invalid.nothing'));
  };
  for (const kind of kinds) fieldOf(node, kind).on('change', showWhatMatters);
  showWhatMatters();
}
