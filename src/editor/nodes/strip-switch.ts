import { SETTINGS, textOf, typeOf, type Config } from '../../settings';
import {
  fieldOf,
  isDialogOpen,
  segmentedField,
  showHint,
  showRow,
  typedField,
  type Check,
  type Descriptor,
} from '../form';
import { text, type EditorNode } from '../red';
import { checkPort, checkStrip, targetFields, targetOf } from '../strip-picker';

const ACTIONS = ['on', 'off', 'toggle', 'cycle'] as const;
const isAction = (value: unknown): boolean => ACTIONS.some((action) => action === value);

const checkAction: Check = (value) => (isAction(value) ? '' : text('strip-account.invalid.on'));

/** Whether the node may cycle an outlet. */
function mayCycle(node: Config): boolean {
  const chosen = isDialogOpen(node)
    ? { on: $('#node-input-on').val(), onType: $('#node-input-onType').val() }
    : node;
  return typeOf(chosen, 'on', SETTINGS['strip switch'].on) !== 'action' || textOf(chosen, 'on') === 'cycle';
}

export const stripSwitch: Descriptor = {
  type: 'strip switch',
  checks: { mac: checkStrip, port: checkPort('all'), on: checkAction },
  usedIf: { delay: mayCycle },
  label: (node) => {
    const target = targetOf(node, SETTINGS['strip switch']);
    const on = textOf(node, 'on');
    if (typeOf(node, 'on', SETTINGS['strip switch'].on) !== 'action' || !isAction(on)) return target;
    const isFixed = target.strip !== '' || target.outlet !== undefined;
    const strip = isFixed ? target.strip : text('strip-switch.palette');
    return { ...target, strip, action: text(`strip-account.action.${on}`) };
  },
  open,
};

function open(node: EditorNode): void {
  const all = { value: 'all', label: text('strip-account.port.all') };
  const hints = { whole: '', message: 'strip-switch.hint.portMessage' };
  const port = targetFields(stripSwitch, node, all, hints);
  const own = { value: 'action', label: text('strip-account.type.action') };
  const on = segmentedField(node, 'on', own, () =>
    ACTIONS.map((value) => ({ value, label: text(`strip-account.action.${value}`) })),
  );
  typedField(node, 'delay');
  const showHints = () => {
    if (on.type() === 'action') {
      showHint('on', isAction(on.value()) ? `strip-switch.hint.${on.value()}` : '');
    } else if (on.type() === 'message') {
      // An array or a whole strip names its outlets itself.
      showHint('on', `strip-switch.hint.${port.type() === 'message' ? 'onMessage' : 'onState'}`);
    } else showHint('on', 'strip-switch.hint.onEvaluated');
    showRow('delay', mayCycle(node));
    fieldOf(node, 'delay').trigger('change');
  };
  port.input.on('change', showHints);
  on.input.on('change', showHints);
  showHints();
}
