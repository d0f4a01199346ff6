import type { AccountSettings, OutletName, ProtectedOutlet } from '../account/types';
import { isStripError, StripError } from '../api/errors';
import { PORTS, type ReadingName } from '../api/types';
import { SETTINGS } from '../settings';
import { numberOf, textOf, unresolved, type Config } from './config';
import { ownOf } from './field';
import { checkMac } from './target';
import { readPort } from './words';

/** What a `strip-account` is configured to be, but for its key. */
export interface AccountConfig {
  baseUrl: string;
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
    tls: textOf(config, 'tls'),
    proxy: textOf(config, 'proxy'),
    settings: {
      timeout: numberOf(config, 'timeout', timeout),
      interval: numberOf(config, 'interval', interval) * 1000,
      retryFor: numberOf(config, 'retryFor', retryFor) * 1000,
      concurrency: Math.floor(numberOf(config, 'concurrency', concurrency)),
      protectedOutlets: readProtected(ownOf(config, 'protectedOutlets')),
      outletNames: readOutletNames(ownOf(config, 'outletNames')),
      units: readUnits(ownOf(config, 'units')),
    },
  };
}

/** Names are for people only, so an entry that cannot be read is left out. */
function readOutletNames(value: unknown): OutletName[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    const mac = checkMac(ownOf(entry, 'mac'));
    const port = readPort(ownOf(entry, 'port'));
    const name: unknown = ownOf(entry, 'name');
    if (isStripError(mac) || port === null || port === 'all' || typeof name !== 'string') return [];
    return name.trim() === '' ? [] : [{ mac, port, name: name.trim() }];
  });
}

function readUnits(value: unknown): AccountSettings['units'] {
  const unit = (name: ReadingName): string => {
    const text: unknown = ownOf(value, name);
    return typeof text === 'string' ? text.trim() : '';
  };
  return { load: unit('load'), voltage: unit('voltage'), signal: unit('signal') };
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
