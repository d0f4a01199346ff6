import { failureOf, type StripError } from '../api/errors';
import { fullJitter, type Cooldown } from '../api/limits';
import type { Timer } from '../api/types';
import { ReadingsPoll } from './readings-poll';
import type { Reader } from './requests';
import type { StripStore } from './strip-store';
import type { AccountOptions } from './types';

/** Milliseconds. */
const LONGEST_BACKOFF = 5 * 60_000;
const WAIT_WHILE_REJECTED = 15 * 60_000;
/** If cooldowns delay the next list by more than this many milliseconds, the last list counts as outdated. */
const LONG_COOLDOWN = 60_000;
/** The fraction by which the interval varies at random, up or down. */
const JITTER = 0.1;

/**
 * While the account has subscribers, reads the list again and again, each time followed by the readings that the list lacks. The interval counts from
 * the end of a round to the beginning of the next, so that a slow service has as much rest as a fast one.
 */
export class Poller {
  isRunning = false;
  readonly #readings: ReadingsPoll;
  #isReading = false;
  /** Pending while it is running, except while it is reading. */
  #timer: Timer | null = null;
  /** When the next round begins, and when the latest one began; on the monotonic clock. */
  #due = 0;
  #began = -Infinity;
  /** Why the latest list could not be read. */
  #failure: StripError | null = null;
  #failures = 0;
  /** The next wait is the first one after a start or a recovery: random, so that accounts that start together do not poll together. */
  #isFirstWait = true;
  /** What was logged as failing and has not recovered since. */
  #loggedFailure: 'list' | 'readings' | null = null;
  /** Monotonic time when a cooldown first delayed the next list; `null`: none has. */
  #delayedSince: number | null = null;
  #refreshAfterRound = false;

  constructor(
    private readonly options: AccountOptions,
    private readonly store: StripStore,
    private readonly reader: Reader,
    private readonly cooldown: Cooldown,
  ) {
    this.#readings = new ReadingsPoll(options, store, reader, cooldown);
  }

  /** The first round begins at once, but not within the minimum interval after an earlier round. */
  start(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    this.store.checkAge();
    this.#isFirstWait = true;
    if (this.#isReading) return;
    const { clock, settings } = this.options;
    const wait = this.#began + settings.minInterval - clock.monotonic();
    if (wait > 0) this.#schedule(wait);
    else void this.#round();
  }

  /** A round that is under way ends by itself; none follows. */
  stop(): void {
    this.isRunning = false;
    this.#delayedSince = null;
    this.options.clock.clearTimeout(this.#timer);
  }

  /** A request succeeded: after a failure, the next round may begin earlier. `endedCooldown`: it ended the cooldown. */
  succeeded(endedCooldown: boolean): void {
    const { interval } = this.options.settings;
    if (endedCooldown) this.#soon(this.#firstWait());
    else if (this.#failure !== null) this.#soon(this.#failure.code === 'RATE_LIMITED' ? interval : 0);
  }

  /**
   * Begins the next round as soon as the minimum interval allows, for instance because a command ended without a known result. Does nothing if the
   * latest list could not be read.
   */
  refresh(): void {
    if (this.#failure !== null) return;
    // A round that is under way may return an older state.
    if (this.#isReading) this.#refreshAfterRound = true;
    else this.#soon(0);
  }

  #soon(ms: number): void {
    if (!this.isRunning || this.#isReading) return;
    const { clock, settings } = this.options;
    const now = clock.monotonic();
    const due = Math.max(now + ms, this.#began + settings.minInterval);
    if (due < this.#due) this.#schedule(due - now);
  }

  async #round(): Promise<void> {
    const { error, remaining } = this.cooldown;
    const now = this.options.clock.monotonic();
    if (error !== null) {
      this.#delayedSince ??= now;
      // During a long cooldown, all strips are marked as unavailable again each minute: a request that was sent before it may have made one available.
      this.#schedule(remaining > LONG_COOLDOWN ? LONG_COOLDOWN : remaining + this.#firstWait());
      if (now + remaining - this.#delayedSince <= LONG_COOLDOWN) return;
      this.store.failed(error, this.store.nextVersion());
      return;
    }
    this.#isReading = true;
    this.#delayedSince = null;
    this.#began = now;
    try {
      const listError = await failureOf(this.reader.list());
      if (listError !== null) this.#report('list', listError);
      else this.#report('readings', await this.#readings.round());
    } catch (error) {
      this.options.log.fault(error);
    }
    this.#isReading = false;
    if (this.isRunning) this.#schedule(this.#wait());
    if (this.#refreshAfterRound) this.refresh();
    this.#refreshAfterRound = false;
  }

  /** Logs what has begun to fail, or works again. `what`: what the round read last; `error`: why that failed. */
  #report(what: 'list' | 'readings', error: StripError | null): void {
    // Closing ends the poll; that is no outage.
    if (error?.code === 'CLOSED') return;
    if (this.#failure !== null) this.#isFirstWait = true;
    this.#failure = what === 'list' ? error : null;
    this.#failures = this.#failure === null ? 0 : this.#failures + 1;
    const failing = error === null ? null : what;
    if (failing === this.#loggedFailure) return;
    // If the readings were failing and now the list fails, only the new failure is logged.
    if (failing !== 'list' && this.#loggedFailure !== null) this.options.log.recovered(this.#loggedFailure);
    if (error !== null) this.options.log.failing(what, error);
    this.#loggedFailure = failing;
  }

  /** Milliseconds until the next round. */
  #wait(): number {
    const { clock, settings } = this.options;
    const { interval, minInterval } = settings;
    const vary = (ms: number): number => ms * (1 + JITTER * (2 * clock.random() - 1));
    if (this.#failure === null) {
      // A cooldown does not change when the next round is due: `#round` then waits for its end.
      const wait = this.#isFirstWait ? this.#firstWait() : vary(interval);
      this.#isFirstWait = false;
      return Math.max(wait, minInterval);
    }
    // `#round` waits for the end of the cooldown.
    if (this.cooldown.remaining > 0) return 0;
    if (this.#failure.code === 'AUTH') return vary(Math.max(WAIT_WHILE_REJECTED, interval));
    const backoff = fullJitter(clock.random(), interval, LONGEST_BACKOFF, this.#failures - 1);
    return Math.max(this.#failure.code === 'RATE_LIMITED' ? interval : minInterval, backoff);
  }

  /** Milliseconds of the first wait after a start, a recovery or a cooldown: random within the interval, but not shorter than the minimum one. */
  #firstWait(): number {
    const { clock, settings } = this.options;
    const wait = clock.random() * settings.interval;
    // Not `Math.max`: many accounts that start together would then poll together again, exactly at the minimum interval.
    return wait < settings.minInterval ? wait + settings.minInterval : wait;
  }

  #schedule(ms: number): void {
    const { clock } = this.options;
    clock.clearTimeout(this.#timer);
    this.#due = clock.monotonic() + ms;
    this.#timer = clock.setTimeout(() => void this.#round(), ms);
  }
}
