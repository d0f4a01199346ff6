import { SETTINGS } from '../settings';
import { isShape } from './shapes';
import type { Shape } from './shapes';

export interface SimulatorConfig {
  path: string;
  strips: { mac: string; name: string }[];
  shape: Shape;
  /** Milliseconds. */
  latency: number;
}

const SETTING = SETTINGS['strip simulator'];

/** Reads what a flow says of a simulator; what is missing or of no use takes its default. */
export function readConfig(config: Readonly<Record<string, unknown>>): SimulatorConfig {
  const { path, strips, shape, latency } = config;
  const ms = typeof latency === 'string' && latency.trim() !== '' ? Number(latency) : latency;
  return {
    path: typeof path === 'string' ? path : SETTING.path.default,
    strips: Array.isArray(strips) ? strips.flatMap(readStrip) : [...SETTING.strips.default],
    shape: isShape(shape) ? shape : SETTING.shape.choices[0],
    latency: typeof ms === 'number' && ms > 0 ? Math.min(ms, SETTING.latency.most) : SETTING.latency.default,
  };
}

function readStrip(strip: unknown): { mac: string; name: string }[] {
  if (typeof strip !== 'object' || strip === null) return [];
  const { mac, name }: { mac?: unknown; name?: unknown } = strip;
  if (typeof mac !== 'string' || mac.trim() === '') return [];
  return [{ mac: mac.trim(), name: typeof name === 'string' ? name : '' }];
}
