import { isStripError, type ErrorCode, type Params } from '../api/errors';
import type { Strip } from '../api/types';
import { SETTINGS } from '../settings';

/** A connection that the account's dialog wants to test before it is deployed. */
export interface ConnectionTest {
  /** Of the account, which may be deployed already. */
  id: string;
  baseUrl: string;
  /** `null`: the one that is stored with the deployed account. */
  apiKey: string | null;
  /** Milliseconds for the request. */
  timeout: number;
  /** Ids of Node-RED's own config nodes; "": none. */
  tls: string;
  proxy: string;
}

/** What the editor is told about an account. Holds no key, and of an error only its code and its sentence. */
export type ConnectionTestResult =
  | { ok: true; strips: Pick<Strip, 'mac' | 'name' | 'available' | 'outlets'>[]; readable: boolean }
  | { ok: false; code: ErrorCode; sentence: string; params: Params };

/** What the editor sends for a password that it was never told. */
const UNTOUCHED = '__PWRD__';
const LONGEST = 4096;
const { default: DEFAULT_TIMEOUT, least: LEAST_TIMEOUT } = SETTINGS['strip-account'].timeout;
/** A person is waiting. */
const MOST_TIMEOUT = 60_000;

/** Reads the body of a request; `null` for a body that the dialog does not send. */
export function parseConnectionTest(body: unknown): ConnectionTest | null {
  if (typeof body !== 'object' || body === null) return null;
  const field = (name: string): string | null => {
    const value: unknown = Object.hasOwn(body, name) ? Reflect.get(body, name) : '';
    return typeof value === 'string' && value.length <= LONGEST ? value : null;
  };
  const [id, baseUrl, apiKey, timeout, tls, proxy] = [
    field('id'),
    field('baseUrl'),
    field('apiKey'),
    field('timeout'),
    field('tls'),
    field('proxy'),
  ];
  if (id === null || baseUrl === null || apiKey === null || timeout === null) return null;
  if (tls === null || proxy === null) return null;
  return {
    id,
    baseUrl,
    apiKey: apiKey === '' || apiKey === UNTOUCHED ? null : apiKey,
    timeout: Math.min(Math.max(Number(timeout) || DEFAULT_TIMEOUT, LEAST_TIMEOUT), MOST_TIMEOUT),
    tls,
    proxy,
  };
}

export const testSucceeded = (strips: readonly Strip[], readable: boolean): ConnectionTestResult => ({
  ok: true,
  strips: strips.map(({ mac, name, available, outlets }) => ({ mac, name, available, outlets })),
  readable,
});

/** Throws an error that is not one of the service or of the settings again. */
export function testFailed(error: unknown): ConnectionTestResult {
  if (!isStripError(error)) throw error;
  return { ok: false, code: error.code, sentence: error.sentence, params: error.params };
}
