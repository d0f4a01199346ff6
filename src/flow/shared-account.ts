import type { Account, AccountDiagnostics } from '../account/account';
import type { ReadonlyStripStore } from '../account/strip-store';
import type { AccountSettings, AccountStatus } from '../account/types';
import { asError, closedError, StripError } from '../api/errors';
import {
  numberOf,
  readOutlets,
  requireReadable,
  requireSet,
  SETTINGS,
  textOf,
  type Config,
} from '../settings';
import { displayName, ownProperty } from '../values';
import { EMPTY_STORE } from './node-error';

/** Reads an account's properties, but not where it connects to. Throws NOT_CONFIGURED if one cannot be read, or a variable is not set. */
export function readAccountSettings(config: Config): AccountSettings {
  const { interval, timeout, retryFor, concurrency } = SETTINGS['strip-account'];
  const label = displayName(textOf(config, 'name')) ?? textOf(config, 'id');
  requireReadable(config, SETTINGS['strip-account'], ` (strip-account ${label})`);
  const units = ownProperty(config, 'units');
  const { outlets, unreadable } = readOutlets(ownProperty(config, 'protectedOutlets'));
  if (unreadable.length > 0) throw new StripError('NOT_CONFIGURED.protected');
  return {
    timeout: numberOf(config, 'timeout', timeout),
    interval: numberOf(config, 'interval', interval) * 1000,
    minInterval: interval.min * 1000,
    retryFor: numberOf(config, 'retryFor', retryFor) * 1000,
    concurrency: numberOf(config, 'concurrency', concurrency),
    protectedOutlets: outlets.map(({ mac, port }) => ({ mac: requireSet(mac), port })),
    // An entry that cannot be read is left out: names change nothing but texts.
    outletNames: readOutlets(ownProperty(config, 'outletNames')).outlets.filter(({ name }) => name !== ''),
    units: {
      load: requireSet(textOf(units, 'load')),
      voltage: requireSet(textOf(units, 'voltage')),
      signal: requireSet(textOf(units, 'signal')),
    },
  };
}

/** An account as the nodes use it: without its private fields, so that tests can use another object instead. */
export type SharedAccount = Pick<Account, keyof Account>;

/** What the nodes that work without messages use of an account. */
export type UsedAccount = Pick<SharedAccount, 'list' | 'run' | 'status' | 'store' | 'subscribe'>;

/** The status of an account that cannot be used. */
const unusableStatus = (error: StripError): AccountStatus => ({
  available: false,
  error,
  readable: true,
  listed: null,
  lastAnswerAt: null,
  cooldownUntil: null,
  polling: false,
});

/** Takes the place of an account that cannot be used. Subscribers are told at once that it is not available. */
export const unusableAccount = (error: StripError): UsedAccount => ({
  subscribe: (listener) => {
    listener({ kind: 'account', available: false });
    return () => undefined;
  },
  status: () => unusableStatus(error),
  store: EMPTY_STORE,
  list: () => Promise.reject(error),
  run: () => Promise.reject(error),
});

/**
 * An account that is created only when it is first used. There are two reasons: its TLS or proxy node may be created after the account node, and an
 * account that is not configured must not keep a flow from starting. Until it is created, no strips are known.
 */
export class LazyAccount {
  #account: SharedAccount | null = null;
  #closed = false;
  /** For each command that was cancelled and is not reported yet: whether it is confirmed in the end. */
  #cancelled: readonly Promise<boolean>[] = [];

  /**
   * `create` may throw NOT_CONFIGURED, and is then called again next time. `onDropped` is called with the number of commands that are not confirmed
   * because their node or the account was closed: their errors may reach no Catch node, as a deploy may have closed that, too.
   */
  constructor(
    private readonly create: () => SharedAccount,
    private readonly onDropped: (count: number) => void,
  ) {}

  /** Throws NOT_CONFIGURED, or CLOSED once it is closed. */
  get(): SharedAccount {
    if (this.#closed) throw closedError('account');
    return (this.#account ??= this.create());
  }

  /** Ends the commands of an owner. */
  cancel(owner: object): void {
    this.#cancelled = this.#cancelled.concat(this.#account?.cancel(owner) ?? []);
    // A deploy closes all nodes, and perhaps their account, in one turn of the event loop. Then `close` reports them.
    setImmediate(() => {
      if (!this.#closed) void this.#reportDropped();
    });
  }

  /** `closed`: how many commands failed because the account was closed. */
  async #reportDropped(closed = 0): Promise<void> {
    const cancelled = this.#cancelled;
    this.#cancelled = [];
    const count = closed + (await Promise.all(cancelled)).filter((isConfirmed) => !isConfirmed).length;
    if (count > 0) this.onDropped(count);
  }

  /** The status of the account; if it cannot be created, the reason. */
  status(): AccountStatus {
    try {
      return this.get().status();
    } catch (error) {
      return unusableStatus(asError(error));
    }
  }

  get store(): ReadonlyStripStore {
    return this.#account?.store ?? EMPTY_STORE;
  }

  /** `null`: the account was never used. */
  diagnostics(): AccountDiagnostics | null {
    return this.#account?.diagnostics() ?? null;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#reportDropped(await this.#account?.close());
  }
}

/** Returns a function that removes a key from texts that are shown. A key of fewer than 4 characters stays: it would match ordinary words. */
export function keyRemover(apiKey: string): (text: string) => string {
  const key = apiKey.trim();
  if (key.length < 4) return (text) => text;
  const forms = Array.from(key, (character) => {
    const inJson = JSON.stringify(character).slice(1, -1);
    // As in a link to the next page: any character may be escaped there, in upper or lower case.
    const inAddress = Buffer.from(character).toString('hex').replace(/../g, '%$&');
    return [character, inJson, inAddress].map((form) => form.replace(/\W/g, '\\$&')).join('|');
  });
  const anyForm = new RegExp(`(?:${forms.join(')(?:')})`, 'gi');
  return (text) => text.replace(anyForm, '***');
}
