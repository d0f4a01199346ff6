import type { FlowNode } from '../support/node-red';
import { KEY, nodes, type Bench, type Command, type Lab, type Memory, type RunResult } from './lab';
import { median, ratio, rotated, type Report } from './report';

type Variant = 'floor' | 'core' | 'bare' | 'ours';
const VARIANTS: readonly Variant[] = ['floor', 'core', 'bare', 'ours'];
const NAMES: Record<Variant, string> = {
  floor: 'Pool.request alone',
  core: 'function, http request, json',
  bare: 'node of 30 lines with Pool.request',
  ours: 'strip switch',
};

const COMMANDS: readonly Command[] = Array.from({ length: 100 }, (_, index) => ({
  mac: `A1B2C3D4${String(index >> 2).padStart(4, '0')}`,
  port: (index % 4) + 1,
  on: true,
}));

const IN_FLIGHT = [1, 10, 100] as const;

interface Setup {
  speed: string;
  url: string;
  inFlight: number;
  ms: number;
}

type Benches = Record<Variant, Bench>;

/**
 * A message through `strip switch` beside what a user would otherwise have. Each variant has a Node-RED of its own, as a user has only one of them:
 * in one process they share code of the HTTP client that V8 then compiles for all of them, which makes each slower. `major`: of Node.js.
 */
export async function measureMessages(
  lab: Lab,
  report: Report,
  quick: boolean,
  major: number,
): Promise<void> {
  const started: Bench[] = [];
  const start = async (): Promise<Bench> => {
    const bench = await lab.start();
    started.push(bench);
    await bench.red.deploy(flows(lab));
    await bench.call('unwatched');
    return bench;
  };
  try {
    const benches = { floor: await start(), core: await start(), bare: await start(), ours: await start() };
    await measureMemory(benches, lab, report);
    for (const [speed, url] of Object.entries(lab.service)) {
      for (const inFlight of IN_FLIGHT) {
        const results = await compare(benches, { speed, url, inFlight, ms: 1000 }, quick ? 3 : 9);
        show(report, speed, inFlight, results, major);
      }
    }
  } finally {
    await Promise.all(started.map(({ red }) => red.stop()));
  }
}

async function compare(
  benches: Benches,
  setup: Setup,
  rounds: number,
): Promise<Record<Variant, RunResult[]>> {
  const results: Record<Variant, RunResult[]> = { floor: [], core: [], bare: [], ours: [] };
  // The first rounds only let the compiler do its work, as in a flow that runs for days.
  for (let round = -3; round < rounds; round++) {
    for (const variant of rotated(VARIANTS, round + 3)) {
      const result = await run(benches[variant], variant, setup);
      if (round >= 0) results[variant].push(result);
    }
  }
  return results;
}

async function run(bench: Bench, variant: Variant, { speed, url, inFlight, ms }: Setup): Promise<RunResult> {
  const driver = variant === 'floor' ? {} : { driver: `driver-${variant}-${speed}-${inFlight}` };
  const result = (await bench.call('run', {
    url,
    commands: COMMANDS,
    inFlight,
    ms,
    ...driver,
  })) as RunResult;
  if (result.failed > 0) throw new Error(`${NAMES[variant]}: ${result.failed} messages failed`);
  return result;
}

function show(
  report: Report,
  speed: string,
  inFlight: number,
  results: Record<Variant, RunResult[]>,
  major: number,
): void {
  const p50 = (of: Variant) => results[of].map(({ latencies }) => median(latencies));
  const cpu = (of: Variant) => results[of].map((result) => result.cpu);
  const perSecond = (of: Variant) => results[of].map((result) => result.perSecond);
  const title = `${inFlight} in flight, service ${speed === 'fast' ? '0 ms' : '50 ms'}`;
  report.table(
    `A message, ${title}`,
    ['', 'p50 ms', 'msgs/s', 'CPU us', 'p50 x floor', 'msgs/s x floor', 'CPU x floor'],
    VARIANTS.map((of) => [
      NAMES[of],
      median(p50(of)),
      median(perSecond(of)),
      median(cpu(of)),
      ratio(p50(of), p50('floor')),
      ratio(perSecond(of), perSecond('floor')),
      ratio(cpu(of), cpu('floor')),
    ]),
  );
  if (speed !== 'fast') return;
  if (inFlight === 1) {
    report.target({ what: `CPU, ${title}, x floor`, value: ratio(cpu('ours'), cpu('floor')), atMost: 1.5 });
    report.target({ what: `p50, ${title}, x floor`, value: ratio(p50('ours'), p50('floor')), atMost: 1.35 });
  }
  if (inFlight === 100) {
    const toFloor = ratio(perSecond('ours'), perSecond('floor'));
    const toCore = ratio(perSecond('ours'), perSecond('core'));
    report.target({ what: `msgs/s, ${title}, x floor`, value: toFloor, atLeast: 0.7 });
    report.target({
      what: `msgs/s, ${title}, x core nodes`,
      value: toCore,
      atLeast: major >= 24 ? 3.5 : 4.5,
    });
  }
}

/** Before anything else is run, because a process keeps memory that it once used. */
async function measureMemory(benches: Benches, lab: Lab, report: Report): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const variant of VARIANTS) {
    const bench = benches[variant];
    const before = (await bench.call('memory')) as Memory;
    await run(bench, variant, { speed: 'fast', url: lab.service.fast, inFlight: 100, ms: 2000 });
    const after = (await bench.call('memory')) as Memory;
    const grown = [(after.rss - before.rss) / 1e6, (after.heapUsed - before.heapUsed) / 1e6];
    rows.push([NAMES[variant], after.rss / 1e6, ...grown]);
  }
  const title = 'Memory of Node-RED after 2 s of messages, 100 in flight, in MB';
  report.table(title, ['', 'RSS', 'RSS grown', 'heap grown'], rows);
}

/** Every variant for each speed and number in flight, from its driver to its sink. */
function flows(lab: Lab): FlowNode[] {
  const each = Object.entries(lab.service).flatMap(([speed, url]) =>
    IN_FLIGHT.flatMap((inFlight) => {
      const name = (part: string) => `${part}-${speed}-${inFlight}`;
      const driver = (variant: Variant, to: string) =>
        nodes.of('bench-driver', name(`driver-${variant}`), [to]);
      const sink = [name('sink')];
      return [
        nodes.of('bench-sink', name('sink')),
        driver('core', name('function')),
        nodes.function(name('function'), [name('request')], wiredByHand(url)),
        nodes.httpRequest(name('request'), [name('json')]),
        nodes.json(name('json'), sink),
        driver('bare', name('bare')),
        nodes.of('bench-pool', name('bare'), sink, { url, connections: inFlight }),
        driver('ours', name('ours')),
        nodes.account(name('account'), url, { concurrency: inFlight }),
        nodes.of('strip switch', name('ours'), sink, { account: name('account') }),
      ];
    }),
  );
  const catcher = nodes.of('catch', 'catch', [`sink-fast-${IN_FLIGHT[0]}`], { scope: null, uncaught: false });
  return [nodes.tab, ...each, catcher];
}

const wiredByHand = (url: string): string => `
const { mac, port, on } = msg.payload;
msg.method = 'POST';
msg.url = '${url}/api/public/v1/strips/' + encodeURIComponent(mac) + '/switch';
msg.headers = { 'x-api-key': '${KEY}', 'content-type': 'application/json' };
msg.payload = { port, on };
return msg;`;
