import assert from 'node:assert/strict';
import { failure, listOf, MAC, makeStrip, OTHER, stripOf, yes } from '../../support/scripted-service';
import { startAccount } from './support';
import { list, watch } from './watching';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** An account whose readings are watched, and whose list, without readings, `strips` names. */
function watched(strips: () => string[], settings = {}) {
  const lab = startAccount(settings);
  lab.service.autoList = () => Promise.resolve(listOf(...strips().map((mac) => makeStrip(mac, [true]))));
  lab.service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true], { load: 1 })));
  return { lab, watcher: watch(lab, { readings: 'all' }) };
}

describe('a strip that left the list', () => {
  it('is not asked for its readings any more', async () => {
    let listed = [MAC, OTHER, 'third', 'fourth', 'fifth'];
    const { lab } = watched(() => listed);
    await lab.clock.pass(0);
    assert.equal(lab.service.gets.length, 5);
    listed = [OTHER];
    lab.service.all.length = 0;
    await lab.clock.pass(15_000 + 9 * 30_000);
    assert.deepEqual(lab.service.texts, Array.from({ length: 10 }, () => ['list ', `get ${OTHER}`]).flat());
  });

  it('is asked for its readings again when it comes back', async () => {
    let listed = [MAC];
    const { lab } = watched(() => listed);
    await lab.clock.pass(0);
    listed = [];
    await lab.clock.pass(15_000);
    assert.equal(lab.account.store.find(MAC)?.available, false);
    listed = [MAC];
    await lab.clock.pass(30_000);
    assert.equal(lab.service.gets.length, 2);
    assert.equal(lab.account.store.find(MAC)?.available, true);
  });

  it('comes back, or after an outage, although its own answer cannot be read', async () => {
    let answer: string[] | null = [MAC];
    const { lab } = watched(() => answer ?? assert.fail());
    const { autoList } = lab.service;
    lab.service.autoGet = () => Promise.reject(failure('SERVICE', { retryable: true }));
    const isAvailable = () => lab.account.store.find(MAC)?.available;
    await lab.clock.pass(0);
    for (const whileAway of [[], null]) {
      answer = whileAway;
      if (answer === null) lab.service.autoList = () => Promise.reject(failure('TIMEOUT'));
      await lab.clock.pass(60_000);
      assert.equal(isAvailable(), false);
      [answer, lab.service.autoList] = [[MAC], autoList];
      await lab.clock.pass(60_000);
      assert.equal(isAvailable(), true);
    }
  });

  it('does not come and go with every list that still has it, where its own answer says that it is gone', async () => {
    const { lab, watcher } = watched(() => [MAC]);
    await lab.clock.pass(0);
    lab.service.autoGet = () => Promise.reject(failure('NOT_FOUND'));
    await lab.clock.pass(120_000);
    assert.deepEqual(watcher.take(), [`${MAC} unavailable`]);
  });

  it('is available again after an outage if a command has reached it, although its own answer once said otherwise', async () => {
    const { lab } = watched(() => [MAC]);
    const { autoList } = lab.service;
    lab.service.autoGet = () => Promise.reject(failure('NOT_FOUND'));
    await lab.clock.pass(0);
    assert.equal(lab.account.store.find(MAC)?.available, false);
    lab.run(1, true);
    await lab.service.last.answer(yes());
    lab.service.autoGet = () => Promise.reject(failure('SERVICE', { retryable: true }));
    lab.service.autoList = () => Promise.reject(failure('TIMEOUT'));
    await lab.clock.pass(60_000);
    assert.equal(lab.account.store.find(MAC)?.available, false);
    lab.service.autoList = autoList;
    await lab.clock.pass(60_000);
    assert.equal(lab.account.store.find(MAC)?.available, true);
  });

  it('is available as long as a list has it, although a web page says that its address was not found', async () => {
    const { lab } = watched(() => [MAC]);
    lab.service.autoGet = () => Promise.reject(failure('NOT_FOUND', {}, 'address'));
    await lab.clock.pass(60_000);
    assert.equal(lab.account.store.find(MAC)?.available, true);
    assert.deepEqual(lab.log.lines, ['failing readings NOT_FOUND']);
  });

  it('is forgotten after a day, and then said to be removed', async () => {
    const lab = startAccount();
    const { take, changes } = watch(lab);
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [true], { name: 'Desk' }));
    await list(lab, makeStrip(MAC, [true]));
    assert.deepEqual(take(), [`${OTHER} unavailable`]);
    await lab.clock.pass(DAY - 1);
    await list(lab, makeStrip(MAC, [true]));
    assert.deepEqual(take(), []);
    assert.equal(lab.account.store.lastState(OTHER, 1), true);
    await lab.clock.pass(1);
    await list(lab, makeStrip(MAC, [true]));
    assert.deepEqual(take(), [`${OTHER} removed`]);
    const removed = changes.at(-1);
    assert.ok(removed?.kind === 'removed');
    assert.equal(removed.strip.name, 'Desk');
    assert.deepEqual(
      lab.account.store.all().map(({ mac }) => mac),
      [MAC],
    );
    assert.equal(lab.account.store.find(OTHER), undefined);
    assert.equal(lab.account.store.lastState(OTHER, 1), null);
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [true]));
    assert.deepEqual(take(), [`${OTHER} available (first)`]);
  });

  it('is forgotten at once where each list has thousands of new ones', async () => {
    const lab = startAccount();
    const strips = (from: number) =>
      Array.from({ length: 15_000 }, (_, index) => makeStrip(`STRIP${from + index}`, [true]));
    for (const from of [0, 10_000, 20_000, 30_000]) await list(lab, ...strips(from));
    const left = lab.account.store.all().map(({ mac }) => mac);
    assert.equal(left.length, 20_000);
    assert.equal(left.at(-1), 'STRIP44999');
  });

  it('is not forgotten where it was back meanwhile, in the list or with an answer of its own', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [true]));
    const { take } = watch(lab);
    await list(lab);
    await lab.clock.pass(DAY - HOUR);
    await list(lab, makeStrip(MAC, [true]));
    const reading = lab.account.get(OTHER);
    await lab.service.gets.at(-1)?.answer(stripOf(makeStrip(OTHER, [true])));
    await reading;
    await list(lab);
    await lab.clock.pass(2 * HOUR);
    await list(lab);
    assert.ok(!take().some((text) => text.endsWith('removed')));
    await lab.clock.pass(DAY - 2 * HOUR);
    await list(lab);
    assert.deepEqual(take().sort(), [`${OTHER} removed`, `${MAC} removed`].sort());
  });

  it('is not forgotten because of lists that fail or are understood only in part', async () => {
    const lab = startAccount();
    const { take } = watch(lab);
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [true]));
    await lab.clock.pass(2 * DAY);
    const failed = lab.account.list();
    await Promise.all([assert.rejects(failed), lab.service.lists.at(-1)?.fail(failure('TIMEOUT'))]);
    const partial = lab.account.list();
    await lab.service.lists.at(-1)?.answer({ ...listOf(makeStrip(OTHER, [true])), complete: false });
    await partial;
    await list(lab, makeStrip(OTHER, [true]));
    assert.ok(!take().some((text) => text.endsWith('removed')));
    assert.equal(lab.account.store.all().length, 2);
  });
});

describe('a service that names another strip in each list', () => {
  it('gets two requests a round, and its strips are kept for one day only', async () => {
    let count = 0;
    const { lab, watcher } = watched(() => [`STRIP ${count++}`], { interval: HOUR });
    await lab.clock.pass(30 * DAY);
    const rounds = lab.service.lists.length;
    assert.ok(rounds > 24 * 29);
    assert.equal(lab.service.gets.length, rounds);
    assert.ok(lab.account.store.all().length <= 26, `${lab.account.store.all().length} strips`);
    const removed = watcher.take().filter((text) => text.endsWith('removed'));
    assert.equal(removed.length, rounds - lab.account.store.all().length);
  });
});

describe('strips that only parts of lists or single answers name', () => {
  const MAX = 20_000;
  const macs = (count: number, from: number) =>
    Array.from({ length: count }, (_, index) => (from + index + 0xa0b1c2000000).toString(16));

  it('are forgotten, the oldest first, if they are too many', async () => {
    const { account, service, clock } = startAccount();
    let from = 0;
    service.autoList = () => {
      const strips = macs(MAX / 2, (from += MAX / 2)).map((mac) => makeStrip(mac, [true]));
      return Promise.resolve({ ...listOf(...strips), complete: false });
    };
    service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true])));
    const removed: string[] = [];
    account.subscribe((change) => change.kind === 'removed' && removed.push(change.strip.mac));
    await clock.pass(0);
    for (let lists = 0; lists < 2; lists++) await account.list();
    assert.equal(account.store.all().length, MAX);
    assert.deepEqual(removed, macs(MAX / 2, MAX / 2));
    await account.get(OTHER);
    assert.ok(account.store.find(OTHER));
    assert.equal(account.store.all().length, MAX);
  });
});
