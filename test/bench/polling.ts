import { setTimeout as sleep } from 'node:timers/promises';
import type { FlowNode } from '../support/node-red';
import { nodes, type Lab } from './lab';
import type { Report } from './report';

/** Seconds; the shortest that an account polls at. */
const INTERVAL = 5;
const NODES = 40;
/** The keys by which the service tells the two apart. */
const SHARED = 'key-of-forty-nodes';
const BY_HAND = 'key-of-forty-chains';

/** Starts forty nodes that watch an outlet each, and the same wired by hand. They are counted while other parts run. */
export async function startPolling(
  lab: Lab,
  intervals: number,
): Promise<{ finish(report: Report): Promise<void> }> {
  const bench = await lab.start();
  const account = { interval: INTERVAL, credentials: { apiKey: SHARED } };
  await bench.red.deploy([
    nodes.tab,
    nodes.account('account', lab.service.fast, account),
    ...Array.from({ length: NODES }, (_, index) => nodes.of('strip watch', `watch-${index}`)),
    ...Array.from({ length: NODES }, (_, index) => wiredByHand(index, lab.service.fast)).flat(),
  ]);
  // Half an interval more, so that jitter adds or removes none.
  const counted = sleep((intervals + 0.5) * INTERVAL * 1000).then(() => lab.counts());
  return {
    finish: async (report) => {
      const counts = await counted;
      await bench.red.stop();
      const [shared = 0, byHand = 0] = [counts[SHARED], counts[BY_HAND]];
      report.table(
        `Requests of ${NODES} nodes in ${intervals} intervals of ${INTERVAL} s`,
        ['', 'requests', 'per interval'],
        [
          ['strip watch, one account', shared, shared / intervals],
          ['inject, http request, json', byHand, byHand / intervals],
        ],
      );
      // The first read comes at once and the first wait is drawn from the whole interval; jitter may add one more.
      report.target({ what: 'requests per interval', value: shared / (intervals + 3), atMost: 1 });
      report.target({ what: 'requests', value: shared, atLeast: Math.floor(intervals * 0.9) });
    },
  };
}

function wiredByHand(index: number, url: string): FlowNode[] {
  const name = (part: string) => `${part}-${index}`;
  const inject = {
    props: [{ p: 'payload' }],
    repeat: String(INTERVAL),
    crontab: '',
    once: true,
    onceDelay: 0.1,
    topic: '',
    payload: '',
    payloadType: 'date',
  };
  const headers = [{ keyType: 'other', keyValue: 'x-api-key', valueType: 'other', valueValue: BY_HAND }];
  return [
    nodes.of('inject', name('inject'), [name('request')], inject),
    nodes.httpRequest(name('request'), [name('json')], {
      method: 'GET',
      url: `${url}/api/public/v1/strips`,
      headers,
    }),
    nodes.json(name('json'), []),
  ];
}
