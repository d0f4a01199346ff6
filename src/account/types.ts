import type { StripError } from '../api/errors';
import type {
  Clock,
  OutletId,
  Port,
  PortOrAll,
  ReadingName,
  Service,
  Strip,
  SwitchResult,
} from '../api/types';

/** What a command asks of an outlet: an absolute state, or something that the account works out when its turn has come. */
export type Action = boolean | 'toggle' | 'cycle';

/** A command for one outlet, or for all outlets of a strip. */
export interface Command {
  /** In any spelling. */
  mac: string;
  port: PortOrAll;
  action: Action;
  /** Milliseconds that a cycle stays off. Ignored by every other action. */
  delay: number;
}

/** What became of a command that succeeded; one that did not rejects with a `StripError`. */
export interface Outcome {
  mac: string;
  /** Of the strip. */
  name: string | null;
  port: PortOrAll;
  /** Name of the outlet; `null` for all of them. */
  outlet: string | null;
  /** The state the service confirmed; after a cycle `true`. */
  on: boolean;
  results: SwitchResult[];
  /** Protected outlets that an "all" left alone; absent where there was none. */
  skipped?: Port[];
  /** The service's JSON body, untouched; an array of them where an "all" became several requests. */
  response: unknown;
  /** ISO 8601, when the confirmation was read. */
  at: string;
}

/** What a command that takes longer is doing, for a node's status. */
export type Progress =
  { readonly phase: 'retrying'; readonly error: StripError } | { readonly phase: 'pausing' };

export interface RunOptions {
  /** Whose command this is, for instance a flow node: `cancel(owner)` ends all commands of an owner. */
  owner?: object;
  /** Called when the command begins to wait for its next attempt, also because of a rate limit, or to wait in the middle of a cycle. */
  onProgress?: (progress: Progress) => void;
}

/**
 * What a subscriber is told. `previous` is the last known value; `null`: there was none, or the subscription has just begun. When a value becomes
 * unknown, a change with `null` is sent. When it is known again, another change is sent; its `previous` is the value before it became unknown, so it
 * may equal the new one.
 */
export type Change =
  | { kind: 'outlet'; strip: Strip; port: Port; on: boolean | null; previous: boolean | null }
  | { kind: 'reading'; strip: Strip; name: ReadingName; value: number | null; previous: number | null }
  /** `isNew`: the strip is first seen after a complete list that did not have it. */
  | { kind: 'strip'; strip: Strip; available: boolean; previous: boolean | null; isNew: boolean }
  /** The strip's name, a name or the number of its outlets, or a unit changed. */
  | { kind: 'description'; strip: Strip }
  /** The strip has not been in the list for a day and is forgotten. */
  | { kind: 'removed'; strip: Strip }
  /** `status()` changed, not counting `lastAnswerAt`. Also told to every subscriber when it has subscribed. */
  | { kind: 'account'; available: boolean | null };

export type Listener = (change: Change) => void;

/** How the account as a whole is doing. */
export interface AccountStatus {
  /** `null`: the service was not asked yet. */
  readonly available: boolean | null;
  /** Why it is not available. */
  readonly error: StripError | null;
  /** An outlet's state could be read from the last list, or there was plainly none to read. */
  readonly readable: boolean;
  /** Whether a list of the strips was read, and whether one of them was complete; `null`: none yet, though commands may have succeeded. */
  readonly listed: 'part' | 'whole' | null;
  /** Wall-clock milliseconds, when the service last answered a request well. */
  readonly lastAnswerAt: number | null;
  /** Wall-clock milliseconds until which the service asked for a pause; `null`: it did not. */
  readonly cooldownUntil: number | null;
  /** The list is read at intervals, because the account has subscribers. */
  readonly polling: boolean;
}

export interface AccountSettings {
  /** Milliseconds between polls. */
  interval: number;
  /** No two polls begin closer together than so many milliseconds, whatever makes the account poll earlier. */
  minInterval: number;
  /** Milliseconds a command may be retried or wait; 0 = no retry. */
  retryFor: number;
  /** Milliseconds after which the service's client gives a request up. */
  timeout: number;
  /** Requests at once. */
  concurrency: number;
  /** Never switched off. */
  protectedOutlets: readonly OutletId[];
  /** Names the user gave; they win over the service's. */
  outletNames: readonly (OutletId & { name: string })[];
  /** Units of readings for which the service sends none; "" = none. */
  units: Readonly<Record<ReadingName, string>>;
}

export interface AccountOptions {
  /** The account's own from now on: `close` closes it. */
  service: Service;
  settings: AccountSettings;
  clock: Clock;
  log: AccountLog;
}

/** Receives what belongs to no single message. Its implementation turns errors into sentences. */
export interface AccountLog {
  /** Polling the list, or only the readings that it does not hold, began to fail; said once per outage. */
  failing(what: 'list' | 'readings', error: StripError): void;
  /** It works again; said once per outage. */
  recovered(what: 'list' | 'readings'): void;
  /** The first command began to be retried; said once until `retryingOver`. */
  retrying(error: StripError): void;
  /** The service answers, and no command is retried any more. */
  retryingOver(): void;
  /** The service asked for a pause of so many seconds; said again of a longer one, or after an hour without any. */
  rateLimited(seconds: number): void;
  /** A configured outlet matches no strip of the first complete list; said once for each. */
  unknownOutlet(kind: 'protected' | 'named', mac: string, port: Port): void;
  /** No outlet's state could be read from an answer; said once until one can be read again. */
  unreadable(what: 'list' | 'strip'): void;
  /** So many commands are not confirmed, because the account was closed. */
  dropped(count: number): void;
  /** Closing could not switch an outlet back on after a cycle. */
  notRestored(command: Command, error: StripError): void;
  /** A listener, the report of a command's progress or a round of the poll threw: a defect, which must not stop the account. */
  fault(error: unknown): void;
}
