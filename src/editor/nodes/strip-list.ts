import { choiceOf, SETTINGS } from '../../settings';
import type { Descriptor } from '../descriptors';
import { followAccount } from '../form';

const { output } = SETTINGS['strip list'];

export const stripList: Descriptor = {
  type: 'strip list',
  label: (node, words) => ({
    strip: words.text(`strip-account.canvas.${choiceOf(node, 'output', output)}`),
  }),
  outputLabel: (node, words) => words.text(`strip-account.out.${choiceOf(node, 'output', output)}`),
  open: (node) => followAccount(node, () => undefined),
};
