import type { IncomingMessage, ServerResponse } from 'node:http';
import { API_ROOT, serve } from './http';
import type { Simulator } from './simulator';

interface Claim {
  simulator: Simulator;
  onServing: (serving: boolean) => void;
}

/**
 * The form in which paths are compared: no slash at the end ('' for the root), without the API's own path, which may have been
 * pasted with it. `null` where it does not start with "/" or is no plain path.
 */
export function normalisePath(text: string): string | null {
  const path = text
    .trim()
    .replace(/\/+$/, '')
    .replace(new RegExp(`${API_ROOT}$`), '')
    .replace(/\/+$/, '');
  if (path === '') return text.trim() === '' ? null : '';
  const isPlain = /^(?:\/[A-Za-z0-9._~-]+)+$/.test(path);
  return isPlain && !/\/\.{1,2}(?:\/|$)/.test(path) ? path : null;
}

/** Which simulator answers at which path, over HTTP and inside the process alike. */
export class SimulatorRegistry {
  readonly #claims = new Map<string, Claim[]>();

  /**
   * Claims a normalised path. The first that claims it answers there, and the next one once that one has left. `onServing` is
   * called at once and whenever that changes. Returns a function that gives the path back.
   */
  claim(path: string, simulator: Simulator, onServing: (serving: boolean) => void): () => void {
    const claims = this.#claims.get(path) ?? [];
    const claim = { simulator, onServing };
    claims.push(claim);
    this.#claims.set(path, claims);
    onServing(claims[0] === claim);
    return () => {
      const at = claims.indexOf(claim);
      if (at < 0) return;
      claims.splice(at, 1);
      if (claims.length === 0) this.#claims.delete(path);
      else if (at === 0) claims[0]?.onServing(true);
    };
  }

  /** The simulator that answers at a normalised path. */
  at(path: string): Simulator | null {
    return this.#claims.get(path)?.[0]?.simulator ?? null;
  }

  /** The simulator that the path and query of a URL lead to, and what follows its own path there. */
  find(url: string): { simulator: Simulator; path: string } | null {
    for (const [base, [claim]] of this.#claims) {
      const root = base + API_ROOT;
      if (claim !== undefined && url.startsWith(root) && /^(?:[/?]|$)/.test(url.slice(root.length))) {
        return { simulator: claim.simulator, path: url.slice(base.length) };
      }
    }
    return null;
  }
}

/** The simulators of this Node-RED. */
export const simulators = new SimulatorRegistry();

/** The registry's simulators as one handler for Express; what leads to none of them goes on to `next`. */
export function middleware(registry: SimulatorRegistry) {
  // A server's routes cannot be taken back, so a single one stays for good and asks the registry at every request.
  return (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void => {
    const found = registry.find(request.url ?? '');
    if (found === null) next();
    else serve(found.simulator, request, response, found.path).catch(next);
  };
}
