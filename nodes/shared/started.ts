import type { NodeAPI } from 'node-red';

const waiting = new Set<() => void>();
const watched = new WeakSet();

/**
 * Calls back as soon as all nodes of the flows exist: a message sent earlier may not find its receiver. Returns a function that cancels the
 * callback. One listener serves all nodes, because the runtime's event emitter is shared.
 */
export function whenStarted(RED: NodeAPI, callback: () => void): () => void {
  if (!watched.has(RED.events)) {
    watched.add(RED.events);
    RED.events.on('flows:started', () => {
      const due = [...waiting];
      waiting.clear();
      for (const start of due) start();
    });
  }
  waiting.add(callback);
  return () => waiting.delete(callback);
}
