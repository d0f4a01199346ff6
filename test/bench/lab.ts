import { fork, type ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { placed, tab } from '../support/flow';
import { startNodeRed, type FlowNode, type RunningNodeRed } from '../support/node-red';
import { nodeRedDir } from '../support/node-red-install';

/** What the measured processes run on. */
export const NODE = process.env.NODE_BIN ?? process.execPath;

export const KEY = 'key-of-the-bench';

/** One command as the drivers send it. */
export interface Command {
  mac: string;
  port: number;
  on: boolean;
}

/** A run of messages through the node `driver`, or through the HTTP client alone where there is none. */
export interface RunOptions {
  driver?: string;
  url: string;
  commands: readonly Command[];
  inFlight: number;
  /** Milliseconds in which new messages are sent. */
  ms: number;
}

export interface RunResult {
  /** Milliseconds of every message. */
  latencies: number[];
  failed: number;
  perSecond: number;
  /** Microseconds of processor time per message. */
  cpu: number;
}

/** Bytes after a garbage collection, microseconds of processor time since the start; `ms` where something was loaded. */
export interface Memory {
  heapUsed: number;
  rss: number;
  cpu: number;
  ms: number;
}

/** A Node-RED with the nodes of the bench in it. */
export interface Bench {
  readonly red: RunningNodeRed;
  /** Calls one of the admin routes of `nodes/bench-nodes.ts`. */
  call(route: 'run' | 'memory' | 'require' | 'unwatched', body?: object): Promise<unknown>;
}

export interface Lab {
  /** Addresses of the service that answers at once, and of the one that takes 50 ms. */
  readonly service: { fast: string; slow: string };
  /** Requests the service has had, by API key. */
  counts(): Promise<Record<string, number>>;
  /** Starts Node-RED with the packed package, or without it. */
  start(install?: 'packed' | 'none'): Promise<Bench>;
  /** Runs one of the bench's programs in a process of its own and returns what it sends. */
  program(name: string, ...args: string[]): Promise<unknown>;
  close(): Promise<void>;
}

/** Compiles the bench's own programs and starts the service. */
export async function openLab(): Promise<Lab> {
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
  await nodeRedDir();
  const children = new Set<ChildProcess>();
  const program: Lab['program'] = async (name, ...args) => {
    const child = fork(join(dir, `${name}.js`), args, { execPath: NODE, execArgv: ['--expose-gc'] });
    children.add(child);
    return await new Promise<unknown>((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => {
        children.delete(child);
        reject(new Error(`the bench's ${name} ended with code ${code}`));
      });
    });
  };
  const ports = (await program('service')) as { fast: number; slow: number };
  const service = { fast: `http://127.0.0.1:${ports.fast}`, slow: `http://127.0.0.1:${ports.slow}` };
  return {
    service,
    program,
    counts: async () => (await (await fetch(`${service.fast}/counts`)).json()) as Record<string, number>,
    start: async (install = 'packed') => {
      const settings = {
        nodesDir: [join(dir, 'nodes')],
        logging: { console: { level: 'info', metrics: false, audit: false } },
      };
      const red = await startNodeRed({ install, settings });
      return { red, call: async (route, body = {}) => await post(red, `/bench/${route}`, body) };
    },
    close: async () => {
      const ended = [...children].map((child) => new Promise((resolve) => child.once('exit', resolve)));
      for (const child of children) child.kill();
      await Promise.all(ended);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function post(red: RunningNodeRed, path: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const response = await red.admin(path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return (await response.json()) as unknown;
}

/** Nodes as they stand in a flow file. What is left out takes its default. */
export const nodes = {
  tab,

  account: (id: string, url: string, properties: object = {}): FlowNode => ({
    id,
    type: 'strip-account',
    name: '',
    baseUrl: url,
    credentials: { apiKey: KEY },
    ...properties,
  }),

  /** Any node of this package or of the bench. */
  of: (type: string, id: string, to: string[] = [], properties: object = {}): FlowNode =>
    placed(id, type, { ...properties }, to),

  function: (id: string, to: string[], func: string): FlowNode =>
    nodes.of('function', id, to, {
      func,
      outputs: 1,
      timeout: 0,
      noerr: 0,
      initialize: '',
      finalize: '',
      libs: [],
    }),

  httpRequest: (id: string, to: string[], properties: object = {}): FlowNode =>
    nodes.of('http request', id, to, {
      method: 'use',
      ret: 'txt',
      paytoqs: 'ignore',
      url: '',
      tls: '',
      persist: true,
      proxy: '',
      insecureHTTPParser: false,
      authType: '',
      senderr: false,
      headers: [],
      ...properties,
    }),

  json: (id: string, to: string[]): FlowNode =>
    nodes.of('json', id, to, { property: 'payload', action: 'obj', pretty: false }),
};
