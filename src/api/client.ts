// The service over HTTP (API document, section 4): one request per call. Retrying is the account's business.
import type { Clock } from './clock';
import type { BaseUrl } from './connection-settings';
import { decodeList, decodeStrip } from './decode';
import type { RequestDispatcher } from './dispatcher';
import { closedError } from './errors';
import { stripPath } from './mac';
import { InFlightSet } from './in-flight-set';
import type { ErrorContext } from './network-error';
import { PendingRequest, type HttpResponse } from './request';
import { readJson, readSwitch } from './response';
import type { ListAnswer, PortOrAll, Service, StripAnswer, SwitchAnswer } from './types';

export interface ClientOptions {
  /** As `parseBaseUrl` returns it. */
  baseUrl: BaseUrl;
  /** As `checkApiKey` returns it. */
  apiKey: string;
  /** Milliseconds for one request, from the call to the last byte of the response. */
  timeout: number;
  /** The client's own from now on: `close` destroys it. */
  dispatcher: RequestDispatcher;
  clock: Clock;
  /** Turns the JSON of a list or of one strip into what is decoded; rejects with a `StripError` BAD_RESPONSE. */
  mapping?: (body: unknown) => Promise<unknown>;
}

export class Client implements Service {
  readonly #origin: string;
  readonly #basePath: string;
  readonly #timeout: number;
  readonly #dispatcher: RequestDispatcher;
  readonly #clock: Clock;
  readonly #mapping: ClientOptions['mapping'];
  readonly #context: ErrorContext;
  readonly #readHeaders: string[];
  readonly #switchHeaders: string[];
  readonly #reads = new InFlightSet<PendingRequest>();
  readonly #switches = new InFlightSet<PendingRequest>();
  #closing: Promise<void> | null = null;
  #onLastSwitch: (() => void) | null = null;

  constructor({ baseUrl, apiKey, timeout, dispatcher, clock, mapping }: ClientOptions) {
    this.#origin = baseUrl.url.origin;
    this.#basePath = baseUrl.url.pathname;
    this.#timeout = timeout;
    this.#dispatcher = dispatcher;
    this.#clock = clock;
    this.#mapping = mapping;
    this.#context = {
      host: baseUrl.simulator ?? baseUrl.url.host,
      origin: baseUrl.url.origin,
      proxy: dispatcher.proxy ?? null,
      isSecret: (text) => text.toLowerCase().includes(apiKey.toLowerCase()),
    };
    this.#readHeaders = ['accept', 'application/json', 'x-api-key', apiKey];
    this.#switchHeaders = [...this.#readHeaders, 'content-type', 'application/json'];
  }

  async list(): Promise<ListAnswer> {
    const response = readJson(await this.#read('/strips'), this.#context, this.#clock.wall());
    return { ...decodeList(await this.#map(response), this.#now()), response };
  }

  async get(mac: string): Promise<StripAnswer> {
    const response = readJson(await this.#read(stripPath(mac)), this.#context, this.#clock.wall(), mac);
    return { ...decodeStrip(await this.#map(response), mac, this.#now()), response };
  }

  async switch(mac: string, port: PortOrAll, on: boolean): Promise<SwitchAnswer> {
    const path = `${stripPath(mac)}/switch`;
    const response = await this.#send('POST', path, JSON.stringify({ port, on }), this.#switches);
    return readSwitch(response, mac, port, this.#context, this.#clock.wall());
  }

  close(graceMs: number): Promise<void> {
    return (this.#closing ??= this.#close(graceMs));
  }

  #read(path: string): Promise<HttpResponse> {
    return this.#send('GET', path, null, this.#reads);
  }

  /** `path` is below the base URL; `pending` holds the request for as long as it is under way. */
  async #send(
    method: 'GET' | 'POST',
    path: string,
    body: string | null,
    pending: InFlightSet<PendingRequest>,
  ): Promise<HttpResponse> {
    if (this.#closing !== null) throw closedError('account');
    const headers = body === null ? this.#readHeaders : this.#switchHeaders;
    const options = { origin: this.#origin, path: this.#basePath + path, method, headers, body };
    const repeat = (error: Error): boolean => this.#dispatcher.repeat?.(options, request, error) ?? false;
    const request = new PendingRequest(this.#clock, this.#timeout, this.#context, repeat);
    pending.add(request);
    try {
      this.#dispatcher.dispatch(options, request);
    } catch (error) {
      request.onResponseError(null, error instanceof Error ? error : new Error(String(error)));
    }
    try {
      return await request.response;
    } finally {
      pending.delete(request);
      if (this.#switches.size === 0) this.#onLastSwitch?.();
    }
  }

  async #map(body: unknown): Promise<unknown> {
    return this.#mapping === undefined ? body : await this.#mapping(body);
  }

  async #close(graceMs: number): Promise<void> {
    for (const request of this.#reads) request.close();
    for (const request of this.#switches) if (!request.sent) request.close();
    if (graceMs > 0) await this.#untilSwitchesEnd(graceMs);
    for (const request of this.#switches) request.close();
    await this.#dispatcher.destroy();
  }

  async #untilSwitchesEnd(graceMs: number): Promise<void> {
    if (![...this.#switches].some(({ sent }) => sent)) return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setTimeout(resolve, graceMs);
      this.#onLastSwitch = () => {
        this.#clock.clearTimeout(timer);
        resolve();
      };
    });
  }

  #now(): string {
    return new Date(this.#clock.wall()).toISOString();
  }
}
