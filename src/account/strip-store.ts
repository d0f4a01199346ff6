import type { Clock } from '../api/clock';
import type { StripError } from '../api/errors';
import { macKey } from '../api/mac';
import { PORTS, READINGS, type Port, type PortOrAll, type ReadingName, type Strip } from '../api/types';
import type { AccountSettings, Change } from './types';

/** After so many milliseconds out of the list a strip is forgotten. */
const FORGET_AFTER = 24 * 3_600_000;

/** What has a version of its own. */
type Field = 'available' | 'description' | 'at' | ReadingName | Port;

/** What an answer tells of a strip: only its description, or readings, may be missing. */
type Told = Pick<Strip, 'available' | 'outlets' | 'at'> &
  Partial<Pick<Strip, 'mac' | 'name' | 'units' | ReadingName>>;

/** One strip as the account knows it. */
interface StripState {
  /** As known now. Never changed, but replaced. */
  strip: Readonly<Strip>;
  /** Of the newest answer that told each field. */
  readonly versions: Map<Field, number>;
  /** The last values that were not unknown. */
  readonly lastOn: Map<Port, boolean>;
  readonly lastReading: Map<ReadingName, number>;
  /** Some answer told its outlets, so that there are no others. */
  outletsTold: boolean;
  /** Of the newest list it was in. */
  listVersion: number;
  /** That list told none of its readings. */
  readingsUntold: boolean;
  /** Monotonic time when it left the list. */
  leftAt: number | null;
}

/**
 * What is known of an account's strips. Order is a version number, never time: a read carries the number taken when it was asked, a switch the one
 * taken when it was confirmed, and the greater number wins. So a read that was asked before a switch was confirmed changes nothing about that
 * switch's outlets, whenever it arrives. The names and units of the user's are put in here.
 */
export class StripStore {
  /** By MAC key. */
  readonly #strips = new Map<string, StripState>();
  /** Names that the user gave, by MAC key and port. */
  readonly #outletNames: ReadonlyMap<string, string>;
  readonly #units: Strip['units'];
  #version = 0;
  /** Of the newest list, and of the newest that was understood as a whole; 0: none yet. */
  #listVersion = 0;
  #completeVersion = 0;
  #availableVersion = 0;
  /** What the answer that is being taken in has changed. */
  #changes: Change[] = [];
  /** Whether the service answered last time; `null`: it was not asked yet. */
  available: boolean | null = null;
  /** Why the account is not available. */
  error: StripError | null = null;

  /** `announce` is called after every answer, with what changed (maybe nothing). `settled`: so a strip that turns up is news to everybody. */
  constructor(
    private readonly clock: Clock,
    settings: Pick<AccountSettings, 'outletNames' | 'units'>,
    private readonly announce: (changes: readonly Change[], settled: boolean) => void,
  ) {
    this.#outletNames = new Map(
      settings.outletNames.map(({ mac, port, name }) => [`${macKey(mac)}/${port}`, name]),
    );
    this.#units = Object.fromEntries(Object.entries(settings.units).filter(([, unit]) => unit !== ''));
  }

  /** The number of a read that is about to be asked. */
  nextVersion(): number {
    return ++this.#version;
  }

  /** A list was understood as a whole. */
  get isComplete(): boolean {
    return this.#completeVersion > 0;
  }

  /** Copies of all strips, in the order they became known. */
  all(): Strip[] {
    return Array.from(this.#strips.values(), ({ strip }) => copyOf(strip));
  }

  /** A copy. */
  find(mac: string): Strip | undefined {
    const state = this.#find(mac);
    return state && copyOf(state.strip);
  }

  /** As the service spells it, once that is known. */
  spelling(mac: string): string {
    return this.#find(mac)?.strip.mac ?? mac;
  }

  names(mac: string, port: PortOrAll | null): { name: string | null; outlet: string | null } {
    const strip = this.#find(mac)?.strip;
    const outlet = strip?.outlets.find((each) => each.port === port)?.name;
    return {
      name: strip?.name ?? null,
      outlet: outlet ?? this.#outletNames.get(`${macKey(mac)}/${port}`) ?? null,
    };
  }

  /** Outlets of a strip; where no answer has told, the documented four. */
  ports(mac: string): readonly Port[] {
    const state = this.#find(mac);
    return state?.outletsTold === true ? state.strip.outlets.map(({ port }) => port) : PORTS;
  }

  /** The last known state of an outlet; of all: whether any is on, `null` where that is not known. */
  lastKnown(mac: string, port: PortOrAll): boolean | null {
    const state = this.#find(mac);
    if (state === undefined) return null;
    if (port !== 'all') return state.lastOn.get(port) ?? null;
    const states = this.ports(mac).map((each) => state.lastOn.get(each));
    if (states.includes(true)) return true;
    return state.outletsTold && !states.includes(undefined) ? false : null;
  }

  /** MACs of strips in the newest list that told none of their readings. */
  withoutReadings(): string[] {
    return [...this.#strips.values()]
      .filter(({ listVersion, readingsUntold }) => listVersion === this.#listVersion && readingsUntold)
      .map(({ strip }) => strip.mac);
  }

  /** Whether the newest list has no such strip, or the strip is known to have no such outlet. */
  lacks(mac: string, port: Port): boolean {
    return this.#find(mac)?.listVersion !== this.#listVersion || !this.ports(mac).includes(port);
  }

  /**
   * Takes in a list asked as `version`. Where something is known better already, or the user named it, `strips` themselves are corrected, so that
   * whoever asked never sees a switch undone. `asksMore`: a strip will be asked for itself as well, so only its own answer may say that
   * it is available again (a list may not know).
   */
  list(
    strips: readonly Strip[],
    complete: boolean,
    version: number,
    asksMore: (mac: string) => boolean,
  ): void {
    const settled = this.isComplete;
    this.#setAvailable(true, null, version);
    this.#listVersion = Math.max(this.#listVersion, version);
    for (const strip of strips) {
      // An older list must not bring back what a newer one no longer has.
      if (this.#find(strip.mac) === undefined && version < this.#completeVersion) continue;
      const state = this.#findOrAdd(strip);
      if (state.listVersion < version) {
        state.listVersion = version;
        state.readingsUntold = READINGS.every((name) => strip[name] === null);
        const comesBack = strip.available && !state.strip.available && state.versions.has('available');
        const unsure: Field[] = state.readingsUntold ? [...READINGS] : [];
        if (comesBack && state.readingsUntold && asksMore(strip.mac)) unsure.push('available');
        this.#take(state, strip, version, unsure);
      }
      this.#correct(strip, state);
    }
    if (complete && version > this.#completeVersion) {
      this.#completeVersion = version;
      for (const state of this.#strips.values()) {
        if (state.listVersion < version) this.#leaveList(state, version);
      }
    }
    this.#tell(settled);
  }

  /** Takes in the answer about one strip, asked as `version`; corrects it as `list` does. */
  strip(strip: Strip, version: number): void {
    this.#setAvailable(true, null, version);
    const state = this.#findOrAdd(strip);
    this.#take(state, strip, version);
    this.#correct(strip, state);
    this.#tell();
  }

  /** The service confirmed just now that these outlets are `on`. */
  confirm(mac: string, ports: readonly Port[], on: boolean, at: string): void {
    const version = this.nextVersion();
    this.#setAvailable(true, null, version);
    const outlets = ports.map((port) => ({ port, on, name: null }));
    this.#take(this.#findOrAdd({ mac, at }), { available: true, outlets, at }, version);
    this.#tell();
  }

  /** A list asked as `version` failed: nothing is available that has not answered since. */
  failed(error: StripError, version: number): void {
    if (!this.#setAvailable(false, error, version)) return;
    for (const state of this.#strips.values()) this.#markUnavailable(state, version);
    this.#tell();
  }

  /** The service does not know this strip (any more), as asked as `version`. */
  missing(mac: string, version: number): void {
    const state = this.#find(mac);
    if (state === undefined) return;
    this.#markUnavailable(state, version);
    this.#tell();
  }

  /** All that is known, told as if it had become known just now. */
  *known(): Generator<Change> {
    const { available, error } = this;
    if (available !== null) yield { kind: 'account', available, error, first: true };
    for (const { strip, lastOn, lastReading } of this.#strips.values()) {
      yield { kind: 'strip', strip, available: strip.available, first: true };
      for (const { port, on } of strip.outlets) {
        if (lastOn.has(port)) yield { kind: 'outlet', strip, port, on, previous: null, first: true };
      }
      for (const name of lastReading.keys()) {
        yield { kind: 'reading', strip, name, value: strip[name], previous: null, first: true };
      }
    }
  }

  #find(mac: string): StripState | undefined {
    return this.#strips.get(macKey(mac));
  }

  #findOrAdd({ mac, at }: Pick<Strip, 'mac' | 'at'>): StripState {
    const known = this.#find(mac);
    if (known !== undefined) return known;
    const readings = { load: null, voltage: null, signal: null };
    const state: StripState = {
      strip: { mac, name: null, available: false, outlets: [], ...readings, units: this.#units, at },
      versions: new Map(),
      lastOn: new Map(),
      lastReading: new Map(),
      outletsTold: false,
      listVersion: 0,
      readingsUntold: false,
      leftAt: null,
    };
    this.#strips.set(macKey(mac), state);
    return state;
  }

  /** Whether the service answers, as far as nothing newer is known. Returns whether that is so. */
  #setAvailable(available: boolean, error: StripError | null, version: number): boolean {
    if (version <= this.#availableVersion) return false;
    this.#availableVersion = version;
    this.error = error;
    if (available !== this.available) {
      this.#changes.push({ kind: 'account', available, error, first: this.available === null });
    }
    this.available = available;
    return true;
  }

  #tell(settled = this.isComplete): void {
    const changes = this.#changes;
    this.#changes = [];
    this.announce(changes, settled);
  }

  /** Takes in what an answer tells of a strip, as far as nothing newer is known. `unsure`: what it does not say for sure. */
  #take(state: StripState, told: Told, version: number, unsure: readonly Field[] = []): void {
    const { versions, lastOn, lastReading } = state;
    const { mac, available } = told;
    const isNew = !versions.has('available');
    const strip: Strip = { ...state.strip, outlets: [...state.strip.outlets] };
    const key = macKey(strip.mac);
    let isDescribedAnew = false;
    const isNewer = (field: Field): boolean => {
      if (unsure.includes(field) || (versions.get(field) ?? 0) >= version) return false;
      versions.set(field, version);
      return true;
    };
    const isNewDescription = mac !== undefined && isNewer('description');
    state.leftAt = null;
    if (isNewer('available') && (isNew || available !== strip.available)) {
      strip.available = available;
      this.#changes.push({ kind: 'strip', strip, available, first: isNew });
    }
    state.outletsTold ||= mac !== undefined && told.outlets.length > 0;
    for (const { port, on, name } of told.outlets) {
      const given = this.#outletNames.get(`${key}/${port}`);
      const index = strip.outlets.findIndex((each) => each.port === port);
      const known = strip.outlets[index];
      const outlet = { port, on: known?.on ?? null, name: known?.name ?? given ?? null };
      if (known === undefined) {
        strip.outlets = [...strip.outlets, outlet].sort((a, b) => a.port - b.port);
        isDescribedAnew = true;
      } else strip.outlets[index] = outlet;
      if (isNewDescription && given === undefined && name !== null && name !== outlet.name) {
        outlet.name = name;
        isDescribedAnew = true;
      }
      if (!isNewer(port) || on === outlet.on) continue;
      outlet.on = on;
      const previous = lastOn.get(port) ?? null;
      if (on !== null) lastOn.set(port, on);
      this.#changes.push({ kind: 'outlet', strip, port, on, previous, first: previous === null });
    }
    for (const name of READINGS) {
      const value = told[name];
      if (value === undefined || !isNewer(name) || value === strip[name]) continue;
      strip[name] = value;
      const previous = lastReading.get(name) ?? null;
      if (value !== null) lastReading.set(name, value);
      this.#changes.push({ kind: 'reading', strip, name, value, previous, first: previous === null });
    }
    if (isNewer('at')) strip.at = told.at;
    if (isNewDescription) {
      const units = { ...strip.units, ...told.units };
      const name = told.name ?? strip.name;
      isDescribedAnew ||= name !== strip.name || READINGS.some((each) => units[each] !== strip.units[each]);
      Object.assign(strip, { mac, name, units });
    }
    if (isDescribedAnew && !isNew) this.#changes.push({ kind: 'description', strip });
    state.strip = freeze(strip);
  }

  #markUnavailable(state: StripState, version: number): void {
    const { versions } = state;
    if ((versions.get('available') ?? 0) >= version) return;
    const first = !versions.has('available');
    versions.set('available', version);
    if (!first && !state.strip.available) return;
    state.strip = Object.freeze({ ...state.strip, available: false });
    this.#changes.push({ kind: 'strip', strip: state.strip, available: false, first });
  }

  #leaveList(state: StripState, version: number): void {
    this.#markUnavailable(state, version);
    const now = this.clock.monotonic();
    state.leftAt ??= now;
    if (now - state.leftAt < FORGET_AFTER) return;
    this.#strips.delete(macKey(state.strip.mac));
    this.#changes.push({ kind: 'removed', strip: state.strip });
  }

  /** Puts into an answer what is known better than it says. */
  #correct(answer: Strip, { strip }: StripState): void {
    for (const told of answer.outlets) {
      const outlet = strip.outlets.find(({ port }) => port === told.port);
      told.on = outlet?.on ?? told.on;
      told.name = outlet?.name ?? null;
    }
    answer.name ??= strip.name;
    answer.units = { ...strip.units, ...answer.units };
  }
}

function copyOf(strip: Readonly<Strip>): Strip {
  return { ...strip, outlets: strip.outlets.map((outlet) => ({ ...outlet })), units: { ...strip.units } };
}

/** Frozen, because many subscribers get the same object. */
function freeze(strip: Strip): Readonly<Strip> {
  for (const outlet of strip.outlets) Object.freeze(outlet);
  Object.freeze(strip.outlets);
  Object.freeze(strip.units);
  return Object.freeze(strip);
}
