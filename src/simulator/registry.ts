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
  /** By path, in the order in which they came. */
  readonly #claims = new Map<string, Set<Claim>>();

  /**
   * Claims a normalised path. The first that claims it answers there, and the next one once that one has left. `onServing` is
   * called at once and whenever that changes. Returns a function that gives the path back.
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

  /** The simulator that a request with this URL is for, and what the URL says after the simulator's path; `null`: none. */
  find(url = ''): { simulator: Simulator; rest: string } | null {
    const base = BASE.exec(url)?.[1];
    const simulator = base === undefined ? null : this.at(base);
    return base === undefined || simulator === null ? null : { simulator, rest: url.slice(base.length) };
  }
}

/** The simulators of this Node-RED. */
export const simulators = new SimulatorRegistry();

/** The registry's simulators as one handler for Express; what leads to none of them goes on to `next`. */
export function middleware(registry: SimulatorRegistry) {
  return (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void => {
    const found = registry.find(request.url);
    if (found === null) next();
    else serve(found.simulator, request, response, found.rest).catch(next);
  };
}

/**
 * What takes the place of undici's connections where the base URL is the path of a simulator in this process: it hands requests to the
 * simulator and its answers back, in undici's own protocol, so that a client notices no difference. `path`: the simulator's, as `simulatorPath`
 * returns it; what requests ask for starts with it. `find` is asked at every request, because simulators come and go with deploys; the request
 * waits for what it returns. What the client gives up meanwhile is not carried out; whatever comes of it, the client ignores.
 */
export const simulatorDispatcher = (
  path: string,
  find: () => Promise<Simulator | null>,
): Pick<Dispatcher, 'dispatch'> => ({
  dispatch: (options, handler) => {
    // Answers are small and come whole, so there is nothing to pause.
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
      const { method, headers: sent, body: asked } = options;
      const { status, headers, body } = await handle(simulator, {
        method,
        path: options.path.slice(path.length),
        headers: headersOf(sent),
        body: typeof asked === 'string' ? asked : '',
      });
      handler.onResponseStart?.(controller, status, headers);
      handler.onResponseData?.(controller, Buffer.from(body));
      handler.onResponseEnd?.(controller, {});
    };
    answer().catch((error: unknown) => {
      handler.onResponseError?.(controller, error instanceof Error ? error : new Error(String(error)));
    });
    return true;
  },
});

/** Header names and values one after the other, as the client sends them. */
function headersOf(headers: Dispatcher.DispatchOptions['headers']): ServiceRequest['headers'] {
  const list: unknown[] = Array.isArray(headers) ? headers : [];
  const named: Record<string, string> = {};
  for (let at = 0; at + 1 < list.length; at += 2)
    named[String(list[at]).toLowerCase()] = String(list[at + 1]);
  return named;
}
