// `npm run bench`: the package beside what a user would use instead. Needs a build. `--quick` measures less;
// `--only=messages,footprint,polling,micro` selects parts; NODE_BIN and NODE_RED_DIR select another Node.js and Node-RED.
import { cpus } from 'node:os';
import { measureFootprint } from './footprint';
import { NODE_VERSION, openBenchLab, type BenchLab } from './lab';
import { measureMessages } from './messages';
import { measureMicro } from './micro-report';
import { measurePolling } from './polling';
import { printSummary } from './report';

const PARTS: Record<string, (lab: BenchLab, quick: boolean) => Promise<void>> = {
  messages: measureMessages,
  footprint: measureFootprint,
  polling: measurePolling,
  micro: measureMicro,
};

async function main(args: readonly string[]): Promise<void> {
  const only = args.find((arg) => arg.startsWith('--only='))?.slice('--only='.length);
  const lab = await openBenchLab();
  console.log(`Node.js ${NODE_VERSION} on ${cpus().length} x ${cpus()[0]?.model ?? ''}`);
  try {
    for (const part of only?.split(',') ?? Object.keys(PARTS)) {
      const measure = PARTS[part];
      if (measure === undefined) throw new Error(`there is no part "${part}"`);
      await measure(lab, args.includes('--quick'));
    }
  } finally {
    await lab.close();
  }
  printSummary();
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
