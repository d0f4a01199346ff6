import assert from 'node:assert/strict';
import { keyRemover } from '../../../src/flow/shared-account';

describe('a key in a text that is shown', () => {
  it('is removed, also as it stands in JSON and in the address of a page', () => {
    const key = 'a "quoted\\key"';
    const hide = keyRemover(` ${key} `);
    assert.equal(hide(`sent ${key}`), 'sent ***');
    assert.equal(hide(JSON.stringify({ key })), '{"key":"***"}');
    assert.equal(hide(`?key=${encodeURIComponent(key)}`), '?key=***');
    assert.equal(hide(`?key=${encodeURIComponent(key).toLowerCase()}`), '?key=***');
    assert.equal(keyRemover('pa$!x(1)~key')('?key=pa%24%21x%281%29%7Ekey'), '?key=***');
    assert.equal(keyRemover('ab/cd+é')('ab%2fcd%2B%c3%a9'), '***');
    assert.equal(keyRemover('half \ud800')('half \ud800'), '***');
    assert.equal(keyRemover('abcd')('abcd'), '***');
    assert.equal(keyRemover('abc')('abc'), 'abc');
  });
});
