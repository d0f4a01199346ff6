import type { Clock } from '../api/clock';
import type { StripError } from '../api/errors';
import { PORTS, type Port, type PortOrAll } from '../api/types';
import type { Action, Command, Outcome, RunOptions } from './types';

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

/** A command from the request to the outcome. */
export class QueuedCommand {
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
  /** What may be off and must be switched on again. */
  pendingRestores: readonly PortOrAll[] = [];
  /** Begins when its turn comes, ends when nothing is done for it any more. */
  running: Promise<void> | null = null;
  /** Ends a cycle's wait for its "off"; `null`: there is none. */
  endGrace: (() => void) | null = null;
  /** Its message has an answer. */
  isSettled = false;

  /** `strip`: the commands of its strip, in the order they came. */
  constructor(
    readonly command: Command,
    readonly options: RunOptions,
    readonly strip: QueuedCommand[],
    clock: Clock,
    readonly resolve: (outcome: Outcome) => void,
    readonly reject: (error: unknown) => void,
  ) {
    this.ports = command.port === 'all' ? PORTS : [command.port];
    this.action = command.action;
    this.since = clock.monotonic();
    this.clockOffset = clock.wall() - this.since;
  }

  /** Outlets of it must be switched on again. */
  get pendingRestore(): boolean {
    return this.pendingRestores.length > 0;
  }

  /** It waits for its turn or for a place. */
  get isUnsent(): boolean {
    return this.phase === 'waiting' || (this.phase === 'sending' && this.underWay === 0);
  }

  /** Whether a newer command may take its place: it waits, or is being retried and leaves no outlet off by that. */
  get isReplaceable(): boolean {
    if (this.phase === 'waiting') return true;
    return (
      this.failure !== null && this.stop === null && (this.phase === 'restoring' || !this.pendingRestore)
    );
  }

  /** Whether it gives up its waits: a pending restore goes on, unless a newer command brings it about. */
  get endsWaits(): boolean {
    return this.stop !== null && (!this.pendingRestore || this.stop.code === 'SUPERSEDED');
  }

  /** What is told of it in errors. */
  get outlet(): Pick<Command, 'mac' | 'port'> {
    return { mac: this.command.mac, port: this.command.port };
  }
}
