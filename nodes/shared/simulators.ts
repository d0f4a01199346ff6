import type { NodeAPI } from 'node-red';
import { SimulatorDispatcher } from '../../src/simulator/dispatcher';
import { normalisePath, SimulatorRegistry } from '../../src/simulator/registry';

/** The simulators of this Node-RED. */
export const simulators = new SimulatorRegistry();

/** From the start of a deploy to its end; resolves then. */
let deploy: { readonly ended: Promise<void>; end(): void } | null = null;
/** What waits until the nodes that a deploy takes away have all closed. */
const onceStopped = new Set<() => void>();
let stopping = false;
const watched = new WeakSet();

/** Follows the deploys. One set of listeners serves all nodes, because the runtime's events are everybody's. */
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
    for (const callback of onceStopped) callback();
    onceStopped.clear();
  });
  RED.events.on('flows:starting', begin);
  RED.events.on('flows:started', () => {
    deploy?.end();
    deploy = null;
  });
}

/**
 * Gives a path back, at once or, during a deploy, when all nodes that it takes away have closed: until then an account that closes may
 * have something to switch.
 */
export function releaseOnceStopped(release: () => void): void {
  if (stopping) onceStopped.add(release);
  else release();
}

/** Takes requests to the simulator with this path. Those made during a deploy wait for its end before they find none. */
export function simulatorDispatcher(typed: string): SimulatorDispatcher {
  const path = normalisePath(typed);
  return new SimulatorDispatcher(path ?? typed, async () => {
    if (path === null) return null;
    while (deploy !== null && simulators.at(path) === null) await deploy.ended;
    return simulators.at(path);
  });
}
