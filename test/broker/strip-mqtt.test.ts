import assert from 'node:assert/strict';
import { discoveryProblems, isTopic } from '../support/home-assistant';
import { startMosquitto, type BrokerClient, type Mosquitto } from '../support/mosquitto';
import { startNodeRed, type FlowNode, type RunningNodeRed } from '../support/node-red';
import { requireProgram } from '../support/program';
import { API_KEY, STRIPS, startService, type TestService } from '../support/service';
import { bridgeFlow, completed, deployBridge, type BridgeFlowOptions } from '../support/mqtt-flow';

const [{ mac: MAC }, { mac: OTHER }] = STRIPS;
const NEW = 'A1B2C3D4E5F8';
const BRIDGE = 'smart-strip/bridge';
const discoveryOf = (mac: string) => `homeassistant/device/smart_strip_${mac}/config`;
const topicOf = (what: string | number, mac: string = MAC) => `smart-strip/${mac}/${what}`;

/** Lets all clocks of a Node-RED jump a day ahead when it gets a signal. */
const DAY_LATER = `
let ahead = 0;
const now = performance.now.bind(performance);
const wall = Date.now;
performance.now = () => now() + ahead;
Date.now = () => wall() + ahead;
process.on('SIGWINCH', () => {
  ahead += 25 * 3_600_000;
  console.log('1 Jan 00:00:00 - [info] a day later');
});`;

describe('strip mqtt with a real broker', () => {
  let broker: Mosquitto;
  let service: TestService;
  let red: RunningNodeRed;
  let client: BrokerClient;

  before(function () {
    requireProgram(this, 'mosquitto');
  });

  beforeEach(async () => {
    broker = await startMosquitto();
    service = await startService({ shape: 'measured' });
    red = await startNodeRed({ settings: { mqttReconnectTime: 300 }, settingsScript: DAY_LATER });
    client = await broker.client();
  });

  afterEach(async () => {
    await client.close();
    await red.kill();
    await service.close();
    await broker.stop();
  });

  const deploy = async (options: BridgeFlowOptions = {}, more: FlowNode[] = []) => {
    const { topic = 'smart-strip' } = options;
    const after = client.messages.mark;
    await deployBridge(red, service, [...bridgeFlow(broker.port, service, options), ...more], topic);
    await client.next(`${topic}/${OTHER}/available`, undefined, after);
  };
  /** The last message of all that are sent of the strips at once. */
  const whole = (after: number) => client.next(topicOf('available', OTHER), undefined, after);
  const posts = () => service.requests.filter(({ method }) => method === 'POST').map(({ body }) => body);
  /** What came on a topic since a mark. */
  const since = (after: number, topic: string) =>
    client.messages.items
      .slice(after)
      .filter((message) => message.topic === topic)
      .map(({ payload }) => payload);
  /** The next message that a node failed with. */
  const failed = async (after: number) =>
    (await red.debug('caught', after)) as { error: { code: string; message: string }; strip: unknown };
  /** From now on the service lists these strips, the outlets of each in these states. */
  const list = async (strips: Record<string, (boolean | string)[]>) => {
    const json = Object.entries(strips).map(([mac, states]) => ({
      mac,
      outlets: states.map((on, index) => ({ port: index + 1, on })),
      load: 5,
      voltage: 230,
      signal: -50,
    }));
    service.always({ kind: 'answer', status: 200, json: { strips: json } });
    await red.inject('list');
  };
  const OFF = [false, false, false, false];

  it('publishes discovery and all states, retained, with QoS 1', async () => {
    service.simulator.apply({ mac: MAC, port: 2, on: true });
    await deploy();
    const kept = await broker.retained();
    for (const { mac } of STRIPS) {
      assert.deepEqual(discoveryProblems(discoveryOf(mac), kept.get(discoveryOf(mac)) ?? ''), []);
      const ports = [1, 2, 3, 4].map((port) => kept.get(topicOf(port, mac)));
      assert.deepEqual(ports, mac === MAC ? ['OFF', 'ON', 'OFF', 'OFF'] : ['OFF', 'OFF', 'OFF', 'OFF']);
      assert.match(kept.get(topicOf('load', mac)) ?? '', /^[\d.]+$/);
    }
    assert.equal(kept.get(BRIDGE), 'online');
    assert.ok(client.messages.items.every(({ qos }) => qos === 1));
    assert.equal((await red.status('bridge', ({ text }) => text === '2')).fill, 'green');
  });

  it('publishes what is not known as None', async () => {
    await list({ [MAC]: [true, 'maybe', false, false], [OTHER]: OFF }).catch(() => undefined);
    await deploy();
    assert.equal(await client.next(topicOf(1)), 'ON');
    assert.equal(await client.next(topicOf(2)), 'None');
    const after = client.messages.mark;
    await list({ [MAC]: [true, true, 'maybe', false], [OTHER]: OFF });
    assert.equal(await client.next(topicOf(2), undefined, after), 'ON');
    assert.equal(await client.next(topicOf(3), undefined, after), 'None');
  });

  it('carries a command out and publishes the confirmed state, once', async () => {
    // No poll sees the new state before the command is answered.
    await deploy({ account: { interval: '86400' } });
    for (const [payload, state] of [
      ['ON', 'ON'],
      ['toggle', 'OFF'],
      ['true', 'ON'],
      ['on', 'ON'],
    ] as const) {
      const after = client.messages.mark;
      const comms = red.comms.mark;
      await client.publish(topicOf('3/set'), payload);
      assert.equal(await client.next(topicOf(3), undefined, after), state);
      await completed(red, topicOf('3/set'), comms);
      // A birth message is answered after everything that was to be sent before it.
      await client.publish('homeassistant/status', 'online');
      await whole(after);
      assert.deepEqual(since(after, topicOf(3)), [state, state]);
    }
    assert.equal(service.simulator.isOn(MAC, 3), true);
    assert.equal(posts().length, 4);
  });

  it('switches all outlets of a strip', async () => {
    await deploy();
    const after = client.messages.mark;
    await client.publish(topicOf('all/set'), 'ON');
    for (const port of [1, 2, 3, 4]) {
      await client.next(topicOf(port), (payload) => payload === 'ON', after);
    }
    assert.deepEqual(posts(), ['{"port":"all","on":true}']);
  });

  it('never shows a refused command as done, and sends the true state again', async () => {
    service.simulator.apply({ mac: MAC, port: 1, on: true });
    // A poll must not take the answer that is prepared for a command.
    await deploy({ account: { protectedOutlets: [{ mac: MAC, port: 1 }], interval: '86400' } });
    const after = client.messages.mark;
    const comms = red.comms.mark;
    await client.publish(topicOf('1/set'), 'OFF');
    assert.equal((await failed(comms)).error.code, 'PROTECTED');
    assert.equal(await client.next(topicOf(1), undefined, after), 'ON');
    assert.deepEqual(posts(), []);

    service.next({
      kind: 'answer',
      status: 200,
      json: { success: false, results: [{ port: 2, ok: false }] },
    });
    const second = red.comms.mark;
    await client.publish(topicOf('2/set'), 'ON');
    const { error, strip } = await failed(second);
    assert.equal(error.code, 'SWITCH_FAILED');
    assert.equal((strip as { on: unknown }).on, false);
    assert.equal(await client.next(topicOf(2), undefined, after), 'OFF');
    assert.ok(!since(after, topicOf(2)).includes('ON'));
  });

  it('drops a retained command with one warning, however often it comes back', async () => {
    const remembering = await startMosquitto({ memory: true });
    const reader = await remembering.client();
    try {
      await reader.publish(topicOf('1/set'), 'ON', { retain: true });
      await red.deploy(bridgeFlow(remembering.port, service));
      await reader.next(topicOf('signal', OTHER));
      await completed(red, BRIDGE);
      await remembering.kill();
      const comms = red.comms.mark;
      await remembering.restart();
      // Node-RED has subscribed again.
      await completed(red, BRIDGE, comms);
      await reader.publish(topicOf('2/set'), 'ON');
      await completed(red, topicOf('2/set'), comms);
    } finally {
      await reader.close();
      await remembering.stop();
    }
    assert.deepEqual(posts(), ['{"port":2,"on":true}']);
    const warnings = red.log.items.filter(({ text }) => text.includes(topicOf('1/set')));
    assert.equal(warnings.length, 1, JSON.stringify(warnings));
  });

  it('carries out a command with retain that arrives while it is connected, once', async () => {
    await deploy();
    const comms = red.comms.mark;
    await client.publish(topicOf('1/set'), 'ON', { retain: true });
    await completed(red, topicOf('1/set'), comms);
    const after = client.messages.mark;
    await red.deploy(bridgeFlow(broker.port, service));
    await whole(after);
    await red.log.find('a warning', ({ text }) => text.includes(topicOf('1/set')));
    assert.deepEqual(posts(), ['{"port":1,"on":true}']);
  });

  it('sends no request for garbage, and ends each with one error', async () => {
    await deploy();
    const comms = red.comms.mark;
    const garbage: [string, string][] = [
      [topicOf('1/set'), 'yes'],
      [topicOf('1/set'), ' '],
      [topicOf('1/set'), '{"on":true}'],
      [topicOf('1/set'), '\0'],
      [topicOf('5/set'), 'ON'],
      [topicOf('__proto__/set'), 'ON'],
      ['smart-strip/__proto__/1/set', 'ON'],
      [`smart-strip/${'x'.repeat(5000)}/1/set`, 'ON'],
      ['smart-strip/FFFFFFFFFFFF/1/set', 'ON'],
      [BRIDGE, 'perhaps'],
      ['homeassistant/status', 'ON'],
    ];
    for (const [topic, payload] of garbage) await client.publish(topic, payload);
    await red.comms.find('last error', ({ data }) => JSON.stringify(data).includes('homeassistant/status'), {
      after: comms,
    });
    const caught = red.comms.items
      .slice(comms)
      .filter(({ topic, data }) => topic === 'debug' && (data as { id: unknown }).id === 'caught');
    assert.equal(caught.length, garbage.length);
    assert.deepEqual(posts(), []);
    assert.deepEqual(
      service.requests.filter(({ path }) => !path.endsWith('/strips')),
      [],
    );
  });

  it('answers a birth message with discovery, then all states', async () => {
    await deploy();
    for (const topic of ['homeassistant/status', BRIDGE]) {
      const after = client.messages.mark;
      await client.publish(topic, 'online');
      await whole(after);
      const births = ['homeassistant/status', BRIDGE];
      const topics = client.messages.items
        .slice(after)
        .map((message) => message.topic)
        .filter((topic) => !births.includes(topic));
      assert.deepEqual(topics.slice(0, 2).sort(), [discoveryOf(MAC), discoveryOf(OTHER)]);
      assert.equal(topics.length, 2 + 2 * 8);
      assert.equal(new Set(topics).size, topics.length);
    }
  });

  it('says that it is online where the will of an older connection comes late', async () => {
    await deploy();
    const after = client.messages.mark;
    await client.publish(BRIDGE, 'offline', { retain: true });
    await client.next(BRIDGE, (payload) => payload === 'online', after);
  });

  it('publishes a change made elsewhere', async () => {
    await deploy();
    const after = client.messages.mark;
    service.simulator.apply({ mac: MAC, port: 4, on: true });
    assert.equal(await client.next(topicOf(4), undefined, after), 'ON');
    assert.deepEqual(since(after, topicOf(3)), []);
  });

  it('publishes a new strip, and one that vanishes as offline and not as off', async () => {
    await list({ [MAC]: [true, true, false, false], [OTHER]: OFF }).catch(() => undefined);
    await deploy();
    const after = client.messages.mark;
    await list({ [MAC]: [true, true, false, false], [OTHER]: OFF, [NEW]: [true, false, false, false] });
    await client.next(topicOf('available', NEW), (payload) => payload === 'online');
    const kept = await broker.retained();
    assert.deepEqual(discoveryProblems(discoveryOf(NEW), kept.get(discoveryOf(NEW)) ?? ''), []);
    await list({ [OTHER]: OFF });
    assert.equal(await client.next(topicOf('available'), (payload) => payload === 'offline'), 'offline');
    assert.deepEqual(since(after, topicOf(1)), []);
    assert.equal((await broker.retained()).get(topicOf(1)), 'ON');
  });

  /** Moves the clocks of Node-RED on, and waits until they are. */
  const letADayPass = async () => {
    const after = red.log.mark;
    process.kill(red.pid, 'SIGWINCH');
    await red.log.find('the day to pass', ({ text }) => text === 'a day later', { after });
  };

  it('leaves nothing retained of a strip that is forgotten', async () => {
    await list({ [MAC]: OFF, [OTHER]: OFF }).catch(() => undefined);
    await deploy();
    await list({ [OTHER]: OFF });
    await client.next(topicOf('available'), (payload) => payload === 'offline');
    await letADayPass();
    await red.inject('list');
    await client.next(topicOf('signal'), (payload) => payload === '');
    const kept = await broker.retained();
    assert.deepEqual(
      [...kept.keys()].filter((topic) => topic.includes(MAC)),
      [],
    );
    assert.ok(kept.has(discoveryOf(OTHER)));
  });

  it('publishes an outage as offline and never as off, and its end', async () => {
    service.simulator.apply({ mac: MAC, port: 1, on: true });
    await deploy();
    const after = client.messages.mark;
    await service.stopListening();
    for (const mac of [MAC, OTHER])
      await client.next(topicOf('available', mac), (p) => p === 'offline', after);
    assert.equal((await red.status('bridge', ({ fill }) => fill === 'red')).shape, 'ring');
    const middle = client.messages.mark;
    const comms = red.comms.mark;
    await client.publish(topicOf('1/set'), 'OFF');
    assert.equal((await failed(comms)).error.code, 'UNREACHABLE');
    assert.equal(await client.next(topicOf(1), undefined, middle), 'ON');
    await service.listenAgain();
    await red.inject('list');
    await client.next(topicOf('available'), (payload) => payload === 'online', middle);
    assert.ok(!since(after, topicOf(1)).includes('OFF'));
  });

  it('fills a broker again that was killed and forgot everything', async () => {
    await deploy();
    await broker.kill();
    service.simulator.apply({ mac: MAC, port: 2, on: true });
    await red.inject('list');
    const after = client.messages.mark;
    await broker.restart();
    assert.equal(await client.next(topicOf(2), undefined, after), 'ON');
    await whole(after);
    const kept = await broker.retained();
    assert.equal(kept.size, 1 + 2 * 9);
    assert.equal(kept.get(BRIDGE), 'online');
  });

  /** Calls `run` when another broker, one that remembers what it kept, has been told of all strips and was killed. */
  const withKilledBroker = async (run: (killed: Mosquitto, reader: BrokerClient) => Promise<void>) => {
    const remembering = await startMosquitto({ memory: true });
    const reader = await remembering.client();
    try {
      await red.deploy(bridgeFlow(remembering.port, service));
      await reader.next(topicOf('signal', OTHER));
      await remembering.kill();
      await run(remembering, reader);
    } finally {
      await reader.close();
      await remembering.stop();
    }
  };

  it('brings a broker up to date that was killed and remembers what it kept', async () => {
    await withKilledBroker(async (killed, reader) => {
      service.simulator.apply({ mac: MAC, port: 2, on: true });
      await red.inject('list');
      await killed.restart();
      assert.equal(await reader.next(topicOf(2), (payload) => payload === 'ON'), 'ON');
      assert.equal((await killed.retained()).get(topicOf(2)), 'ON');
    });
  });

  it('says offline after a deploy with another account that does not answer, also where the broker was away', async () => {
    await withKilledBroker(async (killed, reader) => {
      const elsewhere = await startService({ strips: [{ mac: NEW, name: 'Elsewhere' }] });
      await elsewhere.close();
      const comms = red.comms.mark;
      await red.deploy(bridgeFlow(killed.port, elsewhere));
      await red.status('bridge', ({ fill }) => fill === 'red', comms);
      const after = reader.messages.mark;
      await killed.restart();
      for (const mac of [MAC, OTHER]) {
        await reader.next(topicOf('available', mac), (payload) => payload === 'offline', after);
      }
    });
  });

  it('says offline of what the broker keeps when Node-RED was restarted, until it is known, and removes what is gone', async () => {
    // This comes long before the first request could time out.
    const [tab, ...nodes] = bridgeFlow(broker.port, service, { account: { timeout: '60000' } });
    const birth = nodes.find(({ id }) => id === 'birth');
    assert.ok(tab && birth);
    const flow = [tab, ...nodes, { ...birth, id: 'kept', topic: 'smart-strip/+/available' }];
    await list({ [MAC]: OFF, [OTHER]: OFF, [NEW]: OFF }).catch(() => undefined);
    await red.deploy(flow);
    await client.next(topicOf('available', NEW));
    await red.deploy([]);
    await red.stop();
    await list({ [MAC]: [false, false, false], [OTHER]: OFF }).catch(() => undefined);
    const answerRequests = service.hold();
    red = await startNodeRed({ settings: { mqttReconnectTime: 300 }, settingsScript: DAY_LATER });
    let after = client.messages.mark;
    await red.deploy(flow);
    for (const mac of [MAC, OTHER, NEW]) {
      assert.equal(await client.next(topicOf('available', mac), (p) => p !== 'online', after), 'offline');
    }
    answerRequests();
    await client.next(topicOf('available', OTHER), (payload) => payload === 'online', after);
    assert.equal(await client.next(topicOf(4), undefined, after), '');
    const kept = await broker.retained();
    assert.match(kept.get(discoveryOf(MAC)) ?? '', /"outlet_4":{"platform":"switch"}/);
    assert.equal(kept.get(topicOf('available')), 'online');
    assert.equal(kept.get(topicOf('available', NEW)), 'offline');
    after = client.messages.mark;
    await letADayPass();
    await client.publish(BRIDGE, 'online');
    await client.next(topicOf('signal', NEW), (payload) => payload === '', after);
    assert.deepEqual(
      [...(await broker.retained()).keys()].filter((topic) => topic.includes(NEW)),
      [],
    );
  });

  it('goes on after a redeploy, under a new topic too', async () => {
    await deploy();
    const after = client.messages.mark;
    await red.deploy(bridgeFlow(broker.port, service));
    await whole(after);
    await client.publish(topicOf('1/set'), 'ON');
    assert.equal(await client.next(topicOf(1), (payload) => payload === 'ON', after), 'ON');
    assert.deepEqual(posts(), ['{"port":1,"on":true}']);
    await deploy({ topic: 'home/strips' });
    const last = client.messages.mark;
    await client.publish(`home/strips/${MAC}/1/set`, 'OFF');
    assert.equal(await client.next(`home/strips/${MAC}/1`, undefined, last), 'OFF');
    assert.deepEqual(since(last, topicOf(1)), []);
  });

  it('leaves nothing of before a deploy on the broker: another topic, readings, another account', async () => {
    const keptBelow = async (topic: string) =>
      [...(await broker.retained()).keys()].filter(
        (each) => each.startsWith(topic) && !each.endsWith('/bridge'),
      );
    await deploy();
    await deploy({ topic: 'home/strips' });
    await client.next(topicOf('signal', OTHER), (payload) => payload === '');
    assert.deepEqual(await keptBelow('smart-strip/'), []);
    const discovery = (await broker.retained()).get(discoveryOf(MAC)) ?? '';
    assert.deepEqual(discoveryProblems(discoveryOf(MAC), discovery), []);
    assert.ok(discovery.includes('home/strips/'));

    await red.deploy(bridgeFlow(broker.port, service, { topic: 'home/strips', node: { readings: false } }));
    await client.next(`home/strips/${OTHER}/signal`, (payload) => payload === '');
    const levels = (await keptBelow('home/strips/')).map((topic) => topic.split('/').at(-1));
    assert.deepEqual(new Set(levels), new Set(['1', '2', '3', '4', 'available']));

    const second = await startService({ strips: [{ mac: NEW, name: 'Elsewhere' }], shape: 'plain' });
    try {
      const after = client.messages.mark;
      await red.deploy(bridgeFlow(broker.port, second, { topic: 'home/strips' }), 'nodes');
      await client.next(`home/strips/${OTHER}/available`, (payload) => payload === '', after);
      await client.next(`home/strips/${NEW}/available`, undefined, after);
      assert.deepEqual((await keptBelow('homeassistant/')).join(), discoveryOf(NEW));
      assert.ok((await keptBelow('home/strips/')).every((topic) => topic.includes(NEW)));
    } finally {
      await red.deploy([]);
      await second.close();
    }
  });

  /** Two nodes of one account, of which one describes the strips. The readings go with the discovery, so that something is emptied as well. */
  const flow = (describing: 'smart-strip' | 'other') =>
    (['smart-strip', 'other'] as const).flatMap((topic) =>
      bridgeFlow(broker.port, service, {
        prefix: topic === 'other' ? 'b-' : '',
        topic,
        discovery: topic === describing ? 'homeassistant' : '',
        node: { readings: topic === describing },
      }),
    );

  it('keeps the description of a strip that a deploy moves from one node to another', async () => {
    await red.deploy(flow('other'));
    await client.next(`other/${OTHER}/available`);
    for (const [now, before] of [
      ['smart-strip', 'other'],
      ['other', 'smart-strip'],
    ] as const) {
      const after = client.messages.mark;
      await red.deploy(flow(now));
      await client.next(`${before}/${OTHER}/signal`, (payload) => payload === '', after);
      const discovery = (await broker.retained()).get(discoveryOf(MAC)) ?? '';
      assert.deepEqual(discoveryProblems(discoveryOf(MAC), discovery), []);
      assert.ok(discovery.includes(`${now}/`), discovery);
    }
  });

  it('keeps it at a later deploy, too, while the service does not answer', async () => {
    await red.deploy(flow('other'));
    await client.next(`other/${OTHER}/available`);
    const lastEmptied = `other/${OTHER}/signal`;
    let after = client.messages.mark;
    await red.deploy(flow('smart-strip'));
    await client.next(lastEmptied, (payload) => payload === '', after);
    const answerRequests = service.hold();
    after = client.messages.mark;
    await red.deploy(flow('smart-strip'));
    await client.next(topicOf('available', OTHER), (payload) => payload === 'offline', after);
    // It is answered a second later; by then, everything that was to be emptied is.
    const last = client.messages.mark;
    await client.publish('other/bridge', 'offline', { retain: true });
    await client.next('other/bridge', (payload) => payload === 'online', last);
    assert.deepEqual(since(after, discoveryOf(MAC)), []);
    answerRequests();
    await whole(after);
  });

  it('leaves alone the description of a strip that another Node-RED has taken over', async () => {
    await deploy();
    await deploy({ discovery: '' });
    await client.next(discoveryOf(MAC), (payload) => payload === '');
    await client.publish(discoveryOf(MAC), '{"taken": "over"}', { retain: true });
    await letADayPass();
    await deploy({ discovery: '' });
    // It is answered a second later; by then, everything that was to be emptied is.
    const after = client.messages.mark;
    await client.publish(BRIDGE, 'offline', { retain: true });
    await client.next(BRIDGE, (payload) => payload === 'online', after);
    assert.equal((await broker.retained()).get(discoveryOf(MAC)), '{"taken": "over"}');
  });

  it('serves two accounts on one broker', async () => {
    const second = await startService({ strips: [{ mac: NEW, name: 'Elsewhere' }], shape: 'plain' });
    try {
      await deploy({}, bridgeFlow(broker.port, second, { prefix: 'b-', topic: 'elsewhere' }));
      await client.next(`elsewhere/${NEW}/available`);
      const after = client.messages.mark;
      await client.publish(`elsewhere/${NEW}/1/set`, 'ON');
      await client.publish(topicOf('2/set'), 'ON');
      assert.equal(await client.next(`elsewhere/${NEW}/1`, (payload) => payload === 'ON', after), 'ON');
      assert.equal(await client.next(topicOf(2), (payload) => payload === 'ON', after), 'ON');
      assert.equal(second.simulator.isOn(NEW, 2), false);
      assert.equal(service.simulator.isOn(MAC, 1), false);
      const kept = await broker.retained();
      for (const mac of [MAC, OTHER, NEW]) {
        assert.deepEqual(discoveryProblems(discoveryOf(mac), kept.get(discoveryOf(mac)) ?? ''), []);
      }
    } finally {
      await red.deploy([]);
      await second.close();
    }
  });

  it('serves one account under two topics', async () => {
    await deploy({}, bridgeFlow(broker.port, service, { prefix: 'b-', topic: 'other', discovery: '' }));
    await client.next(`other/${MAC}/available`);
    const after = client.messages.mark;
    await client.publish(`other/${MAC}/1/set`, 'ON');
    assert.equal(await client.next(`other/${MAC}/1`, (payload) => payload === 'ON', after), 'ON');
    await red.inject('list');
    assert.equal(await client.next(topicOf(1), (payload) => payload === 'ON', after), 'ON');
    assert.equal(posts().length, 1);
  });

  it('publishes the API key on no topic, and nothing on a topic that a name made up', async () => {
    const strips = ['#', '+/x', 'x/y', '__proto__', `x${'y'.repeat(150)}`, 'a:b'].map((mac) => ({
      mac,
      outlets: [{ port: 1, on: true }],
      name: `${'#+/'.repeat(100)}\0`,
    }));
    service.always({ kind: 'answer', status: 200, json: { strips } });
    await red.deploy(bridgeFlow(broker.port, service));
    // The last message of the last strip.
    await client.next('smart-strip/AB/available');
    await client.publish(topicOf('1/set'), 'OFF');
    for (const { topic, payload } of client.messages.items) {
      assert.ok(!topic.includes(API_KEY) && !payload.includes(API_KEY), topic);
      assert.ok(isTopic(topic), topic);
      const levels = topic.split('/').length;
      if (topic.endsWith('/config')) {
        assert.equal(levels, 4);
        assert.deepEqual(discoveryProblems(topic, payload), []);
      } else assert.ok(levels <= 3 || topic === topicOf('1/set'), topic);
    }
    assert.ok(!broker.log.includes(API_KEY));
    // Nothing is missing because Node-RED could not publish it.
    assert.equal((await broker.retained()).size, 1 + 3 * strips.length);
  });
});
