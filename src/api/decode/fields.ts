import { isRecord } from '../../values';
import type { JsonRecord } from '../types';
import { Preferred } from './agreement';
import { hasField, meaningOf, valuesNamed, valuesWhere, type KeyMeaning } from './names';
import { outletNumberOf } from './numbering';
import { reachability } from './reliability';
import { readFlag, readJson, readText } from './values';

/** A field of a strip, from its record or from a record inside that. */
export interface Field {
  meaning: KeyMeaning;
  value: unknown;
  /** The record that holds the field. */
  record: JsonRecord;
  /** What that record is about: the strip itself, its measurements, or its connection. */
  part: 'self' | 'meter' | 'network';
  /** How deep that record is nested. */
  depth: number;
}

export interface StripFields {
  fields: Field[];
  /** The keys of each record that name an outlet, such as "port1". */
  keyed: { record: JsonRecord; keys: KeyMeaning[] }[];
}

/** How many records inside records are searched for fields: `payload.all.system.hardware`. */
const DEEPEST = 5;

/** All fields of a strip, also those in records for its details, measurements and connection. */
export function stripFields(records: readonly JsonRecord[]): StripFields {
  const found: StripFields = { fields: [], keyed: [] };
  for (const record of records) addFields(found, record, 'self', 0);
  return found;
}

/** Adds all fields of a record. `depth`: how deep it is nested; `from`: what its key means. */
function addFields(
  found: StripFields,
  record: JsonRecord,
  part: Field['part'],
  depth: number,
  from: KeyMeaning | null = null,
): void {
  const keys: KeyMeaning[] = [];
  for (const key in record) {
    const meaning = meaningOf(key);
    if (meaning.denied) continue;
    const value = valueOf(meaning, record[key]);
    if (from !== null && isNotOfStrip(from, meaning, value)) continue;
    const inner = depth < DEEPEST ? partOf(meaning, part) : null;
    if (inner === 'meter' && isRecord(value) && hasField(value, namesPort)) continue;
    const around = from?.is('system') || (from?.is('rated') && inner === 'self') ? from : meaning;
    if (inner !== null && isRecord(value) && !isOneField(meaning, value)) {
      // `status: {"value": "offline"}`
      for (const said of valuesNamed(value, 'value'))
        found.fields.push({ meaning, value: said, record, part, depth });
      // `connection: {"status": "offline"}` is about the strip itself, and not about one of its networks.
      if (meaning.available && reachability(meaning, value) === false)
        found.fields.push({ meaning, value: 'offline', record, part, depth });
      addFields(found, value, inner, depth + 1, around);
      continue;
    }
    if (meaning.keyed >= 0) keys.push(meaning);
    else found.fields.push({ meaning, value, record, part, depth });
    // `status: {"port1": true, "online": true, "load": 5}`
    if (inner === 'self' && isRecord(value)) addFields(found, besideOutlets(value), inner, depth + 1, around);
    if (inner !== null && Array.isArray(value)) addPairs(found, value, inner, depth + 1);
  }
  // Among measurements, such keys hold no states.
  if (keys.length > 0 && part === 'self') found.keyed.push({ record, keys });
}

/** Whether a field inside `from` is not about the strip: the load of a processor, and what is only rated or possible. */
function isNotOfStrip(from: KeyMeaning, { reading, keyed, is }: KeyMeaning, value: unknown): boolean {
  if (from.is('system')) return reading === 'load';
  if (!from.is('rated')) return false;
  return (
    reading === 'load' || reading === 'voltage' || is('power') || (keyed >= 0 && readFlag(value) !== null)
  );
}

/** Whether a field says that its record is about one outlet. A 0 may mean the strip as a whole. */
const namesPort = ({ number, state }: KeyMeaning, value: unknown): boolean =>
  number === 'port' && state === null && outletNumberOf(value) > 0;

/** The value of a field. A record or a list may come as a text. */
const valueOf = ({ part, outlets }: KeyMeaning, value: unknown): unknown =>
  part !== null || outlets ? readJson(value) : value;

/** Whether a record is the value of one field (a set of outlets, a state, or `{value, unit}` of a reading), and not a group of fields. */
function isOneField(meaning: KeyMeaning, record: JsonRecord): boolean {
  const maySwitch = meaning.outlets || meaning.state !== null;
  const mayMeasure = meaning.reading !== null || meaning.is('power');
  return (maySwitch && isAboutOutlet(record)) || (mayMeasure && hasField(record, ({ is }) => is('value')));
}

/** The fields of a record that are not about one of its outlets. */
const besideOutlets = (record: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries(record).filter(([key]) => meaningOf(key).keyed < 0));

/** What a record of that name holds. Inside measurements, or inside a network, everything belongs to these. */
const partOf = (meaning: KeyMeaning, part: Field['part']): Field['part'] | null =>
  meaning.part !== null && part !== 'self' ? part : meaning.part;

/** `[{"name": "voltage", "value": 230, "unit": "V"}, …]` and `[{"online": true}, …]` as the fields that they stand for. */
function addPairs(found: StripFields, list: readonly unknown[], part: Field['part'], depth: number): void {
  const pairs = list.filter(isRecord).flatMap((item) => (hasOneField(item) ? [item] : fieldOfPair(item)));
  // Together, those about outlets show how these are numbered. If fields repeat, they do not.
  const outlets = joined(pairs.filter(isAboutOutlet)) ?? {};
  for (const record of [outlets, ...pairs.filter((pair) => !isAboutOutlet(pair))])
    addFields(found, record, part, depth);
}

/** The field that a record of a name and a value stands for, if it is one. */
function fieldOfPair(item: JsonRecord): JsonRecord[] {
  // A record with the number of an outlet is only about that outlet.
  if (hasField(item, ({ number }) => number === 'port')) return [];
  const key = pairName(item);
  const values = valuesWhere(item, (meaning) => meaning.is('pairvalue'));
  if (key === null || values.length === 0) return [];
  return [{ [key]: meaningOf(key).reading !== null || values.length > 1 ? item : values[0] }];
}

const isAboutOutlet = (record: JsonRecord): boolean => hasField(record, ({ keyed }) => keyed >= 0);

const hasOneField = (record: JsonRecord): boolean => Object.keys(record).length === 1;

/** `[{"port1": true}, {"port2": false}]` as one record; `null` if a record has more fields, or if fields repeat. */
export function joined(records: readonly JsonRecord[]): JsonRecord | null {
  if (!records.every(hasOneField)) return null;
  const all = Object.fromEntries(records.flatMap((record) => Object.entries(record)));
  return Object.keys(all).length === records.length ? all : null;
}

/** The text of a record in such a list that names its value, if it is a name we know. */
function pairName(item: JsonRecord): string | null {
  const isKnown = (name: KeyMeaning): boolean =>
    name.reading !== null || name.available || name.offline || name.keyed >= 0 || name.is('power');
  const best = new Preferred();
  for (const key in item) {
    const { pair } = meaningOf(key);
    if (pair < Infinity && isKnown(meaningOf(readText(item[key]) ?? ''))) best.add(pair, item[key]);
  }
  return best.text;
}
