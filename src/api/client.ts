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

/** What all reads have in common, and all switches. */
interface Kind {
  readonly method: Dispatcher.HttpMethod;
  readonly headers: string[];
  /** Those on their way. */
  readonly exchanges: Chain<Exchange>;
}

/** The service over HTTP (API document, section 4). One request per call; repeating is the account's business. */
export class Client implements Service {
  readonly #origin: string;
  readonly #root: string;
  readonly #timeout: number;
  readonly #dispatcher: Dispatcher;
  readonly #clock: Clock;
  readonly #failures: Failures;
  readonly #reads: Kind;
  readonly #switches: Kind;
  #closing: Promise<void> | null = null;
  #idle: (() => void) | null = null;

  constructor({ endpoint, apiKey, timeout, dispatcher, clock }: ClientOptions) {
    this.#origin = endpoint.origin;
    this.#root = endpoint.pathname;
    this.#timeout = timeout;
    this.#dispatcher = dispatcher;
    this.#clock = clock;
    this.#failures = new Failures(endpoint, timeout, apiKey);
    const headers = ['accept', 'application/json', 'x-api-key', apiKey];
    this.#reads = { method: 'GET', headers, exchanges: new Chain() };
    this.#switches = {
      method: 'POST',
      headers: [...headers, 'content-type', 'application/json'],
      exchanges: new Chain(),
    };
  }

  list(): Promise<ListReading> {
    return new Promise((resolve, reject) => {
      const deliver = (answer: Answer): void => {
        const response = readBody(answer, this.#failures, this.#clock.wall());
        resolve({ ...decodeList(response, this.#now()), response });
      };
      this.#send(this.#reads, '/strips', null, deliver, reject);
    });
  }

  get(mac: string): Promise<StripReading> {
    return new Promise((resolve, reject) => {
      const deliver = (answer: Answer): void => {
        const response = readBody(answer, this.#failures, this.#clock.wall(), mac);
        resolve({ ...decodeStrip(response, mac, this.#now()), response });
      };
      this.#send(this.#reads, stripPath(mac), null, deliver, reject);
    });
  }

  switch(mac: string, port: PortOrAll, on: boolean): Promise<SwitchReading> {
    return new Promise((resolve, reject) => {
      const deliver = (answer: Answer): void => {
        resolve(readSwitch(answer, port, mac, this.#failures, this.#clock.wall()));
      };
      // JSON by hand: there are ten such bodies in all, and a general writer takes as long as all the rest of a command.
      const body = `{"port":${port === 'all' ? '"all"' : port},"on":${on}}`;
      this.#send(this.#switches, `${stripPath(mac)}/switch`, body, deliver, reject);
    });
  }

  close(graceMs: number): Promise<void> {
    return (this.#closing ??= this.#close(graceMs));
  }

  /** Ends in `deliver` or `reject`; `path` is below the base address. */
  #send(
    { method, headers, exchanges }: Kind,
    path: string,
    body: string | null,
    deliver: (answer: Answer) => void,
    reject: (error: unknown) => void,
  ): void {
    if (this.#closing !== null) {
      reject(this.#failures.closed());
      return;
    }
    const over = (): void => {
      exchanges.delete(exchange);
      if (this.#idle !== null && this.#switches.exchanges.first === null) this.#idle();
    };
    const exchange = new Exchange(this.#clock, this.#timeout, this.#failures, deliver, reject, over);
    exchanges.add(exchange);
    try {
      this.#dispatcher.dispatch(
        { origin: this.#origin, path: this.#root + path, method, headers, body },
        exchange,
      );
    } catch (error) {
      exchange.onResponseError(null, error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #close(graceMs: number): Promise<void> {
    const reads = this.#reads.exchanges;
    const switches = this.#switches.exchanges;
    for (const exchange of reads.items()) exchange.fail(this.#failures.closed());
    for (const exchange of switches.items()) if (!exchange.sent) exchange.fail(this.#failures.closed());
    if (switches.first !== null && graceMs > 0) await this.#untilIdle(graceMs);
    for (const exchange of switches.items()) exchange.fail(this.#failures.closed());
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

  #now(): string {
    return new Date(this.#clock.wall()).toISOString();
  }
}
