// Strips and outlets in the API document's own words, MACs in different spellings, the requests of an account and their answers, and the clock.

/** Every path of the API document is relative to this one (sections 2 and 9). */
export const API_ROOT = '/api/public/v1';

/** An outlet of a strip (API document, section 2). */
export type Port = 1 | 2 | 3 | 4;

/** What a switch request may name: one outlet, or all of the strip (sections 2 and 4). */
export type PortOrAll = Port | 'all';

/** One outlet of one strip. */
export interface OutletId {
  mac: string;
  port: Port;
}

export const PORTS: readonly Port[] = [1, 2, 3, 4];

/** One outlet as read from the service (sections 1 and 2). */
export interface Outlet {
  readonly port: Port;
  /** `null`: the service did not say, or what it said cannot be read for sure. */
  readonly on: boolean | null;
  /** The outlet's own name; `null`: none was given. */
  readonly name: string | null;
}

/** What a strip reports besides its outlets. The API document states neither types nor units. */
export type ReadingName = 'load' | 'voltage' | 'signal';

export const READINGS: readonly ReadingName[] = ['load', 'voltage', 'signal'];

/**
 * One strip as read from the service; never changed afterwards, because many subscribers get the same object. The field names of the service's own
 * records are not documented.
 */
export interface Strip {
  /** As the service spelled it; compare with `sameMac`, never by `===`. */
  readonly mac: string;
  readonly name: string | null;
  /** It is not missing from the last complete list, and the service does not call it offline. False for every strip while the list cannot be read. */
  readonly available: boolean;
  /** In order of port. Only outlets that the service mentioned; if it has only confirmed switches so far, the documented four. */
  readonly outlets: readonly Outlet[];
  readonly load: number | null;
  readonly voltage: number | null;
  readonly signal: number | null;
  /** A reading has a unit only if the service sent one or the account declares one. */
  readonly units: Readonly<Partial<Record<ReadingName, string>>>;
  /** ISO 8601, when it was read. */
  readonly at: string;
}

/** One entry of a switch answer's `results` (section 2). */
export interface SwitchResult {
  port: number;
  ok: boolean;
}

/** A JSON object from the service, before anything was read from it. */
export type JsonRecord = Record<string, unknown>;

/** The service's JSON body, as it came. */
export interface JsonBody {
  /** The parsed body. It goes into the message, and flows may change it. */
  response: unknown;
  text: string;
}

/** What was read from the list of strips. */
export interface ListAnswer extends JsonBody {
  strips: Strip[];
  /** The whole answer was understood, and nothing hints at further strips. So a strip that is missing in it is gone. */
  complete: boolean;
  /** At least one outlet's state could be read, or there was plainly nothing to read. */
  readable: boolean;
}

/** What was read from the answer about one strip. */
export interface StripAnswer extends JsonBody {
  strip: Strip;
  /** The answer says that the strip can be reached. If it says nothing about this, only `strip.available` is true. */
  saysOnline: boolean;
  /** At least one outlet's state could be read, or the strip is unavailable. */
  readable: boolean;
}

/** What the answer to a switch confirmed. */
export interface SwitchAnswer extends JsonBody {
  /** What the answer said about the outlets that were asked for. */
  results: SwitchResult[];
  /** Outlets that now have the requested state. For `all` these may be fewer than the strip has: the states of the others must be read. */
  confirmed: Port[];
}

/** The service as the account needs it, implemented by `src/api/client.ts`. All methods reject with `StripError` only. */
export interface Service {
  /** All strips of the caller (section 4). */
  list(): Promise<ListAnswer>;
  /** One strip (section 4). Also rejects with INVALID_INPUT for a MAC that cannot be one. */
  get(mac: string): Promise<StripAnswer>;
  /** Resolves only if the answer confirms the switch (section 2); otherwise rejects with SWITCH_FAILED, BAD_RESPONSE or another error. */
  switch(mac: string, port: PortOrAll, on: boolean): Promise<SwitchAnswer>;
  /**
   * Ends all requests that are under way with CLOSED, but a switch that was sent may still be answered for `graceMs` milliseconds. From now on each
   * request gets its own connection, because all others may be busy.
   */
  beginClose(graceMs: number): void;
  /** Ends all requests with CLOSED. Resolves when no socket is left. */
  close(): Promise<void>;
}

const SEPARATORS = /[\s:._-]/g;
const HEXADECIMAL = /^[0-9a-f]+$/;

/**
 * The same text for every spelling of a MAC: lower case, no separators. For comparing and for `Map` keys only: requests
 * use the service's own spelling. The API document does not promise that an identifier is a MAC at all, so separators
 * stay in anything that is not hexadecimal.
 */
export function macKey(mac: string): string {
  const lower = mac.trim().toLowerCase();
  const bare = lower.replace(SEPARATORS, '');
  return HEXADECIMAL.test(bare) ? bare : lower;
}

/** Whether both name the same strip, however they are spelled. */
export function sameMac(a: string, b: string): boolean {
  return macKey(a) === macKey(b);
}

/**
 * Whether both may name the same strip. The service may overlook more than `macKey` does: it may search for the digits of a MAC whatever stands between
 * them, such as a dash from a text or a character without width.
 */
export const mayBeSameMac = (a: string, b: string): boolean =>
  sameMac(a, b) || (MAC_DIGITS.test(digitsOf(a)) && digitsOf(a) === digitsOf(b));

const MAC_DIGITS = /^(?:[0-9a-f]{12}|[0-9a-f]{16})$/;
const digitsOf = (mac: string): string =>
  mac
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^0-9a-z]/g, '');

/** Longest identifier of a strip that is accepted, in characters. */
const LONGEST_MAC = 200;

/**
 * Whether a text can be used as a strip's MAC in a request's path: not empty, not too long, not "." or "..", without separators of a path
 * and without characters that cannot be encoded.
 */
export function isPossibleMac(mac: string): boolean {
  return (
    mac.trim() !== '' &&
    mac !== '.' &&
    mac !== '..' &&
    mac.length <= LONGEST_MAC &&
    !/[/\\]|\p{Cc}|\p{Cs}/u.test(mac)
  );
}

/** Whether a text has twelve (or, for EUI-64, sixteen) hexadecimal digits, and otherwise only separators. */
export function looksLikeMac(text: string): boolean {
  return text.length <= 23 && /^[:.-]*(?:[0-9a-f][:.-]*){12}(?:(?:[0-9a-f][:.-]*){4})?$/i.test(text);
}

/** The clock that the package uses. Tests pass in another one. */
export interface Clock {
  /** Milliseconds that only ever go forward, for intervals and deadlines. Its zero means nothing. */
  monotonic(): number;
  /** Wall-clock time in milliseconds since 1970, for time stamps and for dates the service sends. */
  wall(): number;
  setTimeout(callback: () => void, ms: number): Timer;
  /** Does nothing if there is no timer. */
  clearTimeout(timer: Timer | null | undefined): void;
  /** Uniform in [0, 1), for jitter. */
  random(): number;
}

/** A pending timeout; opaque. */
export type Timer = object | number;

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (timer) => {
    clearTimeout(timer as Parameters<typeof clearTimeout>[0]);
  },
  random: () => Math.random(),
};
