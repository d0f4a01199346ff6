import { looksLikeMac } from './mac';
import { roleOf } from './names';
import { StripReader } from './strip';
import type { Strip } from './types';
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
  private readonly at: string;
  private readonly reader = new StripReader();
  /** Made only when they are needed: at a second strip, at one that is met for the second time. */
  private seen: Set<string> | null = null;
  private byMac: Map<string, Strip> | null = null;

  /** `at`: when the answer was read, ISO 8601. */
  constructor(at: string) {
    this.at = at;
  }

  /** Returns whether the value is a list at all; an empty one is. */
  read(value: unknown, depth = 0): boolean {
    if (Array.isArray(value)) {
      for (const item of value) this.add(item);
      return true;
    }
    if (!isRecord(value)) return false;
    return this.readKeyed(value) || this.readWrapper(value, depth) || this.readSingle(value);
  }

  /** `{"AABBCCDDEEFF": {…}, …}`. */
  private readKeyed(record: JsonRecord): boolean {
    const reader = this.reader;
    let any = false;
    for (const key in record) {
      if (!looksLikeMac(key)) continue;
      const value = record[key];
      if (typeof value !== 'object' || value === null) continue;
      any = true;
      reader.read(isRecord(value) ? value : {});
      if (!isRecord(value)) reader.takeOutlets(value);
      this.keep(reader.mac === '' ? key : reader.mac);
    }
    return any;
  }

  /** `{"strips": […]}` and the like: the most preferred name under which there is a list; an empty one only if there is no other. */
  private readWrapper(record: JsonRecord, depth: number): boolean {
    if (depth >= DEEPEST) return false;
    let isList = false;
    let name = nextName(record, -1);
    while (name !== null && this.strips.length === 0 && this.complete) {
      const value = record[name];
      // Where maps of strips are sent, an empty one is an empty list, but only under a name that says what it holds.
      if (isRecord(value) && Object.keys(value).length === 0) isList ||= roleOf(name).holds >= 0;
      else if (this.read(value, depth + 1)) isList = true;
      name = nextName(record, roleOf(name).list);
    }
    if (isList && this.hasMore(record)) this.complete = false;
    return isList;
  }

  /** A strip where a list was asked for: as good as it is, but whether it is all nobody can tell. */
  private readSingle(record: JsonRecord): boolean {
    this.reader.read(record);
    if (this.reader.mac === '') return false;
    this.keep(this.reader.mac);
    this.complete = false;
    return true;
  }

  /** Whether a wrapper says that it failed, or that there are more strips than it holds. */
  private hasMore(record: JsonRecord, deeper = true): boolean {
    for (const key in record) {
      const role = roleOf(key);
      const value = record[key];
      if (role.success >= 0 && readFlag(value) === false) return true;
      if ((role.error >= 0 || role.more >= 0) && isSet(value)) return true;
      if (role.total >= 0 && readIndex(value) > this.strips.length) return true;
      if (deeper && role.paging >= 0 && isRecord(value) && this.hasMore(value, false)) return true;
    }
    return false;
  }

  private add(item: unknown): void {
    const isMac = typeof item === 'string' && looksLikeMac(item);
    this.reader.read(isRecord(item) ? item : {});
    const mac = isMac ? item : this.reader.mac;
    if (mac === '') this.complete = false;
    else this.keep(mac);
  }

  /** Takes up the strip that was just read. */
  private keep(mac: string): void {
    const reader = this.reader;
    const strip = reader.strip(mac, this.at);
    if (reader.known) this.known = true;
    if (reader.available) this.offline = false;
    if (this.isNew(mac)) {
      this.strips.push(strip);
      this.byMac?.set(mac, strip);
    } else this.merge(strip);
  }

  private isNew(mac: string): boolean {
    const [first] = this.strips;
    if (first === undefined) return true;
    this.seen ??= new Set([first.mac]);
    const before = this.seen.size;
    return this.seen.add(mac).size > before;
  }

  /** A strip that stands in a list twice: what the two say differently of an outlet, neither says for sure. */
  private merge(strip: Strip): void {
    this.byMac ??= new Map(this.strips.map((known) => [known.mac, known]));
    const twin = this.byMac.get(strip.mac);
    if (twin === undefined) return;
    for (const outlet of strip.outlets) {
      const other = twin.outlets.find(({ port }) => port === outlet.port);
      if (other === undefined) twin.outlets.push(outlet);
      else if (other.on !== outlet.on) other.on = null;
    }
    twin.outlets.sort((a, b) => a.port - b.port);
  }
}

/** The most preferred name of a list that comes after the one of that rank; `null`: no more. */
function nextName(record: JsonRecord, after: number): string | null {
  let next: string | null = null;
  let best = Infinity;
  for (const key in record) {
    const rank = roleOf(key).list;
    if (rank <= after || rank >= best) continue;
    best = rank;
    next = key;
  }
  return next;
}

/** Whether a value says something: `next: null`, `error: false` and `errors: []` do not. */
function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== null && value !== undefined && value !== false && value !== '' && value !== 0;
}
