import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { RequestHandler } from 'express';
import type { NodeAPI, NodeMessage } from 'node-red';
import helper from 'node-red-node-test-helper';
import { Agent, request } from 'undici';
import stripSimulator from '../../nodes/strip-simulator';
import { placed } from '../support/flow';
import { redeploy } from '../support/redeploy';
import { startListening } from '../support/start-listening';
import { flowNode, helperNode, MAC, nodeOf, said } from './lab';

const KEY = 'key-of-the-simulator';
const strips = [{ mac: MAC, name: 'Desk strip', outlets: [] }];
const simulatorNode = (id: string, more: object = {}) =>
  flowNode(id, 'strip simulator', { path: '/sim', strips, shape: 'plain', latency: '0', ...more });
const around = [
  { id: 'tab', type: 'tab' },
  helperNode('out'),
  placed('catch', 'catch', { scope: null }, ['caught']),
  helperNode('caught'),
];

describe('the strip simulator node', () => {
  let server: Server | undefined;
  let port: number;
  let agent: Agent;

  /** Deploys into the test helper's runtime and serves its HTTP nodes, which the helper itself does not. */
  async function deploy(nodes: object[], credentials: object = { sim: { apiKey: KEY } }): Promise<void> {
    let httpNode: NodeAPI['httpNode'] | undefined;
    const initialise = (RED: NodeAPI) => {
      httpNode = RED.httpNode;
      stripSimulator(RED);
    };
    await helper.load(initialise, [...around, ...nodes], credentials);
    server = createServer(httpNode);
    port = await startListening(server);
  }

  async function ask(path: string, body?: object, apiKey = KEY) {
    const answer = await request(`http://127.0.0.1:${port}${path}`, {
      dispatcher: agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-api-key': apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.body.text();
    const isJson = String(answer.headers['content-type']).includes('json');
    return { status: answer.statusCode, body: isJson ? (JSON.parse(text) as unknown) : text };
  }
  const list = '/sim/api/public/v1/strips';
  const switchPath = `${list}/${MAC}/switch`;

  /** The latest status, as "fill shape key". */
  const statusOf = (id: string) => {
    const { fill, shape, text } = said(id, 'status').at(-1) as { fill: string; shape: string; text: string };
    return `${fill} ${shape} ${text.replace(/^@smart-strip\/.*:strip-simulator\.status\./, '')}`;
  };
  const next = async (id: string) => {
    const [msg] = (await once(nodeOf(id), 'input')) as [NodeMessage];
    return msg;
  };

  beforeEach(() => {
    agent = new Agent();
    helper.settings({});
  });
  afterEach(async () => {
    await agent.destroy();
    await helper.unload();
    if (server !== undefined) await new Promise((resolve) => server?.close(resolve));
    server = undefined;
  });

  it('serves the API below its path, and says that it is simulated', async () => {
    await deploy([simulatorNode('sim')]);
    const outlets = [1, 2, 3, 4].map((port) => ({ port, on: false }));
    assert.deepEqual(await ask(list), { status: 200, body: [{ mac: MAC, name: 'Desk strip', outlets }] });
    assert.equal((await ask(list, undefined, 'another key')).status, 401);
    assert.equal((await ask('/sim')).status, 404);
    assert.equal(statusOf('sim'), 'green dot simulated');
    assert.deepEqual([said('sim', 'warn'), said('sim', 'log')], [[], []]);
  });

  it('lets readings drift, so that those of its strips differ', async () => {
    const strips = Array.from({ length: 20 }, (_, index) => ({ mac: `A1B2C3D4E5${10 + index}`, name: '' }));
    await deploy([simulatorNode('sim', { strips, shape: 'measured' })]);
    const { body } = await ask(list);
    assert.ok(new Set(JSON.stringify(body).match(/"voltage":{[^}]*}/g)).size > 1);
  });

  it('sends a message for every switch that it carried out', async () => {
    await deploy([simulatorNode('sim')]);
    for (const port of [2, 'all']) {
      const message = next('out');
      assert.equal((await ask(switchPath, { port, on: true })).status, 200);
      const { topic, payload } = await message;
      assert.deepEqual([topic, payload], [`${MAC}/${port}`, { mac: MAC, port, on: true }]);
    }
  });

  it('makes the change at the strip that a message asks for', async () => {
    await deploy([simulatorNode('sim')]);
    const send = async (payload: unknown) => {
      nodeOf('sim').receive({ payload });
      // An input is handled before the runtime gets back to its event loop.
      await new Promise(setImmediate);
    };
    await send({ mac: 'a1:b2:c3:d4:e5:f6', port: 2, on: true });
    await send({ mac: MAC, load: 12.5, voltage: 231 });
    const { body } = await ask(`${list}/${MAC}`);
    const { outlets, load, voltage } = body as { outlets: unknown[]; load: number; voltage: number };
    assert.deepEqual([outlets[1], load, voltage], [{ port: 2, on: true }, 12.5, 231]);
    await send({ mac: MAC, available: false });
    assert.deepEqual((await ask(list)).body, []);
    assert.deepEqual((await ask(switchPath, { port: 2, on: false })).body, {
      success: false,
      results: [{ port: 2, ok: false }],
    });
  });

  for (const [what, payload, sentence] of [
    ['what it cannot do', { mac: MAC, port: 9, on: true }, 'strip-simulator.error.input'],
    ['no payload', undefined, 'strip-simulator.error.input'],
    ['a strip that it does not have', { mac: 'none', port: 1, on: true }, 'strip-simulator.error.mac'],
  ] as const) {
    it(`ends a message with ${what} as INVALID_INPUT`, async () => {
      await deploy([simulatorNode('sim')]);
      const caught = next('caught');
      nodeOf('sim').receive({ payload });
      const { error } = (await caught) as { error: { message: string; code: string } };
      assert.deepEqual([error.code, error.message], ['INVALID_INPUT', sentence]);
    });
  }

  it('takes any key where none is typed, and needs no other setting', async () => {
    const { id, type, z, x, y } = simulatorNode('sim');
    await deploy([{ id, type, z, x, y, wires: [[]] }], {});
    const { status, body } = await ask('/strip-simulator/api/public/v1/strips', undefined, 'any');
    assert.equal(status, 200);
    const list = body as { name: string; outlets: { on: boolean; name: string }[] }[];
    const on = list.flatMap(({ outlets }) => outlets.filter((outlet) => outlet.on).map(({ name }) => name));
    assert.deepEqual(
      [list.map(({ name }) => name), on],
      [
        ['Desk strip', 'Media strip'],
        ['Computer', 'Screen', 'Router'],
      ],
    );
    assert.equal((await ask('/strip-simulator/api/public/v1/strips', undefined, '')).status, 401);
    assert.equal(statusOf('sim'), 'green dot simulated');
    assert.deepEqual(said('sim', 'warn'), []);
  });

  for (const apiKey of ['${NO_SUCH_VARIABLE_OF_THE_TESTS}', '$(NO_SUCH_VARIABLE_OF_THE_TESTS)']) {
    it(`takes the name of a variable that is not set for no API key, and names it: ${apiKey}`, async () => {
      await deploy([simulatorNode('sim')], { sim: { apiKey } });
      assert.equal((await ask(list, undefined, apiKey)).status, 401);
      assert.equal(statusOf('sim'), 'red ring noVariable');
      assert.deepEqual(said('sim', 'warn'), ['strip-simulator.notice.noVariable']);
    });
  }

  it('says that a path is taken, and serves once the other simulator is gone', async () => {
    const other = simulatorNode('other', { path: '/sim/', strips: [] });
    const keys = { sim: { apiKey: KEY }, other: { apiKey: KEY } };
    await deploy([simulatorNode('sim'), other], keys);
    assert.equal(((await ask(list)).body as unknown[]).length, 1);
    assert.equal(statusOf('other'), 'red ring pathTaken');
    await redeploy([...around, other], 'nodes', keys);
    assert.deepEqual((await ask(list)).body, []);
    assert.equal(statusOf('other'), 'green dot simulated');
  });

  it('shows nothing once it is gone, although the path is free then', async () => {
    const other = simulatorNode('other', { strips: [] });
    await deploy([simulatorNode('sim'), other]);
    const node = nodeOf('other');
    await redeploy(around, 'nodes', {});
    assert.deepEqual(said(node, 'status').at(-1), {});
  });

  it('serves nothing under a path that is not valid', async () => {
    await deploy([simulatorNode('sim', { path: 'sim' })]);
    assert.equal((await ask(list)).status, 404);
    assert.equal(statusOf('sim'), 'red ring badPath');
  });

  for (const name of ['path', 'shape', 'latency', 'strips']) {
    it(`serves nothing while the variable for its ${name} is not set, and names it`, async () => {
      await deploy([simulatorNode('sim', { [name]: '${TEST_NOT_SET}' })]);
      assert.equal((await ask(list)).status, 404);
      assert.match(statusOf('sim'), /^red ring .*notConfigured$/);
      const [warning, ...others] = said('sim', 'warn').map(String);
      assert.match(warning ?? '', /^Set the environment variable TEST_NOT_SET, /);
      assert.deepEqual(others, []);
    });
  }

  it('serves nothing while the variable for the MAC of a strip is not set, and names it', async () => {
    await deploy([simulatorNode('sim', { strips: [...strips, { mac: '${TEST_NOT_SET}', name: 'Desk' }] })]);
    assert.equal((await ask(list)).status, 404);
    assert.match(statusOf('sim'), /^red ring .*notConfigured$/);
    assert.match(String(said('sim', 'warn')[0]), /^Set the environment variable TEST_NOT_SET, /);
  });

  it('serves nothing with a latency that is no number, and says what is accepted', async () => {
    await deploy([simulatorNode('sim', { latency: '1s' })]);
    assert.equal((await ask(list)).status, 404);
    assert.match(
      String(said('sim', 'warn')[0]),
      /^Set the property latency .*\(0–60000\): "1s" is none of them/,
    );
  });

  it('serves nothing with a path that is no text', async () => {
    await deploy([simulatorNode('sim', { path: ['/sim'] })]);
    assert.equal((await ask(list)).status, 404);
    assert.deepEqual(said('sim', 'warn'), ['Set the property path to a text: ["/sim"] is not a text.']);
  });

  for (const [strips, got] of [
    [{ mac: MAC }, `{"mac": "${MAC}"}`],
    [MAC, `"${MAC}"`],
    ['[{mac, name}]', '"[{mac, name}]"'],
    [false, 'false'],
  ] as const) {
    it(`serves nothing with ${got} in place of the list of strips, and says what it has to be`, async () => {
      await deploy([simulatorNode('sim', { strips })]);
      assert.equal((await ask(list)).status, 404);
      assert.match(statusOf('sim'), /^red ring .*notConfigured$/);
      assert.deepEqual(said('sim', 'warn'), [
        `Set the property strips to one of the accepted values ([{mac, name}]): ${got} is none of them.`,
      ]);
    });
  }

  it('starts again with every deploy, and ends with its node', async () => {
    await deploy([simulatorNode('sim')]);
    await ask(switchPath, { port: 1, on: true });
    await redeploy([...around, simulatorNode('sim', { shape: 'booleans' })], 'nodes', {
      sim: { apiKey: KEY },
    });
    assert.deepEqual((await ask(list)).body, {
      items: [{ mac: MAC, name: 'Desk strip', ports: [false, false, false, false] }],
    });
    await redeploy(around, 'nodes', {});
    assert.equal((await ask(list)).status, 404);
  });

  it('is behind what settings.js puts before http-in nodes, such as a login; other routes are left to that', async () => {
    const asked: (string | undefined)[] = [];
    const httpNodeMiddleware: RequestHandler = (request, response, next) => {
      asked.push(request.url);
      if (request.headers['x-api-key'] === 'let me in') next();
      else response.sendStatus(401);
    };
    helper.settings({ httpNodeMiddleware });
    await deploy([simulatorNode('sim')], { sim: { apiKey: 'let me in' } });
    assert.equal((await ask(switchPath, { port: 1, on: true })).status, 401);
    assert.equal((await ask(switchPath, { port: 1, on: true }, 'let me in')).status, 200);
    assert.equal((await ask('/elsewhere')).status, 404);
    assert.deepEqual(asked, [switchPath, switchPath]);
  });

  for (const [kind, parse] of [
    ['JSON', (body: Buffer): unknown => JSON.parse(body.toString())],
    ['a text', String],
    ['a buffer', (body: Buffer) => body],
  ] as const) {
    it(`takes a body that settings.js, or an application around Node-RED, has read already as ${kind}`, async () => {
      const httpNodeMiddleware: RequestHandler = (request, _response, next) => {
        request.once('data', (body: Buffer) => (request.body = parse(body)));
        request.once('end', () => next());
      };
      helper.settings({ httpNodeMiddleware });
      await deploy([simulatorNode('sim')]);
      const { body } = await ask(switchPath, { port: 1, on: true });
      assert.deepEqual(body, { success: true, results: [{ port: 1, ok: true }] });
    });
  }

  for (const [settings, notice] of [
    [{ httpNodeRoot: false }, 'notServed'],
    [{ httpNodeAuth: { user: 'u', pass: 'p' } }, 'locked'],
  ] as const) {
    it(`says in the log that others cannot reach it when settings.js has ${Object.keys(settings).join()}`, async () => {
      helper.settings(settings);
      await deploy([simulatorNode('sim')]);
      // Accounts in this Node-RED reach it all the same.
      assert.equal(statusOf('sim'), 'green dot simulated');
      assert.deepEqual(said('sim', 'warn'), []);
      assert.deepEqual(said('sim', 'log'), [`strip-simulator.notice.${notice}`]);
    });
  }
});
