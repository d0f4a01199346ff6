import assert from 'node:assert/strict';
import { examples } from '../support/examples';
import type { FlowNode } from '../support/node-red';

const all = examples();
const isWire = (wires: unknown): wires is string[][] => Array.isArray(wires) && wires.every(Array.isArray);

describe('the examples', () => {
  it('are numbered without a gap', () => {
    assert.deepEqual(
      all.map(({ name }) => Number(name.slice(0, 2))),
      all.map((_, index) => index + 1),
    );
  });

  it('share configuration nodes that are the same in each, so that importing several adds none twice', () => {
    const seen = new Map<string, FlowNode>();
    const shared = new Set<string>();
    for (const node of all.flatMap(({ nodes }) => nodes)) {
      const before = seen.get(node.id);
      if (before !== undefined) {
        assert.deepEqual(node, before);
        shared.add(node.type);
      }
      seen.set(node.id, node);
    }
    assert.deepEqual([...shared], ['strip-account']);
  });

  for (const { name, nodes } of all) {
    it(`${name}: is explained by a comment`, () => {
      const [first] = nodes.filter(({ type }) => type === 'comment');
      assert.ok(String(first?.info).length > 50);
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

    it(`${name}: nodes do not lie on one another`, () => {
      const places = nodes.filter(({ x }) => x !== undefined).map(({ x, y }) => `${String(x)},${String(y)}`);
      assert.equal(new Set(places).size, places.length);
    });

    it(`${name}: needs no package besides this one and, for the dashboard, Dashboard 2`, () => {
      const core = [
        ...['tab', 'comment', 'inject', 'debug', 'change', 'switch', 'catch', 'delay', 'join'],
        ...['link in', 'link out'],
      ];
      const foreign = nodes
        .map(({ type }) => type)
        .filter((type) => !core.includes(type) && !type.startsWith('strip'));
      if (name.includes('Dashboard')) assert.ok(foreign.every((type) => type.startsWith('ui-')));
      else assert.deepEqual(foreign, []);
    });
  }
});
