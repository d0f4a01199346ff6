import { checkPrefix, SETTINGS, textOf } from '../../settings';
import { problemThrownBy, type Descriptor } from '../form';
import { text } from '../red';

const check = (value: unknown): string => problemThrownBy(() => checkPrefix(String(value)));

const { topic } = SETTINGS['strip mqtt'];

export const stripMqtt: Descriptor = {
  checks: {
    topic: check,
    discovery: (value) => (value === '' ? '' : check(value)),
  },
  // Which topics the mqtt nodes beside this one need.
  hints: {
    topic: (node) => {
      const own = textOf(node, 'topic');
      return check(own) === '' ? text('strip-mqtt.hint.topic', { prefix: checkPrefix(own) }) : '';
    },
    discovery: (node) => {
      const prefix = textOf(node, 'discovery');
      if (prefix === '') return text('strip-mqtt.hint.discoveryEmpty');
      return check(prefix) === '' ? text('strip-mqtt.hint.discovery') : '';
    },
  },
  label: (node) => {
    const own = textOf(node, 'topic', topic.default);
    return { strip: own === topic.default ? '' : own };
  },
};
