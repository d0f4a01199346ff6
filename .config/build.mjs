// Builds what Node-RED loads: compiled nodes with their html, locales and icons in dist/, and the editor script
// in resources/. A type error anywhere stops it.
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { build } from 'esbuild';

process.chdir(new URL('..', import.meta.url).pathname);
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const compile = (project) => execFileSync(process.execPath, [tsc, '-p', project], { stdio: 'inherit' });

rmSync('dist', { recursive: true, force: true });
rmSync('resources', { recursive: true, force: true });
try {
  compile('.');
  compile('src/editor');
} catch {
  process.exit(1); // tsc has already said why
}
cpSync('icons', 'dist/nodes/icons', { recursive: true });
cpSync('nodes/locales', 'dist/nodes/locales', { recursive: true });
for (const name of readdirSync('nodes').filter((name) => name.endsWith('.html'))) {
  cpSync(`nodes/${name}`, `dist/nodes/${name}`);
}
await build({
  entryPoints: ['src/editor/index.ts'],
  outfile: 'resources/editor.js',
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  logLevel: 'warning',
});
