import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPOSITORY, nodeRedDir, packedUserDir } from './node-red-install';
import { adminApi, listen, logIn } from './node-red-admin';
import { Recorder } from './recorder';

export { PACKAGE, REPOSITORY } from './node-red-install';

/** A node as it stands in a flow file. */
export interface FlowNode {
  id: string;
  type: string;
  [property: string]: unknown;
}

/** A line of Node-RED's log; the lines of a stack belong to the line they follow. */
interface LogLine {
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

interface Probe {
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
  /** The user to log in as, when the settings have `adminAuth`. */
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
  // Ace, because Monaco takes a quarter of the time in which the editor opens.
  editorTheme: { tours: false, projects: {}, multiplayer: { enabled: false }, codeEditor: { lib: 'ace' } },
  externalModules: { palette: { allowInstall: false }, modules: { allowInstall: false } },
};

// The library that draws diagrams in texts, of which the tests have none. The editor loads its 3.5 MB each time it opens.
const NO_MERMAID = `
settings.httpAdminMiddleware = (request, response, next) =>
  request.path.endsWith('/mermaid.min.js')
    ? response.type('js').send('var mermaid = { initialize() {} };')
    : next();`;

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
    `const settings = ${JSON.stringify(settings)};\n${NO_MERMAID}\n${PROBE}\n${options.settingsScript ?? ''}\nmodule.exports = settings;\n`,
  );

  const red = join(await nodeRedDir(), 'node_modules/node-red/red.js');
  const child = spawn(
    process.env.NODE_BIN ?? process.execPath,
    ['--expose-gc', red, '-s', file, '-u', userDir, '-p', '0'],
    {
      cwd: userDir,
      env: { ...cleanEnvironment(process.env), HOME: userDir, ...env },
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
      log.find('line with the address', ({ text }) => ADDRESS.test(text)),
      exited.then(() => {
        throw new Error(`Node-RED ended at once:\n${output()}`);
      }),
    ]);
    const url = ADDRESS.exec(line.text)?.[0];
    if (url === undefined || child.pid === undefined) throw new Error(`no address in: ${line.text}`);
    const token = login && (await logIn(url, login));
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const comms = new Recorder<CommsEvent>();
    const socket = await listen(url, token, comms);
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
      ...adminApi(url, headers, comms),
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

/** The environment variables that a Node-RED under test gets: no proxy, and no settings of a Node-RED that the developer runs. */
function cleanEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['PATH', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot'];
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)));
}

/** Splits the output of the child into log lines. Returns a function that returns the whole output. */
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
