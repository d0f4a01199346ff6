import assert from 'node:assert/strict';
import { calm } from '../../support/fake-clock';
import { listOf, MAC, makeStrip, OTHER, stripOf, withNames, yes } from '../../support/scripted-service';
import { startAccount } from './support';
import { list, watch } from './watching';

const NAMED = {
  outletNames: [
    { mac: 'aa:bb:cc:dd:ee:ff', port: 1, name: 'Lamp' },
    { mac: MAC, port: 3, name: 'Fan' },
  ],
  units: { load: 'W', voltage: '', signal: 'dBm' },
} as const;

/** A strip whose first two outlets have names of the service's. */
function told(more: Parameters<typeof makeStrip>[2] = {}) {
  const strip = makeStrip(MAC, [true, false, true], more);
  return withNames(strip, (port) => (port < 3 ? `Plug ${port}` : null));
}

const namesOf = (strip: ReturnType<typeof told> | undefined) => strip?.outlets.map(({ name }) => name);

describe('names that the user gave to outlets', () => {
  it('win over those of the service, which name the others, wherever a strip is told', async () => {
    const lab = startAccount(NAMED);
    const { changes } = watch(lab, { initial: true });
    const reading = lab.account.list();
    await lab.service.lists.at(-1)?.answer(listOf(told(), makeStrip(OTHER, [true, true, true])));
    const { strips } = await reading;
    const expected = ['Lamp', 'Plug 2', 'Fan'];
    assert.deepEqual(namesOf(strips[0]), expected);
    assert.deepEqual(namesOf(strips[1]), [null, null, null]);
    assert.deepEqual(namesOf(lab.account.store.find(MAC)), expected);
    assert.deepEqual(namesOf(lab.account.store.all()[0]), expected);
    const one = lab.account.get(MAC);
    await lab.service.gets.at(-1)?.answer(stripOf(told()));
    assert.deepEqual(namesOf((await one).strip), expected);
    const outlet = changes.find(({ kind }) => kind === 'outlet');
    assert.ok(outlet?.kind === 'outlet');
    assert.deepEqual(namesOf(outlet.strip), expected);
    assert.ok(!changes.some(({ kind }) => kind === 'description'));
  });

  it('are in outcomes, with the name of the strip', async () => {
    const lab = startAccount(NAMED);
    const early = lab.run(1, true);
    await lab.service.last.answer(yes());
    assert.deepEqual([early.outcome?.name, early.outcome?.outlet], [null, 'Lamp']);
    await list(lab, told({ name: 'Desk' }));
    for (const [port, outlet] of [
      [1, 'Lamp'],
      [2, 'Plug 2'],
      [4, null],
      ['all', null],
    ] as const) {
      const ending = lab.run(port, true);
      await lab.service.last.answer(yes(port));
      assert.deepEqual([ending.outcome?.name, ending.outcome?.outlet], ['Desk', outlet], String(port));
    }
    const cycle = lab.run(3, 'cycle');
    await lab.service.last.answer(yes(3));
    await lab.clock.pass(5000);
    await lab.service.last.answer(yes(3));
    assert.deepEqual([cycle.outcome?.name, cycle.outcome?.outlet], ['Desk', 'Fan']);
  });

  it('can be asked for errors, also before any answer', async () => {
    const lab = startAccount(NAMED);
    assert.deepEqual(lab.account.store.names('AA-BB-CC-DD-EE-FF', 1), { name: null, outlet: 'Lamp' });
    assert.deepEqual(lab.account.store.names(MAC, 2), { name: null, outlet: null });
    assert.deepEqual(lab.account.store.names(OTHER, 1), { name: null, outlet: null });
    await list(lab, told({ name: 'Desk' }));
    assert.deepEqual(lab.account.store.names(MAC, 2), { name: 'Desk', outlet: 'Plug 2' });
    assert.deepEqual(lab.account.store.names(MAC, 'all'), { name: 'Desk', outlet: null });
    assert.deepEqual(lab.account.store.names(MAC, null), { name: 'Desk', outlet: null });
  });
});

describe('names of the service', () => {
  it('stay where an answer leaves them out, which the answer itself then has too', async () => {
    const lab = startAccount();
    await list(lab, told({ name: 'Desk' }));
    const reading = lab.account.get(MAC);
    await lab.service.gets.at(-1)?.answer(stripOf(makeStrip(MAC, [true, false, true])));
    const { strip } = await reading;
    assert.equal(strip.name, 'Desk');
    assert.deepEqual(namesOf(strip), ['Plug 1', 'Plug 2', null]);
    assert.equal(lab.account.store.find(MAC)?.name, 'Desk');
  });

  it('are taken from the answer about one strip too', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true, false, true]));
    const reading = lab.account.get(MAC);
    await lab.service.gets.at(-1)?.answer(stripOf(told({ name: 'Desk', units: { load: 'W' } })));
    await reading;
    assert.equal(lab.account.store.find(MAC)?.name, 'Desk');
    assert.deepEqual(lab.account.store.find(MAC)?.units, { load: 'W' });
    assert.deepEqual(namesOf(lab.account.store.find(MAC)), ['Plug 1', 'Plug 2', null]);
  });

  it('and readings are taken from a list although a switch was confirmed while it was on its way', async () => {
    const lab = startAccount();
    const reading = lab.account.list();
    lab.run(1, false);
    await lab.service.last.answer(yes());
    await lab.service.lists.at(-1)?.answer(listOf(told({ name: 'Desk', load: 5, units: { load: 'W' } })));
    await reading;
    const strip = lab.account.store.find(MAC);
    assert.equal(strip?.load, 5);
    assert.equal(strip.outlets[0]?.on, false);
    assert.equal(strip.name, 'Desk');
    assert.deepEqual(strip.units, { load: 'W' });
  });

  it('are not put back by an older answer', async () => {
    const lab = startAccount();
    const old = lab.account.get(MAC);
    await list(lab, told({ name: 'New' }));
    const strip = withNames(told({ name: 'Old' }), () => 'Old');
    await lab.service.gets.at(-1)?.answer(stripOf(strip));
    await old;
    assert.equal(lab.account.store.find(MAC)?.name, 'New');
    assert.deepEqual(namesOf(lab.account.store.find(MAC)), ['Plug 1', 'Plug 2', null]);
  });
});

describe('units', () => {
  it('of the user fill in what the service leaves out, wherever a strip is told', async () => {
    const lab = startAccount(NAMED);
    const { changes } = watch(lab, { initial: true });
    const reading = lab.account.list();
    const sent = makeStrip(MAC, [true], { load: 5, voltage: 230, units: { load: 'kW' } });
    await lab.service.lists.at(-1)?.answer(listOf(sent, makeStrip(OTHER, [true], { load: 1 })));
    const { strips } = await reading;
    const first = { load: 'kW', signal: 'dBm' };
    const second = { load: 'W', signal: 'dBm' };
    assert.deepEqual(
      strips.map(({ units }) => units),
      [first, second],
    );
    assert.deepEqual(
      lab.account.store.all().map(({ units }) => units),
      [first, second],
    );
    const one = lab.account.get(OTHER);
    await lab.service.gets.at(-1)?.answer(stripOf(makeStrip(OTHER, [true])));
    assert.deepEqual((await one).strip.units, second);
    const load = changes.find((change) => change.kind === 'reading');
    assert.ok(load?.kind === 'reading');
    assert.deepEqual(load.strip.units, first);
  });

  it('of the user are those of a value without one, also after an answer with another unit', async () => {
    const lab = startAccount(NAMED);
    await list(lab, makeStrip(MAC, [true], { load: 5 }));
    const one = lab.account.get(MAC);
    await lab.service.gets
      .at(-1)
      ?.answer(stripOf(makeStrip(MAC, [true], { load: 5000, units: { load: 'mW' } })));
    assert.equal((await one).strip.units.load, 'mW');
    const reading = lab.account.list();
    await lab.service.lists.at(-1)?.answer(listOf(makeStrip(MAC, [true], { load: 6 })));
    const told = [(await reading).strips[0], lab.account.store.find(MAC)];
    assert.deepEqual(
      told.map((strip) => [strip?.load, strip?.units.load]),
      [
        [6, 'W'],
        [6, 'W'],
      ],
    );
    const without = lab.account.get(MAC);
    await lab.service.gets
      .at(-1)
      ?.answer(stripOf(makeStrip(MAC, [true], { load: 7, units: { load: 'mW' } })));
    await without;
    await list(lab, makeStrip(MAC, [true]));
    assert.equal(lab.account.store.find(MAC)?.units.load, 'mW');
  });

  it('of the service are all there is where the user gave none', async () => {
    const lab = startAccount();
    await list(lab, makeStrip(MAC, [true], { units: { voltage: 'V' } }), makeStrip(OTHER, [true]));
    assert.deepEqual(
      lab.account.store.all().map(({ units }) => units),
      [{ voltage: 'V' }, {}],
    );
  });
});

describe('a change of description', () => {
  /** What a watcher hears of a second list. */
  async function heardOf(before: ReturnType<typeof told>, after: ReturnType<typeof told>, settings = {}) {
    const lab = startAccount(settings);
    await list(lab, before);
    const { take, changes } = watch(lab);
    await calm();
    await list(lab, after);
    const last = changes.at(-1);
    return { said: take(), last };
  }

  it('is told once, with the new description', async () => {
    const renamed = withNames(told({ name: 'Desk' }), (port) => ['Plug 1', 'Kettle'][port - 1] ?? null);
    const { said, last } = await heardOf(told({ name: 'Shelf' }), renamed);
    assert.deepEqual(said, [`${MAC} description`]);
    assert.ok(last?.kind === 'description');
    assert.equal(last.strip.name, 'Desk');
    assert.deepEqual(namesOf(last.strip), ['Plug 1', 'Kettle', null]);
  });

  it('is a new name of the strip or of an outlet, another outlet, or a unit', async () => {
    const description = [`${MAC} description`];
    assert.deepEqual((await heardOf(told(), told({ name: 'Desk' }))).said, description);
    assert.deepEqual((await heardOf(makeStrip(MAC, [true, false, true]), told())).said, description);
    assert.deepEqual((await heardOf(told(), told({ units: { load: 'W' } }))).said, description);
    const more = (await heardOf(makeStrip(MAC, [true]), makeStrip(MAC, [true, true]))).said;
    assert.ok(more.includes(`${MAC} description`));
  });

  it('is nothing that stays as it was, is left out, or is hidden by what the user said', async () => {
    const before = told({ name: 'Desk', units: { load: 'W' } });
    assert.deepEqual((await heardOf(before, before)).said, []);
    assert.deepEqual((await heardOf(before, makeStrip(MAC, [true, false, true]))).said, []);
    const plain = makeStrip(MAC, [true]);
    const named = withNames(makeStrip(MAC, [true], { units: { load: 'W' } }), () => 'Plug 1');
    assert.deepEqual((await heardOf(plain, named, NAMED)).said, []);
  });
});

describe('a configured outlet that does not exist', () => {
  const outlets = [
    { mac: 'aa:bb:cc:dd:ee:ff', port: 1 },
    { mac: MAC, port: 4 },
    { mac: OTHER, port: 1 },
    { mac: 'Desk', port: 1 },
  ] as const;

  it('is warned of once after the first complete list, also where it names the strip instead of its MAC', async () => {
    const lab = startAccount({
      protectedOutlets: outlets,
      outletNames: outlets.map((outlet) => ({ ...outlet, name: 'Lamp' })),
    });
    const partial = lab.account.list();
    await lab.service.lists.at(-1)?.answer({ ...listOf(told({ name: 'Desk' })), complete: false });
    await partial;
    assert.deepEqual(lab.log.lines, []);
    await list(lab, told({ name: 'Desk' }));
    const expected = ['protected', 'named'].flatMap((kind) => [
      `unknown ${kind} ${MAC}/4`,
      `unknown ${kind} ${OTHER}/1`,
      `unknown ${kind} Desk/1`,
    ]);
    assert.deepEqual(lab.log.lines, expected);
    await list(lab, told({ name: 'Desk' }));
    await list(lab);
    assert.deepEqual(lab.log.lines, expected);
  });

  it('is warned of although a command for it was confirmed before', async () => {
    const lab = startAccount({ protectedOutlets: [{ mac: OTHER, port: 1 }] });
    lab.run(1, true, { mac: OTHER });
    await lab.service.last.answer(yes());
    await list(lab, told());
    assert.deepEqual(lab.log.lines, [`unknown protected ${OTHER}/1`]);
  });

  it('is not warned of where the complete list that has it comes after a newer part', async () => {
    const lab = startAccount({ protectedOutlets: [{ mac: OTHER, port: 1 }] });
    const whole = lab.account.list();
    // After a command, a further read does not share the request of an earlier one.
    lab.run(1, true);
    await lab.service.last.answer(yes(1));
    const part = lab.account.list();
    await lab.service.lists[1]?.answer({ ...listOf(told()), complete: false });
    await lab.service.lists[0]?.answer(listOf(told(), makeStrip(OTHER, [true])));
    await Promise.all([whole, part]);
    assert.deepEqual(lab.log.lines, []);
  });

  it('is not warned of where the list says nothing of the outlets of a strip', async () => {
    const lab = startAccount({ protectedOutlets: [{ mac: MAC, port: 4 }] });
    await list(lab, makeStrip(MAC, []));
    assert.deepEqual(lab.log.lines, []);
  });
});
