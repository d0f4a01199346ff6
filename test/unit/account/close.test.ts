import assert from 'node:assert/strict';
import type { Change } from '../../../src/account/types';
import { calm } from '../../support/fake-clock';
import { failure, listOf, MAC, makeStrip, NOT_SENT, stripOf, yes } from '../../support/scripted-service';
import { startAccount } from './support';

const isClosed = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'CLOSED';

describe('closing an account', () => {
  it('ends waiting commands at once, and says how many that were', async () => {
    const { service, account, log, clock, run } = startAccount({ concurrency: 1 });
    const onWire = run(1, true);
    const waiting = [run(1, false), run(2, true), run('all', false), run(3, 'toggle'), run(4, 'cycle')];
    const closing = account.close();
    await calm();
    assert.ok(waiting.every(({ error }) => error?.sentenceKey === 'CLOSED.notSent'));
    assert.equal(onWire.times, 0);
    await service.last.answer(yes());
    assert.equal(await closing, 5);
    assert.equal(onWire.outcome?.on, true);
    assert.deepEqual(log.lines, []);
    assert.deepEqual(service.switchTexts, [`${MAC}/1 on`]);
    assert.equal(clock.pending, 0);
  });

  it('does not count again what ended before', async () => {
    const { account, service, clock, run } = startAccount({ retryFor: 0 });
    run(2, true);
    await service.last.fail(failure('UNREACHABLE'));
    const owner = {};
    run(1, true, { owner });
    void account.cancel(owner);
    const closing = account.close();
    await clock.pass(1000);
    assert.equal(await closing, 0);
  });

  it('ends reads at once, also while an outlet must still be switched on again', async () => {
    const { service, account, clock, run } = startAccount();
    run(1, 'cycle');
    await service.last.answer(yes());
    let ended = false;
    const reading = assert.rejects(account.list(), isClosed).then(() => (ended = true));
    const closing = account.close();
    await clock.pass(0);
    assert.ok(ended);
    await service.switches[1]?.answer(yes());
    await Promise.all([reading, closing]);
  });

  it('gives a switch that was sent one second, no more', async () => {
    const { account, clock, log, run } = startAccount();
    const hanging = run(1, true);
    const closing = account.close();
    await clock.pass(999);
    assert.equal(hanging.times, 0);
    await clock.pass(1);
    assert.equal(await closing, 1);
    // To send a toggle again that may have been carried out would undo it.
    assert.equal(hanging.error?.sentenceKey, 'CLOSED.sent');
    assert.deepEqual(log.lines, []);
    assert.equal(clock.pending, 0);
  });

  it('says of an "all" of several requests what it had switched, and nothing of those without an answer', async () => {
    const { service, account, clock, run } = startAccount({ protectedOutlets: [{ mac: MAC, port: 4 }] });
    const ending = run('all', false);
    await service.switches[0]?.answer(yes(1));
    const closing = account.close();
    await clock.pass(1000);
    await closing;
    assert.equal(ending.error?.code, 'CLOSED');
    assert.deepEqual(ending.error.results, [{ port: 1, ok: true }]);
  });

  it('does not retry a request that fails during the close', async () => {
    const { service, account, clock, run } = startAccount();
    const failing = [run(1, true), run(2, true), run(3, true)];
    const closing = account.close();
    await service.switches[0]?.fail(failure('UNREACHABLE'));
    await service.switches[1]?.fail(failure('UNREACHABLE', NOT_SENT, 'refused'));
    await service.switches[2]?.fail(failure('RATE_LIMITED', { retryAfter: 2000 }));
    await closing;
    assert.deepEqual(
      failing.map(({ error }) => error?.sentenceKey),
      ['CLOSED.sent', 'CLOSED.notSent', 'CLOSED.notSent'],
    );
    assert.equal(service.switches.length, 3);
    assert.equal(clock.pending, 0);
  });

  it('says what the service answered where this is a clear no', async () => {
    const { service, account, run } = startAccount();
    const refused = [run(1, true), run(2, true)];
    const closing = account.close();
    await service.switches[0]?.fail(failure('AUTH'));
    await service.switches[1]?.fail(failure('SWITCH_FAILED', { results: [{ port: 2, ok: false }] }));
    await closing;
    assert.deepEqual(
      refused.map(({ error }) => error?.code),
      ['AUTH', 'SWITCH_FAILED'],
    );
  });

  it('ends retries, reads, polls and waits for the service at once', async () => {
    const { service, account, clock, log, run } = startAccount({ concurrency: 2 });
    const changes: Change[] = [];
    account.subscribe((change) => changes.push(change));
    const retrying = run(1, true);
    await service.last.fail(failure('RATE_LIMITED', { retryAfter: 20_000 }));
    const held = run(2, true);
    const get = account.get(MAC);
    const list = account.list();
    const toggle = run(3, 'toggle');
    await calm();
    changes.length = 0;
    const closing = account.close();
    await assert.rejects(get, isClosed);
    await assert.rejects(list, isClosed);
    await closing;
    assert.deepEqual(
      [retrying, held, toggle].map(({ error }) => error?.code),
      ['CLOSED', 'CLOSED', 'CLOSED'],
    );
    assert.equal(clock.elapsed, 0);
    assert.equal(clock.pending, 0);
    assert.deepEqual(changes, []);
    assert.ok(!log.lines.some((line) => line.startsWith('failing')), 'the end of a poll is no outage');
  });

  it('does not let a toggle whose reading comes late switch', async () => {
    const { service, account, run } = startAccount();
    run(2, true);
    const toggle = run(1, 'toggle');
    const closing = account.close();
    await calm();
    assert.equal(toggle.error?.code, 'CLOSED');
    await service.gets[0]?.answer(stripOf(makeStrip(MAC, [true])));
    await service.last.answer(yes(2));
    await closing;
    assert.deepEqual(service.switchTexts, [`${MAC}/2 on`]);
  });

  it('refuses whatever comes afterwards, and may be repeated', async () => {
    const { account, service, log, clock, run } = startAccount();
    await Promise.all([account.close(), account.close()]);
    await account.close();
    const late = run(1, true);
    await assert.rejects(account.list(), isClosed);
    await assert.rejects(account.get(MAC), isClosed);
    assert.equal(late.error?.code, 'CLOSED');
    account.subscribe(() => undefined);
    await calm();
    assert.equal(service.all.length, 0);
    assert.equal(clock.pending, 0);
    assert.deepEqual(log.lines, []);
  });

  it('reports no change any more, not even a switch that still succeeded', async () => {
    const { service, account, clock, run } = startAccount();
    const told: unknown[] = [];
    account.subscribe((change) => told.push(change));
    await service.lists[0]?.answer(listOf(makeStrip(MAC, [false])));
    run(1, true);
    await service.last.fail(failure('RATE_LIMITED', { retryAfter: 1000 }));
    run(2, true);
    await clock.pass(1000);
    told.length = 0;
    const closing = account.close();
    for (const call of service.switches.slice(1)) await call.answer(yes(call.port));
    await closing;
    assert.deepEqual(told, []);
  });

  it('leaves no timer of a hundred accounts in full traffic', async () => {
    for (let round = 0; round < 100; round++) {
      const { service, account, clock, run } = startAccount({ concurrency: 3 });
      account.subscribe(() => undefined, 'all');
      const endings = [run(1, true), run(1, false), run('all', 'toggle'), run(2, 'toggle'), run(3, false)];
      await service.last.fail(failure('TIMEOUT'));
      if (round % 2 === 0) await service.lists[0]?.fail(failure('UNREACHABLE'));
      if (round % 3 === 0) await clock.pass(round * 10);
      const closing = account.close();
      await clock.pass(1000);
      await closing;
      assert.ok(endings.every(({ times }) => times === 1));
      assert.equal(clock.pending, 0);
    }
  });
});

describe('closing an account in the middle of a cycle', () => {
  it('sends the on at once, and the cycle is complete', async () => {
    const { service, account, clock, log, run } = startAccount();
    const cycle = run(1, 'cycle');
    await service.last.answer(yes());
    const closing = account.close();
    await calm();
    assert.deepEqual(service.switchTexts, [`${MAC}/1 off`, `${MAC}/1 on`]);
    assert.equal(service.closed, false);
    await service.last.answer(yes());
    await closing;
    assert.equal(cycle.outcome?.on, true);
    assert.deepEqual(log.lines, []);
    assert.equal(clock.pending, 0);
  });

  it('gives other switches that were sent one second in all, not one after the cycle', async () => {
    const { service, account, clock, run } = startAccount();
    run(1, 'cycle');
    await service.last.answer(yes());
    const hanging = run(2, true);
    const closing = account.close();
    await clock.pass(999);
    assert.equal(hanging.times, 0);
    await clock.pass(1);
    assert.equal(hanging.error?.sentenceKey, 'CLOSED.sent');
    await clock.pass(2000);
    assert.equal(service.closed, false);
    await service.last.answer(yes());
    await closing;
    assert.ok(service.closed);
  });

  it('tries the on again for five seconds, then names the outlet', async () => {
    const { service, account, clock, log, run } = startAccount();
    const cycle = run(1, 'cycle');
    await service.last.answer(yes());
    service.autoSwitch = () => Promise.reject(failure('UNREACHABLE'));
    const closing = account.close();
    await clock.pass(4999);
    assert.equal(cycle.times, 0);
    assert.ok(service.switches.length > 5);
    await clock.pass(1);
    await closing;
    assert.equal(cycle.error?.code, 'CLOSED');
    assert.equal(cycle.error.sentenceKey, 'CLOSED.sent');
    assert.deepEqual(log.lines, ['retrying UNREACHABLE', `not restored ${MAC}/1 UNREACHABLE`]);
    assert.equal(clock.pending, 0);
  });

  it('names the outlet also where a newer on had taken over', async () => {
    const { service, account, clock, log, run } = startAccount();
    run(1, 'cycle');
    await service.last.answer(yes());
    service.autoSwitch = () => Promise.reject(failure('UNREACHABLE'));
    await clock.pass(5000);
    const on = run(1, true);
    await clock.pass(0);
    const closing = account.close();
    await clock.pass(5000);
    await closing;
    assert.equal(on.error?.sentenceKey, 'CLOSED.sent');
    assert.deepEqual(log.lines, ['retrying UNREACHABLE', `not restored ${MAC}/1 UNREACHABLE`]);
    assert.equal(clock.pending, 0);
  });

  it('sends the on of a newer command that has just taken over, and tells both messages', async () => {
    const { service, account, clock, run } = startAccount();
    const cycle = run(1, 'cycle');
    await service.last.answer(yes());
    service.autoSwitch = () => Promise.reject(failure('UNREACHABLE'));
    await clock.pass(5000);
    service.autoSwitch = () => Promise.resolve(yes());
    const on = run(1, true);
    const closing = account.close();
    await clock.pass(0);
    await closing;
    assert.deepEqual(service.switchTexts.slice(-1), [`${MAC}/1 on`]);
    assert.equal(cycle.error?.code, 'SUPERSEDED');
    assert.equal(on.outcome?.on, true);
    assert.equal(clock.pending, 0);
  });

  it('sends the on also while the service asks for a pause', async () => {
    const { service, account, clock, run } = startAccount();
    const cycle = run(1, 'cycle');
    run(2, true);
    await service.last.fail(failure('RATE_LIMITED', { retryAfter: 20_000 }));
    const closing = account.close();
    await service.switches[0]?.answer(yes());
    assert.deepEqual(service.switchTexts.slice(2), [`${MAC}/1 on`]);
    await service.last.answer(yes());
    await closing;
    assert.equal(cycle.outcome?.on, true);
    assert.equal(clock.pending, 0);
  });

  it('sends the on again if the one under way is given up, for five seconds in all', async () => {
    const { service, account, clock, log, run } = startAccount();
    const cycle = run(1, 'cycle');
    await service.last.answer(yes());
    await clock.pass(5000);
    const closing = account.close();
    // Its connection was not made yet.
    await service.last.fail(failure('CLOSED', NOT_SENT));
    await clock.pass(1000);
    assert.deepEqual(service.switchTexts.slice(1), [`${MAC}/1 on`, `${MAC}/1 on`]);
    await clock.pass(4000);
    await closing;
    assert.equal(cycle.error?.code, 'CLOSED');
    assert.deepEqual(log.lines, [`not restored ${MAC}/1 CLOSED`]);
    assert.equal(clock.pending, 0);
  });

  it('logs why the on failed before, if the one under way is given up', async () => {
    const { service, account, clock, log, run } = startAccount();
    run(1, 'cycle');
    await service.last.answer(yes());
    await clock.pass(5000);
    await service.last.fail(failure('TIMEOUT'));
    await clock.pass(1000);
    const closing = account.close();
    await service.last.fail(failure('CLOSED'));
    await clock.pass(5000);
    await closing;
    assert.deepEqual(log.lines, ['retrying TIMEOUT', `not restored ${MAC}/1 TIMEOUT`]);
  });

  it('gives up an on that hangs', async () => {
    const { service, account, clock, log, run } = startAccount();
    const cycle = run(1, 'cycle');
    await service.last.answer(yes());
    const closing = account.close();
    await clock.pass(5000);
    await closing;
    assert.equal(cycle.error?.code, 'CLOSED');
    assert.deepEqual(log.lines, [`not restored ${MAC}/1 CLOSED`]);
    assert.equal(clock.pending, 0);
  });

  it('waits for the answer to an off that was sent', async () => {
    const { service, account, run } = startAccount();
    const cycle = run(1, 'cycle');
    const closing = account.close();
    await calm();
    assert.deepEqual(service.switchTexts, [`${MAC}/1 off`]);
    await service.last.answer(yes());
    assert.deepEqual(service.switchTexts, [`${MAC}/1 off`, `${MAC}/1 on`]);
    await service.last.answer(yes());
    await closing;
    assert.equal(cycle.outcome?.on, true);
  });

  it('does not wait for an off that hangs longer than a second', async () => {
    const { service, account, clock, run } = startAccount();
    const cycle = run(1, 'cycle');
    const closing = account.close();
    await clock.pass(1000);
    assert.deepEqual(service.switchTexts, [`${MAC}/1 off`, `${MAC}/1 on`]);
    await service.last.answer(yes());
    await closing;
    assert.equal(cycle.error?.code, 'CLOSED');
    assert.equal(clock.pending, 0);
  });

  it('does not send the off again that it gave up, while the on is still tried', async () => {
    const { service, account, clock, run } = startAccount();
    run(1, 'cycle');
    const closing = account.close();
    await clock.pass(1000);
    const [off] = service.switches;
    await off?.fail(failure('UNREACHABLE'));
    await clock.pass(2000);
    assert.deepEqual(service.switchTexts, [`${MAC}/1 off`, `${MAC}/1 on`]);
    await service.last.answer(yes());
    await clock.pass(0);
    await closing;
    assert.equal(clock.pending, 0);
  });

  it('cuts short the wait between two attempts at the on', async () => {
    const { service, account, clock, run } = startAccount();
    const cycle = run(1, 'cycle');
    await service.last.answer(yes());
    await clock.pass(5000);
    await service.last.fail(failure('AUTH'));
    const closing = account.close();
    await calm();
    await service.last.answer(yes());
    await closing;
    assert.equal(cycle.outcome?.on, true);
    assert.equal(service.switches.length, 3);
  });

  it('sends an on although the concurrency limit is reached', async () => {
    const { service, account, clock, run } = startAccount({ concurrency: 1 });
    run(1, 'cycle');
    await service.last.answer(yes());
    const hanging = run(2, true);
    await clock.pass(5000);
    assert.deepEqual(service.switchTexts, [`${MAC}/1 off`, `${MAC}/2 on`]);
    const closing = account.close();
    await calm();
    assert.deepEqual(service.switchTexts.slice(2), [`${MAC}/1 on`]);
    await service.last.answer(yes());
    await clock.pass(1000);
    await closing;
    assert.equal(hanging.error?.code, 'CLOSED');
  });

  it('retries that on, too, although the limit is still reached', async () => {
    const { service, account, clock, run } = startAccount({ concurrency: 1 });
    const cycle = run(1, 'cycle');
    await service.last.answer(yes());
    run(2, true);
    const closing = account.close();
    await calm();
    await service.last.fail(failure('UNREACHABLE'));
    await clock.pass(500);
    assert.deepEqual(service.switchTexts.slice(2), [`${MAC}/1 on`, `${MAC}/1 on`]);
    await service.last.answer(yes());
    assert.equal(cycle.outcome?.on, true);
    await clock.pass(1000);
    await closing;
  });

  it('sends no on where the off was given up before it was sent', async () => {
    const { service, account, clock, run } = startAccount();
    const cycle = run(1, 'cycle');
    const closing = account.close();
    await service.last.fail(failure('CLOSED', NOT_SENT));
    await closing;
    assert.equal(cycle.error?.sentenceKey, 'CLOSED.notSent');
    assert.equal(service.switches.length, 1);
    assert.equal(clock.pending, 0);
  });

  it('sends no on where the off was never sent', async () => {
    const { service, account, clock, run } = startAccount();
    const cycle = run(1, 'cycle');
    await service.last.fail(failure('UNREACHABLE', NOT_SENT, 'refused'));
    await account.close();
    assert.equal(cycle.error?.code, 'CLOSED');
    assert.equal(service.switches.length, 1);
    assert.equal(clock.pending, 0);
  });

  describe('in the middle of the off of a cycle of several outlets', () => {
    const protectedOutlets = [{ mac: MAC, port: 4 as const }];

    it('brings back on only what may have been switched off', async () => {
      const { service, clock, run, account } = startAccount({ protectedOutlets, concurrency: 1 });
      run('all', 'cycle');
      assert.deepEqual(service.switchTexts, [`${MAC}/1 off`]);
      void account.close();
      await clock.pass(1500);
      assert.deepEqual(service.switchTexts, [`${MAC}/1 off`, `${MAC}/1 on`]);
    });

    it('gives the reason why an outlet stayed off, not that another was given up', async () => {
      const { service, clock, run, account, log } = startAccount({ protectedOutlets });
      const cycle = run('all', 'cycle');
      for (const call of [...service.switches]) await call.answer(yes(call.port));
      const closing = account.close();
      await calm();
      service.autoSwitch = () => Promise.reject(failure('AUTH'));
      await service.switches[4]?.fail(failure('AUTH'));
      await clock.pass(5000);
      await closing;
      assert.equal(cycle.error?.code, 'CLOSED');
      assert.deepEqual(log.lines, ['retrying AUTH', `not restored ${MAC}/all AUTH`]);
    });

    it('leaves alone what the service refused to switch off', async () => {
      const { service, clock, run, account } = startAccount({ protectedOutlets });
      run('all', 'cycle');
      await service.switches[1]?.fail(failure('SWITCH_FAILED', { results: [{ port: 2, ok: false }] }));
      void account.close();
      await clock.pass(1500);
      assert.deepEqual(service.switchTexts.slice(3).toSorted(), [`${MAC}/1 on`, `${MAC}/3 on`]);
    });
  });
});
