import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a condition that no event announces. Rejects after `timeout` milliseconds, with `what` in its message. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeout = 60_000,
): Promise<void> {
  const deadline = performance.now() + timeout;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`${what} did not come`);
    await sleep(5);
  }
}
