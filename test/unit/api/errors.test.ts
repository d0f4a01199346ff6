import assert from 'node:assert/strict';
import {
  asError,
  asNotSent,
  isOutage,
  isRefusal,
  isUnknownStrip,
  mayBeCarriedOut,
} from '../../../src/api/errors';
import type { SwitchResult } from '../../../src/api/types';
import { failure, NOT_SENT } from '../../support/scripted-service';

const repeated = failure('AUTH');
repeated.isOfRepeat = true;
const redirect = (status: number) => failure('BAD_RESPONSE', { params: { status } });
const partly = (port: number | 'all', ...ok: boolean[]) => {
  const results: SwitchResult[] = ok.map((each, index) => ({ port: index + 1, ok: each }));
  return failure('SWITCH_FAILED', { params: { port }, results });
};

describe('a switch that failed', () => {
  for (const [what, error, means] of [
    ['TIMEOUT', failure('TIMEOUT'), ['retried', 'outage', 'may be carried out']],
    ['TIMEOUT before it was sent', failure('TIMEOUT', NOT_SENT), ['retried', 'outage']],
    ['UNREACHABLE', failure('UNREACHABLE'), ['retried', 'outage', 'may be carried out']],
    ['UNREACHABLE that lasts', failure('UNREACHABLE', { ...NOT_SENT, retryable: false }), ['outage']],
    ['RATE_LIMITED', failure('RATE_LIMITED'), ['retried', 'outage']],
    [
      'SERVICE that may pass',
      failure('SERVICE', { retryable: true }),
      ['retried', 'outage', 'may be carried out'],
    ],
    ['SERVICE that lasts', failure('SERVICE'), ['refusal']],
    ['AUTH', failure('AUTH'), ['refusal']],
    ['AUTH of a request that was repeated', repeated, ['may be carried out']],
    ['NOT_FOUND', failure('NOT_FOUND'), ['refusal']],
    ['an answer that cannot be read', redirect(200), ['may be carried out']],
    ['the status 303', redirect(303), ['may be carried out']],
    ['the status 307, after which it would be sent elsewhere', redirect(307), ['refusal']],
    ['SWITCH_FAILED without results', partly(1), ['refusal']],
    ['SWITCH_FAILED of all without results', partly('all'), ['may be carried out']],
    ['SWITCH_FAILED of all outlets', partly('all', false, false), ['refusal']],
    ['SWITCH_FAILED of some outlets', partly('all', true, false), ['may be carried out']],
    ['CLOSED', failure('CLOSED'), ['may be carried out']],
    ['CLOSED before it was sent', failure('CLOSED', NOT_SENT), []],
  ] as const) {
    it(`with ${what}: ${means.join(', ') || 'neither outage nor refusal'}`, () => {
      const found = [
        error.retryable && 'retried',
        isOutage(error) && 'outage',
        mayBeCarriedOut(error) && 'may be carried out',
        isRefusal(error) && 'refusal',
      ];
      assert.deepEqual(found.filter(Boolean), means);
    });
  }
});

describe('an error', () => {
  it('says that the service does not know a strip, unless it is about the address', () => {
    const errors = [
      failure('NOT_FOUND', {}, 'strip'),
      failure('NOT_FOUND', {}, 'address'),
      failure('AUTH'),
      new Error('x'),
    ];
    assert.deepEqual(errors.map(isUnknownStrip), [true, false, false, false]);
  });

  it('for a command that was not sent because of another says the same, but not that it may be carried out', () => {
    const details = { retryAfter: 5000, response: { error: 'busy' }, retryable: true };
    const error = failure('SERVICE', { params: { status: 503 }, ...details }, 'failed');
    const notSent = asNotSent(error);
    assert.deepEqual(
      notSent,
      failure('SERVICE', { params: { status: 503 }, ...details, ...NOT_SENT, cause: error }, 'failed'),
    );
    assert.equal(mayBeCarriedOut(notSent), false);
  });

  it('that is none of these is a defect, and is thrown again', () => {
    assert.throws(() => asError(new TypeError('x')), TypeError);
  });
});
