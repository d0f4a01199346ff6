/** A source of numbers that gives the same ones for the same seed. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** A whole number from 0 to `below`, without it. */
  below(below: number): number;
  pick<T>(items: readonly T[]): T;
}

/** What this run started from. `STRESS_SEED` repeats another one. */
export const SEED = Number(process.env.STRESS_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** `name` keeps the numbers of one test apart from those of another. */
export function randomOf(name: string): Random {
  console.log(`      STRESS_SEED=${SEED}`);
  let state = SEED;
  for (let at = 0; at < name.length; at++) state = Math.imul(state ^ name.charCodeAt(at), 0x01000193);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    pick: <T>(items: readonly T[]): T => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
  };
}
