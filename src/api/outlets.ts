import { found, isExact, numbered, type Found } from './found';
import { Roles } from './names';
import { OutletReader } from './outlet';
import { isMeasure, isRecord, readOn, readWord, type JsonRecord } from './values';

const ROLES = new Roles();

/** Reads sets of outlets in any of their forms: records, booleans in order, or an object keyed by port. */
export class OutletsReader {
  private readonly outlet = new OutletReader();

  /** With our numbers; 0 where there are none. */
  read(value: unknown): Found {
    if (Array.isArray(value)) {
      return isRecord(value[0]) || value.some(isRecord) ? this.ofRecords(value) : ofSequence(value);
    }
    return isRecord(value) ? this.ofKeys(value) : 0;
  }

  /** On/off of a record that is about one outlet. */
  onOf(record: JsonRecord): boolean | null {
    this.outlet.read(record);
    return this.outlet.on;
  }

  /** `[{port: 1, on: true}, …]`. */
  private ofRecords(records: readonly unknown[]): Found {
    const { outlet } = this;
    let ports = 0;
    let ids = 0;
    let indexes = 0;
    let order = 0;
    let named = false;
    for (let i = 0; i < records.length; i++) {
      const record = records[i];
      if (!isRecord(record)) continue;
      outlet.read(record);
      if (outlet.port >= 0) ports |= found(outlet.port, outlet.on);
      if (outlet.id >= 0) ids |= found(outlet.id, outlet.on);
      if (outlet.index >= 0) indexes |= found(outlet.index, outlet.on);
      named ||= outlet.named;
      order |= found(i + 1, outlet.on);
    }
    if (ports !== 0) return numbered(ports);
    if (isExact(ids, records.length)) return numbered(ids);
    if (isExact(indexes, records.length)) return numbered(indexes);
    // Four outlets that bear no number of any kind can only be told by their order.
    return !named && isExact(order, records.length) ? order : 0;
  }

  /** `{"1": true, "port2": "off", "outlet_3": {on: true}}`, or records with ports of their own under names of any kind. */
  private ofKeys(record: JsonRecord): Found {
    const keyed = new Keyed(this);
    let ports = 0;
    let place = 0;
    for (const key in record) {
      const value = record[key];
      const number = ROLES.at(place++, key).numbered;
      if (number >= 0) keyed.add(number, value);
      if (!isRecord(value)) continue;
      this.outlet.read(value);
      if (this.outlet.port >= 0) ports |= found(this.outlet.port, this.outlet.on);
    }
    return ports === 0 ? keyed.set() : numbered(ports);
  }
}

/** Outlets that the keys of a record name. */
export class Keyed {
  private any: Found = 0;
  private words: Found = 0;
  private measures = false;
  private count = 0;

  constructor(private readonly reader: OutletsReader) {}

  /** `number` as the service counts. */
  add(number: number, value: unknown): void {
    this.count++;
    const word = readWord(value);
    if (word !== null) this.both(found(number, word));
    else if (isRecord(value)) this.both(found(number, this.reader.onOf(value)));
    else {
      this.measures ||= isMeasure(value);
      this.any |= found(number, readOn(value));
      this.words |= found(number, null);
    }
  }

  /** With our numbers. Where some of the values measure something, a 0 or 1 among them may do so, too. */
  set(): Found {
    return numbered(this.measures ? this.words : this.any);
  }

  /** The same, but nothing unless there are four and their numbers leave no doubt. */
  exactSet(): Found {
    return isExact(this.any, this.count) ? this.set() : 0;
  }

  private both(one: Found): void {
    this.any |= one;
    this.words |= one;
  }
}

/** `[true, false, …]`: by order, and only where there are no more than a strip has outlets. */
function ofSequence(values: readonly unknown[]): Found {
  if (values.length > 4) return 0;
  let set = 0;
  let numbers = false;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value === 'boolean') {
      set |= found(i + 1, value);
      continue;
    }
    if (isMeasure(value)) return 0;
    numbers ||= typeof value === 'number' || value === '0' || value === '1';
    set |= found(i + 1, readOn(value));
  }
  // A shorter row of numbers may as well list which outlets there are.
  return numbers && values.length < 4 ? 0 : set;
}
