import { PORTS, type Port } from '../types';
import { isRecord } from '../../values';
import { numberInText, readIndex, type JsonRecord } from './values';
import { withItem } from './candidates';
import { OUTLET, type Look, type Meaning } from './names';

/** Numbers of the outlets of a set, as ours: 1-4; `null`: none of ours, or not known which. */
export type Numbers = (Port | null)[];

/** What numbers each record of a set. */
export interface Numbering {
  numbers: Numbers;
  /** Keys such as `relay`, `switch` or `output` whose numbers number the set, or may do so: no states. */
  used: ReadonlySet<string>;
}

const NOTHING: ReadonlySet<string> = new Set();
const OUTLETS = 4;

/**
 * Numbers records that are each about one outlet (design rule: a field that says the number, or the key of the record; numbers that
 * are not called a port only where those of all four are exactly 1-4 or 0-3; the order of four alike records last). `keys`: of the
 * map that holds the records, if one does; `ordered`: the records stand in an array of outlets; `ports`: the
 * keys in them that call a number that of a port. `null`: nothing numbers them for sure.
 */
export function numberRecords(
  records: readonly JsonRecord[],
  look: Look,
  keys: readonly string[],
  ordered: boolean,
  ports: readonly Meaning[],
): Numbering {
  const { called, used } = calledPort(records, ports, look);
  if (called !== null) return { numbers: called, used };
  const keyed = keys.map((key) => look(key).keyed);
  const isKeyed = keyed.some((number) => number >= 0);
  // Mere digits may be the numbers of rows.
  if (isKeyed && keys.every((key) => look(key).keyedBy === 'word')) return { numbers: fromOne(keyed), used };
  const known = positions(records, look);
  if (isKeyed) known.push(fromOne(keyed));
  const [first] = known;
  if (first === undefined && ordered && tellsByOrder(records, look)) return { numbers: [...PORTS], used };
  const agree = known.every((numbers) => numbers.every((number, i) => number === first?.[i]));
  return { numbers: records.map((_, i) => (agree ? (first?.[i] ?? null) : null)), used };
}

/** The numbers under names that call them a port: `port`, `outletNumber`, `channel`, `relay`. */
function calledPort(
  records: readonly JsonRecord[],
  ports: readonly Meaning[],
  look: Look,
): { called: Numbers | null; used: ReadonlySet<string> } {
  let sure: number[][] = [];
  let unsure: { key: string; raw: number[] }[] = [];
  for (const { key, state } of ports) {
    const raw = numbersUnder(key, records, look);
    if (raw.every((number) => number < 0)) continue;
    if (state === null) sure = withItem(sure, raw);
    else unsure = withItem(unsure, { key, raw });
  }
  const called = combinedNumbers(sure);
  if (unsure.length === 0) return { called, used: NOTHING };
  const used = new Set<string>();
  const others: number[][] = [];
  for (const { key, raw } of unsure) {
    const isDistinct = new Set(raw).size === raw.length;
    const isNumber =
      (isDistinct && raw.every((number) => number >= 0) && raw.some((number) => number > 1)) ||
      (called !== null && fromOne(raw).every((number, i) => number !== null && number === called[i]));
    if (isNumber) others.push(raw);
    // Where nothing else numbers them, two different numbers, 0 and 1, may do so.
    if (isNumber || (called === null && isDistinct)) used.add(key);
  }
  return { called: called ?? combinedNumbers(others), used };
}

const numbersUnder = (key: string, records: readonly JsonRecord[], look: Look): number[] =>
  records.map((record) => numberOf(record[key], look));

/** The numbers of records under several names. Where one name says 2 and another 3, the number is unknown. Where one says nothing, the other counts. */
function combinedNumbers(told: readonly (readonly number[])[]): Numbers | null {
  const [first] = told;
  if (first === undefined) return null;
  if (told.length === 1) return fromOne(first);
  const ours = told.map((raw) => fromOne(raw));
  return first.map((_, i) => {
    const [said = null, ...others] = ours
      .filter((_numbers, name) => (told[name]?.[i] ?? -1) >= 0)
      .map((numbers) => numbers[i] ?? null);
    return others.every((number) => number === said) ? said : null;
  });
}

/** Every numbering by names that may number something else, if it is exactly 1-4 or 0-3. */
function positions(records: readonly JsonRecord[], look: Look): Numbers[] {
  const [first] = records;
  if (first === undefined || records.length < OUTLETS) return [];
  const found: Numbers[] = [];
  for (const key in first) {
    const meaning = look(key);
    const isName = meaning.name >= 0 || meaning.outletName >= 0;
    if (meaning.number !== 'position' && !isName) continue;
    const values = records.map((record) => record[key]);
    const raw = values.map((value) => (isName ? numberOfText(value) : numberOf(value, look)));
    // "Outlet 1" to "Outlet 8", all of them: names as a maker gives them.
    const isComplete = isName && isSequence(raw, 1) && values.every(isOutletName);
    const exact = isComplete ? raw : [raw, deviceNumbers(values)].find(isExact);
    if (exact !== undefined) found.push(fromOne(exact));
  }
  return found;
}

const OUTLET_NAME = new RegExp(`^${OUTLET}\\b`, 'i');
const isOutletName = (value: unknown): boolean => typeof value === 'string' && OUTLET_NAME.test(value);

/** "…2A00" to "…2A03": an identifier of the strip, the same in all four, and two digits. */
function deviceNumbers(values: readonly unknown[]): number[] {
  const parts = values.map((value) =>
    typeof value === 'string' ? /^([0-9a-f]{10,58})(0[0-4])$/i.exec(value) : null,
  );
  return parts.map((part) => (part !== null && part[1] === parts[0]?.[1] ? Number(part[2]) : -1));
}

/** Whether numbers are those of all four outlets, in any order. */
export const isExact = (raw: readonly number[]): boolean =>
  raw.length === OUTLETS && (isSequence(raw, 1) || isSequence(raw, 0));

const isSequence = (raw: readonly number[], from: number): boolean =>
  new Set(raw).size === raw.length && raw.every((number) => number >= from && number < from + raw.length);

/**
 * Numbers as the service counts, with ours. From zero only where they are exactly 0-3; with a 0 and a 4 the 0 is no outlet (a switch
 * for all); with a 0 otherwise it is unknown which outlet is meant.
 */
export function fromOne(raw: readonly number[]): Numbers {
  if (!raw.includes(0) || raw.includes(OUTLETS)) return raw.map((number) => PORTS[number - 1] ?? null);
  const isZeroBased = [1, 2, 3].every((number) => raw.includes(number)) && raw.every((number) => number < 4);
  return raw.map((number) => (isZeroBased ? (PORTS[number] ?? null) : null));
}

/** A number as such, in a text that ends with it, or in a record: `3`, `"P3"`, `{number: 3}`. */
function numberOf(value: unknown, look: Look): number {
  const index = readIndex(value);
  if (index >= 0 || typeof value !== 'object') return index >= 0 ? index : numberOfText(value);
  if (!isRecord(value)) return -1;
  const inner = Object.keys(value).filter((key) => look(key).number !== null);
  const [only] = inner;
  return only === undefined || inner.length > 1 ? -1 : readIndex(value[only]);
}

const numberOfText = (value: unknown): number => (typeof value === 'string' ? numberInText(value) : -1);

/** Whether four records can only be told by their place: alike, without a number or identifier, and all of them outlets. */
function tellsByOrder(records: readonly JsonRecord[], look: Look): boolean {
  const [first] = records;
  if (first === undefined || records.length !== OUTLETS) return false;
  const keys = Object.keys(first);
  return (
    records.every(
      (record) =>
        Object.keys(record).length === keys.length && keys.every((key) => Object.hasOwn(record, key)),
    ) &&
    keys.every((key) =>
      fitsOrder(
        look(key),
        records.map((record) => record[key]),
        look,
      ),
    )
  );
}

/** Whether what four records say under a key leaves the outlets in the order in which they stand. */
function fitsOrder(meaning: Meaning, values: readonly unknown[], look: Look): boolean {
  if (meaning.reading !== null) return true;
  if (meaning.state === null && (meaning.identifier || meaning.number !== null)) return false;
  const raw = values.map((value) => numberOf(value, look));
  if (isExact(raw)) return fromOne(raw).every((number, place) => number === PORTS[place]);
  const isName = meaning.name >= 0 || meaning.outletName >= 0 || meaning.is('type');
  return values.every(
    (value, place) =>
      typeof value !== 'string' ||
      !isName ||
      (!NO_OUTLET.test(value) && (!OUTLET_NUMBER.test(value) || numberInText(value) === PORTS[place])),
  );
}

const OUTLET_NUMBER = new RegExp(`^(?:${OUTLET}|[lp#])[\\s_:#-]*[0-9]+$`, 'i');
const NO_OUTLET = /\b(?:usb|neutral|master|sensor|always[ -]on|unswitched)\b|^(?:all|main|total|group)$/i;

/** Whether a text of a record says that it is about something other than one switched outlet. `byName`: also if it is a mere name. */
export function saysNoOutlet(record: JsonRecord, labels: readonly Meaning[], byName: boolean): boolean {
  for (const meaning of labels) {
    const text = record[meaning.key];
    if (typeof text === 'string' && (byName || meaning.is('type')) && NO_OUTLET.test(text)) return true;
  }
  return false;
}
