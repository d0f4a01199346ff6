import { PORTS, type Outlet, type Port } from '../types';
import { isRecord } from '../../values';
import { readBit, readJson, readText, isMeasure, type JsonRecord } from './values';
import { fieldsOf, withItem, type Note } from './candidates';
import type { Look, Meaning } from './names';
import { fromOne, numberRecords, saysNoOutlet } from './numbering';
import {
  OFF,
  ON,
  settleState,
  stateOfValue,
  statesIn,
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
  const records = array.every(isRecord) ? array : array.filter(isRecord);
  if (records.length === 0) return trust === 'outlets' ? ofValues(from, array, look, measured) : null;
  const all = records.map((record) => unwrapped(record, look));
  return ofRecords(from, all, null, look, trust);
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

/** `keys`: of the map that holds the records. */
export function ofRecords(
  from: string,
  all: readonly JsonRecord[],
  keys: readonly string[] | null,
  look: Look,
  trust: Trust,
): OutletSet | null {
  if (all.length > MOST_OUTLETS) return null;
  const { ports, labels } = columnsOf(all, look);
  // A fifth block that is called USB is no outlet; of four, a user may have called one so.
  const byName = all.length > PORTS.length;
  const kept = all.map((record) => !saysNoOutlet(record, labels, byName));
  const records = kept.includes(false) ? all.filter((_, i) => kept[i]) : all;
  if (trust === 'none' && !records.every((record) => ports.some(({ key }) => Object.hasOwn(record, key))))
    return null;
  const ownKeys = keys?.filter((_, i) => kept[i]) ?? [];
  const isOrdered = trust === 'outlets' && keys === null && records === all;
  const { numbers, used } = numberRecords(records, look, ownKeys, isOrdered, ports);
  const said = records.map((record) => statesIn(record, look));
  if (trust !== 'outlets' && (numbers.every((number) => number === null) || said.every(isNothing)))
    return null;
  if (trust === 'none' && said.every((each) => each.every(({ value }) => value === null))) return null;
  const codes = codesOf(said, used);
  return {
    from,
    outlets: records.map((record, i) => ({
      from,
      port: numbers[i] ?? null,
      state: settleState(said[i] ?? [], codes),
      name: nameIn(record, labels),
    })),
  };
}

const isNothing = (said: readonly StateCandidate[]): boolean => said.length === 0;

/** The keys of the records of a set, each once, by what they tell. */
interface Columns {
  /** They call a number that of a port. */
  ports: Meaning[];
  /** They name an outlet, or say what kind of thing it is. */
  labels: Meaning[];
}

function columnsOf(records: readonly JsonRecord[], look: Look): Columns {
  const columns: Columns = { ports: [], labels: [] };
  const seen = new Set<string>();
  for (const record of records) {
    for (const key in record) {
      if (seen.has(key)) continue;
      seen.add(key);
      const meaning = look(key);
      if (meaning.number === 'port') columns.ports = withItem(columns.ports, meaning);
      if (nameRank(meaning) < Infinity || meaning.is('type'))
        columns.labels = withItem(columns.labels, meaning);
    }
  }
  return columns;
}

/** The most preferred name; of two under one name the first in the alphabet, so that the order of keys says nothing. */
function nameIn(record: JsonRecord, labels: readonly Meaning[]): string | null {
  let name: string | null = null;
  let best = Infinity;
  for (const meaning of labels) {
    const text = readText(record[meaning.key]);
    const rank = nameRank(meaning);
    if (text === null || rank === Infinity || rank > best) continue;
    if (rank === best && name !== null && name <= text) continue;
    best = rank;
    name = text;
  }
  return name;
}

/** How much a name of an outlet is preferred, least first. */
function nameRank({ plain, outletName, name }: Meaning): number {
  if (outletName >= 0) return outletName;
  return name >= 0 && plain !== 'stripname' ? 100 + name : Infinity;
}

/** Keys whose numbers are no states: those that number the set, and those that are other numbers than 0 and 1 anywhere in it. */
function codesOf(
  said: readonly (readonly StateCandidate[])[],
  used: ReadonlySet<string>,
): ReadonlySet<string> {
  let codes: Set<string> | null = null;
  for (const candidates of said) {
    for (const { weight, from } of candidates) if (weight === 'measure') (codes ??= new Set(used)).add(from);
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
  if (keys.length > 0)
    return trust === 'outlets' ? keyedSet(from, map, keys.map(look), look, measured) : null;
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
  keys: readonly Meaning[],
  look: Look,
  measured: boolean,
): OutletSet {
  const numbers = fromOne(keys.map(({ keyed }) => keyed));
  const codes = mayBeMeasured(map, keys, measured) ? new Set(keys.map(({ key }) => key)) : NONE;
  return {
    from,
    outlets: keys.map((meaning, i) => ({
      from,
      port: numbers[i] ?? null,
      state: stateUnder(meaning, map[meaning.key], look, codes),
      name: nameUnder(meaning, map[meaning.key], look),
    })),
  };
}

function mayBeMeasured(map: JsonRecord, keys: readonly Meaning[], measured: boolean): boolean {
  let isZero = measured;
  for (const { key, keyedOf } of keys) {
    if (keyedOf === 'name') continue;
    if (isMeasure(map[key])) return true;
    isZero &&= readBit(map[key]) === false;
  }
  return isZero;
}

function stateUnder(
  { key, keyed, keyedOf }: Meaning,
  value: unknown,
  look: Look,
  codes: ReadonlySet<string>,
): State {
  if (keyedOf === 'name' || isOwnNumber(value, keyed, look)) return UNSAID;
  if (typeof value === 'boolean') return value ? ON : OFF;
  return settleState(stateOfValue(key, keyedOf, value, look), codes);
}

function nameUnder({ keyedOf }: Meaning, value: unknown, look: Look): string | null {
  if (keyedOf === 'name') return readText(value);
  return isRecord(value) ? nameIn(value, columnsOf([value], look).labels) : null;
}

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
  const all = sets.length === 1 ? (sets[0]?.outlets ?? []) : sets.flatMap(({ outlets }) => outlets);
  const settled: Outlet[] = [];
  for (const port of PORTS) {
    let told: Told[] | undefined;
    for (const outlet of all) if (outlet.port === port) told = withItem(told, outlet);
    if (told !== undefined)
      settled.push({ port, on: commonState(told, port, notes, mac), name: commonName(told) });
  }
  return settled;
}

function commonState(told: readonly Told[], port: Port, notes: Note[], mac: string | null): boolean | null {
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
