import assert from 'node:assert/strict';
import type { AccountStatus } from '../../../src/account/types';
import { calm } from '../../support/fake-clock';
import { failure, listOf, MAC, OTHER, makeStrip, stripOf } from '../../support/scripted-service';
import { bench } from './support';

describe('the status of an account', () => {
  it('is told now and when it changes, with the reason', async () => {
    const lab = bench();
    const heard: AccountStatus[] = [];
    const stop = lab.account.onStatus((status) => heard.push(status));
    await calm();
    assert.deepEqual(heard.splice(0), [
      {
        available: null,
        error: null,
        readable: true,
        lastAnswerAt: null,
        cooldownUntil: null,
        polling: false,
      },
    ]);
    assert.equal(lab.service.all.length, 0, 'it starts no poll');
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

  it('says that an answer cannot be read; the log does so once until one can', async () => {
    const lab = bench();
    const heard: boolean[] = [];
    lab.account.onStatus(({ readable }) => heard.push(readable));
    for (const readable of [false, false, true, false]) {
      const reading = lab.account.list();
      await lab.service.lists.at(-1)?.answer({ ...listOf(), readable });
      await reading;
    }
    const reading = lab.account.get(MAC);
    await lab.service.gets[0]?.answer({ ...stripOf(makeStrip(MAC, [])), readable: false });
    await reading;
    assert.deepEqual(lab.log.lines, ['unreadable list', 'unreadable list', 'unreadable strip']);
    assert.deepEqual(heard.slice(-3), [false, true, false]);
  });

  it('says so once, too, where one strip can be read and another cannot', async () => {
    const lab = bench();
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
    assert.deepEqual(lab.log.lines, ['unreadable strip', 'unreadable strip']);
  });

  it('does not suffer from a listener that throws', async () => {
    const lab = bench();
    lab.account.onStatus(() => {
      throw new Error('broken badge');
    });
    await calm();
    assert.deepEqual(lab.log.lines, ['fault Error: broken badge']);
  });
});
