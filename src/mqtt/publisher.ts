import type { Clock, Timer } from '../api/types';

/** A message for Node-RED's `mqtt out`. */
export type Publication = ReturnType<typeof retained>;

export const retained = (topic: string, payload: string) =>
  ({ topic, payload, qos: 1, retain: true }) as const;

export interface PublisherOptions {
  clock: Clock;
  /** Whether another node publishes on a topic, perhaps at another broker; with `payload`, whether it publishes exactly that. */
  isTaken: (topic: string, payload?: string) => boolean;
  send: (publication: Publication) => void;
}

/**
 * Milliseconds, and how many messages are sent within that time: 500 a second. If there were more, a broker would drop what exceeds the queue of a
 * slow client.
 */
const WINDOW = 50;
const MAX_IN_WINDOW = 25;

/**
 * Milliseconds before a topic is emptied: after a deploy, another node may soon publish on it, with another account and another connection to the
 * broker.
 */
const EMPTY_AFTER = 1_000;

/** Milliseconds before a topic is emptied once more: by then, the broker's other clients are connected again, too. Home Assistant waits for 10 s. */
const EMPTY_AGAIN_AFTER = 30_000;

/**
 * If a birth message comes within so many milliseconds after a topic was emptied, the broker may have been away. Later than that, another Node-RED may
 * publish on the topic.
 */
const MAYBE_AWAY_FOR = 10 * 60_000;

/** The same, but after it was emptied once more because of a birth message: the connection may have been lost again before that. */
const UNSURE_FOR = 60_000;

/** The most emptied topics that are remembered; bounds memory. */
const MAX_EMPTIED = 10_000;

/**
 * Sends retained messages at a pace that brokers and their clients can keep up with: first what changed, then what is sent in bulk. Only the newest
 * payload of a topic is sent, so there are never more messages waiting than topics.
 */
export class Publisher {
  /** What the broker should keep on each topic. */
  readonly #payloads = new Map<string, string>();
  /** Topics that were emptied, maybe while the broker was away. At a birth message before this monotonic time, they are to be emptied once more. */
  readonly #emptied = new Map<string, number>();
  // A topic waits in at most one of these three.
  readonly #changes = new Set<string>();
  readonly #bulk = new Set<string>();
  /** Topics, each with the monotonic time from which it may be emptied. */
  readonly #toEmpty = new Map<string, number>();
  #timer: Timer | null = null;
  #closed = false;

  constructor(private readonly options: PublisherOptions) {}

  /** Whether something is published on a topic; with `payload`, whether exactly that is. */
  publishes(topic: string, payload?: string): boolean {
    return payload === undefined ? this.#payloads.has(topic) : this.#payloads.get(topic) === payload;
  }

  /** Publishes a payload, which replaces the last one. `isChange`: it is sent before all that waits in bulk. */
  publish(topic: string, payload: string, isChange: boolean): void {
    this.#emptied.delete(topic);
    this.#payloads.set(topic, payload);
    this.#enqueue(topic, isChange ? this.#changes : this.#bulk);
  }

  /**
   * Sends a topic once more, unless nothing is published on it any more. If it is waiting already, it keeps its place, so that it is sent in time,
   * however often this is called. `isChange`: as in `publish`.
   */
  repeat(topic: string, isChange = false): void {
    if (this.publishes(topic) && !this.#changes.has(topic))
      this.#enqueue(topic, isChange ? this.#changes : this.#bulk);
  }

  /** If a topic waits in bulk, sends it before all others that do. */
  hasten(topic: string): void {
    if (this.#bulk.has(topic)) this.#enqueue(topic, this.#changes);
  }

  /** Empties topics a second later: an empty payload makes the broker forget what it kept on a topic. */
  empty(topics: readonly string[]): void {
    for (const topic of topics) {
      this.#payloads.delete(topic);
      // Removed first, so that it is the last of the map.
      this.#emptied.delete(topic);
      this.#emptied.set(topic, this.options.clock.monotonic() + MAYBE_AWAY_FOR);
      const [oldest = ''] = this.#emptied.keys();
      if (this.#emptied.size > MAX_EMPTIED) this.#emptied.delete(oldest);
      this.#emptyIn(EMPTY_AFTER, topic);
    }
  }

  /** Whether a topic was emptied, or waits for that. */
  isEmptied(topic: string): boolean {
    return this.#emptied.has(topic);
  }

  /** The broker is connected: empties topics once more, if it may have been away. */
  emptyAgain(): void {
    for (const topic of this.maybeKept) {
      this.#emptied.set(topic, this.options.clock.monotonic() + UNSURE_FOR);
      if (!this.#toEmpty.has(topic)) this.#emptyIn(EMPTY_AGAIN_AFTER, topic);
    }
  }

  /** Topics that are to be emptied, or to be emptied once more: the broker may still keep something on them. In this order. */
  get maybeKept(): readonly string[] {
    const topics = [...this.#emptied.keys()];
    const isUnsure = (topic: string) => (this.#emptied.get(topic) ?? 0) > this.options.clock.monotonic();
    return topics.filter((topic) => isUnsure(topic) || this.#bulk.has(topic) || this.#toEmpty.has(topic));
  }

  /** Stops sending. */
  close(): void {
    this.#closed = true;
    this.options.clock.clearTimeout(this.#timer);
  }

  #enqueue(topic: string, queue: Set<string>): void {
    if (!queue.has(topic)) this.#dequeue(topic);
    queue.add(topic);
    this.#flushSoon();
  }

  #emptyIn(ms: number, topic: string): void {
    this.#dequeue(topic);
    this.#toEmpty.set(topic, this.options.clock.monotonic() + ms);
    this.#flushSoon();
  }

  #dequeue(topic: string): void {
    for (const queue of [this.#changes, this.#bulk, this.#toEmpty]) queue.delete(topic);
  }

  /** Deferred, so that changes made together are sent together, each topic once. */
  #flushSoon(ms = 0): void {
    if (this.#closed || this.#timer !== null) return;
    this.#timer = this.options.clock.setTimeout(() => {
      this.#timer = null;
      this.#flush();
    }, ms);
  }

  #flush(): void {
    const { clock, isTaken, send } = this.options;
    // First of all, so that nothing below is sent without a pause.
    if (this.#changes.size + this.#bulk.size + this.#toEmpty.size > 0) this.#flushSoon(WINDOW);
    for (const [topic, due] of this.#toEmpty) if (due <= clock.monotonic()) this.#enqueue(topic, this.#bulk);
    const next = [...this.#changes, ...this.#bulk].slice(0, MAX_IN_WINDOW);
    for (const topic of next) {
      this.#dequeue(topic);
      const payload = this.#payloads.get(topic) ?? '';
      if (payload !== '' || !isTaken(topic)) send(retained(topic, payload));
    }
  }
}
