import type { Dispatcher } from 'undici';
import type { Link } from './chain';
import type { Clock, Timer } from './clock';
import type { StripError } from './errors';
import type { Failures } from './failure';

/** Largest body that is read. */
export const MOST_BYTES = 1024 * 1024;

/** By lower-case name; a header that was sent more than once has more than one value. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A whole answer, whatever its status. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * One request on its way, from waiting for a connection to the last byte of the body: it settles once, and nothing that undici tells it
 * later counts. It takes undici's events itself, without a stream in between: that is faster, and lets the deadline and the account's
 * close reach a request that has no connection yet, which a signal does not.
 */
export class Exchange implements Dispatcher.DispatchHandler, Link<Exchange> {
  before: Exchange | null = null;
  behind: Exchange | null = null;
  readonly #failures: Failures;
  readonly #clock: Clock;
  readonly #deliver: (answer: Answer) => void;
  readonly #refuse: (error: unknown) => void;
  readonly #over: () => void;
  /** Null once it has settled. */
  #timer: Timer | null;
  #controller: Dispatcher.DispatchController | null = null;
  #reason: StripError | null = null;
  #status = 0;
  #headers: Headers = {};
  #first: Buffer | null = null;
  #rest: Buffer[] | null = null;
  #size = 0;

  /**
   * `timeout` in milliseconds over everything, the wait for a connection included. `over` is called when it settles; then either `deliver`,
   * with the answer, or `refuse`, with a `StripError` or whatever `deliver` throws.
   */
  constructor(
    clock: Clock,
    timeout: number,
    failures: Failures,
    deliver: (answer: Answer) => void,
    refuse: (error: unknown) => void,
    over: () => void,
  ) {
    this.#clock = clock;
    this.#failures = failures;
    this.#deliver = deliver;
    this.#refuse = refuse;
    this.#over = over;
    this.#timer = clock.setTimeout(() => this.fail(failures.late()), timeout);
  }

  /** Whether it may have reached the service. */
  get sent(): boolean {
    return this.#controller !== null;
  }

  /** Gives it up: frees the connection, or keeps it from getting one. Does nothing to one that is over. */
  fail(error: StripError): void {
    if (!this.#finish()) return;
    this.#reason = error;
    this.#controller?.abort(error);
    this.#refuse(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#reason) controller.abort(this.#reason);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200) return; // 1xx: the answer is still to come
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > MOST_BYTES) this.fail(this.#failures.tooLarge());
    else if (this.#first === null) this.#first = chunk;
    else (this.#rest ??= []).push(chunk);
  }

  onResponseEnd(): void {
    if (!this.#finish()) return;
    try {
      this.#deliver({ status: this.#status, headers: this.#headers, text: this.#text() });
    } catch (error) {
      this.#refuse(error);
    }
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#timer !== null) this.fail(this.#failures.network(error, this.#status !== 0));
  }

  #text(): string {
    if (this.#first === null) return '';
    const bytes = this.#rest === null ? this.#first : Buffer.concat([this.#first, ...this.#rest], this.#size);
    return bytes.toString('utf8');
  }

  /** False if it was over before. */
  #finish(): boolean {
    if (this.#timer === null) return false;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = null;
    this.#over();
    return true;
  }
}

/** A header that should be there once; of several, the first. */
export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
