import assert from 'node:assert/strict';
import { Badge } from '../../../src/flow/badge';
import { failureMark, outletMark, stripMark, UNKNOWN_ANSWER, type Mark } from '../../../src/flow/marks';
import catalogue from '../../../nodes/locales/en-US/strip-account.json';
import { CATALOGUE } from '../../../src/flow/catalogue';
import { makeStrip, TestClock } from '../account/support';
import type { Progress } from '../../../src/account/types';
import { error, MAC } from './support';

const name = (mark: Mark | null): string => mark?.text.replace(`${CATALOGUE}badge.`, '') ?? 'none';
const ON = outletMark(true);
const OFF = outletMark(false);
const RETRYING: Progress = { phase: 'retrying', error: error('TIMEOUT') };

describe('a badge', () => {
  let clock: TestClock;
  let shown: string[];
  let badge: Badge;
  beforeEach(() => {
    clock = new TestClock();
    shown = [];
    badge = new Badge((mark) => shown.push(name(mark)), clock);
  });

  it('shows the result alone of what ends within 100 ms', async () => {
    const flight = badge.begin();
    await clock.pass(99);
    badge.end(flight, ON);
    await clock.pass(1000);
    assert.deepEqual(shown, ['on']);
    assert.equal(clock.pending, 0);
  });

  it('says that it is asking while something takes longer, and never leaves it at that', async () => {
    const flight = badge.begin();
    await clock.pass(100);
    assert.deepEqual(shown, ['asking']);
    badge.end(flight, ON);
    assert.deepEqual(shown, ['asking', 'on']);
    badge.end(flight, OFF);
    const without = badge.begin();
    await clock.pass(100);
    badge.end(without, null);
    assert.deepEqual(shown, ['asking', 'on', 'asking', 'on']);
    assert.equal(clock.pending, 0);
  });

  it('shows nothing where asking led to nothing', async () => {
    const flight = badge.begin();
    await clock.pass(100);
    badge.end(flight, null);
    assert.deepEqual(shown, ['asking', 'none']);
  });

  it('is not set again when it does not change', () => {
    for (let i = 0; i < 3; i++) badge.end(badge.begin(), ON);
    badge.end(badge.begin(), OFF);
    badge.end(badge.begin(), ON);
    assert.deepEqual(shown, ['on', 'off', 'on']);
  });

  it('goes by the oldest of several that are under way, and ends with the latest result', async () => {
    const slow = badge.begin();
    await clock.pass(60);
    const quick = badge.begin();
    badge.end(quick, OFF);
    assert.deepEqual(shown, ['off']);
    const other = badge.begin();
    await clock.pass(40);
    assert.deepEqual(shown, ['off', 'asking']);
    badge.end(slow, ON);
    assert.deepEqual(shown, ['off', 'asking', 'on']);
    await clock.pass(60);
    assert.deepEqual(shown, ['off', 'asking', 'on', 'asking']);
    badge.end(other, OFF);
    assert.deepEqual(shown, ['off', 'asking', 'on', 'asking', 'off']);
    await clock.pass(1000);
    assert.equal(clock.pending, 0);
  });

  it('waits the full 100 ms for each of a row of quick ones', async () => {
    for (let i = 0; i < 20; i++) {
      const flight = badge.begin();
      await clock.pass(60);
      badge.end(flight, ON);
    }
    assert.deepEqual(shown, ['on']);
  });

  it('shows at once what keeps something from going on, the more telling of two', async () => {
    const one = badge.begin();
    const two = badge.begin();
    badge.progress(one, RETRYING);
    badge.progress(two, { phase: 'rate limited' });
    badge.progress(two, { phase: 'pausing' });
    badge.progress(one, { phase: 'pausing' });
    assert.deepEqual(shown, ['retrying', 'rateLimited', 'retrying', 'none']);
    await clock.pass(100);
    badge.progress(one, RETRYING);
    badge.end(one, failureMark('TIMEOUT'));
    badge.progress(one, RETRYING);
    badge.end(two, ON);
    assert.deepEqual(shown.slice(4), ['asking', 'retrying', 'asking', 'on']);
  });

  it('goes back to the latest result when it is closed, so that nothing seems to be under way for ever', async () => {
    badge.begin();
    await clock.pass(100);
    badge.close();
    badge.close();
    assert.deepEqual(shown, ['asking', 'none']);
    const other = new Badge((mark) => shown.push(name(mark)), clock);
    other.set(ON);
    other.progress(other.begin(), RETRYING);
    other.close();
    assert.deepEqual(shown.slice(2), ['on', 'retrying', 'on']);
  });

  it('shows nothing and leaves no timer once it is closed', async () => {
    const flight = badge.begin();
    badge.close();
    assert.equal(clock.pending, 0);
    badge.progress(flight, RETRYING);
    badge.end(flight, ON);
    badge.end(badge.begin(), OFF);
    badge.set(ON);
    await clock.pass(500);
    assert.deepEqual(shown, []);
    assert.equal(clock.pending, 0);
  });

  it('stays cheap with thousands under way', async () => {
    const flights = Array.from({ length: 10_000 }, () => badge.begin());
    assert.equal(clock.pending, 1);
    await clock.pass(100);
    for (const flight of flights) badge.end(flight, ON);
    assert.deepEqual(shown, ['asking', 'on']);
  });
});

describe('what a badge says', () => {
  it('counts the outlets that are on of those that are known', () => {
    const on = (...states: (boolean | null)[]) => {
      const mark = stripMark(makeStrip(MAC, states));
      return `${mark.fill} ${mark.shape} ${name(mark)}`;
    };
    assert.equal(on(true, false, true, false), 'green dot on2of4');
    assert.equal(on(false, false, false, false), 'grey ring on0of4');
    assert.equal(on(true, null, false), 'green dot on1of2');
    assert.equal(on(null, null), 'yellow ring unknownAnswer');
    assert.equal(on(), 'yellow ring unknownAnswer');
    assert.equal(name(stripMark(makeStrip(MAC, [true], { available: false }))), 'unavailable');
    assert.equal(outletMark(null), UNKNOWN_ANSWER);
  });

  it('is short, in the catalogue, and takes no values', () => {
    const texts = Object.entries(catalogue.badge);
    for (const [, text] of texts) assert(text.length < 20 && !text.includes('__'), text);
    const keys = new Set(texts.map(([key]) => key));
    for (let known = 1; known <= 4; known++) {
      for (let count = 0; count <= known; count++) {
        const states = Array.from({ length: known }, (_, index) => index < count);
        const key = name(stripMark(makeStrip(MAC, states)));
        assert(keys.has(key), key);
        assert.equal(Reflect.get(catalogue.badge, key), `${count} of ${known} on`);
      }
    }
    const codes = ['INVALID_INPUT', 'NOT_CONFIGURED', 'AUTH', 'NOT_FOUND', 'RATE_LIMITED', 'TIMEOUT', 'UNREACHABLE', 'SERVICE', 'BAD_RESPONSE', 'SWITCH_FAILED', 'SUPERSEDED', 'PROTECTED', 'BUSY', 'CLOSED'] as const; // prettier-ignore
    for (const code of codes) assert(keys.has(name(failureMark(code))), code);
  });
});
