import { createClock } from '@sinonjs/fake-timers';
import type { Clock } from '../../src/api/types';

/** The monotonic time at first: that of a computer that has run for a while, so that a duration is never by chance equal to a time. */
const STARTS_AT = 100_000_000;

/** A clock that moves only when a test moves it. */
export class FakeClock implements Clock {
  readonly #timers = createClock(STARTS_AT);
  /** 0.5 leaves an interval as it is. */
  random = (): number => 0.5;
  /** Added to the wall clock only. */
  jump = 0;

  monotonic = (): number => this.#timers.now;
  wall = (): number => 1_800_000_000_000 + this.elapsed + this.jump;

  /** Milliseconds since the test began. */
  get elapsed(): number {
    return this.#timers.now - STARTS_AT;
  }

  setTimeout(callback: () => void, ms: number): object | number {
    return this.#timers.setTimeout(callback, ms);
  }

  clearTimeout(timer: object | number | null | undefined): void {
    this.#timers.clearTimeout(timer as number);
  }

  /** As if the event loop were blocked for `ms`: timers fire late, each once, before any answer can be read. */
  block(ms: number): void {
    this.#timers.jump(ms);
  }

  /** Moves on without a pause; the timers that are due fire in order. */
  protected advance(ms: number): void {
    this.#timers.tick(ms);
  }

  get pending(): number {
    return this.#timers.countTimers();
  }

  /** Moves on, and lets promises settle after each timer that fires. */
  async pass(ms: number): Promise<void> {
    await this.#timers.tickAsync(ms);
    await calm();
  }
}

/**
 * A clock that runs while a timer waits: about every millisecond it moves on by `factor` milliseconds. For tests with real sockets, in which
 * back-offs of minutes are over in a second. On a busy machine it runs slower, so that no deadline passes before an answer that has arrived
 * was read.
 */
export class FastClock extends FakeClock {
  #interval: NodeJS.Timeout | null = null;

  constructor(private readonly factor: number) {
    super();
  }

  override setTimeout(callback: () => void, ms: number): object | number {
    this.#interval ??= setInterval(() => this.#goOn(), 1).unref();
    return super.setTimeout(callback, ms);
  }

  #goOn(): void {
    this.advance(this.factor);
    if (this.pending > 0 || this.#interval === null) return;
    clearInterval(this.#interval);
    this.#interval = null;
  }

  override random = (): number => Math.random();

  /** Resolves when this clock has moved on by `ms`. */
  passed(ms: number): Promise<void> {
    return new Promise((resolve) => this.setTimeout(resolve, ms));
  }
}

/** Lets every promise settle that does not wait for a timer or for I/O. */
export const calm = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
