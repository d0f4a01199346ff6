import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { Agent, request, type Dispatcher } from 'undici';
import { Client } from '../../../src/api/client';
import { BODY_LIMIT, type ServiceRequest } from '../../../src/simulator/http';
import { middleware, simulatorDispatcher, SimulatorRegistry } from '../../../src/simulator/registry';
import type { Simulator } from '../../../src/simulator/simulator';
import { parseBaseUrl, simulatorPath } from '../../../src/api/connection-settings';
import { SETTINGS } from '../../../src/settings';
import { FakeClock } from '../../support/fake-clock';
import { startListening } from '../../support/start-listening';
import { KEY, MAC, simulatorWith } from './support';

const { choices: SHAPES } = SETTINGS['strip simulator'].shape;

const simulatorOf = (mac: string) => simulatorWith({ strips: [{ mac, name: mac }], apiKey: 'k' });

describe('the path of a simulator', () => {
  for (const [text, path] of [
    ['/sim', '/sim'],
    [' /sim/ ', '/sim'],
    ['/a/b.c~d_e-1//', '/a/b.c~d_e-1'],
    ['/sim/api/public/v1', '/sim'],
    ['/sim/api/public/v1/', '/sim'],
    ['/', ''],
    ['', null],
    ['sim', null],
    ['/a//b', null],
    ['/a/../b', null],
    ['/./a', null],
    ['/a b', null],
    ['/a?b', null],
    ['/:id', null],
    ['/*', null],
    ['${PATH_OF_IT}', null],
  ] as const) {
    it(`${JSON.stringify(text)} is ${path === null ? 'refused' : JSON.stringify(path)}`, () =>
      assert.equal(simulatorPath(text), path));
  }
});

describe('simulators below one server', () => {
  const registry = new SimulatorRegistry();
  const serve = middleware(registry);
  const agent = new Agent();
  const server = createServer((req, res) => {
    serve(req, res, () => {
      res.writeHead(418).end();
    });
  });
  let port: number;
  const get = async (path: string) => {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`, {
      dispatcher: agent,
      headers: { 'x-api-key': 'k' },
    });
    const text = await body.text();
    return statusCode === 200 ? (JSON.parse(text) as { mac: string }[])[0]?.mac : statusCode;
  };

  before(async () => {
    port = await startListening(server);
  });
  after(async () => {
    await agent.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it('answer below their own paths only, and let everything else pass', async () => {
    const one = registry.claim('/one', simulatorOf('AA'), () => undefined);
    const two = registry.claim('/one/two', simulatorOf('BB'), () => undefined);
    const root = registry.claim('', simulatorOf('CC'), () => undefined);
    assert.equal(await get('/one/api/public/v1/strips'), 'AA');
    assert.equal(await get('/one/two/api/public/v1/strips'), 'BB');
    assert.equal(await get('/api/public/v1/strips'), 'CC');
    assert.equal(await get('/one/api/public/v1/none'), 404);
    assert.equal(await get('/one/api/public/v1'), 404);
    assert.equal(await get('/one'), 418);
    assert.equal(await get('/one/api/public/v10/strips'), 418);
    assert.equal(await get('/three/api/public/v1/strips'), 418);
    for (const leave of [one, two, root]) leave();
    assert.equal(await get('/one/api/public/v1/strips'), 418);
  });

  it('the first to claim a path is served; the next one takes over when it leaves', async () => {
    const told: [string, boolean][] = [];
    const claim = (mac: string) =>
      registry.claim('/same', simulatorOf(mac), (serving) => void told.push([mac, serving]));
    const [first, second, third] = [claim('AA'), claim('BB'), claim('CC')];
    assert.equal(await get('/same/api/public/v1/strips'), 'AA');
    second();
    first();
    first();
    assert.equal(await get('/same/api/public/v1/strips'), 'CC');
    third();
    assert.deepEqual(told, [
      ['AA', true],
      ['BB', false],
      ['CC', false],
      ['CC', true],
    ]);
  });

  it('refuse a body over the limit, and the connection can be used again', async () => {
    const leave = registry.claim('/one', simulatorOf('AA'), () => undefined);
    const post = async (length: number) => {
      const { statusCode, body } = await request(
        `http://127.0.0.1:${port}/one/api/public/v1/strips/AA/switch`,
        {
          dispatcher: agent,
          method: 'POST',
          headers: { 'x-api-key': 'k', 'content-type': 'application/json' },
          body: '{"port":1,"on":true}'.padEnd(length),
        },
      );
      await body.dump();
      return statusCode;
    };
    assert.equal(await post(BODY_LIMIT), 200);
    assert.equal(await post(BODY_LIMIT + 1), 413);
    assert.equal(await post(BODY_LIMIT * 40), 413);
    assert.equal(await post(30), 200);
    leave();
  });

  it('drop a caller who hangs up in the middle of a body', async () => {
    const simulator = simulatorOf('AA');
    const leave = registry.claim('/one', simulator, () => undefined);
    const came = new Promise<void>((resolve) =>
      server.once('request', (req) => req.once('close', () => setImmediate(resolve))),
    );
    const socket = connect(port, '127.0.0.1');
    socket.write(
      'POST /one/api/public/v1/strips/AA/switch HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\n' +
        'content-type: application/json\r\ncontent-length: 20\r\n\r\n{"port":1',
      () => socket.destroy(),
    );
    await came;
    assert.equal(simulator.isOn('AA', 1), false);
    leave();
  });
});

const PATH = '/sim';
const LIST = `${PATH}/api/public/v1/strips`;

/** One request, and what its handler was told in order. */
function send(
  dispatcher: ReturnType<typeof simulatorDispatcher>,
  request: Partial<ServiceRequest> = {},
  onStart: (controller: Dispatcher.DispatchController) => void = () => undefined,
) {
  const events: string[] = [];
  let status = 0;
  let text = '';
  let failure: unknown;
  const over = new Promise<void>((resolve) => {
    const { path = LIST, method = 'GET', headers = { 'x-api-key': KEY }, body = '' } = request;
    dispatcher.dispatch(
      { path, method, headers, body },
      {
        onRequestStart: (given) => {
          events.push('start');
          onStart(given);
        },
        onResponseStart: (_, code) => {
          events.push('head');
          status = code;
        },
        onResponseData: (_, chunk) => {
          events.push('data');
          text += chunk.toString();
        },
        onResponseEnd: () => {
          events.push('end');
          resolve();
        },
        onResponseError: (_, error) => {
          events.push('error');
          failure = error;
          resolve();
        },
      },
    );
  });
  return {
    over,
    get events() {
      return events.join(' ');
    },
    get status() {
      return status;
    },
    get body() {
      return JSON.parse(text) as unknown;
    },
    get failure() {
      return failure;
    },
  };
}

const switchOn: Parameters<typeof send>[1] = {
  path: `${LIST}/${MAC}/switch`,
  method: 'POST',
  headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
  body: '{"port":1,"on":true}',
};
const codeOf = (error: unknown) => (error as { code?: unknown }).code;
const turns = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
};

describe('a simulator inside the process', () => {
  const toSimulator = (simulator: Simulator | null) =>
    simulatorDispatcher(PATH, () => Promise.resolve(simulator));

  for (const shape of SHAPES) {
    it(`answers in the shape ${shape} as it does over HTTP`, async () => {
      const simulator = simulatorWith({ shape });
      const it = send(toSimulator(simulator));
      await it.over;
      assert.deepEqual(
        [it.events, it.status, it.body],
        ['start head data end', 200, JSON.parse(JSON.stringify(simulator.list()))],
      );
    });
  }

  it('carries out a switch', async () => {
    const simulator = simulatorWith();
    const it = send(toSimulator(simulator), switchOn);
    await it.over;
    assert.deepEqual(it.body, { success: true, results: [{ port: 1, ok: true }] });
    assert.equal(simulator.isOn(MAC, 1), true);
  });

  it('answers with the status of what went wrong', async () => {
    const dispatcher = toSimulator(simulatorWith());
    const refused: [request: Parameters<typeof send>[1], status: number][] = [
      [{ headers: {} }, 401],
      [{ path: `${LIST}/none` }, 404],
      [{ path: `${PATH}/elsewhere` }, 404],
      [{ ...switchOn, body: '{"port":5,"on":true}' }, 400],
    ];
    for (const [request, status] of refused) {
      const it = send(dispatcher, request);
      await it.over;
      assert.equal(it.status, status);
    }
  });

  it('fails a request where there is no simulator, before anything is sent', async () => {
    const it = send(toSimulator(null));
    await it.over;
    assert.deepEqual([it.events, codeOf(it.failure)], ['error', 'NO_SIMULATOR']);
  });

  it('asks at every request which simulator is there', async () => {
    const simulators = [simulatorWith(), null, simulatorWith()];
    const dispatcher = simulatorDispatcher(PATH, () => Promise.resolve(simulators.shift() ?? null));
    const events = [];
    for (let i = 0; i < 3; i++) {
      const it = send(dispatcher);
      await it.over;
      events.push(it.events);
    }
    assert.deepEqual(events, ['start head data end', 'error', 'start head data end']);
  });

  it('waits until the simulator has been found', async () => {
    let found: (simulator: Simulator) => void = () => undefined;
    const dispatcher = simulatorDispatcher(PATH, () => new Promise((resolve) => (found = resolve)));
    const it = send(dispatcher);
    await turns();
    assert.equal(it.events, '');
    found(simulatorWith());
    await it.over;
    assert.equal(it.status, 200);
  });

  it('answers after the latency, by the clock it is given', async () => {
    const clock = new FakeClock();
    const it = send(toSimulator(simulatorWith({ latency: 5_000, clock })));
    await turns();
    await clock.pass(4_999);
    assert.equal(it.events, 'start');
    await clock.pass(1);
    await it.over;
    assert.equal(it.status, 200);
  });

  it('does not carry out what was given up before it began', async () => {
    const simulator = simulatorWith();
    const it = send(toSimulator(simulator), switchOn, (controller) =>
      controller.abort(new Error('given up')),
    );
    await turns();
    assert.deepEqual([it.events, simulator.isOn(MAC, 1)], ['start', false]);
  });

  it('answers at once what waits when its simulator closes', async () => {
    const simulator = simulatorWith({ latency: 60_000 });
    const it = send(toSimulator(simulator));
    await turns();
    simulator.close();
    await it.over;
    assert.equal(it.status, 200);
  });

  it('carries nothing out for a client that has closed meanwhile', async () => {
    const simulator = simulatorWith();
    let found: (simulator: Simulator) => void = () => undefined;
    const dispatcher = simulatorDispatcher(PATH, () => new Promise((resolve) => (found = resolve)));
    const clock = new FakeClock();
    const client = new Client({ baseUrl: parseBaseUrl(PATH), apiKey: 'any', timeout: 9, dispatcher, clock });
    const closed = assert.rejects(client.switch(MAC, 1, true), { code: 'CLOSED' });
    await client.close();
    await closed;
    found(simulator);
    await turns();
    assert.equal(simulator.isOn(MAC, 1), false);
    await assert.rejects(client.list(), { code: 'CLOSED' });
  });

  it('ends a request whose handler fails, without an unhandled rejection', async () => {
    const it = send(toSimulator(simulatorWith()), {}, () => {
      throw new Error('a fault of the handler');
    });
    await it.over;
    assert.equal(it.events, 'start error');
  });
});
