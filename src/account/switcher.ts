import { asError, failureOf, isOutage, isStripError, mayBeCarriedOut, StripError } from '../api/errors';
import { switchFailedError } from '../api/response';
import type { Port, PortOrAll, Strip, SwitchAnswer } from '../api/types';
import { protectedPorts, type CommandQueue, type QueuedCommand } from './command-queue';
import type { Reader, Requests } from './requests';
import type { StripStore } from './strip-store';
import type { AccountOptions, Command, Outcome } from './types';

/** The requests that a command needs. */
interface Plan {
  /** One request each: the command's own port, or single outlets of an "all". */
  readonly targets: readonly PortOrAll[];
  /** Protected outlets that it leaves alone. */
  readonly skipped: readonly Port[];
}

/** Carries out commands: turns on/off, toggle and cycle into requests. */
export class Switcher {
  /** `refresh` makes the account read the list soon. */
  constructor(
    private readonly options: AccountOptions,
    private readonly store: StripStore,
    private readonly queue: CommandQueue,
    private readonly requests: Requests,
    private readonly reader: Reader,
    private readonly refresh: () => void,
  ) {}

  /** Throws PROTECTED for a command that would certainly switch off a protected outlet. */
  check(command: Command): void {
    if (command.action === false || command.action === 'cycle') this.#plan(command, true);
  }

  /** Carries out a command whose turn has come. */
  async carryOut(queued: QueuedCommand): Promise<Outcome> {
    const { action } = queued.command;
    try {
      if (action === 'toggle') return await this.#toggle(queued);
      const plan = this.#plan(queued.command, action !== true);
      if (action === 'cycle') return await this.#cycle(queued, plan);
      if (queued.hasPendingRestore) return await this.#restore(queued, plan);
      return await this.#send(queued, action, plan);
    } catch (error) {
      // An earlier attempt may have switched, whatever the error of the last one is.
      if (queued.switchRequests.length > 0) this.refresh();
      throw error;
    }
  }

  /**
   * Reads the strip, then switches to the opposite. The opposite is worked out once: after a switch request may have been sent, reading
   * again could undo it.
   */
  async #toggle(queued: QueuedCommand): Promise<Outcome> {
    const { mac, port } = queued.command;
    const { strip, response } = await this.requests.send(queued, () => this.reader.askStrip(mac));
    // A toggle of "all" leaves protected outlets out, also if it switches on. If all are protected, it may switch on, but `#plan` refuses an off.
    const free = this.#unprotected(mac);
    const leavesOut = port === 'all' && free.length > 0;
    const on = opposite(strip, leavesOut ? free : this.store.ports(mac, port));
    if (on === null) {
      const kind = !strip.available ? 'offline' : port === 'all' ? 'unknownStates' : 'unknownState';
      throw new StripError(`BAD_RESPONSE.${kind}`, { mac, port }, { response });
    }
    queued.action = on;
    return await this.#send(queued, on, this.#plan(queued.command, !on || leavesOut));
  }

  /** Off, pause, on. Once an "off" may have been sent, the "on" is sent until it succeeds. If the "off" failed, its error is thrown after that. */
  async #cycle(queued: QueuedCommand, plan: Plan): Promise<Outcome> {
    const failure = await failureOf(this.#send(queued, false, plan));
    if (failure !== null && !queued.hasPendingRestore) throw failure;
    // The newest on/off then replaces what waits behind the pause, also if there was no retry.
    if (isOutage(failure)) queued.failure ??= failure;
    await this.queue.pause(queued);
    const outcome = await this.#restore(queued, { ...plan, targets: queued.pendingRestores });
    if (failure !== null) throw failure;
    return outcome;
  }

  async #restore(queued: QueuedCommand, plan: Plan): Promise<Outcome> {
    this.queue.enter(queued, 'restoring');
    try {
      return await this.#send(queued, true, plan);
    } catch (error) {
      if (!isStripError(error) || error.code === 'SUPERSEDED') throw error;
      this.options.log.notRestored(queued.command, queued.failure ?? error);
      throw queued.errorWhenClosed;
    }
  }

  /** Sends the requests of a plan. Returns one outcome for all of them, or throws one error about all of them. */
  #send(queued: QueuedCommand, on: boolean, plan: Plan): Promise<Outcome> {
    const send = (port: PortOrAll) => this.requests.send(queued, () => this.#post(queued, port, on));
    const [first] = plan.targets;
    if (first === queued.command.port) return send(first);
    const settled = Promise.all(plan.targets.map((port) => send(port).catch(asError)));
    return settled.then((all) => merge(queued, plan, all));
  }

  /** One switch request. */
  async #post(queued: QueuedCommand, port: PortOrAll, on: boolean): Promise<Outcome> {
    const { mac } = queued.command;
    const isFirstOff = queued.action === 'cycle' && !on && !queued.pendingRestores.includes(port);
    if (isFirstOff) queued.pendingRestores = [...queued.pendingRestores, port];
    const isRepeated = queued.phase !== 'restoring' && queued.switchRequests.includes(port);
    queued.switchRequests.push(port);
    try {
      const { service } = this.options;
      const send = (spelled: string) => this.requests.record.add('switch', service.switch(spelled, port, on));
      // While the list is read for the spelling, the node or the account may be closed. Then only a restore is still sent.
      const isOver = () => queued.stopReason !== null && queued.phase !== 'restoring';
      return this.#confirm(mac, port, on, await this.reader.withSpelling(mac, send, isOver));
    } catch (thrown) {
      const error = asError(thrown);
      this.#confirmPart(mac, port, on, error);
      if (!mayBeCarriedOut(error)) {
        queued.switchRequests.splice(queued.switchRequests.indexOf(port), 1);
        // This request changed nothing, so the error need not say that it may have.
        if (queued.stopReason?.code === 'CLOSED') queued.stopReason = queued.errorWhenClosed;
        if (isFirstOff) queued.pendingRestores = queued.pendingRestores.filter((each) => each !== port);
      }
      throw isRepeated || error.isOfRepeat ? errorOfRepeat(error, { mac, port }) : error;
    }
  }

  /** Takes in the answer that confirms a switch request. */
  #confirm(mac: string, port: PortOrAll, on: boolean, answer: SwitchAnswer): Outcome {
    this.queue.answered(true);
    const { results, confirmed, response } = answer;
    // The answer may leave out some outlets of an "all": whether these were switched is not known.
    const stateOf = (each: Port) => ({ port: each, on: confirmed.includes(each) ? on : null, name: null });
    const outlets = this.store.ports(mac, port).map(stateOf);
    const strip = this.store.confirm(mac, outlets);
    if (outlets.some((outlet) => outlet.on === null)) this.refresh();
    return { mac: strip.mac, ...this.store.names(mac, port), port, on, results, response, at: strip.at };
  }

  /** Takes in which outlets were switched by a request that failed for others. */
  #confirmPart(mac: string, port: PortOrAll, on: boolean, { results }: StripError): void {
    const failed = results.filter(({ ok }) => !ok).map((result) => result.port);
    // If the answer reports a failure but no outlet that failed, none of its outlets counts as switched.
    if (failed.length === 0) return;
    const isSwitched = (each: Port) =>
      !failed.includes(each) && results.some((result) => result.port === each);
    const switched = this.store.ports(mac, port).filter(isSwitched);
    const outlets = switched.map((each) => ({ port: each, on, name: null }));
    if (outlets.length > 0) this.store.confirm(mac, outlets);
  }

  /** The requests of a command. `spares`: it leaves protected outlets alone. Throws PROTECTED if it is for no other outlets. */
  #plan({ mac, port }: Command, spares: boolean): Plan {
    const skipped = spares ? protectedPorts(this.options, mac) : [];
    if (port !== 'all' && skipped.includes(port)) throw new StripError('PROTECTED.outlet', { mac, port });
    if (port !== 'all' || skipped.length === 0) return { targets: [port], skipped: [] };
    const targets = this.#unprotected(mac);
    if (targets.length === 0) throw new StripError('PROTECTED.all', { mac, port });
    return { targets, skipped };
  }

  #unprotected(mac: string): readonly Port[] {
    const skipped = protectedPorts(this.options, mac);
    return this.store.ports(mac).filter((port) => !skipped.includes(port));
  }
}

/** The opposite of the state of outlets: off if any of them is on. `null`: unknown. */
function opposite({ available, outlets }: Strip, ports: readonly Port[]): boolean | null {
  // The service cannot reach the strip, so the states that it knows may be old.
  if (!available) return null;
  const states = ports.map((port) => outlets.find((outlet) => outlet.port === port)?.on ?? null);
  if (states.includes(true)) return false;
  return states.includes(null) ? null : true;
}

/** The error of a request, if an earlier one for the same outlet may have been carried out. */
function errorOfRepeat(error: StripError, { mac, port }: Pick<Command, 'mac' | 'port'>): StripError {
  const { params, results, response } = error;
  // "Could not be sent" would be understood of the whole command.
  if (error.sentenceKey === 'TIMEOUT.notSent')
    return new StripError('TIMEOUT.deadline', params, { cause: error });
  if (error.code !== 'SWITCH_FAILED') return error;
  return new StripError('SWITCH_FAILED.repeated', { mac, port }, { results, response, cause: error });
}

/** The service says no, and no earlier attempt may have been carried out. */
const isClearNo = ({ code, sentenceKey }: StripError): boolean =>
  code === 'SWITCH_FAILED' && sentenceKey !== 'SWITCH_FAILED.repeated';

/** Combines the outcomes of several requests. If some failed, throws one error about all of them. */
function merge(
  { command: { mac, port }, switchRequests }: QueuedCommand,
  { targets, skipped }: Plan,
  settled: readonly (Outcome | StripError)[],
): Outcome {
  // An earlier attempt may have switched, whatever the error of the last one is.
  const isUnclear = (each: Outcome | StripError, index: number): boolean =>
    isStripError(each) && !isClearNo(each) && switchRequests.some((to) => to === targets[index]);
  const results = settled.flatMap((each, index) =>
    isUnclear(each, index) ? [] : [{ port: Number(targets[index]), ok: !isStripError(each) }],
  );
  const response = settled.flatMap((each) => (each.response === undefined ? [] : [each.response]));
  const errors = settled.filter(isStripError);
  const [latest] = settled.filter((each) => 'mac' in each).sort((a, b) => b.at.localeCompare(a.at));
  if (errors.length === 0 && latest !== undefined)
    return { ...latest, port, outlet: null, results, response, skipped: [...skipped] };

  const hasSwitched = results.some(({ ok }) => ok);
  const details = { results, response, cause: errors[0] };
  const failed = switchFailedError({ mac, port }, details);
  // The reason of one failure says more than a list of the outlets that failed.
  const reason =
    errors.find(({ code }) => code === 'SUPERSEDED' || code === 'CLOSED') ??
    settled.filter(isUnclear).find(isStripError) ??
    // TIMEOUT would say here that the command was not sent, but a part of it was.
    errors.find((error) => isOutage(error) && error.code !== 'TIMEOUT');
  if (!hasSwitched) throw reason ?? errors.find(({ code }) => code !== 'SWITCH_FAILED') ?? failed;
  if (reason === undefined) throw failed;
  throw new StripError(reason.sentenceKey, reason.params, { ...details, retryable: reason.retryable });
}
