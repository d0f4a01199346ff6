import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs npm in `cwd` and gives what it printed. Rejects with its output when it fails. */
export async function npm(cwd: string, ...args: string[]): Promise<string> {
  const env = Object.fromEntries(
    // What a surrounding `npm run` leaves behind would turn this npm towards that package.
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
