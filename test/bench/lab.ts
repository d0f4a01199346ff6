import { execFileSync, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { account, placed } from '../support/flow';
import { startNodeRed, type FlowNode, type RunningNodeRed } from '../support/node-red';
import { posting } from '../support/node-red-admin';

/** What the measured processes run on. */
const NODE = process.env.NODE_BIN ?? process.execPath;
export const NODE_VERSION = execFileSync(NODE, ['--version'], { encoding: 'utf8' }).trim();

export const KEY = 'key-of-the-bench';

/** Milliseconds of each message, and microseconds of processor time per message. */
export interface RunResult {
  latencies: number[];
  perSecond: number;
  cpu: number;
}

/** Bytes after a garbage collection, and microseconds of processor time since the start. */
export interface Usage {
  heap: number;
  cpu: number;
}

/** A Node-RED with the nodes of the bench in it. */
export interface Bench {
  readonly red: RunningNodeRed;
  /** Calls one of the admin routes of `nodes/bench-nodes.ts`. */
  readonly call: (route: 'run' | 'usage' | 'load' | 'unwatched', body?: object) => Promise<unknown>;
}

export interface BenchLab {
  /** Addresses of the service that answers at once, and of the one that takes 50 ms. */
  readonly service: { fast: string; slow: string };
  /** Requests the service has had, by API key. */
  counts(): Promise<Record<string, number>>;
  /** Starts Node-RED with the packed package, or without it. It runs until it is stopped or the lab is closed. */
  start(install?: 'packed' | 'none'): Promise<Bench>;
  /** Runs one of the bench's programs in a process of its own and returns what it sends. */
  program(name: 'service' | 'micro', ...args: (string | number)[]): Promise<unknown>;
  close(): Promise<void>;
}

/** Compiles the bench's own programs and starts the service. */
export async function openBenchLab(): Promise<BenchLab> {
  const dir = mkdtempSync(join(tmpdir(), 'smart-strip-bench-'));
  await build({
    // Not with the loader of the tests, which wraps every function to keep its name.
    entryPoints: ['service', 'micro', 'nodes/bench-nodes'].map((name) => join(__dirname, `${name}.ts`)),
    outdir: dir,
    bundle: true,
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
  cpSync(join(__dirname, 'nodes/bench-nodes.html'), join(dir, 'nodes/bench-nodes.html'));
  const children: ChildProcess[] = [];
  const started: RunningNodeRed[] = [];
  const program: BenchLab['program'] = async (name, ...args) => {
    const child = fork(join(dir, `${name}.js`), args.map(String), { execPath: NODE });
    children.push(child);
    const failed = once(child, 'exit').then(([code]) => {
      throw new Error(`the bench's ${name} ended with code ${code as number}`);
    });
    const [result] = (await Promise.race([once(child, 'message'), failed])) as [unknown];
    return result;
  };
  const { fast, slow } = (await program('service')) as { fast: number; slow: number };
  const service = { fast: `http://127.0.0.1:${fast}`, slow: `http://127.0.0.1:${slow}` };
  return {
    service,
    program,
    counts: async () => (await (await fetch(`${service.fast}/counts`)).json()) as Record<string, number>,
    start: async (install = 'packed') => {
      const logging = { console: { level: 'info', metrics: false, audit: false } };
      const red = await startNodeRed({ install, settings: { nodesDir: [join(dir, 'nodes')], logging } });
      started.push(red);
      return { red, call: async (route, body = {}) => await post(red, `/bench/${route}`, body) };
    },
    close: async () => {
      for (const child of children) child.kill();
      for (const red of started) await red.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function post(red: RunningNodeRed, path: string, body: object): Promise<unknown> {
  const response = await red.admin(path, posting(body));
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return (await response.json()) as unknown;
}

/** An account as it is when it is newly added. */
export const accountNode = (baseUrl: string, properties: Record<string, unknown> = {}): FlowNode =>
  account({ baseUrl, apiKey: KEY }, { retryFor: '30', ...properties });

export const httpRequest = (id: string, to: string, properties: Record<string, unknown> = {}): FlowNode =>
  placed(id, 'http request', { method: 'use', ret: 'txt', persist: true, headers: [], ...properties }, [to]);

export const json = (id: string, to: string[]): FlowNode =>
  placed(id, 'json', { property: 'payload', action: 'obj' }, to);
