import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { preview } from '../../src/values';

/** A class whose name is code. */
class HasCode {
  static get name(): string {
    return assert.fail();
  }
  on = true;
}

describe('the preview of a value', () => {
  const cyclic: Record<string, unknown> = { port: 1 };
  cyclic.self = cyclic;
  const cases: [string, unknown, string][] = [
    ['a text in quotes', 'maybe', '"maybe"'],
    ['control characters escaped', 'a\r\nb\u0000', '"a\\r\\nb\\u0000"'],
    ['a number', 2, '2'],
    ['not a number', NaN, 'NaN'],
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a big integer by its kind only', 10n ** 1000n, 'bigint'],
    ['a function by its kind only', () => 'secret', 'function'],
    ['a buffer by its length', Buffer.from('abc'), 'buffer of 3 bytes'],
    ['an object', { port: 9, on: 'x' }, '{"port": 9, "on": "x"}'],
    ['an array with a hole', [1, , true], '[1, true]'],
    [
      'what is deep only as deep as it helps',
      { a: { b: { c: 1 } }, d: [[[1]]] },
      '{"a": {"b": {…}}, "d": [[…]]}',
    ],
    [
      'a getter without running it',
      Object.defineProperty({}, 'on', { get: () => assert.fail(), enumerable: true }),
      '{"on": getter}',
    ],
    ['nothing that a prototype brings', Object.create({ on: true }), '{}'],
    ['a promise, which a flow did not wait for, by its class', Promise.resolve(true), 'Promise {}'],
    [
      'a class also from a function node, and inside',
      runInNewContext('({ on: new Date(0) })'),
      '{"on": Date {}}',
    ],
    ['a class without running its code', new HasCode(), '{"on": true}'],
    ['an object that has only a property of that name', { constructor: Date }, '{"constructor": function}'],
    ['a cycle', cyclic, '{"port": 1, "self": {"port": 1, "self": {…}}}'],
  ];
  for (const [what, value, text] of cases) {
    it(`shows ${what}`, () => assert.equal(preview(value), text));
  }

  it('is short, however much came', () => {
    assert.equal(preview('x'.repeat(1e6)).length, 60);
    assert.equal(preview(Array.from({ length: 1e5 }, (_, index) => index)), '[0, 1, 2, 3, 4, 5, …]');
    assert(
      preview(Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key${index}`, 'v']))).endsWith(
        '…',
      ),
    );
  });

  it('shows only the type of a proxy that throws', () => {
    const refuse = (): never => {
      throw new Error('no');
    };
    assert.equal(preview(new Proxy({}, { ownKeys: refuse })), 'object');
    assert.equal(preview({ inner: new Proxy([], { get: refuse }) }), 'object');
  });

  it('does not list all keys of an array, which may have millions', () => {
    const refuse = (): never => assert.fail();
    assert.equal(preview(new Proxy([1, 2], { ownKeys: refuse })), '[1, 2]');
  });

  it('never throws and is never long', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withTypedArray: true,
          withNullPrototype: true,
          withSparseArray: true,
        }),
        (value) => preview(value).length <= 60,
      ),
    );
  });
});
