import { macKey } from '../api/mac';
import type { Change, Listener } from './types';

/** What a subscriber wants besides the changes themselves. */
export interface SubscribeOptions {
  /** What is known already, or becomes known for the first time, is told as well (`first: true`). */
  initial?: boolean;
  /** MACs of strips whose load, voltage and signal should be kept up to date, or `'all'`. */
  readings?: readonly string[] | 'all';
}

interface Subscriber {
  readonly listener: Listener;
  readonly initial: boolean;
  readonly readings: ReadonlySet<string> | 'all' | null;
  /** Has been told what was known when it came, so that changes make sense to it. */
  ready: boolean;
  gone: boolean;
}

/** Whoever is told of changes. One that throws breaks no other. */
export class Subscribers {
  /** Replaced, never altered: coming and going in the middle of an announcement does not disturb it. */
  #all: readonly Subscriber[] = [];

  /** `known`: all that is known now; `fault`: told of what a listener throws. */
  constructor(
    private readonly known: () => Iterable<Change>,
    private readonly fault: (error: unknown) => void,
  ) {}

  get size(): number {
    return this.#all.length;
  }

  /** Returns its own remover, which reports whether this was still subscribed. */
  add(listener: Listener, { initial = false, readings = [] }: SubscribeOptions): () => boolean {
    const subscriber: Subscriber = {
      listener,
      initial,
      readings: readings === 'all' ? 'all' : readings.length === 0 ? null : new Set(readings.map(macKey)),
      ready: !initial,
      gone: false,
    };
    this.#all = [...this.#all, subscriber];
    if (initial) {
      // Not before the caller has its remover in hand.
      queueMicrotask(() => {
        subscriber.ready = true;
        for (const change of this.known()) this.#tell(subscriber, change);
      });
    }
    return () => {
      if (subscriber.gone) return false;
      subscriber.gone = true;
      this.#all = this.#all.filter((other) => other !== subscriber);
      return true;
    };
  }

  /** `settled`: the strips are known, so that a new one is news to everybody. */
  announce(changes: readonly Change[], settled: boolean): void {
    for (const change of changes) {
      const first = 'first' in change && change.first;
      const forAll = !first || (settled && change.kind === 'strip');
      for (const subscriber of this.#all) {
        if (subscriber.ready && (forAll || subscriber.initial)) this.#tell(subscriber, change);
      }
    }
  }

  /** Whether somebody wants this strip's readings kept up to date. */
  wantsReadings(key: string): boolean {
    return this.#all.some(({ readings }) => readings === 'all' || readings?.has(key) === true);
  }

  /** No subscriber is called any more. */
  clear(): void {
    for (const subscriber of this.#all) subscriber.gone = true;
    this.#all = [];
  }

  #tell(subscriber: Subscriber, change: Change): void {
    if (subscriber.gone) return;
    try {
      subscriber.listener(change);
    } catch (error) {
      this.fault(error);
    }
  }
}
