import { macKey, sameMac, type Outlet, type Port, type Strip } from '../api/types';
import {
  areAccounts,
  isSwitchedAnswer,
  type AccountOverview,
  type Failure,
  type OutletRequest,
  type SwitchedAnswer,
} from '../flow/admin-answers';
import { isRecord } from '../values';
import { adminRequest, mayRead, trouble } from './red';
import { findStrip, learn, outletOf, stripsOf } from './strips';

/** Milliseconds between two requests. */
const EVERY = 2000;
/** Milliseconds. If the connection to Node-RED breaks without notice, the browser waits for minutes, and the sidebar would show accounts that are no longer polled. */
const TIMEOUT = 10_000;

/** The load of a strip. */
export interface LoadPoint {
  load: number;
  /** When the runtime read it, by its own clock, which may be wrong. */
  read: string;
  /** When the sidebar received it, in milliseconds. */
  at: number;
}

interface FailedSwitch {
  command: OutletRequest;
  failure: Failure;
  /** The state of the outlet after the failure. */
  on: boolean | null;
  /** Milliseconds since 1970. */
  at: number;
}

/** Failures that are over when the service answers again. */
const OUTAGES: readonly string[] = ['UNREACHABLE', 'TIMEOUT', 'RATE_LIMITED'];

/** The deployed accounts and their strips. The runtime is asked for them only between `start` and `stop`, every 2 s. */
export class LiveAccounts {
  /** The accounts as the runtime last described them; `null`: not yet. */
  all: AccountOverview[] | null = null;
  /** When that was, in milliseconds since 1970. */
  at = 0;
  /** Why the accounts are not known; `null`: they are. */
  failure: Failure | null = null;
  /** Loads since the first request, by the keys of strips. */
  readonly loads = new Map<string, readonly LoadPoint[]>();
  /** Requested states, by the keys of outlets, until the runtime has answered. */
  readonly pending = new Map<string, boolean>();
  /** Commands that failed, the last one of each outlet, by the keys of outlets. */
  readonly failed = new Map<string, FailedSwitch>();
  /** Strips as they were shown last, by the ids of their accounts. */
  readonly #shown = new Map<string, Strip[]>();
  readonly #lease = RED.nodes.id();
  /** Timer of the next request. */
  #timer = 0;
  /** Cancels the last request; `null`: stopped. */
  #request: AbortController | null = null;

  /** `changed`: called after each change. */
  constructor(private readonly changed: () => void) {}

  start(): void {
    if (this.#request !== null) return;
    // Without the permission nothing is requested: the browser would log a refusal as an error.
    if (mayRead()) void this.#ask();
    else this.failure = trouble('forbidden');
    this.changed();
  }

  stop(): void {
    if (this.#request === null) return;
    clearTimeout(this.#timer);
    this.#request.abort();
    this.#request = null;
    void adminRequest('strip-sidebar/release', isRecord, { data: { lease: this.#lease } });
  }

  /** Called after a deploy, which may have corrected what made commands fail. */
  deployed(): void {
    this.failed.clear();
    this.askAgain();
  }

  /** Called after a switch or a deploy: the answer to an earlier request may still contain the old state. */
  askAgain(): void {
    if (this.#request !== null) void this.#ask();
  }

  find(account: string): AccountOverview | undefined {
    return this.all?.find(({ id }) => id === account);
  }

  strip(account: string, mac: string): Strip | undefined {
    return findStrip(this.find(account)?.strips ?? [], mac);
  }

  async switchOutlet(command: OutletRequest): Promise<SwitchedAnswer> {
    const key = targetKey(command.account, command.mac, command.port);
    this.pending.set(key, command.on);
    this.failed.delete(key);
    this.changed();
    const answer = await adminRequest('strip-sidebar/switch', isSwitchedAnswer, { data: command });
    this.pending.delete(key);
    if (answer.ok) this.#confirm({ ...command, on: answer.on });
    else {
      const on = this.#outlet(command)?.on ?? null;
      this.failed.set(key, { command, failure: answer, on, at: Date.now() });
    }
    this.changed();
    this.askAgain();
    return answer;
  }

  /** Shows the confirmed state at once; the next answer of the runtime has it, too. */
  #confirm({ account: id, mac, port, on }: OutletRequest): void {
    const account = this.find(id);
    if (!account) return;
    account.strips = account.strips.map((strip) => {
      if (!sameMac(strip.mac, mac)) return strip;
      const outlets = strip.outlets.map((outlet) => (outlet.port === port ? { ...outlet, on } : outlet));
      return { ...strip, outlets };
    });
  }

  #outlet({ account, mac, port }: OutletRequest): Outlet | undefined {
    return outletOf(this.strip(account, mac), port);
  }

  async #ask(): Promise<void> {
    clearTimeout(this.#timer);
    this.#request?.abort();
    const { signal } = (this.#request = new AbortController());
    const url = `strip-sidebar/accounts?lease=${this.#lease}`;
    const answer = await adminRequest(url, areAccounts, { signal, timeout: TIMEOUT });
    if (signal.aborted) return;
    this.#timer = window.setTimeout(() => void this.#ask(), EVERY);
    if ('key' in answer) this.failure = answer;
    else this.#update(answer);
    this.changed();
  }

  #update(accounts: AccountOverview[]): void {
    for (const account of accounts) {
      const { id, available } = account;
      // After a deploy, an account knows no strips. Those that were shown stay until it has asked the service.
      if (available === null && account.strips.length === 0) account.strips = this.#shown.get(id) ?? [];
      this.#shown.set(id, account.strips);
      // Labels of nodes use these strips, because they never ask the service. An account that was changed since the deploy may have others.
      const isCurrent = account.listed !== null && RED.nodes.node(id)?.changed !== true;
      if (isCurrent || stripsOf(id).length === 0) learn(id, account.strips);
      for (const strip of account.strips) {
        const key = targetKey(id, strip.mac, null);
        this.loads.set(key, addLoad(this.loads.get(key) ?? [], strip, Date.now()));
      }
    }
    this.all = accounts;
    this.failure = null;
    this.at = Date.now();
    for (const [key, failed] of this.failed) if (this.#isOver(failed)) this.failed.delete(key);
  }

  /** A failure is shown until the outlet changes, an outage is over, or something is deployed. */
  #isOver({ command, failure, on, at }: FailedSwitch): boolean {
    if (this.#outlet(command)?.on !== on || failure.key === trouble('silent').key) return true;
    const answeredAgo = this.find(command.account)?.answeredAgo ?? Infinity;
    return this.at - answeredAgo > at && OUTAGES.includes(failure.code);
  }
}

/** A key for an outlet, or with `null` for a whole strip. */
export const targetKey = (account: string, mac: string, port: Port | null): string =>
  `${account}/${macKey(mac)}/${String(port)}`;

/** The most points of a load line. */
const MAX_POINTS = 120;

/**
 * Adds the load of a strip that was read since the last point. Beyond the limit every second point is dropped, so that the line still begins
 * where it began.
 */
export function addLoad(
  points: readonly LoadPoint[],
  { load, at: read }: Pick<Strip, 'load' | 'at'>,
  now: number,
): readonly LoadPoint[] {
  if (load === null || read === points.at(-1)?.read) return points;
  const all = [...points, { load, read, at: now }];
  return all.length <= MAX_POINTS ? all : all.filter((_, index) => index % 2 === 0);
}
