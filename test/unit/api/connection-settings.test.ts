import assert from 'node:assert/strict';
import { checkApiKey, isPublicPlainHttp, parseBaseUrl } from '../../../src/api/connection-settings';
import { failing } from '../flow/support';

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
    it(`makes ${expected} of "${text}"`, () => assert.equal(parseBaseUrl(text).url.href, expected));
  }

  for (const [text, simulator, expected] of [
    ['/strips', '/strips', 'http://simulator/strips/api/public/v1'],
    ['  /a/b/ ', '/a/b', 'http://simulator/a/b/api/public/v1'],
    ['/a/api/public/v1', '/a', 'http://simulator/a/api/public/v1'],
    ['/', '', 'http://simulator/api/public/v1'],
  ] as const) {
    it(`takes "${text}" for a simulator in this Node-RED`, () => {
      const base = parseBaseUrl(text);
      assert.deepEqual([base.simulator, base.url.href], [simulator, expected]);
      assert.equal(isPublicPlainHttp(base), false);
    });
  }

  it('takes no address on the network for a simulator', () => {
    assert.equal(parseBaseUrl('http://127.0.0.1/strips').simulator, null);
  });

  for (const [text, sentence] of [
    ['', 'urlMissing'],
    ['//strips.example.com', 'urlInvalid'],
    ['//', 'urlInvalid'],
    ['/strips?key=secret', 'urlInvalid'],
    ['/my strips', 'urlInvalid'],
    ['/../strips', 'urlInvalid'],
    ['/./strips', 'urlInvalid'],
    ['/strips/..', 'urlInvalid'],
    ['/${SIMULATOR}', 'urlInvalid'],
    ['   ', 'urlMissing'],
    ['strips.example.com', 'urlInvalid'],
    ['http://', 'urlInvalid'],
    ['ftp://strips.example.com', 'urlScheme'],
    ['javascript:alert(1)', 'urlScheme'],
    ['file:///etc/passwd', 'urlScheme'],
    ['localhost:1880', 'urlScheme'],
    ['https://user@strips.example.com', 'urlUser'],
    ['https://user:secret@strips.example.com', 'urlUser'],
    ['https://:secret@strips.example.com', 'urlUser'],
    ['https://strips.example.com?key=secret', 'urlQuery'],
    ['https://strips.example.com/?', 'urlQuery'],
    ['https://strips.example.com/#', 'urlQuery'],
    ['${STRIPS}', 'urlVariable'],
    ['https://${STRIPS}/x', 'urlInvalid'],
  ] as const) {
    it(`refuses "${text}"`, async () => {
      const error = await failing(() => parseBaseUrl(text));
      assert.equal(error.code, 'NOT_CONFIGURED');
      assert.equal(error.sentenceKey, `NOT_CONFIGURED.${sentence}`);
      assert.ok(!JSON.stringify(error).includes('secret'));
    });
  }

  it('names the scheme that is not supported', async () => {
    assert.deepEqual((await failing(() => parseBaseUrl('ftp://strips.example.com'))).params, {
      scheme: 'ftp',
    });
  });

  it('names the variable that is not set', async () => {
    assert.deepEqual((await failing(() => parseBaseUrl('${STRIPS_URL}'))).params, { variable: 'STRIPS_URL' });
  });

  it('is not held up by hundreds of thousands of slashes', async () => {
    const slashes = '/'.repeat(300_000);
    for (const text of [`${slashes}x`, `/${'/api/public/v1'.repeat(20_000)}x${slashes}y`])
      assert.equal((await failing(() => parseBaseUrl(text))).sentenceKey, 'NOT_CONFIGURED.urlInvalid');
    assert.ok(parseBaseUrl(`http://strips.example.com/${slashes}x`).url.pathname.length > 300_000);
  });
});

describe('checkApiKey', () => {
  it('takes a key that only looks like a variable in part', () => {
    assert.equal(checkApiKey('a${X}'), 'a${X}');
    assert.equal(checkApiKey('${X}b'), '${X}b');
  });
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
    it(`refuses ${JSON.stringify(text)} without repeating it`, async () => {
      const error = await failing(() => checkApiKey(text));
      assert.equal(error.code, 'NOT_CONFIGURED');
      assert.equal(error.sentenceKey, `NOT_CONFIGURED.${sentence}`);
      assert.ok(!`${JSON.stringify(error)}${error.message}${error.stack ?? ''}`.includes('sentinel'));
    });
  }

  it('names the variable that is not set', async () => {
    assert.deepEqual((await failing(() => checkApiKey('${STRIPS_KEY}'))).params, { variable: 'STRIPS_KEY' });
  });
});

describe('isPublicPlainHttp', () => {
  for (const host of [
    'strips.example.com',
    '8.8.8.8',
    '172.32.0.1',
    '172.15.0.1',
    '8.16.0.1',
    '192.1.0.1',
    '5.10.1.1',
    '8.168.0.1',
    '169.1.0.1',
    '8.254.0.1',
    '1.2.3.example',
    'a.b.c.d',
    'nas.local.example.com',
    '[2001::fd00:1]',
    '[1::ffff:c0a8:1]',
    '[2001:db8::1]',
    '[::ffff:8.8.8.8]',
    '100.64.0.1',
    '10.example.com',
    '10.1.2.example',
    'strips.example.com.',
    '[fc::1]',
    '[fc:1::1]',
  ]) {
    it(`warns of http://${host}`, () =>
      assert.equal(isPublicPlainHttp(parseBaseUrl(`http://${host}`)), true));
  }
  for (const host of [
    'localhost',
    '127.0.0.1',
    '127.1',
    '10.0.0.1',
    '172.16.0.1',
    '172.25.0.1',
    '172.31.255.255',
    'localhost.',
    '192.168.1.5',
    '169.254.0.1',
    '[::1]',
    '[fd00::1]',
    '[fe80::1]',
    'nas',
    'nas.local',
    'nas.lan.',
    'strips.home.arpa',
  ]) {
    it(`does not warn of http://${host}`, () =>
      assert.equal(isPublicPlainHttp(parseBaseUrl(`http://${host}`)), false));
  }
  it('does not warn of https', () =>
    assert.equal(isPublicPlainHttp(parseBaseUrl('https://strips.example.com')), false));
});
