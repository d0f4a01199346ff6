import { fork, type ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { startNodeRed, type FlowNode, type RunningNodeRed } from '../support/node-red';
import { nodeRedDir } from '../support/node-red-install';

/** What the measured processes run on. */
export const NODE = process.env.NODE_BIN ?? process.execPath;

export const KEY = 'key-of-the-bench';

/** Node-RED with the nodes of the bench in it. */
export interface Bench {
  readonly red: RunningNodeRed;
  /** One of the bench's own admin routes. */
  ask(route: 'run' | 'heap' | 'require' | 'unwatched', body?: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

export interface Lab {
  /** Addresses of the local service, by how long it takes to answer. */
  readonly service: { fast: string; slow: string };
  /** Requests the service has had, by API key. */
  counts(): Promise<Record<string, number>>;
  /** Starts Node-RED with the packed package, or without. */
  nodeRed(install?: 'packed' | 'none'): Promise<Bench>;
  /** Runs one of the bench's programs on its own and gives what it sent. */
  program(name: string, ...args: string[]): Promise<unknown>;
  close(): Promise<void>;
}

/** Compiles the bench's own programs and starts the service. */
export async function openLab(): Promise<Lab> {
  const dir = mkdtempSync(join(tmpdir(), 'smart-strip-bench-'));
  const programs = ['service', 'micro', 'nodes/bench-nodes'];
  // Not through the tests' loader, which wraps every function to keep its name.
  await build({
    entryPoints: programs.map((name) => join(__dirname, `${name}.ts`)),
    outdir: dir,
    bundle: true,
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
  cpSync(join(__dirname, 'nodes/bench-nodes.html'), join(dir, 'nodes/bench-nodes.html'));
  await nodeRedDir();
  const children = new Set<ChildProcess>();
  const start = async (name: string, args: readonly string[] = []): Promise<unknown> => {
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
  const ports = (await start('service')) as { fast: number; slow: number };
  const service = { fast: `http://127.0.0.1:${ports.fast}`, slow: `http://127.0.0.1:${ports.slow}` };
  return {
    service,
    counts: async () => (await (await fetch(`${service.fast}/counts`)).json()) as Record<string, number>,
    nodeRed: async (install = 'packed') => await startBench(install, join(dir, 'nodes')),
    program: (name, ...args) => start(name, args),
    close: async () => {
      const ended = [...children].map((child) => new Promise((resolve) => child.once('exit', resolve)));
      for (const child of children) child.kill();
      await Promise.all(ended);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function startBench(install: 'packed' | 'none', nodesDir: string): Promise<Bench> {
  const red = await startNodeRed({
    install,
    settings: {
      nodesDir: [nodesDir],
      logging: { console: { level: 'info', metrics: false, audit: false } },
      editorTheme: { tours: false },
    },
  });
  const ask: Bench['ask'] = async (route, body = {}) => {
    const response = await red.admin(`/bench/${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${route}: ${await response.text()}`);
    return (await response.json()) as unknown;
  };
  return { red, ask, stop: () => red.stop() };
}

const account = (id: string, url: string, more: Record<string, unknown> = {}): FlowNode => ({
  id,
  type: 'strip-account',
  name: '',
  baseUrl: url,
  interval: 30,
  timeout: 10_000,
  retryFor: 30,
  concurrency: 8,
  tls: '',
  proxy: '',
  protectedOutlets: [],
  credentials: { apiKey: KEY },
  ...more,
});

/** A `strip switch` that takes everything from the message. */
const stripSwitch = (id: string, z: string, accountId: string, wires: string[][]): FlowNode => ({
  id,
  type: 'strip switch',
  z,
  name: '',
  account: accountId,
  mac: '',
  macType: 'message',
  port: '',
  portType: 'message',
  on: '',
  onType: 'message',
  delay: '5',
  delayType: 'num',
  output: 'same',
  wires,
});

/** What a user wires by hand instead: the two nodes after the one that prepares the request. */
const httpRequest = (
  id: string,
  z: string,
  wires: string[][],
  more: Record<string, unknown> = {},
): FlowNode => ({
  id,
  type: 'http request',
  z,
  name: '',
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
  wires,
  ...more,
});

const functionNode = (id: string, z: string, func: string, wires: string[][]): FlowNode => ({
  id,
  type: 'function',
  z,
  name: '',
  func,
  outputs: 1,
  timeout: 0,
  noerr: 0,
  initialize: '',
  finalize: '',
  libs: [],
  wires,
});

/** The same nodes with a place on the canvas: without one Node-RED takes them for config nodes. */
export const placed = (flow: readonly FlowNode[]): FlowNode[] =>
  flow.map((node) => (node.z === undefined ? node : { x: 100, y: 100, ...node }));

/** Nodes as they stand in a flow file. */
export const nodes = { account, stripSwitch, httpRequest, functionNode };
