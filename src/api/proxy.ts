// Which proxy, if any, is between Node-RED and the service.
import { isIP } from 'node:net';
import { environmentVariable } from '../values';
import { StripError, variableMissing } from './errors';
import type { NamedProxy } from './network-error';

/** A proxy as Node-RED's `http proxy` node or the environment describes it. */
export interface ProxySettings {
  url: string;
  /** Hosts that are reached without it, as in `no_proxy`. */
  noProxy: readonly string[];
  /** If it is missing or empty, the address may have one. */
  username?: string;
  password?: string;
  /** The environment variable that names it. */
  variable?: string;
}

interface ChosenProxy {
  readonly proxy: NamedProxy;
  /** Value of the header `proxy-authorization`; `null`: none. */
  readonly authorization: string | null;
}

/**
 * The proxy for requests to `target`: the one of the account, else the one that the environment names, unless the host is excepted. Throws
 * NOT_CONFIGURED for an invalid address; an address that does not apply is not checked.
 */
export function chooseProxy(target: URL, settings = environmentProxy(target)): ChosenProxy | null {
  if (settings === null || isExcepted(target, settings.noProxy)) return null;
  const { url: text, variable = null, username = '', password = '' } = settings;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    // Without the text itself: it may hold a password.
    if (variable !== null) throw new StripError('NOT_CONFIGURED.proxyVariable', { variable });
    const missing = environmentVariable(text);
    throw missing === null ? new StripError('NOT_CONFIGURED.proxy') : variableMissing(missing);
  }
  const user = username || unescaped(url.username);
  const login = `${user}:${username === '' ? unescaped(url.password) : password}`;
  return {
    proxy: { address: url.origin, variable, forwards: target.protocol === 'http:' },
    authorization: user === '' ? null : `Basic ${Buffer.from(login).toString('base64')}`,
  };
}

/** The proxy that the environment names for the scheme: `http_proxy` or `https_proxy`, or in upper case; with `no_proxy`. */
function environmentProxy(target: URL): ProxySettings | null {
  const lower = target.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const variable = process.env[lower] === undefined ? lower.toUpperCase() : lower;
  const url = process.env[variable] ?? '';
  const noProxy = (process.env.no_proxy ?? process.env.NO_PROXY ?? '').split(/[\s,]/);
  return url === '' ? null : { url, noProxy, variable };
}

/**
 * Whether one of the entries names the host, in the way curl reads `no_proxy`: "*", or a host, which includes its subdomains; with a
 * port, only that port is meant. Ranges of addresses (CIDR) are not understood.
 */
function isExcepted(target: URL, entries: readonly string[]): boolean {
  const host = target.hostname.replace(/^\[|\]$|\.$/g, '');
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  return entries.some((entry) => {
    const text = entry.trim().toLowerCase();
    const [, name, only] = /^\[([^\]]*)\](?::(\d+))?$/.exec(text) ??
      /^([^:]*):(\d+)$/.exec(text) ?? ['', text];
    const domain = name.replace(/^\*?\./, '').replace(/\.$/, '');
    if (text === '*') return true;
    if (only !== undefined && only !== port) return false;
    return host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`));
  });
}

/** Decodes a user name or password from a URL. If it was never escaped and cannot be decoded, it stays as it is. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
