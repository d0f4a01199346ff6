import assert from 'node:assert/strict';
import { decodeSwitch } from '../../../src/api/decode';

describe('decodeSwitch', () => {
  it('reads the documented answer', () => {
    assert.deepEqual(
      decodeSwitch({
        success: true,
        results: [
          { port: 1, ok: true },
          { port: 2, ok: false },
        ],
      }),
      {
        success: true,
        results: [
          { port: 1, ok: true },
          { port: 2, ok: false },
        ],
        listed: true,
        failed: true,
      },
    );
  });

  it('tells a missing list of results from an empty one', () => {
    assert.deepEqual(decodeSwitch({ success: false }), {
      success: false,
      results: [],
      listed: false,
      failed: false,
    });
    assert.deepEqual(decodeSwitch({ results: [] }), {
      success: null,
      results: [],
      listed: true,
      failed: false,
    });
  });

  for (const success of ['true', 1, null, {}, 'yes']) {
    it(`does not take ${JSON.stringify(success)} for a success`, () => {
      assert.equal(decodeSwitch({ success }).success, null);
    });
  }

  it('notices a failure whose port cannot be read', () => {
    assert.deepEqual(decodeSwitch({ success: true, results: [{ ok: false }, { port: 9, ok: false }] }), {
      success: true,
      results: [],
      listed: true,
      failed: true,
    });
  });

  it('takes anything but a clear yes for a failure, and nothing for nothing', () => {
    const { results } = decodeSwitch({
      results: [
        { port: 1, ok: null },
        { port: 2, ok: 'no' },
        { port: 3 },
        { port: '4', ok: 'true' },
        null,
        7,
      ],
    });
    assert.deepEqual(results, [
      { port: 1, ok: false },
      { port: 2, ok: false },
      { port: 4, ok: true },
    ]);
  });

  for (const body of [null, [], 'success', 7, { results: { 1: true } }, { data: { success: true } }]) {
    it(`finds nothing in ${JSON.stringify(body)}`, () => {
      assert.deepEqual(decodeSwitch(body), { success: null, results: [], listed: false, failed: false });
    });
  }
});
