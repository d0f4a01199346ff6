import { isOutage, type StripError } from '../api/errors';
import { macKey, PORTS, READINGS, type OutletId } from '../api/types';
import type { ListAnswer, Outlet, Port, PortOrAll, ReadingName, Strip, StripAnswer } from '../api/types';
import type { AccountOptions, AccountStatus, Change } from './types';

/** A strip that has been missing from complete lists for this many milliseconds is forgotten. */
export const FORGET_AFTER = 24 * 3_600_000;
/** If more strips than this are known, the oldest of those that are missing from the newest list are forgotten at once. This bounds memory. */
const MAX_STRIPS = 20_000;

/** Each of these fields has its own version. */
type VersionedField = 'available' | 'description' | 'at' | ReadingName | Port;

/** The part of the store that users of the account see. */
export type ReadonlyStripStore = Pick<StripStore, 'all' | 'find' | 'spelling' | 'names' | 'lastState'>;

/** Names that the user gave the outlets of one strip. */
type OutletNames = ReadonlyMap<PortOrAll | null, string>;

/** A strip, and the readings that are missing from the newest list. */
export type UnlistedReadings = Readonly<Pick<StripState, 'strip' | 'unlisted' | 'isOfflineByAnswer'>>;

/** One strip as the account knows it. */
class StripState {
  /** As known now. Replaced on each change. */
  strip: Strip;
  /** The last known values; they stay when a value becomes unknown. */
  readonly lastOn = new Map<Port, boolean>();
  readonly lastReading = new Map<ReadingName, number>();
  /** An answer listed its outlets, so the strip has these and not the assumed four. */
  areOutletsKnown = false;
  /** Version of the newest list that has this strip; 0: none. */
  listVersion = 0;
  /** Readings of this strip that are missing from that list. */
  unlisted: readonly ReadingName[] = [];
  /** The newest list calls it offline. */
  isOfflineByList = false;
  /** Its own latest answer says that it cannot be reached, or that there is no such strip. */
  isOfflineByAnswer = false;
  /** Monotonic time when it was first missing from a complete list; `null`: it is not missing. */
  leftAt: number | null = null;
  /** Version of the newest answer about each field. Empty until the first answer about this strip. */
  readonly #versions = new Map<VersionedField, number>();

  /** `givenUnits`, `givenNames`: what the user gave for its readings and its outlets. `isNew`: it appears after a complete list that did not have it. */
  constructor(
    mac: string,
    at: string,
    private readonly givenUnits: Strip['units'],
    private readonly givenNames: OutletNames,
    private readonly isNew: boolean,
  ) {
    const readings = { load: null, voltage: null, signal: null };
    this.strip = { mac, name: null, available: false, outlets: [], ...readings, units: givenUnits, at };
  }

  /** Whether an answer with this version is newer than all that is known about a field. */
  isNewer(field: VersionedField, version: number): boolean {
    return (this.#versions.get(field) ?? 0) < version;
  }

  /**
   * Takes in an answer and returns the changes. Leaves out the fields of which something newer is known, and the fields in `unsure`, for which the
   * answer cannot be relied on. `update` has a MAC only if it was read from the service, which is not so for a confirmed switch or a change of
   * availability.
   */
  take(update: Partial<Strip>, version: number, unsure: readonly VersionedField[] = []): Change[] {
    const known = this.strip;
    const isFirst = this.#versions.size === 0;
    /** Whether this is the newest answer about a field. If so, its version is kept, and older answers are not accepted any more. */
    const accept = (field: VersionedField): boolean => {
      if (unsure.includes(field) || !this.isNewer(field, version)) return false;
      this.#versions.set(field, version);
      return true;
    };
    const newest = <Field extends 'available' | 'at' | ReadingName>(field: Field): Strip[Field] => {
      const value = update[field];
      return value !== undefined && accept(field) ? value : known[field];
    };
    const description = update.mac !== undefined && accept('description') ? update : null;
    return this.#replace(isFirst, {
      mac: description?.mac ?? known.mac,
      name: description?.name ?? known.name,
      available: newest('available'),
      outlets: this.#outlets(update, description !== null, accept),
      load: newest('load'),
      voltage: newest('voltage'),
      signal: newest('signal'),
      units: description === null ? known.units : this.unitsOf(description),
      at: newest('at'),
    });
  }

  /** The outlets after an answer. `describes`: no newer answer describes the strip. `accept`: as in `take`. */
  #outlets(update: Partial<Strip>, describes: boolean, accept: (port: Port) => boolean): Outlet[] {
    const { mac, outlets = [] } = update;
    const listsOutlets = mac !== undefined && outlets.length > 0;
    // Until an answer lists the outlets, a strip that was switched has the documented four.
    const areNew = !this.areOutletsKnown && outlets.length > 0;
    this.areOutletsKnown ||= listsOutlets;
    return PORTS.flatMap((port) => {
      const before = this.strip.outlets.find((outlet) => outlet.port === port);
      const after = outlets.find((outlet) => outlet.port === port);
      const isKept = areNew ? !listsOutlets : before !== undefined;
      if (after === undefined && !isKept) return [];
      // If an answer lists outlets, those that it does not list become unknown.
      const on = (after !== undefined || listsOutlets) && accept(port) ? after?.on : before?.on;
      const name = this.givenNames.get(port) ?? (describes ? after?.name : null) ?? before?.name;
      return [{ port, on: on ?? null, name: name ?? null }];
    });
  }

  /** The units for an answer. The user's unit is that of a value for which the service sends none, even if it sent one earlier. */
  unitsOf(answer: Partial<Strip>): Strip['units'] {
    const given = Object.entries(this.givenUnits).filter(([name]) => Reflect.get(answer, name) !== null);
    return { ...this.strip.units, ...Object.fromEntries(given), ...answer.units };
  }

  /** Takes a strip as it is known now in place of the one before, and returns what is different. */
  #replace(isFirst: boolean, strip: Strip): Change[] {
    const { strip: before, lastOn, lastReading } = this;
    const changes: Change[] = [];
    const { available, outlets, name: ownName, units } = strip;
    if (isFirst || available !== before.available) {
      const previous = isFirst ? null : before.available;
      changes.push({ kind: 'strip', strip, available, previous, isNew: isFirst && this.isNew });
    }
    let isDescribedAnew =
      ownName !== before.name ||
      READINGS.some((name) => units[name] !== before.units[name]) ||
      outlets.length !== before.outlets.length;
    for (const { port, on, name } of outlets) {
      const former = before.outlets.find((each) => each.port === port);
      isDescribedAnew ||= name !== former?.name;
      if (on === (former?.on ?? null)) continue;
      const previous = lastOn.get(port) ?? null;
      if (on !== null) lastOn.set(port, on);
      changes.push({ kind: 'outlet', strip, port, on, previous });
    }
    for (const name of READINGS) {
      const value = strip[name];
      if (value === before[name]) continue;
      const previous = lastReading.get(name) ?? null;
      if (value !== null) lastReading.set(name, value);
      changes.push({ kind: 'reading', strip, name, value, previous });
    }
    if (isDescribedAnew && !isFirst) changes.push({ kind: 'description', strip });
    this.strip = strip;
    return changes;
  }
}

/**
 * What is known about an account's strips, with the names and units that the user gave. A version number, never a time, says which of two answers is
 * newer. A read gets its version when it is requested, a switch when it is confirmed. So if a read was requested before a switch was confirmed, it
 * does not change the outlets of that switch, even if its answer arrives later.
 */
export class StripStore {
  /** By MAC key. */
  readonly #strips = new Map<string, StripState>();
  /** By MAC key. */
  readonly #givenNames = new Map<string, OutletNames>();
  readonly #units: Strip['units'];
  #version = 0;
  /** Version of the newest list; 0: none yet. */
  #listVersion = 0;
  /** Monotonic time when the newest list was taken in. */
  #listedAt = -Infinity;
  /** Version of the newest complete list; 0: none yet. */
  #completeVersion = 0;
  /** Version of the newest answer or failure that `available` takes into account; 0: none yet. */
  #availableVersion = 0;
  /** Changes by the answer that is being taken in, until they are announced. */
  readonly #changes: Change[] = [];
  /** What was known when the poll began was old. Until the next list, no change of a strip is announced; after it, all that is known then. */
  isOutdated = false;
  /** Why the account is not available. */
  error: StripError | null = null;
  /** The last list could be read. */
  readable = true;
  /** Kinds of answers for which the log has not said yet that one cannot be read. It says so once, as a service may fail again and again. */
  readonly #toLog = new Set<'list' | 'strip'>(['list', 'strip']);
  /** The newest list could not be read and has no strips, so it is not known whether any strip is available. */
  #isListUnreadable = false;

  /**
   * `wantsReadings`: whether somebody wants the readings of a strip. `announce` is called after every answer, with what changed (maybe nothing).
   */
  constructor(
    private readonly options: AccountOptions,
    readonly wantsReadings: (mac: string) => boolean,
    private readonly announce: (changes: readonly Change[]) => void,
  ) {
    const { outletNames, units } = options.settings;
    for (const { mac, port, name } of outletNames) {
      const key = macKey(mac);
      this.#givenNames.set(key, new Map(this.#givenNames.get(key)).set(port, name));
    }
    this.#units = Object.fromEntries(Object.entries(units).filter(([, unit]) => unit !== ''));
  }

  /** Whether the service answered last time; `null`: it was not asked yet, or only long before the poll began. */
  get available(): boolean | null {
    return this.#availableVersion === 0 ? null : this.error === null;
  }

  /** Whether a list was read, and whether one was complete. An outdated one does not count. */
  get listed(): AccountStatus['listed'] {
    if (this.#listVersion === 0 || this.isOutdated) return null;
    return this.#completeVersion > 0 ? 'whole' : 'part';
  }

  /** There is no list of the last two intervals, so what is known of the strips may no longer be true. */
  get isListOld(): boolean {
    return this.options.clock.monotonic() - this.#listedAt >= 2 * this.options.settings.interval;
  }

  /** Called when the poll begins: what is known may be old. */
  checkAge(): void {
    this.isOutdated = this.isListOld && this.#strips.size > 0;
    if (this.isOutdated && this.error === null) this.#availableVersion = 0;
  }

  /** A new version: for a read that is about to be requested, or for a switch that was confirmed just now. */
  nextVersion(): number {
    return ++this.#version;
  }

  /** In the order in which they became known. */
  all(): Strip[] {
    return Array.from(this.#strips.values(), ({ strip }) => strip);
  }

  find(mac: string): Strip | undefined {
    return this.#find(mac)?.strip;
  }

  /** A MAC as the service spells it, as soon as that is known; before that, as given. */
  spelling(mac: string): string {
    return this.find(mac)?.mac ?? mac;
  }

  /** The names of a strip and of one of its outlets; `null`: it has none. */
  names(mac: string, port: PortOrAll | null): { name: string | null; outlet: string | null } {
    const strip = this.find(mac);
    const outlet = strip?.outlets.find((each) => each.port === port)?.name;
    const given = this.#givenNames.get(macKey(mac))?.get(port);
    return { name: strip?.name ?? null, outlet: outlet ?? given ?? null };
  }

  /** The outlet with this port, or all outlets of a strip; the documented four as long as no answer has listed them. */
  ports(mac: string, port: PortOrAll = 'all'): readonly Port[] {
    if (port !== 'all') return [port];
    const state = this.#find(mac);
    return state?.areOutletsKnown === true ? state.strip.outlets.map(({ port }) => port) : PORTS;
  }

  /** The last known state of an outlet; for "all", whether any outlet is on. `null`: not known. */
  lastState(mac: string, port: PortOrAll): boolean | null {
    const state = this.#find(mac);
    if (state === undefined) return null;
    if (port !== 'all') return state.lastOn.get(port) ?? null;
    const states = this.ports(mac).map((each) => state.lastOn.get(each));
    if (states.includes(true)) return true;
    return state.areOutletsKnown && !states.includes(undefined) ? false : null;
  }

  /** Strips in the newest list of which some reading is missing there. */
  unlistedReadings(): UnlistedReadings[] {
    return [...this.#strips.values()].filter(
      ({ listVersion, unlisted }) => listVersion === this.#listVersion && unlisted.length > 0,
    );
  }

  /**
   * Takes in a list that was requested with this version. Returns it with outlets and availability as they are known then and with the user's names and
   * units, so that the caller never sees a confirmed switch undone. Its readings stay as they are.
   */
  list(answer: ListAnswer, version: number): ListAnswer {
    const { complete, readable } = answer;
    this.#noteAnswer(null, version);
    if (version > this.#listVersion) {
      if (!readable && this.#toLog.delete('list')) this.options.log.unreadable('list');
      this.readable = readable;
      this.#listVersion = version;
      this.#listedAt = this.options.clock.monotonic();
      this.#isListUnreadable = !readable && answer.strips.length === 0;
      if (this.#isListUnreadable) this.#markAllUnavailable(version);
    }
    const strips = answer.strips.map((strip) => {
      // An older list must not bring back what a newer one no longer has.
      if (this.#find(strip.mac) === undefined && version < this.#completeVersion)
        return { ...strip, available: false };
      const state = this.#findOrAdd(strip);
      if (state.listVersion < version) {
        state.listVersion = version;
        state.isOfflineByList = !strip.available && state.isNewer('available', version);
        state.unlisted = READINGS.filter((name) => strip[name] === null);
        // If the strip is also read alone, those answers have the readings that the list lacks. If they call it offline, only they can say that it is
        // online again.
        const unsure: VersionedField[] = this.wantsReadings(strip.mac) ? [...state.unlisted] : [];
        if (strip.available && state.isOfflineByAnswer && unsure.length > 0) unsure.push('available');
        this.#take(state, strip, version, unsure);
      }
      return { ...corrected(strip, state), available: state.strip.available };
    });
    if (complete && version > this.#completeVersion) {
      if (this.#completeVersion === 0) this.#checkOutlets(version);
      this.#completeVersion = version;
      for (const state of this.#strips.values())
        if (state.listVersion < version) this.#leaveList(state, version);
    }
    this.#forgetSurplus();
    if (this.isOutdated) this.#changes.push(...this.initialChanges());
    this.isOutdated = false;
    this.#announceChanges();
    return { ...answer, strips };
  }

  /** Takes in the answer about one strip, requested with this version. Returns it corrected, as `list` does. */
  strip(answer: StripAnswer, version: number): StripAnswer {
    const { strip, readable } = answer;
    this.#noteReached(version);
    // A complete list does not have it, and this answer does not say that there is such a strip.
    if (!readable && this.listed === 'whole' && this.#find(strip.mac) === undefined)
      return { ...answer, strip: { ...strip, available: false } };
    const state = this.#findOrAdd(strip);
    if (!readable && this.#toLog.delete('strip')) this.options.log.unreadable('strip');
    const isNewer = state.isNewer('available', version);
    if (isNewer) state.isOfflineByAnswer = !strip.available;
    // If the list says that the strip is offline, an answer that says nothing about this does not make it available.
    const isUncertain = strip.available && !answer.saysOnline && state.isOfflineByList && !this.isListOld;
    // The spelling of the list stays: requests use it in their path.
    const mac = state.listVersion > 0 ? state.strip.mac : strip.mac;
    const available = strip.available && this.#isAnswering;
    this.#take(state, { ...strip, mac, available }, version, isUncertain ? ['available'] : []);
    this.#forgetSurplus(state);
    this.#announceChanges();
    const newest = isNewer ? strip.available && !isUncertain : state.strip.available;
    return { ...answer, strip: { ...corrected(strip, state), mac, available: newest } };
  }

  /** What the service confirmed just now about these outlets. Returns what is known of the strip now. */
  confirm(mac: string, outlets: Outlet[]): Strip {
    const version = this.nextVersion();
    const at = new Date(this.options.clock.wall()).toISOString();
    this.#noteReached(version);
    const state = this.#findOrAdd({ mac, at });
    state.isOfflineByAnswer = state.isOfflineByList = false;
    this.#take(state, { available: this.#isAnswering, outlets, at }, version);
    this.#forgetSurplus(state);
    this.#announceChanges();
    return state.strip;
  }

  /** A list that was requested with this version failed: each strip without a newer answer becomes unavailable. */
  failed(error: StripError, version: number): void {
    // If the service refuses the list, only a newer list counts: newer answers about single strips say nothing about the list.
    this.#noteAnswer(error, version, onlyListEnds(error) ? this.#listVersion : this.#availableVersion);
    this.#markAllUnavailable(version);
    this.#announceChanges();
  }

  /** The readings that are missing from the list could not be read and become unknown. `version`: that of the failed read. */
  forgetReadings(mac: string, version: number): void {
    const state = this.#find(mac);
    if (state === undefined) return;
    this.#take(state, Object.fromEntries(state.unlisted.map((name) => [name, null])), version);
    this.#announceChanges();
  }

  /** The service does not know this strip (any more). `version`: that of the read which found this. */
  missing(mac: string, version: number): void {
    const state = this.#find(mac);
    if (state?.isNewer('available', version) !== true) return;
    state.isOfflineByAnswer = true;
    this.#take(state, { available: false }, version);
    this.#announceChanges();
  }

  /** All that is known, as changes that have just happened. */
  *initialChanges(): Generator<Change> {
    for (const { strip, lastOn, lastReading } of this.#strips.values()) {
      yield { kind: 'strip', strip, available: strip.available, previous: null, isNew: false };
      for (const { port, on } of strip.outlets) {
        if (lastOn.has(port)) yield { kind: 'outlet', strip, port, on, previous: null };
      }
      for (const name of lastReading.keys()) {
        yield { kind: 'reading', strip, name, value: strip[name], previous: null };
      }
    }
  }

  #find(mac: string): StripState | undefined {
    return this.#strips.get(macKey(mac));
  }

  #findOrAdd({ mac, at }: Pick<Strip, 'mac' | 'at'>): StripState {
    const key = macKey(mac);
    let state = this.#strips.get(key);
    if (state === undefined) {
      const givenNames: OutletNames = this.#givenNames.get(key) ?? new Map();
      state = new StripState(mac, at, this.#units, givenNames, this.listed === 'whole');
      this.#strips.set(key, state);
    }
    state.leftAt = null;
    return state;
  }

  /** The service answered last time, and not with a list that cannot be read. */
  get #isAnswering(): boolean {
    return this.available === true && !this.#isListUnreadable;
  }

  /** Sets `error` (`null`: the service answered), and with it `available`, if `version` is newer than `newest`. */
  #noteAnswer(error: StripError | null, version: number, newest = this.#availableVersion): void {
    if (version <= newest) return;
    this.#availableVersion = version;
    this.error = error;
  }

  /** The service answered a request about one strip. This ends a known error, except one that only a list can end. */
  #noteReached(version: number): void {
    if (this.error === null || !onlyListEnds(this.error)) this.#noteAnswer(null, version);
  }

  #announceChanges(): void {
    this.announce(this.#changes.splice(0));
  }

  #take(state: StripState, ...answer: Parameters<StripState['take']>): void {
    const changes = state.take(...answer);
    if (!this.isOutdated) this.#changes.push(...changes);
  }

  #markAllUnavailable(version: number): void {
    for (const state of this.#strips.values()) this.#take(state, { available: false }, version);
  }

  #leaveList(state: StripState, version: number): void {
    this.#take(state, { available: false }, version);
    const now = this.options.clock.monotonic();
    state.leftAt ??= now;
    if (now - state.leftAt >= FORGET_AFTER) this.#forget(state);
  }

  #forget({ strip }: StripState): void {
    this.#strips.delete(macKey(strip.mac));
    this.#changes.push({ kind: 'removed', strip });
  }

  /**
   * Answers may bring new strips without end. Forgets the oldest of those that are not in the newest list. `kept`: the strip that the answer is about.
   */
  #forgetSurplus(kept?: StripState): void {
    for (const state of this.#strips.values()) {
      if (this.#strips.size <= MAX_STRIPS) return;
      const isListed = state.listVersion > 0 && state.listVersion === this.#listVersion;
      if (!isListed && state !== kept) this.#forget(state);
    }
  }

  /** Called with the version of the first complete list: warns of configured outlets that are neither in it nor in a newer list. */
  #checkOutlets(version: number): void {
    const { log, settings } = this.options;
    const isUnknown = ({ mac, port }: OutletId): boolean =>
      (this.#find(mac)?.listVersion ?? 0) < version || !this.ports(mac).includes(port);
    for (const { mac, port } of settings.protectedOutlets.filter(isUnknown))
      log.unknownOutlet('protected', mac, port);
    for (const { mac, port } of settings.outletNames.filter(isUnknown)) log.unknownOutlet('named', mac, port);
  }
}

/** The service can be reached, but does not return a list. So only a list can show that this error is over. */
const onlyListEnds = (error: StripError): boolean => !isOutage(error) || error.code === 'SERVICE';

/**
 * An answer about a strip, with its own readings, but with the outlets that are known now and with the user's names and units. An outlet that it leaves
 * out is unknown; an answer without any outlet stays without.
 */
function corrected(answer: Strip, state: StripState): Strip {
  const outlets = answer.outlets.length === 0 ? [] : state.strip.outlets;
  return { ...answer, name: answer.name ?? state.strip.name, outlets, units: state.unitsOf(answer) };
}
