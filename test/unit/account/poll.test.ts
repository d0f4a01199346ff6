import assert from 'node:assert/strict';
import type { Strip } from '../../../src/api/types';
import { failure, listOf, MAC, makeStrip, OTHER, stripOf, yes } from '../../support/scripted-service';
import { startAccount, said, type TestAccount } from './support';
import { watch } from './watching';

const times = ({ service }: TestAccount): number[] => service.lists.map(({ at }) => at);

/** An account somebody watches, whose service answers at once as `answer` says. */
function watched(answer: () => ReturnType<typeof listOf> | Error, settings = {}) {
  const lab = startAccount(settings);
  lab.service.autoList = () => {
    const what = answer();
    return what instanceof Error ? Promise.reject(what) : Promise.resolve(what);
  };
  const stop = lab.account.subscribe(() => undefined);
  return { lab, stop };
}

describe('the poll', () => {
  it('begins with the first subscriber and ends with the last', async () => {
    const lab = startAccount();
    lab.service.autoList = () => Promise.resolve(listOf());
    await lab.clock.pass(100_000);
    assert.deepEqual(times(lab), []);
    const first = lab.account.subscribe(() => undefined);
    const second = lab.account.subscribe(() => undefined);
    await lab.clock.pass(60_000);
    assert.deepEqual(times(lab), [100_000, 115_000, 145_000]);
    first();
    first();
    await lab.clock.pass(30_000);
    assert.equal(lab.service.lists.length, 4);
    second();
    assert.equal(lab.clock.pending, 0);
    await lab.clock.pass(100_000);
    assert.equal(lab.service.lists.length, 4);
  });

  it('asks once per interval, however many subscribe', async () => {
    const lab = startAccount();
    const readings = { load: 1, voltage: 230, signal: -60 };
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true], readings)));
    for (let i = 0; i < 40; i++) lab.account.subscribe(() => undefined, 'all');
    await lab.clock.pass(30_000 * 9);
    assert.equal(lab.service.all.length, 10);
  });

  it('varies the interval by a tenth either way, and never goes below five seconds', async () => {
    const { lab } = watched(() => listOf(), { interval: 5000 });
    await lab.clock.pass(7499);
    assert.deepEqual(times(lab), [0]);
    lab.clock.random = () => 0;
    await lab.clock.pass(1 + 5000);
    lab.clock.random = () => 1;
    await lab.clock.pass(5000 + 5500);
    assert.deepEqual(times(lab), [0, 7500, 12_500, 17_500, 23_000]);
  });

  for (const [luck, waited] of [
    [0, 5000],
    [0.1, 8000],
    [0.9, 27_000],
  ] as const) {
    it(`first waits ${waited} ms where ${luck} is drawn, so that accounts that start together spread out`, async () => {
      const lab = startAccount();
      lab.clock.random = () => luck;
      lab.account.subscribe(() => undefined);
      await lab.service.lists[0]?.answer(listOf());
      await lab.clock.pass(waited - 1);
      assert.equal(lab.service.lists.length, 1);
      await lab.clock.pass(1);
      assert.equal(lab.service.lists.length, 2);
    });
  }

  it('asks a slow service no more often', async () => {
    const lab = startAccount({ interval: 5000 });
    lab.account.subscribe(() => undefined);
    await lab.clock.pass(9000);
    await lab.service.lists[0]?.answer(listOf());
    await lab.clock.pass(7499);
    assert.equal(lab.service.lists.length, 1);
    await lab.clock.pass(1);
    assert.equal(lab.service.lists.length, 2);
  });

  it('shares its request with a list node that asks at the same time', async () => {
    const lab = startAccount();
    lab.account.subscribe(() => undefined);
    const list = lab.account.list();
    assert.equal(lab.service.lists.length, 1);
    await lab.service.lists[0]?.answer(listOf(makeStrip(MAC, [true])));
    assert.equal((await list).strips.length, 1);
  });

  it('has one list on its way, though its only subscriber goes and another comes', async () => {
    const lab = startAccount();
    lab.account.subscribe(() => undefined)();
    lab.account.subscribe(() => undefined);
    assert.equal(lab.service.lists.length, 1);
    await lab.service.lists[0]?.answer(listOf());
    await lab.clock.pass(14_999);
    assert.equal(lab.service.lists.length, 1);
    await lab.clock.pass(1);
    assert.equal(lab.service.lists.length, 2);
  });

  it('keeps its floor though its only subscriber goes and another comes', async () => {
    const lab = startAccount();
    lab.service.autoList = () => Promise.resolve(listOf());
    for (let redeploy = 0; redeploy < 12; redeploy++) {
      const stop = lab.account.subscribe(() => undefined);
      await lab.clock.pass(1000);
      stop();
    }
    assert.deepEqual(times(lab), [0, 5000, 10_000]);
    assert.equal(lab.clock.pending, 0);
    await lab.clock.pass(0);
    lab.account.subscribe(() => undefined);
    await lab.clock.pass(3000);
    assert.deepEqual(times(lab).slice(3), [15_000], 'though it came earlier');
  });

  it('ends with the list that is on its way when the last subscriber goes', async () => {
    const lab = startAccount();
    lab.account.subscribe(() => undefined)();
    await lab.service.lists[0]?.answer(listOf());
    await lab.clock.pass(100_000);
    assert.equal(lab.service.lists.length, 1);
    assert.equal(lab.clock.pending, 0);
  });

  it('keeps its pace however many commands succeed', async () => {
    const { lab } = watched(() => listOf(makeStrip(MAC, [true])));
    lab.service.autoSwitch = (_, port) => Promise.resolve(yes(port));
    for (let second = 0; second < 60; second++) {
      lab.run(second % 2 === 0 ? 1 : 'all', second % 4 === 0);
      await lab.clock.pass(1000);
    }
    assert.deepEqual(times(lab), [0, 15_000, 45_000]);
  });

  it('keeps its pace when the wall clock jumps', async () => {
    const { lab } = watched(() => listOf());
    await lab.clock.pass(0);
    lab.clock.jump = 86_400_000;
    await lab.clock.pass(30_000);
    lab.clock.jump = -86_400_000;
    await lab.clock.pass(30_000);
    assert.deepEqual(times(lab), [0, 15_000, 45_000]);
  });

  it('asks one more time for each strip whose readings are wanted and not in the list', async () => {
    const lab = startAccount();
    const heard: string[] = [];
    const readings = { load: 1, voltage: 230, signal: -60 };
    lab.service.autoList = () =>
      Promise.resolve(
        listOf(makeStrip(MAC, [true]), makeStrip(OTHER, [true]), makeStrip('with', [true], readings)),
      );
    lab.service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true], { voltage: 230 })));
    lab.account.subscribe((change) => heard.push(said(change)), ['AA:bb:CC:dd:EE:ff', 'with', 'unknown']);
    await lab.clock.pass(0);
    assert.deepEqual(lab.service.texts, ['list ', `get ${MAC}`]);
    assert.ok(heard.includes(`${MAC} voltage 230 (first)`));
    await lab.clock.pass(30_000);
    assert.deepEqual(lab.service.texts.slice(2), ['list ', `get ${MAC}`]);
    assert.equal(lab.account.store.find(MAC)?.voltage, 230);
  });

  it('asks soon for readings that somebody begins to want while it runs', async () => {
    const lab = startAccount();
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
    lab.service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true], { load: 5 })));
    lab.account.subscribe(() => undefined);
    await lab.clock.pass(1_000);
    watch(lab, { readings: 'all' });
    await lab.clock.pass(3_999);
    assert.equal(lab.service.gets.length, 0, 'not within the shortest interval');
    await lab.clock.pass(1);
    assert.equal(lab.account.store.find(MAC)?.load, 5);
    await lab.clock.pass(1_000);
    watch(lab, { readings: [MAC] });
    await lab.clock.pass(4_000);
    assert.equal(lab.service.lists.length, 2, 'these are read already');
  });

  it('keeps no command waiting while it asks for the readings of many strips', async () => {
    const lab = startAccount();
    const macs = Array.from({ length: 20 }, (_, index) => `AABBCCDDEE${index + 10}`);
    lab.service.autoList = () => Promise.resolve(listOf(...macs.map((mac) => makeStrip(mac, [true]))));
    lab.account.subscribe(() => undefined, 'all');
    await lab.clock.pass(0);
    const ending = lab.run(1, false, { mac: 'AABBCCDDEE29' });
    await lab.clock.pass(0);
    assert.deepEqual(lab.service.switchTexts, ['AABBCCDDEE29/1 off']);
    await lab.service.last.answer(yes());
    assert.equal(ending.outcome?.on, false);
    // Answered one after the other, each strip is asked once.
    for (const call of lab.service.gets) await call.answer(stripOf(makeStrip(call.mac, [true])));
    assert.deepEqual(lab.service.gets.map(({ mac }) => mac).sort(), macs);
  });

  it('asks for no further readings once nobody watches them', async () => {
    const lab = startAccount();
    const macs = Array.from({ length: 20 }, (_, index) => `AABBCCDDEE${index + 10}`);
    lab.service.autoList = () => Promise.resolve(listOf(...macs.map((mac) => makeStrip(mac, [true]))));
    const unsubscribe = lab.account.subscribe(() => undefined, 'all');
    await lab.clock.pass(0);
    const asked = lab.service.gets.length;
    unsubscribe();
    for (const call of lab.service.gets) await call.answer(stripOf(makeStrip(call.mac, [true])));
    await lab.clock.pass(0);
    assert.equal(lab.service.gets.length, asked);
  });

  it('asks a strip again at once when the list tells less of it than before', async () => {
    const lab = startAccount();
    let told: Partial<Strip> = { load: 3, signal: -60 };
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true], told)));
    lab.service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true], told)));
    const { take } = watch(lab, { readings: 'all' });
    await lab.clock.pass(60_000);
    assert.equal(lab.service.gets.length, 1, 'it told nothing more than the list');
    told = { signal: -60 };
    take();
    await lab.clock.pass(40_000);
    assert.deepEqual(take(), [`${MAC} load null`]);
  });

  it('asks for the readings that the list does not tell, and keeps them', async () => {
    const lab = startAccount();
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true], { signal: -60 })));
    lab.service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true], { load: 5, signal: -61 })));
    const { take } = watch(lab, { readings: 'all', initial: true });
    await lab.clock.pass(0);
    assert.deepEqual(take().slice(3), [`${MAC} load 5 (first)`, `${MAC} signal -61`]);
    await lab.clock.pass(120_000);
    assert.ok(take().every((text) => text.startsWith(`${MAC} signal`)));
    assert.equal(lab.account.store.find(MAC)?.load, 5);
    assert.equal(lab.service.gets.length, lab.service.lists.length);
  });

  it('asks seldom for readings that neither the list nor the strip tells', async () => {
    const lab = startAccount();
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true], { load: 5 })));
    lab.service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true], { load: 5 })));
    lab.account.subscribe(() => undefined, 'all');
    await lab.clock.pass(3_600_000);
    assert.ok(lab.service.gets.length <= 12, `${lab.service.gets.length} times in an hour`);
  });

  it('believes an old list no longer that a strip is offline, nor one from before a switch was confirmed', async () => {
    const lab = startAccount();
    const offline = async (): Promise<void> => {
      const reading = lab.account.list();
      await lab.service.lists.at(-1)?.answer(listOf(makeStrip(MAC, [true], { available: false })));
      await reading;
    };
    lab.service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true]), false));
    const isAvailable = async (): Promise<boolean> => (await lab.account.get(MAC)).strip.available;
    await offline();
    assert.equal(await isAvailable(), false);
    await lab.clock.pass(60_000);
    assert.equal(await isAvailable(), true);
    await offline();
    assert.equal(await isAvailable(), false);
    lab.run(1, true);
    await lab.service.last.answer(yes());
    assert.equal(await isAvailable(), true);
  });

  for (const what of ['list', 'answer about the strip'] as const) {
    it(`does not call a strip offline by an older ${what} that comes after a switch was confirmed`, async () => {
      const lab = startAccount();
      const offline = makeStrip(MAC, [true], { available: false });
      const reading = what === 'list' ? lab.account.list() : lab.account.get(MAC);
      const on = lab.run(1, true);
      await lab.service.last.answer(yes());
      assert.equal(on.outcome?.on, true);
      await lab.service.lists[0]?.answer(listOf(offline));
      await lab.service.gets[0]?.answer(stripOf(offline));
      const answer = await reading;
      assert.equal('strip' in answer ? answer.strip.available : answer.strips[0]?.available, true);
      lab.service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true]), false));
      assert.equal((await lab.account.get(MAC)).strip.available, true);
      const toggle = lab.run(1, 'toggle');
      await lab.clock.pass(0);
      await lab.service.last.answer(yes());
      assert.equal(toggle.outcome?.on, false);
    });
  }

  it('does not keep a strip unavailable because of an older answer that came after a switch was confirmed', async () => {
    const lab = startAccount();
    const isAvailable = (): boolean | undefined => lab.account.store.find(MAC)?.available;
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
    lab.account.subscribe(() => undefined, 'all');
    await lab.clock.pass(0);
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true], { load: 5 })));
    const unknown = assert.rejects(lab.account.get(MAC));
    lab.run(1, true);
    await lab.service.last.answer(yes());
    await lab.service.gets[1]?.fail(failure('NOT_FOUND', {}, 'strip'));
    await unknown;
    assert.equal(isAvailable(), true);
    lab.service.autoGet = () => Promise.reject(failure('TIMEOUT'));
    lab.service.autoList = () => Promise.reject(failure('TIMEOUT'));
    await lab.clock.pass(40_000);
    assert.equal(isAvailable(), false);
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
    await lab.clock.pass(300_000);
    assert.equal(isAvailable(), true);
  });

  it('makes a strip available with the next list, although its own answer said that it is offline and adds no reading', async () => {
    const lab = startAccount();
    const strip = makeStrip(MAC, [true], { load: 1, voltage: 230 });
    lab.service.autoList = () => Promise.resolve(listOf(strip));
    lab.service.autoGet = () => Promise.resolve(stripOf(strip, false));
    const { take } = watch(lab, { readings: 'all' });
    await lab.clock.pass(1000);
    lab.service.autoGet = () => Promise.resolve(stripOf({ ...strip, available: false }));
    await lab.account.get(MAC);
    lab.service.autoGet = () => Promise.resolve(stripOf(strip, false));
    await lab.clock.pass(33_000);
    assert.deepEqual(take(), [`${MAC} unavailable`, `${MAC} available`]);
    lab.service.gets.length = 0;
    await lab.clock.pass(240_000);
    assert.equal(lab.service.gets.length, 0, 'and asks it no more often than before');
  });

  it('asks for the readings of all strips in turn where there is no time for all at once', async () => {
    const lab = startAccount();
    const macs = Array.from({ length: 200 }, (_, index) => `AABBCCDD${index + 1000}`);
    lab.service.autoList = () => Promise.resolve(listOf(...macs.map((mac) => makeStrip(mac, [true]))));
    lab.service.autoGet = (mac) =>
      new Promise((resolve) =>
        lab.clock.setTimeout(() => resolve(stripOf(makeStrip(mac, [true], { load: 1 }))), 2000),
      );
    lab.account.subscribe(() => undefined, 'all');
    await lab.clock.pass(300_000);
    assert.equal(new Set(lab.service.gets.map(({ mac }) => mac)).size, macs.length);
  });

  it('forgets readings that cannot be read twice in a row, and asks for them less and less often', async () => {
    const lab = startAccount();
    let load: number | null = 5;
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true]), makeStrip(OTHER, [true])));
    lab.service.autoGet = (mac) =>
      mac === MAC && load === null
        ? Promise.reject(failure('SERVICE', { retryable: true }))
        : Promise.resolve(stripOf(makeStrip(mac, [true], { load: mac === MAC ? load : 7 })));
    const { take } = watch(lab, { readings: 'all' });
    const asked = (mac: string) => lab.service.gets.splice(0).filter((call) => call.mac === mac).length;
    await lab.clock.pass(0);
    load = null;
    await lab.clock.pass(20_000);
    assert.deepEqual(take(), [], 'a single failure may be chance');
    await lab.clock.pass(30_000);
    assert.deepEqual(take(), [`${MAC} load null`]);
    assert.equal(lab.account.store.find(MAC)?.available, true);
    asked(MAC);
    await lab.clock.pass(75_000);
    assert.equal(asked(MAC), 1, 'after two intervals');
    await lab.clock.pass(3_600_000);
    const often = asked(MAC);
    assert.ok(often >= 12 && often <= 18, `${often} times in an hour`);
    load = 6;
    await lab.clock.pass(330_000);
    assert.deepEqual(take(), [`${MAC} load 6`]);
    asked(MAC);
    await lab.clock.pass(300_000);
    assert.equal(asked(MAC), 10);
  });

  it('keeps readings that could not be read just once, also if that happens again', async () => {
    const lab = startAccount();
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
    let turn = 0;
    lab.service.autoGet = (mac) =>
      ++turn % 2 === 0
        ? Promise.reject(failure('TIMEOUT'))
        : Promise.resolve(stripOf(makeStrip(mac, [true], { load: 5 })));
    lab.account.subscribe(() => undefined, 'all');
    for (let round = 0; round < 6; round++) {
      await lab.clock.pass(30_000);
      assert.equal(lab.account.store.find(MAC)?.load, 5);
    }
    assert.ok(turn >= 6);
  });

  it('reads the list at least every other interval, though readings have no answer', async () => {
    const lab = startAccount();
    const macs = Array.from({ length: 40 }, (_, index) => `AABBCCDDEE${index + 10}`);
    lab.service.autoList = () => Promise.resolve(listOf(...macs.map((mac) => makeStrip(mac, [true]))));
    lab.service.autoGet = () =>
      new Promise((_, reject) => lab.clock.setTimeout(() => reject(failure('TIMEOUT')), 10_000));
    lab.account.subscribe(() => undefined, 'all');
    await lab.clock.pass(600_000);
    const gaps = lab.service.lists.map(({ at }, index, all) => at - (all[index - 1]?.at ?? 0));
    assert.ok(Math.max(...gaps) <= 75_000, String(gaps));
  });

  it('lets a strip that the list calls offline stay so, though its own answer says nothing of that', async () => {
    const lab = startAccount();
    let available = false;
    let saysOnline = false;
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true], { available })));
    lab.service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true]), saysOnline));
    const { take } = watch(lab, { readings: 'all' });
    await lab.clock.pass(120_000);
    assert.deepEqual(take(), []);
    assert.equal((await lab.account.get(MAC)).strip.available, false);
    assert.equal(lab.account.store.find(MAC)?.available, false);
    saysOnline = true;
    assert.equal((await lab.account.get(MAC)).strip.available, true);
    assert.deepEqual(take(), [`${MAC} available`]);
    saysOnline = false;
    await lab.clock.pass(30_000);
    assert.deepEqual(take(), [`${MAC} unavailable`]);
    available = true;
    await lab.clock.pass(60_000);
    assert.deepEqual(take(), [`${MAC} available`]);
  });

  it('shows all strips as unavailable while the list cannot be read and has none, even if switching works', async () => {
    const lab = startAccount();
    let list: ReturnType<typeof listOf> = listOf(makeStrip(MAC, [true]));
    lab.service.autoList = () => Promise.resolve(list);
    const { take } = watch(lab);
    await lab.clock.pass(0);
    list = { ...listOf(), complete: false, readable: false };
    await lab.clock.pass(120_000);
    assert.deepEqual(take(), [`${MAC} unavailable`]);
    lab.run(1, false);
    await lab.service.last.answer(yes());
    assert.deepEqual(take(), [`${MAC}/1 off`]);
    assert.equal(lab.account.status().available, true, 'the service does answer');
    list = listOf(makeStrip(MAC, [false]));
    await lab.clock.pass(60_000);
    assert.deepEqual(take(), [`${MAC} available`]);
    list = { ...listOf(makeStrip(MAC, [null])), readable: false };
    await lab.clock.pass(60_000);
    assert.deepEqual(take(), [`${MAC}/1 unknown`], 'a list that names the strip says that it is there');
  });

  it('lets a strip that says itself that it is offline stay so, though the list does not know', async () => {
    const lab = startAccount();
    let available = true;
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
    lab.service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [], { available })));
    const { take } = watch(lab, { readings: 'all' });
    await lab.clock.pass(0);
    available = false;
    await lab.clock.pass(120_000);
    assert.deepEqual(take(), [`${MAC} unavailable`]);
    assert.equal((await lab.account.list()).strips[0]?.available, false);
    available = true;
    await lab.clock.pass(60_000);
    assert.deepEqual(take(), [`${MAC} available`]);
  });
});

describe('a poll that fails', () => {
  it('says so once, and once that it works again', async () => {
    let answer: ReturnType<typeof listOf> | Error = listOf();
    const { lab } = watched(() => answer);
    await lab.clock.pass(30_000);
    answer = failure('UNREACHABLE');
    await lab.clock.pass(600_000);
    assert.deepEqual(lab.log.lines, ['failing list UNREACHABLE']);
    answer = listOf();
    await lab.clock.pass(600_000);
    assert.deepEqual(lab.log.lines, ['failing list UNREACHABLE', 'recovered list']);
  });

  it('says so too where until then only readings could not be had', async () => {
    let answer: ReturnType<typeof listOf> | Error = listOf(makeStrip(MAC, [true]));
    const { lab } = watched(() => answer);
    lab.account.subscribe(() => undefined, 'all');
    lab.service.autoGet = () => Promise.reject(failure('SERVICE', { retryable: true }));
    await lab.clock.pass(60_000);
    answer = failure('UNREACHABLE');
    await lab.clock.pass(600_000);
    assert.deepEqual(lab.log.lines, ['failing readings SERVICE', 'failing list UNREACHABLE']);
    answer = listOf(makeStrip(MAC, [true]));
    await lab.clock.pass(600_000);
    assert.deepEqual(lab.log.lines.slice(2), ['recovered list', 'failing readings SERVICE']);
    lab.service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true])));
    await lab.clock.pass(600_000);
    assert.deepEqual(lab.log.lines.slice(4), ['recovered readings']);
  });

  it('says so once for readings that cannot be had, and keeps its pace', async () => {
    const { lab } = watched(() => listOf(makeStrip(MAC, [true]), makeStrip(OTHER, [true])));
    lab.account.subscribe(() => undefined, 'all');
    lab.service.autoGet = (mac) =>
      mac === MAC
        ? Promise.resolve(stripOf(makeStrip(MAC, [true])))
        : Promise.reject(failure('SERVICE', { retryable: true }));
    await lab.clock.pass(90_000);
    assert.deepEqual(lab.log.lines, ['failing readings SERVICE']);
    assert.deepEqual(times(lab), [0, 15_000, 45_000, 75_000]);
  });

  it('does not say that readings can be had again where there was no time to ask for them', async () => {
    const macs = Array.from({ length: 200 }, (_, index) => `AABBCCDD${index + 1000}`);
    const { lab } = watched(() => listOf(...macs.map((mac) => makeStrip(mac, [true]))));
    lab.service.autoGet = async (mac) => {
      await new Promise<void>((resolve) => lab.clock.setTimeout(resolve, 2000));
      if (mac === macs[0]) throw failure('SERVICE', { retryable: true });
      return stripOf(makeStrip(mac, [true], { load: 1 }));
    };
    lab.account.subscribe(() => undefined, 'all');
    await lab.clock.pass(600_000);
    assert.deepEqual(lab.log.lines, ['failing readings SERVICE']);
  });

  it('backs off, at random, up to five minutes', async () => {
    const { lab } = watched(() => failure('TIMEOUT'));
    lab.clock.random = () => 1;
    await lab.clock.pass(1_200_000);
    assert.deepEqual(
      times(lab)
        .slice(1)
        .map((at, index) => at - (times(lab)[index] ?? 0)),
      [30_000, 60_000, 120_000, 240_000, 300_000, 300_000],
    );
  });

  it('backs off from the beginning at each outage, however long all went well', async () => {
    let answer: ReturnType<typeof listOf> | Error = listOf();
    const { lab } = watched(() => answer);
    await lab.clock.pass(15_000 + 10 * 30_000);
    const good = lab.service.lists.length;
    answer = failure('TIMEOUT');
    await lab.clock.pass(30_000 + 15_000);
    assert.equal(lab.service.lists.length, good + 2);
  });

  for (const error of [failure('TIMEOUT'), failure('SERVICE')])
    it(`asks again soon where the list of a message failed (${error.code}), which made the strips unavailable`, async () => {
      let answer: ReturnType<typeof listOf> | Error = listOf(makeStrip(MAC, [true]));
      const { lab } = watched(() => answer, { interval: 3_600_000 });
      await lab.clock.pass(3_600_000);
      answer = error;
      await assert.rejects(lab.account.list());
      answer = listOf(makeStrip(MAC, [true]));
      assert.equal(lab.account.store.find(MAC)?.available, false);
      await lab.clock.pass(5000);
      assert.equal(lab.account.store.find(MAC)?.available, true);
      answer = error;
      await assert.rejects(lab.account.list());
      answer = listOf(makeStrip(MAC, [true]));
      lab.service.autoSwitch = () => Promise.resolve(yes());
      lab.run(1, true);
      await lab.clock.pass(5000);
      assert.deepEqual(
        [lab.account.store.find(MAC)?.available, lab.account.status().available],
        [true, true],
      );
      assert.deepEqual(lab.log.lines, []);
    });

  it('asks no sooner where the list of a message failed because of too many requests', async () => {
    let answer: ReturnType<typeof listOf> | Error = listOf();
    const { lab } = watched(() => answer);
    await lab.clock.pass(1000);
    answer = failure('RATE_LIMITED');
    await assert.rejects(lab.account.list());
    await lab.clock.pass(13_999);
    assert.equal(lab.service.lists.length, 2);
  });

  it('asks no strip for its readings while the list cannot be read', async () => {
    let answer: ReturnType<typeof listOf> | Error = listOf(makeStrip(MAC, [true]));
    const { lab } = watched(() => answer);
    lab.account.subscribe(() => undefined, 'all');
    lab.service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true], { load: 1 })));
    await lab.clock.pass(60_000);
    const { length } = lab.service.gets;
    answer = failure('TIMEOUT');
    await lab.clock.pass(120_000);
    assert.ok(length > 0);
    assert.equal(lab.service.gets.length, length);
  });

  it('is not sped up by a command of unknown outcome', async () => {
    const { lab } = watched(() => failure('AUTH'), { retryFor: 0 });
    await lab.clock.pass(60_000);
    lab.run(1, true);
    await lab.service.last.fail(failure('TIMEOUT'));
    await lab.clock.pass(60_000);
    assert.deepEqual(times(lab), [0]);
  });

  it('never comes back sooner than after five seconds', async () => {
    const { lab } = watched(() => failure('TIMEOUT'));
    lab.clock.random = () => 0;
    await lab.clock.pass(10_000);
    assert.deepEqual(times(lab), [0, 5000, 10_000]);
  });

  for (const code of ['NOT_FOUND', 'INVALID_INPUT'] as const) {
    it(`does not say so of a strip whose readings end with ${code}: it cannot be asked for`, async () => {
      const { lab } = watched(() => listOf(makeStrip(MAC, [true])));
      lab.account.subscribe(() => undefined, 'all');
      lab.service.autoGet = () => Promise.reject(failure(code));
      await lab.clock.pass(90_000);
      assert.ok(lab.service.gets.length > 0);
      assert.deepEqual(lab.log.lines, []);
    });
  }

  it('first waits at random again once it works, so that accounts that failed together spread out', async () => {
    let answer: ReturnType<typeof listOf> | Error = listOf();
    const { lab } = watched(() => answer);
    await lab.clock.pass(14_000);
    answer = failure('TIMEOUT');
    await lab.clock.pass(15_000);
    answer = listOf();
    lab.clock.random = () => 0.9;
    await lab.clock.pass(1000 + 27_000 + 32_400);
    assert.deepEqual(times(lab), [0, 15_000, 30_000, 57_000, 89_400]);
  });

  for (const [luck, interval, waited] of [
    [0, 30_000, 810_000],
    [0.5, 30_000, 900_000],
    [1, 30_000, 990_000],
    [0.5, 3_600_000, 3_600_000],
  ] as const) {
    it(`asks every ${waited} ms while the key is rejected, with ${luck} drawn and ${interval} ms set`, async () => {
      const { lab } = watched(() => failure('AUTH'), { interval });
      lab.clock.random = () => luck;
      await lab.clock.pass(2 * waited);
      assert.deepEqual(times(lab), [0, waited, 2 * waited]);
    });
  }

  for (const [what, succeed] of [
    [
      'a command',
      async (lab: TestAccount) => {
        lab.run(1, true);
        await lab.service.last.answer(yes());
      },
    ],
    [
      'a read',
      async (lab: TestAccount) => {
        const reading = lab.account.get(MAC);
        await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true])));
        await reading;
      },
    ],
  ] as const) {
    it(`asks at once when ${what} succeeds while the key was rejected`, async () => {
      let answer: ReturnType<typeof listOf> | Error = failure('AUTH');
      const { lab } = watched(() => answer);
      await lab.clock.pass(60_000);
      answer = listOf();
      await succeed(lab);
      await lab.clock.pass(30_000);
      assert.deepEqual(times(lab), [0, 60_000, 75_000]);
      assert.deepEqual(lab.log.lines, ['failing list AUTH', 'recovered list']);
    });
  }

  it('sets no timer for the past, though time goes on between two looks at the clock', async () => {
    const { lab } = watched(() => failure('AUTH'));
    await lab.clock.pass(60_000);
    const { clock } = lab;
    const then = clock.monotonic();
    let looks = 0;
    clock.monotonic = () => then + looks++ / 1000;
    const waits: number[] = [];
    const set = clock.setTimeout.bind(clock);
    clock.setTimeout = (callback, ms) => {
      waits.push(ms);
      return set(callback, ms);
    };
    lab.run(1, true);
    await lab.service.last.answer(yes());
    assert.deepEqual(
      waits.filter((ms) => ms < 0),
      [],
    );
    assert.ok(waits.length > 0);
  });

  it('keeps its shortest interval when commands succeed', async () => {
    const { lab } = watched(() => failure('AUTH'));
    lab.service.autoSwitch = () => Promise.resolve(yes());
    for (let second = 0; second < 60; second++) {
      lab.run(1, true);
      await lab.clock.pass(1000);
    }
    assert.equal(lab.service.lists.length, 13);
  });

  for (const [asked, waited] of [
    [120_000, 135_000],
    [1, 15_001],
    [86_400_000, 3_615_000],
    [undefined, 30_000],
  ] as const) {
    it(`waits ${waited} ms where a rate limit asks for ${asked} ms`, async () => {
      const { lab } = watched(() =>
        failure('RATE_LIMITED', asked === undefined ? {} : { retryAfter: asked }),
      );
      await lab.clock.pass(waited - 1);
      assert.equal(lab.service.lists.length, 1);
      await lab.clock.pass(1);
      assert.equal(lab.service.lists.length, 2);
    });
  }

  it('is held by the rate limit of a command too', async () => {
    const { lab } = watched(() => listOf());
    await lab.clock.pass(14_000);
    lab.run(1, true);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 20_000 }));
    await lab.clock.pass(20_000 + 14_999);
    assert.equal(lab.service.lists.length, 1);
    await lab.clock.pass(1);
    assert.equal(lab.service.lists.length, 2);
  });

  it('goes on at random within an interval when a command ends the rate limit that held it', async () => {
    const { lab } = watched(() => listOf());
    await lab.clock.pass(1000);
    lab.run(1, true);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    await lab.clock.pass(19_000);
    lab.run(1, true);
    await lab.clock.pass(0);
    await lab.service.last.answer(yes());
    await lab.clock.pass(15_000);
    assert.deepEqual(times(lab), [0, 35_000]);
  });

  it('tells its subscribers that the account is not available any more when a rate limit holds it for long', async () => {
    const lab = startAccount();
    lab.service.autoList = () => Promise.resolve(listOf());
    const told: string[] = [];
    lab.account.subscribe((change) => told.push(said(change)));
    await lab.clock.pass(1000);
    lab.run(1, true);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 600_000 }));
    assert.equal(told.at(-1), 'account true');
    await lab.clock.pass(120_000);
    assert.equal(told.at(-1), 'account false');
  });

  it('comes back within an interval when a command succeeds after a rate limit that named no time', async () => {
    let answer: ReturnType<typeof listOf> | Error = failure('RATE_LIMITED');
    const { lab } = watched(() => answer);
    lab.clock.random = () => 1;
    await lab.clock.pass(100_000);
    assert.deepEqual(times(lab), [0, 30_000, 90_000]);
    answer = listOf();
    lab.run(1, true);
    await lab.service.last.answer(yes());
    await lab.clock.pass(29_999);
    assert.equal(lab.service.lists.length, 3);
    await lab.clock.pass(1);
    assert.equal(lab.service.lists.length, 4);
  });

  it('is not delayed by commands that succeed after a rate limit that named no time', async () => {
    const { lab } = watched(() => failure('RATE_LIMITED'));
    await lab.clock.pass(20_000);
    lab.run(1, true);
    await lab.service.last.answer(yes());
    await lab.clock.pass(10_000);
    assert.deepEqual(times(lab), [0, 30_000]);
  });
});

describe('a command that ends after an attempt of unknown outcome', () => {
  it('is followed by a list soon, although its last error says that nothing was switched', async () => {
    const { lab } = watched(() => listOf());
    await lab.clock.pass(16_000);
    const switched = lab.run(1, true);
    await lab.service.last.fail(failure('TIMEOUT'));
    await lab.clock.pass(1000);
    await lab.service.last.fail(failure('AUTH'));
    assert.equal(switched.error?.code, 'AUTH');
    await lab.clock.pass(3000);
    assert.deepEqual(times(lab), [0, 15_000, 20_000]);
  });

  it('is followed by a list soon where a newer command takes its place and is refused', async () => {
    const { lab } = watched(() => listOf());
    await lab.clock.pass(16_000);
    const older = lab.run(1, true);
    await lab.service.last.fail(failure('TIMEOUT'));
    const newer = lab.run(1, false);
    await lab.clock.pass(0);
    await lab.service.last.fail(failure('AUTH'));
    assert.deepEqual([older.error?.code, newer.error?.code], ['SUPERSEDED', 'AUTH']);
    await lab.clock.pass(4000);
    assert.deepEqual(times(lab), [0, 15_000, 20_000]);
  });
});

describe('a list that is read ahead of its time', () => {
  /** A command that may have switched. */
  const timeOut = async ({ run, service }: TestAccount): Promise<void> => {
    run(1, true);
    await service.last.fail(failure('TIMEOUT'));
  };

  it('is read as soon as the floor allows, once', async () => {
    const { lab } = watched(() => listOf(), { retryFor: 0 });
    await lab.clock.pass(16_000);
    await timeOut(lab);
    await timeOut(lab);
    await lab.clock.pass(3999);
    assert.deepEqual(times(lab), [0, 15_000]);
    await lab.clock.pass(1 + 30_000);
    assert.deepEqual(times(lab), [0, 15_000, 20_000, 50_000]);
    await lab.clock.pass(10_000);
    await timeOut(lab);
    await lab.clock.pass(0);
    assert.equal(lab.service.lists.length, 5);
  });

  it('is read after the one that is on its way', async () => {
    const lab = startAccount({ retryFor: 0 });
    watch(lab);
    await timeOut(lab);
    await lab.clock.pass(1000);
    assert.equal(lab.service.lists.length, 1);
    await lab.service.lists[0]?.answer(listOf());
    await lab.clock.pass(4000);
    assert.equal(lab.service.lists.length, 2);
    await lab.service.lists[1]?.answer(listOf());
    await lab.clock.pass(29_999);
    assert.equal(lab.service.lists.length, 2);
  });

  it('is not read where nobody listens to changes', async () => {
    const lab = startAccount({ retryFor: 0 });
    await timeOut(lab);
    await lab.clock.pass(60_000);
    assert.equal(lab.service.lists.length, 0);
    const stop = lab.account.subscribe(() => undefined);
    await lab.service.lists[0]?.answer(listOf());
    stop();
    await timeOut(lab);
    await lab.clock.pass(60_000);
    assert.equal(lab.service.lists.length, 1, 'nor where nobody does so any more');
  });
});
