import { sameMac } from '../api/mac';
import type { StripRow } from './answer';

/** How an outlet stands, as far as anybody knows; the words are keys below `strip-account.state.`. */
export type OutletState = 'on' | 'off' | 'unknown' | 'unavailable';

/** Signs that tell states apart without colour. */
export const SIGNS: Readonly<Record<OutletState, string>> = {
  on: '●',
  off: '○',
  unknown: '?',
  unavailable: '–',
};

/** State of one outlet of a strip; `null` where the strip is not known or has no such outlet. */
export function outletState(strip: StripRow | undefined, port: string): OutletState | null {
  const outlet = strip?.outlets.find((candidate) => String(candidate.port) === port);
  if (strip === undefined || outlet === undefined) return null;
  if (!strip.available) return 'unavailable';
  if (outlet.on === null) return 'unknown';
  return outlet.on ? 'on' : 'off';
}

export const findStrip = (strips: readonly StripRow[], mac: string): StripRow | undefined =>
  strips.find((strip) => sameMac(strip.mac, mac));

/** Figures for "2 of 4 on"; `null` where the service names no state of any outlet. */
export function countOn(strip: StripRow): { on: number; of: number } | null {
  const known = strip.outlets.filter((outlet) => outlet.on !== null);
  return known.length === 0
    ? null
    : { on: known.filter((outlet) => outlet.on).length, of: strip.outlets.length };
}
