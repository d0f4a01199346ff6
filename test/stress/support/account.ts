import { Account } from '../../../src/account/account';
import type { AccountLog, AccountSettings } from '../../../src/account/types';
import { Client } from '../../../src/api/client';
import { PooledDispatcher, type TlsOptions } from '../../../src/api/dispatcher';
import type { ProxySettings } from '../../../src/api/proxy';
import { checkApiKey, parseBaseUrl } from '../../../src/api/connection-settings';
import type { Clock } from '../../../src/api/types';
import { readAccountSettings } from '../../../src/flow/shared-account';

/** How often an account said that polls fail, and that they no longer do; `faults` holds what must never happen. */
interface Said {
  failing: number;
  recovered: number;
  faults: unknown[];
}

export interface Opened {
  readonly account: Account;
  readonly said: Said;
}

export interface OpenOptions {
  baseUrl: string;
  apiKey: string;
  clock: Clock;
  /** Milliseconds of that clock for one request. */
  timeout?: number;
  tls?: TlsOptions;
  proxy?: ProxySettings;
  settings?: Partial<AccountSettings>;
}

/** An account with its client and its connections, without Node-RED. */
export function openAccount(options: OpenOptions): Opened {
  const { baseUrl, apiKey, clock, timeout = 10_000, tls, proxy, settings } = options;
  const concurrency = settings?.concurrency ?? 8;
  const base = parseBaseUrl(baseUrl);
  const service = new Client({
    baseUrl: base,
    apiKey: checkApiKey(apiKey),
    timeout,
    dispatcher: new PooledDispatcher({
      origin: base.url.origin,
      connections: concurrency,
      timeout,
      tls,
      proxy,
    }),
    clock,
  });
  const said: Said = { failing: 0, recovered: 0, faults: [] };
  const log: AccountLog = {
    failing: () => said.failing++,
    recovered: () => said.recovered++,
    unreadable: () => undefined,
    retrying: () => undefined,
    retryingOver: () => undefined,
    rateLimited: () => undefined,
    unknownOutlet: () => undefined,
    notRestored: () => undefined,
    fault: (error) => void said.faults.push(error),
  };
  const account = new Account({
    service,
    settings: { ...readAccountSettings({}), ...settings },
    clock,
    log,
  });
  return { account, said };
}
