import { closedError, isStripError, type StripError } from '../api/errors';
import { macKey } from '../api/mac';
import type { ListAnswer, PortOrAll, Strip, StripAnswer } from '../api/types';
import { CommandQueue, MAX_WAITING } from './command-queue';
import { DiagnosticCounters, type AccountDiagnostics } from './diagnostics';
import { busy, failureOf, mayBeCarriedOut } from './errors';
import { Poller, type Round } from './poller';
import type { QueuedCommand } from './queued-command';
import { Reader } from './reader';
import { Requests } from './requests';
import { StripStore } from './strip-store';
import { Subscribers, type SubscribeOptions } from './subscribers';
import { Switcher } from './switcher';
import type { AccountOptions, AccountStatus, Change, Command, Listener, Outcome, RunOptions } from './types';

/** At close, milliseconds for a switch request that is under way... */
const GRACE = 1_000;
/** ...and for the "on" of a cycle, everything included. */
const RESTORE_TIME = 5_000;

/**
 * One account of the service, shared by all its users: what is known of the strips, the poll that keeps it up to date, and the queue of commands.
 * All promises reject with `StripError`.
 */
export class Account {
  readonly #counters: DiagnosticCounters;
  readonly #options: AccountOptions;
  readonly #store: StripStore;
  readonly #subscribers: Subscribers;
  readonly #queue: CommandQueue;
  readonly #requests: Requests;
  readonly #reader: Reader;
  readonly #switcher: Switcher;
  readonly #poller: Poller;
  /** Ends each read that somebody waits for. */
  readonly #reads = new Set<(error: StripError) => void>();
  /** MAC keys of strips whose last answer could not be read; the list as `null`. */
  readonly #unreadable = new Set<string | null>();
  /** Wall-clock milliseconds. */
  #lastAnswerAt: number | null = null;
  #toldStatus: Omit<AccountStatus, 'lastAnswerAt'>;
  #statusListeners: readonly ((status: AccountStatus) => void)[] = [];
  #closing: Promise<void> | null = null;

  constructor(uncounted: AccountOptions) {
    const { clock, settings, log } = uncounted;
    const counters = new DiagnosticCounters(clock);
    const options = { ...uncounted, service: counters.counting(uncounted.service) };
    const store = new StripStore(clock, settings, (changes, settled) => this.#announce(changes, settled));
    const subscribers = new Subscribers(
      () => store.known(),
      (error) => log.fault(error),
    );
    const queue = new CommandQueue(options, (queued) => this.#switcher.carryOut(queued));
    const requests = new Requests(options, queue, counters, (succeeded, endedPause) =>
      this.#answered(succeeded, endedPause),
    );
    const reader = new Reader(
      options.service,
      store,
      requests,
      (mac) => subscribers.wantsReadings(macKey(mac)),
      (key, readable) => this.#checkReadable(key, readable),
    );
    const poller = new Poller(clock, settings.interval, requests.cooldown, log, () => this.#round());
    this.#switcher = new Switcher(options, store, queue, requests, reader, () => poller.suspect());
    this.#counters = counters;
    this.#options = options;
    this.#store = store;
    this.#subscribers = subscribers;
    this.#queue = queue;
    this.#requests = requests;
    this.#reader = reader;
    this.#poller = poller;
    this.#toldStatus = this.#currentStatus();
  }

  /** Reads the list of strips. Simultaneous reads share one request, but the answer belongs to the caller. */
  list(): Promise<ListAnswer> {
    return this.#read(() => this.#reader.list());
  }

  /** Reads one strip; as `list`. */
  get(mac: string): Promise<StripAnswer> {
    return this.#read(() => this.#reader.get(mac));
  }

  /**
   * Carries out a command when its turn comes. Settles exactly once. Besides the service's own errors it rejects with SUPERSEDED, PROTECTED,
   * BUSY and CLOSED.
   */
  async run(command: Command, options: RunOptions = {}): Promise<Outcome> {
    if (this.#closing !== null) throw closedError('account');
    try {
      this.#switcher.check(command);
      return await this.#queue.run(command, options);
    } catch (error) {
      this.#counters.ended(error);
      if (isStripError(error) && mayBeCarriedOut(error)) this.#poller.suspect();
      throw error;
    }
  }

  /**
   * Ends every command of an owner with CLOSED. What waits is not sent; what is under way may still be carried out; a cycle that pauses between its
   * halves still switches on at its time.
   */
  cancel(owner: object): void {
    this.#queue.cancel(owner);
  }

  /** Tells `listener` of changes from now on, and keeps the poll going. Returns what ends that. */
  subscribe(listener: Listener, options: SubscribeOptions = {}): () => void {
    if (this.#closing !== null) return () => undefined;
    const remove = this.#subscribers.add(listener, options);
    this.#poller.start();
    this.#checkStatus();
    return () => {
      if (remove() && this.#subscribers.size === 0) this.#poller.stop();
      this.#checkStatus();
    };
  }

  /** What the account has done since it was created. */
  diagnostics(): AccountDiagnostics {
    return this.#counters;
  }

  /** How the account is doing now. */
  status(): AccountStatus {
    const at = this.#lastAnswerAt;
    return { ...this.#currentStatus(), lastAnswerAt: at === null ? null : new Date(at).toISOString() };
  }

  /**
   * Tells `listener` how the account is doing, now and whenever that changes; not for each new `lastAnswerAt`. Does not start the poll. Returns
   * what ends that.
   */
  onStatus(listener: (status: AccountStatus) => void): () => void {
    const own = (status: AccountStatus): void => listener(status);
    this.#statusListeners = [...this.#statusListeners, own];
    queueMicrotask(() => {
      if (this.#statusListeners.includes(own)) this.#tellStatus(own);
    });
    return () => {
      this.#statusListeners = this.#statusListeners.filter((other) => other !== own);
    };
  }

  /** Reads the list again as soon as the floor between two polls allows; only while somebody listens to changes. */
  refresh(): void {
    this.#poller.refresh();
  }

  /** All strips that are known, in the order they became known. Copies. */
  strips(): Strip[] {
    return this.#store.all();
  }

  /** What is known of one strip. A copy. */
  strip(mac: string): Strip | undefined {
    return this.#store.find(mac);
  }

  /** Names of a strip and of one of its outlets; `null` where there is none. */
  names(mac: string, port: PortOrAll | null): { name: string | null; outlet: string | null } {
    return this.#store.names(mac, port);
  }

  /** The last known state of an outlet; of all: whether any is on, `null` where that is not known. */
  lastKnown(mac: string, port: PortOrAll): boolean | null {
    return this.#store.lastKnown(mac, port);
  }

  /**
   * Ends everything. Takes about a second for a switch request that is under way, up to five where an outlet must be switched on again after a
   * cycle. No subscriber is called from now on. May be called again.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#poller.stop();
    this.#subscribers.clear();
    this.#statusListeners = [];
    for (const end of this.#reads) end(closedError('account'));
    this.#switcher.close();
    this.#queue.close(closedError('account'));
    const restoring = [...this.#queue.commands].filter(({ pendingRestore }) => pendingRestore);
    this.#requests.close();
    let grace = GRACE;
    if (restoring.length > 0) {
      const began = this.#options.clock.monotonic();
      await this.#restored(restoring);
      grace = Math.max(0, GRACE - (this.#options.clock.monotonic() - began));
    }
    await this.#options.service.close(grace);
    await this.#queue.until(() => this.#queue.commands.size === 0);
    const { dropped } = this.#queue;
    if (dropped > 0) this.#options.log.dropped(dropped);
  }

  /** Waits for the "on" of cycles, and gives them up when their time is over. */
  async #restored(restoring: readonly QueuedCommand[]): Promise<void> {
    const timers = [this.#options.clock.setTimeout(() => this.#switcher.endGrace(), GRACE)];
    const timeOver = new Promise<void>((resolve) => {
      timers.push(this.#options.clock.setTimeout(resolve, RESTORE_TIME));
    });
    await Promise.race([this.#queue.until(() => restoring.every(({ phase }) => phase === 'done')), timeOver]);
    this.#requests.giveUp();
    timers.forEach((timer) => this.#options.clock.clearTimeout(timer));
  }

  #read<Answer>(read: () => Promise<Answer>): Promise<Answer> {
    if (this.#closing !== null) return Promise.reject(closedError('account'));
    if (this.#reads.size >= MAX_WAITING) return Promise.reject(busy(MAX_WAITING));
    return new Promise((resolve, reject) => {
      this.#reads.add(reject);
      const over = (): void => void this.#reads.delete(reject);
      read().then(resolve, reject).then(over, over);
    });
  }

  /** One round of the poll: the list, then each strip in it whose readings somebody watches and it does not tell. */
  async #round(): Promise<Round> {
    const list = await failureOf(this.#reader.pollList());
    if (list !== null) return { list, readings: null };
    const more = this.#store.withoutReadings().filter((mac) => this.#subscribers.wantsReadings(macKey(mac)));
    const failures = await Promise.all(more.map((mac) => failureOf(this.#reader.pollStrip(mac))));
    const readings = failures.find((error) => error !== null && error.code !== 'NOT_FOUND');
    return { list: null, readings: readings ?? null };
  }

  #answered(succeeded: boolean, endedPause: boolean): void {
    if (succeeded) {
      this.#lastAnswerAt = this.#options.clock.wall();
      this.#poller.succeeded(endedPause);
    }
    this.#checkStatus();
  }

  #announce(changes: readonly Change[], settled: boolean): void {
    if (this.#closing !== null) return;
    for (const change of changes) {
      if (change.kind === 'removed') this.#unreadable.delete(macKey(change.strip.mac));
    }
    this.#subscribers.announce(changes, settled);
    if (settled !== this.#store.isComplete) this.#checkOutlets();
    this.#checkStatus();
  }

  /** After the first complete list: warns of configured outlets that it does not have. */
  #checkOutlets(): void {
    const { protectedOutlets, outletNames } = this.#options.settings;
    for (const { mac, port } of protectedOutlets) {
      if (this.#store.lacks(mac, port)) this.#options.log.unknownOutlet('protected', mac, port);
    }
    for (const { mac, port } of outletNames) {
      if (this.#store.lacks(mac, port)) this.#options.log.unknownOutlet('named', mac, port);
    }
  }

  #checkReadable(key: string | null, readable: boolean): void {
    if (this.#closing !== null || this.#unreadable.has(key) === !readable) return;
    if (readable) this.#unreadable.delete(key);
    else {
      const strips = this.#unreadable.size - (this.#unreadable.has(null) ? 1 : 0);
      this.#unreadable.add(key);
      // Said of the first such strip: the answers about the others look alike.
      if (key === null) this.#options.log.unreadable('list');
      else if (strips === 0) this.#options.log.unreadable('strip');
    }
    this.#checkStatus();
  }

  #currentStatus(): Omit<AccountStatus, 'lastAnswerAt'> {
    const { remaining, untilWall } = this.#requests.cooldown;
    return {
      available: this.#store.available,
      error: this.#store.error,
      readable: !this.#unreadable.has(null),
      cooldownUntil: remaining > 0 ? untilWall : null,
      polling: this.#poller.isRunning,
    };
  }

  #checkStatus(): void {
    if (this.#closing !== null) return;
    const old = this.#toldStatus;
    const status = this.#currentStatus();
    if (
      old.available === status.available &&
      old.error?.code === status.error?.code &&
      old.readable === status.readable &&
      old.cooldownUntil === status.cooldownUntil &&
      old.polling === status.polling
    ) {
      return;
    }
    this.#toldStatus = status;
    for (const listener of this.#statusListeners) this.#tellStatus(listener);
  }

  #tellStatus(listener: (status: AccountStatus) => void): void {
    try {
      listener(this.status());
    } catch (error) {
      this.#options.log.fault(error);
    }
  }
}
