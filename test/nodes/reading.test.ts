import assert from 'node:assert/strict';
import { flowNode, Lab, MAC, OTHER_MAC } from './lab';

const outlets = (...on: (boolean | null)[]) =>
  on.map((state, index) => ({ port: index + 1, on: state, name: null }));

/** What arrives of a value that is sent as JSON. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('the strip list and strip status nodes', () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await Lab.start({ shape: 'measured' });
    lab.service.simulator.apply({ mac: MAC, port: 1, on: true });
  });
  afterEach(() => lab.stop());
  const payloads = () => lab.arrivals.items.filter(({ at }) => at === 'out').map(({ msg }) => msg.payload);

  it('list all strips, and pass on the answer untouched', async () => {
    await lab.deploy([flowNode('list', 'strip list')]);
    const msg = await lab.out('list', { payload: 'go', topic: 't' });
    const strips = msg.payload as { mac: string; outlets: unknown; at: string }[];
    assert.deepEqual(
      strips.map(({ mac, outlets: found }) => [mac, found]),
      [
        [MAC, outlets(true, false, false, false)],
        [OTHER_MAC, outlets(false, false, false, false)],
      ],
    );
    assert.equal(msg.topic, 't');
    assert.deepEqual(msg.response, asJson(lab.service.simulator.list()));
    assert.deepEqual(lab.statuses('list'), ['green dot 1/8']);
  });

  it('show outlets as unknown that an answer leaves out, as strip watch does', async () => {
    const nodes = [
      flowNode('list', 'strip list'),
      flowNode('status', 'strip status', { mac: MAC, macType: 'str' }),
    ];
    await lab.deploy(nodes);
    await lab.out('list', {});
    const strip = { mac: MAC, outlets: outlets(true, true) };
    for (const [node, json] of [
      ['status', strip],
      ['list', { strips: [strip] }],
    ] as const) {
      lab.service.next({ kind: 'answer', status: 200, json });
      const { payload } = await lab.out(node, {});
      const [read] = [payload].flat() as { outlets: unknown }[];
      assert.deepEqual(read?.outlets, outlets(true, true, null, null));
    }
    assert.deepEqual(lab.statuses('status'), ['yellow ring on2unknown']);
    assert.deepEqual(lab.statuses('list'), ['green dot 1/8', 'yellow ring 2/4']);
  });

  it('list a thousand strips that a mapping makes of the answer', async () => {
    await lab.stop();
    const macs = Array.from({ length: 1_000 }, (_, index) => `A1B2C3D4${String(index).padStart(4, '0')}`);
    lab = await Lab.start({ strips: macs.map((mac) => ({ mac, name: mac })), shape: 'words' });
    const mapping =
      '[data.strips.{"mac": macAddress, "outlets": outlets.{"port": portNumber, "on": state = "on"}}]';
    await lab.deploy([lab.account({ mapping }), flowNode('list', 'strip list')]);
    const { payload } = await lab.out('list', {});
    const strips = payload as { mac: string; outlets: unknown }[];
    assert.deepEqual(
      strips.map(({ mac, outlets: found }) => [mac, found]),
      macs.map((mac) => [mac, outlets(false, false, false, false)]),
    );
  });

  it('list a message for each strip or outlet, which a join node puts together', async () => {
    await lab.deploy([
      flowNode('strips', 'strip list', { output: 'strips' }),
      flowNode('outlets', 'strip list', { output: 'outlets' }),
    ]);
    lab.send('strips', { payload: 'go', _msgid: 'a' });
    await lab.arrivals.find('end', ({ at }) => at === 'completed');
    await lab.arrivals.find(
      'second',
      ({ msg }) => (msg.parts as { index?: number } | undefined)?.index === 1,
    );
    const parts = lab.arrivals.items
      .filter(({ at }) => at === 'out')
      .map(({ msg }) => [msg._msgid, (msg.payload as { mac: string }).mac, msg.parts]);
    const id = (lab.arrivals.items.find(({ at }) => at === 'out')?.msg.parts as { id: string }).id;
    assert.deepEqual(
      parts,
      [MAC, OTHER_MAC].map((mac, index) => ['a', mac, { id, type: 'array', len: 1, count: 2, index }]),
    );
    const after = lab.arrivals.mark;
    lab.send('outlets', {});
    await lab.arrivals.find('last', ({ msg }) => (msg.parts as { index?: number } | undefined)?.index === 7, {
      after,
    });
    assert.deepEqual(
      payloads().slice(2),
      [MAC, OTHER_MAC].flatMap((mac) =>
        [1, 2, 3, 4].map((port) => ({ mac, port, on: mac === MAC && port === 1 })),
      ),
    );
  });

  it('send nothing, and are done, where there is no strip', async () => {
    await lab.deploy([flowNode('list', 'strip list', { output: 'strips' })]);
    lab.service.next({ kind: 'answer', status: 200, json: [] });
    lab.send('list', {});
    await lab.arrivals.find('end', ({ at }) => at === 'completed');
    assert.deepEqual(payloads(), []);
    assert.deepEqual(lab.statuses('list'), ['grey ring noStrips']);
  });

  it('read one strip or one outlet of it', async () => {
    const at = { mac: MAC, macType: 'str' };
    await lab.deploy([
      flowNode('strip', 'strip status', at),
      flowNode('chosen', 'strip status', { ...at, port: '1', portType: 'port' }),
      flowNode('on', 'strip status', { ...at, port: '1', portType: 'port', output: 'on' }),
      flowNode('port-on', 'strip status', { ...at, port: 'wanted', portType: 'msg', output: 'port-on' }),
    ]);
    const { payload, response } = await lab.out('strip', { payload: 1 });
    const { voltage, units, outlets: found } = payload as Record<string, unknown>;
    assert.deepEqual(found, outlets(true, false, false, false));
    assert.equal(typeof voltage, 'number');
    assert.equal(typeof (units as { voltage?: string }).voltage, 'string');
    assert.deepEqual(response, asJson(lab.service.simulator.strip(MAC)));
    assert.equal((await lab.out('on', {})).payload, true);
    assert.deepEqual((await lab.out('port-on', { wanted: '3' })).payload, { mac: MAC, port: 3, on: false });
    assert.equal((await lab.out('chosen', {})).payload, true);
    assert.deepEqual(
      ['strip', 'on', 'port-on'].map((id) => lab.statuses(id).at(-1)),
      ['green dot on1of4', 'green dot on', 'grey ring off'],
    );
  });

  it('pass on what cannot be read, show it in the status, and once in the log', async () => {
    await lab.deploy([
      flowNode('list', 'strip list'),
      flowNode('status', 'strip status', { port: '1', output: 'on' }),
    ]);
    const odd = { weather: ['sunny'] };
    lab.service.always({ kind: 'answer', status: 200, json: odd });
    for (let round = 0; round < 2; round++) {
      const list = await lab.out('list', {});
      assert.deepEqual([list.payload, list.response], [[], odd]);
      const status = await lab.out('status', { mac: MAC });
      assert.deepEqual([status.payload, status.response], [null, odd]);
    }
    assert.deepEqual(
      [lab.statuses('list'), lab.statuses('status')],
      [['yellow ring unknownAnswer'], ['yellow ring unknownAnswer']],
    );
    const [list, strip, ...others] = lab.said('account', 'warn').map(String);
    assert.match(list ?? '', /list of strips could not be read/);
    assert.match(strip ?? '', /details of a strip could not be read/);
    assert.deepEqual(others, []);
  });

  it('share one request when asked at the same time', async () => {
    await lab.deploy([
      flowNode('one', 'strip status', { mac: MAC, macType: 'str' }),
      flowNode('two', 'strip status', { mac: MAC, macType: 'str' }),
    ]);
    lab.send('one', {});
    lab.send('two', {});
    await lab.arrivals.find('both', () => payloads().length === 2);
    const [one, two] = payloads();
    assert.deepEqual(one, two);
    assert.notEqual(one, two);
    assert.deepEqual(lab.requests(), [`GET /strips/${MAC}`]);
  });

  it('fail with a code, and say which strip they were asked for', async () => {
    await lab.deploy([flowNode('list', 'strip list'), flowNode('status', 'strip status')]);
    const unknown = await lab.caught('status', { mac: 'nobody', payload: 1 });
    assert.equal(unknown.error?.code, 'NOT_FOUND');
    assert.deepEqual(unknown.strip, {
      mac: 'nobody',
      name: null,
      port: 'all',
      outlet: null,
      requested: null,
      success: false,
      results: [],
      on: null,
    });
    assert.equal((await lab.caught('status', { payload: 1 })).error?.code, 'INVALID_INPUT');
    lab.service.next({ kind: 'html' });
    assert.equal((await lab.caught('list', {})).error?.code, 'BAD_RESPONSE');
    assert.deepEqual(lab.statuses('list').at(-1), 'red ring badResponse');
  });

  it('read an answer with values that cannot be made a text, such as an object with a key toString', async () => {
    await lab.deploy([flowNode('list', 'strip list')]);
    const body = {
      code: { toString: 'none' },
      strips: [{ mac: MAC, port1: true, readings: [{ name: { toString: 'none' }, value: 5 }] }],
    };
    lab.service.next({ kind: 'answer', status: 200, json: body });
    const msg = await lab.out('list', {});
    const strips = msg.payload as { mac: string; outlets: unknown }[];
    assert.deepEqual(
      strips.map(({ mac, outlets: found }) => [mac, found]),
      [[MAC, outlets(true)]],
    );
    assert.deepEqual(msg.response, body);
  });
});
