import type { NodeAPI } from 'node-red';
import { listHandler, type MessageFactory } from '../src/flow/strip-read';
import { registerInputNode } from './shared/flow-node';

export = (RED: NodeAPI): void => {
  const factory: MessageFactory = {
    clone: (msg) => RED.util.cloneMessage(msg),
    generateId: () => RED.util.generateId(),
  };
  registerInputNode(RED, 'strip list', (context) => listHandler(context, factory));
};
