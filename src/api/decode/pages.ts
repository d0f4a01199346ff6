import { isRecord } from '../../values';
import { saysOld } from './fields';
import type { Look, Meaning } from './names';
import { isSet, readFlag, readIndex, readText, saysFailed, type JsonRecord } from './values';

/** What a field around a list says of how much of it came: that there is more, or that something failed; that there are pages; that this is all. */
type Hint = 'more' | 'paged' | 'all' | null;

/** Paging fields in records in records: `meta.pagination.links.next`. */
const DEEPEST_PAGING = 3;

/**
 * The keys of the wrappers around a list by which it may be only a page, or the work of a request that failed; none if nothing hints at
 * that, or if what hints at it agrees with what came. `came`: how many records there were, and how many strips.
 */
export function hintsAtMore(wrappers: readonly JsonRecord[], came: readonly number[], look: Look): string[] {
  const hints = wrappers.flatMap((wrapper) => hintsIn(wrapper, came, look, 0));
  const isAll = hints.some(({ hint }) => hint === 'all') && !hints.some(({ hint }) => hint === 'more');
  const keys = isAll ? [] : hints.filter(({ hint }) => hint !== 'all').map(({ key }) => key);
  return [...new Set(keys)].sort();
}

function hintsIn(
  record: JsonRecord,
  came: readonly number[],
  look: Look,
  depth: number,
): { key: string; hint: Hint }[] {
  return Object.keys(record).flatMap((key) => {
    const value = record[key];
    const isPaging = look(key).is('paging');
    const hint = isPaging && isNextLink(value) ? 'more' : hintOf(look(key), value, came, look, depth > 0);
    const inner =
      isPaging && depth < DEEPEST_PAGING && isRecord(value) ? hintsIn(value, came, look, depth + 1) : [];
    return hint === null ? inner : [{ key, hint }, ...inner];
  });
}

/** `[{"rel": "next", "href": …}]`, or the same as the text of a header. */
function isNextLink(value: unknown): boolean {
  if (!Array.isArray(value)) return typeof value === 'string' && /rel="?next/.test(value);
  return value
    .filter(isRecord)
    .flatMap(({ rel, name, type }) => [rel, name, type])
    .some((rel) => rel === 'next' || rel === 'prev' || rel === 'previous');
}

/** What one field says. */
function hintOf(
  meaning: Meaning,
  found: unknown,
  came: readonly number[],
  look: Look,
  inPaging: boolean,
): Hint {
  const { plain } = meaning;
  const value = isRecord(found) ? scalarOf(found, look) : found;
  const number = readIndex(value);
  if (meaning.is('success')) return readFlag(value) === false ? 'more' : null;
  if (meaning.is('error') || MISSING.test(plain)) return isSet(found) ? 'more' : null;
  if (saysOld(meaning, value)) return 'more';
  if (saysFailed(meaning, value) || (plain === 'status' && value === false)) return 'more';
  if (meaning.is('last')) {
    const isLast = number > 1 ? false : readFlag(value);
    const isLink = inPaging && isLast === null && readText(value) !== null;
    return isLink ? 'paged' : lastOrMore(isLast);
  }
  if (meaning.is('more')) return lastOrMore(!(readFlag(value) ?? isSet(found)));
  if (number < 0 && meaning.is('range')) return hintOfRange(value, came);
  if (number < 0 && totalIn(value) > Math.max(...came)) return 'more';
  if (number < 0) {
    // "3 strips", -1, "1/3"
    const isCount = meaning.is('total') || meaning.is('pages') || meaning.is('page');
    return isCount && (typeof value === 'number' || readText(value) !== null) ? 'paged' : null;
  }
  if (meaning.is('total')) return lastOrMore(came.includes(number));
  if (meaning.is('pages')) return lastOrMore(number <= 1);
  if (meaning.is('count') || meaning.strips) return hintOfCount(plain, number, came, inPaging);
  if (meaning.is('page') || (inPaging && plain === 'current')) return moreOrPaged(number > 1);
  if (meaning.is('limit')) return hintOfSize(number, came);
  if (!meaning.is('skipped')) return null;
  // Some count what comes before, some start at 1.
  return moreOrPaged(number > (plain === 'from' || plain === 'start' ? 1 : 0));
}

/** Say that some did not come, or were not asked for. */
const MISSING =
  /^(?:failed|missing|skipped|unreachable|timedout).|errors$|warnings?$|^(?:filters?|filteredby|query|search|removed)$|since$/;

const lastOrMore = (isLast: boolean | null): Hint => (isLast === null ? null : isLast ? 'all' : 'more');

const moreOrPaged = (isMore: boolean): Hint => (isMore ? 'more' : 'paged');

/** `number` is that of a page; `size` may be that of a page, any other count is that of what came, or of all. */
function hintOfCount(plain: string, number: number, came: readonly number[], inPaging: boolean): Hint {
  if (came.includes(number)) return null;
  if (plain === 'number' || (inPaging && plain === 'num')) return moreOrPaged(number > 1);
  return plain === 'size' && inPaging ? hintOfSize(number, came) : moreOrPaged(plain !== 'size');
}

/** A page that is not full is the last. */
const hintOfSize = (size: number, came: readonly number[]): Hint =>
  came.every((count) => size > count) ? 'all' : 'paged';

/** "1-2/2", "0-1 of 5". */
function hintOfRange(value: unknown, came: readonly number[]): Hint {
  if (typeof value !== 'string') return null;
  const total = totalIn(value.replace('/', ' of '));
  if (total < 0) return /[0-9] *- *[0-9]/.test(value) ? 'paged' : null;
  return lastOrMore(came.includes(total));
}

/** "Showing 2 of 5 strips"; -1 where there is none. */
const totalIn = (value: unknown): number =>
  Number(/\bof\s+([0-9]{1,9})\b/i.exec(readText(value) ?? '')?.[1] ?? -1);

/** `total: {"value": 3}` */
function scalarOf(record: JsonRecord, look: Look): unknown {
  const isScalar = (key: string): boolean =>
    look(key).is('value') || look(key).strips || look(key).plain === 'count';
  const [only, ...others] = Object.keys(record).filter(isScalar);
  return only !== undefined && others.length === 0 ? record[only] : record;
}
