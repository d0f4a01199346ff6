import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Chain, type Link } from '../../../src/api/chain';

interface Item extends Link<Item> {
  readonly name: number;
}

const item = (name: number): Item => ({ name, before: null, behind: null });
const names = (chain: Chain<Item>) => chain.items().map(({ name }) => name);

describe('a chain', () => {
  it('keeps the order of arrival, and what has been in it longest comes first, whatever comes and goes', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 9 })), (steps) => {
        const items = Array.from({ length: 10 }, (_, name) => item(name));
        const chain = new Chain<Item>();
        let model: number[] = [];
        for (const name of steps) {
          const one = items[name];
          if (one === undefined) continue;
          const isIn = model.includes(name);
          assert.equal(chain.has(one), isIn);
          if (isIn) assert.equal(chain.delete(one), true);
          else chain.add(one);
          model = isIn ? model.filter((other) => other !== name) : [...model, name];
          assert.deepEqual(names(chain), model);
          assert.equal(chain.first?.name, model[0]);
        }
      }),
    );
  });

  it('takes nothing out twice', () => {
    const chain = new Chain<Item>();
    const one = item(1);
    assert.equal(chain.delete(one), false);
    chain.add(one);
    assert.equal(chain.delete(one), true);
    assert.equal(chain.delete(one), false);
  });

  it('holds on to nothing that has left it, from either side', () => {
    const chain = new Chain<Item>();
    const [a, b, c] = [item(1), item(2), item(3)];
    for (const each of [a, b, c]) chain.add(each);
    chain.delete(b);
    assert.deepEqual([b.before, b.behind, a.behind, c.before], [null, null, c, a]);
    chain.delete(a);
    chain.delete(c);
    assert.deepEqual([a, c], [item(1), item(3)]);
  });

  it('may lose members while its items are gone through', () => {
    const chain = new Chain<Item>();
    for (let name = 0; name < 5; name++) chain.add(item(name));
    for (const each of chain.items()) chain.delete(each);
    assert.equal(chain.first, null);
  });
});
