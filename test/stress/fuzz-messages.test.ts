import { strict as assert } from 'node:assert';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { NodeMessage } from 'node-red';
import helper from 'node-red-node-test-helper';
import stripAccount from '../../nodes/strip-account';
import stripList from '../../nodes/strip-list';
import stripStatus from '../../nodes/strip-status';
import stripSwitch from '../../nodes/strip-switch';
import { placed } from '../support/flow';
import { startService, STRIPS, type Recorded, type TestService } from '../support/service';
import { SEED } from './support/random';

const MAC = STRIPS[0].mac;

/** What fast-check could not print, or a message could not share with the next. No getter that throws: Node-RED cannot clone it. */
class Hostile {
  constructor(readonly make: () => unknown) {}
}

const HOSTILE = [
  () => new Proxy({}, { get: () => null, ownKeys: () => ['port', 'on'] }),
  () => JSON.parse('{"__proto__": {"port": 1, "on": true}}') as unknown,
  () => Object.create({ port: 1, on: true }) as unknown,
  () => {
    const loop: unknown[] = [];
    loop.push(loop);
    return loop;
  },
  () => Array.from({ length: 5_000 }, () => ({ port: 9, on: true })),
  () => Symbol('on'),
  () => 10n,
  () => () => true,
  () => new Boolean(true),
  () => new String('on'),
  () => new Date(),
  () => /on/,
  () => Buffer.from('on'),
].map((make) => new Hostile(make));

interface Seen {
  sent: number;
  caught: { code?: unknown; message?: unknown }[];
  done: number;
}

/** Whether a value is, or holds anywhere, one of the words that ask for on (or off), a toggle included. */
function asksFor(on: boolean, value: unknown, depth = 0): boolean {
  if (value === on || value === (on ? 1 : 0)) return true;
  if (typeof value === 'string') {
    return [on ? 'on' : 'off', String(on), on ? '1' : '0', 'toggle', 'cycle'].includes(
      value.trim().toLowerCase(),
    );
  }
  if (typeof value !== 'object' || value === null || depth > 6) return false;
  return Object.values(Object.getOwnPropertyDescriptors(value)).some(
    (property: PropertyDescriptor) => property.get !== undefined || asksFor(on, property.value, depth + 1),
  );
}

const postsOf = (requests: readonly Recorded[]) =>
  requests
    .filter(({ method }) => method === 'POST')
    .map(({ path, body }) => ({ path, body: JSON.parse(body) as { port: unknown; on: unknown } }));

describe('stress: any message for the nodes', () => {
  let service: TestService;
  let seen: Seen;

  before(async () => {
    service = await startService();
    const message = { macType: 'message', portType: 'message', delay: '1', delayType: 'num' };
    await helper.load(
      [stripAccount, stripSwitch, stripStatus, stripList],
      [
        { id: 'tab', type: 'tab' },
        {
          id: 'account',
          type: 'strip-account',
          baseUrl: service.baseUrl,
          interval: '30',
          timeout: '2000',
          retryFor: '0',
          concurrency: '8',
        },
        placed('strip switch', 'strip switch', message, ['out']),
        placed('strip status', 'strip status', { ...message, output: 'strip' }, ['out']),
        placed('strip list', 'strip list', { output: 'list' }, ['out']),
        placed('catch', 'catch', { scope: null }, ['caught']),
        placed('complete', 'complete', { scope: ['strip switch', 'strip status', 'strip list'] }, ['done']),
        ...['out', 'caught', 'done'].map((id) => placed(id, 'helper', {})),
      ],
      { account: { apiKey: service.apiKey } },
    );
    helper.getNode('out')?.on('input', () => seen.sent++);
    helper.getNode('done')?.on('input', () => seen.done++);
    helper.getNode('caught')?.on('input', (caught) => {
      seen.caught.push((caught as { error?: Seen['caught'][number] }).error ?? {});
    });
  });
  after(async () => {
    await helper.unload();
    await service.close();
  });

  /** Sends a message and returns the requests that it caused; every message must have exactly one outcome. */
  async function send(type: string, fields: Record<string, unknown>): Promise<Recorded[]> {
    const from = service.requests.length;
    seen = { sent: 0, caught: [], done: 0 };
    const message = Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Hostile ? value.make() : value,
    ]);
    helper.getNode(type)?.receive(Object.fromEntries(message) as NodeMessage);
    const start = performance.now();
    while (seen.done + seen.caught.length === 0 && performance.now() - start < 5_000) await turn();
    for (let index = 0; index < 4; index++) await turn();
    assert.equal(seen.done + seen.caught.length, 1, `${seen.done} done, ${seen.caught.length} caught`);
    assert.equal(seen.sent, seen.done, 'what is done was sent, and what failed was not');
    return service.requests.slice(from);
  }

  const hostile = fc.constantFrom(...HOSTILE);
  const anything = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.anything({
        withBigInt: true,
        withDate: true,
        withNullPrototype: true,
        withSparseArray: true,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        null,
        undefined,
        NaN,
        '',
        2,
        -1,
        1.5,
        'ON ',
        ' off',
        'yes',
        'all',
        '1',
        'true',
        [],
        {},
      ),
    },
  );
  // Often right, so that nothing but one of them may be wrong.
  const port = fc.oneof(fc.constantFrom(1, '4', 'all'), anything);
  const mac = fc.oneof(fc.constant(MAC), anything);
  const on = fc.oneof(fc.boolean(), anything);
  const nearly = fc.record({ port, on, mac, outlets: anything }, { requiredKeys: [] });
  const payload = fc.oneof(on, nearly, fc.array(nearly, { maxLength: 3 }), hostile);
  const message = fc.record(
    {
      payload,
      port: fc.oneof({ weight: 9, arbitrary: port }, { weight: 1, arbitrary: hostile }),
      mac,
    },
    { requiredKeys: ['mac'] },
  );
  const parameters = { seed: SEED, numRuns: 1_500 };

  it('switches nothing that a message does not ask for in so many words, and has one outcome for each', async () => {
    let switched = 0;
    await fc.assert(
      fc.asyncProperty(message, async (fields) => {
        const posts = postsOf(await send('strip switch', { ...fields, _msgid: 'one' }));
        switched += posts.length;
        if (seen.caught[0]?.code === 'INVALID_INPUT') assert.deepEqual(posts, []);
        for (const { body } of posts) {
          assert(body.port === 'all' || [1, 2, 3, 4].includes(body.port as number));
          assert.equal(typeof body.on, 'boolean');
          assert(
            asksFor(
              body.on === true,
              fields.payload instanceof Hostile ? fields.payload.make() : fields.payload,
            ),
            `nobody asked for ${String(body.on)}`,
          );
          const ports = JSON.stringify(fields, (_, value: unknown) =>
            typeof value === 'bigint' ? '' : value,
          );
          if (body.port === 'all') assert.match(ports, /all/i, 'nobody asked for all');
        }
      }),
      parameters,
    );
    console.log(`      ${switched} requests of ${parameters.numRuns} messages`);
    assert(switched > 20, 'so few asked for anything');
  });

  it('carries out everything that is accepted, in every spelling of it', async () => {
    const on = fc.constantFrom<[unknown, boolean]>(
      [true, true],
      [false, false],
      [1, true],
      [0, false],
      ['on', true],
      [' OFF ', false],
      ['True', true],
      ['fAlse', false],
    );
    const port = fc.constantFrom<[unknown, number | 'all']>(
      [1, 1],
      [4, 4],
      ['2', 2],
      ['3', 3],
      ['all', 'all'],
    );
    const place = fc.constantFrom('payload', 'message');
    const mac = fc.constantFrom(...STRIPS.map((strip) => strip.mac));
    await fc.assert(
      fc.asyncProperty(on, port, mac, place, async ([said, state], [named, number], strip, where) => {
        const fields =
          where === 'payload'
            ? { payload: { mac: strip, port: named, on: said } }
            : { payload: said, port: named, mac: strip };
        const posts = postsOf(await send('strip switch', { ...fields, _msgid: 'one' }));
        assert.deepEqual(seen.caught, []);
        assert.deepEqual(posts, [
          { path: `/api/public/v1/strips/${strip}/switch`, body: { port: number, on: state } },
        ]);
      }),
      { ...parameters, numRuns: 150 },
    );
  });

  for (const type of ['strip status', 'strip list']) {
    it(`${type} only ever reads, whatever it is sent`, async () => {
      await fc.assert(
        fc.asyncProperty(message, async (fields) => {
          const requests = await send(type, { ...fields, _msgid: 'one' });
          assert(requests.every(({ method }) => method === 'GET'));
          // The strip and, where the service does not know it as it is spelled, once the list and the strip again.
          assert(requests.length <= 3);
        }),
        { ...parameters, numRuns: 300 },
      );
    });
  }
});
