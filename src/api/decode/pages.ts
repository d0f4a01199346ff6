import { isRecord } from '../../values';
import type { JsonRecord } from '../types';
import type { Candidate } from './agreement';
import { hasField, meaningOf, says, valuesNamed, valuesWhere, type KeyMeaning } from './names';
import { holdsProblem, isProblem, RESULT_CODE, saysFailed, saysOld } from './reliability';
import { isSet, readFlag, readIndex, readText, recordsIn } from './values';

/** What a field around a list says: something failed, there is more, there are pages (`paged`), or this is everything (`all`). */
type Hint = 'failed' | 'more' | 'paged' | 'all' | null;
type FieldHint = Candidate<Hint>;

/** What a count may mean: the number of records that came, or of strips. */
type Counts = readonly number[];

/** What came with the fields. */
interface Came {
  counts: Counts;
  /** No strip came, in any wrapper. */
  nothing: boolean;
  /** The records around strips: each is searched by itself. */
  wrappers: ReadonlySet<unknown>;
}

/** How deep paging fields may be nested: `meta.pagination.links.next`. */
const DEEPEST_PAGING = 3;

/**
 * The fields around a list that hint that it is incomplete: only a page, or from a request that failed. Hints that fit the number of records do not
 * count. `counts`: how many records there were, and how many strips; `rooms`: how many records were in each wrapper that is one of several, such as a
 * room.
 */
export function hintsAtMore(
  wrappers: readonly JsonRecord[],
  counts: Counts,
  rooms: ReadonlyMap<JsonRecord, number> = new Map(),
): FieldHint[] {
  const came: Came = { counts, nothing: Math.max(...counts) === 0, wrappers: new Set(wrappers) };
  return withoutFitting(
    wrappers.flatMap((wrapper) => {
      const size = rooms.get(wrapper);
      if (size === undefined) return hintsIn(wrapper, came, 0);
      // That everything in one room came says nothing about the others.
      return withoutFitting(hintsIn(wrapper, { ...came, counts: [size] }, 0));
    }),
  );
}

/** The hints at more, or none if all they say is that there are pages, and another one says that this is everything. */
function withoutFitting(hints: readonly FieldHint[]): FieldHint[] {
  const atMore = hints.filter(({ value }) => value !== 'all');
  const isAll = atMore.length < hints.length && atMore.every(({ value }) => value === 'paged');
  return isAll ? [] : atMore;
}

function hintsIn(record: JsonRecord, came: Came, depth: number): FieldHint[] {
  return Object.keys(record).flatMap((key) => {
    const value = record[key];
    const meaning = meaningOf(key);
    const isPaging = meaning.is('paging') || (isAboutPages(value) && !came.wrappers.has(value));
    if (meaning.isName || (meaning.is('last') && isAlsoFirst(meaning, record))) return [];
    const hint = isPaging && isNextLink(value) ? 'more' : hintOf(meaning, value, came, depth > 0);
    const records = isPaging && depth < DEEPEST_PAGING ? recordsIn(value) : [];
    const inner = records.flatMap((each) => hintsIn(each, came, depth + 1));
    return hint === null ? inner : [{ value: hint, from: key }, ...inner];
  });
}

/** `{"current_page": 1, …}` or `{"has_more": true}`, whatever the record is called: "pagy", for example. */
const isAboutPages = (value: unknown): boolean =>
  isRecord(value) && hasField(value, ({ isListed, plain }) => isListed && /pag|cursor|hasmore/.test(plain));

/** `[{"rel": "next", "href": …}]`, or the same as the text of a header. */
function isNextLink(value: unknown): boolean {
  if (!Array.isArray(value)) return typeof value === 'string' && /rel="?next/i.test(value);
  return value
    .filter(isRecord)
    .flatMap((link) => valuesWhere(link, ({ plain }) => /^(?:rel|name|type)$/.test(plain)))
    .some((rel) => /^(?:next|prev|previous)$/i.test(readText(rel) ?? ''));
}

/** The link to a page, as a text or as `{"href": …}`. Outside of paging fields, any other text may be about something else. */
function linkOf(value: unknown, inPaging: boolean): string | null {
  const link = readText(isRecord(value) ? valuesNamed(value, 'href')[0] : value);
  return inPaging || link?.includes('?') === true ? link : null;
}

/** The address of something, such as a search, does not say that something is missing. */
const isLink = (value: unknown): boolean => /^(?:https?:\/)?\//.test(linkOf(value, true) ?? '');

/** Whether the link to the last page is the one to the first page, too. */
function isAlsoFirst({ key, plain }: KeyMeaning, record: JsonRecord): boolean {
  const first = plain.replace('last', 'first');
  const link = linkOf(record[key], true);
  if (first === plain || link === null) return false;
  return valuesNamed(record, first).some((value) => linkOf(value, true) === link);
}

/** What one field says. */
function hintOf(meaning: KeyMeaning, found: unknown, { counts, nothing }: Came, inPaging: boolean): Hint {
  // MongoDB's `$facet` puts a count into a list: `total: [{"count": 3}]`.
  const inner: unknown = meaning.is('total') && Array.isArray(found) && found.length === 1 ? found[0] : found;
  const value = isRecord(inner) ? scalarOf(inner) : inner;
  const number = readIndex(value);
  if (meaning.is('more')) {
    const isMore = readFlag(value) ?? isSet(found);
    return BEFORE.test(meaning.plain) ? moreOrPaged(isMore) : allOrMore(!isMore);
  }
  // If strips came, a code such as 1 may mean success.
  const isFailed = nothing && isErrorCode(meaning, value);
  if (isFailed || saysIncomplete(meaning, found, value)) return 'failed';
  if (meaning.is('last')) {
    const isLast = number > 1 ? false : readFlag(value);
    if (isLast !== null) return allOrMore(isLast);
    return linkOf(value, inPaging) === null ? null : 'paged';
  }
  if (meaning.is('lastkey') && isSet(found)) return 'paged';
  return number < 0 ? hintOfText(meaning, value, counts) : hintOfNumber(meaning, number, counts, inPaging);
}

/** Names of what came before this page. That nothing did says nothing about a next page. */
const BEFORE = /^(?:has|is|can|hydra|odata)?(?:prev|before$|endingbefore$|start(?:ing)?after$)/;

/** Whether a field says that something failed, is missing or is old. */
const saysIncomplete = (meaning: KeyMeaning, found: unknown, value: unknown): boolean =>
  (meaning.is('success') && readFlag(value) === false) ||
  ((meaning.plain === 'status' || meaning.plain === 'result') && value === false) ||
  ((meaning.is('error') || meaning.is('reason') || (saysMissing(meaning) && !isLink(found))) &&
    (isRecord(found) ? holdsProblem(found) : isProblem(value))) ||
  says('pending', value === true ? meaning.plain : value) ||
  saysOld(meaning, value) ||
  saysFailed(meaning, value);

/** Whether a result code means failure: it is not 0, not an HTTP 2xx, and not a word for success. */
const isErrorCode = ({ plain }: KeyMeaning, value: unknown): boolean =>
  RESULT_CODE.test(plain) && isProblem(value) && Math.floor(readIndex(value) / 100) !== 2;

/** Whether a field says that some strips did not come, or were not asked for. */
const saysMissing = ({ is, plain }: KeyMeaning): boolean => is('missing') || MISSING.test(plain);

/** Names of which a part says this: "failed_strips", "notFound", "loadErrors", "updated_since". */
const MISSING =
  /^(?:failed|missing|skipped|omitted|hidden|unavailable|unreachable|unprocessed|timedout).|^not(?:found|loaded|shown|returned)|^(?:strips|devices|items|results)(?:failed|missing|skipped|omitted|hidden)$|(?:errors|warnings?|since)$/;

const allOrMore = (isAll: boolean): Hint => (isAll ? 'all' : 'more');

const moreOrPaged = (isMore: boolean): Hint => (isMore ? 'more' : 'paged');

/** What a text says, or a number that cannot be a count: "0-1 of 5", "3 strips", -1, "1/3". */
function hintOfText(meaning: KeyMeaning, value: unknown, counts: Counts): Hint {
  const text = readText(value) ?? '';
  // `lastPage: false` says that this is not the last page.
  const isLastPage = meaning.plain === 'lastpage' ? readFlag(value) : null;
  if (isLastPage !== null) return allOrMore(isLastPage);
  if (meaning.is('range')) return hintOfRange(text, counts);
  if (totalIn(text) > Math.max(...counts)) return 'more';
  const isCount = meaning.is('total') || meaning.is('pages') || meaning.is('page');
  // With a text as offset, some services continue the list. In the other names of this kind, such as "from", a text may be a date.
  const isOffset = meaning.is('skipped') && meaning.plain.endsWith('offset');
  return (isCount || isOffset) && (typeof value === 'number' || text !== '') ? 'paged' : null;
}

function hintOfNumber(meaning: KeyMeaning, number: number, counts: Counts, inPaging: boolean): Hint {
  const { plain } = meaning;
  if (meaning.is('total')) return allOrMore(counts.includes(number));
  if (meaning.is('pages')) return allOrMore(number <= 1);
  if (meaning.is('count') || meaning.strips) return hintOfCount(plain, number, counts, inPaging);
  if (meaning.is('page') || (inPaging && plain === 'current')) return moreOrPaged(number > 1);
  if (meaning.is('limit')) return hintOfSize(number, counts);
  // Some services send the count of entries before this page, others the number of its first entry.
  const first = plain === 'from' || plain === 'start' ? 1 : 0;
  return meaning.is('skipped') ? moreOrPaged(number > first) : null;
}

/**
 * What a count says. A `number` may be the number of a page, and a `size` the size of a page. Any other count is the count of the records here, or of
 * all records.
 */
function hintOfCount(plain: string, number: number, counts: Counts, inPaging: boolean): Hint {
  if (counts.includes(number)) return null;
  if (plain === 'number' || (inPaging && plain === 'num')) return moreOrPaged(number > 1);
  if (plain !== 'size') return 'more';
  return inPaging ? hintOfSize(number, counts) : 'paged';
}

/** A page that is not full is the last. */
const hintOfSize = (size: number, counts: Counts): Hint =>
  counts.every((count) => size > count) ? 'all' : 'paged';

/** "1-2/2", "0-1 of 5". */
function hintOfRange(text: string, counts: Counts): Hint {
  const total = totalIn(text.replace('/', ' of '));
  if (total >= 0) return allOrMore(counts.includes(total));
  return /[0-9] *- *[0-9]/.test(text) ? 'paged' : null;
}

/** The total in a text such as "Showing 2 of 5 strips"; -1: none. */
const totalIn = (text: string): number => Number(/\bof\s+([0-9]{1,9})\b/i.exec(text)?.[1] ?? -1);

/** `total: {"value": 3}` */
function scalarOf(record: JsonRecord): unknown {
  const values = valuesWhere(record, ({ is, strips, plain }) => is('value') || strips || plain === 'count');
  return values.length === 1 ? values[0] : record;
}
