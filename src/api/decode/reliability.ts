// What fields say about the values beside them: that these are old, that something failed, or that the strip cannot be reached.
import { isRecord } from '../../values';
import type { JsonRecord } from '../types';
import { hasField, says, valuesNamed, type KeyMeaning } from './names';
import { isSet, readFlag, readIndex, readNumber } from './values';

/** `stale: true`, `freshness: "stale"`, `source: "cache"`: the values beside it are old, or guesses. */
export const saysOld = ({ reliability, connection }: KeyMeaning, value: unknown): boolean =>
  reliability === 'old'
    ? readFlag(value) === true || says('old', value)
    : (connection || reliability === 'source') && says('old', value);

/** Whether a field says that the values beside it cannot be relied on: they are old or not valid, or something failed. */
export function saysUnreliable(meaning: KeyMeaning, value: unknown): boolean {
  if (saysOld(meaning, value)) return true;
  if (meaning.reliability === 'success') return readFlag(value) === false;
  if (meaning.reliability === 'valid') return readFlag(value) === false || says('bad', value);
  if (meaning.reliability === 'error') return namesError(meaning, value);
  return meaning.connection && saysFailed(meaning, value);
}

/** Whether a field of a record for one outlet or one value says that the record cannot be relied on. */
export const discredits = (meaning: KeyMeaning, value: unknown): boolean =>
  saysUnreliable(meaning, value) ||
  (meaning.reliability === 'pending' && readFlag(value) === true) ||
  (meaning.reliability === 'confirmed' && readFlag(value) === false) ||
  reachability(meaning, value) === false;

/** `error: "timeout"`, `error: {"code": 5}` or `error_code: 5`, but not `errors: 3`, which counts them. */
function namesError({ plain }: KeyMeaning, value: unknown): boolean {
  const isCount = plain.endsWith('s');
  if (isRecord(value)) return !isCount && holdsProblem(value);
  if (typeof value === 'number') return !isCount && value !== 0;
  return !Array.isArray(value) && isProblem(value);
}

/** `error: "offline"`, `error: {"code": "offline"}` */
export const isOfflineError = (meaning: KeyMeaning, value: unknown): boolean =>
  meaning.reliability === 'error' &&
  namesError(meaning, value) &&
  (isRecord(value) ? Object.values(value) : [value]).some((word) => says('offline', word));

/** Whether the value of an error or a warning says that there is one: `null`, `[]` and "none" do not. */
export const isProblem = (value: unknown): boolean => isSet(value) && !says('fine', value);

/** Whether a record about an error names one: `{"code": 0, "message": "OK"}` names none. */
export const holdsProblem = (error: JsonRecord): boolean => Object.values(error).some(isProblem);

/** Whether a field says that a strip or outlet can be reached; `null`: unknown. The state of its cloud connection does not count. */
export function reachability(
  meaning: KeyMeaning,
  value: unknown,
  part: KeyMeaning['part'] = 'self',
): boolean | null {
  if (!meaning.connection && !meaning.offline) return null;
  const said = isRecord(value) ? valueIn(value) : value;
  const flag = readFlag(said);
  const isOwn = part === 'self' || !meaning.plain.endsWith('connected');
  if (meaning.available && flag !== null && (isOwn || flag)) return flag;
  if (meaning.offline && part === 'self' && flag === true) return false;
  // Any other word in that place may be about something else.
  return says('offline', said) ? false : says('online', said) ? true : null;
}

/** What a record such as `{"value": false}`, `{"State": "online"}` or `{"online": false}` says. If some field says "offline", the others do not count. */
function valueIn(record: JsonRecord): unknown {
  if (hasField(record, (meaning, said) => !isRecord(said) && reachability(meaning, said) === false))
    return 'offline';
  const said = ['value', 'status', 'state', 'online'].flatMap((name) => valuesNamed(record, name));
  return said.find((value) => value !== null);
}

/** Names of a result code. */
export const RESULT_CODE =
  /^(?:(?:status|result|return|ret|biz|business)?code|err(?:or)?no|ret|rc|apistatus)$/;

/** Whether a field says by a word, by its name, as an HTTP status or as a code below zero that something failed or only a part succeeded. */
export function saysFailed({ plain }: KeyMeaning, value: unknown): boolean {
  if (says('failed', value === true ? plain : value)) return true;
  const status = /^(?:http|response|result)?(?:status|code|statuscode)$/.test(plain) ? readIndex(value) : -1;
  const isNegative = (readNumber(value)?.value ?? 0) < 0 && RESULT_CODE.test(plain);
  return status === 206 || (status >= 400 && status < 600) || isNegative;
}
