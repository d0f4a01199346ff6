import { textOf, type Config } from '../../settings';
import { kindOf, type Descriptor, type Dialog } from '../form';
import { text } from '../red';
import { checkPort, checkStrip, targetFields, targetHints, targetOf } from '../strip-picker';

/** Whether a node always reads a whole strip. */
const isWhole = (node: Config): boolean => kindOf(node, 'port') === 'port' && textOf(node, 'port') === '';

export const stripStatus: Descriptor = {
  checks: { mac: checkStrip, port: checkPort('') },
  hints: targetHints('', { whole: 'strip-status.hint.whole', message: 'strip-status.hint.portMessage' }),
  label: targetOf,
  // A whole strip is sent as it is.
  usedIf: { output: (node) => !isWhole(node) },
  open,
};

function open(dialog: Dialog): void {
  targetFields(dialog, { value: '', label: text('strip-account.port.whole') });
  const output = dialog.field('output');
  let wasWhole = isWhole(dialog.values());
  // If a flow does not say what to send for one outlet, it means on/off.
  if (!wasWhole && textOf(dialog.node, 'output') === '') output.val('on');
  dialog.field('port').on('change', () => {
    const isNowWhole = isWhole(dialog.values());
    // For one outlet, on/off is the usual output.
    if (wasWhole && dialog.value('portType') === 'port' && !isNowWhole && output.val() === 'strip')
      output.val('on');
    wasWhole = isNowWhole;
  });
}
