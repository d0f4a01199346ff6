import type { Timer } from '../api/clock';
import { closedError, type StripError } from '../api/errors';
import { InFlightSet } from '../api/in-flight-set';
import { macKey } from '../api/mac';
import { PORTS, type Port } from '../api/types';
import { Delays } from './delays';
import { busy, isOutage, superseded, togglesCancelled, waitedTooLong } from './errors';
import { QueuedCommand, type OutletQueues, type Phase } from './queued-command';
import type { AccountOptions, Command, Outcome, RunOptions } from './types';

/** Commands that may wait; bounds memory when messages come faster than the service answers. */
export const MAX_WAITING = 10_000;
/** Strips with empty queues that are kept: a map whose entries come and go with every command leaves much to the garbage collector. */
const MOST_IDLE = 250;
/** Milliseconds that a timer may be late without a command counting as too old. */
const TIMER_SLACK = 1_000;
/** Shortest time between two looks for commands that have waited too long, in milliseconds. */
const EXPIRY_INTERVAL = 100;

/**
 * The order of commands: those for one outlet go out one at a time in the order they came, those for different outlets side by side, and an "all"
 * waits for the outlets of its strip and they for it. While requests fail, a newer command replaces those that it makes pointless, and what
 * has waited for too long ends unsent.
 */
export class CommandQueue {
  /** Waits of commands between their requests. */
  readonly delays: Delays;
  /** All commands that are not done, in the order they came. */
  readonly commands = new InFlightSet<QueuedCommand>();
  /** Milliseconds that a command may wait unsent. */
  readonly patience: number;
  /** Messages that `close` left without what they asked for. */
  dropped = 0;
  /** By MAC key. */
  readonly #strips = new Map<string, OutletQueues>();
  #count = 0;
  /** Monotonic time of the service's latest answer to a switch request. */
  #answeredAt = -Infinity;
  /** Why the latest switch request failed that had no such answer. */
  #outage: StripError | null = null;
  #expiryTimer: Timer | null = null;
  /** When it fires, on the monotonic clock. */
  #expiryDue = 0;
  #isClosed = false;
  readonly #watchers: { holds: () => boolean; resolve: () => void }[] = [];

  /** `carryOut` carries out a command whose turn has come: called once for each, and what it rejects with becomes the command's. */
  constructor(
    private readonly options: AccountOptions,
    private readonly carryOut: (queued: QueuedCommand) => Promise<Outcome>,
  ) {
    this.delays = new Delays(options.clock);
    this.patience = Math.max(options.settings.retryFor, options.settings.timeout);
  }

  /** Puts a command at the end of its queues and begins it if nothing is in front of it. Rejects with BUSY when too many wait. */
  run(command: Command, options: RunOptions): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (this.commands.size > MAX_WAITING) throw busy(MAX_WAITING);
      const key = macKey(command.mac);
      const queues = this.#strips.get(key) ?? { 1: [], 2: [], 3: [], 4: [] };
      this.#strips.set(key, queues);
      const { clock } = this.options;
      const queued = new QueuedCommand(++this.#count, command, options, queues, clock, { resolve, reject });
      this.commands.add(queued);
      for (const port of queued.ports) queues[port].push(queued);
      const troubled = queued.ports.filter((port) => queues[port][0]?.failure !== null);
      if (troubled.length > 0) this.#supersede(queues, troubled);
      this.#startIfFirst(queued);
      if (queued.phase === 'waiting') this.expireLater(this.patience);
    });
  }

  /** The only place where a phase changes. `error`: why it is being retried. */
  enter(queued: QueuedCommand, phase: Phase, error?: StripError): void {
    if (queued.phase === 'done') return;
    queued.phase = phase;
    try {
      if (phase === 'pausing') queued.report({ phase });
      else if (error?.code === 'RATE_LIMITED') queued.report({ phase: 'rate limited' });
      else if (error !== undefined) queued.report({ phase: 'retrying', error });
    } catch (thrown) {
      this.options.log.fault(thrown);
    }
  }

  /** An attempt failed, or the service asked for a pause, and there will be another attempt; unless that makes a newer command replace this one. */
  retryLater(queued: QueuedCommand, error: StripError): void {
    // From its first failure on, answers to other commands do not make it more patient.
    if (queued.failure === null) queued.since = Math.max(queued.since, this.#answeredAt);
    queued.failure = error;
    this.enter(queued, queued.phase === 'restoring' ? 'restoring' : 'retrying', error);
    if (isOutage(error)) this.#supersede(queued.queues, queued.ports);
  }

  /** A cycle's pause is over: from now on the patience of what waits behind it counts. */
  endPause(queued: QueuedCommand): void {
    for (const other of this.commands) {
      if (other.queues === queued.queues && this.#waitsForPause(other))
        other.since = this.options.clock.monotonic();
    }
    this.enter(queued, 'restoring');
  }

  /** How a switch request ended. */
  switchAnswered(error: unknown): void {
    if (isOutage(error)) this.#outage = error;
    else this.#answeredAt = this.options.clock.monotonic();
  }

  /** Milliseconds that are left of `limit`, counted from the latest of a command's arrival, an answer and the end of a pause in front of it. */
  timeLeft(queued: QueuedCommand, limit = this.patience): number {
    const now = this.options.clock.monotonic();
    const since = queued.failure === null ? Math.max(queued.since, this.#answeredAt) : queued.since;
    const asleep = Math.max(0, this.options.clock.wall() - now - queued.clockOffset);
    return limit - (now - since) - asleep;
  }

  /** Throws if a command must not send anything any more: it was stopped, or is too old. */
  check(queued: QueuedCommand): void {
    if (queued.stop !== null) throw queued.stop;
    if (this.timeLeft(queued) < -TIMER_SLACK) throw this.#tooOld(queued);
  }

  /** Makes sure that what has waited too long in `ms` milliseconds ends then. */
  expireLater(ms: number): void {
    const due = this.options.clock.monotonic() + ms;
    if (this.#expiryTimer !== null && this.#expiryDue <= due) return;
    this.#clearExpiry();
    this.#expiryDue = due;
    this.#expiryTimer = this.options.clock.setTimeout(() => {
      // One turn of I/O first: a process that was busy may have answers to read.
      this.#expiryTimer = this.options.clock.setTimeout(() => this.#expire(), 0);
    }, ms);
  }

  /** Ends all commands of an owner, as far as they have not been carried out. */
  cancel(owner: object): void {
    const owned = [...this.commands].filter(({ options }) => options.owner === owner);
    this.#endAll(owned, (queued) => {
      const isPending = queued.pendingRestore && queued.phase !== 'done';
      const what = isPending ? 'cycle' : isSwitching(queued) ? 'sent' : 'notSent';
      const error = closedError(what, queued.outlet);
      // What is under way or pauses goes on, but its message ends now.
      queued.reject(error);
      return error;
    });
  }

  /** Begins no command any more. Ends those of which nothing is under way, and keeps the others from further attempts. */
  close(error: StripError): void {
    this.#isClosed = true;
    this.#endAll(this.commands, (queued) => {
      if (!queued.pendingRestore && !isSwitching(queued)) this.#tell(queued, error);
      return error;
    });
  }

  /** Resolves as soon as `holds`, which is looked at whenever a command is done. */
  async until(holds: () => boolean): Promise<void> {
    if (!holds()) await new Promise<void>((resolve) => this.#watchers.push({ holds, resolve }));
  }

  /** Ends commands whose turn has not come, and keeps the others from further attempts. */
  #endAll(commands: Iterable<QueuedCommand>, errorFor: (queued: QueuedCommand) => StripError): void {
    const waiting: QueuedCommand[] = [];
    const started: QueuedCommand[] = [];
    for (const queued of commands) (queued.phase === 'waiting' ? waiting : started).push(queued);
    this.#remove(waiting);
    for (const queued of waiting) this.#tell(queued, errorFor(queued));
    for (const queued of started) this.#stop(queued, errorFor(queued));
  }

  /** Keeps a command from making further attempts. A request that is under way is left alone, and what pauses or restores goes on. */
  #stop(queued: QueuedCommand, error: StripError): void {
    queued.stop ??= error;
    if (queued.pendingRestore && error.code !== 'SUPERSEDED') return;
    this.delays.end(queued);
    // It waits for a place; its message need not.
    if (queued.phase === 'sending' && queued.underWay === 0) this.#end(queued, queued.stop);
  }

  #startIfFirst(queued: QueuedCommand): void {
    if (queued.phase !== 'waiting' || this.#isClosed) return;
    if (queued.ports.some((port) => queued.queues[port][0] !== queued)) return;
    this.enter(queued, 'sending');
    void this.#process(queued);
  }

  async #process(queued: QueuedCommand): Promise<void> {
    try {
      const outcome = await this.carryOut(queued);
      this.#remove([queued]);
      queued.resolve(outcome);
    } catch (error) {
      if (isOutage(error)) this.#supersede(queued.queues, queued.ports, queued);
      this.#end(queued, error);
    }
  }

  #end(queued: QueuedCommand, error: unknown): void {
    const wasRestoring = queued.phase === 'restoring';
    this.#remove([queued]);
    if (wasRestoring) queued.reject(error);
    else this.#tell(queued, error);
  }

  /** Ends the message of a command. */
  #tell(queued: QueuedCommand, error: unknown): void {
    if (queued.reject(error) && this.#isClosed) this.dropped++;
  }

  /** Takes commands out of their queues and begins those whose turn it is then. */
  #remove(commands: readonly QueuedCommand[]): void {
    for (const queued of commands) {
      if (!this.commands.delete(queued)) continue;
      this.enter(queued, 'done');
      for (const port of queued.ports) {
        const queue = queued.queues[port];
        queue.splice(queue.indexOf(queued), 1);
      }
      this.#forgetIfIdle(queued);
    }
    for (const { ports, queues } of commands) {
      for (const port of ports) {
        const [first] = queues[port];
        if (first !== undefined) this.#startIfFirst(first);
      }
    }
    if (this.commands.size === 0) this.#clearExpiry();
    for (const watcher of this.#watchers) if (watcher.holds()) watcher.resolve();
  }

  #forgetIfIdle({ command, queues }: QueuedCommand): void {
    const isIdle = PORTS.every((port) => queues[port].length === 0);
    if (isIdle && this.#strips.size > MOST_IDLE) this.#strips.delete(macKey(command.mac));
  }

  #clearExpiry(): void {
    if (this.#expiryTimer !== null) this.options.clock.clearTimeout(this.#expiryTimer);
    this.#expiryTimer = null;
  }

  #expire(): void {
    this.#expiryTimer = null;
    const tooOld: QueuedCommand[] = [];
    let next = this.patience;
    for (const queued of this.commands) {
      const needsPlace = queued.phase === 'sending' && queued.underWay === 0 && !queued.pendingRestore;
      if ((queued.phase !== 'waiting' && !needsPlace) || this.#waitsForPause(queued)) continue;
      const left = this.timeLeft(queued);
      if (left > 0) next = Math.min(next, left);
      else tooOld.push(queued);
    }
    this.#endAll(tooOld, (queued) => this.#tooOld(queued));
    if (this.commands.size > 0) this.expireLater(Math.max(next, EXPIRY_INTERVAL));
  }

  /** Whether a cycle between its halves is in front of a command. */
  #waitsForPause(queued: QueuedCommand): boolean {
    return queued.ports.some((port) => {
      const [first] = queued.queues[port];
      if (first === undefined || first === queued) return false;
      return first.phase === 'pausing' || (first.phase === 'waiting' && this.#waitsForPause(first));
    });
  }

  #tooOld(queued: QueuedCommand): StripError {
    return queued.failure ?? this.#outage ?? waitedTooLong(this.patience);
  }

  /**
   * Ends what newer commands make pointless at these outlets of a strip, whose first commands fail: everything older than the newest on/off, pairs of
   * toggles, and waiting cycles but the newest. An "all" gives way only to a newer "all". `except` has failed for good and ends by itself.
   */
  #supersede(queues: OutletQueues, troubled: readonly Port[], except?: QueuedCommand): void {
    const commands = new Set(PORTS.flatMap((port) => queues[port]));
    /** Commands that stay, the newest first. */
    const kept: OutletQueues = { 1: [], 2: [], 3: [], 4: [] };
    const replaced: QueuedCommand[] = [];
    const cancelled = new Set<QueuedCommand>();
    for (const queued of [...commands].sort((a, b) => b.number - a.number)) {
      if (queued === except) continue;
      const mayGo = queued.isReplaceable && queued.ports.some((port) => troubled.includes(port));
      const newer = mayGo ? replacementFor(queued, kept) : undefined;
      if (newer === undefined) {
        for (const port of queued.ports) kept[port].push(queued);
        continue;
      }
      replaced.push(queued);
      if (newer.action === 'toggle') {
        replaced.push(newer);
        cancelled.add(queued).add(newer);
        for (const port of newer.ports) kept[port].pop();
      }
      // Whoever asks for "on" in the place of a pending restore has to bring it about.
      if (queued.pendingRestore && newer.action === true) newer.pendingRestore = true;
    }
    this.#endAll(replaced.reverse(), (queued) =>
      cancelled.has(queued) ? togglesCancelled(queued.outlet) : superseded(queued.outlet),
    );
  }
}

/** Whether what a command has sent may still switch the outlet. */
const isSwitching = ({ underWay, action }: QueuedCommand): boolean => underWay > 0 && action !== 'toggle';

/** The newer command, among those that stay, which makes this one pointless. */
function replacementFor(queued: QueuedCommand, kept: OutletQueues): QueuedCommand | undefined {
  const { ports, action, command } = queued;
  const { port } = command;
  const newer = kept[ports[0] ?? 1];
  const absolute = newer.find(
    (other) => typeof other.action === 'boolean' && (port !== 'all' || other.command.port === 'all'),
  );
  if (absolute !== undefined) return absolute;
  const alike = newer.filter((other) => other.action === action && other.command.port === port);
  if (action === 'cycle' && queued.phase === 'waiting') return alike[0];
  // Two toggles come to nothing where no other command is between them.
  const next = action === 'toggle' ? alike.at(-1) : undefined;
  const isNext = next?.isReplaceable === true && ports.every((each) => kept[each].at(-1) === next);
  return isNext ? next : undefined;
}
