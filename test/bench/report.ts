type Cell = string | number;

interface Bound {
  atMost?: number;
  atLeast?: number;
}

/** Whether each figure kept its bound. */
const outcomes: boolean[] = [];

/** The middle of some numbers; `NaN` for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? NaN) + upper) / 2;
}

/** The median over the rounds of one variant's figure divided by another's of the same round: other load on the machine affects both. */
export function ratio(of: readonly number[], to: readonly number[]): number {
  return median(of.map((value, round) => value / (to[round] ?? NaN)));
}

export function printTable(title: string, head: readonly string[], rows: readonly Cell[][]): void {
  const cells = [head, ...rows.map((row) => row.map(textOf))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  console.log(`\n${title}`);
  for (const [first = '', ...others] of cells) {
    const padded = others.map((text, index) => text.padStart(widths[index + 1] ?? 0));
    console.log(['', first.padEnd(widths[0] ?? 0), ...padded].join('  '));
  }
}

/** Prints a figure and whether it keeps its bound. */
export function printTarget(what: string, value: number, { atMost = Infinity, atLeast = 0 }: Bound): void {
  const isMet = value <= atMost && value >= atLeast;
  outcomes.push(isMet);
  const bound = atMost === Infinity ? `at least ${atLeast}` : `at most ${atMost}`;
  console.log(`  ${isMet ? 'met   ' : 'MISSED'} ${what}: ${textOf(value)} (${bound})`);
}

export function printSummary(): void {
  console.log(`\n${outcomes.filter((isMet) => isMet).length} of ${outcomes.length} targets met`);
}

/** A number with three significant digits. */
function textOf(cell: Cell): string {
  if (typeof cell === 'string' || Number.isInteger(cell)) return String(cell);
  const size = Math.abs(cell);
  return cell.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}
