import { isRecord } from '../../values';
import { looksLikeMac, sameMac } from '../mac';
import { reachability, saysOld, stripFields } from './fields';
import type { Look, Meaning } from './names';
import { tellsOutlets } from './outlets';
import {
  agreed,
  isSet,
  preferred,
  readFlag,
  readIndex,
  readJson,
  readText,
  saysFailed,
  withItem,
  type JsonRecord,
} from './values';

/** What identifies a strip: a field called MAC, or a mere identifier that looks like one. */
interface Identity {
  mac: string;
  named: boolean;
}

/** A record about one strip, or a part of what is said about it. */
export interface FoundRecord {
  identity: Identity;
  record: JsonRecord;
  /** It stands among strips that are known not to answer. */
  offline: boolean;
}

/** Where in an answer a value stands. */
interface Place {
  /** What its key means; `null`: it is the answer itself. */
  name: Meaning | null;
  depth: number;
  offline: boolean;
}

/** `response.data.rooms[].strips[]`, with records for edges and nodes. */
const DEEPEST = 7;
/** A wrapper in a wrapper (`data.strips`) may be empty; further down an empty list may be anything. */
const DEEPEST_EMPTY = 2;

/** All records that identify a strip, wherever in an answer they stand. */
export function findRecords(body: unknown, look: Look): Search {
  const search = new Search(look);
  search.value(readJson(body), { name: null, depth: 0, offline: false });
  return search;
}

/** What is found in an answer. Each method says whether it found a list of strips, even if an empty one. */
class Search {
  readonly records: FoundRecord[] = [];
  /** The answer holds a list, even if an empty one. */
  isList = false;
  /** How many records of such lists have no MAC, or are no records. */
  unidentified = 0;
  /** The records around the lists, which may say that there is more. */
  readonly wrappers: JsonRecord[] = [];
  readonly #look: Look;

  constructor(look: Look) {
    this.#look = look;
  }

  value(value: unknown, place: Place): boolean {
    if (place.depth > DEEPEST) return false;
    if (Array.isArray(value)) return this.#list(value, place);
    return isRecord(value) && this.#record(value, place);
  }

  /** The records of an array: strips, or rooms and hubs that hold lists of them. */
  #list(list: readonly unknown[], place: Place): boolean {
    const look = this.#look;
    const { name, depth, offline } = place;
    if (list.length === 0) {
      const isEmptyList = depth <= DEEPEST_EMPTY && isListName(name);
      this.isList ||= isEmptyList;
      return isEmptyList;
    }
    const strips: FoundRecord[] = [];
    let unidentified = 0;
    let deeper = false;
    for (const item of list) {
      const record = readJson(item);
      if (typeof record === 'string' && looksLikeMac(record)) {
        strips.push({ identity: { mac: record, named: true }, record: {}, offline });
        continue;
      }
      if (!isRecord(record)) {
        unidentified++;
        continue;
      }
      const own = directIdentity(record, look);
      const before = this.records.length;
      // What an element with a MAC holds are its outlets, unless they have MACs and outlets of their own.
      const isContainer = (own === null || holdsStrips(record, own, look)) && this.#inside(record, place);
      const isEmpty = isContainer && own === null && this.records.length === before;
      // An empty list inside makes no room of an element that has a MAC further down.
      if (isContainer && !(isEmpty && partIdentity(record, look) !== null)) {
        deeper = true;
        if (own !== null && tellsOwnOutlets(record, own, look))
          strips.push({ identity: own, record, offline });
        continue;
      }
      const identity = name?.foreign === true ? null : (own ?? partIdentity(record, look));
      if (identity === null) unidentified++;
      else if (!isForeign(record, look)) strips.push({ identity, record, offline });
    }
    const areStrips =
      isListName(name) || strips.some(({ record }) => isRow(record, look) || tellsOutlets(record, look));
    if (strips.length > 0 && !areStrips) return deeper;
    if (strips.length === 0 && !deeper && !(name === null || name.strips)) return false;
    const isUncounted = name?.foreign === true || (deeper && strips.length === 0);
    this.#add(strips, isUncounted ? 0 : unidentified);
    return strips.length > 0 || deeper;
  }

  #add(strips: readonly FoundRecord[], unidentified: number): void {
    for (const strip of strips) this.records.push(strip);
    this.unidentified += unidentified;
    this.isList = true;
  }

  /** Lists of strips inside an element or a wrapper. */
  #inside(record: JsonRecord, { depth, offline }: Place): boolean {
    const look = this.#look;
    const own = directIdentity(record, look);
    const isOffline = offline || saysOffline(record, look);
    let any = false;
    for (const key of containers(record, look)) {
      const name = look(key);
      const value = readJson(record[key]);
      if (own !== null && !holdsOtherStrips(value, own, look)) continue;
      const place = { name, depth: depth + 1, offline: isOffline || name.is('unreachable') };
      if (this.value(value, place)) any = true;
    }
    if (any) this.wrappers.push(record);
    return any;
  }

  /** A wrapper, a map of strips, or one strip. */
  #record(record: JsonRecord, place: Place): boolean {
    const look = this.#look;
    const { name, depth, offline } = place;
    const keys = Object.keys(record);
    if (keys.length === 0) {
      const isEmptyMap = name?.strips === true || name?.plain === 'devices';
      this.isList ||= isEmptyMap;
      return isEmptyMap;
    }
    const macs: string[] = [];
    const others: string[] = [];
    for (const key of keys) {
      const value = looksLikeMac(key) ? record[key] : null;
      (typeof value === 'object' && value !== null ? macs : others).push(key);
    }
    if (macs.length > 0) return this.#keyed(record, macs, others, offline);
    const own = directIdentity(record, look);
    if (this.#inside(record, place)) {
      if (own !== null && tellsOwnOutlets(record, own, look))
        this.records.push({ identity: own, record, offline });
      if (this.records.length > 0 || depth > 0) return true;
    }
    if (own === null && this.#map(record, place)) return true;
    // An empty list under a name that does not say so is none beside anything else.
    const identity = depth > 0 ? null : (own ?? partIdentity(record, look));
    if (identity !== null) this.records.push({ identity, record, offline });
    return false;
  }

  /** `{"AABBCCDDEEFF": {…}, …}`, or with the outlets themselves as the value. */
  #keyed(map: JsonRecord, macs: readonly string[], others: readonly string[], offline: boolean): boolean {
    const look = this.#look;
    const strips = macs.map((key) => {
      const value = map[key];
      const own = isRecord(value) ? directIdentity(value, look) : null;
      const mac = own?.named === true ? own.mac : key;
      const holdsMore = isRecord(value) && !holdsOnlyOutlets(value, look);
      return { identity: { mac, named: true }, record: holdsMore ? value : { outlets: value }, offline };
    });
    this.#add(strips, 0);
    // A MAC never says how much there is.
    this.wrappers.push(Object.fromEntries(others.map((key) => [key, map[key]])));
    return true;
  }

  /** `{"Desk": {"mac": …}, "Office": {"mac": …}}`: strips under keys that say nothing. */
  #map(record: JsonRecord, { depth, offline }: Place): boolean {
    const look = this.#look;
    const strips: FoundRecord[] = [];
    let unidentified = 0;
    const isOffline = offline || saysOffline(record, look);
    for (const [key, value] of Object.entries(record)) {
      const meaning = look(key);
      if (!isRecord(value) || meaning.denied || meaning.foreign || meaning.is('more')) continue;
      if (meaning.part !== null || meaning.is('list') || meaning.strips || meaning.is('paging')) continue;
      const identity = directIdentity(value, look);
      if (identity === null) unidentified++;
      else if (!isForeign(value, look)) strips.push({ identity, record: value, offline: isOffline });
    }
    if (strips.length === 0 || !(depth === 0 || strips.length > 1 || unidentified === 0)) return false;
    if (!strips.some((strip) => tellsOutlets(strip.record, look)) && unidentified > 0) return false;
    this.#add(strips, unidentified);
    this.wrappers.push(record);
    return true;
  }
}

/** Whether the name of a container says that it holds what was asked for. `null`: the answer itself. */
const isListName = (name: Meaning | null): boolean =>
  name === null || name.is('list') || name.strips || name.part === 'self' || name.is('unreachable');

/** Whether a record around strips says that they cannot be reached. A number says how many can. */
const saysOffline = (record: JsonRecord, look: Look): boolean =>
  Object.keys(record).some((key) => {
    const value = record[key];
    return readIndex(value) < 0 && reachability({ meaning: look(key), value, part: 'self' }) === false;
  });

/** Whether records in a container that have outlets have MACs other than that of the record which holds them. */
function holdsOtherStrips(value: unknown, own: Identity, look: Look): boolean {
  if (Array.isArray(value)) return value.some((item) => isOtherStrip(item, own, look));
  if (isRecord(value)) for (const key in value) if (isOtherStrip(value[key], own, look)) return true;
  return false;
}

function isOtherStrip(item: unknown, own: Identity, look: Look): boolean {
  if (!isRecord(item)) return false;
  const identity = directIdentity(item, look);
  return identity !== null && !sameMac(identity.mac, own.mac) && tellsOutlets(item, look);
}

function holdsStrips(record: JsonRecord, own: Identity, look: Look): boolean {
  for (const key in record) if (!look(key).denied && holdsOtherStrips(record[key], own, look)) return true;
  return false;
}

/** Whether a record with a MAC has outlets besides the strips that it holds. */
function tellsOwnOutlets(record: JsonRecord, own: Identity, look: Look): boolean {
  const entries = Object.entries(record);
  const rest = entries.filter(([, value]) => !holdsOtherStrips(readJson(value), own, look));
  return tellsOutlets(Object.fromEntries(rest), look);
}

function holdsOnlyOutlets(record: JsonRecord, look: Look): boolean {
  for (const key in record) if (look(key).keyed < 0) return false;
  return true;
}

/** The keys of a record that may hold strips: where some are called strips, only those and what is called unreachable. */
function containers(record: JsonRecord, look: Look): string[] {
  const keys = Object.keys(record).filter((key) => !look(key).denied && !look(key).is('more'));
  const isStrips = (key: string): boolean => look(key).strips && Array.isArray(readJson(record[key]));
  return keys.some(isStrips) ? keys.filter((key) => isStrips(key) || look(key).is('unreachable')) : keys;
}

/** A record whose type says that it is a hub or a lamp; with outlets it is a strip all the same. */
function isForeign(record: JsonRecord, look: Look): boolean {
  for (const key in record) {
    const type = record[key];
    if (typeof type === 'string' && look(key).is('type') && look(type).foreign)
      return !tellsOutlets(record, look);
  }
  return false;
}

/** `{mac, port, on}` */
const isRow = (record: JsonRecord, look: Look): boolean =>
  Object.keys(record).some((key) => look(key).number === 'port') &&
  Object.keys(record).some((key) => look(key).state !== null);

/** What identifies the strip that a record is about whose own fields do not: those of its parts. `null`: nothing does. */
function partIdentity(record: JsonRecord, look: Look): Identity | null {
  const { fields } = stripFields([record], look);
  const named = fields.filter(({ meaning, value }) => meaning.mac >= 0 && readText(value) !== null);
  const own = named.filter(({ part }) => part === 'self');
  const mac = agreed(own.length > 0 ? own : named);
  if (typeof mac === 'string') return { mac, named: own.length > 0 };
  if (named.length > 0) return null;
  const ids = fields.filter(
    ({ meaning, value, part }) => part === 'self' && meaning.id >= 0 && isMacText(value),
  );
  const id = agreed(ids);
  return typeof id === 'string' ? { mac: id, named: false } : null;
}

/** The identity that a record's own fields give, the most preferred name first. */
function directIdentity(record: JsonRecord, look: Look): Identity | null {
  let found: { rank: number; text: string; named: boolean }[] = [];
  for (const key in record) {
    const { mac, id } = look(key);
    const text = mac >= 0 || id >= 0 ? readText(record[key]) : null;
    if (text === null || (mac < 0 && !isMacText(text))) continue;
    found = withItem(found, { rank: mac >= 0 ? mac : 100 + id, text, named: mac >= 0 });
  }
  const best = preferred(found);
  return best === undefined ? null : { mac: best.text, named: best.named };
}

const isMacText = (value: unknown): boolean =>
  typeof value === 'string' && (looksLikeMac(value) || /^0x[0-9a-f]{12,16}$/i.test(value));

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
