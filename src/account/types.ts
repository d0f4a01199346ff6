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

/** What a command does: it switches on (`true`) or off, or the account works out the new state when it is the command's turn. */
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

/** The result of a command that succeeded. A failed command rejects with a `StripError`. */
export interface Outcome {
  mac: string;
  /** Name of the strip. */
  name: string | null;
  port: PortOrAll;
  /** Name of the outlet; `null` for all of them. */
  outlet: string | null;
  /** The state the service confirmed; after a cycle `true`. */
  on: boolean;
  results: SwitchResult[];
  /** Protected outlets that an "all" left alone; absent if it left none alone. */
  skipped?: Port[];
  /** The service's JSON body, untouched; if an "all" became several requests, an array of their bodies. */
  response: unknown;
  /** ISO 8601, when the confirmation was read. */
  at: string;
}

/** What is being done for a command that takes longer, for a node's status. */
export type Progress =
  { readonly phase: 'retrying'; readonly error: StripError } | { readonly phase: 'pausing' };

export interface RunOptions {
  /** Whose command this is, for instance a flow node: `cancel(owner)` ends all commands of an owner. */
  owner?: object;
  /** Called when the command begins to wait: for its next attempt (also because of a rate limit), or between the halves of a cycle. */
  onProgress?: (progress: Progress) => void;
}

/**
 * What a subscriber is told. `previous` is the last known value; `null`: there was none, or the subscription has just begun. If a value becomes
 * unknown, one change says so, with `null` as the new value. When it is known again, another change follows. Its `previous` is the value from before
 * it became unknown, so it may equal the new value.
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
  /** `status()` changed, not counting `lastAnswerAt` and `polling`. Each new subscriber is told it once, too. */
  | { kind: 'account'; available: boolean | null };

export type Listener = (change: Change) => void;

/** How the account as a whole is doing. */
export interface AccountStatus {
  /** `null`: the service was not asked yet, or only long ago. */
  readonly available: boolean | null;
  /** Why it is not available. */
  readonly error: StripError | null;
  /** An outlet's state could be read from the last list, or there was plainly none to read. */
  readonly readable: boolean;
  /** Whether a list of the strips was read, and whether one of them was complete; `null`: none, or only long ago. */
  readonly listed: 'part' | 'whole' | null;
  /** Wall-clock milliseconds when a request last succeeded. */
  readonly lastAnswerAt: number | null;
  /** When the pause ends that the service asked for, in wall-clock milliseconds; `null`: there is none. */
  readonly cooldownUntil: number | null;
  /** The list is read at intervals, because the account has subscribers. */
  readonly polling: boolean;
}

export interface AccountSettings {
  /** Milliseconds between polls. */
  interval: number;
  /** Milliseconds: the shortest time between the beginnings of two polls, also if something makes the account poll earlier. */
  minInterval: number;
  /** Milliseconds for which a command may be retried; 0 = no retry. It may wait unsent for as long, or for `timeout` if that is longer. */
  retryFor: number;
  /** Milliseconds that one request may take. */
  timeout: number;
  /** How many requests may run at the same time. */
  concurrency: number;
  /** Outlets that this account never switches off. */
  protectedOutlets: readonly OutletId[];
  /** Names that the user gave outlets. They are used instead of the service's names. */
  outletNames: readonly (OutletId & { name: string })[];
  /** Units for readings that the service sends without a unit; "": none. */
  units: Readonly<Record<ReadingName, string>>;
}

export interface AccountOptions {
  /** Belongs to the account from now on: `Account.close` closes it, too. */
  service: Service;
  settings: AccountSettings;
  clock: Clock;
  log: AccountLog;
}

/** Logs what belongs to no single message. The implementation turns errors into sentences. */
export interface AccountLog {
  /** Polling began to fail: the list, or only the readings that are not in the list. Logged once per outage. */
  failing(what: 'list' | 'readings', error: StripError): void;
  /** It works again. Logged once per outage. */
  recovered(what: 'list' | 'readings'): void;
  /** The first command began to be retried. Logged once until `retryingOver`. */
  retrying(error: StripError): void;
  /** The service answers, and no command is retried any more. */
  retryingOver(): void;
  /** The service asked for a pause of this many seconds. Logged again only for a longer pause, or after an hour without one. */
  rateLimited(seconds: number): void;
  /** A configured outlet is not in the first complete list. Logged once for each outlet. */
  unknownOutlet(kind: 'protected' | 'named', mac: string, port: Port): void;
  /** No outlet's state could be read from an answer. Logged once for each kind of answer. */
  unreadable(what: 'list' | 'strip'): void;
  /** While the account was closing, an outlet could not be switched on again after a cycle. */
  notRestored(command: Command, error: StripError): void;
  /** A listener, the report of a command's progress or a round of the poll threw: a defect, which must not stop the account. */
  fault(error: unknown): void;
}
