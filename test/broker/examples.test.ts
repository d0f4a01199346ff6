import assert from 'node:assert/strict';
import { examples } from '../support/examples';
import { discoveryProblems } from '../support/home-assistant';
import { startMosquitto, type BrokerClient, type Mosquitto } from '../support/mosquitto';
import { startNodeRed, type RunningNodeRed } from '../support/node-red';
import { requireProgram } from '../support/program';

const MAC = 'A1B2C3D4E5F6';
const OTHER = 'A1B2C3D4E5F7';

describe('the examples with a real broker', () => {
  let broker: Mosquitto;
  let red: RunningNodeRed;
  let client: BrokerClient;

  before(async function () {
    requireProgram(this, 'mosquitto');
    red = await startNodeRed();
  });

  after(() => red.stop());

  beforeEach(async () => {
    broker = await startMosquitto();
    client = await broker.client();
  });

  afterEach(async () => {
    await client.close();
    await red.deploy([]);
    await broker.stop();
  });

  /** Deploys an example as it is, but for the broker's port. */
  const deploy = async (number: string, to = red) => {
    const nodes = examples().find(({ name }) => name.startsWith(number))?.nodes ?? [];
    const port = String(broker.port);
    await to.deploy(nodes.map((node) => (node.type === 'mqtt-broker' ? { ...node, port } : node)));
  };

  it('11: Home Assistant finds the strips, switches them, and sees changes made by hand', async () => {
    await deploy('11');
    for (const mac of [MAC, OTHER]) await client.next(`smart-strip/${mac}/signal`);
    const discovery = [...(await broker.retained())].filter(([topic]) => topic.endsWith('/config'));
    assert.equal(discovery.length, 2);
    for (const [topic, payload] of discovery) assert.deepEqual(discoveryProblems(topic, payload), []);
    const { components } = JSON.parse(discovery[0]?.[1] ?? '') as {
      components: Record<string, { state_topic: string; command_topic: string }>;
    };
    const outlet = components.outlet_2;
    assert.ok(outlet);
    for (const state of ['ON', 'OFF', 'ON']) {
      const after = client.messages.mark;
      await client.publish(outlet.command_topic, state);
      await client.next(outlet.state_topic, (payload) => payload === state, after);
    }
    const lamp = `smart-strip/${MAC}/4`;
    const isOn = (await broker.retained()).get(lamp) === 'ON';
    const after = client.messages.mark;
    await red.inject(isOn ? 'strip11_hand_off' : 'strip11_hand_on');
    await client.next(lamp, (payload) => payload === (isOn ? 'OFF' : 'ON'), after);
  });

  it('11: says offline for the bridge when the flow is removed, and when Node-RED dies', async () => {
    const own = await startNodeRed();
    for (const end of [() => own.deploy([]), () => own.kill()]) {
      let after = client.messages.mark;
      await deploy('11', own);
      await client.next('smart-strip/bridge', (payload) => payload === 'online', after);
      after = client.messages.mark;
      await end();
      await client.next('smart-strip/bridge', (payload) => payload === 'offline', after);
    }
    assert.equal((await broker.retained()).get('smart-strip/bridge'), 'offline');
  });

  /** Waits until a debug node has shown a payload. */
  const shown = (id: string, payload: string, after = 0) =>
    red.comms.find(
      payload,
      ({ topic, data }) => {
        const { id: from, msg } = data as { id?: unknown; msg?: unknown };
        return topic === 'debug' && from === id && msg === payload;
      },
      { after },
    );

  it('12: a second Node-RED sees and switches the lamp', async () => {
    await deploy('12');
    await shown('strip12_d3', 'online');
    for (const [button, state] of [
      ['strip12_on', 'ON'],
      ['strip12_off', 'OFF'],
      ['strip12_toggle', 'ON'],
    ] as const) {
      const after = red.comms.mark;
      await red.inject(button);
      await shown('strip12_d1', state, after);
    }
    assert.equal(red.log.items.filter(({ level }) => level === 'error').length, 0);
  });
});
