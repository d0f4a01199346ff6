import { decodeList, decodeStrip, type Note } from '../api/decode';
import type { Mapping } from '../api/mapping';
import { numberOf, requireReadable, SETTINGS, textOf } from '../settings';
import { isObject, isRecord } from '../values';
import { MAX_PREVIEWED, STORED_PASSWORD, type SentAnswer, type StripsAnswer } from './admin-answers';
import { editorError } from './node-error';

/** A connection that the account's dialog wants to test before it is deployed. */
export type ConnectionTest = ReturnType<typeof readConnectionTest>;

/** Shorter than an account's longest timeout, because a person is waiting. */
const LONGEST_TIMEOUT = 60_000;

/** Reads the body of a request. `replace`: replaces a text that is an environment variable, as a deploy would. Throws NOT_CONFIGURED. */
export function readConnectionTest(body: unknown, replace = (text: string): string => text) {
  const sent = isRecord(body) ? body : {};
  const settingOf = (name: string): string => replace(textOf(sent, name));
  const apiKey = textOf(sent, 'apiKey');
  const { timeout } = SETTINGS['strip-account'];
  const config = { timeout: settingOf('timeout') };
  requireReadable(config, { timeout });
  return {
    /** Id of the account, which may be deployed already. */
    id: textOf(sent, 'id'),
    baseUrl: settingOf('baseUrl'),
    /** `null`: the one that is stored with the deployed account. */
    apiKey: apiKey === STORED_PASSWORD ? null : replace(apiKey),
    /** Milliseconds for the request. */
    timeout: Math.min(numberOf(config, 'timeout', timeout), LONGEST_TIMEOUT),
    /** Ids of Node-RED's own config nodes; "": none. */
    tls: settingOf('tls'),
    proxy: settingOf('proxy'),
    /** JSONata; "": none. */
    mapping: settingOf('mapping'),
    /** The strip that is asked for; "": the list of strips. */
    mac: textOf(sent, 'mac'),
    /** An earlier answer, which is to be read again without a request. */
    again: Object.hasOwn(sent, 'body') ? { body: sent.body, paging: sent.paging } : null,
  };
}

/**
 * What is read from a body about the strip `mac`; if that is "", about all strips. `hideKey`: removes the API key from a text. `paging`: the headers
 * about paging that came with the body.
 */
export async function previewOf(
  body: unknown,
  mac: string,
  mapping: Mapping | null,
  hideKey: (text: string) => string,
  paging: unknown = {},
): Promise<StripsAnswer> {
  const sent = sentAnswer(body, paging, hideKey);
  try {
    return { sent, ...decodeBody(mapping === null ? body : await mapping(body), mac, paging) };
  } catch (error) {
    return { sent, ok: false, ...editorError(error) };
  }
}

function decodeBody(body: unknown, mac: string, paging: unknown): StripsAnswer {
  const at = new Date().toISOString();
  const notes: Note[] = [];
  if (mac !== '') {
    const { strip, readable } = decodeStrip(body, mac, at, notes);
    return { ok: true, strips: [strip], complete: true, readable, notes };
  }
  const list = decodeList(body, at, notes, isRecord(paging) ? paging : {});
  const shown = new Set(list.strips.slice(0, MAX_PREVIEWED).map((strip) => strip.mac));
  return { ok: true, ...list, notes: notes.filter((note) => note.mac === null || shown.has(note.mac)) };
}

const MAX_KEYS = 200;
const LONGEST_TEXT = 200;
const DEEPEST = 12;
/** The most values that are copied. */
const MAX_VALUES = 2_000;
const SECRET = /pass(?:word|wd)|secret|token|api[-_]?key|authorization|cookie|credential|private/i;

/** Copies an answer so that a dialog can show it. */
function sentAnswer(body: unknown, paging: unknown, hideKey: (text: string) => string): SentAnswer {
  let shortened = false;
  let values = 0;
  const shorten = (text: string): string => {
    const masked = hideKey(text);
    if (masked.length <= LONGEST_TEXT) return masked;
    shortened = true;
    return `${masked.slice(0, LONGEST_TEXT)}…`;
  };
  const first = <Item>(items: readonly Item[], max: number): Item[] => {
    if (items.length > max) shortened = true;
    return items.slice(0, max);
  };
  const copy = (value: unknown, depth: number): unknown => {
    values++;
    if (typeof value === 'string') return shorten(value);
    if (typeof value === 'number' && hideKey(String(value)) === '***') return '***';
    if (!isObject(value)) return value;
    if (depth >= DEEPEST || values > MAX_VALUES) {
      shortened = true;
      return '…';
    }
    if (Array.isArray(value)) return first(value, MAX_PREVIEWED).map((item) => copy(item, depth + 1));
    const entries = first(Object.entries(value), MAX_KEYS).map(
      ([key, inner]) => [shorten(key), isSecret(key, inner) ? '***' : copy(inner, depth + 1)] as const,
    );
    return Object.fromEntries(entries);
  };
  const copied = { paging: copy(paging, 0), body: copy(body, 0) };
  return { ...copied, shortened };
}

const isSecret = (key: string, value: unknown): boolean =>
  SECRET.test(key) && (typeof value === 'string' || typeof value === 'number');
