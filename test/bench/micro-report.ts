import type { BenchLab } from './lab';
import type { Decoded } from './micro';
import { median, printTable, printTarget } from './report';

/** Ten times as many must not cost much more each. Quadratic cost would be 10; large lists no longer fit into the processor's caches. */
const LINEAR = 3;

/** What decoding costs beside `JSON.parse`, and how the cost of strips, waiting commands and subscribers grows with their number. */
export async function measureMicro(lab: BenchLab, quick: boolean): Promise<void> {
  const shapes = { plain: 'a list of records', text: 'units in text, under "data"' };
  for (const [shape, name] of Object.entries(shapes)) {
    // Three processes, because the time differs by up to a fifth between processes, depending on when V8 collects garbage.
    const runs: Decoded[] = [];
    while (runs.length < 3) runs.push((await lab.program('micro', shape, 1_000, quick ? 15 : 61)) as Decoded);
    const [parse, decode] = [median(runs.map((run) => run.parse)), median(runs.map((run) => run.decode))];
    printTable(`Decoding 1,000 strips, ${name}`, ['JSON.parse us', 'decode us'], [[parse, decode]]);
    printTarget('decode, x JSON.parse', decode / parse, { atMost: 3 });
  }

  const grow = async (
    what: string,
    counts: readonly number[],
    measure: (count: number) => Promise<number>,
  ) => {
    const rows: [count: number, us: number, each: number][] = [];
    for (const count of counts) {
      const us = await measure(count);
      rows.push([count, us, us / count]);
    }
    printTable(`Growth: ${what}`, ['number', 'us', 'us each'], rows);
    const [before = NaN, after = NaN] = rows.slice(-2).map(([, , each]) => each);
    printTarget('last growth by ten, us each', after / before, { atMost: LINEAR });
  };
  const micro = (which: string, rounds: number) => async (count: number) =>
    (await lab.program('micro', which, count, quick ? Math.ceil(rounds / 3) : rounds)) as number;
  const sizes = [10, 100, 1_000, 10_000];
  await grow(
    'decoding a list of strips',
    sizes,
    async (count) => ((await lab.program('micro', 'plain', count, quick ? 5 : 15)) as Decoded).decode,
  );
  await grow('reading a list of strips in which one outlet has changed', sizes, micro('reading', 60));
  await grow('commands that wait for one outlet', [1_000, 10_000], micro('waiting', 9));
  await grow('a switch that all subscribers are told of', [1, 10, 100, 1_000], micro('telling', 2_000));
}
