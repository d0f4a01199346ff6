import assert from 'node:assert/strict';
import { inputLabelOf, labelOf as label, outputLabelOf, wholeLabelOf } from '../../../src/editor/descriptors';
import { learn } from '../../../src/editor/strips';
import { cut } from '../../../src/values';
import { makeStrip } from '../../support/scripted-service';

/** An editor that shows keys and values in place of sentences, and has no other nodes. */
const RED = {
  _: (id: string) => {
    const key = id.replace(/^.*:/, '').replace(/^strip-account\.(action\.)?/, '');
    return key === 'canvas.outlet' ? `${key}/__port__` : key;
  },
  nodes: { node: () => null, filterNodes: () => [] },
  view: { redraw: () => undefined },
};

/** An account has one strip, of which one outlet has a name. */
const knows = (account: string, strip: string, outlet: string) =>
  learn(account, [makeStrip('A1B2', [], { name: strip, outlets: [{ port: 1, on: null, name: outlet }] })]);
const fixed = {
  type: 'strip switch',
  account: 'a',
  mac: 'A1B2',
  macType: 'str',
  portType: 'port',
  onType: 'action',
};
const output = (node: Record<string, unknown>) => outputLabelOf(node);

describe('labels on the canvas', () => {
  before(() => {
    Object.assign(globalThis, { RED });
    knows('a', 'Desk', 'Lamp');
  });
  after(() => Reflect.deleteProperty(globalThis, 'RED'));

  it('prefer the name a person gave, however long', () => {
    const name = 'Coffee in the kitchen, in the morning';
    assert.equal(label({ ...fixed, port: '2', on: 'toggle', name }), name);
  });

  it('do not look at the account where a person gave a name: an imported one would be asked for its strips', () => {
    const { node } = RED.nodes;
    RED.nodes.node = () => assert.fail('looked at the account');
    try {
      assert.equal(label({ ...fixed, account: 'imported', port: '2', on: 'toggle', name: 'Lamp' }), 'Lamp');
    } finally {
      RED.nodes.node = node;
    }
  });

  it('say which outlet is switched and how, by its name where it has one', () => {
    assert.equal(label({ ...fixed, port: '1', on: 'toggle' }), 'Desk: Lamp, toggle');
    assert.equal(label({ ...fixed, port: '2', on: 'toggle' }), 'Desk: 2, toggle');
    assert.equal(label({ ...fixed, port: 'all', on: 'off' }), 'Desk: port.all, off');
  });

  it('show of several names that the account gives an outlet the one that messages have: the last', () => {
    const { node } = RED.nodes;
    const names = [
      { mac: 'a1b2', port: 'all', name: 'Rack' },
      { mac: 'A1:B2', port: 1, name: 'Router' },
    ];
    RED.nodes.node = (() => ({ outletNames: names })) as never;
    try {
      assert.equal(label({ ...fixed, port: '1', on: 'toggle' }), 'Desk: Router, toggle');
      assert.equal(label({ ...fixed, port: '2', on: 'toggle' }), 'Desk: Rack, toggle');
    } finally {
      RED.nodes.node = node;
    }
  });

  it('fall back to the MAC where no name is known', () => {
    assert.equal(label({ ...fixed, mac: 'FFFF', port: '2', on: 'on' }), 'FFFF: 2, on');
    assert.equal(label({ ...fixed, account: 'b', port: '1', on: 'on' }), 'A1B2: 1, on');
  });

  it('leave out what comes from the message', () => {
    assert.equal(label({ ...fixed, port: '2', onType: 'message', on: 'on' }), 'Desk: 2');
    assert.equal(
      label({ ...fixed, macType: 'message', mac: '', port: '3', on: 'on' }),
      'canvas.outlet/3, on',
    );
    assert.equal(label({ ...fixed, macType: 'message', port: 'all', on: 'off' }), 'canvas.all, off');
    assert.equal(
      label({ ...fixed, macType: 'message', portType: 'message', on: 'on' }),
      'strip-switch.palette, on',
    );
    assert.equal(label({ ...fixed, portType: 'message', on: 'on' }), 'Desk, on');
    assert.equal(label({ type: 'strip switch' }), 'strip-switch.palette');
    assert.equal(label({ ...fixed, port: 'foo', portType: 'msg', onType: 'message' }), 'Desk');
  });

  it('name the environment variable that stands for a strip or an outlet', () => {
    assert.equal(label({ ...fixed, macType: 'env', mac: 'STRIP', port: '2', on: 'on' }), 'STRIP: 2, on');
    assert.equal(label({ ...fixed, portType: 'env', port: 'PORT', on: 'on' }), 'Desk: PORT, on');
    const message = { ...fixed, macType: 'message', mac: '', on: 'on' };
    assert.equal(label({ ...message, portType: 'env', port: 'PORT' }), 'PORT, on');
    assert.equal(label({ ...message, portType: 'env', port: '' }), 'strip-switch.palette, on');
  });

  it('have names that are cut to 24 characters, that of the strip first, and the action beside them', () => {
    const node = { ...fixed, account: 'long', port: '1', on: 'toggle' };
    knows('long', 'Schreibtischleiste', 'Lamp');
    Object.assign(globalThis, { RED: { ...RED, _: () => 'umschalten' } });
    assert.equal(label(node), 'Schreibtischleiste: Lamp, umschalten');
    Object.assign(globalThis, { RED });
    knows('long', 'Behind the television set', 'Lamp');
    assert.equal(label(node), 'Behind the televi…: Lamp, toggle');
    assert.equal(wholeLabelOf(node), 'Behind the television set: Lamp, toggle');
    knows('long', 'Behind the television set', 'Game console with a long name');
    assert.equal(label(node), 'Behind…: Game console w…, toggle');
    assert.equal(label({ ...node, port: '', on: '' }), 'Behind the television s…');
    assert.equal(cut('😀😀😀', 2), '😀…');
    // The number of the outlet stays, although an emoji is two characters for JavaScript.
    knows('long', '💡 Behind the television set', 'Lamp');
    assert.equal(label({ ...node, port: '2' }), '💡 Behind the televis…: 2, toggle');
    assert.equal(label({ ...node, port: '', on: '' }), '💡 Behind the television…');
  });

  it('say what the other nodes read, list and watch', () => {
    const status = { type: 'strip status', account: 'a', mac: 'A1B2', macType: 'str' };
    assert.equal(label({ ...status, port: '' }), 'Desk');
    assert.equal(label({ ...status, port: '1' }), 'Desk: Lamp');
    assert.equal(
      label({ type: 'strip status', macType: 'env', mac: 'STRIP', port: '4', portType: 'port' }),
      'STRIP: 4',
    );
    assert.equal(label({ type: 'strip list', output: 'outlets' }), 'canvas.outlets');
    assert.equal(label({ type: 'strip list' }), 'canvas.list');
    assert.equal(label({ type: 'strip watch' }), 'canvas.every');
    assert.equal(wholeLabelOf({ type: 'strip watch', port: '2' }), 'canvas.every: canvas.outlet/2');
    assert.equal(label({ type: 'strip watch', account: 'a', mac: 'a1:b2', port: '2' }), 'Desk: 2');
    const unticked = { type: 'strip watch', account: 'a', mac: 'a1:b2', port: '2', outlets: false };
    assert.equal(label(unticked), 'Desk', 'it watches no outlet');
    assert.equal(label({ type: 'strip watch', account: 'b', mac: 'a1:b2', port: '2' }), 'a1:b2: 2');
  });

  it('name an account after its host, or after the path of its simulator', () => {
    const account = (baseUrl: string) => label({ type: 'strip-account', baseUrl });
    assert.equal(account('https://strips.example.com/api'), 'strips.example.com');
    assert.equal(account('${STRIPS}'), '${STRIPS}');
    assert.equal(account('/strip-simulator'), '/strip-simulator');
    assert.equal(account(''), 'canvas.account');
  });

  it('say what comes out', () => {
    assert.equal(output({ type: 'strip switch' }), 'strip-switch.out.same');
    assert.equal(output({ type: 'strip switch', output: 'on' }), 'strip-switch.out.on');
    assert.equal(output({ type: 'strip status', output: 'on' }), 'strip-status.out.strip');
    assert.equal(output({ type: 'strip status', output: 'on', port: '2' }), 'strip-status.out.on');
    assert.equal(output({ type: 'strip list', output: 'outlets' }), 'strip-list.out.outlets');
    assert.equal(output({ type: 'strip watch', output: 'port-on' }), 'strip-watch.out.port-on');
    assert.equal(output({ type: 'strip watch', output: 'nonsense' }), 'strip-watch.out.on');
    assert.equal(output({ type: 'strip mqtt' }), 'strip-mqtt.port.output');
    assert.equal(inputLabelOf({ type: 'strip mqtt' }), 'strip-mqtt.port.input');
    assert.equal(inputLabelOf({ type: 'strip list' }), '');
  });
});
