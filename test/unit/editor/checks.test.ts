import assert from 'node:assert/strict';
import { descriptors } from '../../../src/editor/descriptors';
import { problemWith } from '../../../src/editor/form';
import { SETTINGS } from '../../../src/settings';

/** An editor that shows keys in place of sentences, and whose own check refuses what is empty. */
const RED = {
  _: (id: string) => id.replace(/^.*:/, ''),
  nodes: { workspace: () => undefined, filterNodes: () => [] },
  utils: {
    validateTypedProperty: (value: string, type: string) => (value === '' ? `${type} is empty` : true),
  },
};

function problem(
  type: keyof typeof SETTINGS,
  field: string,
  value: unknown,
  more: { type?: string; node?: Record<string, unknown> } = {},
) {
  const chosen = more.type === undefined ? {} : { [`${field}Type`]: more.type };
  return problemWith(descriptors[type], { type, ...more.node, ...chosen }, field, value);
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
      assert.equal(problem('strip-account', 'baseUrl', url), '', url);
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
      assert.equal(problem('strip-account', 'baseUrl', url), `errors.NOT_CONFIGURED.${kind}`, url);
    }
  });

  it('mark an outlet that a hand-written flow gives as a boolean, which the runtime refuses', () => {
    for (const outlet of [true, false]) {
      const wrong = 'strip-account.invalid.port';
      assert.equal(problem('strip status', 'port', outlet, { type: 'port' }), wrong, String(outlet));
      assert.equal(problem('strip watch', 'port', outlet), wrong, String(outlet));
    }
  });

  it('mark a missing key on the canvas where the editor knows that there is none', () => {
    const url = 'https://strips.example.com';
    const missing = (node: Record<string, unknown>, baseUrl = url) =>
      problem('strip-account', 'baseUrl', baseUrl, { node: { baseUrl, ...node } }) ===
      'strip-account.invalid.apiKey';
    assert.equal(missing({ changed: true }), true);
    assert.equal(missing({ credentials: { apiKey: '' } }), true);
    assert.equal(missing({ credentials: { has_apiKey: false } }), true);
    assert.equal(missing({}), false);
    assert.equal(missing({ changed: true, credentials: { has_apiKey: true } }), false);
    assert.equal(missing({ changed: true, credentials: { apiKey: 'k' } }), false);
    assert.equal(missing({ changed: true }, '/strip-simulator'), false);
  });

  it('name what is wrong with a key that no header can hold, and never the key', () => {
    for (const key of ['sk-1', ' sk-1 ', '__PWRD__', '${STRIPS_KEY}'])
      assert.equal(problem('strip-account', 'apiKey', key), '', key);
    for (const key of ['sk 1', 'sk-1…', 'schlüssel'])
      assert.equal(problem('strip-account', 'apiKey', key), 'errors.NOT_CONFIGURED.keyCharacters', key);
  });

  it('ask for a strip, an outlet and an action where they are fixed', () => {
    assert.equal(problem('strip switch', 'mac', '', { type: 'str' }), 'strip-account.invalid.mac');
    assert.equal(problem('strip switch', 'mac', '../x', { type: 'str' }), 'errors.INVALID_INPUT.mac');
    assert.equal(problem('strip switch', 'port', '', { type: 'port' }), 'strip-account.invalid.port');
    assert.equal(problem('strip switch', 'port', '5', { type: 'port' }), 'strip-account.invalid.port');
    assert.equal(problem('strip switch', 'on', 'of', { type: 'action' }), 'strip-account.invalid.on');
  });

  it('ask for nothing where it comes from the message, also in a flow that names no type', () => {
    for (const field of ['mac', 'port', 'on']) {
      assert.equal(problem('strip switch', field, '', { type: 'message' }), '');
      assert.equal(problem('strip switch', field, undefined), '');
    }
  });

  it('let a status node read, and a watch node watch, everything', () => {
    assert.equal(problem('strip status', 'port', ''), '');
    assert.equal(problem('strip status', 'port', 'all'), 'strip-account.invalid.port');
    assert.equal(problem('strip watch', 'mac', ''), '');
    assert.equal(problem('strip watch', 'mac', '../x'), 'errors.INVALID_INPUT.mac');
    assert.equal(problem('strip watch', 'port', ''), '');
    assert.equal(problem('strip switch', 'port', 'all', { type: 'port' }), '');
  });

  it('name a type that the runtime refuses', () => {
    for (const field of ['mac', 'port', 'on', 'delay'])
      assert.equal(problem('strip switch', field, '2', { type: 'bool' }), 'errors.NOT_CONFIGURED.property');
    assert.equal(problem('strip watch', 'mac', '', { type: 'msg' }), 'errors.NOT_CONFIGURED.property');
    assert.equal(problem('strip status', 'port', '2', { type: '' }), '');
  });

  it('want a text where the runtime refuses anything else', () => {
    for (const [type, field] of [
      ['strip status', 'port'],
      ['strip switch', 'mac'],
      ['strip watch', 'mac'],
      ['strip watch', 'port'],
      ['strip mqtt', 'topic'],
      ['strip-account', 'mapping'],
      ['strip simulator', 'path'],
    ] as const) {
      for (const value of [[2], {}]) assert.equal(problem(type, field, value), 'errors.NOT_CONFIGURED.text');
    }
    assert.equal(problem('strip switch', 'mac', {}, { type: 'message' }), 'errors.NOT_CONFIGURED.text');
  });

  it('name what the runtime refuses although it is not used', () => {
    const unused = { on: 'on', onType: 'action', outlets: false, readings: false };
    for (const [type, field, value] of [
      ['strip switch', 'delay', [5]],
      ['strip watch', 'port', [2]],
      ['strip watch', 'change', '5 W'],
    ] as const)
      assert.match(problem(type, field, value, { node: unused }), /^errors.NOT_CONFIGURED/, field);
    const unknownType = problem('strip switch', 'delay', '5', { type: 's', node: unused });
    assert.equal(unknownType, 'errors.NOT_CONFIGURED.property');
  });

  it('name a choice or a check mark that the runtime refuses', () => {
    assert.equal(problem('strip list', 'output', 'Strips'), 'errors.NOT_CONFIGURED.property');
    assert.equal(problem('strip watch', 'initial', 'yes'), 'errors.NOT_CONFIGURED.property');
    for (const value of [true, 'false', '${NAME}'])
      assert.equal(problem('strip watch', 'initial', value), '');
  });

  it('leave a type that a variable gives to the runtime', () => {
    assert.equal(problem('strip switch', 'mac', 'A1', { type: '${NAME}' }), '');
  });

  it("leave expressions to Node-RED's own checks, and want them filled in", () => {
    assert.equal(problem('strip switch', 'mac', '', { type: 'msg' }), 'msg is empty');
    assert.equal(problem('strip switch', 'mac', 'strip.mac', { type: 'msg' }), '');
    assert.equal(problem('strip switch', 'mac', '', { type: 'env' }), 'strip-account.invalid.expression');
    assert.equal(problem('strip switch', 'mac', 'STRIP', { type: 'env' }), '');
    assert.equal(problem('strip switch', 'mac', '$.mac', { type: 'jsonata' }), '');
  });

  it('keep numbers within what the runtime keeps to', () => {
    assert.equal(problem('strip switch', 'delay', '5'), '');
    for (const delay of ['0', '3601', 'NaN', '0x', '0x10', '1e3', '+5', '5.', '1.0000000001']) {
      assert.equal(problem('strip switch', 'delay', delay), 'strip-account.invalid.number', delay);
    }
    assert.equal(problem('strip-account', 'interval', '4'), 'strip-account.invalid.number');
    assert.equal(problem('strip-account', 'interval', 30), '');
    assert.equal(problem('strip-account', 'retryFor', '0'), '');
    assert.equal(problem('strip-account', 'concurrency', ''), 'strip-account.invalid.wholeNumber');
    assert.equal(problem('strip-account', 'concurrency', '101'), 'strip-account.invalid.wholeNumber');
    assert.equal(problem('strip-account', 'concurrency', '1.5'), 'strip-account.invalid.wholeNumber');
    assert.equal(problem('strip-account', 'concurrency', '2'), '');
    assert.equal(problem('strip-account', 'timeout', '99'), 'strip-account.invalid.number');
    assert.equal(problem('strip-account', 'timeout', 10_000), '');
    assert.equal(problem('strip simulator', 'latency', '60001'), 'strip-account.invalid.number');
  });

  it('look at the delay only where an outlet may be cycled', () => {
    const delay = (node: object) => problem('strip switch', 'delay', '0', { node: { ...node } });
    for (const on of ['on', 'off', 'toggle']) assert.equal(delay({ on, onType: 'action' }), '', on);
    for (const node of [{ on: 'cycle', onType: 'action' }, { on: 'payload', onType: 'msg' }, {}])
      assert.equal(delay(node), 'strip-account.invalid.number');
  });

  it('look at the smallest change of a reading only where readings are sent', () => {
    const change = (value: string, node: object) =>
      problem('strip watch', 'change', value, { node: { ...node } });
    for (const value of ['-1', '1e300', '']) {
      assert.equal(change(value, { readings: true }), 'strip-account.invalid.number', value);
      assert.equal(change(value, { readings: false }), '', value);
      assert.equal(change(value, {}), '', value);
    }
    assert.equal(change('0.5', { readings: true }), '');
  });

  it('look at the outlet of a watch node only where outlets are watched', () => {
    for (const outlets of [true, undefined])
      assert.equal(problem('strip watch', 'port', '7', { node: { outlets } }), 'strip-account.invalid.port');
    assert.equal(problem('strip watch', 'port', '7', { node: { outlets: false } }), '');
  });

  it('are made for every type of node', () => {
    // A node is added to src/settings.ts first, and then to src/editor/descriptors.ts.
    assert.deepEqual(Object.keys(descriptors), Object.keys(SETTINGS));
  });

  it('find nothing wrong with a property that a flow does not have', () => {
    for (const [type, settings] of Object.entries(SETTINGS)) {
      for (const field of Object.keys(settings)) {
        if (field === 'baseUrl') continue; // there is always one
        assert.equal(problem(type as keyof typeof SETTINGS, field, undefined), '', `${type} ${field}`);
      }
    }
  });

  it('refuse protected outlets that cannot be read', () => {
    assert.equal(problem('strip-account', 'protectedOutlets', [{ mac: 'A1', port: 2 }]), '');
    assert.equal(problem('strip-account', 'protectedOutlets', []), '');
    for (const rows of ['A1', [{ mac: ' ', port: 2 }], [{ mac: 'A1', port: 7 }], [null]]) {
      assert.equal(problem('strip-account', 'protectedOutlets', rows), 'errors.NOT_CONFIGURED.protected');
    }
  });

  it('want topics that a broker accepts, and let a node do without discovery', () => {
    assert.equal(problem('strip mqtt', 'topic', ''), 'errors.NOT_CONFIGURED.topic');
    assert.equal(problem('strip mqtt', 'discovery', ''), '');
    assert.equal(problem('strip mqtt', 'discovery', 'a/#'), 'errors.NOT_CONFIGURED.topic');
  });

  it('want a path, and strips with different MACs that an account can ask for, for a simulator', () => {
    assert.equal(problem('strip simulator', 'path', '/a/b'), '');
    assert.equal(problem('strip simulator', 'path', 'a b'), 'strip-simulator.invalid.path');
    const strips = (...macs: string[]) => macs.map((mac) => ({ mac, name: '' }));
    assert.equal(problem('strip simulator', 'strips', strips('A1', 'A2')), '');
    assert.equal(
      problem('strip simulator', 'strips', strips('A1', 'a1')),
      'strip-simulator.invalid.macTwice',
    );
    assert.equal(problem('strip simulator', 'strips', strips('')), 'strip-simulator.invalid.mac');
    for (const mac of ['.', '..', 'a/b', 'a\\b']) {
      const found = problem('strip simulator', 'strips', strips('A1', mac));
      assert.equal(found, 'strip-simulator.invalid.macImpossible', mac);
    }
    assert.equal(problem('strip simulator', 'strips', 'A1'), 'errors.NOT_CONFIGURED.property');
  });
});
