/** What a subscriber wants besides the changes themselves. */
export interface SubscribeOptions {
  /** What is known already, or becomes known for the first time, is told as well (`first: true`). */
  initial?: boolean;
  /** MACs of strips whose load, voltage and signal should be kept up to date, or `'all'`. */
  readings?: readonly string[] | 'all';
}

interface Subscriber<Value, Wants> {
  readonly listener: (value: Value) => void;
  readonly wants: Wants;
  /** Has been told what was known when it came, so that what comes makes sense to it. */
  ready: boolean;
}

/** Whoever is told of something. One that throws breaks no other. */
export class Subscribers<Value, Wants> {
  readonly #all = new Set<Subscriber<Value, Wants>>();

  /** `fault`: told of what a listener throws. */
  constructor(private readonly fault: (error: unknown) => void) {}

  get size(): number {
    return this.#all.size;
  }

  /** `known`: what the listener is told first. Returns its own remover. */
  add(listener: (value: Value) => void, wants: Wants, known?: () => Iterable<Value>): () => void {
    const subscriber = { listener, wants, ready: known === undefined };
    this.#all.add(subscriber);
    // Not before the caller has its remover in hand.
    queueMicrotask(() => {
      subscriber.ready = true;
      for (const value of known?.() ?? []) this.#tell(subscriber, value);
    });
    return () => void this.#all.delete(subscriber);
  }

  /** Tells those who want it. */
  tell(value: Value, isWanted: (wants: Wants) => boolean = () => true): void {
    // Of those at the time of the call: they may come and go while it is told.
    for (const subscriber of [...this.#all]) {
      if (subscriber.ready && isWanted(subscriber.wants)) this.#tell(subscriber, value);
    }
  }

  some(wants: (wants: Wants) => boolean): boolean {
    return [...this.#all].some((subscriber) => wants(subscriber.wants));
  }

  /** No subscriber is called any more. */
  clear(): void {
    this.#all.clear();
  }

  #tell(subscriber: Subscriber<Value, Wants>, value: Value): void {
    if (!this.#all.has(subscriber)) return;
    try {
      subscriber.listener(value);
    } catch (error) {
      this.fault(error);
    }
  }
}
