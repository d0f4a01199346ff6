import type { Node, NodeAPI, NodeDef } from 'node-red';
import { systemClock } from '../../src/api/clock';
import { Badge } from '../../src/flow/badge';
import { textOf, type Config } from '../../src/flow/config';
import { Input, type Work } from '../../src/flow/input';
import type { Live } from '../../src/flow/live';
import { accountOf, findAccount } from './accounts';
import { describeFault } from './faults';
import { translator } from './translate';

export type Definition = NodeDef & Record<string, unknown>;

/** Registers a node that answers messages. `workOf` says how, once for each node; `live` throws NOT_CONFIGURED or CLOSED. */
export function registerInputNode(
  RED: NodeAPI,
  type: string,
  workOf: (config: Config, node: Node, live: () => Live) => Work,
): void {
  const translate = translator(RED);

  function InputNode(this: Node, def: Definition): void {
    RED.nodes.createNode(this, def);
    const id = textOf(def, 'account');
    const input = new Input({
      work: workOf(def, this, () => accountOf(RED, id).get()),
      badge: new Badge((mark) => this.status(mark ?? {}), systemClock),
      translate,
      lastKnown: (mac, port) => findAccount(RED, id)?.account.lastKnown(mac, port) ?? null,
      fault: (error) => this.warn(describeFault(error, translate)),
    });
    this.on('input', (msg, send, done) => input.take(msg, send, done));
    this.on('close', () => input.close());
  }

  RED.nodes.registerType(type, InputNode);
}
