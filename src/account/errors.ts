// Errors that the account itself finds. All sentences are keys of the account's catalogue.
import { isStripError, StripError } from '../api/errors';
import type { PortOrAll } from '../api/types';

export const busy = (count: number): StripError =>
  new StripError('BUSY', 'BUSY.waiting', { params: { count } });

export const isProtected = (mac: string, port: PortOrAll): StripError =>
  new StripError('PROTECTED', port === 'all' ? 'PROTECTED.all' : 'PROTECTED.outlet', {
    params: { mac, port },
  });

/** The service did not say whether this outlet is on, so its opposite is unknown too. */
export const unknownState = (mac: string, port: PortOrAll, response: unknown): StripError =>
  new StripError(
    'BAD_RESPONSE',
    port === 'all' ? 'BAD_RESPONSE.unknownStates' : 'BAD_RESPONSE.unknownState',
    { params: { mac, port }, response },
  );

/** A command waited for so many milliseconds while others had no answer, and no failure says why. */
export const waitedTooLong = (ms: number): StripError =>
  new StripError('TIMEOUT', 'TIMEOUT.waiting', { params: { seconds: Math.ceil(ms / 1000) } });

/** A pause that the service asked for ends too late. Both in milliseconds. */
export const pauseTooLong = (error: StripError, pause: number, limit: number): StripError =>
  new StripError('RATE_LIMITED', 'RATE_LIMITED.deadline', {
    params: { ...error.params, seconds: Math.ceil(pause / 1000), limit: limit / 1000 },
    retryAfter: pause,
    response: error.response,
    cause: error,
  });

/** A rejection as a value; what is no `StripError` is a defect. */
export function asError(error: unknown): StripError {
  if (isStripError(error)) return error;
  throw error;
}

/** The error of what was asked, as a value; `null` where it succeeded. */
export const failureOf = (asked: Promise<unknown>): Promise<StripError | null> =>
  asked.then(() => null, asError);
