/** What the side bar knows and works out without a page. */
import { macKey } from '../api/mac';
import { PORTS, READINGS, type Port, type ReadingName } from '../api/types';
import { nameOf, readEach, readFailure, readStrip, type Failure, type StripRow } from './answers';
import { textOf, type Properties } from './descriptor';
import { isRecord } from '../values';

/** A strip as the side bar shows it. */
export interface StripInfo extends StripRow {
  /** Known readings only, with the unit where one is known. */
  readings: { name: ReadingName; value: number; unit: string }[];
}

/** A deployed account as the runtime tells of it. */
export interface AccountInfo {
  id: string;
  available: boolean | null;
  error: Failure | null;
  polling: boolean;
  /** Milliseconds; `null`: never. */
  answeredAgo: number | null;
  /** Milliseconds; `null`: there is no pause. */
  pausedFor: number | null;
  strips: StripInfo[];
}

/** Reads the runtime's answer about all accounts; `null` for anything else, such as a proxy's error page. */
export function readAccounts(body: unknown): AccountInfo[] | null {
  return Array.isArray(body) ? readEach(body, readAccount) : null;
}

/** Reads the answer to a switch: the confirmed state, or why it failed; `null` for anything else. */
export function readSwitched(body: unknown): { on: boolean } | Failure | null {
  if (!isRecord(body)) return null;
  return body.ok === true && typeof body.on === 'boolean' ? { on: body.on } : readFailure(body);
}

/** How an account is doing: a key below `strip-sidebar.state.`. */
export type AccountState =
  'notDeployed' | 'asking' | 'working' | 'polling' | 'paused' | 'auth' | 'unreachable' | 'failing';

export function stateOf(account: AccountInfo | undefined): AccountState {
  if (account === undefined) return 'notDeployed';
  if (account.pausedFor !== null) return 'paused';
  const { error } = account;
  if (error === null) {
    if (account.available === null) return 'asking';
    return account.polling ? 'polling' : 'working';
  }
  if (error.code === 'AUTH') return 'auth';
  return error.code === 'UNREACHABLE' || error.code === 'TIMEOUT' ? 'unreachable' : 'failing';
}

/** Whether a strip has all words of the filter in its name, its MAC or the names of its outlets. */
export function matches(strip: StripInfo, filter: string): boolean {
  const text = [strip.name, strip.mac, ...strip.outlets.map(({ name }) => name)].join(' ').toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word) || (word !== '' && macKey(strip.mac).includes(macKey(word))));
}

/** Values of a reading since the tab was opened. Beyond a limit every second one is dropped, so that it still begins there. */
export class History {
  readonly values: number[] = [];
  /** Wall-clock milliseconds of the first value. */
  readonly since: number;
  readonly #most: number;
  /** One of so many values is kept. */
  #step = 1;
  #skipped = 0;

  constructor(since: number, most = 120) {
    this.since = since;
    this.#most = most;
  }

  add(value: number): void {
    if (++this.#skipped < this.#step) return;
    this.#skipped = 0;
    this.values.push(value);
    if (this.values.length < this.#most) return;
    const kept = this.values.filter((_, index) => index % 2 === 0);
    this.values.splice(0, this.values.length, ...kept);
    this.#step *= 2;
  }

  /** Points of a line in a box, for an SVG polyline. */
  points(width: number, height: number): string {
    const least = Math.min(...this.values);
    const range = Math.max(...this.values) - least;
    const step = width / Math.max(1, this.values.length - 1);
    return this.values
      .map((value, index) => {
        const y = range === 0 ? height / 2 : height - ((value - least) / range) * height;
        return `${(index * step).toFixed(1)},${y.toFixed(1)}`;
      })
      .join(' ');
  }
}

/** What a flow node is fixed to: an outlet, or a whole strip as `null`. */
export const useKey = (account: string, mac: string, port: Port | null): string =>
  `${account}/${macKey(mac)}/${String(port)}`;

/** The key of the outlet or strip that a node is fixed to; `null` where a message decides. */
export function useOf(node: Properties): string | null {
  const { type } = node;
  if (type !== 'strip switch' && type !== 'strip status' && type !== 'strip watch') return null;
  const watch = type === 'strip watch';
  const mac = textOf(node, 'mac').trim();
  if (mac === '' || textOf(node, 'macType', watch ? 'str' : 'message') !== 'str') return null;
  const fixed = watch || textOf(node, 'portType', type === 'strip status' ? 'port' : 'message') === 'port';
  const port = PORTS.find((known) => String(known) === textOf(node, 'port')) ?? null;
  return fixed ? useKey(textOf(node, 'account'), mac, port) : null;
}

type Defaults = Readonly<Record<string, { value: unknown }>>;

/** A node with all its properties, as an import takes it. */
export function newNode(type: string, defaults: Defaults, properties: Properties): Properties {
  const usual = Object.entries(defaults).map(([name, { value }]) => [name, structuredClone(value)] as const);
  return { ...Object.fromEntries(usual), ...properties, type };
}

/** Properties of a `strip switch` or `strip watch` for one outlet; the state of the switch comes from the message. */
export const outletProperties = (account: string, mac: string, port: Port): Properties => ({
  account,
  mac,
  macType: 'str',
  port: String(port),
  portType: 'port',
});

function readAccount(value: unknown): AccountInfo | null {
  if (!isRecord(value) || typeof value.id !== 'string' || !Array.isArray(value.strips)) return null;
  const { id, available, polling, strips } = value;
  return {
    id,
    available: typeof available === 'boolean' ? available : null,
    error: readFailure(value.error),
    polling: polling === true,
    answeredAgo: numberOf(value.answeredAgo),
    pausedFor: numberOf(value.pausedFor),
    strips: readEach(strips, readStripInfo),
  };
}

function readStripInfo(value: unknown): StripInfo | null {
  const strip = readStrip(value);
  if (strip === null || !isRecord(value)) return null;
  const units = isRecord(value.units) ? value.units : {};
  const readings = READINGS.flatMap((name) => {
    const reading = numberOf(value[name]);
    return reading === null ? [] : [{ name, value: reading, unit: nameOf(units[name]) ?? '' }];
  });
  return { ...strip, readings };
}

const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;
