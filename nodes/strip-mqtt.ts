import type { Node, NodeAPI } from 'node-red';
import { StripError } from '../src/api/errors';
import { systemClock } from '../src/api/types';
import type { Handle } from '../src/flow/input-handler';
import type { UsedAccount } from '../src/flow/shared-account';
import { Bridge, readBridgeSettings, type Published } from '../src/mqtt/bridge';
import { textOf } from '../src/settings';
import { displayName } from '../src/values';
import {
  findAccount,
  handleInput,
  startWithAccount,
  statusDisplay,
  type Definition,
} from './shared/flow-node';
import { PACKAGE_VERSION, translator } from './shared/runtime';

/** The most closed nodes that are remembered; bounds memory. A program may deploy flows whose nodes have new ids each time. */
const MAX_CLOSED = 100;

export = (RED: NodeAPI): void => {
  const translate = translator(RED);
  /** What the broker keeps from each node that was closed, by the node's id; the one that was closed last comes last. */
  const published = new Map<string, Published>();
  const bridges = new Set<Bridge>();

  function StripMqtt(this: Node, def: Definition): void {
    RED.nodes.createNode(this, def);
    const display = statusDisplay(this);
    let bridge: Bridge | null = null;

    /** Throws if its topics cannot be used. Returns a function that ends the bridge. */
    const start = (account: UsedAccount): (() => void) => {
      const id = textOf(def, 'account');
      const started: Bridge = new Bridge({
        settings: readBridgeSettings(def),
        version: PACKAGE_VERSION,
        clock: systemClock,
        account,
        source: `${id} ${textOf(findAccount(RED, id)?.config, 'baseUrl')}`,
        before: published.get(this.id),
        isTaken: (topic, payload) =>
          [...bridges].some((other) => other !== started && other.publishes(topic, payload)),
        send: (publication) => this.send(publication),
        onRetained: (topic) => this.warn(translate('notice.retained', { topic: displayName(topic) ?? '' })),
        onStatus: (status) => display.set(status),
      });
      started.start();
      bridge = started;
      bridges.add(started);
      return () => {
        bridge = null;
        bridges.delete(started);
        // Kept even if the node is removed, because it may only be disabled for a while.
        published.delete(this.id);
        published.set(this.id, started.close());
        const [oldest = ''] = published.keys();
        if (published.size > MAX_CLOSED) published.delete(oldest);
      };
    };
    const handle: Handle = async (input) => {
      if (bridge === null) {
        // Throws if this is why it has not started.
        readBridgeSettings(def);
        throw new StripError('NOT_CONFIGURED.account');
      }
      return await bridge.handle(input);
    };
    startWithAccount(RED, this, def, { display, notice: 'mqtt', start });
    handleInput(RED, this, def, display, handle);
  }

  RED.nodes.registerType('strip mqtt', StripMqtt);
};
