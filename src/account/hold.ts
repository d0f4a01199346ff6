import type { Clock } from '../api/clock';
import { LONGEST_HOLD } from './backoff';

/** The service asked for patience (429 with `Retry-After`): until when nothing new should be sent. */
export class Hold {
  readonly #clock: Clock;
  #since = 0;
  #until = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds that are left. */
  get remaining(): number {
    return this.#until === 0 ? 0 : Math.max(0, this.#until - this.#clock.monotonic());
  }

  /** `ms`: what the service asked for. */
  extend(ms: number): void {
    this.#since = this.#clock.monotonic();
    this.#until = Math.max(this.#until, this.#since + Math.min(ms, LONGEST_HOLD));
  }

  /** A request sent at `sent` was answered well: if that was during the hold, the service no longer insists. */
  lift(sent: number): void {
    if (this.#until !== 0 && sent > this.#since) this.#until = 0;
  }
}
