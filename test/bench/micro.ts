// Runs in a process of its own, without Node-RED: what decoding costs beside JSON.parse, and how the cost of strips and of
// waiting commands grows with their number.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Account } from '../../src/account/account';
import { decodeList } from '../../src/api/decode';
import { systemClock } from '../../src/api/types';
import { readAccountSettings } from '../../src/flow/shared-account';
import type { Micro } from './micro-report';
import { median } from './report';

const AT = '2026-01-01T00:00:00.000Z';
const PORTS = [1, 2, 3, 4] as const;
/** Strips in the list that is decoded beside `JSON.parse`. */
const DECODED = 1_000;
const SIZES = [10, 100, 1_000, 10_000];

type Shape = (count: number, on?: boolean) => unknown;

const macOf = (index: number): string => (0xa1b2c3000000 + index).toString(16).toUpperCase();
const isOn = (index: number, port: number): boolean => (index + port) % 3 === 0;
const list = (count: number, make: (index: number) => object): object[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Answers as a service could send them; `on` sets the first outlet of the first strip. */
const SHAPES: Record<string, Shape> = {
  'a list of records': (count, on = true) =>
    list(count, (index) => ({
      mac: macOf(index),
      name: `Strip ${index}`,
      outlets: PORTS.map((port) => ({ port, on: index === 0 && port === 1 ? on : isOn(index, port) })),
      load: (index % 400) / 2,
      voltage: 230.1,
      signal: -50 - (index % 30),
    })),
  'units in text, under "data"': (count) => ({
    data: {
      strips: list(count, (index) => ({
        macAddress: macOf(index),
        sockets: PORTS.map((number) => ({ number, state: isOn(index, number) ? 'ON' : 'OFF' })),
        readings: { load: `${(index % 400) / 2} W`, voltage: '230.1 V', signal: '-60 dBm' },
      })),
    },
  }),
  'flat fields, keyed by MAC': (count) =>
    Object.fromEntries(
      list(count, () => ({})).map((_, index) => [
        macOf(index),
        { ...Object.fromEntries(PORTS.map((port) => [`outlet_${port}`, isOn(index, port)])), voltage: 230.1 },
      ]),
    ),
};

/** Microseconds to parse a text and to decode what came of it, as an account does with each answer. Means over so many milliseconds. */
function decodeFor(text: string, ms: number): { parse: number; decode: number } {
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

function measureDecoding(name: string, strips: number, rounds: number): Micro['decoded'][0] {
  const text = JSON.stringify(SHAPES[name]?.(strips));
  if (decodeList(JSON.parse(text), AT).strips.length !== strips) throw new Error(`${name} is not read`);
  decodeFor(text, 2_000); // long enough for the compiler to have done its work
  const taken = Array.from({ length: rounds }, () => decodeFor(text, 50));
  const parse = median(taken.map((round) => round.parse));
  return { name, strips, parse, decode: median(taken.map((round) => round.decode)) };
}

/** An account whose service answers reads with the text of `body()` and commands once `released`. */
function accountWith(body: () => string, released: Promise<void> = Promise.resolve()): Account {
  return new Account({
    service: {
      list: () => {
        const text = body();
        const response: unknown = JSON.parse(text);
        return Promise.resolve({ ...decodeList(response, AT), response, text });
      },
      get: () => Promise.reject(new Error('not used')),
      switch: async (_mac, port) => {
        await released;
        const results = [{ port: Number(port), ok: true }];
        const response = { success: true, results };
        return { results, confirmed: PORTS.filter((each) => each === port), response, text: '' };
      },
      beginClose: () => undefined,
      close: () => Promise.resolve(),
    },
    settings: { ...readAccountSettings({}), interval: 3_600_000 },
    clock: systemClock,
    log: new Proxy({} as never, { get: () => () => undefined }),
  });
}

/** Microseconds to read a list in which one outlet has changed, a listener included, as the account does in each poll. */
async function measureReading(strips: number, rounds: number): Promise<Micro['reading'][0]> {
  const bodies = [true, false].map((on) => JSON.stringify(SHAPES['a list of records']?.(strips, on)));
  let turn = 0;
  let changes = 0;
  const account = accountWith(() => bodies[turn++ % 2] ?? '');
  account.subscribe(() => changes++);
  const taken: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await account.list();
    taken.push((performance.now() - start) * 1000);
  }
  if (changes === 0) throw new Error('no change was noticed');
  await account.close();
  return { strips, us: median(taken) };
}

/** Microseconds per command for one and the same outlet, all waiting behind the first. */
async function measureWaiting(commands: number, rounds: number): Promise<Micro['waiting'][0]> {
  const taken: number[] = [];
  for (let round = 0; round < rounds; round++) {
    let release = (): void => undefined;
    const account = accountWith(() => '[]', new Promise<void>((resolve) => (release = resolve)));
    const start = performance.now();
    const waiting = Array.from({ length: commands }, (_, index) =>
      account.run({ mac: macOf(0), port: 1, action: index % 2 === 0, delay: 0 }),
    );
    release();
    await Promise.all(waiting);
    taken.push(((performance.now() - start) * 1000) / commands);
    await account.close();
  }
  return { commands, us: median(taken) };
}

/** Microseconds per confirmed switch that so many subscribers are told of. */
async function measureListening(listeners: number, switches: number): Promise<Micro['listening'][0]> {
  const account = accountWith(() => '[]');
  for (let index = 0; index < listeners; index++) account.subscribe(() => undefined);
  const start = performance.now();
  for (let index = 0; index < switches; index++) {
    await account.run({ mac: macOf(0), port: 1, action: index % 2 === 0, delay: 0 });
  }
  const us = ((performance.now() - start) * 1000) / switches;
  await account.close();
  return { listeners, us };
}

/**
 * Medians of three processes that decode this shape only, as an account meets only one: V8 makes the decoder fast for what it meets.
 * Three, because the time differs by up to a fifth between processes, depending on when V8 collects garbage.
 */
async function measureAlone(name: string, quick: boolean): Promise<Micro['decoded'][0]> {
  const runs: Micro['decoded'] = [];
  while (runs.length < 3) {
    const child = fork(__filename, [name, ...(quick ? ['--quick'] : [])]);
    const [measured] = (await once(child, 'message')) as [Micro['decoded'][0]];
    runs.push(measured);
  }
  const middle = (of: 'parse' | 'decode'): number => median(runs.map((run) => run[of]));
  return { name, strips: DECODED, parse: middle('parse'), decode: middle('decode') };
}

async function measureAll(quick: boolean): Promise<Micro> {
  const micro: Micro = { decoded: [], growth: [], reading: [], waiting: [], listening: [] };
  for (const name of Object.keys(SHAPES)) micro.decoded.push(await measureAlone(name, quick));
  for (const size of SIZES) {
    micro.growth.push(measureDecoding('a list of records', size, quick ? 5 : 15));
    micro.reading.push(await measureReading(size, quick ? 20 : 60));
  }
  // Twice, the first time for the compiler only.
  for (const size of [1_000, ...SIZES]) micro.waiting.push(await measureWaiting(size, quick ? 3 : 9));
  for (const size of [10, 1, 10, 100, 1_000])
    micro.listening.push(await measureListening(size, quick ? 300 : 2_000));
  micro.waiting.shift();
  micro.listening.shift();
  return micro;
}

async function main(args: readonly string[]): Promise<void> {
  const quick = args.includes('--quick');
  const [shape = ''] = args;
  process.send?.(
    shape in SHAPES ? measureDecoding(shape, DECODED, quick ? 15 : 61) : await measureAll(quick),
  );
  process.disconnect();
}

void main(process.argv.slice(2));
