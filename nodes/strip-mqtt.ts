import type { Node, NodeAPI } from 'node-red';
import { systemClock } from '../src/api/clock';
import { StripError } from '../src/api/errors';
import { InputHandler } from '../src/flow/input-handler';
import { defectText, NOTHING_KNOWN } from '../src/flow/node-error';
import type { LazyAccount } from '../src/flow/shared-account';
import { Bridge, readBridge, type Published } from '../src/mqtt/bridge';
import { textOf } from '../src/settings';
import {
  accountOf,
  followAccount,
  showStartFailure,
  statusDisplay,
  type Definition,
} from './shared/flow-node';
import { packageVersion, translator } from './shared/runtime';

export = (RED: NodeAPI): void => {
  const translate = translator(RED);
  const origin = {
    name: 'Smart strip nodes for Node-RED',
    version: packageVersion(),
    url: 'https://github.com/smart-strip/node-red-smart-strip',
  };

  /** What the broker keeps of each node since the latest deploy, by the node's id. */
  const kept = new Map<string, Published>();
  const bridges = new Set<Bridge>();

  function StripMqtt(this: Node, def: Definition): void {
    RED.nodes.createNode(this, def);
    const display = statusDisplay(this);
    const owner = {};
    let bridge: Bridge | null = null;
    let account: LazyAccount | null = null;
    /** Why nothing is shared. */
    let failure = new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.account');

    const isTaken = (topic: string): boolean =>
      [...bridges].some((other) => other !== bridge && other.publishes(topic));
    const id = textOf(def, 'account');
    const stop = (): void => {
      if (bridge === null) return;
      bridges.delete(bridge);
      // Also of a node that is removed: it may only be disabled for a while.
      kept.set(this.id, bridge.close());
      bridge = null;
    };
    const start = (): void => {
      stop();
      try {
        const settings = readBridge(def);
        const link = accountOf(RED, id);
        account = link.account;
        bridge = new Bridge({
          settings,
          origin,
          clock: systemClock,
          account: account.get(),
          source: `${id} ${link.baseUrl}`,
          before: kept.get(this.id),
          isTaken,
          owner,
          send: (publication) => this.send(publication),
          onRetained: (topic) => this.warn(translate('notice.retained', { topic })),
          onStatus: (status) => display.set(status),
        });
        bridges.add(bridge);
        bridge.start();
      } catch (error) {
        failure = showStartFailure(this, display, error, 'mqtt', translate);
      }
    };
    const handler = new InputHandler({
      handle: async (input) => {
        if (bridge === null) throw failure;
        return await bridge.handle(input);
      },
      status: display,
      translate,
      known: () => account?.known ?? NOTHING_KNOWN,
      cancel: () => account?.cancel(owner),
      onDefect: (error) => this.warn(defectText(error, translate)),
    });
    const unfollow = followAccount(RED, id, start);

    this.on('input', (msg, _send, done) => handler.receive(msg, () => undefined, done));
    this.on('close', () => {
      unfollow();
      stop();
      handler.close();
    });
  }

  RED.nodes.registerType('strip mqtt', StripMqtt);
};
