import { READINGS, type ReadingName, type Strip } from '../types';
import { isRecord } from '../../values';
import { readNumber, readText, type JsonRecord, type Measured } from './values';
import { agreed, fieldsOf, withItem, type Candidate, type Note } from './candidates';
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
  const candidates: Record<ReadingName, ReadingCandidate[]> = { load: [], voltage: [], signal: [] };
  const known = fields.some(({ meaning }) => meaning.qualifies) ? new Map<JsonRecord, Beside>() : null;
  for (const field of fields) {
    const beside = known === null ? NOTHING_BESIDE : besideOf(field.record, known, look);
    const reading = readingOf(field, beside);
    const candidate = reading === null ? null : candidateOf(field, reading, beside, look);
    if (reading !== null && candidate !== null)
      candidates[reading] = withItem(candidates[reading], candidate);
  }
  if (candidates.voltage.some(({ value }) => value > HIGHEST_VOLTAGE)) {
    candidates.load = candidates.load.map(asScaled);
    candidates.voltage = candidates.voltage.map(asScaled);
  }
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
  const [only] = candidates;
  if (only === undefined) return;
  if (candidates.length === 1 && only.reason === null) {
    readings[name] = only.value;
    if (only.unit !== null) readings.units[name] = only.unit;
    return;
  }
  const usable = candidates.filter(({ reason }) => reason === null);
  const own = usable.filter(({ tier }) => tier === 0);
  const counted = own.length > 0 ? own : usable;
  const value = agreed(counted);
  const units = new Set(counted.map(({ unit }) => unit).filter((unit) => unit !== null));
  const [unit] = units;
  if (value !== undefined && units.size <= 1) {
    readings[name] = value;
    if (unit !== undefined) readings.units[name] = unit;
  } else if (counted.length > 0)
    notes.push({ mac, about: name, reason: 'disagree', fields: fieldsOf(counted) });
  else if (only.reason !== null)
    notes.push({ mac, about: name, reason: only.reason, fields: fieldsOf(candidates) });
}

/** Which reading a field is, if it is one. */
function readingOf({ meaning, part }: Field, { measures }: Beside): ReadingName | null {
  if (meaning.reading !== null) return meaning.reading;
  if (meaning.is('power')) return part === 'meter' || measures ? 'load' : null;
  return part === 'network' && meaning.is('strength') ? 'signal' : null;
}

/** What stands beside a `power` that is a measurement. */
const MEASURED = /^(?:voltage|volts|current|amps|energy|powerfactor|frequency)$/;

/** What a record says of its readings in fields of their own. */
interface Beside {
  /** `load_unit: "W"`, or `units: {load: "W"}`. */
  units: Partial<Record<ReadingName, string[]>>;
  /** Readings whose scale it gives. */
  scales: ReadingName[];
  /** It holds other measurements. */
  measures: boolean;
}

const NOTHING_BESIDE: Beside = { units: {}, scales: [], measures: false };

/** `known`: what was found of other fields of the same strip. */
function besideOf(record: JsonRecord, known: Map<JsonRecord, Beside>, look: Look): Beside {
  const before = known.get(record);
  if (before !== undefined) return before;
  const beside: Beside = { units: {}, scales: [], measures: false };
  known.set(record, beside);
  for (const key in record) {
    const meaning = look(key);
    const value = record[key];
    if (MEASURED.test(meaning.plain)) beside.measures = true;
    if (meaning.scaleOf !== null) beside.scales.push(meaning.scaleOf);
    if (meaning.unitOf !== null) addUnit(beside, meaning.unitOf, value);
    else if (isRecord(value) && meaning.is('unit')) {
      for (const inner in value) addUnit(beside, look(inner).reading, value[inner]);
    }
  }
  return beside;
}

function addUnit({ units }: Beside, reading: ReadingName | null, value: unknown): void {
  const unit = readText(value)?.trim();
  if (reading !== null && unit !== undefined) units[reading] = withItem(units[reading], unit);
}

/** Numbers without a unit beside a voltage that is plainly scaled are scaled, too. */
const asScaled = (candidate: ReadingCandidate): ReadingCandidate =>
  candidate.unit === null && candidate.reason === null ? { ...candidate, reason: 'scale' } : candidate;

function candidateOf(
  field: Field,
  reading: ReadingName,
  beside: Beside,
  look: Look,
): ReadingCandidate | null {
  const { meaning, value } = field;
  const measured = isRecord(value) ? measuredOf(value, look) : ofNumber(readNumber(value));
  if (measured === null) {
    return value === '' || typeof value === 'object' ? null : useless(field, 'unclear');
  }
  if (measured === 'scale' || beside.scales.includes(reading)) return useless(field, 'scale');
  const units = new Set([...measured.units, ...(beside.units[reading] ?? [])]);
  if (units.size > 1) return useless(field, 'disagree');
  const [unit = null] = units;
  if (unit !== null && !UNITS[reading].test(unit)) return useless(field, 'unit');
  // 0 and 1 may be off and on.
  if (
    unit === null &&
    (measured.value === 0 || measured.value === 1) &&
    field.part !== 'meter' &&
    meaning.is('power')
  )
    return null;
  return { from: meaning.key, tier: meaning.tier, value: measured.value, unit, reason: null };
}

const useless = ({ meaning }: Field, reason: Note['reason']): ReadingCandidate => ({
  from: meaning.key,
  tier: meaning.tier,
  value: 0,
  unit: null,
  reason,
});

/** A number with all units that are given for it. */
interface MeasuredIn {
  value: number;
  units: string[];
}

const ofNumber = (measured: Measured | null): MeasuredIn | null =>
  measured === null ? null : { value: measured.value, units: measured.unit === null ? [] : [measured.unit] };

/** `{value, unit}`; with a scale it is no plain number. Rated, least and most values have other names. */
function measuredOf(record: JsonRecord, look: Look): MeasuredIn | 'scale' | null {
  const values: Candidate<number>[] = [];
  const units: string[] = [];
  for (const key in record) {
    const meaning = look(key);
    if (meaning.is('scale') && record[key] !== null) return 'scale';
    if (meaning.is('type') && look(readText(record[key]) ?? '').denied) return null;
    const unit = meaning.is('unit') ? readText(record[key]) : null;
    if (unit !== null) units.push(unit.trim());
    if (!meaning.is('value')) continue;
    const measured = readNumber(record[key]);
    if (measured === null) continue;
    values.push({ value: measured.value, from: key });
    if (measured.unit !== null) units.push(measured.unit);
  }
  const value = agreed(values);
  return value === undefined ? null : { value, units };
}
