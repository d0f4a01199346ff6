// Which simulator answers at which path, and the two ways there: over HTTP, and inside the process.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { API_ROOT } from '../api/types';
import { handle, serve, type ServiceRequest } from './http';
import type { Simulator } from './simulator';

interface Claim {
  simulator: Simulator;
  onServing: (serving: boolean) => void;
}

/** The path of a simulator in the URL of a request to it. */
const BASE = new RegExp(`^([^?]*)${API_ROOT}(?:[/?]|$)`);

/** The simulators at their paths. */
export class SimulatorRegistry {
  /** By path; the claims of one path in the order in which they came. */
  readonly #claims = new Map<string, Set<Claim>>();

  /**
   * Claims a normalised path. The first simulator that claims it answers there; when it releases the path, the next one does.
   * `onServing` is called at once, and when the simulator takes over the path. Returns a function that releases the path.
   */
  claim(path: string, simulator: Simulator, onServing: (serving: boolean) => void): () => void {
    const claims = this.#claims.get(path) ?? new Set();
    const claim = { simulator, onServing };
    this.#claims.set(path, claims.add(claim));
    onServing(claims.size === 1);
    return () => {
      const [first] = claims;
      claims.delete(claim);
      const [next] = claims;
      if (next !== first) next?.onServing(true);
    };
  }

  /** The simulator that answers at a normalised path. */
  at(path: string): Simulator | null {
    const [first] = this.#claims.get(path) ?? [];
    return first?.simulator ?? null;
  }

  /** The simulator that a request with this URL is for, and the rest of the URL after the simulator's path; `null`: none. */
  find(url = ''): { simulator: Simulator; rest: string } | null {
    const base = BASE.exec(url)?.[1];
    if (base === undefined) return null;
    const simulator = this.at(base);
    return simulator && { simulator, rest: url.slice(base.length) };
  }
}

/** The simulators of this Node-RED. */
export const simulators = new SimulatorRegistry();

/** One handler for Express that serves all simulators of a registry. Other requests go on to `next`. */
export function middleware(registry: SimulatorRegistry) {
  return (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void => {
    const found = registry.find(request.url);
    if (found === null) next();
    else serve(found.simulator, request, response, found.rest).catch(next);
  };
}

/**
 * Connects a client to a simulator in this process, in place of undici's connections. It has undici's interface, so the client notices no difference.
 * `path`: the simulator's path, as `simulatorPath` returns it; the paths of requests start with it. `find` is called for every request, because
 * simulators come and go with deploys; the request waits for its result. If the client gives up a request before it is carried out, it is not carried
 * out. The client ignores events that come after that.
 */
export const simulatorDispatcher = (path: string, find: () => Promise<Simulator | null>) => ({
  dispatch: (request: ServiceRequest, handler: Dispatcher.DispatchHandler): void => {
    // Answers are small and come as a whole, so there is nothing to pause.
    const controller = {
      aborted: false,
      paused: false,
      reason: null as Error | null,
      pause: () => undefined,
      resume: () => undefined,
      abort: (reason: Error) => {
        controller.aborted = true;
        controller.reason = reason;
      },
    };
    const answer = async (): Promise<void> => {
      const simulator = await find();
      if (simulator === null) throw Object.assign(new Error('no simulator'), { code: 'NO_SIMULATOR' });
      handler.onRequestStart?.(controller, null);
      if (controller.aborted) return;
      const { status, headers, body } = await handle(simulator, {
        ...request,
        path: request.path.slice(path.length),
      });
      handler.onResponseStart?.(controller, status, headers);
      handler.onResponseData?.(controller, Buffer.from(body));
      handler.onResponseEnd?.(controller, {});
    };
    answer().catch((error: unknown) => {
      handler.onResponseError?.(controller, error instanceof Error ? error : new Error(String(error)));
    });
  },
});
