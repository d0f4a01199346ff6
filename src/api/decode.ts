import { ListReader } from './list';
import { sameMac } from './mac';
import { StripReader } from './strip';
import type { Strip, SwitchResult } from './types';
import { isRecord, readIndex, readOn, type JsonRecord } from './values';

/**
 * Reads the service's list of strips (API document, section 4: its shape is not shown). Never throws, whatever the value; what it
 * cannot read is `null` or left out. `at`: when the answer was read, ISO 8601.
 */
export function decodeList(
  body: unknown,
  at: string,
): { strips: Strip[]; complete: boolean; readable: boolean } {
  const reader = new ListReader(at);
  const isList = reader.read(body);
  const { strips } = reader;
  const nothingToRead = strips.length === 0 ? reader.complete : reader.offline;
  return {
    strips,
    complete: isList && reader.complete,
    readable: isList && (reader.known || nothingToRead),
  };
}

/**
 * Reads the service's answer about the strip `mac` (API document, section 4: its shape is not shown). Never throws. An answer
 * about another strip says nothing about this one.
 */
export function decodeStrip(body: unknown, mac: string, at: string): { strip: Strip; readable: boolean } {
  const reader = new StripReader();
  if (isRecord(body) && tells(reader, body, mac)) return told(reader, mac, at);
  const list = new ListReader(at);
  list.read(body);
  const strip = list.strips.find((candidate) => sameMac(candidate.mac, mac));
  if (strip !== undefined) {
    return { strip, readable: !strip.available || strip.outlets.some(({ on }) => on !== null) };
  }
  if (!tells(reader, onlyRecord(body), mac)) reader.read({});
  return told(reader, mac, at);
}

/** Reads a record; whether it says something, and not about another strip. */
function tells(reader: StripReader, record: JsonRecord, mac: string): boolean {
  reader.read(record);
  return reader.telling && !(reader.named && !sameMac(reader.mac, mac));
}

function told(reader: StripReader, mac: string, at: string): { strip: Strip; readable: boolean } {
  const spelled = reader.mac !== '' && sameMac(reader.mac, mac) ? reader.mac : mac;
  return { strip: reader.strip(spelled, at), readable: reader.known || !reader.available };
}

/** The one record of an answer that wraps a single strip in a list, without a MAC to know it by. */
function onlyRecord(body: unknown): JsonRecord {
  let value = body;
  if (isRecord(value)) {
    const lists = Object.values(value).filter((inner) => Array.isArray(inner));
    value = lists.length === 1 ? lists[0] : null;
  }
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : null;
  return isRecord(only) ? only : {};
}

/** What a switch answer said (API document, section 2). */
export interface SwitchSaid {
  /** `null`: no boolean of that name. */
  success: boolean | null;
  /** Entries whose port and outcome can be read. */
  results: SwitchResult[];
  /** There was an array of results at all. */
  listed: boolean;
  /** Some entry says that it failed, with or without a port. */
  failed: boolean;
}

/** Reads a switch answer: a documented shape, so nothing but that. Never throws. */
export function decodeSwitch(body: unknown): SwitchSaid {
  const said: SwitchSaid = { success: null, results: [], listed: false, failed: false };
  if (!isRecord(body)) return said;
  const { success, results } = body;
  if (typeof success === 'boolean') said.success = success;
  if (!Array.isArray(results)) return said;
  said.listed = true;
  for (const entry of results) {
    if (!isRecord(entry) || entry.ok === undefined) continue;
    // "Whether that port was switched": anything but a clear yes is none.
    const ok = readOn(entry.ok) === true;
    if (!ok) said.failed = true;
    const port = readIndex(entry.port);
    if (port >= 1 && port <= 4) said.results.push({ port, ok });
  }
  return said;
}
