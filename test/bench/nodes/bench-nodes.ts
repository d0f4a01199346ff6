// Loaded into the Node-RED that is measured: a driver that sends messages into a flow, a sink that counts those that come
// out, the short node that a careful user would write, and admin routes to control them.
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Node, NodeAPI, NodeDef, NodeMessage } from 'node-red';
import type * as Undici from 'undici';
import type { Command, Memory, RunOptions, RunResult } from '../lab';

interface BenchMessage extends NodeMessage {
  payload?: unknown;
  error?: unknown;
  slot?: number;
}

/** Milliseconds that a variant runs before it is measured, so that its connections are open. */
const WARM_UP = 250;

const HEADERS = { 'x-api-key': 'key-of-the-bench', 'content-type': 'application/json' };

/** Sends one message into a flow, or one request without any flow. */
type Send = (slot: number, command: Command) => void;

/** Keeps `inFlight` messages going for some time and measures each of them. */
class Run {
  readonly latencies: number[] = [];
  failed = 0;
  readonly #options: RunOptions;
  readonly #send: Send;
  readonly #started: number[] = [];
  readonly #turns: number[] = [];
  #until = 0;
  #open = 0;
  #finish = (): void => undefined;

  constructor(options: RunOptions, send: Send) {
    this.#options = options;
    this.#send = send;
  }

  async run(): Promise<void> {
    const done = new Promise<void>((resolve) => (this.#finish = resolve));
    this.#until = performance.now() + this.#options.ms;
    this.#open = this.#options.inFlight;
    for (let slot = 0; slot < this.#options.inFlight; slot++) this.#next(slot);
    await done;
  }

  arrived(slot: number, failed: boolean): void {
    const now = performance.now();
    this.latencies.push(now - (this.#started[slot] ?? NaN));
    if (failed) this.failed++;
    if (now < this.#until) this.#next(slot);
    else if (--this.#open === 0) this.#finish();
  }

  /** Each slot has outlets of its own, so that no two messages in flight are for the same one; each command changes its outlet. */
  #next(slot: number): void {
    const { commands, inFlight } = this.#options;
    const turn = (this.#turns[slot] ?? 0) + 1;
    this.#turns[slot] = turn;
    const perSlot = commands.length / inFlight;
    const command = commands[slot + inFlight * (turn % perSlot)];
    if (command === undefined) throw new Error('more messages in flight than outlets');
    this.#started[slot] = performance.now();
    const round = perSlot > 1 ? Math.floor(turn / perSlot) : 0;
    this.#send(slot, { ...command, on: (turn + slot + round) % 2 === 0 });
  }
}

export = (RED: NodeAPI): void => {
  // The package's own undici, so that all variants use the same.
  const load = createRequire(join(RED.settings.userDir ?? '.', 'settings.js'));
  const drivers = new Map<string, Node>();
  const pools = new Map<string, Undici.Pool>();
  const sockets = new Set<Socket>();
  let current: Run | null = null;

  const poolOf = (origin: string, connections: number): Undici.Pool => {
    const { Pool } = load('undici') as typeof Undici;
    const name = `${origin} ${connections}`;
    const pool = pools.get(name) ?? new Pool(origin, { connections, keepAliveTimeout: 20_000 });
    pools.set(name, pool);
    return pool;
  };

  const request = async (pool: Undici.Pool, { mac, port, on }: Command): Promise<void> => {
    const path = `/api/public/v1/strips/${encodeURIComponent(mac)}/switch`;
    const body = JSON.stringify({ port, on });
    const answer = await pool.request({ path, method: 'POST', headers: HEADERS, body });
    const { success } = (await answer.body.json()) as { success?: boolean };
    if (success !== true) throw new Error('not switched');
  };

  RED.nodes.registerType('bench-driver', function (this: Node, config: NodeDef) {
    RED.nodes.createNode(this, config);
    drivers.set(config.id, this);
  });

  RED.nodes.registerType('bench-sink', function (this: Node, config: NodeDef) {
    RED.nodes.createNode(this, config);
    this.on('input', ({ slot, error }: BenchMessage, _send, done) => {
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

  const registerPoolNode = function (
    this: Node,
    config: NodeDef & { url: string; connections: number },
  ): void {
    RED.nodes.createNode(this, config);
    const pool = poolOf(config.url, config.connections);
    this.on('input', (message: BenchMessage, send, done) => {
      const command = message.payload as Command;
      request(pool, command).then(
        () => {
          message.payload = command.on;
          send(message);
          done();
        },
        (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
      );
    });
  };
  RED.nodes.registerType('bench-pool', registerPoolNode);

  const sender = ({ driver, url, inFlight }: RunOptions): Send => {
    if (driver !== undefined) {
      const node = drivers.get(driver);
      if (node === undefined) throw new Error(`no driver ${driver}`);
      return (slot, command) => node.send({ payload: command, slot });
    }
    const pool = poolOf(url, inFlight);
    return (slot, command) =>
      void request(pool, command).then(
        () => current?.arrived(slot, false),
        () => current?.arrived(slot, true),
      );
  };

  // No garbage collection is forced here: it would throw compiled code away, which a running flow never sees.
  const run = async (options: RunOptions): Promise<RunResult> => {
    const send = sender(options);
    current = new Run({ ...options, ms: WARM_UP }, send);
    await current.run();
    current = new Run(options, send);
    const before = process.cpuUsage();
    const start = performance.now();
    await current.run();
    const elapsed = performance.now() - start;
    const { user, system } = process.cpuUsage(before);
    const { latencies, failed } = current;
    const count = latencies.length;
    return { latencies, failed, perSecond: (count / elapsed) * 1000, cpu: (user + system) / count };
  };

  const memory = (): Memory => {
    const { user, system } = process.cpuUsage();
    globalThis.gc?.();
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    return { heapUsed, rss, cpu: user + system, ms: 0 };
  };

  const requireAll = (files: readonly string[]): Memory => {
    const before = memory();
    const start = performance.now();
    for (const file of files) load(file);
    const ms = performance.now() - start;
    const after = memory();
    return { ...after, ms, heapUsed: after.heapUsed - before.heapUsed, rss: after.rss - before.rss };
  };

  const route = (name: string, work: (body: unknown) => unknown): void => {
    RED.httpAdmin.post(`/bench/${name}`, (req, response) => {
      Promise.resolve(req.body)
        .then(work)
        .then(
          (result) => response.json(result),
          (error: unknown) => response.status(500).send(String(error)),
        );
    });
  };
  route('run', (body) => run(body as RunOptions));
  route('memory', memory);
  route('require', (body) => requireAll((body as { files: string[] }).files));
  // An open editor costs time for each status, so the measurements run without one.
  RED.server.on('upgrade', (_request, socket: Socket) => sockets.add(socket));
  route('unwatched', () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    return {};
  });
};
