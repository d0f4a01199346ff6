import { READINGS, type ReadingName, type Strip } from '../types';
import { isRecord } from '../../values';
import { readNumber, readText, type JsonRecord, type Measured } from './values';
import { agreed, fieldsOf, type Candidate, type Note } from './candidates';
import type { Field } from './fields';
import type { Look } from './names';

/** One value for a reading, or why it is none. */
interface ReadingCandidate extends Candidate<number> {
  unit: string | null;
  tier: number;
  reason: Note['reason'] | null;
}

/** Units that fit each reading. The document states none (section 2), so anything that measures the same kind of thing does. */
const UNITS: Readonly<Record<ReadingName, RegExp>> = {
  load: /^(?:[km]?w|watts?|kilowatts?|milliwatts?|[km]?va|m?a|amps?|amperes?|%|percent)$/i,
  voltage: /^[km]?v(?:olts?)?(?: ?(?:ac|dc|rms))?$/i,
  signal: /^(?:dbm?|%|percent|bars?)$/i,
};

/** A mains voltage without a unit beyond this was sent in tenths or thousandths. */
const HIGHEST_VOLTAGE = 1_000;

/** Load, voltage and signal of a strip: each only where all fields for it agree. */
export function settleReadings(
  fields: readonly Field[],
  look: Look,
  notes: Note[],
  mac: string | null,
): Pick<Strip, ReadingName | 'units'> {
  const readings: Pick<Strip, ReadingName | 'units'> = { load: null, voltage: null, signal: null, units: {} };
  let candidates: Record<ReadingName, ReadingCandidate[]> | null = null;
  for (const field of fields) {
    const reading = readingOf(field, look);
    if (reading === null) continue;
    const candidate = candidateOf(field, reading, look);
    if (candidate === null) continue;
    candidates ??= { load: [], voltage: [], signal: [] };
    candidates[reading].push(candidate);
  }
  if (candidates === null) return readings;
  for (const name of READINGS) settle(name, candidates[name], readings, notes, mac);
  return readings;
}

function settle(
  name: ReadingName,
  candidates: readonly ReadingCandidate[],
  readings: Pick<Strip, ReadingName | 'units'>,
  notes: Note[],
  mac: string | null,
): void {
  const usable = candidates.filter(({ reason }) => reason === null);
  const own = usable.filter(({ tier }) => tier === 0);
  const counted = own.length > 0 ? own : usable;
  const value = agreed(counted);
  const units = new Set(counted.map(({ unit }) => unit).filter((unit) => unit !== null));
  const [unit] = units;
  const [useless] = candidates;
  if (value !== undefined && units.size <= 1) {
    readings[name] = value;
    if (unit !== undefined) readings.units[name] = unit;
  } else if (counted.length > 0)
    notes.push({ mac, about: name, reason: 'disagree', fields: fieldsOf(counted) });
  else if (useless?.reason != null)
    notes.push({ mac, about: name, reason: useless.reason, fields: fieldsOf(candidates) });
}

/** Which reading a field is, if it is one. */
function readingOf({ meaning, part, record }: Field, look: Look): ReadingName | null {
  if (meaning.reading !== null) return meaning.reading;
  if (meaning.is('power'))
    return part === 'meter' || Object.keys(record).some((key) => MEASURED.test(look(key).plain))
      ? 'load'
      : null;
  return part === 'network' && meaning.is('strength') ? 'signal' : null;
}

/** What stands beside a `power` that is a measurement. */
const MEASURED = /^(?:voltage|volts|current|amps|energy|powerfactor|frequency)$/;

function candidateOf(field: Field, reading: ReadingName, look: Look): ReadingCandidate | null {
  const { key, meaning, value, record } = field;
  const measured = isRecord(value) ? measuredOf(value, look) : readNumber(value);
  const tier = meaning.reading === null ? 1 : meaning.tier;
  const found = { from: key, tier, value: 0, unit: null };
  if (measured === null) {
    const isEmpty = value === null || value === '' || typeof value === 'object';
    return isEmpty ? null : { ...found, reason: 'unclear' };
  }
  if (measured === 'scale' || Object.keys(record).some((beside) => look(beside).scaleOf === reading))
    return { ...found, reason: 'scale' };
  const unit = measured.unit ?? unitBeside(record, reading, look);
  if (unit !== null && !UNITS[reading].test(unit)) return { ...found, reason: 'unit' };
  // 0 and 1 may be off and on.
  if (
    meaning.is('power') &&
    unit === null &&
    (measured.value === 0 || measured.value === 1) &&
    field.part !== 'meter'
  )
    return null;
  const scaled = isScaled(record, look);
  if (unit === null && scaled && reading !== 'signal') return { ...found, reason: 'scale' };
  return { ...found, value: measured.value, unit, reason: null };
}

/** Whether the voltage in a record shows that its numbers are tenths or thousandths. */
function isScaled(record: JsonRecord, look: Look): boolean {
  for (const key in record) {
    const value = record[key];
    if (look(key).reading === 'voltage' && (readNumber(value)?.value ?? 0) > HIGHEST_VOLTAGE) return true;
  }
  return false;
}

/** `{value, unit}`; with a scale it is no plain number. Rated, least and most values have other names. */
function measuredOf(record: JsonRecord, look: Look): Measured | 'scale' | null {
  const values: Candidate<number>[] = [];
  let unit: string | null = null;
  for (const key in record) {
    const meaning = look(key);
    if (meaning.is('scale') && record[key] !== null) return 'scale';
    if (meaning.is('type') && look(readText(record[key]) ?? '').denied) return null;
    if (meaning.is('unit')) unit = readText(record[key])?.trim() ?? unit;
    if (!meaning.is('value')) continue;
    const measured = readNumber(record[key]);
    if (measured === null) continue;
    values.push({ value: measured.value, from: key });
    unit ??= measured.unit;
  }
  const value = agreed(values);
  return value === undefined ? null : { value, unit };
}

/** A unit under a name of its own: `load_unit: "W"` beside the value, or `units: {load: "W"}`. */
function unitBeside(record: JsonRecord, reading: ReadingName, look: Look): string | null {
  for (const key in record) {
    const meaning = look(key);
    const value = record[key];
    if (meaning.unitOf === reading) return readText(value)?.trim() ?? null;
    if (!meaning.is('unit') || !isRecord(value)) continue;
    for (const inner in value)
      if (look(inner).reading === reading) return readText(value[inner])?.trim() ?? null;
  }
  return null;
}
