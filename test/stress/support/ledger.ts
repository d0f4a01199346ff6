import { strict as assert } from 'node:assert';
import { isStripError } from '../../../src/api/errors';
import type { Port } from '../../../src/api/types';

export interface Outlet {
  mac: string;
  port: Port;
}

/** How a command ended: confirmed, surely not carried out, or nobody knows. */
type End = 'confirmed' | 'not sent' | 'uncertain';

/** Codes of errors after which the outlet is surely as it was before the command. */
const NOTHING_SENT: ReadonlySet<string> = new Set(['BUSY', 'PROTECTED', 'INVALID_INPUT', 'NOT_CONFIGURED']);

interface Entry {
  on: boolean;
  end: End | null;
}

/** Every command for each outlet and how it ended, to compare with the states in the service at the end of a test. */
export class Ledger {
  readonly #entries = new Map<string, Entry[]>();
  readonly #counts: Record<string, number> = {};
  #unsettled = 0;

  /** How often each outcome came: 'ok' or an error's code. */
  get counts(): Readonly<Record<string, number>> {
    return this.#counts;
  }

  get unsettled(): number {
    return this.#unsettled;
  }

  /** Notes a command. Call the returned function once, with the error that the command ended with or `null`. */
  asked({ mac, port }: Outlet, on: boolean): (error: unknown) => void {
    const entry: Entry = { on, end: null };
    const name = `${mac}/${port}`;
    const entries = this.#entries.get(name) ?? [];
    entries.push(entry);
    this.#entries.set(name, entries);
    this.#unsettled++;
    return (error) => {
      assert.equal(entry.end, null, 'a command had two outcomes');
      assert(error === null || isStripError(error), `not a StripError: ${String(error)}`);
      this.#unsettled--;
      const outcome = error === null ? 'ok' : error.code;
      this.#counts[outcome] = (this.#counts[outcome] ?? 0) + 1;
      entry.end = error === null ? 'confirmed' : NOTHING_SENT.has(error.code) ? 'not sent' : 'uncertain';
    };
  }

  /** States that an outlet, off at first, may have: that of the last confirmed command, or of a later one whose outcome is not known. */
  possible({ mac, port }: Outlet): Set<boolean> {
    let states = new Set([false]);
    for (const { on, end } of this.#entries.get(`${mac}/${port}`) ?? []) {
      assert.notEqual(end, null, 'a command without an outcome');
      if (end === 'confirmed') states = new Set([on]);
      else if (end === 'uncertain') states.add(on);
    }
    return states;
  }

  /** Whether the states that the service was switched to can come from the commands, carried out in the order in which they came. */
  isInOrder({ mac, port }: Outlet, carriedOut: readonly boolean[]): boolean {
    const entries = this.#entries.get(`${mac}/${port}`) ?? [];
    // Positions in `carriedOut` that may have been reached after each command; every command may be repeated.
    let reached = new Set([0]);
    for (const { on, end } of entries) {
      const next = new Set<number>(end === 'confirmed' ? [] : reached);
      if (end !== 'not sent') {
        for (const from of reached) {
          for (let to = from; to < carriedOut.length && carriedOut[to] === on; to++) next.add(to + 1);
        }
      }
      reached = next;
    }
    return reached.has(carriedOut.length);
  }
}
