import type { Account } from '../account/account';
import { StripError } from '../api/errors';
import type { PortOrAll, Strip } from '../api/types';

/** What the nodes need of an account. */
export type Live = Pick<
  Account,
  | 'list'
  | 'get'
  | 'run'
  | 'cancel'
  | 'subscribe'
  | 'onStatus'
  | 'status'
  | 'refresh'
  | 'strips'
  | 'strip'
  | 'names'
  | 'lastKnown'
  | 'close'
>;

/**
 * An account that comes into being when it is first used: what it takes (a TLS or proxy node) may come after it, and one that is not
 * configured must not keep a flow from starting.
 */
export class LazyAccount {
  readonly #create: () => Live;
  #account: Live | null = null;
  #closed = false;

  /** `create` may throw NOT_CONFIGURED, and is then asked again next time. */
  constructor(create: () => Live) {
    this.#create = create;
  }

  /** Throws NOT_CONFIGURED, or CLOSED once it is closed. */
  get(): Live {
    if (this.#closed) throw new StripError('CLOSED', 'CLOSED.account');
    return (this.#account ??= this.#create());
  }

  lastKnown(mac: string, port: PortOrAll): boolean | null {
    return this.#account?.lastKnown(mac, port) ?? null;
  }

  /** What is known without asking. */
  strips(): Strip[] {
    return this.#account?.strips() ?? [];
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#account?.close();
  }
}
