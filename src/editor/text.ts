import type { Params } from '../api/errors';

const ACCOUNT_CATALOGUE = '@smart-strip/node-red-smart-strip/strip-account:';

/** A sentence of the account's catalogue, which all nodes share, in the language of this browser. */
export const text = (key: string, params: Params = {}): string => RED._(ACCOUNT_CATALOGUE + key, params);
