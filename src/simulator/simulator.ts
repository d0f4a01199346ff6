import { EventEmitter } from 'node:events';
import { macKey, PORTS, READINGS } from '../api/types';
import type { Clock, Port, PortOrAll, ReadingName, SwitchResult } from '../api/types';
import { choiceOf, numberOf, OUTLETS_AT_START, SETTINGS, textOf, type Config } from '../settings';
import { isRecord, ownProperty } from '../values';
import { SHAPES, type ShapeName, type StripSnapshot } from './shapes';

/** A strip as it is configured; the first of `outlets` is port 1. */
interface StripConfig {
  mac: string;
  name: string;
  /** `name`: without it, answers have none either. `on`: the state at the start; without it, off. */
  outlets?: readonly { name?: string; on?: boolean }[];
}

export interface SimulatorOptions {
  strips: readonly StripConfig[];
  /** What `x-api-key` must hold; "": every key is accepted; `null`: every request is refused. */
  apiKey: string | null;
  shape: ShapeName;
  /** Milliseconds between carrying out a request and answering it. */
  latency: number;
  /** Whether readings change a little as time passes, as measured values do. */
  drift?: boolean;
  clock: Clock;
}

/** Reads a simulator's properties. A missing or invalid one gets its default. */
export function readConfig(config: Config) {
  const settings = SETTINGS['strip simulator'];
  const { strips } = config;
  return {
    path: textOf(config, 'path', settings.path.default),
    strips: (Array.isArray(strips) ? strips : settings.strips.default).flatMap(readStrip),
    shape: choiceOf(config, 'shape', settings.shape),
    /** Milliseconds. */
    latency: numberOf(config, 'latency', settings.latency),
  };
}

function readStrip(strip: unknown): StripConfig[] {
  const mac = textOf(strip, 'mac');
  if (mac === '') return [];
  const stored = ownProperty(strip, 'outlets');
  const outlets = Array.isArray(stored) ? stored.map(readOutlet) : OUTLETS_AT_START;
  return [{ mac, name: textOf(strip, 'name'), outlets }];
}

function readOutlet(outlet: unknown) {
  const name = textOf(outlet, 'name');
  const on = ownProperty(outlet, 'on') === true;
  return name === '' ? { on } : { name, on };
}

/** A change at the strip itself: a pressed button, another reading, a pulled plug. */
type ManualChange =
  | { mac: string; port: PortOrAll; on: boolean | 'toggle' }
  | { mac: string; readings: Partial<Record<ReadingName, number>> }
  | { mac: string; available: boolean };

interface SimulatedStrip {
  readonly mac: string;
  readonly name: string;
  /** In the order of their ports. */
  readonly outlets: readonly { readonly port: Port; on: boolean; name?: string }[];
  /** Readings that were set by hand. A load stays until an outlet is switched. */
  readonly set: Partial<Record<ReadingName, number>>;
  /** Where in their waves its readings start, so that strips differ. */
  readonly phase: number;
  available: boolean;
}

/** Watts that an outlet draws while it is on. */
const DRAW: Readonly<Record<Port, number>> = { 1: 86.5, 2: 32, 3: 5.5, 4: 11 };

/** Milliseconds in which a reading that drifts goes through its range and back. */
const PERIODS: Readonly<Record<ReadingName, number>> = { load: 240_000, voltage: 300_000, signal: 420_000 };

/**
 * The smart strip service in memory: its strips, and what can happen at the strips themselves. `handle` answers requests with it. Emits `switch`
 * after each switch that it has carried out over the API.
 */
export class Simulator extends EventEmitter<{ switch: [{ mac: string; port: PortOrAll; on: boolean }] }> {
  readonly #strips = new Map<string, SimulatedStrip>();
  /** Functions that end the wait of answers that are not due yet. */
  readonly #waiting = new Set<() => void>();
  #closed = false;

  constructor(private readonly options: SimulatorOptions) {
    super();
    const { strips, clock } = options;
    for (const { mac, name, outlets = [] } of strips) {
      this.#strips.set(macKey(mac), {
        mac,
        name,
        outlets: PORTS.map((port) => ({ port, on: false, ...outlets[port - 1] })),
        set: {},
        phase: clock.random(),
        available: true,
      });
    }
  }

  /** Whether a request with this key is answered. */
  accepts(candidate: string): boolean {
    const { apiKey } = this.options;
    return apiKey === '' ? candidate !== '' : candidate === apiKey;
  }

  /** The real state of an outlet. `undefined`: no such strip. */
  isOn(mac: string, port: Port): boolean | undefined {
    return this.#strips.get(macKey(mac))?.outlets[port - 1]?.on;
  }

  /** The body of `GET /strips`: the strips that are plugged in. */
  list(): unknown {
    const strips = [...this.#strips.values()].filter(({ available }) => available);
    return SHAPES[this.options.shape].list(strips.map((strip) => this.#snapshot(strip)));
  }

  /** The body of `GET /strips/{mac}`. `undefined`: no such strip, or unplugged. */
  strip(mac: string): unknown {
    const strip = this.#strips.get(macKey(mac));
    return strip?.available ? SHAPES[this.options.shape].strip(this.#snapshot(strip)) : undefined;
  }

  /** Carries out a switch that was requested over the API. `undefined`: no such strip. If it is unplugged, every port fails. */
  switch(mac: string, port: PortOrAll, on: boolean): SwitchResult[] | undefined {
    const strip = this.#strips.get(macKey(mac));
    if (strip === undefined) return undefined;
    if (strip.available) {
      turn(strip, port, on);
      this.emit('switch', { mac: strip.mac, port, on });
    }
    const switched = port === 'all' ? PORTS : [port];
    return switched.map((each) => ({ port: each, ok: strip.available }));
  }

  /** Makes a change at the strip itself, plugged in or not. Unplugging it changes no outlet. Returns `false` if there is no such strip. */
  apply(change: ManualChange): boolean {
    const strip = this.#strips.get(macKey(change.mac));
    if (strip === undefined) return false;
    if ('port' in change) turn(strip, change.port, change.on);
    else if ('available' in change) strip.available = change.available;
    else Object.assign(strip.set, change.readings);
    return true;
  }

  /** Resolves when an answer is due. */
  async latency(): Promise<void> {
    const { latency, clock } = this.options;
    if (latency <= 0 || this.#closed) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clock.clearTimeout(timer);
        this.#waiting.delete(end);
        resolve();
      };
      const timer = clock.setTimeout(end, latency);
      this.#waiting.add(end);
    });
  }

  /** Leaves no timer behind: answers that are waiting go out at once. */
  close(): void {
    this.#closed = true;
    this.removeAllListeners();
    for (const end of this.#waiting) end();
  }

  #snapshot(strip: SimulatedStrip): StripSnapshot {
    const { mac, name, outlets, set } = strip;
    const draw = outlets.reduce((sum, { port, on }) => sum + (on ? DRAW[port] : 0), 0);
    const load = tenths(draw * (1 + 0.04 * this.#drift(strip, 'load')));
    return {
      mac,
      name,
      outlets: outlets.map((outlet) => ({ ...outlet })),
      readings: {
        load: set.load ?? load,
        // Mains voltage sags a little under load.
        voltage: set.voltage ?? tenths(231 - load / 400 + 0.8 * this.#drift(strip, 'voltage')),
        signal: set.signal ?? Math.round(-52 + 3 * this.#drift(strip, 'signal')),
      },
    };
  }

  /** How far a reading is from its mean now, from -1 to 1. */
  #drift({ phase }: SimulatedStrip, name: ReadingName): number {
    const { clock, drift = false } = this.options;
    return drift ? Math.cos(2 * Math.PI * (clock.monotonic() / PERIODS[name] + phase)) : 0;
  }
}

const tenths = (value: number): number => Math.round(value * 10) / 10;

function turn(strip: SimulatedStrip, port: PortOrAll, on: boolean | 'toggle'): void {
  for (const outlet of strip.outlets) {
    if (port === 'all' || port === outlet.port) outlet.on = on === 'toggle' ? !outlet.on : on;
  }
  delete strip.set.load;
}

/**
 * Reads exactly `{mac, port, on}` (`on`: true, false or "toggle"), `{mac, available}` or `{mac}` with any of `load`, `voltage` and `signal`;
 * `null` for anything else, a further property included.
 */
export function readManualChange(payload: unknown): ManualChange | null {
  if (!isRecord(payload)) return null;
  const { mac, ...change } = payload;
  if (typeof mac !== 'string' || mac === '') return null;
  const size = Object.keys(change).length;
  const { port, on, available } = change;
  if (isPortOrAll(port) && (typeof on === 'boolean' || on === 'toggle') && size === 2) {
    return { mac, port, on };
  }
  if (typeof available === 'boolean' && size === 1) return { mac, available };
  const readings: Partial<Record<ReadingName, number>> = {};
  for (const name of READINGS) {
    const value = change[name];
    if (typeof value === 'number' && Number.isFinite(value)) readings[name] = value;
  }
  const found = Object.keys(readings).length;
  return found > 0 && found === size ? { mac, readings } : null;
}

/** An integer from 1 to 4, or "all"; numeric text is not one (API document, section 2). */
export const isPortOrAll = (value: unknown): value is PortOrAll =>
  value === 'all' || PORTS.some((port) => port === value);
