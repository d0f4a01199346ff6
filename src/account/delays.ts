import type { Clock, Timer } from '../api/clock';
import type { QueuedCommand } from './queued-command';

/** Whose delay it is; `null`: a read's. */
type Owner = QueuedCommand | null;

interface Delay {
  readonly owner: Owner;
  /** On the monotonic clock. */
  readonly due: number;
  readonly end: () => void;
  timer: Timer;
}

/** Delays that can be cut short. */
export class Delays {
  readonly #all = new Set<Delay>();

  constructor(private readonly clock: Clock) {}

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  /** Ends after `ms` milliseconds, or earlier. */
  wait(owner: Owner, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.clock.clearTimeout(delay.timer);
        this.#all.delete(delay);
        resolve();
      };
      const due = this.clock.monotonic() + ms;
      const delay: Delay = { owner, due, end, timer: this.clock.setTimeout(end, ms) };
      this.#all.add(delay);
    });
  }

  /** Ends those of some owners now. */
  end(isOver: (owner: Owner) => boolean = () => true): void {
    for (const delay of this.#all) if (isOver(delay.owner)) delay.end();
  }

  /** Ends each within `ms` milliseconds, at random, but for a cycle's between its halves. */
  shorten(ms: number): void {
    for (const delay of this.#all) {
      if (delay.owner?.phase === 'pausing') continue;
      const most = this.clock.random() * ms;
      if (delay.due - this.clock.monotonic() <= most) continue;
      this.clock.clearTimeout(delay.timer);
      delay.timer = this.clock.setTimeout(delay.end, most);
    }
  }
}
