import { placed, tab } from '../support/flow';
import type { FlowNode } from '../support/node-red';
import {
  accountNode,
  httpRequest,
  json,
  KEY,
  NODE_VERSION,
  type Bench,
  type BenchLab,
  type RunResult,
} from './lab';
import { median, printTable, printTarget, ratio } from './report';

const VARIANTS = {
  floor: 'Pool.request alone',
  core: 'function, http request, json',
  bare: 'node of 30 lines with Pool.request',
  ours: 'strip switch',
};
type Variant = keyof typeof VARIANTS;
const NAMES = Object.keys(VARIANTS) as Variant[];

const IN_FLIGHT = [1, 100];
/** Rounds that only let the compiler do its work, as in a flow that runs for days. */
const WARM_UP_ROUNDS = 6;

/**
 * A message through `strip switch` beside what a user would otherwise have. Each variant has a Node-RED of its own, as a user has only one of them:
 * in one process they share code of the HTTP client that V8 then compiles for all of them, which makes each slower.
 */
export async function measureMessages(lab: BenchLab, quick: boolean): Promise<void> {
  const start = async (variant: Variant): Promise<Bench> => {
    const bench = await lab.start();
    await bench.red.deploy(flowOf(variant, lab));
    await bench.call('unwatched');
    return bench;
  };
  const benches: Record<Variant, Bench> = {
    floor: await start('floor'),
    core: await start('core'),
    bare: await start('bare'),
    ours: await start('ours'),
  };
  for (const [speed, url] of Object.entries(lab.service)) {
    for (const inFlight of IN_FLIGHT) {
      const results: Record<Variant, RunResult[]> = { floor: [], core: [], bare: [], ours: [] };
      // Many short rounds: the speed of a shared machine changes within seconds, and only what runs side by side can be compared.
      for (let round = -WARM_UP_ROUNDS; round < (quick ? 6 : 18); round++) {
        // Each round begins with another variant, so that none always runs after the same other.
        for (let turn = 0; turn < NAMES.length; turn++) {
          const variant = NAMES[(round + WARM_UP_ROUNDS + turn) % NAMES.length] ?? 'ours';
          const run = { driver: `driver-${speed}-${inFlight}`, url, inFlight, ms: 500 };
          const result = (await benches[variant].call('run', run)) as RunResult;
          if (round >= 0) results[variant].push(result);
        }
      }
      print(speed, inFlight, results);
    }
  }
  for (const { red } of Object.values(benches)) await red.stop();
}

function print(speed: string, inFlight: number, results: Record<Variant, RunResult[]>): void {
  const p50 = (of: Variant) => results[of].map(({ latencies }) => median(latencies));
  const cpu = (of: Variant) => results[of].map((result) => result.cpu);
  const perSecond = (of: Variant) => results[of].map((result) => result.perSecond);
  const title = `${inFlight} in flight, service ${speed === 'fast' ? '0 ms' : '50 ms'}`;
  printTable(
    `A message, ${title}`,
    ['', 'p50 ms', 'msgs/s', 'CPU us', 'p50 x floor', 'msgs/s x floor', 'CPU x floor'],
    NAMES.map((of) => [
      VARIANTS[of],
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
    printTarget(`CPU, ${title}, x floor`, ratio(cpu('ours'), cpu('floor')), { atMost: 1.5 });
    printTarget(`p50, ${title}, x floor`, ratio(p50('ours'), p50('floor')), { atMost: 1.35 });
  } else {
    const toCore = ratio(perSecond('ours'), perSecond('core'));
    printTarget(`msgs/s, ${title}, x floor`, ratio(perSecond('ours'), perSecond('floor')), { atLeast: 0.7 });
    // The core nodes are faster on Node.js 24.
    const atLeast = Number(/\d+/.exec(NODE_VERSION)?.[0]) >= 24 ? 3.5 : 4.5;
    printTarget(`msgs/s, ${title}, x core nodes`, toCore, { atLeast });
  }
}

/** A variant for each speed and number in flight, from its driver to the sink. The floor needs no nodes. */
function flowOf(variant: Variant, { service }: BenchLab): FlowNode[] {
  const nodes = Object.entries(service).flatMap(([speed, url]) =>
    IN_FLIGHT.flatMap((inFlight) => {
      const id = (part: string) => `${part}-${speed}-${inFlight}`;
      const driver = placed(id('driver'), 'bench-driver', {}, [id('first')]);
      const variants: Record<Variant, FlowNode[]> = {
        floor: [],
        core: [
          driver,
          placed(id('first'), 'function', { func: wiredByHand(url), outputs: 1 }, [id('request')]),
          httpRequest(id('request'), id('json')),
          json(id('json'), ['sink']),
        ],
        bare: [driver, placed(id('first'), 'bench-pool', { url, connections: inFlight }, ['sink'])],
        ours: [
          driver,
          accountNode(url, { id: id('account'), concurrency: String(inFlight) }),
          placed(id('first'), 'strip switch', { account: id('account') }, ['sink']),
        ],
      };
      return variants[variant];
    }),
  );
  return [
    tab,
    ...nodes,
    placed('sink', 'bench-sink', {}),
    placed('catch', 'catch', { scope: null }, ['sink']),
  ];
}

const wiredByHand = (url: string): string => `
const { mac, port, on } = msg.payload;
msg.method = 'POST';
msg.url = '${url}/api/public/v1/strips/' + encodeURIComponent(mac) + '/switch';
msg.headers = { 'x-api-key': '${KEY}', 'content-type': 'application/json' };
msg.payload = { port, on };
return msg;`;
