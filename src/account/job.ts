import { macKey } from '../api/mac';
import type { Place } from './lanes';
import { Effort } from './effort';
import type { Command, Outcome, Progress, RunOptions } from './types';

const OVER = Promise.resolve();

/** A command from the moment it was asked for until it is settled. */
export class Job extends Effort {
  readonly command: Command;
  readonly key: string;
  /** Where it stands in its lanes; empty once it left them. */
  places: Place[] = [];
  /** Lanes in which something is still in front of it. */
  blocked = 0;
  started = false;
  settled = false;
  /** Switch requests of it that are on the wire. */
  posting = 0;
  /** A cycle whose off may have been sent: the on is due whatever happens. */
  owing = false;
  /** Ends when it is out of its lanes, whatever became of it. */
  over: Promise<void> = OVER;
  /** Closing: what is owed has had its time. */
  givenUp = false;
  #endGrace: (() => void) | null = null;
  readonly #resolve: (outcome: Outcome) => void;
  readonly #reject: (error: unknown) => void;
  readonly owner: object | undefined;
  readonly #onProgress: ((progress: Progress) => void) | undefined;
  readonly #fault: (error: unknown) => void;

  constructor(
    command: Command,
    resolve: (outcome: Outcome) => void,
    reject: (error: unknown) => void,
    { owner, onProgress }: RunOptions,
    fault: (error: unknown) => void,
  ) {
    super();
    this.command = command;
    this.key = macKey(command.mac);
    this.#resolve = resolve;
    this.#reject = reject;
    this.owner = owner;
    this.#onProgress = onProgress;
    this.#fault = fault;
  }

  override progress(progress: Progress): void {
    if (this.settled || this.#onProgress === undefined) return;
    try {
      this.#onProgress(progress);
    } catch (error) {
      this.#fault(error);
    }
  }

  /** False if it was settled before; then nothing happens. */
  resolve(outcome: Outcome): boolean {
    if (this.settled) return false;
    this.settled = true;
    this.#resolve(outcome);
    return true;
  }

  /** False if it was settled before; then nothing happens. */
  reject(error: unknown): boolean {
    if (this.settled) return false;
    this.settled = true;
    this.#reject(error);
    return true;
  }

  /** Closing: ends when it should no longer wait for an off to be answered. */
  grace(): Promise<void> {
    return new Promise((resolve) => (this.#endGrace = resolve));
  }

  endGrace(): void {
    this.#endGrace?.();
  }

  /** Closing: what is owed has had its time. */
  giveUp(): void {
    this.givenUp = true;
    this.hurry();
  }
}
