import { isRecord } from '../values';
import { fieldsOf, Preferred, type AddNote, type Note } from './decode/agreement';
import { stripFields, type Field } from './decode/fields';
import { findRecords, type FoundRecord } from './decode/list';
import { keysWhere, valuesWhere } from './decode/names';
import {
  outletSets,
  readSet,
  rowSet,
  settleOutlets,
  tellsOutlets,
  type OutletCandidate,
} from './decode/outlets';
import { hintsAtMore } from './decode/pages';
import { settleReadings } from './decode/readings';
import { isOfflineError, reachability, saysOld, saysUnreliable } from './decode/reliability';
import { readJson, readText } from './decode/values';
import { macKey, type JsonBody, type JsonRecord, type ListAnswer, type StripAnswer } from './types';

export { decodeSwitch, type DecodedSwitch } from './decode/switch';
export type { Note };

/** What was read from the body of a list of strips. */
type DecodedList = Omit<ListAnswer, keyof JsonBody>;

/** What was read from the body of an answer about one strip. */
type DecodedStrip = Omit<StripAnswer, keyof JsonBody>;

/**
 * Reads the service's list of strips (API document, section 4: its shape is not shown). Never throws, whatever the value. What
 * cannot be read for sure is `null` or left out. `at`: when the answer was read, ISO 8601. `notes`: a reason is added for each
 * value that is unknown although something was sent for it. `paging`: headers about paging.
 */
export function decodeList(
  body: unknown,
  at: string,
  notes: Note[] = [],
  paging: JsonRecord = {},
): DecodedList {
  const found = findRecords(body);
  const oldKeys = oldKeysAround(found.wrappers);
  const all = [...byStrip(found.records).values()];
  const strips = all.map((about) => readStrip(about, oldKeys, at, notes).strip);
  const counts = [found.records.length, strips.length];
  // Judged separately: a header that says "this is all" does not cancel a hint in the body.
  const hints = [...hintsAtMore(found.wrappers, counts, found.rooms), ...hintsAtMore([paging], counts)];
  if (hints.length > 0) notes.push({ mac: null, about: 'list', reason: 'more', fields: fieldsOf(hints) });
  if (found.unidentified > 0) notes.push({ mac: null, about: 'list', reason: 'unidentified', fields: [] });
  const isRead = found.isList && found.unidentified === 0;
  const isKnown = strips.some(({ outlets }) => outlets.some(({ on }) => on !== null));
  // In an empty list nothing is left unread, even if it is only a page.
  const isEmpty = isRead && strips.length === 0 && !hints.some(({ value }) => value === 'failed');
  const areOffline = strips.length > 0 && strips.every(({ available }) => !available);
  return { strips, complete: isRead && hints.length === 0, readable: isKnown || isEmpty || areOffline };
}

/**
 * Reads the service's answer about the strip `mac` (API document, section 4: its shape is not shown). Never throws. An answer
 * about another strip says nothing about this one. `at` and `notes` as above.
 */
export function decodeStrip(body: unknown, mac: string, at: string, notes: Note[] = []): DecodedStrip {
  const { records, wrappers } = findRecords(body);
  // An answer that names only other strips is not about this one. An identifier that only looks like a MAC does not count: it may be of something else.
  const about = byStrip(records).get(macKey(mac));
  const isAboutOther = about === undefined && records.some(({ identity }) => identity.named);
  if (isAboutOther) notes.push({ mac, about: 'outlets', reason: 'other', fields: [] });
  const said = about ?? unnamed(mac, isAboutOther ? null : readJson(body));
  const oldKeys = oldKeysAround([...wrappers, body].filter(isRecord));
  const { strip, saysOnline } = readStrip(said, oldKeys, at, notes);
  return { strip, saysOnline, readable: !strip.available || strip.outlets.some(({ on }) => on !== null) };
}

/** All that an answer says about one strip. */
interface AboutStrip {
  mac: string;
  records: JsonRecord[];
  /** It is listed among strips that cannot be reached. */
  offline: boolean;
  /** Outlets that are not in a record of the strip, because the answer is only a list of outlets. */
  bare: OutletCandidate[] | null;
}

/** Groups records by strip. If a MAC is spelled in two ways, the first in alphabetical order counts. */
function byStrip(found: readonly FoundRecord[]): Map<string, AboutStrip> {
  const strips = new Map<string, AboutStrip>();
  for (const { identity, record, offline } of found) {
    const { mac } = identity;
    const key = macKey(mac);
    const about = strips.get(key) ?? { mac, records: [], offline: false, bare: null };
    about.records.push(record);
    if (mac < about.mac) about.mac = mac;
    about.offline ||= offline;
    strips.set(key, about);
  }
  return strips;
}

/** Reads an answer that does not name its strip: one record, a list with one record, or a list of outlets such as `[true, false, …]`. */
function unnamed(mac: string, value: unknown): AboutStrip {
  const only = (list: unknown[]): JsonRecord[] => (list.length === 1 ? list.filter(isRecord) : []);
  const about: AboutStrip = { mac, records: [], offline: false, bare: null };
  if (Array.isArray(value)) {
    const measured = !value.some(isRecord);
    return {
      ...about,
      records: only(value),
      bare: readSet(value, { key: '[]', record: {}, trust: 'outlets', measured }),
    };
  }
  if (!isRecord(value)) return about;
  // Beside outlets, a list of users or updates is not about the strip. A list of errors never is.
  const mayBeAny = !tellsOutlets(value);
  const inner = valuesWhere(
    value,
    ({ holds, strips, denied, is }) => holds || strips || (mayBeAny && !denied && !is('error')),
  );
  const lists = inner.filter((each) => Array.isArray(each));
  return { ...about, records: [value, ...only(lists.flat())] };
}

/** Reads one strip from all records about it. Outlets, readings and names count only if the records agree. */
function readStrip(
  { mac, records, offline, bare }: AboutStrip,
  oldKeys: readonly string[],
  at: string,
  notes: Note[],
): Pick<StripAnswer, 'strip' | 'saysOnline'> {
  const note: AddNote = (about, reason, fields) => void notes.push({ mac, about, reason, fields });
  const found = stripFields(records);
  const reachable = reachableByAll(found.fields);
  const available = !offline && reachable !== false;
  const rows = records.length > 1 ? rowSet(records) : null;
  const fields = rows === null ? found.fields : [];
  const unreliable = [...oldKeys];
  for (const { meaning, value, part } of fields) {
    if (part === 'self' && saysUnreliable(meaning, value)) unreliable.push(meaning.key);
  }
  const { load, voltage, signal, units } = settleReadings(unreliable.length > 0 ? [] : fields, note);
  const sets = rows === null ? outletSets(found, load !== null) : [rows.outlets];
  let outlets = settleOutlets(bare === null ? sets : [...sets, bare], note);
  if (unreliable.length > 0) {
    outlets = outlets.map((outlet) => ({ ...outlet, on: null }));
    note('outlets', 'unclear', [...new Set(unreliable)].sort());
  }
  // In a row, `name` may be that of the outlet, but not `strip_name`.
  const isOfStrip = ({ meaning }: Field): boolean => meaning.outletName === Infinity;
  const name = rows === null ? nameOf(fields) : (rows.name ?? nameOf(found.fields.filter(isOfStrip)));
  const strip = { mac, name, available, outlets, load, voltage, signal, units, at };
  return { strip, saysOnline: available && reachable === true };
}

/** The keys that say that strips are old, in the records around the strips and in records such as `meta` inside these. */
function oldKeysAround(wrappers: readonly JsonRecord[]): string[] {
  const inner = wrappers.flatMap((record) => valuesWhere(record, (meaning) => meaning.is('paging')));
  return [...wrappers, ...inner.filter(isRecord)].flatMap((record) => keysWhere(record, saysOld));
}

/** The name of a strip: the one nearest to the top and, among those, under the most preferred key. */
function nameOf(fields: readonly Field[]): string | null {
  const best = new Preferred();
  for (const { meaning, value, part, depth } of fields) {
    if (part === 'self') best.add(depth * 100 + meaning.name, value);
  }
  return best.text;
}

/**
 * Whether a strip can be reached, according to its fields; `null`: unknown. If one of several networks is down, that means nothing while another one
 * is up or has an address.
 */
function reachableByAll(fields: readonly Field[]): boolean | null {
  let isUp = false;
  const down = new Set<JsonRecord>();
  for (const { meaning, value, record, part } of fields) {
    const said = part === 'meter' ? null : reachability(meaning, value, part);
    if (part === 'self' && (said === false || isOfflineError(meaning, value))) return false;
    if (said === false) down.add(record);
    if (said === true) isUp = true;
  }
  if (isUp) return true;
  const isAddress = ({ meaning, value, record, part }: Field): boolean =>
    part === 'network' && meaning.is('ip') && /[1-9]/.test(readText(value) ?? '') && !down.has(record);
  return down.size > 0 && !fields.some(isAddress) ? false : null;
}
