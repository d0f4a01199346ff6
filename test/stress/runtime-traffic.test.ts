import { strict as assert } from 'node:assert';
import { account, inject, placed, tab } from '../support/flow';
import { startService, type Fault } from '../support/service';
import { until } from '../support/until';
import { randomOf } from './support/random';
import { startStressed, type Counted } from './support/stressed';

const MESSAGES = 6_000;
const STRIPS = Array.from({ length: 10 }, (_, index) => ({
  mac: `A1B2C3D4E50${index}`,
  name: `Strip ${index}`,
}));

const FAULTS: readonly Fault[] = [
  { kind: 'reset', when: 'before' },
  { kind: 'reset', when: 'lost' },
  { kind: 'reset', when: 'middle' },
  { kind: 'idleClose' },
  { kind: 'truncated' },
  { kind: 'html' },
  { kind: 'empty' },
  { kind: 'garbage' },
  { kind: 'redirect', to: 'http://127.0.0.1:9/' },
  { kind: 'answer', status: 401, json: {} },
  { kind: 'answer', status: 404, json: {} },
  { kind: 'answer', status: 429, json: {} },
  { kind: 'answer', status: 500, json: {} },
];

describe('stress: messages through a real Node-RED', () => {
  it('come out or are caught, each exactly once, good and bad ones, at a fault rate of 20 %', async () => {
    const random = randomOf('messages');
    const service = await startService({ strips: STRIPS });
    const red = await startStressed();
    try {
      const outlet = () => ({ mac: random.pick(STRIPS).mac, port: 1 + random.below(4) });
      const on = () => random.next() < 0.5;
      const makers: (() => unknown)[] = [
        () => ({ ...outlet(), on: on() }),
        () => ({ ...outlet(), on: random.pick(['on', 'OFF', 1, 0, ' true ', 'toggle']) }),
        () => ({ ...outlet(), port: 'all', on: on() }),
        () => [1, 2, 3].map(() => ({ ...outlet(), on: on() })),
        () => ({ mac: random.pick(STRIPS).mac, outlets: [1, 2, 3, 4].map((port) => ({ port, on: on() })) }),
        () =>
          random.pick([
            null,
            '',
            2,
            {},
            [],
            { port: 1 },
            { ...outlet(), on: 'maybe' },
            { ...outlet(), port: 5, on: true },
          ]),
      ];
      const payloads = Array.from({ length: 997 }, () => random.pick(makers)());
      for (let index = 0; index < MESSAGES * 4; index++) {
        service.next(random.next() < 0.2 ? random.pick(FAULTS) : null);
      }
      await red.deploy([
        tab,
        placed('source', 'stress-source', { count: MESSAGES, payloads, every: 4, burst: 4 }, ['switch']),
        inject('last', 'switch'),
        placed('switch', 'strip switch', {}, ['sink']),
        placed('catch', 'catch', { scope: null, uncaught: false }, ['sink']),
        placed('sink', 'stress-sink', {}),
        account(service, { concurrency: '40', retryFor: '5', timeout: '2000' }),
      ]);
      const total = (counts: Record<number, number>) =>
        Object.values(counts).reduce((sum, count) => sum + count, 0);
      const count = async () => (await red.json('/stress')) as Counted;
      await until('the outcome of every message', async () => {
        const { out, caught } = await count();
        return total(out) + total(caught) >= MESSAGES;
      });
      // A message that waits for all commands before it. A second outcome of one of those would come before its own.
      await red.inject('last', { payload: STRIPS.map(({ mac }) => ({ mac, port: 'all', on: false })) });
      await until('the outcome of the last message', async () => {
        const { out, caught } = await count();
        return (-1) in out || (-1) in caught;
      });
      const counted = await count();
      console.log(`      ${JSON.stringify(counted.codes)}, ${service.requests.length} requests`);
      const { sent, out, caught } = counted;
      assert.equal(sent, MESSAGES);
      for (let number = 0; number < MESSAGES; number++) {
        assert.equal((out[number] ?? 0) + (caught[number] ?? 0), 1, `outcomes of message ${number}`);
      }
      assert.equal(red.log.items.filter(({ text }) => /uncaught|unhandled/i.test(text)).length, 0);
      assert((counted.codes.ok ?? 0) > MESSAGES / 4, 'so few came out');
      assert((counted.codes.INVALID_INPUT ?? 0) > MESSAGES / 10, 'so few bad ones were caught');
      assert.deepEqual(
        Object.keys(counted.codes).filter((code) => !/^(ok|[A-Z_]+)$/.test(code)),
        [],
      );
    } finally {
      await red.stop();
      await service.close();
    }
  });
});
