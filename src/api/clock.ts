/** Time as the package sees it; tests hand in a clock of their own. */
export interface Clock {
  /** Milliseconds that only ever go forward, for intervals and deadlines. Its zero means nothing. */
  monotonic(): number;
  /** Wall-clock time in milliseconds since 1970, for time stamps and for dates the service sends. */
  wall(): number;
  setTimeout(callback: () => void, ms: number): Timer;
  /** Does nothing where there is no timer. */
  clearTimeout(timer: Timer | null | undefined): void;
  /** Uniform in [0, 1), for jitter. */
  random(): number;
}

/** A pending timeout; opaque. */
export type Timer = object | number;

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (timer) => {
    clearTimeout(timer as NodeJS.Timeout);
  },
  random: () => Math.random(),
};
