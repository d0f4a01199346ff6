import type { Change } from '../account/types';
import { StripError } from '../api/errors';
import { macKey, PORTS, READINGS, sameMac, type Port, type ReadingName, type Strip } from '../api/types';
import {
  choiceOf,
  flagOf,
  numberOf,
  requireReadable,
  requireSet,
  SETTINGS,
  textOf,
  typeOf,
  type Config,
} from '../settings';
import { parsePort, requireMac, requireVariable, type Message } from './input-fields';
import {
  accountStatus,
  errorStatus,
  outletStatus,
  stripStatus,
  UNKNOWN_ANSWER,
  WATCHING,
  type NodeStatus,
  type StatusDisplay,
} from './node-status';
import type { UsedAccount } from './shared-account';

/** The properties of a `strip watch` node. */
export type WatchOptions = ReturnType<typeof readWatchOptions>;

/** Reads a node's properties; `env` gives an environment variable. Throws NOT_CONFIGURED or INVALID_INPUT. */
export function readWatchOptions(config: Config, env: (name: string) => unknown) {
  const settings = SETTINGS['strip watch'];
  requireReadable(config, settings);
  const outlets = flagOf(config, 'outlets', settings.outlets);
  // The dialog keeps the outlet that was chosen before.
  const portText = outlets ? requireSet(textOf(config, 'port')) : '';
  const port = portText === '' ? 'all' : parsePort(portText);
  if (port === null) throw new StripError('NOT_CONFIGURED.watchPort');
  return {
    /** `null`: every strip. */
    mac: watchedMac(config, env),
    /** `null`: every outlet. A subflow may use one variable for this node and for a `strip switch`, where every outlet is "all". */
    port: port === 'all' ? null : port,
    output: choiceOf(config, 'output', settings.output),
    initial: flagOf(config, 'initial', settings.initial),
    outlets,
    availability: flagOf(config, 'availability', settings.availability),
    readings: flagOf(config, 'readings', settings.readings),
    change: numberOf(config, 'change', settings.change),
  };
}

function watchedMac(config: Config, env: (name: string) => unknown): string | null {
  const text = textOf(config, 'mac');
  if (text === '') return null;
  const isVariable = typeOf(config, 'mac', SETTINGS['strip watch'].mac) === 'env';
  return requireMac(isVariable ? requireVariable(text, env(text)) : requireSet(text));
}

/** Turns changes into messages: one for each that is watched, none for the others. */
export class WatchMessages {
  /**
   * By `keyOf`: the value with which the next one is compared, if that is not the account's last known value. It is the value before changes that were
   * too small, or `null` if the account knew a value only before this node subscribed.
   */
  readonly #last = new Map<string, boolean | number | null>();
  /** What the account reported last; `null`: the service was not asked yet. */
  #accountAvailable: boolean | null = null;

  constructor(private readonly options: WatchOptions) {}

  /** The message for a change, or `null`. */
  messageFor(change: Change): Message | null {
    const { mac, port, output, initial, outlets, availability, readings } = this.options;
    if (change.kind === 'account') return availability ? this.#accountMessage(change.available) : null;
    const { strip } = change;
    if (change.kind === 'removed') this.#forget(strip);
    if (change.kind === 'removed' || change.kind === 'description') return null;
    if (mac !== null && !sameMac(mac, strip.mac)) return null;
    const isNew = change.kind === 'strip' && change.isNew;
    if (change.previous === null && !initial && !isNew) return null;
    switch (change.kind) {
      case 'outlet': {
        if (!outlets || (port !== null && port !== change.port)) return null;
        const { on } = change;
        const payload = { on, 'port-on': { mac: strip.mac, port: change.port, on } }[output];
        return this.#messageIfDifferent(change, change.port, on, payload);
      }
      case 'reading':
        return readings ? this.#messageIfDifferent(change, change.name, change.value, change.value) : null;
      case 'strip':
        return availability ? messageAbout(strip, 'available', change.available, change.previous) : null;
    }
  }

  /** A strip that the account has forgotten is a new one if it comes back. */
  #forget({ mac }: Strip): void {
    for (const name of [...PORTS, ...READINGS]) this.#last.delete(keyOf(mac, name));
  }

  #accountMessage(available: boolean | null): Message | null {
    const was = this.#accountAvailable;
    this.#accountAvailable = available;
    if (available === was || (was === null && !this.options.initial)) return null;
    return { topic: 'account/available', payload: available };
  }

  /** A value that becomes unknown sends no message: the next known one is compared with the last known one. */
  #messageIfDifferent(
    { strip, previous }: Change & { kind: 'outlet' | 'reading' },
    name: Port | ReadingName,
    value: boolean | number | null,
    payload: unknown,
  ): Message | null {
    const key = keyOf(strip.mac, name);
    if (value === null) {
      if (previous === null) this.#last.set(key, null);
      return null;
    }
    const known = this.#last.get(key);
    const last = known === undefined ? previous : known;
    if (last !== null && !differs(value, last, this.options.change)) {
      this.#last.set(key, last);
      return null;
    }
    this.#last.delete(key);
    return messageAbout(strip, name, payload, last);
  }
}

/** The same for every spelling of the MAC, which the service may change. */
const keyOf = (mac: string, name: Port | ReadingName): string => `${macKey(mac)}/${name}`;

/** Whether two states differ, or two readings by at least `min`, up to rounding errors of floating-point numbers. */
function differs(a: boolean | number, b: boolean | number, min: number): boolean {
  if (typeof a === 'boolean' || typeof b === 'boolean') return a !== b;
  const tolerance = Math.max(Math.abs(a), Math.abs(b)) * 1e-12;
  return a !== b && Math.abs(a - b) + tolerance >= min;
}

/** `name`: of the outlet, reading or property that changed. `msg.strip` is a copy: other nodes get the same change. */
function messageAbout(
  strip: Strip,
  name: Port | ReadingName | 'available',
  payload: unknown,
  previous: boolean | number | null,
): Message {
  const outlets = strip.outlets.map((each) => ({ ...each }));
  const outlet = outlets.find(({ port }) => port === name)?.name ?? null;
  const copy = { ...strip, outlets, units: { ...strip.units }, outlet, previous };
  return { topic: `${strip.mac}/${name}`, payload, strip: copy };
}

/** The node's status; `null` while it is not known yet. */
function watchStatus({ mac, port }: WatchOptions, account: UsedAccount): NodeStatus | null {
  const status = account.status();
  return accountStatus(status, () => {
    if (mac === null) return WATCHING;
    const strip = account.store.find(mac);
    // Another node's command may have succeeded before the first list; a list that is only a part may lack the strip.
    if (strip === undefined && status.listed === 'part') return UNKNOWN_ANSWER;
    if (strip === undefined) return status.listed === null ? null : errorStatus('NOT_FOUND');
    if (port === null || !strip.available) return stripStatus(strip);
    return outletStatus(strip.outlets.find((outlet) => outlet.port === port)?.on);
  });
}

/** Sends a message for each change and keeps the node's status up to date, until the returned function is called. */
export function startWatching(
  options: WatchOptions,
  account: UsedAccount,
  display: StatusDisplay,
  send: (msg: Message) => void,
): () => void {
  const { mac, readings } = options;
  const messages = new WatchMessages(options);
  const firstAnswer = display.begin();
  const onChange = (change: Change): void => {
    const msg = messages.messageFor(change);
    if (msg !== null) send(msg);
    // Changes of other strips are skipped to save time: an account may have thousands of strips, and many such nodes.
    const isShown = change.kind === 'account' || (mac !== null && sameMac(change.strip.mac, mac));
    const status = isShown ? watchStatus(options, account) : null;
    if (status === null) return;
    display.end(firstAnswer, status);
    display.set(status);
  };
  const unsubscribe = account.subscribe(onChange, !readings ? [] : mac === null ? 'all' : [mac]);
  return () => {
    unsubscribe();
    display.end(firstAnswer);
  };
}
