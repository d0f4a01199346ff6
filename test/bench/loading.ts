import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FlowNode } from '../support/node-red';
import { packedUserDir, PACKAGE } from '../support/node-red-install';
import { nodes, placed, type Bench, type Lab } from './lab';
import type { Heap, Loaded } from './protocol';
import type { Report } from './report';
import { median } from './stats';

const Z = 'tab';

/** What the package costs before a message is sent: loading it, deploying its nodes, opening the editor. */
export async function measureLoading(lab: Lab, report: Report, quick: boolean): Promise<void> {
  await measureRequire(lab, report, quick ? 2 : 5);
  const bench = await lab.nodeRed();
  try {
    await measureDeployed(lab, bench, report, quick ? 300 : 1_000);
    await measureEditor(bench, report);
    await measureGrowth(lab, bench, report, quick ? [1, 10, 100] : [1, 10, 100, 1_000]);
  } finally {
    await bench.stop();
  }
}

async function measureRequire(lab: Lab, report: Report, times: number): Promise<void> {
  const folder = join(await packedUserDir(), 'node_modules', PACKAGE, 'dist/nodes');
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(folder, name));
  const starts: Record<'none' | 'packed', number[]> = { none: [], packed: [] };
  const loaded: Loaded[] = [];
  for (let i = 0; i < times; i++) {
    for (const install of ['none', 'packed'] as const) {
      const start = performance.now();
      const bench = await lab.nodeRed(install);
      starts[install].push(performance.now() - start);
      if (install === 'none') loaded.push((await bench.ask('require', { files })) as Loaded);
      await bench.stop();
    }
  }
  report.table(
    'Loading the package in Node-RED (medians)',
    ['', 'ms', 'heap MB', 'RSS MB'],
    [
      ['Node-RED alone, from start to running', median(starts.none), '', ''],
      ['Node-RED with the package', median(starts.packed), '', ''],
      [
        'require of all its nodes and undici',
        median(loaded.map(({ ms }) => ms)),
        median(loaded.map(({ heapUsed }) => heapUsed)) / 1e6,
        median(loaded.map(({ rss }) => rss)) / 1e6,
      ],
    ],
  );
}

const tab: FlowNode = { id: Z, type: 'tab', label: 'bench' };

/** Flow nodes as many as asked for, of each kind that is compared. */
const KINDS: Record<string, (id: string, index: number) => FlowNode> = {
  'bare node': (id) => ({ id, type: 'bench-bare', z: Z, name: '', wires: [[]] }),
  'strip switch': (id) => nodes.stripSwitch(id, Z, 'account', [[]]),
  'strip status': (id, index) => ({
    id,
    type: 'strip status',
    z: Z,
    name: '',
    account: 'account',
    mac: macOf(index),
    macType: 'str',
    port: '',
    portType: 'port',
    output: 'strip',
    wires: [[]],
  }),
  'strip list': (id) => ({
    id,
    type: 'strip list',
    z: Z,
    name: '',
    account: 'account',
    output: 'list',
    wires: [[]],
  }),
  'strip watch': (id, index) => stripWatch(id, index),
  'http request': (id) => nodes.httpRequest(id, Z, [[]]),
  function: (id) => nodes.functionNode(id, Z, 'return msg;', [[]]),
};

const macOf = (index: number): string => `A1B2C3D4E5${String(index % 25).padStart(2, '0')}`;

const stripWatch = (id: string, index: number): FlowNode => ({
  id,
  type: 'strip watch',
  z: Z,
  name: '',
  account: 'account',
  mac: macOf(index),
  macType: 'str',
  port: String((index % 4) + 1),
  output: 'on',
  initial: false,
  outlets: true,
  availability: false,
  readings: false,
  change: 0,
  wires: [[]],
});

function flowOf(lab: Lab, kind: string, count: number): FlowNode[] {
  const make = KINDS[kind];
  if (make === undefined) throw new Error(`no such kind: ${kind}`);
  const many = Array.from({ length: count }, (_, index) => make(`node-${index}`, index));
  return [tab, nodes.account('account', lab.service.fast), ...many];
}

async function heapWith(lab: Lab, bench: Bench, kind: string, count: number): Promise<number> {
  await bench.red.deploy(placed(flowOf(lab, kind, count)));
  return ((await bench.ask('heap')) as Heap).heapUsed;
}

async function measureDeployed(lab: Lab, bench: Bench, report: Report, count: number): Promise<void> {
  const perNode: Record<string, number> = {};
  for (const kind of Object.keys(KINDS)) {
    const few = await heapWith(lab, bench, kind, 10);
    const many = await heapWith(lab, bench, kind, 10 + count);
    perNode[kind] = (many - few) / count / 1000;
  }
  report.table(
    `Heap per deployed node, of ${count}, in kB`,
    ['', 'kB'],
    Object.entries(perNode).map(([kind, size]) => [kind, size]),
  );
  report.targets(
    'deployed nodes',
    Object.entries(perNode)
      .filter(([kind]) => kind.startsWith('strip'))
      .map(([what, value]) => ({ what, value, unit: 'kB', atMost: 4 })),
  );
}

async function measureEditor(bench: Bench, report: Report): Promise<void> {
  const size = async (path: string, accept: string): Promise<number> => {
    const response = await bench.red.admin(path, { headers: { accept } });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return (await response.arrayBuffer()).byteLength / 1000;
  };
  const sets = ['account', 'list', 'status', 'switch', 'watch', 'simulator'].map((name) => `strip-${name}`);
  const html = await Promise.all(sets.map((set) => size(`/nodes/${PACKAGE}/${set}`, 'text/html')));
  const catalogues = await Promise.all(
    sets.map((set) => size(`/locales/${PACKAGE}/${set}?lng=en-US`, 'application/json')),
  );
  const sum = (sizes: number[]) => sizes.reduce((total, each) => total + each, 0);
  report.table(
    'What the editor loads, in kB',
    ['', 'kB'],
    [
      ['html of all nodes, help in one language', sum(html)],
      ['shared script', await size(`/resources/${PACKAGE}/editor.js`, '*/*')],
      ['catalogues in one language', sum(catalogues)],
    ],
  );
}

/** One change that so many `strip watch` nodes could be interested in, and the deploying of them. */
async function measureGrowth(lab: Lab, bench: Bench, report: Report, counts: number[]): Promise<void> {
  const rows = [];
  for (const count of counts) {
    const start = performance.now();
    await bench.red.deploy(placed(flowOf(lab, 'strip watch', count)));
    const ms = performance.now() - start;
    const { heapUsed } = (await bench.ask('heap')) as Heap;
    rows.push([count, ms, (ms * 1000) / count, heapUsed / 1e6]);
  }
  report.table('Growth with strip watch nodes', ['nodes', 'deploy ms', 'us per node', 'heap MB'], rows);
}
