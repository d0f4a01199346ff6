import { isRecord } from '../../values';
import type { JsonRecord } from '../types';
import { says } from './names';

/** A clear yes or no: a boolean, or a word for on or off. `null`: neither. */
export function readWord(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  return says('on', value) ? true : says('off', value) ? false : null;
}

/** A yes or no as a bare number, 1 or 0, which may also be a count, a code or a measurement. */
export function readBit(value: unknown): boolean | null {
  const bit = typeof value === 'string' ? value.trim() : value;
  if (bit === 1 || bit === '1') return true;
  return bit === 0 || bit === '0' ? false : null;
}

/** A clear boolean about a strip as a whole. Words for on and off are none: they would be about its outlets. */
export function readFlag(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  return says('yes', value) ? true : says('no', value) ? false : readBit(value);
}

/** Whether a value is a number, or a text that begins with one, and neither 0 nor 1. */
export function isMeasure(value: unknown): boolean {
  if (typeof value === 'string') return /^\s*[+-]?[0-9]/.test(value) && readBit(value) === null;
  return typeof value === 'number' && value !== 0 && value !== 1;
}

/** A whole number from 0 on, plain or as decimal text; -1 for everything else. */
export function readIndex(value: unknown): number {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : -1;
  return typeof value === 'string' && /^[0-9]{1,9}$/.test(value.trim()) ? Number(value) : -1;
}

/** One number of many, "2/4" and "2 of 4", but not "A0B1C2D3E4F5/4". */
const OF_MANY = /(?<![0-9a-f:-]{6})[0-9] *(?:\/|of) *[0-9]+$/i;
/** Two numbers, "1 and 2", "1+2" and "Outlets 1-4", or one below zero. */
const NO_ONE = /[0-9] *(?:[,;&+–]|and|to) *[0-9]+$|s *[0-9]+ *- *[0-9]+$|^-[0-9]+$/i;

/** The number at the end of a short text such as "Outlet 4", "P4", "#4", "switch:0", "socket.1" or "4"; -1 if there is none, and for "2/4". */
export function numberInText(value: unknown): number {
  const text = typeof value === 'string' ? value.trim() : '';
  const [, digits] = /(?:^|[^0-9.,]|[a-z]\.)0*([0-9]{1,2})$/i.exec(text) ?? [];
  return digits === undefined || OF_MANY.test(text) || NO_ONE.test(text) ? -1 : Number(digits);
}

export function readText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** A number and, if the service sent one, its unit. */
export interface Measured {
  value: number;
  unit: string | null;
}

/** A decimal, with or without a unit after it. "12,5", "1e3", "0x10" and "1.2.3" do not match, so they are not read as 12, 1, 0 and 1.2. */
const MEASURED = /^([+-]?[0-9]+(?:\.[0-9]+)?)\s*([\p{L}%°][\p{L}%°·/ ]{0,15})?$/u;

/** A finite number, or a text that is one, with or without a unit: "230.1", "231 V AC", "3 outlets". */
export function readNumber(value: unknown): Measured | null {
  if (typeof value === 'number') return Number.isFinite(value) ? { value, unit: null } : null;
  if (typeof value !== 'string') return null;
  const [, digits, unit = null] = MEASURED.exec(value.trim()) ?? [];
  const number = Number(digits);
  return Number.isFinite(number) ? { value: number, unit } : null;
}

/** Parses a text that is a JSON array or object. Returns everything else as it is. */
export function readJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

/** A value that is a record, or the records in one that is a list. */
export const recordsIn = (value: unknown): JsonRecord[] => [value].flat().filter(isRecord);

/** Whether a value says something: `next: null`, `error: false`, `errors: []` and `errorCode: "0000"` do not. */
export function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isRecord(value)) return Object.keys(value).length > 0;
  if (typeof value === 'string') return !/^0*$/.test(value);
  return value !== null && value !== false && value !== 0;
}
