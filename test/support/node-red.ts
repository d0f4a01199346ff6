import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'undici';
import { REPOSITORY, nodeRedDir, packedUserDir } from './node-red-install';
import { Recorder } from './recorder';

export { PACKAGE, REPOSITORY } from './node-red-install';

/** A node as it stands in a flow file. */
export interface FlowNode {
  id: string;
  type: string;
  [property: string]: unknown;
}

/** A line of Node-RED's log; the lines of a stack belong to the line they follow. */
export interface LogLine {
  level: string;
  text: string;
}

/** What the editor is told over its websocket, e.g. topic `debug` or `status/<node id>`. */
export interface CommsEvent {
  topic: string;
  data: unknown;
}

export interface Status {
  fill?: string;
  shape?: string;
  text?: string;
}

export interface Probe {
  /** Bytes, after garbage collection. */
  heapUsed: number;
  /** As `process.getActiveResourcesInfo()` says it. */
  resources: string[];
}

export interface NodeRedOptions {
  /** 'built' loads the repository in place, 'packed' the tarball as `npm install` puts it. Both need a build first. */
  install?: 'built' | 'packed' | 'none';
  /** Loads Dashboard 2 as well. */
  dashboard?: boolean;
  /** Merged over the quiet settings. */
  settings?: Record<string, unknown>;
  /** JavaScript run in settings.js, where the object is called `settings`: for what JSON cannot say. */
  settingsScript?: string;
  env?: Record<string, string>;
  /** An existing user directory; it stays when Node-RED stops. Without one a fresh one is made and removed. */
  userDir?: string;
  /** Whom to log in as, when the settings have `adminAuth`. */
  login?: { username: string; password: string };
}

export interface RunningNodeRed {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly userDir: string;
  readonly log: Recorder<LogLine>;
  readonly comms: Recorder<CommsEvent>;
  /** Everything written to stdout and stderr so far. */
  readonly output: string;
  /** Resolves when the process is gone. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Asks the admin API with the login's token. Never rejects for a status. */
  admin(path: string, init?: RequestInit): Promise<Response>;
  /** A GET of the admin API that must answer JSON. */
  json(path: string): Promise<unknown>;
  /** Deploys and resolves when the new flows run. Nodes may carry `credentials`. */
  deploy(flows: readonly FlowNode[], type?: 'full' | 'nodes' | 'flows' | 'reload'): Promise<void>;
  getFlows(): Promise<FlowNode[]>;
  /** Presses the button of an inject node, with properties of the message in place of its own. Any other node gets an empty message. */
  inject(id: string, properties?: Record<string, unknown>): Promise<void>;
  /** The first message that a debug node showed since `after` (a mark of `comms`). Set it to show the complete message. */
  debug(id: string, after?: number): Promise<Record<string, unknown>>;
  /** The first status of a node since `after` that fits. */
  status(id: string, fits?: (status: Status) => boolean, after?: number): Promise<Status>;
  probe(): Promise<Probe>;
  /** SIGTERM, then waits for the end. */
  stop(): Promise<void>;
  /** SIGKILL, then waits for the end. */
  kill(): Promise<void>;
}

// The sentence around it is in the language of the settings.
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+/;

const QUIET_SETTINGS = {
  uiHost: '127.0.0.1',
  flowFile: 'flows.json',
  credentialSecret: 'a secret of the tests',
  debugMaxLength: 1_000_000,
  logging: { console: { level: 'trace', metrics: false, audit: true } },
  telemetry: { enabled: false, updateNotification: false },
  editorTheme: { tours: false, projects: {}, multiplayer: { enabled: false } },
  externalModules: { palette: { allowInstall: false }, modules: { allowInstall: false } },
};

// Runs inside Node-RED. Ends it with the tests, should they end without stopping it.
const PROBE = `
process.on('disconnect', () => process.exit(1));
process.on('message', () => {
  gc();
  setImmediate(() => {
    gc();
    process.send({ heapUsed: process.memoryUsage().heapUsed, resources: process.getActiveResourcesInfo() });
  });
});`;

/** Starts a real Node-RED in a process of its own, on an ephemeral port of 127.0.0.1. */
export async function startNodeRed(options: NodeRedOptions = {}): Promise<RunningNodeRed> {
  const { install = 'built', dashboard = false, env = {}, login } = options;
  const userDir = options.userDir ?? mkdtempSync(join(tmpdir(), 'smart-strip-user-'));
  const removeUserDir = () => {
    if (options.userDir === undefined) rmSync(userDir, { recursive: true, force: true });
  };
  if (install === 'packed') cpSync(await packedUserDir(), userDir, { recursive: true });
  const nodesDir = [
    ...(install === 'built' ? [REPOSITORY] : []),
    ...(dashboard ? [join(REPOSITORY, 'node_modules/@flowfuse/node-red-dashboard')] : []),
  ];
  const settings = { ...QUIET_SETTINGS, nodesDir, ...options.settings };
  const file = join(userDir, 'settings.js');
  writeFileSync(
    file,
    `const settings = ${JSON.stringify(settings)};\n${PROBE}\n${options.settingsScript ?? ''}\nmodule.exports = settings;\n`,
  );

  const red = join(await nodeRedDir(), 'node_modules/node-red/red.js');
  const child = spawn(
    process.env.NODE_BIN ?? process.execPath,
    ['--expose-gc', red, '-s', file, '-u', userDir, '-p', '0'],
    {
      cwd: userDir,
      env: { ...innocent(process.env), HOME: userDir, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  );
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const log = new Recorder<LogLine>();
  const output = readLog(child, log);
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
    removeUserDir();
  };

  try {
    const line = await Promise.race([
      log.find('line with the address', ({ text }) => ADDRESS.test(text), {
        timeout: 60_000,
      }),
      exited.then(() => {
        throw new Error(`Node-RED ended at once:\n${output()}`);
      }),
    ]);
    const url = ADDRESS.exec(line.text)?.[0];
    if (url === undefined || child.pid === undefined) throw new Error(`no address in: ${line.text}`);
    const headers: Record<string, string> =
      login === undefined ? {} : { authorization: `Bearer ${await logIn(url, login)}` };
    const comms = new Recorder<CommsEvent>();
    const socket = await listen(url, headers.authorization?.slice('Bearer '.length), comms);
    void exited.then(() => socket.close());
    return {
      url,
      port: Number(new URL(url).port),
      pid: child.pid,
      userDir,
      log,
      comms,
      get output() {
        return output();
      },
      exited,
      ...conversation(url, headers, comms),
      probe: async () =>
        await new Promise((resolve) => {
          child.once('message', (probe) => resolve(probe as Probe));
          child.send('probe');
        }),
      stop: () => end('SIGTERM'),
      kill: () => end('SIGKILL'),
    };
  } catch (error) {
    await end('SIGKILL');
    throw error;
  }
}

/** What of the environment a Node-RED under test may see: no proxy, no settings of a Node-RED that the user runs. */
function innocent(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['PATH', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot'];
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)));
}

/** Cuts what the child writes into log lines; the returned function gives all of it. */
function readLog(child: ChildProcess, log: Recorder<LogLine>): () => string {
  let text = '';
  let line = '';
  const take = (chunk: string) => {
    text += chunk;
    const lines = (line + chunk).split('\n');
    line = lines.pop() ?? '';
    for (const each of lines) {
      const found = /^\d+ \w+ [\d:]+ - \[(\w+)\] ?(.*)$/.exec(each);
      if (found) {
        log.push({ level: found[1] ?? '', text: found[2] ?? '' });
        continue;
      }
      const last = log.items.at(-1);
      if (last) last.text += `\n${each}`;
    }
  };
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', take);
  return () => text;
}

/** Gets an access token, for the admin API and the websocket. */
export async function logIn(
  url: string,
  login: { username: string; password: string },
  scope = '*',
): Promise<string> {
  const response = await fetch(`${url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id: 'node-red-admin', grant_type: 'password', scope, ...login }),
  });
  if (!response.ok) throw new Error(`logging in: ${response.status} ${await response.text()}`);
  const { access_token: token } = (await response.json()) as { access_token: string };
  return token;
}

/** Opens the editor's websocket and asks for everything. */
async function listen(
  url: string,
  token: string | undefined,
  comms: Recorder<CommsEvent>,
): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/comms`);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('error', () =>
      reject(new Error('the websocket of Node-RED could not be opened')),
    );
    const subscribe = () => {
      for (const topic of ['debug', 'status/#', 'notification/#']) {
        socket.send(JSON.stringify({ subscribe: topic }));
      }
      resolve();
    };
    socket.addEventListener('open', () => {
      if (token === undefined) subscribe();
      else socket.send(JSON.stringify({ auth: token }));
    });
    socket.addEventListener('message', ({ data }) => {
      const told: unknown = JSON.parse(String(data));
      if (Array.isArray(told)) for (const event of told as CommsEvent[]) comms.push(event);
      else if (token !== undefined) subscribe();
    });
  });
  return socket;
}

/** What is said to the admin API and heard from the websocket. */
function conversation(url: string, headers: Record<string, string>, comms: Recorder<CommsEvent>) {
  const admin: RunningNodeRed['admin'] = async (path, init = {}) =>
    await fetch(`${url}${path}`, {
      ...init,
      headers: { ...headers, ...(init.headers as Record<string, string> | undefined) },
    });
  const ask = async (path: string, init?: RequestInit) => {
    const response = await admin(path, init);
    if (response.ok) return response;
    throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
  const json = async (path: string, more: Record<string, string> = {}): Promise<unknown> =>
    await (await ask(path, { headers: { accept: 'application/json', ...more } })).json();
  return {
    admin,
    json: async (path: string) => await json(path),
    deploy: async (flows: readonly FlowNode[], type = 'full') => {
      const after = comms.mark;
      const answer = await ask('/flows', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'Node-RED-API-Version': 'v2',
          'Node-RED-Deployment-Type': type,
        },
        body: JSON.stringify({ flows }),
      });
      const { rev } = (await answer.json()) as { rev: string };
      // The answer comes when the old flows have stopped; this, when the new ones have started.
      await comms.find(
        `start of revision ${rev}`,
        ({ topic, data }) =>
          topic === 'notification/runtime-deploy' && (data as { revision?: unknown }).revision === rev,
        { after, timeout: 20_000 },
      );
    },
    getFlows: async () => {
      const answer = await json('/flows', { 'Node-RED-API-Version': 'v2' });
      return (answer as { flows: FlowNode[] }).flows;
    },
    inject: async (id: string, properties: Record<string, unknown> = {}) => {
      const given = Object.entries(properties).map(([p, v]) => ({ p, v: JSON.stringify(v), vt: 'json' }));
      await ask(`/inject/${id}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(given.length > 0 ? { __user_inject_props__: given } : {}),
      });
    },
    debug: async (id: string, after = 0) => {
      const event = await comms.find(
        `message of debug node ${id}`,
        ({ topic, data }) => topic === 'debug' && (data as { id?: unknown }).id === id,
        { after },
      );
      return JSON.parse((event.data as { msg: string }).msg) as Record<string, unknown>;
    },
    status: async (id: string, fits: (status: Status) => boolean = () => true, after = 0) => {
      const event = await comms.find(
        `status of node ${id}`,
        ({ topic, data }) => topic === `status/${id}` && fits(data as Status),
        { after },
      );
      return event.data as Status;
    },
  };
}
