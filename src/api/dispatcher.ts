import './builtin-fetch'; // first: see there
import type { ConnectionOptions, SecureContextOptions } from 'node:tls';
import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';
import { StripError } from './errors';
import { MOST_BYTES } from './exchange';

/** What Node-RED's `tls-config` node fills in; how a connection is made and verified. */
export type TlsOptions = SecureContextOptions & Pick<ConnectionOptions, 'servername' | 'rejectUnauthorized'>;

export interface Proxy {
  url: string;
  /** Hosts (with their subdomains, or with a port) that are reached without it. */
  noProxy: readonly string[];
  username?: string;
  password?: string;
}

export interface DispatcherOptions {
  /** Where the requests go; a proxy in the environment counts only for the schemes it is named for. */
  origin: string;
  /** Connections at once, and with them requests at once. */
  connections: number;
  connect?: TlsOptions;
  /** Takes the place of what the environment names. */
  proxy?: Proxy;
}

/**
 * Longest an idle connection is kept, in milliseconds: less than servers do, because one that the server closes while a command is
 * being sent loses the command. A server's own `Keep-Alive` hint shortens it further.
 */
const KEEP_ALIVE = 20_000;

/**
 * Milliseconds that one address of a host may take to connect before the next is tried. With Node's 250 a slow IPv4 path beside a
 * refused IPv6 one fails.
 */
const NEXT_ADDRESS_AFTER = 2_000;

/**
 * Connections for one account. Sets no process-wide dispatcher. Whoever asks for it destroys it (the client does, on `close`).
 * Throws NOT_CONFIGURED for a proxy address that is none.
 */
export function createDispatcher({ origin, connections, connect, proxy }: DispatcherOptions): Dispatcher {
  const tls = { autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER, ...connect };
  const options = {
    connections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE,
    keepAliveMaxTimeout: KEEP_ALIVE,
    maxResponseSize: MOST_BYTES,
    // Neither is a deadline; the client has one of its own over all of it.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: tls,
  };
  if (proxy) {
    const uri = proxyAddress(proxy.url);
    return new EnvHttpProxyAgent({
      ...options,
      ...proxyCredentials(proxy),
      requestTls: tls,
      httpProxy: uri,
      httpsProxy: uri,
      noProxy: proxy.noProxy.join(','),
    });
  }
  const named = proxiesOfEnvironment();
  if (named.length === 0) return new Pool(origin, options);
  named.forEach(proxyAddress);
  return new EnvHttpProxyAgent({ ...options, requestTls: tls });
}

function proxiesOfEnvironment(): string[] {
  const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY } = process.env;
  return [http_proxy ?? HTTP_PROXY, https_proxy ?? HTTPS_PROXY].filter(
    (url): url is string => url !== undefined && url !== '',
  );
}

function proxyAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href;
  // Not the text itself: it may hold a password.
  throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.proxy');
}

function proxyCredentials({ username, password }: Proxy): { token?: string } {
  if (username === undefined || username === '') return {};
  return { token: `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` };
}
