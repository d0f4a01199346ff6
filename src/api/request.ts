// One HTTP request on its way: its deadline, and the response as it comes in.
import type { Dispatcher } from 'undici';
import type { Clock, Timer } from './clock';
import { closedError, type StripError } from './errors';
import type { InFlight } from './in-flight-set';
import { connectionError, timeoutError, type ErrorContext } from './network-error';

/** By lower-case name; a header that was sent more than once has more than one value. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A whole response, whatever its status. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Takes undici's events itself, without a stream in between: that is faster, and lets the deadline and the client's `close` reach a
 * request that has no connection yet, which a signal does not. It settles once, and nothing that undici tells it later counts.
 */
export class PendingRequest implements Dispatcher.DispatchHandler, InFlight {
  /** The response once it is there as a whole; rejects with a `StripError`. */
  readonly response: Promise<HttpResponse>;
  slot = -1;
  readonly #clock: Clock;
  readonly #context: ErrorContext;
  readonly #timeout: number;
  /** Used at most once, and only before anything of a response has come. */
  #repeat: ((error: Error) => boolean) | null;
  #resolve!: (response: HttpResponse) => void;
  #reject!: (error: StripError) => void;
  #timer: Timer;
  #settled = false;
  #controller: Dispatcher.DispatchController | null = null;
  #abortReason: StripError | null = null;
  #status = 0;
  #headers: Headers = {};
  #chunks: Buffer[] = [];

  /**
   * `timeout` in milliseconds over everything, the wait for a connection included; `repeat` sends the request once more, unless it is of
   * no use after that error.
   */
  constructor(clock: Clock, timeout: number, context: ErrorContext, repeat: (error: Error) => boolean) {
    this.#clock = clock;
    this.#timeout = timeout;
    this.#context = context;
    this.#repeat = repeat;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timer = clock.setTimeout(() => this.#onDeadline(), timeout);
  }

  /** Whether it may have reached the service. */
  get sent(): boolean {
    return this.#controller !== null;
  }

  /** Ends it with CLOSED. */
  close(): void {
    this.#fail(closedError('account'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#abortReason) controller.abort(this.#abortReason);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.#repeat = null;
    if (status < 200) return; // 1xx: the response is still to come
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (!this.#settle()) return;
    const text = Buffer.concat(this.#chunks).toString('utf8');
    this.#resolve({ status: this.#status, headers: this.#headers, text });
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#settled) return;
    const repeat = this.#repeat;
    this.#repeat = null;
    if (repeat?.(error) === true) return;
    this.#fail(connectionError(error, { sent: this.sent, answered: this.#status !== 0 }, this.#context));
  }

  /**
   * The event loop may have been blocked, or the machine asleep, and an answer may lie in the socket, unread. Between two callbacks of
   * `setImmediate` everything that has arrived is read.
   */
  #onDeadline(): void {
    const end = (): void => this.#fail(timeoutError(this.#timeout, this.#context));
    if (this.sent) setImmediate(() => setImmediate(end));
    else end();
  }

  /** Gives it up: frees the connection, or keeps it from getting one. Does nothing to one that is over. */
  #fail(error: StripError): void {
    if (!this.#settle()) return;
    this.#abortReason = error;
    this.#controller?.abort(error);
    this.#reject(error);
  }

  /** False if it was over before. */
  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#clock.clearTimeout(this.#timer);
    return true;
  }
}
