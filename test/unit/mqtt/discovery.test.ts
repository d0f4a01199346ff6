import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Port, ReadingName, Strip } from '../../../src/api/types';
import { discoveryPayload } from '../../../src/mqtt/discovery';
import { discoveryTopic, stripId } from '../../../src/mqtt/topics';
import { discoveryProblems, HOSTILE } from '../../support/home-assistant';
import { makeStrip, withNames } from '../../support/scripted-service';

const SETTINGS = { topic: 'smart-strip', discovery: 'homeassistant' };
const MAC = 'a1:b2:c3:d4:e5:f6';

interface Payload {
  device: Record<string, unknown>;
  origin: unknown;
  availability: unknown;
  availability_mode: unknown;
  components: Record<string, Record<string, unknown>>;
}

function text(strip: Strip, readings: ReadingName[] = [], parts: (Port | ReadingName)[] = []): string {
  return discoveryPayload(SETTINGS, stripId(strip.mac), strip, readings, '1.2.3', parts);
}
const payload = (...parts: Parameters<typeof text>): Payload => JSON.parse(text(...parts)) as Payload;

describe('the discovery message of a strip', () => {
  it('is one device with a switch for each outlet', () => {
    const desk = makeStrip(MAC, [true, false, null, false], { name: 'Desk' });
    const strip = withNames(desk, (port) => (port === 2 ? 'Lamp' : null));
    const outlet = (port: number, name: string) => ({
      platform: 'switch',
      unique_id: `smart_strip_A1B2C3D4E5F6_${port}`,
      name,
      device_class: 'outlet',
      state_topic: `smart-strip/A1B2C3D4E5F6/${port}`,
      command_topic: `smart-strip/A1B2C3D4E5F6/${port}/set`,
    });
    assert.deepEqual(payload(strip), {
      device: { identifiers: ['smart_strip_A1B2C3D4E5F6'], name: 'Desk', serial_number: MAC },
      origin: {
        name: 'Smart strip nodes for Node-RED',
        sw_version: '1.2.3',
        support_url: 'https://github.com/smart-strip/node-red-smart-strip',
      },
      availability: [{ topic: 'smart-strip/bridge' }, { topic: 'smart-strip/A1B2C3D4E5F6/available' }],
      availability_mode: 'all',
      components: {
        outlet_1: outlet(1, 'Outlet 1'),
        outlet_2: outlet(2, 'Lamp'),
        outlet_3: outlet(3, 'Outlet 3'),
        outlet_4: outlet(4, 'Outlet 4'),
      },
    });
  });

  it('has the documented four outlets where none could be read', () => {
    assert.deepEqual(Object.keys(payload(makeStrip(MAC, [])).components), [
      'outlet_1',
      'outlet_2',
      'outlet_3',
      'outlet_4',
    ]);
  });

  it('names a strip without a name', () => {
    assert.equal(payload(makeStrip(MAC, [])).device.name, 'Smart strip A1B2C3D4E5F6');
  });

  it('has a sensor for each reading, without a unit where none is known', () => {
    assert.deepEqual(payload(makeStrip(MAC, [true]), ['load']).components.load, {
      platform: 'sensor',
      unique_id: 'smart_strip_A1B2C3D4E5F6_load',
      name: 'Load',
      state_topic: 'smart-strip/A1B2C3D4E5F6/load',
      state_class: 'measurement',
    });
  });

  const fitting: [ReadingName, string, string][] = [
    ['load', 'W', 'power'],
    ['load', ' kW ', 'power'],
    ['voltage', 'V', 'voltage'],
    ['voltage', 'mV', 'voltage'],
    ['signal', 'dBm', 'signal_strength'],
  ];
  for (const [reading, unit, deviceClass] of fitting) {
    it(`says that ${reading} in ${unit} is ${deviceClass}`, () => {
      const { components } = payload(makeStrip(MAC, [true], { units: { [reading]: unit } }), [reading]);
      assert.equal(components[reading]?.device_class, deviceClass);
      assert.equal(components[reading].unit_of_measurement, unit.trim());
    });
  }

  const unfit: [ReadingName, string][] = [
    ['load', 'A'],
    ['load', 'V'],
    ['load', 'kWh'],
    ['load', 'mW'],
    ['load', 'MW'],
    ['load', ''],
    ['voltage', 'W'],
    ['voltage', 'volts'],
    ['signal', '%'],
    ['signal', '__proto__'],
  ];
  for (const [reading, unit] of unfit) {
    it(`claims no unit for ${reading} in ${JSON.stringify(unit)}`, () => {
      const { components } = payload(makeStrip(MAC, [true], { units: { [reading]: unit } }), [reading]);
      assert.deepEqual(Object.keys(components[reading] ?? {}), [
        ...['platform', 'unique_id', 'name', 'state_topic', 'state_class'],
      ]);
    });
  }

  it('names the sensors first: Home Assistant takes a message only up to a component that it is still adding', () => {
    const { components } = payload(makeStrip(MAC, [true]), ['load', 'signal'], [1, 2, 'load', 'signal']);
    assert.deepEqual(Object.keys(components), ['load', 'signal', 'outlet_1', 'outlet_2']);
  });

  it('removes what a strip no longer has by its platform alone', () => {
    const { components } = payload(makeStrip(MAC, [true]), [], [1, 2, 'load']);
    assert.deepEqual(components.outlet_2, { platform: 'switch' });
    assert.deepEqual(components.load, { platform: 'sensor' });
    assert.equal(components.outlet_1?.unique_id, 'smart_strip_A1B2C3D4E5F6_1');
  });

  for (const name of HOSTILE) {
    it(`is accepted whatever is called ${JSON.stringify(name.slice(0, 20))}`, () => {
      const unnamed = makeStrip(`x${name}`, [true, false], { name, units: { load: name } });
      const strip = withNames(unnamed, () => name);
      const message = text(strip, ['load']);
      assert.deepEqual(discoveryProblems(discoveryTopic(SETTINGS, stripId(strip.mac)), message), []);
      assert.ok(message.length < 5000);
    });
  }

  it('is accepted whatever a strip and its outlets are called', () => {
    const name = fc.option(fc.string({ unit: 'binary', maxLength: 300 }));
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), name, name, (mac, stripName, outletName) => {
        if (mac.trim() === '') return;
        const unnamed = makeStrip(mac, [true, null, false, true], { name: stripName });
        const strip = withNames(unnamed, () => outletName);
        const message = text(strip, ['load', 'voltage', 'signal']);
        assert.deepEqual(discoveryProblems(discoveryTopic(SETTINGS, stripId(mac)), message), []);
      }),
    );
  });
});
