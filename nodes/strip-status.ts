import type { NodeAPI } from 'node-red';
import { statusWork } from '../src/flow/read-work';
import { evaluator } from './shared/evaluate';
import { registerInputNode } from './shared/input-node';

export = (RED: NodeAPI): void => {
  registerInputNode(RED, 'strip status', (config, node, live) =>
    statusWork(config, evaluator(RED, node), live),
  );
};
