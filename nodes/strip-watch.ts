import type { Node, NodeAPI } from 'node-red';
import { systemClock } from '../src/api/clock';
import { isStripError } from '../src/api/errors';
import { Badge } from '../src/flow/badge';
import { textOf } from '../src/flow/config';
import { asStripError, sentenceOf } from '../src/flow/failure';
import { failureMark } from '../src/flow/marks';
import { readWatched, startWatching } from '../src/flow/watch';
import { accountOf } from './shared/accounts';
import type { Definition } from './shared/input-node';
import { whenStarted } from './shared/started';
import { translator } from './shared/translate';

export = (RED: NodeAPI): void => {
  const translate = translator(RED);

  function StripWatch(this: Node, def: Definition): void {
    RED.nodes.createNode(this, def);
    const badge = new Badge((mark) => this.status(mark ?? {}), systemClock);
    const account = textOf(def, 'account');
    // Read here, so that what lives as long as the node does not hold on to its definition.
    const watched = readWatched(def, (name): unknown => RED.util.evaluateNodeProperty(name, 'env', this, {}));

    let stop = whenStarted(RED, () => {
      try {
        if (isStripError(watched)) throw watched;
        stop = startWatching(watched, accountOf(RED, account).get(), badge, (msg) => this.send(msg));
      } catch (error) {
        const known = asStripError(error);
        badge.set(failureMark(known.code));
        this.warn(translate('notice.watch', { reason: sentenceOf(known, translate) }));
      }
    });

    this.on('close', () => {
      stop();
      badge.close();
    });
  }

  RED.nodes.registerType('strip watch', StripWatch);
};
