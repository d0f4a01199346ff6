import { isRecord } from '../../values';
import { readJson, readText, type JsonRecord } from './values';
import type { Look, Meaning } from './names';

/** A field of a strip, wherever in its record it stands. */
export interface Field {
  key: string;
  meaning: Meaning;
  value: unknown;
  /** What kind of record it stands in: the strip's own, its measurements, its connection, or one that is not known. */
  part: 'self' | 'meter' | 'network';
  /** How far down. */
  depth: number;
  /** The record it stands in. */
  record: JsonRecord;
}

/** Wrappers around wrappers around a strip with parts: `payload.all.system.hardware`. */
const DEEPEST = 5;

/** All fields of a strip, also those that stand in records for its details, measurements and connection. */
export function stripFields(record: JsonRecord, look: Look): Field[] {
  const fields: Field[] = [];
  addFields(fields, record, 'self', look, 0);
  return fields;
}

/** Adds all fields of a record that stands so far down. */
export function addFields(
  fields: Field[],
  record: JsonRecord,
  part: Field['part'],
  look: Look,
  depth: number,
): void {
  for (const key in record) {
    const meaning = look(key);
    if (meaning.denied) continue;
    const found = record[key];
    const value =
      typeof found === 'string' && (meaning.part !== null || meaning.outlets !== null)
        ? readJson(found)
        : found;
    if (typeof value !== 'object' || value === null) {
      fields.push({ key, meaning, value, part, depth, record });
      continue;
    }
    const kind = depth < DEEPEST ? partOf(meaning, part) : null;
    if (Array.isArray(value)) {
      fields.push({ key, meaning, value, part, depth, record });
      if (kind !== null) addPairs(fields, value, kind, look, depth + 1);
    } else if (isRecord(value)) {
      const isSet = meaning.outlets !== null && (meaning.part === null || namesOutlets(value, look));
      if (
        kind === null ||
        isSet ||
        isValue(meaning, value, look) ||
        (meaning.state !== null && namesOutlets(value, look))
      ) {
        fields.push({ key, meaning, value, part, depth, record });
      } else addFields(fields, value, kind, look, depth + 1);
    }
  }
}

/** What a record of that name holds; inside measurements everything is measured. */
function partOf(meaning: Meaning, part: Field['part']): Field['part'] | null {
  if (meaning.part === null) return null;
  return part === 'self' ? meaning.part : part;
}

const namesOutlets = (record: JsonRecord, look: Look): boolean =>
  Object.keys(record).some((key) => look(key).keyed >= 0);

/** `{value, unit}` in place of a reading. */
const isValue = (meaning: Meaning, record: JsonRecord, look: Look): boolean =>
  (meaning.reading !== null || meaning.is('power')) &&
  Object.keys(record).some((key) => look(key).is('value'));

/** `[{"name": "voltage", "value": 230, "unit": "V"}, …]` and `[{"online": true}, …]` as the fields that they stand for. */
function addPairs(
  fields: Field[],
  list: readonly unknown[],
  part: Field['part'],
  look: Look,
  depth: number,
): void {
  for (const item of list) {
    if (!isRecord(item)) continue;
    const keys = Object.keys(item);
    const [only] = keys;
    if (only !== undefined && keys.length === 1) {
      addFields(fields, item, part, look, depth);
      continue;
    }
    // With the number of an outlet it is about that outlet alone.
    if (keys.some((key) => look(key).number === 'port' && look(key).state === null)) continue;
    const key = pairName(item, keys, look);
    if (key === null) continue;
    const meaning = look(key);
    const values = keys.filter((each) => look(each).is('pairvalue'));
    if (values.length === 0 || meaning.denied) continue;
    const [value] = values;
    const isMeasured = meaning.reading !== null || meaning.keyed >= 0 || values.length > 1;
    fields.push({
      key,
      meaning,
      value: isMeasured || value === undefined ? item : item[value],
      part,
      depth,
      record: { [key]: item },
    });
  }
}

/** The text of a record in such a list that names its value, if it is a name we know. */
function pairName(item: JsonRecord, keys: readonly string[], look: Look): string | null {
  let name: string | null = null;
  let best = Infinity;
  for (const key of keys) {
    const rank = look(key).pair;
    if (rank < 0 || rank >= best) continue;
    const text = readText(item[key]);
    if (text === null) continue;
    const { reading, available, offline, keyed, keyedBy } = look(text);
    if (
      reading === null &&
      !available &&
      !offline &&
      !(keyed >= 0 && keyedBy === 'word') &&
      !look(text).is('power')
    )
      continue;
    best = rank;
    name = text;
  }
  return name;
}
