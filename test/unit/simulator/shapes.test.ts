import assert from 'node:assert/strict';
import { decodeList, decodeStrip, decodeSwitch } from '../../../src/api/decode';
import { PORTS } from '../../../src/api/types';
import { SETTINGS } from '../../../src/settings';
import type { ShapeName } from '../../../src/simulator/shapes';
import { readConfig, type SimulatorOptions } from '../../../src/simulator/simulator';
import { simulatorWith } from './support';

const { choices: SHAPES } = SETTINGS['strip simulator'].shape;

const AT = '2026-01-02T03:04:05.000Z';
/** What the dialog says of each shape. */
const FORMS: Record<ShapeName, RegExp> = {
  plain: /^\[.*"port":1,"on":true/,
  words: /^{"data":{"strips":\[.*"state":"on"/,
  keyed: /^{"A1B2C3D4E5F6":{.*"port1":true/,
  booleans: /"ports":\[true,false,false,false\]/,
  'zero-based': /"id":0,"state":1/,
  text: /"1":"ON"/,
  measured: /"is_on":"true".*"load":{"value":/,
};

const STRIPS = [
  { mac: 'A1B2C3D4E5F6', name: 'Desk strip' },
  { mac: '0011223344AB', name: 'Media strip' },
] as const;

describe('the shapes of answers', () => {
  it('are each known by their name only', () => {
    for (const shape of SHAPES) assert.equal(readConfig({ shape }).shape, shape);
    for (const shape of ['', 'toString', '__proto__', 'Plain', 1, null]) {
      assert.equal(readConfig({ shape }).shape, 'plain');
    }
  });

  for (const shape of SHAPES) {
    describe(shape, () => {
      const setUp = (strips: SimulatorOptions['strips'] = STRIPS) => {
        const simulator = simulatorWith({ strips, shape });
        // As it is on the wire.
        const list = () => decodeList(JSON.parse(JSON.stringify(simulator.list())), AT);
        const strip = (mac: string) => decodeStrip(JSON.parse(JSON.stringify(simulator.strip(mac))), mac, AT);
        return { simulator, list, strip };
      };

      it('is read back as a list: which strips, their names and every outlet, in every state', () => {
        const { simulator, list } = setUp();
        for (let bits = 0; bits < 16; bits++) {
          const on = (port: number) => (bits & (1 << (port - 1))) !== 0;
          for (const port of PORTS) {
            simulator.apply({ mac: 'A1B2C3D4E5F6', port, on: on(port) });
            simulator.apply({ mac: '0011223344AB', port, on: !on(port) });
          }
          const { strips, readable, complete } = list();
          assert.deepEqual(
            strips.map(({ mac, name, outlets, available }) => ({ mac, name, outlets, available })),
            STRIPS.map((strip, index) => ({
              ...strip,
              outlets: PORTS.map((port) => ({ port, on: on(port) !== (index === 1), name: null })),
              available: true,
            })),
          );
          assert.deepEqual([readable, complete], [true, true]);
        }
      });

      it('is read back as one strip with its readings', () => {
        const { simulator, strip } = setUp();
        simulator.apply({ mac: 'A1B2C3D4E5F6', port: 3, on: true });
        simulator.apply({ mac: 'A1B2C3D4E5F6', readings: { load: 42.5 } });
        simulator.apply({ mac: 'A1B2C3D4E5F6', readings: { voltage: 230.1 } });
        simulator.apply({ mac: 'A1B2C3D4E5F6', readings: { signal: -61 } });
        const { strip: read, readable } = strip('A1B2C3D4E5F6');
        assert.equal(readable, true);
        assert.deepEqual(
          [read.mac, read.name, read.load, read.voltage, read.signal],
          ['A1B2C3D4E5F6', 'Desk strip', 42.5, 230.1, -61],
        );
        assert.deepEqual(
          read.outlets,
          PORTS.map((port) => ({ port, on: port === 3, name: null })),
        );
        const units = { load: 'W', voltage: 'V', signal: 'dBm' };
        assert.deepEqual(read.units, shape === 'text' || shape === 'measured' ? units : {});
      });

      it('has the form that the dialog names, with names of outlets where that has any', () => {
        const [{ mac, name }] = STRIPS;
        const { simulator, list, strip } = setUp([{ mac, name, outlets: [{ name: 'Lamp', on: true }] }]);
        assert.match(JSON.stringify(simulator.list()), FORMS[shape]);
        const lamp = ['plain', 'words', 'measured'].includes(shape) ? 'Lamp' : null;
        for (const read of [list().strips[0], strip(mac).strip]) assert.equal(read?.outlets[0]?.name, lamp);
      });

      it('is read back as a list of none', () => {
        // An empty object may be anything.
        const isList = shape !== 'keyed';
        assert.deepEqual(setUp([]).list(), { strips: [], complete: isList, readable: isList });
      });

      it('shows an unplugged strip as missing from a complete list', () => {
        const { simulator, list } = setUp();
        simulator.apply({ mac: '0011223344AB', available: false });
        const { strips, complete } = list();
        assert.deepEqual([strips.map(({ mac }) => mac), complete], [['A1B2C3D4E5F6'], true]);
      });
    });
  }

  it('a switch is answered in the documented form, which is read back', () => {
    const results = simulatorWith().switch('A1B2C3D4E5F6', 'all', true);
    const read = decodeSwitch({ success: true, results });
    assert.equal(read.success, true);
    assert.deepEqual(
      read.results,
      PORTS.map((port) => ({ port, ok: true })),
    );
  });
});
