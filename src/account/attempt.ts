import type { Clock } from '../api/clock';
import { isStripError, type StripError } from '../api/errors';
import { fullJitter, isUncertain, MINUTE, SECOND } from './backoff';
import type { Effort } from './effort';
import { closed, tooLong } from './failures';
import type { Gate } from './gate';
import type { Hold } from './hold';

const BASE = SECOND / 2;
const CAP = 10 * SECOND;
/** For what an outlet is owed, when the service answers but refuses. */
const SLOW_CAP = MINUTE;

/** Sends requests through the gate, and again where that may help. What is handed in as `ask` rejects, but does not throw. */
export class Attempts {
  readonly #clock: Clock;
  readonly #gate: Gate;
  readonly #hold: Hold;
  readonly #retryFor: number;

  /** `retryFor`: milliseconds after its first attempt that an effort may be tried again. */
  constructor(clock: Clock, gate: Gate, hold: Hold, retryFor: number) {
    this.#clock = clock;
    this.#gate = gate;
    this.#hold = hold;
    this.#retryFor = retryFor;
  }

  /**
   * One request, when there is a place for it and the service has not asked for patience. A first attempt whose deadline such a wait would
   * pass is sent all the same: refusing unasked would help nobody.
   */
  once<T>(effort: Effort, ask: () => Promise<T>): Promise<T> {
    // Most find a place and a patient service, and are spared the loop.
    if (this.#hold.remaining <= 0 && this.#gate.enter()) return this.now(effort, ask);
    return this.#inTurn(effort, ask);
  }

  async #inTurn<T>(effort: Effort, ask: () => Promise<T>): Promise<T> {
    let deadline: number | null = null;
    for (;;) {
      if (!this.#gate.enter()) {
        if (!(await effort.admission(this.#gate))) throw effort.calledOff ?? closed();
        if (effort.calledOff !== null) {
          this.#gate.leave();
          throw effort.calledOff;
        }
      }
      const wait = this.#hold.remaining;
      if (wait <= 0) return this.now(effort, ask);
      const now = this.#clock.monotonic();
      deadline ??= (effort.began ?? now) + this.#retryFor;
      if (now + wait > deadline) return this.now(effort, ask);
      this.#gate.leave();
      effort.progress?.({ phase: 'rate limited' });
      await effort.pause(this.#clock, wait);
      throwIfCalledOff(effort);
    }
  }

  /** One request, with a place taken already. Gives it back. */
  now<T>(effort: Effort, ask: () => Promise<T>): Promise<T> {
    const sent = this.#clock.monotonic();
    effort.began ??= sent;
    return ask().then(
      (answer) => {
        this.#hold.lift(sent);
        this.#gate.leave();
        return answer;
      },
      (error: unknown) => {
        if (isStripError(error) && error.code === 'RATE_LIMITED' && error.retryAfter !== undefined) {
          this.#hold.extend(error.retryAfter);
        }
        this.#gate.leave();
        throw error;
      },
    );
  }

  /** Repeats an idempotent request until it succeeds, cannot help any more, or the deadline is near. */
  send<T>(effort: Effort, ask: () => Promise<T>): Promise<T> {
    if (effort.calledOff !== null) return Promise.reject(effort.calledOff);
    // Most succeed at once, and are spared the loop.
    return this.once(effort, ask).catch((error: unknown) => this.#again(effort, ask, error));
  }

  async #again<T>(effort: Effort, ask: () => Promise<T>, first: unknown): Promise<T> {
    let error = mendable(effort, first);
    let wait = this.#waitAfter(error, 0, effort);
    effort.retrying++;
    try {
      for (let failures = 1; ; failures++) {
        effort.progress?.(
          error.code === 'RATE_LIMITED' ? { phase: 'rate limited' } : { phase: 'retrying', error },
        );
        await effort.pause(this.#clock, wait);
        throwIfCalledOff(effort);
        try {
          return await this.once(effort, ask);
        } catch (next) {
          error = mendable(effort, next);
          wait = this.#waitAfter(error, failures, effort);
        }
      }
    } finally {
      effort.retrying--;
    }
  }

  /**
   * Repeats a request that an outlet is owed, whatever the answer, until it succeeds or `givenUp` says so. While the account
   * closes it neither queues nor waits long.
   */
  async owe<T>(effort: Effort, ask: () => Promise<T>, givenUp: () => boolean): Promise<T> {
    let failures = 0;
    try {
      for (;;) {
        if (!this.#gate.enter()) await effort.admission(this.#gate);
        try {
          return await this.now(effort, ask);
        } catch (error) {
          if (!isStripError(error) || givenUp()) throw error;
          if (failures++ === 0) effort.retrying++;
          effort.progress?.(
            error.code === 'RATE_LIMITED' ? { phase: 'rate limited' } : { phase: 'retrying', error },
          );
          await effort.pause(this.#clock, this.#owedWait(error, failures - 1, effort.calledOff !== null));
          if (givenUp()) throw error;
        }
      }
    } finally {
      if (failures > 0) effort.retrying--;
    }
  }

  /** Milliseconds until the next attempt; throws where that would be too late. */
  #waitAfter(error: StripError, failures: number, effort: Effort): number {
    const now = this.#clock.monotonic();
    const began = effort.began ?? now;
    const jitter = fullJitter(this.#clock.random(), BASE, CAP, failures);
    const asked = Math.max(error.retryAfter ?? 0, this.#hold.remaining);
    const wait = Math.max(jitter, asked);
    if (this.#retryFor > 0 && now + wait <= began + this.#retryFor) return wait;
    throw error.code === 'RATE_LIMITED' && this.#retryFor > 0 && asked > 0
      ? tooLong(error, asked, this.#retryFor)
      : error;
  }

  #owedWait(error: StripError, failures: number, closing: boolean): number {
    if (closing) return fullJitter(this.#clock.random(), BASE, SECOND, failures);
    const outage = error.retryable || isUncertain(error);
    const jitter = fullJitter(this.#clock.random(), BASE, outage ? CAP : SLOW_CAP, failures);
    return Math.max(jitter, Math.min(error.retryAfter ?? 0, SLOW_CAP));
  }
}

/** The error after which another attempt may help; throws where it may not. */
function mendable(effort: Effort, error: unknown): StripError {
  throwIfCalledOff(effort);
  if (isStripError(error) && error.retryable) return error;
  throw error;
}

function throwIfCalledOff(effort: Effort): void {
  if (effort.calledOff !== null) throw effort.calledOff;
}
