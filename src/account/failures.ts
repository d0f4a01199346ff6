import { StripError } from '../api/errors';
import type { PortOrAll } from '../api/types';

/** Errors the account itself finds; all sentences are keys of the account's catalogue. */
export const closed = (): StripError => new StripError('CLOSED', 'CLOSED.account');

/** The node that asked for a command was removed or redeployed. */
export const cancelled = (what: 'notSent' | 'sent' | 'cycle', mac: string, port: PortOrAll): StripError =>
  new StripError('CLOSED', `CLOSED.${what}`, { params: { mac, port } });

export const superseded = (mac: string, port: PortOrAll): StripError =>
  new StripError('SUPERSEDED', port === 'all' ? 'SUPERSEDED.all' : 'SUPERSEDED.outlet', {
    params: { mac, port },
  });

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
    {
      params: { mac, port },
      response,
    },
  );

/** A wait that the service asked for ends after the deadline. Both in milliseconds. */
export const tooLong = (error: StripError, wait: number, retryFor: number): StripError =>
  new StripError('RATE_LIMITED', 'RATE_LIMITED.deadline', {
    params: { ...error.params, seconds: Math.ceil(wait / 1000), limit: retryFor / 1000 },
    retryAfter: wait,
    response: error.response,
    cause: error,
  });
