import assert from 'node:assert/strict';
import { systemClock, type Clock } from '../../../src/api/types';
import { readConfig, readManualChange } from '../../../src/simulator/simulator';
import type { SimulatorOptions } from '../../../src/simulator/simulator';
import { MAC, simulatorWith } from './support';

describe('what is done to a simulated strip by hand', () => {
  it('is read from exactly the documented forms', () => {
    assert.deepEqual(readManualChange({ mac: 'A', port: 2, on: false }), {
      mac: 'A',
      port: 2,
      on: false,
    });
    assert.deepEqual(readManualChange({ mac: 'A', port: 'all', on: true }), {
      mac: 'A',
      port: 'all',
      on: true,
    });
    assert.deepEqual(readManualChange({ mac: 'A', port: 1, on: 'toggle' }), {
      mac: 'A',
      port: 1,
      on: 'toggle',
    });
    assert.deepEqual(readManualChange({ mac: 'A', available: false }), {
      mac: 'A',
      available: false,
    });
    assert.deepEqual(readManualChange({ mac: 'A', load: 0, signal: -70 }), {
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
    it(`is not read from ${JSON.stringify(payload)}`, () => assert.equal(readManualChange(payload), null));
  }

  it('reaches the strip, and says so where there is none', () => {
    const simulator = simulatorWith();
    const mac = 'a1:b2:c3:d4:e5:f6';
    assert.ok(simulator.apply({ mac, port: 'all', on: true }));
    assert.equal(simulator.isOn(mac, 4), true);
    assert.ok(simulator.apply({ mac, port: 2, on: 'toggle' }));
    assert.deepEqual([simulator.isOn(mac, 1), simulator.isOn(mac, 2)], [true, false]);
    assert.ok(simulator.apply({ mac, readings: { load: 5, signal: -1 } }));
    const { load, signal } = simulator.strip(mac) as { load: number; signal: number };
    assert.deepEqual([load, signal], [5, -1]);
    assert.ok(simulator.apply({ mac, available: false }));
    assert.equal(simulator.strip(mac), undefined);
    for (const change of [
      { mac: '__proto__', port: 1, on: true },
      { mac: 'B', readings: { signal: 1 } },
      { mac: 'B', available: true },
    ] as const) {
      assert.equal(simulator.apply(change), false);
    }
    assert.equal(simulator.isOn('B', 1), undefined);
  });
});

/** What one strip reports, where time is the test's. */
function steady(more: Partial<SimulatorOptions> = {}) {
  let now = 0;
  const clock: Clock = { ...systemClock, monotonic: () => now, random: () => 0.5 };
  const simulator = simulatorWith({ clock, ...more });
  return {
    simulator,
    pass: (ms: number) => void (now += ms),
    read: () =>
      simulator.strip(MAC) as {
        load: number;
        voltage: number;
        signal: number;
        outlets: { port: number; on: boolean; name?: string }[];
      },
  };
}

describe('what a simulated strip reports', () => {
  it('begins as configured, with the names of its outlets', () => {
    const outlets = [{ name: 'Fridge', on: true }, { on: true }, { name: 'Radio' }];
    const { read } = steady({ strips: [{ mac: MAC, name: '', outlets }] });
    assert.deepEqual(read().outlets, [
      { port: 1, on: true, name: 'Fridge' },
      { port: 2, on: true },
      { port: 3, on: false, name: 'Radio' },
      { port: 4, on: false },
    ]);
  });

  it('has a load that follows the outlets that are on, none when all are off', () => {
    const { simulator, read } = steady({ drift: true });
    assert.equal(read().load, 0);
    simulator.apply({ mac: MAC, port: 1, on: true });
    const { load: one, voltage } = read();
    simulator.apply({ mac: MAC, port: 2, on: true });
    const { load: two, voltage: sagged } = read();
    assert.ok(0 < one && one < two);
    assert.ok(sagged <= voltage);
    simulator.apply({ mac: MAC, port: 'all', on: false });
    assert.equal(read().load, 0);
  });

  it('drifts a little as time passes, and not between two reads at one moment', () => {
    const { simulator, pass, read } = steady({ drift: true });
    simulator.apply({ mac: MAC, port: 'all', on: true });
    const start = read();
    assert.deepEqual(read(), start);
    const loads = new Set<number>();
    for (let i = 0; i < 1_000; i++) {
      pass(10_000);
      const { load, voltage, signal } = read();
      loads.add(load);
      assert.ok(Math.abs(load / 135 - 1) < 0.05 && voltage > 225 && voltage < 235);
      assert.ok(signal >= -55 && signal <= -49);
    }
    assert.ok(loads.size > 10);
  });

  it('reports what was set by hand without drift, a load until the next switch', () => {
    const { simulator, pass, read } = steady({ drift: true });
    for (const [name, value] of [
      ['load', 3],
      ['voltage', 229],
      ['signal', -70],
    ] as const) {
      simulator.apply({ mac: MAC, readings: { [name]: value } });
    }
    pass(60_000);
    const { load, voltage, signal } = read();
    assert.deepEqual([load, voltage, signal], [3, 229, -70]);
    simulator.apply({ mac: MAC, port: 1, on: true });
    assert.ok(read().load > 50);
    assert.equal(read().voltage, 229);
  });

  it('stands still without drift', () => {
    const { simulator, pass, read } = steady();
    simulator.apply({ mac: MAC, port: 'all', on: true });
    const start = read();
    pass(60_000);
    assert.deepEqual(read(), start);
  });
});

describe('the configuration of a simulator', () => {
  it('takes its defaults where it says nothing, or nothing of use', () => {
    const defaults = readConfig({});
    assert.equal(defaults.path, '/strip-simulator');
    assert.equal(defaults.strips.length, 2);
    assert.deepEqual(readConfig({ path: {}, strips: 'x', shape: 'toString', latency: 'soon' }), defaults);
    for (const latency of [-1, NaN, '', '  ', null, {}]) assert.equal(readConfig({ latency }).latency, 0);
  });

  it('is read from a flow written by hand as the dialog shows it', () => {
    const { path, strips } = readConfig({ path: 7, strips: [{ mac: 112233445566, name: 5, outlets: [] }] });
    assert.deepEqual(
      { path, strips },
      { path: '7', strips: [{ mac: '112233445566', name: '5', outlets: [] }] },
    );
  });

  it('is read as the dialog writes it', () => {
    const onAtStart = [true, false, false, true].map((on) => ({ on }));
    const strips = [{ mac: ' AB ', name: 'Shelf' }, { mac: '' }, null, 'x', { mac: 'CD' }];
    assert.deepEqual(readConfig({ path: '/a', strips, shape: 'keyed', latency: '250' }), {
      path: '/a',
      strips: [
        { mac: 'AB', name: 'Shelf', outlets: onAtStart },
        { mac: 'CD', name: '', outlets: onAtStart },
      ],
      shape: 'keyed',
      latency: 250,
    });
    const outlets = [{ name: 'Fridge', on: true }, null, { name: 7, on: 'yes' }, { name: '' }];
    assert.deepEqual(readConfig({ strips: [{ mac: 'AB', name: '', outlets }] }).strips[0]?.outlets, [
      { name: 'Fridge', on: true },
      { on: false },
      { name: '7', on: false },
      { on: false },
    ]);
    assert.deepEqual(readConfig({ strips: [], latency: 1e9 }).strips, []);
    assert.equal(readConfig({ latency: 1e9 }).latency, 60_000);
  });
});
