import type { PortOrAll, Strip, SwitchResult } from './types';

/** What one read of the service gave. */
export interface ListReading {
  strips: Strip[];
  /** The answer was understood as a whole: a strip that is not in it is gone. */
  complete: boolean;
  /** At least one outlet's state could be read, or there was plainly nothing to read. */
  readable: boolean;
  response: unknown;
}

export interface StripReading {
  strip: Strip;
  readable: boolean;
  response: unknown;
}

export interface SwitchReading {
  results: SwitchResult[];
  response: unknown;
}

/** The service as the account needs it; `src/api/client.ts` is one. All reject with `StripError` only. */
export interface Service {
  list(): Promise<ListReading>;
  get(mac: string): Promise<StripReading>;
  /** Resolves only for a success as the design defines it; otherwise rejects (SWITCH_FAILED and others). */
  switch(mac: string, port: PortOrAll, on: boolean): Promise<SwitchReading>;
  /** Aborts reads at once and switches after the grace period, all with CLOSED; resolves when no socket is left. */
  close(graceMs: number): Promise<void>;
}
