import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { account, around, debug, errorOf, inject, placed, send, tab } from '../support/flow';
import { PACKAGE, startNodeRed } from '../support/node-red';
import type { FlowNode, RunningNodeRed } from '../support/node-red';
import { posting } from '../support/node-red-admin';
import { HAS_SIGNALS } from '../support/program';
import { STRIPS, startService } from '../support/service';
import type { TestService } from '../support/service';

const MAC = STRIPS[0].mac;
const fixed = { mac: MAC, macType: 'str', port: '1', portType: 'port', onType: 'message', output: 'same' };
/** An account that gives up no request before a test would. */
const PATIENT = { timeout: '600000' };
const onSigterm = HAS_SIGNALS ? it : it.skip;
const cycle = { ...fixed, on: 'cycle', onType: 'action', delay: '3600', delayType: 'num' };

describe('deploys and stops of a real Node-RED', () => {
  let red: RunningNodeRed;
  let service: TestService;

  beforeEach(async () => {
    service = await startService();
    // A close that hangs then hangs the test, too, instead of being ended by Node-RED.
    red = await startNodeRed({ settings: { nodeCloseTimeout: 600_000 } });
  });

  afterEach(async () => {
    await red.kill();
    await service.close();
  });

  const bodies = () => service.requests.filter(({ method }) => method === 'POST').map(({ body }) => body);
  const OFF = JSON.stringify({ port: 1, on: false });
  const ON = JSON.stringify({ port: 1, on: true });

  /** Presses the button and waits for the off half; the outlet then stays off for an hour. */
  const startCycle = async () => {
    service.simulator.apply({ mac: MAC, port: 1, on: true });
    await red.deploy([...around('strip switch', cycle), account(service)]);
    const off = new Promise((resolve) => service.simulator.once('switch', resolve));
    await red.inject('in');
    await off;
    assert.equal(service.simulator.isOn(MAC, 1), false);
  };

  it('a redeployed node does not show the status that it had before', async () => {
    const nodes = [
      placed('switch', 'strip switch', fixed),
      placed('watch', 'strip watch', { mac: MAC, port: '1' }),
      placed('mqtt', 'strip mqtt', {}),
    ];
    await red.deploy([tab, inject('in', 'switch'), ...nodes, account(service)]);
    await red.inject('in', { payload: true });
    for (const { id } of nodes) await red.status(id, ({ fill }) => fill !== undefined);
    service.always({ kind: 'reset', when: 'before' });
    const { mark } = red.comms;
    await red.deploy([tab, ...nodes, account(service)]);
    for (const { id } of nodes) await red.status(id, ({ fill }) => fill === undefined, mark);
  });

  it('no node shows a status while the flows are stopped', async () => {
    await red.kill();
    red = await startNodeRed({ settings: { runtimeState: { enabled: true } } });
    const nodes = [
      placed('switch', 'strip switch', fixed),
      placed('watch', 'strip watch', { mac: '' }),
      placed('mqtt', 'strip mqtt', {}),
      placed('simulator', 'strip simulator', {}),
    ];
    await red.deploy([tab, inject('in', 'switch'), ...nodes, account(service)]);
    await red.inject('in', { payload: true });
    for (const { id } of nodes) await red.status(id, ({ fill }) => fill !== undefined);
    const { mark } = red.comms;
    await red.admin('/flows/state', posting({ state: 'stop' }));
    for (const { id } of nodes) await red.status(id, ({ fill }) => fill === undefined, mark);
  });

  it('the pending on of a cycle goes out when its flow is changed', async () => {
    await startCycle();
    await red.deploy([...around('strip switch', fixed), account(service)]);
    await service.arrived(2);
    assert.deepEqual(bodies(), [OFF, ON]);
    assert.ok((await send(red, { payload: true })).sent);
  });

  it('the pending on of a cycle goes out when node and account are removed', async () => {
    await startCycle();
    await red.deploy([tab]);
    await service.arrived(2);
    assert.deepEqual(bodies(), [OFF, ON]);
  });

  onSigterm('the pending on of a cycle goes out on SIGTERM, also when the first attempt fails', async () => {
    await startCycle();
    service.next({ kind: 'reset', when: 'before' });
    await red.stop();
    assert.deepEqual(await red.exited, { code: 0, signal: null });
    assert.deepEqual(bodies(), [OFF, ON, ON]);
    assert.equal(service.simulator.isOn(MAC, 1), true);
  });

  onSigterm('an on that could not be sent any more is one error in the log, with the outlet', async () => {
    await startCycle();
    await service.stopListening();
    await red.stop();
    const errors = red.log.items.filter(({ level }) => level === 'error');
    assert.equal(errors.length, 1, JSON.stringify(errors));
    assert.match(errors[0]?.text ?? '', new RegExp(`Switch on outlet 1 of ${MAC} if needed`));
    await service.listenAgain();
  });

  it('a simulator without a path says so in quotes, where a path would stand', async () => {
    await red.deploy([tab, placed('simulator', 'strip simulator', { path: '' })]);
    await red.log.find('a warning about the path', ({ text }) =>
      text.includes('Correct the path "": it must start with "/"'),
    );
  });

  it('what waits when its account is redeployed ends with CLOSED, although the service hangs', async () => {
    const flow = around('strip switch', fixed);
    await red.deploy([...flow, account(service, PATIENT)]);
    service.always({ kind: 'hang' });
    const waiting = send(red, { payload: true });
    await service.arrived(1);
    await red.deploy([...flow, account(service, { ...PATIENT, concurrency: '4' })], 'nodes');
    assert.equal(errorOf(await waiting).code, 'CLOSED');
    service.always(null);
    assert.ok((await send(red, { payload: true })).sent);
  });

  onSigterm('stops although the service hangs', async () => {
    await red.deploy([...around('strip switch', fixed), account(service, PATIENT)]);
    service.always({ kind: 'hang' });
    await red.inject('in', { payload: true });
    await service.arrived(1);
    await red.stop();
    assert.deepEqual(await red.exited, { code: 0, signal: null });
  });

  it('forty watching nodes cost one request per interval', async () => {
    const watch = { mac: '', port: '', output: 'on', initial: true, outlets: true, availability: true };
    await red.deploy([
      tab,
      ...Array.from({ length: 40 }, (_, index) => placed(`watch${index}`, 'strip watch', watch)),
      account(service, { interval: '5' }),
    ]);
    await service.arrived(2);
    const [first, second] = service.requests;
    // An interval of 5 s, off by a tenth at most; the rest is what a busy machine may hear late.
    assert.ok(first && second && second.at - first.at > 4000);
    assert.deepEqual(
      service.requests.map(({ method, path }) => `${method} ${path}`),
      Array.from({ length: 2 }, () => 'GET /api/public/v1/strips'),
    );
  });

  it('nodes of a subflow follow the account that its instance names, though only that is deployed again', async () => {
    const other = await startService();
    other.simulator.apply({ mac: MAC, port: 1, on: true });
    const inSubflow = (id: string, type: string, properties: object) =>
      placed(id, type, { z: 'sub', account: '${ACCOUNT}', ...properties });
    const output = (id: string) => ({ x: 0, y: 0, wires: [{ id, port: 0 }] });
    const flow = (baseUrl: string): FlowNode[] => [
      tab,
      {
        id: 'sub',
        type: 'subflow',
        name: '',
        in: [],
        out: ['watch', 'mqtt'].map(output),
        env: [{ name: 'ACCOUNT', type: 'strip-account', value: '', ui: { type: 'conf-types' } }],
      },
      inSubflow('watch', 'strip watch', { mac: MAC, port: '1', initial: true }),
      inSubflow('mqtt', 'strip mqtt', { discovery: '', readings: false }),
      placed('instance', 'subflow:sub', {
        env: [{ name: 'ACCOUNT', type: 'strip-account', value: 'account' }],
        wires: [['watched'], ['published']],
      }),
      debug('watched'),
      debug('published'),
      account(service, { baseUrl }),
    ];
    try {
      await red.deploy(flow(service.baseUrl));
      assert.equal((await red.debug('watched')).payload, false);
      const { mark } = red.comms;
      await red.deploy(
        (await red.getFlows()).map((n) => (n.id === 'account' ? { ...n, baseUrl: other.baseUrl } : n)),
        'nodes',
      );
      assert.equal((await red.debug('watched', mark)).payload, true);
      await red.comms.find(
        'published state',
        ({ topic, data }) =>
          topic === 'debug' && String((data as { msg?: unknown }).msg).includes('"payload":"ON"'),
        { after: mark },
      );
    } finally {
      await other.close();
    }
  });

  it('each instance of a subflow has the account in it for itself, with base URL and key of the instance', async () => {
    const other = await startService({ apiKey: 'key-of-the-other' });
    const wire = { x: 0, y: 0, wires: [{ id: 'switch' }] };
    const out = { x: 0, y: 0, wires: [{ id: 'switch', port: 0 }] };
    const instance = (id: string, { baseUrl, apiKey }: TestService) =>
      placed(
        id,
        'subflow:sub',
        {
          env: [
            { name: 'URL', type: 'str', value: baseUrl },
            { name: 'KEY', type: 'str', value: apiKey },
          ],
        },
        ['answer'],
      );
    try {
      await red.deploy([
        tab,
        { id: 'sub', type: 'subflow', name: '', in: [wire], out: [out], env: [] },
        { ...account(service, { baseUrl: '${URL}', credentials: { apiKey: '${KEY}' } }), z: 'sub' },
        placed('switch', 'strip switch', { ...fixed, z: 'sub' }),
        inject('one', 'first'),
        inject('two', 'second'),
        instance('first', service),
        instance('second', other),
        debug('answer'),
      ]);
      for (const id of ['one', 'two']) {
        const { mark } = red.comms;
        await red.inject(id, { payload: true });
        assert.equal((await red.debug('answer', mark)).payload, true);
      }
      assert.deepEqual([service.requests.length, other.requests.length], [1, 1]);
    } finally {
      await other.close();
    }
  });

  it('flows that are stopped and started again in the editor watch and switch as before', async () => {
    const stoppable = await startNodeRed({ settings: { runtimeState: { enabled: true, ui: true } } });
    try {
      await stoppable.deploy([
        ...around('strip switch', fixed),
        placed('watch', 'strip watch', { mac: MAC, port: '1', initial: true }, ['watched']),
        debug('watched'),
        placed('simulator', 'strip simulator', { path: '/sim' }),
        account(service, { baseUrl: '/sim', credentials: undefined }),
      ]);
      await stoppable.debug('watched');
      await stoppable.admin('/flows/state', posting({ state: 'stop' }));
      // Nothing will start, so there is no simulator to wait for.
      const tested = await stoppable.admin('/strip-account/test', posting({ baseUrl: '/sim' }));
      assert.equal(((await tested.json()) as { code?: unknown }).code, 'UNREACHABLE');
      const { mark } = stoppable.comms;
      await stoppable.admin('/flows/state', posting({ state: 'start' }));
      assert.equal((await stoppable.debug('watched', mark)).payload, true);
      assert.ok((await send(stoppable, { payload: false })).sent);
    } finally {
      await stoppable.stop();
    }
  });

  it('a report names the version that runs, also while an update waits for a restart', async () => {
    const updated = await startNodeRed({ install: 'packed' });
    try {
      await updated.deploy([account(service)]);
      const file = join(updated.userDir, 'node_modules', PACKAGE, 'package.json');
      const manifest = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
      writeFileSync(file, JSON.stringify({ ...manifest, version: '999.0.0' }));
      const report = await updated.json('/strip-sidebar/diagnostics/account');
      assert.equal((report as { versions: { package: string } }).versions.package, manifest.version);
    } finally {
      await updated.stop();
    }
  });

  it('the first command of a flow succeeds while an update waits for a restart', async () => {
    await red.kill();
    red = await startNodeRed({ install: 'packed' });
    await red.deploy([...around('strip switch', fixed), account(service)]);
    const dist = join(red.userDir, 'node_modules', PACKAGE, 'dist');
    const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.js')))
      writeFileSync(join(dist, file), 'throw new Error("of the update");\n');
    assert.ok((await send(red, { payload: true })).sent);
  });

  it('a hundred redeploys in traffic leave no timer, no socket and no memory behind', async () => {
    const flow = (round: number): FlowNode[] => [
      ...around('strip switch', { ...fixed, name: `round ${round}` }),
      inject('list-in', 'list'),
      placed('list', 'strip list', { output: 'list' }, ['more']),
      placed('watch', 'strip watch', { mac: '', port: '', initial: true }, ['more']),
      debug('more'),
      account(service, { interval: String(10 + round) }),
    ];
    const rounds = async (from: number, to: number) => {
      for (let round = from; round < to; round++) {
        await red.deploy(flow(round));
        await Promise.all([red.inject('in', { payload: round % 2 === 0 }), red.inject('list-in')]);
      }
      await red.deploy([tab]);
    };
    await rounds(0, 20);
    const before = await red.probe();
    await rounds(20, 120);
    const after = await red.probe();
    const count = (resources: string[]) =>
      resources.filter((name) => /Timeout|TCP|Immediate/.test(name)).length;
    assert.ok(count(after.resources) <= count(before.resources) + 2, JSON.stringify([before, after]));
    // A pool left open costs 25 kB each time, Node-RED itself about 0.35 kB per node.
    assert.ok(after.heapUsed - before.heapUsed < 1_500_000, `${after.heapUsed - before.heapUsed} bytes`);
  });
});
