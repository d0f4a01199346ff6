// The service over HTTP (API document, section 4; `openapi.yaml`): one request per call; the account retries. Also counts requests and errors for the
// diagnostics.
import { StringDecoder } from 'node:string_decoder';
import type { Dispatcher } from 'undici';
import { preview } from '../values';
import type { BaseUrl } from './connection-settings';
import { decodeList, decodeStrip } from './decode';
import type { RequestDispatcher, RequestOptions } from './dispatcher';
import { closedError, isStripError, COMMAND_CODES, StripError, type ErrorCode } from './errors';
import type { Mapping } from './mapping';
import { connectionError, timeoutError, type ErrorContext } from './network-error';
import { HttpResponse, readAnswer, readSwitch, type ReadAnswer, type ResponseHeaders } from './response';
import { isPossibleMac } from './types';
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
  readonly #requests: PendingRequest[] = [];
  /** Ends what was under way when the client began to close; `null` until then. */
  #graceTimer: Timer | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: ClientOptions) {
    this.#options = options;
    const { baseUrl, apiKey, dispatcher } = options;
    this.#context = {
      host: baseUrl.simulator === null ? baseUrl.url.host : baseUrl.simulator || '/',
      origin: baseUrl.url.origin,
      proxy: dispatcher.proxy ?? null,
      isSecret: (text) => text.toLowerCase().includes(apiKey.toLowerCase()),
    };
  }

  async list(): Promise<ListAnswer & ReadAnswer> {
    const { body, ...answer } = await this.#read(null);
    return { ...decodeList(body, this.#now(), [], answer.paging), ...answer };
  }

  async get(mac: string): Promise<StripAnswer> {
    const { body, response, text } = await this.#read(mac);
    return { ...decodeStrip(body, mac, this.#now()), response, text };
  }

  switch(mac: string, port: PortOrAll, on: boolean): Promise<SwitchAnswer> {
    return this.#send(mac, { port, on }, (response) => readSwitch(response, { mac, port, on }));
  }

  beginClose(graceMs: number): void {
    const underWay = [...this.#requests];
    for (const request of underWay) if (request.isRead || !request.sent) request.close();
    this.#graceTimer = this.#options.clock.setTimeout(() => {
      for (const request of underWay) request.close();
    }, graceMs);
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  /** Reads what the service sends; `body` is the result of the mapping. */
  async #read(mac: string | null): Promise<ReadAnswer & { body: unknown }> {
    const { mapping } = this.#options;
    return this.#send(mac, null, async (response, isClosed) => {
      const answer = readAnswer(response, mac);
      return { ...answer, body: mapping ? await mapping(answer.response, isClosed) : answer.response };
    });
  }

  /**
   * One request about a strip, or for the list (`mac` is null): a POST that switches, or a GET without a body. `read` turns the response into the
   * answer; `isClosed`: whether the request was closed meanwhile.
   */
  async #send<Answer>(
    mac: string | null,
    body: object | null,
    read: (response: HttpResponse, isClosed: () => boolean) => Answer | Promise<Answer>,
  ): Promise<Answer> {
    if (this.#closing !== null) throw closedError('account');
    const { baseUrl, apiKey } = this.#options;
    const isRead = body === null;
    const headers = { accept: 'application/json', 'user-agent': USER_AGENT, 'x-api-key': apiKey };
    const path = mac === null ? '/strips' : `${stripPath(mac)}${isRead ? '' : '/switch'}`;
    const request = new PendingRequest(this.#options, this.#context, {
      path: baseUrl.url.pathname + path,
      method: isRead ? 'GET' : 'POST',
      headers: isRead ? headers : { ...headers, 'content-type': 'application/json' },
      body: isRead ? '' : JSON.stringify(body),
    });
    this.#requests.push(request);
    try {
      request.send(this.#graceTimer !== null);
      return await read(await request.response, () => request.isClosed);
    } catch (error) {
      if (isStripError(error)) error.isOfRepeat = request.isRepeated;
      throw error;
    } finally {
      this.#requests.splice(this.#requests.indexOf(request), 1);
    }
  }

  async #close(): Promise<void> {
    const { clock, dispatcher } = this.#options;
    clock.clearTimeout(this.#graceTimer);
    for (const request of this.#requests) request.close();
    await dispatcher.destroy?.();
  }

  #now(): string {
    return new Date(this.#options.clock.wall()).toISOString();
  }
}

/**
 * One request and its response. Handles undici's events directly, so that the deadline and the client's `close` also reach a request that waits
 * for a connection, which a signal does not. Settles once, and ignores every later event.
 */
class PendingRequest implements Dispatcher.DispatchHandler {
  readonly response: Promise<HttpResponse>;
  #resolve!: (response: HttpResponse) => void;
  #reject!: (error: StripError) => void;
  readonly #began: number;
  readonly #timer: Timer;
  #controller: Dispatcher.DispatchController | null = null;
  /** A part of a response has arrived, even if only an interim one. */
  #hasResponse = false;
  /** It was sent a second time, because its connection was stale. */
  isRepeated = false;
  /** The client closes, and the answer is no longer needed. */
  isClosed = false;
  /** The response or the error; `null` until the request is over. */
  #result: HttpResponse | StripError | null = null;
  #status = 0;
  #headers: ResponseHeaders = {};
  readonly #decoder = new StringDecoder('utf8');
  #text = '';

  constructor(
    private readonly options: ClientOptions,
    private readonly context: ErrorContext,
    private readonly request: RequestOptions,
  ) {
    const { clock, timeout } = options;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#began = clock.wall();
    this.#timer = clock.setTimeout(() => this.#onDeadline(), timeout);
  }

  /** Whether it may have reached the service. */
  get sent(): boolean {
    return this.#controller !== null;
  }

  get isRead(): boolean {
    return this.request.method === 'GET';
  }

  /** `alone`: on its own new connection. */
  send(alone: boolean): void {
    try {
      this.options.dispatcher.dispatch(this.request, this, alone);
    } catch (error) {
      this.onResponseError(null, error);
    }
  }

  /** Ends it with CLOSED. */
  close(): void {
    this.isClosed = true;
    this.#end(new StripError('CLOSED.account', {}, { notSent: !this.sent }));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Timers stand still while the machine sleeps. A switch that waited for a connection, or is repeated, must not be sent hours later.
    if (!this.isRead && this.options.clock.wall() - this.#began > this.options.timeout) this.#timedOut();
    this.#controller = controller;
    if (isStripError(this.#result)) controller.abort(this.#result);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    this.#hasResponse = true;
    if (status < 200) return; // 1xx: the response is still to come
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    // The chunk itself is not kept: it is part of a buffer that may be much larger than the body.
    this.#text += this.#decoder.write(chunk);
  }

  onResponseEnd(): void {
    const text = this.#text + this.#decoder.end();
    this.#end(new HttpResponse(this.#status, this.#headers, text, this.context, this.options.clock.wall()));
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: unknown): void {
    if (this.#result !== null) return;
    if (!this.#hasResponse && !this.isRepeated && this.options.dispatcher.isStale?.(error) === true) {
      this.isRepeated = true;
      this.send(true);
      return;
    }
    this.#end(connectionError(error, { sent: this.sent, answered: this.#status !== 0 }, this.context));
  }

  /**
   * An answer may have arrived that was not read yet, because the process was busy or the machine asleep. Node.js reads it between two callbacks of
   * `setImmediate`.
   */
  #onDeadline(): void {
    if (this.sent) setImmediate(() => setImmediate(() => this.#timedOut()));
    else this.#timedOut();
  }

  #timedOut(): void {
    this.#end(timeoutError(this.options.timeout, this.sent, this.context));
  }

  /** Ends the request. If it failed, also frees its connection, or its place in the queue for one. Does nothing if it is over already. */
  #end(result: HttpResponse | StripError): void {
    if (this.#result !== null) return;
    this.#result = result;
    this.options.clock.clearTimeout(this.#timer);
    if (isStripError(result)) {
      this.#controller?.abort(result);
      this.#reject(result);
    } else this.#resolve(result);
  }
}

/**
 * The path of one strip below the base URL, `/strips/{mac}` (API document, section 4), with the MAC as the service
 * spelled it. Throws INVALID_INPUT if `isPossibleMac` says no.
 */
export function stripPath(mac: string): string {
  if (!isPossibleMac(mac)) throw new StripError('INVALID_INPUT.mac', { got: preview(mac) });
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

  /** Records a request, and its answer or error when it comes. Returns the same promise, so that nothing waits for the record. */
  add<Kind extends keyof Answers>(kind: Kind, promise: Promise<Answers[Kind]>): Promise<Answers[Kind]> {
    this.requests[kind]++;
    // Typed so that the compiler sees only this kind.
    const answers: LastAnswers<Kind> = this.answers;
    promise.then(
      (answer) => (answers[kind] = { at: this.clock.wall(), answer }),
      (error: unknown) => this.#failed(error),
    );
    return promise;
  }

  /** Counts the error of a command if it is not that of a request. The errors of requests are counted already. */
  commandFailed(error: unknown): void {
    if (isStripError(error) && COMMAND_CODES.has(error.code)) this.#failed(error);
  }

  /** Counts an error; one that is no `StripError` is a defect, which is reported elsewhere. */
  #failed(error: unknown): void {
    if (!isStripError(error)) return;
    const count = (this.errors.get(error.code)?.count ?? 0) + 1;
    this.errors.set(error.code, { count, at: this.clock.wall(), last: error });
  }
}
