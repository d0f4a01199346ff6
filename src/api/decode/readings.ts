import { isRecord } from '../../values';
import type { JsonRecord, ReadingName, Strip } from '../types';
import { agreed, fieldsOf, type AddNote, type Candidate, type Note } from './agreement';
import type { Field } from './fields';
import { hasField, meaningOf, SCALE, valuesWhere } from './names';
import { discredits, reachability, saysUnreliable } from './reliability';
import { readBit, readNumber, readText, type Measured } from './values';

/** One value for a reading, or the reason why it cannot be used. */
interface ReadingCandidate extends Candidate<number> {
  reading: ReadingName;
  unit: string | null;
  tier: number;
  reason: Note['reason'] | null;
}

/** Units that fit each reading. The document states none (section 2), so every unit for the same kind of thing fits. */
const UNITS: Readonly<Record<ReadingName, RegExp>> = {
  load: /^(?:[km]?w|watts?|kilowatts?|milliwatts?|[km]?va|m?a|amps?|amperes?|%|percent)$/i,
  voltage: /^[km]?v(?:olts?)?(?: ?(?:ac|dc|rms))?$/i,
  signal: /^(?:dbm?|%|percent|bars?)$/i,
};

/** If more fields than this are about readings, they are not those of one strip, and none of them is read. */
const MAX_FIELDS = 100;

/** A mains voltage above this, without a unit, was sent in tenths or thousandths. */
const HIGHEST_VOLTAGE = 1_000;

/** Load, voltage and signal of a strip: each only if all fields for it agree. */
export function settleReadings(fields: readonly Field[], note: AddNote): Pick<Strip, ReadingName | 'units'> {
  const candidates = candidatesOf(fields);
  const units: Partial<Record<ReadingName, string>> = {};
  const valueOf = (reading: ReadingName): number | null => {
    const measured = settle(reading, candidates, note);
    if (measured === null) return null;
    if (measured.unit !== null) units[reading] = measured.unit;
    return measured.value;
  };
  return { load: valueOf('load'), voltage: valueOf('voltage'), signal: valueOf('signal'), units };
}

/** All values for readings among the fields. */
function candidatesOf(all: readonly Field[]): ReadingCandidate[] {
  const fields = all.filter(({ meaning }) => meaning.isAboutReading);
  if (fields.length > MAX_FIELDS) return [];
  const qualifiers = fields.filter(({ meaning }) => meaning.unitOf !== null || meaning.scaleOf !== null);
  const unreliable = all
    .filter(
      ({ meaning, value, part }) =>
        (part === 'meter' && saysUnreliable(meaning, value)) ||
        // A network that is not connected has no signal, and a meter that cannot be reached has no load.
        (part !== 'self' && reachability(meaning, value) === false),
    )
    .map(({ record }) => record);
  const besideMeasures = new Map<JsonRecord, boolean>();
  const candidates: ReadingCandidate[] = [];
  for (const field of fields) {
    const reading = readingOf(field, besideMeasures);
    const candidate = reading === null ? null : candidateOf(field, reading, qualifiers);
    if (candidate === null) continue;
    if (unreliable.includes(field.record)) candidate.reason = 'disagree';
    candidates.push(candidate);
  }
  // If a voltage is plainly scaled, loads and voltages without a unit are scaled, too.
  const isBare = ({ unit, reason }: ReadingCandidate): boolean => unit === null && reason === null;
  const isScaled = candidates.some(
    (each) => each.reading === 'voltage' && each.value > HIGHEST_VOLTAGE && isBare(each),
  );
  if (isScaled)
    for (const each of candidates) if (each.reading !== 'signal' && isBare(each)) each.reason = 'scale';
  return candidates;
}

/** The one value of a reading on which its candidates agree. */
function settle(reading: ReadingName, all: readonly ReadingCandidate[], note: AddNote): Measured | null {
  const candidates = all.filter((candidate) => candidate.reading === reading);
  const [first] = candidates;
  if (first === undefined) return null;
  // Nearly every reading has only one value.
  if (candidates.length === 1 && first.reason === null) return first;
  const usable = candidates.filter(({ reason }) => reason === null);
  const own = usable.filter(({ tier }) => tier === 0);
  const counted = own.length > 0 ? own : usable;
  const value = agreed(counted);
  const units = counted.map((candidate) => candidate.unit).filter((unit) => unit !== null);
  const [unit = null] = units;
  if (value !== undefined && units.every((each) => each === unit)) return { value, unit };
  if (counted.length > 0) note(reading, 'disagree', fieldsOf(counted));
  else if (first.reason !== null) note(reading, first.reason, fieldsOf(candidates));
  return null;
}

/**
 * Which reading a field is; `null`: none. A power is a load if it is among measurements, or beside one. `besideMeasures`: whether a record holds a
 * measurement; it is kept, so that each record is searched only once.
 */
function readingOf(
  { meaning, part, record }: Field,
  besideMeasures: Map<JsonRecord, boolean>,
): ReadingName | null {
  if (meaning.reading !== null) return meaning.reading;
  if (!meaning.is('power')) return part === 'network' && meaning.is('strength') ? 'signal' : null;
  if (part === 'meter') return 'load';
  const isMeasured = besideMeasures.get(record) ?? hasField(record, ({ measures }) => measures);
  besideMeasures.set(record, isMeasured);
  return isMeasured ? 'load' : null;
}

/** The units that a field gives for a reading: `load_unit: "W"`, `units: {load: "W"}`. */
function unitsIn({ meaning, value }: Field, reading: ReadingName): string[] {
  const texts = isRecord(value) ? valuesWhere(value, (inner) => inner.reading === reading) : [];
  if (meaning.unitOf === reading) texts.push(value);
  return texts.map((text) => readText(text)?.trim()).filter((unit) => unit !== undefined);
}

/** Whether a field is a scale for a reading: `load_scale: 10`, `scale: 10`, `scales: {load: 10}`. */
function isScale({ meaning, value }: Field, reading: ReadingName): boolean {
  if (meaning.scaleOf !== 'any') return meaning.scaleOf === reading;
  return isRecord(value) ? hasField(value, (inner) => inner.reading === reading) : readNumber(value) !== null;
}

/** `qualifiers`: fields that give units and scales. Only those in the same record as a reading can be about it. */
function candidateOf(
  { meaning, value: sent, part, record }: Field,
  reading: ReadingName,
  qualifiers: readonly Field[],
): ReadingCandidate | null {
  const measured = isRecord(sent) ? measuredOf(sent) : readNumber(sent);
  if (measured === null && (sent === '' || typeof sent === 'object')) return null;
  const { key: from, tier } = meaning;
  if (measured === null || typeof measured === 'string')
    return { reading, from, tier, value: 0, unit: null, reason: measured ?? 'unclear' };
  let { unit } = measured;
  let reason: Note['reason'] | null = null;
  for (const other of qualifiers) {
    if (other.record !== record) continue;
    if (isScale(other, reading)) reason = 'scale';
    for (const said of unitsIn(other, reading)) {
      if (unit !== null && said !== unit) reason ??= 'disagree';
      unit = said;
    }
  }
  if (unit !== null && !UNITS[reading].test(unit)) reason ??= 'unit';
  // 0 and 1 may be off and on.
  const isBit = unit === null && readBit(measured.value) !== null;
  if (isBit && part !== 'meter' && meaning.is('power')) return null;
  return { reading, from, tier, value: measured.value, unit, reason };
}

/** Reads a record such as `{value, unit}`. With a scale, the number is not the real value. A text such as "max" or "rated" says that it is another value. */
function measuredOf(record: JsonRecord): Measured | 'scale' | 'disagree' | null {
  const values: Candidate<number>[] = [];
  const units: string[] = [];
  // Beside other measurements, `current` is a measurement, and not the value now.
  const isMeter = hasField(record, ({ is, reading }) => is('power') || reading !== null);
  for (const key in record) {
    const meaning = meaningOf(key);
    if (SCALE.test(meaning.plain) && record[key] !== null) return 'scale';
    if (discredits(meaning, record[key])) return 'disagree';
    const text = readText(record[key]) ?? '';
    // Texts with digits, such as times, are left out: they differ in every record, and each would be looked up as a new name.
    if (!/[0-9]/.test(text) && meaningOf(text).denied) return null;
    const unit = meaning.unitOf === 'any' ? readText(record[key]) : null;
    if (unit !== null) units.push(unit.trim());
    if (!meaning.is('value') || (isMeter && meaning.measures)) continue;
    const measured = readNumber(record[key]);
    if (measured === null) continue;
    values.push({ value: measured.value, from: key });
    if (measured.unit !== null) units.push(measured.unit);
  }
  const value = agreed(values);
  const [unit = null] = units;
  if (value === undefined) return null;
  return units.every((each) => each === unit) ? { value, unit } : 'disagree';
}
