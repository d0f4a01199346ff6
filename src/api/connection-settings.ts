// Checks what a user types to reach the service: the base URL and the API key.
import { StripError } from './errors';
import { API_ROOT } from './types';
import { environmentVariable } from '../values';

/** Characters that an HTTP header can hold without quoting. */
const HEADER_SAFE = /^[\x21-\x7e]+$/;

/**
 * What does not belong to a base path: slashes at its end, and the API's own path, which may have been pasted with it. The lookbehind lets the search
 * begin only at the first of several slashes. Without it, the time grows with the square of their number.
 */
const ENDING = new RegExp(`(?<!/)/*(?:${API_ROOT}/*)?$`);

/** Where the requests of an account go. */
export interface BaseUrl {
  /** The beginning of all request addresses: `…/api/public/v1`. */
  readonly url: URL;
  /** Path of the simulator in this Node-RED that answers in place of a service, as `simulatorPath` returns it; `null`: a service on the network. */
  readonly simulator: string | null;
}

/**
 * Reads the base URL as a person typed or pasted it, with or without `/api/public/v1` and trailing slashes. One that begins with a
 * single `/` is the path of a simulator in this Node-RED. Throws NOT_CONFIGURED, and names neither user info nor query, which may be
 * secret.
 */
export function parseBaseUrl(text: string): BaseUrl {
  const trimmed = text.trim();
  if (trimmed === '') throw new StripError('NOT_CONFIGURED.urlMissing');
  const variable = environmentVariable(trimmed);
  if (variable !== null) throw new StripError('NOT_CONFIGURED.urlVariable', { variable });
  const simulator = simulatorPath(trimmed);
  if (simulator !== null) return { url: new URL(`http://simulator${simulator}${API_ROOT}`), simulator };
  // Node-RED replaces an environment variable only if it is the whole value.
  if (!URL.canParse(trimmed) || trimmed.includes('${')) throw new StripError('NOT_CONFIGURED.urlInvalid');
  const url = new URL(trimmed);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new StripError('NOT_CONFIGURED.urlScheme', { scheme: url.protocol.slice(0, -1) });
  }
  if (url.username !== '' || url.password !== '') throw new StripError('NOT_CONFIGURED.urlUser');
  // A lone "?" or "#" leaves `search` and `hash` empty, but does not belong in a base URL either.
  if (/[?#]/.test(trimmed)) throw new StripError('NOT_CONFIGURED.urlQuery');

  url.pathname = url.pathname.replace(ENDING, '') + API_ROOT;
  return { url, simulator: null };
}

/**
 * The form in which paths of simulators are compared: without slashes or the API's own path at the end ('' for the root). `null` if it does not start
 * with a single "/" or is no plain path.
 */
export function simulatorPath(text: string): string | null {
  const trimmed = text.trim();
  const path = trimmed.replace(ENDING, '');
  const isPlain = /^(?:\/(?!\.\.?(?:\/|$))[\w.~-]+)*$/.test(path);
  return isPlain && /^\/(?!\/)/.test(trimmed) ? path : null;
}

/** The key as it goes into the header. Throws NOT_CONFIGURED. The errors never contain the key, only the name of a missing variable. */
export function checkApiKey(text: string): string {
  const key = text.trim();
  if (key === '') throw new StripError('NOT_CONFIGURED.keyMissing');
  const variable = environmentVariable(key);
  if (variable !== null) throw new StripError('NOT_CONFIGURED.keyVariable', { variable });
  if (!HEADER_SAFE.test(key)) throw new StripError('NOT_CONFIGURED.keyCharacters');
  return key;
}

/** Whether the key would travel unencrypted beyond this machine and its private network. */
export function isPublicPlainHttp({ url, simulator }: BaseUrl): boolean {
  return simulator === null && url.protocol === 'http:' && !isPrivateHost(url.hostname);
}

/** Private addresses as `URL` writes them: it turns every spelling of an IPv4 address into four decimal numbers, and puts IPv6 in brackets. */
const PRIVATE_IPV4 = /^(?:127|10|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))\./;
const PRIVATE_IPV6 = /^\[(?:::1\]|f[cd]\w\w:|fe[89ab]\w:)/;

function isPrivateHost(hostname: string): boolean {
  if (hostname.startsWith('[')) return PRIVATE_IPV6.test(hostname);
  if (/^[\d.]+$/.test(hostname)) return PRIVATE_IPV4.test(hostname);
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  return !name.includes('.') || /\.(localhost|local|lan|internal|home\.arpa)$/.test(name);
}
