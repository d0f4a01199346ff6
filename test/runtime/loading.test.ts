import assert from 'node:assert/strict';
import { manifest } from '../support/manifest';
import { examples } from '../support/examples';
import { PACKAGE, startNodeRed } from '../support/node-red';
import type { RunningNodeRed } from '../support/node-red';

const SETS = Object.keys(manifest['node-red'].nodes);

interface NodeSet {
  id: string;
  module: string;
  types: string[];
  enabled: boolean;
  err?: unknown;
}

describe('the packed tarball, installed in a fresh user directory', () => {
  let red: RunningNodeRed;

  before(async () => {
    red = await startNodeRed({ install: 'packed', dashboard: true });
  });

  after(async () => {
    await red.stop();
  });

  const text = async (path: string, accept = '*/*') => {
    const response = await red.admin(path, { headers: { accept } });
    assert.equal(response.status, 200, path);
    return await response.text();
  };

  it('loads every node set without an error', async () => {
    const sets = (await red.json('/nodes')) as NodeSet[];
    const own = sets.filter(({ module }) => module === PACKAGE);
    assert.deepEqual(own.map(({ id }) => id).sort(), SETS.map((set) => `${PACKAGE}/${set}`).sort());
    for (const { id, enabled, err, types } of own) {
      assert.deepEqual(
        { id, enabled, err, types: types.length },
        { id, enabled: true, err: undefined, types: 1 },
      );
    }
  });

  it('starts without a warning or an error about it', () => {
    const bad = red.log.items.filter(
      ({ level, text: line }) => /warn|error/.test(level) && line.includes('strip'),
    );
    assert.deepEqual(bad, []);
  });

  for (const set of SETS) {
    it(`serves the form and the help of ${set}`, async () => {
      const html = await text(`/nodes/${PACKAGE}/${set}`, 'text/html');
      assert.match(html, /registerType\('/);
      assert.match(html, /data-template-name="strip/);
      assert.match(html, /data-help-name="strip/);
    });

    it(`serves the words of ${set}`, async () => {
      const words = (await red.json(`/locales/${PACKAGE}/${set}?lng=en-US`)) as Record<string, unknown>;
      assert.equal(typeof words[set], 'object');
    });
  }

  it('serves an icon for every node that is on the palette', async () => {
    const icons = (await red.json('/icons')) as Record<string, string[]>;
    const own = icons[PACKAGE] ?? [];
    for (const set of SETS.filter((name) => name !== 'strip-account'))
      assert.ok(own.includes(`${set}.svg`), set);
    for (const icon of own) assert.match(await text(`/icons/${PACKAGE}/${icon}`), /<svg/);
  });

  it('serves the script that the dialogs share', async () => {
    assert.match(await text(`/resources/${PACKAGE}/editor.js`), /SmartStrip/);
  });

  it('lists every example in the import menu', async () => {
    const menu = JSON.stringify(await red.json(`/library/examples/flows/${PACKAGE}`));
    for (const { name } of examples()) assert.ok(menu.includes(JSON.stringify(name)), name);
  });

  for (const { name, nodes } of examples()) {
    it(`starts the example ${name}`, async () => {
      // Ends what the example before was doing: a switch that is under way would be an error in the log.
      await red.deploy([]);
      const mark = red.log.mark;
      await red.deploy(nodes);
      const bad = red.log.items.slice(mark).filter(({ level }) => level === 'warn' || level === 'error');
      assert.deepEqual(bad, []);
    });
  }

  it('switches an outlet of the first example, from its own inject node', async () => {
    await red.deploy(examples()[0]?.nodes ?? []);
    await red.inject('strip01_on');
    const { payload, strip } = await red.debug('strip01_confirmed');
    assert.equal(payload, true);
    assert.deepEqual((strip as { results: unknown }).results, [{ port: 4, ok: true }]);
  });
});
