import { FORGET_AFTER } from '../account/strip-store';
import type { Change } from '../account/types';
import { closedError, StripError } from '../api/errors';
import { isPossibleMac, PORTS, type PortOrAll, type Strip, type Timer } from '../api/types';
import { actionOf, invalidInput, parseRequested, requireSet } from '../flow/input-fields';
import type { Handle, HandlerResult, Input } from '../flow/input-handler';
import { accountStatus, ASKING, NO_STRIPS, type NodeStatus } from '../flow/node-status';
import { unusableStatus, type SharedAccount } from '../flow/shared-account';
import { checkPrefix, CYCLE_DELAY, flagOf, SETTINGS, textOf, type Config } from '../settings';
import { ownProperty, preview } from '../values';
import { payloadsOf, type BridgeSettings, type Kept } from './payloads';
import { Publisher, retained, type PublisherOptions } from './publisher';
import { bridgeTopic, discoveryTopic, readTopic, stateTopic, stripId, topicsOf } from './topics';

/** Reads a node's properties. Throws NOT_CONFIGURED. */
export function readBridge(config: Config): BridgeSettings {
  const { topic, discovery, readings } = SETTINGS['strip mqtt'];
  const prefix = requireSet(textOf(config, 'discovery', discovery.default));
  return {
    topic: checkPrefix(requireSet(textOf(config, 'topic', topic.default))),
    discovery: prefix === '' ? '' : checkPrefix(prefix),
    readings: flagOf(config, 'readings', readings),
  };
}

export type BridgeAccount = Pick<SharedAccount, 'list' | 'run' | 'status' | 'subscribe'>;

/** Stands for an account that cannot be used, so that what was published of its strips is not taken for true. */
export const unusableAccount = (error: StripError): BridgeAccount => ({
  subscribe: (listener) => {
    listener({ kind: 'account', available: false });
    return () => undefined;
  },
  status: () => unusableStatus(error),
  list: () => Promise.reject(error),
  run: () => Promise.reject(error),
});

interface BridgeOptions extends PublisherOptions {
  settings: BridgeSettings;
  /** Of this package, for Home Assistant. */
  version: string;
  account: BridgeAccount;
  /** Identifies the account and its address, as in `Kept`. If it changes, the strips are other ones. */
  source: string;
  /** What this node had published until a deploy closed it. */
  before: Published | undefined;
  /** Called for a retained command, once for each topic. */
  onRetained: (topic: string) => void;
  /** Called with the node's status whenever it changes. */
  onStatus: (status: NodeStatus) => void;
}

/** Milliseconds for which the status shows why a message from the broker failed. */
const ERROR_SHOWN_FOR = 10_000;

/** Retained commands that are warned of; bounds memory. */
const MAX_WARNED = 100;

/** Strips that are known only because the broker keeps something of them; bounds memory. */
const MAX_KEPT = 10_000;

/** What the broker keeps of a bridge that is closed, for the next one of the same node. */
export interface Published {
  /** By id. */
  readonly strips: ReadonlyMap<string, Kept>;
  /** Topics that were emptied. */
  readonly emptied: readonly string[];
}

/** Publishes an account's strips as MQTT messages, and turns messages from the broker into commands of the account. */
export class Bridge {
  /** By id. */
  readonly #strips = new Map<string, Kept & { readonly strip: Strip }>();
  /** Strips of before a deploy or a restart of Node-RED that are not known again yet. */
  readonly #before: Map<string, Kept>;
  readonly #publisher: Publisher;
  /** Monotonic time. */
  #startedAt = 0;
  #forgetTimer: Timer | null = null;
  #statusTimer: Timer | null = null;
  readonly #warned = new Set<string>();
  #unsubscribe: () => void = () => undefined;
  #closed = false;

  constructor(private readonly options: BridgeOptions) {
    this.#publisher = new Publisher(options);
    this.#before = new Map(options.before?.strips);
  }

  /** Begins to publish, which keeps the account's poll going. */
  start(): void {
    const { account, before, clock, settings } = this.options;
    this.#startedAt = clock.monotonic();
    // The broker may have been away.
    this.#publisher.empty(before?.emptied ?? []);
    this.#unsubscribe = account.subscribe((change) => this.#onChange(change), settings.readings ? 'all' : []);
  }

  /** Nothing is sent any more. Returns what the broker keeps. */
  close(): Published {
    this.#closed = true;
    this.#unsubscribe();
    this.#publisher.close();
    for (const timer of [this.#forgetTimer, this.#statusTimer]) this.options.clock.clearTimeout(timer);
    return { strips: new Map([...this.#before, ...this.#strips]), emptied: this.#publisher.emptied };
  }

  publishes(topic: string, payload?: string): boolean {
    return this.#publisher.publishes(topic, payload);
  }

  /** Carries out one message from the broker. */
  readonly handle: Handle = async (input) => {
    try {
      return await this.#handle(input);
    } catch (error) {
      const { clock } = this.options;
      clock.clearTimeout(this.#statusTimer);
      if (!this.#closed) this.#statusTimer = clock.setTimeout(() => this.#showStatus(), ERROR_SHOWN_FOR);
      throw error;
    }
  };

  async #handle(input: Input): Promise<HandlerResult> {
    const topic = ownProperty(input.msg, 'topic');
    const payload = ownProperty(input.msg, 'payload');
    const isRetained = ownProperty(input.msg, 'retain') === true;
    const incoming = readTopic(this.options.settings, topic);
    if (incoming.kind === 'birth') this.#onBirth(topic, payload);
    else if (incoming.kind === 'availability') {
      // When a topic is emptied, the node hears that too.
      if (isRetained && (payload === 'online' || payload === 'offline')) this.#onKept(incoming.id);
    } else if (incoming.kind === 'command') {
      if (isRetained) this.#warn(String(topic));
      // An empty message only makes the broker forget a retained command.
      else if (!isEmpty(payload)) await this.#command(incoming.id, incoming.port, payload, input);
    }
    return { messages: [], status: this.#nodeStatus() ?? ASKING };
  }

  #showStatus(): void {
    const status = this.#nodeStatus();
    if (status !== null) this.options.onStatus(status);
  }

  #onBirth(topic: unknown, payload: unknown): void {
    const bridge = bridgeTopic(this.options.settings);
    if (payload === 'online') {
      this.#publishAll();
      // The broker may have been away when they were emptied.
      if (topic === bridge) for (const emptied of this.#publisher.emptied) this.#publisher.repeat(emptied);
    } else if (payload === 'offline') {
      // The connection it came on works: it is the will of an older one, which the broker has given up only now.
      if (topic === bridge) this.options.send(retained(bridge, 'online'));
    } else {
      const params = { topic: preview(topic), got: preview(payload) };
      throw new StripError('INVALID_INPUT', 'INVALID_INPUT.birth', { params });
    }
  }

  /** The broker keeps a strip, perhaps from before a restart of Node-RED: then something may be on each of its topics. */
  #onKept(id: string): void {
    const { settings, source } = this.options;
    const known = this.#strips.get(id);
    const parts = new Set([...PORTS, ...(known?.parts ?? [])]);
    // Until a list says more, it is one of this account.
    const kept = { source, topics: topicsOf(settings, id), parts };
    if (known !== undefined) this.#publish(id, known.strip, kept, false);
    else if (!this.#before.has(id) && this.#before.size < MAX_KEPT) {
      this.#before.set(id, kept);
      // Its states may be old.
      this.#publishOffline(kept.topics);
      this.#checkBefore();
    }
  }

  async #command(id: string, port: PortOrAll, payload: unknown, input: Input): Promise<void> {
    const { account } = this.options;
    const { target } = input;
    target.port = port;
    target.mac = this.#strips.get(id)?.strip.mac ?? null;
    try {
      const requested = parseRequested(payload);
      target.requested = requested;
      if (requested === null) throw invalidInput('state', payload);
      const mac = await this.#macOf(id);
      target.mac = mac;
      if (input.ended) throw closedError('notSent');
      input.submitted = true;
      const command = { mac, port, action: actionOf(requested), delay: CYCLE_DELAY }; // a message from the broker cannot say
      await account.run(command, input.runOptions);
    } finally {
      // The sender may show the state that it asked for: publish the real one, also where nothing changed.
      this.#repeatOutlets(id, port);
    }
  }

  /**
   * The MAC of the strip with this id. Until the account has listed its strips, it is not known that there is none: then an id that can be a MAC is
   * left to the account, which finds the service's spelling and tries again in an outage.
   */
  async #macOf(id: string): Promise<string> {
    const { account } = this.options;
    const { listed, error } = account.status();
    const isListUnknown = listed === null || (error !== null && this.#strips.size === 0);
    if (!this.#strips.has(id) && isListUnknown) {
      if (isPossibleMac(id) && stripId(id) === id) return id;
      if (error !== null) throw error;
      await account.list();
    }
    const strip = this.#strips.get(id)?.strip;
    if (strip !== undefined) return strip.mac;
    throw new StripError('NOT_FOUND', 'NOT_FOUND.strip', { params: { mac: preview(id) } });
  }

  #warn(topic: string): void {
    if (this.#warned.has(topic) || this.#warned.size >= MAX_WARNED) return;
    this.#warned.add(topic);
    this.options.onRetained(topic);
  }

  #onChange(change: Change): void {
    if (change.kind === 'removed') this.#forget(change.strip);
    else if (change.kind !== 'account') this.#update(change.strip);
    else this.#checkBefore();
    this.#showStatus();
  }

  /**
   * Strips that were published before this start, and that the account does not list yet, are unavailable. Once it knows its strips, the topics of
   * those of another account or address are emptied; a day later those of all.
   */
  #checkBefore(): void {
    if (this.#before.size === 0) return;
    const { account, clock, source } = this.options;
    this.#forgetTimer ??= clock.setTimeout(() => this.#checkBefore(), FORGET_AFTER);
    const { available, readable, listed } = account.status();
    const areKnown = available === true && readable && listed !== null;
    const isLate = clock.monotonic() - this.#startedAt >= FORGET_AFTER;
    for (const [id, shared] of this.#before) {
      // A strip of this account may only be out of the list for a while.
      const mayComeBack = shared.source === source && !isLate;
      if (areKnown && !mayComeBack) {
        this.#publisher.empty(shared.topics);
        this.#before.delete(id);
      } else if (available === false || listed === 'whole' || !readable) {
        this.#publishOffline(shared.topics);
      }
    }
  }

  #publishOffline(topics: readonly string[]): void {
    for (const topic of topics) {
      // A node that calls it unavailable too may do so at another broker.
      if (topic.endsWith('/available') && !this.options.isTaken(topic, 'online'))
        this.#publisher.publish(topic, 'offline', true);
    }
  }

  /** How many strips are shared, or why that is not known; `null` while the service was not asked yet. */
  #nodeStatus(): NodeStatus | null {
    const { size } = this.#strips;
    return accountStatus(this.options.account.status(), () =>
      size === 0 ? NO_STRIPS : { fill: 'green', shape: 'dot', text: String(size) },
    );
  }

  #update(strip: Strip): void {
    const id = stripId(strip.mac);
    const known = this.#strips.get(id);
    // Changes that come together carry the same object: the first of them has published all.
    if (known?.strip === strip) return;
    const before = known ?? this.#before.get(id);
    this.#before.delete(id);
    this.#publish(id, strip, before, known !== undefined);
  }

  /** Publishes what is new of a strip, and empties the topics that are no longer its own. `isChange`: it is sent before what waits in bulk. */
  #publish(id: string, strip: Strip, before: Kept | undefined, isChange: boolean): void {
    const { settings, source, version } = this.options;
    const { payloads, parts } = payloadsOf(settings, version, id, strip, before);
    this.#strips.set(id, { strip, source, topics: [...payloads.keys()], parts });
    if (isChange) this.#publisher.hasten(discoveryTopic(settings, id));
    for (const [topic, payload] of payloads) {
      // It may still wait to be called offline: it is online only after its states.
      if (!this.publishes(topic, payload)) this.#publisher.publish(topic, payload, isChange);
    }
    this.#publisher.empty(before?.topics.filter((topic) => !payloads.has(topic)) ?? []);
  }

  /** Empties every topic of a strip, so that the broker keeps nothing of it. */
  #forget(strip: Strip): void {
    const id = stripId(strip.mac);
    if (this.#strips.delete(id)) this.#publisher.empty(topicsOf(this.options.settings, id));
  }

  /** Everything once more, the discovery messages first. */
  #publishAll(): void {
    const topics = [...this.#strips.values()].flatMap((shared) => shared.topics);
    for (const topic of topics) if (topic.endsWith('/config')) this.#publisher.repeat(topic);
    for (const topic of topics) this.#publisher.repeat(topic);
    this.#checkBefore();
  }

  /** Sends the states of an outlet, or of all, once more, before all that waits in bulk. */
  #repeatOutlets(id: string, port: PortOrAll): void {
    const { settings } = this.options;
    this.#publisher.hasten(discoveryTopic(settings, id));
    for (const each of port === 'all' ? PORTS : [port]) {
      const topic = stateTopic(settings, id, each);
      // Of a strip that was forgotten meanwhile nothing must come back.
      if (!this.publishes(topic)) continue;
      this.#publisher.repeat(topic);
      this.#publisher.hasten(topic);
    }
  }
}

/** An mqtt in node may be set to send buffers. */
const isEmpty = (payload: unknown): boolean =>
  payload === '' || (Buffer.isBuffer(payload) && payload.length === 0);
