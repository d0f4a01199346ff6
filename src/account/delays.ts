import type { Clock } from '../api/clock';
import type { QueuedCommand } from './queued-command';

/** Whose delay it is; `null`: a read's. */
type Owner = QueuedCommand | null;

interface Delay {
  readonly end: () => void;
  /** Ends it within so many milliseconds. */
  readonly shorten: (ms: number) => void;
}

/** Delays that can be cut short. */
export class Delays {
  readonly #byOwner = new Map<Owner, Set<Delay>>();

  constructor(private readonly clock: Clock) {}

  get isEmpty(): boolean {
    return this.#byOwner.size === 0;
  }

  /** Ends after `ms` milliseconds, or earlier. */
  wait(owner: Owner, ms: number): Promise<void> {
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
  end(owner: Owner): void {
    for (const delay of [...(this.#byOwner.get(owner) ?? [])]) delay.end();
  }

  /** Ends all delays now. */
  endAll(): void {
    for (const owner of [...this.#byOwner.keys()]) this.end(owner);
  }

  /** Ends each delay within `ms` milliseconds, at random, but for a cycle's between its halves. */
  shortenAll(ms: number): void {
    for (const [owner, delays] of this.#byOwner) {
      if (owner?.phase === 'pausing') continue;
      for (const delay of delays) delay.shorten(this.clock.random() * ms);
    }
  }
}
