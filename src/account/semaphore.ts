/** Bounds how many requests are under way at once. Whoever waits is admitted in the order of arrival. */
export class Semaphore {
  readonly #waiting: (() => void)[] = [];

  constructor(private free: number) {}

  /** Takes a place if one is free; give it back with `release`. */
  tryAcquire(): boolean {
    if (this.free <= 0) return false;
    this.free--;
    return true;
  }

  /** Waits for a place and takes it. */
  async acquire(): Promise<void> {
    if (!this.tryAcquire()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    const admit = this.#waiting.shift();
    if (admit === undefined) this.free++;
    else admit();
  }

  /** Removes the limit. */
  open(): void {
    this.free = Infinity;
    for (const admit of this.#waiting.splice(0)) admit();
  }
}
