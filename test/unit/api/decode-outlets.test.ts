import assert from 'node:assert/strict';
import { decodeStrip } from '../../../src/api/decode';
import type { Strip } from '../../../src/api/types';

const AT = '2026-05-04T03:02:01.000Z';
const MAC = 'A0B1C2D3E4F5';

const read = (body: unknown): Strip => decodeStrip(body, MAC, AT).strip;
/** `1:on 2:off 3:?`, for outlets to be compared at a glance. */
const states = (body: unknown): string =>
  read(body)
    .outlets.map(({ port, on }) => `${port}:${on === null ? '?' : on ? 'on' : 'off'}`)
    .join(' ');
const outlets = (value: unknown): string => states({ mac: MAC, outlets: value });

const ALL = '1:on 2:off 3:on 4:off';
const STATES = [true, false, true, false];

describe('decodeStrip: outlets', () => {
  for (const name of [
    'outlets',
    'ports',
    'sockets',
    'switches',
    'channels',
    'relays',
    'Outlets',
    'outlet_states',
  ]) {
    it(`stand under ${name}`, () => assert.equal(states({ mac: MAC, [name]: STATES }), ALL));
  }
  for (const name of ['port', 'number', 'outlet', 'Port', 'port_number']) {
    it(`bear their number as ${name}`, () => {
      assert.equal(outlets([4, 2, 3, 1].map((n) => ({ [name]: n, on: n % 2 === 1 }))), ALL);
      assert.equal(outlets([4, 2].map((n) => ({ [name]: String(n), on: n === 2 }))), '2:on 4:off');
    });
  }
  for (const name of ['on', 'is_on', 'isOn', 'ON', 'state', 'status', 'switch', 'relay', 'power', 'value']) {
    it(`say on or off as ${name}`, () => {
      assert.equal(outlets([1, 2, 3, 4].map((port) => ({ port, [name]: port % 2 === 1 }))), ALL);
      assert.equal(
        outlets([1, 2, 3, 4].map((port) => ({ port, [name]: port % 2 === 1 ? 'On' : 'OFF' }))),
        ALL,
      );
    });
  }
  for (const [on, off] of [
    [true, false],
    [1, 0],
    ['on', 'off'],
    ['ON', 'Off'],
    ['true', 'FALSE'],
    ['1', '0'],
    [' on ', 'off '],
  ]) {
    it(`are ${JSON.stringify(on)} and ${JSON.stringify(off)}`, () => {
      assert.equal(outlets([on, off, on, off].map((state, i) => ({ port: i + 1, state }))), ALL);
      assert.equal(outlets([on, off, on, off]), ALL);
      assert.equal(outlets({ 1: on, 2: off, 3: on, 4: off }), ALL);
      assert.equal(states({ port1: on, port2: off, port3: on, port4: off }), ALL);
    });
  }
  it('come as an object keyed by port', () => {
    for (const key of [
      (n: number) => String(n),
      (n: number) => `port${n}`,
      (n: number) => `outlet_${n}`,
      (n: number) => `Relay-${n}`,
    ]) {
      assert.equal(outlets(Object.fromEntries(STATES.map((on, i) => [key(i + 1), on]))), ALL);
      assert.equal(outlets(Object.fromEntries(STATES.map((on, i) => [key(i + 1), { on }]))), ALL);
      assert.equal(outlets(Object.fromEntries(STATES.map((on, i) => [key(i), { state: on }]))), ALL);
    }
  });
  it('come as an object of records that bear their own port', () => {
    assert.equal(outlets({ fan: { port: 3, on: true }, lamp: { port: 1, on: false } }), '1:off 3:on');
    assert.equal(outlets({ 0: { port: 1, on: true }, 1: { port: 2, on: false } }), '1:on 2:off');
  });
  it('come as flat fields', () => {
    assert.equal(states({ port1: true, outlet_2: 'off', Socket3: 1, relay_4_state: 'OFF' }), ALL);
    assert.equal(states({ port1: { on: true }, port2: { state: 'off' } }), '1:on 2:off');
    assert.equal(states({ port0: true, port1: false, port2: true, port3: false }), ALL);
  });
  it('may say their state one record deeper', () => {
    assert.equal(
      outlets([
        { port: 1, state: { on: true } },
        { port: 2, relay: { state: 'off' } },
        { port: 3, status: { power: 0 } },
      ]),
      '1:on 2:off 3:?',
    );
  });
  it('are numbered by id or index only where these are exactly 1-4 or 0-3', () => {
    for (const name of ['id', 'index']) {
      const of = (...numbers: unknown[]): string =>
        outlets(numbers.map((n, i) => ({ [name]: n, on: i % 2 === 0 })));
      assert.equal(of(1, 2, 3, 4), ALL);
      assert.equal(of(0, 1, 2, 3), ALL);
      assert.equal(of('1', '2', '3', '4'), ALL);
      assert.equal(of(2, 1, 4, 3), '1:off 2:on 3:off 4:on');
      for (const set of [
        [1, 2, 3],
        [0, 1],
        [11, 12, 13, 14],
        [1, 2, 3, 5],
        [1, 1, 2, 3],
        [1, 2, 3, 4, 5],
        [0, 1, 2, 3, 4],
        ['a', 'b', 'c', 'd'],
        [1, 2, 3, null],
      ]) {
        assert.equal(of(...set), '', JSON.stringify(set));
      }
    }
  });
  it('are numbered by a port even where there is an id as well', () => {
    assert.equal(
      outlets([4, 3, 2, 1].map((port, i) => ({ id: i + 1, port, on: port === 1 }))),
      '1:on 2:off 3:off 4:off',
    );
  });
  it('are numbered by index where the id is a database row', () => {
    assert.equal(
      outlets([0, 1, 2, 3].map((index) => ({ id: 700 + index, index, on: index % 2 === 0 }))),
      ALL,
    );
  });
  it('count from zero only where the numbers are unmistakably 0-3', () => {
    const of = (...ports: number[]): string => outlets(ports.map((port, i) => ({ port, on: i % 2 === 0 })));
    assert.equal(of(0, 1, 2, 3), ALL);
    assert.equal(of(1, 2, 3), '1:on 2:off 3:on');
    assert.equal(of(0, 1, 2), '1:? 2:?');
    assert.equal(of(0), '');
    assert.equal(of(0, 1, 2, 3, 4), '1:off 2:on 3:off 4:on');
    assert.equal(of(0, 1, 2, 3, 9), '1:? 2:? 3:?');
  });
  it('that bear no number of any kind are told by order only where there are four', () => {
    assert.equal(outlets(STATES.map((on) => ({ on }))), ALL);
    assert.equal(outlets(STATES.map((on, i) => ({ name: `Outlet ${i}`, on }))), ALL);
    assert.equal(outlets([{ on: true }, { on: false }]), '');
    assert.equal(outlets(STATES.map((on, i) => ({ id: `x${i}`, on }))), '');
  });
  it('beyond 1-4 are left out', () => {
    assert.equal(
      outlets([
        { port: 1, on: true },
        { port: 5, on: true },
        { port: -1, on: true },
        { port: 1.5, on: true },
      ]),
      '1:on',
    );
    assert.equal(outlets({ 1: true, 7: true }), '1:on');
    assert.equal(states({ port1: true, port80: true }), '1:on');
    assert.equal(outlets([true, false, true, false, true]), '');
  });
  it('named twice are unknown where the two contradict each other', () => {
    assert.equal(
      outlets([
        { port: 1, on: true },
        { port: 1, on: false },
        { port: 1, on: true },
        { port: 2, on: true },
        { port: 2, on: true },
      ]),
      '1:? 2:on',
    );
    assert.equal(outlets([{ port: 1, on: true, ON: false }]), '1:?');
    assert.equal(states({ port1: true, outlet_1: false }), '1:?');
  });
  it('under two names are read in order of preference', () => {
    assert.equal(states({ relays: [false, false], outlets: [true, null] }), '1:on 2:off');
    assert.equal(states({ outlets: [true, 'what'], relays: [false, false] }), '1:on 2:off');
    assert.equal(states({ ports: 4, outlets: STATES }), ALL);
    assert.equal(outlets([{ port: 1, state: 'off', on: true }]), '1:on');
    assert.equal(outlets([{ port: 1, on: 'unknown', state: 'off' }]), '1:off');
  });
  it('are unknown where their state cannot be read for sure', () => {
    const unsure = [
      null,
      2,
      -1,
      0.5,
      '',
      'yes',
      'online',
      'enabled',
      'ON!',
      [],
      [true],
      {},
      { enabled: true },
      'x'.repeat(100_000),
    ];
    for (const value of unsure) {
      assert.equal(outlets([{ port: 1, on: value }]), '1:?', JSON.stringify(value).slice(0, 40));
      assert.equal(outlets({ 1: value }), '1:?');
    }
  });
  it('are not on or off for what measures or enables them', () => {
    for (const field of [
      { power: 0 },
      { power: 1 },
      { power: '0' },
      { power: '1' },
      { value: 0 },
      { value: 12 },
      { enabled: true },
      { active: true },
      { online: true },
      { status: 'online' },
      { status: 'ok' },
      { power: '0 W' },
    ]) {
      assert.equal(outlets([{ port: 1, ...field }]), '1:?', JSON.stringify(field));
    }
    assert.equal(outlets({ 1: 0, 2: 55.5, 3: true, 4: 1 }), '1:? 2:? 3:on 4:?');
    assert.equal(states({ port1: 0, port2: '12.5 W', port3: 'on' }), '1:? 2:? 3:on');
    assert.equal(outlets([0, 12.5, 1, 0]), '');
    assert.equal(outlets([1]), '');
  });
  it('are not what a strip says of itself', () => {
    assert.equal(
      states({
        mac: MAC,
        on: true,
        state: 'on',
        status: 1,
        switch: true,
        power: 'on',
        value: true,
        port: 1,
      }),
      '',
    );
    assert.equal(states({ mac: MAC, 1: true, 2: false }), '');
  });
});
