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
import { parseOnePort, requireMac, requireVariable, type Message } from './input-fields';
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
import type { SharedAccount } from './shared-account';

/** The properties of a `strip watch` node. */
export type WatchOptions = ReturnType<typeof readWatchOptions>;

/** Reads a node's properties; `env` gives an environment variable. Throws NOT_CONFIGURED or INVALID_INPUT. */
export function readWatchOptions(config: Config, env: (name: string) => unknown) {
  const settings = SETTINGS['strip watch'];
  requireReadable(config, settings);
  const outlets = flagOf(config, 'outlets', settings.outlets);
  // The dialog keeps the outlet that was chosen before.
  const portText = outlets ? requireSet(textOf(config, 'port')) : '';
  const port = parseOnePort(portText);
  if (portText !== '' && port === null) throw new StripError('NOT_CONFIGURED.watchPort');
  return {
    /** `null`: every strip. */
    mac: watchedMac(config, env),
    /** `null`: every outlet. */
    port,
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
  /** By `keyOf`: the value that was sent last; if none was sent, the value that was known first. */
  readonly #sent = new Map<string, number>();
  /** Outlets and readings that the account knew before, but not when this node subscribed. */
  readonly #unknownAtStart = new Set<string>();
  /** What the account reported last; `null`: the service was not asked yet. */
  #accountAvailable: boolean | null = null;

  constructor(private readonly options: WatchOptions) {}

  /** The message for a change, or `null`. */
  messageOf(change: Change): Message | null {
    const { initial, outlets, availability, readings } = this.options;
    const isNew = change.kind === 'strip' && change.isNew;
    if (!initial && !isNew && 'previous' in change && change.previous === null) return null;
    switch (change.kind) {
      case 'outlet':
        return outlets && this.#isWatched(change.strip) ? this.#outletMessage(change) : null;
      case 'reading':
        return readings && this.#isWatched(change.strip) ? this.#readingMessage(change) : null;
      case 'strip':
        if (!availability || !this.#isWatched(change.strip)) return null;
        return messageAbout(change.strip, 'available', change.available, change.previous);
      case 'account':
        return availability ? this.#accountMessage(change) : null;
      case 'removed':
        this.#forget(change.strip);
        return null;
      case 'description':
        return null;
    }
  }

  /** A strip that the account has forgotten is a new one if it comes back. */
  #forget({ mac }: Strip): void {
    for (const name of [...PORTS, ...READINGS]) {
      this.#sent.delete(keyOf(mac, name));
      this.#unknownAtStart.delete(keyOf(mac, name));
    }
  }

  #accountMessage({ available }: Change & { kind: 'account' }): Message | null {
    const was = this.#accountAvailable;
    this.#accountAvailable = available;
    if (available === null || available === was || (was === null && !this.options.initial)) return null;
    return { topic: 'account/available', payload: available };
  }

  #isWatched(strip: Strip): boolean {
    return this.options.mac === null || sameMac(strip.mac, this.options.mac);
  }

  /** A state that becomes unknown sends no message: the next known state is compared with the last known one. */
  #outletMessage({ strip, port, on, previous }: Change & { kind: 'outlet' }): Message | null {
    const watched = this.options.port;
    if (watched !== null && watched !== port) return null;
    const isFirst = this.#endsUnknownStart(keyOf(strip.mac, port), on, previous);
    if (on === null || (on === previous && !isFirst)) return null;
    const payload = this.options.output === 'on' ? on : { mac: strip.mac, port, on };
    const outlet = strip.outlets.find((each) => each.port === port)?.name ?? null;
    return messageAbout(strip, String(port), payload, isFirst ? null : previous, outlet);
  }

  /** Whether a value is the first known one of something that was unknown when this node subscribed. */
  #endsUnknownStart(key: string, value: unknown, previous: unknown): boolean {
    if (value !== null) return this.#unknownAtStart.delete(key);
    if (previous === null) this.#unknownAtStart.add(key);
    return false;
  }

  #readingMessage({ strip, name, value, previous }: Change & { kind: 'reading' }): Message | null {
    const key = keyOf(strip.mac, name);
    const isFirst = this.#endsUnknownStart(key, value, previous);
    if (value === null) return null;
    const last = isFirst ? null : (this.#sent.get(key) ?? previous);
    const isSent = last === null || differs(value, last, this.options.change);
    this.#sent.set(key, isSent ? value : last);
    return isSent ? messageAbout(strip, name, value, last) : null;
  }
}

/** The same for every spelling of the MAC, which the service may change. */
const keyOf = (mac: string, name: Port | ReadingName): string => `${macKey(mac)}/${name}`;

/** Whether two readings differ by at least `min`, up to rounding errors of floating-point numbers. */
function differs(a: number, b: number, min: number): boolean {
  const tolerance = Math.max(Math.abs(a), Math.abs(b)) * 1e-12;
  return a !== b && Math.abs(a - b) + tolerance >= min;
}

/** `msg.strip` is a copy: other nodes get the same change. */
function messageAbout(
  strip: Strip,
  topic: string,
  payload: unknown,
  previous: boolean | number | null,
  outlet: string | null = null,
): Message {
  const outlets = strip.outlets.map((each) => ({ ...each }));
  const copy = { ...strip, outlets, units: { ...strip.units }, outlet, previous };
  return { topic: `${strip.mac}/${topic}`, payload, strip: copy };
}

/** The node's status; `null` while it is not known yet. */
function watchStatus({ mac, port }: WatchOptions, account: SharedAccount): NodeStatus | null {
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
  account: SharedAccount,
  display: StatusDisplay,
  send: (msg: Message) => void,
): () => void {
  const { mac, readings } = options;
  const messages = new WatchMessages(options);
  const firstAnswer = display.begin();
  const onChange = (change: Change): void => {
    const msg = messages.messageOf(change);
    if (msg !== null) send(msg);
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
