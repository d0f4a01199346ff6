import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { REPOSITORY, pack } from '../support/node-red-install';
import type { Packed } from '../support/node-red-install';
import { manifest } from '../support/manifest';

describe('the tarball', () => {
  let packed: Packed;
  let files: string[];

  before(async () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'smart-strip-pack-'));
    try {
      packed = await pack(dir);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
    files = packed.files.map((file) => file.path);
  });

  it('is smaller than 180 kB, and 20 kB for each language', () => {
    const languages = readdirSync(path.join(REPOSITORY, 'nodes/locales'));
    const limit = 180_000 + 20_000 * languages.length;
    const hint = 'if users need everything that is in it, raise the limit';
    assert.ok(packed.size < limit, `${packed.size} bytes: ${hint}`);
  });

  it('has an editor script of at most 20 kB (20,480 bytes) gzipped', () => {
    const script = readFileSync(path.join(REPOSITORY, 'resources/editor.js'));
    const { length } = gzipSync(script, { level: 9 });
    const hint = 'make it shorter; if a user needs all that it does, raise the limit';
    assert.ok(length <= 20 * 1024, `${length} bytes: ${hint}`);
  });

  it('holds only what a user needs', () => {
    const needed = [
      /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md)$/,
      /^dist\/nodes\/(shared\/)?[a-z-]+\.js$/,
      /^dist\/nodes\/[a-z-]+\.html$/,
      /^dist\/nodes\/icons\/[a-z-]+\.svg$/,
      /^dist\/nodes\/locales\/[a-zA-Z-]+\/[a-z-]+\.(json|html)$/,
      /^dist\/src\/([a-z]+\/)*[a-z-]+\.js$/,
      /^resources\/editor\.js$/,
      /^examples\/\d\d - [^/]+\.json$/,
    ];
    assert.deepEqual(
      files.filter((file) => !needed.some((pattern) => pattern.test(file))),
      [],
    );
  });

  it('names in its package.json every script that Node-RED is to load', () => {
    const { nodes, plugins } = manifest['node-red'];
    const scripts = files.filter((file) => /^dist\/nodes\/[a-z-]+\.js$/.test(file));
    const named = [...Object.values(nodes), ...Object.values(plugins)].sort();
    assert.deepEqual(named, scripts, 'the scripts below "node-red" in package.json');
  });

  it('holds script, form and texts of every node set and plugin it names, and the help of the nodes', () => {
    const { nodes, plugins } = manifest['node-red'];
    const wanted = Object.entries({ ...nodes, ...plugins }).flatMap(([set, script]) => [
      script,
      script.replace(/\.js$/, '.html'),
      `dist/nodes/locales/en-US/${set}.json`,
      ...(set in nodes ? [`dist/nodes/locales/en-US/${set}.html`] : []),
    ]);
    assert.deepEqual(
      wanted.filter((file) => !files.includes(file)),
      [],
    );
  });

  it('requires nothing that is not in it, in Node.js or a dependency', () => {
    const missing: string[] = [];
    for (const file of files.filter((name) => name.endsWith('.js') && name.startsWith('dist/'))) {
      const text = readFileSync(path.join(REPOSITORY, file), 'utf8');
      for (const [, , wanted = ''] of text.matchAll(/\brequire\((["'])(.+?)\1\)/g)) {
        const beside = path.posix.join(path.posix.dirname(file), wanted);
        const there = wanted.startsWith('.')
          ? files.includes(beside) || files.includes(`${beside}.js`)
          : isBuiltin(wanted) || wanted in manifest.dependencies;
        if (!there) missing.push(`${file}: ${wanted}`);
      }
    }
    assert.deepEqual(missing, []);
  });

  it('loads accounts and their connections only with the first account node', () => {
    // In a process of its own, with an object that takes every call in place of Node-RED.
    const script = `
      const RED = new Proxy(() => RED, { get: (_, name) => (typeof name === 'symbol' ? undefined : RED), apply: () => RED });
      for (const file of ${JSON.stringify(scripts())}) require(file)(RED);
      console.log(JSON.stringify(Object.keys(require.cache)));`;
    const loaded = execFileSync(process.execPath, ['-e', script], { cwd: REPOSITORY, encoding: 'utf8' });
    assert.match(loaded, /flow-node\.js/);
    assert.doesNotMatch(loaded, /connection\.js|account\/account\.js|client\.js|decode|undici/);
  });
});

/** What Node-RED loads when it starts. */
function scripts(): string[] {
  const { nodes, plugins } = manifest['node-red'];
  return Object.values({ ...nodes, ...plugins }).map((script) => `./${script}`);
}
