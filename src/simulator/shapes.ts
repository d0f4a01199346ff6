import type { Port, ReadingName } from '../api/types';
import type { SETTINGS } from '../settings';

/** What an answer says about one strip, in any of the shapes. */
export interface StripSnapshot {
  mac: string;
  name: string;
  outlets: readonly { port: Port; on: boolean; name?: string }[];
  readings: Readonly<Record<ReadingName, number>>;
}

export type ShapeName = (typeof SETTINGS)['strip simulator']['shape']['choices'][number];

/** One way to write the two undocumented answers. */
interface Shape {
  /** The body of `GET /strips`. */
  list(strips: readonly StripSnapshot[]): unknown;
  /** The body of `GET /strips/{mac}`. */
  strip(strip: StripSnapshot): unknown;
}

// The API document states no units. These are what such services commonly report.
const UNITS: Readonly<Record<ReadingName, string>> = { load: 'W', voltage: 'V', signal: 'dBm' };

const onOff = (on: boolean): string => (on ? 'on' : 'off');

const mapReadings = <T>(
  { readings }: StripSnapshot,
  write: (value: number, unit: string) => T,
): Record<ReadingName, T> => ({
  load: write(readings.load, UNITS.load),
  voltage: write(readings.voltage, UNITS.voltage),
  signal: write(readings.signal, UNITS.signal),
});

const plain = ({ mac, name, outlets }: StripSnapshot) => ({ mac, name, outlets });

const words = ({ mac, name, outlets }: StripSnapshot) => ({
  macAddress: mac,
  displayName: name,
  outlets: outlets.map(({ port, on, name }) => ({ portNumber: port, label: name, state: onOff(on) })),
});

const keyed = ({ name, outlets }: StripSnapshot) => ({
  name,
  ...Object.fromEntries(outlets.map(({ port, on }) => [`port${port}`, on])),
});

const booleans = ({ mac, name, outlets }: StripSnapshot) => ({
  mac,
  name,
  ports: outlets.map(({ on }) => on),
});

const zeroBased = ({ mac, name, outlets }: StripSnapshot) => ({
  mac,
  name,
  relays: outlets.map(({ port, on }) => ({ id: port - 1, state: on ? 1 : 0 })),
});

const text = ({ mac, name, outlets }: StripSnapshot) => ({
  MAC: mac,
  Name: name,
  Switches: Object.fromEntries(outlets.map(({ port, on }) => [String(port), onOff(on).toUpperCase()])),
});

const measured = (strip: StripSnapshot) => ({
  mac: strip.mac,
  strip_name: strip.name,
  sockets: strip.outlets.map(({ port, on, name }) => ({ number: port, name, is_on: String(on) })),
  ...mapReadings(strip, (value, unit) => ({ value, unit })),
});

/**
 * The API document shows no answer of either `GET`, so the simulator can send several plausible ones. None of
 * them is known to be the service's own.
 */
export const SHAPES: Readonly<Record<ShapeName, Shape>> = {
  plain: {
    list: (strips) => strips.map(plain),
    strip: (strip) => ({ ...plain(strip), ...strip.readings }),
  },
  words: {
    list: (strips) => ({ data: { strips: strips.map(words) } }),
    strip: (strip) => ({ data: { ...words(strip), ...strip.readings } }),
  },
  keyed: {
    list: (strips) => Object.fromEntries(strips.map((strip) => [strip.mac, keyed(strip)])),
    strip: (strip) => ({ mac: strip.mac, ...keyed(strip), ...strip.readings }),
  },
  booleans: {
    list: (strips) => ({ items: strips.map(booleans) }),
    strip: (strip) => ({ strip: { ...booleans(strip), ...strip.readings } }),
  },
  'zero-based': {
    list: (strips) => ({ devices: strips.map(zeroBased) }),
    strip: (strip) => ({ device: { ...zeroBased(strip), ...mapReadings(strip, String) } }),
  },
  text: {
    list: (strips) => ({ results: strips.map(text) }),
    strip: (strip) => ({
      result: { ...text(strip), ...mapReadings(strip, (value, unit) => `${value} ${unit}`) },
    }),
  },
  measured: {
    list: (strips) => ({ strips: strips.map(measured) }),
    strip: measured,
  },
};
