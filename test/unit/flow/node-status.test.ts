import assert from 'node:assert/strict';
import { ERROR_CODES } from '../../../src/api/errors';
import {
  ASKING,
  CATALOGUE,
  errorStatus,
  listStatus,
  outletStatus,
  PAUSING,
  retryStatus,
  StatusDisplay,
  stripStatus,
  SWITCHED,
  UNAVAILABLE,
  UNKNOWN_ANSWER,
  WATCHING,
  type NodeStatus,
} from '../../../src/flow/node-status';
import catalogue from '../../../nodes/locales/en-US/strip-account.json';
import { FakeClock } from '../../support/fake-clock';
import { failure, makeStrip } from '../../support/scripted-service';
import type { Progress } from '../../../src/account/types';
import { MAC } from './support';

const name = (status: NodeStatus | null): string => status?.text.replace(`${CATALOGUE}status.`, '') ?? 'none';
const ON = outletStatus(true);
const OFF = outletStatus(false);
const RETRYING: Progress = { phase: 'retrying', error: failure('TIMEOUT') };

describe('the status of a node', () => {
  let clock: FakeClock;
  let shown: string[];
  let display: StatusDisplay;
  beforeEach(() => {
    clock = new FakeClock();
    shown = [];
    display = new StatusDisplay((status) => shown.push(name(status)), clock);
  });

  it('shows the result alone of what ends within 100 ms', async () => {
    const activity = display.begin();
    await clock.pass(99);
    display.end(activity, ON);
    await clock.pass(1000);
    assert.deepEqual(shown, ['on']);
    assert.equal(clock.pending, 0);
  });

  it('says that it is asking while something takes longer, and never leaves it at that', async () => {
    const activity = display.begin();
    await clock.pass(100);
    assert.deepEqual(shown, ['asking']);
    display.end(activity, ON);
    assert.deepEqual(shown, ['asking', 'on']);
    display.end(activity, OFF);
    assert.deepEqual(shown, ['asking', 'on']);
    assert.equal(clock.pending, 0);
  });

  it('is not set again when it does not change', () => {
    for (let i = 0; i < 3; i++) display.end(display.begin(), ON);
    display.end(display.begin(), OFF);
    display.end(display.begin(), ON);
    assert.deepEqual(shown, ['on', 'off', 'on']);
  });

  it('goes by the oldest of several that are under way, and ends with the latest result', async () => {
    const slow = display.begin();
    await clock.pass(60);
    const quick = display.begin();
    display.end(quick, OFF);
    assert.deepEqual(shown, ['off']);
    const other = display.begin();
    await clock.pass(40);
    assert.deepEqual(shown, ['off', 'asking']);
    display.end(slow, ON);
    assert.deepEqual(shown, ['off', 'asking', 'on']);
    await clock.pass(60);
    assert.deepEqual(shown, ['off', 'asking', 'on', 'asking']);
    display.end(other, OFF);
    assert.deepEqual(shown, ['off', 'asking', 'on', 'asking', 'off']);
    await clock.pass(1000);
    assert.equal(clock.pending, 0);
  });

  it('waits the full 100 ms for each of a row of quick ones', async () => {
    for (let i = 0; i < 20; i++) {
      const activity = display.begin();
      await clock.pass(60);
      display.end(activity, ON);
    }
    assert.deepEqual(shown, ['on']);
  });

  it('shows at once what holds a message up, and of several the oldest', async () => {
    const one = display.begin();
    const two = display.begin();
    display.progress(one, RETRYING);
    display.progress(two, { phase: 'retrying', error: failure('RATE_LIMITED', {}, 'later') });
    display.progress(two, { phase: 'pausing' });
    display.progress(one, { phase: 'pausing' });
    assert.deepEqual(shown, ['retryingTimeout', 'pausing']);
    await clock.pass(100);
    display.progress(one, RETRYING);
    display.progress(one, { phase: 'retrying', error: failure('UNREACHABLE', {}, 'refused') });
    display.end(one, errorStatus('TIMEOUT'));
    display.progress(one, RETRYING);
    display.end(two, ON);
    assert.deepEqual(shown.slice(2), ['retryingTimeout', 'retryingRefused', 'pausing', 'on']);
  });

  it('shows what holds a message up rather than an older one that just takes its time', async () => {
    display.begin();
    await clock.pass(100);
    display.progress(display.begin(), RETRYING);
    assert.deepEqual(shown, ['asking', 'retryingTimeout']);
  });

  it('shows nothing of a message that has ended', () => {
    const ended = display.begin();
    display.end(ended, ON);
    display.progress(ended, RETRYING);
    display.end(display.begin(), OFF);
    assert.deepEqual(shown, ['on', 'off']);
  });

  it('shows nothing when it is closed, so that nothing seems to be under way forever', async () => {
    display.begin();
    await clock.pass(100);
    display.close();
    display.close();
    assert.deepEqual(shown, ['asking', 'none']);
    const other = new StatusDisplay((status) => shown.push(name(status)), clock);
    other.set(ON);
    other.progress(other.begin(), RETRYING);
    other.close();
    assert.deepEqual(shown.slice(2), ['on', 'retryingTimeout', 'none']);
  });

  it('keeps the latest result when what goes on ends without one', async () => {
    display.set(ON);
    const activity = display.begin();
    await clock.pass(100);
    display.end(activity);
    assert.deepEqual(shown, ['on', 'asking', 'on']);
  });

  it('shows nothing once it is closed', async () => {
    const activity = display.begin();
    display.begin();
    display.close();
    display.progress(activity, RETRYING);
    display.end(activity, ON);
    display.end(display.begin(), OFF);
    display.set(ON);
    await clock.pass(500);
    assert.deepEqual(shown, []);
    assert.equal(clock.pending, 0);
  });

  it('shows each change once with thousands under way', async () => {
    const activities = Array.from({ length: 10_000 }, () => display.begin());
    await clock.pass(100);
    for (const activity of activities) display.progress(activity, RETRYING);
    for (const activity of activities) display.end(activity, ON);
    assert.deepEqual(shown, ['asking', 'retryingTimeout', 'on']);
    assert.equal(clock.pending, 0);
  });
});

describe('the colours of a status', () => {
  it('are green for what works, blue for what goes on, yellow for what is held up, red for what is wrong', () => {
    const colours = [
      ASKING,
      PAUSING,
      retryStatus(failure('RATE_LIMITED', {}, 'later')),
      SWITCHED,
      WATCHING,
      UNAVAILABLE,
    ].map(({ fill, shape, text }) => `${fill} ${shape} ${text.replace(`${CATALOGUE}status.`, '')}`);
    assert.deepEqual(colours, [
      'blue ring asking',
      'blue ring pausing',
      'yellow ring rateLimited',
      'green dot switched',
      'green dot watching',
      'red ring unavailable',
    ]);
  });

  it('are set again when only the colour or the shape changes', () => {
    const fills: unknown[] = [];
    const display = new StatusDisplay((status) => fills.push(status?.fill, status?.shape), new FakeClock());
    display.set({ fill: 'green', shape: 'dot', text: '1/2' });
    display.set({ fill: 'yellow', shape: 'dot', text: '1/2' });
    display.set({ fill: 'yellow', shape: 'ring', text: '1/2' });
    assert.deepEqual(fills, ['green', 'dot', 'yellow', 'dot', 'yellow', 'ring']);
  });
});

describe('what the status says', () => {
  it('counts the outlets that are on, and says where some are not known', () => {
    const on = (...states: (boolean | null)[]) => {
      const status = stripStatus(makeStrip(MAC, states));
      return `${status.fill} ${status.shape} ${name(status)}`;
    };
    assert.equal(on(true, false, true, false), 'green dot on2of4');
    assert.equal(on(false, false, false, false), 'grey ring on0of4');
    assert.equal(on(true, null, false), 'yellow ring on1unknown');
    assert.equal(on(null, false, false, false), 'yellow ring on0unknown');
    assert.equal(on(null, null), 'yellow ring unknownAnswer');
    assert.equal(on(), 'yellow ring unknownAnswer');
    assert.equal(name(stripStatus(makeStrip(MAC, [true], { available: false }))), 'unavailable');
    assert.equal(outletStatus(null), UNKNOWN_ANSWER);
    assert.equal(outletStatus(undefined), UNKNOWN_ANSWER);
  });

  it('counts the outlets of all strips as numbers, which need no translation', () => {
    const of = (...strips: Parameters<typeof listStatus>[0]) => {
      const { fill, shape, text } = listStatus(strips);
      return `${fill} ${shape} ${text}`;
    };
    const off = makeStrip(MAC, [false, false]);
    assert.equal(of(makeStrip(MAC, [true, true, false, true]), off), 'green dot 3/6');
    assert.equal(of(off, off), 'grey ring 0/4');
    assert.equal(of(makeStrip(MAC, [true, null]), off), 'yellow ring 1/4');
    assert.equal(
      of(makeStrip(MAC, [true, true], { available: false }), makeStrip(MAC, [true])),
      'yellow ring 1/3',
    );
    const offline = makeStrip(MAC, [], { available: false });
    assert.equal(of(makeStrip(MAC, [true, true]), offline), 'yellow ring 2/2');
    assert.equal(of(off, makeStrip(MAC, [])), 'yellow ring 0/2');
    assert.equal(of(offline), 'yellow ring 0/0');
    assert.equal(name(listStatus([])), 'noStrips');
    assert.equal(listStatus([]).fill, 'grey');
  });

  it('names the reason for a retry', () => {
    const reasons: [Parameters<typeof failure>, string][] = [
      [['TIMEOUT', {}, 'deadline'], 'retryingTimeout'],
      [['SERVICE', { retryable: true, params: { status: 503 } }, 'failed'], 'retrying5xx'],
      [['SERVICE', { retryable: true, params: { status: 408 } }, 'failed'], 'retryingService'],
      [['RATE_LIMITED', {}, 'seconds'], 'rateLimited'],
      [['UNREACHABLE', {}, 'refused'], 'retryingRefused'],
      [['UNREACHABLE', {}, 'dns'], 'retryingDns'],
      [['UNREACHABLE', {}, 'reset'], 'retryingReset'],
      [['UNREACHABLE', {}, 'resetPlain'], 'retryingReset'],
      [['UNREACHABLE', {}, 'proxy'], 'retryingProxy'],
      [['UNREACHABLE', {}, 'tls'], 'retryingTls'],
      [['UNREACHABLE', {}, 'certificateExpired'], 'retryingTls'],
      [['UNREACHABLE', {}, 'failed'], 'retryingNetwork'],
      [['BAD_RESPONSE', { retryable: true }, 'truncated'], 'retryingNetwork'],
    ];
    for (const [reason, key] of reasons) {
      const status = retryStatus(failure(...reason));
      assert.deepEqual([name(status), status.fill, status.shape], [key, 'yellow', 'ring']);
      assert(Object.hasOwn(catalogue.status, key), key);
    }
  });

  it('names what the service answers where the on of a cycle is retried although it is refused', () => {
    for (const [reason, key] of [
      [['AUTH'], 'auth'],
      [['NOT_FOUND'], 'notFound'],
      [['SWITCH_FAILED'], 'switchFailed'],
      [['SERVICE', { retryable: false }, 'refused'], 'service'],
    ] as [Parameters<typeof failure>, string][]) {
      const status = retryStatus(failure(...reason));
      assert.deepEqual([name(status), status.fill], [key, 'red']);
    }
  });

  it('is yellow for what is no fault of the outlet', () => {
    const fills = (['SUPERSEDED', 'RATE_LIMITED', 'TIMEOUT'] as const).map((code) => errorStatus(code).fill);
    assert.deepEqual(fills, ['yellow', 'yellow', 'red']);
  });

  it('is short, in the catalogue, and takes no values', () => {
    const texts = Object.entries(catalogue.status);
    for (const [, text] of texts) assert(text.length < 20 && !text.includes('__'), text);
    const keys = new Set(texts.map(([key]) => key));
    for (let known = 1; known <= 4; known++) {
      for (let count = 0; count <= known; count++) {
        const states = Array.from({ length: known }, (_, index) => index < count);
        const key = name(stripStatus(makeStrip(MAC, states)));
        assert(keys.has(key), key);
        assert.equal(Reflect.get(catalogue.status, key), `${count} of ${known} on`);
      }
      const unknown = name(
        stripStatus(makeStrip(MAC, [null, ...Array.from({ length: known - 1 }, () => true)])),
      );
      if (known > 1) assert.equal(Reflect.get(catalogue.status, unknown), `${known - 1} on, rest unknown`);
    }
    for (const code of ERROR_CODES) {
      const key = name(errorStatus(code));
      assert(keys.has(key), `add status.${key} to strip-account.json, for ${code}`);
    }
  });
});
