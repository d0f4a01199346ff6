import { valueOrNull } from '../api/errors';
import { PORTS, type Clock, type Strip, type Timer } from '../api/types';
import { readOutlets, type Config } from '../settings';
import { ownProperty } from '../values';
import type { AccountOverview, OutletRequest } from './admin-answers';
import { editorError } from './node-error';
import type { LazyAccount } from './shared-account';

/** A strip of whose states and readings nothing is known. */
const withoutValues = (strip: Strip): Strip => {
  const outlets = strip.outlets.map((outlet) => ({ ...outlet, on: null }));
  return { ...strip, outlets, load: null, voltage: null, signal: null };
};

/** What is known about an account without asking the service. `now`: wall-clock milliseconds. */
export function overviewOf(id: string, config: Config, account: LazyAccount, now: number): AccountOverview {
  const { error, lastAnswerAt, cooldownUntil, ...status } = account.status();
  const { outlets } = readOutlets(ownProperty(config, 'protectedOutlets'));
  const strips = account.store.all();
  return {
    ...status,
    id,
    error: error && editorError(error),
    answeredAgo: lastAnswerAt === null ? null : Math.max(0, now - lastAnswerAt),
    pausedFor: cooldownUntil === null ? null : cooldownUntil - now,
    // If the poll has begun again after a long time, what was true of the strips may not be now.
    strips: status.available === null ? strips.map(withoutValues) : strips,
    protectedOutlets: outlets.map(({ mac, port }) => ({ mac, port })),
  };
}

/** Reads the body of a request; `null` for anything the sidebar does not send. */
export function readOutletRequest(body: unknown): OutletRequest | null {
  const [account, mac, on] = ['account', 'mac', 'on'].map((name) => ownProperty(body, name));
  const port = PORTS.find((known) => known === ownProperty(body, 'port'));
  if (typeof account !== 'string' || typeof mac !== 'string' || typeof on !== 'boolean') return null;
  return port === undefined ? null : { account, mac, port, on };
}

/** How long an account is kept up to date after a sidebar last asked. Sidebars ask every 2 s. */
export const LEASE_MS = 10_000;

/** Whether a value can be the id that a sidebar made for its lease. */
export const isLease = (value: unknown): value is string =>
  typeof value === 'string' && /^[\w-]{1,40}$/.test(value);

/**
 * Keeps accounts polled while a sidebar shows them. Each sidebar has a lease, which it renews with every request and releases when it is hidden.
 * When a browser is closed, the lease runs out.
 */
export class Leases {
  /** The timer that ends each lease, unless it is renewed. */
  readonly #timers = new Map<string, Timer>();
  /** The function that ends the subscription to each account. */
  #subscriptions = new Map<LazyAccount, () => void>();

  constructor(private readonly clock: Clock) {}

  /** Starts a lease or prolongs it. `accounts`: all that are deployed now. */
  renew(lease: string, accounts: Iterable<LazyAccount>): void {
    this.#end(lease);
    const timer = this.clock.setTimeout(() => this.release(lease), LEASE_MS);
    this.#timers.set(lease, timer);
    this.#subscribe(accounts);
  }

  /** Ends a lease early. With the last one, the subscriptions end. */
  release(lease: string): void {
    this.#end(lease);
    if (this.#timers.size === 0) this.#subscribe([]);
  }

  #end(lease: string): void {
    this.clock.clearTimeout(this.#timers.get(lease));
    this.#timers.delete(lease);
  }

  #subscribe(accounts: Iterable<LazyAccount>): void {
    const subscriptions = new Map<LazyAccount, () => void>();
    for (const account of accounts) {
      // An account that is not configured has nothing to poll; its overview says so.
      const subscribe = () => valueOrNull(() => account.get().subscribe(() => undefined, 'all'));
      const remove = this.#subscriptions.get(account) ?? subscribe();
      if (remove !== null) subscriptions.set(account, remove);
    }
    for (const [account, remove] of this.#subscriptions) if (!subscriptions.has(account)) remove();
    this.#subscriptions = subscriptions;
  }
}
