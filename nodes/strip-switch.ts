import type { NodeAPI } from 'node-red';
import { switchHandler } from '../src/flow/strip-switch';
import { registerInputNode } from './shared/flow-node';

export = (RED: NodeAPI): void => {
  registerInputNode(RED, 'strip switch', switchHandler);
};
