import { isStripError } from '../api/errors';
import { macKey } from '../api/mac';
import type { Attempts } from './attempt';
import { Effort } from './effort';
import { closed } from './failures';
import type { KnownStrip } from './known';
import type { State } from './state';
import type { ListAnswer, Service, StripAnswer } from '../api/service';

/** A read that is on its way, for everybody who asks for the same. */
interface Shared<Reading> {
  readonly promise: Promise<Reading>;
  readonly refuse: (error: unknown) => void;
  readonly effort: Effort;
  /** The last command that was over when it was asked; null: not asked yet. */
  epoch: number | null;
  /** Somebody has been given the reading itself; everybody else gets a copy. */
  taken: boolean;
}

/** What else the account wants to know of reads. */
export interface ReadsObserver {
  /** Whether this strip will be asked for itself after a list. */
  asksMore(known: KnownStrip): boolean;
  /** A read succeeded. */
  succeeded(): void;
  /** Whether the answer about the strip with that key, or the list (`null`), could be read. */
  read(key: string | null, readable: boolean): void;
}

/** Reads the service, takes in what it says, and lets simultaneous reads of the same thing share one request. */
export class Reads {
  readonly #service: Service;
  readonly #state: State;
  readonly #attempts: Attempts;
  readonly #observer: ReadsObserver;
  #list: Shared<ListAnswer> | null = null;
  readonly #strips = new Map<string, Shared<StripAnswer>>();
  /** All that are on their way, also those too old to be shared. */
  readonly #pending = new Set<{ refuse: (error: unknown) => void; effort: Effort }>();
  #epoch = 0;

  constructor(service: Service, state: State, attempts: Attempts, observer: ReadsObserver) {
    this.#service = service;
    this.#state = state;
    this.#attempts = attempts;
    this.#observer = observer;
  }

  /** A command is over: what was asked before may show the state before it, so it is shared no more. */
  commandOver(): void {
    this.#epoch++;
  }

  /** The reading belongs to the caller alone. */
  list(): Promise<ListAnswer> {
    return own(this.#sharedList());
  }

  /** The reading belongs to the caller alone. */
  get(mac: string): Promise<StripAnswer> {
    return own(this.#sharedStrip(mac));
  }

  /** Reads the list for its effect on the state only. */
  async pollList(): Promise<void> {
    await this.#sharedList().promise;
  }

  /** Reads a strip for its effect on the state only. */
  async pollStrip(mac: string): Promise<void> {
    await this.#sharedStrip(mac).promise;
  }

  /** One request for the strip and nothing else: no place, no sharing. */
  async askStrip(mac: string): Promise<StripAnswer> {
    const number = this.#state.draw();
    try {
      const reading = await this.#service.get(this.#state.find(mac)?.mac ?? mac);
      this.#state.strip(reading.strip, number);
      this.#observer.read(macKey(mac), reading.readable);
      this.#observer.succeeded();
      return reading;
    } catch (error) {
      if (isStripError(error) && error.code === 'NOT_FOUND') this.#state.missing(mac, number);
      throw error;
    }
  }

  /** Whoever waits for a read is told CLOSED at once. */
  close(): void {
    for (const { refuse, effort } of this.#pending) {
      effort.callOff(closed());
      refuse(closed());
    }
  }

  async #askList(): Promise<ListAnswer> {
    const number = this.#state.draw();
    try {
      const reading = await this.#service.list();
      const { strips, complete } = reading;
      this.#state.list(strips, complete, number, (known) => this.#observer.asksMore(known));
      this.#observer.read(null, reading.readable);
      this.#observer.succeeded();
      return reading;
    } catch (error) {
      if (isStripError(error) && error.code !== 'CLOSED') this.#state.failed(error, number);
      throw error;
    }
  }

  #sharedList(): Shared<ListAnswer> {
    if (this.#list !== null && this.#isFresh(this.#list)) return this.#list;
    const shared = this.#share(
      () => this.#askList(),
      () => {
        if (this.#list === shared) this.#list = null;
      },
    );
    this.#list = shared;
    return shared;
  }

  #sharedStrip(mac: string): Shared<StripAnswer> {
    const key = macKey(mac);
    const known = this.#strips.get(key);
    if (known !== undefined && this.#isFresh(known)) return known;
    const shared = this.#share(
      () => this.askStrip(mac),
      () => {
        if (this.#strips.get(key) === shared) this.#strips.delete(key);
      },
    );
    this.#strips.set(key, shared);
    return shared;
  }

  #isFresh({ epoch }: Shared<unknown>): boolean {
    return epoch === null || epoch === this.#epoch;
  }

  #share<Reading>(ask: () => Promise<Reading>, over: () => void): Shared<Reading> {
    const effort = new Effort();
    let refuse: (error: unknown) => void = () => undefined;
    let settle: (reading: Reading) => void = () => undefined;
    const promise = new Promise<Reading>((resolve, reject) => {
      settle = resolve;
      refuse = reject;
    });
    const shared: Shared<Reading> = { promise, refuse, effort, epoch: null, taken: false };
    this.#pending.add(shared);
    this.#attempts
      .once(effort, () => {
        shared.epoch = this.#epoch;
        return ask();
      })
      .finally(() => {
        this.#pending.delete(shared);
        over();
      })
      .then(settle, refuse);
    return shared;
  }
}

function own<Reading>(shared: Shared<Reading>): Promise<Reading> {
  if (shared.taken) return shared.promise.then((reading) => structuredClone(reading));
  shared.taken = true;
  return shared.promise;
}
