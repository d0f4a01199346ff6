// `npm run fleet`: ten thousand accounts on one service, on a simulated clock, with the poller, retry and rate-limit code that
// users run. Writes one plot per scenario to docs/images and compares each peak with the load at rest.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Account } from '../../src/account/account';
import type { AccountLog } from '../../src/account/types';
import { StripError } from '../../src/api/errors';
import type { Clock } from '../../src/api/types';
import { readAccountSettings } from '../../src/flow/shared-account';
import { calm, FakeClock } from '../support/fake-clock';
import { REPOSITORY } from '../support/node-red-install';
import { Report } from './report';

const ACCOUNTS = 10_000;
const INTERVAL = 30;
const AT_REST = ACCOUNTS / INTERVAL;
/** Milliseconds that an answer takes. The clock moves on in steps of the same length. */
const LATENCY = 50;

/** One clock for all accounts. */
class FleetClock extends FakeClock {
  override random = (): number => Math.random();

  /** Moves on in steps, and lets every promise settle after each. */
  async advanceBy(seconds: number): Promise<void> {
    for (let ms = 0; ms < seconds * 1000; ms += LATENCY) {
      this.advance(LATENCY);
      await calm();
    }
  }
}

type Behaviour = 'up' | 'down' | { retryAfter: number };

/** The one service of all accounts, and how many requests it had in each second. */
class Service {
  behaviour: Behaviour = 'up';
  readonly perSecond: (number | undefined)[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async request(): Promise<void> {
    const second = Math.floor(this.#clock.monotonic() / 1000);
    this.perSecond[second] = (this.perSecond[second] ?? 0) + 1;
    await new Promise<void>((resolve) => this.#clock.setTimeout(resolve, LATENCY));
    if (this.behaviour === 'up') return;
    if (this.behaviour === 'down') throw new StripError('UNREACHABLE', 'UNREACHABLE.refused');
    throw new StripError('RATE_LIMITED', 'RATE_LIMITED.seconds', { retryAfter: this.behaviour.retryAfter });
  }
}

interface Fleet {
  readonly clock: FleetClock;
  readonly service: Service;
  /** Starts all accounts, spread over so many seconds. */
  readonly start: (seconds: number) => Promise<void>;
}

const quiet: AccountLog = new Proxy({} as AccountLog, { get: () => () => undefined });

function openFleet(): Fleet {
  const clock = new FleetClock();
  const service = new Service(clock);
  const open = (): void => {
    const account = new Account({
      service: {
        list: async () => {
          await service.request();
          return { strips: [], complete: true, readable: true, response: [], text: '[]' };
        },
        get: () => Promise.reject(new Error('not used')),
        switch: () => Promise.reject(new Error('not used')),
        beginClose: () => undefined,
        close: () => Promise.resolve(),
      },
      settings: { ...readAccountSettings({}), interval: INTERVAL * 1000 },
      clock,
      log: quiet,
    });
    account.subscribe(() => undefined);
  };
  const start = async (seconds: number): Promise<void> => {
    for (let index = 0; index < ACCOUNTS; index++) clock.setTimeout(open, Math.random() * seconds * 1000);
    await clock.advanceBy(seconds + 1);
  };
  return { clock, service, start };
}

interface Scenario {
  readonly name: string;
  readonly title: string;
  /** Runs the scenario; returns the second from which the load is judged. */
  readonly run: (fleet: Fleet) => Promise<number>;
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'rest',
    title: 'At rest',
    run: async ({ clock, start }) => {
      await start(INTERVAL);
      await clock.advanceBy(300);
      return 2 * INTERVAL;
    },
  },
  {
    name: 'common-start',
    title: 'A common start: all within one second',
    run: async ({ clock, start }) => {
      await start(0);
      await clock.advanceBy(300);
      return 1;
    },
  },
  {
    name: 'outage',
    title: 'An outage of 10 minutes, from second 120 on',
    run: async ({ clock, service, start }) => {
      await start(INTERVAL);
      await clock.advanceBy(120 - INTERVAL - 1);
      service.behaviour = 'down';
      await clock.advanceBy(600);
      service.behaviour = 'up';
      await clock.advanceBy(480);
      return 121;
    },
  },
  {
    name: 'rate-limit',
    title: 'A 429 with the same end of the pause for all, from second 120 to 240',
    run: async ({ clock, service, start }) => {
      await start(INTERVAL);
      await clock.advanceBy(120 - INTERVAL - 1);
      while (clock.monotonic() < 240_000) {
        // The pause ends for all at the same moment, as with a date in `Retry-After`.
        service.behaviour = { retryAfter: 240_000 - clock.monotonic() };
        await clock.advanceBy(1);
      }
      service.behaviour = 'up';
      await clock.advanceBy(300);
      return 121;
    },
  },
];

/** A plot of requests per second, as SVG. */
function plot(title: string, perSecond: readonly number[]): string {
  const [width, height, left, bottom] = [720, 240, 56, 28];
  const seconds = perSecond.length;
  // Without the first second: that of a common start is so high that all else would be a flat line.
  const most = Math.max(AT_REST * 3.2, ...perSecond.filter((_, second) => second > 0));
  const x = (second: number): number => left + (second / seconds) * (width - left - 8);
  const y = (value: number): number =>
    height - bottom - (Math.min(value, most) / most) * (height - bottom - 28);
  const points = Array.from(perSecond, (value, second) => `${x(second).toFixed(1)},${y(value).toFixed(1)}`);
  const line = (value: number, label: string): string =>
    `<line x1="${left}" x2="${width - 8}" y1="${y(value)}" y2="${y(value)}" stroke="#bbb" stroke-dasharray="4 3"/>` +
    `<text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${label}</text>`;
  const ticks = Array.from({ length: Math.floor(seconds / 60) + 1 }, (_, minute) =>
    minute % Math.ceil(seconds / 600) === 0
      ? `<text x="${x(minute * 60)}" y="${height - 10}" text-anchor="middle">${minute} min</text>`
      : '',
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11" fill="#333">
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="${left}" y="16" font-size="13">${title}: requests per second</text>
${line(0, '0')}
${line(AT_REST, String(Math.round(AT_REST)))}
${line(AT_REST * 3, String(Math.round(AT_REST * 3)))}
${ticks.join('')}
<polyline points="${points.join(' ')}" fill="none" stroke="#0b5cad" stroke-width="1.2"/>
</svg>
`;
}

async function main(): Promise<void> {
  const report = new Report();
  const rows: (string | number)[][] = [];
  const peaks: { title: string; peak: number }[] = [];
  const folder = join(REPOSITORY, 'docs/images');
  mkdirSync(folder, { recursive: true });
  for (const { name, title, run } of SCENARIOS) {
    const fleet = openFleet();
    const from = await run(fleet);
    const perSecond = Array.from(fleet.service.perSecond, (count) => count ?? 0);
    const judged = perSecond.slice(from, -1);
    // The last two intervals: by then the accounts no longer poll at the same moments.
    const end = judged.slice(-2 * INTERVAL);
    rows.push([title, perSecond[0] ?? 0, Math.max(...judged), Math.max(...end), Math.min(...end)]);
    peaks.push({ title, peak: Math.max(...judged) });
    writeFileSync(join(folder, `fleet-${name}.svg`), plot(title, perSecond));
  }
  report.table(
    `${ACCOUNTS} accounts, interval ${INTERVAL} s, at rest ${Math.round(AT_REST)} requests a second`,
    ['', 'first second', 'peak after it', 'peak at the end', 'least at the end'],
    rows,
  );
  for (const { title, peak } of peaks) {
    report.target({ what: `${title}: peak, x load at rest`, value: peak / AT_REST, atMost: 3 });
  }
  report.finish(join(REPOSITORY, '.artefacts/bench/fleet.json'), { date: new Date().toISOString() });
}

void main();
