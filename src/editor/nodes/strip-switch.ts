import { textOf, type Config } from '../../settings';
import {
  hintByType,
  kindOf,
  segmentedField,
  typedField,
  type Check,
  type Descriptor,
  type Dialog,
} from '../form';
import { text } from '../red';
import { checkPort, checkStrip, fixedTarget, targetFields, targetHints, targetOf } from '../strip-picker';
import { isProtected } from '../strips';

const ACTIONS = ['on', 'off', 'toggle', 'cycle'] as const;
const isAction = (value: unknown): boolean => ACTIONS.some((action) => action === value);

const checkAction: Check = (value) => (isAction(value) ? '' : text('strip-account.invalid.on'));

/** Whether the node may cycle an outlet. A variable may stand for "cycle". */
const mayCycle = (node: Config): boolean =>
  kindOf(node, 'on') !== 'action' || !['', 'on', 'off', 'toggle'].includes(textOf(node, 'on'));

export const stripSwitch: Descriptor = {
  checks: { mac: checkStrip, port: checkPort('all'), on: checkAction },
  hints: {
    ...targetHints('all', { whole: '', message: 'strip-switch.hint.portMessage' }),
    on: hintAboutState,
  },
  usedIf: { delay: mayCycle },
  label: (node) => {
    const target = targetOf(node);
    const on = textOf(node, 'on');
    if (kindOf(node, 'on') !== 'action' || !isAction(on)) return target;
    const isFixed = target.strip !== '' || Boolean(target.outlet);
    const strip = isFixed ? target.strip : text('strip-switch.palette');
    return { ...target, strip, action: text(`strip-account.action.${on}`) };
  },
  open,
};

function hintAboutState(node: Config): string {
  // An array or a whole strip names its outlets itself.
  const message = `strip-switch.hint.${textOf(node, 'portType') === 'message' ? 'onMessage' : 'onState'}`;
  const { mac, port } = fixedTarget(node);
  const on = textOf(node, 'on');
  const isRefused = on !== 'on' && isProtected(textOf(node, 'account'), { mac, port: port ?? '' });
  const which = isRefused ? 'protected' : port === 'all' ? 'all' : 'one';
  const action = isAction(on) ? `strip-switch.hint.${which}.${on}` : '';
  return hintByType(node, 'on', { action, message }, 'strip-switch.hint.onEvaluated');
}

function open(dialog: Dialog): void {
  targetFields(dialog, { value: 'all', label: text('strip-account.port.all') });
  const own = { value: 'action', label: text('strip-account.type.action') };
  segmentedField(dialog, 'on', own, () =>
    ACTIONS.map((value) => ({ value, label: text(`strip-account.action.${value}`) })),
  );
  typedField(dialog, 'delay');
}
