import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodeList, decodeStrip, decodeSwitch } from '../../../../src/api/decode';
import type { Strip } from '../../../../src/api/types';
import { AT, MAC, statesOf } from './support';

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

/** A strip with records of outlets, or with fields that are called like outlets, and anything in them. */
const nearStrip = fc
  .tuple(
    fc.constantFrom('outlets', 'ports', 'relays', 'status', 'data'),
    fc.array(fc.dictionary(key, leaf, { maxKeys: 4 }), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom('port1', 'outlet_2', 'relay3', 'switch 4', '1', '2', '3', '4'), leaf),
  )
  .map(([name, outlets, fields]) => ({ mac: MAC, [name]: outlets, ...fields }));

function decodeAll(body: unknown): Strip[] {
  const list = decodeList(body, AT);
  const single = decodeStrip(body, MAC, AT);
  decodeSwitch(body, { mac: MAC, port: 'all', on: true });
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
  (typeof value === 'string' &&
    (on
      ? /^[\s_-]*((turned|switched|powered|power|is)[\s_-]+)?(on|true|yes|1)[\s_-]*$/i
      : /^[\s_-]*((turned|switched|powered|power|is)[\s_-]+)?(off|false|no|0)[\s_-]*$/i
    ).test(value));

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
      fc.property(fc.oneof(json, nearStrip), (body) => {
        const values = [...scalars(body)];
        for (const { on } of decodeAll(body).flatMap(({ outlets }) => outlets)) {
          if (on !== null) assert.ok(values.some(says(on)), `${on} out of nothing`);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('never says on or off from words and numbers that mean neither', () => {
    const neither = fc.oneof(
      fc.constantFrom<unknown>(null, 2, -1, 0.5, 'online', 'enabled', 'ok', '', '2', 'maybe', {}, []),
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

  it('reads back every set of states in every documented way of writing it', () => {
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

  it('never takes an outlet for the one before it, in however many records about the strip they come', () => {
    type Numbered = readonly (readonly [number: number, on: boolean])[];
    const write = fc.constantFrom<(outlets: Numbered) => object>(
      (outlets) => ({ outlets: outlets.map(([number, on]) => ({ port: number, on })) }),
      (outlets) => ({ ports: Object.fromEntries(outlets.map(([number, on]) => [`port${number}`, on])) }),
      (outlets) => ({ status: outlets.map(([number, on]) => ({ code: `switch_${number}`, value: on })) }),
      (outlets) => ({ status: outlets.map(([number, on]) => ({ type: `relay${number}`, value: on })) }),
      (outlets) => ({ status: outlets.map(([number, on]) => ({ [`relay${number}`]: on })) }),
      (outlets) => Object.fromEntries(outlets.map(([number, on]) => [`relay_${number}`, on])),
    );
    const four = <Value>(value: fc.Arbitrary<Value>) => fc.tuple(value, value, value, value);
    fc.assert(
      fc.property(
        four(fc.boolean()),
        fc.constantFrom(0, 1),
        write,
        four(fc.nat(3)),
        (states, first, write, places) => {
          const records = [...new Set(places)].map((place) => {
            const outlets = states.map((on, i) => [first + i, on] as const);
            return { mac: MAC, ...write(outlets.filter((_, i) => places[i] === place)) };
          });
          const read = decodeStrip(records, MAC, AT).strip.outlets;
          for (const { port, on } of read)
            assert.ok(on === null || on === states[port - 1], `${port}: ${on}`);
          if (records.length === 1) assert.equal(read.length, 4);
        },
      ),
      { numRuns: 1000 },
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

  describe('in another order', () => {
    const state = fc.constantFrom<unknown>(true, false, 'on', 'off', 1, 0, 'closed', null, 12);
    const stateKey = fc.constantFrom(
      'on',
      'state',
      'status',
      'relay',
      'power',
      'is_on',
      'physical_state',
      'output',
    );
    const otherKey = fc.constantFrom(
      'name',
      'id',
      'index',
      'port',
      'slot',
      'load',
      'enabled',
      'desired',
      'type',
    );
    const other = fc.oneof(
      fc.integer({ min: 0, max: 5 }),
      fc.constantFrom<unknown>('Lamp', 'Outlet 2', 'P3', 'usb', null),
    );
    const outlet = fc
      .tuple(
        fc.array(fc.tuple(stateKey, state), { minLength: 1, maxLength: 3 }),
        fc.array(fc.tuple(otherKey, other), { maxLength: 3 }),
      )
      .map(([states, others]) => Object.fromEntries([...states, ...others]));
    const container = fc.constantFrom('outlets', 'ports', 'relays', 'state', 'data', 'zorks');
    const strip = fc
      .tuple(
        container,
        fc.array(outlet, { minLength: 1, maxLength: 5 }),
        container,
        fc.array(state, { maxLength: 4 }),
      )
      .map(([name, outlets, second, values]): Record<string, unknown> => ({
        mac: MAC,
        load: 3,
        [second]: values,
        [name]: outlets,
      }));
    const seed = fc.array(fc.nat(), { minLength: 12, maxLength: 12 });

    /** The same value with the keys of its records, or the elements of its arrays, in another order. */
    function shuffled(value: unknown, numbers: readonly number[], what: 'keys' | 'elements'): unknown {
      const mix = <T>(items: readonly T[]): T[] =>
        items
          .map((item, i) => [numbers[i % numbers.length] ?? 0, item] as const)
          .sort(([a], [b]) => a - b)
          .map(([, item]) => item);
      if (Array.isArray(value)) {
        const items = value.map((item) => shuffled(item, numbers, what));
        return what === 'elements' && value.some((item) => typeof item === 'object' && item !== null)
          ? mix(items)
          : items;
      }
      if (typeof value !== 'object' || value === null) return value;
      const entries = Object.entries(value).map(
        ([name, inner]) => [name, shuffled(inner, numbers, what)] as const,
      );
      return Object.fromEntries(what === 'keys' ? mix(entries) : entries);
    }

    it('keys change nothing', () => {
      fc.assert(
        fc.property(strip, seed, (body, numbers) => {
          assert.deepEqual(decodeStrip(shuffled(body, numbers, 'keys'), MAC, AT), decodeStrip(body, MAC, AT));
        }),
        { numRuns: 1000 },
      );
    });

    it('keys of any JSON change nothing, but for the order of the strips in a list', () => {
      const sorted = (body: unknown) => {
        const { strips, ...rest } = decodeList(body, AT);
        return { ...rest, strips: strips.sort((a, b) => (a.mac < b.mac ? -1 : 1)) };
      };
      fc.assert(
        fc.property(json, seed, (body, numbers) => {
          const other = shuffled(body, numbers, 'keys');
          assert.deepEqual(sorted(other), sorted(body));
          assert.deepEqual(decodeStrip(other, MAC, AT), decodeStrip(body, MAC, AT));
          const { results, ...said } = decodeSwitch(body);
          const { results: others, ...saidToo } = decodeSwitch(other);
          assert.deepEqual([saidToo, others.length], [said, results.length]);
        }),
        { numRuns: 2000 },
      );
    });

    it('records change no state where anything numbers them', () => {
      fc.assert(
        fc.property(strip, seed, (body, numbers) => {
          const records = Object.values(body).find(
            (value) =>
              Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null),
          ) as Record<string, unknown>[] | undefined;
          fc.pre(
            records?.some((record) => ['id', 'index', 'port', 'slot'].some((name) => name in record)) ===
              true,
          );
          // Beside three numbers, the place of a record without one may say that this is a 0.
          const isNumbered = ({ port }: Record<string, unknown>): boolean => /[0-9]$/.test(String(port));
          fc.pre(records.filter(isNumbered).length !== 3);
          assert.deepEqual(statesOf(shuffled(body, numbers, 'elements')), statesOf(body));
        }),
        { numRuns: 1000 },
      );
    });

    it('one more field, unless it numbers a record that had no number, makes no outlet the opposite of what a clear yes or no said', () => {
      const clear = fc.constantFrom<unknown>(true, false, 'on', 'off');
      const outlets = fc.array(fc.tuple(stateKey, clear), { minLength: 4, maxLength: 4 });
      fc.assert(
        fc.property(
          outlets,
          fc.nat({ max: 3 }),
          fc.oneof(fc.tuple(stateKey, state), fc.tuple(otherKey, other)),
          fc.boolean(),
          (states, at, [name, value], numbered) => {
            fc.pre(numbered || name !== 'port');
            const records = states.map(([key_, on], i) => ({ ...(numbered && { port: i + 1 }), [key_]: on }));
            const before = statesOf({ mac: MAC, outlets: records });
            const more = records.map((record, i) =>
              i === at && !(name in record) ? { ...record, [name]: value } : record,
            );
            const after = statesOf({ mac: MAC, outlets: more });
            for (const [i, on] of after.entries())
              if (typeof on === 'boolean' && typeof before[i] === 'boolean') assert.equal(on, before[i]);
          },
        ),
        { numRuns: 2000 },
      );
    });
  });

  it('one more bare number makes no outlet the opposite of what a bare number said', () => {
    const stateKey = fc.constantFrom('on', 'state', 'status', 'relay', 'is_on', 'physical_state');
    const bit = fc.constantFrom<unknown>(0, 1, '0', '1');
    fc.assert(
      fc.property(stateKey, bit, stateKey, bit, (first, before, second, more) => {
        fc.pre(first !== second);
        const read = (fields: object): boolean | null | undefined =>
          decodeStrip({ mac: MAC, outlets: [{ port: 3, ...fields }] }, MAC, AT).strip.outlets[0]?.on;
        const said = read({ [first]: before });
        assert.equal(said, says(true)(before));
        const both = read({ [first]: before, [second]: more });
        assert.equal(both, says(true)(more) === said ? said : null);
        // A clear yes or no alone outweighs a bare number.
        assert.equal(read({ [first]: before, [second]: !said }), !said);
      }),
    );
  });

  it('never throws on a list of 300,000 records that failed, beside a room', () => {
    const room = { name: 'Hall', strips: [{ mac: MAC, outlets: [true, false, true, false] }] };
    const failed = Array.from({ length: 300_000 }, () => ({ error: 'timeout' }));
    const { strips, complete } = decodeList([room, ...failed], '2026-01-01T00:00:00.000Z');
    assert.deepEqual([strips.length, complete], [1, false]);
  });

  it('never throws on a list of 130,000 records with one field each inside a strip', () => {
    const status = Array.from({ length: 130_000 }, (_, i) => ({ [`key ${i}`]: 1 }));
    assert.deepEqual(statesOf({ mac: MAC, status, outlets: [true, false, true, false] }), [
      true,
      false,
      true,
      false,
    ]);
  });

  it('reads a switch answer with 200,000 lists of results in time', () => {
    // The same few keys, because looking up 200,000 keys takes seconds by itself.
    const keyed = (count: number, valueOf: () => object) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`key ${i}`, valueOf()]));
    const body = keyed(500, () => keyed(400, () => ({ results: [] })));
    assert.equal(decodeSwitch({ success: true, ...body }).success, true);
  }).timeout(20_000);

  it('survives a record of 50,000 different names, again and again, and still knows the right ones', () => {
    for (let round = 0; round < 3; round++) {
      const body = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`key ${round} ${i}`, true]));
      assert.equal(decodeStrip({ ...body, mac: MAC, outlets: [true] }, MAC, AT).readable, true);
    }
  });

  it('reads texts of 40,000 digits in time', () => {
    const outlets = [1, 2, 3, 4].map((number) => ({ id: `${'1'.repeat(40_000)}x${number}`, on: number > 2 }));
    assert.deepEqual(statesOf({ mac: MAC, outlets }), [false, false, true, true]);
  }).timeout(10_000);

  describe('where one record says the same in thousands of spellings, which nobody can compare in time,', () => {
    const spell = (name: string, i: number): string =>
      name + i.toString(2).replaceAll('0', '_').replaceAll('1', '-');
    const spelled = (count: number, fields: object): Record<string, unknown> =>
      Object.fromEntries<unknown>(
        Array.from({ length: count }, (_, i) =>
          Object.entries<unknown>({ ...fields }).map(([name, value]) => [spell(name, i), value] as const),
        ).flat(),
      );
    const read = (body: object) => decodeStrip({ mac: MAC, ...body }, MAC, AT).strip;

    it('reads no set of outlets', () => {
      assert.equal(read(spelled(16, { ports: [true, true, false, false] })).outlets.length, 4);
      assert.deepEqual(read(spelled(10_000, { ports: [true, true, false, false] })).outlets, []);
    });

    it('reads no outlet', () => {
      const port = (number: number, count: number) => ({ ...spelled(count, { port: number }), on: true });
      const four = (count: number) => ({ outlets: [1, 2, 3, 4].map((number) => port(number, count)) });
      assert.equal(read(four(400)).outlets.length, 4);
      assert.deepEqual(read(four(10_000)).outlets, []);
    });

    for (const fields of [{ load: 5, loadUnit: 'W' }, { meter: { power: 5 } }, { power: 5 }]) {
      it(`reads no load: ${JSON.stringify(fields)}`, () => {
        assert.equal(read({ voltage: 230, ...spelled(20, fields) }).load, 5);
        assert.equal(read({ voltage: 230, ...spelled(10_000, fields) }).load, null);
      });
    }

    it('goes through a record of measurements no more often', () => {
      const passesWith = (count: number): number => {
        let passes = 0;
        const ownKeys = (record: object): (string | symbol)[] => {
          passes++;
          return Reflect.ownKeys(record);
        };
        const record = { voltage: 230, ...spelled(count, { power: 5 }) };
        assert.equal(read({ strip: new Proxy(record, { ownKeys }) }).load, 5);
        return passes;
      };
      assert.equal(passesWith(90), passesWith(1));
    });
  });

  it('leaves Object.prototype alone', () => {
    const body: unknown = JSON.parse('{"__proto__": {"mac": "FFFFFFFFFFFF", "outlets": [true]}}');
    decodeAll(body);
    assert.equal('outlets' in {}, false);
  });
});
