import assert from 'node:assert/strict';
import { checkProtected, nameOutlets, tableRows, writeOutlets } from '../../../src/editor/outlets-table';
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
      rows.map((row) => 'port' in row && row.port),
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

  it('drops rows without a strip, and rows that say nothing', () => {
    const empty = { mac: '', port: '1', name: 'x', protected: true };
    const idle = { mac: MAC, port: '1', name: '', protected: false };
    assert.deepEqual(writeOutlets([empty, idle]), { protectedOutlets: [], outletNames: [] });
  });

  it('keeps and shows what it cannot read of the protected outlets', () => {
    const odd = [{ mac: MAC, port: 1 }, { mac: MAC, port: 7 }, 'x', { port: 2 }];
    const rows = tableRows(odd, undefined);
    assert.equal(rows.filter((row) => 'unreadable' in row).length, 3);
    assert.deepEqual(writeOutlets(rows).protectedOutlets, odd);
  });

  it('keeps a value that is no list as it is, until it is removed', () => {
    const rows = tableRows('Office 3', []);
    assert.deepEqual(rows, [{ unreadable: 'Office 3' }]);
    assert.equal(writeOutlets(rows).protectedOutlets, 'Office 3');
    const added = { mac: MAC, port: '3', name: '', protected: true };
    assert.deepEqual(writeOutlets([...rows, added]).protectedOutlets, [{ mac: MAC, port: 3 }, 'Office 3']);
    assert.deepEqual(writeOutlets([added]).protectedOutlets, [{ mac: MAC, port: 3 }]);
  });

  it('keeps a list wrong whose only entry cannot be read', () => {
    for (const wrong of [[null], [''], [[{ mac: MAC, port: 2 }]], [5], true]) {
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
});
