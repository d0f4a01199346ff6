import { isObject, isRecord } from '../../values';
import { looksLikeMac, PORTS, sameMac, type JsonRecord, type PortOrAll, type SwitchResult } from '../types';
import { agreed } from './agreement';
import { stripFields } from './fields';
import {
  hasField,
  meaningOf,
  oneOf,
  OUTLETS,
  says,
  valuesNamed,
  valuesWhere,
  type KeyMeaning,
} from './names';
import { outletNumberOf } from './numbering';
import { outletSets, type OutletCandidate } from './outlets';
import { holdsProblem, isProblem, reachability, saysFailed } from './reliability';
import { isSet, readBit, readFlag, readJson, readText, readWord, recordsIn } from './values';

/** What a switch answer says (API document, section 2). */
export interface DecodedSwitch {
  /**
   * `true` only if nothing else in the answer contradicts it or leaves it open whether a port was switched; `null`: there is no such boolean, or it
   * does not count for this reason.
   */
  success: boolean | null;
  /** Entries whose port and outcome can be read. */
  results: SwitchResult[];
  /** The answer has entries: under `results`, as a bare list, or as one success that names a port. */
  listed: boolean;
  /** Some entry says that it failed, with or without a port. */
  failed: boolean;
  /** `success` was `true`, but something beside it leaves it open which ports were switched. */
  unclear: boolean;
}

/** What a switch request asked for. */
export interface AskedSwitch {
  mac: string;
  port: PortOrAll;
  on: boolean;
}

/** One entry of `results`. `port: 0`: it names no port, or not one. `ok: null`: it says nothing clear. */
interface Entry {
  port: number;
  ok: boolean | null;
}

/**
 * Reads a switch answer. Its form is documented, so few other forms are accepted: `results` may also be one entry, a map keyed by port or by index,
 * the whole answer, or a part of a success. If an answer names another strip than the one in `asked`, or the opposite state, it is not known what was
 * switched. Never throws.
 */
export function decodeSwitch(body: unknown, asked?: AskedSwitch): DecodedSwitch {
  const documented = readDocumented(body);
  if (documented !== null) return documented;
  const fields = isRecord(body) ? body : {};
  const success = agreed(valuesNamed(fields, 'success').map((value) => ({ value })));
  const own = Array.isArray(body) ? [body].filter(isSet) : valuesNamed(fields, 'results').map(readJson);
  const found = success !== true || own.some(isObject) ? own : resultsWithin(fields);
  const lists = found.filter(isObject);
  const hasEntries = lists.some(isSet);
  const entries =
    !hasEntries && success === true
      ? entriesWithin(fields, asked)
      : lists.flatMap((list) => entriesOf(list, asked));
  const isUncertain =
    entries.some(({ port, ok }) => ok === null || (ok && port === 0)) ||
    found.includes(false) ||
    saysNo(fields, 0, new Set(found)) ||
    saysPending(fields) ||
    (asked !== undefined && !hasEntries && showsOpposite(fields, asked)) ||
    (asked !== undefined && looksLikeMac(asked.mac) && namesOther(body, asked.mac));
  const unclear = success === true && isUncertain;
  return {
    success: typeof success !== 'boolean' || unclear ? null : success,
    results: entries.flatMap(({ port, ok }) => (port === 0 || ok === null ? [] : [{ port, ok }])),
    listed: lists.length > 0 || entries.length > 0,
    failed: entries.some(({ ok }) => ok === false),
    unclear,
  };
}

/**
 * An answer in exactly the documented form; `null`: another one. Nearly every answer has this form, and looking at each key for other ways to
 * spell it takes 9 µs, a fifth of what the whole request takes.
 */
function readDocumented(body: unknown): DecodedSwitch | null {
  if (!isRecord(body) || Object.keys(body).length !== 2) return null;
  const { success, results } = body;
  if (success !== true || !Array.isArray(results)) return null;
  const read: SwitchResult[] = [];
  for (const entry of results) {
    if (!isRecord(entry) || Object.keys(entry).length !== 2) return null;
    const { port, ok } = entry;
    const named = PORTS.find((each) => each === port);
    if (named === undefined || ok !== true) return null;
    read.push({ port: named, ok });
  }
  return { success, results: read, listed: true, failed: false, unclear: false };
}

function entriesOf(results: object, asked?: AskedSwitch): Entry[] {
  if (Array.isArray(results)) return results.flatMap((entry) => entriesFor(entry, '', asked));
  const record = results as JsonRecord;
  const keys = Object.keys(record);
  // A map keyed by something, unless it is an entry itself.
  const isMap = keys.every((key) => isRecord(record[key]) || meaningOf(key).keyed >= 0 || isAll(key));
  if (!isMap) return entriesFor(record, '', asked);
  // Keys that count from 0 are no outlet numbers: entry "3" may be about outlet 3 or 4.
  const isCounted = keys.some((key) => meaningOf(key).keyed === 0);
  return keys.flatMap((key) => entriesFor(record[key], isCounted ? '' : key, asked));
}

/** One entry under its key; if all outlets were asked for and it is about all of them, one for each. */
function entriesFor(value: unknown, key: string, asked?: AskedSwitch): Entry[] {
  const entry = entryOf(value, meaningOf(key).keyed, asked);
  const names = isRecord(value) ? valuesWhere(value, ({ number }) => number === 'port') : [];
  const isForAll = asked?.port === 'all' && entry.port === 0 && [key, ...names].some(isAll);
  return isForAll ? PORTS.map((port) => ({ ...entry, port })) : [entry];
}

const isAll = (value: unknown): boolean => readText(value)?.toLowerCase() === 'all';

/** The values under `results` in records of an answer, such as `data.results`. */
const resultsWithin = (record: JsonRecord, depth = 0): unknown[] =>
  Object.keys(record).flatMap((key) => {
    const value = record[key];
    const { denied, part, plain } = meaningOf(key);
    if (plain === 'results') return [readJson(value)];
    const mayHold = isRecord(value) && !denied && part !== 'network' && depth < DEEPEST;
    return mayHold ? resultsWithin(value, depth + 1) : [];
  });

/**
 * The entries of a success without `results`: a record that names a port, entries of lists that name a port and an outcome, and the ports in a list
 * such as `switched: [1, 3]` or `ports: [1, 3]`.
 */
function entriesWithin(record: JsonRecord, asked?: AskedSwitch, depth = 0): Entry[] {
  const own = portsIn(record).some((port) => port > 0)
    ? [entryOf({ success: true, ...record }, 0, asked)]
    : [];
  const inner = Object.keys(record).flatMap((key) => {
    const value = record[key];
    const { denied, part, plain, outlets, switched } = meaningOf(key);
    if (denied || part === 'network' || depth === DEEPEST) return [];
    if (isRecord(value)) return entriesWithin(value, asked, depth + 1);
    if (!Array.isArray(value)) return [];
    const ports = value.map(portOf).filter((port) => port > 0);
    // In `ports: [1, 1, 1, 0]` the numbers are states.
    const arePorts = outlets && !switched && new Set(ports).size === value.length && !value.some(isObject);
    if (arePorts || DONE.test(plain)) return ports.map((port) => ({ port, ok: true }));
    const records = value.filter(isRecord);
    const results = records.filter((each) => portsIn(each).length > 0 && outcomesIn(each).length > 0);
    return results.map((each) => entryOf(each, 0, asked));
  });
  return [...own, ...inner];
}

/** `key`: the number in the key of the entry. It is the port, unless the entry is a record that names one itself. */
function entryOf(entry: unknown, key: number, asked?: AskedSwitch): Entry {
  if (!isRecord(entry)) return { port: portOf(key), ok: readWord(entry) };
  const [only = portOf(key), ...others] = new Set(portsIn(entry));
  const ok = outcomeOf(entry);
  const isOpposite = asked !== undefined && saysState(entry, !asked.on);
  return { port: others.length === 0 ? only : 0, ok: ok === true && isOpposite ? null : ok };
}

/** The ports under the names for the number of an outlet; 0: none of the four. A text or record without a number, such as a name, does not count. */
const portsIn = (record: JsonRecord): number[] =>
  valuesWhere(record, ({ number, state }) => number === 'port' && state === null)
    .filter((value) => portOf(value) > 0 || (!isRecord(value) && outletNumberOf(value) >= 0))
    .map(portOf);

/** Whether a record says, by a boolean or a word, that an outlet is in the state `on`. A `status` counts if it is "on" or "off": `true` may mean success. */
const saysState = (record: JsonRecord, on: boolean): boolean =>
  hasField(record, ({ state, plain }, value) => {
    if (state === null || (plain === 'status' && readFlag(value) !== null)) return false;
    const said = readWord(value);
    return said !== null && (state === 'off' ? !said : said) === on;
  });

/**
 * Whether an answer shows the opposite of what was asked for: `{"state": "off"}`, `{"strips": [{"outlets": […]}]}`. This counts only if
 * `results` has no entry: beside the documented yes, it may be the state from before the switch.
 */
function showsOpposite(record: JsonRecord, { port, on }: AskedSwitch): boolean {
  const lists = stripFields([record]).fields.filter(({ meaning }) => meaning.holds || meaning.strips);
  const listed = lists.flatMap(({ value }) => (Array.isArray(value) ? recordsIn(value) : []));
  const outlets = outletSets(stripFields([record, ...listed]), true).flat();
  const isOpposite = (outlet: OutletCandidate): boolean =>
    (port === 'all' || outlet.port === port) && outlet.state.on === !on;
  // `status: false` says that it failed, or that the outlet is off.
  const isStatusNo = on && valuesNamed(record, 'status').includes(false);
  return isStatusNo || saysState(record, !on) || outlets.some(isOpposite);
}

/** Whether an answer names a strip other than the one with that MAC. */
function namesOther(value: unknown, mac: string, depth = 0): boolean {
  if (depth > DEEPEST) return false;
  if (Array.isArray(value)) return value.some((item) => namesOther(item, mac, depth + 1));
  return (
    isRecord(value) &&
    hasField(value, (meaning, inner) => {
      const said = meaning.mac < Infinity ? readText(inner) : null;
      if (said !== null) return !sameMac(said, mac);
      const isOfOther = meaning.denied || meaning.foreign || meaning.part === 'network';
      return !isOfOther && namesOther(inner, mac, depth + 1);
    })
  );
}

/** The port that a value names; 0: none. */
const portOf = (value: unknown): number => PORTS[outletNumberOf(value) - 1] ?? 0;

/** Whether an entry says that it was switched; `null`: not clear. A yes is clear only if nothing contradicts it. */
function outcomeOf(entry: JsonRecord): boolean | null {
  if (saysNo(entry)) return false;
  const said = outcomesIn(entry);
  const isYes = said.length > 0 && said.every((ok) => ok === true);
  return isYes && !saysPending(entry) ? true : null;
}

const outcomesIn = (record: JsonRecord): (boolean | null)[] =>
  valuesWhere(record, (meaning) => meaning.is('success')).map((said) => readWord(said) ?? readBit(said));

/** How deep records in an entry are searched: `response.data.error`. */
const DEEPEST = 3;

/** Names of warnings: they say neither that it was switched nor that it was not. */
const WARNING = /^warnings?$/;

/** Names of records that say what becomes of a request. */
const WORK = /^(?:job|task|command|operation|execution)$/;

/**
 * Whether a record, or one in it, says no, names an error, or says by a word or status that it failed. `results`: those of the answer, which are
 * left out because their entries are read one by one. `isOutcome`: it says what became of the request; further down, a reason may be about anything.
 */
function saysNo(
  record: JsonRecord,
  depth = 0,
  results: ReadonlySet<unknown> = new Set(),
  isOutcome = true,
): boolean {
  if (outcomesIn(record).includes(false)) return true;
  return hasField(record, (meaning, value) => {
    // A strip may be called "Busy".
    if (meaning.isName) return false;
    if (saysFailed(meaning, value)) return true;
    const word = wordIn(meaning, value);
    if (isOutcome && (says('failed', word) || (!meaning.denied && says('refused', word)))) return true;
    // `data: {"failed_ports": [2]}` is about the outlets.
    const mayBeReason = isOutcome || (Array.isArray(value) && value.some((each) => portOf(each) > 0));
    if (meaning.is('error') || (mayBeReason && meaning.is('reason') && !WARNING.test(meaning.plain)))
      // An empty `errors` says that there are none; an empty `error` may be one.
      return isRecord(value)
        ? holdsProblem(value) || !(isSet(value) || meaning.plain.endsWith('s'))
        : isProblem(value);
    const isWork = WORK.test(meaning.plain);
    if ((meaning.denied && !isWork) || depth === DEEPEST || results.has(value)) return false;
    return recordsIn(value).some((inner) => saysNo(inner, depth + 1, results, isOutcome && isWork));
  });
}

/** Names of fields in which a "no", or an empty value, leaves it open whether the outlet was switched. */
const DONE = new RegExp(
  `^${oneOf('is all has was device command port')}*${oneOf(`switched applied executed affected accepted delivered sent
  received reached reachable responded processed handled performed ack acked acknowledged confirmed verified succeeded
  success successes successful complete completed done finished final valid ok`)}(?:${OUTLETS}|count)?$`,
);
/**
 * Names of fields in which a "no", but not 0 or an empty list, leaves it open whether the outlet was switched: 0 and an empty list may mean "no
 * error".
 */
const ANSWER = /^(?:result|data|response)$/;

/**
 * Whether an answer is not final: `status: "queued"`, `queued: true`, `queued: [2]`, `applied: false`, `switched: []`, also in `job: {…}` or `data: {…}`.
 * Nor is it if it says that the strip cannot be reached.
 */
const saysPending = (record: JsonRecord, depth = 0): boolean =>
  hasField(record, (meaning, value) => {
    const { plain, available, part, isName } = meaning;
    if (isName) return false;
    if (says('pending', wordIn(meaning, value)) || reachability(meaning, value) === false) return true;
    if (WARNING.test(plain)) return isProblem(value);
    if (isObject(value) && depth < DEEPEST && (WORK.test(plain) || part === 'self'))
      return recordsIn(value).some((inner) => saysPending(inner, depth + 1));
    if (DONE.test(plain)) return readWord(value) === false || (value !== null && !isSet(value));
    return readWord(value) === false && (available || ANSWER.test(plain));
  });

/** The word that counts in a field: its value, or in `rejected: true` and `rejected: [2]` its name. */
const wordIn = ({ plain }: KeyMeaning, value: unknown): unknown =>
  readFlag(value) === true || (Array.isArray(value) && value.length > 0) ? plain : value;
