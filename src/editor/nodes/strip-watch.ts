import { flagOf, SETTINGS, textOf, type Config } from '../../settings';
import { hintByType, type Descriptor, type Dialog } from '../form';
import { text } from '../red';
import { checkPort, checkStrip, targetFields, targetOf } from '../strip-picker';

const SETTING = SETTINGS['strip watch'];

const sendsOutlets = (node: Config): boolean => flagOf(node, 'outlets', SETTING.outlets);
const sendsReadings = (node: Config): boolean => flagOf(node, 'readings', SETTING.readings);
const sendsAvailability = (node: Config): boolean => flagOf(node, 'availability', SETTING.availability);

export const stripWatch: Descriptor = {
  checks: {
    mac: (value, node) => (value === '' ? '' : checkStrip(value, node)),
    port: checkPort(''),
  },
  hints: {
    mac: (node) => {
      const fixed = textOf(node, 'mac') === '' ? 'strip-watch.hint.every' : '';
      return hintByType(node, 'mac', { str: fixed }, 'strip-watch.hint.variable');
    },
  },
  usedIf: { port: sendsOutlets, output: sendsOutlets, change: sendsReadings },
  label: (node) => {
    const target = targetOf(sendsOutlets(node) ? node : { ...node, port: '' });
    return target.strip === '' ? { ...target, strip: text('strip-account.canvas.every') } : target;
  },
  open,
};

function open(dialog: Dialog): void {
  // There is no other type, so it needs no label.
  targetFields(dialog, { value: '', label: text('strip-account.port.every') }, '');
  const check = () => {
    const sends = [sendsOutlets, sendsReadings, sendsAvailability].some((isSent) => isSent(dialog.values()));
    dialog.showMessage('send', '', sends ? '' : text('strip-account.invalid.nothing'));
  };
  dialog.form.on('change', check);
  check();
}
