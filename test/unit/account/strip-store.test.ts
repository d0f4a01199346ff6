import assert from 'node:assert/strict';
import { failure, listOf, MAC, makeStrip, OTHER, stripOf, yes } from '../../support/scripted-service';
import { startAccount, type TestAccount } from './support';
import { list, watch } from './watching';

const states = ({ account }: TestAccount) =>
  Object.fromEntries(account.store.find(MAC)?.outlets.map(({ port, on }) => [port, on]) ?? []);

describe('a strip that was read alone and called offline', () => {
  it('is available as soon as a list says so, unless somebody wants readings that the list lacks', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]));
    const read = lab.account.get(MAC);
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true], { available: false })));
    assert.equal((await read).strip.available, false);
    await list(lab, makeStrip(MAC, [true]));
    assert.equal(lab.account.store.find(MAC)?.available, true);
    watch(lab, { readings: 'all' });
    await list(lab, makeStrip(MAC, [true], { available: false }));
    assert.equal(lab.account.store.find(MAC)?.available, false, 'a list that says so, too, is believed');
  });
});

describe('a list without strips', () => {
  it('that can be read does not keep a strip that is switched from being available', async () => {
    const lab = startAccount();
    await list(lab);
    lab.run(1, true);
    await lab.service.last.answer(yes());
    assert.equal(lab.account.store.find(MAC)?.available, true);
  });
});

describe('what is known of an outlet', () => {
  it('is not undone by a read that was asked before the switch was confirmed', async () => {
    const lab = startAccount();
    const { take } = watch(lab);
    await list(lab, makeStrip(MAC, [false]));
    const before = lab.account.get(MAC);
    lab.run(1, true);
    await lab.service.last.answer(yes());
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [false])));
    assert.equal(lab.account.store.lastState(MAC, 1), true);
    assert.deepEqual(take(), [`${MAC}/1 on`]);
    assert.deepEqual(
      (await before).strip.outlets,
      [{ port: 1, on: true, name: null }],
      'nor does whoever asked see it undone',
    );
  });

  it('is the answer to the newest request, whatever arrives last', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [null]));
    const older = lab.account.list();
    const newer = lab.account.get(MAC);
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true])));
    await lab.service.lists.at(-1)?.answer(listOf(makeStrip(MAC, [false])));
    await Promise.all([older, newer]);
    assert.equal(lab.account.store.lastState(MAC, 1), true);
  });

  it('of all outlets is on if any is, off only if all are', async () => {
    const lab = startAccount();
    assert.equal(lab.account.store.lastState(MAC, 'all'), null);
    await list(lab, makeStrip(MAC, [false, null]));
    assert.equal(lab.account.store.lastState(MAC, 'all'), null);
    await list(lab, makeStrip(MAC, [false, false]));
    assert.equal(lab.account.store.lastState(MAC, 'all'), false);
    await list(lab, makeStrip(MAC, [false, true]));
    assert.equal(lab.account.store.lastState(MAC, 'all'), true);
  });

  it('of all outlets is not known from one that was switched', async () => {
    const lab = startAccount();
    lab.run(1, false);
    await lab.service.last.answer(yes());
    assert.equal(lab.account.store.lastState(MAC, 1), false);
    assert.equal(lab.account.store.lastState(MAC, 'all'), null);
    for (const port of [2, 3, 4] as const) {
      lab.run(port, false);
      await lab.service.last.answer(yes(port));
    }
    assert.equal(lab.account.store.lastState(MAC, 'all'), null, 'no answer has told that there are no more');
    await list(lab, makeStrip(MAC, [false, false, false, false]));
    assert.equal(lab.account.store.lastState(MAC, 'all'), false);
  });

  it('has the time of the newest answer about its strip, whatever arrives last', async () => {
    const lab = startAccount();
    const at = (): string | undefined => lab.account.store.find(MAC)?.at;
    const older = lab.account.get(MAC);
    await list(lab, makeStrip(MAC, [true], { at: '2027-01-15T08:00:01.000Z' }));
    assert.equal(at(), '2027-01-15T08:00:01.000Z');
    await lab.service.gets
      .at(-1)
      ?.answer(stripOf(makeStrip(MAC, [true], { at: '2027-01-15T07:00:00.000Z' })));
    await older;
    assert.equal(at(), '2027-01-15T08:00:01.000Z');
    await list(lab, makeStrip(MAC, [true], { at: '2027-01-15T08:00:02.000Z' }));
    assert.equal(at(), '2027-01-15T08:00:02.000Z', 'although nothing else changed');
    const reading = lab.account.get(MAC);
    await lab.service.gets
      .at(-1)
      ?.answer(stripOf(makeStrip(MAC, [true], { at: '2027-01-15T08:00:03.000Z' })));
    await reading;
    assert.equal(at(), '2027-01-15T08:00:03.000Z');
    await lab.clock.pass(4000);
    lab.run(1, true);
    await lab.service.last.answer(yes());
    assert.equal(at(), '2027-01-15T08:00:04.000Z');
  });

  it('is sorted by number, in whatever order answers name the outlets', async () => {
    const lab = startAccount();
    for (const port of [3, 1, 2] as const) {
      lab.run(port, true);
      await lab.service.last.answer(yes(port));
    }
    const outlets = lab.account.store.find(MAC)?.outlets;
    assert.deepEqual(
      outlets?.map(({ port, on }) => [port, on]),
      [
        [1, true],
        [2, true],
        [3, true],
        [4, null],
      ],
    );
  });

  it('is not known of outlets that the strip turns out not to have while all are being switched', async () => {
    const lab = startAccount();
    lab.run('all', true);
    const { last } = lab.service;
    await list(lab, makeStrip(MAC, [false, false]));
    await last.answer(yes('all'));
    assert.deepEqual(states(lab), { 1: true, 2: true });
  });

  it('is unknown for the outlets that no command switched, until an answer tells which outlets there are', async () => {
    const lab = startAccount({ outletNames: [{ mac: MAC, port: 3, name: 'Fan' }] });
    const { take } = watch(lab);
    lab.run(2, true);
    await lab.service.last.answer(yes(2));
    assert.deepEqual(states(lab), { 1: null, 2: true, 3: null, 4: null });
    const names = lab.account.store.find(MAC)?.outlets.map(({ name }) => name);
    assert.deepEqual(names, [null, null, 'Fan', null]);
    take();
    await list(lab, makeStrip(MAC, [true, true, false]));
    assert.deepEqual(states(lab), { 1: true, 2: true, 3: false });
    assert.ok(take().includes(`${MAC} description`), 'there is one outlet less');
    lab.run(1, false);
    await lab.service.last.answer(yes(1));
    assert.deepEqual(states(lab), { 1: false, 2: true, 3: false });
  });

  it('is not made up for a strip without outlets that becomes unavailable, or whose readings are forgotten', async () => {
    const lab = startAccount();
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, []), makeStrip(OTHER, [])));
    lab.service.autoGet = (mac) => Promise.reject(failure(mac === MAC ? 'NOT_FOUND' : 'TIMEOUT'));
    const { take } = watch(lab, { readings: 'all' });
    await lab.clock.pass(60_000);
    assert.deepEqual(take(), [`${MAC} unavailable`]);
    assert.deepEqual(
      lab.account.store.all().map(({ outlets }) => outlets),
      [[], []],
    );
  });

  it('is unknown again where a newer answer tells other outlets of the strip, but not this one', async () => {
    const lab = startAccount();
    const { take } = watch(lab);
    const name = { port: 3, name: 'Fan' } as const;
    await list(
      lab,
      makeStrip(MAC, [], {
        outlets: [
          { port: 1, on: true, name: null },
          { ...name, on: true },
        ],
      }),
    );
    await list(lab, makeStrip(MAC, [false]));
    assert.deepEqual(states(lab), { 1: false, 3: null });
    assert.equal(lab.account.store.names(MAC, 3).outlet, 'Fan');
    assert.equal(lab.account.store.lastState(MAC, 3), true);
    assert.deepEqual(take(), [`${MAC}/1 off`, `${MAC}/3 unknown`]);
    await list(lab, makeStrip(MAC, []));
    assert.deepEqual(states(lab), { 1: false, 3: null }, 'an answer without outlets says nothing of any');
    const older = lab.account.list();
    lab.run(3, false);
    await lab.service.last.answer(yes(3));
    await lab.service.lists.at(-1)?.answer(listOf(makeStrip(MAC, [true])));
    await older;
    assert.deepEqual(states(lab), { 1: true, 3: false }, 'nor does an answer from before a switch');
  });

  it('survives hostile names', async () => {
    const lab = startAccount();
    await list(lab, makeStrip('__proto__', [true]), makeStrip('constructor', [false]));
    assert.equal(lab.account.store.lastState('__proto__', 1), true);
    assert.equal(lab.account.store.lastState('constructor', 1), false);
    assert.equal(lab.account.store.find('toString'), undefined);
  });
});

describe('a list that arrives late', () => {
  it('neither removes nor resurrects a strip', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [true]));
    const older = lab.account.list();
    lab.run(1, true); // So that the next list is a new request.
    await lab.service.last.answer(yes());
    await list(lab, makeStrip(MAC, [true]));
    const late = [makeStrip(MAC, [false]), makeStrip(OTHER, [true]), makeStrip('new', [true])];
    await lab.service.lists[1]?.answer(listOf(...late));
    assert.deepEqual(
      (await older).strips.map(({ mac, available, outlets }) => [mac, available, outlets[0]?.on]),
      [
        [MAC, true, true],
        [OTHER, false, true],
        ['new', false, true],
      ],
      'nor does whoever asked see a switch undone, or a strip that is gone as available',
    );
    assert.deepEqual(
      lab.account.store.all().map(({ mac, available }) => [mac, available]),
      [
        [MAC, true],
        [OTHER, false],
      ],
    );
  });

  it('and cannot be read makes no strip unavailable that a newer one has', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]));
    const older = lab.account.list();
    lab.run(1, true); // So that the next list is a new request.
    await lab.service.last.answer(yes());
    await list(lab, makeStrip(MAC, [true]));
    await lab.service.lists[1]?.answer({ ...listOf(), complete: false, readable: false });
    await older;
    lab.run(1, true);
    await lab.service.last.answer(yes());
    assert.equal(lab.account.store.find(MAC)?.available, true);
  });

  it('does not undo that a newer one calls a strip offline', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]));
    const older = lab.account.list();
    lab.run(1, true); // So that the next list is a new request.
    await lab.service.last.answer(yes());
    await list(lab, makeStrip(MAC, [true], { available: false }));
    await lab.service.lists[1]?.answer(listOf(makeStrip(MAC, [true])));
    await older;
    const reading = lab.account.get(MAC);
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true]), false));
    assert.equal((await reading).strip.available, false, 'its own answer says nothing about that');
    assert.equal(lab.account.store.find(MAC)?.available, false);
  });

  it('shows whoever asked the strips as unavailable as they are known to be since', async () => {
    const lab = startAccount();
    const older = lab.account.list();
    const newer = lab.account.get(MAC);
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [null], { available: false })));
    await newer;
    await lab.service.lists[0]?.answer(listOf(makeStrip(MAC, [true]), makeStrip(OTHER, [true])));
    const { strips } = await older;
    assert.deepEqual(
      strips.map(({ mac, available, outlets }) => [mac, available, outlets[0]?.on]),
      [
        [MAC, false, null],
        [OTHER, true, true],
      ],
    );
  });

  it('after a newer one failed does not make the account available', async () => {
    const lab = startAccount();
    const older = lab.account.get(MAC);
    const failing = lab.account.list();
    await Promise.all([assert.rejects(failing), lab.service.lists[0]?.fail(failure('UNREACHABLE'))]);
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true])));
    await older;
    assert.equal(lab.account.status().available, false);
    assert.equal(lab.account.status().error?.code, 'UNREACHABLE');
  });

  it('and knows a strip again does not bring back that it was available', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]));
    const older = lab.account.get(MAC);
    await list(lab);
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [false])));
    await older;
    assert.equal(lab.account.store.find(MAC)?.available, false);
  });

  it('as NOT_FOUND says nothing of a strip that was listed since, nor of one that nobody knows', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]));
    const older = [lab.account.get(MAC), lab.account.get(OTHER)].map((read) =>
      assert.rejects(read, { code: 'NOT_FOUND' }),
    );
    await list(lab, makeStrip(MAC, [true]));
    const { take } = watch(lab);
    for (const call of lab.service.gets) await call.fail(failure('NOT_FOUND'));
    await Promise.all(older);
    assert.deepEqual(take(), []);
    assert.deepEqual(
      lab.account.store.all().map(({ mac, available }) => [mac, available]),
      [[MAC, true]],
    );
  });

  it('and failed does not make unavailable what has answered since', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]), makeStrip(OTHER, [true]));
    const failing = lab.account.list();
    lab.run(1, true);
    await lab.service.last.answer(yes());
    const { take } = watch(lab);
    await Promise.all([assert.rejects(failing), lab.service.lists[1]?.fail(failure('TIMEOUT'))]);
    assert.deepEqual(take(), [`${OTHER} unavailable`]);
    assert.equal(lab.account.status().available, true);
  });

  it('and refused is noted, whatever strips have answered since', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]));
    const refused = lab.account.list();
    lab.run(1, true);
    await lab.service.last.answer(yes());
    await Promise.all([assert.rejects(refused), lab.service.lists[1]?.fail(failure('AUTH'))]);
    assert.equal(lab.account.status().error?.code, 'AUTH');
    lab.run(1, true);
    await lab.service.last.answer(yes());
    assert.equal(lab.account.status().available, false);
    await list(lab, makeStrip(MAC, [true]));
    assert.equal(lab.account.status().available, true);
  });
});

describe('a list that is older than the answer about a strip', () => {
  it('ends an outage that only an even older list noticed', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]));
    const failing = lab.account.list();
    lab.run(1, true); // So that the next list is a new request.
    await lab.service.last.answer(yes());
    const newer = lab.account.list();
    const reading = lab.account.get(MAC);
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true])));
    await reading;
    await Promise.all([assert.rejects(failing), lab.service.lists[1]?.fail(failure('SERVICE'))]);
    await lab.service.lists[2]?.answer(listOf(makeStrip(MAC, [true])));
    await newer;
    assert.equal(lab.account.status().available, true);
  });
});

describe('the answer about one strip', () => {
  it('does not change how the list spells its MAC, which its path needs', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]));
    const reading = lab.account.get(MAC);
    await lab.service.gets[0]?.answer(stripOf(makeStrip('aa:bb:cc:dd:ee:ff', [true])));
    assert.equal((await reading).strip.mac, MAC);
    const toggle = lab.run(1, 'toggle');
    await lab.service.gets[1]?.answer(stripOf(makeStrip('aa:bb:cc:dd:ee:ff', [true])));
    assert.equal(lab.service.last.mac, MAC);
    await lab.service.last.answer(yes());
    assert.equal(toggle.outcome?.mac, MAC);
  });

  it('and failed does not forget a reading that a newer one told', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]));
    lab.run(1, 'toggle');
    lab.run(2, 'toggle');
    const older = lab.service.gets.slice();
    assert.equal(older.length, 2);
    const newer = lab.account.get(MAC);
    await lab.service.gets.at(-1)?.answer(stripOf(makeStrip(MAC, [true], { load: 5 })));
    await newer;
    for (const call of older) await call.fail(failure('AUTH'));
    assert.equal(lab.account.store.find(MAC)?.load, 5);
  });

  it('makes a strip available that no list has, although it says nothing of that', async () => {
    const lab = startAccount();
    const reading = lab.account.list();
    await lab.service.lists[0]?.answer({ ...listOf(makeStrip(OTHER, [true])), complete: false });
    await reading;
    const asked = lab.account.get(MAC);
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true]), false));
    assert.equal((await asked).strip.available, true);
    assert.equal(lab.account.store.find(MAC)?.available, true);
  });

  it('makes no strip of a MAC that a complete list does not have, if it cannot be read', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]));
    const reading = lab.account.get(OTHER);
    await lab.service.gets[0]?.answer({ ...stripOf(makeStrip(OTHER, []), false), readable: false });
    assert.deepEqual((await reading).strip, makeStrip(OTHER, [], { available: false }));
    assert.equal(lab.account.store.find(OTHER), undefined);
  });

  it('is logged if it cannot be read, and makes the strip available, as long as no complete list has come', async () => {
    const lab = startAccount();
    const reading = lab.account.get(MAC);
    await lab.service.gets[0]?.answer({ ...stripOf(makeStrip(MAC, []), false), readable: false });
    assert.equal((await reading).strip.available, true);
    assert.deepEqual(lab.log.lines, ['unreadable strip']);
  });

  it('is believed if it calls the strip offline, whatever the list and it said before', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true], { available: false }));
    for (const available of [true, false]) {
      const reading = lab.account.get(MAC);
      await lab.service.gets.at(-1)?.answer(stripOf(makeStrip(MAC, [true], { available })));
      assert.equal((await reading).strip.available, available);
      assert.equal(lab.account.store.find(MAC)?.available, available);
    }
  });

  it('ends an outage', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]));
    const failing = lab.account.list();
    await Promise.all([assert.rejects(failing), lab.service.lists[1]?.fail(failure('UNREACHABLE'))]);
    const reading = lab.account.get(MAC);
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true])));
    await reading;
    assert.equal(lab.account.status().available, true);
    assert.equal(lab.account.store.find(MAC)?.available, true);
  });

  it('calls the strip available for whoever asked, although the list is refused', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true]));
    const refused = lab.account.list();
    await Promise.all([assert.rejects(refused), lab.service.lists[1]?.fail(failure('SERVICE'))]);
    const reading = lab.account.get(MAC);
    await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true])));
    assert.equal((await reading).strip.available, true);
    assert.equal(lab.account.status().available, false);
  });
});

describe('an answer without outlets and readings', () => {
  it('has no older ones for whoever asked, although the account still knows the outlets', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true], { load: 5 }));
    const one = lab.account.get(MAC);
    await lab.service.gets[0]?.answer({ ...stripOf(makeStrip(MAC, [])), readable: false });
    const all = lab.account.list();
    await lab.service.lists.at(-1)?.answer(listOf(makeStrip(MAC, [])));
    for (const strip of [(await one).strip, ...(await all).strips])
      assert.deepEqual([strip.outlets, strip.load], [[], null]);
    assert.equal(lab.account.store.lastState(MAC, 1), true);
  });
});

describe('simultaneous reads', () => {
  it('of the same thing share one request, and each caller gets its own copy', async () => {
    const lab = startAccount();
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

  it('get it in the turn of the event loop in which it came, so that no switch that is confirmed later is told before it', async () => {
    const lab = startAccount();
    let ended = 0;
    const lists = [lab.account.list(), lab.account.list()].map(async (list) => {
      await list;
      ended++;
    });
    void lab.service.lists[0]?.answer(listOf(makeStrip(MAC, [true])));
    // Called from a promise, `nextTick` waits until no other promise can go on, but for no other event.
    await Promise.resolve();
    await new Promise<void>((resolve) => process.nextTick(resolve));
    assert.equal(ended, 2);
    await Promise.all(lists);
  });

  it('are no trouble however deep the body is nested', async () => {
    const lab = startAccount();
    const both = [lab.account.list(), lab.account.list()];
    const text = '['.repeat(300_000) + ']'.repeat(300_000);
    const response: unknown = JSON.parse(text);
    await lab.service.lists[0]?.answer({ ...listOf(), response, text });
    for (const answer of await Promise.all(both)) assert(Array.isArray(answer.response));
  });

  it('do not share one that was asked before a command was over', async () => {
    const lab = startAccount();
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

  it('share one that is not sent yet, although a command ends meanwhile', async () => {
    const lab = startAccount({ concurrency: 1 });
    lab.run(1, true);
    lab.run(2, true);
    const before = lab.account.list();
    await lab.service.last.answer(yes());
    const after = lab.account.list();
    await lab.service.last.answer(yes(2));
    await lab.service.lists[0]?.answer(listOf());
    await Promise.all([before, after]);
    assert.equal(lab.service.lists.length, 1);
  });

  it('say nothing of the newest list where an older one that cannot be read comes late', async () => {
    const lab = startAccount();
    const older = lab.account.list();
    lab.run(1, true);
    await lab.service.last.answer(yes());
    const newer = lab.account.list();
    await lab.service.lists[1]?.answer(listOf(makeStrip(MAC, [true])));
    await newer;
    await lab.service.lists[0]?.answer({ ...listOf(), readable: false });
    await older;
    assert.equal(lab.account.status().readable, true);
    assert.deepEqual(lab.log.lines, []);
  });

  it('fail together, and the next one sends a new request', async () => {
    const lab = startAccount();
    const both = [lab.account.get(MAC), lab.account.get(MAC)];
    const refused = both.map((read) => assert.rejects(read, { code: 'AUTH' }));
    await Promise.all([...refused, lab.service.gets[0]?.fail(failure('AUTH'))]);
    const next = lab.account.get(MAC);
    await lab.service.gets[1]?.answer(stripOf(makeStrip(MAC, [true])));
    assert.equal((await next).strip.mac, MAC);
  });
});

describe('a strip that stands in a list twice, spelled in two ways', () => {
  it('shows a switch in both places', async () => {
    const { service, run, account } = startAccount();
    const asked = account.list();
    const off = [false, false, false, false];
    const reading = listOf(makeStrip(MAC, off), makeStrip('aa:bb:cc:dd:ee:ff', off));
    run(1, true);
    await service.last.answer(yes());
    await service.lists[0]?.answer(reading);
    const { strips } = await asked;
    assert.deepEqual(
      strips.map(({ outlets }) => outlets[0]?.on),
      [true, true],
    );
  });
});
