import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { systemClock } from '../../../src/api/clock';
import { BODY_LIMIT } from '../../../src/simulator/http';
import { middleware, normalisePath, SimulatorRegistry } from '../../../src/simulator/registry';
import { Simulator } from '../../../src/simulator/simulator';

const simulatorOf = (mac: string) =>
  new Simulator({
    strips: [{ mac, name: mac }],
    apiKey: 'k',
    shape: 'plain',
    latency: 0,
    clock: systemClock,
  });

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
      assert.equal(normalisePath(text), path));
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
  const get = async (path: string) => {
    const { port } = server.address() as AddressInfo;
    const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`, {
      dispatcher: agent,
      headers: { 'x-api-key': 'k' },
    });
    const text = await body.text();
    return statusCode === 200 ? (JSON.parse(text) as { mac: string }[])[0]?.mac : statusCode;
  };

  before((done) => void server.listen(0, '127.0.0.1', done));
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
    const { port } = server.address() as AddressInfo;
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
    const { port } = server.address() as AddressInfo;
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
