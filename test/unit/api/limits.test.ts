import assert from 'node:assert/strict';
import fc from 'fast-check';
import { InFlightSet, type InFlight } from '../../../src/api/limits';

describe('InFlightSet', () => {
  it('holds what a built-in Set would', () => {
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
          assert.equal([...ours].length, expected.size);
        }
        assert.deepEqual(new Set(ours), expected);
      }),
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
    assert.deepEqual([...set], []);
  });
});
