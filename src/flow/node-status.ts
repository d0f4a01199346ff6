import type { AccountStatus, Progress } from '../account/types';
import { isOutage, type ErrorCode, type StripError } from '../api/errors';
import type { Clock, Strip, Timer } from '../api/types';

/** The catalogue of the texts that every node uses, as the runtime and the editor address it from any node. */
export const CATALOGUE = '@smart-strip/node-red-smart-strip/strip-account:';

/** What is shown under a node. `text`: numbers, or a catalogue key, which the viewer's browser translates and which takes no values. */
export interface NodeStatus {
  readonly fill: 'red' | 'green' | 'yellow' | 'blue' | 'grey';
  readonly shape: 'ring' | 'dot';
  readonly text: string;
}

const status = (fill: NodeStatus['fill'], shape: NodeStatus['shape'], key: string): NodeStatus => ({
  fill,
  shape,
  text: `${CATALOGUE}status.${key}`,
});

export const ASKING = status('blue', 'ring', 'asking');
export const PAUSING = status('blue', 'ring', 'pausing');
export const UNKNOWN_ANSWER = status('yellow', 'ring', 'unknownAnswer');
export const SWITCHED = status('green', 'dot', 'switched');
const ON = status('green', 'dot', 'on');
const OFF = status('grey', 'ring', 'off');
export const WATCHING = status('green', 'dot', 'watching');
export const UNAVAILABLE = status('red', 'ring', 'unavailable');
export const NO_STRIPS = status('grey', 'ring', 'noStrips');

/** One outlet; `null` or `undefined`: its state is not known. */
export function outletStatus(on: boolean | null | undefined): NodeStatus {
  if (on === true) return ON;
  return on === false ? OFF : UNKNOWN_ANSWER;
}

/** How many outlets of a strip are on. Texts take no values, so each count has its own key. */
export function stripStatus({ available, outlets }: Pick<Strip, 'available' | 'outlets'>): NodeStatus {
  if (!available) return UNAVAILABLE;
  const on = outlets.filter((outlet) => outlet.on === true).length;
  const unknown = outlets.filter((outlet) => outlet.on === null).length;
  if (unknown === outlets.length) return UNKNOWN_ANSWER;
  if (unknown > 0) return status('yellow', 'ring', `on${on}unknown`);
  const key = `on${on}of${outlets.length}`;
  return on > 0 ? status('green', 'dot', key) : status('grey', 'ring', key);
}

/** How many outlets of all strips are on, such as "5/8". Yellow if the state of some is not known, also where no outlet of a strip can be read. */
export function listStatus(strips: readonly Pick<Strip, 'available' | 'outlets'>[]): NodeStatus {
  if (strips.length === 0) return NO_STRIPS;
  const states = strips.flatMap(({ available, outlets }) => outlets.map(({ on }) => (available ? on : null)));
  const on = states.filter((state) => state === true).length;
  const text = `${on}/${states.length}`;
  const isUnknown = states.includes(null) || strips.some(({ outlets }) => outlets.length === 0);
  if (isUnknown) return { fill: 'yellow', shape: 'ring', text };
  return on > 0 ? { fill: 'green', shape: 'dot', text } : { fill: 'grey', shape: 'ring', text };
}

/** `INVALID_INPUT` is `invalidInput` in the catalogue. */
const errorKey = (code: ErrorCode): string =>
  code.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The status after an error: yellow after a rate limit or if a newer command took its place, else red. */
export function errorStatus(code: ErrorCode): NodeStatus {
  const isHarmless = code === 'RATE_LIMITED' || code === 'SUPERSEDED';
  return status(isHarmless ? 'yellow' : 'red', 'ring', errorKey(code));
}

/** The status of a node that shows an account as a whole: an error, or else the result of `whenAvailable`. `null`: not known yet. */
export function accountStatus(
  { available, error, readable }: AccountStatus,
  whenAvailable: () => NodeStatus | null,
): NodeStatus | null {
  if (available === null) return null;
  if (error !== null) return errorStatus(error.code);
  return readable ? whenAvailable() : UNKNOWN_ANSWER;
}

/** The status during a retry, by the beginning of the error's sentence key; the first that fits counts. */
const RETRYING: readonly (readonly [sentence: string, status: NodeStatus])[] = [
  ['TIMEOUT.', status('yellow', 'ring', 'retryingTimeout')],
  ['SERVICE.', status('yellow', 'ring', 'retryingService')],
  ['RATE_LIMITED.', status('yellow', 'ring', 'rateLimited')],
  ['UNREACHABLE.refused', status('yellow', 'ring', 'retryingRefused')],
  ['UNREACHABLE.dns', status('yellow', 'ring', 'retryingDns')],
  ['UNREACHABLE.reset', status('yellow', 'ring', 'retryingReset')],
  ['UNREACHABLE.proxy', status('yellow', 'ring', 'retryingProxy')],
  ['UNREACHABLE.tls', status('yellow', 'ring', 'retryingTls')],
  ['UNREACHABLE.certificate', status('yellow', 'ring', 'retryingTls')],
];
const RETRYING_NETWORK = status('yellow', 'ring', 'retryingNetwork');
const RETRYING_5XX = status('yellow', 'ring', 'retrying5xx');

/** Says that a command is being retried, and why. The "on" of a cycle is also retried after other errors, which are shown as usual. */
export function retryStatus(error: StripError): NodeStatus {
  const { code, sentenceKey, params } = error;
  if (!isOutage(error)) return errorStatus(code);
  if (code === 'SERVICE' && Number(params.status) >= 500) return RETRYING_5XX;
  return RETRYING.find(([beginning]) => sentenceKey.startsWith(beginning))?.[1] ?? RETRYING_NETWORK;
}

/** Milliseconds after which "asking" is shown. */
const ASKING_AFTER = 100;

/** What the node's status shows about one message, from its arrival until its outcome. */
export interface Activity {
  /** Fires when "asking" is to be shown; `null` once the message has its outcome. */
  timer: Timer | null;
  /** What is being done for the message, if that takes longer. */
  status: NodeStatus | null;
}

/**
 * The status of one node: its latest result, or, while a message takes longer, what is being done for it. A status that is shown already is not
 * set again, and none is set after `close`.
 */
export class StatusDisplay {
  /** How many activities have each status. */
  readonly #counts = new Map<NodeStatus, number>();
  #result: NodeStatus | null = null;
  #shown: NodeStatus | null = null;
  #closed = false;

  constructor(
    private readonly show: (status: NodeStatus | null) => void,
    private readonly clock: Clock,
  ) {}

  begin(): Activity {
    const timer = this.clock.setTimeout(() => {
      if (activity.status === null) this.#setStatus(activity, ASKING);
      this.#update();
    }, ASKING_AFTER);
    const activity: Activity = { timer, status: null };
    return activity;
  }

  progress(activity: Activity, progress: Progress): void {
    if (activity.timer === null) return;
    this.#setStatus(activity, progress.phase === 'pausing' ? PAUSING : retryStatus(progress.error));
    this.#update();
  }

  /** `result`: what to show from now on; without it, the latest one stays. */
  end(activity: Activity, result = this.#result): void {
    if (activity.timer === null) return;
    this.clock.clearTimeout(activity.timer);
    activity.timer = null;
    this.#setStatus(activity, null);
    this.#result = result;
    this.#update();
  }

  /** Shows a result that belongs to no message. */
  set(result: NodeStatus): void {
    this.#result = result;
    this.#update();
  }

  /** Shows nothing: the editor keeps showing the last status of a node while the flows are stopped, and it may no longer be true. */
  close(): void {
    this.#counts.clear();
    this.#result = null;
    this.#update();
    this.#closed = true;
  }

  #setStatus(activity: Activity, status: NodeStatus | null): void {
    this.#count(activity.status, -1);
    activity.status = status;
    this.#count(status, 1);
  }

  #count(status: NodeStatus | null, more: 1 | -1): void {
    if (status === null) return;
    const count = (this.#counts.get(status) ?? 0) + more;
    if (count > 0) this.#counts.set(status, count);
    else this.#counts.delete(status);
  }

  #update(): void {
    if (this.#closed) return;
    const next = this.#current();
    if (isSame(next, this.#shown)) return;
    this.#shown = next;
    this.show(next);
  }

  /** A retry or a rate limit is more important than the pause of a cycle, and that is more important than "asking". */
  #current(): NodeStatus | null {
    const statuses = [...this.#counts.keys()];
    const trouble = statuses.find((each) => each !== PAUSING && each !== ASKING);
    return trouble ?? [PAUSING, ASKING].find((each) => statuses.includes(each)) ?? this.#result;
  }
}

const isSame = (a: NodeStatus | null, b: NodeStatus | null): boolean =>
  a?.text === b?.text && a?.fill === b?.fill && a?.shape === b?.shape;
