import assert from 'node:assert/strict';
import { systemClock } from '../../../src/api/clock';
import { applyByHand, readByHand } from '../../../src/simulator/by-hand';
import { readConfig } from '../../../src/simulator/config';
import { Simulator } from '../../../src/simulator/simulator';

describe('what is done to a simulated strip by hand', () => {
  it('is read from exactly the documented forms', () => {
    assert.deepEqual(readByHand({ mac: 'A', port: 2, on: false }), {
      kind: 'outlet',
      mac: 'A',
      port: 2,
      on: false,
    });
    assert.deepEqual(readByHand({ mac: 'A', port: 'all', on: true }), {
      kind: 'outlet',
      mac: 'A',
      port: 'all',
      on: true,
    });
    assert.deepEqual(readByHand({ mac: 'A', available: false }), {
      kind: 'available',
      mac: 'A',
      available: false,
    });
    assert.deepEqual(readByHand({ mac: 'A', load: 0, signal: -70 }), {
      kind: 'readings',
      mac: 'A',
      readings: { load: 0, signal: -70 },
    });
  });

  const others: unknown[] = [
    undefined,
    null,
    true,
    'on',
    1,
    [],
    {},
    { mac: 'A' },
    { mac: '', port: 1, on: true },
    { mac: 7, port: 1, on: true },
    { port: 1, on: true },
    { mac: 'A', port: 1 },
    { mac: 'A', on: true },
    { mac: 'A', port: '1', on: true },
    { mac: 'A', port: 5, on: true },
    { mac: 'A', port: 1, on: 'on' },
    { mac: 'A', port: 1, on: 1 },
    { mac: 'A', port: 1, on: true, load: 3 },
    { mac: 'A', available: 'false' },
    { mac: 'A', available: true, load: 3 },
    { mac: 'A', load: '3' },
    { mac: 'A', load: NaN },
    { mac: 'A', load: Infinity },
    { mac: 'A', load: 3, voltage: null },
    { mac: 'A', power: 3 },
  ];
  for (const payload of others) {
    it(`is not read from ${JSON.stringify(payload)}`, () => assert.equal(readByHand(payload), null));
  }

  it('reaches the strip, and says so where there is none', () => {
    const strips = [{ mac: 'A1B2C3D4E5F6', name: '' }];
    const simulator = new Simulator({ strips, apiKey: 'k', shape: 'plain', latency: 0, clock: systemClock });
    const mac = 'a1:b2:c3:d4:e5:f6';
    assert.ok(applyByHand(simulator, { kind: 'outlet', mac, port: 'all', on: true }));
    assert.equal(simulator.isOn(mac, 4), true);
    assert.ok(applyByHand(simulator, { kind: 'readings', mac, readings: { load: 5, signal: -1 } }));
    const { load, signal } = simulator.strip(mac) as { load: number; signal: number };
    assert.deepEqual([load, signal], [5, -1]);
    assert.ok(applyByHand(simulator, { kind: 'available', mac, available: false }));
    assert.equal(simulator.strip(mac), undefined);
    for (const change of [
      { kind: 'outlet', mac: 'B', port: 1, on: true },
      { kind: 'readings', mac: 'B', readings: { signal: 1 } },
      { kind: 'available', mac: 'B', available: true },
    ] as const) {
      assert.equal(applyByHand(simulator, change), false);
    }
  });
});

describe('what a flow says of a simulator', () => {
  it('takes its defaults where it says nothing, or nothing of use', () => {
    const defaults = readConfig({});
    assert.equal(defaults.path, '/strip-simulator');
    assert.equal(defaults.strips.length, 2);
    assert.deepEqual(readConfig({ path: 7, strips: 'x', shape: 'toString', latency: 'soon' }), defaults);
    for (const latency of [-1, NaN, '', '  ', null, {}]) assert.equal(readConfig({ latency }).latency, 0);
  });

  it('is read as the dialog writes it', () => {
    const strips = [{ mac: ' AB ', name: 'Shelf' }, { mac: '' }, null, 'x', { mac: 'CD' }];
    assert.deepEqual(readConfig({ path: '/a', strips, shape: 'keyed', latency: '250' }), {
      path: '/a',
      strips: [
        { mac: 'AB', name: 'Shelf' },
        { mac: 'CD', name: '' },
      ],
      shape: 'keyed',
      latency: 250,
    });
    assert.deepEqual(readConfig({ strips: [], latency: 1e9 }).strips, []);
    assert.equal(readConfig({ latency: 1e9 }).latency, 60_000);
  });
});
