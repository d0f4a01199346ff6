import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of heap in use after garbage collection. */
export function heapUsed(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** Bytes of buffers in use after garbage collection. */
export function buffersUsed(): number {
  collect();
  collect();
  return process.memoryUsage().arrayBuffers;
}

/** What keeps the process alive, by kind. */
export function handles(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Listeners on the process itself, of any event. */
export const processListeners = (): number =>
  process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
