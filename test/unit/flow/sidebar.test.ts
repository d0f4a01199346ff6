import assert from 'node:assert/strict';
import { StripError } from '../../../src/api/errors';
import { EMPTY_STORE } from '../../../src/flow/node-error';
import { isLease, LEASE_MS, Leases, overviewOf, readOutletRequest } from '../../../src/flow/sidebar';
import { FakeClock } from '../../support/fake-clock';
import { makeStrip } from '../../support/scripted-service';
import { accountWith, lazyAccount, MAC, STATUS } from './support';

const NOW = Date.parse('2027-01-15T08:00:10.000Z');

describe('the overview of an account', () => {
  it('tells its state, its strips, and how long ago it was answered', () => {
    const strip = makeStrip(MAC, [true, null]);
    const lastAnswerAt = Date.parse('2027-01-15T08:00:00.000Z');
    const status = { ...STATUS, listed: 'part' as const, polling: true, lastAnswerAt };
    const account = lazyAccount(() =>
      accountWith({ status: () => status, store: { ...EMPTY_STORE, all: () => [strip] } }),
    );
    const config = { protectedOutlets: [{ mac: MAC, port: '2' }] };
    assert.deepEqual(overviewOf('a', config, account, NOW), {
      id: 'a',
      available: true,
      error: null,
      readable: true,
      listed: 'part',
      polling: true,
      answeredAgo: 10_000,
      pausedFor: null,
      strips: [strip],
      protectedOutlets: [{ mac: MAC, port: 2 }],
    });
  });

  it('tells no state or reading of the strips as long as these are old', () => {
    const strip = makeStrip(MAC, [true], { load: 5, voltage: 230, signal: -60 });
    const store = { ...EMPTY_STORE, all: () => [strip] };
    const account = lazyAccount(() => accountWith({ status: () => ({ ...STATUS, available: null }), store }));
    assert.deepEqual(overviewOf('a', {}, account, NOW).strips, [makeStrip(MAC, [null])]);
    assert.equal(strip.outlets[0]?.on, true);
  });

  it('tells how long a pause lasts', () => {
    const status = { ...STATUS, cooldownUntil: NOW + 5000 };
    const account = lazyAccount(() => accountWith({ status: () => status }));
    assert.equal(overviewOf('a', {}, account, NOW).pausedFor, 5000);
  });

  it('tells of an error its code, its sentence and what the sentence names, and nothing of its cause', () => {
    const details = { cause: new Error('a secret'), response: 'a secret' };
    const error = new StripError('UNREACHABLE.refused', { host: 'example.com' }, details);
    const account = lazyAccount(() =>
      accountWith({ status: () => ({ ...STATUS, available: false, error }) }),
    );
    const overview = overviewOf('a', {}, account, NOW);
    assert.deepEqual(overview.error, {
      code: 'UNREACHABLE',
      key: 'errors.UNREACHABLE.refused',
      params: { host: 'example.com' },
    });
    assert.ok(!JSON.stringify(overview).includes('secret'));
  });

  it('says why an account cannot work at all', () => {
    const account = lazyAccount(() => {
      throw new StripError('NOT_CONFIGURED.keyMissing');
    });
    const overview = overviewOf('a', {}, account, NOW);
    assert.deepEqual(overview, {
      id: 'a',
      available: false,
      error: { code: 'NOT_CONFIGURED', key: 'errors.NOT_CONFIGURED.keyMissing', params: {} },
      readable: true,
      listed: null,
      polling: false,
      answeredAgo: null,
      pausedFor: null,
      strips: [],
      protectedOutlets: [],
    });
  });

  it('knows of no answer before there was one', () => {
    assert.equal(
      overviewOf(
        'a',
        {},
        lazyAccount(() => accountWith({})),
        NOW,
      ).answeredAgo,
      null,
    );
  });

  it('hides no defect', () => {
    const broken = lazyAccount(() => {
      throw new TypeError('a defect');
    });
    assert.throws(() => overviewOf('a', {}, broken, NOW), /a defect/);
    assert.throws(() => new Leases(new FakeClock()).renew('one', [broken]), /a defect/);
  });
});

describe('a request to switch an outlet', () => {
  const good = { account: 'a', mac: MAC, port: 2, on: false };

  it('is read field by field', () => {
    assert.deepEqual(readOutletRequest({ ...good, more: 1 }), good);
  });

  it('is refused where a field is missing or of another kind', () => {
    const bad = [
      null,
      'text',
      [],
      { ...good, account: 1 },
      { ...good, mac: undefined },
      { ...good, port: '2' },
      { ...good, port: 5 },
      { ...good, port: 'all' },
      { ...good, on: 'on' },
      Object.create(good),
    ];
    for (const body of bad) assert.equal(readOutletRequest(body), null, JSON.stringify(body));
  });
});

describe('leases of sidebars', () => {
  /** An account that counts its subscriptions. */
  function subject() {
    const clock = new FakeClock();
    const open = new Set<object>();
    let subscribed = 0;
    const account = lazyAccount(() =>
      accountWith({
        subscribe: (_listener, options) => {
          assert.deepEqual(options, 'all');
          const subscription = {};
          open.add(subscription);
          subscribed++;
          return () => open.delete(subscription);
        },
      }),
    );
    return { clock, account, leases: new Leases(clock), open, subscribed: () => subscribed };
  }

  it('keep one subscription for an account, however many sidebars ask however often', () => {
    const { account, leases, open, subscribed } = subject();
    for (const lease of ['one', 'two', 'one', 'two']) leases.renew(lease, [account]);
    assert.equal(open.size, 1);
    assert.equal(subscribed(), 1);
  });

  it('run out when no sidebar asks any more, and leave no timer', async () => {
    const { clock, account, leases, open } = subject();
    leases.renew('one', [account]);
    await clock.pass(9_999);
    assert.equal(open.size, 1);
    await clock.pass(1);
    assert.equal(open.size, 0);
    assert.equal(clock.pending, 0);
  });

  it('last while one of two sidebars goes on asking', async () => {
    const { clock, account, leases, open, subscribed } = subject();
    leases.renew('gone', [account]);
    for (let i = 0; i < 10; i++) {
      await clock.pass(2000);
      leases.renew('stays', [account]);
    }
    assert.equal(open.size, 1);
    assert.equal(subscribed(), 1);
  });

  it('end at once when the last sidebar gives its own up, not before', () => {
    const { clock, account, leases, open } = subject();
    leases.renew('one', [account]);
    leases.renew('two', [account]);
    leases.release('one');
    assert.equal(open.size, 1);
    leases.release('unknown');
    assert.equal(open.size, 1);
    leases.release('two');
    assert.equal(open.size, 0);
    assert.equal(clock.pending, 0);
  });

  it('last while the older of two sidebars keeps its own, also after a long time', async () => {
    const { clock, account, leases, open } = subject();
    await clock.pass(10 * LEASE_MS);
    leases.renew('one', [account]);
    leases.renew('two', [account]);
    leases.release('two');
    assert.equal(open.size, 1);
    leases.release('one');
    assert.equal(open.size, 0);
  });

  it('do not count a sidebar that is gone without notice', async () => {
    const { clock, account, leases, open } = subject();
    leases.renew('gone', [account]);
    await clock.pass(LEASE_MS - 1000);
    leases.renew('stays', [account]);
    await clock.pass(1000);
    leases.release('stays');
    assert.equal(open.size, 0);
  });

  it('leave an account that a deploy replaced, and subscribe to the new one', () => {
    const before = subject();
    const after = subject();
    before.leases.renew('one', [before.account]);
    before.leases.renew('one', [after.account]);
    assert.equal(before.open.size, 0);
    assert.equal(after.open.size, 1);
  });

  it('ask nothing of an account that is not configured', () => {
    const { clock, leases } = subject();
    const broken = lazyAccount(() => {
      throw new StripError('NOT_CONFIGURED.urlMissing');
    });
    leases.renew('one', [broken]);
    leases.release('one');
    assert.equal(clock.pending, 0);
  });

  it('have short plain names', () => {
    assert.ok(isLease('a1-b2_c3'));
    for (const value of ['', 'a b', 'a'.repeat(41), ['a'], undefined]) assert.ok(!isLease(value));
  });
});
