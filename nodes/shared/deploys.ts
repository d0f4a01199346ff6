// The deploys of this Node-RED. One set of listeners serves all nodes: the runtime has one event emitter, which warns of many listeners.
import type { NodeAPI } from 'node-red';

const watched = new WeakSet();
/** From the start of a deploy to its end; resolves then. */
let deploy: { readonly ended: Promise<void>; end(): void } | null = null;
let stopping = false;
const onceStopped = new Set<() => void>();
const onceStarted = new Set<() => void>();

/** Follows the deploys from now on. */
export function watchDeploys(RED: NodeAPI): void {
  if (watched.has(RED.events)) return;
  watched.add(RED.events);
  const begin = (): void => {
    if (deploy !== null) return;
    let end = (): void => undefined;
    deploy = { ended: new Promise((resolve) => (end = resolve)), end: () => end() };
  };
  RED.events.on('flows:stopping', () => {
    stopping = true;
    begin();
  });
  RED.events.on('flows:stopped', () => {
    stopping = false;
    callAll(onceStopped);
  });
  RED.events.on('flows:starting', begin);
  RED.events.on('flows:started', () => {
    deploy?.end();
    deploy = null;
    callAll(onceStarted);
  });
}

/** Resolves when the deploy that is going on has ended; `null` where there is none. */
export const deployEnded = (): Promise<void> | null => deploy?.ended ?? null;

/**
 * Calls back as soon as all nodes of the flows exist: a message sent earlier may not find its receiver. Returns a function that cancels the
 * callback.
 */
export function whenStarted(RED: NodeAPI, callback: () => void): () => void {
  watchDeploys(RED);
  onceStarted.add(callback);
  return () => onceStarted.delete(callback);
}

/** Calls back at once or, during a deploy, when all nodes that it takes away have closed. */
export function whenStopped(callback: () => void): void {
  if (stopping) onceStopped.add(callback);
  else callback();
}

function callAll(callbacks: Set<() => void>): void {
  const all = [...callbacks];
  callbacks.clear();
  for (const callback of all) callback();
}
