import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FlowNode } from './node-red';
import { REPOSITORY } from './node-red-install';

export interface Example {
  /** As the import menu shows it. */
  name: string;
  nodes: FlowNode[];
}

/** The example flows, in the order of their names. */
export function examples(): Example[] {
  const dir = join(REPOSITORY, 'examples');
  return readdirSync(dir)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({
      name: file.slice(0, -'.json'.length),
      nodes: JSON.parse(readFileSync(join(dir, file), 'utf8')) as FlowNode[],
    }));
}
