import assert from 'node:assert/strict';
import type {
  AccountStatus,
  Change,
  Command,
  Listener,
  Outcome,
  RunOptions,
} from '../../../src/account/types';
import { closedError, type StripError } from '../../../src/api/errors';
import { ASKING } from '../../../src/flow/node-status';
import type { Strip } from '../../../src/api/types';
import type { Message } from '../../../src/flow/input-fields';
import type { Input } from '../../../src/flow/input-handler';
import { Bridge, readBridgeSettings, type Published } from '../../../src/mqtt/bridge';
import { Publisher, type Publication } from '../../../src/mqtt/publisher';
import { preview } from '../../../src/values';
import { calm, FakeClock } from '../../support/fake-clock';
import { failure, listOf, makeStrip } from '../../support/scripted-service';
import { failing, input, MAC, OTHER, outcomeOf, accountWith, STATUS } from '../flow/support';

interface Deploy {
  source?: string;
  isTaken?: (topic: string, payload?: string) => boolean;
}

/** One bridge at an account that a test plays. */
class BridgeLab {
  readonly clock = new FakeClock();
  readonly sent: Publication[] = [];
  readonly warned: string[] = [];
  readonly shown: string[] = [];
  readonly commands: Command[] = [];
  readonly runOptions: unknown[] = [];
  readings: unknown;
  received: Input | null = null;
  subscribers = 0;
  lists = 0;
  status: AccountStatus = STATUS;
  run: (command: Command) => Promise<Outcome> = (command) => Promise.resolve(outcomeOf(command));
  list: () => Promise<void> = () => Promise.resolve();
  readonly bridge: Bridge;
  #listener: Listener | null = null;

  constructor(config: object = {}, more: Deploy & { before?: Published } = {}) {
    const account = accountWith({
      subscribe: (listener, readings) => {
        this.subscribers++;
        this.#listener = listener;
        this.readings = readings;
        return () => {
          this.subscribers--;
          this.#listener = null;
        };
      },
      status: () => this.status,
      list: async () => {
        this.lists++;
        await this.list();
        return listOf();
      },
      run: (command: Command, options?: RunOptions) => {
        this.commands.push(command);
        this.runOptions.push(options);
        return this.run(command);
      },
    });
    this.bridge = new Bridge({
      settings: readBridgeSettings({ ...config }),
      version: '1.2.3',
      clock: this.clock,
      account,
      source: 'the account',
      before: undefined,
      isTaken: () => false,
      ...more,
      send: (publication) => this.sent.push(publication),
      onRetained: (topic) => this.warned.push(topic),
      onStatus: ({ text }) => this.shown.push(text.split('.').at(-1) ?? ''),
    });
  }

  start(...strips: Strip[]): this {
    this.bridge.start();
    for (const strip of strips) this.appears(strip);
    return this;
  }

  /** The bridge in its place after a deploy. */
  redeployed(config: object = {}, more: Deploy = {}): BridgeLab {
    return new BridgeLab(config, { before: this.bridge.close(), ...more });
  }

  tell(change: Change): void {
    this.#listener?.(change);
  }

  /** All that an account tells of a strip that becomes known. */
  appears(strip: Strip): void {
    this.tell({ kind: 'strip', strip, available: strip.available, previous: null, isNew: false });
    for (const { port, on } of strip.outlets) this.tell({ kind: 'outlet', strip, port, on, previous: null });
  }

  /** Something about a strip changed; what exactly does not matter to the bridge. */
  changes(strip: Strip): void {
    this.tell({ kind: 'description', strip });
  }

  becomes(status: Partial<AccountStatus>): void {
    this.status = { ...STATUS, ...status };
    this.tell({ kind: 'account', available: this.status.available });
  }

  async take(msg: Message): Promise<StripError | null> {
    try {
      await this.bridge.handle((this.received = input(msg)));
      return null;
    } catch (failure) {
      return await failing(() => {
        throw failure;
      });
    }
  }

  /** Lets everything go out that waits; what was sent since the last call, as `topic payload`. */
  async published(): Promise<string[]> {
    await this.clock.pass(120_000);
    return this.sent.splice(0).map(({ topic, payload }) => `${topic} ${payload}`);
  }

  /** As `published`, without discovery. */
  async states(): Promise<string[]> {
    return (await this.published()).filter((text) => text.startsWith('smart-strip/'));
  }
}

const strip = (on: (boolean | null)[], more: Partial<Strip> = {}) => makeStrip(MAC, on, more);
const set = (port: number | string, payload: unknown, more: object = {}): Message => ({
  topic: `smart-strip/${MAC}/${port}/set`,
  payload,
  ...more,
});

describe('the settings of a bridge', () => {
  it('have defaults', () => {
    assert.deepEqual(readBridgeSettings({}), {
      topic: 'smart-strip',
      discovery: 'homeassistant',
      readings: true,
    });
  });

  it('are read from what the editor saves', () => {
    const saved = { topic: ' home/strips/ ', discovery: '', readings: false };
    assert.deepEqual(readBridgeSettings(saved), { topic: 'home/strips', discovery: '', readings: false });
  });

  for (const [config, sentence] of [
    [{ topic: '' }, 'NOT_CONFIGURED.topic'],
    [{ topic: 'a/#' }, 'NOT_CONFIGURED.topic'],
    [{ discovery: 'a/+' }, 'NOT_CONFIGURED.topic'],
    [{ topic: '${NAME}' }, 'NOT_CONFIGURED.variable'],
    [{ discovery: '${NAME}' }, 'NOT_CONFIGURED.variable'],
    [{ topic: {} }, 'NOT_CONFIGURED.text'],
    [{ discovery: ['ha'] }, 'NOT_CONFIGURED.text'],
  ] as const) {
    it(`are refused as ${JSON.stringify(config)}`, async () => {
      assert.equal((await failing(() => readBridgeSettings(config))).sentenceKey, sentence);
    });
  }
});

describe('publishing', () => {
  it('keeps the poll going, with readings where they are wanted', () => {
    assert.equal(new BridgeLab().start().readings, 'all');
    assert.deepEqual(new BridgeLab({ readings: false }).start().readings, []);
  });

  it('publishes everything of a strip once it is known: its discovery message, then its states', async () => {
    const lab = new BridgeLab().start(strip([true, false, null, false], { load: 41.5 }));
    const [discovery, ...states] = await lab.published();
    assert.match(discovery ?? '', /^homeassistant\/device\/smart_strip_A1B2C3D4E5F6\/config \{/);
    assert.deepEqual(states, [
      'smart-strip/A1B2C3D4E5F6/1 ON',
      'smart-strip/A1B2C3D4E5F6/2 OFF',
      'smart-strip/A1B2C3D4E5F6/3 None',
      'smart-strip/A1B2C3D4E5F6/4 OFF',
      'smart-strip/A1B2C3D4E5F6/load 41.5',
      'smart-strip/A1B2C3D4E5F6/available online',
    ]);
  });

  it('sends with QoS 1, retained', async () => {
    const lab = new BridgeLab().start(strip([true]));
    await lab.clock.pass(1000);
    assert.deepEqual(
      lab.sent.map(({ qos, retain }) => ({ qos, retain })),
      Array(3).fill({ qos: 1, retain: true }),
    );
  });

  it('tells what changed, and nothing else', async () => {
    const lab = new BridgeLab().start(strip([true, false], { load: 1 }));
    await lab.published();
    lab.changes(strip([true, true], { load: 1 }));
    lab.changes(strip([true, true], { load: 1, at: 'later' }));
    assert.deepEqual(await lab.published(), ['smart-strip/A1B2C3D4E5F6/2 ON']);
    lab.changes(strip([true, true], { load: 1, available: false }));
    assert.deepEqual(await lab.published(), ['smart-strip/A1B2C3D4E5F6/available offline']);
  });

  it('tells what became unknown as None, and when it is known again', async () => {
    const lab = new BridgeLab().start(strip([true], { load: 5 }));
    await lab.published();
    lab.changes(strip([null]));
    assert.deepEqual(await lab.published(), [
      'smart-strip/A1B2C3D4E5F6/1 None',
      'smart-strip/A1B2C3D4E5F6/load None',
    ]);
    lab.changes(strip([true], { load: 5 }));
    assert.deepEqual(await lab.published(), [
      'smart-strip/A1B2C3D4E5F6/1 ON',
      'smart-strip/A1B2C3D4E5F6/load 5',
    ]);
  });

  for (const [what, changed] of [
    ['its name', { name: 'Desk' }],
    ['the name of an outlet', { outlets: [{ port: 1, on: true, name: 'Lamp' }] }],
    ['a unit', { units: { load: 'W' } }],
  ] as [string, Partial<Strip>][]) {
    it(`describes a strip again when ${what} changes`, async () => {
      const lab = new BridgeLab().start(strip([true], { load: 1 }));
      await lab.published();
      lab.changes(strip([true], { load: 1, ...changed }));
      const [again, ...rest] = await lab.published();
      assert.match(again ?? '', /^homeassistant\/device\//);
      assert.deepEqual(rest, []);
    });
  }

  it('tells None of all four outlets of a strip of which none could be read', async () => {
    const lab = new BridgeLab().start(makeStrip(MAC, []));
    assert.deepEqual(await lab.states(), [
      ...[1, 2, 3, 4].map((port) => `smart-strip/A1B2C3D4E5F6/${port} None`),
      'smart-strip/A1B2C3D4E5F6/available online',
    ]);
  });

  it('describes a strip again when a reading or an outlet turns up, and empties the topic of an outlet that goes', async () => {
    const lab = new BridgeLab().start(strip([true]));
    await lab.published();
    lab.changes(strip([true, false], { signal: -60 }));
    const [again, ...rest] = await lab.published();
    assert.match(again ?? '', /"signal":\{"platform":"sensor".*"outlet_2":\{"platform":"switch","unique_id"/);
    assert.deepEqual(rest, ['smart-strip/A1B2C3D4E5F6/2 OFF', 'smart-strip/A1B2C3D4E5F6/signal -60']);
    lab.changes(strip([true], { signal: -60 }));
    const [third, ...emptied] = await lab.published();
    assert.match(third ?? '', /"outlet_2":\{"platform":"switch"\}/);
    assert.deepEqual(emptied, ['smart-strip/A1B2C3D4E5F6/2 ']);
    lab.changes(strip([true], { signal: -61 }));
    assert.deepEqual(await lab.published(), ['smart-strip/A1B2C3D4E5F6/signal -61']);
  });

  it('without readings publishes none and describes none', async () => {
    const lab = new BridgeLab({ readings: false }).start(strip([true], { load: 5 }));
    const told = await lab.published();
    assert.equal(told.length, 3);
    assert.ok(!told.some((text) => text.includes('load')));
  });

  it('without discovery sends states only', async () => {
    const lab = new BridgeLab({ discovery: '', topic: 'b' }).start(strip([true]));
    assert.deepEqual(await lab.published(), ['b/A1B2C3D4E5F6/1 ON', 'b/A1B2C3D4E5F6/available online']);
  });

  it('empties everything of a strip that is forgotten, whatever was sent of it', async () => {
    for (const wait of [true, false]) {
      const lab = new BridgeLab().start(strip([true], { load: 5 }));
      if (wait) await lab.published();
      lab.tell({ kind: 'removed', strip: strip([true], { load: 5 }) });
      assert.deepEqual(await lab.published(), [
        'homeassistant/device/smart_strip_A1B2C3D4E5F6/config ',
        'smart-strip/A1B2C3D4E5F6/1 ',
        'smart-strip/A1B2C3D4E5F6/2 ',
        'smart-strip/A1B2C3D4E5F6/3 ',
        'smart-strip/A1B2C3D4E5F6/4 ',
        'smart-strip/A1B2C3D4E5F6/available ',
        'smart-strip/A1B2C3D4E5F6/load ',
        'smart-strip/A1B2C3D4E5F6/voltage ',
        'smart-strip/A1B2C3D4E5F6/signal ',
      ]);
      // The broker may have been away.
      await lab.take({ topic: 'smart-strip/bridge', payload: 'online' });
      const again = await lab.published();
      assert.equal(again.length, 9);
      assert.ok(again.every((text) => text.endsWith(' ')));
    }
  });

  it('publishes a strip that comes back after it was forgotten', async () => {
    const lab = new BridgeLab().start(strip([true]));
    await lab.published();
    lab.tell({ kind: 'removed', strip: strip([true]) });
    lab.appears(strip([false]));
    const told = new Map((await lab.published()).map((text) => text.split(/ (.*)/) as [string, string]));
    assert.equal(told.get('smart-strip/A1B2C3D4E5F6/1'), 'OFF');
    assert.match(told.get('homeassistant/device/smart_strip_A1B2C3D4E5F6/config') ?? '', /outlet_1/);
    await lab.take({ topic: 'smart-strip/bridge', payload: 'online' });
    const again = await lab.published();
    assert.equal(again.filter((text) => text.includes('/1 ')).join(), 'smart-strip/A1B2C3D4E5F6/1 OFF');
    assert.equal(again.filter((text) => text.includes('/load')).join(), 'smart-strip/A1B2C3D4E5F6/load ');
  });

  it('sends nothing twice of a strip that comes back before its topics were emptied', async () => {
    const lab = new BridgeLab().start(strip([true], { load: 5 }));
    await lab.published();
    lab.tell({ kind: 'removed', strip: strip([true], { load: 5 }) });
    lab.appears(strip([true], { load: 5 }));
    const told = await lab.published();
    assert.ok(told.includes('smart-strip/A1B2C3D4E5F6/1 ON'));
    assert.equal(new Set(told.map((text) => text.split(' ')[0])).size, told.length, told.join('\n'));
  });

  it('shows how many strips are shared, or what is wrong', () => {
    const lab = new BridgeLab().start();
    lab.becomes({ available: null });
    assert.deepEqual(lab.shown, []);
    lab.becomes({});
    lab.appears(strip([true]));
    lab.appears(makeStrip(OTHER, [true]));
    lab.tell({ kind: 'removed', strip: strip([true]) });
    lab.becomes({ available: false, error: failure('TIMEOUT') });
    lab.becomes({ readable: false });
    const shown = lab.shown.filter((text, index) => text !== lab.shown[index - 1]);
    assert.deepEqual(shown, ['noStrips', '1', '2', '1', 'timeout', 'unknownAnswer']);
  });
});

describe('a bridge after a deploy', () => {
  const here = makeStrip(MAC, [true], { load: 5 });
  const there = makeStrip(OTHER, [false]);
  /** What a bridge with these settings says after one that had published both strips. */
  const after = async (config: object, source: string, strips: Strip[]): Promise<string[]> => {
    const first = new BridgeLab().start(here, there);
    first.becomes({});
    await first.published();
    const lab = first.redeployed(config, { source }).start(...strips);
    lab.becomes({});
    return await lab.published();
  };
  const emptied = (told: string[]) => told.filter((text) => text.endsWith(' ')).map((text) => text.trim());

  it('empties nothing where nothing changed, also of a strip that is not in the list just now', async () => {
    assert.deepEqual(emptied(await after({}, 'the account', [here])), []);
  });

  it('shows a strip as unavailable that is not in the list, or while the service does not answer', async () => {
    const listing = new BridgeLab().start(here, there).redeployed().start(here);
    listing.becomes({ listed: 'part' });
    assert.ok(!(await listing.published()).some((text) => text.endsWith('offline')));
    const offline = ['smart-strip/A1B2C3D4E5F7/available offline'];
    listing.becomes({});
    listing.becomes({ polling: true });
    assert.deepEqual(await listing.published(), offline);
    listing.appears(there);
    assert.ok((await listing.published()).includes('smart-strip/A1B2C3D4E5F7/available online'));

    const down = listing.redeployed().start();
    down.becomes({ available: null, listed: null });
    assert.deepEqual(await down.published(), []);
    down.becomes({ available: false, listed: null, error: failure('TIMEOUT') });
    const both = ['smart-strip/A1B2C3D4E5F6/available offline', ...offline];
    assert.deepEqual(await down.published(), both);

    const unreadable = down.redeployed().start();
    unreadable.becomes({ readable: false, listed: 'part' });
    assert.deepEqual(await unreadable.published(), both);
  });

  it('says once that it is unavailable, whatever happens to the account, and again after a birth message', async () => {
    const lab = new BridgeLab().start(here, there).redeployed().start(here);
    lab.becomes({});
    const offline = ['smart-strip/A1B2C3D4E5F7/available offline'];
    assert.ok((await lab.published()).includes('smart-strip/A1B2C3D4E5F7/available offline'));
    lab.becomes({ available: false, error: failure('TIMEOUT') });
    assert.deepEqual(await lab.published(), []);
    lab.becomes({});
    assert.deepEqual(await lab.published(), []);
    await lab.take({ topic: 'smart-strip/bridge', payload: 'online' });
    assert.deepEqual(
      (await lab.published()).filter((text) => text.includes(OTHER)),
      offline,
    );
  });

  it('says nothing of it after a birth message while the account was not asked yet', async () => {
    const lab = new BridgeLab().start(here, there).redeployed().start();
    lab.becomes({ available: null, listed: null });
    await lab.take({ topic: 'smart-strip/bridge', payload: 'online' });
    assert.deepEqual(await lab.published(), []);
  });

  it('empties nothing of another account because of a command that succeeds before the first list', async () => {
    const lab = new BridgeLab().start(here).redeployed({}, { source: 'another account' }).start(there);
    lab.becomes({ listed: null });
    assert.deepEqual(emptied(await lab.published()), []);
    lab.becomes({});
    assert.ok(emptied(await lab.published()).includes('smart-strip/A1B2C3D4E5F6/available'));
  });

  it('empties what is left of a strip that has not been in the list for a day', async () => {
    for (const isDown of [false, true]) {
      const lab = new BridgeLab().start(here, there).redeployed().start(here);
      lab.becomes(isDown ? { available: false, error: failure('TIMEOUT') } : {});
      await lab.clock.pass(23 * 3_600_000);
      assert.deepEqual(emptied(await lab.published()), []);
      await lab.clock.pass(3_600_000);
      if (isDown) assert.deepEqual(emptied(await lab.published()), []);
      if (isDown) lab.becomes({});
      assert.deepEqual(emptied(await lab.published()), [
        'homeassistant/device/smart_strip_A1B2C3D4E5F7/config',
        'smart-strip/A1B2C3D4E5F7/1',
        'smart-strip/A1B2C3D4E5F7/available',
      ]);
      assert.equal(lab.clock.pending, 0);
    }
  });

  it('counts the day from its start, however long Node-RED has run before', async () => {
    const lab = new BridgeLab().start(here, there).redeployed();
    await lab.clock.pass(20 * 3_600_000);
    lab.start(here).becomes({});
    await lab.clock.pass(5 * 3_600_000);
    lab.becomes({});
    assert.deepEqual(emptied(await lab.published()), []);
  });

  it('empties nothing of a strip that may be on a further page of the list, however long it was not seen', async () => {
    const lab = new BridgeLab().start(here, there).redeployed().start(here);
    lab.becomes({ available: false, error: failure('TIMEOUT'), listed: null });
    await lab.clock.pass(25 * 3_600_000);
    lab.becomes({ listed: 'part' });
    assert.deepEqual(emptied(await lab.published()), []);
    lab.becomes({});
    assert.equal(emptied(await lab.published()).length, 3);
  });

  it('empties the states under another topic, and describes the same devices', async () => {
    const told = await after({ topic: 'home' }, 'the account', [here]);
    assert.deepEqual(emptied(told).slice(0, 3), [
      'smart-strip/A1B2C3D4E5F6/1',
      'smart-strip/A1B2C3D4E5F6/load',
      'smart-strip/A1B2C3D4E5F6/available',
    ]);
    assert.ok(told.includes('home/A1B2C3D4E5F6/1 ON'));
    assert.match(told.join('\n'), /^homeassistant\/device\/smart_strip_A1B2C3D4E5F6\/config {.*"home\//m);
  });

  for (const config of [{ topic: 'home' }, { discovery: 'other' }, { discovery: '' }]) {
    it(`empties everything of a strip that is missing while the node gets ${JSON.stringify(config)}`, async () => {
      const told = await after(config, 'the account', [here]);
      assert.deepEqual(
        emptied(told).filter((topic) => topic.includes(OTHER)),
        [
          'homeassistant/device/smart_strip_A1B2C3D4E5F7/config',
          'smart-strip/A1B2C3D4E5F7/1',
          'smart-strip/A1B2C3D4E5F7/available',
        ],
      );
    });
  }

  it('keeps a sensor whose reading is not known again yet, under another topic too', async () => {
    for (const config of [{}, { topic: 'home' }]) {
      const told = await after(config, 'the account', [makeStrip(MAC, [true])]);
      assert.match(told.join('\n'), /"load":{"platform":"sensor","unique_id"/);
      const topic = `${'topic' in config ? config.topic : 'smart-strip'}/A1B2C3D4E5F6/load`;
      assert.ok(told.includes(`${topic} None`), told.join('\n'));
    }
  });

  it('removes the sensors where readings are not wanted any more', async () => {
    const told = await after({ readings: false }, 'the account', [here]);
    assert.deepEqual(emptied(told), ['smart-strip/A1B2C3D4E5F6/load']);
    assert.match(told.join('\n'), /"load":{"platform":"sensor"}/);
  });

  it('removes the devices where discovery is not wanted any more', async () => {
    const told = await after({ discovery: '' }, 'the account', [here]);
    assert.deepEqual(emptied(told).slice(0, 1), ['homeassistant/device/smart_strip_A1B2C3D4E5F6/config']);
  });

  it('empties what is left of another account, once its own strips are known', async () => {
    const told = await after({}, 'another account', [here]);
    assert.deepEqual(emptied(told), [
      'homeassistant/device/smart_strip_A1B2C3D4E5F7/config',
      'smart-strip/A1B2C3D4E5F7/1',
      'smart-strip/A1B2C3D4E5F7/available',
    ]);
    const lab = new BridgeLab().start(there).redeployed({}, { source: 'another account' }).start();
    lab.becomes({ available: null, listed: null });
    assert.deepEqual(await lab.published(), []);
    const offline = ['smart-strip/A1B2C3D4E5F7/available offline'];
    lab.becomes({ available: false, error: failure('TIMEOUT') });
    lab.becomes({ readable: false });
    assert.deepEqual(await lab.published(), offline);
    // The broker may have been away.
    await lab.take({ topic: 'smart-strip/bridge', payload: 'online' });
    assert.deepEqual(await lab.published(), offline);
    lab.becomes({});
    assert.equal((await lab.published()).length, 3);
  });

  it('empties what is left of another account also where that was deployed twice before it answered', async () => {
    const unreachable = new BridgeLab()
      .start(here, there)
      .redeployed({}, { source: 'another account' })
      .start();
    unreachable.becomes({ available: false, error: failure('AUTH') });
    const lab = unreachable.redeployed({}, { source: 'another account' }).start(here);
    lab.becomes({});
    assert.equal(emptied(await lab.published()).length, 3);
  });

  it('calls no strip unavailable that another node publishes by now', async () => {
    const lab = new BridgeLab()
      .start(there)
      .redeployed({}, { isTaken: () => true })
      .start();
    lab.becomes({ available: false, error: failure('TIMEOUT') });
    assert.deepEqual(await lab.published(), []);
  });

  it('calls a strip unavailable that another node calls unavailable, too', async () => {
    const first = new BridgeLab().start(here, there);
    const isTaken = (_: string, payload?: string) => payload !== 'online';
    const lab = first.redeployed({}, { isTaken }).start(here);
    lab.becomes({});
    assert.ok((await lab.published()).includes('smart-strip/A1B2C3D4E5F7/available offline'));
  });

  it('leaves alone what another node publishes by now, also after a birth message', async () => {
    const first = new BridgeLab().start(here);
    const other = new BridgeLab({ topic: 'other' }).start(here);
    const isTaken = (topic: string) => other.bridge.publishes(topic);
    const lab = first.redeployed({ discovery: '' }, { isTaken }).start(here);
    assert.deepEqual(emptied(await lab.published()), []);
    await lab.take({ topic: 'smart-strip/bridge', payload: 'online' });
    assert.deepEqual(emptied(await lab.published()), []);
  });

  it('leaves alone what another node published before this deploy, and will publish again when its account answers', async () => {
    const second = new BridgeLab().start(here).redeployed({ discovery: '' }).start(here);
    await second.published();
    const describing = new BridgeLab().start(here).bridge.close();
    for (const [source, isKept] of [
      ['the account', true],
      ['another account', false],
    ] as const) {
      const other = new BridgeLab({}, { before: describing, source });
      const isTaken = other.bridge.publishes.bind(other.bridge);
      const lab = second.redeployed({ discovery: '' }, { isTaken }).start(here);
      const told = emptied(await lab.published());
      assert.equal(told.includes(`homeassistant/device/smart_strip_${MAC}/config`), !isKept);
      assert.equal(isTaken(`smart-strip/${MAC}/available`, 'online'), false);
    }
  });

  it('empties everything of a forgotten strip also where another node had published it, at another broker', async () => {
    const before = new BridgeLab().start(here).bridge.close();
    const other = new BridgeLab({}, { before }).start(here);
    const isTaken = other.bridge.publishes.bind(other.bridge);
    const lab = new BridgeLab({}, { before, isTaken }).start(here);
    await lab.published();
    for (const each of [other, lab]) each.tell({ kind: 'removed', strip: here });
    assert.equal(emptied(await lab.published()).length, 9);
  });

  it('publishes what another node publishes too', async () => {
    const lab = new BridgeLab({}, { isTaken: () => true }).start(here);
    assert.ok((await lab.published()).includes('smart-strip/A1B2C3D4E5F6/1 ON'));
  });

  it('says again after a birth message what was emptied, after two deploys too', async () => {
    const second = new BridgeLab().start(here).redeployed({ topic: 'b' });
    const third = second.redeployed({ topic: 'c' }).start(here);
    const told = await third.published();
    assert.ok(told.includes('smart-strip/A1B2C3D4E5F6/1 '));
    await third.take({ topic: 'c/bridge', payload: 'online' });
    assert.deepEqual(emptied(await third.published()), emptied(told));
    // Home Assistant would warn of each device that it does not know any more.
    await third.take({ topic: 'homeassistant/status', payload: 'online' });
    assert.deepEqual(emptied(await third.published()), []);
  });

  it('says only once more what was emptied: another Node-RED may publish there later', async () => {
    const second = new BridgeLab().start(here).redeployed({ topic: 'b' }).start(here);
    await second.published();
    await second.take({ topic: 'b/bridge', payload: 'online' });
    await second.clock.pass(10_000);
    // Home Assistant connects again up to 10 s later, and must not miss it.
    assert.ok(second.sent.every(({ payload }) => payload !== ''));
    assert.notDeepEqual(emptied(await second.published()), []);
    await second.take({ topic: 'b/bridge', payload: 'online' });
    assert.deepEqual(emptied(await second.published()), []);
    const third = second.redeployed({ topic: 'b' }).start(here);
    assert.deepEqual(emptied(await third.published()), []);
  });

  it('does not say again what was emptied long before: another Node-RED may publish there by now', async () => {
    const second = new BridgeLab().start(here).redeployed({ topic: 'b' }).start(here);
    assert.notDeepEqual(emptied(await second.published()), []);
    await second.clock.pass(10 * 60_000);
    await second.take({ topic: 'b/bridge', payload: 'online' });
    assert.deepEqual(emptied(await second.published()), []);
    const third = second.redeployed({ topic: 'b' }).start(here);
    assert.deepEqual(emptied(await third.published()), []);
  });

  for (const seconds of [2, 40])
    it(`says it again after another birth message ${seconds} s later: the connection was lost in between`, async () => {
      const second = new BridgeLab().start(here).redeployed({ topic: 'b' }).start(here);
      await second.take({ topic: 'b/bridge', payload: 'online' });
      await second.clock.pass(seconds * 1000);
      const told = second.sent.splice(0).map(({ topic, payload }) => `${topic} ${payload}`);
      await second.take({ topic: 'b/bridge', payload: 'online' });
      assert.deepEqual(emptied(await second.published()), emptied(told));
      assert.notDeepEqual(emptied(told), []);
    });

  it('empties what still waited for that at a further deploy, also after a birth message', async () => {
    const second = new BridgeLab().start(here).redeployed({ topic: 'b' }).start(here);
    await second.take({ topic: 'b/bridge', payload: 'online' });
    const third = second.redeployed({ topic: 'b' }).start(here);
    assert.ok((await third.published()).includes('smart-strip/A1B2C3D4E5F6/1 '));
  });
});

describe('a bridge that hears what the broker keeps', () => {
  const kept = (mac: string, payload = 'online'): Message => ({
    topic: `smart-strip/${mac}/available`,
    payload,
    retain: true,
  });
  const offline = ['smart-strip/A1B2C3D4E5F7/available offline'];

  it('calls a strip unavailable until it knows it', async () => {
    for (const status of [{ available: null, listed: null }, { listed: 'part' }, {}] as const) {
      const whole = strip([true, false, true, false], { load: 5, voltage: 230, signal: -50 });
      const lab = new BridgeLab().start(whole);
      lab.becomes(status);
      await lab.published();
      assert.equal(await lab.take(kept(MAC)), null);
      assert.equal(await lab.take(kept(OTHER)), null);
      assert.deepEqual(await lab.published(), offline);
      // What it hears of its own.
      await lab.take(kept(OTHER, 'offline'));
      assert.deepEqual(await lab.published(), []);
      lab.appears(makeStrip(OTHER, [false]));
      assert.ok((await lab.published()).includes('smart-strip/A1B2C3D4E5F7/available online'));
    }
  });

  it('says so too of a strip that it has published on another topic before', async () => {
    const lab = new BridgeLab({ topic: 'old' })
      .start(makeStrip(OTHER, [true]))
      .redeployed()
      .start();
    lab.becomes({ available: false, listed: null, error: failure('TIMEOUT') });
    await lab.published();
    await lab.take(kept(OTHER));
    assert.deepEqual(await lab.published(), offline);
    lab.appears(makeStrip(OTHER, [true]));
    const told = await lab.published();
    assert.ok(told.includes('smart-strip/A1B2C3D4E5F7/available online'), told.join('\n'));
    assert.ok(told.includes('old/A1B2C3D4E5F7/available '), told.join('\n'));
  });

  it('says so of each strip once, however many there are and whatever the account says', async () => {
    for (const status of [{ available: false, listed: null }, { listed: 'part' }, {}] as const) {
      const lab = new BridgeLab().start();
      lab.becomes(status);
      for (const mac of ['AAAAAAAAAAA1', 'AAAAAAAAAAA2', 'AAAAAAAAAAA3']) {
        await lab.take(kept(mac));
        assert.deepEqual(await lab.published(), [`smart-strip/${mac}/available offline`]);
      }
    }
  });

  it('calls it available only after its states, and tells no reading that may be old', async () => {
    const lab = new BridgeLab().start();
    await lab.take(kept(OTHER));
    lab.appears(makeStrip(OTHER, [false], { load: 5 }));
    const states = ['1 OFF', 'load 5', 'voltage None', 'signal None', 'available online'];
    assert.deepEqual(
      (await lab.states()).filter((text) => !text.endsWith(' ')),
      states.map((state) => `smart-strip/A1B2C3D4E5F7/${state}`),
    );
    lab.changes(makeStrip(OTHER, [false], { load: 5, voltage: 230 }));
    assert.match((await lab.published()).join('\n'), /"voltage".*\n.*voltage 230$/);
  });

  it('leaves devices of others under the same topic alone', async () => {
    const lab = new BridgeLab({ topic: 'home' }).start(strip([true]));
    lab.becomes({});
    await lab.published();
    for (const id of ['kitchen', 'Kitchen', 'zigbee.1']) {
      await lab.take({ topic: `home/${id}/available`, payload: 'online', retain: true });
    }
    assert.deepEqual(await lab.published(), []);
  });

  it('calls it unavailable at its own broker also where another node with the same topic does so at another', async () => {
    const labs: BridgeLab[] = [];
    const lab = () => {
      const made: BridgeLab = new BridgeLab(
        {},
        { isTaken: (...of) => labs.some((other) => other !== made && other.bridge.publishes(...of)) },
      );
      labs.push(made);
      return made.start();
    };
    const [here, there] = [lab(), lab()];
    const each = async (act: (lab: BridgeLab) => unknown) => {
      for (const one of [here, there]) await act(one);
    };
    await each((one) => one.take(kept(OTHER)));
    await each((one) => one.becomes({ available: false, listed: null, error: failure('TIMEOUT') }));
    await each(async (one) => assert.deepEqual(await one.published(), offline));
    // Where both are at the same broker after all, the one that knows the strip wins.
    here.appears(makeStrip(OTHER, [false]));
    await here.published();
    there.becomes({});
    assert.deepEqual(await there.published(), []);
    there.appears(makeStrip(OTHER, [false]));
    assert.ok((await there.published()).includes('smart-strip/A1B2C3D4E5F7/available online'));
  });

  it('says so before it publishes everything else', async () => {
    const lab = new BridgeLab().start();
    lab.becomes({ available: null, listed: null });
    await lab.take(kept(OTHER));
    lab.appears(strip([true, false, true, false]));
    lab.becomes({});
    assert.equal((await lab.published())[0], offline[0]);
  });

  it('empties everything of it after a day, or at once where it was gone longer', async () => {
    const lab = new BridgeLab().start(strip([true]));
    lab.becomes({});
    await lab.published();
    for (const [payload, wait] of [
      ['online', 24 * 3_600_000],
      ['offline', 0],
    ] as const) {
      await lab.take(kept(OTHER, payload));
      await lab.clock.pass(wait);
      const told = await lab.published();
      assert.equal(told.filter((text) => text.endsWith(' ')).length, 9);
      assert.ok(told.includes('homeassistant/device/smart_strip_A1B2C3D4E5F7/config '));
      // An mqtt in node may be set to hand on buffers.
      for (const empty of ['', Buffer.alloc(0), null]) await lab.take({ ...kept(OTHER), payload: empty });
      assert.deepEqual(await lab.published(), []);
      assert.equal(lab.clock.pending, 0);
    }
  });

  it('empties it at once where it is first heard of more than a day after the start', async () => {
    const lab = new BridgeLab().start(strip([true]));
    lab.becomes({});
    await lab.clock.pass(25 * 3_600_000);
    lab.sent.splice(0);
    await lab.take(kept(OTHER));
    await lab.clock.pass(2_000);
    const told = lab.sent.map(({ topic, payload }) => `${topic} ${payload}`);
    assert.ok(told.includes('smart-strip/A1B2C3D4E5F7/available '), told.join('\n'));
  });

  it('does not bring back what is being emptied, where a further deploy comes before that was done', async () => {
    const here = strip([true, false, true, false]);
    const second = new BridgeLab()
      .start(here, makeStrip(OTHER, [true]))
      .redeployed({}, { source: 'another account' })
      .start(here);
    second.becomes({});
    const third = second.redeployed({}, { source: 'another account' }).start(here);
    third.becomes({});
    await third.take(kept(OTHER));
    const told = (await third.published()).filter((text) => text.includes(OTHER));
    assert.ok(told.includes('smart-strip/A1B2C3D4E5F7/available '), told.join('\n'));
    assert.deepEqual(
      told.filter((text) => !text.endsWith(' ')),
      [],
    );
  });

  it('keeps the description of a strip whose topic was changed twice', async () => {
    const second = new BridgeLab()
      .start(strip([true]))
      .redeployed({ topic: 'b' })
      .start(strip([true]));
    const third = second.redeployed().start();
    third.becomes({ available: null, listed: null });
    await third.take(kept(MAC));
    assert.ok((await third.published()).every((text) => !text.startsWith('homeassistant/')));
  });

  it('empties what the broker may keep of outlets that a strip no longer has, whichever is known first', async () => {
    for (const isListedFirst of [false, true]) {
      const lab = new BridgeLab().start();
      if (isListedFirst) lab.appears(strip([true, false], { load: 5 }));
      await lab.published();
      await lab.take(kept(MAC));
      if (!isListedFirst) lab.appears(strip([true, false], { load: 5 }));
      const told = await lab.published();
      assert.match(told.join('\n'), /"outlet_4":{"platform":"switch"}/);
      assert.deepEqual(
        told.filter((text) => text.endsWith(' ')),
        ['3', '4'].map((what) => `smart-strip/A1B2C3D4E5F6/${what} `),
      );
      // What it hears of its own.
      await lab.take({ ...kept(MAC), retain: false });
      assert.deepEqual(await lab.published(), []);
      lab.changes(strip([true, false], { load: 6 }));
      assert.deepEqual(await lab.published(), ['smart-strip/A1B2C3D4E5F6/load 6']);
    }
  });

  it('keeps the sensor of a reading that is not known at the moment', async () => {
    const lab = new BridgeLab().start(strip([true], { load: 5 }), strip([true]));
    await lab.published();
    await lab.take(kept(MAC));
    assert.match((await lab.published()).join('\n'), /"load":{"platform":"sensor","unique_id"/);
  });

  it('bounds how many it remembers', async () => {
    const lab = new BridgeLab().start();
    lab.becomes({ available: null, listed: null });
    for (let id = 0; id < 10_500; id++) await lab.take(kept(String(id)));
    lab.becomes({});
    assert.equal((await lab.published()).length, 10_000);
  });
});

describe('publishing at a pace', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      makeStrip(index.toString(16).padStart(12, '0'), [true, false, true, false], {
        load: 1,
        voltage: 230,
        signal: -60,
      }),
    );

  /** Messages in each tenth of a second. */
  async function paced(lab: BridgeLab): Promise<number[]> {
    const counts: number[] = [];
    for (let quiet = 0; quiet < 3;) {
      const before = lab.sent.length;
      await lab.clock.pass(100);
      const count = lab.sent.length - before;
      counts.push(count);
      quiet = count === 0 ? quiet + 1 : 0;
    }
    return counts.slice(0, -3);
  }

  for (const [count, seconds] of [
    [100, 5],
    [1000, 60],
  ] as const) {
    it(`tells ${count} strips within ${seconds} s of a birth message, discovery first`, async () => {
      const lab = new BridgeLab().start(...many(count));
      await lab.published();
      await lab.take({ topic: 'homeassistant/status', payload: 'online' });
      const counts = await paced(lab);
      assert.ok(counts.length * 100 < seconds * 1000, `${counts.length / 10} s`);
      assert.ok(Math.max(...counts) <= 85, `${Math.max(...counts)} in a tenth of a second`);
      assert.equal(lab.sent.length, count * 9);
      const firstState = lab.sent.findIndex(({ topic }) => topic.startsWith('smart-strip/'));
      assert.equal(firstState, count);
      assert.equal(new Set(lab.sent.map(({ topic }) => topic)).size, count * 9);
    });
  }

  it('empties all that goes, however much, and says of the last 10,000 topics again that they are empty', async () => {
    const strips = many(1200);
    const lab = new BridgeLab().start(...strips);
    await lab.published();
    for (const strip of strips) lab.tell({ kind: 'removed', strip });
    assert.equal((await lab.published()).length, 1200 * 9);
    await lab.take({ topic: 'smart-strip/bridge', payload: 'online' });
    assert.equal((await lab.published()).length, 10_000);
  });

  it('empties at the same pace from the start', async () => {
    const strips = many(20);
    const lab = new BridgeLab().start(...strips);
    await lab.published();
    for (const strip of strips) lab.tell({ kind: 'removed', strip });
    await lab.clock.pass(990);
    assert.equal(lab.sent.length, 0);
    await lab.clock.pass(20);
    assert.equal(lab.sent.length, 25);
  });

  it('lets a change pass what is sent in bulk, but not the discovery message of its strip', async () => {
    const strips = many(1000);
    const lab = new BridgeLab().start(...strips);
    await lab.clock.pass(200);
    const last = strips.at(-1);
    assert.ok(last);
    const before = lab.sent.length;
    lab.changes({ ...last, available: false });
    await lab.clock.pass(50);
    const id = last.mac.toUpperCase();
    const first = lab.sent.slice(before, before + 2).map(({ topic, payload }) => `${topic} ${payload}`);
    assert.match(first[0] ?? '', new RegExp(`^homeassistant/device/smart_strip_${id}/config {`));
    assert.equal(first[1], `smart-strip/${id}/available offline`);
    assert.equal((await lab.published()).length, 1000 * 9);
  });

  it('sends the state of an outlet before all readings of a poll', async () => {
    const strips = many(100);
    const lab = new BridgeLab().start(...strips);
    await lab.published();
    for (const each of strips) lab.changes({ ...each, load: 2, voltage: 231, signal: -61 });
    const [first] = strips;
    assert.ok(first);
    await lab.clock.pass(0);
    lab.sent.length = 0;
    const [, ...others] = first.outlets;
    lab.changes({ ...first, load: 2, outlets: [{ port: 1, on: false, name: null }, ...others] });
    await lab.clock.pass(50);
    assert.match(lab.sent[0]?.topic ?? '', /\/1$/);
  });

  it('sends the state of an outlet after a command before all that is sent in bulk', async () => {
    const strips = many(100);
    const lab = new BridgeLab().start(...strips);
    await lab.clock.pass(0);
    lab.sent.length = 0;
    const id = strips.at(-1)?.mac.toUpperCase();
    await lab.take({ topic: `smart-strip/${id}/1/set`, payload: 'ON' });
    await lab.clock.pass(50);
    assert.equal(lab.sent[1]?.topic, `smart-strip/${id}/1`);
  });

  it('tells all states after a birth message, although more readings change than can be sent', async () => {
    const strips = many(1000);
    const lab = new BridgeLab().start(...strips);
    await lab.published();
    await lab.take({ topic: 'smart-strip/bridge', payload: 'online' });
    for (let poll = 0; poll < 12; poll++) {
      for (const each of strips) lab.changes({ ...each, load: poll, voltage: 200 + poll, signal: -poll });
      await lab.clock.pass(5_000);
    }
    const told = lab.sent.filter(({ topic }) => /\/(?:1|available|config)$/.test(topic));
    assert.equal(new Set(told.map(({ topic }) => topic)).size, 3000);
  });

  it('calls a strip available only after its states, although these wait in bulk', async () => {
    const strips = many(500).map((each, index) => ({ ...each, available: index < 499 }));
    const last = strips.at(-1);
    assert.ok(last);
    const lab = new BridgeLab().start(...strips);
    await lab.clock.pass(200);
    lab.sent.length = 0;
    lab.changes({ ...last, available: true, load: 2 });
    await lab.clock.pass(50);
    const of = lab.sent.filter(({ topic }) => topic.includes(last.mac.toUpperCase()));
    assert.deepEqual(
      of.map(({ topic }) => topic.split('/').at(-1)),
      ['config', '1', '2', '3', '4', 'load', 'voltage', 'signal', 'available'],
    );
  });

  it('keeps a change in front at a birth message', async () => {
    const strips = many(100);
    const lab = new BridgeLab().start(...strips);
    await lab.published();
    const last = strips.at(-1);
    assert.ok(last);
    lab.changes({ ...last, available: false });
    await lab.take({ topic: 'smart-strip/bridge', payload: 'online' });
    assert.match((await lab.published())[0] ?? '', / offline$/);
  });

  it('waits a second before it empties a topic, also after a birth message', async () => {
    const lab = new BridgeLab().start(strip([true]));
    await lab.published();
    lab.tell({ kind: 'removed', strip: strip([true]) });
    await lab.take({ topic: 'smart-strip/bridge', payload: 'online' });
    await lab.clock.pass(900);
    assert.deepEqual(lab.sent, []);
    await lab.clock.pass(200);
    assert.ok(lab.sent.length > 0);
  });

  it('starts over at a further birth message, without sending anything twice that still waits', async () => {
    const lab = new BridgeLab().start(...many(200));
    await lab.take({ topic: 'smart-strip/bridge', payload: 'online' });
    await lab.take({ topic: 'homeassistant/status', payload: 'online' });
    assert.equal((await lab.published()).length, 200 * 9);
  });

  it('comes to the end also where birth messages keep coming', async () => {
    const lab = new BridgeLab().start(...many(200));
    await lab.published();
    for (let second = 0; second < 6; second++) {
      await lab.take({ topic: 'smart-strip/bridge', payload: 'online' });
      await lab.clock.pass(1000);
    }
    assert.equal(new Set(lab.sent.map(({ topic }) => topic)).size, 200 * 9);
  });

  it('keeps only the newest payload of a topic while it waits', async () => {
    const lab = new BridgeLab().start(strip([false]));
    await lab.published();
    for (let n = 0; n < 10_000; n++) lab.changes(strip([n % 2 === 0]));
    assert.deepEqual(await lab.published(), ['smart-strip/A1B2C3D4E5F6/1 OFF']);
  });

  it('knows that the broker may keep a topic as long as that waits to be emptied once more', async () => {
    const clock = new FakeClock();
    const publisher = new Publisher({ clock, isTaken: () => false, send: () => undefined });
    publisher.empty(['gone']);
    await clock.pass(2_000);
    publisher.emptyAgain();
    await clock.pass(29_000);
    for (let n = 0; n < 20_000; n++) publisher.publish(`topic/${n}`, 'ON', false);
    await clock.pass(35_000);
    assert.deepEqual(publisher.maybeKept, ['gone']);
    await clock.pass(10_000);
    assert.deepEqual(publisher.maybeKept, []);
  });

  it('has no timer while there is nothing to send', async () => {
    const lab = new BridgeLab().start(...many(10));
    await lab.published();
    assert.equal(lab.clock.pending, 0);
  });
});

describe('taking messages from the broker', () => {
  it('answers a birth message with everything', async () => {
    for (const topic of ['homeassistant/status', 'smart-strip/bridge']) {
      const lab = new BridgeLab().start(strip([true]));
      const first = await lab.published();
      assert.equal(await lab.take({ topic, payload: 'online', retain: true }), null);
      assert.deepEqual(await lab.published(), first);
      assert.equal(await lab.take({ topic, payload: 'offline' }), null);
      const own = topic === 'smart-strip/bridge' ? [`${topic} online`] : [];
      assert.deepEqual(await lab.published(), own);
    }
  });

  it('answers an offline of the bridge a second later, also after a deploy, unless it has heard online since', async () => {
    const offline = { topic: 'smart-strip/bridge', payload: 'offline' };
    const lab = new BridgeLab().start();
    await lab.take(offline);
    await lab.take(offline);
    await lab.clock.pass(999);
    assert.deepEqual(lab.sent, []);
    await lab.take({ topic: 'homeassistant/status', payload: 'online' });
    await lab.clock.pass(1);
    assert.equal(lab.sent.length, 1);
    assert.deepEqual(await lab.published(), ['smart-strip/bridge online']);
    await lab.take(offline);
    await lab.take({ ...offline, payload: 'online' });
    assert.deepEqual(await lab.published(), []);
    await lab.take(offline);
    const next = lab.redeployed().start();
    assert.deepEqual(await lab.published(), []);
    assert.deepEqual(await next.published(), ['smart-strip/bridge online']);
    const last = next.redeployed().start();
    assert.deepEqual(await last.published(), []);
  });

  for (const payload of ['ONLINE', 'on', '', null, undefined, true, {}, Buffer.from('online')]) {
    it(`refuses ${preview(payload)} as a birth message`, async () => {
      const lab = new BridgeLab().start(strip([true]));
      await lab.published();
      const refused = await lab.take({ topic: 'smart-strip/bridge', payload });
      assert.equal(refused?.code, 'INVALID_INPUT');
      assert.equal(refused.sentenceKey, 'INVALID_INPUT.birth');
      assert.deepEqual(refused.params, { topic: '"smart-strip/bridge"', got: preview(payload) });
      assert.deepEqual(await lab.published(), []);
    });
  }

  it('ignores what it published itself', async () => {
    const lab = new BridgeLab().start(strip([true], { load: 5 }));
    await lab.clock.pass(1000);
    for (const { topic, payload } of lab.sent.splice(0)) {
      for (const retain of [true, false]) assert.equal(await lab.take({ topic, payload, retain }), null);
    }
    assert.deepEqual(lab.commands, []);
  });

  for (const [payload, action] of [
    ['ON', true],
    ['off', false],
    [' Toggle ', 'toggle'],
    ['cycle', 'cycle'],
    [1, true],
    [0, false],
    [false, false],
  ] as const) {
    it(`takes ${JSON.stringify(payload)} as a command`, async () => {
      const lab = new BridgeLab().start(strip([true, false]));
      assert.equal(await lab.take(set(2, payload)), null);
      assert.deepEqual(lab.commands, [{ mac: MAC, port: 2, action, delay: 5000 }]);
      assert.deepEqual(lab.runOptions, [{ owner: lab.received?.msg }]);
    });
  }

  it('takes a command for all outlets, and sends the service its own spelling of the MAC', async () => {
    const lab = new BridgeLab().start(makeStrip('a1:b2:c3:d4:e5:f6', [true]));
    await lab.take(set('all', 'OFF'));
    assert.deepEqual(lab.commands, [{ mac: 'a1:b2:c3:d4:e5:f6', port: 'all', action: false, delay: 5000 }]);
  });

  for (const payload of [' ', 'yes', 2, NaN, null, undefined, {}, { on: true }, [true], Buffer.from('ON')]) {
    it(`refuses the state ${preview(payload)} without a request`, async () => {
      const lab = new BridgeLab().start(strip([true]));
      assert.equal((await lab.take(set(1, payload)))?.code, 'INVALID_INPUT');
      assert.deepEqual(lab.commands, []);
    });
  }

  it('refuses garbage without a request', async () => {
    const lab = new BridgeLab().start(strip([true]));
    const topics = [
      'x',
      'smart-strip/x',
      `smart-strip/${MAC}/5/set`,
      `smart-strip/${MAC}/1/set/x`,
      undefined,
    ];
    for (const topic of topics) {
      assert.equal((await lab.take({ topic, payload: 'ON' }))?.code, 'INVALID_INPUT', topic);
    }
    for (const id of ['FFFFFFFFFFFF', '__proto__', '', '#', 'x'.repeat(5000), MAC.toLowerCase()]) {
      const refused = await lab.take({ topic: `smart-strip/${id}/1/set`, payload: 'ON' });
      assert.equal(refused?.code, 'NOT_FOUND', id);
      assert.equal(refused.sentenceKey, 'NOT_FOUND.strip');
      assert.deepEqual(refused.params, { mac: preview(id) });
    }
    assert.deepEqual(lab.commands, []);
    assert.equal(lab.lists, 0);
  });

  it('drops a retained command with one warning', async () => {
    const lab = new BridgeLab().start(strip([true]));
    for (let n = 0; n < 3; n++) assert.equal(await lab.take(set(1, 'OFF', { retain: true })), null);
    assert.equal(await lab.take(set(2, 'OFF', { retain: true })), null);
    assert.deepEqual(lab.warned, [`smart-strip/${MAC}/1/set`, `smart-strip/${MAC}/2/set`]);
    assert.deepEqual(lab.commands, []);
  });

  it('is quiet when a retained command is removed, as its warning advises', async () => {
    const lab = new BridgeLab().start(strip([true]));
    await lab.published();
    // An mqtt in node may be set to hand on buffers.
    for (const payload of ['', Buffer.alloc(0)]) {
      const { messages, status } = await lab.bridge.handle(input(set(1, payload)));
      assert.deepEqual({ messages, text: status.text }, { messages: [], text: '1' });
    }
    assert.deepEqual(lab.commands, []);
    assert.deepEqual(await lab.published(), []);
  });

  it('warns of a hundred retained commands at most', async () => {
    const lab = new BridgeLab().start(strip([true]));
    for (let id = 0; id < 150; id++) {
      await lab.take({ topic: `smart-strip/${id}/1/set`, payload: 'OFF', retain: true });
    }
    assert.equal(lab.warned.length, 100);
  });

  it('confirms a command, once, also where nothing changed', async () => {
    const lab = new BridgeLab().start(strip([true, false]));
    await lab.states();
    await lab.take(set(1, 'ON'));
    assert.deepEqual(await lab.states(), ['smart-strip/A1B2C3D4E5F6/1 ON']);
    lab.run = (command) => {
      lab.changes(strip([false, false]));
      return Promise.resolve(outcomeOf(command));
    };
    await lab.take(set(1, 'OFF'));
    assert.deepEqual(await lab.states(), ['smart-strip/A1B2C3D4E5F6/1 OFF']);
  });

  it('sends the last known state again after a failed command', async () => {
    const lab = new BridgeLab().start(strip([true, null]));
    await lab.states();
    lab.run = () => Promise.reject(failure('PROTECTED'));
    assert.equal((await lab.take(set(1, 'OFF')))?.code, 'PROTECTED');
    assert.deepEqual(await lab.states(), ['smart-strip/A1B2C3D4E5F6/1 ON']);
    await lab.take(set('all', 'OFF'));
    assert.deepEqual(await lab.states(), [
      'smart-strip/A1B2C3D4E5F6/1 ON',
      'smart-strip/A1B2C3D4E5F6/2 None',
    ]);
  });

  it('says which outlet an unusable command is about, and sends its last known state again', async () => {
    const lab = new BridgeLab().start(strip([true, false]));
    await lab.states();
    const message = input(set(2, '{"state":"ON"}'));
    assert.equal((await failing(() => lab.bridge.handle(message))).sentenceKey, 'INVALID_INPUT.state');
    assert.deepEqual(message.target, { mac: MAC, port: 2, requested: null });
    assert.deepEqual(await lab.states(), ['smart-strip/A1B2C3D4E5F6/2 OFF']);
  });

  it('says nothing of a strip that was forgotten while its command ran', async () => {
    const lab = new BridgeLab().start(strip([true]));
    await lab.states();
    lab.run = () => {
      lab.tell({ kind: 'removed', strip: strip([true]) });
      return Promise.reject(failure('NOT_FOUND'));
    };
    await lab.take(set(1, 'OFF'));
    assert.ok((await lab.states()).every((text) => text.endsWith(' ')));
  });

  it('says which outlet a failed message is about', async () => {
    const lab = new BridgeLab().start(strip([true]));
    lab.run = () => Promise.reject(failure('TIMEOUT'));
    const message = input(set(3, 'Toggle'));
    await failing(() => lab.bridge.handle(message));
    assert.equal(lab.commands.length, 1);
    assert.deepEqual(message.target, { mac: MAC, port: 3, requested: 'toggle' });
  });

  it('leaves a command to the account, which tries again, until the whole list was read', async () => {
    const down = { available: false, listed: null, error: failure('UNREACHABLE') };
    for (const status of [
      down,
      { ...down, listed: 'whole' },
      { available: null, listed: null },
      { listed: 'part' },
    ] as const) {
      const lab = new BridgeLab().start();
      lab.status = { ...STATUS, ...status };
      const message = input(set(1, 'OFF'));
      await lab.bridge.handle(message);
      assert.deepEqual(lab.commands, [{ mac: MAC, port: 1, action: false, delay: 5000 }]);
      assert.deepEqual(message.target, { mac: MAC, port: 1, requested: 'off' });
      assert.equal(lab.lists, 0);
    }
    // A command for another strip may have succeeded.
    const lab = new BridgeLab().start(makeStrip(OTHER, [true]));
    lab.status = { ...STATUS, listed: null };
    lab.run = () => Promise.reject(failure('NOT_FOUND'));
    assert.equal((await lab.take(set(1, 'OFF')))?.code, 'NOT_FOUND');
  });

  /** No MAC: the id is not what the service calls it. */
  const named = makeStrip('desk strip', [true]);
  const setNamed: Message = { topic: 'smart-strip/DESK_20_STRIP/1/set', payload: 'OFF' };

  it('reads the list, where that was never done, for a strip whose id is no MAC', async () => {
    const lab = new BridgeLab().start(makeStrip(OTHER, [true]));
    lab.status = { ...STATUS, listed: null };
    lab.list = () => {
      lab.appears(named);
      return Promise.resolve();
    };
    assert.equal(await lab.take(setNamed), null);
    assert.equal(lab.commands[0]?.mac, 'desk strip');
    assert.equal(lab.lists, 1);
  });

  it('says why no strip is known yet', async () => {
    const lab = new BridgeLab().start();
    lab.status = { ...STATUS, available: false, error: failure('AUTH') };
    assert.equal((await lab.take(setNamed))?.code, 'AUTH');
    lab.appears(makeStrip(OTHER, [true]));
    lab.status = { ...lab.status, listed: null };
    for (const id of ['DESK_20_STRIP', '', MAC.toLowerCase()]) {
      assert.equal((await lab.take({ ...setNamed, topic: `smart-strip/${id}/1/set` }))?.code, 'AUTH', id);
    }
    assert.deepEqual(lab.commands, []);
    assert.equal(lab.lists, 0);
  });

  it('says that there is no such strip where the account has none, and where it has others but fails', async () => {
    const none = new BridgeLab().start();
    assert.equal((await none.take(set(1, 'OFF')))?.code, 'NOT_FOUND');
    const others = new BridgeLab().start(makeStrip(OTHER, [true]));
    others.status = { ...STATUS, available: false, error: failure('TIMEOUT') };
    assert.equal((await others.take(set(1, 'OFF')))?.code, 'NOT_FOUND');
    const part = new BridgeLab().start(makeStrip(OTHER, [true]));
    part.status = { ...STATUS, listed: 'part' };
    // What is no MAC is called otherwise by the service, and only the list would say how.
    assert.equal((await part.take(setNamed))?.code, 'NOT_FOUND');
    assert.equal(none.lists + others.lists + part.lists, 0);
  });

  it('sends a command for a strip that is known before any answer is, without reading the list', async () => {
    const lab = new BridgeLab().start(strip([true]), named);
    lab.status = { ...STATUS, available: null, listed: null };
    for (const message of [set(1, 'OFF'), setNamed]) assert.equal(await lab.take(message), null);
    assert.deepEqual(
      lab.commands.map(({ mac }) => mac),
      [MAC, 'desk strip'],
    );
    assert.equal(lab.lists, 0);
  });

  it('sends no command for a message that ended while the list was read', async () => {
    const lab = new BridgeLab().start();
    const message = input(setNamed, () => {
      throw closedError('notSent');
    });
    lab.status = { ...STATUS, available: null, listed: null };
    lab.list = () => {
      lab.appears(named);
      return Promise.resolve();
    };
    const { sentenceKey } = await failing(() => lab.bridge.handle(message));
    assert.equal(sentenceKey, 'CLOSED.notSent');
    assert.deepEqual(lab.commands, []);
  });

  it('shows the status of the node again a while after a message failed, unless it was closed', async () => {
    const lab = new BridgeLab().start(strip([true]));
    const wrong = { topic: 'elsewhere', payload: 'on' };
    await assert.rejects(lab.bridge.handle(input(wrong)), { code: 'INVALID_INPUT' });
    lab.shown.length = 0;
    await lab.clock.pass(10_000);
    assert.deepEqual(lab.shown, ['1']);
    await assert.rejects(lab.bridge.handle(input(wrong)), { code: 'INVALID_INPUT' });
    lab.bridge.close();
    await lab.clock.pass(10_000);
    assert.deepEqual(lab.shown, ['1']);
  });

  it('answers with the status of the node', async () => {
    const lab = new BridgeLab().start(strip([true]));
    lab.becomes({ available: null });
    const birth = { topic: 'smart-strip/bridge', payload: 'online' };
    assert.deepEqual(await lab.bridge.handle(input(birth)), {
      messages: [],
      status: ASKING,
    });
    lab.becomes({});
    const status = { fill: 'green', shape: 'dot', text: '1' };
    assert.deepEqual(await lab.bridge.handle(input(birth)), { messages: [], status });
  });
});

describe('closing a bridge', () => {
  it('sends nothing any more and stops the poll', async () => {
    const lab = new BridgeLab().start(strip([true]), makeStrip(OTHER, [true]));
    lab.tell({ kind: 'removed', strip: makeStrip(OTHER, [true]) });
    await lab.published();
    let fail: (reason: StripError) => void = () => undefined;
    lab.run = () => new Promise((_resolve, reject) => (fail = reject));
    const taken = lab.take(set(1, 'OFF'));
    await calm();
    lab.bridge.close();
    assert.equal(lab.subscribers, 0);
    fail(failure('CLOSED'));
    assert.equal((await taken)?.code, 'CLOSED');
    await lab.take({ topic: 'smart-strip/bridge', payload: 'online' });
    assert.equal(lab.clock.pending, 0);
    assert.deepEqual(await lab.published(), []);
  });

  it('leaves no timer', async () => {
    const lab = new BridgeLab()
      .start(strip([true]), makeStrip(OTHER, [true]))
      .redeployed()
      .start();
    lab.becomes({});
    for (let times = 0; times < 2; times++) await lab.take({ topic: 'elsewhere', payload: 'on' });
    lab.bridge.close();
    assert.equal(lab.clock.pending, 0);
  });

  it('sends nothing of what still waited', async () => {
    const lab = new BridgeLab().start(strip([true]), makeStrip(OTHER, [true]));
    lab.tell({ kind: 'removed', strip: makeStrip(OTHER, [true]) });
    lab.bridge.close();
    assert.equal(lab.clock.pending, 0);
    assert.deepEqual(await lab.published(), []);
  });
});
