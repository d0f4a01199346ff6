// `npm run fleet`: ten thousand accounts on one service, on a simulated clock, with the poller, retry and rate-limit code that
// users run. Writes one plot per scenario to docs/images and compares each peak with the load at rest.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StripError } from '../../src/api/errors';
import { calm, FakeClock } from '../support/fake-clock';
import { REPOSITORY } from '../support/node-red-install';
import { accountOf } from './account';
import { printSummary, printTable, printTarget } from './report';

const ACCOUNTS = 10_000;
const INTERVAL = 30;
const AT_REST = ACCOUNTS / INTERVAL;
/** Milliseconds that an answer takes. The clock moves on in steps of the same length. */
const LATENCY = 50;

/** Times in seconds. */
interface Scenario {
  readonly name: string;
  readonly title: string;
  /** Within which all accounts start. */
  readonly start: number;
  readonly length: number;
  /** From when on the load is judged. */
  readonly from: number;
  /** Why the service does not answer, at a time in milliseconds. */
  readonly errorAt?: (ms: number) => StripError | null;
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'rest', title: 'At rest', start: INTERVAL, length: 330, from: 2 * INTERVAL },
  {
    name: 'common-start',
    title: 'A common start: all within one second',
    start: 0,
    length: 300,
    from: 1,
  },
  {
    name: 'outage',
    title: 'An outage of 10 minutes, from second 120 on',
    start: INTERVAL,
    length: 1200,
    from: 121,
    errorAt: (ms) => (ms >= 120_000 && ms < 720_000 ? new StripError('UNREACHABLE.refused') : null),
  },
  {
    name: 'rate-limit',
    title: 'A 429 with the same end of the pause for all, from second 120 to 240',
    start: INTERVAL,
    length: 540,
    from: 121,
    errorAt: (ms) =>
      ms >= 120_000 && ms < 240_000
        ? new StripError('RATE_LIMITED.seconds', {}, { retryAfter: 240_000 - ms })
        : null,
  },
];

/** One clock for all accounts. */
class FleetClock extends FakeClock {
  override random = (): number => Math.random();

  /** Moves on in steps, and lets every promise settle after each. */
  async run(seconds: number): Promise<void> {
    for (let ms = 0; ms < seconds * 1000; ms += LATENCY) {
      this.advance(LATENCY);
      await calm();
    }
  }
}

/** Runs a scenario; returns how many requests the service had in each second. */
async function simulate({ start, length, errorAt = () => null }: Scenario): Promise<number[]> {
  const clock = new FleetClock();
  const perSecond = new Array<number>(length).fill(0);
  const list = async () => {
    const second = Math.floor(clock.elapsed / 1000);
    perSecond[second] = (perSecond[second] ?? 0) + 1;
    await new Promise<void>((resolve) => clock.setTimeout(resolve, LATENCY));
    const error = errorAt(clock.elapsed);
    if (error !== null) throw error;
    return { strips: [], complete: true, readable: true, response: [], text: '[]' };
  };
  const open = () => accountOf({ list }, INTERVAL * 1000, clock).subscribe(() => undefined);
  for (let index = 0; index < ACCOUNTS; index++) clock.setTimeout(open, Math.random() * start * 1000);
  await clock.run(length);
  return perSecond.slice(0, length);
}

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
  const rows: (string | number)[][] = [];
  const peaks: [title: string, peak: number][] = [];
  for (const scenario of SCENARIOS) {
    const { name, title, from } = scenario;
    const perSecond = await simulate(scenario);
    const judged = perSecond.slice(from);
    // The last two intervals: by then the accounts no longer poll at the same moments.
    const end = judged.slice(-2 * INTERVAL);
    rows.push([title, perSecond[0] ?? 0, Math.max(...judged), Math.min(...end), Math.max(...end)]);
    peaks.push([title, Math.max(...judged)]);
    writeFileSync(join(REPOSITORY, `docs/images/fleet-${name}.svg`), plot(title, perSecond));
  }
  printTable(
    `${ACCOUNTS} accounts, interval ${INTERVAL} s, at rest ${Math.round(AT_REST)} requests a second`,
    ['', 'first second', 'peak after it', 'least at the end', 'peak at the end'],
    rows,
  );
  for (const [title, peak] of peaks) {
    printTarget(`${title}: peak, x load at rest`, peak / AT_REST, { atMost: 3 });
  }
  printSummary();
}

void main();
