import type { Clock } from '../api/clock';
import type { StripError } from '../api/errors';
import type { InFlight } from '../api/in-flight-set';
import { PORTS, type Port } from '../api/types';
import type { Action, Command, Outcome, Progress, RunOptions } from './types';

/**
 * Where a command stands. Only the queue changes it.
 * - waiting: others are in front of it
 * - sending: its turn; a request of it is under way or waits for a place
 * - retrying: waits before an attempt, because one failed or the service asked for a pause
 * - pausing: a cycle between its halves
 * - restoring: a cycle's "on" is under way or being retried
 * - done: its message has an answer, and it has left the queue
 */
export type Phase = 'waiting' | 'sending' | 'retrying' | 'pausing' | 'restoring' | 'done';

/** The commands of one strip by outlet, in the order they came: the first of each is the one whose turn it is. */
export type OutletQueues = Readonly<Record<Port, QueuedCommand[]>>;

/** A command from the request to the outcome. */
export class QueuedCommand implements InFlight {
  slot = -1;
  /** Outlets that it covers. */
  readonly ports: readonly Port[];
  /** Monotonic time from which its patience counts. */
  since: number;
  /** Wall clock minus monotonic clock when it arrived: what that has grown by is time that the machine slept. */
  readonly clockOffset: number;
  phase: Phase = 'waiting';
  /** What it does; a toggle becomes on or off once the strip was read. */
  action: Action;
  /** Requests of it that are under way. */
  underWay = 0;
  /** Why its latest attempt failed; `null` after a success. */
  failure: StripError | null = null;
  /** Why it makes no further attempt. */
  stop: StripError | null = null;
  /** Its outlet may be off and must be switched on again. */
  pendingRestore = false;
  #settled = false;

  /** `number`: the greater, the newer. `queues`: those of its strip. */
  constructor(
    readonly number: number,
    readonly command: Command,
    readonly options: RunOptions,
    readonly queues: OutletQueues,
    clock: Clock,
    private readonly settle: { resolve: (outcome: Outcome) => void; reject: (error: unknown) => void },
  ) {
    this.ports = command.port === 'all' ? PORTS : [command.port];
    this.action = command.action;
    this.since = clock.monotonic();
    this.clockOffset = clock.wall() - this.since;
  }

  /** Whether a newer command may take its place: it waits, or is being retried and leaves no outlet off by that. */
  get isReplaceable(): boolean {
    if (this.phase === 'waiting') return true;
    return (
      this.failure !== null && this.stop === null && (this.phase === 'restoring' || !this.pendingRestore)
    );
  }

  /** What is told of it in errors. */
  get outlet(): Pick<Command, 'mac' | 'port'> {
    return { mac: this.command.mac, port: this.command.port };
  }

  resolve(outcome: Outcome): void {
    this.#settled = true;
    this.settle.resolve(outcome);
  }

  /** Returns false if its message has an answer already. */
  reject(error: unknown): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.settle.reject(error);
    return true;
  }

  /** May throw what the listener throws. */
  report(progress: Progress): void {
    if (!this.#settled) this.options.onProgress?.(progress);
  }
}
