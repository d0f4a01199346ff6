// `npm run bench`: the package at the side of what a user would otherwise use. Needs a build. `--quick` takes a short
// look; `--only=messages,loading,polling,micro` takes parts; `NODE_BIN` names another Node to measure on.
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { installedVersion, REPOSITORY } from '../support/node-red-install';
import { NODE, openLab, type Lab } from './lab';
import { measureLoading } from './loading';
import { measureMessages } from './messages';
import { reportMicro } from './micro-report';
import { startPolling } from './polling';
import { Report } from './report';

type Part = 'messages' | 'loading' | 'polling' | 'micro';

async function main(args: readonly string[]): Promise<void> {
  const quick = args.includes('--quick');
  const only = args
    .find((arg) => arg.startsWith('--only='))
    ?.slice('--only='.length)
    .split(',');
  const wanted = (part: Part) => only?.includes(part) ?? true;
  const version = execFileSync(NODE, ['--version'], { encoding: 'utf8' }).trim();
  const report = new Report({
    node: version,
    'node-red': process.env.NODE_RED_DIR ?? installedVersion('node-red'),
    undici: installedVersion('undici'),
    processors: `${cpus().length} x ${cpus()[0]?.model ?? ''}`,
    quick: String(quick),
    started: new Date().toISOString(),
  });
  console.log(`Node ${version}, ${cpus().length} processors${quick ? ', a short look' : ''}`);
  const lab: Lab = await openLab();
  try {
    const polling = wanted('polling') ? await startPolling(lab, quick ? 2 : 10) : null;
    if (wanted('micro')) reportMicro(report, await lab.program('micro', ...(quick ? ['--quick'] : [])));
    if (wanted('loading')) await measureLoading(lab, report, quick);
    // Before the messages: nothing else runs beside those.
    await polling?.finish(report);
    if (wanted('messages')) await measureMessages(lab, report, quick, Number(/\d+/.exec(version)?.[0]));
  } finally {
    await lab.close();
  }
  if (report.measured === 0) throw new Error('nothing was measured');
  report.finish(join(REPOSITORY, `.artefacts/bench/node-${version.slice(1)}${quick ? '-quick' : ''}.json`));
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
