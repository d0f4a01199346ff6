import type { NodeAPI } from 'node-red';
import { switchWork } from '../src/flow/switch-work';
import { evaluator } from './shared/evaluate';
import { registerInputNode } from './shared/input-node';

export = (RED: NodeAPI): void => {
  registerInputNode(RED, 'strip switch', (config, node, live) =>
    switchWork(config, evaluator(RED, node), live),
  );
};
