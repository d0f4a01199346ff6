import { Account } from '../../src/account/account';
import type { Clock, Service } from '../../src/api/types';
import { readAccountSettings } from '../../src/flow/shared-account';

/** An account whose requests these functions answer; the other kinds are not used. `interval`: milliseconds between polls. */
export function accountOf(answers: Partial<Service>, interval: number, clock: Clock): Account {
  const unused = () => Promise.reject(new Error('not used'));
  return new Account({
    service: {
      list: unused,
      get: unused,
      switch: unused,
      beginClose: () => undefined,
      close: () => Promise.resolve(),
      ...answers,
    },
    settings: { ...readAccountSettings({}), interval },
    clock,
    log: new Proxy({} as never, { get: () => () => undefined }),
  });
}
