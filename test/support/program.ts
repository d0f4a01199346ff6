import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startListening } from './start-listening';

type Name = 'mosquitto' | 'nginx' | 'haproxy';

/** Where a program is installed: Debian puts these where not every user looks. */
export function find(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

/** For a `before` hook: skips its suite where the program is not installed, but never in continuous integration. */
export function requireProgram(context: Mocha.Context, name: Name): void {
  if (find(name) !== undefined) return;
  if (process.env.CI === 'true') throw new Error(`${name} is not installed`);
  process.stdout.write(`    skipped: ${name} is not installed\n`);
  context.skip();
}

/** Whether a process can react to SIGTERM and SIGINT from another one: on Windows they end it at once. */
export const HAS_SIGNALS = process.platform !== 'win32';

/** A broker, web server or load balancer of the system, with a folder and a configuration of its own. */
export class Program {
  readonly folder = mkdtempSync(join(tmpdir(), 'smart-strip-program-'));
  /** What it has written so far. */
  log = '';
  #child: ChildProcess | null = null;
  #exited: Promise<unknown> = Promise.resolve();

  constructor(private readonly name: Name) {}

  /** Writes a file into its folder; gives the path. */
  write(name: string, text: string): string {
    const file = join(this.folder, name);
    writeFileSync(file, text);
    return file;
  }

  /** Resolves when it takes connections at this port of 127.0.0.1. */
  async start(args: readonly string[], port: number): Promise<void> {
    const file = find(this.name);
    if (file === undefined) throw new Error(`${this.name} is not installed`);
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    this.#exited = new Promise((resolve) => child.once('exit', resolve));
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.log += text));
    }
    for (let attempt = 0; attempt < 1000 && child.exitCode === null; attempt++) {
      if (await accepts(port)) return;
      await sleep(25);
    }
    await this.end();
    throw new Error(`${this.name} does not run:\n${this.log}`);
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#child?.kill(signal);
    await this.#exited;
  }

  /** Ends it and removes its folder. */
  async remove(): Promise<void> {
    await this.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Ports of 127.0.0.1 that nobody listens on at the moment. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(servers.map((server) => startListening(server)));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const connected = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
  socket.destroy();
  return connected;
}
