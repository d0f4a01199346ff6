import { StripError, variableMissing } from '../api/errors';
import { flagOf, SETTINGS, textOf, type Config } from '../settings';
import { environmentVariable, previewText } from '../values';

/** Where a `strip mqtt` node publishes and listens. Neither has a slash at its end. */
export interface TopicSettings {
  /** First level (or levels) of the strips' own topics. */
  topic: string;
  /** Prefix of Home Assistant's discovery topics; "" = no discovery. */
  discovery: string;
}

/** What a `strip mqtt` node does. */
export interface BridgeSettings extends TopicSettings {
  /** Publishes load, voltage and signal too. */
  readings: boolean;
}

/** Reads a node's properties. Throws NOT_CONFIGURED. */
export function readBridge(config: Config): BridgeSettings {
  const prefix = (name: 'topic' | 'discovery'): string => {
    const text = textOf(config, name, SETTINGS['strip mqtt'][name].default);
    const variable = environmentVariable(text);
    if (variable === null) return text;
    throw variableMissing(variable);
  };
  const discovery = prefix('discovery');
  return {
    topic: checkPrefix(prefix('topic')),
    discovery: discovery === '' ? '' : checkPrefix(discovery),
    readings: flagOf(config, 'readings', SETTINGS['strip mqtt'].readings),
  };
}

const LONGEST_PREFIX = 200;

/**
 * A topic prefix from the node's settings, without slashes at its ends. Throws NOT_CONFIGURED for one that a broker does not accept in a
 * published topic (wildcards, control characters, empty levels) or keeps for itself (`$`).
 */
export function checkPrefix(text: string): string {
  const prefix = text.trim().replace(/^\/+|\/+$/g, '');
  const levels = prefix.split('/');
  if (
    prefix.length > LONGEST_PREFIX ||
    prefix.startsWith('$') ||
    levels.some((level) => level === '' || /[#+]|\p{Cc}|\p{Cs}/u.test(level))
  ) {
    throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.topic', {
      params: { topic: previewText(text) },
    });
  }
  return prefix;
}
