import assert from 'node:assert/strict';
import { EMPTY_STORE } from '../../../src/flow/node-error';
import { LazyAccount, readAccountSettings } from '../../../src/flow/shared-account';
import { failure, yes } from '../../support/scripted-service';
import { startAccount } from '../account/support';
import { accountWith, failing, lazyAccount, MAC } from './support';

describe('the settings of an account', () => {
  it('have defaults for what an old flow does not know', () => {
    assert.deepEqual(readAccountSettings({}), {
      interval: 30_000,
      minInterval: 5000,
      retryFor: 30_000,
      timeout: 10_000,
      concurrency: 8,
      protectedOutlets: [],
      outletNames: [],
      units: { load: '', voltage: '', signal: '' },
    });
  });

  it('are read as the editor saves them, within their bounds', () => {
    const read = readAccountSettings({
      timeout: '500',
      interval: '1',
      retryFor: '0',
      concurrency: '7.9',
      protectedOutlets: [
        { mac: MAC, port: '4' },
        { mac: MAC, port: 1 },
      ],
      outletNames: [{ mac: MAC, port: '2', name: ' Lamp ' }, { mac: MAC, port: 3, name: '' }, null],
      units: { load: 'W', signal: {} },
    });
    assert.deepEqual(read, {
      interval: 5000,
      minInterval: 5000,
      retryFor: 0,
      timeout: 500,
      concurrency: 7,
      protectedOutlets: [
        { mac: MAC, port: 4 },
        { mac: MAC, port: 1 },
      ],
      outletNames: [{ mac: MAC, port: 2, name: 'Lamp' }],
      units: { load: 'W', voltage: '', signal: '' },
    });
    const settings = readAccountSettings({ timeout: -1, interval: ' ', retryFor: 1e9, concurrency: 0 });
    assert.deepEqual(
      [settings.timeout, settings.interval, settings.retryFor, settings.concurrency],
      [100, 30_000, 86_400_000, 1],
    );
  });

  it('protect nothing where nothing is chosen', () => {
    for (const protectedOutlets of [undefined, null, '', []]) {
      assert.deepEqual(readAccountSettings({ protectedOutlets }).protectedOutlets, []);
    }
  });

  it('leave out a name that belongs to no outlet, and one that is none', () => {
    const good = { mac: MAC, port: 1, name: 'Lamp' };
    for (const bad of [{ mac: '' }, { port: 5 }, { name: '  ' }, { name: {} }]) {
      const { outletNames } = readAccountSettings({ outletNames: [{ ...good, ...bad }, good] });
      assert.deepEqual(outletNames, [good]);
    }
  });

  it('take in a flow written by hand a number for a MAC or a name, "all" for each outlet, and one outlet for a list of it', () => {
    const outlet = { mac: 112233445566, port: 2, name: 5 };
    const settings = readAccountSettings({
      protectedOutlets: [outlet],
      outletNames: [outlet, { mac: MAC, port: 'all', name: 'Lamp' }],
    });
    assert.deepEqual(settings.protectedOutlets, [{ mac: '112233445566', port: 2 }]);
    const alone = readAccountSettings({ protectedOutlets: { mac: MAC, port: 1 } });
    assert.deepEqual(alone.protectedOutlets, [{ mac: MAC, port: 1 }]);
    assert.deepEqual(settings.outletNames, [
      { mac: '112233445566', port: 2, name: '5' },
      ...[1, 2, 3, 4].map((port) => ({ mac: MAC, port, name: 'Lamp' })),
    ]);
  });

  it('read a unit for each reading, without spaces around it', () => {
    const units = { load: ' W ', voltage: 'V', signal: 'dBm' };
    assert.deepEqual(readAccountSettings({ units }).units, { ...units, load: 'W' });
  });

  it('protect a whole strip where they say "all"', () => {
    const { protectedOutlets } = readAccountSettings({
      protectedOutlets: [{ mac: MAC, port: 'all' }],
    });
    assert.deepEqual(
      protectedOutlets.map(({ port }) => port),
      [1, 2, 3, 4],
    );
  });

  for (const entry of [
    null,
    'x',
    {},
    { mac: MAC },
    { port: 1 },
    { mac: '', port: 1 },
    { mac: MAC, port: 5 },
    { mac: 'a/b', port: 1 },
  ]) {
    it(`are refused rather than leave unprotected what ${JSON.stringify(entry)} may mean`, async () => {
      assert.equal(
        (await failing(() => readAccountSettings({ protectedOutlets: [entry] }))).sentenceKey,
        'NOT_CONFIGURED.protected',
      );
    });
  }

  it('are refused where protection is of another kind or depends on a variable that is not set', async () => {
    assert.equal(
      (await failing(() => readAccountSettings({ protectedOutlets: { mac: MAC } }))).sentenceKey,
      'NOT_CONFIGURED.protected',
    );
    assert.equal(
      (await failing(() => readAccountSettings({ protectedOutlets: [{ mac: '${STRIP}', port: 1 }] })))
        .sentenceKey,
      'NOT_CONFIGURED.variable',
    );
  });
});

describe('an account that is created when it is used', () => {
  it('is asked for again until it can be made, and then made once', async () => {
    let made = 0;
    let broken = true;
    const account = lazyAccount(() => {
      made++;
      if (broken) throw failure('NOT_CONFIGURED');
      return accountWith({ store: { ...EMPTY_STORE, lastState: () => true } });
    });
    assert.deepEqual([account.store.lastState(MAC, 1), account.store.all(), made], [null, [], 0]);
    assert.equal((await failing(() => account.get())).code, 'NOT_CONFIGURED');
    broken = false;
    assert.equal(account.get(), account.get());
    assert.deepEqual([made, account.store.lastState(MAC, 1)], [2, true]);
  });

  it('is not made any more once it is closed', async () => {
    const account = lazyAccount(() => assert.fail('made'));
    await account.close();
    assert.equal((await failing(() => account.get())).sentenceKey, 'CLOSED.account');
  });

  it('has no figures until it is used', () => {
    const figures = startAccount().account.diagnostics();
    const account = lazyAccount(() => accountWith({ diagnostics: () => figures }));
    assert.equal(account.diagnostics(), null);
    account.get();
    assert.equal(account.diagnostics(), figures);
  });

  describe('tells how many cancelled commands are not confirmed,', () => {
    const start = () => {
      const told: number[] = [];
      const confirmed = [Promise.resolve(false), Promise.resolve(false)];
      // A service may still be answering.
      const close = () => new Promise<number>((resolve) => setImmediate(resolve, 3));
      const account = new LazyAccount(
        () => accountWith({ cancel: () => confirmed, close }),
        (count) => told.push(count),
      );
      account.get();
      return { account, confirmed, told };
    };

    it('at the end of the turn in which its nodes were closed', async () => {
      const { account, told } = start();
      account.cancel({});
      account.cancel({});
      assert.deepEqual(told, []);
      await new Promise(setImmediate);
      assert.deepEqual(told, [4]);
      await account.close();
      assert.deepEqual(told, [4, 3]);
    });

    it('and waits for those that are under way, because they may still be confirmed', async () => {
      const { account, confirmed, told } = start();
      let confirm: (isConfirmed: boolean) => void = () => undefined;
      confirmed[0] = new Promise((resolve) => (confirm = resolve));
      account.cancel({});
      await new Promise(setImmediate);
      assert.deepEqual(told, []);
      confirm(true);
      await new Promise(setImmediate);
      assert.deepEqual(told, [1]);
    });

    it('or once it is closed, if that happens in the same turn, together with those of others', async () => {
      const { account, confirmed, told } = start();
      confirmed[0] = Promise.resolve(true);
      account.cancel({});
      await account.close();
      await new Promise(setImmediate);
      assert.deepEqual(told, [4]);
    });

    it('if there are any', async () => {
      const { account, confirmed, told } = start();
      confirmed[0] = confirmed[1] = Promise.resolve(true);
      account.cancel({});
      await new Promise(setImmediate);
      assert.deepEqual(told, []);
    });

    it('also an "all" of which only a part is confirmed', async () => {
      const told: number[] = [];
      const lab = startAccount({ retryFor: 0, protectedOutlets: [{ mac: MAC, port: 4 }] });
      const account = new LazyAccount(
        () => lab.account,
        (count) => told.push(count),
      );
      account.get();
      const owner = {};
      lab.run('all', false, { owner, mac: MAC });
      const [first, ...others] = lab.service.switches;
      await first?.answer(yes(1));
      account.cancel(owner);
      for (const request of others) await request.fail(failure('TIMEOUT'));
      await new Promise(setImmediate);
      assert.deepEqual(told, [1]);
    });
  });
});
