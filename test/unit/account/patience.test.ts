import assert from 'node:assert/strict';
import { PORTS } from '../../../src/api/types';
import { calm } from '../../support/fake-clock';
import {
  failure,
  listOf,
  MAC,
  makeStrip,
  NOT_SENT,
  OTHER,
  stripOf,
  yes,
} from '../../support/scripted-service';
import { startAccount } from './support';

describe('a command that waits', () => {
  it('behind the delay of a cycle is patient from its end on, and only what is behind it', async () => {
    const { clock, service, run } = startAccount({ retryFor: 0 });
    run(1, 'cycle', { delay: 20_000 });
    run(2, true);
    const behind = run(1, false);
    const elsewhere = run(2, false);
    await service.switches[0]?.answer(yes(1));
    await clock.pass(10_100);
    assert.equal(elsewhere.error?.code, 'TIMEOUT');
    await clock.pass(14_900);
    assert.deepEqual(service.switchTexts.slice(2), [`${MAC}/1 on`]);
    assert.equal(behind.times, 0);
    await service.last.answer(yes(1));
    assert.deepEqual(service.switchTexts.slice(3), [`${MAC}/1 off`]);
  });

  it('behind that delay because of an "all" is sent if the "all" is removed with its node', async () => {
    const { account, clock, service, run } = startAccount({ retryFor: 0 });
    const owner = {};
    run(1, 'cycle', { delay: 60_000 });
    run('all', false, { owner });
    const behind = [run(2, true), run(2, false)];
    await service.last.answer(yes(1));
    await clock.pass(49_999);
    void account.cancel(owner);
    await clock.pass(100);
    await service.last.answer(yes(2));
    await service.last.answer(yes(2));
    assert.deepEqual(service.switchTexts.slice(1), [`${MAC}/2 on`, `${MAC}/2 off`]);
    assert.deepEqual(
      behind.map(({ outcome }) => outcome?.on),
      [true, false],
    );
  });

  it('at another outlet gets no more patience by the end of a delay', async () => {
    const { clock, service, run } = startAccount({ retryFor: 0 });
    run(1, 'cycle', { delay: 5000 });
    run(2, true);
    const elsewhere = run(2, false);
    await service.switches[0]?.answer(yes(1));
    await clock.pass(10_100);
    assert.equal(elsewhere.error?.code, 'TIMEOUT');
  });

  it('for the concurrency limit ends in time, also where it was admitted before', async () => {
    const { clock, service, run } = startAccount({ retryFor: 0, concurrency: 1 });
    const toggle = run(1, 'toggle');
    await clock.pass(6000);
    run(2, true);
    await clock.pass(2000);
    await service.gets[0]?.answer(stripOf(makeStrip(MAC, [true])));
    await clock.pass(9900);
    assert.equal(toggle.times, 0, 'the service answered a read 10 s ago');
    await clock.pass(200);
    assert.equal(toggle.error?.code, 'TIMEOUT');
    assert.deepEqual(service.switchTexts, [`${MAC}/2 on`]);
  });

  it('for reads of toggles is carried out, however many there are, while the service answers them', async () => {
    const { clock, service, run } = startAccount({ retryFor: 0, concurrency: 1 });
    const toggles = PORTS.map((port) => run(port, 'toggle'));
    for (const get of [0, 1, 2, 3]) {
      await clock.pass(9000);
      await service.gets[get]?.answer(stripOf(makeStrip(MAC, [true, true, true, true])));
    }
    for (const port of PORTS) await service.last.answer(yes(port));
    assert.deepEqual(
      toggles.map(({ outcome }) => outcome?.on),
      [false, false, false, false],
    );
  });

  it('for reads is carried out, however many there are, while the service answers them', async () => {
    const { account, clock, service, run } = startAccount({ retryFor: 0, concurrency: 1 });
    run(1, true);
    await service.last.fail(failure('UNREACHABLE')); // over before the others come
    for (const mac of ['A1', 'A2', 'A3', 'A4', 'A5']) void account.get(mac);
    const waiting = run(1, true);
    for (const get of [0, 1, 2, 3, 4]) {
      await clock.pass(9000);
      await service.gets[get]?.answer(stripOf(makeStrip(MAC, [true])));
    }
    await service.last.answer(yes());
    assert.equal(waiting.outcome?.on, true);
  });

  for (const answer of ['yes', 'no'] as const) {
    it(`is sent, however many are in front of it, while the service answers them after an outage (${answer})`, async () => {
      const { clock, service, run } = startAccount({ concurrency: 1, retryFor: 0 });
      run(1, true);
      const numbers = [1, 2, 3, 4, 5];
      const others = numbers.map((number) => run(2, number % 2 === 0));
      await service.last.fail(failure('UNREACHABLE'));
      for (const number of numbers) {
        await clock.pass(9000);
        assert.equal(service.switches.length, 1 + number);
        if (answer === 'yes') await service.last.answer(yes(2));
        else await service.last.fail(failure('SWITCH_FAILED', { results: [{ port: 2, ok: false }] }));
      }
      assert.deepEqual(
        others.map(({ outcome, error }) => error?.code ?? outcome?.port),
        others.map(() => (answer === 'yes' ? 2 : 'SWITCH_FAILED')),
      );
    });
  }

  it('for a cycle whose on the service keeps refusing ends, although it answers and other strips are switched', async () => {
    const { account, clock, service, run } = startAccount();
    service.autoSwitch = (mac, port, on) =>
      mac !== MAC
        ? Promise.resolve(yes(port))
        : on
          ? Promise.reject(failure('SWITCH_FAILED', { results: [{ port: 3, ok: false }] }))
          : Promise.resolve(yes(1));
    run('all', 'cycle');
    await clock.pass(10_000);
    const [off, toggle] = [run(1, false), run(2, 'toggle')];
    for (let second = 0; second < 40; second++) {
      await account.run({ mac: 'A1', port: 1, action: true, delay: 0 });
      await clock.pass(1000);
    }
    // Why it waited, but not the results of the other command.
    for (const { error } of [off, toggle]) {
      assert.equal(error?.code, 'SWITCH_FAILED');
      assert.deepEqual(error.results, []);
    }
    assert.equal(service.gets.length, 0);
    assert.equal(service.switchTexts.filter((text) => text === `${MAC}/1 off`).length, 0);
    const closing = account.close();
    await clock.pass(10_000);
    await closing;
  });

  it('to all outlets ends, too, where only one of them keeps being refused', async () => {
    const { account, clock, service, run } = startAccount();
    service.autoSwitch = (mac, port, on) =>
      mac === MAC && on ? Promise.reject(failure('AUTH')) : Promise.resolve(yes(port));
    run(1, 'cycle');
    await clock.pass(6000);
    const waiting = run('all', 'toggle');
    for (let second = 0; second < 40; second++) {
      await account.run({ mac: OTHER, port: 1, action: true, delay: 0 });
      await clock.pass(1000);
    }
    assert.equal(waiting.error?.code, 'AUTH');
    assert.equal(service.gets.length, 0);
    const closing = account.close();
    await clock.pass(10_000);
    await closing;
  });

  it('ends with the failure of the command in front of it, whatever fails elsewhere', async () => {
    const { clock, service, run } = startAccount();
    service.autoSwitch = (mac, port, on) =>
      mac !== MAC
        ? Promise.reject(failure('UNREACHABLE'))
        : on
          ? Promise.reject(failure('AUTH'))
          : Promise.resolve(yes(port));
    run(1, 'cycle');
    await clock.pass(6000);
    const waiting = run(1, 'toggle');
    run(1, true, { mac: OTHER });
    await clock.pass(31_000);
    assert.equal(waiting.error?.code, 'AUTH');
  });

  it('behind an "all" ends with the failure that this one waits for', async () => {
    const { account, clock, service, run } = startAccount();
    account.list().catch(() => undefined);
    await service.lists[0]?.fail(failure('RATE_LIMITED', { retryAfter: 20_000 }));
    run(3, true);
    const waiting = [run('all', 'toggle'), run(1, 'toggle')];
    await clock.pass(31_000);
    assert.deepEqual(
      waiting.map(({ error }) => error?.code),
      ['RATE_LIMITED', 'RATE_LIMITED'],
    );
  });

  it('does not wait for slow reads, which leave one place to commands', async () => {
    const { account, clock, service, run } = startAccount({ concurrency: 3 });
    const reads = Array.from({ length: 20 }, (_, index) => account.get(`A${index}`).catch(() => null));
    await clock.pass(0);
    assert.equal(service.gets.length, 2);
    const [first, second] = [run(1, true), run(2, true)];
    await service.last.answer(yes(1));
    await service.last.answer(yes(2));
    for (const { outcome } of [first, second]) assert.equal(outcome?.on, true);
    await account.close();
    await Promise.all(reads);
  });

  it('for reads gets no more patience by their answers while switches fail', async () => {
    const { account, clock, service, run } = startAccount({ retryFor: 0, concurrency: 2 });
    run(1, true);
    run(2, true);
    for (const mac of ['A1', 'A2']) account.get(mac).catch(() => undefined);
    const waiting = run(3, true);
    await service.switches[0]?.fail(failure('TIMEOUT'));
    await clock.pass(9000);
    await service.gets[0]?.answer(stripOf(makeStrip('A1', [true])));
    await clock.pass(1100);
    assert.equal(waiting.error?.code, 'TIMEOUT');
    assert.equal(service.switches.length, 2);
  });

  it('for the concurrency limit ends with what the service failed with meanwhile, at a time that counts from its last answer', async () => {
    for (const [code, after] of [
      ['UNREACHABLE', 10_000],
      ['AUTH', 16_000],
    ] as const) {
      const { clock, service, run } = startAccount({ retryFor: 0, concurrency: 1 });
      run(1, true);
      run(2, true);
      const waiting = run(3, true);
      await clock.pass(6000);
      await service.last.fail(failure(code));
      await clock.pass(after - 6001);
      assert.equal(waiting.times, 0);
      await clock.pass(101);
      // A refusal is an answer, and no reason why others had to wait.
      assert.equal(waiting.error?.code, code === 'AUTH' ? 'TIMEOUT' : code);
      assert.equal(service.switches.length, 2);
    }
  });

  it('for the concurrency limit before a retry ends in time', async () => {
    const { clock, service, run } = startAccount({ retryFor: 3000, timeout: 1000, concurrency: 1 });
    const failing = run(1, true);
    run(2, true);
    await service.last.fail(failure('UNREACHABLE'));
    await clock.pass(3100);
    assert.equal(failing.error?.code, 'UNREACHABLE');
    assert.equal(failing.error.notSent, false, 'its first attempt may have been carried out');
    assert.equal(service.switches.length, 2);
  });

  it('ends in time after all earlier commands were carried out', async () => {
    const { clock, service, run } = startAccount();
    run(1, true);
    run(1, false);
    await service.last.answer(yes());
    await service.last.answer(yes());
    await clock.pass(10_000);
    run(1, true);
    const behind = run(1, false);
    await clock.pass(30_001);
    assert.equal(behind.error?.code, 'TIMEOUT');
  });

  it('ends in time although the wall clock was set back', async () => {
    const { clock, run } = startAccount();
    run(1, true);
    const behind = run(1, false);
    clock.jump = -3_600_000;
    await clock.pass(30_001);
    assert.equal(behind.error?.code, 'TIMEOUT');
  });

  it('and is sent late ends with its own failure', async () => {
    const { clock, service, run } = startAccount();
    run(1, true);
    const behind = run(1, false);
    await clock.pass(25_000);
    await service.last.fail(failure('UNREACHABLE'));
    assert.deepEqual(service.switchTexts, [`${MAC}/1 on`, `${MAC}/1 off`]);
    await clock.pass(9000);
    await service.last.fail(failure('TIMEOUT'));
    assert.equal(behind.error?.sentenceKey, 'TIMEOUT.test');
  });

  it('for the concurrency limit with one of several requests ends in time, whatever the others were doing', async () => {
    const protectedOutlets = [{ mac: MAC, port: 4 as const }];
    const { service, clock, account, run } = startAccount({ concurrency: 1, protectedOutlets });
    const all = run('all', false);
    account.list().catch(() => undefined);
    await clock.pass(29_000);
    await service.last.fail(failure('UNREACHABLE'));
    await clock.pass(10_000);
    await service.last.fail(failure('TIMEOUT'));
    assert.equal(service.lists.length, 1, 'the list is sent before the first outlet is tried again');
    await clock.pass(200);
    assert.equal(all.error?.code, 'UNREACHABLE');
    assert.deepEqual(service.switchTexts, [`${MAC}/1 off`, `${MAC}/2 off`]);
  });

  it('for the concurrency limit with the rest of an "all" ends in time, and says what was switched', async () => {
    const protectedOutlets = ([3, 4] as const).map((port) => ({ mac: MAC, port }));
    const { clock, service, run } = startAccount({ concurrency: 1, retryFor: 10_000, protectedOutlets });
    const all = run('all', false);
    run(1, true, { mac: OTHER });
    await service.last.answer(yes(1));
    await service.last.fail(failure('UNREACHABLE', NOT_SENT, 'refused'));
    assert.equal(service.last.mac, OTHER);
    await clock.pass(10_100);
    assert.equal(all.error?.code, 'UNREACHABLE');
    assert.deepEqual(all.error.results, [
      { port: 1, ok: true },
      { port: 2, ok: false },
    ]);
  });

  it('for the concurrency limit at the end of a long delay sets no timer for the past', async () => {
    const { service, clock, account, run } = startAccount({ concurrency: 1 });
    run(1, 'cycle', { delay: 3_600_000 });
    await service.last.answer(yes());
    await clock.pass(3_599_000);
    account.list().catch(() => undefined);
    const waits: number[] = [];
    const set = clock.setTimeout.bind(clock);
    clock.setTimeout = (callback, ms) => {
      waits.push(ms);
      return set(callback, ms);
    };
    await clock.pass(1000);
    assert.equal(service.switches.length, 1);
    assert.deepEqual(
      waits.filter((ms) => ms < 0),
      [],
    );
  });

  it('behind another one that waits is not sent when both have waited too long', async () => {
    const { clock, service, run } = startAccount({ retryFor: 0 });
    run(2, true);
    const waiting = [run('all', true), run(1, true)];
    await clock.pass(10_100);
    assert.deepEqual(
      waiting.map(({ error }) => error?.code),
      ['TIMEOUT', 'TIMEOUT'],
    );
    assert.equal(service.switches.length, 1);
  });

  it('for the concurrency limit and is cancelled ends no other command', async () => {
    const { account, service, run } = startAccount({ concurrency: 1 });
    const owner = {};
    run(1, true);
    const cancelled = run(2, true, { owner });
    void account.cancel(owner);
    const others = [run(2, false), run(2, true)];
    await calm();
    assert.equal(cancelled.error?.code, 'CLOSED');
    for (let i = 0; i < 3; i++) await service.last.answer(yes(i === 0 ? 1 : 2));
    assert.deepEqual(service.switchTexts, [`${MAC}/1 on`, `${MAC}/2 off`, `${MAC}/2 on`]);
    assert.ok(others.every(({ outcome }) => outcome !== undefined));
  });

  it('for a retry gets no more patience when another outlet of the strip begins to fail', async () => {
    const { clock, service, run } = startAccount();
    let failing = [1];
    service.autoSwitch = (_, port) =>
      failing.some((each) => each === port)
        ? Promise.reject(failure('SERVICE', { retryable: true }))
        : Promise.resolve(yes(port));
    const retried = run(1, true);
    await clock.pass(20_000);
    run(2, true);
    await calm();
    failing = [1, 2];
    run(2, false);
    await clock.pass(10_100);
    assert.equal(retried.error?.code, 'SERVICE');
  });

  it('and is cancelled while it is retried does not cancel the toggle behind it', async () => {
    const { account, clock, service, run } = startAccount();
    const owner = {};
    run(1, 'toggle', { owner });
    await service.gets[0]?.fail(failure('UNREACHABLE'));
    void account.cancel(owner);
    const toggle = run(1, 'toggle');
    await clock.pass(1000);
    await service.gets[1]?.answer(stripOf(makeStrip(MAC, [true])));
    await service.last.answer(yes());
    assert.equal(toggle.outcome?.on, false);
  });

  it('is retried without a progress listener', async () => {
    const { account, clock, log, service } = startAccount();
    const running = account.run({ mac: MAC, port: 1, action: true, delay: 0 });
    await service.last.fail(failure('TIMEOUT'));
    await clock.pass(1000);
    await service.last.answer(yes());
    assert.equal((await running).on, true);
    assert.deepEqual(log.lines, ['retrying TIMEOUT', 'retrying over']);
  });
});

describe('retries of several commands', () => {
  it('are over, for the log, when none is left', async () => {
    const { clock, log, service, run } = startAccount();
    run(1, true);
    run(2, true);
    for (const call of [...service.switches]) await call.fail(failure('UNREACHABLE'));
    await clock.pass(250);
    await service.switches[2]?.answer(yes(1));
    assert.deepEqual(log.lines, ['retrying UNREACHABLE']);
    await service.switches[3]?.answer(yes(2));
    assert.deepEqual(log.lines, ['retrying UNREACHABLE', 'retrying over']);
  });

  it('are woken by the first success after the outage, however short before it another one was', async () => {
    const { clock, service, run } = startAccount();
    clock.random = () => 0.999;
    run(2, true);
    await service.last.answer(yes(2));
    const retried = run(1, true);
    for (let i = 0; i < 3; i++) {
      await service.last.fail(failure('UNREACHABLE'));
      await clock.pass(i < 2 ? 500 * 2 ** i : 0);
    }
    run(2, true);
    await service.last.answer(yes(2));
    await clock.pass(1000);
    await service.last.answer(yes(1));
    assert.equal(retried.outcome?.on, true);
  });

  it('do not replace a cycle of one outlet by one of all, nor a pending restore by a cycle', async () => {
    const { clock, service, run } = startAccount();
    run(1, true);
    const cycles = [run(1, 'cycle'), run('all', 'cycle')];
    await service.last.fail(failure('UNREACHABLE'));
    assert.deepEqual(
      cycles.map(({ times }) => times),
      [0, 0],
    );
    const other = startAccount();
    const first = other.run(1, 'cycle');
    await other.service.last.answer(yes());
    await other.clock.pass(5000);
    await other.service.last.fail(failure('UNREACHABLE'));
    other.run(1, 'cycle');
    await calm();
    assert.equal(first.times, 0);
    assert.equal(clock.elapsed, 0);
  });
});

describe('the on of a cycle', () => {
  it('is retried quickly when the account closes, however long it has been refused', async () => {
    const { account, clock, service, run } = startAccount();
    run(1, 'cycle');
    await service.last.answer(yes());
    service.autoSwitch = () => Promise.reject(failure('AUTH'));
    await clock.pass(120_000);
    const before = service.switches.length;
    const closing = account.close();
    await clock.pass(4000);
    assert.ok(service.switches.length > before + 4, `${service.switches.length - before} requests`);
    await clock.pass(1000);
    await closing;
  });
});

describe('a rate limit', () => {
  it('is reported as it came where nothing is retried', async () => {
    const { service, run } = startAccount({ retryFor: 0 });
    const ending = run(1, true);
    await service.last.fail(failure('RATE_LIMITED', { retryAfter: 20_000 }));
    assert.equal(ending.error?.sentenceKey, 'RATE_LIMITED.test');
  });

  for (const [seconds, ends] of [
    [5, 'is over'],
    [60, 'is too long for them'],
  ] as const) {
    it(`keeps no place of reads that wait until it ${ends}`, async () => {
      const { account, clock, service, run } = startAccount({ concurrency: 2, retryFor: 0 });
      service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true])));
      run(1, true);
      await service.last.fail(failure('RATE_LIMITED', { retryAfter: seconds * 1000 }));
      const read = (mac: string) => account.get(mac).catch(() => undefined);
      for (const mac of ['A0', 'A1', 'A2']) void read(mac);
      await clock.pass(seconds * 1000);
      for (const mac of ['A3', 'A4', 'A5']) void read(mac);
      await clock.pass(2000);
      const sent = seconds > 30 ? ['A3', 'A4', 'A5'] : ['A0', 'A1', 'A2', 'A3', 'A4', 'A5'];
      assert.deepEqual(service.gets.map(({ mac }) => mac).sort(), sent);
    });
  }

  it('delays a read until a request succeeds, whatever is cancelled meanwhile', async () => {
    const { account, clock, service, run } = startAccount();
    const owner = {};
    run(1, 'cycle');
    await service.last.answer(yes());
    run(2, true, { owner });
    await service.last.fail(failure('RATE_LIMITED', { retryAfter: 20_000 }));
    const list = account.list();
    await calm();
    void account.cancel(owner);
    await clock.pass(5000);
    assert.equal(service.lists.length, 0);
    await service.last.answer(yes());
    await clock.pass(1000);
    await service.lists[0]?.answer(listOf());
    assert.deepEqual((await list).strips, []);
  });
});

describe('a strip', () => {
  it('stays available when reading it fails', async () => {
    const { account, service } = startAccount();
    const list = account.list();
    await service.lists[0]?.answer(listOf(makeStrip(MAC, [true])));
    await list;
    const failed = assert.rejects(account.get(MAC), { code: 'TIMEOUT' });
    await service.gets[0]?.fail(failure('TIMEOUT'));
    await failed;
    assert.equal(account.store.find(MAC)?.available, true);
  });
});
