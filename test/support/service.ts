import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { systemClock, type Clock, type Timer } from '../../src/api/types';
import { handle, readBody, send } from '../../src/simulator/http';
import type { ShapeName } from '../../src/simulator/shapes';
import { Simulator } from '../../src/simulator/simulator';
import { commit } from './faults';
import type { Fault } from './faults';
import { startListening } from './start-listening';

export type { Fault } from './faults';

/** One request as it came, in order of arrival. */
export interface Recorded {
  method: string;
  /** As it stood in the request line. */
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** When it arrived, in milliseconds of `performance.now()`. */
  at: number;
}

export interface ServiceOptions {
  strips?: readonly { mac: string; name: string }[];
  apiKey?: string;
  shape?: ShapeName;
  /** Milliseconds. */
  latency?: number;
  clock?: Clock;
  /** The fault of a request to this path, where neither `next` nor `always` says one. */
  faultOf?: (path: string) => Fault | null;
  /** Serves https with this certificate (PEM). */
  tls?: { key: string; cert: string };
}

export interface TestService {
  /** Where the service is, without the API's own path. */
  readonly baseUrl: string;
  readonly port: number;
  readonly apiKey: string;
  readonly simulator: Simulator;
  readonly requests: readonly Recorded[];
  /** Connections accepted so far. */
  readonly connections: number;
  /** Connections open now. */
  readonly open: number;
  /** One fault for each of the coming requests; `null` is a request that goes well. */
  next(...faults: (Fault | null)[]): void;
  /** A fault for every request that `next` says nothing of. */
  always(fault: Fault | null): void;
  /**
   * Holds requests back from now on until the returned function is called: 'request' before they are carried out,
   * 'answer' carried out but not answered. Faults and answers then come in the order of arrival.
   */
  hold(at?: 'request' | 'answer'): () => void;
  /** Resolves when at least so many requests have come since the start. */
  arrived(count: number): Promise<void>;
  /** Resolves when no connection is open. */
  closed(): Promise<void>;
  /** Refuses connections and resets those that are open. */
  stopListening(): Promise<void>;
  /** Takes connections again, on the same port. */
  listenAgain(): Promise<void>;
  /** Ends every connection and timer; rejects when the service itself failed meanwhile. */
  close(): Promise<void>;
}

export const STRIPS = [
  { mac: 'A1B2C3D4E5F6', name: 'Desk strip' },
  { mac: 'A1B2C3D4E5F7', name: 'Media strip' },
] as const;

export const API_KEY = 'key-of-the-test-service';

/** Starts the simulated service on an ephemeral port of 127.0.0.1. */
export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const {
    strips = STRIPS,
    apiKey = API_KEY,
    shape = 'plain',
    latency = 0,
    clock = systemClock,
    faultOf = () => null,
    tls,
  } = options;
  const simulator = new Simulator({ strips, apiKey, shape, latency, clock });
  const requests: Recorded[] = [];
  const planned: (Fault | null)[] = [];
  const timers = new Set<Timer>();
  const sockets = new Set<Socket>();
  const waiting: { count: number; resolve: () => void }[] = [];
  const failures: unknown[] = [];
  let usual: Fault | null = null;
  let connections = 0;
  const held: Record<'request' | 'answer', Promise<void> | null> = { request: null, answer: null };

  const run = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const at = performance.now();
    const body = await readBody(request);
    if (body === null) return;
    const { method = '', url: path = '', headers } = request;
    requests.push({ method, path, headers, body, at });
    const fault = planned.length > 0 ? (planned.shift() ?? null) : (usual ?? faultOf(path));
    for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
    // Taken before the next request can come, so that what is held goes on in order of arrival.
    if (held.request !== null) await held.request;
    const carryOut = async () => {
      const answer = await handle(simulator, { method, path, headers, body });
      if (held.answer !== null) await held.answer;
      return answer;
    };
    if (fault === null) send(response, await carryOut());
    else await commit(fault, { request, response, clock, timers, carryOut });
  };

  const listener = (request: IncomingMessage, response: ServerResponse) => {
    run(request, response).catch((error: unknown) => {
      failures.push(error);
      request.socket.destroy();
    });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  // Connections end when a test says so and not before.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  });
  const stopListening = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  };
  const port = await startListening(server);

  return {
    baseUrl: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    apiKey,
    simulator,
    requests,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    next: (...faults) => void planned.push(...faults),
    always: (fault) => void (usual = fault),
    hold: (at = 'request') => {
      let open = (): void => undefined;
      const opened = new Promise<void>((resolve) => (open = resolve));
      held[at] = opened;
      return () => {
        if (held[at] === opened) held[at] = null;
        open();
      };
    },
    arrived: async (count) => {
      if (requests.length >= count) return;
      await new Promise<void>((resolve) => waiting.push({ count, resolve }));
    },
    closed: async () => {
      await Promise.all(
        [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
      );
    },
    stopListening,
    listenAgain: async () => {
      await startListening(server, port);
    },
    close: async () => {
      simulator.close();
      for (const timer of timers) clock.clearTimeout(timer);
      timers.clear();
      await stopListening();
      if (failures.length > 0) throw new AggregateError(failures, 'the test service failed');
    },
  };
}
