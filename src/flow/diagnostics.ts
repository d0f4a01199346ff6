// A report about an account that can be published. Each property that may be in it is named here, and nothing is copied as a whole. Of the texts of
// the service and the user, only known keys and units get into it; of the service's numbers, only ports and the HTTP status. MACs and names are
// replaced by numbers.
import type { AccountDiagnostics } from '../account/account';
import type { AccountStatus } from '../account/types';
import type { LastAnswer } from '../api/client';
import { meaningOf } from '../api/decode/names';
import { decodeSwitch } from '../api/decode/switch';
import { parseBaseUrl } from '../api/connection-settings';
import { valueOrNull, type StripError } from '../api/errors';
import { API_ROOT, looksLikeMac, macKey, type JsonBody, type Strip } from '../api/types';
import { textOf, type Config } from '../settings';
import { readAccountSettings } from './shared-account';

/** Everything from which a report is made. */
export interface ReportSource {
  versions: Record<'package' | 'nodeRed' | 'node' | 'platform' | 'release' | 'arch', string>;
  /** The properties of the account's node. */
  config: Config;
  hasKey: boolean;
  status: AccountStatus;
  /** `null`: the account was never used. */
  account: AccountDiagnostics | null;
  /** Wall-clock milliseconds. */
  now: number;
}

/** A text, if it has exactly the expected form. */
const text = (value: string, pattern: RegExp): string | undefined =>
  pattern.test(value) ? value : undefined;

const version = (value: string): string | undefined => text(value, /^\d+\.\d+\.\d+(-[a-z]+\.?\d*)?$/);

const time = (wall: number | null): string | null => (wall === null ? null : new Date(wall).toISOString());

const UNITS = ['', 'W', 'kW', 'mW', 'VA', 'A', 'mA', 'V', 'kV', 'mV', 'dBm', 'dB', '%'];

/** A unit; if it is not in this list, only its length. */
const unit = (value: string | undefined): string | undefined =>
  value === undefined || UNITS.includes(value) ? value : `text of ${value.length}`;

const unitsOf = ({ load, voltage, signal }: Strip['units']): object => ({
  load: unit(load),
  voltage: unit(voltage),
  signal: unit(signal),
});

/** Makes a report only from what is named here and in the functions below. */
export function reportOf(source: ReportSource): object {
  const { versions, status, account } = source;
  const aliases = new Aliases();
  for (const strip of account?.list?.answer.strips ?? []) aliases.learn(strip);
  if (account?.strip) aliases.learn(account.strip.answer.strip);
  return {
    versions: {
      package: version(versions.package),
      nodeRed: version(versions.nodeRed),
      node: version(versions.node.replace(/^v/, '')),
      platform: text(versions.platform, /^[a-z0-9]{2,10}$/),
      release: /^\d+(\.\d+)*/.exec(versions.release)?.[0],
      arch: text(versions.arch, /^[a-z0-9_]{2,10}$/),
    },
    settings: settingsOf(source, aliases),
    status: {
      available: status.available,
      readable: status.readable,
      polling: status.polling,
      error: status.error && errorOf(status.error),
      lastAnswerAt: time(status.lastAnswerAt),
      cooldownUntil: time(status.cooldownUntil),
    },
    requests: account === null ? {} : { ...account.requests, retries: account.retries },
    errors: Array.from(account?.errors.values() ?? [], ({ count, at, last }) => ({
      count,
      at: time(at),
      last: errorOf(last),
      /** Of the JSON that came with it. */
      shape: last.response === undefined ? undefined : shapeOf(last.response, aliases),
    })),
    answers: account === null ? {} : answersOf(account, aliases),
    madeAt: time(source.now),
  };
}

/** Replaces MACs, names and unknown keys by numbers. The same text always gets the same number. */
export class Aliases {
  readonly #known = {
    mac: new Map<string, number>(),
    name: new Map<string, number>(),
    key: new Map<string, number>(),
  };

  mac(mac: string): string {
    return this.#alias('mac', macKey(mac));
  }

  name(name: string): string {
    return this.#alias('name', name);
  }

  /** A key that is not known, and so may be private. */
  key(key: string): string {
    return `${this.#alias('key', key)} of ${key.length}`;
  }

  /** From now on, the MAC and the names of this strip are replaced wherever they appear. */
  learn({ mac, name, outlets }: Pick<Strip, 'mac' | 'name' | 'outlets'>): void {
    this.mac(mac);
    for (const each of [name, ...outlets.map((outlet) => outlet.name)]) if (each !== null) this.name(each);
  }

  /** The alias of a text that is known as a MAC or a name. */
  find(value: string): string | undefined {
    const { mac, name } = this.#known;
    if (looksLikeMac(value) || mac.has(macKey(value))) return this.mac(value);
    return name.has(value) ? this.name(value) : undefined;
  }

  #alias(kind: 'mac' | 'name' | 'key', text: string): string {
    const known = this.#known[kind];
    const number = known.get(text) ?? known.size + 1;
    known.set(text, number);
    return `${kind} ${number}`;
  }
}

const DEEPEST = 8;
const MAX_KEYS = 40;
const MAX_SHAPES = 5;
const MAX_STRIPS = 10;

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
    // Without the numbers of MACs, names and keys, and the lengths of texts.
    const key = JSON.stringify(made).replace(/ \d+/g, '');
    const same = shapes.get(key);
    if (same) same.count++;
    else if (shapes.size < MAX_SHAPES) shapes.set(key, { count: 1, shape: made });
    else rest++;
  }
  const shown = [...shapes.values()];
  if (rest > 0) shown.push({ count: rest, shape: 'left out' });
  return shown;
}

function shapeOfRecord(value: object, aliases: Aliases, depth: number): unknown {
  const entries = Object.entries(value);
  const shown = entries.slice(0, MAX_KEYS).map(([key, inner]): [string, unknown] => {
    const plain = /^\d{1,2}$/.test(key) || isKnownKey(key);
    // A name may be an ordinary word.
    return [aliases.find(key) ?? (plain ? key : aliases.key(key)), shapeOf(inner, aliases, depth + 1)];
  });
  const more = entries.length - shown.length;
  if (more > 0) shown.push([`${more} more`, 'left out']);
  return Object.fromEntries(shown);
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

/** Words that may stay in keys, besides the names that the decoder looks for. They name no strips, and a reader of the report needs them. */
const WORDS = new Set(
  (
    'account active array at channel channels cold date first friendly has input is mode model off other outlet outlets output per plug ' +
    'plugs port ports relay relays seen set socket sockets strips switch switched switches temperature time timestamp to up updated uptime ' +
    'version w'
  ).split(' '),
);

const WORD = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;

/**
 * Whether a key is a name that the decoder looks for, or consists of known words, in snake_case, camelCase or similar, with at most one digit.
 * Other characters could be a private text: the decoder ignores symbols, such as letters in circles.
 */
export function isKnownKey(key: string): boolean {
  if (!/^[\w .-]{1,40}$/.test(key)) return false;
  const words = key.match(WORD) ?? [];
  const isMadeOfWords = /^[ ._-]*\d?$/.test(key.replace(WORD, ''));
  const isKnown = (word: string): boolean => WORDS.has(word.toLowerCase()) || meaningOf(word).isListed;
  return meaningOf(key).isListed || (isMadeOfWords && words.every(isKnown));
}

/** The account's settings; `null` if they cannot be read. */
function settingsOf({ config, hasKey }: ReportSource, aliases: Aliases): object | null {
  const settings = valueOrNull(() => readAccountSettings(config));
  if (settings === null) return null;
  return {
    baseUrl: addressOf(textOf(config, 'baseUrl')),
    apiKey: hasKey,
    /** Milliseconds. */
    interval: settings.interval,
    timeout: settings.timeout,
    retryFor: settings.retryFor,
    concurrency: settings.concurrency,
    tls: textOf(config, 'tls') !== '',
    proxy: textOf(config, 'proxy') !== '',
    /** Characters. */
    mapping: textOf(config, 'mapping').length,
    protectedOutlets: settings.protectedOutlets.map(({ mac, port }) => ({ mac: aliases.mac(mac), port })),
    outletNames: settings.outletNames.map(({ mac, port, name }) => ({
      mac: aliases.mac(mac),
      port,
      name: aliases.name(name),
    })),
    units: unitsOf(settings.units),
  };
}

function addressOf(baseUrl: string): object | null {
  const base = valueOrNull(() => parseBaseUrl(baseUrl));
  if (base === null) return null;
  const { protocol, hostname, port, pathname } = base.url;
  const segments = pathname.slice(0, -API_ROOT.length).split('/');
  const path = segments.filter((segment) => segment !== '').length;
  if (base.simulator !== null) return { kind: 'simulator', host: 'none', port: 'usual', path };
  let host = 'name';
  if (hostname === 'localhost') host = 'localhost';
  else if (/^[\d.]+$/.test(hostname)) host = 'IPv4 address';
  else if (hostname.startsWith('[')) host = 'IPv6 address';
  return { kind: protocol.slice(0, -1), host, port: port === '' ? 'usual' : 'other', path };
}

const errorOf = ({ code, sentenceKey, params }: StripError): object => ({
  code,
  /** Key of the sentence in the catalogue. */
  sentenceKey,
  /** HTTP status. */
  status: typeof params.status === 'number' && params.status < 600 ? params.status : undefined,
  /** Why there was no connection, as Node.js, OpenSSL and undici spell it. */
  reason: typeof params.code === 'string' ? text(params.code, /^[A-Z][A-Z0-9_]*$/) : undefined,
});

/** What came last and what was read from it; `undefined`: nothing came. */
function answerOf<Answer extends JsonBody>(
  last: LastAnswer<Answer> | null,
  aliases: Aliases,
  read: (answer: Answer, body: unknown) => object,
): object | undefined {
  if (last === null) return undefined;
  // Not `response`: a flow may have changed that.
  const body: unknown = JSON.parse(last.answer.text);
  return { at: time(last.at), shape: shapeOf(body, aliases), ...read(last.answer, body) };
}

const answersOf = ({ list, strip, switch: switched }: AccountDiagnostics, aliases: Aliases): object => ({
  list: answerOf(list, aliases, ({ complete, readable, strips }) => {
    const shown = strips.slice(0, MAX_STRIPS).map((each) => stripOf(each, aliases));
    return { complete, readable, strips: shown, more: strips.length - shown.length };
  }),
  strip: answerOf(strip, aliases, (answer) => ({
    readable: answer.readable,
    strips: [stripOf(answer.strip, aliases)],
  })),
  switch: answerOf(switched, aliases, (_, body) => ({ results: decodeSwitch(body).results })),
});

function stripOf(strip: Strip, aliases: Aliases): object {
  const alias = (name: string | null) => (name === null ? null : aliases.name(name));
  const kind = (reading: number | null) => (reading === null ? null : 'number');
  return {
    mac: aliases.mac(strip.mac),
    name: alias(strip.name),
    available: strip.available,
    outlets: strip.outlets.map(({ port, on, name }) => ({ port, on, name: alias(name) })),
    load: kind(strip.load),
    voltage: kind(strip.voltage),
    signal: kind(strip.signal),
    units: unitsOf(strip.units),
  };
}
