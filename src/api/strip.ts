import { looksLikeMac } from './mac';
import { Roles, type Role } from './names';
import { anyKnown, orElse, outletsOf, type Found } from './found';
import { Keyed, OutletsReader } from './outlets';
import type { ReadingName, Strip } from './types';
import { isRecord, readFlag, readMeasured, readText, readUnit, type JsonRecord } from './values';

/** Words for a strip's connection that leave no doubt. Anything else in their place may be about something else. */
const OFFLINE: ReadonlySet<string> = new Set(['offline', 'disconnected', 'unreachable', 'unavailable']);

// Places in the order of preference; a name one record deeper comes after every name above it.
const UNSAID = 1_000;
const DEEPER = 100;
const IDENTIFIER = 50;
const FLAT = 50;
const BARE = 60;

/** A wrapper, a strip, a part of it: nothing is looked for further down. */
const DEEPEST = 2;
const ROLES = [new Roles(), new Roles(), new Roles()] as const;

/** Reads strips from records of whatever form (see `names`), one after the other: what it says is of the last one. */
export class StripReader {
  /** As the service spelled it; empty where it named none. */
  mac = '';
  available = true;
  /** It said something about a strip, whichever. */
  telling = false;
  private name: string | null = null;
  private load: number | null = null;
  private voltage: number | null = null;
  private signal: number | null = null;
  /** As they came with the values, and under names of their own. */
  private units: Strip['units'] = {};
  private unitsApart: Strip['units'] | null = null;
  private outlets: Found = 0;
  private macRank = UNSAID;
  private nameRank = UNSAID;
  private loadRank = UNSAID;
  private voltageRank = UNSAID;
  private signalRank = UNSAID;
  private outletRank = UNSAID;
  private readonly reader = new OutletsReader();

  read(record: JsonRecord): void {
    this.mac = '';
    this.available = true;
    this.telling = false;
    this.name = this.load = this.voltage = this.signal = null;
    this.units = {};
    this.unitsApart = null;
    this.outlets = 0;
    this.macRank = this.nameRank = this.outletRank = UNSAID;
    this.loadRank = this.voltageRank = this.signalRank = UNSAID;
    this.visit(record, 0);
  }

  /** It was called a MAC; a mere identifier may be that of something else, even if it looks like one. */
  get named(): boolean {
    return this.mac !== '' && this.macRank % DEEPER < IDENTIFIER;
  }

  /** At least one outlet's on/off is known. */
  get known(): boolean {
    return anyKnown(this.outlets);
  }

  /** A fresh strip. `at`: when the answer was read, ISO 8601. */
  strip(mac: string, at: string): Strip {
    return {
      mac,
      name: this.name,
      available: this.available,
      outlets: outletsOf(this.outlets),
      load: this.load,
      voltage: this.voltage,
      signal: this.signal,
      units: this.unitsApart === null ? this.units : { ...this.unitsApart, ...this.units },
      at,
    };
  }

  /** Takes the outlets of a record that is nothing but them, under a key that names the strip. */
  takeOutlets(value: unknown): void {
    this.addOutlets(0, this.reader.read(value));
  }

  private visit(record: JsonRecord, depth: number): void {
    const below = depth * DEEPER;
    let flat: Keyed | null = null;
    let bare: Keyed | null = null;
    const roles = ROLES[depth] ?? ROLES[0];
    let place = 0;
    for (const key in record) {
      const role = roles.at(place++, key);
      const value = record[key];
      if (role.mac >= 0) this.readMac(below + role.mac, value);
      else if (role.name >= 0) this.readName(below + role.name, value);
      else if (role.outlets >= 0) this.addOutlets(below + role.outlets, this.reader.read(value));
      else if (role.load >= 0) this.readLoad(below + role.load, value);
      else if (role.voltage >= 0) this.readVoltage(below + role.voltage, value);
      else if (role.signal >= 0) this.readSignal(below + role.signal, value);
      else if (role.flat >= 0) (flat ??= new Keyed(this.reader)).add(role.flat, value);
      else if (role.numbered >= 0) (bare ??= new Keyed(this.reader)).add(role.numbered, value);
      else this.readOther(role, below, value, depth);
    }
    if (flat !== null) this.addOutlets(below + FLAT, flat.set());
    if (bare !== null) this.addOutlets(below + BARE, bare.exactSet());
  }

  /** What most records do not have, so that the others need not be asked for it. */
  private readOther(role: Role, below: number, value: unknown, depth: number): void {
    if (role.id >= 0) {
      if (typeof value === 'string' && looksLikeMac(value)) this.readMac(below + IDENTIFIER + role.id, value);
    } else if (role.available >= 0) this.readAvailable(readFlag(value) === false);
    else if (role.offline >= 0) this.readAvailable(readFlag(value) === true);
    else if (role.loadunit >= 0) this.readUnit('load', value);
    else if (role.voltageunit >= 0) this.readUnit('voltage', value);
    else if (role.signalunit >= 0) this.readUnit('signal', value);
    else if (role.part >= 0) {
      if (depth < DEEPEST && isRecord(value)) this.visit(value, depth + 1);
      else if (role.connection >= 0) this.readAvailable(isOffline(value));
    }
  }

  private readMac(rank: number, value: unknown): void {
    if (rank >= this.macRank || typeof value !== 'string' || value.trim() === '') return;
    this.macRank = rank;
    this.mac = value;
    this.telling = true;
  }

  private readName(rank: number, value: unknown): void {
    if (rank >= this.nameRank) return;
    const name = readText(value);
    if (name === null) return;
    this.nameRank = rank;
    this.name = name;
  }

  private readAvailable(isOffline: boolean): void {
    if (!isOffline) return;
    this.available = false;
    this.telling = true;
  }

  private readLoad(rank: number, value: unknown): void {
    if (rank >= this.loadRank) return;
    const number = this.measure('load', value);
    if (number === null) return;
    this.loadRank = rank;
    this.load = number;
  }

  private readVoltage(rank: number, value: unknown): void {
    if (rank >= this.voltageRank) return;
    const number = this.measure('voltage', value);
    if (number === null) return;
    this.voltageRank = rank;
    this.voltage = number;
  }

  private readSignal(rank: number, value: unknown): void {
    if (rank >= this.signalRank) return;
    const number = this.measure('signal', value);
    if (number === null) return;
    this.signalRank = rank;
    this.signal = number;
  }

  private measure(name: ReadingName, value: unknown): number | null {
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) return null;
      this.telling = true;
      this.setUnit(name, null);
      return value;
    }
    const measured = readMeasured(value);
    if (measured === null) return null;
    this.setUnit(name, measured.unit);
    this.telling = true;
    return measured.value;
  }

  /** The unit that came with a value. That of another value, which gave way to this one, says nothing about this one. */
  private setUnit(name: ReadingName, unit: string | null): void {
    if (unit !== null) this.units[name] = unit;
    else if (this.units[name] !== undefined) Reflect.deleteProperty(this.units, name);
  }

  /** A unit under a name of its own, for a value that came without one. */
  private readUnit(name: ReadingName, value: unknown): void {
    const unit = readUnit(value);
    if (unit !== null) (this.unitsApart ??= {})[name] ??= unit;
  }

  private addOutlets(rank: number, outlets: Found): void {
    if (outlets === 0) return;
    this.outlets = rank < this.outletRank ? orElse(outlets, this.outlets) : orElse(this.outlets, outlets);
    this.outletRank = Math.min(rank, this.outletRank);
    this.telling = true;
  }
}

function isOffline(value: unknown): boolean {
  return typeof value === 'string' && value.length < 16 && OFFLINE.has(value.trim().toLowerCase());
}
