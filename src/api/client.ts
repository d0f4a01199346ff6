// The service over HTTP (API document, section 4; `openapi.yaml`): one request per call; the account retries. Also counts requests and errors for the
// diagnostics.
import { StringDecoder } from 'node:string_decoder';
import type { Dispatcher } from 'undici';
import { preview } from '../values';
import type { BaseUrl } from './connection-settings';
import { decodeList, decodeStrip } from './decode';
import type { RequestDispatcher, RequestOptions } from './dispatcher';
import { closedError, isStripError, StripError, type ErrorCode } from './errors';
import { InFlightSet, type InFlight } from './limits';
import type { Mapping } from './mapping';
import { connectionError, timeoutError, type ErrorContext } from './network-error';
import { readAnswer, readSwitch, type ResponseHeaders, type HttpResponse, type ReadAnswer } from './response';
import { isoTime, isPossibleMac } from './types';
import type { Clock, ListAnswer, PortOrAll, Service, StripAnswer, SwitchAnswer, Timer } from './types';

export interface ClientOptions {
  /** As `parseBaseUrl` returns it. */
  baseUrl: BaseUrl;
  /** As `checkApiKey` returns it. */
  apiKey: string;
  /** Milliseconds for one request, from the call to the last byte of the response. */
  timeout: number;
  /** Belongs to the client from now on: `close` destroys it. */
  dispatcher: RequestDispatcher;
  clock: Clock;
  /** Applied to the JSON of a list or of one strip before it is decoded. */
  mapping?: Mapping | null;
}

/** Many web firewalls, Cloudflare's by default, refuse requests that do not say what sends them. */
const USER_AGENT = 'node-red-smart-strip';

/** The service's three endpoints. Every method rejects with a `StripError`, and after `close` with CLOSED. */
export class Client implements Service {
  readonly #options: ClientOptions;
  readonly #context: ErrorContext;
  readonly #readHeaders: string[];
  readonly #switchHeaders: string[];
  readonly #reads = new InFlightSet<PendingRequest>();
  readonly #switches = new InFlightSet<PendingRequest>();
  #isEnding = false;
  #closing: Promise<void> | null = null;
  #onLastSwitch: (() => void) | null = null;

  constructor(options: ClientOptions) {
    this.#options = options;
    const { baseUrl, apiKey, dispatcher } = options;
    this.#context = {
      host: baseUrl.simulator === null ? baseUrl.url.host : baseUrl.simulator || '/',
      origin: baseUrl.url.origin,
      proxy: dispatcher.proxy ?? null,
      isSecret: (text) => text.toLowerCase().includes(apiKey.toLowerCase()),
    };
    this.#readHeaders = ['accept', 'application/json', 'user-agent', USER_AGENT, 'x-api-key', apiKey];
    this.#switchHeaders = [...this.#readHeaders, 'content-type', 'application/json'];
  }

  async list(): Promise<ListAnswer & ReadAnswer> {
    const { body, ...answer } = await this.#read(() => '/strips');
    return { ...decodeList(body, this.#now(), [], answer.paging), ...answer };
  }

  async get(mac: string): Promise<StripAnswer> {
    const { body, response, text } = await this.#read(() => stripPath(mac), mac);
    return { ...decodeStrip(body, mac, this.#now()), response, text };
  }

  switch(mac: string, port: PortOrAll, on: boolean): Promise<SwitchAnswer> {
    return this.#send(
      () => `${stripPath(mac)}/switch`,
      { port, on },
      (answer) => readSwitch(answer, { mac, port, on }, this.#context, this.#options.clock.wall()),
    );
  }

  beginClose(): void {
    this.#isEnding = true;
    for (const request of this.#reads) request.close();
  }

  close(graceMs: number): Promise<void> {
    return (this.#closing ??= this.#close(graceMs));
  }

  /** Reads what the service sends; `body` is the result of the mapping. */
  async #read(path: () => string, mac?: string): Promise<ReadAnswer & { body: unknown }> {
    const { clock, mapping } = this.#options;
    const answer = await this.#send(path, null, (response) =>
      readAnswer(response, this.#context, clock.wall(), mac),
    );
    return { ...answer, body: mapping ? await mapping(answer.response) : answer.response };
  }

  /** One request: a GET without a body, else a POST. `path` is below the base URL; `read` turns the response into the answer. */
  #send<Answer>(
    path: () => string,
    body: object | null,
    read: (response: HttpResponse) => Answer,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#closing !== null) throw closedError('account');
      const { baseUrl, clock, dispatcher, timeout } = this.#options;
      const pending = body === null ? this.#reads : this.#switches;
      const options: RequestOptions = {
        origin: this.#context.origin,
        path: baseUrl.url.pathname + path(),
        method: body === null ? 'GET' : 'POST',
        headers: body === null ? this.#readHeaders : this.#switchHeaders,
        body: body === null ? null : JSON.stringify(body),
      };
      const dispatchAlone = (error?: Error): boolean =>
        dispatcher.dispatchAlone?.(options, request, error) ?? false;
      const end = (response: HttpResponse | StripError): void => {
        pending.delete(request);
        try {
          if (isStripError(response)) throw response;
          resolve(read(response));
        } catch (error) {
          if (isStripError(error)) error.isOfRepeat = request.isRepeated;
          reject(toError(error));
        }
        if (this.#switches.size === 0) this.#onLastSwitch?.();
      };
      const request = new PendingRequest(clock, timeout, this.#context, dispatchAlone, end);
      pending.add(request);
      try {
        if (!this.#isEnding || !dispatchAlone()) dispatcher.dispatch(options, request);
      } catch (error) {
        request.onResponseError(null, toError(error));
      }
    });
  }

  async #close(graceMs: number): Promise<void> {
    this.beginClose();
    for (const request of this.#switches) if (!request.sent) request.close();
    if (graceMs > 0 && this.#switches.size > 0) await this.#untilSwitchesEnd(graceMs);
    for (const request of this.#switches) request.close();
    await this.#options.dispatcher.destroy?.();
  }

  async #untilSwitchesEnd(graceMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const { clock } = this.#options;
      const timer = clock.setTimeout(resolve, graceMs);
      this.#onLastSwitch = () => {
        clock.clearTimeout(timer);
        resolve();
      };
    });
  }

  #now(): string {
    return isoTime(this.#options.clock.wall());
  }
}

const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/**
 * One request and its response. Handles undici's events directly, so that the deadline and the client's `close` also reach a request that waits
 * for a connection, which a signal does not. Settles once, and ignores every later event.
 */
class PendingRequest implements Dispatcher.DispatchHandler, InFlight {
  slot = -1;
  readonly #began: number;
  #timer: Timer;
  #controller: Dispatcher.DispatchController | null = null;
  /** It was sent a second time. */
  isRepeated = false;
  /** The response or the error; `null` until the request is over. */
  #result: HttpResponse | StripError | null = null;
  #status = 0;
  #headers: ResponseHeaders = {};
  readonly #decoder = new StringDecoder('utf8');
  #text = '';

  /**
   * `timeout`: milliseconds for everything, also the wait for a connection. `repeat` sends the request once more if that may help after the error, and
   * returns whether it did; it is called at most once, and only before any part of a response has arrived. `end` gets the whole response, or the
   * error.
   */
  constructor(
    private readonly clock: Clock,
    private readonly timeout: number,
    private readonly context: ErrorContext,
    private repeat: ((error: Error) => boolean) | null,
    private readonly end: (response: HttpResponse | StripError) => void,
  ) {
    this.#began = clock.wall();
    this.#timer = clock.setTimeout(() => this.#onDeadline(), timeout);
  }

  /** Whether it may have reached the service. */
  get sent(): boolean {
    return this.#controller !== null;
  }

  /** Ends it with CLOSED. */
  close(): void {
    this.#settle(closedError('account'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Timers stand still while the machine sleeps. A request that waited for a connection, or is repeated, must not be sent hours later.
    if (this.clock.wall() - this.#began > this.timeout) this.#timedOut();
    this.#controller = controller;
    if (isStripError(this.#result)) controller.abort(this.#result);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    this.repeat = null;
    if (status < 200) return; // 1xx: the response is still to come
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    // The chunk itself is not kept: it is part of a buffer that may be much larger than the body.
    this.#text += this.#decoder.write(chunk);
  }

  onResponseEnd(): void {
    this.#settle({
      status: this.#status,
      headers: this.#headers,
      text: this.#text + this.#decoder.end(),
    });
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#result !== null) return;
    const repeat = this.repeat;
    this.repeat = null;
    if (repeat?.(error) === true) {
      this.isRepeated = true;
      return;
    }
    this.#settle(connectionError(error, { sent: this.sent, answered: this.#status !== 0 }, this.context));
  }

  /**
   * The event loop may have been blocked, or the machine asleep, and an answer may lie in the socket, unread. Between two callbacks of
   * `setImmediate` everything that has arrived is read.
   */
  #onDeadline(): void {
    if (this.sent) setImmediate(() => setImmediate(() => this.#timedOut()));
    else this.#timedOut();
  }

  #timedOut(): void {
    this.#settle(timeoutError(this.timeout, this.sent, this.context));
  }

  /** Ends the request. If it failed, also frees its connection, or its place in the queue for one. Does nothing if it is over already. */
  #settle(result: HttpResponse | StripError): void {
    if (this.#result !== null) return;
    this.#result = result;
    this.clock.clearTimeout(this.#timer);
    if (isStripError(result)) this.#controller?.abort(result);
    this.end(result);
  }
}

/**
 * The path of one strip below the base URL, `/strips/{mac}` (API document, section 4), with the MAC as the service
 * spelled it. Throws INVALID_INPUT if `isPossibleMac` says no.
 */
export function stripPath(mac: string): string {
  if (!isPossibleMac(mac)) {
    throw new StripError('INVALID_INPUT.mac', { got: preview(mac) });
  }
  return `/strips/${encodeURIComponent(mac)}`;
}

/** How often an error occurred, and the last time. */
interface ErrorCount {
  readonly count: number;
  /** Wall-clock milliseconds. */
  readonly at: number;
  readonly last: StripError;
}

/** The last successful answer of one kind. */
export interface LastAnswer<Answer> {
  /** Wall-clock milliseconds. */
  readonly at: number;
  readonly answer: Answer;
}

/** Errors of commands for which no request is sent. */
const NEVER_SENT: ReadonlySet<ErrorCode> = new Set(['SUPERSEDED', 'PROTECTED', 'BUSY'] as const);

interface Answers {
  readonly list: ListAnswer;
  readonly strip: StripAnswer;
  readonly switch: SwitchAnswer;
}

type LastAnswers<Kinds extends keyof Answers> = { [Kind in Kinds]: LastAnswer<Answers[Kind]> | null };

/**
 * Counts requests, retries and errors, and keeps the last answer of each kind. The answers hold the service's texts, so this is only for
 * `src/flow/diagnostics.ts`, which leaves them out.
 */
export class RequestRecord {
  readonly requests = { list: 0, strip: 0, switch: 0 };
  /** Count of requests that retried a failed one. */
  retries = 0;
  readonly errors = new Map<ErrorCode, ErrorCount>();
  readonly answers: LastAnswers<keyof Answers> = { list: null, strip: null, switch: null };

  constructor(private readonly clock: Clock) {}

  /** Records a request, and its answer or error when it comes. */
  async add<Kind extends keyof Answers>(kind: Kind, asked: Promise<Answers[Kind]>): Promise<Answers[Kind]> {
    this.requests[kind]++;
    try {
      const answer = await asked;
      // Typed so that the compiler sees only this kind.
      const answers: LastAnswers<Kind> = this.answers;
      answers[kind] = { at: this.clock.wall(), answer };
      return answer;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  /** Counts the error of a command for which no request was sent. The errors of requests are counted already. */
  commandFailed(error: unknown): void {
    if (isStripError(error) && NEVER_SENT.has(error.code)) this.#failed(error);
  }

  /** Counts an error; one that is no `StripError` is a defect, which is reported elsewhere. */
  #failed(error: unknown): void {
    if (!isStripError(error)) return;
    const count = (this.errors.get(error.code)?.count ?? 0) + 1;
    this.errors.set(error.code, { count, at: this.clock.wall(), last: error });
  }
}
