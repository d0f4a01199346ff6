import type { StripError } from '../api/errors';

/** Milliseconds. */
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/** Longest wait asked for by the service that the account abides by. */
export const LONGEST_HOLD = HOUR;

/**
 * Full-jitter back-off: uniform between nothing and `base` doubled `failures` times, at most `cap`; so that many who failed
 * together do not come back together. Milliseconds; `random` in [0, 1).
 */
export function fullJitter(random: number, base: number, cap: number, failures: number): number {
  return random * Math.min(cap, base * 2 ** Math.min(failures, 30));
}

/** Failures that mean the request never reached the service, or was turned away at its door. */
const NOT_SENT = new Set([
  'UNREACHABLE.refused',
  'UNREACHABLE.dns',
  'UNREACHABLE.certificate',
  'UNREACHABLE.certificateExpired',
  'UNREACHABLE.certificateHost',
  'UNREACHABLE.certificateSelfSigned',
  'UNREACHABLE.tls',
  'UNREACHABLE.proxy',
]);

/** Whether a switch that failed so may have been carried out all the same. */
export function isUncertain(error: StripError): boolean {
  switch (error.code) {
    case 'TIMEOUT':
    case 'BAD_RESPONSE':
    case 'CLOSED':
      return true;
    case 'UNREACHABLE':
      return !NOT_SENT.has(error.sentence);
    case 'SERVICE':
      // A 4xx is a refusal; a 5xx may have come after the deed.
      return error.retryable;
    case 'SWITCH_FAILED':
      return error.results.length === 0 || error.results.some(({ ok }) => ok);
    case 'INVALID_INPUT':
    case 'NOT_CONFIGURED':
    case 'AUTH':
    case 'NOT_FOUND':
    case 'RATE_LIMITED':
    case 'SUPERSEDED':
    case 'PROTECTED':
    case 'BUSY':
      return false;
  }
}
