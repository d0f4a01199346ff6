import type { NodeAPI } from 'node-red';
import type { Params } from '../../src/api/errors';
import type { Translate } from '../../src/flow/node-error';
import { CATALOGUE } from '../../src/flow/node-status';
import catalogue from '../locales/en-US/strip-account.json';

/**
 * Sentences of the account's catalogue in the runtime's language; in English where it has none. Values are put in here and not by the
 * runtime, which would look for more placeholders, and for references to other texts, in the values themselves.
 */
export function translator(RED: NodeAPI): Translate {
  return (key, params = {}) => fill(template(RED, key), params);
}

function template(RED: NodeAPI, key: string): string {
  const id = CATALOGUE + key;
  const text: unknown = RED._(id, { skipInterpolation: 1 });
  return typeof text === 'string' && text !== '' && text !== id && text !== key ? text : packaged(key);
}

function packaged(key: string): string {
  let text: unknown = catalogue;
  for (const name of key.split('.')) {
    text =
      typeof text === 'object' && text !== null && Object.hasOwn(text, name) ? Reflect.get(text, name) : key;
  }
  return typeof text === 'string' ? text : key;
}

const fill = (text: string, params: Params): string =>
  text.replace(/__(\w+?)__/g, (placeholder, name: string) =>
    Object.hasOwn(params, name) ? String(params[name]) : placeholder,
  );
