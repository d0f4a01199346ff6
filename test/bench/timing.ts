import { median, turned } from './stats';

/** Results go here, so that no compiler finds the work to be for nothing. */
let kept: unknown;

/** Microseconds that one call takes, for each of some pieces of work: medians of rounds in turn. */
export function time(work: readonly (() => unknown)[], rounds: number, roundMs = 12): number[] {
  const counts = work.map((each) => {
    // Long enough for the compiler to have done with it.
    const start = performance.now();
    let count = 0;
    for (; performance.now() < start + 150; count++) kept = each();
    return Math.max(1, Math.round((count * roundMs) / (performance.now() - start)));
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
  if (kept === work) throw new Error('work that does nothing');
  return taken.map(median);
}

/** Bytes of heap in use after garbage collection, where this Node lets a program ask for one. */
export function heapUsed(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
