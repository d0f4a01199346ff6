import type { Clock } from '../api/clock';

interface Delay {
  readonly end: () => void;
  /** Ends it within so many milliseconds. */
  readonly shorten: (ms: number) => void;
}

/** Delays that can be cut short, each with an owner. */
export class Delays {
  readonly #byOwner = new Map<object, Set<Delay>>();

  constructor(private readonly clock: Clock) {}

  get isEmpty(): boolean {
    return this.#byOwner.size === 0;
  }

  /** Ends after `ms` milliseconds, or earlier. */
  wait(owner: object, ms: number): Promise<void> {
    const delays = this.#byOwner.get(owner) ?? new Set<Delay>();
    this.#byOwner.set(owner, delays);
    return new Promise((resolve) => {
      const due = this.clock.monotonic() + ms;
      const end = (): void => {
        this.clock.clearTimeout(timer);
        delays.delete(delay);
        if (delays.size === 0) this.#byOwner.delete(owner);
        resolve();
      };
      const shorten = (most: number): void => {
        if (due - this.clock.monotonic() <= most) return;
        this.clock.clearTimeout(timer);
        timer = this.clock.setTimeout(end, most);
      };
      let timer = this.clock.setTimeout(end, ms);
      const delay: Delay = { end, shorten };
      delays.add(delay);
    });
  }

  /** Ends the delays of one owner now. */
  end(owner: object): void {
    for (const delay of [...(this.#byOwner.get(owner) ?? [])]) delay.end();
  }

  /** Ends all delays now. */
  endAll(): void {
    for (const owner of [...this.#byOwner.keys()]) this.end(owner);
  }

  /** Ends each delay within `ms` milliseconds, at random, but for those of owners that `except` names. */
  shortenAll(ms: number, except: (owner: object) => boolean): void {
    for (const [owner, delays] of this.#byOwner) {
      if (except(owner)) continue;
      for (const delay of delays) delay.shorten(this.clock.random() * ms);
    }
  }
}
