/** What an `InFlightSet` needs of its members: a field that only the set writes. */
export interface InFlight {
  slot: number;
}

/**
 * A set, in no order, for what comes and goes with every message. A built-in `Set` makes a new table every few additions, and each old one keeps
 * the next alive until a full garbage collection. With two of them on a command's way, `node --trace-gc` showed 15 microseconds of garbage
 * collection per command instead of 7.
 */
export class InFlightSet<T extends InFlight> implements Iterable<T> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: T): void {
    member.slot = this.#members.push(member) - 1;
  }

  /** False if it was not in the set. */
  delete(member: T): boolean {
    const { slot } = member;
    if (this.#members[slot] !== member) return false;
    const last = this.#members.pop();
    // The last member takes the free place.
    if (last !== undefined && last !== member) {
      this.#members[slot] = last;
      last.slot = slot;
    }
    return true;
  }

  /** The members at the time of the call: they may leave while they are visited. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#members][Symbol.iterator]();
  }
}
