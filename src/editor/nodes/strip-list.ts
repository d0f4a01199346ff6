import { SETTINGS } from '../../settings';
import { choiceOf, type Descriptor } from '../descriptor';
import { followAccount } from '../form';

const { choices } = SETTINGS['strip list'].output;

export const stripList: Descriptor = {
  type: 'strip list',
  label: (node, words) => ({
    strip: words.text(`strip-account.canvas.${choiceOf(node, 'output', choices)}`),
    outlet: '',
  }),
  outputLabel: (node, words) => words.text(`strip-account.out.${choiceOf(node, 'output', choices)}`),
  open: (node) => followAccount(node, () => undefined),
};
