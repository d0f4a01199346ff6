/** What can stand in a chain, one at a time. Both fields are the chain's alone. */
export interface Link<T> {
  before: T | null;
  behind: T | null;
}

/**
 * What is under way, in the order it began. In the place of a `Set`: when members come and go by the thousand, each table that a set leaves behind
 * keeps alive what was in it and its next table, until a full garbage collection. What leaves a chain holds on to nothing.
 */
export class Chain<T extends Link<T>> {
  #first: T | null = null;
  #last: T | null = null;

  /** What has been in it longest. */
  get first(): T | null {
    return this.#first;
  }

  /** `item` must be in no chain. */
  add(item: T): void {
    item.before = this.#last;
    if (this.#last === null) this.#first = item;
    else this.#last.behind = item;
    this.#last = item;
  }

  has(item: T): boolean {
    return item.before !== null || this.#first === item;
  }

  /** False if it was not in it; then nothing happens. */
  delete(item: T): boolean {
    if (!this.has(item)) return false;
    const { before, behind } = item;
    if (before === null) this.#first = behind;
    else before.behind = behind;
    if (behind === null) this.#last = before;
    else behind.before = before;
    item.before = item.behind = null;
    return true;
  }

  /** All of it, as it is now. */
  items(): T[] {
    const items: T[] = [];
    for (let item = this.#first; item !== null; item = item.behind) items.push(item);
    return items;
  }
}
