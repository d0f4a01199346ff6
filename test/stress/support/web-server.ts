import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

type Program = 'nginx' | 'haproxy';

/** Where Debian puts them, which is not on the path of every user. */
const PATH = `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin`;

/** Whether it is installed. Where tests run for everybody (`CI=true`) it has to be. */
export function isInstalled(program: Program): boolean {
  try {
    execFileSync(program, ['-v'], { env: { ...process.env, PATH }, stdio: 'ignore' });
    return true;
  } catch (error) {
    if (process.env.CI === 'true') throw new Error(`${program} is not installed`, { cause: error });
    return false;
  }
}

/** Ports of 127.0.0.1 that nobody listens on at the moment. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  await Promise.all(
    servers.map((server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** A real web server or load balancer with a configuration of its own, in a folder of its own. */
export class WebServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'smart-strip-web-'));
  readonly #program: Program;
  readonly #port: number;
  #process: ChildProcess | null = null;
  #said = '';

  /** `port`: the one that tells that it is up. */
  constructor(program: Program, port: number) {
    this.#program = program;
    this.#port = port;
  }

  write(name: string, text: string): string {
    const file = join(this.folder, name);
    writeFileSync(file, text);
    return file;
  }

  /** Starts it with the file `config` of its folder. */
  async start(): Promise<void> {
    const config = join(this.folder, 'config');
    const args = this.#program === 'nginx' ? ['-p', this.folder, '-c', config] : ['-db', '-f', config];
    const child = spawn(this.#program, args, {
      env: { ...process.env, PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => (this.#said += String(text)));
    for (let attempt = 0; attempt < 200; attempt++) {
      if (child.exitCode !== null) break;
      if (await accepts(this.#port)) return;
      await sleep(25);
    }
    await this.stop();
    throw new Error(`${this.#program} did not start: ${this.#said}`);
  }

  /** Ends it at once, as a crash would. */
  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    // nginx ends its workers on SIGTERM only.
    child.kill(this.#program === 'nginx' ? 'SIGTERM' : 'SIGKILL');
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The frame of an nginx configuration around its servers. */
export const nginxConfig = (folder: string, servers: string): string => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${folder}/pid;
error_log ${folder}/error.log;
events { worker_connections 512; }
http {
  access_log ${folder}/access.log;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  proxy_http_version 1.1;
  ${servers}
}`;

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
