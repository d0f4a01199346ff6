import assert from 'node:assert/strict';
import { History, matches, stateOf, useKey, useOf } from '../../../src/editor/sidebar';
import type { AccountOverview, Failure } from '../../../src/flow/admin-answers';
import { makeStrip } from '../../support/scripted-service';

const account: AccountOverview = {
  id: 'a',
  available: true,
  error: null,
  polling: true,
  answeredAgo: 0,
  pausedFor: null,
  strips: [],
};
const failing = (code: Failure['code']): AccountOverview => ({
  ...account,
  error: { code, key: 'x', params: {} },
});

describe('the state of an account', () => {
  it('is the one thing that matters most', () => {
    assert.equal(stateOf(undefined), 'notDeployed');
    assert.equal(stateOf({ ...account, available: null }), 'asking');
    assert.equal(stateOf(account), 'polling');
    assert.equal(stateOf({ ...account, polling: false }), 'working');
    assert.equal(stateOf(failing('AUTH')), 'auth');
    assert.equal(stateOf(failing('TIMEOUT')), 'unreachable');
    assert.equal(stateOf(failing('UNREACHABLE')), 'unreachable');
    assert.equal(stateOf(failing('SERVICE')), 'failing');
    assert.equal(stateOf({ ...failing('RATE_LIMITED'), pausedFor: 1000 }), 'paused');
  });
});

describe('the filter', () => {
  const strip = makeStrip('A1:B2:C3:D4:E5:F6', [], {
    name: 'Desk strip',
    outlets: [{ port: 2, on: null, name: 'Coffee maker' }],
  });

  it('finds a strip by parts of its name, its MAC in any spelling, and the names of its outlets', () => {
    for (const text of ['', ' ', 'desk', 'STRIP de', 'a1:b2', 'b2c3', 'coffee', 'desk coffee']) {
      assert.ok(matches(strip, text), text);
    }
    for (const text of ['garden', 'desk garden', 'ffff']) assert.ok(!matches(strip, text), text);
  });
});

describe('the history of a reading', () => {
  it('keeps its whole time with a bounded number of values', () => {
    const history = new History(0, 8);
    for (let i = 0; i < 1000; i++) history.add(i);
    assert.ok(history.values.length < 8);
    assert.equal(history.values[0], 0);
    assert.ok((history.values.at(-1) ?? 0) > 700);
    assert.deepEqual(
      [...history.values].sort((a, b) => a - b),
      history.values,
    );
  });

  it('becomes a line that fills its box', () => {
    const history = new History(0);
    for (const value of [10, 30, 20]) history.add(value);
    assert.equal(history.points(100, 20), '0.0,20.0 50.0,0.0 100.0,10.0');
  });

  it('is a line in the middle where nothing changes', () => {
    const history = new History(0);
    history.add(5);
    history.add(5);
    assert.equal(history.points(100, 20), '0.0,10.0 100.0,10.0');
  });
});

describe('what a node is fixed to', () => {
  const fixed = { account: 'a', mac: 'a1:b2', macType: 'str', port: '3', portType: 'port' };

  it('is one outlet, however its MAC is spelled', () => {
    const key = useKey('a', 'A1B2', 3);
    assert.equal(useOf({ ...fixed, type: 'strip switch' }), key);
    assert.equal(useOf({ ...fixed, type: 'strip status' }), key);
    assert.equal(useOf({ type: 'strip watch', account: 'a', mac: 'A1B2', port: '3' }), key);
  });

  it('is a whole strip where it is all of it', () => {
    const key = useKey('a', 'A1B2', null);
    assert.equal(useOf({ ...fixed, type: 'strip switch', port: 'all' }), key);
    assert.equal(useOf({ ...fixed, type: 'strip status', port: '' }), key);
    assert.equal(useOf({ ...fixed, type: 'strip watch', port: '' }), key);
  });

  it('is nothing where a message decides, or for another node', () => {
    assert.equal(useOf({ ...fixed, type: 'strip switch', macType: 'message' }), null);
    assert.equal(useOf({ ...fixed, type: 'strip switch', portType: 'msg' }), null);
    assert.equal(useOf({ ...fixed, type: 'strip switch', mac: '' }), null);
    assert.equal(useOf({ type: 'strip switch', account: 'a', mac: 'A1B2', port: '1' }), null);
    assert.equal(useOf({ type: 'strip watch', account: 'a', mac: '', port: '1' }), null);
    assert.equal(useOf({ ...fixed, type: 'function' }), null);
  });
});
