import type { IncomingMessage, ServerResponse } from 'node:http';
import { API_ROOT } from './handler';
import { serve } from './http';
import type { Simulator } from './simulator';

interface Claim {
  simulator: Simulator;
  onServing: (serving: boolean) => void;
}

/**
 * The form in which paths are compared: no slash at the end ('' for the root), without the API's own path where
 * somebody pasted it too. `null` where it does not start with "/" or is no plain path.
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

/**
 * Which simulator answers below which path of one HTTP server. A server's routes cannot be taken back, so a single
 * one stays for good and asks here at every request.
 */
export class Mounts {
  readonly #claims = new Map<string, Claim[]>();

  /**
   * Claims a normalised path; the first who comes is served, and the next one when that one leaves. `onServing` is
   * told at once and whenever that changes. Returns what gives the path back.
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

  /** Express's form of a handler; what is no simulator's goes on to `next`. */
  readonly middleware = (
    request: IncomingMessage,
    response: ServerResponse,
    next: (error?: unknown) => void,
  ): void => {
    const { url = '' } = request;
    const claim = this.#find(url);
    if (claim === null) next();
    else serve(claim.simulator, request, response, url.slice(claim.path.length)).catch(next);
  };

  #find(url: string): { path: string; simulator: Simulator } | null {
    for (const [path, [claim]] of this.#claims) {
      const root = path + API_ROOT;
      if (claim !== undefined && url.startsWith(root) && /^(?:[/?]|$)/.test(url.slice(root.length))) {
        return { path, simulator: claim.simulator };
      }
    }
    return null;
  }
}
