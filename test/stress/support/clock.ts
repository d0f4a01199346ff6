import { systemClock, type Clock } from '../../../src/api/clock';

export interface FastClock extends Clock {
  /** Turns the wall clock, and only that, by so many milliseconds. */
  jump(ms: number): void;
}

/** Time that runs so many times as fast as it does: real sockets, and back-offs of minutes that are over in a second. */
export function fastClock(factor: number): FastClock {
  const started = performance.now();
  const wallStarted = Date.now();
  let jumped = 0;
  const monotonic = (): number => (performance.now() - started) * factor;
  return {
    ...systemClock,
    monotonic,
    wall: () => wallStarted + jumped + monotonic(),
    setTimeout: (callback, ms) => systemClock.setTimeout(callback, ms / factor),
    jump: (ms) => void (jumped += ms),
  };
}
