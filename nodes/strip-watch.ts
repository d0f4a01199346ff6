import type { Node, NodeAPI } from 'node-red';
import { systemClock } from '../src/api/clock';
import { reportedError, sentenceOf } from '../src/flow/node-error';
import { errorStatus, StatusDisplay } from '../src/flow/node-status';
import { readWatchOptions, startWatching } from '../src/flow/strip-watch';
import { textOf } from '../src/settings';
import { accountOf } from './shared/accounts';
import { whenStarted } from './shared/deploys';
import type { Definition } from './shared/input-node';
import { translator } from './shared/translate';

export = (RED: NodeAPI): void => {
  const translate = translator(RED);

  function StripWatch(this: Node, def: Definition): void {
    RED.nodes.createNode(this, def);
    // Node-RED keeps the status of the node that was here before a deploy; whether it still holds is not known.
    this.status({});
    const display = new StatusDisplay((status) => this.status(status ?? {}), systemClock);
    const account = textOf(def, 'account');
    let stop = (): void => undefined;

    const report = (error: unknown): void => {
      const reported = reportedError(error, translate);
      display.set(errorStatus(reported.code));
      this.warn(translate('notice.watch', { reason: sentenceOf(reported, translate) }));
    };
    try {
      const options = readWatchOptions(def, (name): unknown =>
        RED.util.evaluateNodeProperty(name, 'env', this, {}),
      );
      stop = whenStarted(RED, () => {
        try {
          stop = startWatching(options, accountOf(RED, account).get(), display, (msg) => this.send(msg));
        } catch (error) {
          report(error);
        }
      });
    } catch (error) {
      report(error);
    }

    this.on('close', () => {
      stop();
      display.close();
    });
  }

  RED.nodes.registerType('strip watch', StripWatch);
};
