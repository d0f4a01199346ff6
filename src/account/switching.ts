import type { Clock } from '../api/clock';
import { isStripError, StripError } from '../api/errors';
import type { Port, PortOrAll, SwitchResult } from '../api/types';
import { PORTS } from '../api/types';
import type { Attempts } from './attempt';
import { isProtected } from './failures';
import type { Job } from './job';
import type { Protection } from './protection';
import type { State } from './state';
import type { Service } from '../api/service';
import type { Outcome } from './types';

/** How a command becomes requests. */
export interface Plan {
  /** One request each. */
  readonly targets: readonly PortOrAll[];
  /** Protected outlets that it leaves alone. */
  readonly skipped: readonly Port[];
}

/** What one switch request came to. */
export interface Done {
  readonly results: SwitchResult[];
  readonly response: unknown;
  readonly at: string;
}

/** Sends switch requests and takes in what the service confirms. */
export class Switching {
  readonly #service: Service;
  readonly #state: State;
  readonly #clock: Clock;
  readonly #attempts: Attempts;
  readonly #protection: Protection;
  readonly #names: (mac: string, port: PortOrAll) => Pick<Outcome, 'name' | 'outlet'>;
  readonly #answered: (confirmed: boolean) => void;
  /** The time stamp made last, and for which millisecond: under load many answers come in one. */
  #stamp = '';
  #stamped = NaN;

  /** `answered` is called when a switch request is over, before anybody is told. */
  constructor(
    service: Service,
    state: State,
    clock: Clock,
    attempts: Attempts,
    protection: Protection,
    names: (mac: string, port: PortOrAll) => Pick<Outcome, 'name' | 'outlet'>,
    answered: (confirmed: boolean) => void,
  ) {
    this.#service = service;
    this.#state = state;
    this.#clock = clock;
    this.#attempts = attempts;
    this.#protection = protection;
    this.#names = names;
    this.#answered = answered;
  }

  /** Requests that switching to `on` takes; throws PROTECTED where it is not allowed. */
  plan({ command: { mac, port }, key }: Job, on: boolean): Plan {
    const kept = on ? [] : this.#protection.of(key);
    if (kept.length === 0) return { targets: [port], skipped: kept };
    if (port !== 'all') {
      if (kept.includes(port)) throw isProtected(mac, port);
      return { targets: [port], skipped: [] };
    }
    const targets = this.unprotected(key);
    if (targets.length === 0) throw isProtected(mac, port);
    return { targets, skipped: kept };
  }

  /** Outlets of a strip that may be switched off. */
  unprotected(key: string): readonly Port[] {
    const kept = this.#protection.of(key);
    return this.#state.ports(key).filter((port) => !kept.includes(port));
  }

  /** The service's own spelling, as soon as it is known. */
  spelling(job: Job): string {
    return this.#state.find(job.command.mac)?.mac ?? job.command.mac;
  }

  /** Whom an outcome is about. */
  identity(job: Job): Pick<Outcome, 'mac' | 'port' | 'name' | 'outlet'> {
    const mac = this.spelling(job);
    const { port } = job.command;
    return { mac, port, ...this.#names(mac, port) };
  }

  /** Carries out an absolute on/off. Throws PROTECTED, and rejects with what goes wrong later. */
  carryOut(job: Job, on: boolean): Promise<Outcome> {
    const plan = this.plan(job, on);
    const [only] = plan.targets;
    return plan.targets.length === 1 && only !== undefined && plan.skipped.length === 0
      ? this.#one(job, only, on)
      : this.#several(job, on, plan);
  }

  #one(job: Job, target: PortOrAll, on: boolean): Promise<Outcome> {
    return this.#attempts
      .send(job, () => this.post(job, target, on))
      .then(({ results, response, at }) => {
        return { ...this.identity(job), on, results, response, at };
      });
  }

  async #several(job: Job, on: boolean, plan: Plan): Promise<Outcome> {
    const outcomes = await Promise.allSettled(
      plan.targets.map((target) => this.#attempts.send(job, () => this.post(job, target, on))),
    );
    return this.merge(job, on, plan, outcomes);
  }

  /** One request, without repeating it. */
  post(job: Job, port: PortOrAll, on: boolean): Promise<Done> {
    const mac = this.spelling(job);
    job.posting++;
    return this.#service.switch(mac, port, on).then(
      ({ results, response }) => {
        job.posting--;
        const at = this.#now();
        this.#confirm(mac, results.length === 0 ? this.#asked(job, port) : switched(results), on, at);
        this.#answered(true);
        return { results, response, at };
      },
      (error: unknown) => {
        job.posting--;
        if (isStripError(error) && error.code === 'SWITCH_FAILED') {
          this.#confirm(mac, switched(error.results), on, this.#now());
        }
        this.#answered(false);
        throw error;
      },
    );
  }

  /** One outcome of several requests, or one error that tells all. */
  merge(
    job: Job,
    on: boolean,
    { targets, skipped }: Plan,
    outcomes: readonly PromiseSettledResult<Done>[],
  ): Outcome {
    const { mac, port } = job.command;
    const results: SwitchResult[] = [];
    const responses: unknown[] = [];
    const errors: unknown[] = [];
    let at = '';
    outcomes.forEach((outcome, index) => {
      const target = targets[index];
      const asked = target === undefined ? [] : target === 'all' ? PORTS : [target];
      const fulfilled = outcome.status === 'fulfilled';
      const error: unknown = fulfilled ? null : outcome.reason;
      const told = fulfilled ? outcome.value.results : isStripError(error) ? error.results : [];
      results.push(...(told.length > 0 ? told : asked.map((each) => ({ port: each, ok: fulfilled }))));
      if (fulfilled) {
        responses.push(outcome.value.response);
        if (outcome.value.at > at) at = outcome.value.at;
      } else {
        errors.push(error);
        if (isStripError(error) && error.response !== undefined) responses.push(error.response);
      }
    });
    if (errors.length > 0) throw mergedError(mac, port, errors, results, responses);
    const several = port === 'all' && targets[0] !== 'all';
    const outcome: Outcome = {
      ...this.identity(job),
      on,
      results,
      response: several ? responses : responses[0],
      at,
    };
    if (skipped.length > 0) outcome.skipped = [...skipped];
    return outcome;
  }

  #asked(job: Job, port: PortOrAll): readonly Port[] {
    return port === 'all' ? this.#state.ports(job.key) : [port];
  }

  #confirm(mac: string, ports: readonly Port[], on: boolean, at: string): void {
    if (ports.length > 0) this.#state.confirm(mac, ports, on, this.#state.draw(), at);
  }

  #now(): string {
    const wall = Math.floor(this.#clock.wall());
    if (wall !== this.#stamped) {
      this.#stamped = wall;
      this.#stamp = new Date(wall).toISOString();
    }
    return this.#stamp;
  }
}

const switched = (results: readonly SwitchResult[]): Port[] =>
  PORTS.filter((port) => results.some((result) => result.port === port && result.ok));

/** Why several requests failed: what made all of them fail, or which outlets did. */
function mergedError(
  mac: string,
  port: PortOrAll,
  errors: readonly unknown[],
  results: SwitchResult[],
  response: unknown[],
): unknown {
  const ended = errors.find(
    (error) => !isStripError(error) || error.code === 'SUPERSEDED' || error.code === 'CLOSED',
  );
  if (isStripError(ended) && results.some(({ ok }) => ok)) {
    const { code, sentence, params } = ended;
    return new StripError(code, sentence, { params, results, response, cause: ended });
  }
  if (ended !== undefined) return ended;
  const list = (ok: boolean): string =>
    results
      .filter((result) => result.ok === ok)
      .map((result) => result.port)
      .join(', ');
  const done = list(true);
  if (done === '' && errors.some((error) => isStripError(error) && error.code !== 'SWITCH_FAILED')) {
    return errors.find((error) => isStripError(error) && error.code !== 'SWITCH_FAILED');
  }
  return new StripError('SWITCH_FAILED', done === '' ? 'SWITCH_FAILED.ports' : 'SWITCH_FAILED.some', {
    params: { mac, port, failed: list(false), switched: done },
    results,
    response,
    cause: errors[0],
  });
}
