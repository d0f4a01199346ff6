// When requests may be sent: the pause that the service asks for, how many may run at once, and the wait before a retry.
import { isStripError, StripError } from './errors';
import type { Clock } from './types';

/** Longest pause that the account keeps, in milliseconds, whatever the service asks for. */
const LONGEST_COOLDOWN = 3_600_000;
/** Milliseconds without a pause after which the next one is logged, however short it is. */
const LOG_AGAIN_AFTER = 3_600_000;
/** Shortest time between two probes, in milliseconds. */
const PROBE_INTERVAL = 5_000;

/** The pause that the service asked for with status 429 and `Retry-After`: until it is over, only probes and the "on" of cycles are sent. */
export class Cooldown {
  #error: StripError | null = null;
  #began = 0;
  #until = 0;
  /** The same on the wall clock, calculated when the pause began. */
  #untilWall = 0;
  /** Seconds of the longest pause that was logged. */
  #longest = 0;
  #probed = -Infinity;
  /** The command that was sent last during the pause. */
  #probe: object | null = null;

  constructor(private readonly clock: Clock) {}

  /** The error of the answer that began the pause; `null`: there is no pause. */
  get error(): StripError | null {
    return this.remaining > 0 ? this.#error : null;
  }

  /** When the pause ends, in wall-clock milliseconds; `null`: there is no pause. */
  get until(): number | null {
    return this.remaining > 0 ? this.#untilWall : null;
  }

  /** Milliseconds that are left of the pause. The monotonic clock stands still while the machine sleeps, so the wall clock counts, too. */
  get remaining(): number {
    return Math.max(0, Math.min(this.#until - this.clock.monotonic(), this.#untilWall - this.clock.wall()));
  }

  /**
   * A request failed. If the service asked for a pause, starts the pause or makes the current one longer. Returns whether to log it. A service that
   * limits one kind of request may ask for a pause at every poll, so a pause is logged only if it is longer than the last one logged, or if there was
   * none for a long time.
   */
  failed(error: unknown): boolean {
    this.#probe = null;
    if (!isStripError(error) || error.code !== 'RATE_LIMITED' || error.retryAfter === undefined) return false;
    const pause = Math.max(this.remaining, Math.min(error.retryAfter, LONGEST_COOLDOWN));
    this.#error = error;
    this.#began = this.clock.monotonic();
    if (this.#began - this.#until > LOG_AGAIN_AFTER) this.#longest = 0;
    this.#until = this.#began + pause;
    this.#untilWall = Math.round(this.clock.wall() + pause);
    const seconds = Math.ceil(pause / 1000);
    const isLonger = seconds > this.#longest;
    if (isLonger) this.#longest = seconds;
    return isLonger;
  }

  /** A request that was sent at `sent` succeeded. If it was sent during the pause, the pause is over. Returns whether that is so. */
  end(sent: number): boolean {
    if (this.remaining === 0 || sent <= this.#began) return false;
    this.#until = this.clock.monotonic();
    return true;
  }

  /** Whether a command may be sent during the pause, to find out whether it is over. It may have several requests. */
  takeProbe(command: object): boolean {
    if (command === this.#probe) return true;
    const now = this.clock.monotonic();
    if (now - this.#probed < PROBE_INTERVAL) return false;
    this.#probe = command;
    this.#probed = now;
    return true;
  }
}

/** The error for a cooldown that lasts longer than a command or read may still wait. `limit`: how long it may wait in all. Both in milliseconds. */
export const waitTooLong = (error: StripError, cooldown: number, limit: number): StripError => {
  const params = { ...error.params, seconds: Math.ceil(cooldown / 1000), limit: limit / 1000 };
  const details = { retryAfter: cooldown, response: error.response, cause: error };
  return new StripError(cooldown > limit ? 'RATE_LIMITED.deadline' : 'RATE_LIMITED.seconds', params, details);
};

/**
 * Limits how many requests are under way at once. Waiting requests are admitted in the order of arrival. If the limit is more than one, reads leave
 * one place free for commands, so that a switch does not wait for many slow reads. Each request has an owner: its command; `null`: it is a read.
 */
export class Semaphore<Owner> {
  #waiting: { owner: Owner | null; admit: () => void; refuse: (reason: Error) => void }[] = [];
  readonly #mostReads: number;
  #reads = 0;

  constructor(private free: number) {
    this.#mostReads = Math.max(1, free - 1);
  }

  /** True if it could be acquired at once; call `release` afterwards. */
  tryAcquire(owner: Owner | null): boolean {
    if (this.free <= 0 || (owner === null && this.#reads >= this.#mostReads)) return false;
    this.free--;
    if (owner === null) this.#reads++;
    return true;
  }

  /** Waits until it is acquired. */
  wait(owner: Owner | null): Promise<void> {
    return new Promise((admit, refuse) => this.#waiting.push({ owner, admit, refuse }));
  }

  release(owner: Owner | null): void {
    this.free++;
    if (owner === null) this.#reads--;
    const next = this.#waiting.findIndex((each) => this.tryAcquire(each.owner));
    if (next >= 0) this.#waiting.splice(next, 1)[0]?.admit();
  }

  /** Rejects the waits of all owners for which `reasonFor` returns an error, with that error. */
  end(reasonFor: (owner: Owner | null) => Error | null): void {
    this.#waiting = this.#waiting.filter(({ owner, refuse }) => {
      const reason = reasonFor(owner);
      if (reason !== null) refuse(reason);
      return reason === null;
    });
  }

  /** Removes the limit. */
  open(): void {
    this.free = Infinity;
    for (const { admit } of this.#waiting.splice(0)) admit();
  }
}

/**
 * Full-jitter back-off: a random wait from 0 to `base` doubled `failures` times, but at most `longest`, so that clients that failed together do not
 * retry together. In milliseconds; `random` is in [0, 1).
 */
export function fullJitter(random: number, base: number, longest: number, failures: number): number {
  return random * Math.min(longest, base * 2 ** failures);
}
