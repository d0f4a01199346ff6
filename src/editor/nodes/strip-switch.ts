import { textOf, type Config } from '../../settings';
import { kindOf, segmentedField, typedField, type Check, type Descriptor, type Dialog } from '../form';
import { text } from '../red';
import { checkPort, checkStrip, fixedTarget, targetFields, targetOf } from '../strip-picker';
import { isProtected } from '../strips';

const ACTIONS = ['on', 'off', 'toggle', 'cycle'] as const;
const isAction = (value: unknown): boolean => ACTIONS.some((action) => action === value);

const checkAction: Check = (value) => (isAction(value) ? '' : text('strip-account.invalid.on'));

/** Whether the node may cycle an outlet. A variable may stand for "cycle". */
const mayCycle = (node: Config): boolean =>
  kindOf(node, 'on') !== 'action' || !['', 'on', 'off', 'toggle'].includes(textOf(node, 'on'));

export const stripSwitch: Descriptor = {
  type: 'strip switch',
  checks: { mac: checkStrip, port: checkPort('all'), on: checkAction },
  usedIf: { delay: mayCycle },
  label: (node) => {
    const target = targetOf(node);
    const on = textOf(node, 'on');
    if (kindOf(node, 'on') !== 'action' || !isAction(on)) return target;
    const isFixed = target.strip !== '' || target.outlet !== undefined;
    const strip = isFixed ? target.strip : text('strip-switch.palette');
    return { ...target, strip, action: text(`strip-account.action.${on}`) };
  },
  open,
};

function open(dialog: Dialog): void {
  const all = { value: 'all', label: text('strip-account.port.all') };
  const hints = { whole: '', message: 'strip-switch.hint.portMessage' };
  const port = targetFields(dialog, all, hints);
  const own = { value: 'action', label: text('strip-account.type.action') };
  const on = segmentedField(dialog, 'on', own, () =>
    ACTIONS.map((value) => ({ value, label: text(`strip-account.action.${value}`) })),
  );
  typedField(dialog, 'delay');
  const showHints = () => {
    // An array or a whole strip names its outlets itself.
    const message = `strip-switch.hint.${port.type() === 'message' ? 'onMessage' : 'onState'}`;
    const values = dialog.values();
    const { mac, port: outlet } = fixedTarget(values);
    const isRefused = isProtected(textOf(values, 'account'), mac, outlet ?? '');
    const which = isRefused ? 'protected' : outlet === 'all' ? 'all' : 'one';
    const word = dialog.value('on');
    const action = isAction(word) ? `strip-switch.hint.${which}.${word}` : '';
    on.showHint({ action, message }, 'strip-switch.hint.onEvaluated');
  };
  for (const field of ['account', 'mac', 'port', 'on']) dialog.field(field).on('change', showHints);
  showHints();
}
