import { checkPrefix, SETTINGS, textOf } from '../../settings';
import { fieldOf, problemThrownBy, showHint, type Check, type Descriptor } from '../form';
import { text, type EditorNode } from '../red';

const check: Check = (value) => problemThrownBy(() => checkPrefix(String(value)));

const { topic } = SETTINGS['strip mqtt'];

export const stripMqtt: Descriptor = {
  type: 'strip mqtt',
  checks: {
    topic: check,
    discovery: (value, node) => (value === '' ? '' : check(value, node)),
  },
  label: (node) => {
    const own = textOf(node, 'topic', topic.default);
    return { strip: own === topic.default ? '' : own };
  },
  inputLabel: () => text('strip-mqtt.port.input'),
  outputLabel: () => text('strip-mqtt.port.output'),
  open,
};

/** Says below each field which topics the mqtt nodes beside this one need. */
function open(node: EditorNode): void {
  for (const field of ['topic', 'discovery'] as const) {
    const input = fieldOf(node, field);
    const showTopics = () => {
      const typed = String(input.val()).trim();
      const isValid = check(typed, node) === '';
      if (isValid) showHint(field, `strip-mqtt.hint.${field}`, { prefix: checkPrefix(typed) });
      else showHint(field, field === 'discovery' && typed === '' ? 'strip-mqtt.hint.discoveryEmpty' : '');
    };
    input.on('input change', showTopics);
    showTopics();
  }
}
