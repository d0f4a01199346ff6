// What an account asks of the service, and what it is answered.
import type { Port, PortOrAll, Strip, SwitchResult } from './types';

export interface ListAnswer {
  strips: Strip[];
  /** The answer was understood as a whole: a strip that is not in it is gone. */
  complete: boolean;
  /** At least one outlet's state could be read, or there was plainly nothing to read. */
  readable: boolean;
  /** The service's JSON body, untouched. */
  response: unknown;
}

export interface StripAnswer {
  strip: Strip;
  readable: boolean;
  /** The service's JSON body, untouched. */
  response: unknown;
}

export interface SwitchAnswer {
  /** What the answer said of the outlets that were asked for. */
  results: SwitchResult[];
  /** Outlets that are now as asked. For `all` these may be fewer than the strip has: what became of the others has to be read. */
  confirmed: Port[];
  /** The service's JSON body, untouched. */
  response: unknown;
}

/** The service as the account needs it; `src/api/client.ts` is one. All reject with `StripError` only. */
export interface Service {
  list(): Promise<ListAnswer>;
  get(mac: string): Promise<StripAnswer>;
  /** Resolves only for a success as the design defines it; otherwise rejects (SWITCH_FAILED and others). */
  switch(mac: string, port: PortOrAll, on: boolean): Promise<SwitchAnswer>;
  /** Aborts reads at once and switches after the grace period, all with CLOSED; resolves when no socket is left. */
  close(graceMs: number): Promise<void>;
}
