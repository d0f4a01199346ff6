import { looksLikeMac } from '../mac';
import type { Strip } from '../types';
import { isRecord } from '../../values';
import { readFlag, readText, wordsOf, type JsonRecord } from './values';
import { agreed, type Note } from './candidates';
import { stripFields, type Field, type KeyedFields } from './fields';
import type { Look, Meaning } from './names';
import { isExact } from './numbering';
import { keyedSet, ofRecords, readSet, settleOutlets, type OutletSet, type Trust } from './outlets';
import { settleReadings } from './readings';

/** Words that say clearly that a strip is offline. Any other word in that place may be about something else. */
const OFFLINE = new Set([
  'offline',
  'disconnected',
  'unreachable',
  'unavailable',
  'not connected',
  'not reachable',
  'not available',
  'not responding',
]);

/** What identifies a strip: a field called MAC, or a mere identifier that looks like one. */
export interface Identity {
  mac: string;
  named: boolean;
}

/** What an answer says about one strip. */
export interface AboutStrip {
  mac: string;
  records: JsonRecord[];
  /** It stands among strips that are known not to answer. */
  offline: boolean;
}

/** One strip from all records about it. Outlets, readings and names count only where the records agree. */
export function readStrip(
  { mac, records, offline }: AboutStrip,
  at: string,
  look: Look,
  notes: Note[],
  extra: readonly OutletSet[] = [],
): Strip {
  const rows = records.length > 1 ? rowSet(records, look) : null;
  const { fields, keyed } = stripFields(records, look);
  const { load, voltage, signal, units } = settleReadings(rows === null ? fields : [], look, notes, mac);
  const sets = rows === null ? outletSets(fields, keyed, look, load !== null) : [rows.set];
  return {
    mac,
    name: rows === null ? nameOf(fields) : rows.name,
    available: !offline && !fields.some(saysOffline),
    outlets: settleOutlets(extra.length === 0 ? sets : [...sets, ...extra], notes, mac),
    load,
    voltage,
    signal,
    units,
    at,
  };
}

/** Whether a record tells outlets of its own. */
export function tellsOutlets(record: JsonRecord, look: Look): boolean {
  const { fields, keyed } = stripFields([record], look);
  return outletSets(fields, keyed, look, false).some(({ outlets }) => outlets.length > 0);
}

/** Every set of outlets among the fields of a strip. */
function outletSets(
  fields: readonly Field[],
  keyed: readonly KeyedFields[],
  look: Look,
  measured: boolean,
): OutletSet[] {
  const sets: OutletSet[] = [];
  for (const { meaning, value } of fields) {
    if (typeof value !== 'object' || value === null) continue;
    const set = readSet(meaning.key, value, look, trustOf(meaning, value), measured);
    if (set !== null) sets.push(set);
  }
  for (const { record, keys } of keyed) {
    const sure = flatKeys(keys);
    const [first] = sure;
    if (first !== undefined) sets.push(keyedSet(first.key, record, sure, look, measured));
  }
  return sets;
}

/** How far the name of a container says that it holds outlets. */
function trustOf(meaning: Meaning, value: unknown): Trust {
  if (meaning.outlets !== null) return meaning.is('list') ? 'list' : 'outlets';
  const isState = meaning.state !== null && !meaning.is('value');
  if (isState && (!Array.isArray(value) || !value.some(isRecord))) return 'outlets';
  return meaning.is('list') ? 'list' : 'none';
}

/** Keys such as "port1"; "1" and "L1" only where there are four, exactly 1-4 or 0-3, because they may be anything. */
function flatKeys(keys: readonly Meaning[]): readonly Meaning[] {
  if (keys.every(({ keyedBy }) => keyedBy === 'word')) return keys;
  const by = (kind: Meaning['keyedBy']): Meaning[] => keys.filter(({ keyedBy }) => keyedBy === kind);
  const unsure = [by('digits'), by('letter')].filter((some) => isExact(some.map(({ keyed }) => keyed)));
  return [...by('word'), ...unsure.flat()];
}

/** One row per outlet, each with the strip's MAC: `[{mac, port, on}, …]`. */
function rowSet(records: readonly JsonRecord[], look: Look): { set: OutletSet; name: string | null } | null {
  const set = ofRecords('rows', records, null, look, 'list');
  if (set === null || records.some((record) => tellsOutlets(record, look))) return null;
  const names = new Set(set.outlets.map(({ name }) => name));
  const [only] = names;
  if (names.size > 1) return { set, name: null };
  // The same name in every row is the strip's.
  for (const outlet of set.outlets) outlet.name = null;
  return { set, name: only ?? null };
}

/** The most preferred name nearest to the top. */
function nameOf(fields: readonly Field[]): string | null {
  let best: Field | null = null;
  for (const field of fields) {
    const { meaning, part, value } = field;
    if (meaning.name < 0 || part !== 'self' || readText(value) === null) continue;
    if (best === null || comesBefore(field, best)) best = field;
  }
  return best === null ? null : readText(best.value);
}

function comesBefore(field: Field, other: Field): boolean {
  const order = field.depth - other.depth || field.meaning.name - other.meaning.name;
  return order < 0 || (order === 0 && String(field.value) < String(other.value));
}

/** Whether a field of a strip's own says that it cannot be reached. What its sensors or its cloud say is not about that. */
function saysOffline({ meaning, value, part }: Field): boolean {
  if (part === 'meter' || !(meaning.available || meaning.offline || meaning.connection)) return false;
  const said = isRecord(value) ? (value.value ?? value.status) : value;
  if (
    meaning.available &&
    readFlag(said) === false &&
    (part === 'self' || !meaning.plain.endsWith('connected'))
  )
    return true;
  if (meaning.offline && readFlag(said) === true && part === 'self') return true;
  return meaning.connection && typeof said === 'string' && OFFLINE.has(wordsOf(said));
}

/** What identifies the strip that a record is about; its own fields first, then those of its parts. `null`: nothing does. */
export function identityOf(record: JsonRecord, look: Look): Identity | null {
  const direct = directIdentity(record, look);
  if (direct !== null) return direct;
  const { fields } = stripFields([record], look);
  const named = fields.filter(({ meaning, value }) => meaning.mac >= 0 && readText(value) !== null);
  const own = named.filter(({ part }) => part === 'self');
  const agreeing = agreed(
    (own.length > 0 ? own : named).map(({ value, meaning }) => ({ value, from: meaning.key })),
  );
  if (typeof agreeing === 'string') return { mac: agreeing, named: own.length > 0 };
  if (named.length > 0) return null;
  const ids = fields.filter(
    ({ meaning, value, part }) => part === 'self' && meaning.id >= 0 && isMacText(value),
  );
  const id = agreed(ids.map(({ value, meaning }) => ({ value, from: meaning.key })));
  return typeof id === 'string' ? { mac: id, named: false } : null;
}

/** The identity that a record's own fields give, the most preferred name first. */
export function directIdentity(record: JsonRecord, look: Look): Identity | null {
  let best = Infinity;
  let found: Identity | null = null;
  for (const key in record) {
    const { mac, id } = look(key);
    if (mac < 0 && id < 0) continue;
    const value = record[key];
    const rank = mac >= 0 ? mac : 100 + id;
    if (typeof value !== 'string' || value.trim() === '' || (mac < 0 && !isMacText(value))) continue;
    if (rank > best || (rank === best && found !== null && found.mac <= value)) continue;
    best = rank;
    found = { mac: value, named: mac >= 0 };
  }
  return found;
}

const isMacText = (value: unknown): boolean =>
  typeof value === 'string' && (looksLikeMac(value) || /^0x[0-9a-f]{12,16}$/i.test(value));
