import { PORTS } from '../api/types';
import { SETTINGS } from '../settings';
import { isShape } from './shapes';
import type { Shape } from './shapes';
import type { OutletConfig, StripConfig } from './simulator';

export interface SimulatorConfig {
  path: string;
  strips: StripConfig[];
  shape: Shape;
  /** Milliseconds. */
  latency: number;
}

const SETTING = SETTINGS['strip simulator'];

/** Ports that are on at the start where a flow says nothing of a strip's outlets. */
const ON_AT_START: readonly number[] = [1, 4];

/** Reads what a flow says of a simulator; what is missing or of no use takes its default. */
export function readConfig(config: Readonly<Record<string, unknown>>): SimulatorConfig {
  const { path, strips, shape, latency } = config;
  const ms = typeof latency === 'string' && latency.trim() !== '' ? Number(latency) : latency;
  return {
    path: typeof path === 'string' ? path : SETTING.path.default,
    strips: (Array.isArray(strips) ? strips : SETTING.strips.default).flatMap(readStrip),
    shape: isShape(shape) ? shape : SETTING.shape.choices[0],
    latency: typeof ms === 'number' && ms > 0 ? Math.min(ms, SETTING.latency.most) : SETTING.latency.default,
  };
}

function readStrip(strip: unknown): StripConfig[] {
  if (typeof strip !== 'object' || strip === null) return [];
  const { mac, name, outlets }: { mac?: unknown; name?: unknown; outlets?: unknown } = strip;
  if (typeof mac !== 'string' || mac.trim() === '') return [];
  return [
    {
      mac: mac.trim(),
      name: typeof name === 'string' ? name : '',
      outlets: Array.isArray(outlets)
        ? outlets.map(readOutlet)
        : PORTS.map((port) => ({ on: ON_AT_START.includes(port) })),
    },
  ];
}

function readOutlet(outlet: unknown): OutletConfig {
  if (typeof outlet !== 'object' || outlet === null) return {};
  const { name, on }: { name?: unknown; on?: unknown } = outlet;
  return { ...(typeof name === 'string' && name !== '' ? { name } : {}), on: on === true };
}
