import assert from 'node:assert/strict';
import { decodeList } from '../../../src/api/decode';

const AT = '2026-05-04T03:02:01.000Z';
const MAC = 'A0B1C2D3E4F5';
const OTHER = 'A0B1C2D3E4F6';

const record = (mac: string): unknown => ({
  mac,
  name: `Strip ${mac}`,
  outlets: [
    { port: 1, on: true },
    { port: 2, on: false },
  ],
});
const strip = (mac: string): unknown => ({
  mac,
  name: `Strip ${mac}`,
  available: true,
  outlets: [
    { port: 1, on: true, name: null },
    { port: 2, on: false, name: null },
  ],
  load: null,
  voltage: null,
  signal: null,
  units: {},
  at: AT,
});
const macs = (body: unknown): string[] => decodeList(body, AT).strips.map(({ mac }) => mac);

describe('decodeList', () => {
  const both = [record(MAC), record(OTHER)];
  const forms: [string, unknown][] = [
    ['a bare array', both],
    ...['strips', 'data', 'items', 'results', 'devices'].map((name): [string, unknown] => [
      `a list under ${name}`,
      { [name]: both },
    ]),
    ...['data', 'result', 'response'].flatMap((outer) =>
      ['strips', 'items', 'devices'].map((inner): [string, unknown] => [
        `a list under ${outer}.${inner}`,
        { [outer]: { [inner]: both } },
      ]),
    ),
    ['a name in any case', { STRIPS: both }],
    ['an object keyed by MAC', { [MAC]: record(MAC), [OTHER]: record(OTHER) }],
    ['an object keyed by MAC under data', { data: { [MAC]: record(MAC), [OTHER]: record(OTHER) } }],
    ['a wrapper that says it succeeded', { success: true, ok: true, error: null, strips: both }],
    ['elements that wrap a strip', [{ strip: record(MAC) }, { device: record(OTHER) }]],
    ['a last page', { data: both, total: 2, next: null, links: { next: '' }, meta: { hasMore: false } }],
  ];
  for (const [name, body] of forms) {
    it(`reads ${name}`, () => {
      assert.deepEqual(decodeList(body, AT), {
        strips: [strip(MAC), strip(OTHER)],
        complete: true,
        readable: true,
      });
    });
  }

  it('takes the MAC from the key where a record has none, and from the record where it has one', () => {
    const body = { 'a0:b1:c2:d3:e4:f5': { outlets: [true, false] }, [OTHER]: { mac: 'a0-b1-c2-d3-e4-f6' } };
    assert.deepEqual(macs(body), ['a0:b1:c2:d3:e4:f5', 'a0-b1-c2-d3-e4-f6']);
  });

  it('reads outlets that stand directly below a MAC', () => {
    const [first, second] = decodeList(
      { [MAC]: [true, false], [OTHER]: { 1: true, 2: false, 3: true, 4: 'off' } },
      AT,
    ).strips;
    assert.deepEqual(first?.outlets, [
      { port: 1, on: true, name: null },
      { port: 2, on: false, name: null },
    ]);
    assert.deepEqual(
      second?.outlets.map(({ on }) => on),
      [true, false, true, false],
    );
  });

  it('prefers the name that says what the list holds', () => {
    assert.deepEqual(macs({ results: [record(OTHER)], strips: [record(MAC)] }), [MAC]);
  });

  it('passes over an empty list where there is another', () => {
    assert.deepEqual(macs({ data: [], devices: [record(MAC)] }), [MAC]);
  });

  for (const body of [[], { strips: [] }, { data: [] }, { data: { strips: [] } }, { strips: {} }]) {
    it(`takes ${JSON.stringify(body)} for an account without strips`, () => {
      assert.deepEqual(decodeList(body, AT), { strips: [], complete: true, readable: true });
    });
  }

  for (const body of [
    null,
    true,
    1,
    'strips',
    {},
    { data: {} },
    { data: null },
    { error: 'x' },
    { strips: 4 },
    { data: { data: { data: [] } } },
  ]) {
    it(`does not take ${JSON.stringify(body)} for a list`, () => {
      assert.deepEqual(decodeList(body, AT), { strips: [], complete: false, readable: false });
    });
  }

  const partial: [string, unknown][] = [
    ['a record without a MAC', [record(MAC), { outlets: [true] }]],
    ['an element that is no record', [record(MAC), 7]],
    ['a single strip in place of a list', record(MAC)],
    ['a total above what came', { strips: [record(MAC)], total: 2 }],
    ['a next page', { strips: [record(MAC)], next: '/strips?page=2' }],
    ['a next page in its metadata', { data: [record(MAC)], meta: { has_more: true } }],
    ['a wrapper that says it failed', { success: false, strips: [record(MAC)] }],
    ['an error beside the list', { errors: ['one strip timed out'], strips: [record(MAC)] }],
  ];
  for (const [name, body] of partial) {
    it(`calls a list incomplete with ${name}`, () => {
      const { strips, complete, readable } = decodeList(body, AT);
      assert.deepEqual(
        { strips, complete, readable },
        { strips: [strip(MAC)], complete: false, readable: true },
      );
    });
  }

  it('does not call an empty list of a wrapper that failed readable', () => {
    assert.deepEqual(decodeList({ success: false, strips: [] }, AT), {
      strips: [],
      complete: false,
      readable: false,
    });
  });

  it('is unreadable where no outlet of any strip can be read', () => {
    assert.equal(decodeList([{ mac: MAC, outlets: [{ port: 1, on: 'maybe' }] }], AT).readable, false);
    assert.equal(decodeList([{ mac: MAC }], AT).readable, false);
    assert.equal(decodeList([MAC], AT).readable, false);
  });

  it('is readable where every strip says itself that it is offline', () => {
    const { strips, readable } = decodeList([{ mac: MAC, online: false }], AT);
    assert.equal(readable, true);
    assert.equal(strips[0]?.available, false);
  });

  it('lists a strip once that stands in it twice, and says nothing of an outlet the two disagree about', () => {
    const body = [
      { mac: MAC, outlets: [true, true] },
      { mac: OTHER, outlets: [true] },
      { mac: MAC, outlets: [true, false, true] },
      { mac: MAC, outlets: [true, true, true] },
    ];
    const { strips } = decodeList(body, AT);
    assert.deepEqual(
      strips.map(({ mac }) => mac),
      [MAC, OTHER],
    );
    assert.deepEqual(strips[0]?.outlets, [
      { port: 1, on: true, name: null },
      { port: 2, on: null, name: null },
      { port: 3, on: true, name: null },
    ]);
  });

  it('never takes a running number for a MAC', () => {
    assert.deepEqual(
      macs([
        { id: 7, outlets: [true] },
        { id: '7', outlets: [true] },
      ]),
      [],
    );
    assert.deepEqual(macs([{ id: MAC, outlets: [true] }]), [MAC]);
    assert.deepEqual(macs([{ id: OTHER, mac: MAC }]), [MAC]);
    assert.deepEqual(macs([{ mac_address: MAC }, { macAddress: OTHER }]), [MAC, OTHER]);
  });

  it('keeps the spelling of a MAC as it is', () => {
    assert.deepEqual(macs([{ mac: 'a0:B1:c2-d3.E4 f5' }]), ['a0:B1:c2-d3.E4 f5']);
  });

  it('shares nothing with the body', () => {
    const body = [record(MAC)];
    const before = JSON.stringify(body);
    const { strips } = decodeList(body, AT);
    for (const outlet of strips[0]?.outlets ?? []) outlet.on = null;
    assert.equal(JSON.stringify(body), before);
    assert.notEqual(decodeList(body, AT).strips[0]?.units, strips[0]?.units);
  });

  it('takes no harm from a key called __proto__', () => {
    const body: unknown = JSON.parse(
      `{"__proto__": {"strips": [{"mac": "${OTHER}"}]}, "strips": [{"__proto__": {"on": true, "online": false}, "mac": "${MAC}", "outlets": {"__proto__": true, "1": true, "2": false, "3": true, "4": true}}]}`,
    );
    const { strips } = decodeList(body, AT);
    assert.deepEqual(
      strips.map(({ mac, available }) => ({ mac, available })),
      [{ mac: MAC, available: true }],
    );
    assert.equal(Object.getPrototypeOf(strips[0]), Object.prototype);
    assert.equal(({} as Record<string, unknown>).strips, undefined);
  });
});
