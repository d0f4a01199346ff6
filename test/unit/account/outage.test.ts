import assert from 'node:assert/strict';
import type { SwitchAnswer } from '../../../src/api/types';
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
import { list, watch } from './watching';

/** A service that answers nothing until `until`, and ends each request with TIMEOUT after `timeout`. */
function silent({ service, clock }: TestAccount, until: number, timeout = 10_000): void {
  const answer = async (port: Parameters<typeof yes>[0]): Promise<SwitchAnswer> => {
    const left = until - clock.elapsed;
    await new Promise<void>((resolve) => {
      clock.setTimeout(resolve, Math.min(Math.max(left, 0), timeout));
    });
    if (left > timeout) throw failure('TIMEOUT');
    return yes(port);
  };
  service.autoSwitch = (_, port) => answer(port);
}

/** When requests reached the service, in milliseconds. */
const sentAt = ({ service }: TestAccount): number[] => service.switches.map(({ at }) => at);

describe('an outage', () => {
  it('that lasts 60 s replays none of 9 alternating commands, and ends each message in time', async () => {
    const lab = startAccount();
    silent(lab, 60_000);
    const endings = [];
    for (let second = 0; second < 9; second++) {
      endings.push(lab.run(1, second % 2 === 0));
      await lab.clock.pass(1000);
    }
    await lab.clock.pass(39_000);
    assert.deepEqual(
      endings.map(({ error }) => error?.code),
      [...Array<string>(8).fill('SUPERSEDED'), 'TIMEOUT'],
    );
    await lab.clock.pass(60_000);
    assert.deepEqual(
      sentAt(lab).filter((at) => at > 48_000),
      [],
    );
    assert.equal(lab.clock.pending, 0);
  });

  it('of 4 s replays one of 20 commands that came in one tick', async () => {
    const lab = startAccount();
    lab.service.autoSwitch = () =>
      lab.clock.elapsed < 4000 ? Promise.reject(failure('UNREACHABLE')) : Promise.resolve(yes());
    const endings = Array.from({ length: 20 }, (_, index) => lab.run(1, index % 2 === 0));
    await lab.clock.pass(20_000);
    assert.equal(sentAt(lab).filter((at) => at >= 4000).length, 1);
    assert.equal(endings.at(-1)?.outcome?.on, false);
    assert.ok(endings.slice(0, -1).every(({ error }) => error?.code === 'SUPERSEDED'));
  });

  it('makes an off give way to the on that came 200 ms later', async () => {
    const lab = startAccount();
    silent(lab, 25_000);
    const off = lab.run(1, false);
    await lab.clock.pass(200);
    const on = lab.run(1, true);
    await lab.clock.pass(9_800);
    assert.equal(off.error?.code, 'SUPERSEDED');
    await lab.clock.pass(20_000);
    assert.equal(on.outcome?.on, true);
    assert.equal(lab.service.switches.filter((call) => !call.on).length, 1);
  });

  it('of a service that never answers ends a thousand messages within the retries and one timeout', async () => {
    for (const macs of [1, 250]) {
      const lab = startAccount({ retryFor: 3000, timeout: 1000 });
      silent(lab, Infinity, 1000);
      const endings = Array.from({ length: 1000 }, (_, index) =>
        lab.run(1, index % 2 === 0, { mac: `STRIP ${index % macs}` }),
      );
      await lab.clock.pass(4000);
      await calm();
      assert.equal(endings.filter(({ times }) => times === 0).length, 0, `${macs} strips`);
      assert.ok(endings.every(({ error }) => error?.code === 'TIMEOUT' || error?.code === 'SUPERSEDED'));
      assert.equal(lab.clock.pending, 0);
    }
  });

  it('ends unsent what has waited too long, with the error that delayed it', async () => {
    const lab = startAccount({ retryFor: 0, concurrency: 1 });
    const first = lab.run(1, true);
    await lab.clock.pass(9_000);
    const waiting = [lab.run(1, 'toggle'), lab.run(2, true)];
    await lab.clock.pass(900);
    await lab.service.last.fail(failure('TIMEOUT'));
    assert.equal(first.error?.code, 'TIMEOUT');
    // The other outlet has waited longer for the only connection, and hangs.
    await lab.clock.pass(9_200);
    assert.deepEqual(lab.service.texts.slice(1), [`${MAC}/2 on`]);
    assert.deepEqual(
      waiting.map(({ error }) => error?.code),
      ['TIMEOUT', undefined],
    );
  });

  it('says that nothing was answered where no failure tells why a command waited', async () => {
    const lab = startAccount({ retryFor: 0, concurrency: 1 });
    lab.account.list().catch(() => undefined);
    const ending = lab.run(1, true);
    await lab.clock.pass(10_001);
    assert.equal(ending.error?.code, 'TIMEOUT');
    assert.equal(ending.error.sentenceKey, 'TIMEOUT.waiting');
    assert.deepEqual(ending.error.params, { seconds: 10 });
    assert.equal(lab.service.switches.length, 0);
  });

  it('does not give the failure of an outage that is over as the reason why a command waited', async () => {
    const lab = startAccount({ retryFor: 0 });
    lab.run(2, true);
    lab.run(1, true);
    await lab.service.last.fail(failure('UNREACHABLE'));
    lab.run(1, true);
    await lab.service.last.answer(yes());
    const ending = lab.run(2, true);
    await lab.clock.pass(10_001);
    assert.equal(ending.error?.sentenceKey, 'TIMEOUT.waiting');
  });

  it('ends what waits in time, however many commands come after it', async () => {
    const lab = startAccount({ retryFor: 0 });
    lab.run(1, true);
    const endings = [];
    for (let second = 0; second < 12; second++) {
      endings.push(lab.run(1, second % 2 === 0));
      await lab.clock.pass(1000);
    }
    assert.deepEqual(
      endings.map(({ error }) => error?.sentenceKey),
      [...Array<string>(2).fill('TIMEOUT.waiting'), ...Array<undefined>(10).fill(undefined)],
    );
  });

  it('does not end what waits while the service answers, however long the queue', async () => {
    const lab = startAccount({ retryFor: 10_000 });
    lab.service.autoSwitch = async (_, port) => {
      await new Promise<void>((resolve) => {
        lab.clock.setTimeout(resolve, 900);
      });
      return yes(port);
    };
    const endings = Array.from({ length: 30 }, (_, index) => lab.run(1, index % 2 === 0));
    await lab.clock.pass(30 * 900);
    assert.ok(endings.every(({ outcome }) => outcome !== undefined));
  });

  it('cancels waiting toggles in pairs', async () => {
    const lab = startAccount();
    const on = lab.run(1, true);
    const toggles = [lab.run(1, 'toggle'), lab.run(1, 'toggle'), lab.run(1, 'toggle')];
    await lab.service.last.fail(failure('UNREACHABLE'));
    assert.deepEqual(
      toggles.map(({ error }) => [error?.code, error?.sentenceKey]),
      [
        [undefined, undefined],
        ['SUPERSEDED', 'SUPERSEDED.toggles'],
        ['SUPERSEDED', 'SUPERSEDED.toggles'],
      ],
    );
    assert.deepEqual(toggles[2]?.error?.params, { mac: MAC, port: 1 });
    await lab.clock.pass(250);
    await lab.service.last.answer(yes());
    assert.equal(on.outcome?.on, true);
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true])));
    await lab.service.last.answer(yes());
    assert.equal(toggles[0]?.outcome?.on, false);
  });

  it('cancels a toggle that is still being read with the one behind it', async () => {
    const lab = startAccount();
    const first = lab.run(1, 'toggle');
    await lab.service.gets[0]?.fail(failure('UNREACHABLE'));
    const second = lab.run(1, 'toggle');
    await lab.clock.pass(60_000);
    assert.deepEqual([first.error?.code, second.error?.code], ['SUPERSEDED', 'SUPERSEDED']);
    assert.deepEqual(
      [first.error?.sentenceKey, second.error?.sentenceKey],
      Array(2).fill('SUPERSEDED.toggles'),
    );
    assert.equal(lab.service.all.length, 1);
  });

  it('leaves toggles apart where a cycle is between them, and the newest of several cycles', async () => {
    const lab = startAccount();
    lab.run(1, true);
    const waiting = [lab.run(1, 'cycle'), lab.run(1, 'toggle'), lab.run(1, 'cycle'), lab.run(1, 'toggle')];
    await lab.service.last.fail(failure('UNREACHABLE'));
    assert.deepEqual(
      waiting.map(({ error }) => error?.code),
      ['SUPERSEDED', undefined, undefined, undefined],
    );
  });

  it('lets an older "all" and its toggles alone, unless a newer "all" comes', async () => {
    const lab = startAccount();
    lab.run(1, true);
    const all = [lab.run('all', 'toggle'), lab.run('all', 'toggle')];
    const off = lab.run(1, false);
    await lab.service.last.fail(failure('UNREACHABLE'));
    assert.deepEqual(
      [...all, off].map(({ error }) => error?.code),
      ['SUPERSEDED', 'SUPERSEDED', undefined],
    );
  });

  it('does not end what is under way for another outlet', async () => {
    const lab = startAccount();
    const other = [lab.run(2, true), lab.run(2, false), lab.run(1, true, { mac: OTHER })];
    const first = lab.run(1, true);
    await lab.service.last.fail(failure('TIMEOUT'));
    assert.deepEqual(
      [first, ...other].map(({ times }) => times),
      [0, 0, 0, 0],
    );
  });

  it('that is over wakes what waits for a retry, within a second', async () => {
    const lab = startAccount({ retryFor: 60_000 });
    lab.clock.random = () => 0.999;
    let isDown = true;
    lab.service.autoSwitch = (_, port) =>
      isDown ? Promise.reject(failure('UNREACHABLE')) : Promise.resolve(yes(port));
    const endings = [lab.run(1, true), lab.run(2, true), lab.run(3, true)];
    await lab.clock.pass(20_000);
    isDown = false;
    const back = lab.clock.elapsed;
    lab.run(4, true);
    await lab.clock.pass(1000);
    assert.ok(endings.every(({ outcome }) => outcome?.on === true));
    assert.ok(Math.max(...sentAt(lab)) <= back + 1000);
  });

  it('that is over spreads retries over a second, and makes none later than it would be', async () => {
    const lab = startAccount();
    await lab.clock.pass(10_000);
    const luck = [0.999, 0.05, 0.4, 0.6];
    lab.clock.random = () => luck.shift() ?? 0.5;
    for (const port of [1, 2] as const) {
      lab.run(port, true);
      await lab.service.last.fail(failure('SERVICE', { retryable: true, retryAfter: port === 1 ? 9000 : 0 }));
    }
    lab.run(3, true);
    await lab.service.last.answer(yes(3));
    await lab.clock.pass(20_000);
    assert.deepEqual(sentAt(lab).slice(3), [10_025, 10_400]);
  });

  it('of one outlet is not retried more often because commands to another succeed', async () => {
    const lab = startAccount({ retryFor: 60_000 });
    lab.clock.random = () => 0.999;
    lab.service.autoSwitch = (_, port) =>
      port === 1 ? Promise.reject(failure('TIMEOUT')) : Promise.resolve(yes(port));
    lab.run(1, true);
    for (let second = 0; second < 60; second++) {
      lab.run(2, true);
      await lab.clock.pass(1000);
    }
    const attempts = lab.service.switches.filter(({ port }) => port === 1).length;
    assert.ok(attempts >= 10 && attempts <= 18, `${attempts} attempts in a minute`);
  });

  it('that is over for one outlet does not shorten the delay of a cycle at another', async () => {
    const lab = startAccount();
    lab.run(1, 'cycle', { delay: 20_000 });
    await lab.service.last.answer(yes());
    await lab.clock.pass(10_000);
    lab.run(2, true);
    await lab.service.last.answer(yes(2));
    await lab.clock.pass(9_999);
    assert.equal(lab.service.switches.length, 2);
    await lab.clock.pass(1);
    assert.deepEqual(lab.service.switchTexts.slice(2), [`${MAC}/1 on`]);
  });

  for (const [what, succeed] of [
    ['another command', (lab: TestAccount) => lab.run(1, true)],
    ['a list', (lab: TestAccount) => list(lab, makeStrip(MAC, [true]))],
  ] as const) {
    it(`that outlasts a command is over, for the log, when ${what} succeeds; the next one is logged again`, async () => {
      const lab = startAccount({ retryFor: 1000 });
      for (let round = 0; round < 2; round++) {
        lab.service.autoSwitch = () => Promise.reject(failure('UNREACHABLE'));
        const failing = lab.run(1, true);
        await lab.clock.pass(2000);
        assert.equal(failing.error?.code, 'UNREACHABLE');
        assert.deepEqual(lab.log.lines, ['retrying UNREACHABLE']);
        lab.service.autoSwitch = () => Promise.resolve(yes());
        await succeed(lab);
        await calm();
        assert.deepEqual(lab.log.lines.splice(0), ['retrying UNREACHABLE', 'retrying over']);
      }
    });
  }
});

describe('a machine that slept', () => {
  it('sends nothing that was asked for long before', async () => {
    const lab = startAccount();
    await lab.clock.pass(5 * 3_600_000);
    const first = lab.run(1, true);
    const waiting = lab.run(1, 'toggle');
    await lab.service.last.fail(failure('UNREACHABLE'));
    const other = lab.run(2, true);
    await lab.service.last.fail(failure('TIMEOUT'));
    lab.clock.jump = 8 * 3_600_000;
    await lab.clock.pass(250);
    assert.deepEqual(
      [first, other].map(({ error }) => error?.code),
      ['UNREACHABLE', 'TIMEOUT'],
    );
    await lab.clock.pass(1000);
    assert.equal(waiting.error?.code, 'TIMEOUT', 'the latest failure');
    assert.equal(lab.service.all.length, 2);
    assert.equal(lab.clock.pending, 0);
  });
});

describe('a process that stood still', () => {
  it('sends nothing that was asked for long before, although an answer had come before it went on', async () => {
    const lab = startAccount();
    const commands = Array.from({ length: 8 }, (_, index) => lab.run(1, index % 2 === 0));
    lab.clock.block(5 * 60_000);
    await lab.service.last.answer(yes());
    await lab.clock.pass(1000);
    assert.equal(commands[0]?.outcome?.on, true);
    const codes = commands.slice(1).map(({ error }) => error?.code);
    assert.deepEqual(new Set(codes), new Set(['TIMEOUT', 'SUPERSEDED']));
    assert.equal(lab.service.all.length, 1);
    assert.equal(lab.clock.pending, 0);
  });
});

describe('a rate limit', () => {
  it('lets only the newest of 30 commands that came during it go out', async () => {
    const lab = startAccount();
    lab.run(2, true);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 8000 }));
    const endings = [];
    for (let index = 0; index < 30; index++) {
      endings.push(lab.run(1, index % 2 === 0));
      await lab.clock.pass(100);
    }
    lab.service.autoSwitch = (_, port) => Promise.resolve(yes(port));
    await lab.clock.pass(10_000);
    assert.deepEqual(lab.service.switchTexts.slice(1).toSorted(), [`${MAC}/1 off`, `${MAC}/2 on`]);
    assert.ok(endings.slice(0, -1).every(({ error }) => error?.code === 'SUPERSEDED'));
    assert.equal(endings.at(-1)?.outcome?.on, false);
    assert.deepEqual(lab.log.lines, ['rate limited 8']);
  });

  it('that outlasts patience is probed once in 5 s; other commands end at once', async () => {
    const lab = startAccount();
    lab.run(1, true);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    lab.service.autoSwitch = () => Promise.reject(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    const endings = [];
    for (let second = 0; second < 10; second++) {
      endings.push(lab.run(1, true), lab.run(2, true));
      await lab.clock.pass(1000);
    }
    assert.ok(endings.every(({ error }) => error?.sentenceKey === 'RATE_LIMITED.deadline'));
    assert.deepEqual(sentAt(lab), [0, 0, 5000]);
    assert.deepEqual(lab.log.lines, ['rate limited 600']);
  });

  it('at every poll is logged once, and again if it is longer or comes back after an hour without one', async () => {
    const lab = startAccount({ interval: 5000 });
    let retryAfter = 4000;
    lab.service.autoList = () => Promise.reject(failure('RATE_LIMITED', { retryAfter }));
    lab.account.subscribe(() => undefined);
    await lab.clock.pass(120_000);
    assert.ok(lab.service.lists.length > 5);
    assert.deepEqual(lab.log.lines, ['rate limited 4', 'failing list RATE_LIMITED']);

    retryAfter = 60_000;
    await lab.clock.pass(300_000);
    assert.deepEqual(lab.log.lines.slice(2), ['rate limited 60']);

    const limited = lab.service.autoList;
    const works = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
    lab.service.autoList = works;
    await lab.clock.pass(50 * 60_000);
    retryAfter = 4000;
    lab.service.autoList = limited;
    await lab.clock.pass(20_000);
    assert.deepEqual(lab.log.lines.filter((line) => line === 'rate limited 4').length, 1);
    const told = lab.log.lines.length;

    lab.service.autoList = works;
    await lab.clock.pass(2 * 3_600_000);
    lab.service.autoList = () => Promise.reject(failure('RATE_LIMITED', { retryAfter }));
    await lab.clock.pass(120_000);
    assert.deepEqual(lab.log.lines.slice(told), [
      'recovered list',
      'rate limited 4',
      'failing list RATE_LIMITED',
    ]);
  });

  it('holds a command that begins because the answer ended the commands in front of it', async () => {
    const lab = startAccount();
    lab.run(1, true);
    lab.run('all', true);
    const held = lab.run(3, true);
    lab.run('all', false);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 8000 }));
    await lab.clock.pass(7000);
    assert.deepEqual(lab.service.switchTexts, [`${MAC}/1 on`]);
    assert.equal(held.error?.code, 'SUPERSEDED');
    await lab.clock.pass(1000);
    assert.deepEqual(lab.service.switchTexts.slice(1), [`${MAC}/all off`]);
  });

  it('lets a held command be replaced at once, although no request may be sent at the moment', async () => {
    const lab = startAccount({ concurrency: 1 });
    lab.run(2, 'cycle', { delay: 2000 });
    await lab.service.last.answer(yes(2));
    lab.run(3, true);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 20_000 }));
    const held = lab.run(1, true);
    await lab.clock.pass(2000);
    assert.deepEqual(lab.service.switchTexts.slice(2), [`${MAC}/2 on`]);
    lab.run(1, false);
    await calm();
    assert.equal(held.error?.code, 'SUPERSEDED');
  });

  it('that becomes longer while it lasts is logged again', async () => {
    const lab = startAccount();
    lab.run(1, true);
    lab.run(2, true);
    await lab.service.switches[0]?.fail(failure('RATE_LIMITED', { retryAfter: 8000 }));
    await lab.service.switches[1]?.fail(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    assert.deepEqual(lab.log.lines, ['rate limited 8', 'rate limited 600']);
  });

  it('is probed by a command that has waited, if it outlasts what is left of its patience', async () => {
    const lab = startAccount({ concurrency: 1, timeout: 30_000 });
    lab.run(1, true);
    const waiting = lab.run(2, true);
    await lab.clock.pass(20_000);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 15_000 }));
    await lab.clock.pass(0);
    assert.deepEqual(lab.service.switchTexts.slice(1), [`${MAC}/2 on`]);
    await lab.service.last.answer(yes(2));
    assert.equal(waiting.outcome?.on, true);
  });

  it('on a command does not silence the poll once commands succeed again', async () => {
    const lab = startAccount({ interval: 5000 });
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
    lab.account.subscribe(() => undefined);
    await lab.clock.pass(1000);
    lab.run(1, true);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    assert.equal(typeof lab.account.status().cooldownUntil, 'number');
    await lab.clock.pass(6000);
    const before = lab.service.lists.length;
    lab.run(1, true);
    await calm();
    await lab.service.last.answer(yes());
    assert.equal(lab.account.status().cooldownUntil, null);
    await lab.clock.pass(45_000);
    assert.ok(lab.service.lists.length >= before + 8, `${lab.service.lists.length - before} polls in 45 s`);
  });

  it('that is long makes the strips unavailable as soon as the list cannot be read when it is due', async () => {
    const lab = startAccount();
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
    const { take } = watch(lab);
    await lab.clock.pass(0);
    lab.run(1, true);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    assert.equal(lab.account.store.find(MAC)?.available, true);
    await lab.clock.pass(60_000);
    assert.deepEqual(take(), [`${MAC} unavailable`]);
    assert.equal(lab.account.status().error?.code, 'RATE_LIMITED');
    await lab.clock.pass(600_000);
    assert.deepEqual(take(), [`${MAC} available`]);
    assert.equal(lab.account.status().error, null);
  });

  it('that is long makes the strips unavailable, too, where it begins while the list waits for its turn', async () => {
    const lab = startAccount({ concurrency: 1 });
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
    const { take } = watch(lab);
    await lab.clock.pass(14_000);
    lab.run(1, true);
    await lab.clock.pass(5_000);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 3_600_000 }));
    await lab.clock.pass(1_000);
    assert.deepEqual(take(), [`${MAC} unavailable`]);
    assert.equal(lab.service.lists.length, 1);
    assert.equal(lab.account.status().error?.code, 'RATE_LIMITED');
  });

  it('that is long keeps the strips unavailable, although a request from before it succeeds', async () => {
    const lab = startAccount();
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
    const { take } = watch(lab);
    await lab.clock.pass(10_000);
    lab.run(1, true);
    lab.run(1, true, { mac: OTHER });
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 3_600_000 }));
    await lab.clock.pass(6_000);
    assert.deepEqual(take(), [`${MAC} unavailable`]);
    await lab.service.switches[0]?.answer(yes());
    assert.deepEqual(take(), [`${MAC} available`]);
    await lab.clock.pass(60_000);
    assert.deepEqual(take(), [`${MAC} unavailable`]);
    assert.equal(lab.account.status().available, false);
    assert.equal(lab.service.lists.length, 1);
  });

  it('that begins with the readings of a round makes the strips unavailable when the next list is due', async () => {
    const lab = startAccount();
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
    lab.service.autoGet = () => Promise.reject(failure('RATE_LIMITED', { retryAfter: 1_800_000 }));
    const { take } = watch(lab, { readings: 'all' });
    await lab.clock.pass(0);
    assert.equal(lab.account.store.find(MAC)?.available, true);
    await lab.clock.pass(60_000);
    assert.deepEqual(take(), [`${MAC} unavailable`]);
    assert.equal(lab.service.lists.length, 1);
    lab.service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true])));
    await lab.clock.pass(1_800_000);
    assert.deepEqual(take(), [`${MAC} available`]);
  });

  it('that is short, but follows others without end, makes the strips unavailable, too', async () => {
    const lab = startAccount();
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
    lab.service.autoSwitch = () => Promise.reject(failure('RATE_LIMITED', { retryAfter: 20_000 }));
    const { take } = watch(lab);
    await lab.clock.pass(0);
    for (let turn = 0; turn < 30; turn++) {
      lab.run(1, true);
      await lab.clock.pass(10_000);
    }
    assert.equal(lab.service.lists.length, 1);
    assert.deepEqual(take(), [`${MAC} unavailable`]);
  });

  it('that kept a poll waiting is forgotten once nobody listens any more', async () => {
    const lab = startAccount();
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
    const limit = async (retryAfter: number) => {
      lab.run(1, true);
      await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter }));
    };
    const leave = lab.account.subscribe(() => undefined);
    await lab.clock.pass(0);
    await limit(50_000);
    await lab.clock.pass(45_000);
    leave();
    await lab.clock.pass(3_600_000);
    await limit(5_000);
    lab.account.subscribe(() => undefined);
    assert.equal(lab.account.store.find(MAC)?.available, true);
  });

  it('does not keep a round waiting that has more readings to ask for', async () => {
    const lab = startAccount({ retryFor: 3_600_000, concurrency: 1 });
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true]), makeStrip(OTHER, [true])));
    lab.service.autoGet = () => Promise.reject(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    watch(lab, { readings: 'all' });
    await lab.clock.pass(1000);
    assert.deepEqual(lab.log.lines, ['rate limited 600', 'failing readings RATE_LIMITED']);
  });

  it('that is long is shown to a subscriber who comes meanwhile', async () => {
    const lab = startAccount();
    lab.run(1, true);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    lab.account.subscribe(() => undefined);
    await lab.clock.pass(0);
    assert.equal(lab.account.status().available, false);
    assert.equal(lab.account.status().error?.code, 'RATE_LIMITED');
  });

  it('that is short changes nothing about the strips', async () => {
    const lab = startAccount({ interval: 5000 });
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
    const { take } = watch(lab);
    await lab.clock.pass(600_000);
    lab.run(1, true);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 30_000 }));
    await lab.clock.pass(60_000);
    assert.deepEqual(take(), []);
    await lab.clock.pass(600_000);
    lab.run(1, true);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 30_000 }));
    await lab.clock.pass(60_000);
    assert.deepEqual(take(), [], 'nor does another one, long after it');
  });

  it("that outlasts a command ends it with the command's own failure", async () => {
    const lab = startAccount();
    const failing = lab.run(1, true);
    lab.run(2, true);
    await lab.service.switches[1]?.fail(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    await lab.service.switches[0]?.fail(failure('TIMEOUT'));
    assert.equal(failing.error?.code, 'TIMEOUT');
  });

  for (const [what, details] of [
    ['of no duration', { retryAfter: 0 }],
    ['that names no time', {}],
  ] as const) {
    it(`${what} is no pause, but is told to the log like any other reason for a retry`, async () => {
      const lab = startAccount();
      const ending = lab.run(1, true);
      await lab.service.last.fail(failure('RATE_LIMITED', details));
      assert.deepEqual(lab.log.lines, ['retrying RATE_LIMITED']);
      await lab.clock.pass(250);
      await lab.service.last.answer(yes());
      assert.equal(ending.outcome?.on, true);
      assert.deepEqual(lab.log.lines, ['retrying RATE_LIMITED', 'retrying over']);
    });
  }

  it('is not shortened by a shorter one', async () => {
    const lab = startAccount();
    lab.run(1, true);
    lab.run(2, true);
    await lab.service.switches[0]?.fail(failure('RATE_LIMITED', { retryAfter: 20_000 }));
    await lab.service.switches[1]?.fail(failure('RATE_LIMITED', { retryAfter: 2000 }));
    await lab.clock.pass(19_999);
    assert.equal(lab.service.switches.length, 2);
    await lab.clock.pass(1);
    assert.equal(lab.service.switches.length, 4);
  });
});

describe('a node that is removed', () => {
  it('takes its 400 waiting commands with it, and says of the one under way that it may be carried out', async () => {
    const lab = startAccount();
    const owner = {};
    const mine = Array.from({ length: 401 }, (_, index) => lab.run(1, index % 2 === 0, { owner }));
    const other = lab.run(1, true, { owner: {} });
    void lab.account.cancel(owner);
    await calm();
    assert.equal(mine[0]?.error?.sentenceKey, 'CLOSED.sent');
    assert.ok(mine.slice(1).every(({ error }) => error?.sentenceKey === 'CLOSED.notSent'));
    await lab.service.last.answer(yes());
    await lab.service.last.answer(yes());
    assert.equal(other.outcome?.on, true);
    await lab.clock.pass(60_000);
    assert.deepEqual(lab.service.switchTexts, [`${MAC}/1 on`, `${MAC}/1 on`]);
    assert.equal(lab.clock.pending, 0);
  });

  it('has told how many of its commands may not be carried out: not a cycle whose "on" still comes', async () => {
    const lab = startAccount();
    const owner = {};
    lab.run(1, 'cycle', { owner });
    await lab.service.last.answer(yes(1));
    lab.run(1, true, { owner });
    lab.run(2, true, { owner });
    lab.run(3, true);
    assert.equal(lab.account.cancel(owner).length, 2);
  });

  it('does not retry what fails, nor switch what a toggle has read', async () => {
    const lab = startAccount();
    const owner = {};
    const failing = lab.run(1, true, { owner });
    const retrying = lab.run(2, true, { owner });
    const toggle = lab.run(3, 'toggle', { owner });
    await lab.service.switches[1]?.fail(failure('UNREACHABLE', NOT_SENT, 'refused'));
    void lab.account.cancel(owner);
    await lab.service.switches[0]?.fail(failure('UNREACHABLE'));
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true, true, true])));
    await lab.clock.pass(60_000);
    assert.deepEqual(
      [failing, retrying, toggle].map(({ error }) => error?.sentenceKey),
      ['CLOSED.sent', 'CLOSED.notSent', 'CLOSED.notSent'],
    );
    assert.equal(lab.service.switches.length, 2);
    assert.equal(lab.clock.pending, 0);
  });

  it('leaves no backlog behind its command that fails afterwards: of the others, only the newest on or off is sent', async () => {
    for (const [action, requests] of [
      [true, [`${MAC}/1 on`, `${MAC}/1 on`]],
      ['cycle', [`${MAC}/1 off`, `${MAC}/1 on`, `${MAC}/1 on`]],
    ] as const) {
      const lab = startAccount();
      const owner = {};
      lab.run(1, action, { owner });
      const older = lab.run(1, false);
      const newest = lab.run(1, true);
      void lab.account.cancel(owner);
      await lab.service.last.fail(failure('TIMEOUT'));
      await lab.clock.pass(5000);
      assert.equal(older.error?.sentenceKey, 'SUPERSEDED.newer');
      if (action === 'cycle') await lab.service.last.answer(yes());
      await lab.service.last.answer(yes());
      assert.equal(newest.outcome?.on, true);
      assert.deepEqual(lab.service.switchTexts, requests);
    }
  });

  it('does not say that nothing was sent of what an attempt may have switched', async () => {
    const lab = startAccount({ protectedOutlets: [{ mac: OTHER, port: 1 }] });
    const owner = {};
    const timedOut = lab.run(1, true, { owner });
    const toggle = lab.run(2, 'toggle', { owner });
    const partly = lab.run('all', false, { owner, mac: OTHER });
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true, true, true, true])));
    for (const call of [...lab.service.switches]) {
      if (call.port === 3) await call.answer(yes(3));
      else
        await call.fail(call.mac === MAC ? failure('TIMEOUT') : failure('UNREACHABLE', NOT_SENT, 'refused'));
    }
    void lab.account.cancel(owner);
    await calm();
    assert.deepEqual(
      [timedOut, toggle, partly].map(({ error }) => error?.sentenceKey),
      ['CLOSED.sent', 'CLOSED.sent', 'CLOSED.sent'],
    );
  });

  it('ends what waits for the concurrency limit', async () => {
    const lab = startAccount({ concurrency: 1 });
    const owner = {};
    lab.run(1, true);
    const waiting = lab.run(2, true, { owner });
    void lab.account.cancel(owner);
    await calm();
    assert.equal(waiting.error?.sentenceKey, 'CLOSED.notSent');
    await lab.service.last.answer(yes());
    await calm();
    assert.equal(lab.service.switches.length, 1);
    const next = lab.run(2, false);
    await lab.service.last.answer(yes(2));
    assert.equal(next.outcome?.on, false);
  });

  it('frees every outlet of an "all" that is being retried in several requests', async () => {
    const lab = startAccount({ protectedOutlets: [{ mac: MAC, port: 4 }] });
    const owner = {};
    lab.run('all', false, { owner });
    for (const [index, retryAfter] of [1000, 20_000, 20_000].entries())
      await lab.service.switches[index]?.fail(failure('SERVICE', { retryable: true, retryAfter }));
    await lab.clock.pass(1000);
    assert.deepEqual(lab.service.switchTexts.slice(3), [`${MAC}/1 off`]);
    void lab.account.cancel(owner);
    await lab.service.last.answer(yes());
    const next = lab.run(2, true);
    await lab.service.last.answer(yes(2));
    assert.equal(next.outcome?.on, true);
  });

  it('makes the list be read soon where its command may have been carried out', async () => {
    const lab = startAccount();
    lab.service.autoList = () => Promise.resolve(listOf());
    watch(lab);
    await lab.clock.pass(16_000);
    const lists = lab.service.lists.length;
    const owner = {};
    lab.run(1, true, { owner });
    void lab.account.cancel(owner);
    await lab.service.last.fail(failure('TIMEOUT'));
    await lab.clock.pass(4000);
    assert.equal(lab.service.lists.length, lists + 1);
  });

  it('leaves the "on" of a cycle in its delay to go out at its time', async () => {
    const lab = startAccount();
    const owner = {};
    const cycle = lab.run(1, 'cycle', { owner });
    await lab.service.last.answer(yes());
    void lab.account.cancel(owner);
    await calm();
    assert.equal(cycle.error?.sentenceKey, 'CLOSED.cycle');
    await lab.clock.pass(4999);
    assert.equal(lab.service.switches.length, 1);
    await lab.clock.pass(1);
    assert.deepEqual(lab.service.switchTexts, [`${MAC}/1 off`, `${MAC}/1 on`]);
    await lab.service.last.fail(failure('UNREACHABLE'));
    await lab.clock.pass(250);
    await lab.service.last.answer(yes());
    assert.deepEqual(cycle.progress, ['pausing'], 'nothing more to somebody who is gone');
    assert.equal(lab.clock.pending, 0);
  });
});

describe('the on half of a cycle', () => {
  async function restoring(lab: TestAccount, owner = {}) {
    const cycle = lab.run(1, 'cycle', { owner });
    await lab.service.last.answer(yes());
    await lab.clock.pass(5000);
    await lab.service.last.fail(failure('UNREACHABLE'));
    return cycle;
  }

  it('is taken over by a newer on, which is then retried without a deadline', async () => {
    const lab = startAccount();
    const cycle = await restoring(lab);
    lab.service.autoSwitch = () => Promise.reject(failure('UNREACHABLE'));
    const on = lab.run(1, true);
    await lab.clock.pass(120_000);
    assert.equal(cycle.error?.code, 'SUPERSEDED');
    assert.equal(on.times, 0);
    lab.service.autoSwitch = () => Promise.resolve(yes());
    await lab.clock.pass(10_000);
    assert.equal(on.outcome?.on, true);
    assert.equal(lab.clock.pending, 0);
  });

  it('is not taken over by a newer on for more outlets, which has a deadline', async () => {
    const lab = startAccount();
    const cycle = await restoring(lab);
    lab.service.autoSwitch = () => Promise.reject(failure('UNREACHABLE'));
    const all = lab.run('all', true);
    await lab.clock.pass(45_000);
    assert.equal(all.error?.code, 'UNREACHABLE');
    assert.equal(cycle.times, 0);
    lab.service.autoSwitch = () => Promise.resolve(yes());
    await lab.clock.pass(10_000);
    assert.equal(cycle.outcome?.on, true);
    assert.deepEqual(new Set(lab.service.switchTexts), new Set([`${MAC}/1 off`, `${MAC}/1 on`]));
    assert.equal(lab.clock.pending, 0);
  });

  it('of a whole strip is taken over by a newer on for it, but not where protected outlets were left out', async () => {
    for (const protectedOutlets of [[], [{ mac: MAC, port: 2 as const }]]) {
      const lab = startAccount({ protectedOutlets });
      lab.service.autoSwitch = (_, port) => Promise.resolve(yes(port));
      const cycle = lab.run('all', 'cycle');
      await lab.clock.pass(4_000);
      lab.service.autoSwitch = () => Promise.reject(failure('UNREACHABLE'));
      await lab.clock.pass(2_000);
      const all = lab.run('all', true);
      await lab.clock.pass(45_000);
      assert.equal(cycle.error?.code, protectedOutlets.length === 0 ? 'SUPERSEDED' : undefined);
      assert.equal(all.error?.code, protectedOutlets.length === 0 ? undefined : 'UNREACHABLE');
      lab.service.autoSwitch = (_, port) => Promise.resolve(yes(port));
      await lab.clock.pass(10_000);
      assert.equal((protectedOutlets.length === 0 ? all : cycle).outcome?.on, true);
      assert.equal(lab.clock.pending, 0);
    }
  });

  it('is taken over by a newer off, also from the newer on that took it over', async () => {
    const lab = startAccount();
    await restoring(lab);
    const on = lab.run(1, true);
    await calm();
    await lab.service.last.fail(failure('UNREACHABLE'));
    const off = lab.run(1, false);
    await calm();
    await lab.service.last.answer(yes());
    assert.equal(on.error?.code, 'SUPERSEDED');
    assert.equal(off.outcome?.on, false);
    assert.equal(lab.clock.pending, 0);
  });

  it('is taken over by a newer off, also where it had to wait for other requests to end', async () => {
    const lab = startAccount({ concurrency: 1 });
    lab.run(2, true);
    const cycle = lab.run(1, 'cycle');
    await lab.service.last.answer(yes(2));
    await lab.service.last.answer(yes(1));
    await lab.clock.pass(5000);
    await lab.service.last.fail(failure('TIMEOUT'));
    const off = lab.run(1, false);
    await lab.clock.pass(0);
    assert.equal(cycle.error?.code, 'SUPERSEDED');
    await lab.service.last.answer(yes(1));
    assert.equal(off.outcome?.on, false);
  });

  it('is not lost when a newer on is cancelled before it takes over', async () => {
    for (const action of [true, false]) {
      const lab = startAccount();
      const cycle = await restoring(lab);
      await lab.clock.pass(250);
      const owner = {};
      const newer = lab.run(1, action, { owner });
      void lab.account.cancel(owner);
      await lab.service.last.fail(failure('UNREACHABLE'));
      assert.equal(newer.error?.sentenceKey, 'CLOSED.notSent');
      await lab.clock.pass(10_000);
      await lab.service.last.answer(yes());
      assert.equal(cycle.outcome?.on, true);
      assert.deepEqual(lab.service.switchTexts.slice(1), Array(3).fill(`${MAC}/1 on`));
      assert.equal(lab.clock.pending, 0);
    }
  });

  it('is not lost when a newer command is cancelled while the "on" waits for other requests to end', async () => {
    for (const action of [true, false]) {
      const lab = startAccount({ concurrency: 1 });
      const cycle = await restoring(lab);
      lab.run(2, true, { mac: OTHER });
      await lab.clock.pass(1000);
      const owner = {};
      lab.run(1, action, { owner });
      await calm();
      void lab.account.cancel(owner);
      const hanging = lab.service.last;
      lab.service.autoSwitch = () => Promise.resolve(yes());
      await hanging.answer(yes(2));
      await lab.clock.pass(60_000);
      assert.equal(lab.service.last.text, `${MAC}/1 on`);
      assert.equal(cycle.outcome?.on, true);
    }
  });

  it('is not lost when a newer "all" is cancelled while it waits for another outlet', async () => {
    const lab = startAccount();
    lab.run(2, true);
    const cycle = lab.run(1, 'cycle');
    await lab.service.last.answer(yes());
    await lab.clock.pass(5000);
    const owner = {};
    const newer = lab.run('all', true, { owner });
    void lab.account.cancel(owner);
    await lab.service.last.fail(failure('UNREACHABLE'));
    const other = lab.run('all', true, { owner });
    void lab.account.cancel(owner);
    await lab.clock.pass(250);
    await lab.service.last.answer(yes());
    assert.deepEqual(
      [newer, other, cycle].map(({ error }) => error?.sentenceKey),
      ['CLOSED.notSent', 'CLOSED.notSent', undefined],
    );
    assert.equal(cycle.outcome?.on, true);
  });

  it('is taken over by a newer off although the node of the cycle was removed', async () => {
    const lab = startAccount();
    const owner = {};
    const cycle = await restoring(lab, owner);
    void lab.account.cancel(owner);
    const off = lab.run(1, false);
    await calm();
    await lab.service.last.answer(yes());
    assert.equal(cycle.error?.sentenceKey, 'CLOSED.cycle');
    assert.equal(off.outcome?.on, false);
    await lab.clock.pass(60_000);
    assert.deepEqual(lab.service.switchTexts, [`${MAC}/1 off`, `${MAC}/1 on`, `${MAC}/1 off`]);
    assert.equal(lab.clock.pending, 0);
  });

  it('is taken over by a newer off, which has a deadline', async () => {
    const lab = startAccount();
    await restoring(lab);
    lab.service.autoSwitch = () => Promise.reject(failure('UNREACHABLE'));
    const off = lab.run(1, false);
    await lab.clock.pass(30_000);
    assert.equal(off.error?.code, 'UNREACHABLE');
    assert.equal(lab.clock.pending, 0);
  });

  it('goes out although the off failed first with TIMEOUT and then with AUTH', async () => {
    const lab = startAccount();
    const cycle = lab.run(1, 'cycle');
    await lab.service.last.fail(failure('TIMEOUT'));
    await lab.clock.pass(250);
    await lab.service.last.fail(failure('AUTH'));
    await lab.clock.pass(5000);
    assert.deepEqual(lab.service.switchTexts.at(-1), `${MAC}/1 on`);
    await lab.service.last.answer(yes());
    assert.equal(cycle.error?.code, 'AUTH');
  });

  it('does not make what waits behind the delay too old', async () => {
    const lab = startAccount();
    lab.run(1, 'cycle', { delay: 3_600_000 });
    await lab.service.last.answer(yes());
    const behind = [lab.run(1, 'toggle'), lab.run('all', true), lab.run(2, false)];
    await lab.clock.pass(3_600_000);
    assert.deepEqual(
      behind.map(({ times }) => times),
      [0, 0, 0],
    );
    await lab.service.last.answer(yes());
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true])));
    assert.deepEqual(lab.service.switchTexts.at(-1), `${MAC}/1 off`);
  });
});

describe('what the service does not say', () => {
  it('of a strip that cannot be reached, because a command failed, does not make it available', async () => {
    const lab = startAccount({ retryFor: 0 });
    await list(lab, makeStrip(MAC, [true], { available: false }));
    lab.run(1, false);
    await lab.service.last.fail(failure('TIMEOUT'));
    assert.equal(lab.account.store.find(MAC)?.available, false);
  });

  it('of other outlets than the one asked changes nothing about them', async () => {
    const lab = startAccount();
    const { take } = watch(lab);
    await list(lab, makeStrip(MAC, [false, false, false, false]));
    lab.run(2, true);
    await lab.service.last.answer({
      results: [2, 3].map((port) => ({ port, ok: true })),
      confirmed: [2, 3],
      ...bodyOf({}),
    });
    assert.deepEqual(take(), [`${MAC}/2 on`]);
    assert.equal(lab.account.store.lastState(MAC, 3), false);
  });

  it('of the outlet in an answer that contradicts itself changes nothing about it', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [false]));
    const ending = lab.run(1, true);
    // As of {"success": false, "results": [{"port": 1, "ok": true}]}.
    await lab.service.last.fail(failure('SWITCH_FAILED', { results: [{ port: 1, ok: true }] }));
    assert.equal(ending.error?.code, 'SWITCH_FAILED');
    assert.equal(lab.account.store.lastState(MAC, 1), false);
  });

  it('of outlets of an "all" clearly, as a yes without any no or beside a no, changes nothing about them', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [false, false]));
    const said = (...ok: boolean[]) => ok.map((each, index) => ({ port: Math.min(index + 1, 2), ok: each }));
    for (const results of [said(true, true), said(true, true, false)]) {
      const ending = lab.run('all', true);
      await lab.service.last.fail(failure('SWITCH_FAILED', { results }));
      assert.equal(ending.error?.code, 'SWITCH_FAILED');
      assert.equal(lab.account.store.lastState(MAC, 2), false);
    }
    assert.equal(lab.account.store.lastState(MAC, 1), true, 'it has a yes, and another outlet has a no');
  });

  it('of outlets of an "all" is read again instead of assumed', async () => {
    const lab = startAccount();
    const { take } = watch(lab);
    await list(lab, makeStrip(MAC, [false, false, false, false]));
    await lab.clock.pass(6000);
    const before = lab.service.lists.length;
    lab.run('all', true);
    await lab.service.last.answer({ results: [{ port: 1, ok: true }], confirmed: [1], ...bodyOf({}) });
    assert.deepEqual(take(), [`${MAC}/1 on`, ...[2, 3, 4].map((port) => `${MAC}/${port} unknown`)]);
    await lab.clock.pass(1000);
    assert.equal(lab.service.lists.length, before + 1);
  });
});

describe('reads', () => {
  it('are refused when ten thousand are waiting already', async () => {
    const lab = startAccount();
    const reads = Array.from({ length: 10_000 }, (_, index) => lab.account.get(`STRIP ${index}`));
    await assert.rejects(lab.account.get(MAC), { code: 'BUSY' });
    await assert.rejects(lab.account.list(), { code: 'BUSY' });
    await Promise.all([Promise.allSettled(reads), lab.account.close()]);
  });

  it('that end with a defect tell that to their caller only', async () => {
    const lab = startAccount();
    const defect = new TypeError('defect');
    lab.service.autoList = () => Promise.reject(defect);
    await assert.rejects(lab.account.list(), defect);
    // Node.js reports a rejected promise that nobody handles only after all microtasks.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('are refused for those that wait, not for all that ever were', async () => {
    const lab = startAccount();
    lab.service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true])));
    for (let round = 0; round < 101; round++)
      await Promise.all(Array.from({ length: 100 }, (_, index) => lab.account.get(`STRIP ${index}`)));
    assert.equal(lab.service.gets.length, 10_100);
  });

  it('wait for the end of a rate limit that is not too long', async () => {
    const lab = startAccount();
    lab.run(1, true);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 20_000 }));
    const read = lab.account.get(MAC);
    await lab.clock.pass(19_999);
    assert.equal(lab.service.gets.length, 0);
    await lab.clock.pass(1);
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true])));
    assert.equal((await read).strip.mac, MAC);
  });

  it('send nothing during a longer one, which they would make longer still', async () => {
    const lab = startAccount();
    lab.run(1, true);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    await lab.clock.pass(60_000);
    await assert.rejects(lab.account.get(MAC), { code: 'RATE_LIMITED' });
    await assert.rejects(lab.account.list(), { code: 'RATE_LIMITED' });
    assert.equal(lab.service.gets.length + lab.service.lists.length, 0);
  });
});
