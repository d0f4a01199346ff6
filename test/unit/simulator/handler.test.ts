import assert from 'node:assert/strict';
import { handle, type ServiceRequest } from '../../../src/simulator/http';
import type { SimulatorOptions } from '../../../src/simulator/simulator';
import { FakeClock } from '../../support/fake-clock';
import { KEY, MAC, simulatorWith } from './support';

function setUp(settings: Partial<SimulatorOptions> = {}) {
  const simulator = simulatorWith(settings);
  const ask = async (method: string, path: string, more: Partial<ServiceRequest> = {}) => {
    const headers = {
      'x-api-key': KEY,
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
    };
    const answer = await handle(simulator, {
      method,
      path: `/api/public/v1${path}`,
      headers,
      body: '',
      ...more,
    });
    const body: unknown = JSON.parse(answer.body);
    return { status: answer.status, headers: answer.headers, body };
  };
  const post = (body: unknown, mac = MAC) =>
    ask('POST', `/strips/${mac}/switch`, { body: typeof body === 'string' ? body : JSON.stringify(body) });
  return { simulator, ask, post };
}

describe('the simulated service', () => {
  it('lists its strips with the state of every outlet', async () => {
    const { ask } = setUp();
    const { status, headers, body } = await ask('GET', '/strips');
    assert.equal(status, 200);
    assert.match(headers['content-type'] ?? '', /^application\/json/);
    const outlets = [1, 2, 3, 4].map((port) => ({ port, on: false }));
    assert.deepEqual(body, [{ mac: MAC, name: 'Desk strip', outlets }]);
  });

  it('switches one outlet and answers with one result', async () => {
    const { simulator, post } = setUp();
    assert.deepEqual((await post({ port: 3, on: true })).body, {
      success: true,
      results: [{ port: 3, ok: true }],
    });
    assert.deepEqual(
      ([1, 2, 3, 4] as const).map((port) => simulator.isOn(MAC, port)),
      [false, false, true, false],
    );
  });

  it('switches all outlets and answers with a result for each', async () => {
    const { simulator, post } = setUp();
    const results = [1, 2, 3, 4].map((port) => ({ port, ok: true }));
    assert.deepEqual((await post({ port: 'all', on: true })).body, { success: true, results });
    assert.ok(([1, 2, 3, 4] as const).every((port) => simulator.isOn(MAC, port)));
  });

  for (const spelling of [
    'a1b2c3d4e5f6',
    'A1:B2:C3:D4:E5:F6',
    'a1-b2-c3-d4-e5-f6',
    'A1B2.C3D4.E5F6',
    'A1%3AB2C3D4E5F6',
  ]) {
    it(`finds a strip whose mac is spelled ${spelling}`, async () => {
      const { ask } = setUp();
      assert.equal((await ask('GET', `/strips/${spelling}`)).status, 200);
    });
  }

  const PORT = 'port must be an integer from 1 to 4 or "all"';
  const ON = 'on must be true or false';
  const badBodies: [what: string, body: unknown, error: string][] = [
    ['nothing', '', 'the body is not JSON'],
    ['broken JSON', '{"port": 1, "on": tr', 'the body is not JSON'],
    ['an array', [{ port: 1, on: true }], 'the body must be a JSON object'],
    ['null', 'null', 'the body must be a JSON object'],
    ['a port of 0', { port: 0, on: true }, PORT],
    ['a port of 5', { port: 5, on: true }, PORT],
    ['a fraction of a port', { port: 1.5, on: true }, PORT],
    ['a port as text', { port: '1', on: true }, PORT],
    ['"ALL"', { port: 'ALL', on: true }, PORT],
    ['no port', { on: true }, PORT],
    ['no on', { port: 1 }, ON],
    ['on as text', { port: 1, on: 'true' }, ON],
    ['on as a number', { port: 1, on: 1 }, ON],
    [
      'more than is documented',
      { port: 1, on: true, force: true, by: 'me' },
      'the body holds more than port and on: force, by',
    ],
  ];
  for (const [what, body, error] of badBodies) {
    it(`refuses ${what} as the body of a switch, and switches nothing`, async () => {
      const { simulator, post } = setUp();
      const answer = await post(body);
      assert.equal(answer.status, 400);
      assert.deepEqual(answer.body, { error });
      assert.equal(simulator.isOn(MAC, 1), false);
    });
  }

  it('refuses a switch whose content-type is not JSON', async () => {
    const { ask } = setUp();
    for (const type of ['text/plain', 'x-application/json', 'application/jsonp', undefined]) {
      const headers = { 'x-api-key': KEY, 'content-type': type };
      const answer = await ask('POST', `/strips/${MAC}/switch`, { headers, body: '{"port":1,"on":true}' });
      assert.equal(answer.status, 415);
      assert.deepEqual(answer.body, { error: 'the content-type must be application/json' });
    }
    const headers = { 'x-api-key': KEY, 'content-type': 'Application/JSON; charset=utf-8' };
    const body = '{"port":1,"on":true}';
    assert.equal((await ask('POST', `/strips/${MAC}/switch`, { headers, body })).status, 200);
  });

  it('refuses a request without the right key, whatever it asks for', async () => {
    const { ask } = setUp();
    for (const key of [undefined, '', 'key-of-a-tesT', `${KEY} `, [KEY, KEY]]) {
      for (const path of ['/strips', '/strips/none']) {
        const { status, body } = await ask('GET', path, { headers: { 'x-api-key': key } });
        assert.equal(status, 401);
        assert.deepEqual(body, { error: 'the x-api-key header does not hold a valid API key' });
      }
    }
  });

  it('takes any key while it has none, but not a request without one', async () => {
    const { ask } = setUp({ apiKey: '' });
    for (const [key, status] of [
      [undefined, 401],
      ['', 401],
      [KEY, 200],
      ['simulator', 200],
    ] as const) {
      assert.equal((await ask('GET', '/strips', { headers: { 'x-api-key': key } })).status, status);
    }
  });

  it('never puts the key into an answer', async () => {
    const { simulator } = setUp();
    const paths = ['/strips', `/strips/${MAC}`, '/strips/none', '/none'];
    for (const path of paths) {
      const headers = { 'x-api-key': KEY };
      const answer = await handle(simulator, {
        method: 'GET',
        path: `/api/public/v1${path}`,
        headers,
        body: '',
      });
      assert.ok(!JSON.stringify(answer).includes(KEY));
    }
  });

  it('answers 404 for an unknown strip and for any path that is not documented', async () => {
    const { ask, post } = setUp();
    const noStrip = { error: 'no strip with this mac is here' };
    for (const answer of [
      await post({ port: 1, on: true }, '000000000000'),
      await ask('GET', '/strips/000000000000'),
    ]) {
      assert.equal(answer.status, 404);
      assert.deepEqual(answer.body, noStrip);
    }
    for (const path of ['', '/', '/strips/', '/Strips', `/strips/${MAC}/`, `/strips/${MAC}/switch/1`]) {
      const { status, body } = await ask('GET', path);
      assert.equal(status, 404, path);
      assert.deepEqual(body, { error: 'there is no such endpoint' });
    }
  });

  it('answers 405 with the allowed method', async () => {
    const { ask } = setUp();
    for (const [method, path, allow] of [
      ['POST', '/strips', 'GET'],
      ['DELETE', `/strips/${MAC}`, 'GET'],
      ['GET', `/strips/${MAC}/switch`, 'POST'],
    ] as const) {
      const { status, headers, body } = await ask(method, path);
      assert.deepEqual([status, headers.allow], [405, allow]);
      assert.deepEqual(body, { error: `this endpoint takes ${allow} only` });
    }
  });

  it('answers 400 for a mac that is not properly encoded', async () => {
    const { ask } = setUp();
    const { status, body } = await ask('GET', '/strips/%E0%A4%A');
    assert.equal(status, 400);
    assert.deepEqual(body, { error: 'the mac in the path is not properly encoded' });
  });

  it('ignores a query', async () => {
    const { ask } = setUp();
    assert.equal((await ask('GET', '/strips?page=2')).status, 200);
  });

  it('leaves an unplugged strip out, and fails every port of a switch of it', async () => {
    const { simulator, ask, post } = setUp();
    simulator.apply({ mac: MAC, port: 2, on: true });
    simulator.apply({ mac: MAC, available: false });
    assert.deepEqual((await ask('GET', '/strips')).body, []);
    assert.equal((await ask('GET', `/strips/${MAC}`)).status, 404);
    const { status, body } = await post({ port: 2, on: false });
    assert.deepEqual([status, body], [200, { success: false, results: [{ port: 2, ok: false }] }]);
    simulator.apply({ mac: MAC, available: true });
    assert.equal(simulator.isOn(MAC, 2), true);
    assert.equal((await ask('GET', `/strips/${MAC}`)).status, 200);
  });

  it('tells listeners of the switches it carried out, until it closes', async () => {
    const { simulator, post } = setUp();
    const heard: unknown[] = [];
    simulator.on('switch', (switched) => heard.push(switched));
    await post({ port: 1, on: true }, 'a1:b2:c3:d4:e5:f6');
    await post({ port: 'all', on: false });
    await post({ port: 7, on: false });
    simulator.apply({ mac: MAC, port: 1, on: true });
    simulator.apply({ mac: MAC, available: false });
    await post({ port: 1, on: false });
    simulator.apply({ mac: MAC, available: true });
    simulator.close();
    await post({ port: 1, on: false });
    assert.deepEqual(heard, [
      { mac: MAC, port: 1, on: true },
      { mac: MAC, port: 'all', on: false },
    ]);
  });

  describe('with a latency', () => {
    it('carries a switch out as it comes and answers when the time is over', async () => {
      const clock = new FakeClock();
      const { simulator, post } = setUp({ latency: 250, clock });
      let answered = false;
      const answer = post({ port: 1, on: true }).then(() => (answered = true));
      assert.equal(simulator.isOn(MAC, 1), true);
      await clock.pass(249);
      assert.equal(answered, false);
      await clock.pass(1);
      await answer;
      assert.equal(answered, true);
    });

    it('answers at once when it is closed, and leaves no timer behind', async () => {
      const clock = new FakeClock();
      const { simulator, ask } = setUp({ latency: 250, clock });
      const answer = ask('GET', '/strips');
      assert.equal(clock.pending, 1);
      simulator.close();
      assert.equal((await answer).status, 200);
      assert.equal((await ask('GET', '/strips')).status, 200);
      assert.equal(clock.pending, 0);
    });
  });
});
