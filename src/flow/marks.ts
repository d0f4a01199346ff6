import type { ErrorCode } from '../api/errors';
import type { Outlet, Strip } from '../api/types';
import { CATALOGUE } from './catalogue';

/** What a badge shows. Texts are catalogue keys, which the viewer's browser translates and which take no values. */
export interface Mark {
  readonly fill: 'red' | 'green' | 'yellow' | 'blue' | 'grey';
  readonly shape: 'ring' | 'dot';
  readonly text: string;
}

const mark = (fill: Mark['fill'], shape: Mark['shape'], key: string): Mark => ({
  fill,
  shape,
  text: `${CATALOGUE}badge.${key}`,
});

export const ASKING = mark('blue', 'ring', 'asking');
export const RETRYING = mark('yellow', 'ring', 'retrying');
export const RATE_LIMITED = mark('yellow', 'ring', 'rateLimited');
export const UNKNOWN_ANSWER = mark('yellow', 'ring', 'unknownAnswer');
export const SWITCHED = mark('green', 'dot', 'switched');
export const LISTED = mark('green', 'dot', 'listed');
export const NO_STRIPS = mark('grey', 'ring', 'noStrips');
export const WATCHING = mark('green', 'dot', 'watching');
export const UNAVAILABLE = mark('red', 'ring', 'unavailable');

const ON = mark('green', 'dot', 'on');
const OFF = mark('grey', 'ring', 'off');

/** One outlet; `null` is what nobody could read. */
export const outletMark = (on: boolean | null | undefined): Mark =>
  on === true ? ON : on === false ? OFF : UNKNOWN_ANSWER;

/** Keys take no values, so that each count has one of its own; by outlets whose state is known, then by those that are on. */
const COUNTS: readonly (readonly Mark[])[] = [1, 2, 3, 4].map((known) =>
  Array.from({ length: known + 1 }, (_, on) =>
    mark(on > 0 ? 'green' : 'grey', on > 0 ? 'dot' : 'ring', `on${on}of${known}`),
  ),
);

/** How many outlets of a strip are on, of those that are known. */
export function stripMark({ available, outlets }: Pick<Strip, 'available' | 'outlets'>): Mark {
  if (!available) return UNAVAILABLE;
  const known = outlets.filter((outlet: Outlet) => outlet.on !== null);
  return COUNTS[known.length - 1]?.[known.filter(({ on }) => on).length] ?? UNKNOWN_ANSWER;
}

const FAILURES: Readonly<Record<ErrorCode, Mark>> = {
  INVALID_INPUT: mark('red', 'ring', 'invalidInput'),
  NOT_CONFIGURED: mark('red', 'ring', 'notConfigured'),
  AUTH: mark('red', 'ring', 'auth'),
  NOT_FOUND: mark('red', 'ring', 'notFound'),
  RATE_LIMITED,
  TIMEOUT: mark('red', 'ring', 'timeout'),
  UNREACHABLE: mark('red', 'ring', 'unreachable'),
  SERVICE: mark('red', 'ring', 'service'),
  BAD_RESPONSE: mark('red', 'ring', 'badResponse'),
  SWITCH_FAILED: mark('red', 'ring', 'switchFailed'),
  // Nothing is wrong with the outlet: the newer command counts.
  SUPERSEDED: mark('yellow', 'ring', 'superseded'),
  PROTECTED: mark('red', 'ring', 'protected'),
  BUSY: mark('red', 'ring', 'busy'),
  CLOSED: mark('red', 'ring', 'closed'),
};

export const failureMark = (code: ErrorCode): Mark => FAILURES[code];
