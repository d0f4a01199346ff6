import assert from 'node:assert/strict';
import { addLoad, targetKey } from '../../../src/editor/live-accounts';
import { stateOf, targetKeyOf } from '../../../src/editor/sidebar';
import type { AccountOverview, Failure } from '../../../src/flow/admin-answers';

const account: AccountOverview = {
  id: 'a',
  available: true,
  error: null,
  readable: true,
  listed: 'whole',
  polling: true,
  answeredAgo: 0,
  pausedFor: null,
  strips: [],
  protectedOutlets: [],
};
const failing = (code: Failure['code']): AccountOverview => ({
  ...account,
  error: { code, key: 'x', params: {} },
});

describe('the state of an account', () => {
  it('is the one thing that matters most', () => {
    assert.equal(stateOf(undefined), 'notRunning');
    assert.equal(stateOf({ ...account, available: null }), 'asking');
    assert.equal(stateOf(account), 'polling');
    assert.equal(stateOf({ ...account, polling: false }), 'working');
    assert.equal(stateOf({ ...account, readable: false }), 'unreadable');
    assert.equal(stateOf(failing('AUTH')), 'auth');
    assert.equal(stateOf(failing('TIMEOUT')), 'unreachable');
    assert.equal(stateOf(failing('UNREACHABLE')), 'unreachable');
    assert.equal(stateOf(failing('SERVICE')), 'failing');
    assert.equal(stateOf({ ...failing('RATE_LIMITED'), pausedFor: 1000 }), 'paused');
  });
});

describe('the line of the load', () => {
  const NOON = Date.parse('2027-01-15T12:00:00.000Z');
  const reading = (second: number, load: number | null = 1) => ({
    load,
    at: new Date(NOON + second * 1000).toISOString(),
  });
  /** What the sidebar learnt a second after the last. */
  const draw = (answers: ReturnType<typeof reading>[]) =>
    answers.reduce<ReturnType<typeof addLoad>>(
      (points, answer, second) => addLoad(points, answer, second * 1000),
      [],
    );

  it('keeps its whole time with a bounded number of points', () => {
    const points = draw(Array.from({ length: 1000 }, (_, second) => reading(second)));
    assert.ok(points.length > 60 && points.length <= 120);
    const times = points.map(({ at }) => at / 1000);
    assert.equal(times[0], 0);
    assert.ok((times.at(-1) ?? 0) > 900);
    assert.deepEqual(
      [...times].sort((a, b) => a - b),
      times,
    );
  });

  it('has one point for each time that the strip was read, however often the sidebar asks', () => {
    const answers = [reading(0, 10), reading(0, 10), reading(30, 20), reading(30, 20), reading(60, 20)];
    assert.deepEqual(
      draw(answers).map(({ load, at }) => ({ load, at })),
      [
        { load: 10, at: 0 },
        { load: 20, at: 2000 },
        { load: 20, at: 4000 },
      ],
    );
  });

  it('goes on when the clock of the runtime is set back', () => {
    assert.equal(draw([reading(0, 10), reading(-3600, 20)]).length, 2);
  });

  it('has no point for a load that is not known', () => {
    assert.deepEqual(draw([reading(0, null)]), []);
  });
});

describe('what a node is fixed to', () => {
  const fixed = { account: 'a', mac: 'a1:b2', macType: 'str', port: '3', portType: 'port' };

  it('is one outlet, however its MAC is spelled', () => {
    const key = targetKey('a', 'A1B2', 3);
    assert.equal(targetKeyOf({ ...fixed, type: 'strip switch' }), key);
    assert.equal(targetKeyOf({ ...fixed, type: 'strip status' }), key);
    assert.equal(targetKeyOf({ type: 'strip watch', account: 'a', mac: 'A1B2', port: '3' }), key);
  });

  it('is a whole strip where it is all of it', () => {
    const key = targetKey('a', 'A1B2', null);
    assert.equal(targetKeyOf({ ...fixed, type: 'strip switch', port: 'all' }), key);
    assert.equal(targetKeyOf({ ...fixed, type: 'strip status', port: '' }), key);
    assert.equal(targetKeyOf({ ...fixed, type: 'strip watch', port: '' }), key);
    assert.equal(targetKeyOf({ ...fixed, type: 'strip watch', outlets: false }), key);
  });

  it('is nothing where a message decides, or for another node', () => {
    assert.equal(targetKeyOf({ ...fixed, type: 'strip switch', macType: 'message' }), null);
    assert.equal(targetKeyOf({ ...fixed, type: 'strip switch', portType: 'msg' }), null);
    assert.equal(targetKeyOf({ ...fixed, type: 'strip switch', mac: '' }), null);
    assert.equal(targetKeyOf({ type: 'strip switch', account: 'a', mac: 'A1B2', port: '1' }), null);
    assert.equal(targetKeyOf({ type: 'strip watch', account: 'a', mac: '', port: '1' }), null);
    assert.equal(targetKeyOf({ ...fixed, type: 'strip list' }), null);
    assert.equal(targetKeyOf({ ...fixed, type: 'function' }), null);
  });
});
