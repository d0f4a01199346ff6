import { setTimeout as sleep } from 'node:timers/promises';
import type { FlowNode } from '../support/node-red';
import { nodes, placed, type Bench, type Lab } from './lab';
import type { Report } from './report';

/** Seconds; the smallest that an account polls at. */
const INTERVAL = 5;
const NODES = 40;
/** The keys by which the service tells the two apart. */
const SHARED = 'key-of-forty-nodes';
const BY_HAND = 'key-of-forty-chains';

export interface Polling {
  /** Waits until the intervals are over and says how many requests came. */
  finish(report: Report): Promise<void>;
}

/** Starts forty nodes that follow an outlet each, and the same wired by hand, to be counted while other things go on. */
export async function startPolling(lab: Lab, intervals: number): Promise<Polling> {
  const bench: Bench = await lab.nodeRed();
  await bench.red.deploy(
    placed([
      { id: 'tab', type: 'tab', label: 'bench' },
      nodes.account('account', lab.service.fast, { interval: INTERVAL, credentials: { apiKey: SHARED } }),
      ...Array.from({ length: NODES }, (_, index) => watched(index)),
      ...Array.from({ length: NODES }, (_, index) => wiredByHand(index, lab.service.fast)).flat(),
    ]),
  );
  // Half an interval more, so that jitter adds or loses none.
  const counted = sleep((intervals + 0.5) * INTERVAL * 1000).then(() => lab.counts());
  return {
    finish: async (report) => {
      const counts = await counted;
      await bench.stop();
      const shared = counts[SHARED] ?? 0;
      const byHand = counts[BY_HAND] ?? 0;
      report.table(
        `Requests of ${NODES} nodes in ${intervals} intervals of ${INTERVAL} s`,
        ['', 'requests', 'per interval'],
        [
          ['strip watch, one account', shared, shared / intervals],
          ['inject, http request, json', byHand, byHand / intervals],
        ],
      );
      report.targets('polling', [
        // The first read comes at once, and jitter of a tenth may fit one more in.
        { what: 'requests per interval', value: shared / (intervals + 2), unit: '', atMost: 1 },
        { what: 'requests', value: shared, unit: '', atLeast: Math.floor(intervals * 0.9) },
      ]);
    },
  };
}

const watched = (index: number): FlowNode => ({
  id: `watch-${index}`,
  type: 'strip watch',
  z: 'tab',
  name: '',
  account: 'account',
  mac: `A1B2C3D4E5${String(index % 25).padStart(2, '0')}`,
  macType: 'str',
  port: String((index % 4) + 1),
  output: 'on',
  initial: true,
  outlets: true,
  availability: true,
  readings: false,
  change: 0,
  wires: [[]],
});

function wiredByHand(index: number, url: string): FlowNode[] {
  const name = (part: string) => `${part}-${index}`;
  return [
    {
      id: name('inject'),
      type: 'inject',
      z: 'tab',
      name: '',
      props: [{ p: 'payload' }],
      repeat: String(INTERVAL),
      crontab: '',
      once: true,
      onceDelay: 0.1,
      topic: '',
      payload: '',
      payloadType: 'date',
      wires: [[name('request')]],
    },
    nodes.httpRequest(name('request'), 'tab', [[name('json')]], {
      method: 'GET',
      url: `${url}/api/public/v1/strips`,
      headers: [{ keyType: 'other', keyValue: 'x-api-key', valueType: 'other', valueValue: BY_HAND }],
    }),
    {
      id: name('json'),
      type: 'json',
      z: 'tab',
      name: '',
      property: 'payload',
      action: 'obj',
      pretty: false,
      wires: [[]],
    },
  ];
}
