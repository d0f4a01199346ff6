import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Change } from '../../src/account/types';
import { FastClock } from '../support/fake-clock';
import { API_KEY, startService, STRIPS } from '../support/service';
import { until } from '../support/until';
import { openAccount } from './support/account';
import { handles, heapUsed, processListeners } from './support/memory';
import { randomOf } from './support/random';

const FACTOR = 240;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const INTERVAL = 5_000;

describe('stress: an hour of polling', () => {
  it('keeps heap, handles, listeners and sockets flat, whatever the clock on the wall does', async () => {
    const random = randomOf('hour');
    const clock = new FastClock(FACTOR);
    const service = await startService();
    const { account, said } = openAccount({
      baseUrl: service.baseUrl,
      apiKey: API_KEY,
      clock,
      timeout: 240_000,
      settings: { interval: INTERVAL },
    });
    try {
      const changes: Change[] = [];
      let told = 0;
      const removers = Array.from({ length: 40 }, (_, index) =>
        account.subscribe((change) => {
          told++;
          if (index === 0) changes.push(change);
        }, 'all'),
      );
      let flips = 0;
      let last = false;
      const flipsTold = () =>
        changes.filter((change) => change.kind === 'outlet' && change.previous !== null).length;
      const pass = async (hours: number) => {
        const end = clock.monotonic() + hours * HOUR;
        while (clock.monotonic() < end) {
          await sleep(100 + random.below(100));
          clock.jump += random.next() >= 0.5 ? DAY : -DAY;
          last = !last;
          service.simulator.apply({ mac: STRIPS[0].mac, port: 1, on: last });
          flips++;
          // Two flips between two polls cannot be noticed.
          await until('the flip', () => flipsTold() === flips);
        }
      };
      await pass(0.2);
      const before = {
        heap: heapUsed(),
        handles: handles(),
        listeners: processListeners(),
        open: service.open,
      };
      const asked = service.requests.length;
      const start = clock.monotonic();
      await pass(1);
      await clock.passed(3 * INTERVAL);
      const rounds = (clock.monotonic() - start) / INTERVAL;
      const after = {
        heap: heapUsed(),
        handles: handles(),
        listeners: processListeners(),
        open: service.open,
      };

      const lists = service.requests.slice(asked).filter(({ path }) => path.endsWith('/strips')).length;
      console.log(
        `      ${lists} lists in ${rounds.toFixed(0)} intervals, ${told} changes told, heap ${((after.heap - before.heap) / 1000).toFixed(0)} kB`,
      );
      assert(lists > rounds * 0.7 && lists < rounds * 1.1, `${lists} polls in ${rounds} intervals`);
      assert.equal(flipsTold(), flips, 'every flip is told once');
      assert.equal(after.listeners, before.listeners);
      // Either sample may have been taken in the middle of a round, which has a few of each on their way.
      const inRound = 4;
      for (const [kind, count] of Object.entries(after.handles)) {
        assert(count <= (before.handles[kind] ?? 0) + inRound, `${count} of ${kind} after ${rounds} rounds`);
      }
      assert(after.open <= before.open + inRound, `${after.open} connections open`);
      // The service under test keeps every request it had, some 500 bytes each.
      const kept = (service.requests.length - asked) * 1_200;
      assert(after.heap - before.heap < kept + 300_000, `heap grew by ${after.heap - before.heap} bytes`);
      // A read is sent also if the clock looks as if the machine had slept meanwhile.
      assert.deepEqual(
        { failing: said.failing, recovered: said.recovered, faults: said.faults },
        { failing: 0, recovered: 0, faults: [] },
      );

      for (const remove of removers) remove();
      const asleep = service.requests.length;
      await clock.passed(12 * INTERVAL);
      assert(service.requests.length - asleep <= 3, 'polls on without anybody who listens');
    } finally {
      await account.close();
      assert.equal(service.open, 0);
      await service.close();
    }
  });
});
