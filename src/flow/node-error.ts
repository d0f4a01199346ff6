import type { ReadonlyStripStore } from '../account/strip-store';
import type { Command, Outcome } from '../account/types';
import { asError, closedError, isStripError, StripError, type ErrorCode, type Params } from '../api/errors';
import type { PortOrAll, SwitchResult } from '../api/types';
import { displayName } from '../values';
import type { Failure } from './admin-answers';
import { parsePort, type Requested, type Target } from './input-fields';

/** The text under a key of the account's catalogue, in the runtime's language, with the values it names. */
export type Translate = (key: string, params?: Params) => string;

/** The store to use without an account: it knows no strips. */
export const EMPTY_STORE: ReadonlyStripStore = {
  all: () => [],
  find: () => undefined,
  spelling: (mac) => mac,
  names: () => ({ name: null, outlet: null }),
  lastState: () => null,
};

/** `msg.strip` of a command that succeeded. */
export type SwitchedStrip = Omit<Outcome, 'response'> & { requested: Requested; success: true };

/** `msg.strip` of a message that failed; `null` for what is not known. */
interface FailedStrip extends Target {
  name: string | null;
  outlet: string | null;
  success: false;
  results: SwitchResult[];
  /** The last known state, so that a dashboard can be set back. */
  on: boolean | null;
}

/** `msg.strip` of a message that failed with `error`. */
export function failedStrip(
  { mac, port, requested }: Target,
  error: unknown,
  store: ReadonlyStripStore,
): FailedStrip {
  const { name, outlet } = mac === null ? { name: null, outlet: null } : store.names(mac, port);
  return {
    mac: mac === null ? null : store.spelling(mac),
    name,
    port,
    outlet,
    requested,
    success: false,
    results: isStripError(error) ? error.results : [],
    on: mac === null || port === null ? null : store.lastState(mac, port),
  };
}

/** One error for all commands of a message. */
export class CommandsFailed extends Error {
  /** `strips`: the result of each command. */
  constructor(
    readonly failures: readonly { target: Pick<Command, 'mac' | 'port'>; error: StripError }[],
    readonly strips: readonly (SwitchedStrip | FailedStrip)[],
  ) {
    super('commands failed');
  }
}

/** Most outlets that a sentence about several commands names. */
const MAX_NAMED = 4;

/** The error with the code and the sentence to report. A defect becomes one that names nothing but the kind of error. */
export function reportedError(error: unknown, translate: Translate, store = EMPTY_STORE): StripError {
  if (isStripError(error)) return error;
  if (error instanceof CommandsFailed) return commonError(error, translate, store);
  return new StripError('SERVICE.unexpected', { name: kindOf(error) });
}

/** One error for all that failed: that of one command if it is true of all, or else a list of the outlets. */
function commonError({ failures, strips }: CommandsFailed, translate: Translate, store: ReadonlyStripStore) {
  const errors = failures.map(({ error }) => error);
  // If one command may have been carried out, the sentence must not say that nothing was sent.
  const first = errors.find(({ sentenceKey }) => sentenceKey === 'TIMEOUT.deadline') ?? errors[0];
  if (first !== undefined && strips.length === 1) return first;
  const outletOf = ({ target }: (typeof failures)[number]) => outletText(target, translate, store);
  const areAlike = errors.length === strips.length && errors.every(({ code }) => code === first?.code);
  // SWITCH_FAILED is about single outlets.
  if (first === undefined || !areAlike || first.code === 'SWITCH_FAILED') {
    const outlets = listed(failures.map((failure) => `${outletOf(failure)} ${failure.error.code}`));
    return new StripError('SWITCH_FAILED.several', {
      failed: failures.length,
      total: strips.length,
      outlets,
    });
  }
  const sent = failures.filter(({ error }) => ['CLOSED.sent', 'CLOSED.cycle'].includes(error.sentenceKey));
  if (sent.length === 0) return first;
  // "Nothing to do", the sentence about cycles, must not be understood of other commands.
  const areCycles = errors.every(({ sentenceKey }) => sentenceKey === 'CLOSED.cycle');
  return closedError(areCycles ? 'cycle' : 'sent', { outlet: listed(sent.map(outletOf)) });
}

const listed = (texts: readonly string[]): string =>
  texts.slice(0, MAX_NAMED).join(', ') + (texts.length > MAX_NAMED ? ', …' : '');

/** An error as the Catch node needs it: its text is the sentence alone, its code an own property. */
export function errorWithCode(code: ErrorCode, sentence: string, options: ErrorOptions = {}) {
  const error = new Error(sentence, options);
  Object.defineProperty(error, 'name', { value: '' });
  return Object.assign(error, { code });
}

/** The error to pass to `done`. */
export function errorForDone(error: unknown, translate: Translate, store: ReadonlyStripStore) {
  const reported = reportedError(error, translate, store);
  const { code, cause } = reported;
  // Only a network error code, which the client made, is kept as the cause. Any other cause may hold what must not be in a message.
  const isCode = cause instanceof Error && !isStripError(cause) && 'code' in cause;
  const result = errorWithCode(code, sentenceOf(reported, translate, store), isCode ? { cause } : {});
  if (error instanceof Error && !isStripError(error) && !(error instanceof CommandsFailed)) {
    // The stack says where the defect is. Its message is left out, because it may hold anything.
    const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
    result.stack = [result.message, ...frames].join('\n');
  }
  return result;
}

/** The sentence of an error. It calls strips and outlets by their names, if they have any. */
export function sentenceOf(
  { sentenceKey, params }: Pick<StripError, 'sentenceKey' | 'params'>,
  translate: Translate,
  store = EMPTY_STORE,
): string {
  const { mac, port, failed, switched } = params;
  const named: Params = { ...params };
  if (typeof mac === 'string') {
    const outlet = (text: unknown): string => outletText({ mac, port: parsePort(text) }, translate, store);
    const list = (ports: string): string => ports.split(', ').map(outlet).join(', ');
    named.strip = outlet(null);
    named.outlet = outlet(port);
    if (typeof failed === 'string') named.failed = list(failed);
    if (typeof switched === 'string') named.switched = list(switched);
  }
  return translate(`errors.${sentenceKey}`, named);
}

/** An outlet for a sentence, such as "Lamp (outlet 2 of Desk)". */
export function outletText(
  { mac, port }: { mac: string; port: PortOrAll | null },
  translate: Translate,
  store = EMPTY_STORE,
): string {
  const names = store.names(mac, port);
  const strip = displayName(names.name) ?? mac;
  if (port === null) return strip;
  if (port === 'all') return translate('outlet.all', { strip });
  const outlet = displayName(names.outlet);
  return outlet === null
    ? translate('outlet.unnamed', { strip, port })
    : translate('outlet.named', { strip, port, outlet });
}

/** A defect, for the log: its kind and where it is, but not its message, which may hold anything. */
export function defectText(error: unknown, translate: Translate): string {
  const where = error instanceof Error ? /\n\s+at [^\n]*/.exec(error.stack ?? '')?.[0] : undefined;
  return translate('notice.fault', { name: kindOf(error) }) + (where ?? '');
}

const kindOf = (error: unknown): string =>
  error instanceof Error && /^\w{1,40}$/.test(error.name) ? error.name : typeof error;

/** An error for the editor: only its code, the key of its sentence and the values for it. Throws anything that is not a `StripError` again. */
export function editorError(error: unknown): Failure {
  const { code, sentenceKey, params } = asError(error);
  // Sentences call a strip by its name, or else by its MAC.
  const named = params.mac === undefined ? params : { strip: params.mac, ...params };
  return { code, key: `errors.${sentenceKey}`, params: named };
}
