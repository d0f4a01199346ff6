import assert from 'node:assert/strict';
import fc from 'fast-check';
import { InFlightSet, type InFlight } from '../../../src/api/in-flight-set';

describe('InFlightSet', () => {
  it('holds what a built-in Set would, in the same order', () => {
    const step = fc.record({ add: fc.boolean(), which: fc.nat(200) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 500 }), (steps) => {
        const items = Array.from({ length: 201 }, (): InFlight => ({ slot: -1 }));
        const ours = new InFlightSet();
        const expected = new Set<InFlight>();
        for (const { add, which } of steps) {
          const item = items[which] ?? { slot: -1 };
          if (!add) assert.equal(ours.delete(item), expected.delete(item));
          else if (!expected.has(item)) {
            ours.add(item);
            expected.add(item);
          }
          assert.equal(ours.size, expected.size);
        }
        assert.deepEqual([...ours], [...expected]);
      }),
    );
  });

  it('keeps the rest in order when most of many members have left, whichever they were', () => {
    const which = fc.uniqueArray(fc.nat(299), { minLength: 260, maxLength: 300 });
    fc.assert(
      fc.property(which, fc.nat(299), (leaving, more) => {
        const items = Array.from({ length: 300 }, (): InFlight => ({ slot: -1 }));
        const set = new InFlightSet();
        const expected = new Set(items);
        for (const item of items) set.add(item);
        for (const index of leaving) {
          const item = items[index] ?? { slot: -1 };
          assert.ok(set.delete(item));
          assert.ok(!set.delete(item));
          expected.delete(item);
          assert.equal(set.size, expected.size);
        }
        assert.deepEqual([...set], [...expected]);
        for (let index = 0; index < more; index++) {
          const item = { slot: -1 };
          set.add(item);
          expected.add(item);
        }
        assert.deepEqual([...set], [...expected]);
        for (const item of expected) assert.ok(set.delete(item));
        assert.equal(set.size, 0);
        assert.deepEqual([...set], []);
      }),
      { numRuns: 30 },
    );
  });

  it('lets its members leave while they are visited', () => {
    const items = Array.from({ length: 100 }, (): InFlight => ({ slot: -1 }));
    const set = new InFlightSet();
    for (const item of items) set.add(item);
    let visited = 0;
    for (const item of set) {
      set.delete(item);
      visited++;
    }
    assert.equal(visited, 100);
    assert.equal(set.size, 0);
    assert.deepEqual([...set], []);
  });
});
