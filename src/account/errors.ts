// Errors that the account itself finds, and what the service's errors mean for a command. All sentences are keys of the account's catalogue.
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

/** The error of what was asked, as a value; `null` where it succeeded. */
export const failureOf = (asked: Promise<unknown>): Promise<StripError | null> =>
  asked.then(
    () => null,
    (error: unknown) => {
      if (isStripError(error)) return error;
      throw error;
    },
  );

/** The service cannot be reached, does not answer, or answers that it cannot at the moment. */
export const isOutage = (error: unknown): error is StripError =>
  isStripError(error) && (error.retryable || error.code === 'UNREACHABLE');

/** Failures that mean the request never reached the service, or was turned away at its door. */
const NOT_SENT = /^UNREACHABLE\.(refused|dns|certificate\w*|tls|proxy|proxyRefused\w*|simulator)$/;

/** Codes of Node and undici that mean the same, in sentences that leave it open: no connection was made, to a proxy for instance. */
const NOT_CONNECTED = new Set<unknown>(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/** Whether a switch request that failed so may have been carried out all the same. */
export function mayBeCarriedOut({ code, sentence, params, retryable, results }: StripError): boolean {
  if (code === 'UNREACHABLE') return !NOT_SENT.test(sentence) && !NOT_CONNECTED.has(params.code);
  // A 4xx is a refusal; a 5xx may come after the outlet was switched.
  if (code === 'SERVICE') return retryable;
  if (code === 'SWITCH_FAILED') return results.length === 0 || results.some(({ ok }) => ok);
  return code === 'TIMEOUT' || code === 'BAD_RESPONSE' || code === 'CLOSED';
}
