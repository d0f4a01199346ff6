import type { Params } from '../api/errors';
import { PORTS, type Port } from '../api/types';

/** A strip as the admin routes tell of it. */
export interface StripRow {
  mac: string;
  name: string | null;
  available: boolean;
  /** In order of port; an outlet the service did not mention is missing. */
  outlets: { port: Port; on: boolean | null }[];
}

/** What the runtime said of an account. */
export type Answer =
  | {
      ok: true;
      strips: StripRow[];
      /** Outlets could be read, or there were none to read. */ readable: boolean;
    }
  | {
      ok: false;
      /** An error code, or "" where the runtime itself could not be asked. */
      code: string;
      /** Of the sentence, in the account's catalogue. */
      key: string;
      params: Params;
    };

/** Reads an admin route's answer; `null` for what is none of ours, such as a proxy's error page. */
export function readAnswer(body: unknown): Answer | null {
  if (!isRecord(body)) return null;
  if (body.ok === true && Array.isArray(body.strips)) {
    const strips = body.strips.map(readStrip).filter((strip) => strip !== null);
    return { ok: true, strips, readable: body.readable !== false };
  }
  if (body.ok === false && typeof body.code === 'string' && typeof body.sentence === 'string') {
    return {
      ok: false,
      code: body.code,
      key: `errors.${body.sentence}`,
      params: readParams(body.params),
    };
  }
  return null;
}

/** The field of the account's dialog that has to be mended for a failure to go away; `null` where none of them is to blame. */
export function fieldToMend(code: string, key: string): string | null {
  if (code === '') return null;
  const kind = key.slice(key.lastIndexOf('.') + 1);
  if (code === 'AUTH' || kind.startsWith('key')) return 'apiKey';
  // The service's own trouble, the account's end, what is not asked for in a test: nothing that a field here would mend.
  if (code === 'SERVICE' || code === 'CLOSED' || kind === 'variable' || kind === 'protected') return null;
  if (code === 'TIMEOUT') return 'timeout';
  if (code === 'RATE_LIMITED') return 'interval';
  if (kind.startsWith('proxy')) return 'proxy';
  if (kind.startsWith('tls') && code === 'NOT_CONFIGURED') return 'tls';
  if (kind === 'certificate' || kind === 'certificateSelfSigned') return 'tls';
  return 'baseUrl';
}

function readStrip(value: unknown): StripRow | null {
  if (!isRecord(value) || typeof value.mac !== 'string') return null;
  const { mac, name, outlets } = value;
  return {
    mac,
    name: typeof name === 'string' && name !== '' ? name : null,
    available: value.available !== false,
    outlets: Array.isArray(outlets) ? outlets.map(readOutlet).filter((outlet) => outlet !== null) : [],
  };
}

function readOutlet(value: unknown): StripRow['outlets'][number] | null {
  if (!isRecord(value)) return null;
  const port = PORTS.find((known) => known === value.port);
  const on = value.on;
  return port === undefined ? null : { port, on: typeof on === 'boolean' ? on : null };
}

function readParams(value: unknown): Params {
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, string | number] =>
        typeof entry[1] === 'string' || typeof entry[1] === 'number',
    ),
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
