import { isObject, isRecord } from '../../values';
import { PORTS, type JsonRecord, type Outlet, type Port } from '../types';
import { agreed, fieldsOf, Preferred, type AddNote } from './agreement';
import { joined, stripFields, type StripFields } from './fields';
import { isOfOther, keysWhere, meaningOf, namesOutlet, says, type KeyMeaning } from './names';
import {
  fromKeys,
  isExact,
  isNoOutlet,
  numberRecords,
  numberValues,
  outletNumberOf,
  type Numbers,
} from './numbering';
import { addCodes, settleState, stateOfValue, statesIn, type State, type StateCandidate } from './states';
import { isMeasure, readBit, readJson, readText, readWord } from './values';

/** One outlet, as read from one container of an answer. */
export interface OutletCandidate {
  /** The key of the container. */
  from: string;
  /** As in `Numbers`. */
  port: Numbers[number];
  state: State;
  name: string | null;
}

/** A value of an answer that may hold outlets. */
interface Container {
  key: string;
  /** The record that holds it. */
  record: JsonRecord;
  /**
   * How far its name may be trusted.
   * - outlets: it says that it holds outlets
   * - list: it holds the list that was asked for, so records that number themselves are outlets
   * - none: it says nothing, so the records must be all four outlets, and name the number as that of an outlet
   */
  trust: 'outlets' | 'list' | 'none';
  /** The strip reports a load, so zeros may be measurements. */
  measured: boolean;
}

/** If there are more records than this, they are not the outlets of one strip. */
const MAX_OUTLETS = 64;
/** If records have more different keys than this, they are not outlets. */
const MAX_COLUMNS = 500;
/** If there are more sets than this, they are not outlets of one strip, and none of them is read. */
const MAX_SETS = 16;

/**
 * Every set of outlets among the fields of a strip. A list whose name does not mean outlets, such as timers, counts only if there is no other.
 * `measured`: the strip reports a load.
 */
export function outletSets({ fields, keyed }: StripFields, measured: boolean): OutletCandidate[][] {
  const sets: OutletCandidate[][] = [];
  const others: OutletCandidate[][] = [];
  let isUnclear = false;
  for (const { meaning, value, record, part } of fields) {
    if (!isObject(value) || part === 'network' || meaning.is('old')) continue;
    const trust = trustOf(meaning, value);
    const set = readSet(value, { key: meaning.key, record, trust, measured });
    if (set !== null) (trust === 'none' ? others : sets).push(set);
    // Zeros that may be measurements are no set, but they mean that no other list is that of the outlets.
    else if (meaning.outlets && isRowOfBits(value)) isUnclear = true;
    if (sets.length + others.length > MAX_SETS) return [];
  }
  for (const { record, keys } of keyed) {
    const sure = flatKeys(keys);
    const [first] = sure;
    if (first === undefined) continue;
    const set = ofKeys(record, sure, { key: first.key, record, trust: 'outlets', measured });
    if (set !== null) sets.push(set);
  }
  return isUnclear || sets.some((outlets) => outlets.length > 0) ? sets : others;
}

const isRowOfBits = (value: object): boolean =>
  Array.isArray(value) && value.length === PORTS.length && value.every((item) => readBit(item) !== null);

/** Whether a record holds outlets. */
export const tellsOutlets = (record: JsonRecord): boolean =>
  outletSets(stripFields([record]), false).some((outlets) => outlets.length > 0);

/** How far the name of a container says that it holds outlets. */
function trustOf(meaning: KeyMeaning, value: unknown): Container['trust'] {
  if (meaning.outlets) return 'outlets';
  const isState = meaning.state !== null && meaning.state !== 'off' && !meaning.is('value');
  if (isState && (!Array.isArray(value) || !value.some(isRecord))) return 'outlets';
  return meaning.holds ? 'list' : 'none';
}

/** Keys such as "port1". "1" and "L1" count only if there are four, exactly 1-4 or 0-3, because otherwise they may mean anything. */
function flatKeys(keys: readonly KeyMeaning[]): readonly KeyMeaning[] {
  const isComplete = (kind: KeyMeaning['keyedBy']): boolean => {
    const own = keys.filter(({ keyedBy }) => keyedBy === kind);
    return own.length >= PORTS.length && isExact([...new Set(own.map(({ keyed }) => keyed))]);
  };
  const kinds = new Set(['word', ...(['letter', 'digits'] as const).filter(isComplete)]);
  return keys.filter(({ keyedBy }) => kinds.has(keyedBy));
}

/** One row per outlet, each with the strip's MAC: `[{mac, port, on}, …]`. */
export function rowSet(
  rows: readonly JsonRecord[],
): { outlets: OutletCandidate[]; name: string | null } | null {
  const outlets = ofRecords(rows, [], { key: 'rows', trust: 'list' });
  if (outlets === null || rows.some(tellsOutlets)) return null;
  const [name = null, ...others] = new Set(outlets.map((outlet) => outlet.name));
  if (others.length > 0) return { outlets, name: null };
  // The same name in every row is the strip's.
  return { outlets: outlets.map((outlet) => ({ ...outlet, name: null })), name };
}

/** The outlets in a container: an array of records or of bare values, a map keyed by number or by name, or a wrapper of one of these. */
export function readSet(value: unknown, container: Container): OutletCandidate[] | null {
  if (Array.isArray(value)) return ofArray(value, container);
  return isRecord(value) ? (ofMap(value, container) ?? ofWrapper(value, container)) : null;
}

function ofArray(array: readonly unknown[], container: Container): OutletCandidate[] | null {
  const records = array.filter(isRecord);
  if (records.length === 0) return container.trust === 'outlets' ? ofValues(array, container) : null;
  // `[{"port1": true}, {"port2": false}]`
  const map = joined(records);
  const isMap = map !== null && Object.keys(map).every((key) => meaningOf(key).keyed >= 0);
  return isMap ? ofMap(map, container) : ofRecords(records.map(unwrapped), [], container);
}

/** `{"node": {…}, "cursor": …}`, `{"outlet": {…}}` and `{"id": "a", "attributes": {…}}` around each record. */
function unwrapped(record: JsonRecord): JsonRecord {
  const { node, attributes, properties } = record;
  const inner = isRecord(node) ? node : (attributes ?? properties);
  if (isRecord(inner)) return { ...inner, ...record };
  const keys = Object.keys(record);
  const [only] = keys;
  if (only === undefined || keys.length > 1) return record;
  const { outlets, part } = meaningOf(only);
  const value = record[only];
  return isRecord(value) && (outlets || part === 'self') ? value : record;
}

/** Reads records as outlets. `keys`: what the keys of the map mean that holds them; empty for an array. */
function ofRecords(
  all: readonly JsonRecord[],
  keys: readonly KeyMeaning[],
  { key: from, trust }: Pick<Container, 'key' | 'trust'>,
): OutletCandidate[] | null {
  if (all.length > MAX_OUTLETS) return null;
  const columns = columnsOf(all);
  if (columns.length > MAX_COLUMNS) return null;
  const labels = columns.filter(({ isLabel }) => isLabel);
  const records = labels.length === 0 ? all : thoseOfOutlets(all, labels, columns, trust);
  const ownKeys = records === all ? keys : keys.filter((_, i) => records.some((record) => record === all[i]));
  const isOrdered = trust === 'outlets' && keys.length === 0 && records === all;
  const { numbers, codes } = numberRecords(records, columns, ownKeys, isOrdered);
  const said = records.map((record, i) => statesIn(record, outerState(ownKeys[i])));
  if (!areOutlets(trust, records, columns, numbers, said)) return null;
  for (const each of said) addCodes(codes, each);
  return records.map((record, i) => ({
    from,
    port: numbers[i] ?? null,
    state: settleState(said[i] ?? [], codes),
    name: nameIn(record, labels),
  }));
}

/** What the keys of records mean, each key once. */
const columnsOf = (records: readonly JsonRecord[]): KeyMeaning[] =>
  Object.keys(Object.assign({}, ...records) as JsonRecord).map(meaningOf);

/** How the key of a record says on or off: `"socketToggle1": {"value": 1}`. */
const outerState = (key: KeyMeaning | undefined): KeyMeaning['keyedState'] =>
  key?.keyedBy === 'word' ? key.keyedState : null;

/**
 * The records that are about outlets, judged by the texts that say what they are: not those with "USB", "switch_led_1" or `{"code": "overload_1",
 * "value": true}`.
 */
function thoseOfOutlets(
  records: readonly JsonRecord[],
  labels: readonly KeyMeaning[],
  columns: readonly KeyMeaning[],
  trust: Container['trust'],
): readonly JsonRecord[] {
  // A fifth block that is called USB is no outlet. If there are only four, or if no number is there twice, a user may have given one that name.
  const isMany = records.length > PORTS.length && !columns.some((column) => numbersEachOnce(records, column));
  // A record with the number of an outlet is an outlet, whatever its name or its identifier is, unless a code says what its value is:
  // `{"port": 1, "code": "lock", "value": true}`.
  const isNumbered = columns.some(({ number }) => number === 'port');
  const kept = records.filter((record) => {
    const isValue = columns.some(
      (column) => column.is('value') && !column.measures && Object.hasOwn(record, column.key),
    );
    const names: string[] = [];
    for (const label of labels) {
      const text = readText(record[label.key]);
      const isCode = label.is('code');
      const saysWhat = isValue && !/id(?:entifier)?$/.test(label.plain);
      if (text === null || (isCode && isNumbered && !saysWhat)) continue;
      if (isCode ? isOfOther(text) : (isMany || label.is('type')) && isNoOutlet(text)) return false;
      if (!isNumbered && (isCode || (label.isName && trust !== 'outlets'))) names.push(text);
    }
    return !isValue || names.length === 0 || names.some(namesOutlet);
  });
  return kept.length < records.length ? kept : records;
}

/** Whether a column numbers the outlets, and no two of them have the same number. */
function numbersEachOnce(records: readonly JsonRecord[], { key, number, state }: KeyMeaning): boolean {
  // `relay: 1` may be a state.
  if (number !== 'port' || state !== null) return false;
  const told = records.map((record) => outletNumberOf(record[key])).filter((each) => each > 0);
  return told.length >= PORTS.length && new Set(told).size === told.length;
}

/**
 * Whether records are outlets, as far as the name of their container can be trusted. In the list that was asked for, something must number
 * them and some must have a state. Under any other name they count only if there are all four: fewer may belong to a command or a change.
 */
function areOutlets(
  trust: Container['trust'],
  records: readonly JsonRecord[],
  columns: readonly KeyMeaning[],
  numbers: Numbers,
  said: readonly StateCandidate[][],
): boolean {
  if (trust === 'outlets') return true;
  const states = said.flat();
  if (trust === 'list')
    return numbers.some((number) => number !== null) && states.some(({ weight }) => weight !== 'unreliable');
  const isNumbered = (record: JsonRecord): boolean =>
    columns.some(({ key, number }) => number === 'port' && Object.hasOwn(record, key));
  return (
    records.length === PORTS.length &&
    records.every(isNumbered) &&
    PORTS.every((port) => numbers.includes(port)) &&
    states.some(({ value }) => value !== null)
  );
}

function nameIn(record: JsonRecord, labels: readonly KeyMeaning[]): string | null {
  const best = new Preferred();
  for (const { key, outletName } of labels) best.add(outletName, record[key]);
  return best.text;
}

/** Reads bare values as outlets. There may not be more of them than a strip has outlets. */
function ofValues(
  all: readonly unknown[],
  { key: from, record, measured }: Container,
): OutletCandidate[] | null {
  // Firebase makes a list of a map with the keys 1 to 4, with nothing in place of 0.
  const values = all.length === PORTS.length + 1 && all[0] === null ? all.slice(1) : all;
  // A list with "toggle" in it names commands or labels.
  const isState = (value: unknown): boolean =>
    !isMeasure(value) && !isObject(value) && !says('command', value);
  if (values.length > PORTS.length || !values.every(isState)) return null;
  const bits = values.filter((value) => readBit(value) !== null);
  // A short row of numbers may list which outlets there are, and zeros beside a load may be measurements.
  if (bits.length > 0 && (bits.length < PORTS.length || mayMeasure(meaningOf(from), values, measured)))
    return null;
  const numbers = numberValues(values.length, from, record);
  return values.map((value, i) => ({
    from,
    port: numbers[i] ?? null,
    state: settleState(stateOfValue(from, 'any', value), new Map()),
    name: null,
  }));
}

/** Whether bare values may be measurements. `measured`: the strip reports a load. */
const mayMeasure = (meaning: KeyMeaning, values: readonly unknown[], measured: boolean): boolean =>
  meaning.state === 'word' ||
  (measured &&
    !meaning.switched &&
    (meaning.plain === 'channels' || values.every((value) => readBit(value) === false)));

/** `{"1": true, "port2": "off", "outlet_3": {on: true}}`, or records under names of any kind that number themselves. */
function ofMap(map: JsonRecord, container: Container): OutletCandidate[] | null {
  const keys = Object.keys(map).map(meaningOf);
  const keyed = keys.filter((key) => key.keyed >= 0);
  const states = keyed.filter(({ keyedState }) => keyedState !== null);
  const records = keys.filter(({ key }) => isRecord(map[key]));
  if (states.length === 0) {
    // Most records hold none. Without this check, a list with a record of readings in each strip takes a tenth longer.
    if (records.length === 0 || records.some(({ denied }) => denied)) return null;
    const outlets = ofKeys(map, records, container);
    return outlets?.some(({ port }) => port !== null) === true ? outlets : null;
  }
  // Beside "TV", "Plug 4" may be a name that the user gave to another outlet, if each record has a number of its own.
  const mayBeNames = records.length > states.length && states.every((key) => records.includes(key));
  const named = mayBeNames ? ofKeys(map, records, container) : null;
  const ports = new Set(named?.flatMap(({ port }) => port ?? []));
  return mayBeNames && ports.size === records.length ? named : ofKeys(map, keyed, container);
}

/** Outlets under the given keys of a record: records or, if the keys number them, values of any kind. */
function ofKeys(map: JsonRecord, all: readonly KeyMeaning[], container: Container): OutletCandidate[] | null {
  const keys = withoutSettings(map, all);
  const own = keys.filter(({ keyedState }) => keyedState !== null);
  const records = own.map(({ key }) => map[key]).filter(isRecord);
  if (records.length === own.length) return ofRecords(records, own, container);
  return container.trust === 'outlets' ? keyedSet(map, keys, container) : null;
}

/** Without "relay_status_2", if "relay_status_1" is "memory": these say what the outlets do after a power cut. */
function withoutSettings(map: JsonRecord, keys: readonly KeyMeaning[]): readonly KeyMeaning[] {
  const nameOf = ({ plain }: KeyMeaning): string => plain.replace(/[0-9]+/, '');
  const settings = keys
    .filter(({ key, keyedBy }) => keyedBy === 'word' && says('afterPowerCut', map[key]))
    .map(nameOf);
  return settings.length === 0 ? keys : keys.filter((key) => !settings.includes(nameOf(key)));
}

/** `{"count": 4, "items": […]}`, `{"outlet": […]}`: the one set in a container of outlets. */
function ofWrapper(wrapper: JsonRecord, container: Container): OutletCandidate[] | null {
  if (container.trust !== 'outlets') return null;
  const sets = keysWhere(wrapper, ({ holds, outlets }) => holds || outlets).map((key) => {
    const inner = readJson(wrapper[key]);
    if (Array.isArray(inner)) return ofArray(inner, { ...container, key, record: wrapper });
    return isRecord(inner) ? ofMap(inner, container) : null;
  });
  const [only = null, ...others] = sets.filter((set) => set !== null && set.length > 0);
  return others.length === 0 ? only : null;
}

/**
 * Values under keys that name outlets. If some of them are measurements, a 0 or 1 among them may be a measurement, too, and is no state. The same is
 * true for a 0 or 1 beside clear words, if the container is not called outlets: `dps: {"1": true, "2": 0}` is a switch and a countdown. A power in
 * watts says nothing about the others.
 */
function keyedSet(
  map: JsonRecord,
  keys: readonly KeyMeaning[],
  { key: from, measured }: Container,
): OutletCandidate[] {
  const numbers = fromKeys(keys);
  const container = meaningOf(from);
  const mayHoldOthers = container.is('outlets') && !container.switched;
  const isMixed = mayHoldOthers && keys.some(({ key }) => readWord(map[key]) !== null);
  const saysSwitched = container.state === 'any' || [container, ...keys].some(({ switched }) => switched);
  const mayBeMeasured =
    isMixed ||
    keys.some(({ key, keyedState }) => keyedState === 'any' && isMeasure(map[key])) ||
    (measured &&
      !saysSwitched &&
      keys.every(({ key, keyedState }) => keyedState === null || readBit(map[key]) === false));
  const codes = new Map(mayBeMeasured ? keys.map(({ key }) => [key, true]) : []);
  return keys.map(({ key, keyedState }, i) => {
    const said = keyedState === null ? [] : stateOfValue(key, keyedState, map[key]);
    return {
      from,
      port: numbers[i] ?? null,
      state: settleState(said, codes),
      name: keyedState === null ? readText(map[key]) : null,
    };
  });
}

/** The outlets of all sets together, as new objects in order of port. If two sets disagree about an outlet, its state is unknown. */
export function settleOutlets(sets: readonly (readonly OutletCandidate[])[], note: AddNote): Outlet[] {
  // If a set has a 0 and the others of it do not show what that means, 1, 2 and 3 in other sets may be counted from 0, too. A 4 is not.
  const hasZero = sets.some((outlets) => outlets.some(({ port }) => port === 0));
  const isNumbered = (outlets: readonly OutletCandidate[]): boolean =>
    outlets.some(({ port }) => (hasZero ? port === PORTS.length : port !== null));
  for (const outlets of sets)
    if (outlets[0] !== undefined && !isNumbered(outlets)) note('outlets', 'unnumbered', [outlets[0].from]);
  const numbered = sets.filter(isNumbered);
  // Nearly every outlet is found only once. Without the shortcuts for a single value, here and elsewhere, a list takes twice as long.
  const all = numbered.length > 1 ? numbered.flat() : (numbered[0] ?? []);
  const settled: Outlet[] = [];
  for (const port of PORTS) {
    let first: OutletCandidate | null = null;
    let isOnly = true;
    for (const outlet of all) {
      if (outlet.port !== port) continue;
      isOnly = first === null;
      first ??= outlet;
    }
    if (first === null) continue;
    if (isOnly && first.state.on !== null) settled.push({ port, on: first.state.on, name: first.name });
    else {
      const told = all.filter((outlet) => outlet.port === port);
      settled.push({ port, on: commonState(told, port, note), name: commonName(told) });
    }
  }
  return settled;
}

/** The state on which all sets agree that know it, unless one of them holds values that disagree. */
function commonState(told: readonly OutletCandidate[], port: Port, note: AddNote): boolean | null {
  const known = told.flatMap(({ from, state }) => (state.on === null ? [] : [{ from, value: state.on }]));
  const on = agreed(known);
  const problems = told.flatMap(({ state }) => state.problem ?? []);
  if (known.length > 0 && on === undefined) problems.unshift({ reason: 'disagree', fields: fieldsOf(known) });
  const problem = problems.find(({ reason }) => reason === 'disagree') ?? problems[0];
  if (on !== undefined && problem?.reason !== 'disagree') return on;
  if (problem !== undefined) note(port, problem.reason, problem.fields);
  return null;
}

/** The name of an outlet, if no two names differ. */
const commonName = (told: readonly OutletCandidate[]): string | null =>
  agreed(told.flatMap(({ name }) => (name === null ? [] : [{ value: name }]))) ?? null;
