// Builds what Node-RED loads: compiled nodes with their html, locales and icons in dist/, and the editor script
// in resources/. A type error anywhere stops it. Both folders are replaced at the end, so that a Node-RED that
// is running with them always finds them.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { minify } from 'terser';
import { expandForm } from './forms.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const made = '.artefacts/build';
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const compile = (...options) => execFileSync(process.execPath, [tsc, '-p', ...options], { stdio: 'inherit' });

rmSync(made, { recursive: true, force: true });
try {
  compile('.', '--outDir', `${made}/dist`);
  compile('src/editor');
} catch {
  process.exit(1); // tsc has already said why
}
cpSync('icons', `${made}/dist/nodes/icons`, { recursive: true });
cpSync('nodes/locales', `${made}/dist/nodes/locales`, { recursive: true });
const { SETTINGS } = createRequire(import.meta.url)(`../${made}/dist/src/settings.js`);
for (const name of readdirSync('nodes').filter((name) => name.endsWith('.html'))) {
  const html = expandForm(readFileSync(`nodes/${name}`, 'utf8'), name.replace('.html', ''), SETTINGS);
  writeFileSync(`${made}/dist/nodes/${name}`, html);
}
const { outputFiles } = await build({
  entryPoints: ['src/editor/index.ts'],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  write: false,
});
// terser makes it 3 % smaller; test/package/tarball.test.ts holds its size.
const { code } = await minify(outputFiles[0].text, { ecma: 2020, compress: { passes: 2 } });
mkdirSync(`${made}/resources`);
writeFileSync(`${made}/resources/editor.js`, code);
for (const folder of ['dist', 'resources']) {
  rmSync(folder, { recursive: true, force: true });
  renameSync(`${made}/${folder}`, folder);
}
