import assert from 'node:assert/strict';
import { decodeStrip } from '../../../src/api/decode';
import type { Strip } from '../../../src/api/types';

const AT = '2026-05-04T03:02:01.000Z';
const MAC = 'A0B1C2D3E4F5';

const read = (body: unknown): Strip => decodeStrip(body, MAC, AT).strip;
const STATES = [true, false, true, false];

describe('decodeStrip', () => {
  const record = { mac: MAC, name: 'Desk', outlets: STATES, load: 12.5, voltage: 230, signal: -52 };
  for (const [name, body] of [
    ['bare', record],
    ...['strip', 'data', 'result', 'device'].map(
      (wrapper) => [`under ${wrapper}`, { [wrapper]: record }] as const,
    ),
    ['two wrappers deep', { success: true, data: { strip: record } }],
    ['as the only one of a list', [record]],
    ['in a list of several', { strips: [{ mac: 'FFFFFFFFFFFF', outlets: [false] }, record] }],
    ['keyed by its MAC', { [MAC]: record }],
    ['with attributes apart', { data: { id: MAC, attributes: { ...record, mac: undefined } } }],
    [
      'with readings and state apart',
      {
        mac: MAC,
        info: { name: 'Desk' },
        state: { outlets: STATES },
        readings: { load: 12.5, voltage: 230, signal: -52 },
      },
    ],
    ['without a MAC of its own', { ...record, mac: undefined }],
    ['without a MAC of its own, in a list', { data: [{ ...record, mac: undefined }] }],
  ] as const) {
    it(`reads a strip ${name}`, () => {
      assert.deepEqual(decodeStrip(body, MAC, AT), {
        strip: {
          mac: MAC,
          name: 'Desk',
          available: true,
          outlets: [
            { port: 1, on: true, name: null },
            { port: 2, on: false, name: null },
            { port: 3, on: true, name: null },
            { port: 4, on: false, name: null },
          ],
          load: 12.5,
          voltage: 230,
          signal: -52,
          units: {},
          at: AT,
        },
        readable: true,
      });
    });
  }

  it("keeps the service's own spelling of the MAC", () => {
    assert.equal(decodeStrip({ mac: 'a0:b1:c2:d3:e4:f5' }, MAC, AT).strip.mac, 'a0:b1:c2:d3:e4:f5');
  });

  it('takes nothing from an answer about another strip', () => {
    assert.deepEqual(decodeStrip({ mac: 'FFFFFFFFFFFF', outlets: STATES, online: false }, MAC, AT), {
      strip: {
        mac: MAC,
        name: null,
        available: true,
        outlets: [],
        load: null,
        voltage: null,
        signal: null,
        units: {},
        at: AT,
      },
      readable: false,
    });
  });

  for (const body of [
    null,
    7,
    'on',
    true,
    [],
    {},
    { ok: true },
    { success: true, error: null },
    { on: true },
  ]) {
    it(`finds nothing in ${JSON.stringify(body)}, and says so`, () => {
      const { strip, readable } = decodeStrip(body, MAC, AT);
      assert.deepEqual(
        { outlets: strip.outlets, mac: strip.mac, readable },
        { outlets: [], mac: MAC, readable: false },
      );
    });
  }

  describe('availability', () => {
    for (const body of [
      { online: false },
      { available: false },
      { connected: 'false' },
      { reachable: 0 },
      { isOnline: false },
      { offline: true },
      { status: 'offline' },
      { state: 'Unreachable' },
      { online: true, reachable: false },
      { info: { online: false } },
    ]) {
      it(`is gone with ${JSON.stringify(body)}`, () => {
        const { strip, readable } = decodeStrip({ mac: MAC, ...body }, MAC, AT);
        assert.deepEqual({ available: strip.available, readable }, { available: false, readable: true });
      });
    }
    for (const body of [
      {},
      { online: true },
      { online: null },
      { online: 'off' },
      { status: 'online' },
      { status: 'off' },
      { connected: 3 },
      { offline: false },
      { enabled: false },
    ]) {
      it(`stays with ${JSON.stringify(body)}`, () => {
        assert.equal(read({ mac: MAC, ...body }).available, true);
      });
    }
  });

  describe('readings', () => {
    const load = (value: unknown): [number | null, string | undefined] => {
      const strip = read({ mac: MAC, load: value });
      return [strip.load, strip.units.load];
    };
    for (const [value, number, unit] of [
      [12, 12],
      [-0.5, -0.5],
      [0, 0],
      ['12.5', 12.5],
      ['0.1', 0.1],
      ['-52 dBm', -52, 'dBm'],
      ['230.1 V', 230.1, 'V'],
      ['230.1V', 230.1, 'V'],
      [' 80 % ', 80, '%'],
      ['123456789012345678', 123456789012345680],
      [{ value: 230.1, unit: 'V' }, 230.1, 'V'],
      [{ value: '230.1', unit: 'V' }, 230.1, 'V'],
      [{ value: '230.1 V' }, 230.1, 'V'],
      [{ Value: 3, units: ' W ' }, 3, 'W'],
    ] as const) {
      it(`${JSON.stringify(value)} is ${number} with ${unit ?? 'no unit'}`, () =>
        assert.deepEqual(load(value), [number, unit]));
    }
    for (const value of [
      null,
      true,
      'high',
      '',
      '12,5',
      '1e3',
      '0x10',
      '1.',
      '.5',
      '--1',
      '1.2.3',
      '12 34',
      '5 W at night',
      'Infinity',
      'NaN',
      '9'.repeat(400),
      Infinity,
      NaN,
      [],
      [12],
      {},
      { unit: 'W' },
      { value: null },
      { value: { value: 1 } },
    ]) {
      it(`${JSON.stringify(value).slice(0, 40)} is none`, () =>
        assert.deepEqual(load(value), [null, undefined]));
    }
    it('are read under the names in use', () => {
      const {
        load: a,
        voltage,
        signal,
        units,
      } = read({ loadW: 1, load_unit: 'W', Voltage: '2 V', wifi_rssi: -3 });
      assert.deepEqual([a, voltage, signal, units], [1, 2, -3, { load: 'W', voltage: 'V' }]);
    });
    it('prefer the plain name, and the strip over its parts', () => {
      assert.equal(read({ rssi: -1, signal: -2 }).signal, -2);
      assert.equal(read({ readings: { load: 1 }, watts: 2 }).load, 2);
      assert.equal(read({ load: 'much', watts: 2 }).load, 2);
    });
    it('claim no unit where none was sent', () =>
      assert.deepEqual(read({ load: 1, voltage: 2, signal: 3 }).units, {}));

    it('have no unit that came with another value', () => {
      for (const body of [
        { loadW: '5 W', load: 7 },
        { load: 7, loadW: '5 W' },
      ]) {
        const { load, units } = read(body);
        assert.deepEqual([load, units], [7, {}]);
      }
      assert.deepEqual(read({ loadW: '5 W', load: 7, loadUnit: 'VA' }).units, { load: 'VA' });
    });
  });

  it('names a strip only by a text', () => {
    assert.equal(read({ mac: MAC, label: 'Desk' }).name, 'Desk');
    assert.equal(read({ mac: MAC, name: '  ', title: 'Desk' }).name, 'Desk');
    assert.equal(read({ mac: MAC, name: 7 }).name, null);
  });
});
