import assert from 'node:assert/strict';
import { checkProtected, tableRows, writeOutlets } from '../../../src/editor/outlets-table';
import { nameOutlets } from '../../../src/editor/strips';
import { makeStrip } from '../../support/scripted-service';

const MAC = 'A1B2C3D4E5F6';

describe('the table of outlets', () => {
  before(() => Object.assign(globalThis, { RED: { _: (key: string) => key } }));
  after(() => Reflect.deleteProperty(globalThis, 'RED'));

  it('has one row for an outlet that has a name and is protected', () => {
    const rows = tableRows(
      [{ mac: MAC, port: 2 }],
      [{ mac: 'a1:b2:c3:d4:e5:f6', port: '2', name: ' Fridge ' }],
    );
    assert.deepEqual(rows, [{ mac: MAC, port: '2', name: 'Fridge', protected: true }]);
    assert.deepEqual(writeOutlets(rows), {
      protectedOutlets: [{ mac: MAC, port: 2 }],
      outletNames: [{ mac: MAC, port: 2, name: 'Fridge' }],
    });
  });

  it('has a row for each outlet of a strip that is protected as a whole', () => {
    const rows = tableRows([{ mac: MAC, port: 'all' }], []);
    assert.deepEqual(
      rows.map(({ port }) => port),
      ['1', '2', '3', '4'],
    );
  });

  it('keeps the order of both lists, so that Done without an edit changes nothing', () => {
    const row = (port: string, name: string, isProtected: boolean) => ({
      mac: MAC,
      port,
      name,
      protected: isProtected,
    });
    const rows = [
      row('4', 'Lamp', false),
      row('1', '', true),
      row('3', 'Fridge', true),
      row('2', 'Fan', false),
    ];
    const { protectedOutlets, outletNames } = writeOutlets(rows);
    const again = writeOutlets(tableRows(protectedOutlets, outletNames));
    assert.deepEqual(again, { protectedOutlets, outletNames });
  });

  it('is empty where the flow has neither list', () => {
    for (const nothing of [undefined, null, '', []]) assert.deepEqual(tableRows(nothing, nothing), []);
    assert.deepEqual(writeOutlets([]), { protectedOutlets: [], outletNames: [] });
  });

  it('drops rows that say nothing', () => {
    const idle = { mac: MAC, port: '1', name: '', protected: false };
    assert.deepEqual(writeOutlets([idle]), { protectedOutlets: [], outletNames: [] });
  });

  it('keeps rows without a strip, so that they can be completed and nobody relies on their protection', () => {
    const row = { mac: '', port: '1', name: 'Fridge', protected: true };
    const { protectedOutlets, outletNames } = writeOutlets([row]);
    assert.ok(checkProtected(protectedOutlets, {}));
    assert.deepEqual(tableRows(protectedOutlets, outletNames), [row]);
  });

  it('has a row for each entry that cannot be read, to be corrected', () => {
    const odd = [{ mac: MAC, port: 1 }, { mac: MAC, port: 7 }, 'Office 3', { port: 2 }, null];
    const rows = tableRows(odd, [{ mac: 'a/b', port: 3, name: 'Lamp' }]);
    const row = (mac: string, port: string, name = '') => ({ mac, port, name, protected: name === '' });
    assert.deepEqual(rows, [
      row('a/b', '3', 'Lamp'),
      ...[row(MAC, '1'), row(MAC, '7'), row('Office 3', ''), row('', '2'), row('', '')],
    ]);
  });

  it('keeps a list wrong whose only entry cannot be read', () => {
    for (const wrong of [[null], [''], [[{ mac: MAC, port: 2 }]], [5], true, 'Office 3', { mac: MAC }]) {
      const saved = writeOutlets(tableRows(wrong, [])).protectedOutlets;
      assert.ok(checkProtected(saved, {}), JSON.stringify(saved));
    }
  });

  it('is called wrong exactly where the account would refuse its protected outlets', () => {
    const wrongs = [[{ mac: 'a/b', port: 1 }], [{ mac: MAC, port: 7 }], { mac: MAC }, true, [null]];
    const rights = [{ mac: MAC, port: 2 }, [{ mac: 112233445566, port: 2 }], [{ mac: MAC, port: 'ALL' }], ''];
    for (const wrong of wrongs) assert.ok(checkProtected(wrong, {}), JSON.stringify(wrong));
    for (const right of rights) assert.equal(checkProtected(right, {}), '', JSON.stringify(right));
  });

  it('gives its names to the outlets that were found', () => {
    const strip = makeStrip(MAC, [true, null]);
    const names = [{ mac: 'a1:b2:c3:d4:e5:f6', port: 1, name: 'Lamp' }];
    const [named] = nameOutlets([strip], names);
    assert.deepEqual(named, { ...strip, outlets: [{ ...strip.outlets[0], name: 'Lamp' }, strip.outlets[1]] });
  });

  it('gives an outlet that has two names the last one, as the runtime does', () => {
    const names = ['Lamp', 'Fan', ''].map((name) => ({ mac: MAC, port: 1, name }));
    const [named] = nameOutlets([makeStrip(MAC, [true])], names);
    assert.equal(named?.outlets[0]?.name, 'Fan');
  });
});
