import { roleOf } from './names';

/** A JSON object; its keys and values are the service's and mean nothing yet. */
export type JsonRecord = Record<string, unknown>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** On/off as a boolean, 1/0, or one of the words for them in any case; `null` for everything else. */
export function readOn(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  if (value === 1) return true;
  if (value === 0) return false;
  if (typeof value !== 'string' || value.length > 16) return null;
  const word = value.trim().toLowerCase();
  if (word === '1') return true;
  if (word === '0') return false;
  return onOfWord(word);
}

/** The same without numbers: where a bare 0 or 1 may as well be watts. */
export function readWord(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string' || value.length > 16) return null;
  // The usual spellings as they are: changing the case costs more than all the rest.
  if (value === 'on' || value === 'ON' || value === 'true') return true;
  if (value === 'off' || value === 'OFF' || value === 'false') return false;
  return onOfWord(value.trim().toLowerCase());
}

function onOfWord(word: string): boolean | null {
  if (word === 'on' || word === 'true') return true;
  if (word === 'off' || word === 'false') return false;
  return null;
}

/** Whether a value is a number, or the text of one, that is neither 0 nor 1 and so measures something. */
export function isMeasure(value: unknown): boolean {
  if (typeof value === 'number') return value !== 0 && value !== 1;
  return typeof value === 'string' && readOn(value) === null && numberLength(value) > 0;
}

/** A clear boolean about a strip as a whole. Words of on/off are none: they would be about its outlets. */
export function readFlag(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  if (value === 1 || value === '1') return true;
  if (value === 0 || value === '0') return false;
  if (typeof value !== 'string' || value.length > 5) return null;
  const word = value.toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : null;
}

/** A whole number, plain or as decimal text; -1 for everything else. */
export function readIndex(value: unknown): number {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 ? value : -1;
  if (typeof value !== 'string' || value.length > 9) return -1;
  const digits = numberLength(value);
  return digits > 0 && digits === value.length && Number.isInteger(Number(value)) ? Number(value) : -1;
}

export function readText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** A reading and, only where the service sent one, its unit. */
export interface Measured {
  value: number;
  unit: string | null;
}

/** A reading as a number, as numeric text with or without a unit, or as `{value, unit}`. Anything else is `null`. */
export function readMeasured(value: unknown): Measured | null {
  if (typeof value === 'string') return measuredOfText(value.trim());
  if (!isRecord(value)) return null;
  let inner: Measured | null = null;
  let rank = Infinity;
  let unit: string | null = null;
  for (const key of Object.keys(value)) {
    const role = roleOf(key);
    if (role.reading >= 0 && role.reading < rank) {
      const found = value[key];
      const measured =
        typeof found === 'number' && Number.isFinite(found) ? { value: found, unit: null } : readText(found);
      inner = typeof measured === 'string' ? measuredOfText(measured.trim()) : measured;
      if (inner !== null) rank = role.reading;
    } else if (role.unit >= 0) unit = readUnit(value[key]) ?? unit;
  }
  return inner === null ? null : { value: inner.value, unit: unit ?? inner.unit };
}

const UNIT = /^[\p{L}%°Ω][\p{L}%°Ω/·²]{0,11}$/u;
const LONGEST_UNIT = 16;
const MOST_UNITS = 200;
const units = new Map<string, string | null>();

/** A unit as it may stand behind a number: short, without digits, so that "1e3" and "0x10" are no reading of 1 or 0. */
export function readUnit(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > LONGEST_UNIT) return null;
  let unit = units.get(value);
  if (unit === undefined) {
    unit = UNIT.test(value.trim()) ? value.trim() : null;
    if (units.size >= MOST_UNITS) units.clear();
    units.set(value, unit);
  }
  return unit;
}

/** Powers of ten by which a whole number of up to 15 digits is divided exactly as the decimal text would be read. */
const POWERS = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);

function measuredOfText(text: string): Measured | null {
  const end = numberLength(text);
  if (end === 0) return null;
  const value = numberOf(text, end);
  if (!Number.isFinite(value)) return null;
  if (end === text.length) return { value, unit: null };
  const unit = readUnit(text.slice(end));
  return unit === null ? null : { value, unit };
}

/** The plain decimal number in the first `end` characters. Readings come by the thousand, so without cutting a text out. */
function numberOf(text: string, end: number): number {
  if (end > 15) return Number(text.slice(0, end));
  let digits = 0;
  let decimals = 0;
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) digits = digits * 10 + code - 0x30;
    else if (code === 0x2e) decimals = end - at - 1;
  }
  const value = digits / (POWERS[decimals] ?? NaN);
  return text.charCodeAt(0) === 0x2d ? -value : value;
}

/** How many characters at the start of a text are a plain decimal number; 0 where it does not start with one. */
function numberLength(text: string): number {
  let at = text.charCodeAt(0) === 0x2d /* - */ || text.charCodeAt(0) === 0x2b /* + */ ? 1 : 0;
  const whole = at;
  while (isDigit(text.charCodeAt(at))) at++;
  if (at === whole) return 0;
  if (text.charCodeAt(at) === 0x2e /* . */) {
    const fraction = ++at;
    while (isDigit(text.charCodeAt(at))) at++;
    if (at === fraction) return 0;
  }
  return at;
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
