import type { ReadingName } from '../types';
import { readText } from './values';

/** Why a value is unknown although something was sent for it. */
export interface Note {
  /** `null`: the answer as a whole. */
  mac: string | null;
  /** An outlet by its number, one of the other values of a strip, or the list itself. */
  about: number | 'outlets' | ReadingName | 'list';
  reason:
    /** Two values disagree. */
    | 'disagree'
    /** The value says neither on nor off, or is no number. */
    | 'unclear'
    /** A bare 0 or 1 that may be a code, a measurement or a number of the outlet. */
    | 'number'
    /** Nothing says for sure which outlet is which. */
    | 'unnumbered'
    /** The unit does not fit the reading. */
    | 'unit'
    /** A scale beside the value, or a value that is plainly scaled. */
    | 'scale'
    /** Records without a MAC. */
    | 'unidentified'
    /** Something hints at strips that are missing in the answer, or at a failure. */
    | 'more'
    /** The answer is about another strip. */
    | 'other';
  /** Keys of the fields in question, as the service spelled them, in alphabetical order. */
  fields: string[];
}

/** Called with a note about one strip. */
export type AddNote = (about: Note['about'], reason: Note['reason'], fields: string[]) => void;

/** A value that one field gives, and the key of that field. */
export interface Candidate<Value> {
  value: Value;
  from: string;
}

/** The one value on which all candidates agree; `undefined` if they do not, or if there are none. */
export function agreed<Value>(candidates: readonly { value: Value }[]): Value | undefined {
  const [first] = candidates;
  return first !== undefined && candidates.every(({ value }) => value === first.value)
    ? first.value
    : undefined;
}

/** The keys of fields, each once. */
export const fieldsOf = (candidates: readonly { from: string }[]): string[] =>
  [...new Set(candidates.map(({ from }) => from))].sort();

/** Finds the most preferred of some texts: the lowest rank; of equal rank the first in the alphabet, so that the order of keys does not matter. */
export class Preferred {
  text: string | null = null;
  rank = Infinity;

  /** A value that is no text, or whose rank is Infinity, does not count. */
  add(rank: number, value: unknown): void {
    const text = rank <= this.rank && rank < Infinity ? readText(value) : null;
    if (text === null || (rank === this.rank && this.text !== null && text > this.text)) return;
    this.text = text;
    this.rank = rank;
  }
}
