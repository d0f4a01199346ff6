// Connections to the service for one account: kept alive, through a proxy where there is one, and replaced where one has gone stale.
import type { ConnectionOptions, SecureContextOptions } from 'node:tls';
import type * as Undici from 'undici';
import type { Dispatcher } from 'undici';
import { ProxyConnectionError, type NamedProxy } from './network-error';
import { chooseProxy, type ChosenProxy, type ProxySettings } from './proxy';

/** What Node-RED's `tls-config` node fills in; how a connection is made and verified. */
export type TlsOptions = SecureContextOptions & Pick<ConnectionOptions, 'servername' | 'rejectUnauthorized'>;

/** One request of a client. */
export interface RequestOptions {
  origin: string;
  path: string;
  method: 'GET' | 'POST';
  /** Names and values by turns. */
  headers: string[];
  body: string | null;
}

/** What a client sends its requests with: as much of undici's `Dispatcher` as it uses. */
export interface RequestDispatcher {
  /** The proxy that requests go through. */
  readonly proxy?: NamedProxy | null;
  dispatch(options: RequestOptions, handler: Dispatcher.DispatchHandler): boolean;
  /**
   * Sends a request on a new connection of its own. One that failed with an `error` is only repeated if the other side had closed the
   * connection it went out on, as servers and proxies do with idle ones: that is safe for everything that a client sends, reads and
   * switches to on or to off. Returns whether it is sent.
   */
  dispatchAlone?(options: RequestOptions, handler: Dispatcher.DispatchHandler, error?: Error): boolean;
  /** Ends what is left of its connections. The client has ended its requests before. */
  destroy?(): Promise<void>;
}

export interface DispatcherOptions {
  /** Where the requests go. */
  origin: string;
  /** Connections at once, and with them requests at once. */
  connections: number;
  tls?: TlsOptions | undefined;
  /** Takes the place of what the environment names. */
  proxy?: ProxySettings | undefined;
}

/** Largest body that is read. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Longest an idle connection is kept, in milliseconds: less than most servers do, because one that the server closes while a request is
 * being sent loses the request. A server's own `Keep-Alive` hint shortens it further.
 */
const KEEP_ALIVE = 20_000;

/**
 * Milliseconds that one address of a host may take to connect before the next is tried. With Node's 250 a slow IPv4 path beside a
 * refused IPv6 one fails.
 */
const NEXT_ADDRESS_AFTER = 2_000;

/** Milliseconds for a proxy's answer to CONNECT: one that stays silent would otherwise keep one of the connections busy for minutes. */
const TUNNEL_WITHIN = 10_000;

/**
 * undici takes 50 ms to load, so it is loaded with the first account. If it were loaded before the built-in `fetch()` is first used, every `fetch()`
 * of the whole process would use its connections; constructing a `Request` makes the built-in one choose its own.
 */
function loadUndici(): typeof Undici {
  new Request('http://localhost').clone();
  return require('undici') as typeof Undici;
}

type Connect = Undici.buildConnector.connector;

/** Connections for one account. The caller destroys them (the client does, on `close`). */
export class PooledDispatcher implements RequestDispatcher {
  readonly proxy: NamedProxy | null;
  readonly #undici = loadUndici();
  readonly #origin: string;
  readonly #tls: TlsOptions;
  readonly #proxy: ChosenProxy | null;
  readonly #pool: Dispatcher;
  /** Each for one request: a pool cannot be made to open a new connection. */
  readonly #single = new Set<Dispatcher>();
  /** Errors of connections that broke after they had carried a response. */
  readonly #brokenInUse = new WeakSet();

  /** Throws NOT_CONFIGURED for a proxy address that is none. */
  constructor({ origin, connections, tls = {}, proxy }: DispatcherOptions) {
    this.#origin = origin;
    this.#tls = tls;
    this.#proxy = chooseProxy(new URL(origin), proxy);
    this.proxy = this.#proxy?.name ?? null;
    this.#pool = this.#open(connections);
  }

  dispatch(options: RequestOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.#pool.dispatch(options, handler);
  }

  dispatchAlone(options: RequestOptions, handler: Dispatcher.DispatchHandler, error?: Error): boolean {
    if (error !== undefined && !this.#isStale(error)) return false;
    const single = this.#open(1);
    this.#single.add(single);
    single.dispatch(options, handler);
    const forget = (): void => void this.#single.delete(single);
    // Closes when the request is over. It may reject when the account is closed meanwhile, and an unhandled rejection would end Node-RED.
    single.close().then(forget, forget);
    return true;
  }

  async destroy(): Promise<void> {
    await Promise.all([this.#pool, ...this.#single].map((dispatcher) => dispatcher.destroy()));
  }

  #open(connections: number): Dispatcher {
    const { Pool, ProxyAgent } = this.#undici;
    const options = {
      connections,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE,
      keepAliveMaxTimeout: KEEP_ALIVE,
      maxResponseSize: MAX_BODY_BYTES,
      // Neither is a deadline; the client has one of its own over all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    if (this.#proxy === null) {
      return new Pool(this.#origin, { ...options, connect: this.#observed(this.#direct(this.#tls)) });
    }
    const { authorization, name } = this.#proxy;
    const toProxy = asProxy(this.#direct({}));
    if (name.forwards) {
      const pool = new Pool(name.address, { ...options, connect: this.#observed(toProxy) });
      return pool.compose(forward(name.address, authorization));
    }
    return new ProxyAgent({
      ...options,
      uri: name.address,
      ...(authorization === null ? {} : { token: authorization }),
      requestTls: this.#tls,
      clientFactory: (uri) => new Pool(uri, { connect: toProxy, headersTimeout: TUNNEL_WITHIN }),
      factory: (target, { connect }: { connect?: unknown }) => {
        if (typeof connect !== 'function') throw new TypeError('undici hands over no way to connect');
        const tunnel: Connect = (...to) => void Reflect.apply(connect, undefined, to);
        // Without a tunnel for this reason undici would try again at once and without end.
        const once = asProxy(tunnel, (error) => hasCode(error, ['UND_ERR_SOCKET']));
        return new Pool(target, { ...options, connect: this.#observed(once) });
      },
    });
  }

  /** Whether a request failed because its connection, one that had carried others, was closed by the other side. */
  #isStale(error: Error): boolean {
    if (error instanceof this.#undici.errors.SocketError) {
      // "bad response" and the like: there was an answer.
      return error.message.endsWith('closed') && (error.socket?.bytesRead ?? 0) > 0;
    }
    return this.#brokenInUse.has(error);
  }

  #direct(tls: TlsOptions): Connect {
    return this.#undici.buildConnector({ autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER, ...tls });
  }

  #observed(connect: Connect): Connect {
    return (options, callback) => {
      connect(options, (...[error, socket]) => {
        socket?.prependListener('error', (failure: Error) => {
          if (socket.bytesRead > 0 && hasCode(failure, ['ECONNRESET', 'EPIPE'])) {
            this.#brokenInUse.add(failure);
          }
        });
        if (error === null) callback(null, socket);
        else callback(error, null);
      });
    };
  }
}

const hasCode = (error: Error, codes: readonly string[]): boolean =>
  'code' in error && codes.includes(String(error.code));

/** Marks what goes wrong as the proxy's. */
function asProxy(connect: Connect, isProxy: (error: Error) => boolean = () => true): Connect {
  return (options, callback) => {
    connect(options, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(isProxy(error) ? new ProxyConnectionError('proxy', { cause: error }) : error, null);
    });
  };
}

/** Requests in the form that a proxy takes for plain http: no tunnel, because many proxies open one to port 443 only. */
function forward(proxy: string, authorization: string | null): Dispatcher.DispatcherComposeInterceptor {
  const login = authorization === null ? [] : ['proxy-authorization', authorization];
  return (dispatch) => (options, handler) => {
    const { origin = '', path, headers } = options;
    const own = Array.isArray(headers) ? headers : [];
    return dispatch(
      {
        ...options,
        origin: proxy,
        path: `${String(origin)}${path}`,
        headers: [...own, 'host', new URL(origin).host, ...login],
      },
      handler,
    );
  };
}
