import type { Clock } from '../api/clock';
import { isStripError, type StripError } from '../api/errors';
import type { PortOrAll } from '../api/types';
import type { Attempts } from './attempt';
import { isUncertain } from './backoff';
import { closed } from './failures';
import type { Job } from './job';
import type { Done, Plan, Switching } from './switching';
import type { AccountLog, Outcome } from './types';

type Settled = PromiseSettledResult<Done>[];

/**
 * Off, wait, on. Once an off may have been sent, the on is owed: it is sent until it succeeds, and only the end of the account stops that,
 * which is then told to the log. At close the on goes out at once; a cycle whose both halves succeeded is a success even so.
 */
export class Cycle {
  readonly #clock: Clock;
  readonly #attempts: Attempts;
  readonly #switching: Switching;
  readonly #log: AccountLog;

  constructor(clock: Clock, attempts: Attempts, switching: Switching, log: AccountLog) {
    this.#clock = clock;
    this.#attempts = attempts;
    this.#switching = switching;
    this.#log = log;
  }

  async carryOut(job: Job): Promise<Outcome> {
    const plan = this.#switching.plan(job, false);
    const due = new Set<PortOrAll>();
    const failure = await this.#off(job, plan, due);
    if (failure !== null && due.size === 0) throw failure;
    // Where an off failed, waiting would only keep the others off for nothing.
    if (failure === null && job.calledOff === null) {
      job.progress({ phase: 'pausing' });
      await job.pause(this.#clock, job.command.delay);
    }
    const outcome = await this.#on(job, { targets: [...due], skipped: plan.skipped });
    if (failure !== null) throw failure;
    return outcome;
  }

  /** The error of the off, or null. `due` holds, all the while, what may have been switched off. */
  async #off(job: Job, plan: Plan, due: Set<PortOrAll>): Promise<Error | null> {
    const offs = Promise.allSettled(
      plan.targets.map((target) => this.#attempts.send(job, () => this.#offOnce(job, target, due))),
    );
    const settled: Settled | null = await Promise.race([offs, job.grace().then(() => null)]);
    // Closing, and an off is still on the wire.
    if (settled === null) return job.calledOff ?? closed();
    try {
      this.#switching.merge(job, false, plan, settled);
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  async #offOnce(job: Job, target: PortOrAll, due: Set<PortOrAll>): Promise<Done> {
    const wasDue = due.has(target);
    due.add(target);
    job.owing = true;
    try {
      return await this.#switching.post(job, target, false);
    } catch (error) {
      if (!wasDue && isStripError(error) && !isUncertain(error)) due.delete(target);
      job.owing = due.size > 0;
      throw error;
    }
  }

  async #on(job: Job, plan: Plan): Promise<Outcome> {
    const ons = await Promise.allSettled(
      plan.targets.map((target) =>
        this.#attempts.owe(
          job,
          () => this.#switching.post(job, target, true),
          () => job.givenUp,
        ),
      ),
    );
    try {
      return this.#switching.merge(job, true, plan, ons);
    } catch (error) {
      if (!isStripError(error)) throw error;
      this.#log.notRestored(job.command, this.#reason(ons) ?? error);
      throw closed();
    }
  }

  /** What kept the on from succeeding, rather than that it was given up. */
  #reason(ons: Settled): StripError | undefined {
    for (const on of ons) {
      const error: unknown = on.status === 'rejected' ? on.reason : null;
      if (isStripError(error) && error.code !== 'CLOSED') return error;
    }
    return undefined;
  }
}
