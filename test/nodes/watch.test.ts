import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import { systemClock } from '../../src/api/types';
import { FastClock } from '../support/fake-clock';
import type { Fault } from '../support/service';
import { until } from '../support/until';
import { flowNode, helperNode, Lab, MAC, OTHER_MAC, outlet2 } from './lab';

describe('the strip watch node', () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await Lab.start({ shape: 'measured' });
  });
  let restoreClock: (() => void) | null = null;
  afterEach(async () => {
    await lab.stop();
    restoreClock?.();
    restoreClock = null;
  });
  /** Until the end of the test, the nodes' clock runs fast. For tests that need a second poll, which the shortest interval delays by seconds. */
  const hurry = () => {
    const clock = new FastClock(20);
    const real = { ...systemClock };
    systemClock.monotonic = clock.monotonic;
    systemClock.wall = clock.wall;
    systemClock.setTimeout = (callback, ms) => clock.setTimeout(callback, ms);
    systemClock.clearTimeout = (timer) => clock.clearTimeout(timer);
    restoreClock = () => Object.assign(systemClock, real);
  };
  const watch = (more: object = {}) => flowNode('watch', 'strip watch', more);
  const told = () =>
    lab.arrivals.items
      .filter(({ at }) => at === 'out')
      .map(({ msg: { topic, payload } }) => `${String(topic)} ${JSON.stringify(payload)}`);
  const polled = () => until('the first poll', () => lab.statuses('watch').length > 0);
  const reread = async () => {
    const after = lab.arrivals.mark;
    lab.send('list', {});
    await lab.arrivals.find('list', ({ at }) => at === 'completed', { after });
  };
  const list = flowNode('list', 'strip list', { wires: [[]] });

  it('sends nothing about what did not change', async () => {
    await lab.deploy([watch({ availability: true, readings: true }), list]);
    await polled();
    await reread();
    assert.deepEqual(told(), []);
    assert.deepEqual(lab.statuses('watch'), ['green dot watching']);
  });

  it('sends what is known at the start, once it is known', async () => {
    await lab.deploy([watch({ initial: true, mac: MAC, availability: true })]);
    await polled();
    assert.deepEqual(
      told().sort(),
      [
        ...[1, 2, 3, 4].map((port) => `${MAC}/${port} false`),
        `${MAC}/available true`,
        'account/available true',
      ].sort(),
    );
    const first = lab.arrivals.items.find(({ msg }) => msg.topic === `${MAC}/1`);
    assert.equal((first?.msg.strip as { previous: unknown }).previous, null);
  });

  it('sends one message for a change of our own, and none when the service confirms it', async () => {
    await lab.deploy([
      watch({ output: 'port-on' }),
      list,
      flowNode('switch', 'strip switch', { wires: [[]] }),
    ]);
    await polled();
    lab.send('switch', { payload: { mac: MAC, port: 3, on: true } });
    const { msg } = await lab.arrivals.find('change', ({ at }) => at === 'out');
    assert.equal(msg.topic, `${MAC}/3`);
    assert.deepEqual(msg.payload, { mac: MAC, port: 3, on: true });
    assert.equal((msg.strip as { previous: unknown }).previous, false);
    assert.equal(typeof msg._msgid, 'string');
    await reread();
    assert.equal(told().length, 1);
  });

  it('sends changes that others made, readings and availability, for what it watches', async () => {
    await lab.deploy([
      watch({ mac: MAC.toLowerCase(), port: '2', availability: true, readings: true, change: '5' }),
      list,
    ]);
    await polled();
    const { simulator } = lab.service;
    simulator.apply({ mac: MAC, port: 1, on: true });
    simulator.apply({ mac: MAC, port: 2, on: true });
    simulator.apply({ mac: OTHER_MAC, port: 2, on: true });
    simulator.apply({ mac: MAC, readings: { voltage: 251 } });
    simulator.apply({ mac: MAC, readings: { signal: 0 } });
    await reread();
    // Less than the smallest change.
    simulator.apply({ mac: MAC, readings: { voltage: 255 } });
    await reread();
    assert.equal(lab.statuses('watch').at(-1), 'green dot on');
    simulator.apply({ mac: MAC, available: false });
    await reread();
    assert(told().includes(`${MAC}/2 true`), String(told()));
    assert.deepEqual(
      told().filter((line) => line.startsWith(`${MAC}/voltage`)),
      [`${MAC}/voltage 251`],
    );
    assert(
      !told().some((line) => line.startsWith(`${MAC}/1 `) || line.startsWith(OTHER_MAC)),
      String(told()),
    );
    assert.equal(told().at(-1), `${MAC}/available false`);
    assert.equal(lab.statuses('watch').at(-1), 'red ring unavailable');
  });

  it('takes no strip for unavailable that is missing from an empty page of a list', async () => {
    await lab.deploy([watch({ mac: MAC, port: '2', availability: true }), list]);
    await polled();
    for (const paging of [{ page: 1 }, { total: 2 }, { partial: true }]) {
      lab.service.next({ kind: 'answer', status: 200, json: { strips: [], ...paging } });
      await reread();
    }
    assert.deepEqual(told(), []);
    assert.deepEqual(lab.statuses('watch'), ['grey ring off']);
    assert.deepEqual(lab.said('account', 'warn'), []);
    lab.service.next({ kind: 'answer', status: 200, json: { strips: [], success: false } });
    await reread();
    assert.deepEqual(told(), [`${MAC}/available false`], 'there is no list where the service failed');
  });

  it('shows that outlets have become unknown, and sends no message for it', async () => {
    await lab.deploy([watch({ mac: MAC }), list]);
    const outlets = (...on: (boolean | null)[]) => on.map((state, index) => ({ port: index + 1, on: state }));
    const answer = (...on: (boolean | null)[]) =>
      lab.service.always({ kind: 'answer', status: 200, json: [{ mac: MAC, outlets: outlets(...on) }] });
    answer(true, true, true, true);
    await polled();
    await reread();
    await until('all on', () => lab.statuses('watch').at(-1) === 'green dot on4of4');
    const before = told().length;
    answer(true, null, null, null);
    await reread();
    await until('the rest unknown', () => lab.statuses('watch').at(-1) === 'yellow ring on1unknown');
    answer(true, true, true, true);
    await reread();
    await until('all on again', () => lab.statuses('watch').at(-1) === 'green dot on4of4');
    answer(true);
    await reread();
    await until('the rest not told', () => lab.statuses('watch').at(-1) === 'yellow ring on1unknown');
    assert.equal(told().length, before);
  });

  it('shows in the status an outlet that becomes known only later, and sends no message for it', async () => {
    await lab.deploy([watch({ mac: MAC }), list]);
    const answer = (on: boolean | null) =>
      lab.service.always({
        kind: 'answer',
        status: 200,
        json: [
          {
            mac: MAC,
            outlets: [
              { port: 1, on },
              { port: 2, on: true },
            ],
          },
        ],
      });
    answer(null);
    await polled();
    await reread();
    await until('one unknown', () => lab.statuses('watch').at(-1) === 'yellow ring on1unknown');
    answer(true);
    await reread();
    await until('both on', () => lab.statuses('watch').at(-1) === 'green dot on2of2');
    assert.deepEqual(told(), []);
  });

  it('makes one request for all nodes of an account', async () => {
    const many = Array.from({ length: 20 }, (_, index) =>
      flowNode(`watch${index}`, 'strip watch', { initial: true }),
    );
    await lab.deploy([...many, watch()]);
    await polled();
    await until('all messages', () => told().length === 160);
    assert.deepEqual(lab.requests(), ['GET /strips']);
  });

  it('says that the service refuses to list as long as it does, although commands succeed', async () => {
    await lab.stop();
    const refused = { kind: 'answer', status: 403, json: {} } as const;
    lab = await Lab.start({ faultOf: (path) => (path.endsWith('/strips') ? refused : null) });
    await lab.deploy([
      watch({ availability: true, initial: true }),
      flowNode('switch', 'strip switch', { ...outlet2, wires: [['done']] }),
    ]);
    await until('the refusal', () => told().includes('account/available false'));
    lab.send('switch', { payload: true });
    await until('the switch', () => told().includes(`${MAC}/2 true`));
    assert.ok(!told().some((text) => text.endsWith('available true')), told().join());
    assert.equal(lab.statuses('watch').at(-1), 'red ring auth');
  });

  it('shows in the status, and says once in the log, that the service cannot be asked, and that it can again', async () => {
    hurry();
    lab.service.always({ kind: 'answer', status: 401, json: {} });
    await lab.deploy([watch({ availability: true, initial: true }), list]);
    await polled();
    assert.equal(lab.statuses('watch').at(-1), 'red ring auth');
    await until('a warning', () => lab.said('account', 'warn').length > 0);
    assert.deepEqual(told(), ['account/available false']);
    assert.equal((await lab.caught('list', {})).error?.code, 'AUTH');
    lab.service.always(null);
    await reread();
    await until('availability', () => told().includes('account/available true'));
    await until('the next poll', () => lab.said('account', 'warn').length > 1);
    const [failing, ...others] = lab.said('account', 'warn').map(String);
    assert.match(failing ?? '', /^Changes are not detected at the moment\. .* rejected the API key/);
    assert.deepEqual(others, ['The service answers again: changes are detected as before.']);
    assert(!JSON.stringify(lab.said('account', 'warn')).includes(lab.service.apiKey));
    assert.equal(lab.statuses('watch').at(-1), 'green dot watching');
    assert.deepEqual(
      lab.arrivals.items.filter(({ at, msg }) => at === 'caught' && msg.error?.code !== 'AUTH'),
      [],
    );
  });

  it('says once in the log that readings cannot be had, and that they can again', async () => {
    await lab.stop();
    hurry();
    let fault: Fault | null = { kind: 'answer', status: 500, json: {} };
    lab = await Lab.start({ faultOf: (path) => (path.endsWith('/strips') ? null : fault) });
    await lab.deploy([lab.account({ interval: '5' }), watch({ readings: true })]);
    await until('the first poll', () => lab.said('account', 'warn').length > 0);
    fault = null;
    await until('the next poll', () => lab.said('account', 'warn').length > 1);
    const [failing, ...others] = lab.said('account', 'warn').map(String);
    assert.match(failing ?? '', /^Load, voltage and signal cannot be read at the moment\. .*\(status 500\)/);
    assert.deepEqual(others, ['Load, voltage and signal can be read again.']);
  });

  it('reads the strip from an environment variable', async () => {
    process.env.TEST_WATCHED = OTHER_MAC;
    await lab.deploy([watch({ mac: 'TEST_WATCHED', macType: 'env', port: '4', initial: true })]);
    delete process.env.TEST_WATCHED;
    await polled();
    assert.deepEqual(told(), [`${OTHER_MAC}/4 false`]);
  });

  for (const [what, config] of [
    ['an account', { account: 'nobody' }],
    ['an account', { account: { hostile: true } }],
    ['a variable that is set', { mac: 'TEST_NOT_SET', macType: 'env' }],
    ['a variable that is set, as older flows write it', { mac: '$(TEST_NOT_SET)', macType: 'str' }],
    ['a variable that is set for what it tells', { readings: '${TEST_NOT_SET}' }],
    ['a variable that is set for the smallest change', { change: '${TEST_NOT_SET}' }],
    ['a smallest change that is a number', { change: '5 W' }],
    ['a yes or no to what it tells', { readings: 'yes' }],
    ['a known way to say which strip', { mac: MAC, macType: 'msg' }],
    ['an outlet that there is', { port: '9' }],
    ['a text for the strip', { mac: {} }],
    ['a text for the outlet', { port: [2] }],
  ] as const) {
    it(`lacks ${what} without keeping the flow from starting`, async () => {
      await lab.deploy([watch(config), list]);
      await until('a status', () => lab.statuses('watch').length > 0);
      assert.deepEqual(lab.statuses('watch'), ['red ring notConfigured']);
      assert.equal(lab.said('watch', 'warn').length, 1);
      await reread();
      assert.deepEqual(lab.requests(), ['GET /strips']);
    });
  }

  it('sends that the account is not available if it cannot be used', async () => {
    await lab.deploy([watch({ account: 'nobody', availability: true, initial: true })]);
    await until('a message', () => told().length > 0);
    assert.deepEqual(told(), ['account/available false']);
    assert.deepEqual(lab.statuses('watch'), ['red ring notConfigured']);
  });

  it('sends only once that the account cannot be used, also if other nodes are deployed later', async () => {
    const unusable = watch({ account: 'nobody', availability: true, initial: true });
    await lab.deploy([unusable, list]);
    await until('a message', () => told().length > 0);
    await lab.redeploy([unusable, list, helperNode('other')], 'nodes');
    await reread();
    assert.deepEqual(told(), ['account/available false']);
    assert.deepEqual(lab.statuses('watch'), ['red ring notConfigured']);
    assert.equal(lab.said('watch', 'warn').length, 1);
  });

  it('sends what is known to a node deployed later, when all nodes are there to receive it', async () => {
    await lab.deploy([watch(), list]);
    await polled();
    const late = flowNode('late', 'strip watch', { mac: MAC, port: '1', initial: true, wires: [['later']] });
    const heard: unknown[] = [];
    await lab.redeploy([watch(), late, list, helperNode('later')], 'nodes');
    lab.node('later').on('input', (msg) => heard.push(msg.topic));
    await until('the first message', () => heard.length > 0);
    assert.deepEqual(heard, [`${MAC}/1`]);
  });

  it('sends what is known only once, also if other nodes are deployed later', async () => {
    const known = watch({ mac: MAC, port: '1', initial: true });
    await lab.deploy([known, list]);
    await until('the first message', () => told().length > 0);
    await lab.redeploy([known, list, helperNode('other')], 'nodes');
    await reread();
    assert.equal(told().length, 1);
  });

  it('sends to a node deployed while an outlet is unknown what the outlet is, once that is known again', async () => {
    const answer = (on: boolean | null) =>
      lab.service.always({ kind: 'answer', status: 200, json: [{ mac: MAC, outlets: [{ port: 1, on }] }] });
    answer(true);
    await lab.deploy([watch(), list]);
    await polled();
    answer(null);
    await reread();
    const late = flowNode('late', 'strip watch', { mac: MAC, port: '1', initial: true, wires: [['later']] });
    const heard: unknown[] = [];
    await lab.redeploy([watch(), late, list, helperNode('later')], 'nodes');
    lab.node('later').on('input', ({ payload, strip }: { payload?: unknown; strip?: unknown }) => {
      heard.push([payload, (strip as { previous: unknown }).previous]);
    });
    await reread();
    assert.deepEqual(heard, []);
    answer(true);
    await reread();
    await until('the first message', () => heard.length > 0);
    assert.deepEqual(heard, [[true, null]]);
  });

  it('says nothing any more once it is closed', async () => {
    await lab.deploy([watch(), list]);
    await polled();
    const node = lab.node('watch');
    await lab.redeploy([list], 'nodes');
    assert.deepEqual(lab.said(node, 'status').at(-1), {});
    lab.service.simulator.apply({ mac: MAC, port: 1, on: true });
    await reread();
    assert.deepEqual(told(), []);
    assert.equal(helper.getNode('watch'), null);
  });
});
