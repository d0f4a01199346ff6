import type { Action } from '../account/types';
import type { Port, PortOrAll } from '../api/types';

/** What somebody asked for, in their own word (lower case) or as a boolean. */
export type Requested = boolean | 'on' | 'off' | 'true' | 'false' | 'toggle' | 'cycle';

const ACTIONS: ReadonlyMap<string, { requested: Requested; action: Action }> = new Map([
  ['on', { requested: 'on', action: true }],
  ['true', { requested: 'true', action: true }],
  ['off', { requested: 'off', action: false }],
  ['false', { requested: 'false', action: false }],
  ['toggle', { requested: 'toggle', action: 'toggle' }],
  ['cycle', { requested: 'cycle', action: 'cycle' }],
]);

const PORT_TEXTS: ReadonlyMap<string, PortOrAll> = new Map<string, PortOrAll>([
  ['1', 1],
  ['2', 2],
  ['3', 3],
  ['4', 4],
  ['all', 'all'],
]);

/** Longer texts are none of the words, and are not worth trimming. */
const LONGEST_WORD = 100;

/** The word or boolean that asks for an action; `null` for anything that is not exactly one. Truthiness counts for nothing. */
export function readRequested(value: unknown): Requested | null {
  if (typeof value === 'boolean') return value;
  if (value === 1) return true;
  if (value === 0) return false;
  if (typeof value !== 'string' || value.length > LONGEST_WORD) return null;
  return ACTIONS.get(value.trim().toLowerCase())?.requested ?? null;
}

export function actionOf(requested: Requested): Action {
  if (typeof requested === 'boolean') return requested;
  return ACTIONS.get(requested)?.action ?? false;
}

/** An outlet as a number or numeric text, or "all", exactly so; `null` for anything else. */
export function readPort(value: unknown): PortOrAll | null {
  if (value === 1 || value === 2 || value === 3 || value === 4) return value;
  return typeof value === 'string' ? (PORT_TEXTS.get(value) ?? null) : null;
}

/** One outlet; "all" is none. */
export function readOnePort(value: unknown): Port | null {
  const port = readPort(value);
  return port === 'all' ? null : port;
}
