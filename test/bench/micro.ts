// Runs in a process of its own, without Node-RED: what the package does with an answer, at the side of `JSON.parse`.
import { decodeList } from '../../src/api/decode';
import { PORTS } from '../../src/api/types';
import { SHAPES, speak, type Shape, type StripPicture } from '../../src/simulator/shapes';
import { median, turned } from './stats';

const AT = '2026-01-01T00:00:00.000Z';

function pictures(count: number): StripPicture[] {
  return Array.from({ length: count }, (_, index) => ({
    mac: index.toString(16).toUpperCase().padStart(12, 'A'),
    name: `Strip ${index}`,
    outlets: PORTS.map((port) => ({ port, on: (index + port) % 3 === 0 })),
    readings: { load: (index % 400) / 2, voltage: 230.1, signal: -50 - (index % 30) },
  }));
}

let kept: unknown;

/** Microseconds that one call takes, for each of some pieces of work: medians of rounds in turn. */
function time(work: readonly (() => unknown)[], rounds: number, roundMs = 12): number[] {
  const counts = work.map((each) => {
    // Long enough for the compiler to have done with it.
    const until = performance.now() + 150;
    let count = 0;
    for (; performance.now() < until; count++) kept = each();
    return Math.max(1, Math.round((count / 150) * roundMs));
  });
  const taken: number[][] = work.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const index of turned([...work.keys()], round)) {
      const each = work[index];
      const count = counts[index] ?? 1;
      if (each === undefined) continue;
      const start = performance.now();
      for (let i = 0; i < count; i++) kept = each();
      taken[index]?.push(((performance.now() - start) * 1000) / count);
    }
  }
  return taken.map(median);
}

export interface Decoded {
  shape: Shape;
  strips: number;
  bytes: number;
  parse: number;
  decode: number;
}

function measureDecoding(sizes: readonly number[], shapes: readonly Shape[], rounds: number): Decoded[] {
  return sizes.flatMap((strips) =>
    shapes.map((shape) => {
      const text = JSON.stringify(speak(shape).list(pictures(strips)));
      const body: unknown = JSON.parse(text);
      const [parse = NaN, decode = NaN] = time(
        [() => JSON.parse(text) as unknown, () => decodeList(body, AT)],
        rounds,
      );
      return { shape, strips, bytes: text.length, parse, decode };
    }),
  );
}

const quick = process.argv.includes('--quick');
const rounds = quick ? 15 : 61;
process.send?.({
  decoded: measureDecoding([1, 1_000], SHAPES, rounds),
  growth: measureDecoding([1, 10, 100, 1_000, 10_000], ['plain'], quick ? 5 : 15),
  kept: kept !== undefined,
});
process.disconnect();
