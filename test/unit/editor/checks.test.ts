import assert from 'node:assert/strict';
import { descriptors } from '../../../src/editor/descriptors';
import { faultOf } from '../../../src/editor/form';
import { SETTINGS, type NodeType } from '../../../src/settings';

/** An editor whose own check refuses what is empty. */
const RED = {
  utils: {
    validateTypedProperty: (value: string, type: string) => (value === '' ? `${type} is empty` : true),
  },
};

function fault(
  type: NodeType,
  field: string,
  value: unknown,
  more: { type?: string; node?: Record<string, unknown> } = {},
) {
  const descriptor = descriptors.find((each) => each.type === type);
  assert.ok(descriptor);
  const chosen = more.type === undefined ? {} : { [`${field}Type`]: more.type };
  const found = faultOf(descriptor, { ...more.node, ...chosen }, field, value);
  if (found === null) return null;
  return 'sentence' in found ? found.sentence : found.key;
}

describe('checks in the dialogs', () => {
  before(() => Object.assign(globalThis, { RED }));
  after(() => Reflect.deleteProperty(globalThis, 'RED'));

  it('accept a base URL with and without the path of the API, the path of a simulator, and a variable', () => {
    for (const url of [
      'https://strips.example.com',
      'http://10.0.0.2:8080/x/api/public/v1/',
      '/strip-simulator',
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

  it('mark a missing key on the canvas where the editor knows that there is none', () => {
    const url = 'https://strips.example.com';
    const missing = (node: Record<string, unknown>, baseUrl = url) =>
      fault('strip-account', 'baseUrl', baseUrl, { node: { baseUrl, ...node } }) ===
      'strip-account.invalid.apiKey';
    assert.equal(missing({ changed: true }), true);
    assert.equal(missing({ credentials: { apiKey: '' } }), true);
    assert.equal(missing({ credentials: { has_apiKey: false } }), true);
    assert.equal(missing({}), false);
    assert.equal(missing({ changed: true, credentials: { has_apiKey: true } }), false);
    assert.equal(missing({ changed: true, credentials: { apiKey: 'k' } }), false);
    assert.equal(missing({ changed: true }, '/strip-simulator'), false);
  });

  it('ask for a strip, an outlet and an action where they are fixed', () => {
    assert.equal(fault('strip switch', 'mac', '', { type: 'str' }), 'strip-account.invalid.mac');
    assert.equal(fault('strip switch', 'mac', '../x', { type: 'str' }), 'errors.INVALID_INPUT.mac');
    assert.equal(fault('strip switch', 'port', '', { type: 'port' }), 'strip-account.invalid.port');
    assert.equal(fault('strip switch', 'port', '5', { type: 'port' }), 'strip-account.invalid.port');
    assert.equal(fault('strip switch', 'on', 'of', { type: 'action' }), 'strip-account.invalid.on');
  });

  it('ask for nothing where it comes from the message, also in a flow that names no type', () => {
    for (const field of ['mac', 'port', 'on']) {
      assert.equal(fault('strip switch', field, '', { type: 'message' }), null);
      assert.equal(fault('strip switch', field, undefined), null);
    }
  });

  it('let a status node read, and a watch node watch, everything', () => {
    assert.equal(fault('strip status', 'port', ''), null);
    assert.equal(fault('strip status', 'port', 'all'), 'strip-account.invalid.port');
    assert.equal(fault('strip watch', 'mac', ''), null);
    assert.equal(fault('strip watch', 'port', ''), null);
    assert.equal(fault('strip switch', 'port', 'all', { type: 'port' }), null);
  });

  it("leave expressions to Node-RED's own checks, and want them filled in", () => {
    assert.equal(fault('strip switch', 'mac', '', { type: 'msg' }), 'msg is empty');
    assert.equal(fault('strip switch', 'mac', 'strip.mac', { type: 'msg' }), null);
    assert.equal(fault('strip switch', 'mac', '', { type: 'env' }), 'strip-account.invalid.expression');
    assert.equal(fault('strip switch', 'mac', '$.mac', { type: 'jsonata' }), null);
  });

  it('keep numbers within what the runtime keeps to', () => {
    assert.equal(fault('strip switch', 'delay', '5'), null);
    for (const delay of ['0', '3601', 'NaN', '0x']) {
      assert.equal(fault('strip switch', 'delay', delay), 'strip-account.invalid.number', delay);
    }
    assert.equal(fault('strip-account', 'interval', '4'), 'strip-account.invalid.number');
    assert.equal(fault('strip-account', 'interval', 30), null);
    assert.equal(fault('strip-account', 'retryFor', '0'), null);
    assert.equal(fault('strip-account', 'concurrency', ''), 'strip-account.invalid.number');
    assert.equal(fault('strip-account', 'timeout', '99'), 'strip-account.invalid.number');
    assert.equal(fault('strip-account', 'timeout', 10_000), null);
    assert.equal(fault('strip watch', 'change', '-1'), 'strip-account.invalid.number');
    assert.equal(fault('strip watch', 'change', '1e300'), 'strip-account.invalid.number');
    assert.equal(fault('strip watch', 'change', '0.5'), null);
    assert.equal(fault('strip simulator', 'latency', '60001'), 'strip-account.invalid.number');
  });

  it('find nothing wrong with a property that a flow does not have', () => {
    for (const { type } of descriptors) {
      for (const field of Object.keys(SETTINGS[type])) {
        if (field === 'baseUrl') continue; // there is always one
        assert.equal(fault(type, field, undefined), null, `${type} ${field}`);
      }
    }
  });

  it('refuse protected outlets that cannot be read', () => {
    assert.equal(fault('strip-account', 'protectedOutlets', [{ mac: 'A1', port: 2 }]), null);
    assert.equal(fault('strip-account', 'protectedOutlets', []), null);
    for (const rows of ['A1', [{ mac: ' ', port: 2 }], [{ mac: 'A1', port: 7 }], [null]]) {
      assert.equal(fault('strip-account', 'protectedOutlets', rows), 'strip-account.invalid.protected');
    }
  });

  it('want a path, and strips with different MACs, for a simulator', () => {
    assert.equal(fault('strip simulator', 'path', '/a/b'), null);
    assert.equal(fault('strip simulator', 'path', 'a b'), 'strip-simulator.invalid.path');
    const strips = (...macs: string[]) => macs.map((mac) => ({ mac, name: '' }));
    assert.equal(fault('strip simulator', 'strips', strips('A1', 'A2')), null);
    assert.equal(fault('strip simulator', 'strips', strips('A1', 'a1')), 'strip-simulator.invalid.macTwice');
    assert.equal(fault('strip simulator', 'strips', strips('')), 'strip-simulator.invalid.mac');
    assert.equal(fault('strip simulator', 'strips', 'A1'), 'strip-simulator.invalid.strips');
  });
});
