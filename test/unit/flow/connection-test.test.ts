import assert from 'node:assert/strict';
import { parseConnectionTest, testFailed, testSucceeded } from '../../../src/flow/connection-test';
import { StripError } from '../../../src/api/errors';

const body = { id: 'n', baseUrl: 'https://h', apiKey: 'k', timeout: '5000', tls: '', proxy: '' };

describe('a connection to try', () => {
  it('is read from what the dialog sends', () => {
    assert.deepEqual(parseConnectionTest(body), { ...body, timeout: 5000 });
  });

  it('takes an untouched or empty key for the stored one', () => {
    assert.equal(parseConnectionTest({ ...body, apiKey: '__PWRD__' })?.apiKey, null);
    assert.equal(parseConnectionTest({ ...body, apiKey: '' })?.apiKey, null);
    assert.equal(parseConnectionTest({ id: 'n' })?.apiKey, null);
  });

  it('keeps a person waiting neither for nothing nor for long', () => {
    assert.deepEqual(
      ['', 'x', '1', '-5', '1e9'].map((timeout) => parseConnectionTest({ ...body, timeout })?.timeout),
      [10_000, 10_000, 100, 100, 60_000],
    );
  });

  it('is not read from anything else', () => {
    const hostile = [
      undefined,
      null,
      'x',
      7,
      { ...body, baseUrl: ['x'] },
      { ...body, tls: {} },
      { ...body, apiKey: 'k'.repeat(5000) },
    ];
    for (const value of hostile) assert.equal(parseConnectionTest(value), null);
    assert.equal(
      parseConnectionTest(JSON.parse('{"__proto__":{"baseUrl":"http://elsewhere"}}'))?.baseUrl,
      '',
    );
  });
});

describe('what the editor is told of it', () => {
  it('holds the strips, and nothing that the dialogs do not show', () => {
    const strip = {
      mac: 'A1',
      name: null,
      available: true,
      outlets: [],
      load: 1,
      voltage: 2,
      signal: 3,
      units: {},
      at: '2026-01-01T00:00:00.000Z',
    };
    assert.deepEqual(testSucceeded([strip], false), {
      ok: true,
      strips: [{ mac: 'A1', name: null, available: true, outlets: [] }],
      readable: false,
    });
  });

  it('holds of an error its code and sentence only', () => {
    const error = new StripError('AUTH', 'AUTH.rejected', { params: { host: 'h' }, response: { secret: 1 } });
    assert.deepEqual(testFailed(error), {
      ok: false,
      code: 'AUTH',
      sentence: 'AUTH.rejected',
      params: { host: 'h' },
    });
  });

  it('hides no defect', () => {
    assert.throws(() => testFailed(new TypeError('a defect')), /a defect/);
  });
});
