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
  /** Those that were started and not cleared. */
  const timers = new Set<number>();
  const { clearTimeout } = globalThis;
  /** Answers the latest request. */
  const answer = async (responseJSON: unknown, status = 200) => {
    requests.at(-1)?.complete({ status, responseJSON });
    await new Promise((resolve) => setImmediate(resolve));
  };
  const subject = () => {
    requests = [];
    timers.clear();
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
    let last = 0;
    const window = { setTimeout: () => (timers.add(++last), last) };
    Object.assign(globalThis, {
      RED,
      $: { ajax },
      window,
      clearTimeout: (timer: number) => timers.delete(timer),
    });
  });
  after(() => {
    for (const name of ['RED', '$', 'window']) Reflect.deleteProperty(globalThis, name);
    Object.assign(globalThis, { clearTimeout });
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
    void accounts.switchOutlet(COMMAND);
    assert.equal(accounts.failed.size, 0, 'it is tried again');
    await answer(FAILURE);
    assert.equal(accounts.failed.size, 1);
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

  it('show no old states where the runtime, which has begun to poll again, does not know the new ones', async () => {
    const accounts = subject();
    await answer([overview(true, makeStrip(MAC, [true]))]);
    accounts.askAgain();
    await answer([overview(null, makeStrip(MAC, [null]))]);
    assert.equal(accounts.strip('a', MAC)?.outlets[0]?.on, null);
  });

  it('show a confirmed state before the next answer about the accounts', async () => {
    const accounts = subject();
    const before = () => [overview(true, makeStrip(MAC, [false, false]), makeStrip('B1B2C3D4E5F6', [false]))];
    await answer(before());
    accounts.askAgain();
    const question = requests.at(-1);
    const switched = accounts.switchOutlet(COMMAND);
    await answer({ ok: true, on: true });
    assert.deepEqual(await switched, { ok: true, on: true });
    // An answer from before the switch changes nothing any more.
    question?.complete({ status: 200, responseJSON: before() });
    await new Promise((resolve) => setImmediate(resolve));
    const states = accounts.find('a')?.strips.map(({ outlets }) => outlets.map(({ on }) => on));
    assert.deepEqual(states, [[true, false], [false]]);
  });

  it('are asked for by one timer, however often they are asked for in between', async () => {
    const accounts = subject();
    for (let times = 0; times < 3; times++) {
      await answer([]);
      accounts.askAgain();
    }
    await answer([]);
    assert.equal(timers.size, 1);
    accounts.stop();
    assert.equal(timers.size, 0);
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
