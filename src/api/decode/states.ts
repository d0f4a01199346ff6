import { isRecord } from '../../values';
import type { JsonRecord } from '../types';
import { agreed, fieldsOf, type Candidate, type Note } from './agreement';
import { hasField, meaningOf, says, STATE_TEXT_SUFFIX, type KeyMeaning } from './names';
import type { Codes } from './numbering';
import { discredits } from './reliability';
import { isMeasure, isSet, readBit, readFlag, readWord } from './values';

/** What one field says about on or off; `null`: neither. */
export interface StateCandidate extends Candidate<boolean | null> {
  /**
   * - clear: a boolean or a word
   * - bit: a bare 1 or 0
   * - level: "low" or "high", which counts only beside a `clear` or a `bit`
   * - measure: another number
   * - text: the text for a state, and neither on nor off
   * - unsettled: a word for a state that is not known or about to change, so that nothing beside it counts
   * - unclear: anything else that is neither on nor off
   * - unreliable: says that none of the others can be relied on
   */
  weight: 'clear' | 'bit' | 'level' | 'measure' | 'text' | 'unsettled' | 'unclear' | 'unreliable';
}

/** What a set of fields says together. `on: null`: they say nothing, or nothing for sure, for the reason in `problem`. */
export interface State {
  readonly on: boolean | null;
  readonly problem?: Pick<Note, 'reason' | 'fields'>;
}

/** Names that may hold how often an outlet was switched on and off. */
const COUNTS = ['on', 'off', 'On', 'Off', 'ON', 'OFF'];

/** How deep a state may be nested: `{"switch": {"switch": {"value": "on"}}}`. */
const DEEPEST_STATE = 3;

/** What a value says that is in an array or under a key with the number of an outlet. */
export function stateOfValue(from: string, kind: 'any' | 'word', value: unknown): StateCandidate[] {
  if (isRecord(value)) return statesIn(value, kind);
  return [candidateOf(from, kind, value)].filter((state) => state !== null);
}

/** Adds to a list. Most records say one thing, but the first `push` makes room for 17: that makes reading a list of strips a tenth slower. */
const appended = <Item>(list: Item[] | null, item: Item): Item[] => {
  if (list === null) return [item];
  list.push(item);
  return list;
};

/** What the fields of a record about one outlet say. `named`: how the name of the record itself says on or off, if it does. */
export function statesIn(record: JsonRecord, named: KeyMeaning['state'], depth = 0): StateCandidate[] {
  // A number with a unit is no state.
  const outer = named !== null && hasField(record, isUnit) ? null : named;
  let said: StateCandidate[] | null = null;
  for (const key in record) {
    const meaning = meaningOf(key);
    const value = record[key];
    const kind = outer !== null && isValueOf(meaning, value, depth) ? outer : meaning.state;
    const isState = kind !== null || meaning.part === 'self';
    if (isState && isRecord(value) && depth < DEEPEST_STATE)
      for (const inner of statesIn(meaning.is('rated') ? withoutFlags(value) : value, kind, depth + 1))
        said = appended(said, inner);
    const state = kind === null || typeof value === 'object' ? null : candidateOf(key, kind, value);
    if (state !== null) said = appended(said, state);
    // `output: true` beside "low" is the direction of a pin.
    if (meaning.plain === 'level' && (value === 'low' || value === 'high'))
      said = appended(said, { from: key, value: value === 'high', weight: 'level' });
    if (state?.weight === 'clear') continue;
    if (discredits(meaning, value)) said = appended(said, { from: key, value: null, weight: 'unreliable' });
  }
  if (outer === null || said === null) return said ?? [];
  // A record under the name of an outlet may have several fields for its state.
  if (depth === 0 && said.every(({ from }) => meaningOf(from).state !== null)) return said;
  // In a record for one state, a number and a word must mean the same. They do not in `{"value": 1, "text": "off"}`.
  const [own, ...others] = said.filter(({ value }) => value !== null);
  if (own !== undefined && others.some(({ value }) => value !== own.value))
    said.push({ ...own, value: null, weight: 'unreliable' });
  return said;
}

/** A record without what is only yes or no: in `capabilities: {"switch": true}` that says what an outlet can do. */
const withoutFlags = (record: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => readFlag(value) === null));

const isUnit = ({ unitOf }: KeyMeaning, value: unknown): boolean => unitOf !== null && isSet(value);

/**
 * Whether a field inside a record for a state holds that state, as a value or as a word. A `current` of 0 is a measurement, and in the record of an
 * outlet (`depth` 0) the name is that of the outlet.
 */
const isValueOf = (meaning: KeyMeaning, value: unknown, depth: number): boolean =>
  (meaning.is('value') && !meaning.measures) ||
  (readWord(value) !== null && ((meaning.isName && depth > 0) || meaning.plain === 'text'));

/** What one field says; `null`: nothing. */
function candidateOf(
  from: string,
  kind: NonNullable<KeyMeaning['state']>,
  value: unknown,
): StateCandidate | null {
  if (value === null || value === '') return null;
  const word = readWord(value);
  const on = word ?? (kind === 'any' || kind === 'off' ? readBit(value) : null);
  const weight = word !== null ? 'clear' : on !== null ? 'bit' : weightOfOther(kind, value);
  return { from, value: kind === 'off' && on !== null ? !on : on, weight };
}

function weightOfOther(kind: NonNullable<KeyMeaning['state']>, value: unknown): StateCandidate['weight'] {
  if (isMeasure(value)) return 'measure';
  // A power that is unknown may be one in watts.
  if (kind !== 'word' && says('unsettled', value)) return 'unsettled';
  return kind === 'text' ? 'text' : 'unclear';
}

/** Adds the keys of which a field in the record of one outlet shows that they are codes in the records of all. */
export function addCodes(codes: Codes, said: readonly StateCandidate[]): void {
  for (const { weight, from } of said) {
    // A number other than 0 and 1. `on: 2` is a count, so `off: 0` beside it is one, too.
    if (weight === 'measure') for (const key of COUNTS.includes(from) ? COUNTS : [from]) codes.set(key, true);
    // `{"status": 0, "status_text": "ok"}`
    if (weight === 'text' || (weight === 'unsettled' && STATE_TEXT_SUFFIX.test(from)))
      codes.set(from.replace(STATE_TEXT_SUFFIX, ''), true);
  }
}

/** What the fields say together. A clear yes or no outweighs bare numbers; if two of the same weight disagree, neither counts. */
export function settleState(fields: readonly StateCandidate[], codes: Codes): State {
  const [only] = fields;
  if (only === undefined) return { on: null };
  // Nearly every outlet has only one such field.
  if (fields.length === 1 && only.weight === 'clear') return { on: only.value };
  const has = (...weights: StateCandidate['weight'][]): boolean =>
    fields.some(({ weight }) => weights.includes(weight));
  if (has('unreliable') || (has('unsettled') && fields.some(({ value }) => value !== null))) {
    return { on: null, problem: { reason: 'disagree', fields: fieldsOf(fields) } };
  }
  const clear = fields.filter(({ weight }) => weight === 'clear');
  const bits = fields.filter(({ weight, from }) => weight === 'bit' && codes.get(from) !== true);
  const weighty = clear.length === 0 && bits.some(({ from }) => !codes.has(from)) ? bits : clear;
  if (weighty.length === 0) {
    const reason = has('unsettled', 'unclear', 'text') ? 'unclear' : 'number';
    return { on: null, problem: { reason, fields: fieldsOf(fields) } };
  }
  const counted = weighty.concat(fields.filter(({ weight }) => weight === 'level'));
  const on = agreed(counted) ?? null;
  return on === null ? { on, problem: { reason: 'disagree', fields: fieldsOf(counted) } } : { on };
}
