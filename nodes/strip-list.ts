import type { NodeAPI } from 'node-red';
import { listHandler } from '../src/flow/strip-read';
import { registerInputNode } from './shared/flow-node';

export = (RED: NodeAPI): void => {
  registerInputNode(RED, 'strip list', (context) => listHandler(context, RED.util));
};
