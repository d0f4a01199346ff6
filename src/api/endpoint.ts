import { StripError } from './errors';
import { isPossibleMac } from './mac';
import { Remembered } from './remembered';

/** What every path of the API document is relative to (sections 2 and 9). */
const API_ROOT = '/api/public/v1';

/** `${NAME}` as Node-RED leaves it when the environment has no such variable. */
const UNRESOLVED = /\$\{([^{}]*)\}/;

/** What an HTTP header can carry without being quoted, folded or refused. */
const HEADER_SAFE = /^[\x21-\x7e]+$/;

/**
 * The address all requests start with, `…/api/public/v1`, from the base URL as a person typed or pasted it: with or without
 * that path and trailing slashes. Throws NOT_CONFIGURED, and names neither user info nor query, which may be secret.
 */
export function parseBaseUrl(text: string): URL {
  const trimmed = text.trim();
  if (trimmed === '') throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.urlMissing');
  refuseUnresolved(trimmed, 'NOT_CONFIGURED.urlVariable');
  if (!URL.canParse(trimmed)) throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.urlInvalid');
  const url = new URL(trimmed);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.urlScheme', {
      params: { scheme: url.protocol.slice(0, -1) },
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.urlUser');
  }
  // A lone "?" or "#" leaves `search` and `hash` empty, but is just as little part of a base URL.
  if (/[?#]/.test(trimmed)) throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.urlQuery');

  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith(API_ROOT) ? path : path + API_ROOT;
  return url;
}

/** The key as the header carries it. Throws NOT_CONFIGURED, and never repeats any of it but the name of a missing variable. */
export function checkApiKey(text: string): string {
  const key = text.trim();
  if (key === '') throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.keyMissing');
  const variable = /^\$\{([^{}]*)\}$/.exec(key);
  if (variable) {
    throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.keyVariable', {
      params: { variable: variable[1] ?? '' },
    });
  }
  if (!HEADER_SAFE.test(key)) throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.keyCharacters');
  return key;
}

/** Asked for with each message, and then again for its request. */
const paths = new Remembered(2_000, encodedPath);

/**
 * The path of one strip below the base address, `/strips/{mac}` (API document, section 4), with the MAC as the service
 * spelled it. Throws INVALID_INPUT for what could lead out of that path or cannot be encoded.
 */
export function stripPath(mac: string): string {
  return paths.get(mac);
}

function encodedPath(mac: string): string {
  if (!isPossibleMac(mac)) {
    throw new StripError('INVALID_INPUT', 'INVALID_INPUT.mac', { params: { got: printable(mac) } });
  }
  return `/strips/${encodeURIComponent(mac)}`;
}

/** Whether the key would travel unencrypted beyond this machine and its private network. */
export function isPublicPlainHttp(url: URL): boolean {
  return url.protocol === 'http:' && !isPrivateHost(url.hostname);
}

function isPrivateHost(hostname: string): boolean {
  if (hostname.startsWith('[')) return isPrivateIpv6(hostname.slice(1, -1));
  const octets = hostname.split('.').map(Number);
  // `URL` has already turned every spelling of an IPv4 address into four decimal numbers.
  if (octets.length === 4 && octets.every((octet) => Number.isInteger(octet))) return isPrivateIpv4(octets);
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  return !name.includes('.') || /\.(localhost|local|lan|internal|home\.arpa)$/.test(name);
}

function isPrivateIpv4([a = 0, b = 0]: number[]): boolean {
  return (
    a === 127 ||
    a === 10 ||
    (a === 172 && b >= 16 && b <= 31) ||
    (a === 192 && b === 168) ||
    (a === 169 && b === 254)
  );
}

function isPrivateIpv6(address: string): boolean {
  const mapped = /^::ffff:([0-9a-f]+):[0-9a-f]+$/.exec(address);
  if (mapped) {
    const high = parseInt(mapped[1] ?? '', 16);
    return isPrivateIpv4([high >> 8, high & 0xff]);
  }
  return address === '::1' || /^(f[cd]..|fe[89ab].):/.test(address);
}

function refuseUnresolved(text: string, sentence: string): void {
  const variable = UNRESOLVED.exec(text);
  if (variable) throw new StripError('NOT_CONFIGURED', sentence, { params: { variable: variable[1] ?? '' } });
}

/** A hostile text made fit for a message: quoted, control characters escaped, not endless. */
function printable(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
