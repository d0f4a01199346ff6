import { KEY, nodes, placed, type Bench, type Lab } from './lab';
import type { FlowNode } from '../support/node-red';
import type { Asked, Heap, Measured, Target } from './protocol';
import type { Report, Row } from './report';
import { median, percentile, ratio, turned } from './stats';

type Variant = 'floor' | 'core' | 'bare' | 'ours';
const VARIANTS: readonly Variant[] = ['floor', 'core', 'bare', 'ours'];
const NAMES: Record<Variant, string> = {
  floor: 'floor: Pool.request alone',
  core: 'function, http request, json',
  bare: 'bare node with Pool.request',
  ours: 'strip switch',
};

const TARGETS: readonly Target[] = Array.from({ length: 100 }, (_, index) => ({
  mac: `A1B2C3D4E5${String(index >> 2).padStart(2, '0')}`,
  port: (index % 4) + 1,
  on: true,
}));

const IN_FLIGHT = [1, 10, 100] as const;

/** What core `http request` gets at least as much slower, on Node 20 and after. */
const CORE_FACTOR = (major: number): number => (major >= 24 ? 3.5 : 4.5);

/** A message through `strip switch` at the side of what a user would otherwise have. */
export async function measureMessages(
  lab: Lab,
  report: Report,
  quick: boolean,
  major: number,
): Promise<void> {
  const bench = await lab.nodeRed();
  try {
    await bench.red.deploy(placed(flows(lab)));
    await bench.ask('unwatched');
    for (const [delay, url] of Object.entries(lab.service)) {
      const rounds = quick ? 3 : delay === 'fast' ? 9 : 5;
      for (const inFlight of IN_FLIGHT) {
        const figures = await compare(bench, { delay, url, inFlight, ms: 1000, rounds });
        show(report, delay === 'fast' ? '0 ms' : '50 ms', inFlight, figures, major);
      }
    }
  } finally {
    await bench.stop();
  }
  await measureMemory(lab, report);
}

interface Setup {
  delay: string;
  url: string;
  inFlight: number;
  ms: number;
  rounds: number;
}

async function compare(bench: Bench, setup: Setup): Promise<Record<Variant, Measured[]>> {
  const figures: Record<Variant, Measured[]> = { floor: [], core: [], bare: [], ours: [] };
  // A flow that runs for days has long been compiled: the rounds before the first warm everything up.
  const warmUp = setup.delay === 'fast' ? 3 : 1;
  for (let round = -warmUp; round < setup.rounds; round++) {
    for (const variant of turned(VARIANTS, round + warmUp)) {
      const measured = await run(bench, variant, setup);
      if (round >= 0) figures[variant].push(measured);
    }
  }
  return figures;
}

async function run(bench: Bench, variant: Variant, { delay, url, inFlight, ms }: Setup): Promise<Measured> {
  const asked: Asked = { url, targets: TARGETS, inFlight, ms };
  if (variant !== 'floor') asked.driver = `driver-${variant}-${delay}-${inFlight}`;
  const measured = (await bench.ask('run', asked)) as Measured;
  if (measured.failed > 0) {
    throw new Error(`${NAMES[variant]}: ${measured.failed} of ${measured.latencies.length} messages failed`);
  }
  return measured;
}

function show(
  report: Report,
  delay: string,
  inFlight: number,
  figures: Record<Variant, Measured[]>,
  major: number,
): void {
  const title = `${inFlight} in flight, service ${delay}`;
  const p50 = (of: Variant) => figures[of].map(({ latencies }) => median(latencies));
  const cpu = (of: Variant) => figures[of].map((measured) => measured.cpu);
  const perSecond = (of: Variant) => figures[of].map((measured) => measured.perSecond);
  report.table(
    `A message, ${title}`,
    ['', 'p50 ms', 'p99 ms', 'msgs/s', 'CPU us/msg', 'p50 x floor', 'msgs/s x floor', 'CPU x floor'],
    VARIANTS.map((of) => [
      NAMES[of],
      median(p50(of)),
      percentile(
        figures[of].flatMap(({ latencies }) => latencies),
        0.99,
      ),
      median(perSecond(of)),
      median(cpu(of)),
      ratio(p50(of), p50('floor')),
      ratio(perSecond(of), perSecond('floor')),
      ratio(cpu(of), cpu('floor')),
    ]),
  );
  if (delay !== '0 ms') return;
  const rows: Row[] = [];
  if (inFlight === 1) {
    rows.push({ what: 'p50 to the floor', value: ratio(p50('ours'), p50('floor')), unit: 'x', atMost: 1.35 });
  }
  if (inFlight <= 10) {
    rows.push({ what: 'CPU to the floor', value: ratio(cpu('ours'), cpu('floor')), unit: 'x', atMost: 1.4 });
  }
  if (inFlight === 100) {
    rows.push(
      { what: 'CPU to the floor', value: ratio(cpu('ours'), cpu('floor')), unit: 'x', atMost: 1.4 },
      {
        what: 'msgs/s to the floor',
        value: ratio(perSecond('ours'), perSecond('floor')),
        unit: 'x',
        atLeast: 0.75,
      },
      {
        what: 'msgs/s to core nodes',
        value: ratio(perSecond('ours'), perSecond('core')),
        unit: 'x',
        atLeast: CORE_FACTOR(major),
      },
    );
  }
  report.targets(title, rows);
}

/** Each variant in a Node-RED of its own, because memory that one has used stays with the process. */
async function measureMemory(lab: Lab, report: Report): Promise<void> {
  const rows = [];
  for (const variant of VARIANTS) {
    const bench = await lab.nodeRed();
    try {
      await bench.red.deploy(placed(flows(lab)));
      await bench.ask('unwatched');
      const before = (await bench.ask('heap')) as Heap;
      const setup = { delay: 'fast', url: lab.service.fast, inFlight: 100, ms: 2000, rounds: 1 };
      const { latencies } = await run(bench, variant, setup);
      const after = (await bench.ask('heap')) as Heap;
      rows.push([
        NAMES[variant],
        after.rss / 1e6,
        (after.rss - before.rss) / 1e6,
        (after.heapUsed - before.heapUsed) / 1e6,
        latencies.length,
      ]);
    } finally {
      await bench.stop();
    }
  }
  report.table(
    'Memory of a Node-RED after 2 s of messages, 100 in flight, in MB',
    ['', 'RSS', 'RSS grown', 'heap grown', 'messages'],
    rows,
  );
}

/** Every variant once per delay and number in flight, from its driver to its sink. */
function flows(lab: Lab): FlowNode[] {
  const z = 'tab';
  const flow: FlowNode[] = [{ id: z, type: 'tab', label: 'bench' }];
  for (const [delay, url] of Object.entries(lab.service)) {
    for (const inFlight of IN_FLIGHT) {
      const name = (part: string) => `${part}-${delay}-${inFlight}`;
      const sink = name('sink');
      const driver = (variant: Variant, to: string): FlowNode => ({
        id: name(`driver-${variant}`),
        type: 'bench-driver',
        z,
        wires: [[to]],
      });
      flow.push(
        { id: sink, type: 'bench-sink', z, wires: [[]] },
        driver('core', name('function')),
        nodes.functionNode(name('function'), z, wiredByHand(url), [[name('request')]]),
        nodes.httpRequest(name('request'), z, [[name('json')]]),
        {
          id: name('json'),
          type: 'json',
          z,
          name: '',
          property: 'payload',
          action: 'obj',
          pretty: false,
          wires: [[sink]],
        },
        driver('bare', name('bare')),
        { id: name('bare'), type: 'bench-pool', z, url, connections: inFlight, wires: [[sink]] },
        driver('ours', name('ours')),
        nodes.account(name('account'), url, { concurrency: inFlight }),
        nodes.stripSwitch(name('ours'), z, name('account'), [[sink]]),
      );
    }
  }
  const sink = `sink-fast-${IN_FLIGHT[0]}`;
  flow.push({ id: 'catch', type: 'catch', z, name: '', scope: null, uncaught: false, wires: [[sink]] });
  return flow;
}

const wiredByHand = (url: string): string => `
const { mac, port, on } = msg.payload;
msg.method = 'POST';
msg.url = '${url}/api/public/v1/strips/' + encodeURIComponent(mac) + '/switch';
msg.headers = { 'x-api-key': '${KEY}', 'content-type': 'application/json' };
msg.payload = { port, on };
return msg;`;
