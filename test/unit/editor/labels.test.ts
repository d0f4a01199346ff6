import assert from 'node:assert/strict';
import { runsByItself } from '../../../src/editor/fields';
import { nodeLabel, outputLabel, type Words } from '../../../src/editor/labels';

/** Shows keys and values in place of sentences. */
const words: Words = {
  text: (key, params) => [key.replace('strip-account.', ''), ...Object.values(params ?? {})].join('/'),
  nameOf: (account, mac) => (account === 'a' && mac === 'A1B2' ? 'Desk strip' : null),
  palette: 'palette',
};
const fixed = {
  type: 'strip switch',
  account: 'a',
  mac: 'A1B2',
  macType: 'str',
  portType: 'port',
  onType: 'action',
};
const label = (node: Record<string, unknown>) => nodeLabel(node, words);

describe('labels on the canvas', () => {
  it('prefer the name a person gave', () => {
    assert.equal(label({ ...fixed, port: '2', on: 'toggle', name: 'Coffee' }), 'Coffee');
  });

  it('say which outlet is switched and how', () => {
    assert.equal(label({ ...fixed, port: '2', on: 'toggle' }), 'Desk strip 2: action.toggle');
    assert.equal(label({ ...fixed, port: 'all', on: 'off' }), 'canvas.stripAll/Desk strip: action.off');
  });

  it('fall back to the MAC where nobody knows a name', () => {
    assert.equal(label({ ...fixed, mac: 'FFFF', port: '2', on: 'on' }), 'FFFF 2: action.on');
    assert.equal(label({ ...fixed, account: 'b', port: '2', on: 'on' }), 'A1B2 2: action.on');
  });

  it('leave out what comes from the message', () => {
    assert.equal(label({ ...fixed, port: '2', onType: 'message', on: '' }), 'Desk strip 2');
    assert.equal(
      label({ ...fixed, macType: 'message', mac: '', port: '3', on: 'on' }),
      'canvas.outlet/3: action.on',
    );
    assert.equal(
      label({ ...fixed, macType: 'message', portType: 'message', on: 'on' }),
      'palette: action.on',
    );
    assert.equal(label({ type: 'strip switch' }), 'palette');
    assert.equal(label({ ...fixed, port: 'foo', portType: 'msg', onType: 'message' }), 'Desk strip');
  });

  it('say what the other nodes read, list and watch', () => {
    assert.equal(
      label({ type: 'strip status', account: 'a', mac: 'A1B2', macType: 'str', port: '' }),
      'Desk strip',
    );
    assert.equal(
      label({ type: 'strip status', macType: 'env', mac: 'STRIP', port: '4', portType: 'port' }),
      'STRIP 4',
    );
    assert.equal(label({ type: 'strip list', output: 'outlets' }), 'canvas.outlets');
    assert.equal(label({ type: 'strip list' }), 'canvas.list');
    assert.equal(label({ type: 'strip watch' }), 'canvas.every');
    assert.equal(label({ type: 'strip watch', port: '2' }), 'canvas.every, canvas.outlet/2');
    assert.equal(label({ type: 'strip watch', account: 'a', mac: 'a1:b2', port: '2' }), 'a1:b2 2');
  });

  it('name an account after its host', () => {
    assert.equal(
      label({ type: 'strip-account', baseUrl: 'https://strips.example.com/api' }),
      'strips.example.com',
    );
    assert.equal(label({ type: 'strip-account', baseUrl: '${STRIPS}' }), '${STRIPS}');
    assert.equal(label({ type: 'strip-account' }), 'canvas.account');
  });

  it('say what comes out', () => {
    assert.equal(outputLabel({ type: 'strip switch' }, words), 'out.same');
    assert.equal(outputLabel({ type: 'strip switch', output: 'on' }, words), 'out.on');
    assert.equal(outputLabel({ type: 'strip status', output: 'on' }, words), 'out.strip');
    assert.equal(outputLabel({ type: 'strip status', output: 'on', port: '2' }, words), 'out.on');
    assert.equal(outputLabel({ type: 'strip list', output: 'outlets' }, words), 'out.outlets');
    assert.equal(outputLabel({ type: 'strip watch', output: 'port-on' }, words), 'out.port-on');
    assert.equal(outputLabel({ type: 'strip watch', output: 'nonsense' }, words), 'out.on');
  });
});

describe('the button on the canvas', () => {
  it('is there where pressing it can mean one thing only', () => {
    assert.equal(runsByItself({ type: 'strip list' }), true);
    assert.equal(runsByItself({ ...fixed, port: '2', on: 'toggle' }), true);
    assert.equal(runsByItself({ ...fixed, port: 'P', portType: 'env', on: 'x', onType: 'flow' }), true);
    assert.equal(runsByItself({ type: 'strip status', mac: 'A1B2', macType: 'str' }), true);
  });

  it('is not there where something is missing or comes from a message', () => {
    assert.equal(runsByItself({ type: 'strip switch' }), false);
    assert.equal(runsByItself({ ...fixed, port: '', on: 'toggle' }), false);
    assert.equal(runsByItself({ ...fixed, port: '2', on: 'x', onType: 'msg' }), false);
    assert.equal(runsByItself({ ...fixed, port: '2', on: '$random()', onType: 'jsonata' }), false);
    assert.equal(runsByItself({ type: 'strip status' }), false);
    assert.equal(
      runsByItself({ type: 'strip status', mac: 'A1B2', macType: 'str', portType: 'message' }),
      false,
    );
    assert.equal(runsByItself({ type: 'strip watch' }), false);
  });
});
