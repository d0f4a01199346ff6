import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PORTS } from '../../src/api/types';
import { account, around, debug, errorOf, inject, placed, send, tab } from '../support/flow';
import { startNodeRed } from '../support/node-red';
import type { RunningNodeRed } from '../support/node-red';
import { STRIPS, startService } from '../support/service';
import type { TestService } from '../support/service';

const API_KEY = 'sentinel-key-5f0c9e';
const [{ mac: MAC }, { mac: OTHER }] = STRIPS;
const fixed = { mac: MAC, macType: 'str', port: '2', portType: 'port', onType: 'message', output: 'same' };
const open = {
  mac: '',
  macType: 'message',
  port: '',
  portType: 'message',
  onType: 'message',
  output: 'same',
};
const isTime = (at: unknown) => typeof at === 'string' && new Date(at).toISOString() === at;

describe('messages through a real Node-RED', () => {
  let red: RunningNodeRed;
  let service: TestService;
  let seen = 0;

  before(async () => {
    service = await startService({ apiKey: API_KEY });
    red = await startNodeRed({ install: 'packed' });
  });

  after(async () => {
    await red.stop();
    await service.close();
  });

  beforeEach(() => {
    seen = service.requests.length;
  });

  const requests = () =>
    service.requests.slice(seen).map(({ method, path, body }) => ({
      method,
      path,
      body: body === '' ? null : (JSON.parse(body) as unknown),
    }));

  const post = (mac: string, port: number | 'all', on: boolean) => ({
    method: 'POST',
    path: `/api/public/v1/strips/${mac}/switch`,
    body: { port, on },
  });

  it('switches the outlet that is fixed, whatever else the message carries', async () => {
    await red.deploy([...around('strip switch', fixed), account(service)]);
    const { sent, message } = await send(red, {
      payload: 'ON',
      topic: 'hall',
      port: 3,
      mac: OTHER,
      kept: { a: 1 },
    });
    assert.ok(sent);
    assert.deepEqual(requests(), [post(MAC, 2, true)]);
    assert.equal(service.simulator.isOn(MAC, 2), true);
    const { strip, response, _msgid, ...rest } = message;
    const { at, ...about } = strip as { at: string };
    assert.ok(isTime(at));
    assert.equal(typeof _msgid, 'string');
    assert.deepEqual(about, {
      mac: MAC,
      name: null,
      port: 2,
      outlet: null,
      on: true,
      requested: 'on',
      success: true,
      results: [{ port: 2, ok: true }],
    });
    assert.deepEqual(response, { success: true, results: [{ port: 2, ok: true }] });
    assert.deepEqual(rest, { payload: true, topic: 'hall', port: 3, mac: OTHER, kept: { a: 1 } });
    const headers = service.requests.at(-1)?.headers ?? {};
    assert.equal(headers['x-api-key'], API_KEY);
    assert.match(headers['content-type'] ?? '', /^application\/json/);
    const { fill, shape } = await red.status('node', ({ text = '' }) =>
      text.endsWith('strip-account:status.on'),
    );
    assert.deepEqual({ fill, shape }, { fill: 'green', shape: 'dot' });
  });

  it('answers an array in its order, each outlet with what was confirmed', async () => {
    await red.deploy([...around('strip switch', open), account(service)]);
    const { sent, message } = await send(red, {
      payload: [
        { mac: MAC, port: 1, on: true },
        { mac: OTHER, port: '4', on: 'off' },
      ],
    });
    assert.ok(sent);
    assert.deepEqual(message.payload, [
      { mac: MAC, port: 1, on: true },
      { mac: OTHER, port: 4, on: false },
    ]);
    assert.equal((message.strip as unknown[]).length, 2);
    assert.equal((message.response as unknown[]).length, 2);
    assert.deepEqual(
      new Set(requests().map((request) => JSON.stringify(request))),
      new Set([post(MAC, 1, true), post(OTHER, 4, false)].map((request) => JSON.stringify(request))),
    );
  });

  it('restores a strip from the message that strip status sent', async () => {
    for (const port of PORTS) service.simulator.apply({ mac: MAC, port, on: port < 3 });
    await red.deploy([
      ...around('strip status', { mac: MAC, macType: 'str', output: 'strip' }),
      account(service),
    ]);
    const picture = (await send(red, { payload: '' })).message.payload;
    service.simulator.apply({ mac: MAC, port: 'all', on: false });
    await red.deploy([...around('strip switch', open), account(service)]);
    const { sent } = await send(red, { payload: picture });
    assert.ok(sent);
    assert.deepEqual(
      PORTS.map((port) => service.simulator.isOn(MAC, port)),
      [true, true, false, false],
    );
  });

  it('sends no request for input that is not exactly accepted, and works on', async () => {
    await red.deploy([...around('strip switch', fixed), account(service)]);
    for (const payload of [null, '', 2, {}, 'yes', [], { on: 1.5 }]) {
      const error = errorOf(await send(red, { payload }));
      assert.equal(error.code, 'INVALID_INPUT', JSON.stringify(payload));
      assert.match(error.message, /^[A-Z"{[\dn].*\.$/s);
    }
    assert.deepEqual(requests(), []);
    assert.ok((await send(red, { payload: false })).sent);
  });

  it('lists strips and reads one, each with the body of the service untouched', async () => {
    await red.deploy([...around('strip list', { output: 'list' }), account(service)]);
    const list = await send(red, { payload: 'go', kept: true });
    const strips = list.message.payload as { mac: string; outlets: unknown[] }[];
    assert.deepEqual(
      strips.map(({ mac, outlets }) => [mac, outlets.length]),
      STRIPS.map(({ mac }) => [mac, 4]),
    );
    assert.equal(list.message.kept, true);
    assert.deepEqual(list.message.response, service.simulator.list());
    await red.deploy([
      ...around('strip status', { mac: MAC, macType: 'str', port: '1', portType: 'port', output: 'on' }),
      account(service),
    ]);
    const one = await send(red, { payload: 'go' });
    assert.equal(one.message.payload, service.simulator.isOn(MAC, 1));
    assert.deepEqual(one.message.response, service.simulator.strip(MAC));
    assert.deepEqual(
      requests().map(({ method, path }) => `${method} ${path}`),
      ['GET /api/public/v1/strips', `GET /api/public/v1/strips/${MAC}`],
    );
  });

  it('tells of a change that was made by hand, once', async () => {
    await red.deploy([
      ...around('strip list', { output: 'list' }),
      placed('watch', 'strip watch', { mac: '', port: '', output: 'on' }, ['told']),
      debug('told'),
      account(service),
    ]);
    // The list node reads at once what the poll would only see later.
    await send(red, { payload: 'go' });
    const was = service.simulator.isOn(MAC, 3) === true;
    service.simulator.apply({ mac: MAC, port: 3, on: !was });
    const after = red.comms.mark;
    await red.inject('in');
    const message = await red.debug('told', after);
    assert.equal(message.topic, `${MAC}/3`);
    assert.equal(message.payload, !was);
    assert.equal((message.strip as { previous: unknown }).previous, was);
    await send(red, { payload: 'go' });
    const told = red.comms.items
      .slice(after)
      .filter(({ topic, data }) => topic === 'debug' && (data as { id?: unknown }).id === 'told');
    assert.equal(told.length, 1);
  });

  it('reports what was read, whatever a flow does to its message', async () => {
    const spoil =
      'msg.payload[0] = null; msg.response.length = 1; msg.response[0] = { added: true }; return msg;';
    await red.deploy([
      tab,
      inject('in', 'list'),
      placed('list', 'strip list', { output: 'list' }, ['spoil']),
      placed('spoil', 'function', { func: spoil, outputs: 1, initialize: '', finalize: '', libs: [] }, [
        'out',
      ]),
      debug('out'),
      account(service),
    ]);
    const after = red.comms.mark;
    await red.inject('in');
    assert.deepEqual((await red.debug('out', after)).response, [{ added: true }]);
    const report = (await red.json('/strip-sidebar/diagnostics/account')) as {
      answers: { list: { shape: unknown[]; strips: { mac: string }[] } };
    };
    const { shape, strips } = report.answers.list;
    assert.deepEqual(
      strips.map(({ mac }) => mac),
      STRIPS.map((_, index) => `mac ${index + 1}`),
    );
    assert.doesNotMatch(JSON.stringify(shape), /added/);
  });

  it('has the API key nowhere but in the request header', async () => {
    await red.deploy([...around('strip switch', fixed), account(service)]);
    service.next({ kind: 'answer', status: 401, json: { error: 'no' } });
    await send(red, { payload: true });
    await send(red, { payload: true });
    const places: Record<string, string> = {
      flows: JSON.stringify(await red.getFlows()),
      log: red.output,
      comms: JSON.stringify(red.comms.items),
      credentials: JSON.stringify(await red.json('/credentials/strip-account/account')),
      diagnostics: JSON.stringify(await red.json('/diagnostics')),
      requests: JSON.stringify(
        service.requests.map(({ path, body, headers }) => [path, body, { ...headers, 'x-api-key': '' }]),
      ),
    };
    for (const file of readdirSync(red.userDir).filter(
      (name) => name.endsWith('.json') || name.startsWith('.flows'),
    )) {
      places[file] = readFileSync(join(red.userDir, file), 'utf8');
    }
    assert.ok(Object.keys(places).some((name) => name.includes('_cred')));
    assert.ok(red.log.items.some(({ level }) => level === 'trace'));
    const found = Object.entries(places).filter(
      ([, text]) => text.includes(API_KEY) || text.includes(encodeURIComponent(API_KEY)),
    );
    assert.deepEqual(
      found.map(([place]) => place),
      [],
    );
    assert.ok(service.requests.every(({ headers }) => headers['x-api-key'] === API_KEY));
  });
});
