import type { Params } from '../api/errors';

/**
 * Where the badges' and errors' texts stand, for every node of the package: the form of a key that both the runtime and the editor
 * find from whichever node it comes.
 */
export const CATALOGUE = '@smart-strip/node-red-smart-strip/strip-account:';

/** The text under a key of the account's catalogue, in the reader's language, with the values it names. */
export type Translate = (key: string, params?: Params) => string;
