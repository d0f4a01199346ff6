import { systemClock } from '../../../src/api/types';
import { Simulator, type SimulatorOptions } from '../../../src/simulator/simulator';

export const MAC = 'A1B2C3D4E5F6';
export const KEY = 'key-of-a-test';

/** A simulator of one strip that answers at once, where `settings` says nothing else. */
export const simulatorWith = (settings: Partial<SimulatorOptions> = {}): Simulator =>
  new Simulator({
    strips: [{ mac: MAC, name: 'Desk strip' }],
    apiKey: KEY,
    shape: 'plain',
    latency: 0,
    clock: systemClock,
    ...settings,
  });
