import assert from 'node:assert/strict';
import type { AccountStatus, Command, Outcome, RunOptions } from '../../../src/account/types';
import { StripError } from '../../../src/api/errors';
import { commandReader, type SwitchRequest } from '../../../src/flow/strip-switch';
import type { Config } from '../../../src/settings';
import type { Evaluate, Message, Target } from '../../../src/flow/input-fields';
import type { Input } from '../../../src/flow/input-handler';
import { EMPTY_STORE, type Translate } from '../../../src/flow/node-error';
import { LazyAccount, type SharedAccount } from '../../../src/flow/shared-account';

export const MAC = 'A1B2C3D4E5F6';
export const OTHER = 'A1B2C3D4E5F7';
export const AT = '2027-01-15T08:00:00.000Z';

/** Strip and outlet fixed, state from the message. */
export const outlet2 = { mac: MAC, macType: 'str', port: '2', portType: 'port' };

/** Key and values, so that a test sees both. */
export const translate: Translate = (key, params = {}) => `${key} ${JSON.stringify(params)}`;

export const noEvaluate: Evaluate = () => Promise.reject(new Error('nothing is to be evaluated'));

/** A target of which nothing is known yet. */
export const nothing = (): Target => ({ mac: null, port: null, requested: null });

/** A message on its way through a handler. */
export const input = (msg: Message, submit = () => ({ owner: msg })): Input => ({
  msg,
  target: nothing(),
  submit,
});

/** Reads the commands of one message. */
export async function request(
  config: Config,
  msg: Message,
  evaluate: Evaluate = noEvaluate,
  target = nothing(),
): Promise<SwitchRequest> {
  return await commandReader(config, evaluate)(msg, target);
}

/** The commands of a message, short. */
export async function commands(config: Config, msg: Message, evaluate?: Evaluate): Promise<string[]> {
  const read = await request(config, msg, evaluate);
  return read.commands.map(
    ({ mac, port, action, delay }) =>
      `${mac}/${port} ${String(action)}${action === 'cycle' ? ` ${delay}` : ''}`,
  );
}

/** Code and sentence that something fails with. */
export async function failing(run: () => unknown): Promise<StripError> {
  try {
    await run();
  } catch (error) {
    assert(error instanceof StripError, `not a StripError: ${String(error)}`);
    return error;
  }
  assert.fail('it did not fail');
}

export function outcomeOf({ mac, port, action }: Command, more: Partial<Outcome> = {}): Outcome {
  const on = action === true || action === 'cycle';
  const results = port === 'all' ? [] : [{ port, ok: true }];
  const names = { name: null, outlet: null };
  return {
    mac,
    port,
    ...names,
    on,
    results,
    response: { success: true },
    at: AT,
    ...more,
  };
}

export type Run = (command: Command, options?: RunOptions) => Promise<Outcome>;

export const STATUS: AccountStatus = {
  available: true,
  error: null,
  readable: true,
  listed: 'whole',
  lastAnswerAt: null,
  cooldownUntil: null,
  polling: false,
};

/** An account that does not log what is cancelled. */
export const lazyAccount = (create: () => SharedAccount) => new LazyAccount(create, () => undefined);

/** An account of which only what a test names works. */
export function accountWith(parts: Partial<SharedAccount> & { run?: Run }): SharedAccount {
  const absent = (): never => assert.fail('the test does not expect this');
  return {
    list: absent,
    get: absent,
    run: absent,
    subscribe: absent,
    cancel: () => [],
    status: () => STATUS,
    diagnostics: absent,
    store: EMPTY_STORE,
    close: () => Promise.resolve(0),
    ...parts,
  };
}
