import { PORTS } from '../../src/api/types';
import type { StripPicture } from '../../src/simulator/shapes';

/** So many strips, no two alike. */
export function pictures(count: number): StripPicture[] {
  return Array.from({ length: count }, (_, index) => ({
    mac: (0xa1b2c3000000 + index).toString(16).toUpperCase(),
    name: `Strip ${index}`,
    outlets: PORTS.map((port) => ({ port, on: (index + port) % 3 === 0 })),
    readings: { load: (index % 400) / 2, voltage: 230.1, signal: -50 - (index % 30) },
  }));
}
