import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Change, Outcome } from '../../../src/account/types';
import { PORTS, type Port, type PortOrAll } from '../../../src/api/types';
import { calm } from '../../support/fake-clock';
import {
  Call,
  failure,
  listOf,
  MAC,
  makeStrip,
  NOT_SENT,
  OTHER,
  stripOf,
  yes,
} from '../../support/scripted-service';
import { startAccount, type Ending } from './support';

const MACS = [MAC, OTHER];
const FAILURES = ['UNREACHABLE', 'TIMEOUT', 'AUTH', 'SWITCH_FAILED', 'NOT_FOUND'] as const;

const mac = fc.constantFrom(...MACS);
const port = fc.constantFrom<PortOrAll>(1, 2, 3, 4, 'all');
const states = fc.array(fc.constantFrom(true, false, null), { minLength: 4, maxLength: 4 });
const which = fc.nat(1000);

type Step =
  | { do: 'list' | 'subscribe' }
  | { do: 'get'; mac: string }
  | { do: 'run'; mac: string; port: PortOrAll; on: boolean }
  | { do: 'answer read'; which: number; states: (boolean | null)[] }
  | { do: 'fail read' | 'fail switch'; which: number; code: (typeof FAILURES)[number] }
  | { do: 'answer switch'; which: number }
  | { do: 'pass'; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('list' as const, 'list' as const, 'subscribe' as const) }),
  fc.record({ do: fc.constant('get' as const), mac }),
  fc.record({ do: fc.constant('run' as const), mac, port, on: fc.boolean() }),
  fc.record({ do: fc.constant('answer read' as const), which, states }),
  fc.record({ do: fc.constant('answer switch' as const), which }),
  fc.record({
    do: fc.constantFrom('fail read' as const, 'fail switch' as const),
    which,
    code: fc.constantFrom(...FAILURES),
  }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.nat(20_000) }),
);

/** What must be known, worked out from the history alone. */
class Model {
  #moment = 0;
  readonly asked = new Map<Call, number>();
  readonly #known = new Map<string, { now: boolean | null; last: boolean | null; at: number }>();

  /** Notes what has been asked since. */
  see(calls: readonly Call[]): void {
    for (const call of calls) if (!this.asked.has(call)) this.asked.set(call, ++this.#moment);
  }

  confirm(strip: string, outlet: PortOrAll, on: boolean): void {
    const at = ++this.#moment;
    for (const each of PORTS) if (outlet === 'all' || outlet === each) this.#tell(strip, each, on, at);
  }

  read(call: Call, strip: string, told: readonly (boolean | null)[]): void {
    const at = this.asked.get(call) ?? 0;
    PORTS.forEach((each, index) => this.#tell(strip, each, told[index] ?? null, at));
  }

  last(strip: string, outlet: Port): boolean | null {
    return this.#known.get(`${strip}/${outlet}`)?.last ?? null;
  }

  now(strip: string, outlet: Port): boolean | null {
    return this.#known.get(`${strip}/${outlet}`)?.now ?? null;
  }

  #tell(strip: string, outlet: Port, on: boolean | null, at: number): void {
    const key = `${strip}/${outlet}`;
    const known = this.#known.get(key) ?? { now: null, last: null, at: 0 };
    if (at < known.at) return;
    this.#known.set(key, { now: on, last: on ?? known.last, at });
  }
}

/** A subscriber that checks what it hears. */
class Listener {
  readonly #heard = new Map<string, boolean | number | null>();
  /** The same, but for what is unknown. */
  readonly #last = new Map<string, boolean | number>();

  hear(change: Change): void {
    if (change.kind === 'account' || change.kind === 'description' || change.kind === 'removed') return;
    const key = `${change.strip.mac}/${change.kind === 'outlet' ? change.port : ''}`;
    const value =
      change.kind === 'outlet' ? change.on : change.kind === 'reading' ? change.value : change.available;
    const before = this.#heard.get(key);
    assert.notEqual(value, before, `${key} was told twice`);
    const last = this.#last.get(key);
    if (change.kind === 'outlet' && last !== undefined) assert.equal(change.previous, last);
    if (value !== null) this.#last.set(key, value);
    assert.equal(change.previous === null, before === undefined, `${key} is first once`);
    this.#heard.set(key, value);
  }

  check(strip: string, outlet: Port, now: boolean | null): void {
    assert.equal(this.#heard.get(`${strip}/${outlet}`) ?? null, now, `${strip}/${outlet} was missed`);
  }
}

describe('whatever arrives in whatever order', () => {
  it('the newest request wins, no switch is undone, and each change is reported once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { service, account, clock, log, run } = startAccount();
        const model = new Model();
        const listeners: Listener[] = [];
        const endings: Ending[] = [];
        const quiet = (read: Promise<unknown>): void => void read.catch(() => undefined);
        const pick = <Reading>(calls: readonly Call<Reading>[], index: number): Call<Reading> | undefined => {
          const open = calls.filter(({ over }) => !over);
          return open[index % Math.max(open.length, 1)];
        };
        const subscribe = (): void => {
          const listener = new Listener();
          listeners.push(listener);
          account.subscribe((change) => listener.hear(change));
        };
        subscribe();
        for (const each of steps) {
          switch (each.do) {
            case 'list':
              quiet(account.list());
              break;
            case 'get':
              quiet(account.get(each.mac));
              break;
            case 'subscribe':
              subscribe();
              break;
            case 'run':
              endings.push(run(each.port, each.on, { mac: each.mac }));
              break;
            case 'answer read': {
              const list = pick(service.lists, each.which);
              const get = pick(service.gets, each.which);
              if (list !== undefined && (get === undefined || each.which % 2 === 0)) {
                MACS.forEach((name) => model.read(list as Call, name, each.states));
                await list.answer(listOf(...MACS.map((name) => makeStrip(name, each.states))));
              } else if (get !== undefined) {
                model.read(get as Call, get.mac, each.states);
                await get.answer(stripOf(makeStrip(get.mac, each.states)));
              }
              break;
            }
            case 'fail read':
              await pick([...service.lists, ...service.gets] as Call[], each.which)?.fail(failure(each.code));
              break;
            case 'answer switch': {
              const call = pick(service.switches, each.which);
              if (call === undefined) break;
              model.confirm(call.mac, call.port, call.on);
              await call.answer(yes(call.port));
              break;
            }
            case 'fail switch':
              await pick(service.switches, each.which)?.fail(failure(each.code));
              break;
            case 'pass':
              await clock.pass(each.ms);
              break;
          }
          await calm();
          model.see(service.all);
          // What a listener throws, its assertions included, ends up here.
          assert.deepEqual(
            log.lines.filter((line) => line.startsWith('fault')),
            [],
          );
          for (const name of MACS) {
            for (const outlet of PORTS) {
              const last = model.last(name, outlet);
              assert.equal(account.store.lastState(name, outlet), last, `${name}/${outlet} after ${each.do}`);
              for (const listener of listeners) listener.check(name, outlet, model.now(name, outlet));
              const onWire = service.switches.filter(
                (call) => !call.over && call.mac === name && (call.port === outlet || call.port === 'all'),
              );
              assert.ok(onWire.length <= 1, `${name}/${outlet}: two requests at once`);
            }
          }
        }
        const closing = account.close();
        await clock.pass(1000);
        await closing;
        assert.ok(endings.every(({ times }) => times === 1));
        assert.equal(clock.pending, 0);
      }),
      { numRuns: 300 },
    );
  });
});

interface Fate {
  delay: number;
  fault: 'none' | 'before' | 'after' | 'refused';
}

const fate: fc.Arbitrary<Fate> = fc.record({
  delay: fc.integer({ min: 1, max: 400 }),
  fault: fc.constantFrom('none', 'none', 'none', 'before', 'after', 'refused'),
});

const owner = fc.constantFrom(...[{}, {}]);

type Event =
  | { do: 'run'; mac: string; port: PortOrAll; action: boolean | 'toggle' | 'cycle'; owner: object }
  | { do: 'cancel'; owner: object }
  | { do: 'pass' | 'sleep'; ms: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('run' as const),
      mac,
      port,
      action: fc.constantFrom<(boolean | 'toggle' | 'cycle')[]>(true, false, true, false, 'toggle', 'cycle'),
      owner,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.oneof(fc.nat(300), fc.nat(9000)) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), owner }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sleep' as const), ms: fc.nat(60_000) }) },
);

describe('with a service that fails at random, a machine that sleeps and nodes that are removed', () => {
  const PROTECTED = { mac: MAC, port: 3 as const };

  /** `isOn`: all outlets are on, and no command is an off or a toggle. */
  const scenario = fc.record({
    events: fc.array(event, { minLength: 1, maxLength: 40 }),
    fates: fc.array(fate, { minLength: 1, maxLength: 50 }),
    concurrency: fc.integer({ min: 1, max: 4 }),
    isOn: fc.boolean(),
    closesEarly: fc.boolean(),
  });

  it('every command ends once, what it confirms is true, and no cycle leaves an outlet off', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ events, fates, concurrency, isOn, closesEarly }) => {
        const settings = { concurrency, retryFor: 5000, protectedOutlets: [PROTECTED] };
        const { service, account, clock, log, run } = startAccount(settings);
        const real = new Map(MACS.map((name) => [name, PORTS.map(() => isOn)]));
        const busy = new Set<string>();
        let asked = 0;
        let isHealed = false;
        const next = (): Fate =>
          (isHealed ? undefined : fates[asked++ % fates.length]) ?? { delay: 1, fault: 'none' };
        const later = (ms: number): Promise<void> =>
          new Promise((resolve) => void clock.setTimeout(resolve, ms));
        service.autoGet = async (name) => {
          const { delay, fault } = next();
          await later(delay);
          if (fault !== 'none') throw failure('TIMEOUT');
          return stripOf(makeStrip(name, real.get(name) ?? []));
        };
        service.autoSwitch = async (name, outlet, on) => {
          const { delay, fault } = next();
          const covered = PORTS.filter((each) => outlet === 'all' || outlet === each);
          for (const each of covered) {
            const isProtected = name === PROTECTED.mac && each === PROTECTED.port;
            assert.ok(on || !isProtected, 'a protected outlet is switched off');
            assert.ok(!busy.has(`${name}/${each}`), `two requests at once for ${name}/${each}`);
            busy.add(`${name}/${each}`);
          }
          await later(delay);
          for (const each of covered) busy.delete(`${name}/${each}`);
          if (fault === 'before') throw failure('UNREACHABLE', NOT_SENT, 'refused');
          if (fault === 'refused') throw failure('AUTH');
          for (const each of covered) real.get(name)?.splice(each - 1, 1, on);
          if (fault === 'after') throw failure('TIMEOUT');
          return yes(outlet);
        };
        const endings: Ending[] = [];
        const untrue: string[] = [];
        for (const each of events) {
          if (each.do === 'cancel') void account.cancel(each.owner);
          if (each.do === 'sleep') clock.jump += each.ms;
          if (each.do === 'pass') await clock.pass(each.ms);
          if (each.do !== 'run') continue;
          const { mac: name, port: outlet, owner } = each;
          const action = !isOn ? each.action : typeof each.action === 'boolean' ? true : 'cycle';
          const onOutcome = ({ on, skipped = [] }: Outcome): void => {
            const covered = PORTS.filter((to) => (outlet === 'all' ? !skipped.includes(to) : to === outlet));
            const known = covered.map((to) => account.store.lastState(name, to));
            const states = [...covered.map((to) => real.get(name)?.[to - 1]), ...known];
            const isAsked = typeof action === 'boolean' ? on === action : action === 'toggle' || on;
            if (!isAsked || states.some((state) => state !== on))
              untrue.push(`${name}/${outlet} ${action}: ${on}, but is ${states.join()}`);
          };
          endings.push(run(outlet, action, { mac: name, delay: 100, owner, onOutcome }));
        }
        // Without this, an on that is pending could stay pending forever.
        if (!closesEarly) await clock.pass(60_000);
        isHealed = true;
        for (let i = 0; !closesEarly && i < 200 && clock.pending > 0; i++) await clock.pass(5000);
        if (!closesEarly) assert.ok(clock.pending === 0 && endings.every(({ times }) => times === 1));
        const closing = account.close();
        await clock.pass(10_000);
        await closing;
        assert.deepEqual(untrue, []);
        assert.ok(endings.every(({ times }) => times === 1));
        if (isOn)
          assert.ok(
            [...real.values()].flat().every((on) => on),
            'left off',
          );
        assert.ok(!log.lines.some((line) => line.startsWith('fault')), log.lines.join());
        assert.equal(clock.pending, 0);
      }),
      { numRuns: 300 },
    );
  });
});

describe('whatever an outage looks like', () => {
  const TIMEOUT = 1000;
  const faults = {
    'hangs and ignores': { takes: TIMEOUT, isCarriedOut: false, error: () => failure('TIMEOUT') },
    'hangs and carries out': { takes: TIMEOUT, isCarriedOut: true, error: () => failure('TIMEOUT') },
    'refuses connections': { takes: 1, isCarriedOut: false, error: () => failure('UNREACHABLE') },
    'asks for a pause': {
      takes: 1,
      isCarriedOut: false,
      error: () => failure('RATE_LIMITED', { retryAfter: 2000 }),
    },
  };
  const order = fc.record({
    wait: fc.oneof(fc.constant(0), fc.nat(1500)),
    port: fc.constantFrom<Port>(1, 2),
    action: fc.constantFrom<(boolean | 'toggle')[]>(true, false, 'toggle'),
    /** The node that sent it is removed at once. */
    isRemoved: fc.constantFrom(false, false, false, true),
  });
  const outage = fc.record({
    rest: fc.oneof(fc.integer({ min: 10, max: TIMEOUT }), fc.integer({ min: 10, max: 40_000 })),
    fault: fc.constantFrom(...Object.values(faults)),
    retryFor: fc.constantFrom(0, 5000, 30_000),
  });

  it('replays no backlog after it: an outlet changes at most for the newest on or off and one toggle', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(order, { minLength: 1, maxLength: 25 }), outage, async (orders, down) => {
        const { rest, fault, retryFor } = down;
        const { service, account, clock, run } = startAccount({ retryFor, timeout: TIMEOUT });
        const real = [false, false, false, false];
        let isUp = false;
        let changes: Port[] = [];
        const later = (ms: number): Promise<void> =>
          new Promise((resolve) => void clock.setTimeout(resolve, ms));
        service.autoGet = async (name) => {
          const wasUp = isUp;
          await later(wasUp ? 1 : fault.takes);
          if (!wasUp) throw fault.error();
          return stripOf(makeStrip(name, real));
        };
        service.autoSwitch = async (_mac, outlet, on) => {
          const wasUp = isUp;
          if (outlet !== 'all' && (wasUp || fault.isCarriedOut)) {
            if (real[outlet - 1] !== on) changes.push(outlet);
            real[outlet - 1] = on;
          }
          await later(wasUp ? 1 : fault.takes);
          if (!wasUp) throw fault.error();
          return yes(outlet);
        };
        const endings: Ending[] = [];
        for (const { wait, port, action, isRemoved } of orders) {
          const owner = {};
          await clock.pass(wait);
          endings.push(run(port, action, { owner }));
          if (isRemoved) void account.cancel(owner);
        }
        await clock.pass(rest);
        isUp = true;
        changes = [];
        const lastAsked = clock.elapsed - rest;
        await clock.pass(2 * Math.max(retryFor, TIMEOUT) + 5000);
        assert.ok(endings.every(({ times }) => times === 1));
        for (const outlet of [1, 2])
          assert.ok(
            changes.filter((each) => each === outlet).length <= 2,
            `outlet ${outlet}: ${changes.join()}`,
          );
        const lastSent = service.switches.at(-1)?.at ?? 0;
        assert.ok(lastSent <= lastAsked + Math.max(retryFor, TIMEOUT) + 2 * TIMEOUT, `sent at ${lastSent}`);
        await account.close();
        assert.equal(clock.pending, 0);
      }),
      { numRuns: 300 },
    );
  });
});
