import type { Dispatcher } from 'undici';
import { handle } from './http';
import type { ServiceRequest } from './http';
import type { Simulator } from './simulator';

/** `code` of the error of a request for which there is no simulator. */
export const NO_SIMULATOR = 'NO_SIMULATOR';

/**
 * What takes the place of undici's connections where the base URL is the path of a simulator in this process: it hands requests to the
 * simulator and its answers back, in undici's own protocol, so that a client notices no difference. `find` is asked at every request,
 * because simulators come and go with deploys; the request waits for what it returns.
 */
export class SimulatorDispatcher implements Pick<Dispatcher, 'dispatch' | 'destroy'> {
  readonly #path: string;
  readonly #find: () => Promise<Simulator | null>;
  /** Requests without an answer. */
  readonly #pending = new Set<Controller>();
  #destroyed = false;

  /** `path`: the simulator's, as `normalisePath` returns it; what requests ask for starts with it. */
  constructor(path: string, find: () => Promise<Simulator | null>) {
    this.#path = path;
    this.#find = find;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const controller = new Controller((reason) => {
      if (this.#pending.delete(controller)) handler.onResponseError?.(controller, reason);
    });
    this.#pending.add(controller);
    if (this.#destroyed) controller.abort(destroyed());
    else {
      this.#answer(options, handler, controller).catch((error: unknown) => {
        controller.abort(error instanceof Error ? error : new Error(String(error)));
      });
    }
    return true;
  }

  /** Ends all requests that have no answer yet, and every later one. */
  async destroy(): Promise<void> {
    this.#destroyed = true;
    for (const controller of [...this.#pending]) controller.abort(destroyed());
    await Promise.resolve();
  }

  async #answer(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    controller: Controller,
  ): Promise<void> {
    const simulator = await this.#find();
    if (!this.#pending.has(controller)) return;
    if (simulator === null) throw withCode('there is no simulator at this path', NO_SIMULATOR);
    handler.onRequestStart?.(controller, null);
    // Given up before it was carried out: then it must not be.
    if (!this.#pending.has(controller)) return;
    const { method, path, headers: sent, body: asked } = options;
    const { status, headers, body } = await handle(simulator, {
      method,
      path: path.slice(this.#path.length),
      headers: headersOf(sent),
      body: typeof asked === 'string' ? asked : '',
    });
    if (!this.#pending.has(controller)) return;
    handler.onResponseStart?.(controller, status, headers);
    if (this.#pending.has(controller)) handler.onResponseData?.(controller, Buffer.from(body));
    if (this.#pending.delete(controller)) handler.onResponseEnd?.(controller, {});
  }
}

/** What undici hands to the handler of a request. Answers are small and come whole, so there is nothing to pause. */
class Controller implements Dispatcher.DispatchController {
  aborted = false;
  paused = false;
  reason: Error | null = null;
  readonly #onAbort: (reason: Error) => void;

  constructor(onAbort: (reason: Error) => void) {
    this.#onAbort = onAbort;
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.#onAbort(reason);
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }
}

/** Header names and values as undici takes them from its callers: one after the other, or as an object. */
function headersOf(headers: Dispatcher.DispatchOptions['headers']): ServiceRequest['headers'] {
  if (!Array.isArray(headers)) {
    return Object.fromEntries(
      Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
    );
  }
  const named: Record<string, string> = {};
  for (let at = 0; at + 1 < headers.length; at += 2) {
    named[String(headers[at]).toLowerCase()] = String(headers[at + 1]);
  }
  return named;
}

const destroyed = (): Error => withCode('the dispatcher is destroyed', 'UND_ERR_DESTROYED');

const withCode = (message: string, code: string): Error => Object.assign(new Error(message), { code });
