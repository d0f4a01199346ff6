import { choiceOf, SETTINGS } from '../../settings';
import type { Descriptor } from '../form';
import { text } from '../red';

const { output } = SETTINGS['strip list'];

export const stripList: Descriptor = {
  label: (node) => ({ strip: text(`strip-account.canvas.${choiceOf(node, 'output', output)}`) }),
};
