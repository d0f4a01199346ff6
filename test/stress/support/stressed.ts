import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { REPOSITORY, startNodeRed } from '../../support/node-red';
import type { RunningNodeRed } from '../../support/node-red';

/** How many messages were sent, and by the number of each how often it came out or was caught. */
export interface Counted {
  sent: number;
  out: Record<number, number>;
  caught: Record<number, number>;
  codes: Record<string, number>;
}

const NODES = join(__dirname, '../nodes');

/** A real Node-RED with the built package and the nodes of the stress suite. */
export async function startStressed(): Promise<RunningNodeRed> {
  const dir = mkdtempSync(join(tmpdir(), 'smart-strip-stress-'));
  try {
    await build({
      entryPoints: [join(NODES, 'stress-nodes.ts')],
      outdir: dir,
      bundle: true,
      platform: 'node',
      target: 'node20',
      logLevel: 'warning',
    });
    cpSync(join(NODES, 'stress-nodes.html'), join(dir, 'stress-nodes.html'));
    return await startNodeRed({
      settings: {
        nodesDir: [REPOSITORY, dir],
        logging: { console: { level: 'info', metrics: false, audit: false } },
      },
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
