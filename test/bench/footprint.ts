import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { placed, tab } from '../support/flow';
import { manifest } from '../support/manifest';
import type { FlowNode } from '../support/node-red';
import { packedUserDir, PACKAGE } from '../support/node-red-install';
import { accountNode, type Bench, type BenchLab, type Usage } from './lab';
import { median, printTable, printTarget } from './report';

const macOf = (index: number): string => `A1B2C3D4${String(index % 25).padStart(4, '0')}`;

/** Properties of the nodes that are deployed, by type. */
const TYPES: Record<string, (index: number) => Record<string, string>> = {
  'strip switch': () => ({}),
  'strip status': (index) => ({ mac: macOf(index), macType: 'str' }),
  'strip list': () => ({}),
  'strip watch': (index) => ({ mac: macOf(index), port: String((index % 4) + 1) }),
};

/** What the package costs before a message is sent: loading it, deploying its nodes, opening the editor; and an account with many strips. */
export async function measureFootprint(lab: BenchLab, quick: boolean): Promise<void> {
  await measureLoading(lab, quick ? 2 : 7);
  const bench = await lab.start();
  await measureNodes(lab, bench, quick ? 300 : 1_000);
  await measureEditor(bench);
  await measureThousandStrips(lab, bench, quick ? 20 : 60);
  await bench.red.stop();
}

/** Loads what Node-RED loads at its start, with none of the nodes deployed, each time in a fresh Node-RED. */
async function measureLoading(lab: BenchLab, rounds: number): Promise<void> {
  const folder = join(await packedUserDir(), 'node_modules', PACKAGE, 'dist/nodes');
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(folder, name));
  const taken: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const { red, call } = await lab.start('none');
    taken.push((await call('load', files)) as number);
    await red.stop();
  }
  printTarget('ms more at the start of Node-RED, no node deployed', median(taken), { atMost: 25 });
}

async function measureNodes(lab: BenchLab, bench: Bench, count: number): Promise<void> {
  const heapWith = async (type: string, many: number): Promise<number> => {
    const all = Array.from({ length: many }, (_, index) =>
      placed(`node-${index}`, type, TYPES[type]?.(index) ?? {}),
    );
    await bench.red.deploy([tab, accountNode(lab.service.fast), ...all]);
    await sleep(1500); // until each has shown its first answer
    return ((await bench.call('usage')) as Usage).heap;
  };
  // The first deploy also compiles code, which counts for no type.
  await heapWith('strip switch', 10 + count);
  for (const type of Object.keys(TYPES)) {
    const few = await heapWith(type, 10);
    const kB = ((await heapWith(type, 10 + count)) - few) / count / 1000;
    printTarget(`kB of heap per ${type}, of ${count}`, kB, { atMost: 4 });
  }
}

async function measureEditor({ red }: Bench): Promise<void> {
  const size = async (accept: string, ...paths: string[]): Promise<number> => {
    let bytes = 0;
    for (const path of paths) {
      const response = await red.admin(path, { headers: { accept } });
      if (!response.ok) throw new Error(`${path}: ${response.status}`);
      bytes += (await response.arrayBuffer()).byteLength;
    }
    return bytes / 1000;
  };
  const sets = Object.keys(manifest['node-red'].nodes).map((name) => `${PACKAGE}/${name}`);
  printTable(
    'What the editor loads',
    ['', 'kB'],
    [
      ['html of all nodes, help', await size('text/html', ...sets.map((set) => `/nodes/${set}`))],
      ['script', await size('*/*', `/resources/${PACKAGE}/editor.js`)],
      [
        'texts in one language',
        await size('application/json', ...sets.map((set) => `/locales/${set}?lng=en-US`)),
      ],
    ],
  );
}

/** What an account with 1,000 strips costs while 200 `strip watch` nodes follow it, at the shortest interval. */
async function measureThousandStrips(lab: BenchLab, { red, call }: Bench, seconds: number): Promise<void> {
  const key = 'key-of-a-thousand-strips';
  const account = accountNode(lab.service.fast, { interval: '5', credentials: { apiKey: key } });
  const requests = async (): Promise<number> => (await lab.counts())[key] ?? 0;
  const measure = async (watches: readonly FlowNode[]) => {
    await red.deploy([tab, account, ...watches]);
    await sleep(2000);
    const before = { count: await requests(), ...((await call('usage')) as Usage) };
    await sleep(seconds * 1000);
    const after = { count: await requests(), ...((await call('usage')) as Usage) };
    const perMinute = ((after.count - before.count) * 60) / seconds;
    return { perMinute, percent: (after.cpu - before.cpu) / 1e4 / seconds, heap: after.heap / 1e6 };
  };
  const without = await measure([]);
  const watched = await measure(
    Array.from({ length: 200 }, (_, index) =>
      placed(`watch-${index}`, 'strip watch', { readings: index % 2 === 0, availability: true }),
    ),
  );
  printTable(
    'An account with 1,000 strips, interval 5 s',
    ['', 'requests per minute', '% of one processor', 'heap MB more'],
    [
      ['no strip watch', without.perMinute, without.percent, ''],
      ['200 strip watch', watched.perMinute, watched.percent, watched.heap - without.heap],
    ],
  );
}
