/** The middle of some numbers; `NaN` for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? NaN) + upper) / 2;
}

/** The value below which the given share (0-1) of the numbers lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/**
 * The median over the rounds of one variant's figure divided by another's of the same round: what the machine does besides changes from
 * round to round and hits both.
 */
export function ratio(of: readonly number[], to: readonly number[]): number {
  return median(of.map((value, round) => value / (to[round] ?? NaN)));
}

/** The same numbers in a turned order, so that no variant always comes right after the same other. */
export function turned<T>(items: readonly T[], by: number): T[] {
  const from = by % items.length;
  return [...items.slice(from), ...items.slice(0, from)];
}
