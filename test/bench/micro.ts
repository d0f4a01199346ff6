// Runs in a process of its own, without Node-RED, and measures one thing: what it costs to decode a list, beside JSON.parse; to read a
// list in which one outlet has changed; to run a command that waits; to tell subscribers of a switch. Arguments: which, how many, rounds.
import type { Account } from '../../src/account/account';
import { decodeList } from '../../src/api/decode';
import { PORTS, systemClock, type Service } from '../../src/api/types';
import { accountOf } from './account';
import { median } from './report';

/** Microseconds. */
export interface Decoded {
  parse: number;
  decode: number;
}

const AT = '2026-01-01T00:00:00.000Z';

const macOf = (index: number): string => (0xa1b2c3000000 + index).toString(16).toUpperCase();
const isOn = (index: number, port: number): boolean => (index + port) % 3 === 0;

/** A list of records as a service could send it; `on`: of the first outlet of the first strip. */
const plainList = (count: number, on = true): string =>
  JSON.stringify(
    Array.from({ length: count }, (_, index) => ({
      mac: macOf(index),
      name: `Strip ${index}`,
      outlets: PORTS.map((port) => ({ port, on: index === 0 && port === 1 ? on : isOn(index, port) })),
      load: (index % 400) / 2,
      voltage: 230.1,
      signal: -50 - (index % 30),
    })),
  );

/** The same with units in text, under "data". */
const textList = (count: number): string => {
  const strips = Array.from({ length: count }, (_, index) => ({
    macAddress: macOf(index),
    sockets: PORTS.map((number) => ({ number, state: isOn(index, number) ? 'ON' : 'OFF' })),
    readings: { load: `${(index % 400) / 2} W`, voltage: '230.1 V', signal: '-60 dBm' },
  }));
  return JSON.stringify({ data: { strips } });
};

/** To parse a text and to decode what came of it, as an account does with each answer. Means over so many milliseconds. */
function decodeFor(text: string, ms: number): Decoded {
  const taken = { parse: 0, decode: 0 };
  const start = performance.now();
  let end = start;
  let count = 0;
  for (; end < start + ms; count++) {
    const before = performance.now();
    const body: unknown = JSON.parse(text);
    const between = performance.now();
    decodeList(body, AT);
    end = performance.now();
    taken.parse += between - before;
    taken.decode += end - between;
  }
  return { parse: (taken.parse * 1000) / count, decode: (taken.decode * 1000) / count };
}

function measureDecoding(text: string, rounds: number): Decoded {
  decodeFor(text, 2_000); // long enough for the compiler to have done its work
  const taken = Array.from({ length: rounds }, () => decodeFor(text, 50));
  const middle = (of: keyof Decoded) => median(taken.map((round) => round[of]));
  return { parse: middle('parse'), decode: middle('decode') };
}

/** An account whose service answers reads with the text of `body()` and commands once `released`. */
function accountWith(body: () => string, released: Promise<void> = Promise.resolve()): Account {
  const list = () => {
    const text = body();
    const response: unknown = JSON.parse(text);
    return Promise.resolve({ ...decodeList(response, AT), response, text });
  };
  const switchOutlet: Service['switch'] = async (_mac, port) => {
    await released;
    const results = [{ port: Number(port), ok: true }];
    const response = { success: true, results };
    return { results, confirmed: PORTS.filter((each) => each === port), response, text: '' };
  };
  return accountOf({ list, switch: switchOutlet }, 3_600_000, systemClock);
}

const run = (account: Account, index: number) =>
  account.run({ mac: macOf(0), port: 1, action: index % 2 === 0, delay: 0 });

/** Microseconds that something takes: the median of so many times, after as many for the compiler to have done its work. */
async function medianOf(rounds: number, work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let round = -rounds; round < rounds; round++) {
    const start = performance.now();
    await work();
    if (round >= 0) taken.push((performance.now() - start) * 1000);
  }
  return median(taken);
}

/** To read a list in which one outlet has changed, a listener included, as the account does in each poll. */
async function measureReading(strips: number, rounds: number): Promise<number> {
  const bodies = [plainList(strips, true), plainList(strips, false)];
  let turn = 0;
  const account = accountWith(() => bodies[turn++ % 2] ?? '');
  account.subscribe(() => undefined);
  return await medianOf(rounds, () => account.list());
}

/** Commands for one and the same outlet, all waiting behind the first. */
async function measureWaiting(commands: number, rounds: number): Promise<number> {
  return await medianOf(rounds, async () => {
    let release = (): void => undefined;
    const account = accountWith(() => '[]', new Promise<void>((resolve) => (release = resolve)));
    const waiting = Array.from({ length: commands }, (_, index) => run(account, index));
    release();
    await Promise.all(waiting);
  });
}

/** A confirmed switch that so many subscribers are told of. */
async function measureTelling(subscribers: number, rounds: number): Promise<number> {
  const account = accountWith(() => '[]');
  for (let index = 0; index < subscribers; index++) account.subscribe(() => undefined);
  let turn = 0;
  return await medianOf(rounds, () => run(account, turn++));
}

const MEASURES: Record<string, (count: number, rounds: number) => Decoded | Promise<number>> = {
  plain: (count, rounds) => measureDecoding(plainList(count), rounds),
  text: (count, rounds) => measureDecoding(textList(count), rounds),
  reading: measureReading,
  waiting: measureWaiting,
  telling: measureTelling,
};

async function main([which = '', count, rounds]: readonly string[]): Promise<void> {
  process.send?.(await MEASURES[which]?.(Number(count), Number(rounds)), () => process.exit());
}

void main(process.argv.slice(2));
