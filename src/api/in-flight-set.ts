/** What an `InFlightSet` needs of its members: a field that only the set writes. */
export interface InFlight {
  slot: number;
}

/**
 * A set, in the order of arrival, for what comes and goes with every message. A built-in `Set` makes a new table every few additions, and each old
 * one keeps the next alive until a full garbage collection. With two of them on a command's way, `node --trace-gc` showed 15 microseconds of garbage
 * collection per command instead of 7.
 */
export class InFlightSet<T extends InFlight> implements Iterable<T> {
  #slots: (T | null)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(item: T): void {
    item.slot = this.#slots.length;
    this.#slots.push(item);
    this.#size++;
  }

  /** False if it was not in the set. */
  delete(item: T): boolean {
    if (this.#slots[item.slot] !== item) return false;
    this.#slots[item.slot] = null;
    this.#size--;
    if (this.#size === 0) this.#slots.length = 0;
    else if (this.#slots.length > 2 * this.#size + 32) this.#compact();
    return true;
  }

  /** The members at the time of the call: they may leave while they are visited. */
  [Symbol.iterator](): Iterator<T> {
    return this.#slots.filter((item) => item !== null)[Symbol.iterator]();
  }

  #compact(): void {
    this.#slots = this.#slots.filter((item) => item !== null);
    this.#slots.forEach((item, slot) => {
      if (item !== null) item.slot = slot;
    });
  }
}
