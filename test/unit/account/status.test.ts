import assert from 'node:assert/strict';
import type { AccountStatus } from '../../../src/account/types';
import { calm } from '../../support/fake-clock';
import { failure, listOf, MAC, OTHER, makeStrip, stripOf, yes } from '../../support/scripted-service';
import { startAccount, type TestAccount } from './support';
import { list } from './watching';

/** What a subscriber is told of the account. */
function follow(lab: TestAccount): { heard: AccountStatus[]; stop: () => void } {
  const heard: AccountStatus[] = [];
  const stop = lab.account.subscribe((change) => {
    // An assertion in here could not fail the test: the account catches what a subscriber throws.
    if (change.kind === 'account') heard.push({ ...lab.account.status(), available: change.available });
  });
  return { heard, stop };
}

describe('the status of an account', () => {
  it('is told to a new subscriber and when it changes, with the reason', async () => {
    const lab = startAccount();
    const { heard, stop } = follow(lab);
    assert.deepEqual(heard.splice(0), [
      {
        available: null,
        error: null,
        readable: true,
        listed: null,
        lastAnswerAt: null,
        cooldownUntil: null,
        polling: true,
      },
    ]);
    const answers = [failure('UNREACHABLE'), failure('UNREACHABLE'), failure('AUTH'), listOf(), listOf()];
    for (const answer of answers) {
      const reading = lab.account.list();
      if (answer instanceof Error) {
        await Promise.all([assert.rejects(reading), lab.service.lists.at(-1)?.fail(answer)]);
      } else {
        await lab.service.lists.at(-1)?.answer(answer);
        await reading;
      }
    }
    assert.deepEqual(
      heard.map(({ available, error }) => [available, error?.code]),
      [
        [false, 'UNREACHABLE'],
        [false, 'AUTH'],
        [true, undefined],
      ],
    );
    stop();
    const reading = lab.account.list();
    await Promise.all([assert.rejects(reading), lab.service.lists.at(-1)?.fail(failure('AUTH'))]);
    assert.equal(heard.length, 3);
  });

  it('does not change with every command where the service switches but refuses to list', async () => {
    for (const [code, changes] of [
      ['AUTH', 0],
      ['BAD_RESPONSE', 0],
      ['SERVICE', 0],
      ['UNREACHABLE', 2],
    ] as const) {
      const lab = startAccount();
      await list(lab, makeStrip(MAC, [false]));
      lab.service.autoList = () => Promise.reject(failure(code, { retryable: code === 'SERVICE' }));
      lab.service.autoSwitch = (_, port) => Promise.resolve(yes(port));
      lab.service.autoGet = (mac) => Promise.resolve(stripOf(makeStrip(mac, [true])));
      await assert.rejects(lab.account.list());
      const available: boolean[] = [];
      lab.account.subscribe((change) => {
        if (change.kind === 'account') available.push(change.available === true);
        if (change.kind === 'strip') available.push(change.available);
      });
      available.splice(0);
      lab.run(1, true);
      await calm();
      await lab.account.get(MAC);
      assert.deepEqual(available, Array(changes).fill(true), code);
      assert.equal(lab.account.store.lastState(MAC, 1), true);
      lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
      await lab.account.list();
      assert.equal(lab.account.status().available, true);
      assert.equal(lab.account.store.find(MAC)?.available, true);
      await lab.account.close();
    }
  });

  it('says whether a list was read, and whether one was complete; a command that succeeds is no list', async () => {
    const lab = startAccount();
    const listed: AccountStatus['listed'][] = [];
    lab.run(1, true);
    await lab.service.last.answer(yes());
    listed.push(lab.account.status().listed);
    for (const complete of [false, true, false]) {
      const reading = lab.account.list();
      await lab.service.lists.at(-1)?.answer({ ...listOf(makeStrip(MAC, [true])), complete });
      await reading;
      listed.push(lab.account.status().listed);
    }
    assert.deepEqual(listed, [null, 'part', 'whole', 'whole']);
  });

  it('is told when a command succeeds before a list was read, and when the lists are', async () => {
    const lab = startAccount();
    const told: (boolean | string | null)[] = [];
    lab.account.subscribe(({ kind }) => {
      const { available, listed } = lab.account.status();
      if (kind === 'account') told.push(`${available} ${listed}`);
    });
    lab.run(1, true);
    await lab.service.last.answer(yes());
    await lab.service.lists[0]?.answer({ ...listOf(makeStrip(MAC, [true])), complete: false });
    const reading = lab.account.list();
    await lab.service.lists[1]?.answer(listOf(makeStrip(MAC, [true])));
    await reading;
    assert.deepEqual(told, ['null null', 'true null', 'true part', 'true whole']);
  });

  it('says each time that an answer cannot be read; the log does so once', async () => {
    const lab = startAccount();
    const { heard } = follow(lab);
    for (const readable of [false, false, true, false]) {
      const reading = lab.account.list();
      await lab.service.lists.at(-1)?.answer({ ...listOf(makeStrip(MAC, [null])), readable });
      await reading;
    }
    const reading = lab.account.get(MAC);
    await lab.service.gets[0]?.answer({ ...stripOf(makeStrip(MAC, [])), readable: false });
    await reading;
    assert.deepEqual(lab.log.lines, ['unreadable list', 'unreadable strip']);
    assert.deepEqual(
      heard.map(({ readable }) => readable),
      [true, false, true, false],
    );
  });

  it('says so once, too, where one strip can be read and another cannot', async () => {
    const lab = startAccount();
    for (const [mac, readable] of [
      [MAC, false],
      [OTHER, true],
      [MAC, false],
      [OTHER, false],
      [MAC, true],
      [OTHER, true],
      [MAC, false],
    ] as const) {
      const reading = lab.account.get(mac);
      await lab.service.gets.at(-1)?.answer({ ...stripOf(makeStrip(mac, [])), readable });
      await reading;
    }
    assert.deepEqual(lab.log.lines, ['unreadable strip']);
  });

  it('says whether the list is polled, and until when the service asked for a pause', async () => {
    const lab = startAccount();
    assert.equal(lab.account.status().polling, false);
    const { heard, stop } = follow(lab);
    await calm();
    assert.equal(lab.account.status().polling, true);
    lab.run(1, true);
    await lab.service.last.fail(failure('RATE_LIMITED', { retryAfter: 7000 }));
    const until = lab.clock.wall() + 7000;
    assert.deepEqual(
      heard.splice(0).map(({ polling, cooldownUntil }) => [polling, cooldownUntil]),
      [
        [true, null],
        [true, until],
      ],
    );
    await lab.clock.pass(6999);
    assert.equal(lab.account.status().cooldownUntil, until);
    await lab.clock.pass(1);
    assert.equal(lab.account.status().cooldownUntil, null);
    await lab.service.last.answer(yes());
    assert.deepEqual(
      heard.map(({ available, cooldownUntil }) => [available, cooldownUntil]),
      [[true, null]],
    );
    stop();
    assert.equal(lab.account.status().polling, false);
  });

  it('knows when the service last answered well, which alone is no reason to tell it', async () => {
    const lab = startAccount();
    const { heard } = follow(lab);
    await list(lab);
    const first = lab.clock.wall();
    assert.equal(lab.account.status().lastAnswerAt, first);
    const told = heard.length;
    await lab.clock.pass(1000);
    lab.run(1, true);
    await lab.service.last.answer(yes());
    assert.equal(lab.account.status().lastAnswerAt, first + 1000);
    await lab.clock.pass(1000);
    lab.run(1, true);
    await lab.service.last.fail(failure('AUTH'));
    assert.equal(lab.account.status().lastAnswerAt, first + 1000);
    assert.equal(heard.length, told);
  });

  it('is told to each listener until it goes, also where two are the same function', async () => {
    const lab = startAccount();
    let heard = 0;
    const listener = (): void => {
      heard++;
    };
    const first = lab.account.subscribe(listener);
    lab.account.subscribe(listener);
    let leaver = 0;
    lab.account.subscribe(() => leaver++)();
    assert.equal(heard, 2);
    first();
    first();
    await list(lab);
    assert.deepEqual([heard, leaver], [3, 1]);
  });
});
