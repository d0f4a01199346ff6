/** Everything of one kind that came, in order, and a way to wait for what a test needs. */
export class Recorder<T> {
  readonly items: T[] = [];
  readonly #waiting = new Set<() => void>();

  /** How many have come; hand it to `find` as `after` to wait for something that is still to come. */
  get mark(): number {
    return this.items.length;
  }

  push(item: T): void {
    this.items.push(item);
    for (const look of [...this.#waiting]) look();
  }

  /**
   * The first item from position `after` on that fits: at once where it has come already, else as soon as it comes.
   * Rejects after `timeout` milliseconds, with `what` and the last items in its message.
   */
  async find(
    what: string,
    fits: (item: T) => boolean,
    { after = 0, timeout = 60_000 }: { after?: number; timeout?: number } = {},
  ): Promise<T> {
    let seen = after;
    return await new Promise<T>((resolve, reject) => {
      const settle = (finish: () => void) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        finish();
      };
      const look = () => {
        for (; seen < this.items.length; seen++) {
          const item = this.items[seen];
          if (item === undefined || !fits(item)) continue;
          settle(() => resolve(item));
          return;
        }
      };
      const timer = setTimeout(() => {
        const last = this.items.slice(after).slice(-20);
        settle(() =>
          reject(new Error(`no ${what} within ${timeout} ms; the last that came: ${JSON.stringify(last)}`)),
        );
      }, timeout);
      this.#waiting.add(look);
      look();
    });
  }
}
