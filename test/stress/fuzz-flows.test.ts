import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import type { FlowNode, RunningNodeRed } from '../support/node-red';
import { SETTINGS } from '../../src/settings';
import { placed, tab } from '../support/flow';
import { startService, STRIPS, type TestService } from '../support/service';
import { until } from '../support/until';
import { SEED } from './support/random';
import { startStressed, type Counted } from './support/stressed';

const ROUNDS = 25;
const PER_ROUND = 40;
/** Messages of a round to the `strip mqtt` node that is in order. */
const TO_BRIDGE = 20;

const hostileText = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom(
    '',
    '..',
    '../../etc',
    '%2e%2e',
    'a\r\nx-evil: 1',
    '${NO_SUCH_VARIABLE}',
    '__proto__',
    'constructor',
    'all',
    'NaN',
    '-1',
    '1e309',
    'msg.payload',
    '$$$(',
    '$sum([1..9e6])["x"',
    STRIPS[0].mac,
  ),
);
// Node-RED itself turns properties into text, and fails where an object has a "toString" of its own.
const json = fc
  .jsonValue({ maxDepth: 2 })
  .filter((value) => !/"(toString|valueOf|__proto__)":/.test(JSON.stringify(value)));
const anything = fc.oneof(hostileText, json, fc.integer(), fc.boolean(), fc.constant(null));
/** A node with one unusable word or number does nothing, so most of them are usable. */
const mostly = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: anything });
const typeName = mostly(fc.constantFrom('message', 'msg', 'flow', 'global', 'env', 'jsonata'));
const number = mostly(fc.oneof(fc.integer(), fc.double(), fc.constantFrom('5', '1e309', '-1', '0x10')));
const flag = mostly(fc.oneof(fc.boolean(), fc.constantFrom('true', 'False')));
const PROPERTIES: Record<string, fc.Arbitrary<unknown>> = {
  name: anything,
  account: fc.oneof(
    { weight: 3, arbitrary: fc.constant('good') },
    fc.constantFrom('bad', 'nobody', 'self'),
    anything,
  ),
  mac: anything,
  macType: fc.oneof(fc.constant('str'), typeName),
  port: fc.oneof(fc.constantFrom('1', '4', 'all', 'payload'), anything),
  portType: fc.oneof(fc.constant('port'), typeName),
  on: fc.oneof(fc.constantFrom('on', 'off', 'toggle', 'payload'), anything),
  onType: fc.oneof(fc.constant('action'), typeName),
  delay: anything,
  delayType: fc.oneof(fc.constant('num'), typeName),
  initial: flag,
  outlets: flag,
  availability: flag,
  readings: flag,
  change: number,
  topic: anything,
  discovery: anything,
};
// Node-RED itself ends at a credential that is null.
const credentials = fc.record(
  { apiKey: fc.oneof(hostileText, fc.boolean(), fc.integer()) },
  { requiredKeys: [] },
);
const ACCOUNT: Record<string, fc.Arbitrary<unknown>> = {
  name: anything,
  baseUrl: fc.oneof(
    fc.constantFrom('http://127.0.0.1:9', 'ftp://x', 'http://u:p@127.0.0.1:9', 'javascript:1'),
    anything,
  ),
  interval: number,
  timeout: number,
  // Not longer than a message is waited for.
  retryFor: fc.constantFrom('0', 1, -1, 'x', null),
  concurrency: number,
  tls: anything,
  proxy: anything,
  protectedOutlets: fc.oneof(
    fc.array(fc.record({ mac: anything, port: anything }), { maxLength: 3 }),
    anything,
  ),
  credentials,
};
const SIMULATOR: Record<string, fc.Arbitrary<unknown>> = {
  // Paths of its own, so as not to take those of Node-RED.
  path: fc.oneof(
    hostileText.map((text) => `/fuzz/${text}`),
    fc.constantFrom(7, null, [], {}, true),
  ),
  strips: fc.oneof(fc.array(fc.record({ mac: anything, name: anything }), { maxLength: 3 }), anything),
  shape: mostly(fc.constantFrom(...SETTINGS['strip simulator'].shape.choices)),
  latency: fc.oneof(fc.nat({ max: 20 }), fc.constantFrom('x', null, -1)),
  credentials,
};

const someOf = (properties: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(properties, { requiredKeys: [] }) as fc.Arbitrary<Record<string, unknown>>;

const flowNode = fc.oneof(
  ...Object.entries(SETTINGS)
    .filter(([, settings]) => 'account' in settings)
    .map(([type, settings]) => {
      const output = 'output' in settings ? mostly(fc.constantFrom(...settings.output.choices)) : anything;
      return someOf({ ...PROPERTIES, output }).map((properties) => ({ ...properties, type }));
    }),
  someOf(SIMULATOR).map((properties) => ({ ...properties, type: 'strip simulator' })),
);
const topic = fc.oneof(
  fc.constantFrom(
    `smart-strip/${STRIPS[0].mac}/1/set`,
    `smart-strip/${STRIPS[0].mac}/all/set`,
    `smart-strip/${STRIPS[0].mac}/9/set`,
    `smart-strip/${STRIPS[0].mac}/1`,
    'smart-strip/NOBODY/1/set',
    'smart-strip/bridge',
    'homeassistant/status',
  ),
  anything,
);
const state = fc.oneof(fc.constantFrom('ON', 'off', 'toggle', 'online', true, 0), anything);
const message = fc.record(
  { payload: state, port: anything, mac: anything, topic, retain: fc.boolean() },
  { requiredKeys: [] },
);

/** Checks that each request is one that the API document describes. */
function checkRequests(service: TestService, from: number): void {
  for (const { method, path, headers, body } of service.requests.slice(from)) {
    assert.match(path, /^\/api\/public\/v1\/strips(\/[^/?#]+(\/switch)?)?$/);
    assert.equal(headers['x-api-key'], service.apiKey);
    if (method === 'GET') continue;
    assert.equal(method, 'POST');
    const { port, on, ...others } = JSON.parse(body) as { port: unknown; on: unknown };
    assert(port === 'all' || [1, 2, 3, 4].includes(port as number), body);
    assert.equal(typeof on, 'boolean', body);
    assert.deepEqual(others, {});
  }
}

/** A node, and an inject node in front of it. */
const pressable = (node: FlowNode): FlowNode[] => [
  { x: 100, y: 100, ...node, z: 'tab', wires: [[]] },
  placed(`press-${node.id}`, 'inject', { props: [], repeat: '', once: false }, [node.id]),
];

/** Waits until each of these messages has an outcome; no message may have two. */
async function oneOutcomeEach(red: RunningNodeRed, numbers: readonly number[]): Promise<void> {
  const outcomes = async (): Promise<Map<number, number>> => {
    const { out, caught } = (await red.json('/stress')) as Counted;
    const counts = new Map<number, number>();
    for (const [number, count] of [...Object.entries(out), ...Object.entries(caught)])
      counts.set(Number(number), (counts.get(Number(number)) ?? 0) + count);
    return counts;
  };
  let counts = new Map<number, number>();
  await until(`the outcome of each of ${numbers.join()}`, async () => {
    counts = await outcomes();
    return numbers.every((number) => counts.has(number));
  });
  counts.delete(-1);
  assert.deepEqual(
    [...counts].filter(([, count]) => count > 1),
    [],
    'messages with two outcomes',
  );
}

describe('stress: any flow JSON for the nodes', () => {
  it('neither ends Node-RED, nor reaches the service with anything but the documented requests, nor gives a message two outcomes', async () => {
    const service = await startService();
    const red = await startStressed();
    try {
      const nodes = fc.sample(flowNode, { seed: SEED, numRuns: ROUNDS * PER_ROUND });
      const accounts = fc.sample(someOf(ACCOUNT), { seed: SEED, numRuns: ROUNDS });
      const messages = fc.sample(message, { seed: SEED, numRuns: ROUNDS * (PER_ROUND + TO_BRIDGE) });
      for (let round = 0; round < ROUNDS; round++) {
        const asked = service.requests.length;
        const some = nodes.slice(round * PER_ROUND, (round + 1) * PER_ROUND);
        const flow: FlowNode[] = [
          tab,
          {
            id: 'good',
            type: 'strip-account',
            baseUrl: service.baseUrl,
            retryFor: '0',
            timeout: '500',
            credentials: { apiKey: service.apiKey },
          },
          { ...accounts[round], id: 'bad', type: 'strip-account' },
          placed('catch', 'catch', { scope: null, uncaught: false }, ['sink']),
          placed('complete', 'complete', { scope: ['bridge', ...some.map((_, index) => `fuzz-${index}`)] }, [
            'sink',
          ]),
          placed('sink', 'stress-sink', {}),
          ...pressable({ id: 'bridge', type: 'strip mqtt', account: 'good' }),
          ...some.flatMap((properties, index) => pressable({ ...properties, id: `fuzz-${index}` })),
        ];
        const context = () =>
          `round ${round}, STRESS_SEED=${SEED}\n${JSON.stringify(flow)}\n${red.output.slice(-3_000)}`;
        try {
          await red.deploy(flow);
          const first = round * (PER_ROUND + TO_BRIDGE);
          for (let index = 0; index < PER_ROUND + TO_BRIDGE; index++) {
            const id = index < PER_ROUND ? `fuzz-${index}` : 'bridge';
            await red.inject(`press-${id}`, { ...messages[first + index], number: first + index });
          }
          const toBridge = Array.from({ length: TO_BRIDGE }, (_, index) => first + PER_ROUND + index);
          await oneOutcomeEach(red, toBridge);
        } catch (error) {
          throw new Error(context(), { cause: error });
        }
        checkRequests(service, asked);
      }
      await red.deploy([tab]);
      assert.deepEqual(
        red.log.items.filter(({ text }) =>
          /uncaught|unhandled|TypeError|RangeError|ReferenceError/i.test(text),
        ),
        [],
      );
    } finally {
      await red.stop();
      await service.close();
    }
  });
});
