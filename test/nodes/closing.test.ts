import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import { flowNode, Lab, MAC } from './lab';

const outlet2 = { mac: MAC, macType: 'str', port: '2', portType: 'port' };
const changed = { ...outlet2, name: 'changed' };

describe('closing', () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await Lab.start();
  });
  afterEach(() => lab.stop());
  const sent = (at: string) => lab.arrivals.items.filter((arrival) => arrival.at === at);

  it('a node ends its messages with CLOSED, and what comes late is neither sent nor shown', async () => {
    await lab.deploy([flowNode('switch', 'strip switch', outlet2)]);
    const release = lab.service.hold('answer');
    lab.send('switch', { _msgid: 'm', payload: true });
    await lab.service.arrived(1);
    const old = lab.node('switch');
    const status: unknown[] = [];
    await lab.redeploy([flowNode('switch', 'strip switch', changed)], 'nodes');
    old.status = (given) => void status.push(given);
    old.send = (given) => void status.push(given);
    const { at, msg } = await lab.arrivals.find('outcome', () => true);
    assert.deepEqual([at, msg._msgid, msg.error?.code], ['caught', 'm', 'CLOSED']);
    release();
    assert.equal((await lab.out('switch', { payload: false })).payload, false);
    await lab.arrivals.find('end', (arrival) => arrival.at === 'completed');
    assert.deepEqual(status, []);
    assert.deepEqual(sent('out').length, 1);
    assert.deepEqual(sent('completed').length, 1);
  });

  it('an account while the service hangs takes about a second, and one line tells what was dropped', async () => {
    await lab.deploy([
      flowNode('switch', 'strip switch', outlet2),
      flowNode('list', 'strip list'),
      flowNode('watch', 'strip watch'),
    ]);
    lab.service.always({ kind: 'hang' });
    for (let i = 0; i < 5; i++) lab.send('switch', { payload: i % 2 === 0 });
    lab.send('list', {});
    await lab.service.arrived(2);
    const warned: unknown[] = [];
    lab.node('account').warn = (text) => void warned.push(text);
    const began = performance.now();
    await helper.unload();
    assert(performance.now() - began < 3000);
    assert.deepEqual(warned, [
      'Check the outlets: the account was closed before 5 commands were confirmed, so they may not have been carried out.',
    ]);
    assert.deepEqual(sent('out'), []);
  });

  it('an account lets a switch on the wire be answered', async () => {
    await lab.deploy([flowNode('switch', 'strip switch', outlet2)]);
    const release = lab.service.hold('request');
    lab.send('switch', { payload: true });
    await lab.service.arrived(1);
    const closed = helper.unload();
    release();
    const began = performance.now();
    await closed;
    assert(performance.now() - began < 900);
    assert.equal(lab.service.simulator.isOn(MAC, 2), true);
  });

  it('an account sends the on half that a cycle owes', async () => {
    await lab.deploy([flowNode('switch', 'strip switch', { ...outlet2, delay: '3600' })]);
    lab.send('switch', { payload: 'cycle' });
    await lab.service.arrived(1);
    await lab.until('the off', () => lab.service.simulator.isOn(MAC, 2) === false);
    await helper.unload();
    assert.equal(lab.service.simulator.isOn(MAC, 2), true);
    assert.deepEqual(
      lab.requests(),
      [false, true].map((on) => `POST /strips/${MAC}/switch {"port":2,"on":${on}}`),
    );
  });

  it('leaves nothing open after many redeploys', async () => {
    const nodes = [
      flowNode('switch', 'strip switch', outlet2),
      flowNode('list', 'strip list'),
      flowNode('watch', 'strip watch', { initial: true }),
    ];
    await lab.deploy(nodes);
    for (let round = 0; round < 10; round++) {
      lab.send('switch', { payload: round % 2 === 0 });
      lab.send('list', {});
      await lab.redeploy(nodes, 'full');
    }
    await lab.out('switch', { payload: true });
    await lab.until('connections to close', () => lab.service.open <= 3);
    await helper.unload();
    await lab.until('connections to close', () => lab.service.open === 0);
  });
});
