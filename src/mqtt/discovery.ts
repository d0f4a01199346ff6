import { PORTS, type Outlet, type Port, type ReadingName, type Strip } from '../api/types';
import { displayName } from '../values';
import { bridgeTopic, commandTopic, objectId, stateTopic, type TopicSettings } from './topics';

/** The publisher, as Home Assistant shows it beside a device. The version is added later. */
const ORIGIN = {
  name: 'Smart strip nodes for Node-RED',
  support_url: 'https://github.com/smart-strip/node-red-smart-strip',
};

/** Home Assistant's `device_class` for each reading, and the units that belong to it. With any other unit, a sensor gets neither. */
const MEASURES: Readonly<
  Record<ReadingName, { deviceClass: string; units: readonly string[]; name: string }>
> = {
  load: { deviceClass: 'power', units: ['W', 'kW'], name: 'Load' },
  voltage: { deviceClass: 'voltage', units: ['V', 'mV'], name: 'Voltage' },
  signal: { deviceClass: 'signal_strength', units: ['dBm', 'dB'], name: 'Signal' },
};

/** The outlets of a strip: those that were read, or the documented four if none were. */
export const outletsOf = ({ outlets }: Strip): readonly Outlet[] =>
  outlets.length > 0 ? outlets : PORTS.map((port) => ({ port, on: null, name: null }));

const componentOf = (part: Port | ReadingName): string =>
  typeof part === 'number' ? `outlet_${part}` : part;

/**
 * The discovery message of one strip, as Home Assistant 2024.11 and later read it: one device with a switch for each outlet and a sensor
 * for each of `readings`. `parts`: every outlet and reading that was ever sent for the strip. One that no longer exists is sent with only
 * its platform, which removes it.
 */
export function discoveryPayload(
  settings: TopicSettings,
  id: string,
  strip: Strip,
  readings: readonly ReadingName[],
  version: string,
  parts: Iterable<Port | ReadingName>,
): string {
  const device = objectId(id);
  const components: Record<string, object> = {};
  // Readings first: they are often known a moment after the outlets, and Home Assistant leaves out what follows a component that it is still adding.
  for (const reading of readings) {
    const { name, deviceClass, units } = MEASURES[reading];
    const unit = strip.units[reading]?.trim() ?? '';
    components[componentOf(reading)] = {
      platform: 'sensor',
      unique_id: `${device}_${reading}`,
      name,
      state_topic: stateTopic(settings, id, reading),
      state_class: 'measurement',
      ...(units.includes(unit) ? { device_class: deviceClass, unit_of_measurement: unit } : {}),
    };
  }
  for (const { port, name } of outletsOf(strip)) {
    components[componentOf(port)] = {
      platform: 'switch',
      unique_id: `${device}_${port}`,
      name: displayName(name) ?? `Outlet ${port}`,
      device_class: 'outlet',
      state_topic: stateTopic(settings, id, port),
      command_topic: commandTopic(settings, id, port),
    };
  }
  for (const part of parts) {
    components[componentOf(part)] ??= { platform: typeof part === 'number' ? 'switch' : 'sensor' };
  }
  return JSON.stringify({
    device: {
      identifiers: [device],
      name: displayName(strip.name) ?? `Smart strip ${id}`,
      serial_number: displayName(strip.mac) ?? id,
    },
    origin: { ...ORIGIN, sw_version: version },
    availability: [{ topic: bridgeTopic(settings) }, { topic: stateTopic(settings, id, 'available') }],
    availability_mode: 'all',
    components,
  });
}
