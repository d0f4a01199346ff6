/** Reads what the runtime's admin routes answer about accounts, for the dialogs and the side bar. */
import type { Params } from '../api/errors';
import { PORTS, READINGS, type Port, type ReadingName } from '../api/types';
import { isRecord } from '../values';

/** An outlet in an answer of an admin route. */
export interface OutletInfo {
  port: Port;
  on: boolean | null;
  name: string | null;
}

/** A strip in an answer of an admin route. */
export interface StripInfo {
  mac: string;
  name: string | null;
  available: boolean;
  /** In order of port; an outlet the service did not mention is missing. */
  outlets: OutletInfo[];
  /** Known readings only, with the unit where one is known. */
  readings: { name: ReadingName; value: number; unit: string }[];
}

/** A failure in the words of the account's catalogue. */
export interface Failure {
  code: string;
  /** Below `errors.`. */
  sentence: string;
  params: Params;
}

/** Why a value is unknown. */
export interface NoteInfo {
  mac: string | null;
  about: string;
  reason: string;
  fields: string[];
}

/** What the service sent, as far as it can be shown. */
export interface SentInfo {
  body: unknown;
  shortened: boolean;
}

/** The runtime's answer about the strips of an account. */
export type Answer =
  | {
      ok: true;
      strips: StripInfo[];
      /** Outlets could be read, or there were none to read. */
      readable: boolean;
      complete: boolean;
      notes: NoteInfo[];
      /** `null` where the runtime was asked only for what it knows. */
      sent: SentInfo | null;
    }
  | {
      ok: false;
      /** An error code, or "" where the runtime itself could not be asked. */
      code: string;
      /** Of the sentence, in the account's catalogue. */
      key: string;
      params: Params;
      sent: SentInfo | null;
    };

/** A deployed account in the runtime's answer. */
export interface AccountInfo {
  id: string;
  available: boolean | null;
  error: Failure | null;
  polling: boolean;
  /** Milliseconds; `null`: never. */
  answeredAgo: number | null;
  /** Milliseconds; `null`: there is no pause. */
  pausedFor: number | null;
  strips: StripInfo[];
}

/** Reads the answer about one account; `null` for one that is not ours, such as a proxy's error page. */
export function readAnswer(body: unknown): Answer | null {
  if (!isRecord(body)) return null;
  const sent = isRecord(body.sent) ? { body: body.sent.body, shortened: body.sent.shortened === true } : null;
  if (body.ok === true && Array.isArray(body.strips)) {
    return {
      ok: true,
      strips: readEach(body.strips, readStrip),
      readable: body.readable !== false,
      complete: body.complete !== false,
      notes: readEach(body.notes, readNote),
      sent,
    };
  }
  const failure = body.ok === false ? readFailure(body) : null;
  if (failure === null) return null;
  const { code, sentence, params } = failure;
  // Sentences call a strip by its name, or else by its MAC.
  const named = params.mac === undefined ? params : { strip: params.mac, ...params };
  return { ok: false, code, key: `errors.${sentence}`, params: named, sent };
}

/** Reads the runtime's answer about all accounts; `null` for anything else, such as a proxy's error page. */
export function readAccounts(body: unknown): AccountInfo[] | null {
  return Array.isArray(body) ? readEach(body, readAccount) : null;
}

/** Reads the answer to a switch: the confirmed state, or why it failed; `null` for anything else. */
export function readSwitched(body: unknown): { on: boolean } | Failure | null {
  if (!isRecord(body)) return null;
  return body.ok === true && typeof body.on === 'boolean' ? { on: body.on } : readFailure(body);
}

/** Why the runtime did not answer, by the HTTP status (0: no answer at all): a key below `strip-account.trouble.`. */
export function problemOf(status: number): string {
  if (status === 0) return 'silent';
  if (status === 401 || status === 403) return 'forbidden';
  return status === 404 ? 'notDeployed' : 'unexpected';
}

function readAccount(value: unknown): AccountInfo | null {
  if (!isRecord(value) || typeof value.id !== 'string' || !Array.isArray(value.strips)) return null;
  const { id, available, polling, strips } = value;
  return {
    id,
    available: typeof available === 'boolean' ? available : null,
    error: readFailure(value.error),
    polling: polling === true,
    answeredAgo: numberOf(value.answeredAgo),
    pausedFor: numberOf(value.pausedFor),
    strips: readEach(strips, readStrip),
  };
}

function readStrip(value: unknown): StripInfo | null {
  if (!isRecord(value) || typeof value.mac !== 'string') return null;
  const units = isRecord(value.units) ? value.units : {};
  return {
    mac: value.mac,
    name: nameOf(value.name),
    available: value.available === true,
    outlets: readEach(value.outlets, readOutlet),
    readings: READINGS.flatMap((name) => {
      const reading = numberOf(value[name]);
      return reading === null ? [] : [{ name, value: reading, unit: nameOf(units[name]) ?? '' }];
    }),
  };
}

function readOutlet(value: unknown): OutletInfo | null {
  if (!isRecord(value)) return null;
  const port = PORTS.find((known) => known === value.port);
  if (port === undefined) return null;
  return { port, on: typeof value.on === 'boolean' ? value.on : null, name: nameOf(value.name) };
}

function readNote(value: unknown): NoteInfo | null {
  if (!isRecord(value) || typeof value.reason !== 'string') return null;
  const fields = Array.isArray(value.fields) ? value.fields.map(String) : [];
  return { mac: nameOf(value.mac), about: String(value.about), reason: value.reason, fields };
}

function readFailure(value: unknown): Failure | null {
  if (!isRecord(value) || typeof value.code !== 'string' || typeof value.sentence !== 'string') return null;
  const params = isRecord(value.params) ? Object.entries(value.params) : [];
  const known = params.filter(
    (entry): entry is [string, string | number] =>
      typeof entry[1] === 'string' || typeof entry[1] === 'number',
  );
  return { code: value.code, sentence: value.sentence, params: Object.fromEntries(known) };
}

/** Reads a list by its elements; leaves out those that cannot be read, and takes anything but a list for an empty one. */
const readEach = <Value>(list: unknown, read: (value: unknown) => Value | null): Value[] =>
  Array.isArray(list) ? list.map(read).filter((value) => value !== null) : [];

/** A text that is not empty; else `null`. */
const nameOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/** The field of the account's dialog where a failure can be corrected; `null` where it is in none of them. */
export function fieldToCorrect(code: string, key: string): string | null {
  if (code === '') return null;
  const kind = key.slice(key.lastIndexOf('.') + 1);
  if (code === 'AUTH' || kind.startsWith('key')) return 'apiKey';
  // The service itself fails, the account was closed, or the fault is not asked for in a test: no field here would help.
  if (code === 'SERVICE' || code === 'CLOSED' || kind === 'variable' || kind === 'protected') return null;
  if (code === 'TIMEOUT') return 'timeout';
  if (code === 'RATE_LIMITED') return 'interval';
  if (kind.startsWith('mapping')) return 'mapping';
  if (kind.startsWith('proxy')) return 'proxy';
  if (kind.startsWith('tls') && code === 'NOT_CONFIGURED') return 'tls';
  if (kind === 'certificate' || kind === 'certificateSelfSigned') return 'tls';
  return 'baseUrl';
}
