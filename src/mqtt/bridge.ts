import { FORGET_AFTER } from '../account/strip-store';
import type { Change } from '../account/types';
import { StripError } from '../api/errors';
import { isPossibleMac, PORTS, READINGS, type PortOrAll, type Strip, type Timer } from '../api/types';
import { actionOf, invalidInput, parseRequested } from '../flow/input-fields';
import type { Handle, HandlerResult, Input } from '../flow/input-handler';
import { accountStatus, ASKING, NO_STRIPS, type NodeStatus } from '../flow/node-status';
import type { UsedAccount } from '../flow/shared-account';
import {
  checkPrefix,
  CYCLE_DELAY,
  flagOf,
  requireReadable,
  requireSet,
  SETTINGS,
  textOf,
  type Config,
} from '../settings';
import { ownProperty, preview } from '../values';
import { payloadsOf, type BridgeSettings, type Kept } from './payloads';
import { Publisher, retained, type PublisherOptions } from './publisher';
import { bridgeTopic, discoveryTopic, readTopic, stateTopic, stripId, topicsOf } from './topics';

/** Reads a node's properties. Throws NOT_CONFIGURED. */
export function readBridgeSettings(config: Config): BridgeSettings {
  const { topic, discovery, readings } = SETTINGS['strip mqtt'];
  requireReadable(config, SETTINGS['strip mqtt']);
  const prefix = requireSet(textOf(config, 'discovery', discovery.default));
  return {
    topic: checkPrefix(requireSet(textOf(config, 'topic', topic.default))),
    discovery: prefix === '' ? '' : checkPrefix(prefix),
    readings: flagOf(config, 'readings', readings),
  };
}

interface BridgeOptions extends PublisherOptions {
  settings: BridgeSettings;
  /** Version of this package, for Home Assistant. */
  version: string;
  account: UsedAccount;
  /** Identifies the account and its address. If it changes, the strips are different ones. */
  source: string;
  /** What this node had published before a deploy closed it. */
  before: Published | undefined;
  /** Called for a retained command, once for each topic. */
  onRetained: (topic: string) => void;
  /** Called with the node's status whenever it changes. */
  onStatus: (status: NodeStatus) => void;
}

/** Milliseconds for which the status shows why a message from the broker failed. */
const ERROR_SHOWN_FOR = 10_000;

/** Milliseconds until `online` answers an `offline` of the bridge, which may also be the last message of a connection that a flow is ending. */
const ONLINE_AFTER = 1_000;

/** The most retained commands to warn about; bounds memory. */
const MAX_WARNED = 100;

/** The most strips that are known only because the broker keeps something of them; bounds memory. */
const MAX_KEPT = 10_000;

/** What the broker keeps from a bridge that was closed. The next bridge of the same node needs it. */
export interface Published {
  /** By id. */
  readonly strips: ReadonlyMap<string, Kept>;
  /** Topics that are to be emptied, or to be emptied once more. */
  readonly maybeKept: readonly string[];
  /** An `offline` of the bridge is not answered yet. */
  readonly isOffline: boolean;
}

/** Publishes an account's strips as MQTT messages, and turns messages from the broker into commands of the account. */
export class Bridge {
  /** By id. */
  readonly #strips = new Map<string, Kept & { readonly strip: Strip }>();
  /** Strips that were published before a deploy or a restart of Node-RED, and that the account has not found again yet. */
  readonly #before: Map<string, Kept>;
  /** For each of their topics that this bridge uses, too, the id of the strip. */
  readonly #topicsBefore = new Map<string, string>();
  readonly #publisher: Publisher;
  /** As in `Kept`. */
  readonly #source: string;
  /** Monotonic time of `start`. */
  #startedAt = 0;
  #forgetTimer: Timer | null = null;
  #statusTimer: Timer | null = null;
  /** `null`: no `offline` of the bridge is to be answered. */
  #onlineTimer: Timer | null = null;
  readonly #warned = new Set<string>();
  #unsubscribe: () => void = () => undefined;
  #closed = false;

  constructor(private readonly options: BridgeOptions) {
    this.#publisher = new Publisher(options);
    this.#before = new Map(options.before?.strips);
    const { settings } = options;
    this.#source = [options.source, settings.topic, settings.discovery].join(' ');
    for (const [id, { source, topics }] of this.#before)
      if (source === this.#source) for (const topic of topics) this.#topicsBefore.set(topic, id);
  }

  /** Begins to publish, which keeps the account's poll going. */
  start(): void {
    const { account, before, clock, settings } = this.options;
    this.#startedAt = clock.monotonic();
    // Once more: the broker may have been away when they were emptied.
    this.#publisher.empty(before?.maybeKept ?? []);
    if (before?.isOffline === true) this.#answerOffline();
    this.#unsubscribe = account.subscribe((change) => this.#onChange(change), settings.readings ? 'all' : []);
  }

  /** Stops sending. Returns what the broker keeps. */
  close(): Published {
    this.#closed = true;
    this.#unsubscribe();
    this.#publisher.close();
    for (const timer of [this.#forgetTimer, this.#statusTimer, this.#onlineTimer])
      this.options.clock.clearTimeout(timer);
    const strips = new Map([...this.#before, ...this.#strips]);
    return { strips, maybeKept: this.#publisher.maybeKept, isOffline: this.#onlineTimer !== null };
  }

  /**
   * Whether it publishes on a topic. Also true if it did so before the last deploy, and will do so again when the account has listed the strip. With
   * `payload`: whether it publishes exactly this payload.
   */
  publishes(topic: string, payload?: string): boolean {
    if (this.#publisher.publishes(topic, payload)) return true;
    return payload === undefined && this.#before.has(this.#topicsBefore.get(topic) ?? '');
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
      // Any other payload is no kept state: when a topic is emptied, the node receives that, too.
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
    const isOwn = topic === bridgeTopic(this.options.settings);
    if (payload === 'online') {
      this.#publishAll();
      if (!isOwn) return;
      this.options.clock.clearTimeout(this.#onlineTimer);
      this.#onlineTimer = null;
      this.#publisher.emptyAgain();
    } else if (payload === 'offline') {
      if (isOwn) this.#answerOffline();
    } else {
      throw new StripError('INVALID_INPUT.birth', { topic: preview(topic), got: preview(payload) });
    }
  }

  /** If the connection still works a second later, it was the will of an older connection, which the broker has given up only now. */
  #answerOffline(): void {
    const { clock, send, settings } = this.options;
    clock.clearTimeout(this.#onlineTimer);
    this.#onlineTimer = clock.setTimeout(() => {
      this.#onlineTimer = null;
      send(retained(bridgeTopic(settings), 'online'));
    }, ONLINE_AFTER);
  }

  /** The broker keeps the availability of a strip, perhaps from before a restart of Node-RED. It may keep something on each topic of the strip. */
  #onKept(id: string): void {
    const { settings } = this.options;
    const available = stateTopic(settings, id, 'available');
    const isEmptied = this.#publisher.isEmptied(available);
    const before = this.#before.get(id);
    if (before !== undefined && (isEmptied || before.topics.includes(available))) return;
    const known = this.#strips.get(id);
    const parts = new Set([...PORTS, ...(known?.parts ?? [])]);
    // Until a list says otherwise, the strip counts as one of this account.
    const kept = { source: this.#source, topics: topicsOf(settings, id), parts };
    if (known !== undefined) this.#publish(id, known.strip, kept, false);
    // The broker got this before it was emptied, or did not get that it was.
    else if (isEmptied) this.#publisher.empty(kept.topics);
    else if (this.#before.size < MAX_KEPT) {
      // A strip that was published before may have had another topic, which is still to be emptied.
      const topics = [...new Set([...(before?.topics ?? []), ...kept.topics])];
      const merged = { ...kept, ...before, topics };
      this.#before.set(id, merged);
      // Its states may be old.
      this.#publishOffline(kept.topics);
      this.#checkBefore([[id, merged]]);
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
      const command = { mac, port, action: actionOf(requested), delay: CYCLE_DELAY }; // a message from the broker has no delay
      await account.run(command, input.submit());
    } finally {
      // The sender may show the state that it asked for. So the real state is published, even if it has not changed.
      this.#repeatOutlets(id, port);
    }
  }

  /**
   * The MAC of the strip with this id. Until the account has listed all its strips, an unknown id may still be that of a strip. Then an id that can be a
   * MAC is passed to the account, which finds the service's spelling and retries during an outage.
   */
  async #macOf(id: string): Promise<string> {
    const { account } = this.options;
    const { listed, error } = account.status();
    const isListUnknown = listed !== 'whole' || (error !== null && this.#strips.size === 0);
    if (!this.#strips.has(id) && isListUnknown) {
      if (isPossibleMac(id) && stripId(id) === id) return id;
      if (error !== null) throw error;
      if (listed === null) await account.list();
    }
    const strip = this.#strips.get(id)?.strip;
    if (strip !== undefined) return strip.mac;
    throw new StripError('NOT_FOUND.strip', { mac: preview(id) });
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
   * Publishes strips as unavailable if they were published before this start and the account has not listed them yet. When the account knows its
   * strips, empties the topics of strips that belong to another account, address or prefix. After a day, empties the topics of all strips that are
   * still not listed. `strips`: the strips to look at.
   */
  #checkBefore(strips: Iterable<[string, Kept]> = this.#before): void {
    if (this.#before.size === 0) return;
    const { account, clock } = this.options;
    this.#forgetTimer ??= clock.setTimeout(() => this.#checkBefore(), FORGET_AFTER);
    const { available, readable, listed } = account.status();
    const areKnown = available === true && readable && listed !== null;
    const isLate = listed === 'whole' && clock.monotonic() - this.#startedAt >= FORGET_AFTER;
    for (const [id, kept] of strips) {
      // A strip of this account may be missing from the list only for a while, or be missing only from a part of it.
      const mayComeBack = kept.source === this.#source && !isLate;
      if (areKnown && !mayComeBack) {
        this.#publisher.empty(kept.topics);
        this.#before.delete(id);
      } else if (available === false || listed === 'whole' || !readable) {
        this.#publishOffline(kept.topics.filter((topic) => !this.#publisher.publishes(topic)));
      }
    }
  }

  #publishOffline(topics: readonly string[]): void {
    for (const topic of topics) {
      // Not if another node says that it is online. A node that also says offline does not count: it may do so at another broker.
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
    // All changes from one answer have the same object, and the first of them has published all of the strip.
    if (known?.strip === strip) return;
    const before = known ?? this.#before.get(id);
    this.#before.delete(id);
    this.#publish(id, strip, before, known !== undefined);
  }

  /**
   * Publishes what is new about a strip, and empties the topics that it no longer uses. `isChange`: it is sent before all that waits in bulk, except
   * for readings, of which a poll may bring more than can be sent.
   */
  #publish(id: string, strip: Strip, before: Kept | undefined, isChange: boolean): void {
    const { settings, version } = this.options;
    const { payloads, parts } = payloadsOf(settings, version, id, strip, before);
    this.#strips.set(id, { strip, source: this.#source, topics: [...payloads.keys()], parts });
    const readings = READINGS.map((name) => stateTopic(settings, id, name));
    const isOnline = this.#publisher.publishes(stateTopic(settings, id, 'available'), 'online');
    const comesOnline = strip.available && !isOnline;
    // The strip is online only after its states.
    const first = comesOnline ? [...payloads.keys()] : [discoveryTopic(settings, id)];
    if (isChange) for (const topic of first) this.#publisher.hasten(topic);
    for (const [topic, payload] of payloads) {
      const goesFirst = isChange && (comesOnline || !readings.includes(topic));
      // If `offline` still waits to be sent first, this moves the topic to the end of the bulk, behind its states.
      if (!this.#publisher.publishes(topic, payload)) this.#publisher.publish(topic, payload, goesFirst);
    }
    this.#publisher.empty(before?.topics.filter((topic) => !payloads.has(topic)) ?? []);
  }

  /** Empties every topic of a strip, so that the broker keeps nothing of it. */
  #forget(strip: Strip): void {
    const id = stripId(strip.mac);
    if (this.#strips.delete(id)) this.#publisher.empty(topicsOf(this.options.settings, id));
  }

  /** Publishes everything once more, the discovery messages first. */
  #publishAll(): void {
    const topics = [...this.#strips.values()].flatMap((kept) => kept.topics);
    for (const topic of topics) if (topic.endsWith('/config')) this.#publisher.repeat(topic);
    for (const topic of topics) this.#publisher.repeat(topic);
    for (const kept of this.#before.values())
      this.#publishOffline(kept.topics.filter((topic) => this.#publisher.publishes(topic)));
    this.#checkBefore();
  }

  /** Sends the state of an outlet, or of all outlets, once more, before all that waits in bulk. */
  #repeatOutlets(id: string, port: PortOrAll): void {
    const { settings } = this.options;
    this.#publisher.hasten(discoveryTopic(settings, id));
    for (const each of port === 'all' ? PORTS : [port])
      this.#publisher.repeat(stateTopic(settings, id, each), true);
  }
}

/** Whether a payload is empty. An mqtt in node may be set to send buffers. */
const isEmpty = (payload: unknown): boolean =>
  payload === '' || (Buffer.isBuffer(payload) && payload.length === 0);
