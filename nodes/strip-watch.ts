import type { Node, NodeAPI } from 'node-red';
import { readWatchOptions, startWatching } from '../src/flow/strip-watch';
import { textOf } from '../src/settings';
import {
  accountOf,
  followAccount,
  showStartFailure,
  statusDisplay,
  type Definition,
} from './shared/flow-node';
import { translator } from './shared/runtime';

export = (RED: NodeAPI): void => {
  const translate = translator(RED);

  function StripWatch(this: Node, def: Definition): void {
    RED.nodes.createNode(this, def);
    const display = statusDisplay(this);
    const id = textOf(def, 'account');
    let stop = (): void => undefined;
    const unfollow = followAccount(RED, id, () => {
      stop();
      try {
        const env = (name: string): unknown => RED.util.evaluateNodeProperty(name, 'env', this, {});
        const options = readWatchOptions(def, env);
        const { account } = accountOf(RED, id);
        stop = startWatching(options, account.get(), display, (msg) => this.send(msg));
      } catch (error) {
        showStartFailure(this, display, error, 'watch', translate);
      }
    });

    this.on('close', () => {
      unfollow();
      stop();
      display.close();
    });
  }

  RED.nodes.registerType('strip watch', StripWatch);
};
