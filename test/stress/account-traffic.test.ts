import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from '../../src/account/account';
import { isStripError } from '../../src/api/errors';
import { PORTS } from '../../src/api/types';
import { FastClock } from '../support/fake-clock';
import { API_KEY, startService, type Fault, type TestService } from '../support/service';
import { openAccount } from './support/account';
import { Ledger, type Outlet } from './support/ledger';
import { randomOf, type Random } from './support/random';

const STRIPS = Array.from({ length: 10 }, (_, index) => ({
  mac: `A1B2C3D4E50${index}`,
  name: `Strip ${index}`,
}));
const OUTLETS: readonly Outlet[] = STRIPS.flatMap(({ mac }) => PORTS.map((port) => ({ mac, port })));
/** How much faster than the real one the clock runs: time-outs of 10 s come after half a second. */
const FACTOR = 20;
/** Between the commands for one outlet, in milliseconds of that clock. */
const PAUSE = 250;

const answer = (status: number, headers: Record<string, string> = {}): Fault => ({
  kind: 'answer',
  status,
  headers,
  json: { error: 'no' },
});

const FAULTS: readonly Fault[] = [
  { kind: 'reset', when: 'before' },
  { kind: 'reset', when: 'lost' },
  { kind: 'reset', when: 'middle' },
  { kind: 'reset', when: 'after' },
  { kind: 'idleClose' },
  { kind: 'hang' },
  { kind: 'drip', every: 50 },
  { kind: 'truncated' },
  { kind: 'oversized', bytes: 1_100_000, declared: false },
  { kind: 'contentLength', value: '9999' },
  { kind: 'html' },
  { kind: 'empty' },
  { kind: 'garbage' },
  { kind: 'interim', status: 103 },
  { kind: 'delay', ms: 20 },
  { kind: 'redirect', to: 'http://127.0.0.1:9/' },
  answer(401),
  answer(403),
  answer(404),
  answer(408),
  answer(409),
  answer(425),
  answer(429),
  answer(429, { 'retry-after': '1' }),
  answer(429, { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }),
  answer(500),
  answer(502),
  answer(503, { 'retry-after': '1' }),
];

interface Sending {
  ledger: Ledger;
  random: Random;
  clock: FastClock;
  perOutlet: number;
  depth: number;
}

/** Sends all commands; for each outlet, at most `depth` of them wait or are under way. Without a limit it sends them at random intervals. */
async function sendCommands(
  account: Account,
  service: TestService,
  { ledger, random, clock, perOutlet, depth }: Sending,
): Promise<void> {
  const wrong: string[] = [];
  await Promise.all(
    OUTLETS.map(async (outlet) => {
      const pending = new Set<Promise<void>>();
      for (let index = 0; index < perOutlet; index++) {
        const on = random.next() < 0.5;
        const settle = ledger.asked(outlet, on);
        const one = account.run({ ...outlet, action: on, delay: 0 }).then(
          (outcome) => {
            // The next command for this outlet cannot have reached the service yet.
            if (service.simulator.isOn(outlet.mac, outlet.port) !== on || outcome.on !== on) {
              wrong.push(`${outlet.mac}/${outlet.port}: ${String(on)} was confirmed and is not so`);
            }
            settle(null);
          },
          async (error: unknown) => {
            settle(error);
            // Without a pause, all that is left would give way while one command waits to be sent again.
            if (isStripError(error) && error.code === 'SUPERSEDED') await clock.passed(PAUSE);
          },
        );
        const tracked = one.finally(() => pending.delete(tracked));
        pending.add(tracked);
        if (pending.size >= depth) await Promise.race(pending);
        else if (depth === Infinity) await clock.passed(random.below(2 * PAUSE));
      }
      await Promise.all(pending);
    }),
  );
  assert.deepEqual(wrong, []);
}

/** What was carried out, per outlet, in order. */
function recordSwitches(service: TestService): Map<string, boolean[]> {
  const carriedOut = new Map<string, boolean[]>();
  service.simulator.on('switch', ({ mac, port, on }) => {
    const name = `${mac}/${port}`;
    const all = carriedOut.get(name) ?? [];
    all.push(on);
    carriedOut.set(name, all);
  });
  return carriedOut;
}

function holdAgainst(
  ledger: Ledger,
  service: TestService,
  carriedOut: ReadonlyMap<string, readonly boolean[]>,
): void {
  assert.equal(ledger.unsettled, 0);
  for (const outlet of OUTLETS) {
    const name = `${outlet.mac}/${outlet.port}`;
    const state = service.simulator.isOn(outlet.mac, outlet.port);
    assert(state !== undefined && ledger.possible(outlet).has(state), `${name} ended ${String(state)}`);
    assert(ledger.isInOrder(outlet, carriedOut.get(name) ?? []), `${name} was switched out of order`);
  }
}

describe('stress: commands of an account', () => {
  for (const [title, depth] of [
    ['with some waiting behind each', 5],
    ['whenever they come', Infinity],
  ] as const) {
    it(`gives 20,000 commands to 40 outlets, ${title}, at a fault rate of 20 % one true outcome each`, async () => {
      const random = randomOf(title);
      const clock = new FastClock(FACTOR);
      const service = await startService({ strips: STRIPS });
      const { account, said } = openAccount({
        baseUrl: service.baseUrl,
        apiKey: API_KEY,
        clock,
        settings: { concurrency: 40, interval: 5_000 },
      });
      const feed = setInterval(() => {
        // Enough for whatever comes before the next turn.
        while (planned < service.requests.length + 3_000) {
          service.next(random.next() < 0.2 ? random.pick(FAULTS) : null);
          planned++;
        }
      }, 5);
      let planned = 0;
      try {
        const carriedOut = recordSwitches(service);
        const ledger = new Ledger();
        let reading = true;
        const readers = [0, 1, 2].map(async () => {
          while (reading) {
            const unsubscribe = account.subscribe(() => undefined, 'all');
            await Promise.allSettled([account.list(), account.get(random.pick(STRIPS).mac), sleep(20)]);
            unsubscribe();
          }
        });
        await sendCommands(account, service, { ledger, random, clock, perOutlet: 500, depth });
        reading = false;
        await Promise.all(readers);

        assert.equal(
          Object.values(ledger.counts).reduce((sum, count) => sum + count),
          20_000,
        );
        // Each failure makes the newest of what waits for that outlet replace the rest.
        assert((ledger.counts.ok ?? 0) > 1_000, `so few succeeded: ${JSON.stringify(ledger.counts)}`);
        console.log(`      ${JSON.stringify(ledger.counts)}, ${service.requests.length} requests`);
        holdAgainst(ledger, service, carriedOut);
        assert.deepEqual(said.faults, []);
      } finally {
        clearInterval(feed);
        await account.close();
        await service.close();
      }
    });
  }

  it('loses nothing when the service is killed and started again ten times', async () => {
    const random = randomOf('restarts');
    const clock = new FastClock(FACTOR);
    const service = await startService({ strips: STRIPS, latency: 1 });
    const { account, said } = openAccount({
      baseUrl: service.baseUrl,
      apiKey: API_KEY,
      clock,
      // The clock is fast and the machine may be slow: long enough for every outage all the same.
      settings: { concurrency: 16, interval: 5_000, retryFor: 3_600_000 },
    });
    try {
      const carriedOut = recordSwitches(service);
      const ledger = new Ledger();
      const unsubscribe = account.subscribe(() => undefined);
      const phase = { over: false };
      const restarts = (async () => {
        for (let turn = 0; turn < 10; turn++) {
          await sleep(60 + random.below(60));
          await service.stopListening();
          await sleep(30 + random.below(120));
          await service.listenAgain();
        }
        phase.over = true;
      })();
      let rounds = 0;
      while (!phase.over) {
        rounds++;
        await sendCommands(account, service, { ledger, random, clock, perOutlet: 10, depth: 1 });
      }
      await restarts;
      const before = ledger.counts.ok ?? 0;
      await sendCommands(account, service, { ledger, random, clock, perOutlet: 5, depth: 5 });
      console.log(`      ${JSON.stringify(ledger.counts)} in ${rounds} rounds`);
      assert.equal(
        (ledger.counts.ok ?? 0) - before,
        OUTLETS.length * 5,
        'all is well again after the last restart',
      );
      // Outages are shorter than the time commands are retried for.
      assert.deepEqual(Object.keys(ledger.counts), ['ok']);
      holdAgainst(ledger, service, carriedOut);
      assert.deepEqual(said.faults, []);
      unsubscribe();
    } finally {
      await account.close();
      await service.close();
    }
  });

  it('carries every command out over connections that the service closes as soon as they are idle', async () => {
    const random = randomOf('idle');
    const service = await startService({ strips: STRIPS });
    const { account } = openAccount({
      baseUrl: service.baseUrl,
      apiKey: API_KEY,
      clock: new FastClock(FACTOR),
      settings: { concurrency: 8 },
    });
    const carriedOut = recordSwitches(service);
    try {
      const ledger = new Ledger();
      const settled: Promise<void>[] = [];
      for (let index = 0; index < 1_500; index++) {
        if (random.next() < 0.3) service.next({ kind: 'idleClose' });
        const outlet = random.pick(OUTLETS);
        const on = random.next() < 0.5;
        const settle = ledger.asked(outlet, on);
        settled.push(
          account.run({ ...outlet, action: on, delay: 0 }).then(
            () => settle(null),
            (error: unknown) => settle(error),
          ),
        );
        if (random.next() < 0.5) await sleep(random.below(3));
      }
      await Promise.all(settled);
      const { ok = 0, SUPERSEDED = 0 } = ledger.counts;
      assert.equal(ok + SUPERSEDED, 1_500, JSON.stringify(ledger.counts));
      holdAgainst(ledger, service, carriedOut);
    } finally {
      await account.close();
      await service.close();
    }
  });
});
