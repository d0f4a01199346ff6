import assert from 'node:assert/strict';
import { StripError } from '../../../src/api/errors';
import { previewOf, readExpression } from '../../../src/flow/answer-preview';

const MAC = 'A0B1C2D3E4F5';
const asIs = (text: string): string => text;

describe('The preview of an answer', () => {
  it('shows what was sent beside what was read, and why a value is unknown', async () => {
    const body = {
      strips: [{ mac: MAC, outlets: [{ port: 2, name: 'Lamp', state: true, physical_state: false }] }],
    };
    const preview = await previewOf(body, null, asIs);
    assert.deepEqual(preview.body, body);
    assert.equal(preview.shortened, false);
    assert.ok(preview.read.ok && 'notes' in preview.read);
    assert.deepEqual(preview.read.strips[0]?.outlets, [{ port: 2, on: null, name: 'Lamp' }]);
    assert.deepEqual(preview.read.notes, [
      { mac: MAC, about: 2, reason: 'disagree', fields: ['physical_state', 'state'] },
    ]);
  });

  it('reads what the mapping makes of it, and shows what was sent', async () => {
    const preview = await previewOf({ x: MAC }, () => Promise.resolve([{ mac: MAC, outlets: [true] }]), asIs);
    assert.deepEqual(preview.body, { x: MAC });
    assert.ok(preview.read.ok && preview.read.strips.length === 1);
  });

  it('says what is wrong with a mapping', async () => {
    const error = new StripError('BAD_RESPONSE', 'BAD_RESPONSE.mapping', { params: { reason: 'no' } });
    const { read } = await previewOf([], () => Promise.reject(error), asIs);
    assert.deepEqual(read, {
      ok: false,
      code: 'BAD_RESPONSE',
      sentence: 'BAD_RESPONSE.mapping',
      params: { reason: 'no' },
    });
  });

  it('hides the key and whatever is called a secret', async () => {
    const body = {
      token: 'abc',
      note: 'key is k3y',
      Api_Key: 12,
      k3y: 1,
      password: { set: true },
      name: 'Desk',
    };
    const preview = await previewOf(body, null, (text) => text.replaceAll('k3y', '***'));
    assert.deepEqual(preview.body, {
      token: '***',
      note: 'key is ***',
      Api_Key: '***',
      '***': 1,
      password: { set: true },
      name: 'Desk',
    });
  });

  it('is bounded, whatever the size of the answer', async () => {
    let deep: unknown = 1;
    for (let i = 0; i < 1000; i++) deep = [deep];
    const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, 'x'.repeat(1000)]));
    for (const body of [deep, wide, Array.from({ length: 1000 }, () => wide), 'x'.repeat(100_000)]) {
      const preview = await previewOf(body, null, asIs);
      assert.equal(preview.shortened, true);
      assert.ok(JSON.stringify(preview.body).length < 4_000_000);
    }
  });

  it('takes an expression only as a text of a sensible length', () => {
    assert.equal(readExpression({}), '');
    assert.equal(readExpression({ mapping: 'a.b' }), 'a.b');
    for (const request of [null, { mapping: 7 }, { mapping: 'x'.repeat(20_001) }])
      assert.equal(readExpression(request), null);
  });
});
