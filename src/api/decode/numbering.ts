import { isRecord } from '../../values';
import { PORTS, type JsonRecord, type Port } from '../types';
import { agreed } from './agreement';
import { isOfOther, meaningOf, OUTLET, valuesWhere, type KeyMeaning } from './names';
import { numberInText, readIndex, readText } from './values';

/**
 * For each outlet of a set, its port (1-4). `null`: it is none of the four, or not known. 0: the service calls it 0, and the other numbers do not
 * show whether the service counts from 0. Empty: no port is known.
 */
export type Numbers = (Port | 0 | null)[];

/**
 * Keys whose bare numbers may number the outlets, or be codes, instead of being states. `true`: they certainly do, so they are no states. `false`:
 * they may, so they count as states only beside another bare number that certainly is a state.
 */
export type Codes = Map<string, boolean>;

/**
 * Numbers records that are each about one outlet, by the first of these that applies:
 * 1. a field that names the number, or the key of the record;
 * 2. other numbers, if those of all four records are exactly 1-4 or 0-3;
 * 3. the order of four alike records.
 *
 * `columns`: what the keys in the records mean; `keys`: what the keys of the map mean that holds the records, if it is a map; `ordered`: the records
 * are in an array of outlets. Returns the numbers, and as `codes` the keys such as `relay` that number the set or may do so.
 */
export function numberRecords(
  records: readonly JsonRecord[],
  columns: readonly KeyMeaning[],
  keys: readonly KeyMeaning[],
  ordered: boolean,
): { numbers: Numbers; codes: Codes } {
  const isKeyed = keys.length > 0 && keys.every(({ keyed }) => keyed >= 0);
  const { called, codes } = calledPort(records, columns, isKeyed);
  // Keys of digits only may be the numbers of rows.
  const byKey = isKeyed && keys.every(({ keyedBy }) => keyedBy === 'word') ? fromKeys(keys) : null;
  if (called !== null && byKey !== null) {
    const numbers = called.map((number, i) => ((byKey[i] ?? number) === number ? number : null));
    return { numbers, codes };
  }
  const sure = called ?? byKey;
  if (sure !== null) return { numbers: sure, codes };
  const known = positions(records);
  if (isKeyed) known.push(fromKeys(keys));
  const [first, ...others] = known;
  if (first === undefined) return { numbers: ordered && tellsByOrder(records) ? [...PORTS] : [], codes };
  const agree = others.every((numbers) => numbers.every((number, i) => number === first[i]));
  return { numbers: agree ? first : [], codes };
}

/** The numbers under names that call them a port: `port`, `outletNumber`, `channel`, `relay`. `isKeyed`: the keys of the records have numbers, too. */
function calledPort(
  records: readonly JsonRecord[],
  columns: readonly KeyMeaning[],
  isKeyed: boolean,
): { called: Numbers | null; codes: Codes } {
  const found: { key: string; state: KeyMeaning['state']; raw: number[]; areNames: boolean }[] = [];
  for (const { key, number, state } of columns) {
    if (number !== 'port') continue;
    const values = records.map((record) => record[key]);
    const raw = values.map(outletNumberOf);
    if (raw.every((each) => each < 0) || isConstant(raw) || areOfBanks(values, raw)) continue;
    found.push({ key, state, raw, areNames: values.some(isPlainName) });
  }
  const areNumberedOtherwise =
    found.some(({ areNames }) => areNames) &&
    (isKeyed ||
      found.some(({ state, areNames }) => state === null && !areNames) ||
      positions(records).length > 0);
  const told = areNumberedOtherwise ? found.filter(({ areNames }) => !areNames) : found;
  const sure = told.filter(({ state }) => state === null).map(({ raw }) => raw);
  const unsure = told.filter(({ state }) => state !== null);
  const called = combinedNumbers(sure);
  const codes: Codes = new Map();
  const others: number[][] = [];
  for (const { key, raw } of unsure) {
    const isDistinct = new Set(raw).size === raw.length;
    const isNumber = isDistinct && raw.some((number) => number > 1);
    if (isNumber) others.push(raw);
    // Other numbers may number the records, too: one 0 and one 1, or those that repeat the port.
    const mayNumber = called === null ? isDistinct : fromOne(raw).every((number, i) => number === called[i]);
    if (isNumber || mayNumber) codes.set(key, isNumber);
  }
  return { called: called ?? combinedNumbers(others), codes };
}

/** `outlet: "TV"`: the name that a user gave. Then `outlet: "Lamp 4"` in another record is one, too, if something else numbers the records. */
const isPlainName = (value: unknown): boolean =>
  typeof value === 'string' && /\p{L}[^0-9]*$/u.test(value) && !isNoOutlet(value) && !isOfOther(value);

/** Whether two texts end with the same number, such as "A1" and "B1": then they number outlets of two banks, and not one outlet twice. */
const areOfBanks = (values: readonly unknown[], raw: readonly number[]): boolean =>
  raw.some((number, i) => {
    const first = raw.indexOf(number);
    if (number < 0 || first === i) return false;
    const [text, other] = [values[first], values[i]].map((value) => readText(value)?.trim());
    return text !== undefined && other !== undefined && text !== other;
  });

/** A kind of socket ("C13") or a radio channel (6): the same for all records, and the number of no outlet. */
const isConstant = (raw: readonly number[]): boolean =>
  raw.every((number) => number === raw[0] && number > PORTS.length);

/** Combines the numbers found under several names. If two differ, the number is unknown. If one is missing, the other counts. */
function combinedNumbers(told: readonly (readonly number[])[]): Numbers | null {
  const [first] = told;
  if (first === undefined) return null;
  if (told.length === 1) return fromOne(first);
  const ours = told.map((raw) => fromOne(raw));
  return first.map((_, i) => {
    const said = ours.filter((_numbers, name) => (told[name]?.[i] ?? -1) >= 0);
    return agreed(said.map((numbers) => ({ value: numbers[i] }))) ?? null;
  });
}

/**
 * Finds the outlet number of each bare value. A list of numbers in the same record gives them. If there is none, four values are numbered by
 * their order.
 */
export function numberValues(count: number, from: string, record: JsonRecord): Numbers {
  const told: number[][] = [];
  for (const key in record) {
    const list = record[key];
    const { strips, denied } = meaningOf(key);
    if (!Array.isArray(list) || list.length !== count || strips) continue;
    const areRecords = list.every(isRecord);
    // Records beside them may be in another order. Schedules and the like are about something else, unless they number all outlets in another order.
    if (areRecords && (denied ? isNumberedInOtherOrder(list) : !tellsByOrder(list))) return [];
    if (areRecords) continue;
    // The meaning of the singular: `port` for `ports`.
    const one = meaningOf(key.replace(/(?<=x|ch)es$|s$/, ''));
    const raw = numbersOf(list, one);
    const isNumbers = one.number === 'port' ? new Set(raw).size === count && !raw.includes(-1) : isExact(raw);
    // The order in which outlets are shown need not be that of their states.
    const isOther = one.plain.endsWith('order') && !isInOrder(raw);
    if (isNumbers && !isOther && (one.number !== null || one.isName)) told.push(raw);
    // If something else tells the values apart, their order means nothing.
    else if (one.number === 'position' || areInOtherOrder(list)) return [];
  }
  // Under "outlets" there may be fewer than four. Fewer than four "states" may be those of one outlet, one after another.
  const name = meaningOf(from);
  const isOfOutlets = count === PORTS.length || (name.outlets && !name.is('outlets'));
  return combinedNumbers(told) ?? (isOfOutlets ? [...PORTS] : []);
}

/** Every numbering by names that may number something else, if it is exactly 1-4 or 0-3. */
function positions(records: readonly JsonRecord[]): Numbers[] {
  const [first] = records;
  if (first === undefined || records.length < PORTS.length) return [];
  const found: Numbers[] = [];
  for (const key in first) {
    const meaning = meaningOf(key);
    if (meaning.number !== 'position' && !meaning.isName) continue;
    const values = records.map((record) => record[key]);
    const raw = numbersOf(values, meaning);
    // "Outlet 1" to "Outlet 8", all of them: the names come from the manufacturer.
    const isComplete = isSequence(raw, 1) && values.every(isOutletName);
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
  raw.length === PORTS.length && (isSequence(raw, 1) || isSequence(raw, 0));

const isSequence = (raw: readonly number[], from: number): boolean =>
  new Set(raw).size === raw.length && raw.every((number) => number >= from && number < from + raw.length);

/** The ports for the numbers in keys. */
export const fromKeys = (keys: readonly KeyMeaning[]): Numbers =>
  fromOne(
    keys.map(({ keyed }) => keyed),
    keys.some(({ keyedBy }) => keyedBy !== 'digits'),
  );

/**
 * The ports for the numbers of the service. 0, 1, 2, 3 mean outlets 1 to 4. If 0 to 4 are all called outlets, 0 is no outlet (it may switch all). Any
 * other set with a 0 stays unnumbered: in a set of eight, for example, 0 is probably the first outlet.
 */
function fromOne(raw: readonly number[], areOutlets = true): Numbers {
  // Some services leave out a 0. If one of four has no number and is not the last, 1-3 may be counted from zero.
  if (raw.length === PORTS.length && raw[3] !== -1 && [-1, 1, 2, 3].every((number) => raw.includes(number)))
    return raw.map(() => null);
  const isToFour = raw.includes(PORTS.length) && raw.every((number) => number <= PORTS.length);
  if (!raw.includes(0) || (areOutlets && isToFour)) return raw.map((number) => PORTS[number - 1] ?? null);
  const isZeroBased = [1, 2, 3].every((number) => raw.includes(number)) && raw.every((number) => number < 4);
  return raw.map((number) => (isZeroBased ? (PORTS[number] ?? null) : number === 0 ? 0 : null));
}

/**
 * The numbers of values under one name. Identifiers such as UUIDs may end with a number by chance: if they differ in more than that number, they have
 * none.
 */
function numbersOf(values: readonly unknown[], meaning: KeyMeaning): number[] {
  if (meaning.isName) return values.map(numberInText);
  const raw = values.map(outletNumberOf);
  if (meaning.number === 'port' || raw.includes(-1)) return raw;
  // Without the lookbehind, a text of many digits would be searched again from each digit.
  const rests = new Set(values.map((value) => readText(value)?.replace(/(?<![0-9])[0-9]+\s*$/, '') ?? ''));
  return rests.size === 1 ? raw : raw.map(() => -1);
}

/** The number of an outlet: a number, or in a text that ends with it, or in a record (`3`, `"P3"`, `{number: 3}`, but not `"USB 3"`); -1: none. */
export function outletNumberOf(value: unknown): number {
  const index = readIndex(value);
  if (typeof value === 'string' && index < 0) return isOfOther(value) ? -1 : numberInText(value);
  if (!isRecord(value)) return index;
  const numbers = valuesWhere(value, ({ number }) => number !== null);
  return numbers.length === 1 ? readIndex(numbers[0]) : -1;
}

/** Whether four records are in the order of the outlets: they have the same keys, no other number or identifier, and all are outlets. */
function tellsByOrder(records: readonly JsonRecord[]): boolean {
  const [first] = records;
  if (first === undefined || records.length !== PORTS.length) return false;
  const keys = Object.keys(first);
  const hasSameKeys = (record: JsonRecord): boolean =>
    Object.keys(record).length === keys.length && keys.every((key) => Object.hasOwn(record, key));
  const valuesOf = (key: string): unknown[] => records.map((record) => record[key]);
  return records.every(hasSameKeys) && keys.every((key) => fitsOrder(meaningOf(key), valuesOf(key)));
}

/** Whether the values of four records under one key allow that the records are in the order of the outlets. */
function fitsOrder(meaning: KeyMeaning, values: readonly unknown[]): boolean {
  if (meaning.reading !== null) return true;
  const raw = numbersOf(values, meaning);
  const mayNumber = meaning.number !== null || !meaning.identifier;
  // Rows 5 to 8 are in an order, but not in that of the outlets.
  if (mayNumber && isSequence(raw, Math.min(...raw))) return isInOrder(raw);
  const isIdentifier = meaning.state === null && (meaning.identifier || meaning.number !== null);
  // If all four have the same time or place, it does not tell them apart.
  if (isIdentifier) return new Set(values).size === 1;
  if (areInOtherOrder(values)) return false;
  const fits = (value: unknown, place: number): boolean =>
    typeof value !== 'string' ||
    (!isNoOutlet(value) && (!OUTLET_NUMBER.test(value) || numberInText(value) === PORTS[place]));
  return !meaning.isName || values.every(fits);
}

/** Whether the fields of four records number them as outlets, but not in the order of these. */
function isNumberedInOtherOrder(records: readonly JsonRecord[]): boolean {
  const columns = Object.keys(records[0] ?? {}).map(meaningOf);
  const { numbers } = numberRecords(records, columns, [], false);
  return PORTS.every((port) => numbers.includes(port)) && numbers.some((port, i) => port !== PORTS[i]);
}

/** "1: Lamp" to "4: Desk", but not in this order. */
function areInOtherOrder(values: readonly unknown[]): boolean {
  const places = values.map(placeInText);
  return isExact(places) && !isInOrder(places);
}

/** The only number of a text, wherever it is ("1: Lamp", "Lamp (1)"), or the place of the letter at its end ("Outlet A" is 1); -1: neither. */
function placeInText(value: unknown): number {
  const text = readText(value)?.normalize('NFKC').trim() ?? '';
  const [number, ...others] = text.match(/[0-9]+/g) ?? [];
  if (number !== undefined) return others.length === 0 ? Number(number) : -1;
  const [letter = ''] = /(?<![a-z])[a-d]$/i.exec(text) ?? [];
  return letter === '' ? -1 : 'abcd'.indexOf(letter.toLowerCase()) + 1;
}

const isInOrder = (raw: readonly number[]): boolean =>
  fromOne(raw).every((number, place) => number === PORTS[place]);

const OUTLET_NUMBER = new RegExp(`^(?:${OUTLET}|[lp#])[\\s_:#-]*[0-9]+$`, 'i');

/** Whether a text for people, such as "USB 1" or "Total", says that it is about something other than one switched outlet. */
export const isNoOutlet = (text: string): boolean =>
  /\b(?:usb|neutral|master|sensor|always[ -]on|unswitched)\b|^(?:all|main|total|group)$/i.test(text);
