import assert from 'node:assert/strict';
import { failure, listOf, MAC, NOT_SENT, yes } from '../../support/scripted-service';
import { startAccount } from './support';

const OFF = `${MAC}/1 off`;
const ON = `${MAC}/1 on`;

describe('a cycle', () => {
  it('switches off, waits, and switches on', async () => {
    const { service, clock, run } = startAccount();
    const ending = run(1, 'cycle', { delay: 3000 });
    assert.deepEqual(service.switchTexts, [OFF]);
    await service.last.answer(yes());
    assert.deepEqual(ending.progress, ['pausing']);
    await clock.pass(2999);
    assert.deepEqual(service.switchTexts, [OFF]);
    await clock.pass(1);
    assert.deepEqual(service.switchTexts, [OFF, ON]);
    assert.equal(ending.times, 0);
    await service.last.answer(yes());
    assert.equal(ending.outcome?.on, true);
    assert.deepEqual(ending.outcome.results, [{ port: 1, ok: true }]);
    assert.deepEqual(ending.outcome.response, yes().response);
    assert.ok(!('skipped' in ending.outcome));
    assert.equal(clock.pending, 0);
  });

  it('keeps its place in the command queue until the outlet is on again', async () => {
    const { service, clock, run } = startAccount();
    run(1, 'cycle');
    run(1, false);
    await service.last.answer(yes());
    await clock.pass(5000);
    assert.deepEqual(service.switchTexts, [OFF, ON]);
    await service.last.answer(yes());
    assert.deepEqual(service.switchTexts, [OFF, ON, OFF]);
  });

  it('retries the on without a deadline, through whatever the service answers', async () => {
    const { service, clock, run } = startAccount({ retryFor: 1000 });
    service.autoList = () => Promise.resolve(listOf());
    const ending = run(1, 'cycle');
    await service.last.answer(yes());
    await clock.pass(5000);
    for (const code of [
      'TIMEOUT',
      'AUTH',
      'NOT_FOUND',
      'SWITCH_FAILED',
      'BAD_RESPONSE',
      'RATE_LIMITED',
    ] as const) {
      const before = service.switches.length;
      await service.last.fail(failure(code));
      await clock.pass(60_000);
      assert.equal(service.switches.length, before + 1, code);
    }
    assert.equal(ending.times, 0);
    await service.last.answer(yes());
    assert.equal(ending.outcome?.on, true);
  });

  it('tries the on within ten seconds during an outage, and once a minute where the service refuses', async () => {
    const { service, clock, run } = startAccount();
    clock.random = () => 1;
    service.autoSwitch = (_, __, on) =>
      on ? Promise.reject(failure('UNREACHABLE')) : Promise.resolve(yes());
    run(1, 'cycle');
    await clock.pass(300_000);
    const last = service.switches.slice(-2).map(({ at }) => at);
    assert.equal((last[1] ?? 0) - (last[0] ?? 0), 10_000);
    service.autoSwitch = () => Promise.reject(failure('AUTH'));
    await clock.pass(600_000);
    const slow = service.switches.slice(-2).map(({ at }) => at);
    assert.equal((slow[1] ?? 0) - (slow[0] ?? 0), 60_000);
  });

  it('sends the on at its time, though the service asked others for a pause', async () => {
    const { service, clock, run } = startAccount();
    run(1, 'cycle');
    await service.last.answer(yes());
    await clock.pass(1000);
    run(2, true);
    await service.last.fail(failure('RATE_LIMITED', { retryAfter: 20_000 }));
    await clock.pass(4000);
    assert.deepEqual(service.switchTexts.slice(2), [ON]);
  });

  it('waits as long as the service asks when it refuses the on, one minute at most', async () => {
    const { service, clock, run } = startAccount();
    run(1, 'cycle');
    await service.last.answer(yes());
    await clock.pass(5000);
    for (const [retryAfter, waited] of [
      [20_000, 20_000],
      [600_000, 60_000],
    ] as const) {
      const before = service.switches.length;
      await service.last.fail(failure('RATE_LIMITED', { retryAfter }));
      await clock.pass(waited - 1);
      assert.equal(service.switches.length, before);
      await clock.pass(1);
      assert.equal(service.switches.length, before + 1);
    }
  });

  it('is not replaced once its off may have been sent', async () => {
    const { service, clock, run } = startAccount();
    const cycle = run(1, 'cycle');
    await service.last.fail(failure('TIMEOUT'));
    const waiting = run(1, false);
    const newer = run(1, true);
    await clock.pass(250);
    assert.equal(waiting.error?.code, 'SUPERSEDED');
    assert.deepEqual([cycle.times, newer.times], [0, 0]);
    await service.last.answer(yes());
    await clock.pass(5000);
    await service.last.answer(yes());
    assert.equal(cycle.outcome?.on, true);
    await service.last.answer(yes());
    assert.equal(newer.outcome?.on, true);
    assert.deepEqual(service.switchTexts, [OFF, OFF, ON, ON]);
  });

  it('that waits is replaced like any other command', async () => {
    const { service, clock, run } = startAccount();
    run(1, true);
    const cycle = run(1, 'cycle');
    await service.last.fail(failure('TIMEOUT'));
    run(1, true);
    await clock.pass(0);
    assert.equal(cycle.error?.code, 'SUPERSEDED');
  });

  it('whose off was never sent sends no on', async () => {
    const { service, clock, run } = startAccount({ retryFor: 2000 });
    service.autoSwitch = () => Promise.reject(failure('UNREACHABLE', NOT_SENT, 'refused'));
    const ending = run(1, 'cycle');
    await clock.pass(10_000);
    assert.equal(ending.error?.code, 'UNREACHABLE');
    assert.ok(service.switches.every(({ on }) => !on));
  });

  it('whose off may have been carried out switches on after its delay, then fails', async () => {
    const { service, clock, run } = startAccount({ retryFor: 0 });
    const ending = run(1, 'cycle');
    await service.last.fail(failure('TIMEOUT'));
    await clock.pass(4999);
    assert.deepEqual(service.switchTexts, [OFF]);
    await clock.pass(1);
    assert.deepEqual(service.switchTexts, [OFF, ON]);
    assert.equal(ending.times, 0);
    await service.last.fail(failure('UNREACHABLE', NOT_SENT, 'refused'));
    await clock.pass(250);
    await service.last.answer(yes());
    assert.equal(ending.error?.code, 'TIMEOUT');
    assert.equal(clock.pending, 0);
  });

  it('whose off failed lets only the newest on or off behind its delay go out, without retries, too', async () => {
    const { clock, service, run } = startAccount({ retryFor: 0 });
    run(1, 'cycle', { delay: 20_000 });
    await service.last.fail(failure('TIMEOUT'));
    const older = run(1, true);
    await clock.pass(5000);
    run(1, false);
    await clock.pass(0);
    assert.equal(older.error?.code, 'SUPERSEDED');
    await clock.pass(15_000);
    assert.deepEqual(service.switchTexts.slice(1), [`${MAC}/1 on`]);
    await service.last.answer(yes());
    assert.deepEqual(service.switchTexts.slice(2), [`${MAC}/1 off`]);
  });

  it('of all sends two requests where nothing is protected', async () => {
    const { service, clock, run } = startAccount();
    const ending = run('all', 'cycle');
    await service.last.answer(yes('all'));
    await clock.pass(5000);
    await service.last.answer(yes('all'));
    assert.deepEqual(service.switchTexts, [`${MAC}/all off`, `${MAC}/all on`]);
    assert.deepEqual(ending.outcome?.response, yes('all').response);
  });

  it('of all of which some outlets failed to go off switches all on again, and names the failure', async () => {
    const { service, clock, run } = startAccount();
    const ending = run('all', 'cycle');
    const results = [1, 2, 3, 4].map((port) => ({ port, ok: port < 3 }));
    await service.last.fail(failure('SWITCH_FAILED', { results }));
    await clock.pass(5000);
    await service.last.answer(yes('all'));
    assert.deepEqual(service.switchTexts, [`${MAC}/all off`, `${MAC}/all on`]);
    assert.equal(ending.error?.code, 'SWITCH_FAILED');
    assert.deepEqual(ending.error.results, results);
  });

  it('of all cycles the other outlets where one is protected', async () => {
    const { service, clock, run } = startAccount({ protectedOutlets: [{ mac: MAC, port: 4 }] });
    const ending = run('all', 'cycle');
    for (const call of service.switches.slice()) await call.answer(yes(call.port));
    await clock.pass(5000);
    for (const call of service.switches.slice(3)) await call.answer(yes(call.port));
    assert.deepEqual(
      service.switchTexts,
      ['off', 'on'].flatMap((what) => [1, 2, 3].map((port) => `${MAC}/${port} ${what}`)),
    );
    assert.deepEqual(ending.outcome?.skipped, [4]);
    assert.deepEqual(
      ending.outcome.results,
      [1, 2, 3].map((port) => ({ port, ok: true })),
    );
    assert.ok(Array.isArray(ending.outcome.response));
  });

  it('of all with a protected outlet switches on again what went off when another outlet failed', async () => {
    const { service, clock, run } = startAccount({ protectedOutlets: [{ mac: MAC, port: 4 }], retryFor: 0 });
    const ending = run('all', 'cycle');
    await service.switches[0]?.answer(yes(1));
    await service.switches[1]?.fail(failure('AUTH'));
    await service.switches[2]?.fail(failure('TIMEOUT'));
    await clock.pass(5000);
    assert.deepEqual(service.switchTexts.slice(3), [`${MAC}/1 on`, `${MAC}/3 on`]);
    for (const call of service.switches.slice(3)) await call.answer(yes(call.port));
    assert.equal(ending.error?.code, 'TIMEOUT');
    assert.deepEqual(ending.error.results, [
      { port: 1, ok: true },
      { port: 2, ok: false },
    ]);
  });
});
