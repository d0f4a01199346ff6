import assert from 'node:assert/strict';
import fc from 'fast-check';
import { stripPath } from '../../../src/api/client';
import { isStripError } from '../../../src/api/errors';
import { looksLikeMac, macKey, sameMac } from '../../../src/api/types';
import { preview } from '../../../src/values';
import { failing } from '../flow/support';

describe('stripPath', () => {
  it('takes an identifier of up to 200 characters', () => {
    assert.equal(stripPath('x'.repeat(200)), `/strips/${'x'.repeat(200)}`);
  });
  it('keeps the spelling of a MAC', () => assert.equal(stripPath('A0B1C2D3E4F5'), '/strips/A0B1C2D3E4F5'));

  for (const mac of [
    '',
    ' ',
    '.',
    '..',
    '../x',
    'a/b',
    'a\\b',
    'a\nb',
    '\u0000',
    '\u0085',
    '\ud800',
    'x'.repeat(201),
  ]) {
    it(`refuses ${JSON.stringify(mac).slice(0, 40)}`, async () => {
      const error = await failing(() => stripPath(mac));
      assert.equal(error.code, 'INVALID_INPUT');
      assert.equal(error.sentenceKey, 'INVALID_INPUT.mac');
      assert.equal(error.params.got, preview(mac));
    });
  }

  it('lets nothing out of its one path segment', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (mac) => {
        let path: string;
        try {
          path = stripPath(mac);
        } catch (error) {
          assert.ok(isStripError(error));
          return;
        }
        const url = new URL(`http://127.0.0.1/api/public/v1${path}`);
        assert.equal(url.pathname, `/api/public/v1${path}`);
        assert.equal(url.pathname.split('/').length, 6);
        assert.equal(url.search + url.hash, '');
        assert.equal(decodeURIComponent(path.slice('/strips/'.length)), mac);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('A MAC', () => {
  it('is the same with or without separators and in any case', () => {
    for (const other of [
      'a0b1c2d3e4f5',
      'A0:B1:C2:D3:E4:F5',
      'a0-b1-c2-d3-e4-f5',
      'A0B1.C2D3.E4F5',
      ' A0B1C2D3E4F5 ',
    ]) {
      assert.ok(sameMac('A0B1C2D3E4F5', other), other);
    }
    assert.ok(!sameMac('A0B1C2D3E4F5', 'A0B1C2D3E4F6'));
  });
  it('keeps the separators of an identifier that is no MAC', () => {
    assert.ok(!sameMac('strip-1', 'strip1'));
    assert.equal(macKey('Strip-1'), 'strip-1');
    assert.equal(macKey('  Strip-1 '), 'strip-1');
    assert.ok(sameMac('strip-1', 'strip-1'));
  });
  it('is looked for among texts that hold twelve or sixteen hexadecimal digits and separators only', () => {
    for (const mac of [
      'A0B1C2D3E4F5',
      'a0:b1:c2:d3:e4:f5',
      'a0b1.c2d3.e4f5',
      'A0B1C2D3E4F5A0B1',
      'a0:b1:c2:d3:e4:f5:a0:b1',
    ])
      assert.ok(looksLikeMac(mac), mac);
    for (const text of [
      'strips',
      'A0B1C2D3E4F',
      'A0B1C2D3E4FG',
      'a0b1c2d3e4f5a',
      'a0b1c2d3e4f5a0b',
      'a0:b1:c2:d3:e4:f5:a0:b1:',
      '',
      '------------',
      'a0b1c2d3\ue4f5',
      '\u0010\u0011a0b1c2d3e4',
    ]) {
      assert.ok(!looksLikeMac(text), text);
    }
  });
});
