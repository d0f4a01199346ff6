import assert from 'node:assert/strict';
import { calm } from '../../support/fake-clock';
import { failure, listOf, MAC, makeStrip, OTHER, stripOf, yes } from '../../support/scripted-service';
import { startAccount } from './support';
import { list, watch } from './watching';

describe('a subscriber', () => {
  it('hears of a change once, no matter who made it', async () => {
    const lab = startAccount();
    const { take, changes } = watch(lab);
    await list(lab, makeStrip(MAC, [true, false]));
    assert.deepEqual(take(), []);
    await list(lab, makeStrip(MAC, [false, false]));
    await list(lab, makeStrip(MAC, [false, false]));
    assert.deepEqual(take(), [`${MAC}/1 off`]);
    lab.run(1, true);
    await lab.service.last.answer(yes());
    assert.deepEqual(take(), [`${MAC}/1 on`]);
    const change = changes.at(-1);
    assert.ok(change?.kind === 'outlet');
    assert.equal(change.previous, false);
    assert.equal(change.strip.outlets[0]?.on, true);
    await list(lab, makeStrip(MAC, [true, false]));
    assert.deepEqual(take(), []);
  });

  it('hears of an outlet that is unknown now but was known, where it asks for what is known', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true, null]));
    await list(lab, makeStrip(MAC, [null, null]));
    const { take } = watch(lab, { initial: true });
    await calm();
    assert.deepEqual(take(), [`${MAC} available (first)`, `${MAC}/1 unknown (first)`]);
  });

  it('that comes while others are told hears of each thing once', async () => {
    const lab = startAccount();
    let late: ReturnType<typeof watch> | undefined;
    lab.account.subscribe(({ kind }) => {
      if (kind === 'outlet') late ??= watch(lab, { initial: true });
    });
    await list(lab, makeStrip(MAC, [true, false]));
    assert.deepEqual(late?.take(), [
      `${MAC} available (first)`,
      `${MAC}/1 on (first)`,
      `${MAC}/2 off (first)`,
    ]);
  });

  it('hears what is known, and later what becomes known, where it asks for that', async () => {
    const lab = startAccount();
    const early = watch(lab, { initial: true });
    await calm();
    assert.deepEqual(early.take(), []);
    const known = [`${MAC} available (first)`, `${MAC}/1 on (first)`, `${MAC} load 5 (first)`];
    await list(lab, makeStrip(MAC, [true, null], { load: 5 }));
    assert.deepEqual(early.take(), known);
    const late = watch(lab, { initial: true });
    assert.deepEqual(late.take(), known);
    await list(lab, makeStrip(MAC, [true, false], { load: 5 }));
    assert.deepEqual(late.take(), [`${MAC}/2 off (first)`]);
    assert.deepEqual(early.take(), [`${MAC}/2 off (first)`]);
  });

  it('hears nothing old of strips when the poll begins again after a long pause', async () => {
    const lab = startAccount();
    const first = watch(lab);
    await lab.service.lists.at(-1)?.answer(listOf(makeStrip(MAC, [true, false], { load: 5 })));
    first.stop();
    await lab.clock.pass(3_600_000);
    const { take } = watch(lab, { initial: true, readings: 'all' });
    assert.deepEqual([lab.account.status().available, lab.account.status().listed], [null, null]);
    await lab.service.lists.at(-1)?.fail(failure('UNREACHABLE'));
    void lab.account.get(MAC);
    await lab.service.gets.at(-1)?.answer(stripOf(makeStrip(MAC, [true, true])));
    assert.deepEqual([take(), lab.account.status().available], [[], true]);
    await list(lab, makeStrip(MAC, [false, false]));
    const known = [`${MAC} available (first)`, `${MAC}/1 off (first)`, `${MAC}/2 off (first)`];
    assert.deepEqual(take(), [...known, `${MAC} load null (first)`]);
    assert.deepEqual(watch(lab, { initial: true }).take().slice(0, 3), known);
  });

  it('hears nothing old of a strip that was only switched before the poll began', async () => {
    const lab = startAccount();
    lab.run(1, true);
    await lab.service.last.answer(yes());
    await lab.clock.pass(3_600_000);
    const { take } = watch(lab, { initial: true });
    assert.equal(lab.account.status().available, null);
    assert.deepEqual(take(), []);
    await list(lab, makeStrip(MAC, [false]));
    assert.deepEqual(take(), [`${MAC} available (first)`, `${MAC}/1 off (first)`]);
  });

  it('hears of a strip that is offline when it first becomes known, where it asks for what is known', async () => {
    const lab = startAccount();
    const { take } = watch(lab, { initial: true });
    await list(lab, makeStrip(MAC, [null], { available: false }));
    assert.deepEqual(take(), [`${MAC} unavailable (first)`]);
  });

  it('hears nothing once it has gone', async () => {
    const lab = startAccount();
    const { stop, take } = watch(lab, { initial: true });
    stop();
    await list(lab, makeStrip(MAC, [true]));
    assert.deepEqual(take(), []);
  });

  it('never hears the same twice when something changes just as it comes', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]));
    lab.run(1, false);
    const answered = lab.service.last.answer(yes());
    const late = watch(lab, { initial: true });
    await answered;
    await calm();
    const outlets = late.take().filter((text) => text.includes('/1'));
    assert.ok(
      outlets.length <= 2 && new Set(outlets.map((text) => text.split(' ')[1])).size === outlets.length,
    );
    assert.match(outlets.at(-1) ?? '', /off/);
  });

  it('hears of what becomes unknown and known again, with what was known last', async () => {
    const lab = startAccount();
    const { take, changes } = watch(lab);
    await list(lab, makeStrip(MAC, [true], { load: 5 }));
    await list(lab, makeStrip(MAC, [null], { load: null, voltage: 1 }));
    assert.equal(lab.account.store.find(MAC)?.outlets[0]?.on, null);
    assert.equal(lab.account.store.find(MAC)?.load, null);
    assert.equal(lab.account.store.lastState(MAC, 1), true);
    assert.deepEqual(take(), [`${MAC}/1 unknown`, `${MAC} load null`]);
    await list(lab, makeStrip(MAC, [true], { load: 5 }));
    assert.deepEqual(take(), [`${MAC}/1 on`, `${MAC} load 5`, `${MAC} voltage null`]);
    assert.deepEqual(
      changes.slice(-3).map((change) => 'previous' in change && change.previous),
      [true, 5, 1],
    );
    await list(lab, makeStrip(MAC, [null]));
    await list(lab, makeStrip(MAC, [false], { load: 6 }));
    assert.deepEqual(take(), [`${MAC}/1 unknown`, `${MAC} load null`, `${MAC}/1 off`, `${MAC} load 6`]);
  });

  it('hears of a strip that turns up after the first complete list', async () => {
    const lab = startAccount();
    const plain = watch(lab);
    const initial = watch(lab, { initial: true });
    await list(lab, makeStrip(MAC, [true]));
    initial.take();
    assert.deepEqual(plain.take(), []);
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [false]));
    assert.deepEqual(plain.take(), [`${OTHER} available (first)`]);
    assert.deepEqual(initial.take(), [`${OTHER} available (first)`, `${OTHER}/1 off (first)`]);
  });

  it('hears of a strip that an answer about it alone makes known, once a complete list has come', async () => {
    const lab = startAccount();
    const { take } = watch(lab);
    const read = async (mac: string): Promise<void> => {
      const reading = lab.account.get(mac);
      await lab.service.gets.at(-1)?.answer(stripOf(makeStrip(mac, [true])));
      await reading;
    };
    await read(MAC);
    await list(lab, makeStrip(MAC, [true]));
    assert.deepEqual(take(), []);
    await read(OTHER);
    assert.deepEqual(take(), [`${OTHER} available (first)`]);
  });

  it('hears that a strip is gone from a complete list, which says nothing about its outlets', async () => {
    const lab = startAccount();
    const { take } = watch(lab);
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [true]));
    await list(lab, makeStrip(OTHER, [true]));
    assert.deepEqual(take(), [`${MAC} unavailable`]);
    assert.equal(lab.account.store.lastState(MAC, 1), true);
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [true]));
    assert.deepEqual(take(), [`${MAC} available`]);
  });

  it('hears nothing of a strip that an incomplete list leaves out', async () => {
    const lab = startAccount();
    const { take } = watch(lab);
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [true]));
    const reading = lab.account.list();
    await lab.service.lists.at(-1)?.answer({ ...listOf(makeStrip(OTHER, [true])), complete: false });
    await reading;
    assert.deepEqual(take(), []);
  });

  it('hears of an outage and of its end; outlets keep what was known of them', async () => {
    const lab = startAccount();
    const { take } = watch(lab);
    await list(lab, makeStrip(MAC, [true]));
    const reading = lab.account.list();
    await Promise.all([assert.rejects(reading), lab.service.lists.at(-1)?.fail(failure('UNREACHABLE'))]);
    assert.deepEqual(take(), [`${MAC} unavailable`]);
    assert.deepEqual(lab.account.store.find(MAC)?.outlets, [{ port: 1, on: true, name: null }]);
    lab.run(1, true);
    await lab.service.last.answer(yes());
    assert.deepEqual(take(), [`${MAC} available`]);
  });

  it('hears of a strip that says itself that it is offline, or that the service does not know any more', async () => {
    const lab = startAccount();
    const { take } = watch(lab);
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [true]));
    await list(lab, makeStrip(MAC, [], { available: false }), makeStrip(OTHER, [true]));
    assert.deepEqual(take(), [`${MAC} unavailable`]);
    const gone = lab.account.get(OTHER);
    await Promise.all([assert.rejects(gone), lab.service.gets.at(-1)?.fail(failure('NOT_FOUND'))]);
    assert.deepEqual(take(), [`${OTHER} unavailable`]);
    const back = lab.account.get(OTHER);
    await lab.service.gets.at(-1)?.answer(stripOf(makeStrip(OTHER, [true])));
    await back;
    assert.deepEqual(take(), [`${OTHER} available`]);
  });

  it('is called although another one throws', async () => {
    const lab = startAccount();
    lab.account.subscribe(() => {
      throw new Error('broken watch');
    });
    const { take } = watch(lab);
    await list(lab, makeStrip(MAC, [true]));
    await list(lab, makeStrip(MAC, [false]));
    assert.deepEqual(take(), [`${MAC}/1 off`]);
    // For the account when it subscribes and when it is available, for the strip, and for the outlet when it is known and when it changes.
    assert.deepEqual(lab.log.lines, Array(5).fill('fault Error: broken watch'));
  });

  it('may come and go while others are called', async () => {
    const lab = startAccount();
    const heard: string[] = [];
    const subscribe = (name: string, react?: () => void): (() => void) =>
      lab.account.subscribe((change) => {
        if (change.kind !== 'outlet' || change.previous === null) return;
        heard.push(name);
        react?.();
      });
    const stop = subscribe('first', () => {
      stop();
      stopOther();
      subscribe('new');
    });
    const stopOther = subscribe('other');
    await list(lab, makeStrip(MAC, [true]));
    await list(lab, makeStrip(MAC, [false]));
    assert.deepEqual(heard, ['first']);
    await list(lab, makeStrip(MAC, [true]));
    assert.deepEqual(heard, ['first', 'new']);
  });
});
