import assert from 'node:assert/strict';
import { PORTS, type OutletId } from '../../../src/api/types';
import { calm } from '../../support/fake-clock';
import {
  bodyOf,
  failure,
  listOf,
  MAC,
  makeStrip,
  NOT_SENT,
  OTHER,
  stripOf,
  yes,
} from '../../support/scripted-service';
import { startAccount, type TestAccount } from './support';

const fridge: OutletId[] = [{ mac: 'aa-bb-cc-dd-ee-ff', port: 2 }];
const everything: OutletId[] = PORTS.map((port) => ({ mac: MAC, port }));

describe('a protected outlet', () => {
  it('is not switched off', async () => {
    const { service, run } = startAccount({ protectedOutlets: fridge });
    const ending = run(2, false);
    await calm();
    assert.equal(ending.error?.code, 'PROTECTED');
    assert.equal(ending.error.sentenceKey, 'PROTECTED.outlet');
    assert.deepEqual(ending.error.params, { mac: MAC, port: 2 });
    assert.equal(service.switches.length, 0);
  });

  it('is not switched off by a spelling that only the service may overlook', async () => {
    const spellings = ['!', '\u200b', ',', '\u2013', '~'].map((sign) => Array.from(MAC).join(sign));
    for (const mac of [...spellings, `${MAC}'`, MAC.replace(/^A/, '\uff21')]) {
      const { service, run } = startAccount({ protectedOutlets: fridge });
      const endings = [run(2, false, { mac }), run(2, 'cycle', { mac })];
      await calm();
      assert.deepEqual(
        [endings.map(({ error }) => error?.code), service.switches.length],
        [['PROTECTED', 'PROTECTED'], 0],
      );
      run('all', false, { mac });
      assert.deepEqual(service.switchTexts.length, 3, mac);
    }
  });

  it('is switched on', async () => {
    const { service, run } = startAccount({ protectedOutlets: fridge });
    const ending = run(2, true);
    await service.last.answer(yes(2));
    assert.equal(ending.outcome?.on, true);
  });

  it('does not protect its neighbours', async () => {
    const { service, run } = startAccount({ protectedOutlets: fridge });
    const ending = run(1, false);
    run(2, false, { mac: OTHER });
    run(3, false);
    assert.deepEqual(service.switchTexts, [`${MAC}/1 off`, `${OTHER}/2 off`, `${MAC}/3 off`]);
    await service.switches[0]?.answer(yes());
    assert.ok(ending.outcome);
    assert.ok(!('skipped' in ending.outcome));
    assert.deepEqual(ending.outcome.response, yes().response);
  });

  it('refuses at once, also while another command for it is under way', async () => {
    const { run } = startAccount({ protectedOutlets: fridge });
    run(2, true);
    const endings = [run(2, false), run(2, 'cycle')];
    await calm();
    assert.deepEqual(
      endings.map(({ error }) => error?.code),
      ['PROTECTED', 'PROTECTED'],
    );
  });

  it('is not toggled off, but on', async () => {
    const { service, run } = startAccount({ protectedOutlets: fridge });
    const refused = run(2, 'toggle');
    await service.gets[0]?.answer(stripOf(makeStrip(MAC, [true, true])));
    assert.equal(refused.error?.code, 'PROTECTED');
    const done = run(2, 'toggle');
    await service.gets[1]?.answer(stripOf(makeStrip(MAC, [true, false])));
    await service.last.answer(yes(2));
    assert.equal(done.outcome?.on, true);
  });

  it('is not cycled', async () => {
    const { service, clock, run } = startAccount({ protectedOutlets: fridge });
    const ending = run(2, 'cycle');
    await clock.pass(0);
    assert.equal(ending.error?.code, 'PROTECTED');
    assert.equal(service.switches.length, 0);
  });

  it('is left out of an "all" off, which becomes one request for each other outlet', async () => {
    const outletNames = [{ mac: MAC, port: 1 as const, name: 'Lamp' }];
    const { service, run } = startAccount({ protectedOutlets: fridge, outletNames });
    const ending = run('all', false);
    assert.deepEqual(service.switchTexts, [`${MAC}/1 off`, `${MAC}/3 off`, `${MAC}/4 off`]);
    await service.switches[2]?.answer(yes(4));
    await service.switches[0]?.answer({ results: [], confirmed: [1], ...bodyOf('first') });
    assert.equal(ending.times, 0);
    await service.switches[1]?.answer(yes(3));
    assert.deepEqual(ending.outcome, {
      mac: MAC,
      name: null,
      port: 'all',
      outlet: null,
      on: false,
      results: [1, 3, 4].map((port) => ({ port, ok: true })),
      skipped: [2],
      response: ['first', yes(3).response, yes(4).response],
      at: '2027-01-15T08:00:00.000Z',
    });
  });

  it('leaves an "all" that says what was switched, also where it becomes too old while reads are in front of its retry', async () => {
    const { service, clock, account, run } = startAccount({ protectedOutlets: fridge, concurrency: 1 });
    const ending = run('all', false);
    await service.switches[0]?.fail(failure('SERVICE', { retryable: true }));
    // From now on every read takes as long as it may.
    service.autoGet = () =>
      new Promise((_, reject) => void clock.setTimeout(() => reject(failure('TIMEOUT')), 10_000));
    const reads = Array.from({ length: 20 }, (_, index) =>
      account.get(`AABBCCDDEE${10 + index}`).catch(() => null),
    );
    await service.switches[1]?.answer(yes(3));
    await service.switches[2]?.answer(yes(4));
    await clock.pass(300_000);
    await Promise.all(reads);
    // Whether outlet 1 was switched is not known.
    assert.equal(ending.error?.code, 'SERVICE');
    assert.deepEqual(ending.error.results, [
      { port: 3, ok: true },
      { port: 4, ok: true },
    ]);
    assert.equal(clock.pending, 0);
  });

  it('leaves an "all" that names no outlet as not switched for which an earlier request may have been carried out', async () => {
    const ends = [
      async ({ service }: TestAccount) => await service.last.fail(failure('SERVICE', {}, 'refused')),
      async ({ service, run }: TestAccount) => {
        await service.last.fail(failure('UNREACHABLE', NOT_SENT, 'refused'));
        run('all', true);
        await calm();
      },
    ];
    for (const endLast of ends) {
      const lab = startAccount({ protectedOutlets: fridge });
      const off = lab.run('all', false);
      await lab.service.switches[0]?.fail(failure('TIMEOUT', {}, 'deadline'));
      await lab.service.switches[1]?.answer(yes(3));
      await lab.service.switches[2]?.answer(yes(4));
      await lab.clock.pass(5000);
      assert.equal(lab.service.last.text, `${MAC}/1 off`);
      await endLast(lab);
      assert.notEqual(off.error?.code, 'SWITCH_FAILED');
      assert.deepEqual(off.error?.results, [
        { port: 3, ok: true },
        { port: 4, ok: true },
      ]);
    }
  });

  it('is named once and in order, however the settings name it', async () => {
    const named = ([4, 4, 2] as const).map((port) => ({ mac: MAC, port }));
    const { service, run } = startAccount({ protectedOutlets: named });
    const ending = run('all', false);
    for (const call of [...service.switches]) await call.answer(yes(call.port));
    assert.deepEqual(service.switchTexts, [`${MAC}/1 off`, `${MAC}/3 off`]);
    assert.deepEqual(ending.outcome?.skipped, [2, 4]);
  });

  it('leaves an "all" on as it is', () => {
    const { service, run } = startAccount({ protectedOutlets: fridge });
    run('all', true);
    assert.deepEqual(service.switchTexts, [`${MAC}/all on`]);
  });

  it('is left out among the outlets that the strip has', async () => {
    const { service, account, run } = startAccount({ protectedOutlets: fridge });
    const list = account.list();
    await service.lists[0]?.answer(listOf(makeStrip(MAC, [true, true])));
    await list;
    const ending = run('all', false);
    assert.deepEqual(service.switchTexts, [`${MAC}/1 off`]);
    await service.last.answer(yes());
    assert.deepEqual(ending.outcome?.response, [yes().response]);
    assert.deepEqual(ending.outcome.skipped, [2]);
  });

  it('is left out although only its neighbours were ever switched', async () => {
    const { service, run } = startAccount({ protectedOutlets: fridge });
    run(1, true);
    await service.last.answer(yes());
    run('all', false);
    assert.deepEqual(service.switchTexts.slice(1), [`${MAC}/1 off`, `${MAC}/3 off`, `${MAC}/4 off`]);
  });

  it('is left out and does not count when an "all" is toggled', async () => {
    const { service, run } = startAccount({ protectedOutlets: fridge });
    const on = run('all', 'toggle');
    await service.gets[0]?.answer(stripOf(makeStrip(MAC, [false, true, false, false])));
    assert.deepEqual(service.switchTexts, [`${MAC}/1 on`, `${MAC}/3 on`, `${MAC}/4 on`]);
    for (const call of service.switches) await call.answer(yes(call.port));
    assert.deepEqual(on.outcome?.skipped, [2]);
    const off = run('all', 'toggle');
    await service.gets[1]?.answer(stripOf(makeStrip(MAC, [true, true, false, false])));
    assert.deepEqual(service.switchTexts.slice(3), [`${MAC}/1 off`, `${MAC}/3 off`, `${MAC}/4 off`]);
    for (const call of service.switches.slice(3)) await call.answer(yes(call.port));
    assert.deepEqual(off.outcome?.skipped, [2]);
  });

  it('splits an "all" into requests, of which one that failed counts as failed, whatever its answer says beside that', async () => {
    const { service, run } = startAccount({ protectedOutlets: fridge, retryFor: 0 });
    const off = run('all', false);
    const [first, ...others] = service.switches;
    await first?.fail(failure('SWITCH_FAILED', { results: [{ port: 1, ok: true }] }));
    for (const call of others) await call.answer(yes(call.port));
    assert.deepEqual(off.error?.results, [
      { port: 1, ok: false },
      { port: 3, ok: true },
      { port: 4, ok: true },
    ]);
    assert.equal(off.error.params.failed, '1');
  });

  it('keeps its "on" that is being retried, although a newer "all" off or toggle leaves it alone', async () => {
    for (const action of [false, 'toggle'] as const) {
      const { service, clock, run } = startAccount({ protectedOutlets: fridge });
      const fridgeOn = run(2, true);
      await service.last.fail(failure('UNREACHABLE'));
      service.autoGet = () => Promise.resolve(stripOf(makeStrip(MAC, [true, true, true, true])));
      service.autoSwitch = (_, port) => Promise.resolve(yes(port));
      const all = run('all', action);
      await clock.pass(30_000);
      assert.equal(fridgeOn.outcome?.on, true);
      assert.deepEqual(all.outcome?.skipped, [2]);
    }
  });

  it('does not keep a newer "all" from replacing an older one of which a part is being retried', async () => {
    const { service, log, clock, run } = startAccount({ protectedOutlets: fridge });
    const off = run('all', false);
    await service.switches[0]?.fail(failure('UNREACHABLE'));
    await service.switches[1]?.answer(yes(3));
    await service.switches[2]?.answer(yes(4));
    assert.deepEqual(log.lines, ['retrying UNREACHABLE']);
    const on = run('all', true);
    await calm();
    assert.equal(off.error?.code, 'SUPERSEDED');
    assert.equal(service.last.text, `${MAC}/all on`);
    await service.last.answer(yes('all'));
    await clock.pass(20_000);
    assert.equal(on.outcome?.on, true);
    assert.equal(service.switches.length, 4);
    assert.deepEqual(log.lines.slice(1), ['retrying over']);
  });

  it('has its "on" replaced by an "all" on', async () => {
    const { service, run } = startAccount({ protectedOutlets: fridge });
    const fridgeOn = run(2, true);
    await service.last.fail(failure('UNREACHABLE'));
    run('all', true);
    await calm();
    assert.equal(fridgeOn.error?.code, 'SUPERSEDED');
  });

  it('has two toggles cancel each other behind an "on" that is being retried', async () => {
    const { service, run } = startAccount({ protectedOutlets: fridge });
    run(2, true);
    await service.last.fail(failure('UNREACHABLE'));
    const toggles = [run(2, 'toggle'), run(2, 'toggle')];
    await calm();
    assert.deepEqual(
      toggles.map(({ error }) => error?.sentenceKey),
      ['SUPERSEDED.toggles', 'SUPERSEDED.toggles'],
    );
  });

  it('refuses each "all" that would switch off where every outlet is protected', async () => {
    const { service, clock, run } = startAccount({ protectedOutlets: everything });
    const endings = [run('all', false), run('all', 'cycle'), run('all', 'toggle')];
    await clock.pass(0);
    await service.gets[0]?.answer(stripOf(makeStrip(MAC, [true, false, false, false])));
    assert.deepEqual(
      endings.map(({ error }) => error?.sentenceKey),
      ['PROTECTED.all', 'PROTECTED.all', 'PROTECTED.all'],
    );
    assert.deepEqual(endings[0]?.error?.params, { mac: MAC, port: 'all' });
    assert.equal(service.switches.length, 0);
  });

  it('lets an "all" be toggled on where every outlet is protected and off', async () => {
    const { service, run } = startAccount({ protectedOutlets: everything });
    run('all', 'toggle');
    await service.gets[0]?.answer(stripOf(makeStrip(MAC, [false, false, false, false])));
    assert.deepEqual(service.switchTexts, [`${MAC}/all on`]);
  });

  it('lets no "all" be toggled where every outlet is protected and the answer names none', async () => {
    const { service, run } = startAccount({ protectedOutlets: everything });
    const ending = run('all', 'toggle');
    await service.gets[0]?.answer(stripOf(makeStrip(MAC, [])));
    assert.equal(ending.error?.sentenceKey, 'BAD_RESPONSE.unknownStates');
    assert.equal(service.switches.length, 0);
  });

  it('lets an "all" that was superseded half-way say what it had switched', async () => {
    const { service, run } = startAccount({ protectedOutlets: fridge });
    const first = run('all', false);
    await service.switches[0]?.answer(yes(1));
    await service.switches[1]?.fail(failure('UNREACHABLE', NOT_SENT, 'refused'));
    // May have been carried out.
    await service.switches[2]?.fail(failure('UNREACHABLE', {}, 'reset'));
    run('all', false);
    await calm();
    assert.equal(first.error?.code, 'SUPERSEDED');
    assert.deepEqual(first.error.results, [
      { port: 1, ok: true },
      { port: 3, ok: false },
    ]);
  });

  for (const code of ['SUPERSEDED', 'CLOSED'] as const) {
    it(`lets an "all" that had switched one outlet say why it did not go on (${code})`, async () => {
      const { account, service, run } = startAccount({ protectedOutlets: fridge });
      const first = run('all', false);
      await service.switches[0]?.answer(yes(1));
      for (const each of [1, 2])
        await service.switches[each]?.fail(failure('UNREACHABLE', NOT_SENT, 'refused'));
      if (code === 'CLOSED') void account.close();
      else run('all', false);
      await calm();
      assert.equal(first.error?.code, code);
      assert.deepEqual(first.error.results, [
        { port: 1, ok: true },
        { port: 3, ok: false },
        { port: 4, ok: false },
      ]);
    });
  }

  it('makes a partial failure of an "all" name what was switched and what was not', async () => {
    const { service, account, run } = startAccount({ protectedOutlets: fridge });
    const ending = run('all', false);
    await service.switches[0]?.answer(yes(1));
    await service.switches[1]?.fail(failure('AUTH'));
    await service.switches[2]?.answer(yes(4));
    assert.equal(ending.error?.code, 'SWITCH_FAILED');
    assert.equal(ending.error.sentenceKey, 'SWITCH_FAILED.some');
    assert.deepEqual(ending.error.response, [yes(1).response, yes(4).response]);
    assert.deepEqual(ending.error.results, [
      { port: 1, ok: true },
      { port: 3, ok: false },
      { port: 4, ok: true },
    ]);
    assert.deepEqual(ending.error.params, { mac: MAC, port: 'all', failed: '3', switched: '1, 4' });
    assert.equal(account.store.lastState(MAC, 1), false);
  });

  for (const action of [false, 'cycle'] as const) {
    it(`lets a whole "all" (${String(action)}) find out whether a long rate limit is over`, async () => {
      const { service, clock, account, run } = startAccount({ protectedOutlets: fridge });
      run(1, true, { mac: OTHER });
      await service.last.fail(failure('RATE_LIMITED', { retryAfter: 600_000 }));
      await clock.pass(6_000);
      service.autoSwitch = (_, port) => Promise.resolve(yes(port));
      const ending = run('all', action);
      await clock.pass(6_000);
      assert.deepEqual(ending.outcome?.results, [
        { port: 1, ok: true },
        { port: 3, ok: true },
        { port: 4, ok: true },
      ]);
      assert.equal(account.status().cooldownUntil, null);
    });
  }

  it('lets the rest of an "all" wait no more for a rate limit that its first request did not end', async () => {
    const { service, clock, run } = startAccount({ protectedOutlets: fridge, concurrency: 1 });
    run(1, true, { mac: OTHER });
    await service.last.fail(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    await clock.pass(6_000);
    const ending = run('all', false);
    await calm();
    await service.last.fail(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    await calm();
    assert.equal(service.switches.length, 2);
    assert.equal(ending.error?.code, 'RATE_LIMITED');
  });

  it('lets an "all" that a rate limit held up half-way say so, and what it had switched', async () => {
    const { service, run } = startAccount({ protectedOutlets: fridge, concurrency: 1 });
    const ending = run('all', false);
    await service.switches[0]?.answer(yes(1));
    await service.switches[1]?.fail(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    await calm();
    assert.equal(service.switches.length, 3);
    await service.switches[2]?.fail(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    assert.equal(ending.error?.code, 'RATE_LIMITED');
    assert.deepEqual(ending.error.results, [
      { port: 1, ok: true },
      { port: 3, ok: false },
      { port: 4, ok: false },
    ]);
  });

  it('does not let an "all" of which a part was sent say that it was not', async () => {
    const { service, clock, run } = startAccount({ protectedOutlets: fridge, concurrency: 1 });
    const ending = run('all', false);
    clock.jump = 600_000;
    await service.switches[0]?.answer(yes(1));
    await calm();
    assert.equal(service.switches.length, 1);
    assert.equal(ending.error?.sentenceKey, 'SWITCH_FAILED.some');
    assert.deepEqual(ending.error.params, { mac: MAC, port: 'all', failed: '3, 4', switched: '1' });
  });

  it('gives an "all" of several requests the time of the last confirmation', async () => {
    const { service, clock, run } = startAccount({ protectedOutlets: fridge });
    const ending = run('all', false);
    await service.switches[2]?.answer(yes(4));
    await clock.pass(2000);
    await service.switches[0]?.answer(yes(1));
    await clock.pass(1000);
    await service.switches[1]?.answer(yes(3));
    assert.equal(ending.outcome?.at, '2027-01-15T08:00:03.000Z');
  });

  it('makes an "all" whose outlets all refuse name them, with what the service said', async () => {
    const { service, run } = startAccount({ protectedOutlets: fridge });
    const ending = run('all', false);
    for (const [index, port] of [1, 3, 4].entries()) {
      const results = [{ port, ok: false }];
      await service.switches[index]?.fail(failure('SWITCH_FAILED', { results, response: `no ${port}` }));
    }
    assert.equal(ending.error?.sentenceKey, 'SWITCH_FAILED.ports');
    assert.deepEqual(ending.error.params, { mac: MAC, port: 'all', failed: '1, 3, 4', switched: '' });
    assert.deepEqual(ending.error.response, ['no 1', 'no 3', 'no 4']);
  });

  it('does not say that an outlet of an "all" was not switched, if only a later attempt was refused', async () => {
    const { service, clock, run } = startAccount({ protectedOutlets: fridge });
    const ending = run('all', false);
    await service.switches[1]?.answer(yes(3));
    await service.switches[2]?.answer(yes(4));
    await service.switches[0]?.fail(failure('TIMEOUT'));
    await clock.pass(1000);
    await service.switches[3]?.fail(failure('SWITCH_FAILED', { results: [{ port: 1, ok: false }] }));
    assert.equal(ending.error?.sentenceKey, 'SWITCH_FAILED.repeated');
    assert.deepEqual(ending.error.params, { mac: MAC, port: 1 });
    assert.deepEqual(
      ending.error.results.map(({ port }) => port),
      [3, 4],
    );
  });

  it('makes a failure of all requests of an "all" the failure itself', async () => {
    const { service, run } = startAccount({ protectedOutlets: fridge });
    const ending = run('all', false);
    for (const call of service.switches) await call.fail(failure('AUTH'));
    assert.equal(ending.error?.code, 'AUTH');
    assert.deepEqual(ending.error.results, []);
  });
});
