import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { REPOSITORY, installedVersion } from '../support/node-red-install';
import { examples } from '../support/examples';
import { manifest } from '../support/manifest';

const read = (...parts: string[]) => readFileSync(path.join(REPOSITORY, ...parts), 'utf8');

/** The registrations as the flow library finds them: statically, in the inline script of each form. */
const registrations = Object.keys(manifest['node-red'].nodes).map((set) => {
  const html = read('dist/nodes', `${set}.html`);
  const script = /<script type="text\/javascript">([^]*?)<\/script>/.exec(html)?.[1] ?? '';
  return {
    set,
    script,
    types: [...script.matchAll(/registerType\(\s*(['"])([^'"]+)\1\s*,\s*\{/g)].map((found) => found[2] ?? ''),
  };
});

/** Whether `version` is at least what a range of the form ">=a.b.c" asks for. */
function admits(range: string, version: string): boolean {
  const least = /^>=(\d+)\.(\d+)(?:\.(\d+))?$/.exec(range);
  assert.ok(least, `${range} is not of the form >=a.b.c`);
  const [wanted, got] = [least.slice(1), version.split('.')].map((parts) =>
    parts.map((part) => Number(part || 0)),
  );
  for (let i = 0; i < 3; i++) {
    const difference = (got?.[i] ?? 0) - (wanted?.[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

describe('the scorecard of the flow library', () => {
  it('P01: names a licence', () => assert.equal(manifest.license, 'MIT'));

  it('P03: names a repository', () => assert.match(manifest.repository.url, /^git\+https:\/\/\S+\.git$/));

  it('P04: has a scoped name', () => assert.match(manifest.name, /^@[a-z-]+\/[a-z-]+$/));

  it('P05: has the keyword by which the palette manager finds it', () => {
    assert.ok(manifest.keywords.includes('node-red'));
  });

  it('P06: admits the Node-RED it is tested with, and Node-RED 5', () => {
    assert.ok(admits(manifest['node-red'].version, installedVersion('node-red')));
    assert.ok(admits(manifest['node-red'].version, '5.0.0'));
    assert.ok(!admits(manifest['node-red'].version, '4.0.9'));
  });

  it('P07: admits the oldest Node.js that Node-RED 5 runs on', () => {
    assert.ok(admits(manifest.engines.node, '22.9.0'));
    assert.ok(!admits(manifest.engines.node, '20.18.0'));
  });

  it('N01: registers each type once, as a literal with an inline definition', () => {
    assert.deepEqual(
      registrations.map(({ types }) => types.length),
      registrations.map(() => 1),
    );
    const types = registrations.flatMap((registration) => registration.types);
    assert.equal(new Set(types).size, types.length);
  });

  it('N01: definitions can be read without running them', () => {
    for (const { set, script } of registrations) {
      for (const property of ['category', 'color', 'icon']) {
        assert.match(script, new RegExp(`^\\s+${property}: '[^']+',$`, 'm'), `${set}: ${property}`);
      }
      for (const property of ['inputs', 'outputs']) {
        assert.match(script, new RegExp(`^\\s+${property}: [01],$`, 'm'), `${set}: ${property}`);
      }
      assert.doesNotMatch(
        /defaults: \{[^]*?\n {4}\},/.exec(script)?.[0] ?? '...',
        /\.\.\./,
        `${set}: defaults`,
      );
    }
  });

  it('N01: every icon a form names is in the package', () => {
    const icons = registrations.map(({ script }) => /icon: '([^']+)'/.exec(script)?.[1]);
    const there = readdirSync(path.join(REPOSITORY, 'icons'));
    assert.deepEqual(
      icons.filter((icon) => icon === undefined || !there.includes(icon)),
      [],
    );
  });

  it('N01: each type has its own icon, and the inputs and outputs that its flows are wired to', () => {
    const of = (script: string, property: string) =>
      new RegExp(`^\\s+${property}: '?([^',]+)'?,$`, 'm').exec(script)?.[1];
    assert.deepEqual(
      registrations.map(({ set, script }) =>
        [set, ...['category', 'icon', 'inputs', 'outputs'].map((property) => of(script, property))].join(' '),
      ),
      [
        'strip-account config strip-switch.svg 0 0',
        'strip-list smart strip strip-list.svg 1 1',
        'strip-status smart strip strip-status.svg 1 1',
        'strip-switch smart strip strip-switch.svg 1 1',
        'strip-watch smart strip strip-watch.svg 0 1',
        'strip-mqtt smart strip strip-mqtt.svg 1 1',
        'strip-simulator smart strip strip-simulator.svg 1 1',
      ],
      'the nodes in package.json and those in the list of this test, in the same order',
    );
  });

  it('N02: every node type is in an example', () => {
    const used = new Set(examples().flatMap(({ nodes }) => nodes.map(({ type }) => type)));
    assert.deepEqual(
      registrations.flatMap(({ types }) => types).filter((type) => !used.has(type)),
      [],
      'node types for which an example is missing',
    );
  });

  it('D01: has one dependency', () => assert.deepEqual(Object.keys(manifest.dependencies), ['undici']));

  it('runs no script of its own when it is installed', () => {
    const scripts = ['preinstall', 'install', 'postinstall', 'prepare'];
    assert.deepEqual(
      scripts.filter((name) => name in manifest.scripts),
      [],
    );
  });
});
