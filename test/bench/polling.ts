import { setTimeout as sleep } from 'node:timers/promises';
import { inject, placed, tab } from '../support/flow';
import { accountNode, httpRequest, json, type BenchLab } from './lab';
import { printTable, printTarget } from './report';

/** Seconds; the shortest that an account polls at. */
const INTERVAL = 5;
const NODES = 40;
/** The keys by which the service tells the two apart. */
const SHARED = 'key-of-forty-nodes';
const BY_HAND = 'key-of-forty-chains';

/** Forty nodes that watch an outlet each, beside the same wired by hand. */
export async function measurePolling(lab: BenchLab, quick: boolean): Promise<void> {
  const intervals = quick ? 2 : 10;
  const url = lab.service.fast;
  const headers = [{ keyType: 'other', keyValue: 'x-api-key', valueType: 'other', valueValue: BY_HAND }];
  const byHand = (_: unknown, index: number) => [
    { ...inject(`inject-${index}`, `request-${index}`), repeat: String(INTERVAL), once: true },
    httpRequest(`request-${index}`, `json-${index}`, {
      method: 'GET',
      url: `${url}/api/public/v1/strips`,
      headers,
    }),
    json(`json-${index}`, []),
  ];
  const { red } = await lab.start();
  await red.deploy([
    tab,
    accountNode(url, { interval: String(INTERVAL), credentials: { apiKey: SHARED } }),
    ...Array.from({ length: NODES }, (_, index) => placed(`watch-${index}`, 'strip watch', {})),
    ...Array.from({ length: NODES }, byHand).flat(),
  ]);
  // Half an interval more, so that jitter adds or removes none.
  await sleep((intervals + 0.5) * INTERVAL * 1000);
  const counts = await lab.counts();
  await red.stop();
  const [shared = 0, chains = 0] = [counts[SHARED], counts[BY_HAND]];
  printTable(
    `Requests of ${NODES} nodes in ${intervals} intervals of ${INTERVAL} s`,
    ['', 'requests', 'per interval'],
    [
      ['strip watch, one account', shared, shared / intervals],
      ['inject, http request, json', chains, chains / intervals],
    ],
  );
  // The first read comes at once and the first wait is drawn from the whole interval; jitter may add one more.
  printTarget('requests per interval', shared / (intervals + 3), { atMost: 1 });
  printTarget('requests', shared, { atLeast: Math.floor(intervals * 0.9) });
}
