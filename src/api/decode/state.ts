import { isRecord } from '../../values';
import { isMeasure, readBit, readWord, type JsonRecord } from './values';
import { agreed, fieldsOf, type Candidate, type Note } from './candidates';
import type { Look, Meaning } from './names';

/** What one field that may say on or off says; `null`: neither. */
export interface StateCandidate extends Candidate<boolean | null> {
  /**
   * A boolean or a word; a bare 1 or 0; a level ("low"), which counts only beside one of these; another number; anything else, which is
   * neither on nor off.
   */
  weight: 'clear' | 'bit' | 'level' | 'measure' | 'unclear';
}

/** What a set of fields says in the end. `on: null`: it says nothing, or for the reason given nothing for sure. */
export interface State {
  readonly on: boolean | null;
  /** Fields disagree, so that no other set can say it either. */
  readonly disputed: boolean;
  readonly reason?: Note['reason'];
  readonly fields?: string[];
}

export const UNSAID: State = { on: null, disputed: false };
export const ON: State = { on: true, disputed: false };
export const OFF: State = { on: false, disputed: false };

/** A state, a record for it, and the value in that: `{"switch": {"switch": {"value": "on"}}}`. */
const DEEPEST = 3;

/** What a bare value says, as it stands in an array or under the number of an outlet. */
export function stateOfValue(
  from: string,
  kind: 'any' | 'word',
  value: unknown,
  look: Look,
): StateCandidate[] {
  const fields: StateCandidate[] = [];
  if (isRecord(value)) addFields(fields, value, look, kind, 0);
  else addValue(fields, from, kind, value);
  return fields;
}

/** `outer`: how the name of the record itself says on or off, if it does. */
function addFields(
  fields: StateCandidate[],
  record: JsonRecord,
  look: Look,
  outer: Meaning['state'],
  depth: number,
): void {
  for (const key in record) addField(fields, key, look(key), record[key], look, outer, depth);
}

/** Adds what one field says, if it may say on or off. `outer`: as above; `depth`: how far down the field stands. */
export function addField(
  fields: StateCandidate[],
  key: string,
  meaning: Meaning,
  value: unknown,
  look: Look,
  outer: Meaning['state'],
  depth: number,
): void {
  const kind = outer !== null && meaning.is('value') ? outer : meaning.state;
  if (typeof value === 'object' && value !== null) {
    const isState = kind !== null || (meaning.part === 'self' && meaning.outlets === null);
    if (isState && depth < DEEPEST && isRecord(value))
      addFields(fields, value, look, kind ?? outer, depth + 1);
  } else if (kind !== null) addValue(fields, key, kind, value);
  else if (meaning.plain === 'level' && (value === 'low' || value === 'high')) {
    // "low" beside `output: true` makes that the direction of a pin.
    fields.push({ from: key, value: value === 'high', weight: 'level' });
  }
}

function addValue(
  fields: StateCandidate[],
  from: string,
  kind: 'any' | 'word' | 'off',
  value: unknown,
): void {
  if (value === null || value === '') return;
  const word = readWord(value);
  const on = word ?? (kind === 'word' ? null : readBit(value));
  const weight = word !== null ? 'clear' : on !== null ? 'bit' : isMeasure(value) ? 'measure' : 'unclear';
  fields.push({ from, value: kind === 'off' && on !== null ? !on : on, weight });
}

/**
 * What the fields say together. A clear yes or no outweighs bare numbers; where two of the same weight disagree, neither counts.
 * `codes`: keys whose bare numbers are no states (they number the set, or are codes of some other kind).
 */
export function settleState(fields: readonly StateCandidate[], codes: ReadonlySet<string>): State {
  const [only] = fields;
  if (only === undefined) return UNSAID;
  // Nearly every outlet is told by one field. Without the shortcuts for a single value, here and elsewhere, a list takes 1.4 times as long.
  if (fields.length === 1 && (only.weight === 'clear' || (only.weight === 'bit' && !codes.has(only.from))))
    return only.value === true ? ON : OFF;
  const clear = fields.filter(({ weight }) => weight === 'clear');
  const bits = fields.filter(({ weight, from }) => weight === 'bit' && !codes.has(from));
  const weighty = clear.length > 0 ? clear : bits;
  if (weighty.length === 0) {
    const reason = fields.some(({ weight }) => weight === 'unclear') ? 'unclear' : 'number';
    return { on: null, disputed: false, reason, fields: fieldsOf(fields) };
  }
  const counted = [...weighty, ...fields.filter(({ weight }) => weight === 'level')];
  const on = agreed(counted);
  if (on === undefined || on === null)
    return { on: null, disputed: true, reason: 'disagree', fields: fieldsOf(counted) };
  return on ? ON : OFF;
}
