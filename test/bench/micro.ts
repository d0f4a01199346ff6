// Runs in a process of its own, without Node-RED: what the package does with answers and commands, at the side of
// `JSON.parse`, and how that grows.
import { decodeList } from '../../src/api/decode';
import { isRecord } from '../../src/api/values';
import { SHAPES, speak, type Shape } from '../../src/simulator/shapes';
import {
  measureListening,
  measureState,
  measureWaiting,
  type ListeningFigure,
  type StateFigure,
  type WaitingFigure,
} from './micro-account';
import { pictures } from './pictures';
import { time } from './timing';

const AT = '2026-01-01T00:00:00.000Z';

export interface Decoded {
  shape: Shape;
  strips: number;
  bytes: number;
  /** Microseconds. */
  parse: number;
  decode: number;
  /** Microseconds for the least that any reader does: an object of its own for each strip and outlet. */
  copy: number;
}

export interface Micro {
  decoded: Decoded[];
  growth: Decoded[];
  state: StateFigure[];
  waiting: WaitingFigure[];
  listening: ListeningFigure[];
}

function measureDecoding(sizes: readonly number[], shapes: readonly Shape[], rounds: number): Decoded[] {
  return sizes.flatMap((strips) =>
    shapes.map((shape) => {
      const text = JSON.stringify(speak(shape).list(pictures(strips)));
      const body: unknown = JSON.parse(text);
      const work = [() => JSON.parse(text) as unknown, () => decodeList(body, AT), () => copied(body)];
      const [parse = NaN, decode = NaN, copy = NaN] = time(work, rounds);
      return { shape, strips, bytes: text.length, parse, decode, copy };
    }),
  );
}

/** A copy, level by level. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (!isRecord(value)) return value;
  const copy = { ...value };
  for (const key in copy) if (typeof copy[key] === 'object') copy[key] = copied(copy[key]);
  return copy;
}

async function main(quick: boolean): Promise<void> {
  const rounds = quick ? 15 : 61;
  const micro: Micro = {
    decoded: measureDecoding([1, 1_000], SHAPES, rounds),
    growth: measureDecoding([1, 10, 100, 1_000, 10_000], ['plain'], quick ? 5 : 15),
    state: measureState([1, 10, 100, 1_000, 10_000], quick ? 9 : 31),
    waiting: await measureWaiting([1, 10, 100, 1_000, 10_000], quick ? 3 : 9),
    listening: await measureListening([1, 10, 100, 1_000], quick ? 300 : 2_000),
  };
  process.send?.(micro);
  process.disconnect();
}

void main(process.argv.includes('--quick'));
