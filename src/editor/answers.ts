/** Reads what the runtime's admin routes answer about accounts, for the dialogs and the side bar. */
import type { Params } from '../api/errors';
import { PORTS, type Port } from '../api/types';
import { isRecord } from '../values';

/** An outlet as the admin routes tell of it. */
export interface OutletInfo {
  port: Port;
  on: boolean | null;
  name: string | null;
}

/** A strip as the admin routes tell of it. */
export interface StripRow {
  mac: string;
  name: string | null;
  available: boolean;
  /** In order of port; an outlet the service did not mention is missing. */
  outlets: OutletInfo[];
}

/** A failure in the words of the account's catalogue. */
export interface Failure {
  code: string;
  /** Below `errors.`. */
  sentence: string;
  params: Params;
}

/** Reads a list by its elements; leaves out those that cannot be read, and takes anything but a list for an empty one. */
export const readEach = <Value>(list: unknown, read: (value: unknown) => Value | null): Value[] =>
  Array.isArray(list) ? list.map(read).filter((value) => value !== null) : [];

export function readStrip(value: unknown): StripRow | null {
  if (!isRecord(value) || typeof value.mac !== 'string') return null;
  return {
    mac: value.mac,
    name: nameOf(value.name),
    available: value.available === true,
    outlets: readEach(value.outlets, readOutlet),
  };
}

function readOutlet(value: unknown): OutletInfo | null {
  if (!isRecord(value)) return null;
  const port = PORTS.find((known) => known === value.port);
  if (port === undefined) return null;
  return { port, on: typeof value.on === 'boolean' ? value.on : null, name: nameOf(value.name) };
}

export function readFailure(value: unknown): Failure | null {
  if (!isRecord(value) || typeof value.code !== 'string' || typeof value.sentence !== 'string') return null;
  const params = isRecord(value.params) ? Object.entries(value.params) : [];
  const known = params.filter(
    (entry): entry is [string, string | number] =>
      typeof entry[1] === 'string' || typeof entry[1] === 'number',
  );
  return { code: value.code, sentence: value.sentence, params: Object.fromEntries(known) };
}

/** A text that says something; else `null`. */
export const nameOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

/** Why the runtime did not answer, by the HTTP status (0: no answer at all): a key below `strip-account.trouble.`. */
export function problemOf(status: number): string {
  if (status === 0) return 'silent';
  if (status === 401 || status === 403) return 'forbidden';
  return status === 404 ? 'notDeployed' : 'unexpected';
}
