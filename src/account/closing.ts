import type { Clock } from '../api/clock';
import type { StripError } from '../api/errors';
import { closed } from './failures';
import { SECOND } from './backoff';
import type { Gate } from './gate';
import type { Job } from './job';
import type { Lanes } from './lanes';
import type { Service } from '../api/service';
import type { AccountLog } from './types';

/** For a switch that is on the wire. */
const GRACE = SECOND;
/** For the on half of a cycle, everything included. */
const OWED = 5 * SECOND;

export interface ClosingOptions {
  service: Service;
  clock: Clock;
  log: AccountLog;
  gate: Gate;
  lanes: Lanes;
}

/** How an account ends: what waits is told at once, what is on the wire gets its grace, what is owed goes out. */
export class Closing {
  readonly #service: Service;
  readonly #clock: Clock;
  readonly #log: AccountLog;
  readonly #gate: Gate;
  readonly #lanes: Lanes;
  #dropped = 0;

  constructor({ service, clock, log, gate, lanes }: ClosingOptions) {
    this.#service = service;
    this.#clock = clock;
    this.#log = log;
    this.#gate = gate;
    this.#lanes = lanes;
  }

  async run(): Promise<void> {
    this.#lanes.close();
    const jobs = [...this.#lanes.jobs()];
    const owing = jobs.filter((job) => job.owing);
    for (const job of jobs) {
      const error = job.callOff(closed());
      if (!job.owing && job.posting === 0) this.refuse(job, error);
    }
    this.#gate.open();
    let grace = GRACE;
    if (owing.length > 0) {
      const began = this.#clock.monotonic();
      await this.#payBack(owing);
      grace = Math.max(0, GRACE - (this.#clock.monotonic() - began));
    }
    await this.#service.close(grace);
    // Nothing is on the wire any more, so these are about to hear of it.
    await Promise.all(jobs.map(({ over }) => over));
    if (this.#dropped > 0) this.#log.dropped(this.#dropped);
  }

  /** Ends a job that closing keeps from being carried out. */
  refuse(job: Job, error: StripError): void {
    // What was given up has been named already.
    if (job.reject(error) && error.code === 'CLOSED' && !job.givenUp) this.#dropped++;
  }

  async #payBack(owing: readonly Job[]): Promise<void> {
    const timers = [this.#clock.setTimeout(() => owing.forEach((job) => job.endGrace()), GRACE)];
    await new Promise<void>((resolve) => {
      timers.push(
        this.#clock.setTimeout(() => {
          owing.forEach((job) => job.giveUp());
          resolve();
        }, OWED),
      );
      void Promise.all(owing.map(({ over }) => over)).then(() => resolve());
    });
    timers.forEach((timer) => this.#clock.clearTimeout(timer));
  }
}
