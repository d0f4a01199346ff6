import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { examples } from '../support/examples';
import { manifest } from '../support/manifest';
import type { FlowNode } from '../support/node-red';
import { REPOSITORY } from '../support/node-red-install';

const DASHBOARD = '@flowfuse/node-red-dashboard';
const all = examples();
const isDashboard = (name: string): boolean => /dashboard/i.test(name);
const ofType = (nodes: readonly FlowNode[], type: string): FlowNode[] =>
  nodes.filter((node) => node.type === type);
const isWire = (wires: unknown): wires is string[][] => Array.isArray(wires) && wires.every(Array.isArray);

describe('the examples', () => {
  it('have a number each', () => {
    const numbers = all.map(({ name }) => name.slice(0, 2));
    assert.ok(numbers.every((number) => /^\d\d$/.test(number)));
    assert.equal(new Set(numbers).size, all.length);
  });

  it('have no node in common, so that importing several asks nothing', () => {
    const ids = all.flatMap(({ nodes }) => nodes.map(({ id }) => id));
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
    );
  });

  it('have a simulator each, at a path of its own', () => {
    const paths = all.flatMap(({ nodes }) => ofType(nodes, 'strip simulator').map(({ path }) => path));
    assert.equal(paths.length, all.length);
    assert.equal(new Set(paths).size, all.length);
  });

  it('are all in the list of the README', () => {
    const readme = readFileSync(join(REPOSITORY, 'README.md'), 'utf8');
    const [, list = ''] = /\n## Examples\n([^]*?)\n## /.exec(readme) ?? [];
    const listed = list.match(/(?<=[:,] )\d\d(?= )/g) ?? [];
    assert.deepEqual(
      listed.sort(),
      all.map(({ name }) => name.slice(0, 2)),
      'the numbers below "Examples" in README.md, and those of the files in examples',
    );
  });

  it('say within how many seconds a change made by hand is noticed, and how long it takes right after a start', () => {
    const said = all.flatMap(({ nodes }) =>
      nodes.flatMap(({ info }) => /within about .*?seconds( \(.*?\))?/i.exec(String(info))?.[0] ?? []),
    );
    assert.ok(said.length > 0);
    // Every 5 seconds and a tenth; the first poll after the one at the start comes within twice that interval.
    for (const sentence of said) assert.match(sentence, /^within about 6 seconds \(10 after a start\)$/i);
  });

  for (const { name, nodes } of all) {
    it(`${name}: is explained by a comment`, () => {
      const [first] = nodes.filter(({ type }) => type === 'comment');
      assert.ok(String(first?.info).length > 50, 'its first comment says too little, or there is none');
    });

    it(`${name}: says what to enter for real strips, and names each MAC that is in a topic`, () => {
      const info = String(nodes.find(({ type }) => type === 'comment')?.info);
      assert.match(info, /your base URL and API key/);
      const topics = nodes.filter(({ type }) => type.startsWith('mqtt ')).map(({ topic }) => String(topic));
      for (const mac of topics.flatMap((topic) => /[0-9A-F]{12}/.exec(topic) ?? []))
        assert.ok(info.includes(mac), `its first comment says nothing of ${mac}`);
    });

    it(`${name}: needs nothing entered: its account is its own simulator's, without a key`, () => {
      const [simulator] = ofType(nodes, 'strip simulator');
      const accounts = ofType(nodes, 'strip-account');
      assert.ok(accounts.length > 0);
      for (const { baseUrl } of accounts) assert.equal(baseUrl, simulator?.path);
      assert.ok(nodes.every(({ credentials }) => credentials === undefined));
      const ids = new Set<unknown>(accounts.map(({ id }) => id));
      const used = nodes.flatMap(({ account }) => (account === undefined ? [] : [account]));
      assert.deepEqual(
        used.filter((id) => !ids.has(id)),
        [],
      );
    });

    it(`${name}: wires and links lead to its own nodes`, () => {
      const ids = new Set(nodes.map(({ id }) => id));
      const wires = nodes.flatMap((node) => (isWire(node.wires) ? node.wires.flat() : []));
      const links = nodes.flatMap((node) => (Array.isArray(node.links) ? (node.links as string[]) : []));
      assert.deepEqual(
        [...wires, ...links].filter((id) => !ids.has(id)),
        [],
      );
    });

    it(`${name}: needs no package besides this one and, for the dashboard, Dashboard 2`, () => {
      const core = [
        ...[
          'tab',
          'comment',
          'inject',
          'debug',
          'change',
          'switch',
          'catch',
          'delay',
          'join',
          'trigger',
          'rbe',
        ],
        ...['link in', 'link out', 'function', 'http in', 'http response'],
        ...['mqtt in', 'mqtt out', 'mqtt-broker'],
      ];
      const foreign = nodes
        .map(({ type }) => type)
        .filter((type) => ![...core, 'global-config'].includes(type) && !type.startsWith('strip'));
      if (isDashboard(name)) assert.ok(foreign.every((type) => type.startsWith('ui-')));
      else assert.deepEqual(foreign, []);
      // On import, Node-RED offers to install what is listed there and missing. It does so in just this version.
      const version = manifest.devDependencies[DASHBOARD]?.replace('^', '');
      assert.deepEqual(
        ofType(nodes, 'global-config').map(({ env, modules }) => ({ env, modules })),
        isDashboard(name) ? [{ env: [], modules: { [DASHBOARD]: version } }] : [],
      );
    });
  }
});
