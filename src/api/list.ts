import { looksLikeMac, macKey } from './mac';
import { roleOf } from './names';
import { StripReader } from './strip';
import type { Outlet, Strip } from './types';
import { isRecord, readFlag, readIndex, type JsonRecord } from './values';

/** A wrapper in a wrapper (`data.strips`), and no deeper. */
const DEEPEST = 2;

/** Gathers the strips of a list, in whatever form (see `names`). */
export class ListReader {
  readonly strips: Strip[] = [];
  /** Nothing in it was passed over, and nothing says that there is more. */
  complete = true;
  /** At least one outlet's on/off is known. */
  known = false;
  /** All strips said themselves that they cannot be reached, so that there was nothing to read of their outlets. */
  offline = true;
  readonly #at: string;
  readonly #byMac = new Map<string, Strip>();

  /** `at`: when the answer was read, ISO 8601. */
  constructor(at: string) {
    this.#at = at;
  }

  /** Returns whether the value is a list at all; an empty one is. */
  read(value: unknown, depth = 0): boolean {
    if (Array.isArray(value)) {
      for (const item of value) this.#add(item);
      return true;
    }
    if (!isRecord(value)) return false;
    return this.#readKeyed(value) || this.#readWrapper(value, depth) || this.#readSingle(value);
  }

  /** `{"AABBCCDDEEFF": {…}, …}`. */
  #readKeyed(record: JsonRecord): boolean {
    let any = false;
    for (const key of Object.keys(record)) {
      if (!looksLikeMac(key)) continue;
      const value = record[key];
      if (typeof value !== 'object' || value === null) continue;
      any = true;
      const reader = new StripReader(isRecord(value) ? value : {});
      if (!isRecord(value)) reader.takeOutlets(value);
      this.#keep(reader, reader.mac === '' ? key : reader.mac);
    }
    return any;
  }

  /** `{"strips": […]}` and the like: the most preferred name under which there is a list; an empty one only if there is no other. */
  #readWrapper(record: JsonRecord, depth: number): boolean {
    if (depth >= DEEPEST) return false;
    const names = Object.keys(record)
      .filter((key) => roleOf(key).list >= 0)
      .sort((a, b) => roleOf(a).list - roleOf(b).list);
    let empty = false;
    for (const name of names) {
      const value = record[name];
      // Where maps of strips are sent, an empty one is an empty list, but only under a name that says what it holds.
      if (isRecord(value) && Object.keys(value).length === 0) empty ||= roleOf(name).holds >= 0;
      else if (this.read(value, depth + 1)) empty = true;
      if (this.strips.length > 0 || !this.complete) break;
    }
    if (!empty) return false;
    if (this.#hasMore(record)) this.complete = false;
    return true;
  }

  /** A strip where a list was asked for: as good as it is, but whether it is all nobody can tell. */
  #readSingle(record: JsonRecord): boolean {
    const reader = new StripReader(record);
    if (reader.mac === '') return false;
    this.#keep(reader, reader.mac);
    this.complete = false;
    return true;
  }

  /** Whether a wrapper says that it failed, or that there are more strips than it holds. */
  #hasMore(record: JsonRecord, deeper = true): boolean {
    for (const key of Object.keys(record)) {
      const role = roleOf(key);
      const value = record[key];
      if (role.success >= 0 && readFlag(value) === false) return true;
      if ((role.error >= 0 || role.more >= 0) && isSet(value)) return true;
      if (role.total >= 0 && readIndex(value) > this.strips.length) return true;
      if (deeper && role.paging >= 0 && isRecord(value) && this.#hasMore(value, false)) return true;
    }
    return false;
  }

  #add(item: unknown): void {
    if (isRecord(item)) {
      const reader = new StripReader(item);
      if (reader.mac !== '') this.#keep(reader, reader.mac);
      else this.complete = false;
    } else if (typeof item === 'string' && looksLikeMac(item)) this.#keep(new StripReader({}), item);
    else this.complete = false;
  }

  #keep(reader: StripReader, mac: string): void {
    const strip = reader.strip(mac, this.#at);
    const key = macKey(mac);
    const twin = this.#byMac.get(key);
    if (reader.known) this.known = true;
    if (reader.available) this.offline = false;
    if (twin === undefined) {
      this.#byMac.set(key, strip);
      this.strips.push(strip);
    } else merge(twin, strip);
  }
}

/** A strip that stands in a list twice: what the two say differently of an outlet, neither says for sure. */
function merge(twin: Strip, strip: Strip): void {
  for (const outlet of strip.outlets) {
    const other = twin.outlets.find(({ port }) => port === outlet.port);
    if (other === undefined) twin.outlets.push(outlet);
    else if (other.on !== outlet.on) other.on = null;
  }
  twin.outlets.sort((a: Outlet, b: Outlet) => a.port - b.port);
}

/** Whether a value says something: `next: null`, `error: false` and `errors: []` do not. */
function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== null && value !== undefined && value !== false && value !== '' && value !== 0;
}
