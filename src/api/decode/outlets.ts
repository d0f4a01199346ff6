import { PORTS, type Outlet, type Port } from '../types';
import { isRecord } from '../../values';
import { readBit, readJson, readText, isMeasure, type JsonRecord } from './values';
import { fieldsOf, type Note } from './candidates';
import type { Look, Meaning } from './names';
import { fromOne, numberRecords, saysNoOutlet, type Numbers } from './numbering';
import {
  addField,
  OFF,
  ON,
  settleState,
  stateOfValue,
  UNSAID,
  type State,
  type StateCandidate,
} from './state';

/** One set of outlets, as one container of an answer tells it. */
export interface OutletSet {
  /** The key of the container. */
  from: string;
  outlets: { from: string; port: Port | null; state: State; name: string | null }[];
}

/** More records than this are no outlets of one strip. */
const MOST_OUTLETS = 64;
const NONE: ReadonlySet<string> = new Set();

/**
 * How far a container's name may be trusted: it says that it holds outlets; it holds the list that was asked for, so that records which
 * number themselves are outlets; or it says nothing, so that they must call the number that of an outlet.
 */
export type Trust = 'outlets' | 'list' | 'none';

/**
 * The outlets in a container: an array of records or of bare values, a map keyed by number or by name, or a wrapper of one of these.
 * `measured`: the strip tells a load, so that zeros may be measurements.
 */
export function readSet(
  from: string,
  value: unknown,
  look: Look,
  trust: Trust,
  measured: boolean,
): OutletSet | null {
  const content = readJson(value);
  if (Array.isArray(content)) return ofArray(from, content, look, trust, measured);
  if (!isRecord(content)) return null;
  return (
    ofMap(from, content, look, trust, measured) ??
    (trust === 'outlets' ? ofWrapper(from, content, look, measured) : null)
  );
}

function ofArray(
  from: string,
  array: readonly unknown[],
  look: Look,
  trust: Trust,
  measured: boolean,
): OutletSet | null {
  const records = array.filter(isRecord).map((record) => unwrapped(record, look));
  if (records.length === 0) return trust === 'outlets' ? ofValues(from, array, look, measured) : null;
  return ofRecords(from, records, null, look, trust);
}

/** `{"node": {…}, "cursor": …}` and `{"outlet": {…}}` around each record. */
function unwrapped(record: JsonRecord, look: Look): JsonRecord {
  const { node } = record;
  if (isRecord(node)) return node;
  let only: string | undefined;
  for (const key in record) {
    if (only !== undefined) return record;
    only = key;
  }
  if (only === undefined) return record;
  const value = record[only];
  const meaning = look(only);
  return isRecord(value) && meaning.keyed < 0 && (meaning.outlets !== null || meaning.part === 'self')
    ? value
    : record;
}

export function ofRecords(
  from: string,
  all: readonly JsonRecord[],
  keys: readonly string[] | null,
  look: Look,
  trust: Trust,
): OutletSet | null {
  if (all.length > MOST_OUTLETS) return null;
  // A fifth block that is called USB is no outlet; of four, a user may have called one so.
  const byName = all.length > PORTS.length;
  const everything = all.map((record, i) => partOf(record, keys?.[i] ?? null, look, byName));
  const parts = everything.every(({ isOutlet }) => isOutlet)
    ? everything
    : everything.filter(({ isOutlet }) => isOutlet);
  if (trust === 'none' && parts.some(({ ports }) => ports.length === 0)) return null;
  const { numbers, used } = numberRecords(
    parts.map(({ record }) => record),
    look,
    keys === null ? null : parts.map(({ key }) => key ?? ''),
    trust === 'outlets' && keys === null && parts.length === all.length,
    allPorts(parts),
  );
  const isUnnumbered = numbers.every((number) => number === null);
  if (trust !== 'outlets' && (isUnnumbered || parts.every(({ said }) => said.length === 0))) return null;
  if (trust === 'none' && !parts.some(({ said }) => said.some(({ value }) => value !== null))) return null;
  const codes = codesOf(parts, used);
  return {
    from,
    outlets: parts.map(({ said, name }, i) => ({
      from,
      port: numbers[i] ?? null,
      state: settleState(said, codes),
      name,
    })),
  };
}

/** What a record says of the outlet that it is about. */
interface OutletPart {
  record: JsonRecord;
  /** In a map: the key that holds the record. */
  key: string | null;
  /** Nothing says that it is about something else. */
  isOutlet: boolean;
  /** Its keys that call a number that of a port. */
  ports: string[];
  /** Its fields that may say on or off. */
  said: StateCandidate[];
  name: string | null;
}

function partOf(record: JsonRecord, key: string | null, look: Look, byName: boolean): OutletPart {
  const part: OutletPart = { record, key, isOutlet: true, ports: [], said: [], name: null };
  let best = Infinity;
  for (const inner in record) {
    const meaning = look(inner);
    const value = record[inner];
    if (meaning.number === 'port') part.ports.push(inner);
    addField(part.said, inner, meaning, value, look, null, 0);
    if (typeof value !== 'string') continue;
    if (saysNoOutlet(meaning, value, byName)) part.isOutlet = false;
    const rank = nameRank(meaning);
    if (rank > best || rank === Infinity || value.trim() === '') continue;
    // Of two under one name the first in the alphabet, so that the order of keys says nothing.
    if (rank === best && part.name !== null && part.name <= value) continue;
    best = rank;
    part.name = value;
  }
  return part;
}

/** How much a name of an outlet is preferred, least first. */
function nameRank({ plain, outletName, name }: Meaning): number {
  if (outletName >= 0) return outletName;
  return name >= 0 && plain !== 'stripname' ? 100 + name : Infinity;
}

/** The keys of all records that call a number that of a port, each once. */
function allPorts(parts: readonly OutletPart[]): string[] {
  const all: string[] = [];
  for (const { ports } of parts) for (const key of ports) if (!all.includes(key)) all.push(key);
  return all;
}

/** Keys whose numbers are no states: those that number the set, and those that are other numbers than 0 and 1 anywhere in it. */
function codesOf(parts: readonly OutletPart[], used: ReadonlySet<string>): ReadonlySet<string> {
  let codes: Set<string> | null = null;
  for (const { said } of parts) {
    for (const { weight, from } of said) if (weight === 'measure') (codes ??= new Set(used)).add(from);
  }
  return codes ?? used;
}

/** Bare values in their order: no more than a strip has outlets. */
function ofValues(from: string, values: readonly unknown[], look: Look, measured: boolean): OutletSet | null {
  if (
    values.length === 0 ||
    values.length > PORTS.length ||
    values.some((value) => isMeasure(value) || (typeof value === 'object' && value !== null))
  )
    return null;
  const bits = values.filter((value) => readBit(value) !== null).length;
  // A short row of numbers may list which outlets there are, and zeros beside a load may be measurements.
  if (bits > 0 && (bits < PORTS.length || mayMeasure(look(from), values, measured))) return null;
  return {
    from,
    outlets: values.map((value, i) => ({
      from,
      port: PORTS[i] ?? null,
      state: settleState(stateOfValue(from, 'any', value, look), NONE),
      name: null,
    })),
  };
}

/** `measured`: the strip tells a load. */
const mayMeasure = (meaning: Meaning, values: readonly unknown[], measured: boolean): boolean =>
  meaning.state === 'word' ||
  (measured &&
    meaning.outlets !== 'switched' &&
    (meaning.plain === 'channels' || values.every((value) => readBit(value) === false)));

/** `{"1": true, "port2": "off", "outlet_3": {on: true}}`, or records under names of any kind that number themselves. */
function ofMap(from: string, map: JsonRecord, look: Look, trust: Trust, measured: boolean): OutletSet | null {
  const keys = Object.keys(map).filter((key) => look(key).keyed >= 0 && look(key).keyedOf !== 'name');
  const records = keys.filter((key) => isRecord(map[key]));
  if (records.length > 0 && records.length === keys.length) {
    return ofRecords(from, keys.map((key) => map[key]).filter(isRecord), keys, look, trust);
  }
  if (keys.length > 0) return trust === 'outlets' ? keyedSet(from, map, keys, look, measured) : null;
  const names = Object.keys(map).filter((key) => isRecord(map[key]));
  if (names.length === 0 || names.some((key) => look(key).denied)) return null;
  const set = ofRecords(from, names.map((key) => map[key]).filter(isRecord), names, look, trust);
  return set?.outlets.some(({ port }) => port !== null) ? set : null;
}

/** `{"count": 4, "items": […]}`, `{"outlet": […]}`: the one list in a container. */
function ofWrapper(from: string, wrapper: JsonRecord, look: Look, measured: boolean): OutletSet | null {
  const lists = Object.keys(wrapper).filter((key) => {
    const meaning = look(key);
    const holds = meaning.is('list') || meaning.outlets !== null || meaning.part === 'self';
    return holds && typeof readJson(wrapper[key]) === 'object' && wrapper[key] !== null;
  });
  const [only] = lists;
  if (only === undefined || lists.length > 1) return null;
  const inner = readJson(wrapper[only]);
  if (Array.isArray(inner)) return ofArray(from, inner, look, 'outlets', measured);
  return isRecord(inner) ? ofMap(from, inner, look, 'outlets', measured) : null;
}

/**
 * Outlets that the keys of a record name, whatever kind of value stands under each. Where some of the values measure something, a 0
 * or 1 among them may do so, too.
 */
export function keyedSet(
  from: string,
  map: JsonRecord,
  keys: readonly string[],
  look: Look,
  measured: boolean,
): OutletSet {
  const states = keys.filter((key) => look(key).keyedOf !== 'name');
  const values = states.map((key) => map[key]);
  const numbers = ourNumbers(states, look);
  const zeros = measured && values.every((value) => readBit(value) === false);
  const codes = new Set(values.some(isMeasure) || zeros ? states : []);
  const outlets = states.map((key, i) => {
    const value = map[key];
    if (typeof value === 'boolean')
      return { from, port: numbers[i] ?? null, state: value ? ON : OFF, name: null };
    const kind = look(key).keyedOf === 'word' ? 'word' : 'any';
    const fields = stateOfValue(key, kind, value, look);
    return {
      from,
      port: numbers[i] ?? null,
      state: isOwnNumber(value, look(key).keyed, look) ? UNSAID : settleState(fields, codes),
      name: isRecord(value) ? partOf(value, key, look, false).name : null,
    };
  });
  if (states.length === keys.length) return { from, outlets };
  const named = keys.filter((key) => look(key).keyedOf === 'name');
  const theirs = fromOne(named.map((key) => look(key).keyed));
  for (const [i, key] of named.entries()) {
    outlets.push({ from, port: theirs[i] ?? null, state: UNSAID, name: readText(map[key]) });
  }
  return { from, outlets };
}

const ourNumbers = (keys: readonly string[], look: Look): Numbers =>
  fromOne(keys.map((key) => look(key).keyed));

/** `"1": {"relay": 1}`: may just as well be the number once more. */
function isOwnNumber(value: unknown, number: number, look: Look): boolean {
  if (!isRecord(value)) return false;
  const said = Object.keys(value).filter((key) => look(key).state !== null);
  return said.length === 1 && said.every((key) => look(key).number === 'port' && value[key] === number);
}

/** An outlet as one set tells it. */
type Told = OutletSet['outlets'][0];

/** The outlets that all sets tell together, fresh and in order. What two sets say differently of one, neither says for sure. */
export function settleOutlets(sets: readonly OutletSet[], notes: Note[], mac: string | null): Outlet[] {
  for (const { from, outlets } of sets) {
    if (outlets.length > 0 && outlets.every(({ port }) => port === null))
      notes.push({ mac, about: 'outlets', reason: 'unnumbered', fields: [from] });
  }
  const outlets: Outlet[] = [];
  for (const port of PORTS) {
    const told: Told[] = [];
    for (const set of sets) for (const outlet of set.outlets) if (outlet.port === port) told.push(outlet);
    if (told.length > 0) outlets.push({ port, on: settled(told, port, notes, mac), name: commonName(told) });
  }
  return outlets;
}

function settled(told: readonly Told[], port: Port, notes: Note[], mac: string | null): boolean | null {
  const [only] = told;
  if (told.length === 1 && only !== undefined && only.state.on !== null) return only.state.on;
  const known = told.filter(({ state }) => state.on !== null);
  const disputed = told.find(({ state }) => state.disputed);
  const [first] = known;
  const agree = known.every(({ state }) => state.on === first?.state.on);
  if (first !== undefined && agree && disputed === undefined) return first.state.on;
  const { reason, fields } =
    (disputed ?? told.find(({ state }) => state.reason !== undefined))?.state ?? UNSAID;
  if (!agree) notes.push({ mac, about: port, reason: 'disagree', fields: fieldsOf(known) });
  else if (reason !== undefined && fields !== undefined) notes.push({ mac, about: port, reason, fields });
  return null;
}

/** The name that is told, if it is one. */
function commonName(told: readonly Told[]): string | null {
  let name: string | null = null;
  for (const each of told) {
    if (name !== null && each.name !== null && each.name !== name) return null;
    name ??= each.name;
  }
  return name;
}
