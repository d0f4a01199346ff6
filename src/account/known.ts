import type { Outlet, Port, Strip } from '../api/types';

/** What is known of one value, and how new that is. */
export interface Known<Value> {
  /** As told last; `null`: the service did not say. */
  now: Value | null;
  /** The last one that was not `null`: what the next is compared with. */
  last: Value | null;
  /** Sequence number of the read or confirmation that told `now`. */
  stamp: number;
}

export interface KnownOutlet extends Known<boolean> {
  readonly port: Port;
}

const nothing = (): Known<number> => ({ now: null, last: null, stamp: 0 });

/** One strip as the account knows it. Changed in place: a list in which nothing is new allocates nothing. */
export class KnownStrip {
  readonly key: string;
  /** As the service spells it, once it did. */
  mac: string;
  name: string | null = null;
  available = false;
  /** How new `available` is; 0: nothing was said about it yet. */
  availableStamp = 0;
  /** In order of port. */
  readonly outlets: KnownOutlet[] = [];
  /** Some read told its outlets, so that there are no others. */
  outletsTold = false;
  readonly load = nothing();
  readonly voltage = nothing();
  readonly signal = nothing();
  units: Strip['units'] = {};
  at: string;
  /** How new name, units and `at` are. */
  stamp = 0;
  /** Number of the newest list it was in. */
  listed = 0;
  /** That list told none of its readings. */
  readingsUntold = false;

  constructor(key: string, mac: string, at: string) {
    this.key = key;
    this.mac = mac;
    this.at = at;
  }

  outlet(port: Port): KnownOutlet | undefined {
    // The place where it stands unless the strip skips a number.
    const likely = this.outlets[port - 1];
    return likely?.port === port ? likely : this.outlets.find((outlet) => outlet.port === port);
  }

  addOutlet(port: Port): KnownOutlet {
    const outlet: KnownOutlet = { port, now: null, last: null, stamp: 0 };
    this.outlets.push(outlet);
    this.outlets.sort((a, b) => a.port - b.port);
    return outlet;
  }

  /** A copy that belongs to whoever asked for it. */
  copy(): Strip {
    return {
      mac: this.mac,
      name: this.name,
      available: this.available,
      outlets: this.outlets.map(({ port, now }) => ({ port, on: now, name: null })),
      load: this.load.now,
      voltage: this.voltage.now,
      signal: this.signal.now,
      units: { ...this.units },
      at: this.at,
    };
  }

  /** A copy for many readers, none of whom can spoil it for the others. */
  frozenCopy(): Strip {
    const strip = this.copy();
    strip.outlets.forEach((outlet: Outlet) => Object.freeze(outlet));
    Object.freeze(strip.outlets);
    Object.freeze(strip.units);
    return Object.freeze(strip);
  }
}

/** Whether a strip as read tells any reading at all. */
export const tellsReadings = (strip: Strip): boolean =>
  strip.load !== null || strip.voltage !== null || strip.signal !== null;

export const sameUnits = (a: Strip['units'], b: Strip['units']): boolean =>
  a.load === b.load && a.voltage === b.voltage && a.signal === b.signal;
