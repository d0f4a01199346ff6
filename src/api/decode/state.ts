import { isRecord } from '../../values';
import { isMeasure, readBit, readWord, type JsonRecord } from './values';
import { agreed, fieldsOf, withItem, type Candidate, type Note } from './candidates';
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
  const said = isRecord(value)
    ? withRecord(undefined, value, look, kind, 0)
    : withValue(undefined, from, kind, value);
  return said ?? [];
}

/** What the fields of a record about one outlet say. */
export const statesIn = (record: JsonRecord, look: Look): StateCandidate[] =>
  withRecord(undefined, record, look, null, 0) ?? [];

/** `outer`: how the name of the record itself says on or off, if it does. */
function withRecord(
  said: StateCandidate[] | undefined,
  record: JsonRecord,
  look: Look,
  outer: Meaning['state'],
  depth: number,
): StateCandidate[] | undefined {
  let all = said;
  for (const key in record) all = withField(all, look(key), record[key], look, outer, depth);
  return all;
}

/** What was said, and what one field more says, if it may say on or off. `outer`: as above; `depth`: how far down the field stands. */
function withField(
  said: StateCandidate[] | undefined,
  meaning: Meaning,
  value: unknown,
  look: Look,
  outer: Meaning['state'],
  depth: number,
): StateCandidate[] | undefined {
  const kind = outer !== null && meaning.is('value') ? outer : meaning.state;
  if (typeof value === 'object' && value !== null) {
    const isState = kind !== null || (meaning.part === 'self' && meaning.outlets === null);
    return isState && depth < DEEPEST && isRecord(value)
      ? withRecord(said, value, look, kind ?? outer, depth + 1)
      : said;
  }
  if (kind !== null) return withValue(said, meaning.key, kind, value);
  // "low" beside `output: true` makes that the direction of a pin.
  return meaning.plain === 'level' && (value === 'low' || value === 'high')
    ? withItem(said, { from: meaning.key, value: value === 'high', weight: 'level' })
    : said;
}

function withValue(
  said: StateCandidate[] | undefined,
  from: string,
  kind: 'any' | 'word' | 'off',
  value: unknown,
): StateCandidate[] | undefined {
  if (value === null || value === '') return said;
  const word = readWord(value);
  const on = word ?? (kind === 'word' ? null : readBit(value));
  const weight = word !== null ? 'clear' : on !== null ? 'bit' : isMeasure(value) ? 'measure' : 'unclear';
  return withItem(said, { from, value: kind === 'off' && on !== null ? !on : on, weight });
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
