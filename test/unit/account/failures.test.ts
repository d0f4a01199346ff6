import assert from 'node:assert/strict';
import type { ErrorCode } from '../../../src/api/errors';
import { failure, listOf, MAC, NOT_SENT, yes, type FailureDetails } from '../../support/scripted-service';
import { startAccount } from './support';
import { watch } from './watching';

/** What a failed switch request means: whether it may have been carried out all the same, and whether the service is out of reach. */
interface Case {
  code: ErrorCode;
  sentence?: string;
  details?: FailureDetails;
  mayBeCarriedOut: boolean;
  isOutage: boolean;
}

const RETRYABLE = { retryable: true };
const no = { port: 1, ok: false };
const other = { port: 2, ok: true };

const CASES: readonly Case[] = [
  { code: 'TIMEOUT', sentence: 'deadline', mayBeCarriedOut: true, isOutage: true },
  {
    code: 'TIMEOUT',
    sentence: 'notSent',
    details: NOT_SENT,
    mayBeCarriedOut: false,
    isOutage: true,
  },
  { code: 'UNREACHABLE', sentence: 'reset', mayBeCarriedOut: true, isOutage: true },
  {
    code: 'UNREACHABLE',
    sentence: 'refused',
    details: NOT_SENT,
    mayBeCarriedOut: false,
    isOutage: true,
  },
  {
    code: 'UNREACHABLE',
    sentence: 'certificate',
    details: { retryable: false, notSent: true },
    mayBeCarriedOut: false,
    isOutage: true,
  },
  { code: 'SERVICE', sentence: 'failed', details: RETRYABLE, mayBeCarriedOut: true, isOutage: true },
  { code: 'SERVICE', sentence: 'refused', mayBeCarriedOut: false, isOutage: false },
  { code: 'SERVICE', sentence: 'inFront', mayBeCarriedOut: false, isOutage: false },
  { code: 'BAD_RESPONSE', sentence: 'html', mayBeCarriedOut: true, isOutage: false },
  ...[301, 307, 308, 302, 303].map((status) => ({
    code: 'BAD_RESPONSE' as const,
    sentence: 'redirect',
    details: { params: { code: String(status), status } },
    mayBeCarriedOut: status === 302 || status === 303,
    isOutage: false,
  })),
  { code: 'RATE_LIMITED', sentence: 'later', mayBeCarriedOut: false, isOutage: true },
  { code: 'AUTH', sentence: 'rejected', mayBeCarriedOut: false, isOutage: false },
  { code: 'NOT_FOUND', sentence: 'strip', mayBeCarriedOut: false, isOutage: false },
  { code: 'NOT_FOUND', sentence: 'address', mayBeCarriedOut: false, isOutage: false },
  { code: 'INVALID_INPUT', sentence: 'mac', mayBeCarriedOut: false, isOutage: false },
  { code: 'NOT_CONFIGURED', sentence: 'keyMissing', mayBeCarriedOut: false, isOutage: false },
  {
    code: 'SWITCH_FAILED',
    sentence: 'ports',
    details: { results: [no] },
    mayBeCarriedOut: false,
    isOutage: false,
  },
  {
    code: 'SWITCH_FAILED',
    sentence: 'some',
    details: { results: [no, other] },
    mayBeCarriedOut: true,
    isOutage: false,
  },
  {
    code: 'SWITCH_FAILED',
    sentence: 'unnamed',
    details: { params: { port: 1 } },
    mayBeCarriedOut: false,
    isOutage: false,
  },
  {
    code: 'SWITCH_FAILED',
    sentence: 'unnamed',
    details: { params: { port: 'all', code: 'all' } },
    mayBeCarriedOut: true,
    isOutage: false,
  },
];

describe('a switch request that failed', () => {
  for (const { code, sentence = 'test', details = {}, mayBeCarriedOut, isOutage } of CASES) {
    const detail = details.params?.code ?? details.results?.map(({ ok }) => (ok ? 'yes' : 'no')).join() ?? '';
    describe(`with ${code}.${sentence} ${detail}`.trim(), () => {
      const error = () => failure(code, details, sentence);

      it(`${mayBeCarriedOut ? 'brings' : 'does not bring'} the outlet of a cycle back on`, async () => {
        const { service, clock, run } = startAccount({ retryFor: 0 });
        service.autoList = () => Promise.resolve(listOf());
        const ending = run(1, 'cycle');
        await service.last.fail(error());
        assert.equal(ending.times, mayBeCarriedOut ? 0 : 1);
        await clock.pass(5000);
        assert.deepEqual(service.switchTexts, [`${MAC}/1 off`, ...(mayBeCarriedOut ? [`${MAC}/1 on`] : [])]);
        if (mayBeCarriedOut) await service.last.answer(yes());
        assert.equal(ending.error?.code, code);
        assert.equal(clock.pending, 0);
      });

      it(`${mayBeCarriedOut ? 'makes' : 'does not make'} the list be read again soon`, async () => {
        const lab = startAccount({ retryFor: 0 });
        lab.service.autoList = () => Promise.resolve(listOf());
        watch(lab);
        await lab.clock.pass(16_000);
        const lists = lab.service.lists.length;
        lab.run(1, true);
        await lab.service.last.fail(error());
        await lab.clock.pass(4000);
        assert.equal(lab.service.lists.length, lists + (mayBeCarriedOut ? 1 : 0));
      });

      it(`${isOutage ? 'lets' : 'does not let'} the newest of the waiting commands replace the others`, async () => {
        const { service, run } = startAccount({ retryFor: 0 });
        service.autoList = () => Promise.resolve(listOf());
        run(1, true);
        const waiting = [run(1, false), run(1, true)];
        await service.last.fail(error());
        assert.deepEqual(
          waiting.map((ending) => ending.error?.code),
          [isOutage ? 'SUPERSEDED' : undefined, undefined],
        );
        assert.deepEqual(service.switchTexts.slice(1), [`${MAC}/1 ${isOutage ? 'on' : 'off'}`]);
      });
    });
  }
});
