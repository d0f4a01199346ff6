import { isRecord } from '../../values';
import { PORTS, type Outlet, type Port } from '../types';
import { reachability, saysUnreliable, stripFields, type StripFields } from './fields';
import type { Look, Meaning } from './names';
import { fromOne, isExact, numberRecords, numberValues, saysNoOutlet } from './numbering';
import {
  agreed,
  fieldsOf,
  isMeasure,
  preferred,
  readBit,
  readJson,
  readText,
  readWord,
  withItem,
} from './values';
import type { AddNote, Candidate, JsonRecord, Note } from './values';

/** One outlet, as one container of an answer tells it. */
export interface ToldOutlet {
  /** The key of the container. */
  from: string;
  port: Port | null;
  state: State;
  name: string | null;
}

/** A value of an answer that may hold outlets. */
export interface Container {
  key: string;
  /** The record that it stands in. */
  record: JsonRecord;
  /**
   * How far its name may be trusted: it says that it holds outlets; it holds the list that was asked for, so that records which number
   * themselves are outlets; or it says nothing, so that they must be all four and call the number that of an outlet.
   */
  trust: 'outlets' | 'list' | 'none';
  /** The strip tells a load, so that zeros may be measurements. */
  measured: boolean;
}

/** More records than this are no outlets of one strip. */
const MOST_OUTLETS = 64;
const NONE: ReadonlySet<string> = new Set();

/** Every set of outlets among the fields of a strip. `measured`: it tells a load. */
export function outletSets({ fields, keyed }: StripFields, look: Look, measured: boolean): ToldOutlet[][] {
  let sets: ToldOutlet[][] = [];
  for (const { meaning, value, record, part } of fields) {
    if (typeof value !== 'object' || value === null || part === 'network') continue;
    const set = readSet(value, { key: meaning.key, record, trust: trustOf(meaning, value), measured }, look);
    if (set !== null) sets = withItem(sets, set);
  }
  for (const { record, keys } of keyed) {
    const sure = flatKeys(keys);
    const [first] = sure;
    if (first !== undefined) sets = withItem(sets, keyedSet(record, sure, first.key, measured, look));
  }
  return sets;
}

/** Whether a record tells outlets of its own. */
export const tellsOutlets = (record: JsonRecord, look: Look): boolean =>
  outletSets(stripFields([record], look), look, false).some((outlets) => outlets.length > 0);

/** How far the name of a container says that it holds outlets. */
function trustOf(meaning: Meaning, value: unknown): Container['trust'] {
  if (meaning.outlets !== null) return meaning.is('list') ? 'list' : 'outlets';
  const isState = meaning.state !== null && !meaning.is('value');
  if (isState && (!Array.isArray(value) || !value.some(isRecord))) return 'outlets';
  return meaning.is('list') ? 'list' : 'none';
}

/** Keys such as "port1"; "1" and "L1" only where there are four, exactly 1-4 or 0-3, because they may be anything. */
function flatKeys(keys: readonly Meaning[]): readonly Meaning[] {
  if (keys.every(({ keyedBy }) => keyedBy === 'word')) return keys;
  const by = (kind: Meaning['keyedBy']): Meaning[] => keys.filter(({ keyedBy }) => keyedBy === kind);
  const unsure = [by('digits'), by('letter')].filter((some) => isExact(some.map(({ keyed }) => keyed)));
  return [...by('word'), ...unsure.flat()];
}

/** One row per outlet, each with the strip's MAC: `[{mac, port, on}, …]`. */
export function rowSet(
  rows: readonly JsonRecord[],
  look: Look,
): { outlets: ToldOutlet[]; name: string | null } | null {
  const outlets = ofRecords(rows, [], { key: 'rows', record: {}, trust: 'list', measured: false }, look);
  if (outlets === null || rows.some((row) => tellsOutlets(row, look))) return null;
  const [name = null, ...others] = new Set(outlets.map((outlet) => outlet.name));
  if (others.length > 0) return { outlets, name: null };
  // The same name in every row is the strip's.
  return { outlets: outlets.map((outlet) => ({ ...outlet, name: null })), name };
}

/** The outlets in a container: an array of records or of bare values, a map keyed by number or by name, or a wrapper of one of these. */
export function readSet(value: unknown, container: Container, look: Look): ToldOutlet[] | null {
  const content = readJson(value);
  if (Array.isArray(content)) return ofArray(content, container, look);
  if (!isRecord(content)) return null;
  return ofMap(content, container, look) ?? ofWrapper(content, container, look);
}

function ofArray(array: readonly unknown[], container: Container, look: Look): ToldOutlet[] | null {
  const records = array.every(isRecord) ? array : array.filter(isRecord);
  if (records.length === 0) return container.trust === 'outlets' ? ofValues(array, container, look) : null;
  const all = records.map((record) => unwrapped(record, look));
  return ofRecords(all, [], container, look);
}

/** `{"node": {…}, "cursor": …}`, `{"outlet": {…}}` and `{"id": "a", "attributes": {…}}` around each record. */
function unwrapped(record: JsonRecord, look: Look): JsonRecord {
  const { node, attributes, properties } = record;
  if (isRecord(node)) return node;
  const inner = attributes ?? properties;
  if (isRecord(inner)) return { ...inner, ...record };
  let only: string | undefined;
  for (const key in record) {
    if (only !== undefined) return record;
    only = key;
  }
  if (only === undefined) return record;
  const { keyed, outlets, part } = look(only);
  const value = record[only];
  return isRecord(value) && keyed < 0 && (outlets !== null || part === 'self') ? value : record;
}

/** `keys`: of the map that holds the records; none for an array. */
function ofRecords(
  all: readonly JsonRecord[],
  keys: readonly string[],
  { key: from, trust }: Container,
  look: Look,
): ToldOutlet[] | null {
  if (all.length > MOST_OUTLETS) return null;
  const { ports, labels } = columnsOf(all, look);
  // A fifth block that is called USB is no outlet; of four, a user may have called one so.
  const isMany = all.length > PORTS.length;
  const telling = labels.filter(
    (label) => label.is('type') || isMany || (label.is('code') && trust !== 'outlets'),
  );
  const kept = all.map((record) => !saysNoOutlet(record, telling));
  const records = kept.includes(false) ? all.filter((_, i) => kept[i]) : all;
  if (trust === 'none' && !records.every((record) => ports.some(({ key }) => Object.hasOwn(record, key))))
    return null;
  const ownKeys = keys.filter((_, i) => kept[i]);
  const isOrdered = trust === 'outlets' && keys.length === 0 && records === all;
  const { numbers, codes } = numberRecords(records, look, ownKeys, isOrdered, ports);
  const said = records.map((record) => statesIn(record, look));
  const isNothing =
    numbers.every((number) => number === null) ||
    said.every((each) => each.every(({ weight }) => weight === 'unreliable'));
  if (trust !== 'outlets' && isNothing) return null;
  // Some outlets under any name may be those of a command or a change; all four are the strip's.
  const isWhole = records.length === PORTS.length && PORTS.every((port) => numbers.includes(port));
  const isUnsaid = said.every((each) => each.every(({ value }) => value === null));
  if (trust === 'none' && (isUnsaid || !isWhole)) return null;
  // Nor are those states that are other numbers than 0 and 1 anywhere in the set.
  for (const each of said) for (const { weight, from: key } of each) if (weight === 'measure') codes.add(key);
  return records.map((record, i) => ({
    from,
    port: numbers[i] ?? null,
    state: settleState(said[i] ?? [], codes),
    name: nameIn(record, labels),
  }));
}

/**
 * The keys of the records of a set, each once: those that call a number that of a port, and those that name an outlet, identify it or say
 * what kind of thing it is.
 */
function columnsOf(records: readonly JsonRecord[], look: Look): { ports: Meaning[]; labels: Meaning[] } {
  const ports: Meaning[] = [];
  const labels: Meaning[] = [];
  const seen = new Set<string>();
  for (const record of records) {
    for (const key in record) {
      if (seen.has(key)) continue;
      seen.add(key);
      const meaning = look(key);
      if (meaning.number === 'port') ports.push(meaning);
      if (nameRank(meaning) < Infinity || meaning.is('type') || meaning.is('code')) labels.push(meaning);
    }
  }
  return { ports, labels };
}

function nameIn(record: JsonRecord, labels: readonly Meaning[]): string | null {
  const names: { rank: number; text: string }[] = [];
  for (const label of labels) {
    const text = readText(record[label.key]);
    const rank = nameRank(label);
    if (text !== null && rank < Infinity) names.push({ rank, text });
  }
  return preferred(names)?.text ?? null;
}

/** How much a name of an outlet is preferred, least first. */
function nameRank({ plain, outletName, name }: Meaning): number {
  if (outletName >= 0) return outletName;
  return name >= 0 && plain !== 'stripname' ? 100 + name : Infinity;
}

/** Bare values: no more than a strip has outlets. */
function ofValues(
  values: readonly unknown[],
  { key: from, record, measured }: Container,
  look: Look,
): ToldOutlet[] | null {
  const isState = (value: unknown): boolean =>
    !isMeasure(value) && (typeof value !== 'object' || value === null);
  if (values.length === 0 || values.length > PORTS.length || !values.every(isState)) return null;
  const bits = values.filter((value) => readBit(value) !== null);
  // A short row of numbers may list which outlets there are, and zeros beside a load may be measurements.
  if (bits.length > 0 && (bits.length < PORTS.length || mayMeasure(look(from), values, measured)))
    return null;
  const numbers = numberValues(values.length, from, record, look);
  return values.map((value, i) => ({
    from,
    port: numbers[i] ?? null,
    state: settleState(stateOfValue(from, 'any', value, look), NONE),
    name: null,
  }));
}

/** `measured`: the strip tells a load. */
const mayMeasure = (meaning: Meaning, values: readonly unknown[], measured: boolean): boolean =>
  meaning.state === 'word' ||
  (measured &&
    meaning.outlets !== 'switched' &&
    (meaning.plain === 'channels' || values.every((value) => readBit(value) === false)));

/** `{"1": true, "port2": "off", "outlet_3": {on: true}}`, or records under names of any kind that number themselves. */
function ofMap(map: JsonRecord, container: Container, look: Look): ToldOutlet[] | null {
  const keys = Object.keys(map).filter((key) => look(key).keyed >= 0 && look(key).keyedOf !== 'name');
  const isOfRecords = keys.every((key) => isRecord(map[key]));
  if (keys.length > 0 && !isOfRecords) {
    const { key, trust, measured } = container;
    return trust === 'outlets' ? keyedSet(map, keys.map(look), key, measured, look) : null;
  }
  const names = keys.length > 0 ? keys : Object.keys(map).filter((key) => isRecord(map[key]));
  const records = names.map((key) => map[key]).filter(isRecord);
  if (keys.length > 0) return ofRecords(records, names, container, look);
  if (names.length === 0 || names.some((key) => look(key).denied)) return null;
  const outlets = ofRecords(records, names, container, look);
  return outlets?.some(({ port }) => port !== null) === true ? outlets : null;
}

/** `{"count": 4, "items": […]}`, `{"outlet": […]}`: the one list in a container of outlets. */
function ofWrapper(wrapper: JsonRecord, container: Container, look: Look): ToldOutlet[] | null {
  const lists = Object.keys(wrapper).filter((key) => {
    const meaning = look(key);
    const holds = meaning.is('list') || meaning.outlets !== null || meaning.part === 'self';
    return holds && typeof readJson(wrapper[key]) === 'object' && wrapper[key] !== null;
  });
  const [only] = lists;
  if (container.trust !== 'outlets' || only === undefined || lists.length > 1) return null;
  const inner = readJson(wrapper[only]);
  if (Array.isArray(inner)) return ofArray(inner, { ...container, key: only, record: wrapper }, look);
  return isRecord(inner) ? ofMap(inner, container, look) : null;
}

/**
 * Outlets that the keys of a record name, whatever kind of value stands under each. Where some of the values measure something, a 0
 * or 1 among them may do so, too.
 */
function keyedSet(
  map: JsonRecord,
  keys: readonly Meaning[],
  from: string,
  measured: boolean,
  look: Look,
): ToldOutlet[] {
  const numbers = fromOne(keys.map(({ keyed }) => keyed));
  const mayBeMeasured =
    keys.some(({ key, keyedOf }) => keyedOf !== 'name' && isMeasure(map[key])) ||
    (measured && keys.every(({ key, keyedOf }) => keyedOf === 'name' || readBit(map[key]) === false));
  const codes = mayBeMeasured ? new Set(keys.map(({ key }) => key)) : NONE;
  return keys.map((meaning, i) => ({
    from,
    port: numbers[i] ?? null,
    state: stateUnder(meaning, map[meaning.key], codes, look),
    name: nameUnder(meaning, map[meaning.key], look),
  }));
}

function stateUnder(
  { key, keyed, keyedOf }: Meaning,
  value: unknown,
  codes: ReadonlySet<string>,
  look: Look,
): State {
  if (keyedOf === 'name' || isOwnNumber(value, keyed, look)) return UNSAID;
  if (typeof value === 'boolean') return { on: value };
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

/** What one field that may say on or off says; `null`: neither. */
interface StateCandidate extends Candidate<boolean | null> {
  /**
   * A boolean or a word; a bare 1 or 0; a level ("low"), which counts only beside one of these; another number; anything else, which is
   * neither on nor off; or something that says that none of these can be relied on.
   */
  weight: 'clear' | 'bit' | 'level' | 'measure' | 'unclear' | 'unreliable';
}

/** What a set of fields says in the end. `on: null`: it says nothing, or for the reason given nothing for sure. */
interface State {
  readonly on: boolean | null;
  readonly problem?: Pick<Note, 'reason' | 'fields'>;
}

const UNSAID: State = { on: null };

/** A state, a record for it, and the value in that: `{"switch": {"switch": {"value": "on"}}}`. */
const DEEPEST_STATE = 3;

/** What a bare value says, as it stands in an array or under the number of an outlet. */
function stateOfValue(from: string, kind: 'any' | 'word', value: unknown, look: Look): StateCandidate[] {
  return isRecord(value) ? statesIn(value, look, kind) : withState([], from, kind, value);
}

/**
 * What the fields of a record about one outlet say, and what was said before. `outer`: how the name of the record itself says on or off,
 * if it does.
 */
function statesIn(
  record: JsonRecord,
  look: Look,
  outer: Meaning['state'] = null,
  before: StateCandidate[] = [],
  depth = 0,
): StateCandidate[] {
  const start = before.length;
  let said = before;
  for (const key in record) {
    const meaning = look(key);
    const value = record[key];
    const kind = outer !== null && isValueOf(meaning, value) ? outer : meaning.state;
    if (isRecord(value)) {
      const isState = kind !== null || (meaning.part === 'self' && meaning.outlets === null);
      if (isState && depth < DEEPEST_STATE) said = statesIn(value, look, kind ?? outer, said, depth + 1);
    } else if (kind !== null && !Array.isArray(value)) said = withState(said, key, kind, value);
    // "low" beside `output: true` makes that the direction of a pin.
    else if (meaning.plain === 'level' && (value === 'low' || value === 'high')) {
      said = withItem(said, { from: key, value: value === 'high', weight: 'level' });
    }
    if (leavesOpen(meaning, value)) said = withItem(said, { from: key, value: null, weight: 'unreliable' });
  }
  if (outer === null) return said;
  // In a record for one state, a number and a word stand for the same: `{"value": 1, "text": "off"}`.
  const [own, ...others] = said.slice(start).filter(({ value }) => value !== null);
  if (own !== undefined && others.some(({ value }) => value !== own.value))
    said.push({ ...own, value: null, weight: 'unreliable' });
  return said;
}

/** Whether a field of a record for a state is its value, or says the same by a word. */
const isValueOf = (meaning: Meaning, value: unknown): boolean =>
  meaning.is('value') || (readWord(value) !== null && (meaning.name >= 0 || meaning.is('text')));

/** Whether a field of a record about one outlet says that its state cannot be relied on, or that it does not answer. */
const leavesOpen = (meaning: Meaning, value: unknown): boolean =>
  meaning.number === null &&
  (meaning.state === null || (typeof value === 'string' && readWord(value) === null)) &&
  (saysUnreliable(meaning, value) || reachability({ meaning, value, part: 'self' }) === false);

function withState(
  said: StateCandidate[],
  from: string,
  kind: 'any' | 'word' | 'off',
  value: unknown,
): StateCandidate[] {
  if (value === null || value === '') return said;
  const word = readWord(value);
  const on = word ?? (kind === 'word' ? null : readBit(value));
  const weight = word !== null ? 'clear' : on !== null ? 'bit' : isMeasure(value) ? 'measure' : 'unclear';
  return withItem(said, { from, value: kind === 'off' && on !== null ? !on : on, weight });
}

/**
 * What the fields say together. A clear yes or no outweighs bare numbers; where two of the same weight disagree, neither counts.
 * `codes`: keys whose bare numbers are no states (they number the set, or are codes of some other kind).
 */
function settleState(fields: readonly StateCandidate[], codes: ReadonlySet<string>): State {
  const [only] = fields;
  if (only === undefined) return UNSAID;
  // Nearly every outlet is told by one field.
  if (fields.length === 1 && only.weight === 'clear') return { on: only.value };
  if (fields.some(({ weight }) => weight === 'unreliable')) {
    return { on: null, problem: { reason: 'disagree', fields: fieldsOf(fields) } };
  }
  const clear = fields.filter(({ weight }) => weight === 'clear');
  const bits = fields.filter(({ weight, from }) => weight === 'bit' && !codes.has(from));
  const weighty = clear.length > 0 ? clear : bits;
  if (weighty.length === 0) {
    const reason = fields.some(({ weight }) => weight === 'unclear') ? 'unclear' : 'number';
    return { on: null, problem: { reason, fields: fieldsOf(fields) } };
  }
  const counted = weighty.concat(fields.filter(({ weight }) => weight === 'level'));
  const on = agreed(counted) ?? null;
  return on === null ? { on, problem: { reason: 'disagree', fields: fieldsOf(counted) } } : { on };
}

/** The outlets that all sets tell together, fresh and in order. What two sets say differently of one, neither says for sure. */
export function settleOutlets(sets: readonly (readonly ToldOutlet[])[], note: AddNote): Outlet[] {
  for (const outlets of sets) {
    const [first] = outlets;
    if (first !== undefined && outlets.every(({ port }) => port === null))
      note('outlets', 'unnumbered', [first.from]);
  }
  const settled: Outlet[] = [];
  for (const port of PORTS) {
    let told: ToldOutlet[] = [];
    for (const outlets of sets) {
      for (const outlet of outlets) if (outlet.port === port) told = withItem(told, outlet);
    }
    const [only] = told;
    // Nearly every outlet is told once. Without the shortcuts for a single value, here and elsewhere, a list takes twice as long.
    if (told.length === 1 && only?.state.on != null)
      settled.push({ port, on: only.state.on, name: only.name });
    else if (told.length > 0)
      settled.push({ port, on: commonState(told, port, note), name: commonName(told) });
  }
  return settled;
}

function commonState(told: readonly ToldOutlet[], port: Port, note: AddNote): boolean | null {
  const known = told.filter(({ state }) => state.on !== null);
  const [first] = known;
  const agree = known.every(({ state }) => state.on === first?.state.on);
  const dispute = told.find(({ state }) => state.problem?.reason === 'disagree');
  if (first !== undefined && agree && dispute === undefined) return first.state.on;
  const unclear = dispute ?? told.find(({ state }) => state.problem !== undefined);
  const problem = unclear?.state.problem;
  if (!agree) note(port, 'disagree', fieldsOf(known));
  else if (problem !== undefined) note(port, problem.reason, problem.fields);
  return null;
}

/** The name that is told, if it is one. */
function commonName(told: readonly ToldOutlet[]): string | null {
  const named = told.filter(({ name }) => name !== null);
  const name = named[0]?.name ?? null;
  return named.every((each) => each.name === name) ? name : null;
}
