import type { StripError } from '../api/errors';
import { macKey } from '../api/mac';
import type { Port, ReadingName, Strip } from '../api/types';
import { PORTS, READINGS } from '../api/types';
import { KnownStrip, sameUnits, tellsReadings, type KnownOutlet } from './known';
import type { Change } from './types';

/** What a change will be once the strip it belongs to has been gone through as a whole. */
type Found = (strip: Strip) => Change;

/**
 * What is known of an account's strips. Order is a sequence number, never time: a read carries the number drawn when it was asked, a
 * switch the one drawn when it was confirmed, and of two the greater number wins. So a read that was asked before a switch
 * was confirmed changes nothing about that switch's outlets, whenever it arrives. Every method that may find something new announces the
 * changes, each of them once, when it is done.
 */
export class State {
  readonly #strips = new Map<string, KnownStrip>();
  #number = 0;
  /** Number of the newest list that was understood as a whole; 0: none yet. */
  #complete = 0;
  #available: boolean | null = null;
  #availableStamp = 0;
  #error: StripError | null = null;
  readonly #announce: (changes: readonly Change[], settled: boolean) => void;
  readonly #isHeard: () => boolean;

  /**
   * `announce` is called after everything that was taken in, with what changed (maybe nothing). `settled`: the strips were known
   * before, so that one that turned up is news to everybody. `isHeard`: whether anybody listens; while nobody does, no strip is copied
   * to be told of.
   */
  constructor(announce: (changes: readonly Change[], settled: boolean) => void, isHeard: () => boolean) {
    this.#announce = announce;
    this.#isHeard = isHeard;
  }

  /** The next sequence number, for a read about to be asked or a switch just confirmed. */
  draw(): number {
    return ++this.#number;
  }

  /** Whether the service answered last time; `null`: it was not asked yet. */
  get available(): boolean | null {
    return this.#available;
  }

  /** Why the account is not available. */
  get error(): StripError | null {
    return this.#error;
  }

  find(mac: string): KnownStrip | undefined {
    return this.#strips.get(macKey(mac));
  }

  all(): IterableIterator<KnownStrip> {
    return this.#strips.values();
  }

  /** Outlets of a strip; where nobody has told, the documented four. */
  ports(key: string): readonly Port[] {
    const known = this.#strips.get(key);
    return known?.outletsTold === true ? known.outlets.map(({ port }) => port) : PORTS;
  }

  /**
   * Takes in a list asked under `number`. What is known better already is put right in `strips` itself, so that whoever asked
   * never sees a switch undone. `asksMore`: a strip will be asked for itself as well, so that only its own answer may say that it
   * is available again (a list may not know).
   */
  list(
    strips: readonly Strip[],
    complete: boolean,
    number: number,
    asksMore: (known: KnownStrip) => boolean,
  ): void {
    const settled = this.#complete > 0;
    const changes: Change[] = [];
    this.#answered(number, changes);
    let seen = 0;
    const inOrder = this.#strips.values();
    for (const strip of strips) {
      // Mostly a list has the same strips in the same order as the last one, and nothing has to be looked up.
      const next = inOrder.next();
      let known = next.value?.mac === strip.mac ? next.value : this.find(strip.mac);
      if (known === undefined) {
        // An older list must not bring back what a newer one no longer has.
        if (number < this.#complete) continue;
        known = this.#add(macKey(strip.mac), strip.mac, strip.at);
      } else if (known.listed === number) {
        putRight(known, strip);
        continue;
      }
      seen++;
      const told = tellsReadings(strip);
      if (known.listed < number) {
        known.listed = number;
        known.readingsUntold = !told;
      }
      const lifts = strip.available && !known.available && known.availableStamp > 0;
      this.#merge(known, strip, number, told, lifts && asksMore(known), changes);
    }
    if (complete && number > this.#complete) {
      this.#complete = number;
      if (seen < this.#strips.size) {
        for (const known of this.#strips.values()) {
          if (known.listed < number) this.#setAvailable(known, false, number, changes);
        }
      }
    }
    this.#announce(changes, settled);
  }

  /** Takes in the answer about one strip, asked under `number`; puts it right as `list` does. */
  strip(strip: Strip, number: number): void {
    const changes: Change[] = [];
    this.#answered(number, changes);
    const known = this.find(strip.mac) ?? this.#add(macKey(strip.mac), strip.mac, strip.at);
    this.#merge(known, strip, number, true, false, changes);
    this.#announce(changes, this.#complete > 0);
  }

  /** The service confirmed that these outlets are `on`. */
  confirm(mac: string, ports: readonly Port[], on: boolean, number: number, at: string): void {
    const changes: Change[] = [];
    this.#answered(number, changes);
    const known = this.find(mac) ?? this.#add(macKey(mac), mac, at);
    const found: Found[] = [];
    this.#judge(known, true, number, found);
    for (const port of ports) {
      const outlet = known.outlet(port) ?? known.addOutlet(port);
      if (outlet.stamp < number) this.#setOutlet(outlet, on, number, found);
    }
    if (known.stamp < number) {
      known.stamp = number;
      known.at = at;
    }
    this.#tell(known, found, changes);
    this.#announce(changes, this.#complete > 0);
  }

  /** A list asked under `number` failed: nothing is available that has not answered since. */
  failed(error: StripError, number: number): void {
    if (number <= this.#availableStamp) return;
    const changes: Change[] = [];
    this.#availableStamp = number;
    this.#error = error;
    if (this.#available !== false) {
      changes.push({ kind: 'account', available: false, error, first: this.#available === null });
      this.#available = false;
    }
    for (const known of this.#strips.values()) this.#setAvailable(known, false, number, changes);
    this.#announce(changes, this.#complete > 0);
  }

  /** The service does not know this strip (any more), as asked under `number`. */
  missing(mac: string, number: number): void {
    const known = this.find(mac);
    if (known === undefined) return;
    const changes: Change[] = [];
    this.#setAvailable(known, false, number, changes);
    this.#announce(changes, this.#complete > 0);
  }

  /** All that is known, told as if it had become known just now. */
  *known(): Generator<Change> {
    if (this.#available !== null) {
      yield { kind: 'account', available: this.#available, error: this.#error, first: true };
    }
    for (const known of this.#strips.values()) {
      const strip = known.frozenCopy();
      yield { kind: 'strip', strip, available: known.available, first: true };
      for (const { port, last } of known.outlets) {
        if (last !== null) yield { kind: 'outlet', strip, port, on: last, previous: null, first: true };
      }
      for (const name of READINGS) {
        const value = known[name].last;
        if (value !== null) yield { kind: 'reading', strip, name, value, previous: null, first: true };
      }
    }
  }

  #answered(number: number, changes: Change[]): void {
    if (number <= this.#availableStamp) return;
    this.#availableStamp = number;
    this.#error = null;
    if (this.#available === true) return;
    changes.push({ kind: 'account', available: true, error: null, first: this.#available === null });
    this.#available = true;
  }

  #add(key: string, mac: string, at: string): KnownStrip {
    const known = new KnownStrip(key, mac, at);
    this.#strips.set(key, known);
    return known;
  }

  #merge(
    known: KnownStrip,
    strip: Strip,
    number: number,
    readings: boolean,
    keepUnavailable: boolean,
    changes: Change[],
  ): void {
    // Made only when something is new.
    let found: Found[] | null = null;
    if (!keepUnavailable && known.availableStamp < number) {
      if (known.available === strip.available && known.availableStamp > 0) known.availableStamp = number;
      else this.#judge(known, strip.available, number, (found ??= []));
    }
    if (strip.outlets.length > 0) known.outletsTold = true;
    for (const told of strip.outlets) {
      const outlet = known.outlet(told.port) ?? known.addOutlet(told.port);
      if (outlet.stamp >= number) {
        if (outlet.now !== null) told.on = outlet.now;
      } else if (told.on === null || told.on === outlet.last) {
        outlet.now = told.on;
        outlet.stamp = number;
      } else this.#setOutlet(outlet, told.on, number, (found ??= []));
    }
    if (readings) {
      found = this.#setReading(known, 'load', strip.load, number, found);
      found = this.#setReading(known, 'voltage', strip.voltage, number, found);
      found = this.#setReading(known, 'signal', strip.signal, number, found);
    }
    if (known.stamp < number) {
      known.stamp = number;
      known.at = strip.at;
      known.mac = strip.mac;
      if (strip.name !== null) known.name = strip.name;
      if (readings && !sameUnits(known.units, strip.units)) known.units = { ...strip.units };
    }
    if (found !== null) this.#tell(known, found, changes);
  }

  #setAvailable(known: KnownStrip, available: boolean, number: number, changes: Change[]): void {
    const found: Found[] = [];
    this.#judge(known, available, number, found);
    this.#tell(known, found, changes);
  }

  #judge(known: KnownStrip, available: boolean, number: number, found: Found[]): void {
    if (known.availableStamp >= number) return;
    const first = known.availableStamp === 0;
    known.availableStamp = number;
    if (known.available === available && !first) return;
    known.available = available;
    found.push((strip) => ({ kind: 'strip', strip, available, first }));
  }

  #setOutlet(outlet: KnownOutlet, on: boolean, number: number, found: Found[]): void {
    const { port, last: previous } = outlet;
    outlet.now = on;
    outlet.last = on;
    outlet.stamp = number;
    if (previous === on) return;
    found.push((strip) => ({ kind: 'outlet', strip, port, on, previous, first: previous === null }));
  }

  #setReading(
    known: KnownStrip,
    name: ReadingName,
    value: number | null,
    number: number,
    found: Found[] | null,
  ): Found[] | null {
    const reading = known[name];
    if (reading.stamp >= number) return found;
    reading.stamp = number;
    reading.now = value;
    const previous = reading.last;
    if (value === null || value === previous) return found;
    reading.last = value;
    const all = found ?? [];
    all.push((strip) => ({ kind: 'reading', strip, name, value, previous, first: previous === null }));
    return all;
  }

  /** One copy of the strip for all that changed about it, made when it is complete. */
  #tell(known: KnownStrip, found: readonly Found[], changes: Change[]): void {
    if (found.length === 0 || !this.#isHeard()) return;
    const strip = known.frozenCopy();
    for (const change of found) changes.push(change(strip));
  }
}

/** The same strip once more in one list, spelled in another way: it says nothing that is not known better. */
function putRight(known: KnownStrip, strip: Strip): void {
  for (const told of strip.outlets) told.on = known.outlet(told.port)?.now ?? told.on;
}
