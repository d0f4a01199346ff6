import type { Outcome } from '../account/types';
import { isStripError, StripError, type Params } from '../api/errors';
import type { PortOrAll, SwitchResult } from '../api/types';
import type { Translate } from './catalogue';
import type { Asked } from './command';
import type { Target } from './target';
import { successOf, type SwitchedStrip } from './answer';

/** What `msg.strip` says of a command that failed; what is not known of it is `null`. */
export interface FailedStrip extends Target {
  success: false;
  results: SwitchResult[];
  /** The last known state, so that a dashboard can be put back. */
  on: boolean | null;
}

/** The last known state of an outlet, or of "all" whether any is on. */
export type LastKnown = (mac: string, port: PortOrAll) => boolean | null;

/** One error for all commands of a message, with every outcome. */
export class SeveralFailed extends Error {
  readonly error: StripError;
  readonly strips: readonly (SwitchedStrip | FailedStrip)[];

  constructor(error: StripError, strips: readonly (SwitchedStrip | FailedStrip)[]) {
    super(error.message);
    this.error = error;
    this.strips = strips;
  }
}

export function failedStrip(target: Target, error: unknown, lastKnown: LastKnown): FailedStrip {
  const { mac, port, requested } = target;
  return {
    mac,
    port,
    requested,
    success: false,
    results: isStripError(error) ? error.results : [],
    on: mac === null || port === null ? null : lastKnown(mac, port),
  };
}

/** Why not all commands of a message were carried out. Throws on what is no failure of a command but a defect. */
export function severalFailed(
  asked: readonly Asked[],
  outcomes: readonly PromiseSettledResult<Outcome>[],
  lastKnown: LastKnown,
): SeveralFailed {
  const strips: (SwitchedStrip | FailedStrip)[] = [];
  const errors: { target: Target; error: StripError }[] = [];
  outcomes.forEach((outcome, index) => {
    const one = asked[index];
    if (one === undefined) return;
    if (outcome.status === 'fulfilled') {
      strips.push(successOf(one.requested, outcome.value));
      return;
    }
    const error: unknown = outcome.reason;
    if (!isStripError(error)) throw error;
    const target = { mac: one.command.mac, port: one.command.port, requested: one.requested };
    strips.push(failedStrip(target, error, lastKnown));
    errors.push({ target, error });
  });
  return new SeveralFailed(summary(errors, outcomes.length), strips);
}

const MOST_NAMED = 4;

function summary(errors: readonly { target: Target; error: StripError }[], total: number): StripError {
  const [first] = errors;
  if (first !== undefined && errors.length === total) {
    const { error } = first;
    if (total === 1) return error;
    // Why none was carried out is the same for all, and says more than which they were.
    if (error.code !== 'SWITCH_FAILED' && errors.every((other) => other.error.code === error.code))
      return error;
  }
  const named = errors
    .slice(0, MOST_NAMED)
    .map(({ target, error }) => `${target.mac ?? ''}/${target.port ?? ''} ${error.code}`);
  return new StripError('SWITCH_FAILED', 'SWITCH_FAILED.several', {
    params: {
      failed: errors.length,
      total,
      outlets: named.join(', ') + (errors.length > MOST_NAMED ? ', …' : ''),
    },
  });
}

/** An error as a `StripError`; a defect becomes one that names nothing but the kind of error. */
export function asStripError(error: unknown): StripError {
  if (isStripError(error)) return error;
  if (error instanceof SeveralFailed) return error.error;
  const name = error instanceof Error && /^\w{1,40}$/.test(error.name) ? error.name : typeof error;
  return new StripError('SERVICE', 'SERVICE.unexpected', { params: { name } });
}

/** What goes to `done`: its text is the sentence alone, its code an own property, as the Catch node needs them. */
export function errorFor(error: unknown, translate: Translate): Error {
  const known = asStripError(error);
  const told = new Error(sentenceOf(known, translate));
  Object.defineProperty(told, 'name', { value: '', configurable: true, writable: true });
  Object.defineProperty(told, 'code', { value: known.code, enumerable: true });
  const { cause } = known;
  // A code of the network's, made by the client; anything else may hold what a message should not.
  if (cause instanceof Error && !isStripError(cause) && 'code' in cause) {
    Object.defineProperty(told, 'cause', { value: cause });
  }
  if (!isStripError(error) && error instanceof Error && !(error instanceof SeveralFailed)) {
    // Where the defect is, without its message, which may hold anything.
    const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
    told.stack = [told.message, ...frames].join('\n');
  }
  return told;
}

export const sentenceOf = (
  { sentence, params }: { sentence: string; params: Params },
  translate: Translate,
): string => translate(`errors.${sentence}`, params);
