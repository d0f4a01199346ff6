import type { Clock } from '../api/clock';
import type { StripError } from '../api/errors';

/** Longest pause that the account keeps, in milliseconds, whatever the service asks for. */
const LONGEST_PAUSE = 3_600_000;
/** Shortest time between two probes, in milliseconds. */
const PROBE_INTERVAL = 5_000;

/** The pause that the service asked for with status 429 and `Retry-After`: until it is over, only probes are sent. */
export class Cooldown {
  #error: StripError | null = null;
  #began = 0;
  #until = 0;
  #probed = -Infinity;
  /** When it ends, in wall-clock milliseconds, as seen when it began. */
  untilWall = 0;

  constructor(private readonly clock: Clock) {}

  /** The answer that began the pause; `null` where there is none. */
  get error(): StripError | null {
    return this.remaining > 0 ? this.#error : null;
  }

  /** Milliseconds that are left. */
  get remaining(): number {
    return this.#error === null ? 0 : Math.max(0, this.#until - this.clock.monotonic());
  }

  /** Begins a pause of `ms`, or lengthens the one there is. Returns whether there was none. */
  begin(error: StripError, ms: number): boolean {
    const isNew = this.remaining === 0;
    this.#error = error;
    this.#began = this.clock.monotonic();
    this.#until = Math.max(this.#until, this.#began + Math.min(ms, LONGEST_PAUSE));
    this.untilWall = Math.round(this.clock.wall() + this.remaining);
    return isNew && ms > 0;
  }

  /** A request that was sent at `sent` succeeded: if that was during the pause, the service no longer asks for it. Returns whether it ended one. */
  end(sent: number): boolean {
    if (this.remaining === 0 || sent <= this.#began) return false;
    this.#error = null;
    this.#until = 0;
    return true;
  }

  /** Whether a request may go out although the pause lasts, to see whether it still does. */
  takeProbe(): boolean {
    const now = this.clock.monotonic();
    if (now - this.#probed < PROBE_INTERVAL) return false;
    this.#probed = now;
    return true;
  }
}
