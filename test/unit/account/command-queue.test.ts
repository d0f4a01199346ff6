import assert from 'node:assert/strict';
import type { Port } from '../../../src/api/types';
import { calm } from '../../support/fake-clock';
import { bodyOf, failure, listOf, MAC, makeStrip, OTHER, stripOf, yes } from '../../support/scripted-service';
import { startAccount } from './support';

describe('command queues', () => {
  it('send commands to one outlet one at a time, in the order they came', async () => {
    const { service, run } = startAccount();
    const endings = [run(1, true), run(1, false), run(1, true)];
    await calm();
    assert.deepEqual(service.switchTexts, [`${MAC}/1 on`]);
    await service.last.answer(yes());
    assert.deepEqual(service.switchTexts, [`${MAC}/1 on`, `${MAC}/1 off`]);
    await service.last.answer(yes());
    await service.last.answer(yes());
    assert.deepEqual(service.switchTexts, [`${MAC}/1 on`, `${MAC}/1 off`, `${MAC}/1 on`]);
    assert.deepEqual(
      endings.map(({ outcome, times }) => [outcome?.on, times]),
      [
        [true, 1],
        [false, 1],
        [true, 1],
      ],
    );
  });

  it('send commands to different outlets and strips side by side', async () => {
    const { service, run } = startAccount();
    run(1, true);
    run(2, true);
    run(1, true, { mac: OTHER });
    await calm();
    assert.deepEqual(service.switchTexts, [`${MAC}/1 on`, `${MAC}/2 on`, `${OTHER}/1 on`]);
  });

  it('are sent again in the spelling of the service, also where a list gave it before their own answer came', async () => {
    const { service, account, run } = startAccount();
    const ending = run(1, true, { mac: 'aa:bb:cc:dd:ee:ff' });
    const reading = account.list();
    await service.lists[0]?.answer(listOf(makeStrip(MAC, [false])));
    await reading;
    await service.last.fail(failure('NOT_FOUND'));
    assert.deepEqual(service.texts, ['aa:bb:cc:dd:ee:ff/1 on', 'list ', `${MAC}/1 on`]);
    await service.last.answer(yes());
    assert.equal(ending.outcome?.mac, MAC);
  });

  it('are sent again in the spelling of the service where the list that gave another one is old', async () => {
    const { service, account, clock, run } = startAccount();
    const reading = account.list();
    await service.lists[0]?.answer(listOf(makeStrip(MAC, [false])));
    await reading;
    await clock.pass(3_600_000);
    const [known, added] = [run(1, true), run(1, true, { mac: 'aa:bb:cc:dd:ee:02' })];
    const [first, second] = [service.switches[0], service.switches[1]];
    await first?.fail(failure('NOT_FOUND', {}, 'strip'));
    await service.lists[1]?.answer(
      listOf(makeStrip('AA-BB-CC-DD-EE-FF', [false]), makeStrip('AABBCCDDEE02', [false])),
    );
    await second?.fail(failure('NOT_FOUND', {}, 'strip'));
    assert.deepEqual(service.switchTexts.slice(2), ['AA-BB-CC-DD-EE-FF/1 on', 'AABBCCDDEE02/1 on']);
    for (const request of service.switches.slice(2)) await request.answer(yes());
    assert.deepEqual([known.outcome?.mac, added.outcome?.mac], ['AA-BB-CC-DD-EE-FF', 'AABBCCDDEE02']);
    assert.equal(service.lists.length, 2);
  });

  it('find a strip by its MAC in any spelling, and send the spelling of the service', async () => {
    const { service, account, run } = startAccount();
    const list = account.list();
    await service.lists[0]?.answer(listOf(makeStrip('AA:BB:CC:DD:EE:FF', [false])));
    await list;
    run(1, true, { mac: 'aabbccddeeff' });
    const second = run(1, false, { mac: 'AA-BB-CC-DD-EE-FF' });
    await calm();
    assert.deepEqual(service.switchTexts, ['AA:BB:CC:DD:EE:FF/1 on']);
    await service.last.answer(yes());
    await service.last.answer(yes());
    assert.deepEqual(service.switchTexts, ['AA:BB:CC:DD:EE:FF/1 on', 'AA:BB:CC:DD:EE:FF/1 off']);
    assert.equal(second.outcome?.mac, 'AA:BB:CC:DD:EE:FF');
  });

  for (const [action, texts] of [
    [true, ['aa:bb:cc:dd:ee:ff/1 on', 'list ', `${MAC}/1 on`]],
    ['toggle', ['get aa:bb:cc:dd:ee:ff', 'list ', `get ${MAC}`, `${MAC}/1 on`]],
  ] as const) {
    it(`read the list where the service does not know a MAC as it was written (${action})`, async () => {
      const { service, account, run } = startAccount({ concurrency: 1 });
      const ifKnown = <Answer>(mac: string, answer: Answer): Promise<Answer> =>
        mac === MAC ? Promise.resolve(answer) : Promise.reject(failure('NOT_FOUND', {}, 'strip'));
      service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [false])));
      service.autoGet = (mac) => ifKnown(mac, stripOf(makeStrip(MAC, [false])));
      service.autoSwitch = (mac, port) => ifKnown(mac, yes(port));
      const ending = run(1, action, { mac: 'aa:bb:cc:dd:ee:ff' });
      await calm();
      assert.deepEqual(service.texts, texts);
      assert.equal(ending.outcome?.mac, MAC);
      const other = run(1, true, { mac: '11:22' });
      await calm();
      assert.equal(other.error?.code, 'NOT_FOUND');
      assert.equal(service.lists.length, 1, 'a list was read');
      await account.close();
    });
  }

  for (const [code, sentence, expected] of [
    ['AUTH', 'rejected', 'NOT_FOUND.strip'],
    ['NOT_FOUND', 'address', 'NOT_FOUND.address'],
  ] as const) {
    it(`say ${expected} where the list cannot be read either (${code})`, async () => {
      const { service, run } = startAccount();
      service.autoList = () => Promise.reject(failure(code, {}, sentence));
      const ending = run(1, true);
      await service.last.fail(failure('NOT_FOUND', {}, 'strip'));
      assert.equal(ending.error?.sentenceKey, expected);
    });
  }

  it('wait where the service asks for a pause when the list is read for the spelling of a MAC', async () => {
    const { service, account, clock, run } = startAccount();
    const ending = run(1, true, { mac: 'aa:bb:cc:dd:ee:ff' });
    await service.last.fail(failure('NOT_FOUND', {}, 'strip'));
    await service.lists[0]?.fail(failure('RATE_LIMITED', { retryAfter: 2000 }));
    assert.deepEqual(ending.progress, ['RATE_LIMITED']);
    assert.notEqual(account.status().cooldownUntil, null);
    await clock.pass(2000);
    await service.last.fail(failure('NOT_FOUND', {}, 'strip'));
    await service.lists[1]?.answer(listOf(makeStrip(MAC, [false])));
    assert.deepEqual(service.switchTexts.slice(1), ['aa:bb:cc:dd:ee:ff/1 on', `${MAC}/1 on`]);
    await service.last.answer(yes());
    assert.equal(ending.outcome?.mac, MAC);
  });

  for (const code of ['TIMEOUT', 'UNREACHABLE', 'SERVICE'] as const) {
    it(`try again where the list that would give the spelling of a MAC cannot be read (${code})`, async () => {
      const { service, clock, run } = startAccount();
      const ending = run(1, true, { mac: 'aa:bb:cc:dd:ee:ff' });
      await service.last.fail(failure('NOT_FOUND', {}, 'strip'));
      await service.lists[0]?.fail(failure(code, { retryable: true }));
      assert.deepEqual(ending.progress, [code]);
      await clock.pass(1000);
      await service.last.fail(failure('NOT_FOUND', {}, 'strip'));
      await service.lists[1]?.answer(listOf(makeStrip(MAC, [false])));
      await service.last.answer(yes());
      assert.deepEqual(service.switchTexts.slice(1), ['aa:bb:cc:dd:ee:ff/1 on', `${MAC}/1 on`]);
      assert.equal(ending.outcome?.mac, MAC);
    });
  }

  it('are CLOSED, and not NOT_FOUND, where the account closes while it reads the list for the spelling of a MAC', async () => {
    const { account, service, run } = startAccount();
    const ending = run(1, true, { mac: 'aa:bb:cc:dd:ee:ff' });
    await service.last.fail(failure('NOT_FOUND', {}, 'strip'));
    await account.close();
    assert.equal(ending.error?.sentenceKey, 'CLOSED.notSent');
  });

  it('take the spelling of an answer about the strip alone, as long as no list has it', async () => {
    const { account, service, run } = startAccount();
    service.autoSwitch = (_, port) => Promise.resolve(yes(port));
    run(1, true, { mac: 'aabbccddeeff' });
    await calm();
    const reading = account.get('aabbccddeeff');
    await service.gets[0]?.answer(stripOf(makeStrip('AA-BB-CC-DD-EE-FF', [true])));
    await reading;
    run(1, false, { mac: 'aabbccddeeff' });
    await calm();
    assert.deepEqual(service.switchTexts, ['aabbccddeeff/1 on', 'AA-BB-CC-DD-EE-FF/1 off']);
  });

  it('do not switch on after a cycle whose off was refused, whatever became of the list after that', async () => {
    const { service, clock, run } = startAccount({ retryFor: 0 });
    const ending = run(1, 'cycle', { mac: 'aa:bb:cc:dd:ee:ff' });
    await service.last.fail(failure('NOT_FOUND', {}, 'strip'));
    await service.lists[0]?.fail(failure('TIMEOUT'));
    assert.equal(ending.error?.code, 'TIMEOUT');
    await clock.pass(60_000);
    assert.deepEqual(service.switchTexts, ['aa:bb:cc:dd:ee:ff/1 off']);
  });

  it('let an "all" wait for the outlets of its strip, and them for it, but not another strip', async () => {
    const { service, run } = startAccount();
    run(1, true);
    run('all', false);
    run(2, true);
    run(3, true, { mac: OTHER });
    await calm();
    assert.deepEqual(service.switchTexts, [`${MAC}/1 on`, `${OTHER}/3 on`]);
    await service.switches[0]?.answer(yes());
    assert.deepEqual(service.switchTexts.slice(2), [`${MAC}/all off`]);
    await service.last.answer(yes('all'));
    assert.deepEqual(service.switchTexts.slice(3), [`${MAC}/2 on`]);
  });

  it('keep the order of an outlet, however many strips have commands', async () => {
    const { service, run } = startAccount({ concurrency: 1000 });
    for (let strip = 0; strip < 300; strip++) run(1, true, { mac: `STRIP ${strip}` });
    run(1, false, { mac: 'STRIP 0' });
    await calm();
    await service.switches[0]?.answer(yes());
    run(1, true, { mac: 'STRIP 0' });
    await calm();
    assert.deepEqual(service.switchTexts.slice(300), ['STRIP 0/1 off']);
  });

  it('keep as many requests at once as the account allows, reads included', async () => {
    const { service, account, run } = startAccount({ concurrency: 2 });
    run(1, true);
    run(2, true);
    run(3, true);
    const list = account.list();
    await calm();
    assert.deepEqual(service.texts, [`${MAC}/1 on`, `${MAC}/2 on`]);
    await service.switches[0]?.answer(yes());
    assert.deepEqual(service.texts.slice(2), [`${MAC}/3 on`]);
    await service.switches[1]?.answer(yes());
    assert.deepEqual(service.texts.slice(3), ['list ']);
    await service.lists[0]?.answer(listOf());
    await list;
  });

  it('let other commands run while one waits for its retry', async () => {
    const { service, run } = startAccount({ concurrency: 1 });
    run(1, true);
    run(2, true);
    await service.last.fail(failure('UNREACHABLE'));
    assert.deepEqual(service.switchTexts, [`${MAC}/1 on`, `${MAC}/2 on`]);
  });

  it('go on after an error that is not retried', async () => {
    const { service, run } = startAccount();
    const first = run(1, true);
    const second = run(1, false);
    await service.last.fail(failure('AUTH'));
    assert.equal(first.error?.code, 'AUTH');
    await service.last.answer(yes());
    assert.equal(second.outcome?.on, false);
  });

  it('confirm what the service confirmed, with its body untouched', async () => {
    const { service, account, run } = startAccount();
    const response = { success: true, results: [{ port: 2, ok: true }], extra: 1 };
    const ending = run(2, true);
    await service.last.answer({ results: [{ port: 2, ok: true }], confirmed: [2], ...bodyOf(response) });
    assert.deepEqual(ending.outcome, {
      mac: MAC,
      name: null,
      port: 2,
      outlet: null,
      on: true,
      results: [{ port: 2, ok: true }],
      response,
      at: '2027-01-15T08:00:00.000Z',
    });
    assert.equal(ending.outcome.response, response);
    assert.equal(account.store.lastState(MAC, 2), true);
  });

  it('take in what a failed "all" did switch', async () => {
    const { service, account, run } = startAccount();
    const ending = run('all', true);
    const results = [
      { port: 1, ok: true },
      { port: 2, ok: false },
    ];
    await service.last.fail(failure('SWITCH_FAILED', { results }));
    assert.equal(ending.error?.code, 'SWITCH_FAILED');
    const states = [1, 2, 3].map((port) => account.store.lastState(MAC, port as Port));
    assert.deepEqual(states, [true, null, null], 'the answer says nothing of outlet 3');
  });

  it('refuse a command when there are ten thousand already', async () => {
    const { service, run } = startAccount();
    const endings = Array.from({ length: 10_000 }, (_, index) => run(1, index % 2 === 0));
    const refused = run(1, true);
    await calm();
    assert.equal(refused.error?.code, 'BUSY');
    assert.equal(refused.error.sentenceKey, 'BUSY.waiting');
    assert.deepEqual(refused.error.params, { count: 10_000 });
    assert.ok(endings.every(({ times }) => times === 0));
    await service.last.answer(yes());
    const taken = run(1, true);
    await calm();
    assert.equal(taken.times, 0);
  });

  it('bring a burst of five thousand commands to one outcome each, in order', async () => {
    const { service, run } = startAccount();
    const macs = Array.from({ length: 10 }, (_, index) => `AABBCCDDEE0${index}`);
    service.autoSwitch = async (_, port) => Promise.resolve(yes(port));
    const sent = Array.from({ length: 5000 }, (_, index) => {
      const mac = macs[index % 10] ?? MAC;
      const port = ([1, 2, 3, 4, 'all'] as const)[index % 7 === 0 ? 4 : index % 4] ?? 1;
      const on = index % 3 === 0;
      return { mac, port, on, ending: run(port, on, { mac }) };
    });
    while (sent.some(({ ending }) => ending.times === 0)) await calm();
    assert.ok(sent.every(({ ending, on }) => ending.times === 1 && ending.outcome?.on === on));
    assert.equal(service.switches.length, 5000);
    for (const mac of macs) {
      for (const port of [1, 2, 3, 4] as const) {
        const of = (list: readonly { mac: string; port: unknown; on: boolean }[]): boolean[] =>
          list
            .filter((one) => one.mac === mac && (one.port === port || one.port === 'all'))
            .map(({ on }) => on);
        assert.deepEqual(of(service.switches), of(sent));
      }
    }
  });

  it('report an exception of a progress listener, and carry the command out', async () => {
    const { service, account, clock, log } = startAccount();
    const running = account.run(
      { mac: MAC, port: 1, action: true, delay: 0 },
      {
        onProgress: () => {
          throw new Error('broken status');
        },
      },
    );
    await service.last.fail(failure('TIMEOUT'));
    await clock.pass(1000);
    await service.last.answer(yes());
    assert.equal((await running).on, true);
    assert.deepEqual(log.lines, ['retrying TIMEOUT', 'fault Error: broken status', 'retrying over']);
  });

  describe('do not send a command that ends in the moment in which its turn comes', () => {
    /** Ends while it waits for the semaphore: this many promises after another request has got its answer. */
    const MOMENTS = Array.from({ length: 16 }, (_, moment) => moment);

    async function settle(promises: number): Promise<void> {
      for (let i = 0; i < promises; i++) await Promise.resolve();
    }

    it('because its owner is gone', async () => {
      const wasSent = new Set<boolean>();
      for (const moment of MOMENTS) {
        const { account, service, run } = startAccount({ concurrency: 1 });
        const owner = {};
        run(1, true, { mac: OTHER });
        const waiting = run(1, true, { owner });
        const answered = service.last.answer(yes());
        await settle(moment);
        void account.cancel(owner);
        await answered;
        const isSent = service.switchTexts.includes(`${MAC}/1 on`);
        assert.equal(waiting.error?.sentenceKey, isSent ? 'CLOSED.sent' : 'CLOSED.notSent');
        if (isSent) await service.last.answer(yes());
        const next = run(2, true);
        await service.last.answer(yes(2));
        assert.equal(next.outcome?.on, true, 'the semaphore is free again');
        wasSent.add(isSent);
      }
      assert.equal(wasSent.size, 2);
    });

    it('because a newer command replaces it', async () => {
      const wasSent = new Set<boolean>();
      for (const moment of MOMENTS) {
        const { clock, service, run } = startAccount({ concurrency: 1 });
        const retried = run(1, false);
        await service.last.fail(failure('UNREACHABLE'));
        run(1, true, { mac: OTHER });
        await clock.pass(1000);
        // Not a success: that would end the outage.
        const answered = service.last.fail(failure('AUTH'));
        await settle(moment);
        const newer = run(1, true);
        await answered;
        const isSent = service.switchTexts.filter((text) => text === `${MAC}/1 off`).length > 1;
        assert.equal(retried.error?.code, isSent ? undefined : 'SUPERSEDED');
        if (isSent) await service.last.answer(yes());
        await service.last.answer(yes());
        assert.equal(newer.outcome?.on, true);
        wasSent.add(isSent);
      }
      assert.equal(wasSent.size, 2);
    });
  });
});
