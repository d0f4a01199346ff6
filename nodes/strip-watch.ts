import type { Node, NodeAPI } from 'node-red';
import { readWatchOptions, startWatching } from '../src/flow/strip-watch';
import { startWithAccount, statusDisplay, type Definition } from './shared/flow-node';

export = (RED: NodeAPI): void => {
  function StripWatch(this: Node, def: Definition): void {
    RED.nodes.createNode(this, def);
    const display = statusDisplay(this);
    startWithAccount(RED, this, def, {
      display,
      notice: 'watch',
      start: (account) => {
        const env = (name: string): unknown => RED.util.evaluateNodeProperty(name, 'env', this, {});
        return startWatching(readWatchOptions(def, env), account, display, (msg) => this.send(msg));
      },
    });
    this.on('close', () => display.close());
  }

  RED.nodes.registerType('strip watch', StripWatch);
};
