import type { Note } from './decode/candidates';
import { createLook, type Look } from './decode/names';
import { readSet, type OutletSet } from './decode/outlets';
import { hintsAtMore } from './decode/paging';
import { findRecords, type FoundRecord } from './decode/records';
import { readStrip, type AboutStrip } from './decode/strip';
import { readDecodedSwitch, type DecodedSwitch } from './decode/switch';
import { macKey } from './mac';
import type { Strip } from './types';
import { isRecord } from '../values';
import { readJson, type JsonRecord } from './decode/values';

export type { Note, DecodedSwitch };

/** What was read from a list of strips. */
export interface DecodedList {
  strips: Strip[];
  /** Nothing hints at strips that are not in it: a strip that is missing is gone. */
  complete: boolean;
  /** At least one outlet's state could be read, or there was plainly nothing to read. */
  readable: boolean;
}

/** What was read from an answer about one strip. */
export interface DecodedStrip {
  strip: Strip;
  readable: boolean;
}

/**
 * Reads the service's list of strips (API document, section 4: its shape is not shown). Never throws, whatever the value; what it
 * cannot read for sure is `null` or left out. `at`: when the answer was read, ISO 8601.
 */
export function decodeList(body: unknown, at: string): DecodedList {
  return listOf(body, at, []);
}

/**
 * Reads the service's answer about the strip `mac` (API document, section 4: its shape is not shown). Never throws. An answer
 * about another strip says nothing about this one.
 */
export function decodeStrip(body: unknown, mac: string, at: string): DecodedStrip {
  return stripOf(body, mac, at, []);
}

/** Reads a switch answer (API document, section 2). Never throws. */
export function decodeSwitch(body: unknown): DecodedSwitch {
  return readDecodedSwitch(body);
}

/**
 * Why `decodeList`, or `decodeStrip` if a MAC is given, leaves values of the same body unknown. Nothing is said of what the body does not
 * mention.
 */
export function explain(body: unknown, mac?: string): Note[] {
  const notes: Note[] = [];
  if (mac === undefined) listOf(body, '', notes);
  else stripOf(body, mac, '', notes);
  return notes;
}

function listOf(body: unknown, at: string, notes: Note[]): DecodedList {
  const look = createLook();
  const found = findRecords(body, look);
  const strips = [...byStrip(found.records).values()].map((about) => readStrip(about, at, look, notes));
  const hints = hintsAtMore(found.wrappers, [found.records.length, strips.length], look);
  if (hints.length > 0) notes.push({ mac: null, about: 'list', reason: 'more', fields: hints });
  if (found.unidentified > 0) notes.push({ mac: null, about: 'list', reason: 'unidentified', fields: [] });
  const complete = found.isList && found.unidentified === 0 && hints.length === 0;
  const isKnown = strips.some(({ outlets }) => outlets.some(({ on }) => on !== null));
  const nothingToRead = strips.length === 0 ? complete : strips.every(({ available }) => !available);
  return { strips, complete, readable: isKnown || nothingToRead };
}

/** What is said about each strip, however its MAC is spelled; of two spellings the first in the alphabet counts. */
function byStrip(found: readonly FoundRecord[]): Map<string, AboutStrip> {
  const strips = new Map<string, AboutStrip>();
  for (const { mac, record, offline } of found) {
    const key = macKey(mac);
    const about = strips.get(key);
    if (about === undefined) strips.set(key, { mac, records: [record], offline });
    else {
      about.records.push(record);
      if (mac < about.mac) about.mac = mac;
      about.offline ||= offline;
    }
  }
  return strips;
}

function stripOf(body: unknown, mac: string, at: string, notes: Note[]): DecodedStrip {
  const look = createLook();
  const { records } = findRecords(body, look);
  const about = byStrip(records).get(macKey(mac));
  // An answer that names strips, but not this one. A mere identifier may be that of something else.
  const isAboutOther = about === undefined && records.some(({ named }) => named);
  if (isAboutOther) notes.push({ mac, about: 'outlets', reason: 'other', fields: [] });
  const unnamed = isAboutOther ? null : readJson(body);
  const strip =
    about === undefined
      ? readStrip(
          { mac, records: recordsIn(unnamed), offline: false },
          at,
          look,
          notes,
          setsIn(unnamed, look),
        )
      : readStrip(about, at, look, notes);
  return { strip, readable: !strip.available || strip.outlets.some(({ on }) => on !== null) };
}

/** The one record of an answer that does not name its strip, also in a list of one. */
function recordsIn(value: unknown): JsonRecord[] {
  const only = (list: unknown[]): JsonRecord[] => (list.length === 1 ? list.filter(isRecord) : []);
  if (Array.isArray(value)) return only(value);
  if (!isRecord(value)) return [];
  const lists = Object.values(value).filter((inner) => Array.isArray(inner));
  return [value, ...(lists.length === 1 ? lists.flatMap(only) : [])];
}

/** Outlets that are the whole answer: `[{port, on}, …]`, `[true, false, …]`. */
function setsIn(value: unknown, look: Look): OutletSet[] {
  const set = Array.isArray(value) ? readSet('[]', value, look, 'outlets', !value.some(isRecord)) : null;
  return set === null ? [] : [set];
}
