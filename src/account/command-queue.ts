import { asNotSent, closedError, isOutage, StripError } from '../api/errors';
import { Semaphore } from '../api/limits';
import { macKey, mayBeSameMac, PORTS, type Clock, type Port, type PortOrAll, type Timer } from '../api/types';
import type { AccountOptions, Action, Command, Outcome, Progress, RunOptions } from './types';

/** Commands that may wait or be under way; bounds memory when messages come faster than the service answers. */
export const MAX_WAITING = 10_000;
/** The error for a command or read when too many are waiting already. */
export const busyError = (): StripError => new StripError('BUSY.waiting', { count: MAX_WAITING });

/** A timer may be this many milliseconds late before a command counts as too old. */
const TIMER_SLACK = 1_000;
/** Shortest time between two checks for commands that have waited too long, in milliseconds. */
const EXPIRY_INTERVAL = 100;

/**
 * The phase of a command. Only the queue changes it.
 * - waiting: other commands are in front of it
 * - sending: it is its turn; one of its requests is under way or waits for the semaphore
 * - retrying: it waits before an attempt, because one failed or the service asked for a pause
 * - pausing: a cycle between its halves
 * - restoring: outlets that a cycle may have switched off are being switched on again, by the cycle or by a newer "on" that took this over
 */
type Phase = 'waiting' | 'sending' | 'retrying' | 'pausing' | 'restoring';

/** A command, from its arrival to its outcome. */
export class QueuedCommand {
  /** Outlets that it covers. */
  readonly ports: readonly Port[];
  /** Monotonic time from which its patience counts. */
  since: number;
  /** Wall clock minus monotonic clock when it arrived. If this difference has grown since, the machine slept for that long. */
  readonly clockOffset: number;
  phase: Phase = 'waiting';
  /** As in the command, but a toggle becomes on or off once the strip was read. */
  action: Action;
  /** How many of its requests are under way. */
  underWay = 0;
  /** One outlet for each of its switch requests that is under way, was carried out, or may have been carried out. */
  readonly switchRequests: PortOrAll[] = [];
  /** Error of its latest failed attempt. A success clears it, but not while another of its requests waits for a retry. */
  failure: StripError | null = null;
  /** Why it makes no further attempt. */
  stopReason: StripError | null = null;
  /** Outlets that a cycle may have switched off, and that must be switched on again. */
  pendingRestores: readonly PortOrAll[] = [];
  /** Set when its turn comes. Resolves when it is done: whether the whole command was confirmed. */
  running: Promise<boolean> | null = null;
  /** Its message has ended with an error. The command itself may go on. */
  isSettled = false;

  /** `siblings`: the commands of its strip, itself included, in the order they came. */
  constructor(
    readonly command: Command,
    readonly options: RunOptions,
    readonly siblings: QueuedCommand[],
    clock: Clock,
    readonly resolve: (outcome: Outcome) => void,
    readonly reject: (error: unknown) => void,
  ) {
    this.ports = command.port === 'all' ? PORTS : [command.port];
    this.action = command.action;
    this.since = clock.monotonic();
    this.clockOffset = clock.wall() - this.since;
  }

  /** For each of its outlets, the command whose turn it is there. It may be this command. */
  get firsts(): QueuedCommand[] {
    return this.ports.map((port) => firstOf(this.siblings, port)).filter((first) => first !== undefined);
  }

  /** Some of its outlets must still be switched on again. */
  get hasPendingRestore(): boolean {
    return this.pendingRestores.length > 0;
  }

  /** Whether a newer command may replace it: it waits, or it is being retried and no outlet would stay off without it. */
  get isReplaceable(): boolean {
    if (this.phase === 'waiting') return true;
    if (this.failure === null) return false;
    return this.phase === 'restoring' || (this.stopReason === null && !this.hasPendingRestore);
  }

  /** Whether its delays end early because it was stopped. The delays of a pending restore end early only if a newer command takes over the restore. */
  get endsWaits(): boolean {
    return this.stopReason !== null && (!this.hasPendingRestore || this.stopReason.code === 'SUPERSEDED');
  }

  /** The error for its message when its node is removed or its account closes. */
  get errorWhenClosed(): StripError {
    return closedError(this.switchRequests.length > 0 ? 'sent' : 'notSent', this.errorParams);
  }

  /** The part of the command that error texts name. */
  get errorParams(): Pick<Command, 'mac' | 'port'> {
    return { mac: this.command.mac, port: this.command.port };
  }
}

/**
 * The order of commands: those for one outlet go out one at a time in the order they came, those for different outlets side by side. An "all" waits
 * for older commands of its strip, and newer commands of the strip wait for it. While requests fail, a newer command replaces those that it makes
 * pointless, and a command that has waited too long ends unsent.
 */
export class CommandQueue {
  /** Delays before the next request of a command or read. */
  readonly delays: Delays;
  /** Limits how many requests are under way at once. */
  readonly slots: Semaphore<QueuedCommand>;
  /** Milliseconds that a command may wait unsent. */
  readonly patience: number;
  /** No command begins any more, except one that must switch outlets on again. */
  isClosed = false;
  /** How many commands failed because of `close`. */
  dropped = 0;
  /** Commands that are not done, in the order they came, by MAC key. */
  readonly #strips = new Map<string, QueuedCommand[]>();
  #size = 0;
  /** Monotonic time of the service's latest answer. While requests of commands fail, only answers to switch requests count. */
  #answeredAt = -Infinity;
  /** The outage that made the latest request of a command fail; `null`: a switch request was answered since then, or the queue is empty. */
  #outage: StripError | null = null;
  /** Ends commands that have waited too long. */
  #expiry: Timer | null = null;
  /** When it fires, on the monotonic clock; Infinity: it is not pending. */
  #expiryDue = Infinity;

  /** `carryOut` is called once for each command, when its turn comes. The command ends with its result or error. */
  constructor(
    private readonly options: AccountOptions,
    private readonly carryOut: (queued: QueuedCommand) => Promise<Outcome>,
  ) {
    this.delays = new Delays(options.clock);
    this.slots = new Semaphore(options.settings.concurrency);
    this.patience = Math.max(options.settings.retryFor, options.settings.timeout);
  }

  /** All commands that are not done. */
  get commands(): QueuedCommand[] {
    return [...this.#strips.values()].flat();
  }

  /** Puts a command behind the others of its strip and begins it if it need not wait for them. Rejects with BUSY when too many wait. */
  run(command: Command, options: RunOptions): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (this.#size >= MAX_WAITING) throw busyError();
      const key = macKey(command.mac);
      const siblings = this.#strips.get(key) ?? [];
      this.#strips.set(key, siblings);
      const queued = new QueuedCommand(command, options, siblings, this.options.clock, resolve, reject);
      siblings.push(queued);
      this.#size++;
      for (const first of new Set(queued.firsts)) if (first.failure !== null) this.#supersede(first);
      this.#startIfFirst(queued);
      if (queued.phase === 'waiting') this.expireLater(this.patience);
    });
  }

  /** The only place where a phase changes. A command that is restoring stays in this phase. `progress`: what to report for it. */
  enter(queued: QueuedCommand, phase: Phase, progress?: Progress): void {
    if (queued.phase !== 'restoring') queued.phase = phase;
    try {
      if (progress !== undefined && !queued.isSettled) queued.options.onProgress?.(progress);
    } catch (thrown) {
      this.options.log.fault(thrown);
    }
  }

  /** An attempt failed, or must wait for a pause. A newer command may now replace this one; otherwise there will be another attempt. */
  retryLater(queued: QueuedCommand, error: StripError): void {
    // From its first failure on, answers to other commands no longer extend how long it, or a command behind it, may wait.
    for (const each of queued.siblings)
      if (!isAfterFailure(each)) each.since = Math.max(each.since, this.#answeredAt);
    queued.failure = error;
    this.enter(queued, 'retrying', { phase: 'retrying', error });
    this.#supersede(queued);
  }

  /** The wait of a cycle between its halves; none while the account closes. */
  async pause(queued: QueuedCommand): Promise<void> {
    if (!this.isClosed) {
      this.enter(queued, 'pausing', { phase: 'pausing' });
      await this.delays.wait(queued, queued.command.delay);
    }
    const now = this.options.clock.monotonic();
    // The patience of the commands that wait behind it begins now.
    for (const other of queued.siblings) if (this.#waitsForPause(other)) other.since = now;
  }

  /** The service answered. While requests of commands fail, a read that succeeds does not mean that switches work again. */
  answered(isSwitch: boolean): void {
    if (!isSwitch && this.#outage !== null) return;
    // If the process stood still, the answer may have come long ago.
    this.#answeredAt = Math.min(this.options.clock.monotonic(), this.#expiryDue);
    this.#outage = null;
  }

  /** A request of a command failed, maybe without an answer. */
  requestFailed(queued: QueuedCommand, error: unknown): void {
    this.#outage = isOutage(error) ? error : null;
    if (this.#outage === null) this.answered(true);
    else this.#supersede(queued);
  }

  /**
   * Milliseconds that are left of `limit`. The time starts with the latest of these: the arrival of the command, the end of the pause of a cycle in
   * front of it, the latest answer of the service. An answer does not count if it came after this command, or one that it waits for, has failed.
   */
  timeLeft(queued: QueuedCommand, limit = this.patience): number {
    const now = this.options.clock.monotonic();
    const since = isAfterFailure(queued) ? queued.since : Math.max(queued.since, this.#answeredAt);
    const asleep = Math.max(0, this.options.clock.wall() - now - queued.clockOffset);
    return limit - (now - since) - asleep;
  }

  /** Throws if a command, or a read (`null`), must not be sent any more. Only a newer command ends one that is restoring. */
  check(queued: QueuedCommand | null): void {
    if (queued === null) {
      if (this.isClosed) throw closedError('account');
    } else if (queued.phase === 'restoring') {
      if (queued.stopReason?.code === 'SUPERSEDED') throw queued.stopReason;
    } else if (queued.stopReason !== null) throw queued.stopReason;
    else if (this.timeLeft(queued) < -TIMER_SLACK) throw this.#tooOld(queued);
  }

  /** Ends all commands of an owner. Returns, for each except cycles that must still switch on, whether it is confirmed in the end. */
  cancel(owner: object): Promise<boolean>[] {
    const owned = this.commands.filter(({ options }) => options.owner === owner);
    // Some of the others may wait for a cycle's pause only because of an "all" that ends now.
    for (const queued of this.commands)
      if (this.#waitsForPause(queued)) queued.since = this.options.clock.monotonic();
    this.#endAll(owned, (queued) =>
      queued.hasPendingRestore ? closedError('cycle', queued.errorParams) : queued.errorWhenClosed,
    );
    // A request under way and the pause of a cycle go on, but the message ends now.
    for (const queued of owned) this.#reject(queued, queued.stopReason);
    const ended = owned.filter(({ hasPendingRestore }) => !hasPendingRestore);
    return ended.map(({ running }) => running ?? Promise.resolve(false));
  }

  /** From now on no command begins, and those that have begun make no further attempt. Restores are sent at once, without the concurrency limit. */
  close(): void {
    this.isClosed = true;
    // A superseded command ends by itself: the newer command takes over what it had to restore.
    const commands = this.commands.filter(({ stopReason }) => stopReason?.code !== 'SUPERSEDED');
    this.#endAll(commands, ({ errorWhenClosed }) => errorWhenClosed);
    this.slots.open();
    this.delays.end();
  }

  /** Ends commands that wait for their turn. The others make no further attempt, but a request that is under way is not aborted. */
  #endAll(commands: readonly QueuedCommand[], errorFor: (queued: QueuedCommand) => StripError): void {
    if (commands.length === 0) return;
    for (const queued of commands) queued.stopReason = errorFor(queued);
    const over = commands.filter(({ phase, endsWaits }) => phase === 'waiting' && endsWaits);
    this.#remove(over);
    for (const queued of over) this.#reject(queued, queued.stopReason);
    this.slots.end((queued) => (queued?.endsWaits === true ? queued.stopReason : null));
    this.delays.end((queued) => queued?.endsWaits === true);
  }

  #startIfFirst(queued: QueuedCommand): void {
    if (queued.phase !== 'waiting' || queued.firsts.some((first) => first !== queued)) return;
    this.enter(queued, 'sending');
    queued.running = this.#process(queued);
  }

  async #process(queued: QueuedCommand): Promise<boolean> {
    try {
      const outcome = await this.carryOut(queued);
      this.#remove([queued]);
      queued.resolve(outcome);
      return true;
    } catch (error) {
      if (isOutage(error)) this.#supersede(queued);
      this.#remove([queued]);
      this.#reject(queued, error);
      return false;
    }
  }

  /** Ends the message of a command with an error. */
  #reject(queued: QueuedCommand, error: unknown): void {
    if (queued.isSettled) return;
    queued.isSettled = true;
    queued.reject(error);
    if (this.isClosed && !queued.hasPendingRestore) this.dropped++;
  }

  /** Takes commands out of the queue and begins those whose turn it is then. */
  #remove(commands: readonly QueuedCommand[]): void {
    for (const queued of commands) {
      this.#size--;
      const { siblings, command } = queued;
      siblings.splice(siblings.indexOf(queued), 1);
      if (siblings.length === 0) this.#strips.delete(macKey(command.mac));
    }
    // Not at once: a deploy closes many nodes in one turn, and the next command may be of a node that it closes, too.
    const start = () => commands.flatMap(({ firsts }) => firsts).forEach((next) => this.#startIfFirst(next));
    queueMicrotask(start);
    if (this.#size > 0) return;
    this.options.clock.clearTimeout(this.#expiry);
    this.#expiryDue = Infinity;
    this.#outage = null;
  }

  /** In `ms` milliseconds at the latest, ends the commands that have waited too long by then. */
  expireLater(ms: number): void {
    const { clock } = this.options;
    const due = clock.monotonic() + ms;
    if (this.#expiryDue <= due) return;
    clock.clearTimeout(this.#expiry);
    this.#expiryDue = due;
    this.#expiry = clock.setTimeout(() => {
      // One turn of I/O first: a process that was busy may have answers to read.
      this.#expiry = clock.setTimeout(() => this.#expire(), 0);
    }, ms);
  }

  #expire(): void {
    this.#expiryDue = Infinity;
    const tooOld: QueuedCommand[] = [];
    let next = this.patience;
    for (const queued of this.commands) {
      if (queued.hasPendingRestore || this.#waitsForPause(queued)) continue;
      const left = this.timeLeft(queued);
      // None of its requests is under way. An earlier attempt may have been sent.
      if (left <= 0 && queued.underWay === 0) tooOld.push(queued);
      else next = Math.min(next, left);
    }
    this.#endAll(tooOld, (queued) => this.#tooOld(queued));
    if (this.#size > 0) this.expireLater(Math.max(next, EXPIRY_INTERVAL));
  }

  /** Whether a cycle between its halves is in front of a command. */
  #waitsForPause(queued: QueuedCommand): boolean {
    return queued.firsts.some(
      (first) => first !== queued && (first.phase === 'pausing' || this.#waitsForPause(first)),
    );
  }

  #tooOld(queued: QueuedCommand): StripError {
    if (queued.failure !== null) return queued.failure;
    const inFront = queued.firsts.flatMap((first) => [first, ...first.firsts]);
    const failure = inFront.find((other) => other.failure !== null)?.failure ?? this.#outage;
    if (failure !== null) return asNotSent(failure);
    return new StripError('TIMEOUT.waiting', { seconds: Math.ceil(this.patience / 1000) });
  }

  /**
   * Ends commands that newer ones make pointless, at the outlets of a command that fails. It ends all commands older than the newest on/off, pairs of
   * toggles, and all cycles whose off was not sent, except the newest. An "all" is replaced only by a newer "all".
   */
  #supersede({ siblings, command, ports }: QueuedCommand): void {
    const skipped = protectedPorts(this.options, command.mac);
    /** Commands that stay, the newest first. */
    const kept: QueuedCommand[] = [];
    /** The on/off commands among them. With thousands of toggles, a search through all that stay would block Node-RED for seconds. */
    const onOff: QueuedCommand[] = [];
    const ended = new Map<QueuedCommand, 'newer' | 'toggles'>();
    for (const queued of [...siblings].reverse()) {
      // A pending restore is taken over only while it waits for a retry.
      const isHeld = queued.hasPendingRestore && !this.delays.has(queued);
      const mayGo = queued.isReplaceable && !isHeld && queued.ports.some((port) => ports.includes(port));
      const newer = mayGo ? replacementFor(queued, kept, onOff, skipped) : undefined;
      const isGone = (other: QueuedCommand): boolean => other === queued || ended.has(other);
      if (newer === undefined || (queued.hasPendingRestore && !takesOver(newer, queued, isGone))) {
        kept.push(queued);
        if (typeof queued.action === 'boolean') onOff.push(queued);
        continue;
      }
      ended.set(queued, 'newer');
      if (newer.action === 'toggle') {
        ended.set(queued, 'toggles').set(newer, 'toggles');
        kept.splice(kept.indexOf(newer), 1);
      }
      // A newer "on" that replaces a pending restore must switch on the outlets of that restore.
      if (queued.hasPendingRestore && newer.action === true) newer.pendingRestores = queued.pendingRestores;
    }
    this.#endAll(
      [...ended.keys()],
      (queued) => new StripError(`SUPERSEDED.${ended.get(queued)}`, queued.errorParams),
    );
  }
}

interface Delay {
  /** The command that waits; `null`: a read. */
  readonly queued: QueuedCommand | null;
  /** On the monotonic clock. */
  readonly due: number;
  readonly end: () => void;
  timer: Timer;
}

/** Delays that can be cut short. */
class Delays {
  readonly #all = new Set<Delay>();

  constructor(private readonly clock: Clock) {}

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  has(queued: QueuedCommand): boolean {
    return [...this.#all].some((delay) => delay.queued === queued);
  }

  /** Ends after `ms` milliseconds, or earlier. */
  wait(queued: QueuedCommand | null, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.clock.clearTimeout(delay.timer);
        this.#all.delete(delay);
        resolve();
      };
      const due = this.clock.monotonic() + ms;
      const delay: Delay = { queued, due, end, timer: this.clock.setTimeout(end, ms) };
      this.#all.add(delay);
    });
  }

  /** Ends all delays now, or those for which `isOver` is true. */
  end(isOver: (queued: QueuedCommand | null) => boolean = () => true): void {
    for (const delay of this.#all) if (isOver(delay.queued)) delay.end();
  }

  /** Makes each delay end at a random time within `ms` milliseconds, except the pause of a cycle between its halves. */
  shorten(ms: number): void {
    for (const delay of this.#all) {
      if (delay.queued?.phase === 'pausing') continue;
      const max = this.clock.random() * ms;
      if (delay.due - this.clock.monotonic() <= max) continue;
      this.clock.clearTimeout(delay.timer);
      delay.timer = this.clock.setTimeout(delay.end, max);
    }
  }
}

/** Outlets of a strip that the account never switches off. */
export const protectedPorts = ({ settings }: AccountOptions, mac: string): Port[] =>
  PORTS.filter((port) =>
    settings.protectedOutlets.some((outlet) => outlet.port === port && mayBeSameMac(outlet.mac, mac)),
  );

/** Whether it failed, or waits for a command that failed. */
const isAfterFailure = ({ firsts }: QueuedCommand): boolean => firsts.some(({ failure }) => failure !== null);

/** The command whose turn it is at an outlet. */
const firstOf = (siblings: readonly QueuedCommand[], port: Port): QueuedCommand | undefined =>
  siblings.find(({ ports }) => ports.includes(port));

/**
 * Whether a newer on/off may replace a pending restore. A newer "on" is then retried without a deadline, so it may cover only outlets that must be
 * switched on. Its turn must have come, because a command that still waits could end before it has switched them on.
 */
function takesOver(
  newer: QueuedCommand,
  { pendingRestores }: QueuedCommand,
  isGone: (other: QueuedCommand) => boolean,
): boolean {
  const inFront = newer.siblings.filter((other) => other.underWay > 0 || !isGone(other));
  const isPending = (port: Port): boolean => pendingRestores.some((each) => each === 'all' || each === port);
  return newer.ports.every(
    (port) => firstOf(inFront, port) === newer && (newer.action !== true || isPending(port)),
  );
}

/**
 * The newer command that makes this one pointless. `newer`: the commands that stay, the newest first; `onOff`: the on/off commands among them.
 * `skipped`: protected outlets, which off, toggle and cycle of "all" leave alone.
 */
function replacementFor(
  { action, command: { port }, hasPendingRestore, ports }: QueuedCommand,
  newer: readonly QueuedCommand[],
  onOff: readonly QueuedCommand[],
  skipped: readonly Port[],
): QueuedCommand | undefined {
  const reaches = (other: QueuedCommand): boolean => {
    const isLimited = other.command.port === 'all' && other.command.action !== true;
    return ports.some((each) => other.ports.includes(each) && !(isLimited && skipped.includes(each)));
  };
  const absolute = onOff.find((other) => (port !== 'all' || other.command.port === 'all') && reaches(other));
  if (absolute !== undefined) return absolute;
  const isAlike = (other: QueuedCommand): boolean => other.action === action && other.command.port === port;
  if (action === 'cycle' && !hasPendingRestore) return newer.find(isAlike);
  // Two toggles cancel each other if no other command is between them.
  const next = action === 'toggle' ? newer.findLast(reaches) : undefined;
  return next !== undefined && isAlike(next) ? next : undefined;
}
