// Loaded into the Node-RED that is measured: a driver that sends messages into a flow and counts those that come out of
// it, the floor (the HTTP client alone), the bare node that a thrifty user would write, and admin routes to steer them.
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { Node, NodeAPI, NodeDef, NodeMessage } from 'node-red';
import type * as Undici from 'undici';
import type { Asked, Heap, Loaded, Measured, Target } from '../protocol';

interface BenchMessage extends NodeMessage {
  payload?: unknown;
  error?: unknown;
  slot?: number;
}

/** Sends into the flow it is wired to, or asks without any flow. */
type Send = (slot: number, target: Target) => void;

/** Milliseconds that a variant runs before it is measured, for its connections and caches to be warm again. */
const RUN_IN = 250;

const KEY = 'key-of-the-bench';
const HEADERS = { 'x-api-key': KEY, 'content-type': 'application/json', accept: 'application/json' };
const pathOf = (mac: string): string => `/api/public/v1/strips/${encodeURIComponent(mac)}/switch`;

/** Keeps so many messages in flight for some time, and measures each of them. */
class Run {
  readonly #targets: readonly Target[];
  readonly #inFlight: number;
  readonly #send: Send;
  readonly #until: number;
  readonly #started: number[] = [];
  readonly #turn: number[];
  readonly #latencies: number[] = [];
  #open = 0;
  #failed = 0;
  readonly #finished: () => void;
  readonly done: Promise<void>;

  constructor({ targets, inFlight, ms }: Asked, send: Send) {
    this.#targets = targets;
    this.#inFlight = inFlight;
    this.#send = send;
    this.#turn = Array.from({ length: inFlight }, () => 0);
    let finished = (): void => undefined;
    this.done = new Promise((resolve) => (finished = resolve));
    this.#finished = finished;
    this.#until = performance.now() + ms;
  }

  start(): void {
    this.#open = this.#inFlight;
    for (let slot = 0; slot < this.#inFlight; slot++) this.#next(slot);
  }

  arrived(slot: number, failed: boolean): void {
    const now = performance.now();
    this.#latencies.push(now - (this.#started[slot] ?? NaN));
    if (failed) this.#failed++;
    if (now < this.#until) this.#next(slot);
    else if (--this.#open === 0) this.#finished();
  }

  result(elapsed: number, cpu: NodeJS.CpuUsage): Measured {
    return {
      latencies: this.#latencies,
      failed: this.#failed,
      perSecond: (this.#latencies.length / elapsed) * 1000,
      cpu: (cpu.user + cpu.system) / this.#latencies.length,
    };
  }

  /** Every slot has outlets of its own, so that no two messages in flight are about the same one. */
  #next(slot: number): void {
    const turn = this.#turn[slot] ?? 0;
    this.#turn[slot] = turn + 1;
    const outlets = this.#targets.length / this.#inFlight;
    const target = this.#targets[slot + this.#inFlight * (turn % outlets)];
    if (target === undefined) throw new Error('more messages in flight than outlets');
    this.#started[slot] = performance.now();
    // Every outlet changes every time, and from one message to the next the other way, so that badges have to follow.
    const round = outlets > 1 ? Math.floor(turn / outlets) : 0;
    this.#send(slot, { ...target, on: (turn + slot + round) % 2 === 0 });
  }
}

export = (RED: NodeAPI): void => {
  const userDir = RED.settings.userDir ?? '.';
  // The package's own undici, so that floor and package stand on the same.
  const load = createRequire(join(userDir, 'settings.js'));
  const drivers = new Map<string, Node>();
  const upgraded = new Set<Socket>();
  let current: Run | null = null;

  const undici = (): typeof Undici => load('undici') as typeof Undici;
  const pools = new Map<string, Undici.Pool>();
  const poolOf = (origin: string, connections: number): Undici.Pool => {
    const name = `${origin} ${connections}`;
    const pool = pools.get(name) ?? new (undici().Pool)(origin, { connections, keepAliveTimeout: 20_000 });
    pools.set(name, pool);
    return pool;
  };

  RED.nodes.registerType('bench-driver', function (this: Node, config: NodeDef) {
    RED.nodes.createNode(this, config);
    drivers.set(config.id, this);
  });

  RED.nodes.registerType('bench-sink', function (this: Node, config: NodeDef) {
    RED.nodes.createNode(this, config);
    this.on('input', (message, _send, done) => {
      const { slot, error } = message as BenchMessage;
      if (error !== undefined) this.log(`bench: ${JSON.stringify(error)}`);
      current?.arrived(slot ?? -1, error !== undefined);
      done();
    });
  });

  RED.nodes.registerType('bench-bare', function (this: Node, config: NodeDef) {
    RED.nodes.createNode(this, config);
    this.on('input', (message, send, done) => {
      send(message);
      done();
    });
  });

  RED.nodes.registerType(
    'bench-pool',
    function (this: Node, config: NodeDef & { url: string; connections: number }) {
      RED.nodes.createNode(this, config);
      const pool = new (undici().Pool)(config.url, {
        connections: config.connections,
        keepAliveTimeout: 20_000,
      });
      this.on('input', (message: BenchMessage, send, done) => {
        const { mac, port, on } = message.payload as Target;
        pool
          .request({
            path: pathOf(mac),
            method: 'POST',
            headers: HEADERS,
            body: JSON.stringify({ port, on }),
          })
          .then(async ({ body }) => {
            const response = (await body.json()) as { success?: boolean };
            if (response.success !== true) throw new Error('not switched');
            message.payload = on;
            send(message);
            done();
          })
          .catch((error: unknown) => done(error instanceof Error ? error : new Error(String(error))));
      });
      this.on('close', () => void pool.destroy());
    },
  );

  const floor = (asked: Asked): Send => {
    const pool = poolOf(asked.url, asked.inFlight);
    return (slot, { mac, port, on }) => {
      pool
        .request({ path: pathOf(mac), method: 'POST', headers: HEADERS, body: JSON.stringify({ port, on }) })
        .then(async ({ body }) => ((await body.json()) as { success?: boolean }).success === true)
        .then(
          (success) => current?.arrived(slot, !success),
          () => current?.arrived(slot, true),
        );
    };
  };

  const through = (id: string): Send => {
    const driver = drivers.get(id);
    if (driver === undefined) throw new Error(`no driver ${id}`);
    return (slot, target) => driver.send({ payload: target, slot });
  };

  const finished = async (one: Run): Promise<void> => {
    current = one;
    one.start();
    await one.done;
  };

  // No garbage collection is forced in between: a full one throws compiled code away, and the compiler's work to make it
  // anew, which a flow that just runs never sees, would be what is measured.
  const run = async (asked: Asked): Promise<Measured> => {
    const send = asked.driver === undefined ? floor(asked) : through(asked.driver);
    await finished(new Run({ ...asked, ms: RUN_IN }, send));
    const one = new Run(asked, send);
    const before = process.cpuUsage();
    const start = performance.now();
    await finished(one);
    const elapsed = performance.now() - start;
    return one.result(elapsed, process.cpuUsage(before));
  };

  const heap = (): Heap => {
    globalThis.gc?.();
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    return { heapUsed, rss };
  };

  const requireAll = (files: readonly string[]): Loaded => {
    const before = heap();
    const start = performance.now();
    for (const file of files) load(file);
    const ms = performance.now() - start;
    const after = heap();
    return { ms, heapUsed: after.heapUsed - before.heapUsed, rss: after.rss - before.rss };
  };

  RED.server.on('upgrade', (_request, socket: Socket) => upgraded.add(socket));
  const route = (name: string, work: (body: unknown) => unknown): void => {
    RED.httpAdmin.post(`/bench/${name}`, (request, response) => {
      Promise.resolve()
        .then(() => work(request.body))
        .then(
          (result) => response.json(result),
          (error: unknown) => response.status(500).send(String(error)),
        );
    });
  };
  route('run', (body) => run(body as Asked));
  route('heap', heap);
  route('require', (body) => requireAll((body as { files: string[] }).files));
  // An open editor costs time per status; nobody looks while this is measured.
  route('unwatched', () => {
    for (const socket of upgraded) socket.destroy();
    upgraded.clear();
    return {};
  });
};
