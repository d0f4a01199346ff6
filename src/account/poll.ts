import type { Clock, Timer } from '../api/clock';
import type { StripError } from '../api/errors';
import { fullJitter, HOUR, MINUTE, SECOND } from './backoff';
import type { Hold } from './hold';
import type { AccountLog } from './types';

/** No two polls begin closer together than this. */
const FLOOR = 5 * SECOND;
const JITTER = 0.1;
const LONGEST_BACKOFF = 5 * MINUTE;
const AUTH_WAIT = 15 * MINUTE;

/** What a round of reading came to. */
export interface Round {
  /** Why the list could not be read. */
  list: StripError | null;
  /** Why some strip's readings could not be. */
  readings: StripError | null;
}

type Mood = 'fine' | 'failing' | 'rejected' | 'rate limited';

/**
 * Asks the service how things are, round after round, while somebody wants to know. The interval counts from the end of one round to the
 * beginning of the next, so that a slow service is not asked more often than a fast one.
 */
export class Poll {
  readonly #clock: Clock;
  readonly #interval: number;
  readonly #hold: Hold;
  readonly #log: AccountLog;
  readonly #read: () => Promise<Round>;
  #running = false;
  #busy = false;
  #timer: Timer | null = null;
  #due = 0;
  #began = -Infinity;
  #mood: Mood = 'fine';
  #failures = 0;
  /** What a rate limit asked for, in milliseconds. */
  #asked = 0;
  #complained = false;
  #doubted = false;

  /** `interval` in milliseconds; `read` does one round and reports what went wrong. */
  constructor(clock: Clock, interval: number, hold: Hold, log: AccountLog, read: () => Promise<Round>) {
    this.#clock = clock;
    this.#interval = Math.max(interval, FLOOR);
    this.#hold = hold;
    this.#log = log;
    this.#read = read;
  }

  /** The first round begins at once. */
  start(): void {
    if (this.#running) return;
    this.#running = true;
    if (!this.#busy) void this.#round();
  }

  /** A round that is under way ends by itself; none follows. */
  stop(): void {
    this.#running = false;
    this.#cancel();
  }

  /** Some other request succeeded: what kept the poll from asking may be over. */
  succeeded(): void {
    if (this.#mood === 'failing' || this.#mood === 'rejected') this.#soon();
  }

  /** Something may have changed without our knowing. */
  doubt(): void {
    // What a round under way tells may be older than that.
    if (this.#busy) this.#doubted = true;
    else if (this.#mood === 'fine') this.#soon();
  }

  #soon(): void {
    if (!this.#running || this.#timer === null) return;
    const now = this.#clock.monotonic();
    const due = Math.max(now, this.#began + FLOOR);
    if (due < this.#due) this.#schedule(due - now);
  }

  async #round(): Promise<void> {
    this.#timer = null;
    const held = this.#hold.remaining;
    if (held > 0) {
      this.#schedule(held);
      return;
    }
    this.#busy = true;
    this.#began = this.#clock.monotonic();
    try {
      this.#take(await this.#read());
    } catch (error) {
      this.#log.fault(error);
    }
    this.#busy = false;
    const isDoubted = this.#doubted;
    this.#doubted = false;
    if (!this.#running) return;
    this.#schedule(this.#wait());
    if (isDoubted) this.doubt();
  }

  #take({ list, readings }: Round): void {
    const error = list ?? readings;
    // Closing ends the poll; that is no outage.
    if (error?.code === 'CLOSED') return;
    this.#failures = list === null ? 0 : this.#failures + 1;
    this.#mood = moodOf(list);
    this.#asked = list?.retryAfter ?? 0;
    if (error !== null && !this.#complained) this.#log.failing(error);
    if (error === null && this.#complained) this.#log.recovered();
    this.#complained = error !== null;
  }

  #wait(): number {
    const interval = this.#interval * this.#jitter();
    const backoff = Math.max(
      FLOOR,
      fullJitter(this.#clock.random(), this.#interval, LONGEST_BACKOFF, this.#failures - 1),
    );
    switch (this.#mood) {
      case 'fine':
        return interval;
      case 'failing':
        return backoff;
      case 'rejected':
        return Math.max(AUTH_WAIT, this.#interval) * this.#jitter();
      case 'rate limited':
        return Math.max(this.#interval, Math.min(Math.max(this.#asked, backoff), HOUR));
    }
  }

  #jitter(): number {
    return 1 + JITTER * (2 * this.#clock.random() - 1);
  }

  #schedule(ms: number): void {
    this.#cancel();
    this.#due = this.#clock.monotonic() + ms;
    this.#timer = this.#clock.setTimeout(() => void this.#round(), ms);
  }

  #cancel(): void {
    if (this.#timer !== null) this.#clock.clearTimeout(this.#timer);
    this.#timer = null;
  }
}

function moodOf(error: StripError | null): Mood {
  if (error === null) return 'fine';
  if (error.code === 'AUTH') return 'rejected';
  return error.code === 'RATE_LIMITED' ? 'rate limited' : 'failing';
}
