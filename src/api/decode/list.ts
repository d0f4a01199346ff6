import { isObject, isRecord } from '../../values';
import { looksLikeMac, sameMac, type JsonRecord } from '../types';
import { agreed, Preferred } from './agreement';
import { stripFields, type Field } from './fields';
import { hasField, keysWhere, meaningOf, valuesWhere, type KeyMeaning } from './names';
import { tellsOutlets } from './outlets';
import { reachability, saysUnreliable } from './reliability';
import { readIndex, readJson, readText } from './values';

/** Identifies a strip. `named`: by a field that is called MAC, or by the key of its record; otherwise by an identifier that only looks like a MAC. */
interface Identity {
  mac: string;
  named: boolean;
}

/** A record about one strip. There may be several records about the same strip. */
export interface FoundRecord {
  identity: Identity;
  record: JsonRecord;
  /** It is listed among strips that cannot be reached. */
  offline: boolean;
}

/** The position of a value in an answer. */
interface Place {
  /** What its key means; `null`: it is the answer itself. */
  name: KeyMeaning | null;
  depth: number;
  offline: boolean;
  /** It is inside an element of a list, such as a room. */
  inElement: boolean;
  /** The records around it. */
  around: readonly JsonRecord[];
}

/** How deep a list may be nested: `response.data.rooms[].strips[]`, and the levels `edges` and `node` of GraphQL. */
const DEEPEST = 7;
/** How deep an empty list of strips may be nested (`data.strips`). Further down, an empty list may be of anything. */
const DEEPEST_EMPTY = 2;

/** All records that identify a strip, anywhere in an answer. */
export function findRecords(body: unknown): Search {
  const search = new Search();
  search.value(readJson(body), { name: null, depth: 0, offline: false, inElement: false, around: [] });
  return search;
}

/** Collects the strips of an answer. Its methods return whether a value is or contains a list of strips, even an empty one. */
class Search {
  readonly records: FoundRecord[] = [];
  /** The answer holds a list of strips, perhaps an empty one. */
  isList = false;
  /** How many entries of such lists are not records, or have no MAC. */
  unidentified = 0;
  /** The records around the lists, which may say that there is more. */
  readonly wrappers: JsonRecord[] = [];
  /** Those of them that are elements of a list, such as rooms, and how many records of strips are in each. */
  readonly rooms = new Map<JsonRecord, number>();
  /** Whether records hold outlets, as far as this was looked at. */
  readonly #outlets = new Map<JsonRecord, boolean>();

  value(value: unknown, place: Place): boolean {
    if (place.depth > DEEPEST) return false;
    if (Array.isArray(value)) return this.#list(value, place);
    return isRecord(value) && this.#record(value, place);
  }

  /** The records of an array: strips, or rooms and hubs that hold lists of them. */
  #list(list: readonly unknown[], place: Place): boolean {
    const { name, depth } = place;
    if (list.length === 0) return this.#empty(depth <= DEEPEST_EMPTY && isListName(name), place);
    const items = list.map((item) => this.#item(readJson(item), { ...place, inElement: true }));
    const hasGroups = items.includes('group');
    const strips = items.filter((item) => typeof item === 'object');
    const areStrips = isListName(name) || strips.some(({ record }) => isRow(record) || tellsOutlets(record));
    const unidentified = list.filter((_, i) => items[i] === 'unidentified');
    if (hasGroups) this.#addFailed(unidentified);
    if (!areStrips) return hasGroups;
    const hasAny = strips.length > 0 || hasGroups;
    const mustBeStrips = name === null || name.strips || name.is('unreachable');
    // Beside rooms, an entry without a MAC may be a room without strips.
    const isUnknownStrip = (item: unknown): boolean => !hasGroups || (isRecord(item) && tellsOutlets(item));
    if (hasAny || mustBeStrips) this.#add(strips, unidentified.filter(isUnknownStrip).length);
    return hasAny;
  }

  /** An element of a list: a strip, a record that holds strips, or something else; `unidentified`: nothing says which strip it is. */
  #item(value: unknown, place: Place): FoundRecord | 'group' | 'other' | 'unidentified' {
    const { name, offline } = place;
    const record = typeof value === 'string' && looksLikeMac(value) ? { mac: value } : value;
    if (!isRecord(record)) return 'unidentified';
    const own = ownIdentity(record);
    if (this.#addGroup(record, own, place)) return 'group';
    const identity = identityOf(record, own);
    if (identity === null) return 'unidentified';
    // In a list that is called strips, a type such as "repeater" is the role of a strip in its network.
    return name?.strips !== true && isForeign(record) ? 'other' : { identity, record, offline };
  }

  /** Adds the strips inside a record and, if it is a strip itself, too, the record. Returns whether there are any inside. */
  #addGroup(record: JsonRecord, own: Identity | null, place: Place): boolean {
    const before = this.records.length;
    // The records inside a record with a MAC are its outlets, unless they have their own MACs and are called strips, or have outlets.
    const others = own === null ? null : keysOfOthers(record, own);
    if (others?.size === 0 || !this.#inside(record, place, others)) return false;
    // A record with outlets, or with a MAC further down, does not become a group because of an empty list in it.
    const isHub = own !== null && !tellsOutlets(record);
    if (this.records.length === before && !isHub && partIdentity(record) !== null) return false;
    const rest = Object.entries(record).filter(([key]) => others?.has(key) === false);
    if (own !== null && tellsOutlets(Object.fromEntries(rest)))
      this.records.push({ identity: own, record, offline: place.offline });
    return true;
  }

  /**
   * Whether an empty list or record is a list of strips. `isNamed`: its name may mean a list of strips. In an element of a list, only a name that
   * clearly means strips counts, because a record without a MAC may hold an empty list of anything.
   */
  #empty(isNamed: boolean, { name, inElement }: Place): boolean {
    const isList = isNamed && (!inElement || name?.strips === true);
    this.isList ||= isList;
    return isList;
  }

  #add(strips: readonly FoundRecord[], unidentified: number): void {
    for (const strip of strips) this.records.push(strip);
    this.unidentified += unidentified;
    this.isList = true;
  }

  /** Searches an element or a wrapper for lists of strips. `others`: the keys under which a hub holds some. */
  #inside(
    record: JsonRecord,
    { depth, offline, inElement, around: outer }: Place,
    others: ReadonlySet<string> | null,
  ): boolean {
    const isOffline = offline || saysOffline(record);
    const before = this.records.length;
    const around = [...outer, record];
    let any = false;
    const rest: unknown[] = [];
    for (const key of containers(record)) {
      const name = meaningOf(key);
      const value = listOfOne(name, readJson(record[key]), others?.has(key) === true);
      const place = {
        name,
        depth: depth + 1,
        offline: isOffline || name.is('unreachable'),
        inElement,
        around,
      };
      if (this.value(value, place)) any = true;
      else rest.push(value);
    }
    if (any) {
      this.wrappers.push(record);
      if (inElement) this.rooms.set(record, this.records.length - before);
      this.#addFailed(rest);
    }
    return any;
  }

  /** Beside a record that holds strips, another may say that its own could not be read: `{"eu": {"strips": […]}, "us": {"error": …}}`. */
  #addFailed(values: readonly unknown[]): void {
    for (const record of values.filter(isRecord)) if (saysFailure(record)) this.wrappers.push(record);
  }

  /** A wrapper, a map of strips, or one strip. */
  #record(record: JsonRecord, place: Place): boolean {
    const { name, depth, offline } = place;
    const entries = Object.entries(record);
    if (entries.length === 0) return this.#empty(name?.strips === true || name?.plain === 'devices', place);
    const byMac = entries.filter(isByMac);
    if (byMac.length > 0) {
      // A key that is a MAC never says how many strips there are.
      const others = entries.filter(([key]) => !looksLikeMac(key));
      this.wrappers.push(Object.fromEntries(others));
      const records = byMac.map((entry) => stripOfEntry(entry, offline));
      // The MAC may be that of a hub, with the strips behind it.
      const strips = records.filter((each) => !this.#addGroup(each.record, each.identity, place));
      // `"AABBCCDDEEFF": null`
      this.#add(strips, entries.length - others.length - byMac.length);
      return true;
    }
    const own = ownIdentity(record);
    if (this.#addGroup(record, own, place)) return true;
    if (own === null && this.#map(record, place)) return true;
    // A single strip counts only if it is the whole answer.
    const identity = depth > 0 ? null : identityOf(record, own);
    if (identity !== null) this.records.push({ identity, record, offline });
    return false;
  }

  /** `{"Desk": {"mac": …}, "Office": {"mac": …}}`: strips under keys that have no known meaning. */
  #map(record: JsonRecord, { name, offline, around }: Place): boolean {
    const strips: FoundRecord[] = [];
    let unidentified = 0;
    const isOffline = offline || saysOffline(record);
    for (const [key, value] of Object.entries(record)) {
      const meaning = meaningOf(key);
      if (!isRecord(value) || meaning.denied || meaning.foreign) continue;
      if (meaning.part !== null || meaning.holds || meaning.strips) continue;
      const identity = directIdentity(value);
      if (identity === null) unidentified++;
      else if (!isForeign(value)) strips.push({ identity, record: value, offline: isOffline });
    }
    if (strips.length === 0) return false;
    // A record with a MAC and no outlets, beside outlets or other records, may be a part of one strip, such as a network interface.
    const areSure = strips.some((strip) => tellsOutlets(strip.record));
    if (!areSure && (unidentified > 0 || [record, ...around].some((each) => this.#tellsOutlets(each))))
      return false;
    // `"strips": {"Desk": {…}, "Hall": null}`
    const mayBeStrip = (key: string): boolean => record[key] === null && !meaningOf(key).isListed;
    const gaps = name !== null && isListName(name) ? Object.keys(record).filter(mayBeStrip) : [];
    this.#add(strips, unidentified + gaps.length);
    this.wrappers.push(record);
    return true;
  }

  /** Looks at each record once, because there may be thousands of maps in it. */
  #tellsOutlets(record: JsonRecord): boolean {
    const known = this.#outlets.get(record) ?? tellsOutlets(record);
    this.#outlets.set(record, known);
    return known;
  }
}

/**
 * `{"strips": {"mac": …}}` and `{"strips": {"count": 1, "strip": {"mac": …}}}`: a list of one strip, converted from XML. `inHub`: it is in the record
 * of a hub, `{"mac": …, "strip": {"mac": …}}`.
 */
function listOfOne(name: KeyMeaning, value: unknown, inHub: boolean): unknown {
  const mayBeList = (name.strips || name.is('list')) && (inHub || name.plain.endsWith('s'));
  if (!isRecord(value) || !mayBeList) return value;
  return partIdentity(value) !== null && tellsOutlets(value) ? [value] : value;
}

type Entry = [key: string, value: unknown];

/** `"AABBCCDDEEFF": {…}`, or with the outlets themselves as the value. */
const isByMac = ([key, value]: Entry): boolean => isObject(value) && looksLikeMac(key);

/** The strip of such an entry. A record of nothing but numbered keys holds its outlets. */
function stripOfEntry([mac, value]: Entry, offline: boolean): FoundRecord {
  const own = isRecord(value) ? directIdentity(value) : null;
  const identity = own?.named === true ? own : { mac, named: true };
  const holdsMore = isRecord(value) && hasField(value, ({ keyed }) => keyed < 0);
  return { identity, record: holdsMore ? value : { outlets: value }, offline };
}

/** Whether the name of a container says that it holds what was asked for. `null`: the answer itself. */
const isListName = (name: KeyMeaning | null): boolean =>
  name === null || name.holds || name.strips || name.is('unreachable');

/** Whether a record around strips says that they cannot be reached. A number does not: it says how many can be reached. */
const saysOffline = (record: JsonRecord): boolean =>
  hasField(record, (meaning, value) => readIndex(value) < 0 && reachability(meaning, value) === false);

/** Whether a record names an error, or says that it is no success. */
const saysFailure = (record: JsonRecord): boolean =>
  hasField(
    record,
    (meaning, value) =>
      (meaning.reliability === 'error' || meaning.reliability === 'success') &&
      saysUnreliable(meaning, value),
  );

/** The keys of a record that hold other strips: records with a MAC other than its own. Under a name such as `strips` they need no outlets, and a list may be empty. */
function keysOfOthers(record: JsonRecord, own: Identity): Set<string> {
  const keys = new Set<string>();
  for (const key in record) {
    const value = record[key];
    const { denied, strips } = meaningOf(key);
    if (!isObject(value) || denied) continue;
    const inner: unknown[] = Object.values(value);
    const areStrips = strips && Array.isArray(value);
    const holdsOthers = inner.some((item) => isOther(item, own) && (areStrips || tellsOutlets(item)));
    const isStrip = strips && own.named && isNamedOther(value, own) && tellsOutlets(value);
    if (holdsOthers || isStrip || (areStrips && inner.length === 0)) keys.add(key);
  }
  return keys;
}

function isOther(item: unknown, own: Identity): item is JsonRecord {
  const identity = isRecord(item) ? directIdentity(item) : null;
  return identity !== null && !sameMac(identity.mac, own.mac);
}

/** Whether a field called MAC says that a record is about another strip. An identifier that only looks like a MAC may be another one of the same strip. */
const isNamedOther = (item: unknown, own: Identity): item is JsonRecord =>
  isOther(item, own) && directIdentity(item)?.named === true;

/** The keys of a record that may hold strips. If some are called strips, only those, the ones that are called unreachable, and rooms with such lists. */
function containers(record: JsonRecord): string[] {
  const isStrips = ({ strips }: KeyMeaning, value: unknown): boolean =>
    strips && Array.isArray(readJson(value));
  const hasStrips = hasField(record, isStrips);
  return keysWhere(record, (meaning, value) => {
    if (meaning.denied || meaning.is('more')) return false;
    return !hasStrips || isStrips(meaning, value) || meaning.is('unreachable') || holdsStrips(value);
  });
}

/** `[{"name": "Kitchen", "strips": [{"mac": …, "outlets": …}]}]` */
const holdsStrips = (list: unknown): boolean =>
  Array.isArray(list) &&
  list.some((room) => isRecord(room) && hasField(room, ({ strips }, inner) => strips && haveOutlets(inner)));

const haveOutlets = (strips: unknown): boolean =>
  Array.isArray(strips) && strips.some((strip) => isRecord(strip) && tellsOutlets(strip));

/** A record whose type says that it is a hub or a lamp, unless it has outlets: then it is a strip. */
const isForeign = (record: JsonRecord): boolean =>
  hasField(record, ({ is }, type) => typeof type === 'string' && is('type') && meaningOf(type).foreign) &&
  !tellsOutlets(record);

/** `{mac, port, on}` */
const isRow = (record: JsonRecord): boolean =>
  hasField(record, ({ number }) => number === 'port') && hasField(record, ({ state }) => state !== null);

/** The identity of a strip, whose own fields give `own`. A field called MAC in one of its parts counts more than an identifier that looks like one. */
function identityOf(record: JsonRecord, own: Identity | null): Identity | null {
  if (own?.named === true) return own;
  const inner = partIdentity(record);
  return inner?.named === true ? inner : (own ?? inner);
}

/** The identity on which the fields of a record and of its parts agree; `null`: none. Its own fields count more. */
function partIdentity(record: JsonRecord): Identity | null {
  const { fields } = stripFields([record]);
  const own = fields.filter(({ part }) => part === 'self');
  const isNamed = ({ meaning, value }: Field): boolean => meaning.mac < Infinity && readText(value) !== null;
  const isLikely = ({ meaning, value }: Field): boolean => meaning.id < Infinity && isMacText(value);
  const sure = agreed(own.filter(isNamed));
  const mac = sure ?? agreed(fields.filter(isNamed)) ?? agreed(own.filter(isLikely));
  return typeof mac === 'string' ? { mac, named: sure !== undefined } : null;
}

/** The identity that a record gives itself, perhaps in a part beside its outlets: `{"info": {"mac": …}, "outlets": […]}`. */
function ownIdentity(record: JsonRecord): Identity | null {
  const own = directIdentity(record);
  if (own !== null) return own;
  const sets = valuesWhere(record, ({ outlets }) => outlets).filter(isObject);
  const part = sets.length > 0 && tellsOutlets(record) ? partIdentity(record) : null;
  if (part === null) return null;
  // Outlets with other MACs are those of other strips: `{"info": {"mac": …}, "outlets": [{"mac": …, "port": 1, "on": true}, …]}`.
  const isOfOthers = sets.some((set) => Object.values(set).some((outlet) => isNamedOther(outlet, part)));
  return isOfOthers ? null : part;
}

/** Added to the rank of an identifier, so that any field called MAC is preferred. */
const ID_OFFSET = 100;

/** The identity that a record's own fields give, the most preferred name first. */
function directIdentity(record: JsonRecord): Identity | null {
  const best = new Preferred();
  for (const key in record) {
    const { mac, id } = meaningOf(key);
    if (mac < Infinity) best.add(mac, record[key]);
    else if (id < Infinity && isMacText(record[key])) best.add(ID_OFFSET + id, record[key]);
  }
  return best.text === null ? null : { mac: best.text, named: best.rank < ID_OFFSET };
}

const isMacText = (value: unknown): boolean =>
  typeof value === 'string' && (looksLikeMac(value) || /^0x[0-9a-f]{12,16}$/i.test(value));
