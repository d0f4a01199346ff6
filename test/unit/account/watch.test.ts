import assert from 'node:assert/strict';
import type { Change } from '../../../src/account/types';
import type { SubscribeOptions } from '../../../src/account/subscribers';
import {
  bench,
  calm,
  failure,
  listOf,
  MAC,
  makeStrip,
  OTHER,
  said,
  stripOf,
  yes,
  type Bench,
} from './support';

/** A subscriber, and a way to let the next list arrive. */
function watch(lab: Bench, options: SubscribeOptions = {}) {
  const heard: string[] = [];
  const changes: Change[] = [];
  const stop = lab.account.subscribe((change) => {
    heard.push(said(change));
    changes.push(change);
  }, options);
  return { changes, stop, take: () => heard.splice(0) };
}

/** Lets a list arrive now. */
async function list(lab: Bench, ...strips: Parameters<typeof listOf>): Promise<void> {
  const reading = lab.account.list();
  await lab.service.lists.at(-1)?.answer(listOf(...strips));
  await reading;
}

describe('a subscriber', () => {
  it('hears of a change once, whoever made it', async () => {
    const lab = bench();
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

  it('hears what is known, and later what becomes known, where it asks for that', async () => {
    const lab = bench();
    const early = watch(lab, { initial: true });
    await calm();
    assert.deepEqual(early.take(), []);
    const known = [
      'account available (first)',
      `${MAC} available (first)`,
      `${MAC}/1 on (first)`,
      `${MAC} load 5 (first)`,
    ];
    await list(lab, makeStrip(MAC, [true, null], { load: 5 }));
    assert.deepEqual(early.take(), known);
    const late = watch(lab, { initial: true });
    assert.deepEqual(late.take(), [], 'not before subscribe has returned');
    await calm();
    assert.deepEqual(late.take(), known);
    await list(lab, makeStrip(MAC, [true, false], { load: 5 }));
    assert.deepEqual(late.take(), [`${MAC}/2 off (first)`]);
    assert.deepEqual(early.take(), [`${MAC}/2 off (first)`]);
  });

  it('never hears the same twice when something changes just as it comes', async () => {
    const lab = bench();
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

  it('does not take what becomes unknown for a change, and compares what follows with what was known', async () => {
    const lab = bench();
    const { take } = watch(lab);
    await list(lab, makeStrip(MAC, [true], { load: 5 }));
    await list(lab, makeStrip(MAC, [null], { load: null, voltage: 1 }));
    assert.equal(lab.account.strip(MAC)?.outlets[0]?.on, null);
    assert.equal(lab.account.strip(MAC)?.load, null);
    assert.equal(lab.account.lastKnown(MAC, 1), true);
    await list(lab, makeStrip(MAC, [true], { load: 5 }));
    assert.deepEqual(take(), []);
    await list(lab, makeStrip(MAC, [null]));
    await list(lab, makeStrip(MAC, [false], { load: 6 }));
    assert.deepEqual(take(), [`${MAC}/1 off`, `${MAC} load 6`]);
  });

  it('hears of a strip that turns up after the first complete list', async () => {
    const lab = bench();
    const plain = watch(lab);
    const initial = watch(lab, { initial: true });
    await list(lab, makeStrip(MAC, [true]));
    initial.take();
    assert.deepEqual(plain.take(), []);
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [false]));
    assert.deepEqual(plain.take(), [`${OTHER} available (first)`]);
    assert.deepEqual(initial.take(), [`${OTHER} available (first)`, `${OTHER}/1 off (first)`]);
  });

  it('hears that a strip is gone from a complete list, which says nothing about its outlets', async () => {
    const lab = bench();
    const { take } = watch(lab);
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [true]));
    await list(lab, makeStrip(OTHER, [true]));
    assert.deepEqual(take(), [`${MAC} unavailable`]);
    assert.equal(lab.account.lastKnown(MAC, 1), true);
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [true]));
    assert.deepEqual(take(), [`${MAC} available`]);
  });

  it('hears nothing of a strip that an incomplete list leaves out', async () => {
    const lab = bench();
    const { take } = watch(lab);
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [true]));
    const reading = lab.account.list();
    await lab.service.lists.at(-1)?.answer({ ...listOf(makeStrip(OTHER, [true])), complete: false });
    await reading;
    assert.deepEqual(take(), []);
  });

  it('hears of an outage and of its end; outlets keep what was known of them', async () => {
    const lab = bench();
    const { take } = watch(lab);
    await list(lab, makeStrip(MAC, [true]));
    const reading = lab.account.list();
    await Promise.all([assert.rejects(reading), lab.service.lists.at(-1)?.fail(failure('UNREACHABLE'))]);
    assert.deepEqual(take(), ['account unavailable', `${MAC} unavailable`]);
    assert.deepEqual(lab.account.strip(MAC)?.outlets, [{ port: 1, on: true }]);
    lab.run(1, true);
    await lab.service.last.answer(yes());
    assert.deepEqual(take(), ['account available', `${MAC} available`]);
  });

  it('hears of a strip that says itself that it is offline, or that the service does not know any more', async () => {
    const lab = bench();
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

  it('does not suffer from another that throws', async () => {
    const lab = bench();
    lab.account.subscribe(() => {
      throw new Error('broken watch');
    });
    const { take } = watch(lab);
    await list(lab, makeStrip(MAC, [true]));
    await list(lab, makeStrip(MAC, [false]));
    assert.deepEqual(take(), [`${MAC}/1 off`]);
    assert.deepEqual(lab.log.lines, ['fault Error: broken watch']);
  });

  it('may come and go while others are told', async () => {
    const lab = bench();
    const heard: string[] = [];
    const stop = lab.account.subscribe(() => {
      heard.push('first');
      stop();
      stopOther();
      lab.account.subscribe(() => heard.push('new'));
    });
    const stopOther = lab.account.subscribe(() => heard.push('other'));
    await list(lab, makeStrip(MAC, [true]));
    await list(lab, makeStrip(MAC, [false]));
    assert.deepEqual(heard, ['first']);
    await list(lab, makeStrip(MAC, [true]));
    assert.deepEqual(heard, ['first', 'new']);
  });

  it('cannot spoil for others what it is told', async () => {
    const lab = bench();
    const { changes } = watch(lab, { initial: true });
    await list(lab, makeStrip(MAC, [true], { load: 5, units: { load: 'W' } }));
    const change = changes.find(({ kind }) => kind === 'outlet');
    assert.ok(change?.kind === 'outlet');
    const { strip } = change;
    for (const part of [strip, strip.outlets, strip.outlets[0], strip.units])
      assert.ok(Object.isFrozen(part));
    const [copy] = lab.account.strips();
    assert.ok(copy);
    copy.outlets.length = 0;
    copy.units = {};
    assert.equal(lab.account.strip(MAC)?.outlets.length, 1);
    assert.deepEqual(lab.account.strip(MAC)?.units, { load: 'W' });
  });
});

describe('what is known of an outlet', () => {
  it('is not undone by a read that was asked before the switch was confirmed', async () => {
    const lab = bench();
    const { take } = watch(lab);
    await list(lab, makeStrip(MAC, [false]));
    const before = lab.account.get(MAC);
    lab.run(1, true);
    await lab.service.last.answer(yes());
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [false])));
    assert.equal(lab.account.lastKnown(MAC, 1), true);
    assert.deepEqual(take(), [`${MAC}/1 on`]);
    assert.deepEqual(
      (await before).strip.outlets,
      [{ port: 1, on: true }],
      'nor does whoever asked see it undone',
    );
  });

  it('is the answer to the newest question, whatever arrives last', async () => {
    const lab = bench();
    await list(lab, makeStrip(MAC, [null]));
    const older = lab.account.list();
    const newer = lab.account.get(MAC);
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true])));
    await lab.service.lists.at(-1)?.answer(listOf(makeStrip(MAC, [false])));
    await Promise.all([older, newer]);
    assert.equal(lab.account.lastKnown(MAC, 1), true);
  });

  it('of all outlets is on if any is, off only if all are', async () => {
    const lab = bench();
    assert.equal(lab.account.lastKnown(MAC, 'all'), null);
    await list(lab, makeStrip(MAC, [false, null]));
    assert.equal(lab.account.lastKnown(MAC, 'all'), null);
    await list(lab, makeStrip(MAC, [false, false]));
    assert.equal(lab.account.lastKnown(MAC, 'all'), false);
    await list(lab, makeStrip(MAC, [false, true]));
    assert.equal(lab.account.lastKnown(MAC, 'all'), true);
  });

  it('survives hostile names', async () => {
    const lab = bench();
    await list(lab, makeStrip('__proto__', [true]), makeStrip('constructor', [false]));
    assert.equal(lab.account.lastKnown('__proto__', 1), true);
    assert.equal(lab.account.lastKnown('constructor', 1), false);
    assert.equal(lab.account.strip('toString'), undefined);
  });
});

describe('a list that arrives late', () => {
  it('neither removes nor resurrects a strip', async () => {
    const lab = bench();
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [true]));
    const older = lab.account.list();
    lab.run(1, true); // So that the next list is asked anew.
    await lab.service.last.answer(yes());
    await list(lab, makeStrip(MAC, [true]));
    await lab.service.lists[1]?.answer(listOf(makeStrip(OTHER, [true]), makeStrip('new', [true])));
    await older;
    assert.deepEqual(
      lab.account.strips().map(({ mac, available }) => [mac, available]),
      [
        [MAC, true],
        [OTHER, false],
      ],
    );
  });

  it('and failed does not make unavailable what has answered since', async () => {
    const lab = bench();
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [true]));
    const failing = lab.account.list();
    lab.run(1, true);
    await lab.service.last.answer(yes());
    const { take } = watch(lab);
    await Promise.all([assert.rejects(failing), lab.service.lists[1]?.fail(failure('TIMEOUT'))]);
    assert.deepEqual(take(), []);
  });
});

describe('simultaneous reads', () => {
  it('of the same thing share one request, and everybody gets a reading of their own', async () => {
    const lab = bench();
    const lists = [lab.account.list(), lab.account.list()];
    const gets = [lab.account.get(MAC), lab.account.get(MAC.toLowerCase()), lab.account.get(OTHER)];
    assert.deepEqual(lab.service.texts, ['list ', `get ${MAC}`, `get ${OTHER}`]);
    await lab.service.lists[0]?.answer(listOf(makeStrip(MAC, [true])));
    for (const call of lab.service.gets) await call.answer(stripOf(makeStrip(call.mac, [true])));
    const [one, two] = await Promise.all(lists);
    assert.deepEqual(one, two);
    assert.notEqual(one?.strips, two?.strips);
    assert.notEqual(one?.response, two?.response);
    const [first, second] = await Promise.all(gets);
    assert.notEqual(first?.strip, second?.strip);
  });

  it('do not share one that was asked before a command was over', async () => {
    const lab = bench();
    const before = lab.account.list();
    lab.run(1, true);
    await lab.service.last.answer(yes());
    const after = lab.account.list();
    assert.equal(lab.service.lists.length, 2);
    await lab.service.lists[1]?.answer(listOf());
    await after;
    await lab.service.lists[0]?.answer(listOf());
    await before;
  });

  it('fail together, and the next one asks anew', async () => {
    const lab = bench();
    const both = [lab.account.get(MAC), lab.account.get(MAC)];
    const refused = both.map((read) => assert.rejects(read, { code: 'AUTH' }));
    await Promise.all([...refused, lab.service.gets[0]?.fail(failure('AUTH'))]);
    const next = lab.account.get(MAC);
    await lab.service.gets[1]?.answer(stripOf(makeStrip(MAC, [true])));
    assert.equal((await next).strip.mac, MAC);
  });
});
