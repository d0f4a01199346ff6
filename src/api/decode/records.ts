import { looksLikeMac, sameMac } from '../mac';
import { isRecord } from '../../values';
import { readJson, type JsonRecord } from './values';
import type { Look, Meaning } from './names';
import { directIdentity, identityOf, tellsOutlets, type Identity } from './strip';

/** A record about one strip, or a part of what is said about it. */
export interface FoundRecord extends Identity {
  record: JsonRecord;
  /** It stands among strips that are known not to answer. */
  offline: boolean;
}

/** What was found in an answer that may hold a list of strips. */
export interface Found {
  records: FoundRecord[];
  /** It holds a list, even if an empty one. */
  isList: boolean;
  /** How many records of such lists have no MAC, or are no records. */
  unidentified: number;
  /** The records around the lists, which may say that there is more. */
  wrappers: JsonRecord[];
}

/** `response.data.rooms[].strips[]`, with records for edges and nodes. */
const DEEPEST = 7;
/** A wrapper in a wrapper (`data.strips`) may be empty; further down an empty list may be anything. */
const DEEPEST_EMPTY = 2;

/** All records that identify a strip, wherever in an answer they stand. */
export function findRecords(body: unknown, look: Look): Found {
  const found: Found = { records: [], isList: false, unidentified: 0, wrappers: [] };
  search(found, readJson(body), null, look, 0, false);
  return found;
}

/** Whether the name of a container says that it holds what was asked for. `null`: the answer itself. */
const isListName = (name: Meaning | null): boolean =>
  name === null || name.is('list') || name.strips || name.part === 'self' || name.is('unreachable');

function search(
  found: Found,
  value: unknown,
  name: Meaning | null,
  look: Look,
  depth: number,
  offline: boolean,
): boolean {
  if (depth > DEEPEST) return false;
  if (Array.isArray(value)) return searchList(found, value, name, look, depth, offline);
  return isRecord(value) && searchRecord(found, value, name, look, depth, offline);
}

/** The records of an array: strips, or rooms and hubs that hold lists of them. */
function searchList(
  found: Found,
  list: readonly unknown[],
  name: Meaning | null,
  look: Look,
  depth: number,
  offline: boolean,
): boolean {
  if (list.length === 0) {
    const isEmptyList = depth <= DEEPEST_EMPTY && isListName(name);
    found.isList ||= isEmptyList;
    return isEmptyList;
  }
  const strips: FoundRecord[] = [];
  let unidentified = 0;
  let deeper = false;
  for (const item of list) {
    const each = readJson(item);
    const record = isRecord(each) ? each : null;
    if (record === null) {
      if (typeof each === 'string' && looksLikeMac(each)) {
        strips.push({ mac: each, named: true, record: {}, offline });
      } else unidentified++;
      continue;
    }
    const own = directIdentity(record, look);
    const before = found.records.length;
    // What an element with a MAC holds are its outlets, unless they have MACs and outlets of their own.
    const isContainer =
      (own === null || holdsStrips(record, own, look)) && searchInside(found, record, look, depth, offline);
    // An empty list inside makes no room of an element that tells outlets and has a MAC further down.
    const isStripWithEmptyList =
      own === null &&
      found.records.length === before &&
      tellsOutlets(record, look) &&
      identityOf(record, look) !== null;
    if (isContainer && !isStripWithEmptyList) {
      deeper = true;
      if (own !== null && tellsOwnOutlets(record, look))
        strips.push({ mac: own.mac, named: own.named, record, offline });
      continue;
    }
    const identity = name?.foreign === true ? null : (own ?? identityOf(record, look));
    if (identity === null) unidentified++;
    else if (!isForeign(record, look))
      strips.push({ mac: identity.mac, named: identity.named, record, offline });
  }
  if (
    strips.length > 0 &&
    !isListName(name) &&
    !strips.some(({ record }) => isRow(record, look) || tellsOutlets(record, look))
  )
    return deeper;
  if (strips.length === 0 && !deeper && !(name === null || name.strips)) return false;
  for (const strip of strips) found.records.push(strip);
  if (name?.foreign !== true && !(deeper && strips.length === 0)) found.unidentified += unidentified;
  found.isList = true;
  return strips.length > 0 || deeper;
}

/** Lists of strips inside an element or a wrapper. */
function searchInside(
  found: Found,
  record: JsonRecord,
  look: Look,
  depth: number,
  offline: boolean,
): boolean {
  const own = directIdentity(record, look);
  let any = false;
  for (const key of containers(record, look)) {
    const meaning = look(key);
    const value = readJson(record[key]);
    if (own !== null && !holdsOtherStrips(value, own, look)) continue;
    if (search(found, value, meaning, look, depth + 1, offline || meaning.is('unreachable'))) any = true;
  }
  if (any) found.wrappers.push(record);
  return any;
}

/** Whether records in a container have MACs other than that of the record which holds them. */
function holdsOtherStrips(value: unknown, own: Identity, look: Look): boolean {
  if (Array.isArray(value)) {
    for (const item of value) if (isOtherStrip(item, own, look)) return true;
  } else if (isRecord(value)) {
    for (const key in value) if (isOtherStrip(value[key], own, look)) return true;
  }
  return false;
}

function isOtherStrip(item: unknown, own: Identity, look: Look): boolean {
  if (!isRecord(item)) return false;
  const identity = directIdentity(item, look);
  return identity !== null && !sameMac(identity.mac, own.mac) && tellsOutlets(item, look);
}

/** The keys of a record that may hold strips: where some are called strips, only those and what is called unreachable. */
function containers(record: JsonRecord, look: Look): string[] {
  const keys = Object.keys(record).filter((key) => !look(key).denied && !look(key).is('more'));
  const isStrips = (key: string): boolean => look(key).strips && Array.isArray(readJson(record[key]));
  return keys.some(isStrips) ? keys.filter((key) => isStrips(key) || look(key).is('unreachable')) : keys;
}

/** A wrapper, a map of strips, or one strip. */
function searchRecord(
  found: Found,
  record: JsonRecord,
  name: Meaning | null,
  look: Look,
  depth: number,
  offline: boolean,
): boolean {
  const keys = Object.keys(record);
  if (keys.length === 0) {
    const isEmptyMap = name?.strips === true || name?.plain === 'devices';
    found.isList ||= isEmptyMap;
    return isEmptyMap;
  }
  const macs: string[] = [];
  const others: string[] = [];
  for (const key of keys) {
    const value = looksLikeMac(key) ? record[key] : null;
    (typeof value === 'object' && value !== null ? macs : others).push(key);
  }
  if (macs.length > 0) return addKeyed(found, record, macs, others, look, offline);
  if (searchInside(found, record, look, depth, offline)) {
    const own = tellsOwnOutlets(record, look) ? directIdentity(record, look) : null;
    if (own !== null) found.records.push({ ...own, record, offline });
    if (found.records.length > 0 || depth > 0) return true;
  }
  if (directIdentity(record, look) === null && searchMap(found, record, look, depth, offline)) return true;
  // An empty list under a name that does not say so is none beside anything else.
  const identity = depth > 0 ? null : identityOf(record, look);
  if (identity !== null) found.records.push({ ...identity, record, offline });
  return false;
}

/** `{"AABBCCDDEEFF": {…}, …}`, or with the outlets themselves as the value. */
function addKeyed(
  found: Found,
  map: JsonRecord,
  macs: readonly string[],
  others: readonly string[],
  look: Look,
  offline: boolean,
): boolean {
  for (const key of macs) {
    const value = map[key];
    const own = isRecord(value) ? directIdentity(value, look) : null;
    const mac = own?.named === true ? own.mac : key;
    const record = isRecord(value) && !holdsOnlyOutlets(value, look) ? value : { outlets: value };
    found.records.push({ mac, named: true, record, offline });
  }
  found.isList = true;
  // A MAC never says how much there is.
  found.wrappers.push(Object.fromEntries(others.map((key) => [key, map[key]])));
  return true;
}

function holdsOnlyOutlets(record: JsonRecord, look: Look): boolean {
  for (const key in record) if (look(key).keyed < 0) return false;
  return true;
}

/** `{"Desk": {"mac": …}, "Office": {"mac": …}}`: strips under keys that say nothing. */
function searchMap(found: Found, record: JsonRecord, look: Look, depth: number, offline: boolean): boolean {
  const strips: FoundRecord[] = [];
  let unidentified = 0;
  for (const key of Object.keys(record)) {
    const value = record[key];
    const meaning = look(key);
    if (!isRecord(value) || meaning.denied || meaning.foreign || meaning.is('more')) continue;
    if (meaning.part !== null || meaning.is('list') || meaning.strips || meaning.is('paging')) continue;
    const identity = directIdentity(value, look);
    if (identity === null) unidentified++;
    else if (!holdsStrips(value, identity, look) && !isForeign(value, look))
      strips.push({ ...identity, record: value, offline });
  }
  if (strips.length === 0 || !(depth === 0 || strips.length > 1 || unidentified === 0)) return false;
  if (!strips.some(({ record: strip }) => tellsOutlets(strip, look)) && unidentified > 0) return false;
  for (const strip of strips) found.records.push(strip);
  found.unidentified += unidentified;
  found.isList = true;
  found.wrappers.push(record);
  return true;
}

function holdsStrips(record: JsonRecord, own: Identity, look: Look): boolean {
  for (const key in record) if (!look(key).denied && holdsOtherStrips(record[key], own, look)) return true;
  return false;
}

/** Whether a record with a MAC has outlets besides the strips that it holds. */
const tellsOwnOutlets = (record: JsonRecord, look: Look): boolean => {
  const own = directIdentity(record, look);
  if (own === null) return false;
  const rest = Object.fromEntries(
    Object.entries(record).filter(([, value]) => !holdsOtherStrips(readJson(value), own, look)),
  );
  return tellsOutlets(rest, look);
};

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
