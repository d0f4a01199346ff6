import { decodeList, explain, type Note } from '../api/decode';
import { isStripError } from '../api/errors';
import type { Mapping } from '../api/mapping';
import type { Strip } from '../api/types';
import { isRecord } from '../values';
import { testFailed, type ConnectionTestResult } from './connection-test';

/** What the account's dialog shows of an answer: what the service sent beside what was read from it. */
export interface Preview {
  ok: true;
  /** The service's body, shortened, without anything that looks like a secret. */
  body: unknown;
  /** Some of the body was left out because of its size. */
  shortened: boolean;
  read: PreviewRead | (ConnectionTestResult & { ok: false });
}

export interface PreviewRead {
  ok: true;
  strips: Strip[];
  complete: boolean;
  readable: boolean;
  /** Why values are unknown. */
  notes: Note[];
}

type HideKey = (text: string) => string;

const LONGEST_EXPRESSION = 20_000;
/** A list of this many strips says enough about its shape. */
const MOST_ELEMENTS = 50;
const MOST_KEYS = 200;
const LONGEST_TEXT = 200;
const DEEPEST = 12;
/** Values in all. */
const MOST_VALUES = 2_000;
const SECRET = /pass(?:word|wd)|secret|token|api[-_]?key|authorization|cookie|credential|private/i;

/** The expression in a request of the dialog; `null` where it is none. */
export function readExpression(request: unknown): string | null {
  const mapping = isRecord(request) ? (request.mapping ?? '') : null;
  return typeof mapping === 'string' && mapping.length <= LONGEST_EXPRESSION ? mapping : null;
}

/** What a body says of the list of strips. `hideKey`: takes the API key out of a text; `mapping`: applied before it is read. */
export async function previewOf(body: unknown, mapping: Mapping | null, hideKey: HideKey): Promise<Preview> {
  const shortener = new Shortener(hideKey);
  const shown = shortener.shorten(body, 0);
  return { ok: true, body: shown, shortened: shortener.shortened, read: await readBody(body, mapping) };
}

async function readBody(body: unknown, mapping: Mapping | null): Promise<Preview['read']> {
  try {
    const mapped = mapping === null ? body : await mapping(body);
    const { strips, complete, readable } = decodeList(mapped, new Date().toISOString());
    const few = strips.slice(0, MOST_ELEMENTS);
    const notes = explain(mapped).filter(({ mac }) => mac === null || few.some((strip) => strip.mac === mac));
    return { ok: true, strips: few, complete, readable, notes };
  } catch (error) {
    if (!isStripError(error)) throw error;
    const failed = testFailed(error);
    if (failed.ok) throw error;
    return failed;
  }
}

/** Copies a body so that a dialog can show it. */
class Shortener {
  shortened = false;
  #values = 0;
  readonly #hideKey: HideKey;

  constructor(hideKey: HideKey) {
    this.#hideKey = hideKey;
  }

  shorten(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= DEEPEST || this.#values >= MOST_VALUES) return this.#leaveOut();
    if (Array.isArray(value)) {
      if (value.length > MOST_ELEMENTS) this.shortened = true;
      return value.slice(0, MOST_ELEMENTS).map((item) => this.#next(item, depth));
    }
    const entries = Object.entries(value);
    if (entries.length > MOST_KEYS) this.shortened = true;
    const shown = entries
      .slice(0, MOST_KEYS)
      .map(
        ([key, inner]) => [this.#text(key), isSecret(key, inner) ? '***' : this.#next(inner, depth)] as const,
      );
    return Object.fromEntries(shown);
  }

  #next(value: unknown, depth: number): unknown {
    this.#values++;
    return this.shorten(value, depth + 1);
  }

  #text(text: string): string {
    const masked = this.#hideKey(text);
    if (masked.length <= LONGEST_TEXT) return masked;
    this.shortened = true;
    return `${masked.slice(0, LONGEST_TEXT)}…`;
  }

  #leaveOut(): string {
    this.shortened = true;
    return '…';
  }
}

const isSecret = (key: string, value: unknown): boolean =>
  SECRET.test(key) && (typeof value === 'string' || typeof value === 'number');
