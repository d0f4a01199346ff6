import type { Clock } from '../api/clock';
import type { StripError } from '../api/errors';
import type { Gate } from './gate';
import type { Progress } from './types';

/** Something that takes one or more requests, with waits in between that can be cut short. */
export class Effort {
  /** Why it should not go on; what is on the wire is let finish all the same. */
  calledOff: StripError | null = null;
  /** When its first request began, on the monotonic clock. */
  began: number | null = null;
  /** How many of its requests have failed and are being tried again. */
  retrying = 0;
  /** Made when there is a first one: most efforts never wait. */
  #waits: Set<() => void> | null = null;

  /** Ends after `ms` milliseconds, or as soon as `hurry` or `callOff` is called. */
  pause(clock: Clock, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clock.clearTimeout(timer);
        this.#waits?.delete(end);
        resolve();
      };
      const timer = clock.setTimeout(end, ms);
      (this.#waits ??= new Set()).add(end);
    });
  }

  /** Waits for a place. False: called off before there was one. */
  admission(gate: Gate): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (): void => {
        giveUp();
        this.#waits?.delete(end);
        resolve(false);
      };
      const giveUp = gate.queue(() => {
        this.#waits?.delete(end);
        resolve(true);
      });
      (this.#waits ??= new Set()).add(end);
    });
  }

  /** Ends the waits it is in; later ones take their time. */
  hurry(): void {
    if (this.#waits !== null) for (const end of [...this.#waits]) end();
  }

  /** Returns the first reason it was ever given. */
  callOff(error: StripError): StripError {
    this.calledOff ??= error;
    this.hurry();
    return this.calledOff;
  }

  /** Told of what takes long. */
  progress?(progress: Progress): void;
}
