import { textOf } from '../../settings';
import { kindOf, type Descriptor, type Dialog } from '../form';
import { text } from '../red';
import { checkPort, checkStrip, targetFields, targetOf } from '../strip-picker';

export const stripStatus: Descriptor = {
  type: 'strip status',
  checks: { mac: checkStrip, port: checkPort('') },
  label: targetOf,
  outputLabel: (node) => {
    const isWhole = kindOf(node, 'port') === 'port' && textOf(node, 'port') === '';
    return isWhole ? text('strip-status.out.strip') : null;
  },
  open,
};

function open(dialog: Dialog): void {
  const whole = { value: '', label: text('strip-account.port.whole') };
  const hints = { whole: 'strip-status.hint.whole', message: 'strip-status.hint.portMessage' };
  const port = targetFields(dialog, whole, hints);
  const output = dialog.field('output');
  const isWhole = () => port.type() === 'port' && port.value() === '';
  let wasWhole = isWhole();
  // If a flow does not say what to send for one outlet, it means on/off.
  if (!wasWhole && textOf(dialog.node, 'output') === '') output.val('on');
  const showOutput = () => {
    // For one outlet, on/off is the usual output. A whole strip is sent as it is.
    if (wasWhole && port.type() === 'port' && !isWhole() && output.val() === 'strip') output.val('on');
    if (!wasWhole && isWhole()) output.val('strip');
    wasWhole = isWhole();
    dialog.showRow('output', !wasWhole);
  };
  port.input.on('change', showOutput);
  showOutput();
}
