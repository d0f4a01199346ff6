import type { Clock } from '../api/clock';
import { isStripError, type StripError } from '../api/errors';
import { macKey } from '../api/mac';
import type { PortOrAll, Strip } from '../api/types';
import { Attempts } from './attempt';
import { isUncertain } from './backoff';
import { Closing } from './closing';
import { Cycle } from './cycle';
import { busy, cancelled, closed, superseded } from './failures';
import { Gate } from './gate';
import { Hold } from './hold';
import { Job } from './job';
import { Lanes } from './lanes';
import { Poll, type Round } from './poll';
import { Protection } from './protection';
import { Reads } from './reads';
import { State } from './state';
import { Subscribers, type SubscribeOptions } from './subscribers';
import { Switching } from './switching';
import { toggle } from './toggle';
import type { ListAnswer, Service, StripAnswer } from '../api/service';
import type {
  AccountLog,
  AccountSettings,
  AccountStatus,
  Command,
  Listener,
  Outcome,
  RunOptions,
} from './types';

/** Commands that may wait; bounds memory when messages come faster than the service answers. */
const MOST_WAITING = 10_000;

export interface AccountOptions {
  /** The account's own from now on: `close` closes it. */
  service: Service;
  settings: AccountSettings;
  clock: Clock;
  log: AccountLog;
}

/**
 * One account of the service, shared by all its users: what is known of the strips, the poll that keeps it so, and the lanes in which
 * commands go out. All promises reject with `StripError`.
 */
export class Account {
  readonly #log: AccountLog;
  readonly #fault = (error: unknown): void => this.#log.fault(error);
  readonly #concurrency: number;
  readonly #outletNames: ReadonlyMap<string, string>;
  readonly #state: State;
  readonly #subscribers: Subscribers;
  readonly #reads: Reads;
  readonly #switching: Switching;
  readonly #cycle: Cycle;
  readonly #attempts: Attempts;
  readonly #lanes: Lanes;
  readonly #poll: Poll;
  readonly #closing: Closing;
  #status: AccountStatus = {
    available: null,
    error: null,
    readable: true,
    lastAnswerAt: null,
    cooldownUntil: null,
    polling: false,
  };
  #onStatus: readonly ((status: AccountStatus) => void)[] = [];
  /** Whose last answer could not be read: strips by their keys, the list as `null`. */
  readonly #unreadable = new Set<string | null>();
  /** Commands that are not settled, and those of them whose turn has come. */
  #unsettled = 0;
  #started = 0;
  #closed: Promise<void> | null = null;

  constructor({ service, settings, clock, log }: AccountOptions) {
    this.#log = log;
    this.#outletNames = new Map(
      settings.outletNames.map(({ mac, port, name }) => [`${macKey(mac)}/${port}`, name]),
    );
    this.#concurrency = settings.concurrency;
    const gate = new Gate(settings.concurrency);
    const hold = new Hold(clock);
    this.#state = new State(
      (changes, settled) => {
        if (this.#closed !== null) return;
        this.#subscribers.announce(changes, settled);
        this.#checkStatus();
      },
      () => this.#subscribers.size > 0,
    );
    this.#subscribers = new Subscribers(() => this.#state.known(), this.#fault);
    this.#attempts = new Attempts(clock, gate, hold, settings.retryFor);
    this.#reads = new Reads(service, this.#state, this.#attempts, {
      asksMore: (known) => this.#subscribers.wantsReadings(known.key) && known.readingsUntold,
      succeeded: () => this.#poll.succeeded(),
      read: (key, readable) => this.#checkReadable(key, readable),
    });
    const protection = new Protection(settings.protectedOutlets);
    const names = (mac: string, port: PortOrAll) => this.names(mac, port);
    this.#switching = new Switching(
      service,
      this.#state,
      clock,
      this.#attempts,
      protection,
      names,
      (confirmed) => {
        this.#reads.commandOver();
        if (confirmed) this.#poll.succeeded();
      },
    );
    this.#cycle = new Cycle(clock, this.#attempts, this.#switching, log);
    this.#lanes = new Lanes((job) => {
      job.over = this.#carryOut(job);
    });
    this.#poll = new Poll(clock, settings.interval, hold, log, () => this.#round());
    this.#closing = new Closing({ service, clock, log, gate, lanes: this.#lanes });
  }

  /** Reads the list of strips. Simultaneous reads share one request, but the reading belongs to the caller. */
  list(): Promise<ListAnswer> {
    return this.#closed === null ? this.#reads.list() : Promise.reject(closed());
  }

  /** Reads one strip; as `list`. */
  get(mac: string): Promise<StripAnswer> {
    return this.#closed === null ? this.#reads.get(mac) : Promise.reject(closed());
  }

  /**
   * Carries out a command when its turn comes. Settles exactly once. Besides the service's own errors it rejects with SUPERSEDED, PROTECTED,
   * BUSY and CLOSED.
   */
  run(command: Command, options: RunOptions = {}): Promise<Outcome> {
    if (this.#closed !== null) return Promise.reject(closed());
    // Those whose turn has come wait too, but for as many as the gate lets through.
    const waiting = this.#unsettled - Math.min(this.#started, this.#concurrency);
    if (waiting >= MOST_WAITING) return Promise.reject(busy(MOST_WAITING));
    return new Promise((resolve, reject) => {
      const job = new Job(command, resolve, reject, options, this.#fault);
      this.#unsettled++;
      for (const replaced of this.#lanes.enter(job)) {
        const error = superseded(replaced.command.mac, replaced.command.port);
        if (replaced.started) replaced.callOff(error);
        else this.#refuse(replaced, error);
      }
    });
  }

  /**
   * Ends every command of an owner with CLOSED. What waits is not sent; what is on the wire may still be carried out; a cycle that waits between
   * its halves still switches on at its time.
   */
  cancel(owner: object): void {
    for (const job of this.#lanes.jobs()) {
      if (job.owner !== owner || job.settled) continue;
      const { mac, port } = job.command;
      if (!job.started) this.#refuse(job, cancelled('notSent', mac, port));
      else if (job.owing) job.reject(cancelled('cycle', mac, port));
      else {
        job.reject(cancelled(job.posting > 0 ? 'sent' : 'notSent', mac, port));
        job.callOff(closed());
      }
    }
  }

  /** How the account is doing now. */
  status(): AccountStatus {
    return this.#status;
  }

  /** Reads the list again soon. */
  refresh(): void {
    this.#poll.doubt();
  }

  /** Names of a strip and of one of its outlets; `null` where there is none. */
  names(mac: string, port: PortOrAll | null): { name: string | null; outlet: string | null } {
    const known = this.#state.find(mac);
    const outlet = this.#outletNames.get(`${macKey(mac)}/${String(port)}`) ?? null;
    return { name: known?.name ?? null, outlet };
  }

  /** Tells `listener` of changes from now on, and keeps the poll going. Returns what ends that. */
  subscribe(listener: Listener, options: SubscribeOptions = {}): () => void {
    if (this.#closed !== null) return () => undefined;
    const remove = this.#subscribers.add(listener, options);
    this.#poll.start();
    return () => {
      if (remove() && this.#subscribers.size === 0) this.#poll.stop();
    };
  }

  /** Tells `listener` how the account is doing, now and whenever that changes. Does not start the poll. Returns what ends that. */
  onStatus(listener: (status: AccountStatus) => void): () => void {
    const own = (status: AccountStatus): void => listener(status);
    this.#onStatus = [...this.#onStatus, own];
    queueMicrotask(() => {
      if (this.#onStatus.includes(own)) this.#tellStatus(own);
    });
    return () => {
      this.#onStatus = this.#onStatus.filter((other) => other !== own);
    };
  }

  /** All strips that are known, in the order they became known. Copies. */
  strips(): Strip[] {
    return Array.from(this.#state.all(), (known) => known.copy());
  }

  /** What is known of one strip. A copy. */
  strip(mac: string): Strip | undefined {
    return this.#state.find(mac)?.copy();
  }

  /** The last known state of an outlet; of all: whether any is on, `null` where that is not known. */
  lastKnown(mac: string, port: PortOrAll): boolean | null {
    const known = this.#state.find(mac);
    if (known === undefined) return null;
    if (port !== 'all') return known.outlet(port)?.last ?? null;
    if (known.outlets.some(({ last }) => last === true)) return true;
    return known.outletsTold && known.outlets.every(({ last }) => last === false) ? false : null;
  }

  /**
   * Ends everything: about a second for a switch on the wire, up to five where an outlet has to come back on after a cycle. Nobody is told
   * anything any more. May be called again.
   */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#poll.stop();
    this.#subscribers.clear();
    this.#onStatus = [];
    this.#reads.close();
    await this.#closing.run();
  }

  async #carryOut(job: Job): Promise<void> {
    this.#started++;
    try {
      const outcome = await this.#outcome(job);
      this.#over(job);
      job.resolve(outcome);
    } catch (error) {
      this.#over(job);
      if (this.#closed === null) {
        job.reject(error);
        if (isStripError(error) && isUncertain(error)) this.#poll.doubt();
      } else {
        this.#closing.refuse(job, job.calledOff ?? closed());
      }
    }
    this.#started--;
  }

  #outcome(job: Job): Promise<Outcome> {
    const { action } = job.command;
    if (action === 'toggle') return toggle(job, this.#attempts, this.#reads, this.#switching);
    if (action === 'cycle') return this.#cycle.carryOut(job);
    return this.#switching.carryOut(job, action);
  }

  #over(job: Job): void {
    this.#unsettled--;
    this.#lanes.leave(job);
  }

  /** Ends a job whose turn never came. */
  #refuse(job: Job, error: StripError): void {
    this.#over(job);
    job.reject(error);
  }

  /** One round of the poll: the list, then each strip whose readings are wanted and not in it. */
  async #round(): Promise<Round> {
    const list = await failureOf(this.#reads.pollList());
    if (list !== null) return { list, readings: null };
    const more = Array.from(this.#state.all()).filter(
      (known) => known.readingsUntold && this.#subscribers.wantsReadings(known.key),
    );
    const failures = await Promise.all(more.map(({ mac }) => failureOf(this.#reads.pollStrip(mac))));
    const readings = failures.find((error) => error !== null && error.code !== 'NOT_FOUND');
    return { list: null, readings: readings ?? null };
  }

  #checkReadable(key: string | null, readable: boolean): void {
    if (this.#closed !== null || this.#unreadable.has(key) === !readable) return;
    if (readable) this.#unreadable.delete(key);
    else {
      const strips = this.#unreadable.size - (this.#unreadable.has(null) ? 1 : 0);
      this.#unreadable.add(key);
      // Said of the first such strip: the answers about the others look alike.
      if (key === null) this.#log.unreadable('list');
      else if (strips === 0) this.#log.unreadable('strip');
    }
    this.#checkStatus();
  }

  #checkStatus(): void {
    const { available, error } = this.#state;
    const readable = !this.#unreadable.has(null);
    const old = this.#status;
    if (old.available === available && old.error?.code === error?.code && old.readable === readable) return;
    this.#status = { ...old, available, error, readable };
    for (const listener of this.#onStatus) this.#tellStatus(listener);
  }

  #tellStatus(listener: (status: AccountStatus) => void): void {
    try {
      listener(this.#status);
    } catch (error) {
      this.#log.fault(error);
    }
  }
}

/** The error of a read, as a value. */
async function failureOf(read: Promise<void>): Promise<StripError | null> {
  try {
    await read;
    return null;
  } catch (error) {
    if (isStripError(error)) return error;
    throw error;
  }
}
