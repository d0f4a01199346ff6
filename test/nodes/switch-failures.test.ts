import assert from 'node:assert/strict';
import { until } from '../support/until';
import { flowNode, Lab, MAC, OTHER_MAC, outlet2 } from './lab';

describe('the strip switch node, where it cannot switch', () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await Lab.start();
  });
  afterEach(() => lab.stop());

  it('sends no request for a message that is not exactly accepted, and shows what came', async () => {
    await lab.startSwitch(outlet2);
    for (const payload of [null, undefined, '', 2, NaN, {}, [], 'maybe', { on: 'x' }, () => true]) {
      const failed = await lab.caught('switch', { payload });
      assert.equal(failed.error?.code, 'INVALID_INPUT');
      assert.match(
        String(failed.error.message),
        /^Send true or false|^Set Outlet and Switch to "from message"/,
      );
      assert.deepEqual(failed.strip, {
        mac: MAC,
        name: null,
        port: 2,
        outlet: null,
        requested: null,
        success: false,
        results: [],
        on: null,
      });
    }
    assert.match(
      String((await lab.caught('switch', { payload: 'maybe' })).error?.message),
      /, or choose an action in the node: "maybe" says neither on nor off\.$/,
    );
    assert.match(
      String((await lab.caught('switch', { payload: Promise.resolve(true) })).error?.message),
      /: Promise \{\} says neither on nor off\.$/,
    );
    assert.deepEqual(lab.requests(), []);
    assert.deepEqual(lab.statuses('switch'), ['red ring invalidInput']);
  });

  it('asks for what is missing where a field is to be an expression or a variable, but is empty', async () => {
    const asked = {
      mac: /^Choose a strip in the node, /,
      port: /^Choose an outlet in the node, /,
      on: /^Choose an action in the node, /,
    };
    const types = ['msg', 'flow', 'global', 'env', 'jsonata'];
    const empty = Object.entries(asked).flatMap(([field, sentence]) =>
      types.map((type) => ({ id: `${field} ${type}`, field, type, sentence })),
    );
    await lab.deploy(
      empty.map(({ id, field, type }) =>
        flowNode(id, 'strip switch', { ...outlet2, [field]: '', [`${field}Type`]: type }),
      ),
    );
    for (const { id, sentence } of empty) {
      const failed = await lab.caught(id, { payload: true });
      assert.equal(failed.error?.code, 'NOT_CONFIGURED', id);
      assert.match(String(failed.error.message), sentence);
    }
    assert.deepEqual(lab.requests(), []);
  });

  for (const [what, name, value] of [
    ['an environment variable refers to', 'TEST_STRIP_MAC', '${TEST_NOT_SET}'],
    ['was typed as ${NAME} for the name of one', '${TEST_NOT_SET}', ''],
  ] as const) {
    it(`names the variable that ${what} and that is not set`, async () => {
      process.env.TEST_STRIP_MAC = value;
      await lab.startSwitch({ ...outlet2, mac: name, macType: 'env' });
      const failed = await lab.caught('switch', { payload: true });
      delete process.env.TEST_STRIP_MAC;
      assert.equal(failed.error?.code, 'NOT_CONFIGURED');
      assert.match(String(failed.error.message), /^Set the environment variable TEST_NOT_SET, /);
      assert.deepEqual(lab.requests(), []);
    });
  }

  it('does not say of a variable that is empty that it is not set', async () => {
    process.env.TEST_STRIP_MAC = '';
    await lab.startSwitch({ ...outlet2, mac: 'TEST_STRIP_MAC', macType: 'env' });
    const failed = await lab.caught('switch', { payload: true });
    delete process.env.TEST_STRIP_MAC;
    assert.equal(failed.error?.code, 'NOT_CONFIGURED');
    assert.match(
      String(failed.error.message),
      /^Set the environment variable TEST_STRIP_MAC, .*: the variable is empty or not set\.$/,
    );
    assert.deepEqual(lab.requests(), []);
  });

  it('refuses a frozen message before anything is switched', async () => {
    await lab.startSwitch(outlet2);
    const failed = await lab.caught('switch', Object.freeze({ payload: true }));
    assert.equal(failed.error?.code, 'INVALID_INPUT');
    assert.match(String(failed.error.message), /^Send a copy of the message: /);
    assert.deepEqual(lab.requests(), []);
  });

  it('does not ask to send a message again that was frozen while its outlet was switched', async () => {
    await lab.startSwitch(outlet2);
    const release = lab.service.hold('answer');
    const msg = { payload: true };
    const failed = lab.caught('switch', msg);
    await lab.service.arrived(1);
    Object.freeze(msg);
    release();
    assert.equal((await failed).error?.code, 'INVALID_INPUT');
    assert.match(String((await failed).error?.message), /the message was handled, /);
    assert.deepEqual(lab.posts().length, 1);
  });

  it('says in the log what is wrong with a message that Node-RED cannot copy for a Catch node', async () => {
    await lab.startSwitch(outlet2);
    const payload = Object.defineProperty({}, 'on', { enumerable: true, get: () => assert.fail('a getter') });
    lab.send('switch', { payload });
    await until('a warning', () => lab.said('switch', 'warn').length > 0);
    assert.deepEqual(lab.said('switch', 'warn'), ['Send plain data: reading the message failed.']);
    assert.deepEqual(lab.statuses('switch'), ['red ring invalidInput']);
    assert.deepEqual(lab.requests(), []);
  });

  it('says in the log what Node-RED cannot tell a Catch or Complete node, because it cannot copy the message', async () => {
    await lab.startSwitch(outlet2);
    const handled = /^Send plain data: the message was handled, /;
    const uncopyable = (payload: unknown) =>
      Object.defineProperty({ payload }, 'other', { enumerable: true, get: () => assert.fail('a getter') });
    assert.equal((await lab.ask('switch', uncopyable(true))).at, 'out');
    assert.deepEqual(lab.posts().length, 1);
    await until('a warning', () => lab.said('switch', 'warn').length > 0);
    assert.match(lab.said('switch', 'warn').join('\n'), handled);
    lab.send('switch', uncopyable('maybe'));
    await until('a warning', () => lab.said('switch', 'warn').length > 1);
    assert.match(String(lab.said('switch', 'warn')[1]), /^Send true or false/);
    await lab.redeploy(
      [lab.account(), flowNode('switch', 'strip switch', { ...outlet2, wires: [['out', 'out']] })],
      'full',
    );
    lab.send('switch', uncopyable(true));
    await until('a warning', () => lab.said('switch', 'warn').length > 0);
    assert.match(lab.said('switch', 'warn').join('\n'), handled);
  });

  it('ends every message exactly once', async () => {
    await lab.startSwitch(outlet2);
    const ids = Array.from({ length: 40 }, (_, index) => `m${index}`);
    for (const [index, id] of ids.entries()) {
      lab.send('switch', { _msgid: id, payload: index % 3 === 0 ? 'bad' : index % 2 === 0 });
    }
    const last = (at: string, id: string) =>
      lab.arrivals.find(`${at} ${id}`, (arrival) => arrival.at === at && arrival.msg._msgid === id);
    for (const [index, id] of ids.entries()) await last(index % 3 === 0 ? 'caught' : 'completed', id);
    await new Promise(setImmediate);
    const count = (at: string) =>
      lab.arrivals.items.filter((arrival) => arrival.at === at).map(({ msg }) => msg._msgid);
    const bad = ids.filter((_, index) => index % 3 === 0);
    const good = ids.filter((_, index) => index % 3 !== 0);
    assert.deepEqual(count('caught'), bad);
    assert.deepEqual(count('completed'), good);
    assert.deepEqual(count('out'), good);
    assert.deepEqual(lab.posts().length, good.length);
  });

  it('switches on again after an off that was carried out, although its repeat on a fresh connection is refused', async () => {
    const cycle = { on: 'cycle', onType: 'action', delay: '1', delayType: 'num' };
    await lab.startSwitch({ ...outlet2, ...cycle }, { concurrency: 1 });
    await lab.out('switch', {});
    lab.service.next({ kind: 'reset', when: 'lost' }, { kind: 'answer', status: 401, json: {} });
    const failed = await lab.caught('switch', {});
    assert.equal(failed.error?.code, 'AUTH');
    const sent = lab.posts().map((request) => /"on":(true|false)/.exec(request)?.[1]);
    assert.deepEqual(sent, ['false', 'true', 'false', 'false', 'true']);
    assert.equal(lab.service.simulator.isOn(MAC, 2), true);
  });

  it('ends a cycle at once where the service is elsewhere, such as at https', async () => {
    await lab.startSwitch(outlet2);
    lab.service.always({ kind: 'redirect', to: 'https://strips.invalid/', status: 301 });
    const failed = await lab.caught('switch', { payload: 'cycle' });
    assert.match(String(failed.error?.message), /^Enter the final address of the service/);
    assert.equal(lab.posts().length, 1);
  });

  it('tells a Catch node the last known state, so that a dashboard can be put back', async () => {
    await lab.startSwitch(outlet2);
    await lab.out('switch', { payload: true });
    lab.service.next({
      kind: 'answer',
      status: 200,
      json: { success: false, results: [{ port: 2, ok: false }] },
    });
    const failed = await lab.caught('switch', { payload: 'off' });
    assert.equal(failed.error?.code, 'SWITCH_FAILED');
    assert.deepEqual(failed.strip, {
      mac: MAC,
      name: null,
      port: 2,
      outlet: null,
      requested: 'off',
      success: false,
      results: [{ port: 2, ok: false }],
      on: true,
    });
    assert.equal(failed.payload, 'off');
  });

  it('tells a Catch node the MAC as the service spells it, as in the answer of a command that succeeded', async () => {
    await lab.deploy([
      flowNode('switch', 'strip switch', { ...outlet2, mac: MAC.toLowerCase() }),
      flowNode('list', 'strip list'),
    ]);
    await lab.out('list', {});
    const answer = await lab.out('switch', { payload: { on: true } });
    const failed = await lab.caught('switch', { payload: 'maybe' });
    const macs = [answer.payload, answer.strip, failed.strip].map((each) => (each as { mac: string }).mac);
    assert.deepEqual(macs, [MAC, MAC, MAC]);
  });

  it('does not call an outlet switched of which the answer also says that it failed', async () => {
    await lab.startSwitch(outlet2);
    const results = [
      { port: 2, ok: true },
      { port: 2, ok: false },
    ];
    lab.service.next({ kind: 'answer', status: 200, json: { success: true, results } });
    const failed = await lab.caught('switch', { payload: true });
    assert.equal(
      failed.error?.message,
      `Check the strip and try again: the service did not switch outlet 2 of ${MAC}.`,
    );
  });

  for (const [what, first] of [
    ['had no answer', { kind: 'hang' }],
    ['may have been carried out', { kind: 'answer', status: 502, json: {} }],
    ['was lost on a connection that had gone stale', { kind: 'reset', when: 'lost' }],
  ] as const) {
    it(`does not say that nothing was switched where an attempt ${what} and the next one is refused`, async () => {
      await lab.startSwitch(outlet2, { retryFor: '30', timeout: '1000', concurrency: 1 });
      await lab.out('switch', { payload: false });
      const json = { success: false, results: [{ port: 2, ok: false }] };
      lab.service.next(first, { kind: 'answer', status: 200, json });
      const failed = await lab.caught('switch', { payload: true });
      assert.equal(failed.error?.code, 'SWITCH_FAILED');
      assert.equal(
        failed.error.message,
        `Check outlet 2 of ${MAC}: the service says that the last attempt failed, but an earlier one may have been carried out.`,
      );
      assert.deepEqual((failed.strip as { results: unknown }).results, json.results);
    });
  }

  it('makes one error of an array of which any failed, with every outcome', async () => {
    await lab.startSwitch();
    lab.service.next(null, { kind: 'answer', status: 404, json: {} });
    const failed = await lab.caught('switch', {
      payload: [
        { port: 1, on: true, mac: MAC },
        { port: 2, on: 'on', mac: OTHER_MAC },
        { port: 3, on: true, mac: MAC },
      ],
    });
    assert.equal(failed.error?.code, 'SWITCH_FAILED');
    assert.equal(
      failed.error.message,
      'See msg.strip for the result of each command: 1 of 3 failed (outlet 2 of Media strip NOT_FOUND).',
    );
    const strips = failed.strip as { port: number; success: boolean; requested: unknown; on: unknown }[];
    assert.deepEqual(
      strips.map(({ port, success, requested, on }) => [port, success, requested, on]),
      [
        [1, true, true, true],
        [2, false, 'on', false],
        [3, true, true, true],
      ],
    );
    assert.equal(lab.posts().length, 3);
  });

  it('says that the base URL is wrong where the service knows neither the strip nor a list', async () => {
    await lab.startSwitch(outlet2);
    lab.service.always({ kind: 'answer', status: 404, json: {} });
    const failed = await lab.caught('switch', { payload: true });
    assert.equal(failed.error?.code, 'NOT_FOUND');
    assert.match(String(failed.error.message), /^Check the account's base URL/);
  });

  it('calls nothing a redirect that names no other address', async () => {
    await lab.startSwitch(outlet2);
    lab.service.next({ kind: 'answer', status: 304 });
    const failed = await lab.caught('switch', { payload: true });
    assert.equal(failed.error?.code, 'BAD_RESPONSE');
    assert.match(String(failed.error.message), /answered with status 304, which is neither an answer nor/);
  });

  const failures: [string, string, Parameters<Lab['service']['next']>[0], RegExp, string][] = [
    [
      'rejects the key',
      'AUTH',
      { kind: 'answer', status: 401, json: {} },
      /rejected the API key/,
      'red ring auth',
    ],
    [
      'does not know the strip',
      'NOT_FOUND',
      { kind: 'answer', status: 404, json: {} },
      /does not know Desk strip/,
      'red ring notFound',
    ],
    [
      'asks to wait',
      'RATE_LIMITED',
      { kind: 'answer', status: 429, headers: { 'retry-after': '7' }, json: {} },
      /\b7 s/,
      'yellow ring rateLimited',
    ],
    ['does not answer', 'TIMEOUT', { kind: 'hang' }, /did not answer within 1 s/, 'red ring timeout'],
    [
      'breaks the connection off',
      'UNREACHABLE',
      { kind: 'reset', when: 'before' },
      /broke off/,
      'red ring unreachable',
    ],
    [
      'cannot carry it out',
      'SERVICE',
      { kind: 'answer', status: 503, json: {} },
      /failed \(status 503\)/,
      'red ring service',
    ],
    [
      'answers with a web page',
      'BAD_RESPONSE',
      { kind: 'html' },
      /web page instead of JSON/,
      'red ring badResponse',
    ],
    [
      'breaks its answer off',
      'BAD_RESPONSE',
      { kind: 'truncated' },
      /broke off before its end/,
      'red ring badResponse',
    ],
    [
      'answers at too great a length',
      'BAD_RESPONSE',
      { kind: 'oversized', bytes: 2_000_000, declared: true },
      /larger than 1 MiB/,
      'red ring badResponse',
    ],
    [
      'says that it did not switch',
      'SWITCH_FAILED',
      { kind: 'answer', status: 200, json: { success: false } },
      /did not switch/,
      'red ring switchFailed',
    ],
  ];
  for (const [does, code, fault, sentence, status] of failures) {
    it(`says ${code} when the service ${does}, and goes on with the next message`, async () => {
      await lab.startSwitch(outlet2, { timeout: code === 'TIMEOUT' ? '1000' : '30000' });
      lab.service.next(fault);
      const failed = await lab.caught('switch', { payload: true });
      assert.equal(failed.error?.code, code);
      assert.match(String(failed.error.message), sentence);
      assert(!JSON.stringify(failed).includes(lab.service.apiKey));
      assert.equal(lab.statuses('switch').at(-1), status);
      if (code !== 'RATE_LIMITED') assert.equal((await lab.out('switch', { payload: false })).payload, false);
    });
  }

  it('says that it is retrying, and in the end what came of it', async () => {
    await lab.startSwitch(outlet2, { retryFor: '30' });
    lab.service.next({ kind: 'answer', status: 503, json: {} });
    assert.equal((await lab.out('switch', { payload: true })).payload, true);
    const statuses = lab.statuses('switch');
    assert(statuses.includes('yellow ring retrying5xx'), String(statuses));
    assert.equal(statuses.at(-1), 'green dot on');
  });

  it('is not silent about a retry: one warning when it begins, with the reason, and one when it is over', async () => {
    await lab.startSwitch(outlet2, { retryFor: '30' });
    const refused = { kind: 'answer', status: 503, json: {} } as const;
    lab.service.next(refused, refused);
    assert.equal((await lab.out('switch', { payload: true })).payload, true);
    await until('the second warning', () => lab.said('account', 'warn').length === 2);
    const [first, second] = lab.said('account', 'warn').map(String);
    assert.match(first ?? '', /^Commands are being retried\. Try again later: .* \(status 503\)\.$/);
    assert.equal(second, 'Commands are no longer being retried.');
  });

  it('warns once of rate limits that come back with every command', async () => {
    await lab.startSwitch(outlet2, { retryFor: '30' });
    for (const payload of [true, false]) {
      lab.service.next({ kind: 'answer', status: 429, headers: { 'retry-after': '1' }, json: {} });
      assert.equal((await lab.out('switch', { payload })).payload, payload);
    }
    const limited = lab.said('account', 'warn').filter((text) => String(text).includes('asked for a pause'));
    assert.deepEqual(limited, [
      'The service asked for a pause: for 1 s, commands are sent only occasionally.',
    ]);
  });

  it('warns once of a protected outlet that the service does not list', async () => {
    const gone = { mac: 'A1B2C3D4E5FF', port: 3 };
    const outletNames = [
      { mac: MAC, port: 2, name: 'Lamp' },
      { ...gone, name: 'Fan' },
    ];
    await lab.deploy([
      lab.account({ protectedOutlets: [gone], outletNames }),
      flowNode('list', 'strip list'),
      flowNode('switch', 'strip switch', outlet2),
    ]);
    await lab.out('list', {});
    await lab.out('list', {});
    assert.deepEqual(
      lab.said('account', 'warn').map((text) => String(text).split(':')[0]),
      ['Check the protected outlets in the account', 'Check the outlet names in the account'],
    );
    const { strip } = await lab.out('switch', { payload: true });
    assert.equal((strip as { outlet: unknown }).outlet, 'Lamp');
  });

  it('names strip and outlet in the sentence of an error', async () => {
    const account = {
      outletNames: [{ mac: MAC, port: 2, name: 'Lamp' }],
      protectedOutlets: [{ mac: MAC, port: 2 }],
    };
    await lab.startSwitch(outlet2, account);
    const failed = await lab.caught('switch', { payload: false });
    assert.equal(
      failed.error?.message,
      `Remove Lamp (outlet 2 of ${MAC}) from the account's protected outlets to switch it off: it is protected.`,
    );
    assert.equal((failed.strip as { outlet: unknown }).outlet, 'Lamp');
  });

  it('says SUPERSEDED where a newer message took its place in an outage', async () => {
    await lab.startSwitch(outlet2, { retryFor: '30' });
    lab.service.always({ kind: 'answer', status: 503, json: {} });
    lab.send('switch', { _msgid: 'old', payload: true });
    await until('a retry', () => lab.statuses('switch').includes('yellow ring retrying5xx'));
    const after = lab.arrivals.mark;
    const { at, msg } = await lab.ask('switch', { _msgid: 'new', payload: false });
    assert.deepEqual([at, msg._msgid, msg.error?.code], ['caught', 'old', 'SUPERSEDED']);
    lab.service.always(null);
    const last = await lab.arrivals.find('answer', (arrival) => arrival.at === 'out', { after });
    assert.deepEqual([last.msg._msgid, last.msg.payload], ['new', false]);
    assert.equal(lab.service.simulator.isOn(MAC, 2), false);
    assert.equal(lab.statuses('switch').at(-1), 'grey ring off');
  });
});
