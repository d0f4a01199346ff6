import { asError, closedError } from '../api/errors';
import { macKey, type JsonBody, type ListAnswer, type StripAnswer } from '../api/types';
import { busyError, CommandQueue, MAX_WAITING } from './command-queue';
import { Poller } from './poller';
import { Reader, Requests } from './requests';
import { StripStore, type ReadonlyStripStore } from './strip-store';
import { Switcher } from './switcher';
import type { AccountOptions, AccountStatus, Change, Command, Listener, Outcome, RunOptions } from './types';

/** At close, milliseconds that a switch request under way may still take. */
const GRACE = 1_000;
/** At close, milliseconds to switch outlets back on after a cycle, retries included. */
const RESTORE_TIME = 5_000;

export type AccountDiagnostics = ReturnType<Account['diagnostics']>;

interface Subscriber {
  readonly listener: Listener;
  /** MAC keys. */
  readonly readings: readonly string[] | 'all';
}

/**
 * One account of the service, shared by all its users: what is known about the strips, the poll that keeps it up to date, and the queue of commands.
 * All promises reject with `StripError`.
 */
export class Account {
  /** What is known about the strips without asking the service. */
  readonly store: ReadonlyStripStore;
  readonly #store: StripStore;
  readonly #subscribers = new Set<Subscriber>();
  readonly #queue: CommandQueue;
  readonly #requests: Requests;
  readonly #reader: Reader;
  readonly #switcher: Switcher;
  readonly #poller: Poller;
  /** How many reads have not settled yet. */
  #reads = 0;
  /** Wall-clock milliseconds. */
  #lastAnswerAt: number | null = null;
  #announcedStatus: AccountStatus;
  #closing: Promise<number> | null = null;

  constructor(private readonly options: AccountOptions) {
    this.#store = new StripStore(
      options,
      // While what is known is outdated, no readings count as wanted: those that the next list lacks must become unknown.
      (mac) => !this.#store.isOutdated && this.#wantsReadings(mac),
      (changes) => this.#announce(changes),
    );
    this.store = this.#store;
    this.#queue = new CommandQueue(options, (queued) => this.#switcher.carryOut(queued));
    this.#requests = new Requests(options, this.#queue, (succeeded, endedCooldown) =>
      this.#requestOver(succeeded, endedCooldown),
    );
    this.#reader = new Reader(options.service, this.#store, this.#requests);
    this.#poller = new Poller(options, this.#store, this.#reader, this.#requests.cooldown);
    this.#switcher = new Switcher(options, this.#store, this.#queue, this.#requests, this.#reader, () =>
      this.#poller.refresh(),
    );
    this.#announcedStatus = this.status();
  }

  /** Reads the list of strips; readings that it lacks are `null`. Simultaneous reads share one request, but each caller gets its own copy. */
  list(): Promise<ListAnswer> {
    return this.#read(() =>
      this.#reader.list().catch((error: unknown) => {
        // All strips are unavailable until the next list, so that is read soon, unless the service asks for fewer requests.
        if (asError(error).code !== 'RATE_LIMITED') this.#poller.refresh();
        throw error;
      }),
    );
  }

  /** Reads one strip. Simultaneous reads share one request, as in `list`. */
  get(mac: string): Promise<StripAnswer> {
    return this.#read(() => this.#reader.get(mac));
  }

  /**
   * Carries out a command when its turn comes. Settles exactly once. Besides the service's own errors it rejects with SUPERSEDED, PROTECTED,
   * BUSY and CLOSED.
   */
  async run(command: Command, options: RunOptions = {}): Promise<Outcome> {
    if (this.#closing !== null) throw closedError('notSent');
    try {
      this.#switcher.check(command);
      return await this.#queue.run(command, options);
    } catch (error) {
      this.#requests.record.commandFailed(error);
      throw error;
    }
  }

  /**
   * Ends every command of an owner with CLOSED. Commands that wait are not sent. A request under way may still be carried out, and a cycle that has
   * begun to switch off still switches on at its time. Returns, for each command except such cycles, whether it is confirmed in the end.
   */
  cancel(owner: object): readonly Promise<boolean>[] {
    return this.#queue.cancel(owner);
  }

  /**
   * Tells `listener` all that is known before this method returns (if it may be old: after the next list), and every change after that. Keeps the poll
   * going. `readings`: MACs of strips whose load, voltage and signal should be kept up to date. A listener that throws does not affect the others.
   * Returns a function that ends the subscription.
   */
  subscribe(listener: Listener, readings: readonly string[] | 'all' = []): () => void {
    if (this.#closing !== null) return () => undefined;
    this.#poller.start();
    this.#announceStatus();
    const unwanted = this.#store.unlistedReadings().filter(({ strip }) => !this.#wantsReadings(strip.mac));
    const subscriber = { listener, readings: readings === 'all' ? readings : readings.map(macKey) };
    this.#subscribers.add(subscriber);
    if (unwanted.some(({ strip }) => this.#wantsReadings(strip.mac))) this.#poller.refresh();
    const known = this.#store.isOutdated ? [] : this.#store.initialChanges();
    for (const change of known) this.#tell(subscriber, change);
    this.#tell(subscriber, { kind: 'account', available: this.#store.available });
    return () => {
      this.#subscribers.delete(subscriber);
      if (this.#subscribers.size === 0) this.#poller.stop();
    };
  }

  /** Since the account was created: counts of requests, retries and errors, and the latest answer of each kind. */
  diagnostics() {
    const { requests, retries, errors, answers } = this.#requests.record;
    return { requests, retries, errors, ...answers };
  }

  /** How the account is doing now. */
  status(): AccountStatus {
    return {
      available: this.#store.available,
      error: this.#store.error,
      readable: this.#store.readable,
      listed: this.#store.listed,
      lastAnswerAt: this.#lastAnswerAt,
      cooldownUntil: this.#requests.cooldown.until,
      polling: this.#poller.isRunning,
    };
  }

  /**
   * Closes the account. Takes up to about a second if a switch request is under way, and up to five seconds if an outlet must be switched on again
   * after a cycle. No subscriber is called from now on. Returns how many commands failed because the account closed. May be called again.
   */
  close(): Promise<number> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<number> {
    const { clock, service } = this.options;
    this.#poller.stop();
    this.#subscribers.clear();
    service.beginClose(GRACE);
    this.#queue.close();
    const timer = clock.setTimeout(() => {
      void service.close();
      this.#queue.delays.end();
    }, RESTORE_TIME);
    // Looked up again each time: a newer "on" that took over a pending restore begins only when the older command has ended.
    while (this.#queue.commands.length > 0)
      await Promise.all(this.#queue.commands.map(async ({ running }) => await running));
    clock.clearTimeout(timer);
    await service.close();
    return this.#queue.dropped;
  }

  async #read<Answer extends JsonBody>(read: () => Promise<Answer>): Promise<Answer> {
    if (this.#reads >= MAX_WAITING) throw busyError();
    this.#reads++;
    try {
      return copyOf(await read());
    } finally {
      this.#reads--;
    }
  }

  #wantsReadings(mac: string): boolean {
    const key = macKey(mac);
    return [...this.#subscribers].some(({ readings }) => readings === 'all' || readings.includes(key));
  }

  #requestOver(succeeded: boolean, endedCooldown: boolean): void {
    if (succeeded) {
      this.#lastAnswerAt = this.options.clock.wall();
      this.#poller.succeeded(endedCooldown);
    }
    this.#announceStatus();
  }

  #announce(changes: readonly Change[]): void {
    // A copy: a listener may add a subscriber, which is told all that is known, and must not be told these changes again.
    const subscribers = [...this.#subscribers];
    for (const change of changes) for (const subscriber of subscribers) this.#tell(subscriber, change);
    this.#announceStatus();
  }

  #tell(subscriber: Subscriber, change: Change): void {
    if (!this.#subscribers.has(subscriber)) return;
    try {
      subscriber.listener(change);
    } catch (error) {
      this.options.log.fault(error);
    }
  }

  /** Tells the subscribers if the status has changed. */
  #announceStatus(): void {
    const old = this.#announcedStatus;
    const status = this.status();
    const keys = ['available', 'readable', 'listed', 'cooldownUntil'] as const;
    if (keys.every((key) => old[key] === status[key]) && old.error?.code === status.error?.code) return;
    this.#announcedStatus = status;
    this.#announce([{ kind: 'account', available: status.available }]);
  }
}

/** An answer for one caller, who may change it. The body is parsed again: it may be nested deeper than `structuredClone` can go. */
const copyOf = <Answer extends JsonBody>(answer: Answer): Answer =>
  Object.assign(structuredClone({ ...answer, response: null }), {
    response: JSON.parse(answer.text) as unknown,
  });
