import type { Node, NodeAPI } from 'node-red';
import { readWatchOptions, startWatching } from '../src/flow/strip-watch';
import { textOf } from '../src/settings';
import { accountOf, showStartFailure, statusDisplay, type Definition } from './shared/flow-node';
import { translator, whenStarted } from './shared/runtime';

export = (RED: NodeAPI): void => {
  const translate = translator(RED);

  function StripWatch(this: Node, def: Definition): void {
    RED.nodes.createNode(this, def);
    const display = statusDisplay(this);
    const account = textOf(def, 'account');
    let stop = (): void => undefined;

    try {
      const options = readWatchOptions(def, (name): unknown =>
        RED.util.evaluateNodeProperty(name, 'env', this, {}),
      );
      stop = whenStarted(RED, () => {
        try {
          stop = startWatching(options, accountOf(RED, account).account.get(), display, (msg) =>
            this.send(msg),
          );
        } catch (error) {
          showStartFailure(this, display, error, 'watch', translate);
        }
      });
    } catch (error) {
      showStartFailure(this, display, error, 'watch', translate);
    }

    this.on('close', () => {
      stop();
      display.close();
    });
  }

  RED.nodes.registerType('strip watch', StripWatch);
};
