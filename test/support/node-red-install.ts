import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

export const REPOSITORY = resolve(__dirname, '../..');
export const PACKAGE = '@smart-strip/node-red-smart-strip';

const run = promisify(execFile);
const QUIET = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error'];

const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
};

/** The version of a package that the repository itself has installed. */
export function installedVersion(name: string): string {
  const text = readFileSync(join(REPOSITORY, 'node_modules', name, 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  return version;
}

/**
 * A folder with `node_modules/node-red` in it, apart from the repository: Node-RED loads nodes from every
 * `node_modules` above its own core, and below the repository that would be the repository's. `NODE_RED_DIR` names
 * one; without it the repository's own version is installed into a cache that later runs find again.
 */
export const nodeRedDir = once(async () => {
  const given = process.env.NODE_RED_DIR;
  if (given !== undefined && given !== '') return resolve(given);
  const version = installedVersion('node-red');
  // The number of the user, because nobody else can read it.
  const cache = join(tmpdir(), `smart-strip-tests-node-red-${version}-${process.getuid?.() ?? ''}`);
  const there = () => existsSync(join(cache, 'node_modules/node-red/red.js'));
  if (there()) return cache;
  const fresh = mkdtempSync(`${cache}-`);
  try {
    writeFileSync(join(fresh, 'package.json'), '{"private":true}');
    await npm(fresh, 'install', ...QUIET, `node-red@${version}`);
    renameSync(fresh, cache);
  } catch (error) {
    // Another process may have installed it at the same time, which is just as good.
    if (!there()) throw error;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return cache;
});

/** What `npm pack --json` says about the tarball. */
export interface Packed {
  filename: string;
  /** Bytes of the tarball. */
  size: number;
  files: { path: string; size: number }[];
}

/** Packs what is built now, without building again. */
export async function pack(destination: string): Promise<Packed> {
  const said: unknown = JSON.parse(
    await npm(REPOSITORY, 'pack', '--json', '--ignore-scripts', '--pack-destination', destination),
  );
  // An array of one, or since npm 12 an object by package name.
  const [packed] = Object.values(said as Record<string, Packed>);
  if (packed === undefined) throw new Error('npm pack made nothing');
  return packed;
}

/** A user directory with the packed tarball installed, as `npm install` leaves it: packed once per run, to copy from. */
export const packedUserDir = once(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'smart-strip-packed-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  const { filename } = await pack(dir);
  const userDir = join(dir, 'user');
  mkdirSync(userDir);
  writeFileSync(join(userDir, 'package.json'), '{"name":"node-red-project","private":true}');
  await npm(userDir, 'install', ...QUIET, join(dir, filename));
  return userDir;
});

/** Runs npm in `cwd` and gives what it printed. Rejects with its output when it fails. */
async function npm(cwd: string, ...args: string[]): Promise<string> {
  const env = Object.fromEntries(
    // The variables of a surrounding `npm run` would make this npm act on that package.
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(package|lifecycle|config_(local_)?prefix)/.test(name),
    ),
  );
  const { stdout } = await run('npm', args, {
    cwd,
    env,
    maxBuffer: 16 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  return stdout;
}
