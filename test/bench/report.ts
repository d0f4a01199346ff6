import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** A figure that was measured, what it should be, and whether it is. */
export interface Row {
  what: string;
  value: number;
  /** Behind the number, e.g. "ms"; "x" for a ratio. */
  unit: string;
  /** The bound to keep; absent where the figure is only shown. */
  atMost?: number;
  atLeast?: number;
}

export type Cell = string | number;

/** Gathers what is measured, prints it as it comes and writes all of it as JSON in the end. */
export class Report {
  readonly #tables: { title: string; head: string[]; rows: Cell[][] }[] = [];
  readonly #rows: (Row & { part: string; met: boolean | null })[] = [];
  readonly #about: Record<string, Cell>;

  constructor(about: Record<string, Cell>) {
    this.#about = about;
  }

  get measured(): number {
    return this.#rows.length;
  }

  /** Figures as they are. */
  table(title: string, head: string[], rows: Cell[][]): void {
    this.#tables.push({ title, head, rows });
    print(title, head, rows);
  }

  /** Figures with a bound. */
  targets(part: string, rows: readonly Row[]): void {
    for (const row of rows) this.#rows.push({ ...row, part, met: verdict(row) });
    print(
      `${part}: targets`,
      ['', 'measured', 'target', 'verdict'],
      rows.map((row) => [row.what, `${figure(row.value)} ${row.unit}`, target(row), word(verdict(row))]),
    );
  }

  /** The rows with a bound once more, and where the JSON was written. */
  finish(file: string): void {
    const bound = this.#rows.filter((row) => row.met !== null);
    const missed = bound.filter((row) => row.met === false);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
      file,
      `${JSON.stringify({ ...this.#about, rows: this.#rows, tables: this.#tables }, null, 1)}\n`,
    );
    console.log(`\n${bound.length - missed.length} of ${bound.length} targets met`);
    for (const row of missed) {
      console.log(`  missed: ${row.part}: ${row.what}: ${figure(row.value)} ${row.unit} (${target(row)})`);
    }
  }
}

function verdict({ value, atMost, atLeast }: Row): boolean | null {
  if (atMost === undefined && atLeast === undefined) return null;
  return value <= (atMost ?? Infinity) && value >= (atLeast ?? -Infinity);
}

const word = (met: boolean | null): string => (met === null ? '' : met ? 'met' : 'MISSED');

function target({ atMost, atLeast }: Row): string {
  if (atMost !== undefined) return `at most ${atMost}`;
  return atLeast === undefined ? '' : `at least ${atLeast}`;
}

/** Three digits that matter. */
function figure(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  if (Number.isInteger(cell)) return String(cell);
  const size = Math.abs(cell);
  return cell.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

function print(title: string, head: string[], rows: Cell[][]): void {
  const cells = [head, ...rows.map((row) => row.map(figure))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    row.map((text, column) =>
      column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0),
    ),
  );
  console.log(`\n${title}`);
  for (const line of lines) console.log(`  ${line.join('  ')}`.trimEnd());
}
