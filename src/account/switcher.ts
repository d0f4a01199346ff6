import type { Clock } from '../api/clock';
import { closedError, isStripError, StripError } from '../api/errors';
import { macKey } from '../api/mac';
import { type Port, type PortOrAll, PORTS, type Service, type Strip, type SwitchResult } from '../api/types';
import type { CommandQueue } from './command-queue';
import type { Delays } from './delays';
import { isProtected, mayBeCarriedOut, unknownState } from './errors';
import type { QueuedCommand } from './queued-command';
import type { Reader } from './reader';
import type { Requests } from './requests';
import type { StripStore } from './strip-store';
import type { AccountLog, Command, Outcome, ProtectedOutlet } from './types';

/** How a command becomes requests. */
interface Plan {
  /** One request each. */
  readonly targets: readonly PortOrAll[];
  /** Protected outlets that it leaves alone. */
  readonly skipped: readonly Port[];
}

/** What a switch request was answered with. */
interface Confirmation {
  readonly results: SwitchResult[];
  readonly response: unknown;
  readonly at: string;
}

type Settled = PromiseSettledResult<Confirmation>;

/** Carries out commands: what on/off, toggle and cycle mean in requests. */
export class Switcher {
  readonly #protected = new Map<string, readonly Port[]>();
  #isClosing = false;
  /** Ends the waits of cycles for an "off" that is under way. */
  readonly #endGrace = new Set<() => void>();

  /** `refresh` asks for the states of outlets again, soon. */
  constructor(
    private readonly service: Service,
    private readonly store: StripStore,
    private readonly clock: Clock,
    private readonly delays: Delays,
    private readonly queue: CommandQueue,
    private readonly requests: Requests,
    private readonly reader: Reader,
    private readonly log: AccountLog,
    protectedOutlets: readonly ProtectedOutlet[],
    private readonly refresh: () => void,
  ) {
    for (const { mac, port } of protectedOutlets) {
      const key = macKey(mac);
      const others = this.#protectedOf(key).filter((other) => other !== port);
      this.#protected.set(key, [...others, port].sort());
    }
  }

  /** Throws PROTECTED for a command that would certainly switch off a protected outlet. */
  check({ mac, port, action }: Command): void {
    if (action === false || action === 'cycle') this.#plan(mac, port, false);
  }

  /** Carries out a command whose turn has come. */
  carryOut(queued: QueuedCommand): Promise<Outcome> {
    const { action } = queued.command;
    if (action === 'toggle') return this.#toggle(queued);
    if (action === 'cycle') return this.#cycle(queued);
    return this.#switch(queued, action);
  }

  /** The account closes: cycles do not wait between their halves any more. */
  close(): void {
    this.#isClosing = true;
  }

  /** Closing: an "off" that is still under way has had its time. */
  endGrace(): void {
    for (const end of this.#endGrace) end();
  }

  async #switch(queued: QueuedCommand, on: boolean): Promise<Outcome> {
    const { mac, port } = queued.command;
    const plan = this.#plan(mac, port, on);
    if (queued.pendingRestore) this.queue.enter(queued, 'restoring');
    const send = (target: PortOrAll): Promise<Confirmation> => {
      const post = () => this.#post(queued, target, on);
      return this.requests.send(queued, post, queued.pendingRestore ? 'restore' : 'command');
    };
    const [only] = plan.targets;
    if (only !== undefined && plan.targets.length === 1 && plan.skipped.length === 0) {
      const { results, response, at } = await send(only);
      return { ...this.#identity(queued), on, results, response, at };
    }
    return this.#merge(queued, on, plan, await Promise.allSettled(plan.targets.map(send)));
  }

  /**
   * Reads the strip afresh, then switches to the opposite. The opposite is worked out once: after a switch request may have been sent, reading
   * again could undo it.
   */
  async #toggle(queued: QueuedCommand): Promise<Outcome> {
    const { mac, port } = queued.command;
    const { strip, response } = await this.requests.send(queued, () => this.reader.askStrip(mac), 'command');
    const on = this.#opposite(strip, port);
    if (on === null) throw unknownState(mac, port, response);
    queued.action = on;
    return await this.#switch(queued, on);
  }

  /** The opposite of what an outlet is; of all, off if any is on. `null`: unknown. */
  #opposite({ mac, outlets }: Strip, port: PortOrAll): boolean | null {
    const free = this.#unprotected(macKey(mac));
    // With every outlet protected, one that is on still makes it an off, which is then refused.
    const asked = port !== 'all' ? [port] : free.length > 0 ? free : outlets.map((outlet) => outlet.port);
    const states = asked.map((each) => outlets.find((outlet) => outlet.port === each)?.on ?? null);
    if (states.includes(true)) return false;
    return states.length === 0 || states.includes(null) ? null : true;
  }

  /** Off, pause, on. Once an "off" may have been sent, the "on" is sent until it succeeds; what the "off" failed with is reported after it. */
  async #cycle(queued: QueuedCommand): Promise<Outcome> {
    const { mac, port, delay } = queued.command;
    const plan = this.#plan(mac, port, false);
    const switchedOff = new Set<PortOrAll>();
    const failure = await this.#switchOff(queued, plan, switchedOff);
    if (failure !== null && switchedOff.size === 0) throw failure;
    if (!this.#isClosing) {
      this.queue.enter(queued, 'pausing');
      await this.delays.wait(queued, delay);
      this.queue.endPause(queued);
    } else this.queue.enter(queued, 'restoring');
    const outcome = await this.#restore(queued, { targets: [...switchedOff], skipped: plan.skipped });
    if (failure !== null) throw failure;
    return outcome;
  }

  /** The error of the off half, or `null`. `switchedOff` gets what may have been switched off. */
  async #switchOff(
    queued: QueuedCommand,
    plan: Plan,
    switchedOff: Set<PortOrAll>,
  ): Promise<StripError | null> {
    const once = async (target: PortOrAll): Promise<Confirmation> => {
      const wasSwitchedOff = switchedOff.has(target);
      switchedOff.add(target);
      queued.pendingRestore = true;
      try {
        return await this.#post(queued, target, false);
      } catch (error) {
        if (!wasSwitchedOff && isStripError(error) && !mayBeCarriedOut(error)) switchedOff.delete(target);
        queued.pendingRestore = switchedOff.size > 0;
        throw error;
      }
    };
    const offs = Promise.allSettled(
      plan.targets.map((target) => this.requests.send(queued, () => once(target), 'command')),
    );
    let endGrace = (): void => undefined;
    const grace = new Promise<null>((resolve) => {
      endGrace = () => resolve(null);
    });
    this.#endGrace.add(endGrace);
    const settled = await Promise.race([offs, grace]);
    this.#endGrace.delete(endGrace);
    if (settled === null) return queued.stop ?? closedError('account');
    try {
      this.#merge(queued, false, plan, settled);
      return null;
    } catch (error) {
      if (isStripError(error)) return error;
      throw error;
    }
  }

  async #restore(queued: QueuedCommand, plan: Plan): Promise<Outcome> {
    const ons = await Promise.allSettled(
      plan.targets.map((target) =>
        this.requests.send(queued, () => this.#post(queued, target, true), 'restore'),
      ),
    );
    try {
      return this.#merge(queued, true, plan, ons);
    } catch (error) {
      if (!isStripError(error) || error.code === 'SUPERSEDED') throw error;
      this.log.notRestored(queued.command, reasonOf(ons) ?? error);
      throw closedError('account');
    }
  }

  /** One switch request. */
  async #post(queued: QueuedCommand, port: PortOrAll, on: boolean): Promise<Confirmation> {
    const mac = this.store.spelling(queued.command.mac);
    const asked = port === 'all' ? this.store.ports(mac) : [port];
    const now = (): string => new Date(this.clock.wall()).toISOString();
    const confirm = (ports: readonly number[], at: string): boolean => {
      const confirmed = asked.filter((each) => ports.includes(each));
      if (confirmed.length > 0) this.store.confirm(mac, confirmed, on, at);
      return confirmed.length === asked.length;
    };
    try {
      const { results, confirmed, response } = await this.service.switch(mac, port, on);
      const at = now();
      this.queue.switchAnswered(null);
      if (!confirm(confirmed, at)) this.refresh();
      return { results, response, at };
    } catch (error) {
      this.queue.switchAnswered(error);
      if (isStripError(error)) confirm(switched(error.results), now());
      throw error;
    } finally {
      this.reader.commandOver();
    }
  }

  /** Requests that switching takes; throws PROTECTED where it is not allowed. */
  #plan(mac: string, port: PortOrAll, on: boolean): Plan {
    const kept = on ? [] : this.#protectedOf(macKey(mac));
    if (kept.length === 0) return { targets: [port], skipped: kept };
    if (port !== 'all') {
      if (kept.includes(port)) throw isProtected(mac, port);
      return { targets: [port], skipped: [] };
    }
    const targets = this.#unprotected(macKey(mac));
    if (targets.length === 0) throw isProtected(mac, port);
    return { targets, skipped: kept };
  }

  #protectedOf(key: string): readonly Port[] {
    return this.#protected.get(key) ?? [];
  }

  #unprotected(key: string): readonly Port[] {
    const kept = this.#protectedOf(key);
    return this.store.ports(key).filter((port) => !kept.includes(port));
  }

  /** The strip and outlet of an outcome; the strip as the service spells it, once that is known. */
  #identity({ command: { mac, port } }: QueuedCommand): Pick<Outcome, 'mac' | 'name' | 'port' | 'outlet'> {
    return { mac: this.store.spelling(mac), port, ...this.store.names(mac, port) };
  }

  /** One outcome of several requests, or one error that tells all. */
  #merge(
    queued: QueuedCommand,
    on: boolean,
    { targets, skipped }: Plan,
    settled: readonly Settled[],
  ): Outcome {
    const { mac, port } = queued.command;
    const results: SwitchResult[] = [];
    const responses: unknown[] = [];
    const errors: unknown[] = [];
    let at = '';
    settled.forEach((one, index) => {
      const target = targets[index] ?? port;
      const fulfilled = one.status === 'fulfilled';
      const error: unknown = fulfilled ? null : one.reason;
      const told = fulfilled ? one.value.results : isStripError(error) ? error.results : [];
      const asked = target === 'all' ? PORTS : [target];
      results.push(...(told.length > 0 ? told : asked.map((each) => ({ port: each, ok: fulfilled }))));
      if (fulfilled) {
        responses.push(one.value.response);
        if (one.value.at > at) at = one.value.at;
      } else {
        errors.push(error);
        if (isStripError(error) && error.response !== undefined) responses.push(error.response);
      }
    });
    if (errors.length > 0) throw mergedError(mac, port, errors, results, responses);
    const isSeveral = port === 'all' && targets[0] !== 'all';
    const response: unknown = isSeveral ? responses : responses[0];
    const outcome: Outcome = { ...this.#identity(queued), on, results, response, at };
    if (skipped.length > 0) outcome.skipped = [...skipped];
    return outcome;
  }
}

const switched = (results: readonly SwitchResult[]): number[] =>
  results.filter(({ ok }) => ok).map(({ port }) => port);

/** What kept an "on" from succeeding, rather than that it was given up. */
function reasonOf(ons: readonly Settled[]): StripError | undefined {
  for (const on of ons) {
    const error: unknown = on.status === 'rejected' ? on.reason : null;
    if (isStripError(error) && error.code !== 'CLOSED') return error;
  }
  return undefined;
}

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
  const portsWith = (ok: boolean): string =>
    results
      .filter((result) => result.ok === ok)
      .map((result) => result.port)
      .join(', ');
  const done = portsWith(true);
  const other = errors.find((error) => isStripError(error) && error.code !== 'SWITCH_FAILED');
  if (done === '' && other !== undefined) return other;
  return new StripError('SWITCH_FAILED', done === '' ? 'SWITCH_FAILED.ports' : 'SWITCH_FAILED.some', {
    params: { mac, port, failed: portsWith(false), switched: done },
    results,
    response,
    cause: errors[0],
  });
}
