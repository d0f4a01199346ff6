import type { Port, Strip } from '../api/types';
import type { Attempts } from './attempt';
import { unknownState } from './failures';
import type { Job } from './job';
import type { Reads } from './reads';
import type { Switching } from './switching';
import type { Outcome } from './types';

/**
 * Reads the strip afresh, then switches to the opposite. The opposite is worked out once: after a switch request may have been sent,
 * reading again could undo it.
 */
export async function toggle(
  job: Job,
  attempts: Attempts,
  reads: Reads,
  switching: Switching,
): Promise<Outcome> {
  const { strip, response } = await attempts.send(job, () => reads.askStrip(switching.spelling(job)));
  return switching.carryOut(job, opposite(job, strip, switching, response));
}

function opposite(job: Job, strip: Strip, switching: Switching, response: unknown): boolean {
  const { mac, port } = job.command;
  const free = switching.unprotected(job.key);
  // With every outlet protected, one that is on still makes it an off, which is then refused.
  const asked: readonly Port[] =
    port !== 'all' ? [port] : free.length > 0 ? free : strip.outlets.map((o) => o.port);
  const states = asked.map((each) => strip.outlets.find((outlet) => outlet.port === each)?.on ?? null);
  if (states.includes(true)) return false;
  if (states.length === 0 || states.includes(null)) throw unknownState(mac, port, response);
  return true;
}
