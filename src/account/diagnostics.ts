import type { Clock } from '../api/clock';
import { isStripError, type ErrorCode, type StripError } from '../api/errors';
import type { ListAnswer, StripAnswer, SwitchAnswer } from '../api/types';

/** How often an error came, and the last one. */
interface ErrorCount {
  readonly count: number;
  /** Wall-clock milliseconds. */
  readonly at: number;
  readonly last: StripError;
}

/** The last good answer of a kind, held until the next one. */
export interface LastAnswer<Answer> {
  /** Wall-clock milliseconds. */
  readonly at: number;
  readonly answer: Answer;
}

/** What an account has done since it started. It holds what the service sent, so it is for `src/flow/diagnostics.ts` only, which leaves that out. */
export type AccountDiagnostics = Readonly<Omit<DiagnosticCounters, 'dated' | 'ended' | 'failed'>>;

/** Errors of commands for which no request is sent. */
const NEVER_SENT: ReadonlySet<ErrorCode> = new Set(['SUPERSEDED', 'PROTECTED', 'BUSY'] as const);

/** Counts what an account does. */
export class DiagnosticCounters {
  readonly requests = { list: 0, strip: 0, switch: 0 };
  readonly errors = new Map<ErrorCode, ErrorCount>();
  /** Requests that repeated one that had failed. */
  retries = 0;
  list: LastAnswer<ListAnswer> | null = null;
  strip: LastAnswer<StripAnswer> | null = null;
  switch: LastAnswer<SwitchAnswer> | null = null;

  constructor(private readonly clock: Clock) {}

  /** An answer that came just now. */
  dated<Answer>(answer: Answer): LastAnswer<Answer> {
    return { at: this.clock.wall(), answer };
  }

  /** A command failed. Counts errors for which no request was sent; failed requests are counted by `failed`. */
  ended(error: unknown): void {
    if (isStripError(error) && NEVER_SENT.has(error.code)) this.failed(error);
  }

  failed(error: unknown): void {
    if (!isStripError(error)) return;
    const count = (this.errors.get(error.code)?.count ?? 0) + 1;
    this.errors.set(error.code, { count, at: this.clock.wall(), last: error });
  }
}
