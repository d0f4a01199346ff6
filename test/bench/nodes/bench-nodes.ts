// Loaded into the Node-RED that is measured: a driver that sends messages into a flow, a sink that counts those that come
// out, the short node that a careful user would write, and admin routes to control them.
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Node, NodeAPI, NodeDef, NodeMessage } from 'node-red';
import type * as Undici from 'undici';
import type { RunResult, Usage } from '../lab';

interface BenchMessage extends NodeMessage {
  payload?: unknown;
  error?: unknown;
  slot?: number;
}

interface PoolDef extends NodeDef {
  url: string;
  connections: number;
}

interface Command {
  mac: string;
  port: number;
  on: boolean;
}

/** Messages from a driver, or from the HTTP client alone where the flow has no node for them. */
interface Run {
  driver: string;
  url: string;
  inFlight: number;
  /** Milliseconds in which new messages are sent. */
  ms: number;
}

/** Milliseconds that a variant runs before it is measured, so that its connections are open. */
const WARM_UP = 250;

const OUTLETS = 100;
const HEADERS = { 'x-api-key': 'key-of-the-bench', 'content-type': 'application/json' };

/** Each slot has outlets of its own, so that no two messages in flight are for the same one; each command changes its outlet. */
function commandOf(slot: number, turn: number, inFlight: number): Command {
  const number = slot + turn * inFlight;
  const outlet = number % OUTLETS;
  const mac = `A1B2C3D4${String(outlet >> 2).padStart(4, '0')}`;
  return { mac, port: (outlet % 4) + 1, on: Math.floor(number / OUTLETS) % 2 === 0 };
}

async function request(pool: Undici.Pool, { mac, port, on }: Command): Promise<void> {
  const path = `/api/public/v1/strips/${encodeURIComponent(mac)}/switch`;
  const body = JSON.stringify({ port, on });
  const answer = await pool.request({ path, method: 'POST', headers: HEADERS, body });
  const { success } = (await answer.body.json()) as { success?: boolean };
  if (success !== true) throw new Error('not switched');
}

export = (RED: NodeAPI): void => {
  // The package's own undici, so that all variants use the same.
  const load = createRequire(join(RED.settings.userDir ?? '.', 'settings.js'));
  const drivers = new Map<string, Node>();
  const sockets = new Set<Socket>();
  /** Called when a message of the run is over. */
  let onEnd: (slot: number, error?: unknown) => void = () => undefined;

  const poolOf = (origin: string, connections: number): Undici.Pool =>
    new (load('undici') as typeof Undici).Pool(origin, { connections, keepAliveTimeout: 20_000 });

  /** Keeps `inFlight` messages under way for `ms`. Gives the milliseconds of each; rejects if one fails. */
  const keepSending = ({ inFlight, ms }: Run, send: (slot: number, command: Command) => void) =>
    new Promise<number[]>((resolve, reject) => {
      const latencies: number[] = [];
      const slots = Array.from({ length: inFlight }, () => ({ turn: 0, began: 0 }));
      const until = performance.now() + ms;
      let open = inFlight;
      const next = (slot: number): void => {
        const state = slots[slot];
        if (state === undefined) return;
        const command = commandOf(slot, state.turn++, inFlight);
        state.began = performance.now();
        send(slot, command);
      };
      onEnd = (slot, error) => {
        const now = performance.now();
        latencies.push(now - (slots[slot]?.began ?? NaN));
        if (error !== undefined) reject(new Error(`a message failed: ${JSON.stringify(error)}`));
        else if (now < until) next(slot);
        else if (--open === 0) resolve(latencies);
      };
      for (let slot = 0; slot < inFlight; slot++) next(slot);
    });

  RED.nodes.registerType('bench-driver', function (this: Node, config: NodeDef) {
    RED.nodes.createNode(this, config);
    drivers.set(config.id, this);
  });

  RED.nodes.registerType('bench-sink', function (this: Node, config: NodeDef) {
    RED.nodes.createNode(this, config);
    this.on('input', ({ slot = -1, error }: BenchMessage, _send, done) => {
      onEnd(slot, error);
      done();
    });
  });

  RED.nodes.registerType('bench-pool', function (this: Node, config: PoolDef) {
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
  });

  // No garbage collection is forced here: it would throw compiled code away, which a running flow never sees.
  const run = async (options: Run): Promise<RunResult> => {
    const { driver, url, inFlight } = options;
    const node = drivers.get(driver);
    const pool = poolOf(url, inFlight);
    const send = (slot: number, command: Command): void => {
      if (node !== undefined) node.send({ payload: command, slot });
      else {
        request(pool, command).then(
          () => onEnd(slot),
          (error: unknown) => onEnd(slot, String(error)),
        );
      }
    };
    await keepSending({ ...options, ms: WARM_UP }, send);
    const before = process.cpuUsage();
    const start = performance.now();
    const latencies = await keepSending(options, send);
    const elapsed = performance.now() - start;
    const { user, system } = process.cpuUsage(before);
    await pool.close();
    const count = latencies.length;
    return { latencies, perSecond: (count / elapsed) * 1000, cpu: (user + system) / count };
  };

  const usage = (): Usage => {
    const { user, system } = process.cpuUsage();
    globalThis.gc?.();
    globalThis.gc?.();
    return { heap: process.memoryUsage().heapUsed, cpu: user + system };
  };

  /** Milliseconds. */
  const loadAll = (files: readonly string[]): number => {
    const start = performance.now();
    for (const file of files) load(file);
    return performance.now() - start;
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
  route('run', (body) => run(body as Run));
  route('usage', usage);
  route('load', (body) => loadAll(body as string[]));
  // An open editor costs time for each status, so the measurements run without one.
  RED.server.on('upgrade', (_request, socket: Socket) => sockets.add(socket));
  route('unwatched', () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    return {};
  });
};
