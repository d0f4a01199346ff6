// `npm run bench`: the package beside what a user would use instead. Needs a build. `--quick` measures less;
// `--only=messages,footprint,polling,micro` selects parts; NODE_BIN and NODE_RED_DIR select another Node.js and Node-RED.
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { installedVersion, REPOSITORY } from '../support/node-red-install';
import { measureFootprint } from './footprint';
import { NODE, openLab } from './lab';
import { measureMessages } from './messages';
import { reportMicro } from './micro-report';
import { startPolling } from './polling';
import { Report } from './report';

async function main(args: readonly string[]): Promise<void> {
  const quick = args.includes('--quick');
  const only = args.find((arg) => arg.startsWith('--only='))?.slice('--only='.length);
  const wanted = (part: string): boolean => only?.split(',').includes(part) ?? true;
  const node = execFileSync(NODE, ['--version'], { encoding: 'utf8' }).trim();
  const report = new Report();
  const lab = await openLab();
  try {
    const polling = wanted('polling') ? await startPolling(lab, quick ? 2 : 10) : null;
    if (wanted('micro')) reportMicro(report, await lab.program('micro', ...(quick ? ['--quick'] : [])));
    if (wanted('footprint')) await measureFootprint(lab, report, quick);
    await polling?.finish(report);
    // Last, because nothing else may run beside it.
    if (wanted('messages')) await measureMessages(lab, report, quick, Number(/\d+/.exec(node)?.[0]));
  } finally {
    await lab.close();
  }
  report.finish(join(REPOSITORY, `.artefacts/bench/node-${node.slice(1)}${quick ? '-quick' : ''}.json`), {
    node,
    'node-red': process.env.NODE_RED_DIR === undefined ? installedVersion('node-red') : 'of NODE_RED_DIR',
    undici: installedVersion('undici'),
    processors: `${cpus().length} x ${cpus()[0]?.model ?? ''}`,
    quick: String(quick),
    date: new Date().toISOString(),
  });
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
