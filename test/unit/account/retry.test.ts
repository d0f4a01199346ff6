import assert from 'node:assert/strict';
import type { ErrorCode } from '../../../src/api/errors';
import { calm } from '../../support/fake-clock';
import {
  failure,
  listOf,
  MAC,
  NOT_SENT,
  OTHER,
  yes,
  type FailureDetails,
} from '../../support/scripted-service';
import { startAccount } from './support';

const cases = (...list: [ErrorCode, FailureDetails][]): [ErrorCode, FailureDetails][] => list;

describe('a command that fails', () => {
  for (const [code, details] of cases(
    ['UNREACHABLE', {}],
    ['TIMEOUT', {}],
    ['RATE_LIMITED', {}],
    ['SERVICE', { retryable: true }],
  )) {
    it(`is retried after ${code}, and reports it`, async () => {
      const { service, clock, run } = startAccount();
      const ending = run(1, true);
      await service.last.fail(failure(code, details));
      assert.deepEqual(ending.progress, [code]);
      await clock.pass(249);
      assert.equal(service.switches.length, 1);
      await clock.pass(1);
      assert.equal(service.switches.length, 2);
      await service.last.answer(yes());
      assert.equal(ending.outcome?.on, true);
      assert.equal(clock.pending, 0);
    });
  }

  for (const [code, details] of cases(
    ['AUTH', {}],
    ['NOT_FOUND', {}],
    ['INVALID_INPUT', {}],
    ['BAD_RESPONSE', {}],
    ['SWITCH_FAILED', { results: [{ port: 1, ok: false }] }],
    ['SERVICE', { retryable: false }],
    ['UNREACHABLE', { retryable: false }],
  )) {
    it(`is not tried again after ${code}${'retryable' in details ? ' that lasts' : ''}`, async () => {
      const { service, clock, run } = startAccount();
      service.autoList = () => Promise.resolve(listOf());
      const ending = run(1, true);
      await service.last.fail(failure(code, details));
      assert.equal(ending.error?.code, code);
      assert.equal(service.switches.length, 1);
      assert.equal(clock.pending, 0);
    });
  }

  it('does not say that it could not be sent where an earlier attempt may have been', async () => {
    for (const [first, sentence] of [
      [failure('TIMEOUT'), 'TIMEOUT.deadline'],
      [failure('UNREACHABLE', NOT_SENT), 'TIMEOUT.notSent'],
    ] as const) {
      const { service, clock, run } = startAccount({ retryFor: 1000 });
      const ending = run(1, true);
      await service.last.fail(first);
      await clock.pass(1000);
      assert.equal(service.switches.length, 2);
      await clock.pass(1000);
      await service.last.fail(failure('TIMEOUT', NOT_SENT, 'notSent'));
      assert.equal(ending.error?.sentenceKey, sentence);
    }
  });

  it('waits longer after each failure, at random, at most ten seconds', async () => {
    const { service, clock, run } = startAccount({ retryFor: 100_000 });
    clock.random = () => 1;
    run(1, true);
    for (const wait of [500, 1000, 2000, 4000, 8000, 10_000, 10_000]) {
      const before = service.switches.length;
      await service.last.fail(failure('TIMEOUT'));
      await clock.pass(wait - 1);
      assert.equal(service.switches.length, before, `before ${wait}`);
      await clock.pass(1);
      assert.equal(service.switches.length, before + 1, `after ${wait}`);
    }
  });

  it('makes its last attempt at the deadline, and gives up with the error itself', async () => {
    const { service, clock, run } = startAccount({ retryFor: 2000 });
    service.autoSwitch = () => Promise.reject(failure('UNREACHABLE'));
    const ending = run(1, true);
    await clock.pass(10_000);
    assert.equal(ending.error?.code, 'UNREACHABLE');
    assert.deepEqual(
      service.switches.map(({ at }) => at),
      [0, 250, 750, 1750, 2000],
    );
    assert.equal(clock.pending, 0);
  });

  it('counts the deadline from the latest answer, not from when it was asked', async () => {
    const { service, clock, run } = startAccount({ retryFor: 2000 });
    run(1, true);
    const second = run(1, false);
    await clock.pass(9_000);
    await service.last.answer(yes());
    await service.last.fail(failure('TIMEOUT'));
    await clock.pass(250);
    await service.last.fail(failure('TIMEOUT'));
    await clock.pass(500);
    await service.last.answer(yes());
    assert.equal(second.outcome?.on, false);
  });

  it('makes its last attempt although the timer for it is late', async () => {
    const { service, clock, run } = startAccount({ retryFor: 2000, timeout: 2000 });
    service.autoSwitch = () => Promise.reject(failure('UNREACHABLE'));
    const ending = run(1, true);
    await clock.pass(1800);
    clock.block(700);
    await clock.pass(0);
    assert.deepEqual(
      service.switches.map(({ at }) => at),
      [0, 250, 750, 1750, 2500],
    );
    assert.equal(ending.error?.code, 'UNREACHABLE');
  });

  it('does not wait longer because commands to other outlets succeed', async () => {
    const { service, clock, run } = startAccount();
    service.autoSwitch = (_, port) =>
      port === 1 ? Promise.reject(failure('TIMEOUT')) : Promise.resolve(yes(port));
    const ending = run(1, true);
    for (let second = 0; second < 31; second++) {
      run(2, true);
      await clock.pass(1000);
    }
    assert.equal(ending.error?.code, 'TIMEOUT');
    assert.equal(service.switches.filter(({ port }) => port === 1).at(-1)?.at, 30_000);
  });

  it('with a no after an attempt that may have been carried out keeps what the service said', async () => {
    const { service, clock, run } = startAccount();
    const ending = run(1, true);
    await service.last.fail(failure('TIMEOUT'));
    await clock.pass(1000);
    const said = { results: [{ port: 1, ok: false }] } as const;
    await service.last.fail(failure('SWITCH_FAILED', { results: [...said.results], response: said }));
    assert.equal(ending.error?.sentenceKey, 'SWITCH_FAILED.repeated');
    assert.deepEqual(ending.error.results, said.results);
    assert.deepEqual(ending.error.response, said);
  });

  it('is not retried where the account says never', async () => {
    const { service, clock, run } = startAccount({ retryFor: 0 });
    const ending = run(1, true);
    await service.last.fail(failure('TIMEOUT'));
    assert.equal(ending.error?.code, 'TIMEOUT');
    assert.equal(clock.pending, 0);
  });

  it('is not affected by a wall clock that is put back', async () => {
    const { service, clock, run } = startAccount();
    const ending = run(1, true);
    await service.last.fail(failure('TIMEOUT'));
    clock.jump = -86_400_000;
    await clock.pass(250);
    await service.last.fail(failure('TIMEOUT'));
    await clock.pass(500);
    await service.last.answer(yes());
    assert.equal(ending.outcome?.on, true);
  });
});

describe('a rate limit', () => {
  it('is waited for as long as the service asks', async () => {
    const { service, clock, run } = startAccount();
    const ending = run(1, true);
    await service.last.fail(failure('RATE_LIMITED', { retryAfter: 7000 }));
    await clock.pass(6999);
    assert.equal(service.switches.length, 1);
    await clock.pass(1);
    await service.last.answer(yes());
    assert.equal(ending.outcome?.on, true);
  });

  it('holds the other commands and reads of the account as well', async () => {
    const { service, account, clock, run } = startAccount();
    run(1, true);
    await service.last.fail(failure('RATE_LIMITED', { retryAfter: 7000 }));
    const other = run(2, true, { mac: OTHER });
    const list = account.list();
    await clock.pass(6999);
    assert.deepEqual(service.texts, [`${MAC}/1 on`]);
    assert.deepEqual(other.progress, ['RATE_LIMITED']);
    await clock.pass(1);
    assert.deepEqual(service.texts.slice(1).sort(), [`${MAC}/1 on`, `${OTHER}/2 on`, 'list '].sort());
    await service.lists[0]?.answer(listOf());
    await list;
  });

  it('that passes the deadline fails the command at once, in a sentence that says so', async () => {
    const { service, clock, run } = startAccount();
    const ending = run(1, true);
    const details = { retryAfter: 86_400_000, response: 'slow down', params: { host: 'h' } };
    await service.last.fail(failure('RATE_LIMITED', details));
    assert.equal(ending.error?.code, 'RATE_LIMITED');
    assert.equal(ending.error.sentenceKey, 'RATE_LIMITED.deadline');
    assert.deepEqual(ending.error.params, { host: 'h', seconds: 86_400, limit: 30 });
    assert.equal(ending.error.response, 'slow down');
    assert.equal(clock.pending, 0);
  });

  it('that passes the deadline only because much time is over does not call the pause longer than the account waits', async () => {
    const { service, clock, run } = startAccount();
    const ending = run(1, true);
    for (let attempt = 0; attempt < 2; attempt++) {
      await service.last.fail(
        failure('RATE_LIMITED', { retryAfter: 20_000, params: { host: 'h' } }, 'seconds'),
      );
      await clock.pass(20_000);
    }
    assert.equal(ending.error?.sentenceKey, 'RATE_LIMITED.seconds');
    assert.equal(ending.error.params.seconds, 20);
  });

  it('that names no time and comes after the deadline fails the command with its own sentence', async () => {
    const { service, clock, run } = startAccount({ retryFor: 2000 });
    const ending = run(1, true);
    await clock.pass(3000);
    await service.last.fail(failure('RATE_LIMITED', {}, 'later'));
    assert.equal(ending.error?.sentenceKey, 'RATE_LIMITED.later');
  });

  it('that no command could outlast does not keep the next one from trying, whose success ends it', async () => {
    const { service, clock, account, run } = startAccount();
    run(1, true);
    await service.last.fail(failure('RATE_LIMITED', { retryAfter: 86_400_000 }));
    await clock.pass(10);
    const next = run(1, false);
    await calm();
    assert.equal(service.switches.length, 2);
    await service.last.answer(yes());
    assert.equal(next.outcome?.on, false);
    await calm();
    // So near its end it would be waited out, were it not over.
    await clock.pass(3_600_000 - 10_000);
    const list = account.list();
    assert.equal(service.lists.length, 1);
    await service.lists[0]?.answer(listOf());
    await list;
  });

  it('is over when the machine slept until its end, and not because the wall clock is put back', async () => {
    const { service, clock, account, run } = startAccount();
    run(1, true);
    await service.last.fail(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    clock.jump -= 3_600_000;
    await assert.rejects(account.list());
    clock.jump += 3_600_000 + 600_000;
    assert.equal(account.status().cooldownUntil, null);
    const list = account.list();
    await service.lists[0]?.answer(listOf());
    await list;
  });

  it('is not over because a request that was sent before it succeeds', async () => {
    const { service, clock, run } = startAccount();
    run(1, true);
    run(2, true);
    await clock.pass(100);
    await service.switches[0]?.fail(failure('RATE_LIMITED', { retryAfter: 7000 }));
    await service.switches[1]?.answer(yes(2));
    run(3, true);
    await clock.pass(6999);
    assert.equal(service.switches.length, 2);
    await clock.pass(1);
    assert.equal(service.switches.length, 4);
  });

  it('of a service that is down (503) is waited for by the command alone', async () => {
    const { service, clock, run } = startAccount();
    run(1, true);
    await service.last.fail(failure('SERVICE', { retryable: true, retryAfter: 5000 }));
    run(2, true);
    assert.deepEqual(service.switchTexts, [`${MAC}/1 on`, `${MAC}/2 on`]);
    await clock.pass(4999);
    assert.equal(service.switches.length, 2);
    await clock.pass(1);
    assert.equal(service.switches.length, 3);
  });
});
