import { PORTS, type Outlet, type Port } from './types';

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

/** One outlet with its number as the service counts, from 0 or from 1. */
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
  if ((seen & 1) === 0) return set & ~BEYOND;
  if (seen === ZERO_TO_THREE && (set & BEYOND) === 0) return set << 1;
  return seen & 0b10000 ? set & ~(BEYOND | 1 | (1 << ON) | (1 << OFF)) : seen & ONE_TO_FOUR;
}

/** What `first` says of each outlet, and `second` where it says nothing. Both with our numbers. */
export function orElse(first: Found, second: Found): Found {
  const said = ((first >> ON) | (first >> OFF)) & NUMBERS;
  return first | (second & ~((said << ON) | (said << OFF)));
}

/** Whether any outlet's on/off is known. */
export function anyKnown(set: Found): boolean {
  return (((set >> ON) ^ (set >> OFF)) & NUMBERS) !== 0;
}

/** Whether a set of numbers that need not be ports leaves no doubt: four of them, exactly 1-4 or exactly 0-3. */
export function isExact(set: Found, count: number): boolean {
  const seen = set & (NUMBERS | BEYOND);
  return count === 4 && (seen === ONE_TO_FOUR || seen === ZERO_TO_THREE);
}

/** Fresh outlets, in order. */
export function outletsOf(set: Found): Outlet[] {
  if ((set & ONE_TO_FOUR) === ONE_TO_FOUR) {
    return [outletOf(set, 1), outletOf(set, 2), outletOf(set, 3), outletOf(set, 4)];
  }
  return PORTS.filter((port) => set & (1 << port)).map((port) => outletOf(set, port));
}

function outletOf(set: Found, port: Port): Outlet {
  const on = (set >> (port + ON)) & 1;
  return { port, on: on === ((set >> (port + OFF)) & 1) ? null : on === 1, name: null };
}
