import type { SwitchResult } from './types';

/** What can go wrong, as users see it in `msg.error.code`. Stable: add, never rename. */
export const ERROR_CODES = [
  'INVALID_INPUT',
  'NOT_CONFIGURED',
  'AUTH',
  'NOT_FOUND',
  'RATE_LIMITED',
  'TIMEOUT',
  'UNREACHABLE',
  'SERVICE',
  'BAD_RESPONSE',
  'SWITCH_FAILED',
  'SUPERSEDED',
  'PROTECTED',
  'BUSY',
  'CLOSED',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Key of a sentence below `errors.` in the account's catalogue: the code and, after a point, the kind of failure. */
export type SentenceKey = `${ErrorCode}.${string}`;

/** Values for the placeholders of a catalogue sentence. Never the API key. */
export type Params = Record<string, string | number>;

/** What a `StripError` can hold besides its sentence. */
export type ErrorDetails = Partial<
  Pick<StripError, 'cause' | 'retryAfter' | 'response' | 'results' | 'retryable' | 'notSent'>
>;

/** Codes of errors that may go away by themselves. For SERVICE, that depends on the status. */
const TEMPORARY: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['TIMEOUT', 'UNREACHABLE', 'RATE_LIMITED']);

/** Codes with which only commands end, never requests. An earlier attempt of such a command may have been sent. */
export const COMMAND_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['SUPERSEDED', 'PROTECTED', 'BUSY']);

/**
 * A failure with a stable code and the key of the catalogue sentence that says what to do. The sentence
 * is made where the reader's language is known; `message` is for developers.
 */
export class StripError extends Error {
  override readonly name = 'StripError';
  readonly code: ErrorCode;
  /** Milliseconds the service asked us to wait (RATE_LIMITED and SERVICE only). */
  readonly retryAfter: number | undefined;
  /** The service's JSON body, if it sent one with the failure. */
  readonly response: unknown;
  /** What a switch answer said about each port, as far as it could be read. */
  readonly results: SwitchResult[];
  /** Repeating an absolute on/off, or a read, may help. If the details do not say, the code decides. */
  readonly retryable: boolean;
  /** Nothing was sent to the service, or it was refused before it was read. */
  readonly notSent: boolean;
  /** The client had repeated the request, because its connection broke; this is the error of the repetition. */
  isOfRepeat = false;

  constructor(
    readonly sentenceKey: SentenceKey,
    readonly params: Params = {},
    /** `cause` is for developers; it must hold no secret. */
    details: ErrorDetails = {},
  ) {
    super(sentenceKey, details);
    this.code = sentenceKey.slice(0, sentenceKey.indexOf('.')) as ErrorCode;
    this.retryAfter = details.retryAfter;
    this.response = details.response;
    this.results = details.results ?? [];
    this.retryable = details.retryable ?? TEMPORARY.has(this.code);
    this.notSent = details.notSent ?? false;
  }
}

/** CLOSED, with what became of the command: not sent, sent but not answered, a cycle in its delay, or not known (the account was closed). */
export const closedError = (
  what: 'notSent' | 'sent' | 'cycle' | 'account',
  params: Params = {},
): StripError => new StripError(`CLOSED.${what}`, params);

/** The error for a command that was not carried out because a request before it, or one that it needed, failed with this error. */
export const asNotSent = (error: StripError): StripError => {
  const { sentenceKey, params, retryAfter, response, retryable } = error;
  const details = { retryAfter, response, retryable, cause: error, notSent: true };
  return new StripError(sentenceKey, params, details);
};

/** NOT_CONFIGURED for an environment variable that is not set. */
export const variableMissing = (variable: string): StripError =>
  new StripError('NOT_CONFIGURED.variable', { variable });

export const isStripError = (error: unknown): error is StripError => error instanceof StripError;

/** Returns a `StripError` that was thrown. Throws anything else again: it is a defect. */
export function asError(error: unknown): StripError {
  if (isStripError(error)) return error;
  throw error;
}

/** The result of a function; `null` if it throws a `StripError`, which is added to `errors`. */
export function valueOrNull<Value>(read: () => Value, errors: StripError[] = []): Value | null {
  try {
    return read();
  } catch (error) {
    errors.push(asError(error));
    return null;
  }
}

/** The error with which a promise rejects, as a value; `null` if it succeeds. */
export const failureOf = (promise: Promise<unknown>): Promise<StripError | null> =>
  promise.then(() => null, asError);

/** The service cannot be reached, does not answer, or answers that it cannot carry out requests at the moment. */
export const isOutage = (error: unknown): error is StripError =>
  isStripError(error) && (error.retryable || error.code === 'UNREACHABLE');

/** Redirects that mean "send this request elsewhere"; after 302 and 303 it may have been carried out. */
const MOVED = new Set<unknown>([301, 307, 308]);

/** Whether the service may have carried out a switch request although it failed with this error. */
export function mayBeCarriedOut(error: StripError): boolean {
  const { code, params, retryable, results } = error;
  if (error.isOfRepeat) return true;
  if (error.notSent) return false;
  // A 4xx is a refusal; a 5xx may come after the outlet was switched.
  if (code === 'SERVICE') return retryable;
  // A "no" without a port is about the outlet asked for. If all were asked for, some of them may have been switched.
  if (code === 'SWITCH_FAILED')
    return results.some(({ ok }) => ok) || (results.length === 0 && params.port === 'all');
  if (code === 'BAD_RESPONSE') return !MOVED.has(params.status);
  return code === 'UNREACHABLE' || code === 'TIMEOUT' || code === 'CLOSED';
}

/** The service can be reached, and it did not carry out the request. */
export const isRefusal = (error: StripError): boolean =>
  error.code !== 'CLOSED' && !isOutage(error) && !mayBeCarriedOut(error);

/** Whether the service itself says that it does not know a strip. A 404 for the address says nothing about strips. */
export const isUnknownStrip = (error: unknown): boolean =>
  isStripError(error) && error.code === 'NOT_FOUND' && error.sentenceKey !== 'NOT_FOUND.address';
