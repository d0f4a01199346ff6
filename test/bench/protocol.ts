/** What is asked of the Node-RED that is measured, and what it answers: both ends of its `/bench/…` routes. */

export interface Target {
  mac: string;
  port: number;
  on: boolean;
}

export interface Asked {
  /** Node that the messages come from; absent for the HTTP client alone. */
  driver?: string;
  /** Where the service is. */
  url: string;
  targets: readonly Target[];
  inFlight: number;
  /** How long new messages are sent; those on their way are waited for. */
  ms: number;
}

export interface Measured {
  /** Milliseconds, of every message. */
  latencies: number[];
  failed: number;
  perSecond: number;
  /** Microseconds of this process per message. */
  cpu: number;
}

/** Bytes, after garbage collection. */
export interface Heap {
  heapUsed: number;
  rss: number;
}

/** What requiring some files took: milliseconds, and bytes that stayed. */
export interface Loaded extends Heap {
  ms: number;
}
