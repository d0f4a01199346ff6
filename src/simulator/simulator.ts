import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock, Timer } from '../api/clock';
import { PORTS, READINGS } from '../api/types';
import type { Port, PortOrAll, ReadingName, SwitchResult } from '../api/types';
import { speak } from './shapes';
import type { Shape, StripPicture } from './shapes';

export interface SimulatorSettings {
  strips: readonly { mac: string; name: string }[];
  /** What `x-api-key` must hold. Empty: every request is refused. */
  apiKey: string;
  shape: Shape;
  /** Milliseconds between carrying out a request and answering it. */
  latency: number;
  clock: Clock;
}

/** A switch that was carried out for a caller of the API. */
export interface Switched {
  mac: string;
  port: PortOrAll;
  on: boolean;
}

interface SimulatedStrip {
  readonly mac: string;
  readonly name: string;
  readonly outlets: Map<Port, boolean>;
  /** Set by hand; a load stands until the next outlet is switched. */
  readonly set: Map<ReadingName, number>;
  available: boolean;
}

/** Watts that an outlet draws while it is on. */
const DRAW: Readonly<Record<Port, number>> = { 1: 8.5, 2: 60, 3: 42.5, 4: 120 };

const key = (mac: string): string => mac.replace(/[\s:._-]/g, '').toLowerCase();

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The smart strip service in memory: what it knows, and what a hand at the strip can do. `handle` speaks HTTP. */
export class Simulator {
  readonly #strips = new Map<string, SimulatedStrip>();
  readonly #apiKey: Buffer | null;
  readonly #speaker;
  readonly #latency: number;
  readonly #clock: Clock;
  readonly #listeners = new Set<(switched: Switched) => void>();
  readonly #waiting = new Map<Timer, () => void>();
  #closed = false;

  constructor({ strips, apiKey, shape, latency, clock }: SimulatorSettings) {
    for (const { mac, name } of strips) {
      this.#strips.set(key(mac), {
        mac,
        name,
        outlets: new Map(PORTS.map((port) => [port, false])),
        set: new Map(),
        available: true,
      });
    }
    this.#apiKey = apiKey === '' ? null : digest(apiKey);
    this.#speaker = speak(shape);
    this.#latency = latency;
    this.#clock = clock;
  }

  /** Whether `candidate` is the API key, in a time that tells nothing about it. */
  accepts(candidate: string): boolean {
    return this.#apiKey !== null && timingSafeEqual(digest(candidate), this.#apiKey);
  }

  has(mac: string): boolean {
    return this.#strips.has(key(mac));
  }

  /** What an outlet really is, whatever a client believes. `undefined`: no such strip. */
  isOn(mac: string, port: Port): boolean | undefined {
    return this.#strips.get(key(mac))?.outlets.get(port);
  }

  /** The body of `GET /strips`: the strips that are plugged in. */
  list(): unknown {
    return this.#speaker.list([...this.#strips.values()].filter((strip) => strip.available).map(picture));
  }

  /** The body of `GET /strips/{mac}`. `undefined`: no such strip, or unplugged. */
  strip(mac: string): unknown {
    const strip = this.#strips.get(key(mac));
    return strip?.available ? this.#speaker.strip(picture(strip)) : undefined;
  }

  /** Carries out a switch asked for over the API. `undefined`: no such strip. An unplugged one fails every port. */
  switch(mac: string, port: PortOrAll, on: boolean): SwitchResult[] | undefined {
    const strip = this.#strips.get(key(mac));
    if (strip === undefined) return undefined;
    if (strip.available) {
      turn(strip, port, on);
      for (const listener of [...this.#listeners]) listener({ mac: strip.mac, port, on });
    }
    return affected(port).map((each) => ({ port: each, ok: strip.available }));
  }

  /** Flips an outlet by hand. All methods "by hand" answer `false` where there is no such strip. */
  setOutlet(mac: string, port: PortOrAll, on: boolean): boolean {
    return this.#byHand(mac, (strip) => turn(strip, port, on));
  }

  setReading(mac: string, name: ReadingName, value: number): boolean {
    return this.#byHand(mac, (strip) => strip.set.set(name, value));
  }

  /** Unplugs a strip or plugs it in again. Its outlets keep their state. */
  setAvailable(mac: string, available: boolean): boolean {
    return this.#byHand(mac, (strip) => (strip.available = available));
  }

  /** Calls `listener` after every switch carried out over the API; returns its remover. */
  onSwitch(listener: (switched: Switched) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when an answer is due. */
  async latency(): Promise<void> {
    if (this.#latency <= 0 || this.#closed) return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setTimeout(() => {
        this.#waiting.delete(timer);
        resolve();
      }, this.#latency);
      this.#waiting.set(timer, resolve);
    });
  }

  /** Leaves no timer behind: answers that are waiting go out at once. */
  close(): void {
    this.#closed = true;
    this.#listeners.clear();
    for (const [timer, resolve] of this.#waiting) {
      this.#clock.clearTimeout(timer);
      resolve();
    }
    this.#waiting.clear();
  }

  #byHand(mac: string, change: (strip: SimulatedStrip) => void): boolean {
    const strip = this.#strips.get(key(mac));
    if (strip === undefined) return false;
    change(strip);
    return true;
  }
}

const affected = (port: PortOrAll): readonly Port[] => (port === 'all' ? PORTS : [port]);

function turn(strip: SimulatedStrip, port: PortOrAll, on: boolean): void {
  for (const each of affected(port)) strip.outlets.set(each, on);
  strip.set.delete('load');
}

function picture({ mac, name, outlets, set }: SimulatedStrip): StripPicture {
  const load = PORTS.reduce((sum, port) => sum + (outlets.get(port) ? DRAW[port] : 0), 0);
  // The mains sag a little under load.
  const readings: Record<ReadingName, number> = {
    load,
    voltage: (2310 - Math.round(load / 40)) / 10,
    signal: -52,
  };
  for (const reading of READINGS) readings[reading] = set.get(reading) ?? readings[reading];
  return { mac, name, outlets: PORTS.map((port) => ({ port, on: outlets.get(port) === true })), readings };
}
