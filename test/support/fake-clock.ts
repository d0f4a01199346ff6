import { createClock } from '@sinonjs/fake-timers';
import type { Clock } from '../../src/api/clock';

/** Time that stands still until it is moved. */
export class FakeClock implements Clock {
  readonly #timers = createClock(0);
  /** 0.5 leaves an interval as it is. */
  random = (): number => 0.5;
  /** Added to the wall clock only. */
  jump = 0;

  monotonic = (): number => this.#timers.now;
  wall = (): number => 1_800_000_000_000 + this.#timers.now + this.jump;

  setTimeout(callback: () => void, ms: number): object | number {
    return this.#timers.setTimeout(callback, ms);
  }

  clearTimeout(timer: object | number): void {
    this.#timers.clearTimeout(timer as number);
  }

  /** The event loop is blocked for so long: what is due then fires late, once, before any answer can be read. */
  block(ms: number): void {
    this.#timers.jump(ms);
  }

  /** Moves on at once; what is due fires in its order. */
  protected advance(ms: number): void {
    this.#timers.tick(ms);
  }

  get pending(): number {
    return this.#timers.countTimers();
  }

  /** Moves on, and lets everything happen that is due by then. */
  async pass(ms: number): Promise<void> {
    await this.#timers.tickAsync(ms);
    await calm();
  }
}

/**
 * Time that goes on by itself while something waits for it, so many times as fast as it does: for real sockets, and back-offs of minutes
 * that are over in a second. It goes on by the turns of the event loop, not by what they take: on a busy machine it is slower, and no time
 * limit passes before an answer that has come was read.
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

  /** Resolves when so many of its milliseconds have gone by. */
  passed(ms: number): Promise<void> {
    return new Promise((resolve) => this.setTimeout(resolve, ms));
  }
}

/** Lets everything happen that does not wait for a timer. */
export const calm = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
