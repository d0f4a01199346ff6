import type { AccountSettings, ProtectedOutlet } from '../account/types';
import { isStripError, StripError } from '../api/errors';
import { PORTS } from '../api/types';
import { SETTINGS } from '../settings';
import { numberOf, textOf, unresolved, type Config } from './config';
import { ownOf } from './field';
import { checkMac } from './target';
import { readPort } from './words';

/** What a `strip-account` is configured to be, but for its key. */
export interface AccountConfig {
  baseUrl: string;
  /** Milliseconds. */
  timeout: number;
  /** Ids of Node-RED's own config nodes; "": none. */
  tls: string;
  proxy: string;
  settings: AccountSettings;
}

/** Reads an account's properties. Throws NOT_CONFIGURED rather than leave an outlet unprotected that somebody wanted protected. */
export function readAccount(config: Config): AccountConfig {
  const { interval, timeout, retryFor, concurrency } = SETTINGS['strip-account'];
  return {
    baseUrl: textOf(config, 'baseUrl'),
    timeout: numberOf(config, 'timeout', timeout),
    tls: textOf(config, 'tls'),
    proxy: textOf(config, 'proxy'),
    settings: {
      interval: numberOf(config, 'interval', interval) * 1000,
      retryFor: numberOf(config, 'retryFor', retryFor) * 1000,
      concurrency: Math.floor(numberOf(config, 'concurrency', concurrency)),
      protectedOutlets: readProtected(ownOf(config, 'protectedOutlets')),
    },
  };
}

function readProtected(value: unknown): ProtectedOutlet[] {
  if (value === undefined || value === null || value === '') return [];
  if (!Array.isArray(value)) throw unprotected();
  return value.flatMap((entry: unknown) => {
    const mac = checkMac(ownOf(entry, 'mac'));
    const port = readPort(ownOf(entry, 'port'));
    if (isStripError(mac) || port === null) throw unprotected();
    const variable = unresolved(mac);
    if (variable !== null) {
      throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.variable', { params: { variable } });
    }
    return (port === 'all' ? PORTS : [port]).map((each) => ({ mac, port: each }));
  });
}

const unprotected = (): StripError => new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.protected');
