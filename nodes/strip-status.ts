import type { NodeAPI } from 'node-red';
import { statusHandler } from '../src/flow/strip-read';
import { registerInputNode } from './shared/flow-node';

export = (RED: NodeAPI): void => {
  registerInputNode(RED, 'strip status', statusHandler);
};
