import type { Params } from '../api/errors';

const PACKAGE = '@smart-strip/node-red-smart-strip';

/** A sentence of the account's catalogue, which all nodes share, in the language of this browser. */
export const text = (key: string, params: Params = {}): string =>
  fill(RED._(`${PACKAGE}/strip-account:${key}`, { skipInterpolation: true }), params);

/** A sentence of the side bar's own catalogue. */
export const sidebarText = (key: string, params: Params = {}): string =>
  fill(RED._(`${PACKAGE}/strip-sidebar:${key}`, { skipInterpolation: true }), params);

/** Not left to Node-RED, which would look for more placeholders, and for references to other sentences, in the values. */
const fill = (sentence: string, params: Params): string =>
  sentence.replace(/__(\w+?)__/g, (placeholder, name: string) =>
    Object.hasOwn(params, name) ? String(params[name]) : placeholder,
  );
