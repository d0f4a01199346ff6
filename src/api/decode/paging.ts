import { isRecord } from '../../values';
import { readFlag, readIndex, type JsonRecord } from './values';
import type { Look } from './names';

/** What the fields around a list say of how much of it came. */
interface Hints {
  /** Keys that say there is more, or that something failed. */
  more: string[];
  /** Keys that hint at pages without saying whether this is all. */
  paged: string[];
  /** Something says plainly that this is all. */
  isAll: boolean;
}

/** Paging fields in a record of their own, and in one in that: `links.next.href`. */
const DEEPEST = 2;

/**
 * The keys of the wrappers around a list by which it may be only a page, or the work of a request that failed; none if nothing hints at
 * that, or if what hints at it agrees with what came. `came`: how many records there were, and how many strips.
 */
export function hintsAtMore(wrappers: readonly JsonRecord[], came: readonly number[], look: Look): string[] {
  const hints: Hints = { more: [], paged: [], isAll: false };
  for (const wrapper of wrappers) addHints(hints, wrapper, came, look, false, 0);
  const keys = hints.more.length > 0 || !hints.isAll ? [...hints.more, ...hints.paged] : [];
  return [...new Set(keys)].sort();
}

function addHints(
  hints: Hints,
  record: JsonRecord,
  came: readonly number[],
  look: Look,
  inPaging: boolean,
  depth: number,
): void {
  for (const key in record) {
    const meaning = look(key);
    const value = record[key];
    const hint = hintOf(key, value, came, look, inPaging);
    if (hint === 'more') hints.more.push(key);
    else if (hint === 'paged') hints.paged.push(key);
    else if (hint === 'all') hints.isAll = true;
    if (depth >= DEEPEST || !meaning.is('paging')) continue;
    if (isRecord(value)) addHints(hints, value, came, look, true, depth + 1);
    // `[{"rel": "next", "href": …}]`
    if (Array.isArray(value) && value.some((link) => isRecord(link) && isNextLink(link)))
      hints.more.push(key);
    if (typeof value === 'string' && /rel="?next/.test(value)) hints.more.push(key);
  }
}

const isNextLink = (link: JsonRecord): boolean =>
  [link.rel, link.name, link.type].some((rel) => rel === 'next' || rel === 'prev' || rel === 'previous');

/** What one field says: `all` that nothing follows, `more` that something does, `paged` that there are pages. */
function hintOf(
  key: string,
  found: unknown,
  came: readonly number[],
  look: Look,
  inPaging: boolean,
): 'more' | 'paged' | 'all' | null {
  const meaning = look(key);
  const value = isRecord(found) ? scalarOf(found, look) : found;
  const number = readIndex(value);
  const isNumber = number >= 0;
  if (meaning.is('success')) return readFlag(value) === false ? 'more' : null;
  if (meaning.is('error')) return isSet(found) ? 'more' : null;
  if (meaning.plain === 'status')
    return value === 'partial' ||
      value === 'error' ||
      value === 'failed' ||
      value === 'failure' ||
      value === 206
      ? 'more'
      : null;
  if (meaning.is('last')) return hintOfLast(value, number);
  if (meaning.is('more')) {
    if (typeof value === 'boolean' || isNumber) return value === true || number > 0 ? 'more' : 'all';
    if (typeof found === 'string' && readFlag(found) !== null)
      return readFlag(found) === true ? 'more' : 'all';
    return isSet(found) ? 'more' : 'all';
  }
  if (!isNumber) return meaning.is('range') ? hintOfRange(value, came) : null;
  if (meaning.is('total')) return came.includes(number) ? 'all' : 'more';
  if (meaning.is('pages')) return number <= 1 ? 'all' : 'more';
  if (meaning.is('count')) return hintOfCount(meaning.plain, number, came, inPaging);
  if (meaning.is('page') || (inPaging && meaning.plain === 'current')) return number > 1 ? 'more' : 'paged';
  if (meaning.is('limit')) return came.some((count) => number > count) && number > 0 ? null : 'paged';
  if (meaning.is('skipped'))
    return number > 1 || (number === 1 && meaning.plain !== 'from' && meaning.plain !== 'start')
      ? 'more'
      : 'paged';
  return null;
}

/** `last: false`, or the number of the last page. */
function hintOfLast(value: unknown, number: number): 'more' | 'all' | null {
  const flag = typeof value === 'number' ? null : readFlag(value);
  if (flag !== null) return flag ? 'all' : 'more';
  if (number >= 0) return number <= 1 ? 'all' : 'more';
  return null;
}

/** `number` is that of a page; `size` may be that of a page, any other count is that of what came, or of all. */
function hintOfCount(
  plain: string,
  number: number,
  came: readonly number[],
  inPaging: boolean,
): 'more' | 'paged' | null {
  if (came.includes(number)) return null;
  if (plain === 'number' || (inPaging && plain === 'num')) return number > 1 ? 'more' : 'paged';
  if (plain === 'size') return inPaging && came.every((count) => number > count) ? null : 'paged';
  return 'more';
}

/** "1-2/2", "0-1 of 5". */
function hintOfRange(value: unknown, came: readonly number[]): 'more' | 'paged' | 'all' | null {
  if (typeof value !== 'string' || value.length > 80) return null;
  const [, total] = /(?:\/|of)\s*([0-9]{1,9})\b/i.exec(value) ?? [];
  if (total === undefined) return null;
  return came.includes(Number(total)) ? 'all' : 'more';
}

/** `total: {"value": 3}` */
function scalarOf(record: JsonRecord, look: Look): unknown {
  const keys = Object.keys(record).filter((key) => look(key).is('value') || look(key).plain === 'count');
  const [only] = keys;
  return only !== undefined && keys.length === 1 ? record[only] : record;
}

/** Whether a value says something: `next: null`, `error: false` and `errors: []` do not. */
function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isRecord(value)) return Object.keys(value).length > 0;
  return (
    value !== null && value !== undefined && value !== false && value !== '' && value !== 0 && value !== '0'
  );
}
