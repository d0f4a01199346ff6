import assert from 'node:assert/strict';
import { decodeList, decodeStrip, type Note } from '../../../../src/api/decode';
import { AT, MAC, statesOf } from './support';

/** Why the answer about a strip, or without a MAC a list, leaves values unknown. */
function explain(body: unknown, mac?: string): Note[] {
  const notes: Note[] = [];
  if (mac === undefined) decodeList(body, AT, notes);
  else decodeStrip(body, mac, AT, notes);
  return notes;
}

describe('The reason why a value is unknown', () => {
  for (const [shows, fields, note] of [
    [
      'two fields that disagree',
      { state: true, physical_state: false },
      { reason: 'disagree', fields: ['physical_state', 'state'] },
    ],
    ['a word that is neither', { state: 'closed' }, { reason: 'unclear', fields: ['state'] }],
    ['a number that may be watts', { power: 12 }, { reason: 'number', fields: ['power'] }],
    [
      'a word that is neither beside a number that may be watts',
      { power: 12, state: 'closed' },
      { reason: 'unclear', fields: ['power', 'state'] },
    ],
  ] as const) {
    it(`names ${shows}`, () => {
      assert.deepEqual(explain({ mac: MAC, outlets: [{ port: 2, ...fields }] }, MAC), [
        { mac: MAC, about: 2, ...note },
      ]);
    });
  }

  it('names two sets that disagree', () => {
    const body = { mac: MAC, outlets: [true, true], ports: [true, false] };
    assert.deepEqual(explain(body, MAC), [
      { mac: MAC, about: 2, reason: 'disagree', fields: ['outlets', 'ports'] },
    ]);
  });

  it('names a set inside a state once, and not by one of its outlets, too', () => {
    const body = { mac: MAC, outlets: [true, true, true, true], status: { port1: true, port3: false } };
    assert.deepEqual(explain(body, MAC), [
      { mac: MAC, about: 3, reason: 'disagree', fields: ['outlets', 'status'] },
    ]);
  });

  it('names outlets that nothing numbers', () => {
    assert.deepEqual(explain({ mac: MAC, outlets: [{ id: 77, on: true }] }, MAC), [
      { mac: MAC, about: 'outlets', reason: 'unnumbered', fields: ['outlets'] },
    ]);
  });

  it('names what says that a whole strip cannot be relied on', () => {
    const body = { mac: MAC, stale: true, error: 'timeout', outlets: [true, true, false, false] };
    assert.deepEqual(explain(body, MAC), [
      { mac: MAC, about: 'outlets', reason: 'unclear', fields: ['error', 'stale'] },
    ]);
  });

  it('names a word that says that a state is not known', () => {
    const outlets = [
      { port: 1, state: 'unknown' },
      { port: 2, on: true, state: 'unknown' },
    ];
    assert.deepEqual(explain({ mac: MAC, outlets }, MAC), [
      { mac: MAC, about: 1, reason: 'unclear', fields: ['state'] },
      { mac: MAC, about: 2, reason: 'disagree', fields: ['on', 'state'] },
    ]);
  });

  it('names what says that a record of one outlet, or of one reading, cannot be relied on', () => {
    const outlets = [{ port: 1, on: true, stale: true }];
    assert.deepEqual(explain({ mac: MAC, outlets, load: { value: 5, valid: false } }, MAC), [
      { mac: MAC, about: 'load', reason: 'disagree', fields: ['load'] },
      { mac: MAC, about: 1, reason: 'disagree', fields: ['on', 'stale'] },
    ]);
  });

  for (const [reading, fields, note] of [
    ['load', { load: '3 outlets' }, { reason: 'unit', fields: ['load'] }],
    ['voltage', { voltage: { value: 230, scale: 1 } }, { reason: 'scale', fields: ['voltage'] }],
    ['voltage', { voltage: 2309 }, { reason: 'scale', fields: ['voltage'] }],
    [
      'voltage',
      { voltage: 230, volts: 'none', mains_voltage: 231 },
      { reason: 'disagree', fields: ['mains_voltage', 'voltage'] },
    ],
    ['signal', { rssi: 'good' }, { reason: 'unclear', fields: ['rssi'] }],
  ] as const) {
    it(`names what is wrong with ${JSON.stringify(fields)}`, () => {
      assert.deepEqual(explain({ mac: MAC, ...fields }, MAC), [{ mac: MAC, about: reading, ...note }]);
    });
  }

  it('names what makes a list incomplete', () => {
    assert.deepEqual(
      explain({
        strips: [{ mac: MAC, outlets: [true] }, { name: 'x' }],
        total: 9,
        next: '/2',
        complete: true,
      }),
      [
        { mac: null, about: 'list', reason: 'more', fields: ['next', 'total'] },
        { mac: null, about: 'list', reason: 'unidentified', fields: [] },
      ],
    );
  });

  it('says when an answer is about another strip', () => {
    assert.deepEqual(explain({ mac: 'FFFFFFFFFFFF', outlets: [true] }, MAC), [
      { mac: MAC, about: 'outlets', reason: 'other', fields: [] },
    ]);
  });

  it('says nothing of a value that is empty', () => {
    assert.deepEqual(
      explain(
        {
          mac: MAC,
          load: {},
          voltage: '',
          rssi: null,
          port4: null,
          outlets: [
            { port: 1, on: true },
            { port: 2, on: null },
            { port: 3, on: '' },
          ],
        },
        MAC,
      ),
      [],
    );
  });

  it('names the answer itself where it is a list of outlets that nothing numbers', () => {
    assert.deepEqual(explain([{ id: 77, on: true }], MAC), [
      { mac: MAC, about: 'outlets', reason: 'unnumbered', fields: ['[]'] },
    ]);
  });

  it('names a list in place of a state', () => {
    assert.deepEqual(explain({ mac: MAC, relay2: [{ ts: 1, value: 'true' }] }, MAC), [
      { mac: MAC, about: 2, reason: 'unclear', fields: ['relay2'] },
    ]);
  });

  it('says nothing of an outlet beyond the fourth', () => {
    const outlets = [1, 9].map((port) => ({ port, on: true }));
    assert.deepEqual(explain({ mac: MAC, outlets }, MAC), []);
  });

  for (const [shows, body] of [
    ['a text in a list', [{ mac: MAC, outlets: [true] }, 'x']],
    ['the only record of a list', [{ name: 'x' }]],
    ['a record in a map', { Desk: { mac: MAC, outlets: [true] }, Office: { outlets: [true] } }],
  ] as const) {
    it(`says of ${shows} that nothing identifies it`, () => {
      assert.deepEqual(explain(body), [{ mac: null, about: 'list', reason: 'unidentified', fields: [] }]);
    });
  }

  it('says nothing where all is known', () => {
    assert.deepEqual(explain([{ mac: MAC, load: 3, outlets: [true, false] }]), []);
  });
});

describe('What was read', () => {
  for (const [fields, says] of [
    [{}, false],
    [{ online: true }, true],
    [{ online: false }, false],
    [{ status: 'online' }, true],
    [{ wifi: { connected: true } }, true],
    [{ load: 3 }, false],
  ] as const) {
    it(`${says ? 'says' : 'does not say'} that a strip is online with ${JSON.stringify(fields)}`, () => {
      assert.equal(decodeStrip({ mac: MAC, outlets: [true], ...fields }, MAC, AT).saysOnline, says);
    });
  }

  it('shares nothing with the answer, nor with what was read before', () => {
    const body = [{ mac: MAC, outlets: [{ port: 1, on: true }], load: '1 W' }];
    const before = JSON.stringify(body);
    const { strips } = decodeList(body, AT);
    for (const { outlets, units } of strips) {
      for (const outlet of outlets) Object.assign(outlet, { on: null });
      Object.assign(units, { load: 'x' });
    }
    assert.equal(JSON.stringify(body), before);
    assert.deepEqual(decodeList(body, AT).strips[0]?.units, { load: 'W' });
  });

  for (const [shows, strip] of [
    ['a list', (records: object[]) => ({ mac: MAC, outlets: records })],
    [
      'a map',
      (records: object[]) => ({
        mac: MAC,
        outlets: Object.fromEntries(records.map((each, i) => [`x${i}y`, each])),
      }),
    ],
    ['rows of one strip', (records: object[]) => records.map((each) => ({ mac: MAC, ...each }))],
  ] as const) {
    it(`reads outlets from up to 64 records in ${shows}, and none from more`, () => {
      const records = Array.from({ length: 65 }, (_, i) => ({ port: i + 1, on: true }));
      assert.deepEqual(statesOf(strip(records.slice(0, 64))), [true, true, true, true]);
      assert.deepEqual(statesOf(strip(records)), [undefined, undefined, undefined, undefined]);
    });
  }

  for (const [opening, closing] of [
    ['[', ']'],
    ['{"data":', '}'],
    ['{"strips":[],"meta":', '}'],
    ['{"outlets":[{"port":1,"state":', '}]}'],
    ['{"strip":', '}'],
    ['{"outlets":[', ']}'],
    ['{"state":', '}'],
  ] as const) {
    it(`survives 100,000 levels of ${opening}`, () => {
      const body: unknown = JSON.parse(opening.repeat(100_000) + '1' + closing.repeat(100_000));
      assert.deepEqual(decodeList(body, AT).strips, []);
      const { outlets } = decodeStrip(body, MAC, AT).strip;
      assert.ok(outlets.every(({ on }) => on === null));
      explain(body);
    });
  }

  it('is not kept busy by many spellings of one key', function () {
    // Far more than it takes, and less than if each key were compared with every other.
    this.timeout(20_000);
    const spelled = (index: number): string =>
      index.toString(2).padStart(16, '0').replaceAll('0', '-').replaceAll('1', '_');
    const record = Object.fromEntries(Array.from({ length: 45_000 }, (_, i) => [`${spelled(i)}1`, true]));
    assert.deepEqual(decodeStrip(record, MAC, AT).strip.outlets, []);
  });

  it('takes no harm from a key called __proto__', () => {
    const body: unknown = JSON.parse(
      `{"__proto__": {"strips": [{"mac": "FFFFFFFFFFFF"}]}, "strips": [{"__proto__": {"on": true, "online": false}, "mac": "${MAC}", "outlets": {"__proto__": true, "1": true, "2": false}}]}`,
    );
    const { strips } = decodeList(body, AT);
    assert.deepEqual(
      strips.map(({ mac, available, outlets }) => [mac, available, outlets.length]),
      [[MAC, true, 2]],
    );
    assert.equal(Object.getPrototypeOf(strips[0]), Object.prototype);
    assert.equal(
      decodeStrip(JSON.parse(`{"__proto__": {"mac": "${MAC}", "outlets": [true]}}`), MAC, AT).readable,
      false,
    );
    assert.equal(({} as Record<string, unknown>).strips, undefined);
  });
});
