/** An outlet of a strip (API document, section 2). */
export type Port = 1 | 2 | 3 | 4;

/** What a switch request may name: one outlet, or all of the strip (sections 2 and 4). */
export type PortOrAll = Port | 'all';

export const PORTS: readonly Port[] = [1, 2, 3, 4];

export interface Outlet {
  port: Port;
  /** `null`: the service did not say, or said it in a way nobody can read for sure. */
  on: boolean | null;
  /** The outlet's own name; `null`: none was given. */
  name: string | null;
}

/** What a strip reports besides its outlets. The API document states neither type nor unit of any. */
export type ReadingName = 'load' | 'voltage' | 'signal';

export const READINGS: readonly ReadingName[] = ['load', 'voltage', 'signal'];

/** One strip as read from the service. Field names of the service's own records are not documented. */
export interface Strip {
  /** As the service spelled it; compare with `sameMac`, never by `===`. */
  mac: string;
  name: string | null;
  /** The service answered for it last time. */
  available: boolean;
  /** In order of port; only outlets the service mentioned. */
  outlets: Outlet[];
  load: number | null;
  voltage: number | null;
  signal: number | null;
  /** Only where the service sent one. */
  units: Partial<Record<ReadingName, string>>;
  /** ISO 8601, when we read it. */
  at: string;
}

/** One entry of a switch answer's `results` (section 2). */
export interface SwitchResult {
  port: number;
  ok: boolean;
}
