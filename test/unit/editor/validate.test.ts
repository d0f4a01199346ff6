import assert from 'node:assert/strict';
import { faultOf, warningOf } from '../../../src/editor/validate';

const typed = (value: string, type: string) => (value === '' ? `${type} is empty` : true);
const fault = (node: string, field: string, value: unknown, type = '') => {
  const found = faultOf({ node, field, value, type }, typed);
  if (found === null) return null;
  return 'sentence' in found ? found.sentence : found.key;
};

describe('checks in the dialogs', () => {
  it('accept a base URL with and without the path of the API, and a variable', () => {
    for (const url of [
      'https://strips.example.com',
      'http://10.0.0.2:8080/x/api/public/v1/',
      '${STRIPS_URL}',
    ]) {
      assert.equal(fault('strip-account', 'baseUrl', url), null, url);
    }
  });

  it('name what is wrong with a base URL', () => {
    const wrong = {
      '': 'urlMissing',
      strips: 'urlInvalid',
      'ftp://strips.example.com': 'urlScheme',
      'https://me:secret@strips.example.com': 'urlUser',
      'https://strips.example.com/?a=b': 'urlQuery',
    };
    for (const [url, kind] of Object.entries(wrong)) {
      assert.equal(fault('strip-account', 'baseUrl', url), `errors.NOT_CONFIGURED.${kind}`, url);
    }
  });

  it('warn of a key in plain sight, and only then', () => {
    assert.deepEqual(warningOf('http://strips.example.com'), { key: 'strip-account.warning.plainHttp' });
    for (const url of [
      'http://127.0.0.1:1880/x',
      'http://192.168.1.2',
      'https://strips.example.com',
      'ftp://x',
      '',
    ]) {
      assert.equal(warningOf(url), null, url);
    }
  });

  it('ask for a strip, an outlet and an action where they are fixed', () => {
    assert.equal(fault('strip switch', 'mac', '', 'str'), 'strip-account.invalid.mac');
    assert.equal(fault('strip switch', 'mac', '../x', 'str'), 'errors.INVALID_INPUT.mac');
    assert.equal(fault('strip switch', 'port', '', 'port'), 'strip-account.invalid.port');
    assert.equal(fault('strip switch', 'port', '5', 'port'), 'strip-account.invalid.port');
    assert.equal(fault('strip switch', 'on', 'of', 'action'), 'strip-account.invalid.on');
  });

  it('ask for nothing where it comes from the message', () => {
    for (const field of ['mac', 'port', 'on'])
      assert.equal(fault('strip switch', field, '', 'message'), null);
  });

  it('let a status node read, and a watch node watch, everything', () => {
    assert.equal(fault('strip status', 'port', '', 'port'), null);
    assert.equal(fault('strip status', 'port', 'all', 'port'), 'strip-account.invalid.port');
    assert.equal(fault('strip watch', 'mac', '', 'str'), null);
    assert.equal(fault('strip watch', 'port', ''), null);
    assert.equal(fault('strip switch', 'port', 'all', 'port'), null);
  });

  it("leave expressions to Node-RED's own checks, and want them filled in", () => {
    assert.equal(fault('strip switch', 'mac', '', 'msg'), 'msg is empty');
    assert.equal(fault('strip switch', 'mac', 'strip.mac', 'msg'), null);
    assert.equal(fault('strip switch', 'mac', '', 'env'), 'strip-account.invalid.expression');
    assert.equal(fault('strip switch', 'mac', '$.mac', 'jsonata'), null);
  });

  it('keep numbers within what the runtime keeps to', () => {
    assert.equal(fault('strip switch', 'delay', '5', 'num'), null);
    for (const delay of ['0', '3601', 'NaN', '0x']) {
      assert.equal(fault('strip switch', 'delay', delay, 'num'), 'strip-account.invalid.number', delay);
    }
    assert.equal(fault('strip-account', 'interval', '4'), 'strip-account.invalid.number');
    assert.equal(fault('strip-account', 'interval', 30), null);
    assert.equal(fault('strip-account', 'retryFor', '0'), null);
    assert.equal(fault('strip-account', 'concurrency', ''), 'strip-account.invalid.number');
    assert.equal(fault('strip watch', 'change', '-1'), 'strip-account.invalid.number');
    assert.equal(fault('strip watch', 'change', '0.5'), null);
  });

  it('find nothing wrong with a number that an old flow does not have', () => {
    assert.equal(fault('strip switch', 'delay', undefined, 'num'), null);
    assert.equal(fault('strip-account', 'retryFor', undefined), null);
    assert.equal(fault('strip watch', 'change', undefined), null);
    assert.equal(fault('strip switch', 'mac', undefined, 'str'), 'strip-account.invalid.mac');
  });

  it('want a strip in every row of protected outlets', () => {
    assert.equal(fault('strip-account', 'protectedOutlets', [{ mac: 'A1', port: 2 }]), null);
    assert.equal(fault('strip-account', 'protectedOutlets', []), null);
    assert.equal(fault('strip-account', 'protectedOutlets', undefined), null);
    for (const rows of ['A1', [{ mac: ' ', port: 2 }], [{ mac: 'A1', port: 7 }], [null]]) {
      assert.equal(fault('strip-account', 'protectedOutlets', rows), 'strip-account.invalid.protected');
    }
  });
});
