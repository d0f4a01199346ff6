import type { Dispatcher } from 'undici';
import type { ListReading, Service, StripReading, SwitchReading } from './service';
import { readBody, readSwitch } from './answer';
import { Chain } from './chain';
import type { Clock } from './clock';
import { decodeList, decodeStrip } from './decode';
import { stripPath } from './endpoint';
import { Exchange, type Answer } from './exchange';
import { Failures } from './failure';
import type { PortOrAll } from './types';

export interface ClientOptions {
  /** The address of the API, `…/api/public/v1` (see `parseBaseUrl`). */
  endpoint: URL;
  /** As `checkApiKey` returns it. */
  apiKey: string;
  /** Milliseconds for one request, from the call to the last byte of the answer. */
  timeout: number;
  /** The client's own from now on: `close` destroys it. */
  dispatcher: Dispatcher;
  clock: Clock;
}

interface Paths {
  readonly get: string;
  readonly switch: string;
}

/** Paths are kept ready for this many strips; more than that, and they are worked out anew now and then. */
const MOST_PATHS = 2_000;

/** The service over HTTP (API document, section 4). One request per call; repeating is the account's business. */
export class Client implements Service {
  readonly #origin: string;
  readonly #root: string;
  readonly #timeout: number;
  readonly #dispatcher: Dispatcher;
  readonly #clock: Clock;
  readonly #failures: Failures;
  readonly #headers: string[];
  readonly #switchHeaders: string[];
  readonly #paths = new Map<string, Paths>();
  readonly #reads = new Chain<Exchange>();
  readonly #switches = new Chain<Exchange>();
  #closing: Promise<void> | null = null;
  #idle: (() => void) | null = null;

  constructor({ endpoint, apiKey, timeout, dispatcher, clock }: ClientOptions) {
    this.#origin = endpoint.origin;
    this.#root = endpoint.pathname;
    this.#timeout = timeout;
    this.#dispatcher = dispatcher;
    this.#clock = clock;
    this.#failures = new Failures(endpoint, timeout, apiKey);
    this.#headers = ['accept', 'application/json', 'x-api-key', apiKey];
    this.#switchHeaders = [...this.#headers, 'content-type', 'application/json'];
  }

  async list(): Promise<ListReading> {
    const answer = await this.#send(this.#reads, 'GET', `${this.#root}/strips`, this.#headers, null);
    const response = readBody(answer, this.#failures, this.#clock.wall());
    return { ...decodeList(response, this.#now()), response };
  }

  async get(mac: string): Promise<StripReading> {
    const answer = await this.#send(this.#reads, 'GET', this.#path(mac).get, this.#headers, null);
    const response = readBody(answer, this.#failures, this.#clock.wall(), mac);
    return { ...decodeStrip(response, mac, this.#now()), response };
  }

  async switch(mac: string, port: PortOrAll, on: boolean): Promise<SwitchReading> {
    const body = JSON.stringify({ port, on });
    const path = this.#path(mac).switch;
    const answer = await this.#send(this.#switches, 'POST', path, this.#switchHeaders, body);
    return readSwitch(answer, port, mac, this.#failures, this.#clock.wall());
  }

  close(graceMs: number): Promise<void> {
    return (this.#closing ??= this.#close(graceMs));
  }

  #send(
    kind: Chain<Exchange>,
    method: Dispatcher.HttpMethod,
    path: string,
    headers: string[],
    body: string | null,
  ): Promise<Answer> {
    if (this.#closing !== null) return Promise.reject(this.#failures.closed());
    const exchange: Exchange = new Exchange(this.#clock, this.#timeout, this.#failures, () => {
      kind.delete(exchange);
      if (this.#idle !== null && this.#switches.first === null) this.#idle();
    });
    kind.add(exchange);
    try {
      this.#dispatcher.dispatch({ origin: this.#origin, path, method, headers, body }, exchange);
    } catch (error) {
      exchange.onResponseError(null, error instanceof Error ? error : new Error(String(error)));
    }
    return exchange.answer;
  }

  async #close(graceMs: number): Promise<void> {
    for (const exchange of this.#reads.items()) exchange.fail(this.#failures.closed());
    for (const exchange of this.#switches.items()) if (!exchange.sent) exchange.fail(this.#failures.closed());
    if (this.#switches.first !== null && graceMs > 0) await this.#untilIdle(graceMs);
    for (const exchange of this.#switches.items()) exchange.fail(this.#failures.closed());
    await this.#dispatcher.destroy();
  }

  async #untilIdle(graceMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setTimeout(resolve, graceMs);
      this.#idle = () => {
        this.#clock.clearTimeout(timer);
        resolve();
      };
    });
  }

  #path(mac: string): Paths {
    let paths = this.#paths.get(mac);
    if (paths === undefined) {
      const get = this.#root + stripPath(mac);
      paths = { get, switch: `${get}/switch` };
      if (this.#paths.size >= MOST_PATHS) this.#paths.clear();
      this.#paths.set(mac, paths);
    }
    return paths;
  }

  #now(): string {
    return new Date(this.#clock.wall()).toISOString();
  }
}
