import assert from 'node:assert/strict';
import RED from 'node-red';
import { until } from '../support/until';
import { flowNode, Lab, MAC, OTHER_MAC, outlet2 } from './lab';

const results = (...ports: number[]) => ports.map((port) => ({ port, ok: true }));

describe('the strip switch node', () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await Lab.start();
  });
  afterEach(() => lab.stop());

  it('switches, and answers with the message it got', async () => {
    await lab.startSwitch(outlet2);
    const client = { socketId: 's' };
    const msg = await lab.out('switch', { payload: true, topic: 'desk', _msgid: 'id', _client: client });
    const { at } = msg.strip as { at: string };
    assert(!Number.isNaN(Date.parse(at)));
    assert.deepEqual(msg, {
      _msgid: 'id',
      _client: client,
      topic: 'desk',
      payload: true,
      strip: {
        mac: MAC,
        name: null,
        port: 2,
        outlet: null,
        on: true,
        requested: true,
        success: true,
        results: results(2),
        at,
      },
      response: { success: true, results: results(2) },
    });
    assert.deepEqual(lab.posts(), [`POST /strips/${MAC}/switch {"port":2,"on":true}`]);
    assert.equal(lab.service.simulator.isOn(MAC, 2), true);
  });

  it('keeps the order of messages that several nodes get in one turn', async () => {
    // As in a Node-RED with `runtimeSyncDelivery`: a burst to one node, then a message to the other.
    const nodes = ['switch', 'other'].map((id) => flowNode(id, 'strip switch', outlet2));
    await lab.deploy(nodes);
    for (const payload of [false, true, false]) lab.send('switch', { payload });
    lab.send('other', { payload: true });
    await until('four requests', () => lab.posts().length === 4);
    const sent = lab.posts().map((post) => post.endsWith('"on":true}'));
    assert.deepEqual(sent, [false, true, false, true]);
  });

  it('shows the outlets that nothing is known of yet as unknown', async () => {
    await lab.startSwitch();
    await lab.out('switch', {
      payload: {
        mac: MAC,
        outlets: [
          { port: 1, on: true },
          { port: 2, on: false },
        ],
      },
    });
    assert.deepEqual(lab.statuses('switch').slice(-1), ['yellow ring on1unknown']);
  });

  it('shows the outlets as unknown that the answer about all of them leaves out', async () => {
    await lab.startSwitch();
    await lab.out('switch', { payload: { mac: MAC, port: 'all', on: true } });
    lab.service.next({
      kind: 'answer',
      status: 200,
      json: { success: true, results: [{ port: 2, ok: true }] },
    });
    await lab.out('switch', { payload: { mac: MAC, port: 'all', on: false } });
    assert.deepEqual(lab.statuses('switch'), ['green dot on4of4', 'yellow ring on0unknown']);
  });

  it('passes on the very objects of an HTTP request', async () => {
    const req = { url: '/' };
    const res = { end: () => undefined };
    await lab.startSwitch(outlet2);
    const msg = await lab.out('switch', { payload: false, req, res });
    assert.equal(msg.req, req);
    assert.equal(msg.res, res);
  });

  const forms: [string, object, unknown, string[]][] = [
    ['a number', { payload: 1, mac: MAC, port: 1 }, true, ['1 true']],
    ['a word', { payload: ' Off ', mac: MAC, port: '1' }, false, ['1 false']],
    [
      'port and on/off',
      { payload: { port: 3, on: 'on' }, mac: MAC },
      { mac: MAC, port: 3, on: true },
      ['3 true'],
    ],
    [
      'all',
      { payload: { port: 'all', on: true, mac: MAC } },
      { mac: MAC, port: 'all', on: true },
      ['"all" true'],
    ],
    [
      'an array',
      {
        payload: [
          { port: 2, on: true },
          { port: 1, on: 0 },
        ],
        mac: MAC,
      },
      [
        { mac: MAC, port: 2, on: true },
        { mac: MAC, port: 1, on: false },
      ],
      ['2 true', '1 false'],
    ],
    [
      'a whole strip',
      {
        payload: {
          mac: MAC,
          outlets: [
            { port: 1, on: true },
            { port: 2, on: null },
            { port: 4, on: false },
          ],
        },
      },
      {
        mac: MAC,
        outlets: [
          { port: 1, on: true },
          { port: 4, on: false },
        ],
      },
      ['1 true', '4 false'],
    ],
  ];
  for (const [form, msg, payload, sent] of forms) {
    it(`takes ${form} and answers in the same form`, async () => {
      await lab.startSwitch();
      const got = await lab.out('switch', { ...msg });
      assert.deepEqual(got.payload, payload);
      const expected = sent.map((body) => {
        const [port, on] = body.split(' ');
        return `POST /strips/${MAC}/switch {"port":${port ?? ''},"on":${on ?? ''}}`;
      });
      assert.deepEqual(lab.posts().sort(), expected.sort());
      assert.equal('port' in got, 'port' in msg);
      assert.equal(Array.isArray(got.strip), expected.length > 1);
      assert.equal(Array.isArray(got.response), expected.length > 1);
    });
  }

  it('refuses a strip that says two things of one outlet, and sends nothing', async () => {
    await lab.startSwitch();
    const outlets = [
      { port: 2, on: true },
      { port: '2', on: false },
    ];
    const { error } = await lab.caught('switch', { payload: { mac: MAC, outlets } });
    assert.deepEqual(
      [error?.code, error?.message],
      [
        'INVALID_INPUT',
        'Send a whole strip with outlets as an array of {port, on}, port 1 to 4, each only once, and on true, false or null: it holds {"port": "2", "on": false}.',
      ],
    );
    assert.deepEqual(lab.requests(), []);
  });

  it('answers in the form that is chosen in the node, whatever the form of the message', async () => {
    await lab.startSwitch({ output: 'port-on' });
    const { payload } = await lab.out('switch', { payload: true, mac: MAC, port: 1 });
    assert.deepEqual(payload, { mac: MAC, port: 1, on: true });
  });

  it('toggles to the opposite of what the service says', async () => {
    lab.service.simulator.apply({ mac: MAC, port: 2, on: true });
    await lab.startSwitch(outlet2);
    const msg = await lab.out('switch', { payload: 'TOGGLE' });
    assert.equal(msg.payload, false);
    assert.equal((msg.strip as { requested: unknown }).requested, 'toggle');
    assert.deepEqual(lab.requests(), [
      `GET /strips/${MAC}`,
      `POST /strips/${MAC}/switch {"port":2,"on":false}`,
    ]);
  });

  it('cycles off and, after the delay, on', async () => {
    lab.service.simulator.apply({ mac: MAC, port: 2, on: true });
    await lab.startSwitch({ ...outlet2, on: 'cycle', onType: 'action', delay: '1' });
    const msg = await lab.out('switch', { payload: 'whatever' });
    assert.equal(msg.payload, true);
    assert.deepEqual(
      lab.posts(),
      [false, true].map((on) => `POST /strips/${MAC}/switch {"port":2,"on":${on}}`),
    );
    assert.deepEqual(lab.statuses('switch'), ['blue ring pausing', 'green dot on']);
  });

  it('lets what is fixed in the node win over stray properties', async () => {
    await lab.startSwitch(outlet2);
    await lab.out('switch', { payload: { mac: OTHER_MAC, port: 4, on: true }, mac: OTHER_MAC, port: 3 });
    assert.deepEqual(lab.posts(), [`POST /strips/${MAC}/switch {"port":2,"on":true}`]);
  });

  it('reads fields from msg, flow, global, the environment and JSONata', async () => {
    process.env.TEST_STRIP_MAC = MAC;
    const fields = {
      mac: 'TEST_STRIP_MAC',
      macType: 'env',
      port: 'where.port',
      portType: 'msg',
      on: 'wanted',
      onType: 'flow',
      delay: 'seconds',
      delayType: 'global',
    };
    await lab.startSwitch(fields);
    const context = lab.node('switch').context();
    context.flow.set('wanted', 'cycle');
    context.global.set('seconds', 1);
    assert.equal((await lab.out('switch', { where: { port: '3' } })).payload, true);
    assert.deepEqual(
      lab.posts(),
      [false, true].map((on) => `POST /strips/${MAC}/switch {"port":3,"on":${on}}`),
    );
    delete process.env.TEST_STRIP_MAC;
    assert.equal((await lab.caught('switch', {})).error?.code, 'NOT_CONFIGURED');
  });

  for (const [config, sentence] of [
    [
      { mac: 'strip', macType: 'flow' },
      "Give the strip's MAC as the service lists it: undefined (flow.strip) cannot be a MAC.",
    ],
    [
      { port: 'where.port', portType: 'global' },
      'Give an outlet as 1, 2, 3, 4 or "all": undefined (global.where.port) is not an outlet.',
    ],
    [
      { port: '#:(default)::where.port', portType: 'flow' },
      'Give an outlet as 1, 2, 3, 4 or "all": undefined (flow.where.port [default]) is not an outlet.',
    ],
    [
      { on: 'payload.wanted', onType: 'jsonata' },
      'Give the state as true, false, the number 1 or 0, "on", "off", "toggle" or "cycle": undefined (payload.wanted) is not a state.',
    ],
  ] as const) {
    it(`names the expression without a value in ${JSON.stringify(config)}`, async () => {
      await lab.startSwitch({ ...outlet2, ...config });
      const { error } = await lab.caught('switch', { payload: true });
      assert.deepEqual([error?.code, error?.message], ['INVALID_INPUT', sentence]);
    });
  }

  it('works in a subflow, with the strip and the outlet of the instance', async () => {
    const env = [
      { name: 'STRIP', type: 'str', value: '' },
      { name: 'OUTLET', type: 'num', value: '1' },
    ];
    const inner = {
      z: 'sub',
      mac: 'STRIP',
      macType: 'env',
      port: '${OUTLET}',
      portType: 'port',
      wires: [[]],
    };
    const instance = (id: string, mac: string, outlet: string) =>
      flowNode(id, 'subflow:sub', {
        env: [
          { name: 'STRIP', type: 'str', value: mac },
          { name: 'OUTLET', type: 'num', value: outlet },
        ],
      });
    const wire = { x: 0, y: 0, wires: [{ id: 'inner' }] };
    const out = { x: 0, y: 0, wires: [{ id: 'inner', port: 0 }] };
    await lab.deploy([
      { id: 'sub', type: 'subflow', name: 'one outlet', env, in: [wire], out: [out] },
      flowNode('inner', 'strip switch', inner),
      instance('one', MAC, '3'),
      instance('two', OTHER_MAC, '4'),
    ]);
    assert.equal((await lab.out('one', { payload: true })).payload, true);
    assert.equal((await lab.out('two', { payload: false })).payload, false);
    assert.deepEqual(lab.posts(), [
      `POST /strips/${MAC}/switch {"port":3,"on":true}`,
      `POST /strips/${OTHER_MAC}/switch {"port":4,"on":false}`,
    ]);
  });

  it('waits in a subflow for the account that a deploy is about to replace', async () => {
    const env = [{ name: 'ACCOUNT', type: 'strip-account', value: 'account' }];
    const wire = { x: 0, y: 0, wires: [{ id: 'inner' }] };
    const out = { x: 0, y: 0, wires: [{ id: 'inner', port: 0 }] };
    const flow = (account: object) => [
      lab.account(account),
      { id: 'sub', type: 'subflow', name: 'any account', env, in: [wire], out: [out] },
      flowNode('inner', 'strip switch', { z: 'sub', account: '${ACCOUNT}', ...outlet2, wires: [[]] }),
      flowNode('instance', 'subflow:sub', { account: '', env }),
    ];
    await lab.deploy(flow({}));
    assert.equal((await lab.out('instance', { payload: true })).payload, true);
    // Node-RED keeps the node in the subflow, and has taken the old account away.
    const instance = lab.node('instance');
    RED.events.once('flows:stopped', () => instance.receive({ payload: false }));
    const after = lab.arrivals.mark;
    await lab.redeploy(flow({ protectedOutlets: [{ mac: MAC, port: 2 }] }), 'nodes');
    const { at, msg } = await lab.arrivals.find('outcome', ({ at }) => at !== 'completed', { after });
    assert.deepEqual([at, msg.error?.code], ['caught', 'PROTECTED']);
  });

  it('evaluates JSONata, and says what is wrong with it', async () => {
    await lab.startSwitch({
      ...outlet2,
      on: 'payload.a > payload.b',
      onType: 'jsonata',
      port: '$number(topic) + 1',
      portType: 'jsonata',
    });
    assert.equal((await lab.out('switch', { payload: { a: 2, b: 1 }, topic: '1' })).payload, true);
    const failed = await lab.caught('switch', { payload: { a: {}, b: 1 }, topic: '1' });
    assert.equal(failed.error?.code, 'INVALID_INPUT');
    assert.match(
      String(failed.error.message),
      /^Correct the expression payload\.a > payload\.b in the node, or what it reads: it cannot be evaluated \(/,
    );
    assert.equal(lab.posts().length, 1);
  });

  it('says what is wrong with an expression that is none', async () => {
    await lab.startSwitch({ ...outlet2, on: '((', onType: 'jsonata' });
    assert.equal((await lab.caught('switch', {})).error?.code, 'INVALID_INPUT');
  });

  for (const [type, config] of [
    ['strip switch', { ...outlet2, output: '${TEST_NOT_SET}' }],
    ['strip status', { ...outlet2, output: '${TEST_NOT_SET}' }],
    ['strip list', { output: '${TEST_NOT_SET}' }],
    ['strip switch', { ...outlet2, onType: '${TEST_NOT_SET}' }],
  ] as const) {
    it(`does nothing as a ${type} with ${JSON.stringify(config)}, and names the variable that is not set`, async () => {
      await lab.deploy([flowNode('node', type, config)]);
      const failed = await lab.caught('node', { payload: true });
      assert.equal(failed.error?.code, 'NOT_CONFIGURED');
      assert.match(String(failed.error.message), /^Set the environment variable TEST_NOT_SET, /);
      assert.deepEqual(lab.requests(), []);
      assert.deepEqual(lab.statuses('node'), ['red ring notConfigured']);
    });
  }

  for (const [type, config, sentence] of [
    [
      'strip switch',
      { macType: 'strr' },
      'Set the property macType to one of the accepted values (message, str, msg, flow, global, env, jsonata): "strr" is none of them.',
    ],
    ['strip switch', { portType: 'num' }, /^Set the property portType .*\(message, port, msg, .*: "num" is /],
    ['strip switch', { onType: 7 }, /^Set the property onType .*\(message, action, msg, .*: 7 is /],
    [
      'strip switch',
      { delayType: ['num'] },
      /^Set the property delayType .*\(num, message, .*: \["num"\] is /,
    ],
    ['strip switch', { output: 'ON' }, /^Set the property output .*\(same, on, port-on\): "ON" is /],
    ['strip status', { portType: 'str' }, /^Set the property portType .*\(port, message, .*: "str" is /],
    [
      'strip list',
      { output: 'outlet' },
      /^Set the property output .*\(list, strips, outlets\): "outlet" is /,
    ],
    ['strip switch', { mac: {} }, 'Set the property mac to a text: {} is not a text.'],
    [
      'strip switch',
      { port: [2], portType: 'message' },
      'Set the property port to a text: [2] is not a text.',
    ],
    ['strip switch', { on: { on: true } }, 'Set the property on to a text: {"on": true} is not a text.'],
    ['strip switch', { delay: [60] }, 'Set the property delay to a text: [60] is not a text.'],
    ['strip status', { port: [2] }, 'Set the property port to a text: [2] is not a text.'],
  ] as const) {
    it(`does nothing as a ${type} whose flow has ${JSON.stringify(config)}, and says what is accepted`, async () => {
      await lab.deploy([flowNode('node', type, { ...outlet2, ...config })]);
      const failed = await lab.caught('node', { payload: true, port: 3, mac: OTHER_MAC });
      assert.equal(failed.error?.code, 'NOT_CONFIGURED');
      if (typeof sentence === 'string') assert.equal(failed.error.message, sentence);
      else assert.match(String(failed.error.message), sentence);
      assert.deepEqual(lab.requests(), []);
      assert.deepEqual(lab.statuses('node'), ['red ring notConfigured']);
    });
  }

  it('does not switch off what the account protects', async () => {
    const account = { protectedOutlets: [{ mac: MAC, port: 2 }] };
    await lab.startSwitch({ ...outlet2, portType: 'message' }, account);
    const failed = await lab.caught('switch', { payload: false, port: 2 });
    assert.equal(failed.error?.code, 'PROTECTED');
    const all = await lab.out('switch', { payload: false, port: 'all' });
    assert.deepEqual((all.strip as { skipped: unknown }).skipped, [2]);
    assert.equal(all.payload, false);
  });

  it('shares the command queues of the account with its neighbours', async () => {
    await lab.deploy([flowNode('one', 'strip switch', outlet2), flowNode('two', 'strip switch', outlet2)]);
    for (let round = 0; round < 10; round++) {
      lab.send('one', { payload: true });
      lab.send('two', { payload: false, last: round });
    }
    await lab.arrivals.find('last answer', ({ at, msg }) => at === 'completed' && msg.last === 9);
    const sent = lab.posts().map((request) => request.endsWith('true}'));
    assert.deepEqual(
      sent,
      Array.from({ length: 20 }, (_, index) => index % 2 === 0),
    );
  });

  it('shows that it is asking while the service takes long, and then the result', async () => {
    await lab.startSwitch(outlet2);
    const release = lab.service.hold();
    lab.send('switch', { payload: true });
    const shows = (key: string) => {
      const { text } = { ...(lab.said('switch', 'status').at(-1) as { text?: string } | undefined) };
      return text?.endsWith(`status.${key}`) === true;
    };
    await until('the status', () => shows('asking'));
    release();
    await until('the result', () => shows('on'));
  });

  it('shows what is on once it is known, and does not show it again', async () => {
    await lab.startSwitch({ mac: MAC, macType: 'str' });
    for (const payload of [
      { port: 1, on: true },
      { port: 2, on: true },
      { port: 3, on: false },
    ])
      await lab.out('switch', { payload });
    await lab.out('switch', { payload: { port: 'all', on: false } });
    await lab.out('switch', { payload: [{ port: 1, on: true }] });
    await lab.out('switch', {
      payload: [
        { port: 1, on: true },
        { port: 2, on: true, mac: OTHER_MAC },
      ],
    });
    assert.deepEqual(lab.statuses('switch'), [
      'green dot on',
      'grey ring off',
      'grey ring on0of4',
      'green dot on',
      'green dot on2of4',
    ]);
  });
});
