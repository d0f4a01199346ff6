import assert from 'node:assert/strict';
import { failure, MAC, makeStrip, NOT_SENT, stripOf, yes } from '../../support/scripted-service';
import { startAccount, type TestAccount } from './support';

/** A command queue whose first command is being tried again. */
async function outage({ service, run }: TestAccount, port: 1 | 'all' = 1, action: boolean | 'toggle' = true) {
  const ending = run(port, action);
  if (action === 'toggle') await service.gets[0]?.fail(failure('UNREACHABLE'));
  else await service.last.fail(failure('UNREACHABLE'));
  return ending;
}

const codes = (...endings: { error?: { code: string }; times: number }[]): (string | number | undefined)[] =>
  endings.map(({ error, times }) => error?.code ?? times);

describe('during an outage a newer command', () => {
  it('replaces the one that is being retried and those behind it', async () => {
    const lab = startAccount();
    const first = await outage(lab);
    const second = lab.run(1, false);
    const third = lab.run(1, true);
    await lab.clock.pass(0);
    assert.deepEqual(codes(first, second, third), ['SUPERSEDED', 'SUPERSEDED', 0]);
    assert.equal(first.error?.sentenceKey, 'SUPERSEDED.newer');
    assert.deepEqual(second.error?.params, { mac: MAC, port: 1 });
    await lab.service.last.answer(yes());
    assert.deepEqual(codes(third), [1]);
    assert.deepEqual(lab.service.switchTexts, [`${MAC}/1 on`, `${MAC}/1 on`]);
    assert.equal(lab.clock.pending, 0);
  });

  it('replaces also what was waiting before the outage, as soon as it begins', async () => {
    const lab = startAccount();
    const first = lab.run(1, true);
    const waiting = Array.from({ length: 5 }, () => lab.run(1, false));
    await lab.service.last.fail(failure('TIMEOUT'));
    await lab.clock.pass(0);
    assert.deepEqual(new Set(codes(first, ...waiting.slice(0, -1))), new Set(['SUPERSEDED']));
    assert.deepEqual(lab.service.switchTexts, [`${MAC}/1 on`, `${MAC}/1 off`]);
    await lab.service.last.answer(yes());
    assert.deepEqual(codes(...waiting.slice(-1)), [1]);
  });

  it('replaces also what waits behind an "all" of which only a part failed, without retries', async () => {
    for (const code of ['TIMEOUT', 'SERVICE'] as const) {
      const protectedOutlets = [{ mac: MAC, port: 4 as const }];
      const lab = startAccount({ retryFor: 0, protectedOutlets });
      const all = lab.run('all', false);
      const older = lab.run(1, true);
      lab.run(1, false);
      const [first, ...others] = [...lab.service.switches];
      for (const call of others) await call.answer(yes(call.port));
      await first?.fail(failure(code, { retryable: true }));
      assert.deepEqual(codes(all, older), [code, 'SUPERSEDED']);
    }
  });

  it('replaces nothing where nothing has failed', async () => {
    const lab = startAccount();
    const first = lab.run(1, true);
    const second = lab.run(1, false);
    lab.run(1, true);
    await lab.service.last.answer(yes());
    await lab.service.last.answer(yes());
    assert.deepEqual(codes(first, second), [1, 1]);
  });

  it('replaces nothing at another outlet', async () => {
    const lab = startAccount();
    const first = await outage(lab);
    lab.run(2, false);
    await lab.clock.pass(0);
    assert.deepEqual(codes(first), [0]);
  });

  it('lets an attempt that was sent finish first: a success stays one', async () => {
    const lab = startAccount();
    const first = await outage(lab);
    await lab.clock.pass(250);
    const newer = lab.run(1, false);
    await lab.clock.pass(0);
    assert.deepEqual(lab.service.switchTexts, [`${MAC}/1 on`, `${MAC}/1 on`]);
    await lab.service.last.answer(yes());
    assert.equal(first.outcome?.on, true);
    assert.deepEqual(lab.service.switchTexts.slice(2), [`${MAC}/1 off`]);
    await lab.service.last.answer(yes());
    assert.equal(newer.outcome?.on, false);
  });

  it('lets an attempt that was sent finish first: a failure is SUPERSEDED', async () => {
    const lab = startAccount();
    const first = await outage(lab);
    await lab.clock.pass(250);
    lab.run(1, false);
    await lab.service.last.fail(failure('TIMEOUT'));
    assert.deepEqual(codes(first), ['SUPERSEDED']);
    assert.deepEqual(lab.service.switchTexts.slice(2), [`${MAC}/1 off`]);
  });

  it('does not hide why one failed that would not be retried', async () => {
    const lab = startAccount({ retryFor: 0 });
    const failed = lab.run(1, true);
    const newer = lab.run(1, false);
    await lab.service.last.fail(failure('TIMEOUT'));
    assert.deepEqual(codes(failed), ['TIMEOUT']);
    await lab.service.last.answer(yes());
    assert.equal(newer.outcome?.on, false);
  });

  it('for one outlet does not replace an "all"; it replaces the commands that wait behind it', async () => {
    const lab = startAccount();
    const all = await outage(lab, 'all');
    const waiting = lab.run(1, false);
    const newer = lab.run(1, true);
    await lab.clock.pass(0);
    assert.deepEqual(codes(all, waiting, newer), [0, 'SUPERSEDED', 0]);
    await lab.clock.pass(250);
    await lab.service.last.answer(yes('all'));
    await lab.service.last.answer(yes());
    assert.deepEqual(lab.service.switchTexts, [`${MAC}/all on`, `${MAC}/all on`, `${MAC}/1 on`]);
    assert.deepEqual(codes(all, newer), [1, 1]);
  });

  it('does not replace a waiting "all"', async () => {
    const lab = startAccount();
    const first = await outage(lab);
    const all = lab.run('all', true);
    const newer = lab.run(1, false);
    await lab.clock.pass(0);
    // The newer "all" replaced the first command; the outlet's own then waits behind it.
    assert.deepEqual(codes(first, all, newer), ['SUPERSEDED', 0, 0]);
    await lab.service.last.answer(yes('all'));
    await lab.service.last.answer(yes());
    assert.deepEqual(lab.service.switchTexts.slice(1), [`${MAC}/all on`, `${MAC}/1 off`]);
  });

  it('that is an "all" replaces in the queues that fail, and waits for the others', async () => {
    const lab = startAccount();
    const suffering = await outage(lab);
    const fine = lab.run(2, true);
    const behindFine = lab.run(2, false);
    const all = lab.run('all', true);
    await lab.clock.pass(0);
    assert.deepEqual(codes(suffering, fine, behindFine, all), ['SUPERSEDED', 0, 0, 0]);
    await lab.service.last.answer(yes(2));
    await lab.service.last.answer(yes(2));
    assert.deepEqual(lab.service.switchTexts.slice(1), [`${MAC}/2 on`, `${MAC}/2 off`, `${MAC}/all on`]);
  });

  it('that is an "all" replaces an older "all" and all that waits behind it', async () => {
    const lab = startAccount();
    const older = await outage(lab, 'all');
    const waiting = [lab.run(1, true), lab.run(3, false), lab.run('all', false)];
    const newest = lab.run('all', true);
    await lab.clock.pass(0);
    assert.deepEqual(new Set(codes(older, ...waiting)), new Set(['SUPERSEDED']));
    assert.deepEqual(lab.service.switchTexts.slice(-1), [`${MAC}/all on`]);
    await lab.service.last.answer(yes('all'));
    assert.deepEqual(codes(newest), [1]);
  });

  it('that is an "all" off replaces the "on" that a cycle keeps trying', async () => {
    const lab = startAccount();
    const cycle = lab.run(1, 'cycle');
    await lab.service.last.answer(yes());
    await lab.clock.pass(5000);
    await lab.service.last.fail(failure('UNREACHABLE'));
    const off = lab.run('all', false);
    await lab.clock.pass(0);
    assert.deepEqual(codes(cycle), ['SUPERSEDED']);
    await lab.service.last.answer(yes('all'));
    assert.deepEqual(codes(off), [1]);
    await lab.clock.pass(120_000);
    assert.deepEqual(lab.service.switchTexts, [`${MAC}/1 off`, `${MAC}/1 on`, `${MAC}/all off`]);
  });

  it('replaces a toggle whose read is being retried', async () => {
    const lab = startAccount();
    const toggle = await outage(lab, 1, 'toggle');
    lab.run(1, false);
    await lab.clock.pass(0);
    assert.deepEqual(codes(toggle), ['SUPERSEDED']);
    assert.equal(toggle.error?.sentenceKey, 'SUPERSEDED.newer');
    assert.deepEqual(lab.service.switchTexts, [`${MAC}/1 off`]);
  });

  it('keeps a toggle whose read was sent from switching afterwards', async () => {
    const lab = startAccount();
    const toggle = await outage(lab, 1, 'toggle');
    await lab.clock.pass(250);
    lab.run(1, false);
    await lab.service.gets[1]?.answer(stripOf(makeStrip(MAC, [false])));
    assert.deepEqual(codes(toggle), ['SUPERSEDED']);
    assert.deepEqual(lab.service.switchTexts, [`${MAC}/1 off`]);
  });

  it('leaves no backlog: however many come, one is sent when the service is back', async () => {
    const lab = startAccount({ retryFor: 600_000 });
    lab.service.autoSwitch = () => Promise.reject(failure('UNREACHABLE'));
    const endings = [lab.run(1, true)];
    await lab.clock.pass(1);
    for (let i = 0; i < 2000; i++) {
      endings.push(lab.run(1, i % 2 === 0));
      if (i % 100 === 0) await lab.clock.pass(20);
    }
    lab.service.autoSwitch = null;
    const before = lab.service.switches.length;
    await lab.clock.pass(10_000);
    assert.equal(lab.service.switches.length, before + 1);
    await lab.service.last.answer(yes());
    assert.equal(endings.at(-1)?.outcome?.on, false);
    assert.ok(endings.every(({ times }) => times === 1));
    assert.ok(endings.slice(0, -1).every(({ error }) => error?.code === 'SUPERSEDED'));
  });

  for (const newer of [false, 'cycle'] as const)
    it(`replaces a cycle whose off was certainly not sent, also if it is ${newer}`, async () => {
      const { service, clock, run } = startAccount();
      const cycle = run(1, 'cycle');
      await service.last.fail(failure('UNREACHABLE', NOT_SENT, 'refused'));
      run(1, newer);
      await clock.pass(0);
      assert.equal(cycle.error?.code, 'SUPERSEDED');
    });
});
