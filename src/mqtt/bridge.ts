import type { Change } from '../account/types';
import type { Clock, Timer } from '../api/clock';
import { closedError, StripError, variableMissing } from '../api/errors';
import type { PortOrAll, Strip } from '../api/types';
import { READINGS } from '../api/types';
import { actionOf, invalidInput, parseRequested, type Message } from '../flow/input-fields';
import type { Handle, Input } from '../flow/input-handler';
import { accountStatus, ASKING, NO_STRIPS, type NodeStatus } from '../flow/node-status';
import type { SharedAccount } from '../flow/shared-account';
import { checkPrefix, flagOf, SETTINGS, textOf, type Config } from '../settings';
import { environmentVariable, ownProperty, preview } from '../values';
import { discoveryPayload, outletsOf, type Origin } from './discovery';
import { discoveryTopic, readTopic, stateTopic, stripId, topicsOf, type TopicSettings } from './topics';

/** What a `strip mqtt` node does. */
interface BridgeSettings extends TopicSettings {
  /** Publishes load, voltage and signal too. */
  readings: boolean;
}

/** Reads a node's properties. Throws NOT_CONFIGURED. */
export function readBridge(config: Config): BridgeSettings {
  const prefix = (name: 'topic' | 'discovery'): string => {
    const text = textOf(config, name, SETTINGS['strip mqtt'][name].default);
    const variable = environmentVariable(text);
    if (variable === null) return text;
    throw variableMissing(variable);
  };
  const discovery = prefix('discovery');
  return {
    topic: checkPrefix(prefix('topic')),
    discovery: discovery === '' ? '' : checkPrefix(discovery),
    readings: flagOf(config, 'readings', SETTINGS['strip mqtt'].readings),
  };
}

/** A message as Node-RED's `mqtt out` takes it. */
export interface Publication extends Message {
  topic: string;
  payload: string;
  qos: 1;
  retain: true;
}

interface BridgeOptions {
  settings: BridgeSettings;
  origin: Origin;
  clock: Clock;
  account: SharedAccount;
  /** Says whose strips these are: another text, other strips. */
  source: string;
  /** What this node had published until a deploy closed it. */
  before: Published | undefined;
  /** Whether another node publishes on a topic. */
  isTaken: (topic: string) => boolean;
  /** Commands with this owner end when the node is closed. */
  owner: object;
  send: (publication: Publication) => void;
  /** Called for a retained command, once for each topic. */
  onRetained: (topic: string) => void;
  /** Called with the node's status whenever it changes. */
  onStatus: (status: NodeStatus) => void;
}

/** A broker drops what exceeds the queue of a slow client, so that no more than this is sent in one window: 500 messages a second. */
const WINDOW = 50;
const MOST_IN_WINDOW = 25;

/**
 * Milliseconds before a topic is emptied: after a deploy another node, of another account and with another connection to the broker, may be about
 * to publish on it.
 */
const EMPTY_AFTER = 1_000;

/** Topics that are emptied again after a birth message; bounds memory. */
const MOST_EMPTIED = 10_000;

/** Retained commands that are warned of; bounds memory. */
const MOST_WARNED = 100;

/** Milliseconds a cycle leaves an outlet off: a message from the broker cannot say. */
const CYCLE_DELAY = Number(SETTINGS['strip switch'].delay.default) * 1000;

/** What is published about one strip. */
interface Shared {
  readonly id: string;
  strip: Strip;
  /** Whose it is. */
  source: string;
  /** Components of the discovery message that were ever sent, with their platforms. */
  readonly announced: Map<string, string>;
  /** The latest payload that was sent, or is about to be, on each topic. */
  published: Map<string, string>;
}

/** What the broker keeps of a bridge that is closed, for the next one of the same node. */
export interface Published {
  readonly strips: ReadonlyMap<string, Shared>;
  readonly emptied: ReadonlySet<string>;
}

/**
 * Publishes an account's strips as MQTT messages, and turns messages from the broker into commands of the account. What changes goes out
 * first; everything at once (at the start and after a birth message) goes out at a pace that brokers and their clients keep up with. Only the
 * newest payload of a topic waits, so that what waits is never more than the topics there are.
 */
export class Bridge {
  readonly #settings: BridgeSettings;
  readonly #options: BridgeOptions;
  readonly #strips = new Map<string, Shared>();
  /** Strips of before a deploy that are not known again yet. */
  readonly #before: Map<string, Shared>;
  /** Topics that were emptied, or soon will be: emptied again after a birth message, because the broker may have been away. */
  readonly #emptied: Set<string>;
  /** Payloads that wait to be sent, by topic: what changed, and of whole strips the discovery messages and the states. */
  readonly #changes = new Map<string, string>();
  readonly #discoveries = new Map<string, string>();
  readonly #states = new Map<string, string>();
  readonly #warned = new Set<string>();
  #unsubscribe: () => void = () => undefined;
  #timer: Timer | null = null;
  /** Topics that are emptied when the timer fires, unless something is published on them before. */
  readonly #toEmpty = new Set<string>();
  #emptyTimer: Timer | null = null;
  #closed = false;

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#before = new Map(options.before?.strips);
    this.#emptied = new Set(options.before?.emptied);
  }

  /** Begins to publish, which keeps the account's poll going. */
  start(): void {
    const { account } = this.#options;
    const readings = this.#settings.readings ? 'all' : [];
    for (const topic of this.#emptied) this.#empty(topic);
    this.#unsubscribe = account.subscribe((change) => this.#onChange(change), readings);
  }

  /** Nothing is sent any more. Returns what the broker keeps. */
  close(): Published {
    this.#closed = true;
    this.#unsubscribe();
    for (const timer of [this.#timer, this.#emptyTimer])
      if (timer !== null) this.#options.clock.clearTimeout(timer);
    this.#timer = null;
    const strips = new Map([...this.#before, ...this.#strips]);
    return { strips, emptied: this.#emptied };
  }

  publishes(topic: string): boolean {
    return [...this.#strips.values()].some(({ published }) => published.has(topic));
  }

  /** Carries out one message from the broker. */
  readonly handle: Handle = async (input) => {
    const topic = ownProperty(input.msg, 'topic');
    const payload = ownProperty(input.msg, 'payload');
    const incoming = readTopic(this.#settings, topic);
    if (incoming.kind === 'birth') this.#onBirth(topic, payload);
    else if (incoming.kind === 'command') {
      if (ownProperty(input.msg, 'retain') === true) this.#warn(String(topic));
      else await this.#command(incoming, payload, input);
    }
    return { messages: [], status: this.#nodeStatus() ?? ASKING };
  };

  #onBirth(topic: unknown, payload: unknown): void {
    if (payload === 'online') {
      for (const topic of this.#emptied) this.#empty(topic);
      for (const shared of this.#strips.values()) this.#publishWhole(shared);
      this.#flushSoon();
    } else if (payload !== 'offline') {
      const params = { topic: preview(topic), got: preview(payload) };
      throw new StripError('INVALID_INPUT', 'INVALID_INPUT.birth', { params });
    }
  }

  async #command(
    { id, port }: { id: string; port: PortOrAll },
    payload: unknown,
    input: Input,
  ): Promise<void> {
    const { account, owner } = this.#options;
    const { target, onProgress } = input;
    target.port = port;
    const requested = parseRequested(payload);
    target.requested = requested;
    if (requested === null) throw invalidInput('state', payload);
    const shared = await this.#find(id);
    const { mac } = shared.strip;
    target.mac = mac;
    if (input.ended) throw closedError('notSent');
    input.submitted = true;
    try {
      const command = { mac, port, action: actionOf(requested), delay: CYCLE_DELAY };
      await account.run(command, { owner, onProgress });
    } finally {
      // The sender may show the state that it asked for: publish the real one, also where nothing changed.
      this.#publishOutlets(shared, port);
    }
  }

  /** The strip with this id. While the account has never listed its strips, it is not known that there is none. */
  async #find(id: string): Promise<Shared> {
    const { account } = this.#options;
    const { available, error } = account.status();
    if (!this.#strips.has(id)) {
      if (available === null) await account.list();
      else if (error !== null && this.#strips.size === 0) throw error;
    }
    const shared = this.#strips.get(id);
    if (shared === undefined) {
      throw new StripError('NOT_FOUND', 'NOT_FOUND.strip', { params: { mac: preview(id) } });
    }
    return shared;
  }

  #warn(topic: string): void {
    if (this.#warned.has(topic) || this.#warned.size >= MOST_WARNED) return;
    this.#warned.add(topic);
    this.#options.onRetained(topic);
  }

  #onChange(change: Change): void {
    if (change.kind === 'removed') this.#forget(change.strip);
    else if (change.kind !== 'account') this.#update(change.strip);
    else if (change.available === true) this.#forgetOthers();
    this.#show();
  }

  /** Empties what is left of the strips of another account, once those of this one are known. */
  #forgetOthers(): void {
    const { account, source } = this.#options;
    if (!account.status().readable) return;
    for (const shared of this.#before.values()) {
      // A strip of this account may only be out of the list for a while.
      if (shared.source === source) continue;
      for (const topic of shared.published.keys()) this.#clear(shared, topic);
      this.#before.delete(shared.id);
    }
  }

  #show(): void {
    const status = this.#nodeStatus();
    if (status !== null) this.#options.onStatus(status);
  }

  /** How many strips are shared, or why that is not known; `null` while the service was not asked yet. */
  #nodeStatus(): NodeStatus | null {
    const { size } = this.#strips;
    return accountStatus(this.#options.account.status(), () =>
      size === 0 ? NO_STRIPS : { fill: 'green', shape: 'dot', text: String(size) },
    );
  }

  #update(strip: Strip): void {
    const id = stripId(strip.mac);
    const known = this.#strips.get(id);
    // Changes that come together carry the same object: the first of them has published all.
    if (known?.strip === strip) return;
    const { source } = this.#options;
    const before = known ?? this.#before.get(id);
    const shared: Shared = before ?? { id, strip, source, announced: new Map(), published: new Map() };
    this.#before.delete(id);
    this.#strips.set(id, shared);
    shared.strip = strip;
    shared.source = source;
    const { published } = shared;
    const payloads = this.#payloadsOf(shared);
    if (known === undefined) {
      shared.published = payloads;
      this.#publishWhole(shared);
    }
    for (const [topic, payload] of payloads) {
      if (shared.published.get(topic) !== payload) this.#publish(shared, topic, payload);
    }
    for (const topic of published.keys()) {
      if (!payloads.has(topic)) this.#clear(shared, topic);
    }
  }

  /** Empties every topic of a strip, so that the broker keeps nothing of it. */
  #forget(strip: Strip): void {
    const shared = this.#strips.get(stripId(strip.mac));
    if (shared === undefined) return;
    this.#strips.delete(shared.id);
    for (const topic of topicsOf(this.#settings, shared.id)) this.#clear(shared, topic);
  }

  #clear(shared: Shared, topic: string): void {
    shared.published.delete(topic);
    for (const waiting of [this.#changes, this.#discoveries, this.#states]) waiting.delete(topic);
    this.#emptied.add(topic);
    this.#empty(topic);
  }

  /** An empty payload makes the broker forget what it kept on a topic. */
  #empty(topic: string): void {
    this.#toEmpty.add(topic);
    this.#emptyTimer ??= this.#options.clock.setTimeout(() => {
      this.#emptyTimer = null;
      for (const each of this.#toEmpty) if (this.#emptied.has(each)) this.#states.set(each, '');
      this.#toEmpty.clear();
      for (const oldest of [...this.#emptied].slice(0, -MOST_EMPTIED)) this.#emptied.delete(oldest);
      this.#flushSoon();
    }, EMPTY_AFTER);
  }

  /** Everything that is published of a strip, once what changed and the discovery messages of all strips are sent. */
  #publishWhole({ id, published }: Shared): void {
    for (const [topic, payload] of published) {
      const waiting = topic === discoveryTopic(this.#settings, id) ? this.#discoveries : this.#states;
      waiting.set(topic, payload);
      this.#emptied.delete(topic);
    }
    this.#flushSoon();
  }

  #publishOutlets(shared: Shared, port: PortOrAll): void {
    // Forgotten meanwhile: nothing of it must come back.
    if (this.#strips.get(shared.id) !== shared) return;
    for (const outlet of outletsOf(shared.strip)) {
      if (port !== 'all' && outlet.port !== port) continue;
      this.#publish(shared, stateTopic(this.#settings, shared.id, outlet.port), onOff(outlet.on));
    }
  }

  /** One change, before everything that waits as a whole, but for the discovery message of its strip. */
  #publish({ id, published }: Shared, topic: string, payload: string): void {
    published.set(topic, payload);
    const discovery = discoveryTopic(this.#settings, id);
    const description = this.#discoveries.get(discovery);
    if (description !== undefined) this.#changes.set(discovery, description);
    this.#discoveries.delete(discovery);
    this.#states.delete(topic);
    this.#emptied.delete(topic);
    this.#changes.set(topic, payload);
    this.#flushSoon();
  }

  /** All that is to be published of a strip, by topic. A reading is, once it had a value. */
  #payloadsOf({ id, strip, announced, published }: Shared): Map<string, string> {
    const { settings, origin } = this.#options;
    const readings = READINGS.filter(
      (name) => settings.readings && (strip[name] !== null || published.has(stateTopic(settings, id, name))),
    );
    const payloads = new Map<string, string>();
    if (settings.discovery !== '') {
      const discovery = discoveryPayload(settings, id, strip, readings, origin, announced);
      payloads.set(discoveryTopic(settings, id), discovery);
    }
    for (const { port, on } of outletsOf(strip)) payloads.set(stateTopic(settings, id, port), onOff(on));
    for (const name of readings) payloads.set(stateTopic(settings, id, name), String(strip[name] ?? UNKNOWN));
    payloads.set(stateTopic(settings, id, 'available'), strip.available ? 'online' : 'offline');
    return payloads;
  }

  /** Deferred, so that changes made together are sent together, each topic once. */
  #flushSoon(): void {
    if (!this.#closed && this.#timer === null) this.#wait(0);
  }

  #wait(ms: number): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#timer = null;
      this.#flush();
    }, ms);
  }

  #flush(): void {
    const { isTaken, send } = this.#options;
    const due = this.#takeDue();
    for (const [topic, payload] of due) {
      if (payload !== '' || !isTaken(topic)) send({ topic, payload, qos: 1, retain: true });
    }
    if (due.length > 0) this.#wait(WINDOW);
  }

  /** Topics and payloads that go out in one window. */
  #takeDue(): (readonly [topic: string, payload: string])[] {
    const due: (readonly [string, string])[] = [];
    for (const waiting of [this.#changes, this.#discoveries, this.#states]) {
      for (const entry of waiting) {
        if (due.length === MOST_IN_WINDOW) return due;
        waiting.delete(entry[0]);
        due.push(entry);
      }
    }
    return due;
  }
}

/** Home Assistant's word for a state that is not known. */
const UNKNOWN = 'None';

const onOff = (on: boolean | null): string => (on === null ? UNKNOWN : on ? 'ON' : 'OFF');
