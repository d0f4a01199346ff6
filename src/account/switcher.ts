import { closedError, isStripError, StripError } from '../api/errors';
import { macKey } from '../api/mac';
import { portsWith } from '../api/response';
import { PORTS, type Port, type PortOrAll, type Strip, type SwitchResult } from '../api/types';
import type { CommandQueue } from './command-queue';
import { failureOf, isProtected, mayBeCarriedOut, unknownState } from './errors';
import type { QueuedCommand } from './queued-command';
import type { Reader } from './reader';
import type { Requests } from './requests';
import type { StripStore } from './strip-store';
import type { AccountOptions, Command, Outcome } from './types';

/** How a command becomes requests. */
interface Plan {
  /** One request each: the command's own port, or single outlets of an "all". */
  readonly targets: readonly PortOrAll[];
  /** Protected outlets that it leaves alone. */
  readonly skipped: readonly Port[];
}

/** What a switch request was answered with. */
type Confirmation = Pick<Outcome, 'mac' | 'results' | 'response' | 'at'>;

/** Carries out commands: what on/off, toggle and cycle mean in requests. */
export class Switcher {
  /** Ports by MAC key. */
  readonly #protected = new Map<string, Port[]>();

  /** `refresh` asks for the states of outlets again, soon. */
  constructor(
    private readonly options: AccountOptions,
    private readonly store: StripStore,
    private readonly queue: CommandQueue,
    private readonly requests: Requests,
    private readonly reader: Reader,
    private readonly refresh: () => void,
  ) {
    for (const { mac, port } of options.settings.protectedOutlets) {
      const others = this.#protectedOf(mac);
      const all = PORTS.filter((each) => each === port || others.includes(each));
      this.#protected.set(macKey(mac), all);
    }
  }

  /** Throws PROTECTED for a command that would certainly switch off a protected outlet. */
  check(command: Command): void {
    if (command.action === false || command.action === 'cycle') this.#plan(command, false);
  }

  /** Carries out a command whose turn has come. */
  carryOut(queued: QueuedCommand): Promise<Outcome> {
    const { action } = queued.command;
    if (action === 'toggle') return this.#toggle(queued);
    if (action === 'cycle') return this.#cycle(queued);
    if (queued.pendingRestore) this.queue.enter(queued, 'restoring');
    return this.#switch(queued, action);
  }

  /**
   * Reads the strip afresh, then switches to the opposite. The opposite is worked out once: after a switch request may have been sent, reading
   * again could undo it.
   */
  async #toggle(queued: QueuedCommand): Promise<Outcome> {
    const { mac, port } = queued.command;
    const { strip, response } = await this.requests.send(queued, () => this.reader.askStrip(mac));
    const on = this.#opposite(strip, port);
    if (on === null) throw unknownState(mac, port, response);
    queued.action = on;
    return await this.#switch(queued, on);
  }

  /** The opposite of what an outlet is; of all, off if any is on. `null`: unknown. */
  #opposite({ mac, outlets }: Strip, port: PortOrAll): boolean | null {
    const free = this.#unprotected(mac);
    // With every outlet protected, one that is on still makes it an off, which is then refused.
    const asked = port !== 'all' ? [port] : free.length > 0 ? free : outlets.map((outlet) => outlet.port);
    const states = asked.map((each) => outlets.find((outlet) => outlet.port === each)?.on ?? null);
    if (states.includes(true)) return false;
    return states.length === 0 || states.includes(null) ? null : true;
  }

  /** Off, pause, on. Once an "off" may have been sent, the "on" is sent until it succeeds; what the "off" failed with is reported after it. */
  async #cycle(queued: QueuedCommand): Promise<Outcome> {
    const plan = this.#plan(queued.command, false);
    const grace = new Promise<StripError>((resolve) => {
      queued.endGrace = () => resolve(queued.stop ?? closedError('account'));
    });
    const failure = await Promise.race([failureOf(this.#send(queued, false, plan)), grace]);
    if (failure !== null && !queued.pendingRestore) throw failure;
    await this.queue.pause(queued);
    const outcome = await this.#restore(queued, { ...plan, targets: queued.pendingRestores });
    if (failure !== null) throw failure;
    return outcome;
  }

  async #restore(queued: QueuedCommand, plan: Plan): Promise<Outcome> {
    try {
      return await this.#send(queued, true, plan);
    } catch (error) {
      if (!isStripError(error) || error.code === 'SUPERSEDED') throw error;
      this.options.log.notRestored(queued.command, queued.failure ?? error);
      throw closedError('account');
    }
  }

  #switch(queued: QueuedCommand, on: boolean): Promise<Outcome> {
    return this.#send(queued, on, this.#plan(queued.command, on));
  }

  /** Sends the requests of a plan. One outcome of them all, or one error that tells all. */
  async #send(queued: QueuedCommand, on: boolean, { targets, skipped }: Plan): Promise<Outcome> {
    const send = (target: PortOrAll) => this.requests.send(queued, () => this.#post(queued, target, on));
    if (targets[0] === queued.command.port) return this.#outcome(queued, on, await send(targets[0]));
    const settled = await Promise.allSettled(targets.map(send));
    const outcome = this.#outcome(queued, on, merge(queued.command, targets, settled));
    if (skipped.length > 0) outcome.skipped = [...skipped];
    return outcome;
  }

  #outcome(queued: QueuedCommand, on: boolean, { mac, results, response, at }: Confirmation): Outcome {
    const { port } = queued.command;
    const { name, outlet } = this.store.names(mac, port);
    return { mac, name, port, outlet, on, results, response, at };
  }

  /** One switch request. */
  async #post(queued: QueuedCommand, port: PortOrAll, on: boolean): Promise<Confirmation> {
    const { clock, service } = this.options;
    const mac = this.store.spelling(queued.command.mac);
    const asked = port === 'all' ? this.store.ports(mac) : [port];
    const now = (): string => new Date(clock.wall()).toISOString();
    const pending = queued.pendingRestores;
    const isFirst = queued.action === 'cycle' && !on && !pending.includes(port);
    if (isFirst) queued.pendingRestores = [...pending, port];
    try {
      const { results, confirmed, response } = await service.switch(mac, port, on);
      const at = now();
      this.queue.switchAnswered(null);
      const known = asked.filter((each) => confirmed.includes(each));
      this.store.confirm(mac, known, on, at);
      if (known.length < asked.length) this.refresh();
      return { mac, results, response, at };
    } catch (error) {
      this.queue.switchAnswered(error);
      const results = isStripError(error) ? error.results : [];
      const switched = asked.filter((each) => results.some((result) => result.port === each && result.ok));
      if (switched.length > 0) this.store.confirm(mac, switched, on, now());
      if (isFirst && isStripError(error) && !mayBeCarriedOut(error)) {
        queued.pendingRestores = queued.pendingRestores.filter((each) => each !== port);
      }
      throw error;
    } finally {
      this.reader.commandOver();
    }
  }

  /** Requests that switching takes; throws PROTECTED where it is not allowed. */
  #plan({ mac, port }: Command, on: boolean): Plan {
    const skipped = on ? [] : this.#protectedOf(mac);
    const isAlone = port !== 'all' && !skipped.includes(port);
    if (skipped.length === 0 || isAlone) return { targets: [port], skipped: [] };
    const targets = port === 'all' ? this.#unprotected(mac) : [];
    if (targets.length === 0) throw isProtected(mac, port);
    return { targets, skipped };
  }

  #protectedOf(mac: string): readonly Port[] {
    return this.#protected.get(macKey(mac)) ?? [];
  }

  #unprotected(mac: string): readonly Port[] {
    const kept = this.#protectedOf(mac);
    return this.store.ports(mac).filter((port) => !kept.includes(port));
  }
}

/** What several requests were answered with together; throws one error that tells all where some failed. */
function merge(
  command: Command,
  targets: readonly PortOrAll[],
  settled: readonly PromiseSettledResult<Confirmation>[],
): Confirmation {
  const results: SwitchResult[] = [];
  const response: unknown[] = [];
  const errors: unknown[] = [];
  let { mac } = command;
  let at = '';
  for (const [index, one] of settled.entries()) {
    const isDone = one.status === 'fulfilled';
    const told = isDone ? one.value : isStripError(one.reason) ? one.reason : null;
    if (told !== null && told.results.length > 0) results.push(...told.results);
    else results.push({ port: Number(targets[index]), ok: isDone });
    if (told?.response !== undefined) response.push(told.response);
    if (!isDone) errors.push(one.reason);
    else if (one.value.at > at) ({ mac, at } = one.value);
  }
  if (errors.length > 0) throw mergedError(command, errors, results, response);
  return { mac, results, response, at };
}

/** Why several requests failed: what made all of them fail, or which outlets did. */
function mergedError(
  { mac, port }: Command,
  errors: readonly unknown[],
  results: SwitchResult[],
  response: unknown[],
): unknown {
  const switched = portsWith(results, true);
  const ended = errors.find(
    (error) => !isStripError(error) || error.code === 'SUPERSEDED' || error.code === 'CLOSED',
  );
  if (isStripError(ended) && switched !== '') {
    const { code, sentence, params } = ended;
    return new StripError(code, sentence, { params, results, response, cause: ended });
  }
  const other = errors.find((error) => isStripError(error) && error.code !== 'SWITCH_FAILED');
  const reason = ended ?? (switched === '' ? other : undefined);
  if (reason !== undefined) return reason;
  return new StripError('SWITCH_FAILED', switched === '' ? 'SWITCH_FAILED.ports' : 'SWITCH_FAILED.some', {
    params: { mac, port, failed: portsWith(results, false), switched },
    results,
    response,
    cause: errors[0],
  });
}
