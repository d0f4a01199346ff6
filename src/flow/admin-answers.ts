// The data that the edit dialogs and the sidebar exchange with the admin routes.
import type { AccountStatus } from '../account/types';
import type { Note } from '../api/decode';
import type { ErrorCode, Params } from '../api/errors';
import type { OutletId, Strip } from '../api/types';
import { isRecord, ownProperty } from '../values';

/** Node-RED's editor has this, and sends it, in place of a stored password that was not typed again. */
export const STORED_PASSWORD = '__PWRD__';

/** The preview shows at most this many strips, and elements of a list: they are enough to see the shape of an answer. */
export const MAX_PREVIEWED = 50;

/** Why something failed, for the editor to put into words. */
export interface Failure {
  /** "" if the runtime itself could not be asked. */
  code: ErrorCode | '';
  /** Key of the sentence in the catalogue. */
  key: string;
  params: Params;
}

/** What the service sent, as a dialog can show it: shortened, and without anything that looks like a secret. */
export interface SentAnswer {
  body: unknown;
  /** Headers about paging, in the form of fields of a body. */
  paging: unknown;
  /** Some of the body was left out because of its size. */
  shortened: boolean;
}

/** The strips of an account, or why they are not known. */
export type StripsAnswer = {
  /** Only after a connection test: the service's own answer. */
  sent?: SentAnswer;
} & (
  | {
      ok: true;
      strips: Strip[];
      complete: boolean;
      readable: boolean;
      /** Why values are unknown. */
      notes: Note[];
    }
  | ({ ok: false } & Failure)
);

/** A request to switch one outlet. `account`: id of the account's config node. */
export interface OutletRequest extends OutletId {
  account: string;
  on: boolean;
}

/** The answer to an `OutletRequest`: the confirmed state, or why there is none. */
export type SwitchedAnswer = { ok: true; on: boolean } | ({ ok: false } & Failure);

/** A deployed account as the sidebar shows it: its status, with times that do not depend on the browser's clock. */
export interface AccountOverview extends Omit<AccountStatus, 'error' | 'lastAnswerAt' | 'cooldownUntil'> {
  /** Id of the config node. */
  id: string;
  /** Why it is not available. */
  error: Failure | null;
  /** Milliseconds since a request last succeeded; `null`: none has. */
  answeredAgo: number | null;
  /** Milliseconds that are left of a pause that the service asked for; `null`: there is none. */
  pausedFor: number | null;
  strips: Strip[];
  /** The outlets that it never switches off. */
  protectedOutlets: OutletId[];
}

// The editor checks answers: a proxy may answer in place of the runtime, and an editor that was not reloaded may be of another version.

const isListOf = (value: unknown, isElement: (element: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isElement);

const isStrip = (value: unknown): boolean =>
  typeof ownProperty(value, 'mac') === 'string' &&
  isListOf(ownProperty(value, 'outlets'), isRecord) &&
  isRecord(ownProperty(value, 'units'));

const isOutletId = (value: unknown): boolean => typeof ownProperty(value, 'mac') === 'string';

/** `isSuccess`: whether a body that says `ok: true` is valid. */
function isOutcome(body: unknown, isSuccess: boolean): boolean {
  const ok = ownProperty(body, 'ok');
  const isFailure = typeof ownProperty(body, 'key') === 'string' && isRecord(ownProperty(body, 'params'));
  return ok === true ? isSuccess : ok === false && isFailure;
}

export function isStripsAnswer(body: unknown): body is StripsAnswer {
  const [strips, notes] = [ownProperty(body, 'strips'), ownProperty(body, 'notes')];
  return isOutcome(body, isListOf(strips, isStrip) && isListOf(notes, isRecord));
}

export const isSwitchedAnswer = (body: unknown): body is SwitchedAnswer =>
  isOutcome(body, typeof ownProperty(body, 'on') === 'boolean');

const isAccount = (value: unknown): boolean =>
  typeof ownProperty(value, 'id') === 'string' &&
  isListOf(ownProperty(value, 'strips'), isStrip) &&
  isListOf(ownProperty(value, 'protectedOutlets'), isOutletId);

export const areAccounts = (body: unknown): body is AccountOverview[] => isListOf(body, isAccount);
