import { isShape } from './shapes';
import type { Shape } from './shapes';

export interface SimulatorConfig {
  path: string;
  strips: { mac: string; name: string }[];
  shape: Shape;
  /** Milliseconds. */
  latency: number;
}

const DEFAULTS: SimulatorConfig = {
  path: '/strip-simulator',
  strips: [
    { mac: 'A1B2C3D4E5F6', name: 'Desk strip' },
    { mac: 'A1B2C3D4E5F7', name: 'Media strip' },
  ],
  shape: 'plain',
  latency: 0,
};

const MOST_LATENCY = 60_000;

/** Reads what a flow says of a simulator; what is missing or of no use takes its default. */
export function readConfig(config: Readonly<Record<string, unknown>>): SimulatorConfig {
  const { path, strips, shape, latency } = config;
  const ms = typeof latency === 'string' && latency.trim() !== '' ? Number(latency) : latency;
  return {
    path: typeof path === 'string' ? path : DEFAULTS.path,
    strips: Array.isArray(strips) ? strips.flatMap(readStrip) : DEFAULTS.strips,
    shape: isShape(shape) ? shape : DEFAULTS.shape,
    latency: typeof ms === 'number' && ms > 0 ? Math.min(ms, MOST_LATENCY) : DEFAULTS.latency,
  };
}

function readStrip(strip: unknown): { mac: string; name: string }[] {
  if (typeof strip !== 'object' || strip === null) return [];
  const { mac, name }: { mac?: unknown; name?: unknown } = strip;
  if (typeof mac !== 'string' || mac.trim() === '') return [];
  return [{ mac: mac.trim(), name: typeof name === 'string' ? name : '' }];
}
