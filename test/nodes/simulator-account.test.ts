import assert from 'node:assert/strict';
import RED from 'node-red';
import type { NodeMessage } from 'node-red';
import helper from 'node-red-node-test-helper';
import stripSimulator from '../../nodes/strip-simulator';
import { placed } from '../support/flow';
import type { FlowNode } from '../support/node-red';
import { until } from '../support/until';
import { flowNode, helperNode, Lab, MAC } from './lab';

const simulator = (more: object = {}): FlowNode =>
  placed('sim', 'strip simulator', {
    path: '/sim',
    strips: [{ mac: MAC, name: 'Desk strip', outlets: [] }],
    ...more,
  });

const lamp = flowNode('switch', 'strip switch', { mac: MAC, macType: 'str', port: '1', portType: 'port' });
const list = flowNode('list', 'strip list');

describe('an account whose base URL is the path of a simulator in this Node-RED', () => {
  let lab: Lab;

  beforeEach(async () => {
    lab = await Lab.start();
  });
  afterEach(() => lab.stop());

  const account = (more: object = {}) => lab.account({ baseUrl: '/sim', ...more });

  const deploy = (nodes: FlowNode[], credentials: object = {}) =>
    lab.deploy(nodes, credentials, [stripSimulator]);

  /** The code and sentence that a command for the lamp ends with. */
  async function failure(): Promise<[code: unknown, sentence: string]> {
    const { error } = await lab.caught('switch', { payload: true });
    return [error?.code, error?.message ?? ''];
  }

  it('switches without a key', async () => {
    await deploy([account(), lamp, simulator()]);
    const { payload } = await lab.out('switch', { payload: true });
    assert.equal(payload, true);
    const { payload: toggled } = await lab.out('switch', { payload: 'toggle' });
    assert.equal(toggled, false);
  });

  for (const settings of [{ httpNodeRoot: false }, { httpNodeAuth: { user: 'u', pass: 'p' } }]) {
    it(`does so with ${Object.keys(settings).join()} in settings.js`, async () => {
      helper.settings(settings);
      await deploy([account(), lamp, simulator()]);
      assert.equal((await lab.out('switch', { payload: true })).payload, true);
    });
  }

  for (const [baseUrl, path] of [
    [' /sim/api/public/v1/ ', '/sim/'],
    ['/', '/'],
  ] as const) {
    it(`finds the simulator with the path "${path}" at "${baseUrl}"`, async () => {
      await deploy([account({ baseUrl }), lamp, simulator({ path })]);
      assert.equal((await lab.out('switch', { payload: true })).payload, true);
    });
  }

  it('sends its own key to a simulator that wants one, and none of another', async () => {
    const key = { apiKey: 'a key of the simulator' };
    await deploy([account(), lamp, simulator()], {
      sim: { apiKey: 'key-of-it' },
      account: { apiKey: 'key-of-it' },
    });
    assert.equal((await lab.out('switch', { payload: true })).payload, true);
    await lab.stop();
    lab = await Lab.start();
    await deploy([account(), lamp, simulator()], { sim: key });
    assert.equal((await failure())[0], 'AUTH');
  });

  for (const [what, nodes] of [
    ['there is none', []],
    ['it has another path', [simulator({ path: '/other' })]],
    ['it is disabled', [simulator({ d: true })]],
    ['its path is not valid', [simulator({ path: 'sim' })]],
  ] as const) {
    it(`is UNREACHABLE where ${what}, and says which path and what to do`, async () => {
      await deploy([account(), lamp, ...nodes]);
      const [code, sentence] = await failure();
      assert.equal(code, 'UNREACHABLE');
      assert.match(sentence, /^Deploy a strip simulator with the path \/sim, /);
    });
  }

  it('is answered as soon as a simulator is deployed, by the first of two with this path', async () => {
    await deploy([account(), lamp]);
    assert.equal((await failure())[0], 'UNREACHABLE');
    const first = simulator();
    const second = simulator({ id: 'second', strips: [] });
    await lab.redeploy([account(), lamp, first, second], 'nodes');
    assert.equal((await lab.out('switch', { payload: true })).payload, true);
    await lab.redeploy([account(), lamp, second], 'nodes');
    assert.equal((await failure())[0], 'NOT_FOUND');
  });

  it('lets a command wait that is sent while the simulator is being redeployed', async () => {
    await deploy([account(), lamp, simulator()]);
    // Node-RED has taken the old simulator away, and not made the new one yet.
    RED.events.once('flows:stopped', () => lab.send('switch', { payload: true }));
    await lab.redeploy([account(), lamp, simulator({ latency: '1' })], 'nodes');
    const { at, msg } = await lab.arrivals.find('outcome', ({ at }) => at !== 'completed');
    assert.deepEqual([at, msg.payload], ['out', true]);
  });

  it('answers what watches from the start, wherever in the flow the simulator is', async () => {
    const watch = flowNode('watch', 'strip watch', { initial: true, mac: MAC, port: '1' });
    const outlets = [{ name: 'Lamp', on: true }];
    await deploy([
      account({ interval: '5' }),
      watch,
      simulator({ strips: [{ mac: MAC, name: '', outlets }] }),
    ]);
    const { msg } = await lab.arrivals.find('first state', ({ at }) => at === 'out');
    assert.equal(msg.payload, true);
  });

  it('sends the on of a cycle to the simulator that a full deploy is taking away', async () => {
    const cycle = { ...lamp, on: 'cycle', onType: 'action', delay: '60', delayType: 'num' };
    const nodes = [account(), cycle, simulator({ wires: [['switched']] }), helperNode('switched')];
    await deploy(nodes);
    const seen: unknown[] = [];
    lab.node('switched').on('input', (msg: NodeMessage) => seen.push(msg.payload));
    lab.send('switch', { payload: null });
    await until('off', () => seen.length > 0);
    const errors: unknown[] = [];
    lab.node('account').error = (text: unknown) => void errors.push(text);
    const start = performance.now();
    await lab.redeploy(nodes, 'full');
    assert.ok(performance.now() - start < 9_000, 'the deploy waited for the on');
    assert.deepEqual(errors, [], 'the on did not get there');
  });

  it('lists strips and outlets by the names that the simulator gives', async () => {
    const outlets = [{ name: 'Computer', on: true }, { name: 'Screen' }];
    await deploy([account(), list, simulator({ strips: [{ mac: MAC, name: 'Desk strip', outlets }] })]);
    const { payload } = await lab.out('list', {});
    const [strip] = payload as { name: string; outlets: { on: boolean; name: string | null }[] }[];
    assert.equal(strip?.name, 'Desk strip');
    assert.deepEqual(
      strip.outlets.map(({ on, name }) => [on, name]),
      [
        [true, 'Computer'],
        [false, 'Screen'],
        [false, null],
        [false, null],
      ],
    );
  });
});
