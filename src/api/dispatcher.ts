// Connections to the service for one account: kept alive, through a proxy if there is one, and replaced if they are stale.
import type { ConnectionOptions, SecureContextOptions } from 'node:tls';
import type * as Undici from 'undici';
import type { Dispatcher } from 'undici';
import { CERTIFICATE_REFUSED, ProxyConnectionError, type NamedProxy } from './network-error';
import { chooseProxy, type ProxySettings } from './proxy';

/** How a TLS connection is made and verified. Node-RED's `tls-config` node sets these options. */
export type TlsOptions = SecureContextOptions & Pick<ConnectionOptions, 'servername' | 'rejectUnauthorized'>;

/** One request of a client. */
export interface RequestOptions {
  path: string;
  method: 'GET' | 'POST';
  /** Names in lower case. */
  headers: Record<string, string>;
  /** "": none. */
  body: string;
}

/** Sends the requests of a client: the part of undici's `Dispatcher` that the client uses. */
export interface RequestDispatcher {
  /** The proxy that requests go through. */
  readonly proxy?: NamedProxy | null;
  /** `alone`: on its own new connection. */
  dispatch(options: RequestOptions, handler: Dispatcher.DispatchHandler, alone: boolean): void;
  /**
   * Whether a request failed because the other side had closed its connection, as servers and proxies do with idle ones. It is safe to repeat
   * everything that a client sends: reads, and switches to on or to off.
   */
  isStale?(error: unknown): boolean;
  /** Ends the connections that are left. The client has already ended its requests. */
  destroy?(): Promise<void>;
}

export interface DispatcherOptions {
  /** The origin to which the requests go. */
  origin: string;
  /** The most connections, and so the most requests, at the same time. */
  connections: number;
  /** The client's deadline for one request, in milliseconds. A connection that takes longer is given up. */
  timeout: number;
  tls?: TlsOptions | undefined;
  /** Used instead of the proxy that the environment variables name. */
  proxy?: ProxySettings | undefined;
}

/** Largest body that is read. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Milliseconds that an idle connection is kept: fewer than most servers keep one, because a request is lost if the server closes the
 * connection while the request is being sent. A server's own `Keep-Alive` hint shortens it further.
 */
const KEEP_ALIVE = 20_000;

/**
 * Milliseconds that one address of a host may take to connect before the next is tried. With Node's default of 250, a host cannot be
 * reached if IPv6 is refused and IPv4 is slow.
 */
const NEXT_ADDRESS_AFTER = 2_000;

/**
 * Milliseconds after the deadline of a request in which its connection is given up, if it is still not made: a server or a proxy that does not answer
 * must not keep later requests waiting. undici's own timers may be half a second early.
 */
const CONNECT_MARGIN = 1_000;

/**
 * undici takes 50 ms to load, so it is loaded with the first account. If it were loaded before the built-in `fetch()` is first used, every `fetch()`
 * of the whole process would use its connections; constructing a `Request` makes the built-in one choose its own. There is none with
 * Node's option `--no-experimental-fetch`.
 */
function loadUndici(): typeof Undici {
  if ('Request' in globalThis) new Request('http://localhost').clone();
  return require('undici') as typeof Undici;
}

type Connect = Undici.buildConnector.connector;

/** Connections for one account. The caller destroys them (the client does, on `close`). */
export class PooledDispatcher implements RequestDispatcher {
  readonly proxy: NamedProxy | null;
  readonly #undici = loadUndici();
  readonly #origin: string;
  readonly #tls: TlsOptions;
  /** Milliseconds for making a connection. */
  readonly #connectWithin: number;
  /** Value of the header `proxy-authorization`; `null`: none. */
  readonly #authorization: string | null;
  readonly #pool: Dispatcher;
  /** One for each request that is sent alone: a pool cannot be made to open a new connection. */
  readonly #single = new Set<Dispatcher>();
  /** Errors of connections that broke after they had carried a response. */
  readonly #brokenInUse = new WeakSet();

  /** Throws NOT_CONFIGURED for an invalid proxy address. */
  constructor({ origin, connections, timeout, tls = {}, proxy }: DispatcherOptions) {
    this.#origin = origin;
    this.#tls = tls;
    this.#connectWithin = timeout + CONNECT_MARGIN;
    const chosen = chooseProxy(new URL(origin), proxy);
    this.proxy = chosen?.proxy ?? null;
    this.#authorization = chosen?.authorization ?? null;
    this.#pool = this.#open(connections);
  }

  dispatch(options: RequestOptions, handler: Dispatcher.DispatchHandler, alone: boolean): void {
    const dispatcher = alone ? this.#open(1) : this.#pool;
    dispatcher.dispatch(this.#addressed(options), handler);
    if (!alone) return;
    this.#single.add(dispatcher);
    const forget = (): void => void this.#single.delete(dispatcher);
    // Closes when the request is over. It may reject when the account is closed meanwhile, and an unhandled rejection would end Node-RED.
    dispatcher.close().then(forget, forget);
  }

  isStale(error: unknown): boolean {
    if (error instanceof this.#undici.errors.SocketError) {
      // "bad response" and the like: there was an answer.
      return error.message.endsWith('closed') && (error.socket?.bytesRead ?? 0) > 0;
    }
    return error instanceof Error && this.#brokenInUse.has(error);
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
      // No limit: the client has one deadline for the whole request.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    const { proxy } = this;
    if (proxy === null) {
      return new Pool(this.#origin, { ...options, connect: this.#observed(this.#direct(this.#tls)) });
    }
    const direct = this.#direct({});
    // Without a name, the certificate is checked against the proxy's own. undici names the host in the request's header, which is the service.
    const toProxy = asProxy((to, callback) => {
      direct({ ...to, servername: '' }, callback);
    });
    if (proxy.forwards) return new Pool(proxy.address, { ...options, connect: this.#observed(toProxy) });
    return new ProxyAgent({
      ...options,
      uri: proxy.address,
      ...(this.#authorization === null ? {} : { token: this.#authorization }),
      requestTls: this.#tls,
      clientFactory: (uri) => new Pool(uri, { connect: toProxy, headersTimeout: this.#connectWithin }),
      factory: (target, { connect }: { connect?: unknown }) => {
        if (typeof connect !== 'function') throw new TypeError('undici hands over no way to connect');
        const tunnel: Connect = (...to) => void Reflect.apply(connect, undefined, to);
        // If the tunnel fails with this code, undici itself would try again at once, and forever.
        const once = asProxy(tunnel, (error) => codeOf(error) === 'UND_ERR_SOCKET');
        return new Pool(target, { ...options, connect: this.#observed(once) });
      },
    });
  }

  /** A request in the form in which it is sent. Plain http goes to the proxy itself: many proxies open a tunnel only to port 443. */
  #addressed(options: RequestOptions): Dispatcher.DispatchOptions {
    if (this.proxy === null) return options;
    const headers = { ...options.headers, host: new URL(this.#origin).host };
    if (!this.proxy.forwards) return { ...options, origin: this.#origin, headers };
    const login = this.#authorization === null ? {} : { 'proxy-authorization': this.#authorization };
    return { ...options, path: this.#origin + options.path, headers: { ...headers, ...login } };
  }

  #direct(tls: TlsOptions): Connect {
    const limits = { timeout: this.#connectWithin, autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER };
    return this.#undici.buildConnector({ ...limits, ...tls });
  }

  #observed(connect: Connect): Connect {
    return (options, callback) => {
      connect(options, (...result) => {
        const [, socket] = result;
        socket?.prependListener('error', (failure: Error) => {
          const code = codeOf(failure);
          if (socket.bytesRead > 0 && (code === 'ECONNRESET' || code === 'EPIPE'))
            this.#brokenInUse.add(failure);
          // Otherwise the connection would end once more, without a reason, and undici would report only that.
          if (CERTIFICATE_REFUSED.test(code)) socket.destroy();
        });
        callback(...result);
      });
    };
  }
}

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : '');

/** Marks errors of a connection as errors of the proxy. */
function asProxy(connect: Connect, isProxy: (error: Error) => boolean = () => true): Connect {
  return (options, callback) => {
    connect(options, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(isProxy(error) ? new ProxyConnectionError('proxy', { cause: error }) : error, null);
    });
  };
}
