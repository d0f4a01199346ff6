import assert from 'node:assert/strict';
import fc from 'fast-check';
import { checkApiKey, isPublicPlainHttp, parseBaseUrl, stripPath } from '../../../src/api/endpoint';
import { isStripError, type StripError } from '../../../src/api/errors';
import { looksLikeMac, macKey, sameMac } from '../../../src/api/mac';

function failureOf(act: () => unknown): StripError {
  try {
    act();
  } catch (error) {
    if (isStripError(error)) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: 'nothing was thrown' });
}

describe('parseBaseUrl', () => {
  for (const [text, expected] of [
    ['https://strips.example.com', 'https://strips.example.com/api/public/v1'],
    ['https://strips.example.com/', 'https://strips.example.com/api/public/v1'],
    ['  http://127.0.0.1:1880/sim//  ', 'http://127.0.0.1:1880/sim/api/public/v1'],
    ['https://strips.example.com/api/public/v1', 'https://strips.example.com/api/public/v1'],
    ['https://strips.example.com/api/public/v1/', 'https://strips.example.com/api/public/v1'],
    ['https://strips.example.com/x/api/public/v1', 'https://strips.example.com/x/api/public/v1'],
    ['HTTPS://STRIPS.example.com', 'https://strips.example.com/api/public/v1'],
  ] as const) {
    it(`makes ${expected} of "${text}"`, () => assert.equal(parseBaseUrl(text).href, expected));
  }

  for (const [text, sentence] of [
    ['', 'urlMissing'],
    ['   ', 'urlMissing'],
    ['strips.example.com', 'urlInvalid'],
    ['http://', 'urlInvalid'],
    ['ftp://strips.example.com', 'urlScheme'],
    ['javascript:alert(1)', 'urlScheme'],
    ['file:///etc/passwd', 'urlScheme'],
    ['localhost:1880', 'urlScheme'],
    ['https://user@strips.example.com', 'urlUser'],
    ['https://user:secret@strips.example.com', 'urlUser'],
    ['https://strips.example.com?key=secret', 'urlQuery'],
    ['https://strips.example.com/?', 'urlQuery'],
    ['https://strips.example.com/#', 'urlQuery'],
    ['${STRIPS}', 'urlVariable'],
    ['https://${STRIPS}/x', 'urlVariable'],
  ] as const) {
    it(`refuses "${text}"`, () => {
      const error = failureOf(() => parseBaseUrl(text));
      assert.equal(error.code, 'NOT_CONFIGURED');
      assert.equal(error.sentence, `NOT_CONFIGURED.${sentence}`);
      assert.ok(!JSON.stringify(error).includes('secret'));
    });
  }

  it('names the variable that is not set', () => {
    assert.deepEqual(failureOf(() => parseBaseUrl('${STRIPS_URL}')).params, { variable: 'STRIPS_URL' });
  });
});

describe('checkApiKey', () => {
  it('trims the key', () => assert.equal(checkApiKey('  a!~Z9 \n'), 'a!~Z9'));

  for (const [text, sentence] of [
    ['', 'keyMissing'],
    [' \n', 'keyMissing'],
    ['${STRIPS_KEY}', 'keyVariable'],
    ['sentinel two', 'keyCharacters'],
    ['sentinel\r\nx-injected: 1', 'keyCharacters'],
    ['sentinel\u0000', 'keyCharacters'],
    ['sentinelé', 'keyCharacters'],
    ['sentinel\u2028x', 'keyCharacters'],
  ] as const) {
    it(`refuses ${JSON.stringify(text)} without repeating it`, () => {
      const error = failureOf(() => checkApiKey(text));
      assert.equal(error.code, 'NOT_CONFIGURED');
      assert.equal(error.sentence, `NOT_CONFIGURED.${sentence}`);
      assert.ok(!`${JSON.stringify(error)}${error.message}${error.stack ?? ''}`.includes('sentinel'));
    });
  }

  it('names the variable that is not set', () => {
    assert.deepEqual(failureOf(() => checkApiKey('${STRIPS_KEY}')).params, { variable: 'STRIPS_KEY' });
  });
});

describe('stripPath', () => {
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
    'x'.repeat(1000),
  ]) {
    it(`refuses ${JSON.stringify(mac).slice(0, 40)}`, () => {
      const error = failureOf(() => stripPath(mac));
      assert.equal(error.code, 'INVALID_INPUT');
      assert.ok(String(error.params.mac).length < 60);
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

describe('isPublicPlainHttp', () => {
  for (const host of [
    'strips.example.com',
    '8.8.8.8',
    '172.32.0.1',
    '[2001:db8::1]',
    '[::ffff:8.8.8.8]',
    '100.64.0.1',
    '10.example.com',
    '[fc::1]',
  ]) {
    it(`warns of http://${host}`, () => assert.equal(isPublicPlainHttp(new URL(`http://${host}`)), true));
  }
  for (const host of [
    'localhost',
    '127.0.0.1',
    '127.1',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.5',
    '169.254.0.1',
    '[::1]',
    '[fd00::1]',
    '[fe80::1]',
    '[::ffff:192.168.0.1]',
    'nas',
    'nas.local',
    'nas.lan.',
    'strips.home.arpa',
  ]) {
    it(`does not warn of http://${host}`, () =>
      assert.equal(isPublicPlainHttp(new URL(`http://${host}`)), false));
  }
  it('does not warn of https', () =>
    assert.equal(isPublicPlainHttp(new URL('https://strips.example.com')), false));
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
  });
  it('is looked for among texts that hold twelve or sixteen hexadecimal digits and separators only', () => {
    for (const mac of ['A0B1C2D3E4F5', 'a0:b1:c2:d3:e4:f5', 'a0b1.c2d3.e4f5', 'A0B1C2D3E4F5A0B1'])
      assert.ok(looksLikeMac(mac), mac);
    for (const text of [
      'strips',
      'A0B1C2D3E4F',
      'A0B1C2D3E4FG',
      'a0b1c2d3e4f5a',
      '',
      '------------',
      'a0b1c2d3\ue4f5',
      '\u0010\u0011a0b1c2d3e4',
    ]) {
      assert.ok(!looksLikeMac(text), text);
    }
  });
  it('is told from others after thousands of different ones', () => {
    for (let i = 0; i < 50_000; i++) macKey(`strip ${i}`);
    assert.equal(macKey('A0:B1:C2:D3:E4:F5'), 'a0b1c2d3e4f5');
  });
});
