import type { Progress } from '../account/types';
import { Chain, type Link } from '../api/chain';
import type { Clock, Timer } from '../api/clock';
import { ASKING, RATE_LIMITED, RETRYING, type Mark } from './marks';

/** Milliseconds after which something is worth a badge that says it is under way. */
const PATIENCE = 100;

/** Something under way, as the badge sees it. */
export interface Flight extends Link<Flight> {
  readonly since: number;
  phase: Progress['phase'] | null;
}

/**
 * What a node shows of itself: its latest result, or, while something takes longer, what it is doing. Sets nothing that is set already, and
 * nothing any more once it is closed.
 */
export class Badge {
  readonly #show: (mark: Mark | null) => void;
  readonly #clock: Clock;
  readonly #flights = new Chain<Flight>();
  /** Flights that are being retried, and those that wait because the service asked for it. */
  #retrying = 0;
  #limited = 0;
  /** One for all flights; it may well find, when it is due, that nothing is late. */
  #timer: Timer | null = null;
  /** The oldest flight has taken longer than `PATIENCE`. */
  #late = false;
  #result: Mark | null = null;
  #shown: Mark | null = null;
  #closed = false;

  constructor(show: (mark: Mark | null) => void, clock: Clock) {
    this.#show = show;
    this.#clock = clock;
  }

  begin(): Flight {
    const flight: Flight = { since: this.#clock.monotonic(), phase: null, before: null, behind: null };
    this.#flights.add(flight);
    if (this.#timer === null && !this.#late && !this.#closed) this.#wait(PATIENCE);
    return flight;
  }

  progress(flight: Flight, progress: Progress): void {
    if (!this.#flights.has(flight)) return;
    this.#count(flight.phase, -1);
    flight.phase = progress.phase;
    this.#count(flight.phase, 1);
    this.#paint();
  }

  /** `result`: what to show from now on; `null`: what was shown before. */
  end(flight: Flight, result: Mark | null): void {
    if (!this.#flights.delete(flight)) return;
    this.#count(flight.phase, -1);
    if (this.#late) this.#look();
    if (result !== null) this.#result = result;
    this.#paint();
  }

  /** Shows something that is nobody's answer. */
  set(result: Mark): void {
    this.#result = result;
    this.#paint();
  }

  close(): void {
    // The editor goes on showing what a node said last, and nothing is under way any more.
    if (!this.#closed && this.#shown !== this.#result) this.#show(this.#result);
    this.#closed = true;
    if (this.#timer !== null) this.#clock.clearTimeout(this.#timer);
    this.#timer = null;
  }

  #count(phase: Flight['phase'], by: number): void {
    if (phase === 'retrying') this.#retrying += by;
    else if (phase === 'rate limited') this.#limited += by;
  }

  #wait(ms: number): void {
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = null;
      this.#look();
      this.#paint();
    }, ms);
  }

  /** Looks at whether the oldest flight is late, or when it will be. */
  #look(): void {
    this.#late = false;
    const oldest = this.#flights.first;
    if (oldest === null || this.#closed) return;
    const rest = PATIENCE - (this.#clock.monotonic() - oldest.since);
    if (rest <= 0) this.#late = true;
    else if (this.#timer === null) this.#wait(rest);
  }

  #paint(): void {
    if (this.#closed) return;
    const mark = this.#mark();
    if (mark === this.#shown) return;
    this.#shown = mark;
    this.#show(mark);
  }

  #mark(): Mark | null {
    if (this.#limited > 0) return RATE_LIMITED;
    if (this.#retrying > 0) return RETRYING;
    return this.#late ? ASKING : this.#result;
  }
}
