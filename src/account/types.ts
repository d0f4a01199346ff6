import type { StripError } from '../api/errors';
import type { Port, PortOrAll, ReadingName, Strip, SwitchResult } from '../api/types';

/** What a command asks of an outlet: an absolute state, or something that only its lane can carry out. */
export type Action = boolean | 'toggle' | 'cycle';

export interface Command {
  mac: string;
  port: PortOrAll;
  action: Action;
  /** Milliseconds a cycle stays off. Ignored by every other action. */
  delay: number;
}

/** What became of a command that succeeded; one that did not rejects with a `StripError`. */
export interface Outcome {
  mac: string;
  port: PortOrAll;
  /** The state the service confirmed; after a cycle `true`. */
  on: boolean;
  results: SwitchResult[];
  /** Protected outlets that an "all" left alone; absent where none was. */
  skipped?: Port[];
  /** The service's JSON body, untouched; an array of them where an "all" became several requests. */
  response: unknown;
  /** ISO 8601, when the confirmation was read. */
  at: string;
}

/** What a command that takes longer is doing, for a badge. */
export type Progress = 'retrying' | 'rate limited' | 'waiting';

/** Told of changes only. `first` marks what was not known before (`previous` is then `null`). */
export type Change =
  | { kind: 'outlet'; strip: Strip; port: Port; on: boolean; previous: boolean | null; first: boolean }
  | {
      kind: 'reading';
      strip: Strip;
      name: ReadingName;
      value: number;
      previous: number | null;
      first: boolean;
    }
  | { kind: 'strip'; strip: Strip; available: boolean; first: boolean }
  | { kind: 'account'; available: boolean; error: StripError | null; first: boolean };

export type Listener = (change: Change) => void;

/** How the account as a whole is doing, for a badge. */
export interface AccountStatus {
  /** `null`: the service was not asked yet. */
  readonly available: boolean | null;
  /** Why it is not available. */
  readonly error: StripError | null;
  /** The last list was understood at least in part. */
  readonly readable: boolean;
}

export interface ProtectedOutlet {
  mac: string;
  port: Port;
}

export interface AccountSettings {
  /** Milliseconds between polls; the floor of 5 s is applied by the account. */
  interval: number;
  /** Milliseconds an absolute command may be retried; 0 = never. */
  retryFor: number;
  /** Requests at once. */
  concurrency: number;
  protectedOutlets: readonly ProtectedOutlet[];
}

/** Where the account says what concerns no single message. Whoever hands it in turns errors into sentences. */
export interface AccountLog {
  /** Polling began to fail; said once per outage. */
  failing(error: StripError): void;
  /** Polling works again; said once per outage. */
  recovered(): void;
  /** An answer was understood only in part or not at all; said once until an answer can be read again. */
  unreadable(what: 'list' | 'strip'): void;
  /** Closing dropped commands that had not been carried out. */
  dropped(count: number): void;
  /** Closing could not bring an outlet back on after a cycle. */
  owed(command: Command, error: StripError): void;
  /** A listener threw: a defect of the listener, which must not break the others. */
  fault(error: unknown): void;
}
