/**
 * A report about an account that can be published. It is put together here and then passed through `REPORT`, the list of all that may
 * be in it: what is not on the list is left out. No text or number of a user or of the service is on it; MACs and names are numbered.
 */
import type { AccountDiagnostics, LastAnswer } from '../account/diagnostics';
import type { AccountSettings, AccountStatus } from '../account/types';
import { isListedName } from '../api/decode/names';
import { decodeSwitch } from '../api/decode/switch';
import { ERROR_CODES, type StripError } from '../api/errors';
import { looksLikeMac, macKey } from '../api/mac';
import type { JsonBody, Strip } from '../api/types';
import { isRecord } from '../values';

/** What a report is made of. */
export interface ReportSource {
  versions: Record<'package' | 'nodeRed' | 'node' | 'platform' | 'release' | 'arch', string>;
  /** As configured; `null` where the configuration cannot be read. */
  settings: AccountSettings | null;
  /** As configured. */
  baseUrl: string;
  hasKey: boolean;
  tls: boolean;
  proxy: boolean;
  /** Characters of the mapping expression. */
  mapping: number;
  status: AccountStatus;
  /** `null`: nothing was ever asked of the account. */
  account: AccountDiagnostics | null;
  /** Wall-clock milliseconds. */
  now: number;
}

/** What of a value may be in the report; `undefined`: nothing. */
type Rule = (value: unknown) => unknown;

const flag: Rule = (value) => (typeof value === 'boolean' ? value : undefined);

const count: Rule = (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

const rounded: Rule = (value) => (typeof value === 'number' ? count(Math.round(value)) : undefined);

const text =
  (pattern: RegExp): Rule =>
  (value) =>
    typeof value === 'string' && value.length <= 80 && pattern.test(value) ? value : undefined;

const choice =
  (...choices: readonly string[]): Rule =>
  (value) =>
    choices.find((known) => known === value);

const orNull =
  (rule: Rule): Rule =>
  (value) =>
    value === null ? null : rule(value);

const list =
  (rule: Rule): Rule =>
  (value) =>
    Array.isArray(value)
      ? value.map((entry: unknown) => rule(entry)).filter((entry) => entry !== undefined)
      : undefined;

const record =
  (rules: Readonly<Record<string, Rule>>): Rule =>
  (value) => {
    if (!isRecord(value)) return undefined;
    const allowed = Object.entries(rules).map(([name, rule]) => [name, rule(value[name])] as const);
    return Object.fromEntries(allowed.filter(([, kept]) => kept !== undefined));
  };

const VERSION = text(/^\d+\.\d+\.\d+(-[a-z]+\.?\d*)?$/);
const ISO_TIME = text(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
/** Also wall-clock milliseconds. */
const TIME: Rule = (value) => ISO_TIME(typeof value === 'number' ? new Date(value).toISOString() : value);
const MAC = text(/^mac \d+$/);
const NAME = text(/^name \d+$/);
const UNITS = ['', 'W', 'kW', 'mW', 'VA', 'A', 'mA', 'V', 'kV', 'mV', 'dBm', 'dB', '%'];
/** Of a unit that is not on this list only the length. */
const UNIT: Rule = (value) => {
  if (typeof value !== 'string') return undefined;
  return UNITS.includes(value) || /^text of \d{1,4}$/.test(value) ? value : `text of ${value.length}`;
};
const words = (text: string): string[] => text.split(' ');
const ERROR = record({
  code: choice(...ERROR_CODES),
  /** Key of the sentence in the catalogue. */
  sentence: text(/^[A-Z_]+\.[A-Za-z]+$/),
  /** HTTP status. */
  status: (value) => (typeof value === 'number' && value >= 100 && value < 600 ? count(value) : undefined),
  /** Why no connection came about, in Node.js's words. */
  reason: choice(
    ...words(
      'ECONNREFUSED ECONNRESET ECONNABORTED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ETIMEDOUT EPIPE EPROTO CERT_HAS_EXPIRED ' +
        'CERT_NOT_YET_VALID DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT ' +
        'UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE ERR_TLS_CERT_ALTNAME_INVALID UND_ERR_SOCKET ' +
        'UND_ERR_CONNECT_TIMEOUT',
    ),
  ),
});
const LEAF =
  /^(null|boolean|integer|integer 0 to 4|decimal|empty text|text of \d+|on or off as text|number as text|number with unit|time as text|mac \d+|name \d+|left out)$/;
/** A key as it stands in an answer: only where all its words are known. */
const KEY = /^(key \d+ of \d+|mac \d+|name \d+|\d{1,2}|\d+ more)$/;

/** Shape of an answer: records with their keys, lists as `[{count, shape}]`, everything else a word for its kind. */
const shape: Rule = (value) => {
  if (typeof value === 'string') return text(LEAF)(value);
  if (Array.isArray(value)) return list(record({ count, shape }))(value);
  if (!isRecord(value)) return undefined;
  const entries = Object.entries(value).filter(([key]) => KEY.test(key) || isKnownKey(key));
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, shape(inner)]).filter(([, inner]) => inner !== undefined),
  );
};

const PORT: Rule = (value) => (value === 1 || value === 2 || value === 3 || value === 4 ? value : undefined);
const READING = orNull((value) => (typeof value === 'number' ? 'number' : undefined));
const STRIPS = list(
  record({
    mac: MAC,
    name: orNull(NAME),
    available: flag,
    outlets: list(record({ port: PORT, on: orNull(flag), name: orNull(NAME) })),
    load: READING,
    voltage: READING,
    signal: READING,
    units: record({ load: UNIT, voltage: UNIT, signal: UNIT }),
  }),
);

/** All that may be in a report. */
export const REPORT = record({
  versions: record({
    package: VERSION,
    nodeRed: VERSION,
    node: VERSION,
    platform: choice('aix', 'android', 'darwin', 'freebsd', 'linux', 'openbsd', 'sunos', 'win32'),
    release: text(/^\d+(\.\d+)*$/),
    arch: text(/^[a-z0-9_]{2,10}$/),
  }),
  settings: orNull(
    record({
      baseUrl: orNull(
        record({
          kind: choice('https', 'http', 'simulator'),
          host: choice('name', 'IPv4 address', 'IPv6 address', 'localhost', 'none'),
          port: choice('usual', 'other'),
          /** Segments of the path before the API's own. */
          path: count,
        }),
      ),
      apiKey: flag,
      /** Milliseconds. */
      interval: rounded,
      timeout: rounded,
      retryFor: rounded,
      concurrency: count,
      tls: flag,
      proxy: flag,
      /** Characters. */
      mapping: count,
      protectedOutlets: list(record({ mac: MAC, port: PORT })),
      outletNames: list(record({ mac: MAC, port: PORT, name: NAME })),
      units: record({ load: UNIT, voltage: UNIT, signal: UNIT }),
    }),
  ),
  status: record({
    available: orNull(flag),
    readable: flag,
    polling: flag,
    error: orNull(ERROR),
    lastAnswerAt: orNull(TIME),
    cooldownUntil: orNull(TIME),
  }),
  requests: record({ list: count, strip: count, switch: count, retries: count }),
  errors: list(record({ count, at: TIME, last: ERROR })),
  answers: record({
    list: record({ at: TIME, shape, complete: flag, readable: flag, strips: STRIPS, more: count }),
    strip: record({ at: TIME, shape, readable: flag, strips: STRIPS }),
    switch: record({ at: TIME, shape, results: list(record({ port: PORT, ok: flag })) }),
  }),
  madeAt: TIME,
});

/** Puts a report together. JSON of its result holds nothing that `REPORT` does not list. */
export function reportOf(source: ReportSource): unknown {
  const { settings, status, account } = source;
  const aliases = new Aliases();
  for (const strip of account?.list?.reading.strips ?? []) aliases.learn(strip);
  if (account?.strip) aliases.learn(account.strip.reading.strip);
  return REPORT({
    versions: {
      ...source.versions,
      node: source.versions.node.replace(/^v/, ''),
      release: /^\d+(\.\d+)*/.exec(source.versions.release)?.[0],
    },
    settings: settings === null ? null : settingsOf(settings, source, aliases),
    status: { ...status, error: status.error && errorOf(status.error) },
    requests: { ...account?.requests, retries: account?.retries },
    errors: Array.from(account?.errors.values() ?? [], (error) => ({ ...error, last: errorOf(error.last) })),
    answers: account === null ? {} : answersOf(account, aliases),
    madeAt: source.now,
  });
}

/** Numbers in place of MACs and names, the same one for the same wherever it stands. */
export class Aliases {
  readonly #macs = new Map<string, number>();
  readonly #names = new Map<string, number>();
  readonly #keys = new Map<string, number>();

  mac(mac: string): string {
    return `mac ${numberIn(this.#macs, macKey(mac))}`;
  }

  name(name: string): string {
    return `name ${numberIn(this.#names, name)}`;
  }

  /** A key that is not known, and so may be private. */
  key(key: string): string {
    return `key ${numberIn(this.#keys, key)} of ${key.length}`;
  }

  /** From now on MACs and names of this strip are replaced wherever they stand. */
  learn({ mac, name, outlets }: Pick<Strip, 'mac' | 'name' | 'outlets'>): void {
    this.mac(mac);
    for (const each of [name, ...outlets.map((outlet) => outlet.name)]) if (each !== null) this.name(each);
  }

  /** The alias of a text that is known as a MAC or a name. */
  find(value: string): string | undefined {
    if (looksLikeMac(value) || this.#macs.has(macKey(value))) return this.mac(value);
    return this.#names.has(value) ? this.name(value) : undefined;
  }
}

/** The number of a text, a new one for a new text. */
function numberIn(known: Map<string, number>, text: string): number {
  const number = known.get(text) ?? known.size + 1;
  known.set(text, number);
  return number;
}

const DEEPEST = 8;
const MOST_KEYS = 40;
const MOST_SHAPES = 5;
const MOST_STRIPS = 10;

/** The kind of a JSON value, without the value. */
export function shapeOf(value: unknown, aliases: Aliases, depth = 0): unknown {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) return 'decimal';
    return value >= 0 && value <= 4 ? 'integer 0 to 4' : 'integer';
  }
  if (typeof value === 'string') return kindOfText(value, aliases);
  if (typeof value !== 'object' || depth === DEEPEST) return 'left out';
  return Array.isArray(value) ? shapeOfList(value, aliases, depth) : shapeOfRecord(value, aliases, depth);
}

/** Entries of the same shape count as one. */
function shapeOfList(value: readonly unknown[], aliases: Aliases, depth: number): unknown {
  const shapes = new Map<string, { count: number; shape: unknown }>();
  let rest = 0;
  for (const entry of value) {
    const made = shapeOf(entry, aliases, depth + 1);
    const key = JSON.stringify(made).replace(/ \d+/g, '');
    const same = shapes.get(key);
    if (same) same.count++;
    else if (shapes.size < MOST_SHAPES) shapes.set(key, { count: 1, shape: made });
    else rest++;
  }
  return [...shapes.values(), ...(rest === 0 ? [] : [{ count: rest, shape: 'left out' }])];
}

function shapeOfRecord(value: object, aliases: Aliases, depth: number): unknown {
  const entries = Object.entries(value);
  const shown = entries.slice(0, MOST_KEYS).map(([key, inner]): [string, unknown] => {
    const plain = /^\d{1,2}$/.test(key) || isKnownKey(key);
    // A name may be an ordinary word.
    return [aliases.find(key) ?? (plain ? key : aliases.key(key)), shapeOf(inner, aliases, depth + 1)];
  });
  const more = entries.length - shown.length;
  return Object.fromEntries(more > 0 ? [...shown, [`${more} more`, 'left out']] : shown);
}

function kindOfText(value: string, aliases: Aliases): string {
  if (value === '') return 'empty text';
  const known = aliases.find(value);
  if (known !== undefined) return known;
  if (/^\s*(on|off|true|false|yes|no)\s*$/i.test(value)) return 'on or off as text';
  if (/^\s*[-+]?\d+([.,]\d+)?\s*$/.test(value)) return 'number as text';
  if (/^\s*[-+]?\d+([.,]\d+)?\s*[a-z%]{1,3}\s*$/i.test(value)) return 'number with unit';
  if (/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[-+]\d\d:?\d\d)?$/.test(value)) return 'time as text';
  return `text of ${value.length}`;
}

/** Keys made of these words stand in a report as they are: they are no names of strips, and a reader needs them. */
const WORDS = new Set(
  words(
    'account active actual address alias array at available body channel channels code cold connected connection content count ' +
      'current cursor data date details device devices energy error errors first friendly has health id index info input is ' +
      'item items label last level limit line links list load mac message meta meter mode model more name next number object ' +
      'off offline offset ok on online order other outlet outlets output page pages pagination paging per plug plugs port ports ' +
      'position power prev previous properties quality reachable reading readings record records relay relays response result ' +
      'results rssi seen sensor sensors serial set signal size socket sockets start state states status strength strip strips ' +
      'success switch switched switches system telemetry temperature time timestamp title to total type unit units up updated ' +
      'uptime usage value values version volt voltage volts w watt watts wifi',
  ),
);

const WORD = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;

/** Whether a key is a name that the decoder looks for, or consists of known words, in snake_case, camelCase or similar. Digits are ignored. */
export function isKnownKey(key: string): boolean {
  if (key.length > 40) return false;
  if (isListedName(key)) return true;
  const words = key.match(WORD) ?? [];
  const rest = key.replace(WORD, '');
  return (
    words.length > 0 && /^[\s._-]*\d?$/.test(rest) && words.every((word) => WORDS.has(word.toLowerCase()))
  );
}

const settingsOf = (settings: AccountSettings, source: ReportSource, aliases: Aliases): object => ({
  ...settings,
  baseUrl: addressOf(source.baseUrl),
  apiKey: source.hasKey,
  tls: source.tls,
  proxy: source.proxy,
  mapping: source.mapping,
  protectedOutlets: settings.protectedOutlets.map(({ mac, port }) => ({ mac: aliases.mac(mac), port })),
  outletNames: settings.outletNames.map(({ mac, port, name }) => ({
    mac: aliases.mac(mac),
    port,
    name: aliases.name(name),
  })),
});

function addressOf(baseUrl: string): object | null {
  const simulator = /^\/(?!\/)/.test(baseUrl);
  const address = simulator ? `http://simulator${baseUrl}` : baseUrl;
  if (!URL.canParse(address)) return null;
  const { protocol, hostname, port, pathname } = new URL(address);
  const segments = pathname.replace(/\/api\/public\/v1\/?$/, '').split('/');
  const path = segments.filter((segment) => segment !== '').length;
  if (simulator) return { kind: 'simulator', host: 'none', port: 'usual', path };
  let host = 'name';
  if (hostname === 'localhost') host = 'localhost';
  else if (/^[\d.]+$/.test(hostname)) host = 'IPv4 address';
  else if (hostname.startsWith('[')) host = 'IPv6 address';
  return { kind: protocol.replace(':', ''), host, port: port === '' ? 'usual' : 'other', path };
}

const errorOf = ({ code, sentence, params }: StripError): object => ({
  code,
  sentence,
  status: params.status,
  reason: params.code,
});

function answersOf({ list, strip, switch: switched }: AccountDiagnostics, aliases: Aliases): object {
  const answer = ({ at, reading }: LastAnswer<JsonBody>, strips: readonly Strip[] = []): object => ({
    ...reading,
    at,
    shape: shapeOf(bodyOf(reading), aliases),
    strips: strips.slice(0, MOST_STRIPS).map((each) => readOf(each, aliases)),
    more: Math.max(0, strips.length - MOST_STRIPS),
  });
  return {
    list: list && answer(list, list.reading.strips),
    strip: strip && answer(strip, [strip.reading.strip]),
    switch: switched && { ...answer(switched), results: decodeSwitch(bodyOf(switched.reading)).results },
  };
}

/** A body as it came: what a message was handed may have been changed by its flow. */
const bodyOf = ({ text }: JsonBody): unknown => JSON.parse(text);

function readOf(strip: Strip, aliases: Aliases): object {
  const alias = (name: string | null) => (name === null ? null : aliases.name(name));
  return {
    ...strip,
    mac: aliases.mac(strip.mac),
    name: alias(strip.name),
    outlets: strip.outlets.map((outlet) => ({ ...outlet, name: alias(outlet.name) })),
  };
}
