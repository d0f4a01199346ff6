import type { AccountStatus, Change } from '../account/types';
import { isStripError, StripError } from '../api/errors';
import { sameMac } from '../api/mac';
import type { Port, Strip } from '../api/types';
import { SETTINGS } from '../settings';
import { choiceOf, flagOf, numberOf, textOf, unresolved, type Config } from './config';
import type { Badge } from './badge';
import type { Message } from './field';
import type { Live } from './live';
import {
  failureMark,
  outletMark,
  stripMark,
  UNAVAILABLE,
  UNKNOWN_ANSWER,
  WATCHING,
  type Mark,
} from './marks';
import { checkMac } from './target';
import { readOnePort } from './words';

const SETTING = SETTINGS['strip watch'];

/** What a `strip watch` node watches. */
export interface Watched {
  /** `null`: every strip. */
  mac: string | null;
  /** `null`: every outlet. */
  port: Port | null;
  output: 'on' | 'port-on';
  initial: boolean;
  outlets: boolean;
  availability: boolean;
  readings: boolean;
  /** Smallest change of a reading, in whatever unit the service reports. */
  change: number;
}

/** Reads a node's properties; `env` gives an environment variable. An error is NOT_CONFIGURED or INVALID_INPUT. */
export function readWatched(config: Config, env: (name: string) => unknown): Watched | StripError {
  const portText = textOf(config, 'port');
  const port = readOnePort(portText);
  if (portText !== '' && port === null) {
    return new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.watchPort');
  }
  const mac = macOf(config, env);
  if (isStripError(mac)) return mac;
  return {
    mac,
    port,
    output: choiceOf(config, 'output', SETTING.output),
    initial: flagOf(config, 'initial', SETTING.initial),
    outlets: flagOf(config, 'outlets', SETTING.outlets),
    availability: flagOf(config, 'availability', SETTING.availability),
    readings: flagOf(config, 'readings', SETTING.readings),
    change: numberOf(config, 'change', SETTING.change),
  };
}

function macOf(config: Config, env: (name: string) => unknown): string | null | StripError {
  const text = textOf(config, 'mac');
  if (text === '') return null;
  const isVariable = choiceOf(config, 'macType', { choices: SETTING.mac.types }) === 'env';
  const value = isVariable ? env(text) : text;
  const missing = value === '' || value === undefined ? text : unresolved(text);
  if (missing !== null) {
    return new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.variable', { params: { variable: missing } });
  }
  return checkMac(value);
}

/** Turns changes into messages: one each for what is watched, none for the rest. */
export class Watch {
  readonly #watched: Watched;
  /** The reading sent last, or known before the first was sent, by strip and name; made with the first. */
  #sent: Map<string, number> | null = null;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** What to send for a change, or `null`. */
  messageOf(change: Change): Message | null {
    const { outlets, availability, readings } = this.#watched;
    switch (change.kind) {
      case 'outlet':
        return outlets && this.#concerns(change.strip) ? this.#outlet(change) : null;
      case 'reading':
        return readings && this.#concerns(change.strip) ? this.#reading(change) : null;
      case 'strip': {
        if (!availability || !this.#concerns(change.strip)) return null;
        const { strip, available, first } = change;
        return messageAbout(strip, 'available', available, first ? null : !available);
      }
      case 'description':
      case 'removed':
        return null;
      case 'account':
        return availability ? { topic: 'account/available', payload: change.available } : null;
    }
  }

  #concerns(strip: Strip): boolean {
    return this.#watched.mac === null || sameMac(strip.mac, this.#watched.mac);
  }

  #outlet({ strip, port, on, previous }: Change & { kind: 'outlet' }): Message | null {
    if (on === null || on === previous || (this.#watched.port !== null && this.#watched.port !== port))
      return null;
    const payload = this.#watched.output === 'on' ? on : { mac: strip.mac, port, on };
    return messageAbout(strip, String(port), payload, previous);
  }

  #reading({ strip, name, value, previous }: Change & { kind: 'reading' }): Message | null {
    if (value === null) return null;
    const key = `${strip.mac}/${name}`;
    const sent = (this.#sent ??= new Map<string, number>());
    const last = sent.get(key) ?? previous;
    if (last === null || isApart(value, last, this.#watched.change)) {
      sent.set(key, value);
      return messageAbout(strip, name, value, last);
    }
    sent.set(key, last);
    return null;
  }
}

/** Whether two readings differ by at least `least`; what floating point makes of decimals is not held against them. */
function isApart(a: number, b: number, least: number): boolean {
  const tolerance = Math.max(Math.abs(a), Math.abs(b)) * 1e-12;
  return a !== b && Math.abs(a - b) + tolerance >= least;
}

/** Everything in it is its receiver's own: changes are told to many. */
function messageAbout(
  strip: Strip,
  what: string,
  payload: unknown,
  previous: boolean | number | null,
): Message {
  const outlets = strip.outlets.map((outlet) => ({ ...outlet }));
  const copy = { ...strip, outlets, units: { ...strip.units }, previous };
  return { topic: `${strip.mac}/${what}`, payload, strip: copy };
}

/** What a watching node shows; `null` while the service was not asked yet. */
function watchMark({ mac, port }: Watched, status: AccountStatus, live: Live): Mark | null {
  if (status.available === null) return null;
  if (!status.available) return failureMark(status.error?.code ?? 'UNREACHABLE');
  if (!status.readable) return UNKNOWN_ANSWER;
  if (mac === null) return WATCHING;
  const strip = live.strip(mac);
  if (strip === undefined) return failureMark('NOT_FOUND');
  if (port === null || !strip.available) return strip.available ? stripMark(strip) : UNAVAILABLE;
  return outletMark(strip.outlets.find((outlet) => outlet.port === port)?.on);
}

/** Sends what changes and keeps the badge up to date, until the returned function is called. */
export function startWatching(
  watched: Watched,
  live: Live,
  badge: Badge,
  send: (msg: Message) => void,
): () => void {
  const { mac, initial, readings } = watched;
  const watch = new Watch(watched);
  const first = badge.begin();
  let status: AccountStatus | null = null;
  const show = () => {
    const mark = status === null ? null : watchMark(watched, status, live);
    if (mark === null) return;
    badge.end(first, mark);
    badge.set(mark);
  };
  const stopChanges = live.subscribe(
    (change) => {
      const msg = watch.messageOf(change);
      if (msg !== null) send(msg);
      show();
    },
    { initial, readings: !readings ? [] : mac === null ? 'all' : [mac] },
  );
  const stopStatus = live.onStatus((next) => {
    status = next;
    show();
  });
  return () => {
    stopChanges();
    stopStatus();
  };
}
