import { isRecord } from '../../values';
import { meaningOf, says, type KeyMeaning } from './names';
import { isSet, Preferred, readFlag, readJson, readText, saysFailed, type JsonRecord } from './values';

/** A field of a strip, wherever in its record it stands. */
export interface Field {
  meaning: KeyMeaning;
  value: unknown;
  /** The record that it stands in. */
  record: JsonRecord;
  /** What kind of record it stands in: the strip's own, its measurements, its connection. */
  part: 'self' | 'meter' | 'network';
  /** How far down. */
  depth: number;
}

export interface StripFields {
  fields: Field[];
  /** The keys of each record that name an outlet, such as "port1". */
  keyed: { record: JsonRecord; keys: KeyMeaning[] }[];
}

/** How many records inside records are searched for fields: `payload.all.system.hardware`. */
const DEEPEST = 5;

/** All fields of a strip, also those that stand in records for its details, measurements and connection. */
export function stripFields(records: readonly JsonRecord[]): StripFields {
  const found: StripFields = { fields: [], keyed: [] };
  for (const record of records) addFields(found, record, 'self', 0);
  return found;
}

/** Adds all fields of a record that stands so far down. `from`: what the key means under which it does. */
function addFields(
  found: StripFields,
  record: JsonRecord,
  part: Field['part'],
  depth: number,
  from: KeyMeaning | null = null,
): void {
  const keys: KeyMeaning[] = [];
  const isSystem = from?.is('system') === true;
  const isRated = from?.is('rated') === true;
  for (const key in record) {
    const meaning = meaningOf(key);
    if (meaning.denied || (isSystem && meaning.reading === 'load')) continue;
    if (isRated && (meaning.reading === 'load' || meaning.reading === 'voltage')) continue;
    const value = valueOf(meaning, record[key]);
    const inner = typeof value === 'object' && depth < DEEPEST ? partOf(meaning, part) : null;
    if (inner !== null && isRecord(value) && !isOneField(meaning, value)) {
      addFields(found, value, inner, depth + 1, isSystem ? from : meaning);
      continue;
    }
    if (meaning.keyed >= 0) keys.push(meaning);
    else found.fields.push({ meaning, value, record, part, depth });
    if (inner !== null && Array.isArray(value)) addPairs(found, value, inner, depth + 1);
  }
  // Measurements under such keys are not about what is on.
  if (keys.length > 0 && part === 'self') found.keyed.push({ record, keys });
}

/** A record or a list may come as a text. */
const valueOf = ({ part, outlets }: KeyMeaning, value: unknown): unknown =>
  part !== null || outlets !== null ? readJson(value) : value;

/** Whether a record in place of a field is that field: a set of outlets, a state, or `{value, unit}` in place of a reading. */
function isOneField(meaning: KeyMeaning, record: JsonRecord): boolean {
  const has = (isIt: (key: KeyMeaning) => boolean): boolean =>
    Object.keys(record).some((key) => isIt(meaningOf(key)));
  const maySwitch = meaning.outlets !== null || meaning.state !== null;
  const mayMeasure = meaning.reading !== null || meaning.is('power');
  return (maySwitch && has(({ keyed }) => keyed >= 0)) || (mayMeasure && has((key) => key.is('value')));
}

/** What a record of that name holds; inside measurements everything is measured. */
const partOf = (meaning: KeyMeaning, part: Field['part']): Field['part'] | null =>
  meaning.part !== null && part !== 'self' ? part : meaning.part;

/** `[{"name": "voltage", "value": 230, "unit": "V"}, …]` and `[{"online": true}, …]` as the fields that they stand for. */
function addPairs(found: StripFields, list: readonly unknown[], part: Field['part'], depth: number): void {
  for (const item of list.filter(isRecord)) {
    const keys = Object.keys(item);
    if (keys.length === 1) {
      addFields(found, item, part, depth);
      continue;
    }
    // With the number of an outlet it is about that outlet alone.
    if (keys.some((key) => meaningOf(key).number === 'port')) continue;
    const key = pairName(item);
    const values = keys.filter((each) => meaningOf(each).is('pairvalue'));
    const [value] = values;
    if (key === null || value === undefined) continue;
    const told = meaningOf(key).reading !== null || values.length > 1 ? item : item[value];
    addFields(found, { [key]: told }, part, depth);
  }
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

/** `stale: true`, `freshness: "stale"`, `source: "cache"`: the values beside it are old, or guesses. */
export const saysOld = ({ reliability, connection }: KeyMeaning, value: unknown): boolean =>
  reliability === 'old'
    ? readFlag(value) === true || says('old', value)
    : (connection || reliability === 'source') && says('old', value);

/** Whether a field says that the values beside it cannot be relied on: they are old or not valid, or something failed. */
export function saysUnreliable(meaning: KeyMeaning, value: unknown): boolean {
  if (saysOld(meaning, value)) return true;
  if (meaning.reliability === 'success') return readFlag(value) === false;
  if (meaning.reliability === 'valid') return readFlag(value) === false || says('bad', value);
  if (meaning.reliability === 'error') return namesError(meaning, value);
  return meaning.connection && saysFailed(meaning, value);
}

/** Whether a field of a record for one outlet or one value says that the record cannot be relied on. */
export const discredits = (meaning: KeyMeaning, value: unknown): boolean =>
  saysUnreliable(meaning, value) ||
  (meaning.reliability === 'pending' && readFlag(value) === true) ||
  (meaning.reliability === 'confirmed' && readFlag(value) === false) ||
  reachability({ meaning, value, part: 'self' }) === false;

/** `error: "timeout"`, `error: {"code": 5}` or `error_code: 5`, but not `errors: 3`, which counts them. */
function namesError({ plain }: KeyMeaning, value: unknown): boolean {
  const isCount = plain.endsWith('s');
  if (isRecord(value))
    return !isCount && Object.values(value).some((inner) => isSet(inner) && !says('fine', inner));
  if (typeof value === 'number') return !isCount && value !== 0;
  return !Array.isArray(value) && isSet(value) && !says('fine', value);
}

/** Whether a field says that a strip or outlet can be reached; `null`: unknown. The state of its cloud connection does not count. */
export function reachability({
  meaning,
  value,
  part,
}: Pick<Field, 'meaning' | 'value' | 'part'>): boolean | null {
  if (!(meaning.available || meaning.offline || meaning.connection)) return null;
  const said = isRecord(value) ? (value.value ?? value.status ?? value.state) : value;
  const flag = readFlag(said);
  const isOwn = part === 'self' || !meaning.plain.endsWith('connected');
  if (meaning.available && flag !== null && (isOwn || flag)) return flag;
  if (meaning.offline && part === 'self' && flag === true) return false;
  if (!meaning.connection) return null;
  // Any other word in that place may be about something else.
  return says('offline', said) ? false : says('online', said) ? true : null;
}
