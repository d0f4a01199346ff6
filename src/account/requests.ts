import { RequestRecord } from '../api/client';
import { asError, asNotSent, failureOf, isRefusal, isStripError, isUnknownStrip } from '../api/errors';
import type { StripError } from '../api/errors';
import { Cooldown, fullJitter, waitTooLong } from '../api/limits';
import { macKey, type ListAnswer, type Service, type StripAnswer } from '../api/types';
import type { CommandQueue, QueuedCommand } from './command-queue';
import type { StripStore } from './strip-store';
import type { AccountOptions } from './types';

/** Milliseconds. */
const FIRST_BACKOFF = 500;
const LONGEST_BACKOFF = 10_000;
/** Longest wait between attempts to switch an outlet back on, while the service refuses them. Milliseconds. */
const LONGEST_REFUSED_BACKOFF = 60_000;
/** After a success, all retries that wait are sent within this time, in milliseconds. */
const WAKE_SPREAD = 1_000;
/** Shortest time, in milliseconds, before a success does this again: some requests may succeed while others never do. */
const WAKE_INTERVAL = 5_000;

/**
 * Sends requests, a limited number at the same time. During a pause that the service asked for, it sends only the "on" of cycles, and a few commands
 * as probes. A command that failed is sent again if that may help.
 */
export class Requests {
  readonly cooldown: Cooldown;
  readonly record: RequestRecord;
  /** Count of command requests that have ended. */
  commandRequestsOver = 0;
  #wokenAt = -Infinity;
  #isRetryLogged = false;

  /** `onOver` is called when a request is over. `endedCooldown`: its success ended the cooldown. */
  constructor(
    private readonly options: AccountOptions,
    private readonly queue: CommandQueue,
    private readonly onOver: (succeeded: boolean, endedCooldown: boolean) => void,
  ) {
    this.cooldown = new Cooldown(options.clock);
    this.record = new RequestRecord(options.clock);
  }

  /**
   * Sends a request of a command, or of a read (`null`). A read is not retried. A command is retried for the time `retryFor`, if a retry may
   * help. A command that is restoring is retried after any failure, until it succeeds or a newer command takes over; while the account closes, it is
   * retried more often.
   */
  async send<T>(queued: QueuedCommand | null, ask: () => Promise<T>): Promise<T> {
    const { slots, delays } = this.queue;
    for (let retries = 0; ;) {
      this.queue.check(queued);
      if (queued !== null) this.queue.enter(queued, 'sending');
      if (!slots.tryAcquire(queued)) {
        if (queued !== null) this.queue.expireLater(Math.max(0, this.queue.timeLeft(queued)));
        await slots.wait(queued);
      }
      let error: StripError | null;
      let wait: number;
      try {
        // It may have ended while it waited. From this check to the request, nothing is awaited.
        this.queue.check(queued);
        error = this.#cooldownFor(queued);
        wait = this.cooldown.remaining;
        if (error === null) {
          if (retries > 0) this.record.retries++;
          const { isClosed } = this.queue;
          const result = await this.#ask(queued, ask);
          if (!isStripError(result)) return result;
          // A close first ends what was sent before it. What was sent since then ends only when no time is left.
          if (isClosed && result.code === 'CLOSED') throw result;
          error = result;
          wait = this.#retryDelay(queued, error, retries);
          retries++;
        }
      } finally {
        slots.release(queued);
      }
      // A cooldown has its own log line. A request that the close ended did not fail.
      if (!this.#isRetryLogged && this.cooldown.error !== error && error.code !== 'CLOSED') {
        this.#isRetryLogged = true;
        this.options.log.retrying(error);
      }
      const waited = delays.wait(queued, wait);
      if (queued !== null && error.code !== 'CLOSED') this.queue.retryLater(queued, error);
      await waited;
    }
  }

  #backoff(retries: number, longest = LONGEST_BACKOFF): number {
    return fullJitter(this.options.clock.random(), FIRST_BACKOFF, longest, retries);
  }

  /** Milliseconds until the next attempt. Throws if there must be none. `retries`: how many there were already. */
  #retryDelay(queued: QueuedCommand | null, error: StripError, retries: number): number {
    if (queued === null) throw error;
    if (queued.phase === 'restoring') return this.#restoreDelay(error, retries);
    const { retryFor } = this.options.settings;
    if (queued.stopReason !== null && !isRefusal(error)) throw queued.stopReason;
    if (!error.retryable || retryFor === 0) throw error;
    const { remaining } = this.cooldown;
    const asked = error.retryAfter ?? 0;
    const left = this.queue.timeLeft(queued, retryFor);
    if (left <= 0 || remaining > left) {
      const isPaused = error.code === 'RATE_LIMITED' && remaining > 0;
      throw isPaused ? waitTooLong(error, Math.max(remaining, asked), retryFor) : error;
    }
    // The last attempt is made at the deadline, not after it.
    return Math.max(remaining, Math.min(left, Math.max(this.#backoff(retries), asked)));
  }

  /** The same for a command that is restoring. */
  #restoreDelay(error: StripError, retries: number): number {
    if (this.queue.isClosed) return this.#backoff(retries, 1_000);
    const backoff = this.#backoff(retries, isRefusal(error) ? LONGEST_REFUSED_BACKOFF : LONGEST_BACKOFF);
    return Math.max(backoff, Math.min(error.retryAfter ?? 0, LONGEST_REFUSED_BACKOFF));
  }

  /** The error of a cooldown whose end a request must wait for; `null`: it may be sent now. Throws if it cannot wait for so long. */
  #cooldownFor(queued: QueuedCommand | null): StripError | null {
    const { error, remaining } = this.cooldown;
    if (error === null || queued?.phase === 'restoring') return null;
    if (remaining <= (queued === null ? this.queue.patience : this.queue.timeLeft(queued))) return error;
    if (queued !== null && this.cooldown.takeProbe(queued)) return null;
    throw waitTooLong(error, remaining, this.queue.patience);
  }

  /** Sends a request. Returns the answer or the error. */
  async #ask<T>(queued: QueuedCommand | null, ask: () => Promise<T>): Promise<T | StripError> {
    const sent = this.options.clock.monotonic();
    if (queued !== null) queued.underWay++;
    try {
      const answer = await ask();
      this.#succeeded(queued, sent);
      return answer;
    } catch (thrown) {
      this.#failed(queued, thrown);
      return asError(thrown);
    } finally {
      if (queued !== null) {
        queued.underWay--;
        this.commandRequestsOver++;
      }
    }
  }

  #succeeded(queued: QueuedCommand | null, sent: number): void {
    const endedCooldown = this.cooldown.end(sent);
    this.queue.answered(false);
    this.onOver(true, endedCooldown);
    this.#wakeRetries(endedCooldown);
    if (queued?.failure && !this.queue.delays.has(queued)) queued.failure = null;
    if (!this.#isRetryLogged || this.queue.commands.some(({ failure }) => failure !== null)) return;
    this.#isRetryLogged = false;
    this.options.log.retryingOver();
  }

  #failed(queued: QueuedCommand | null, error: unknown): void {
    const isNews = this.cooldown.failed(error);
    if (isNews) this.options.log.rateLimited(Math.ceil(this.cooldown.remaining / 1000));
    // After the cooldown has begun: this may end commands, and others begin.
    if (queued !== null) this.queue.requestFailed(queued, error);
    this.onOver(false, false);
  }

  /** The service answers again: ends the waits for retries early. */
  #wakeRetries(endedCooldown: boolean): void {
    const now = this.options.clock.monotonic();
    if (this.queue.delays.isEmpty || (!endedCooldown && now - this.#wokenAt < WAKE_INTERVAL)) return;
    this.#wokenAt = now;
    this.queue.delays.shorten(WAKE_SPREAD);
  }
}

/** A read that is under way, shared by all callers that ask for the same. */
interface SharedRead<Answer> {
  readonly answer: Promise<Answer>;
  /**
   * The value of `commandRequestsOver` when the read was sent; Infinity: it is not sent yet. If the request of a command has ended since then, the
   * read may show the state before that, so later callers do not share it.
   */
  readonly sentAfter: () => number;
}

/** Reads the service, takes in what it says, and lets simultaneous reads of the same thing share one request. */
export class Reader {
  readonly #lists = new Map<null, SharedRead<ListAnswer>>();
  /** By MAC key. */
  readonly #strips = new Map<string, SharedRead<StripAnswer>>();

  constructor(
    private readonly service: Service,
    private readonly store: StripStore,
    private readonly requests: Requests,
  ) {}

  /** Reads the list. The answer is shared: a caller who passes it on makes a copy. */
  list(): Promise<ListAnswer> {
    return this.#share(this.#lists, null, () => this.#askList());
  }

  /** Reads one strip. The answer is shared, as in `list`. */
  get(mac: string): Promise<StripAnswer> {
    return this.#share(this.#strips, macKey(mac), () => this.askStrip(mac));
  }

  /** One request for a strip, not shared. The caller has acquired the semaphore. */
  async askStrip(mac: string): Promise<StripAnswer> {
    let version = 0;
    try {
      const answer = await this.withSpelling(mac, (spelling) => {
        // A list that was read to learn the spelling is older than the second request.
        version = this.store.nextVersion();
        return this.requests.record.add('strip', this.service.get(spelling));
      });
      return this.store.strip(answer, version);
    } catch (error) {
      if (isUnknownStrip(error)) this.store.missing(mac, version);
      throw error;
    }
  }

  /**
   * Sends a request about a strip, with the MAC as the service spells it. If the service does not know this spelling, and the last list is old or there
   * is none, reads the list. If another spelling is known then, sends the request again with that, unless `isOver` says that it must not be sent any
   * more. The caller has acquired the semaphore.
   */
  withSpelling<Answer>(mac: string, send: (spelling: string) => Promise<Answer>, isOver = () => false) {
    const spelling = this.store.spelling(mac);
    return send(spelling).catch(async (error: unknown) => {
      if (!isUnknownStrip(error)) throw error;
      const listError = this.store.isListOld ? await failureOf(this.#askList()) : null;
      // The service knows no list either: the base URL is wrong.
      if (listError?.code === 'NOT_FOUND') throw listError;
      // The spelling is still not known. The service has refused the request itself, so the error says that the command was not sent.
      if (listError?.retryable === true || listError?.code === 'CLOSED') throw asNotSent(listError);
      if (this.store.spelling(mac) === spelling || isOver()) throw error;
      return await send(this.store.spelling(mac));
    });
  }

  async #askList(): Promise<ListAnswer> {
    const version = this.store.nextVersion();
    try {
      return this.store.list(await this.requests.record.add('list', this.service.list()), version);
    } catch (error) {
      if (isStripError(error)) this.store.failed(error, version);
      throw error;
    }
  }

  #share<Key, Answer>(
    underWay: Map<Key, SharedRead<Answer>>,
    key: Key,
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    const current = underWay.get(key);
    if (current !== undefined && current.sentAfter() >= this.requests.commandRequestsOver)
      return current.answer;
    let sentAfter = Infinity;
    const answer = this.requests.send(null, () => {
      sentAfter = this.requests.commandRequestsOver;
      return ask();
    });
    const shared: SharedRead<Answer> = { answer, sentAfter: () => sentAfter };
    underWay.set(key, shared);
    const over = (): boolean => underWay.get(key) === shared && underWay.delete(key);
    answer.then(over, over);
    return answer;
  }
}
