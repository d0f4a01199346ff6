/** What the admin routes answer to the edit dialogs and the side bar. */
import type { Note } from '../api/decode';
import type { ErrorCode, Params } from '../api/errors';
import type { Strip } from '../api/types';
import { ownProperty } from '../values';

/** Why something failed, for the editor to put into words. */
export interface Failure {
  /** "" where the runtime itself could not be asked. */
  code: ErrorCode | '';
  /** Of the sentence, in a catalogue. */
  key: string;
  params: Params;
}

/** What the service sent, as a dialog can show it: shortened, and without anything that looks like a secret. */
export interface SentAnswer {
  body: unknown;
  /** Some of the body was left out because of its size. */
  shortened: boolean;
}

/** The strips of an account, or why they are not known. */
export type StripsAnswer = {
  /** `null` where the service's own answer is not shown. */
  sent: SentAnswer | null;
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

/** How the switch of one outlet ended: with its confirmed state, or not. */
export type SwitchedAnswer = { ok: true; on: boolean } | ({ ok: false } & Failure);

/** A deployed account as the side bar shows it. */
export interface AccountOverview {
  /** Of the config node. */
  id: string;
  /** `null`: the service was not asked yet. */
  available: boolean | null;
  /** Why it is not available. */
  error: Failure | null;
  polling: boolean;
  /** Milliseconds since the service last answered well; `null`: never. */
  answeredAgo: number | null;
  /** Milliseconds until the pause is over that the service asked for; `null`: there is none. */
  pausedFor: number | null;
  strips: Strip[];
}

// A program in between, a proxy for instance, may answer in place of the runtime.
const saysOk = (body: unknown): boolean => typeof ownProperty(body, 'ok') === 'boolean';
export const isStripsAnswer = (body: unknown): body is StripsAnswer => saysOk(body);
export const isSwitchedAnswer = (body: unknown): body is SwitchedAnswer => saysOk(body);
export const areAccounts = (body: unknown): body is AccountOverview[] => Array.isArray(body);
