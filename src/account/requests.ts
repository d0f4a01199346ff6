import { closedError, isStripError, type StripError } from '../api/errors';
import type { CommandQueue } from './command-queue';
import { Cooldown } from './cooldown';
import type { DiagnosticCounters } from './diagnostics';
import { isOutage, mayBeCarriedOut, pauseTooLong } from './errors';
import type { QueuedCommand } from './queued-command';
import { Semaphore } from './semaphore';
import type { AccountOptions } from './types';

/** Milliseconds. */
const SECOND = 1_000;
const FIRST_BACKOFF = SECOND / 2;
const LONGEST_BACKOFF = 10 * SECOND;
/** Between attempts to switch an outlet back on that the service refuses to switch. */
const LONGEST_REFUSED_BACKOFF = 60 * SECOND;
/** The first success after an outage makes retries come within this time... */
const WAKE_SPREAD = SECOND;
/** ...but no more often than this, where some requests succeed and others never do. */
const WAKE_INTERVAL = 5 * SECOND;

/**
 * How a request is retried. 'read': not at all. 'command': while the command is patient, and where a retry may help. 'restore': after any failure, until it succeeds or
 * a newer command takes over. While the account closes, 'restore' hurries.
 */
export type RetryPolicy = 'read' | 'command' | 'restore';

/** Sends requests: so many at once, only probes while the service asks for a pause, and again where the policy says so. */
export class Requests {
  readonly cooldown: Cooldown;
  readonly #semaphore: Semaphore;
  #shutdown: 'no' | 'closing' | 'over' = 'no';
  #wokenAt = -Infinity;
  /** Requests that are being retried. */
  #retrying = 0;
  #saidRetrying = false;

  /** `onAnswer` is called when a request succeeded or the service asked for a pause. `endedPause`: it no longer asks for one. */
  constructor(
    private readonly options: AccountOptions,
    private readonly queue: CommandQueue,
    private readonly counters: Pick<DiagnosticCounters, 'retries'>,
    private readonly onAnswer: (succeeded: boolean, endedPause: boolean) => void,
  ) {
    this.cooldown = new Cooldown(options.clock);
    this.#semaphore = new Semaphore(options.settings.concurrency);
  }

  /** One request of a read, without a retry. */
  async read<T>(ask: () => Promise<T>): Promise<T> {
    if (!this.#tryAdmit()) await this.#admit(null, 'read', true);
    return await this.#request(null, ask);
  }

  /** A request of a command, retried as the policy says. */
  async send<T>(queued: QueuedCommand, ask: () => Promise<T>, policy: RetryPolicy): Promise<T> {
    let failures = 0;
    let isAnswered = false;
    try {
      for (;;) {
        this.#check(queued, policy);
        if (!this.#tryAdmit()) await this.#admit(queued, policy, failures === 0);
        if (policy === 'command') this.queue.enter(queued, 'sending');
        if (failures > 0) this.counters.retries++;
        try {
          const answer = await this.#request(queued, ask);
          isAnswered = true;
          return answer;
        } catch (error) {
          if (!isStripError(error)) throw error;
          const wait = this.#retryAfter(queued, error, failures, policy);
          if (failures++ === 0) this.#beginRetrying(error);
          await this.#pause(queued, policy, error, wait);
        }
      }
    } finally {
      if (failures > 0) this.#retrying--;
      if (isAnswered && this.#saidRetrying && this.#retrying === 0) {
        this.#saidRetrying = false;
        this.options.log.retryingOver();
      }
    }
  }

  /** From now on reads fail, and restores are sent at once and without the concurrency limit. */
  close(): void {
    this.#shutdown = 'closing';
    this.#semaphore.open();
    this.queue.delays.endAll();
  }

  /** Ends restores that have not succeeded. */
  giveUp(): void {
    this.#shutdown = 'over';
    this.queue.delays.endAll();
  }

  /** Throws if a command must make no further attempt, or a read none at all. */
  #check(queued: QueuedCommand | null, policy: RetryPolicy): void {
    if (queued === null) {
      if (this.#shutdown !== 'no') throw closedError('account');
    } else if (policy === 'command') this.queue.check(queued);
    else if (queued.stop?.code === 'SUPERSEDED') throw queued.stop;
    else if (this.#shutdown === 'over') throw queued.failure ?? closedError('account');
  }

  /** Milliseconds until the next attempt; throws where there is none. `failures`: how many attempts failed before this one. */
  #retryAfter(queued: QueuedCommand, error: StripError, failures: number, policy: RetryPolicy): number {
    const backoff = (longest: number) =>
      fullJitter(this.options.clock.random(), FIRST_BACKOFF, longest, failures);
    const asked = error.retryAfter ?? 0;
    if (policy === 'restore') {
      if (this.#shutdown === 'over') throw error;
      if (this.#shutdown === 'closing') return backoff(SECOND);
      const isRefused = !isOutage(error) && !mayBeCarriedOut(error);
      return Math.max(
        backoff(isRefused ? LONGEST_REFUSED_BACKOFF : LONGEST_BACKOFF),
        Math.min(asked, LONGEST_REFUSED_BACKOFF),
      );
    }
    const { retryFor } = this.options.settings;
    if (queued.stop !== null) throw queued.stop;
    if (!error.retryable || retryFor === 0) throw error;
    const left = this.queue.timeLeft(queued, retryFor);
    const pause = this.cooldown.remaining;
    if (pause > Math.max(left, 0) && error.code === 'RATE_LIMITED')
      throw pauseTooLong(error, Math.max(pause, asked), retryFor);
    if (left <= 0 || pause > left) throw error;
    // Rather than past the deadline, the last attempt is made at it.
    return Math.max(pause, Math.min(left, Math.max(backoff(LONGEST_BACKOFF), asked)));
  }

  #beginRetrying(error: StripError): void {
    this.#retrying++;
    if (this.#saidRetrying || error.code === 'RATE_LIMITED') return;
    this.#saidRetrying = true;
    this.options.log.retrying(error);
  }

  /** Takes a place at once if no other request and no pause is in the way. */
  #tryAdmit(): boolean {
    return this.cooldown.remaining === 0 && this.#semaphore.tryAcquire();
  }

  /** Waits until a request may be sent, and takes a place for it. */
  async #admit(queued: QueuedCommand | null, policy: RetryPolicy, mayProbe: boolean): Promise<void> {
    let isProbe = queued?.phase === 'restoring';
    for (;;) {
      const { error, remaining } = this.cooldown;
      if (error !== null && !isProbe) {
        const { patience } = this.queue;
        if (remaining <= (queued === null ? patience : this.queue.timeLeft(queued))) {
          await this.#pause(queued, policy, error, remaining);
          this.#check(queued, policy);
          continue;
        }
        if (!mayProbe || !this.cooldown.takeProbe()) throw pauseTooLong(error, remaining, patience);
        isProbe = true;
      }
      if (queued !== null) this.queue.expireLater(Math.max(0, this.queue.timeLeft(queued)));
      await this.#semaphore.acquire();
      try {
        this.#check(queued, policy);
        if (isProbe || this.cooldown.remaining === 0) return;
      } catch (stopped) {
        this.#semaphore.release();
        throw stopped;
      }
      this.#semaphore.release();
    }
  }

  /** Waits before the next attempt. */
  async #pause(
    queued: QueuedCommand | null,
    policy: RetryPolicy,
    error: StripError,
    ms: number,
  ): Promise<void> {
    if (queued !== null) this.queue.retryLater(queued, error);
    this.#check(queued, policy);
    await this.queue.delays.wait(queued, ms);
  }

  /** One request, for which a place is taken. Gives it back. */
  async #request<T>(queued: QueuedCommand | null, ask: () => Promise<T>): Promise<T> {
    const sent = this.options.clock.monotonic();
    if (queued !== null) queued.underWay++;
    try {
      const answer = await ask();
      if (queued !== null) queued.failure = null;
      const endedPause = this.cooldown.end(sent);
      this.onAnswer(true, endedPause);
      this.#wakeRetries(endedPause);
      return answer;
    } catch (error) {
      if (isStripError(error) && error.code === 'RATE_LIMITED' && error.retryAfter !== undefined) {
        const isNew = this.cooldown.begin(error, error.retryAfter);
        if (isNew) this.options.log.rateLimited(Math.ceil(this.cooldown.remaining / SECOND));
        this.onAnswer(false, false);
      }
      throw error;
    } finally {
      if (queued !== null) queued.underWay--;
      this.#semaphore.release();
    }
  }

  /** The service answers again: retries need not wait as long as they meant to. */
  #wakeRetries(endedPause: boolean): void {
    if (this.queue.delays.isEmpty || this.cooldown.remaining > 0) return;
    const now = this.options.clock.monotonic();
    if (!endedPause && now - this.#wokenAt < WAKE_INTERVAL) return;
    this.#wokenAt = now;
    this.queue.delays.shortenAll(WAKE_SPREAD);
  }
}

/**
 * Full-jitter back-off: uniform between nothing and `base` doubled `failures` times, at most `longest`; so that many who failed together do not
 * come back together. Milliseconds; `random` in [0, 1).
 */
export function fullJitter(random: number, base: number, longest: number, failures: number): number {
  return random * Math.min(longest, base * 2 ** Math.min(failures, 30));
}
