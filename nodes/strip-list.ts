import type { NodeAPI } from 'node-red';
import { listWork, type Tools } from '../src/flow/read-work';
import { registerInputNode } from './shared/input-node';

export = (RED: NodeAPI): void => {
  const tools: Tools = {
    clone: (msg) => RED.util.cloneMessage(msg),
    generateId: () => RED.util.generateId(),
  };
  registerInputNode(RED, 'strip list', (config, _node, live) => listWork(config, live, tools));
};
