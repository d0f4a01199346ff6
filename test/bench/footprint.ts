import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { manifest } from '../support/manifest';
import type { FlowNode } from '../support/node-red';
import { packedUserDir, PACKAGE } from '../support/node-red-install';
import { nodes, type Bench, type Lab, type Memory } from './lab';
import { median, type Report } from './report';

const macOf = (index: number): string => `A1B2C3D4${String(index % 25).padStart(4, '0')}`;

/** Nodes as many as asked for, of each kind that is compared. */
const KINDS: Record<string, (id: string, index: number) => FlowNode> = {
  'bare node': (id) => nodes.of('bench-bare', id),
  'strip switch': (id) => nodes.of('strip switch', id),
  'strip status': (id, index) => nodes.of('strip status', id, [], { mac: macOf(index), macType: 'str' }),
  'strip list': (id) => nodes.of('strip list', id),
  'strip watch': (id, index) =>
    nodes.of('strip watch', id, [], { mac: macOf(index), port: String((index % 4) + 1) }),
  'http request': (id) => nodes.httpRequest(id, []),
  function: (id) => nodes.function(id, [], 'return msg;'),
};

/** What the package costs before a message is sent: loading it, deploying its nodes, opening the editor. */
export async function measureFootprint(lab: Lab, report: Report, quick: boolean): Promise<void> {
  await measureLoading(lab, report, quick ? 2 : 7);
  const bench = await lab.start();
  try {
    await measureNodes(lab, bench, report, quick ? 300 : 1_000);
    await measureEditor(bench, report);
    await measureThousandStrips(lab, bench, report, quick ? 20 : 60);
  } finally {
    await bench.red.stop();
  }
}

/** Loads what Node-RED loads at its start, with none of the nodes deployed, each time in a fresh Node-RED. */
async function measureLoading(lab: Lab, report: Report, rounds: number): Promise<void> {
  const folder = join(await packedUserDir(), 'node_modules', PACKAGE, 'dist/nodes');
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(folder, name));
  const starts: Record<'none' | 'packed', number[]> = { none: [], packed: [] };
  const loaded: Memory[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const install of ['none', 'packed'] as const) {
      const start = performance.now();
      const bench = await lab.start(install);
      starts[install].push(performance.now() - start);
      if (install === 'none') loaded.push((await bench.call('require', { files })) as Memory);
      await bench.red.stop();
    }
  }
  const ms = median(loaded.map((memory) => memory.ms));
  report.table(
    'Loading the package in Node-RED, no node deployed (medians)',
    ['', 'ms', 'heap MB'],
    [
      ['Node-RED alone, from start to running', median(starts.none), ''],
      ['Node-RED with the package', median(starts.packed), ''],
      ['loading the package', ms, median(loaded.map(({ heapUsed }) => heapUsed)) / 1e6],
    ],
  );
  report.target({ what: 'ms more at start, no node deployed', value: ms, atMost: 25 });
}

async function measureNodes(lab: Lab, bench: Bench, report: Report, count: number): Promise<void> {
  const heapWith = async (kind: string, many: number): Promise<number> => {
    const make = KINDS[kind];
    const all = Array.from({ length: many }, (_, index) => make?.(`node-${index}`, index) ?? nodes.tab);
    await bench.red.deploy([nodes.tab, nodes.account('account', lab.service.fast), ...all]);
    await sleep(1500); // until each has shown its first answer
    return ((await bench.call('memory')) as Memory).heapUsed;
  };
  const rows: [string, number][] = [];
  for (const kind of Object.keys(KINDS)) {
    const few = await heapWith(kind, 10);
    rows.push([kind, ((await heapWith(kind, 10 + count)) - few) / count / 1000]);
  }
  report.table(`Heap per deployed node, of ${count}, in kB`, ['', 'kB'], rows);
  for (const [kind, value] of rows) {
    if (kind.startsWith('strip')) report.target({ what: `kB per ${kind}`, value, atMost: 4 });
  }
}

async function measureEditor(bench: Bench, report: Report): Promise<void> {
  const size = async (path: string, accept: string): Promise<number> => {
    const response = await bench.red.admin(path, { headers: { accept } });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return (await response.arrayBuffer()).byteLength / 1000;
  };
  const sets = Object.keys(manifest['node-red'].nodes);
  const sum = async (sizes: Promise<number>[]) =>
    (await Promise.all(sizes)).reduce((total, each) => total + each, 0);
  report.table(
    'What the editor loads, in kB',
    ['', 'kB'],
    [
      [
        'html of all nodes, help',
        await sum(sets.map((set) => size(`/nodes/${PACKAGE}/${set}`, 'text/html'))),
      ],
      ['script', await size(`/resources/${PACKAGE}/editor.js`, '*/*')],
      [
        'texts in one language',
        await sum(sets.map((set) => size(`/locales/${PACKAGE}/${set}?lng=en-US`, 'application/json'))),
      ],
    ],
  );
}

/** What an account with 1,000 strips costs while 200 `strip watch` nodes follow it, at the shortest interval. */
async function measureThousandStrips(lab: Lab, bench: Bench, report: Report, seconds: number): Promise<void> {
  const key = 'key-of-a-thousand-strips';
  const account = { interval: 5, credentials: { apiKey: key } };
  const watches = Array.from({ length: 200 }, (_, index) =>
    nodes.of('strip watch', `watch-${index}`, [], { readings: index % 2 === 0, availability: true }),
  );
  const measure = async (
    all: readonly FlowNode[],
  ): Promise<{ cpu: number; heap: number; requests: number }> => {
    await bench.red.deploy([nodes.tab, nodes.account('account', lab.service.fast, account), ...all]);
    await sleep(2000);
    const before = (await bench.call('memory')) as Memory;
    const requests = (await lab.counts())[key] ?? 0;
    await sleep(seconds * 1000);
    const asked = ((await lab.counts())[key] ?? 0) - requests;
    const after = (await bench.call('memory')) as Memory;
    return { cpu: (after.cpu - before.cpu) / 1e6 / seconds, heap: after.heapUsed, requests: asked };
  };
  const without = await measure([]);
  const watched = await measure(watches);
  report.table(
    'An account with 1,000 strips, interval 5 s',
    ['', 'requests per minute', '% of one processor', 'heap MB more'],
    [
      ['no strip watch', (without.requests * 60) / seconds, without.cpu * 100, ''],
      [
        '200 strip watch',
        (watched.requests * 60) / seconds,
        watched.cpu * 100,
        (watched.heap - without.heap) / 1e6,
      ],
    ],
  );
}
