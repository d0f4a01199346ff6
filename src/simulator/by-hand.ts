import { READINGS } from '../api/types';
import type { PortOrAll, ReadingName } from '../api/types';
import { isPortOrAll } from './handler';
import type { Simulator } from './simulator';

/** What somebody standing at a strip does to it, or what happens to it there. */
export type ByHand =
  | { kind: 'outlet'; mac: string; port: PortOrAll; on: boolean }
  | { kind: 'readings'; mac: string; readings: Partial<Record<ReadingName, number>> }
  | { kind: 'available'; mac: string; available: boolean };

/**
 * Reads exactly `{mac, port, on}`, `{mac, available}` or `{mac}` with any of `load`, `voltage` and `signal`;
 * `null` for anything else, a further property included.
 */
export function readByHand(payload: unknown): ByHand | null {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return null;
  const { mac, ...rest }: { mac?: unknown } = payload;
  if (typeof mac !== 'string' || mac === '') return null;
  return readOutlet(mac, rest) ?? readAvailable(mac, rest) ?? readReadings(mac, rest);
}

/** `false`: the simulator has no such strip. */
export function applyByHand(simulator: Simulator, change: ByHand): boolean {
  const { mac } = change;
  switch (change.kind) {
    case 'outlet':
      return simulator.setOutlet(mac, change.port, change.on);
    case 'available':
      return simulator.setAvailable(mac, change.available);
    case 'readings':
      return READINGS.every((name) => {
        const value = change.readings[name];
        return value === undefined ? simulator.has(mac) : simulator.setReading(mac, name, value);
      });
  }
}

const size = (record: object): number => Object.keys(record).length;

function readOutlet(mac: string, rest: { port?: unknown; on?: unknown }): ByHand | null {
  const { port, on } = rest;
  if (!isPortOrAll(port) || typeof on !== 'boolean' || size(rest) !== 2) return null;
  return { kind: 'outlet', mac, port, on };
}

function readAvailable(mac: string, rest: { available?: unknown }): ByHand | null {
  const { available } = rest;
  return typeof available === 'boolean' && size(rest) === 1 ? { kind: 'available', mac, available } : null;
}

function readReadings(mac: string, rest: Partial<Record<ReadingName, unknown>>): ByHand | null {
  const readings: Partial<Record<ReadingName, number>> = {};
  for (const name of READINGS) {
    const value = rest[name];
    if (typeof value === 'number' && Number.isFinite(value)) readings[name] = value;
  }
  const found = size(readings);
  return found > 0 && found === size(rest) ? { kind: 'readings', mac, readings } : null;
}
