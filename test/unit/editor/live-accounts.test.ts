import assert from 'node:assert/strict';
import { LiveAccounts, targetKey } from '../../../src/editor/live-accounts';
import type { AccountOverview } from '../../../src/flow/admin-answers';
import type { Strip } from '../../../src/api/types';
import { makeStrip } from '../../support/scripted-service';

const MAC = 'A1B2C3D4E5F6';
const COMMAND = { account: 'a', mac: MAC, port: 1, on: true } as const;
const KEY = targetKey('a', MAC, 1);
const FAILURE = { ok: false, code: 'SERVICE', key: 'errors.SERVICE', params: {} };

const overview = (available: boolean | null, ...strips: Strip[]): AccountOverview => ({
  id: 'a',
  available,
  error: null,
  readable: true,
  listed: 'whole',
  polling: true,
  answeredAgo: null,
  pausedFor: null,
  strips,
  protectedOutlets: [],
});

interface AjaxOptions {
  url: string;
  complete(response: { status: number; responseJSON: unknown }): void;
}

describe('the accounts in the sidebar', () => {
  let requests: AjaxOptions[];
  /** Answers the latest request. */
  const answer = async (responseJSON: unknown, status = 200) => {
    requests.at(-1)?.complete({ status, responseJSON });
    await new Promise((resolve) => setImmediate(resolve));
  };
  const subject = () => {
    requests = [];
    const accounts = new LiveAccounts(() => undefined);
    accounts.start();
    return accounts;
  };

  before(() => {
    const ajax = (options: AjaxOptions) => {
      requests.push(options);
      return { abort: () => undefined };
    };
    const nodes = { id: () => 'lease', filterNodes: () => [], node: () => null };
    const user = { hasPermission: () => true };
    const RED = { nodes, user, view: { redraw: () => undefined } };
    Object.assign(globalThis, { RED, $: { ajax }, window: { setTimeout: () => 1 } });
  });
  after(() => {
    for (const name of ['RED', '$', 'window']) Reflect.deleteProperty(globalThis, name);
  });

  it('keep a failure until the outlet changes', async () => {
    const accounts = subject();
    await answer([overview(true, makeStrip(MAC, [false]))]);
    const switched = accounts.switchOutlet(COMMAND);
    assert.equal(accounts.pending.get(KEY), true);
    await answer(FAILURE);
    await switched;
    assert.equal(accounts.pending.size, 0);
    await answer([overview(true, makeStrip(MAC, [false]))]);
    assert.deepEqual(accounts.failed.get(KEY)?.failure, FAILURE);
    accounts.askAgain();
    await answer([overview(true, makeStrip(MAC, [true]))]);
    assert.equal(accounts.failed.size, 0);
  });

  it('forget that the service could not be reached when it has answered since', async () => {
    const accounts = subject();
    await answer([overview(true, makeStrip(MAC, [false]))]);
    const switched = accounts.switchOutlet(COMMAND);
    await answer({ ...FAILURE, code: 'UNREACHABLE' });
    await switched;
    await answer([{ ...overview(true, makeStrip(MAC, [false])), answeredAgo: 60_000 }]);
    assert.equal(accounts.failed.size, 1, 'it answered before');
    accounts.askAgain();
    await answer([{ ...overview(true, makeStrip(MAC, [false])), answeredAgo: -1 }]);
    assert.equal(accounts.failed.size, 0);
  });

  // 0: no answer at all; the others come from a reverse proxy.
  for (const status of [0, 502, 503, 504]) {
    it(`forget that Node-RED did not answer (status ${status}) when it answers again`, async () => {
      const accounts = subject();
      await answer([overview(true, makeStrip(MAC, [false]))]);
      const switched = accounts.switchOutlet(COMMAND);
      await answer(undefined, status);
      assert.equal((await switched).ok, false);
      await answer(undefined, status);
      assert.equal(accounts.failure?.key, 'strip-account.trouble.silent');
      assert.equal(accounts.failed.get(KEY)?.failure.key, 'strip-account.trouble.silent');
      accounts.askAgain();
      await answer([overview(true, makeStrip(MAC, [false]))]);
      assert.equal(accounts.failed.size, 0);
    });
  }

  it('forget a failure of an account that was deployed again since', async () => {
    const accounts = subject();
    await answer([overview(true, makeStrip(MAC, [false]))]);
    const switched = accounts.switchOutlet(COMMAND);
    await answer({ ...FAILURE, code: 'AUTH' });
    await switched;
    await answer([overview(false, makeStrip(MAC, [false]))]);
    assert.equal(accounts.failed.size, 1);
    accounts.deployed();
    assert.equal(accounts.failed.size, 0);
  });

  it('keep the strips of an account that is deployed again until it has asked for them', async () => {
    const accounts = subject();
    await answer([overview(true, makeStrip(MAC, [true]))]);
    for (const next of [[], [overview(null)]]) {
      accounts.askAgain();
      await answer(next);
    }
    assert.equal(accounts.strip('a', MAC)?.outlets[0]?.on, true);
    accounts.askAgain();
    await answer([overview(true)]);
    assert.equal(accounts.find('a')?.strips.length, 0);
  });

  it('show a confirmed state before the next answer about the accounts', async () => {
    const accounts = subject();
    await answer([overview(true, makeStrip(MAC, [false]))]);
    const switched = accounts.switchOutlet(COMMAND);
    await answer({ ok: true, on: true });
    assert.deepEqual(await switched, { ok: true, on: true });
    assert.equal(accounts.strip('a', MAC)?.outlets[0]?.on, true);
  });

  it('say that Node-RED does not answer until it answers again, also if the tab was hidden meanwhile', async () => {
    const accounts = subject();
    await answer(undefined, 0);
    accounts.stop();
    accounts.start();
    assert.equal(accounts.failure?.key, 'strip-account.trouble.silent');
    await answer([overview(true)]);
    assert.equal(accounts.failure, null);
  });

  it('are not asked for after the end, and a late answer changes nothing', async () => {
    const accounts = subject();
    const [question] = requests;
    accounts.stop();
    accounts.askAgain();
    assert.deepEqual(
      requests.map(({ url }) => url),
      ['strip-sidebar/accounts?lease=lease', 'strip-sidebar/release'],
    );
    question?.complete({ status: 200, responseJSON: [overview(true)] });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(accounts.all, null);
  });
});
