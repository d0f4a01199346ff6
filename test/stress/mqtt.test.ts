import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { bridgeFlow, deployBridge } from '../support/mqtt-flow';
import { startMosquitto, type BrokerClient, type Mosquitto, type Received } from '../support/mosquitto';
import { startNodeRed, type CommsEvent, type RunningNodeRed } from '../support/node-red';
import { requireProgram } from '../support/program';
import { startService, type Fault, type TestService } from '../support/service';
import { until } from '../support/until';
import { randomOf } from './support/random';

const stripsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    mac: `A1B2C3${index.toString(16).toUpperCase().padStart(6, '0')}`,
    name: `Strip ${index}`,
  }));

/** Topics of one strip: discovery, four outlets, three readings, availability. */
const TOPICS = 9;

/** All that goes wrong without the command being carried out. */
const FAULTS: readonly Fault[] = [
  { kind: 'reset', when: 'before' },
  { kind: 'idleClose' },
  { kind: 'html' },
  { kind: 'empty' },
  { kind: 'answer', status: 500, json: {} },
  { kind: 'answer', status: 200, json: { success: false } },
];

describe('stress: strips on a real broker', () => {
  let broker: Mosquitto;
  let service: TestService;
  let red: RunningNodeRed;
  let client: BrokerClient;

  before(function () {
    requireProgram(this, 'mosquitto');
  });

  async function start(strips: number, account: Record<string, unknown> = {}): Promise<void> {
    broker = await startMosquitto();
    service = await startService({ strips: stripsOf(strips), shape: 'measured' });
    red = await startNodeRed();
    client = await broker.client();
    const nodes = bridgeFlow(broker.port, service, { account: { interval: '86400', ...account } });
    await deployBridge(red, service, nodes);
    await client.messages.find('last strip', isAvailability(strips - 1), { timeout: 90_000 });
  }

  const isAvailability = (strip: number) => {
    const topic = `smart-strip/${stripsOf(strip + 1).at(-1)?.mac ?? ''}/available`;
    return (message: Received) => message.topic === topic;
  };

  afterEach(async () => {
    await client.close();
    await red.kill();
    await service.close();
    await broker.stop();
  });

  for (const [strips, seconds] of [
    [100, 5],
    [1000, 60],
  ] as const) {
    it(`tells ${strips} strips within ${seconds} s of a birth message, and a client gets every message`, async () => {
      await start(strips);
      const after = client.messages.mark;
      const began = performance.now();
      await client.publish('homeassistant/status', 'online');
      await client.messages.find('last strip', isAvailability(strips - 1), {
        after,
        timeout: seconds * 1000,
      });
      const took = performance.now() - began;
      const topics = client.messages.items.slice(after + 1).map(({ topic }) => topic);
      console.log(`      ${strips} strips: ${topics.length} messages in ${(took / 1000).toFixed(1)} s`);
      assert.equal(topics.length, strips * TOPICS);
      assert.equal(new Set(topics).size, strips * TOPICS);
      assert.equal((await broker.retained()).size, strips * TOPICS + 1);
    });
  }

  it('keeps up with 500 commands and state changes a second, without growth', async () => {
    const strips = 250;
    const perSecond = 500;
    await start(strips);
    const outlets = stripsOf(strips).flatMap(({ mac }) =>
      [1, 2, 3, 4].map((port) => `smart-strip/${mac}/${port}`),
    );
    const wanted = new Map<string, string>();
    let sent = 0;
    let ended = 0;
    let seen = red.comms.mark;
    const countEnded = (): number => {
      ended += red.comms.items.slice(seen).filter(isOutcome).length;
      seen = red.comms.mark;
      return ended;
    };
    const isTold = () => {
      const told = new Map(client.messages.items.map(({ topic, payload }) => [topic, payload]));
      return [...wanted].every(([topic, payload]) => told.get(topic) === payload);
    };
    /** Sends commands for so many seconds, and waits until nothing of them is left. Gives the bytes of heap that are still in use. */
    const heapAfter = async (seconds: number): Promise<number> => {
      const began = performance.now();
      const count = seconds * perSecond;
      const already = sent;
      while (sent < already + count) {
        const due = already + Math.floor(((performance.now() - began) / 1000) * perSecond);
        // The broker drops what exceeds the queue of a slow client, which Node-RED is on a busy machine.
        const most = Math.min(due, already + count, countEnded() + 500);
        for (; sent < most; sent++) {
          const topic = outlets[sent % outlets.length] ?? '';
          const payload = wanted.get(topic) === 'ON' ? 'OFF' : 'ON';
          wanted.set(topic, payload);
          void client.publish(`${topic}/set`, payload);
        }
        await sleep(10);
      }
      // A busy machine may fall silent for a while, so what counts is that every command has ended and every state was told.
      await until('the end of every command', () => countEnded() >= sent);
      await until('the last state of every outlet', isTold);
      return (await red.probe()).heapUsed;
    };
    const first = await heapAfter(10);
    const grown = ((await heapAfter(30)) - first) / 2 ** 20;
    const kept = await broker.retained();
    console.log(`      ${sent} commands, heap grown by ${grown.toFixed(1)} MiB`);
    for (const [topic, payload] of wanted) assert.equal(kept.get(topic), payload, topic);
    assert.ok(grown < 4, `${grown} MiB`);
  });

  it('ends every command with one confirmed state or one error, at a fault rate of 20 %', async () => {
    const strips = 100;
    await start(strips, { retryFor: '0' });
    const random = randomOf('mqtt');
    const outlets = stripsOf(strips).flatMap(({ mac }) => [1, 2, 3, 4].map((port) => ({ mac, port })));
    let confirmed = 0;
    let failed = 0;
    for (let round = 0; round < 5; round++) {
      for (let n = 0; n < outlets.length * 3; n++) {
        service.next(random.next() < 0.2 ? random.pick(FAULTS) : null);
      }
      const after = client.messages.mark;
      const comms = red.comms.mark;
      const asked = new Map<string, string>();
      for (const { mac, port } of outlets) {
        const topic = `smart-strip/${mac}/${port}`;
        const payload = service.simulator.isOn(mac, port as 1) === true ? 'OFF' : 'ON';
        asked.set(topic, payload);
        void client.publish(`${topic}/set`, payload);
      }
      const outcomes = () => red.comms.items.slice(comms).filter(isOutcome);
      await until('the end of every command', () => outcomes().length >= outlets.length);
      const statesOf = (topic: string) =>
        client.messages.items.slice(after).filter((message) => message.topic === topic);
      // A state that was told once more would be found in the next round.
      await until('the state of every outlet', () =>
        [...asked.keys()].every((topic) => statesOf(topic).length > 0),
      );
      const ended = outcomes()
        .map(({ data }) => data as { id: string; msg: string })
        .map(({ id, msg }) => ({ id, topic: (JSON.parse(msg) as { topic: string }).topic }));
      const errors = new Set(ended.filter(({ id }) => id === 'caught').map(({ topic }) => topic));
      assert.equal(ended.length, outlets.length);
      assert.equal(new Set(ended.map(({ topic }) => topic)).size, outlets.length);
      for (const [topic, payload] of asked) {
        const isFailed = errors.has(`${topic}/set`);
        const expected = isFailed ? (payload === 'ON' ? 'OFF' : 'ON') : payload;
        assert.deepEqual([topic, ...statesOf(topic).map((state) => state.payload)], [topic, expected]);
        if (isFailed) failed++;
        else confirmed++;
      }
    }
    console.log(`      ${confirmed} confirmed, ${failed} failed`);
    assert.ok(failed > 50);
  });

  /** Whether the bridge is done with a message. Warnings of the account, such as that of a failed poll, come the same way. */
  const isOutcome = ({ topic, data }: CommsEvent): boolean =>
    topic === 'debug' && ['caught', 'completed'].includes((data as { id: string }).id);
});
