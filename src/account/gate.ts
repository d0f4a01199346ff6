/** A place in the queue of a gate. */
interface Waiter {
  next: Waiter | null;
  /** Null once it was let in or went away. */
  admit: (() => void) | null;
}

/** Bounds how many requests are on their way at once; whoever waits is let in in the order of arrival. */
export class Gate {
  #free: number;
  #first: Waiter | null = null;
  #last: Waiter | null = null;

  constructor(places: number) {
    this.#free = places;
  }

  /** Takes a place if one is free; give it back with `leave`. */
  enter(): boolean {
    if (this.#free <= 0) return false;
    this.#free--;
    return true;
  }

  /** Waits for a place: `admit` is called with it taken. Returns what gives the wait up. */
  queue(admit: () => void): () => void {
    const waiter: Waiter = { next: null, admit };
    if (this.#last === null) this.#first = waiter;
    else this.#last.next = waiter;
    this.#last = waiter;
    return () => {
      waiter.admit = null;
    };
  }

  leave(): void {
    this.#free++;
    this.#admit();
  }

  /** No bound any more: what still has to go out at the end must not wait behind what hangs. */
  open(): void {
    this.#free = Infinity;
    this.#admit();
  }

  #admit(): void {
    while (this.#free > 0 && this.#first !== null) {
      const { admit, next } = this.#first;
      this.#first.next = null;
      this.#first = next;
      if (next === null) this.#last = null;
      if (admit === null) continue;
      this.#free--;
      admit();
    }
  }
}
