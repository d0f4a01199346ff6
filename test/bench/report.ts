import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

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

/** The same items, starting from another one in each round, so that no variant always runs after the same other. */
export function rotated<T>(items: readonly T[], by: number): T[] {
  const from = by % items.length;
  return [...items.slice(from), ...items.slice(0, from)];
}

/** A figure, and the bound it has to keep. */
export interface Target {
  what: string;
  value: number;
  atMost?: number;
  atLeast?: number;
}

type Cell = string | number;

/** Prints what is measured, and writes all of it as JSON at the end. */
export class Report {
  readonly #tables: { title: string; head: string[]; rows: Cell[][] }[] = [];
  readonly #targets: (Target & { met: boolean })[] = [];

  table(title: string, head: string[], rows: Cell[][]): void {
    this.#tables.push({ title, head, rows });
    const cells = [head, ...rows.map((row) => row.map(textOf))];
    const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
    console.log(`\n${title}`);
    for (const row of cells) {
      const padded = row.map((text, column) =>
        column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0),
      );
      console.log(`  ${padded.join('  ')}`.trimEnd());
    }
  }

  target(target: Target): void {
    const { value, atMost = Infinity, atLeast = -Infinity } = target;
    const met = value <= atMost && value >= atLeast;
    this.#targets.push({ ...target, met });
    console.log(`  ${met ? 'met   ' : 'MISSED'} ${target.what}: ${textOf(value)} (${boundOf(target)})`);
  }

  /** Counts the targets met and writes the file. */
  finish(file: string, about: Record<string, string>): void {
    if (this.#tables.length === 0) throw new Error('nothing was measured');
    mkdirSync(dirname(file), { recursive: true });
    const all = { ...about, targets: this.#targets, tables: this.#tables };
    writeFileSync(file, `${JSON.stringify(all, null, 1)}\n`);
    const missed = this.#targets.filter(({ met }) => !met);
    console.log(`\n${this.#targets.length - missed.length} of ${this.#targets.length} targets met`);
    for (const target of missed)
      console.log(`  missed: ${target.what}: ${textOf(target.value)} (${boundOf(target)})`);
  }
}

const boundOf = ({ atMost, atLeast }: Target): string =>
  atMost !== undefined ? `at most ${atMost}` : `at least ${atLeast ?? ''}`;

/** A number with three significant digits. */
function textOf(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  if (Number.isInteger(cell)) return String(cell);
  const size = Math.abs(cell);
  return cell.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}
