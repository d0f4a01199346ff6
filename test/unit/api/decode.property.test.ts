import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodeList, decodeStrip, decodeSwitch } from '../../../src/api/decode';
import type { Strip } from '../../../src/api/types';

const AT = '2026-05-04T03:02:01.000Z';
const MAC = 'A0B1C2D3E4F5';

/** Names the decoder knows, names it must not fall for, and names that hurt. */
const key = fc.oneof(
  fc.constantFrom(
    ...['mac', 'MAC', 'id', 'name', 'strips', 'data', 'items', 'strip', 'device', 'status', 'state', 'info'],
    ...[
      'outlets',
      'ports',
      'relays',
      'port',
      'number',
      'outlet',
      'index',
      'on',
      'is_on',
      'switch',
      'power',
      'value',
    ],
    ...[
      'port1',
      'outlet_2',
      'relay3',
      '0',
      '1',
      '2',
      '3',
      '4',
      '5',
      'online',
      'enabled',
      'total',
      'next',
      'success',
    ],
    ...['load', 'voltage', 'signal', 'rssi', 'unit', 'results', MAC, 'a0:b1:c2:d3:e4:f6'],
    ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', ''],
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    1,
    2,
    3,
    4,
    -0,
    1e308,
    '',
    'on',
    'OFF',
    '1',
    '0',
    'true',
    '12 W',
  ),
  fc.constantFrom<unknown>('offline', 'online', '-52 dBm', '__proto__', MAC, 'NaN', 'Infinity', '1e400'),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.double(),
  fc.integer(),
);
/** JSON of known and hostile names, so deep and so wide that all of the decoder is met. */
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    leaf,
    fc.array(tie('json'), { maxLength: 6 }),
    // Through text, because that is how a key called __proto__ becomes an own property.
    fc
      .array(fc.tuple(key, tie('json')), { maxLength: 8 })
      .map((pairs): unknown =>
        JSON.parse(
          `{${pairs.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`,
        ),
      ),
  ),
}));

function decodeAll(body: unknown): Strip[] {
  const list = decodeList(body, AT);
  const single = decodeStrip(body, MAC, AT);
  decodeSwitch(body);
  return [...list.strips, single.strip];
}

/** Every scalar in a value. */
function* scalars(value: unknown): Generator {
  if (typeof value !== 'object' || value === null) yield value;
  else for (const inner of Object.values(value)) yield* scalars(inner);
}

const says = (on: boolean) => (value: unknown) =>
  value === on ||
  value === (on ? 1 : 0) ||
  (typeof value === 'string' && (on ? /^\s*(on|true|1)\s*$/i : /^\s*(off|false|0)\s*$/i).test(value));

function assertWellFormed(strip: Strip): void {
  assert.deepEqual(Object.keys(strip), [
    'mac',
    'name',
    'available',
    'outlets',
    'load',
    'voltage',
    'signal',
    'units',
    'at',
  ]);
  assert.equal(Object.getPrototypeOf(strip), Object.prototype);
  assert.equal(typeof strip.mac, 'string');
  assert.notEqual(strip.mac.trim(), '');
  const ports = strip.outlets.map(({ port }) => port);
  assert.deepEqual(
    ports,
    [1, 2, 3, 4].filter((port) => ports.includes(port as 1)),
  );
  for (const name of ['load', 'voltage', 'signal'] as const) {
    assert.ok(strip[name] === null || Number.isFinite(strip[name]), `${name} is ${strip[name] ?? 'null'}`);
    assert.ok(strip.units[name] === undefined || typeof strip.units[name] === 'string');
  }
}

describe('The decoder, whatever it is given', () => {
  it('never throws and always answers in form', () => {
    fc.assert(
      fc.property(json, (body) => {
        for (const strip of decodeAll(body)) assertWellFormed(strip);
      }),
      { numRuns: 2000 },
    );
  });

  it('never throws on JSON of any shape', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (body) => {
        for (const strip of decodeAll(body)) assertWellFormed(strip);
      }),
      { numRuns: 1000 },
    );
  });

  it('never says on or off where nothing in the body does', () => {
    fc.assert(
      fc.property(json, (body) => {
        const values = [...scalars(body)];
        for (const { on } of decodeAll(body).flatMap(({ outlets }) => outlets)) {
          if (on !== null) assert.ok(values.some(says(on)), `${on} out of nothing`);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('never says on or off from words and numbers that mean neither', () => {
    const neither = fc.oneof(
      fc.constantFrom<unknown>(null, 2, -1, 0.5, 'online', 'enabled', 'ok', '', '2', 'yes', {}, []),
      fc.string().filter((text) => !says(true)(text) && !says(false)(text)),
      fc.double().filter((number) => number !== 0 && number !== 1),
    );
    const field = fc.constantFrom('on', 'is_on', 'state', 'status', 'switch', 'relay', 'power', 'value');
    const name = fc.constantFrom('outlets', 'ports', 'sockets', 'switches', 'channels', 'relays');
    fc.assert(
      fc.property(name, field, fc.array(neither, { minLength: 4, maxLength: 4 }), (outlets, on, values) => {
        for (const body of [
          { mac: MAC, [outlets]: values.map((value, i) => ({ port: i + 1, [on]: value })) },
          { mac: MAC, [outlets]: values },
          { mac: MAC, [outlets]: Object.fromEntries(values.map((value, i) => [i + 1, value])) },
          { mac: MAC, ...Object.fromEntries(values.map((value, i) => [`port${i + 1}`, value])) },
        ]) {
          for (const { on: read } of decodeAll(body).flatMap((strip) => strip.outlets))
            assert.equal(read, null);
        }
      }),
    );
  });

  it('reads back every picture in every documented way of writing it', () => {
    const on = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean());
    const word = fc.constantFrom<(on: boolean) => unknown>(
      (state) => state,
      (state) => (state ? 1 : 0),
      (state) => (state ? 'ON' : 'off'),
      (state) => String(state),
      (state) => (state ? '1' : '0'),
    );
    fc.assert(
      fc.property(on, word, (states, write) => {
        const written = states.map(write);
        for (const record of [
          { outlets: written.map((state, i) => ({ port: i + 1, on: state })) },
          { ports: written.map((state, i) => ({ index: i, state })) },
          { relays: written },
          { sockets: Object.fromEntries(written.map((state, i) => [`outlet_${i + 1}`, state])) },
          Object.fromEntries(written.map((state, i) => [`port${i + 1}`, state])),
        ]) {
          const { strips } = decodeList([{ mac: MAC, ...record }], AT);
          assert.deepEqual(
            strips[0]?.outlets.map((outlet) => outlet.on),
            states,
          );
        }
      }),
    );
  });

  it('does the same the second time', () => {
    fc.assert(
      fc.property(json, (body) => {
        assert.deepEqual(decodeAll(body), decodeAll(body));
      }),
    );
  });

  it('leaves the body as it was', () => {
    fc.assert(
      fc.property(json, (body) => {
        const before = JSON.stringify(body);
        decodeAll(body);
        assert.equal(JSON.stringify(body), before);
      }),
    );
  });

  for (const [opening, closing] of [
    ['[', ']'],
    ['{"data":', '}'],
    ['{"strip":', '}'],
    ['{"outlets":[', ']}'],
    ['{"state":', '}'],
  ] as const) {
    it(`survives 100,000 levels of ${opening}`, () => {
      const body: unknown = JSON.parse(opening.repeat(100_000) + '1' + closing.repeat(100_000));
      for (const strip of decodeAll(body)) assert.deepEqual(strip.outlets, []);
    });
  }

  it('survives a record of 50,000 different names, again and again, and still knows the right ones', () => {
    for (let round = 0; round < 3; round++) {
      const body = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`key ${round} ${i}`, true]));
      assert.equal(decodeStrip({ ...body, mac: MAC, outlets: [true] }, MAC, AT).readable, true);
    }
  });

  it('leaves Object.prototype alone', () => {
    const body: unknown = JSON.parse('{"__proto__": {"mac": "FFFFFFFFFFFF", "outlets": [true]}}');
    decodeAll(body);
    assert.equal('outlets' in {}, false);
  });
});
