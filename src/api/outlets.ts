import { roleOf } from './names';
import { PORTS, type Outlet } from './types';
import { isMeasure, isRecord, readIndex, readOn, readWord, type JsonRecord } from './values';

/**
 * What was found about a set of outlets, in one number, because sets are gathered for every strip of a list: bits 0-4 are the
 * numbers seen, bits 8-12 those found on, bits 16-20 those found off, bit 24 any number beyond. A number found both on
 * and off contradicts itself, which the bits keep whatever comes after.
 */
export type Found = number;

const ON = 8;
const OFF = 16;
const NUMBERS = 0b11111;
const BEYOND = 1 << 24;
const ZERO_TO_THREE = 0b01111;
const ONE_TO_FOUR = 0b11110;

/** One outlet with its number as the service counts. */
export function found(number: number, on: boolean | null): Found {
  if (number > 4) return BEYOND;
  return (1 << number) | (on === null ? 0 : 1 << (number + (on ? ON : OFF)));
}

/**
 * The same set with the numbers of our outlets, 1-4. Zero-based only where the numbers are exactly 0-3; with a 0 and a 4 the 0 is
 * no outlet; with a 0 otherwise nobody knows which outlet is meant, so none is said to be on or off.
 */
export function numbered(set: Found): Found {
  const seen = set & NUMBERS;
  if ((seen & 1) === 0) return set;
  if (seen === ZERO_TO_THREE && (set & BEYOND) === 0) return set << 1;
  return seen & 0b10000 ? set & ~(1 | (1 << ON) | (1 << OFF)) : seen & ONE_TO_FOUR;
}

/** What `first` says of each outlet, and `second` where it says nothing. Both with our numbers. */
export function orElse(first: Found, second: Found): Found {
  const said = known(first) | contradicted(first);
  const rest = second & ~((said << ON) | (said << OFF));
  return first | rest;
}

/** Numbers whose on/off is known, as bits 0-4. */
export function known(set: Found): number {
  return ((set >> ON) ^ (set >> OFF)) & NUMBERS;
}

function contradicted(set: Found): number {
  return (set >> ON) & (set >> OFF) & NUMBERS;
}

/** Fresh outlets, in order. */
export function outletsOf(set: Found): Outlet[] {
  const outlets: Outlet[] = [];
  const certain = known(set);
  for (const port of PORTS) {
    if (set & (1 << port)) {
      outlets.push({ port, on: certain & (1 << port) ? (set & (1 << (port + ON))) !== 0 : null });
    }
  }
  return outlets;
}

/** A set of outlets in any of the forms read: records, booleans in order, or an object keyed by port. With our numbers. */
export function readOutlets(value: unknown): Found {
  if (Array.isArray(value)) {
    return isRecord(value[0]) || value.some(isRecord) ? ofRecords(value) : ofSequence(value);
  }
  return isRecord(value) ? ofKeys(value) : 0;
}

/** `[{port: 1, on: true}, …]`. */
function ofRecords(records: readonly unknown[]): Found {
  let ports = 0;
  let ids = 0;
  let indexes = 0;
  let order = 0;
  let named = false;
  for (let i = 0; i < records.length; i++) {
    const record = records[i];
    if (!isRecord(record)) continue;
    const outlet = readOutlet(record);
    if (outlet.port >= 0) ports |= found(outlet.port, outlet.on);
    if (outlet.id >= 0) ids |= found(outlet.id, outlet.on);
    if (outlet.index >= 0) indexes |= found(outlet.index, outlet.on);
    named ||= outlet.named;
    order |= found(i + 1, outlet.on);
  }
  if (ports !== 0) return numbered(ports);
  if (isExact(ids, records.length)) return numbered(ids);
  if (isExact(indexes, records.length)) return numbered(indexes);
  // Four outlets that bear no number of any kind can only be told by their order.
  return !named && isExact(order, records.length) ? order : 0;
}

/** Whether a set of numbers that need not be ports leaves no doubt: four of them, exactly 1-4 or exactly 0-3. */
function isExact(set: Found, count: number): boolean {
  const seen = set & (NUMBERS | BEYOND);
  return count === 4 && (seen === ONE_TO_FOUR || seen === ZERO_TO_THREE);
}

/** What a record says of the outlet it is about, and how preferred the names were by which it said so. */
interface Reading {
  port: number;
  portRank: number;
  id: number;
  index: number;
  /** Whether it bears a number or an identifier of any kind. */
  named: boolean;
  on: boolean | null;
  onRank: number;
}

const blank = (): Reading => ({
  port: -1,
  portRank: UNSAID,
  id: -1,
  index: -1,
  named: false,
  on: null,
  onRank: UNSAID,
});

const UNSAID = 1_000;
/** Names that say on/off only as a word come after all that say it in any form. */
const WORDS = 100;

/** One object for all outlets of a set, because nothing of one is needed once the next is read. */
const scratch = blank();

function readOutlet(record: JsonRecord): Reading {
  scratch.port = scratch.id = scratch.index = -1;
  scratch.portRank = scratch.onRank = UNSAID;
  scratch.named = false;
  scratch.on = null;
  return fill(scratch, record, true);
}

/** On/off of a record that is about one outlet. */
export function onOfRecord(record: JsonRecord): boolean | null {
  return fill(blank(), record, true).on;
}

function fill(reading: Reading, record: JsonRecord, deeper: boolean): Reading {
  for (const key of Object.keys(record)) {
    const role = roleOf(key);
    if (role.port >= 0) readPort(reading, role.port, record[key]);
    else if (role.on >= 0) readState(reading, role.on, record[key], deeper);
    else if (role.word >= 0) readState(reading, WORDS + role.word, record[key], deeper);
    else if (role.position >= 0) {
      reading.named = true;
      const number = readIndex(record[key]);
      if (role.position === 0) reading.id = number;
      else reading.index = number;
    }
  }
  return reading;
}

function readPort(reading: Reading, rank: number, value: unknown): void {
  const number = portNumber(value);
  if (number < 0) return;
  reading.named = true;
  if (rank >= reading.portRank) return;
  reading.portRank = rank;
  reading.port = number;
}

/** A port as a number, numeric text, or a text such as "port1". */
function portNumber(value: unknown): number {
  const index = readIndex(value);
  return index >= 0 || typeof value !== 'string' ? index : roleOf(value).flat;
}

function readState(reading: Reading, rank: number, value: unknown, deeper: boolean): void {
  if (rank > reading.onRank) return;
  const on = isRecord(value)
    ? deeper
      ? fill(blank(), value, false).on
      : null
    : rank >= WORDS
      ? readWord(value)
      : readOn(value);
  if (on === null) return;
  // Two spellings of the same name ("on", "ON") that contradict each other say nothing.
  reading.on = rank === reading.onRank && on !== reading.on ? null : on;
  reading.onRank = rank;
}

/** `[true, false, …]`: by order, and only where there are no more than a strip has outlets. */
function ofSequence(values: readonly unknown[]): Found {
  if (values.length > 4) return 0;
  let set = 0;
  let numbers = false;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (isMeasure(value)) return 0;
    numbers ||= value === 0 || value === 1;
    set |= found(i + 1, readOn(value));
  }
  // A shorter row of numbers may as well list which outlets there are.
  return numbers && values.length < 4 ? 0 : set;
}

/** `{"1": true, "port2": "off", "outlet_3": {on: true}}`, or records with a port of their own under names of any kind. */
function ofKeys(record: JsonRecord): Found {
  const keyed = new Keyed();
  let ports = 0;
  for (const key of Object.keys(record)) {
    const value = record[key];
    const number = roleOf(key).numbered;
    if (number >= 0) keyed.add(number, value);
    if (isRecord(value)) {
      const { port, on } = readOutlet(value);
      if (port >= 0) ports |= found(port, on);
    }
  }
  return ports === 0 ? keyed.set() : numbered(ports);
}

/** Outlets that the keys of a record name. */
export class Keyed {
  #any: Found = 0;
  #words: Found = 0;
  #measures = false;
  #count = 0;

  /** `number` as the service counts. */
  add(number: number, value: unknown): void {
    this.#count++;
    if (isRecord(value)) {
      const one = found(number, onOfRecord(value));
      this.#any |= one;
      this.#words |= one;
      return;
    }
    this.#measures ||= isMeasure(value);
    this.#any |= found(number, readOn(value));
    this.#words |= found(number, readWord(value));
  }

  /** With our numbers. Where some of the values measure something, a 0 or 1 among them may do so, too. */
  set(): Found {
    return numbered(this.#measures ? this.#words : this.#any);
  }

  /** The same, but nothing unless there are four and their numbers leave no doubt. */
  exactSet(): Found {
    return isExact(this.#any, this.#count) ? this.set() : 0;
  }
}
