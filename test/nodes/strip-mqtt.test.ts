import assert from 'node:assert/strict';
import type { NodeMessage } from 'node-red';
import { until } from '../support/until';
import { flowNode, helperNode, Lab, MAC, OTHER_MAC } from './lab';

describe('the strip mqtt node', () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await Lab.start({ shape: 'measured' });
  });
  afterEach(() => lab.stop());
  const bridge = (more: object = {}) => flowNode('bridge', 'strip mqtt', more);
  const published = () =>
    lab.arrivals.items
      .filter(({ at }) => at === 'out')
      .map(({ msg: { topic, payload } }) => `${String(topic)} ${String(payload)}`);
  const topicOf = (what: string | number, mac = MAC) => `smart-strip/${mac}/${what}`;
  /** Waits until everything has been published. */
  const deploy = async (more: object = {}, account: object = {}) => {
    await lab.deploy([lab.account(account), bridge(more)]);
    await until('the last state', () => published().includes(`${topicOf('available', OTHER_MAC)} online`));
  };

  it('publishes every strip, and shows how many there are', async () => {
    await deploy();
    assert.equal(published().length, 2 * 9);
    assert.ok(published().includes(`${topicOf(1)} OFF`));
    assert.equal(lab.statuses('bridge').at(-1), 'green dot 2');
    const [first] = lab.arrivals.items;
    const { topic, payload, qos, retain } = { ...first?.msg } as Record<string, unknown>;
    assert.equal(topic, `homeassistant/device/smart_strip_${MAC}/config`);
    assert.equal(typeof payload, 'string');
    assert.deepEqual({ qos, retain }, { qos: 1, retain: true });
  });

  it('names the version of the package in discovery', async () => {
    await deploy();
    const [first = ''] = published();
    const { origin } = JSON.parse(first.slice(first.indexOf('{'))) as { origin: Record<string, string> };
    assert.match(origin.sw_version ?? '', /^\d+\.\d+\.\d+/);
  });

  it('carries out a command, and is done with it once', async () => {
    await deploy();
    lab.send('bridge', { topic: topicOf('2/set'), payload: 'ON' });
    await until('the state', () => published().includes(`${topicOf(2)} ON`));
    assert.deepEqual(lab.posts(), [`POST /strips/${MAC}/switch {"port":2,"on":true}`]);
    assert.equal(lab.arrivals.items.filter(({ at }) => at === 'completed').length, 1);
    assert.equal(lab.arrivals.items.filter(({ at }) => at === 'caught').length, 0);
  });

  it('carries out a command for a strip that may be on a further page of the list', async () => {
    const json = { strips: [{ mac: OTHER_MAC, outlets: [{ port: 1, on: true }] }], next: '/strips?page=2' };
    lab.service.next({ kind: 'answer', status: 200, json });
    await lab.deploy([lab.account(), bridge({ readings: false })]);
    await until('the list', () => published().includes(`${topicOf('available', OTHER_MAC)} online`));
    lab.send('bridge', { topic: topicOf('2/set'), payload: 'ON' });
    await until('the state', () => published().includes(`${topicOf(2)} ON`));
    assert.deepEqual(lab.posts(), [`POST /strips/${MAC}/switch {"port":2,"on":true}`]);
    assert.equal(lab.arrivals.items.filter(({ at }) => at === 'caught').length, 0);
  });

  it('ends a failed command in one error that names the outlet and its true state', async () => {
    await deploy({}, { protectedOutlets: [{ mac: MAC, port: 2 }] });
    const { error, strip } = await caughtFrom({ topic: topicOf('2/set'), payload: 'off' });
    assert.equal(error?.code, 'PROTECTED');
    assert.deepEqual(
      { ...(strip as object), name: '' },
      { mac: MAC, name: '', port: 2, outlet: null, requested: 'off', success: false, results: [], on: false },
    );
    assert.deepEqual(lab.posts(), []);
  });

  it('ends an unusable command in one error that names the outlet, and sends its state again', async () => {
    await deploy();
    const sent = published().length;
    const { error, strip } = await caughtFrom({ topic: topicOf('2/set'), payload: '{"state":"ON"}' });
    assert.equal(error?.code, 'INVALID_INPUT');
    const { mac, port, on } = strip as Record<string, unknown>;
    assert.deepEqual({ mac, port, on }, { mac: MAC, port: 2, on: false });
    await until('the state', () => published().length > sent);
    assert.deepEqual(published().slice(sent), [`${topicOf(2)} OFF`]);
  });

  const caughtFrom = async (msg: NodeMessage) => {
    const after = lab.arrivals.mark;
    lab.send('bridge', msg);
    return (await lab.arrivals.find('error', ({ at }) => at === 'caught', { after })).msg;
  };

  it('refuses what is none of its topics, and says which they are', async () => {
    await lab.deploy([bridge({ topic: 'home/strips' })]);
    await until('status', () => lab.statuses('bridge').includes('green dot 2'));
    const { error } = await caughtFrom({ topic: 'elsewhere', payload: 'ON' });
    assert.equal(error?.code, 'INVALID_INPUT');
    assert.match(error.message ?? '', /home\/strips\/\+\/\+\/set.*"elsewhere"/);
  });

  it('warns of a retained command once, and is done with it', async () => {
    await deploy();
    for (let n = 0; n < 2; n++) lab.send('bridge', { topic: topicOf('1/set'), payload: 'ON', retain: true });
    await until('both', () => lab.arrivals.items.filter(({ at }) => at === 'completed').length === 2);
    assert.equal(lab.said('bridge', 'warn').length, 1);
    assert.deepEqual(lab.posts(), []);
  });

  it('keeps what it logs of a topic on one line', async () => {
    await deploy();
    const topic = topicOf('1/set').replace('/1/', '\n\u001b[31m[error] forged/1/');
    lab.send('bridge', { topic, payload: 'ON', retain: true });
    await until('it', () => lab.arrivals.items.some(({ at }) => at === 'completed'));
    assert.match(lab.said('bridge', 'warn').join(), /forged/);
    assert.doesNotMatch(lab.said('bridge', 'warn').join(), /\p{Cc}/u);
  });

  it('ends what waits with CLOSED when it is redeployed, and sends nothing any more', async () => {
    await deploy();
    const release = lab.service.hold();
    lab.send('bridge', { topic: topicOf('1/set'), payload: 'ON' });
    lab.send('bridge', { topic: topicOf('1/set'), payload: 'OFF' });
    await until('the request', () => lab.posts().length === 1);
    const sent = published().length;
    const nodes = [lab.account(), bridge({ name: 'other', wires: [['later']] }), helperNode('later')];
    await lab.redeploy(nodes, 'nodes');
    await until('both', () => lab.arrivals.items.filter(({ at }) => at === 'caught').length === 2);
    const codes = lab.arrivals.items.filter(({ at }) => at === 'caught').map(({ msg }) => msg.error?.code);
    assert.deepEqual(codes, ['CLOSED', 'CLOSED']);
    const heard: unknown[] = [];
    lab.node('later').on('input', ({ topic, payload }) => heard.push(`${String(topic)} ${String(payload)}`));
    release();
    await until('the state that was switched', () => heard.includes(`${topicOf(1)} ON`));
    assert.equal(published().length, sent);
  });

  it('calls its strips unavailable where its account can no longer be used, until it can', async () => {
    await deploy();
    const offline = [MAC, OTHER_MAC].map((mac) => `${topicOf('available', mac)} offline`);
    for (const [account, unknown] of [
      [lab.account({ baseUrl: '' }), 'A1B2C3D4E5F8'],
      [lab.account({ d: true }), 'A1B2C3D4E5F9'],
    ] as const) {
      let sent = published().length;
      await lab.redeploy([account, bridge()], 'nodes');
      await until('both', () => published().length === sent + 2);
      assert.deepEqual(published().slice(sent).sort(), offline);
      assert.equal(lab.statuses('bridge').at(-1), 'red ring notConfigured');
      assert.equal(
        (await caughtFrom({ topic: topicOf('1/set'), payload: 'ON' })).error?.code,
        'NOT_CONFIGURED',
      );
      // The broker was away, and has kept a strip that this node does not know.
      sent = published().length;
      lab.send('bridge', { topic: 'smart-strip/bridge', payload: 'online' });
      lab.send('bridge', { topic: topicOf('available', unknown), payload: 'online', retain: true });
      await until('all', () => published().length >= sent + 3);
      assert.ok(
        published()
          .slice(sent)
          .every((text) => text.endsWith('/available offline')),
      );
      await lab.redeploy([lab.account(), bridge()], 'nodes');
      sent = published().length;
      await until('the last state', () =>
        published()
          .slice(sent)
          .includes(`${topicOf('available', OTHER_MAC)} online`),
      );
    }
  });

  it('forgets what a removed node has published when a hundred others were closed since', async () => {
    await deploy();
    const others = Array.from({ length: 100 }, (_, index) => flowNode(`other-${index}`, 'strip mqtt'));
    await lab.redeploy([lab.account(), ...others], 'full');
    await until('the last node', () => lab.statuses('other-99').at(-1) === 'green dot 2');
    const sent = published().length;
    // Each of them calls the strips that it remembers unavailable.
    await lab.redeploy([lab.account({ baseUrl: '' }), bridge(), flowNode('other-99', 'strip mqtt')], 'full');
    for (const id of ['bridge', 'other-99']) {
      await until('status', () => lab.statuses(id).at(-1) === 'red ring notConfigured');
    }
    await until('the strips', () => published().length >= sent + 2);
    assert.equal(published().length, sent + 2);
  });

  for (const [what, more, account] of [
    ['a topic with a wildcard', { topic: 'a/#' }, {}],
    ['a variable that is not set', { discovery: '${NO_SUCH_VARIABLE}' }, {}],
    ['a variable that is not set for its readings', { readings: '${NO_SUCH_VARIABLE}' }, {}],
    ['no account', { account: '' }, {}],
    ['an account without a base URL', {}, { baseUrl: '' }],
  ] as const) {
    it(`says what is wrong with ${what}, and so does every message`, async () => {
      await lab.deploy([lab.account(account), bridge(more)]);
      await until('status', () => lab.statuses('bridge').includes('red ring notConfigured'));
      const [logged, ...others] = lab.said('bridge', 'warn').map(String);
      assert.deepEqual(others, []);
      const { error } = await caughtFrom({ topic: topicOf('1/set'), payload: 'ON' });
      assert.equal(error?.code, 'NOT_CONFIGURED');
      assert.ok(logged?.includes(error.message ?? '?'), error.message);
      assert.deepEqual(published(), []);
    });
  }
});
