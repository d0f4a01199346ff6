import type { AccountStatus, Change } from '../account/types';
import type { Clock, Timer } from '../api/clock';
import { closedError, StripError } from '../api/errors';
import type { PortOrAll, ReadingName, Strip } from '../api/types';
import { READINGS } from '../api/types';
import { actionOf, invalidInput, parseRequested, type Message } from '../flow/input-fields';
import type { Handle, Input } from '../flow/input-handler';
import { ASKING, errorStatus, NO_STRIPS, UNKNOWN_ANSWER, type NodeStatus } from '../flow/node-status';
import type { SharedAccount } from '../flow/shared-account';
import { SETTINGS } from '../settings';
import { ownProperty, preview } from '../values';
import { discoveryPayload, outletsOf, type Origin } from './discovery';
import type { BridgeSettings } from './settings';
import { discoveryTopic, readTopic, stateTopic, stripId, topicsOf } from './topics';

/** A message as Node-RED's `mqtt out` takes it. */
export interface Publication extends Message {
  topic: string;
  payload: string;
  qos: 1;
  retain: true;
}

export interface BridgeOptions {
  settings: BridgeSettings;
  origin: Origin;
  clock: Clock;
  account: SharedAccount;
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

/** Retained commands that are warned of; bounds memory. */
const MOST_WARNED = 100;

/** Milliseconds a cycle leaves an outlet off: a message from the broker cannot say. */
const CYCLE_DELAY = Number(SETTINGS['strip switch'].delay.default) * 1000;

/** What is published about one strip. */
interface Shared {
  readonly id: string;
  strip: Strip;
  /** Readings that ever had a value. */
  readonly readings: Set<ReadingName>;
  /** Components of the discovery message that were ever sent, with their platforms. */
  readonly announced: Map<string, string>;
  /** The latest payload that was sent, or is about to be, on each topic. */
  readonly published: Map<string, string>;
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
  /** Single topics to be sent, with their payloads. */
  readonly #changes = new Map<string, string>();
  /** Strips whose discovery message, and whose states, are to be sent as a whole. */
  readonly #discoveries = new Set<Shared>();
  readonly #states = new Set<Shared>();
  readonly #warned = new Set<string>();
  #stopChanges = (): void => undefined;
  #stopStatus = (): void => undefined;
  #status: AccountStatus | null = null;
  #timer: Timer | null = null;
  /** Messages that may still go out in this window. */
  #budget = MOST_IN_WINDOW;
  #closed = false;

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#settings = options.settings;
  }

  /** Begins to publish, which keeps the account's poll going. */
  start(): void {
    const { account } = this.#options;
    this.#stopChanges = account.subscribe((change) => this.#onChange(change), {
      initial: true,
      readings: this.#settings.readings ? 'all' : [],
    });
    this.#stopStatus = account.onStatus((status) => {
      this.#status = status;
      this.#show();
    });
  }

  /** Nothing is sent any more. */
  close(): void {
    this.#closed = true;
    this.#stopChanges();
    this.#stopStatus();
    if (this.#timer !== null) this.#options.clock.clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Carries out one message from the broker. */
  readonly handle: Handle = async (input) => {
    const topic = ownProperty(input.msg, 'topic');
    const payload = ownProperty(input.msg, 'payload');
    const incoming = readTopic(this.#settings, topic);
    switch (incoming.kind) {
      case 'own':
        break;
      case 'birth': {
        if (payload === 'online') this.#publishAll();
        else if (payload !== 'offline') throw birthRefused(topic, payload);
        break;
      }
      case 'command': {
        if (ownProperty(input.msg, 'retain') === true) this.#warn(String(topic));
        else await this.#command(incoming, payload, input);
      }
    }
    return { messages: [], status: this.#nodeStatus() ?? ASKING };
  };

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
    if (change.kind === 'account') return;
    if (change.kind === 'removed') this.#forget(change.strip);
    else this.#update(change.strip);
    this.#show();
  }

  #show(): void {
    const status = this.#nodeStatus();
    if (status !== null) this.#options.onStatus(status);
  }

  /** How many strips are shared, or why that is not known; `null` while the service was not asked yet. */
  #nodeStatus(): NodeStatus | null {
    if (this.#status === null || this.#status.available === null) return null;
    const { available, error, readable } = this.#status;
    if (!available) return errorStatus(error?.code ?? 'UNREACHABLE');
    if (!readable) return UNKNOWN_ANSWER;
    const { size } = this.#strips;
    return size === 0 ? NO_STRIPS : { fill: 'green', shape: 'dot', text: String(size) };
  }

  #update(strip: Strip): void {
    const id = stripId(strip.mac);
    let shared = this.#strips.get(id);
    if (shared === undefined) {
      shared = { id, strip, readings: new Set(), announced: new Map(), published: new Map() };
      this.#strips.set(id, shared);
      this.#publishWhole(shared);
    }
    // Changes that come together carry the same object: the first of them has published all.
    else if (shared.strip === strip) return;
    shared.strip = strip;
    if (this.#settings.readings) {
      for (const name of READINGS) if (strip[name] !== null) shared.readings.add(name);
    }
    const isNew = this.#states.has(shared);
    const payloads = new Map([...this.#discovery(shared), ...this.#statesOf(shared)]);
    for (const [topic, payload] of payloads) {
      const before = shared.published.get(topic);
      // What was never sent of a strip whose turn is still to come is sent then.
      if (before !== payload && !(before === undefined && isNew)) this.#publish(shared, topic, payload);
    }
    for (const topic of shared.published.keys()) {
      if (!payloads.has(topic)) this.#clear(shared, topic);
    }
  }

  /** Empties every topic of a strip, so that the broker keeps nothing of it. */
  #forget(strip: Strip): void {
    const shared = this.#strips.get(stripId(strip.mac));
    if (shared === undefined) return;
    this.#strips.delete(shared.id);
    this.#discoveries.delete(shared);
    this.#states.delete(shared);
    for (const topic of topicsOf(this.#settings, shared.id)) this.#clear(shared, topic);
  }

  /** An empty payload makes the broker forget what it kept on a topic. */
  #clear(shared: Shared, topic: string): void {
    this.#publish(shared, topic, '');
    shared.published.delete(topic);
  }

  /** Everything: first the discovery messages of all strips, then their states. */
  #publishAll(): void {
    for (const shared of this.#strips.values()) this.#publishWhole(shared);
  }

  #publishWhole(shared: Shared): void {
    if (this.#settings.discovery !== '') this.#discoveries.add(shared);
    this.#states.add(shared);
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

  #publish(shared: Shared, topic: string, payload: string): void {
    shared.published.set(topic, payload);
    this.#changes.set(topic, payload);
    this.#flushSoon();
  }

  #discovery({ id, strip, readings, announced }: Shared): Map<string, string> {
    if (this.#settings.discovery === '') return new Map();
    const payload = discoveryPayload(this.#settings, id, strip, readings, this.#options.origin, announced);
    return new Map([[discoveryTopic(this.#settings, id), payload]]);
  }

  #statesOf({ id, strip, readings }: Shared): Map<string, string> {
    const payloads = new Map<string, string>();
    for (const { port, on } of outletsOf(strip)) {
      payloads.set(stateTopic(this.#settings, id, port), onOff(on));
    }
    for (const name of readings) {
      const value = strip[name];
      payloads.set(stateTopic(this.#settings, id, name), value === null ? UNKNOWN : String(value));
    }
    payloads.set(stateTopic(this.#settings, id, 'available'), strip.available ? 'online' : 'offline');
    return payloads;
  }

  /** Not at once: what changes together goes out together, each topic once. */
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
    this.#budget = Math.min(this.#budget, 0) + MOST_IN_WINDOW;
    while (this.#budget > 0) {
      const payloads = this.#next();
      if (payloads === null) break;
      this.#budget -= payloads.size;
      for (const [topic, payload] of payloads) {
        this.#options.send({ topic, payload, qos: 1, retain: true });
      }
    }
    if (this.#budget < MOST_IN_WINDOW) this.#wait(WINDOW);
  }

  /** What goes out next, or `null`. */
  #next(): Map<string, string> | null {
    for (const [topic, payload] of this.#changes) {
      this.#changes.delete(topic);
      return new Map([[topic, payload]]);
    }
    for (const [waiting, payloadsOf] of [
      [this.#discoveries, (shared: Shared) => this.#discovery(shared)],
      [this.#states, (shared: Shared) => this.#statesOf(shared)],
    ] as const) {
      for (const shared of waiting) {
        waiting.delete(shared);
        const payloads = payloadsOf(shared);
        for (const [topic, payload] of payloads) shared.published.set(topic, payload);
        return payloads;
      }
    }
    return null;
  }
}

/** Home Assistant's word for a state that is not known. */
const UNKNOWN = 'None';

const onOff = (on: boolean | null): string => (on === null ? UNKNOWN : on ? 'ON' : 'OFF');

const birthRefused = (topic: unknown, payload: unknown): StripError =>
  new StripError('INVALID_INPUT', 'INVALID_INPUT.birth', {
    params: { topic: preview(topic), got: preview(payload) },
  });
