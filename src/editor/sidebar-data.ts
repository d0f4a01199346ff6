/** What the side bar knows and works out without a page. */
import { macKey } from '../api/mac';
import { PORTS, type Port } from '../api/types';
import type { AccountInfo, StripInfo } from './answers';
import { textOf, type Properties } from './descriptor';

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
