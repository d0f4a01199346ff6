import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import { until } from '../support/until';
import { flowNode, Lab, MAC, outlet2 } from './lab';

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
    await lab.redeploy([flowNode('switch', 'strip switch', changed)], 'nodes');
    const { at, msg } = await lab.arrivals.find('outcome', () => true);
    assert.deepEqual([at, msg._msgid, msg.error?.code], ['caught', 'm', 'CLOSED']);
    release();
    assert.equal((await lab.out('switch', { payload: false })).payload, false);
    await lab.arrivals.find('end', (arrival) => arrival.at === 'completed');
    assert.deepEqual(lab.said(old, 'status').at(-1) ?? {}, {});
    assert.deepEqual(sent('out').length, 1);
    assert.deepEqual(sent('completed').length, 1);
  });

  it('a node whose account is closed with it names the outlet that may have been switched', async () => {
    const account = lab.account({ outletNames: [{ mac: MAC, port: 2, name: 'Lamp' }] });
    await lab.deploy([account, flowNode('switch', 'strip switch', outlet2), flowNode('list', 'strip list')]);
    await lab.out('list', {});
    lab.service.hold('answer');
    lab.send('switch', { payload: true });
    await lab.service.arrived(2);
    const errors: unknown[] = [];
    lab.node('switch').error = (error) => void errors.push(error);
    await helper.unload();
    assert.match(String(errors[0]), /^Check Lamp \(outlet 2 of /);
  });

  it('a node that is removed takes its waiting messages with it: nothing is sent for them any more', async () => {
    await lab.deploy([flowNode('switch', 'strip switch', outlet2), flowNode('list', 'strip list')]);
    const release = lab.service.hold('answer');
    for (let i = 0; i < 400; i++) lab.send('switch', { _msgid: `m${i}`, payload: i % 2 === 0 });
    await lab.service.arrived(1);
    await lab.redeploy([flowNode('list', 'strip list')], 'nodes');
    await lab.arrivals.find('the last error', () => sent('caught').length === 400);
    const first = sent('caught').find(({ msg }) => msg._msgid === 'm0');
    const others = sent('caught').filter((arrival) => arrival !== first);
    assert.match(
      String(first?.msg.error?.message),
      /^Check outlet 2 of A1B2C3D4E5F6: .* it may still be carried out\.$/,
    );
    for (const { msg } of others) {
      assert.equal(msg.error?.code, 'CLOSED');
      assert.match(String(msg.error.message), /^Send the message again .* before anything was carried out/);
    }
    release();
    // Whatever was sent to the service before this answer has arrived there.
    await lab.out('list', {});
    assert.deepEqual(lab.posts(), [`POST /strips/${MAC}/switch {"port":2,"on":true}`]);
    assert.equal(sent('out').length, 1);
  });

  for (const what of ['a node that is removed', 'an account that is closed']) {
    it(`${what} does not send a command again in the spelling of the service, which did not know its MAC`, async () => {
      await lab.stop();
      const unknown = { kind: 'answer', status: 404, json: { error: 'no such strip' } } as const;
      const isOther = (path: string): boolean => path.includes('/strips/') && !path.includes(MAC);
      lab = await Lab.start({ faultOf: (path) => (isOther(path) ? unknown : null) });
      const mac = MAC.toLowerCase();
      const list = flowNode('list', 'strip list');
      await lab.deploy([flowNode('switch', 'strip switch', { ...outlet2, mac }), list]);
      const release = lab.service.hold('answer');
      lab.send('switch', { payload: 'cycle' });
      await lab.service.arrived(1);
      if (what === 'a node that is removed') {
        await lab.redeploy([list], 'nodes');
        release();
        await lab.out('list', {});
        await lab.out('list', {});
        await helper.unload();
      } else {
        const closed = helper.unload();
        release();
        await closed;
      }
      assert.deepEqual(lab.posts(), [`POST /strips/${mac}/switch {"port":2,"on":false}`]);
    });
  }

  it('nodes that are removed together send nothing, although the message of one waits for that of another', async () => {
    const cycle = flowNode('cycle', 'strip switch', { ...outlet2, delay: '3600' });
    const removed = ['all', '3'].map((port) => flowNode(`to ${port}`, 'strip switch', { ...outlet2, port }));
    await lab.deploy([cycle, ...removed]);
    lab.send('cycle', { payload: 'cycle' });
    await until('the off', () => lab.statuses('cycle').at(-1) === 'blue ring pausing');
    for (const { id } of removed) lab.send(id, { payload: false });
    await until('both to wait', () => removed.every(({ id }) => lab.said(id, 'status').length > 0));
    await lab.redeploy([cycle], 'nodes');
    await lab.arrivals.find('both errors', () => sent('caught').length === 2);
    for (const { msg } of sent('caught'))
      assert.match(String(msg.error?.message), /^Send the message again .* before anything was carried out/);
    await helper.unload();
    // The account has sent the on of the cycle when it was closed.
    const [off, on] = [false, true].map((each) => `POST /strips/${MAC}/switch {"port":2,"on":${each}}`);
    assert.deepEqual(lab.posts(), [off, on]);
  });

  it('an account sends the on of a cycle again if the one under way gets no answer', async () => {
    await lab.deploy([flowNode('switch', 'strip switch', { ...outlet2, delay: '1' })]);
    lab.service.next(null, { kind: 'hang' });
    lab.send('switch', { payload: 'cycle' });
    await lab.service.arrived(2);
    await helper.unload();
    const [off, on] = [false, true].map((each) => `POST /strips/${MAC}/switch {"port":2,"on":${each}}`);
    assert.deepEqual(lab.posts(), [off, on, on]);
  });

  it('a node that is removed while a cycle waits leaves the outlet to be switched on at its time', async () => {
    lab.service.simulator.apply({ mac: MAC, port: 2, on: true });
    await lab.deploy([
      flowNode('switch', 'strip switch', { ...outlet2, delay: '1' }),
      flowNode('list', 'strip list'),
    ]);
    lab.send('switch', { payload: 'cycle' });
    await until('the off', () => lab.statuses('switch').at(-1) === 'blue ring pausing');
    await lab.redeploy([flowNode('list', 'strip list')], 'nodes');
    const { msg } = await lab.arrivals.find('the error', ({ at }) => at === 'caught');
    assert.equal(msg.error?.code, 'CLOSED');
    assert.match(
      String(msg.error.message),
      /^Nothing to do: .* still switches the power on, or says in the log that it could not\.$/,
    );
    assert.equal(lab.service.simulator.isOn(MAC, 2), false);
    await until('the on', () => lab.service.simulator.isOn(MAC, 2) === true);
  });

  it('an account does not wait for a service that hangs, and one log line names what was dropped', async () => {
    await lab.deploy([
      lab.account({ timeout: '600000' }),
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
    const start = performance.now();
    await helper.unload();
    assert.ok(performance.now() - start < 8_000, 'the close waited for the service');
    assert.deepEqual(warned, [
      'Check the outlets, because commands may not have been carried out. Commands that were not confirmed when the account or their nodes were closed: 5.',
    ]);
    assert.deepEqual(sent('out'), []);
  });

  it('an account does not wait for mappings that take long', async () => {
    const strips = ['1', '2', '3', '4'].map((n) => ({ mac: `A1B2C3D4E5F${n}`, name: n }));
    const slow = await Lab.start({ strips });
    // Node-RED does not wait for a node that takes longer, and its log then lacks the line. All mappings together take much longer than that.
    helper.settings({ nodeCloseTimeout: 5_000 });
    try {
      const mapping = '($f := function($n) { $n < 0 ? 0 : $f($n + 1) }; $f(0))';
      const config = { mac: '', portType: 'message', on: 'toggle', onType: 'action' };
      const account = slow.account({ mapping, concurrency: '16' });
      await slow.deploy([account, flowNode('switch', 'strip switch', config)]);
      for (const { mac } of strips)
        for (const port of [1, 2, 3, 4]) slow.send('switch', { payload: { mac, port } });
      await slow.service.arrived(16);
      const warned: unknown[] = [];
      slow.node('account').warn = (text) => void warned.push(text);
      await helper.unload();
      assert.match(String(warned), /^Check the outlets, .*: 16\.$/);
    } finally {
      await slow.stop();
    }
  });

  it('a node leaves one log line of what is not confirmed: Node-RED closes a Catch node for it alone, too', async () => {
    const nodes = (name: string) => [
      flowNode('switch', 'strip switch', { ...outlet2, name }),
      flowNode('list', 'strip list'),
    ];
    await lab.deploy(nodes('before'));
    const release = lab.service.hold('request');
    for (let i = 0; i < 3; i++) lab.send('switch', { payload: i % 2 === 0 });
    await lab.service.arrived(1);
    await lab.redeploy(nodes('after'), 'nodes');
    // The first was sent before, and is confirmed after all.
    release();
    await until('the line', () => lab.said('account', 'warn').length > 0);
    assert.deepEqual(lab.said('account', 'warn'), [
      'Check the outlets, because commands may not have been carried out. Commands that were not confirmed when the account or their nodes were closed: 2.',
    ]);
  });

  it('an account waits for the answer to a switch that was sent', async () => {
    const warned: unknown[] = [];
    await lab.deploy([flowNode('switch', 'strip switch', outlet2)]);
    const release = lab.service.hold('request');
    lab.send('switch', { payload: true });
    await lab.service.arrived(1);
    lab.node('account').warn = (text) => void warned.push(text);
    const closed = helper.unload();
    release();
    await closed;
    assert.deepEqual(warned, []);
    assert.equal(lab.service.simulator.isOn(MAC, 2), true);
  });

  it('an account sends the pending on of a cycle', async () => {
    await lab.deploy([flowNode('switch', 'strip switch', { ...outlet2, delay: '3600' })]);
    lab.send('switch', { payload: 'cycle' });
    await until('the off', () => lab.statuses('switch').at(-1) === 'blue ring pausing');
    const warned: unknown[] = [];
    lab.node('account').warn = (text) => void warned.push(text);
    await helper.unload();
    assert.equal(lab.service.simulator.isOn(MAC, 2), true);
    assert.deepEqual(warned, []);
    assert.deepEqual(
      lab.requests(),
      [false, true].map((on) => `POST /strips/${MAC}/switch {"port":2,"on":${on}}`),
    );
  });

  it('an account whose service hangs names in the log the outlet that may still be off, and not to cycle once more', async () => {
    await lab.deploy([flowNode('switch', 'strip switch', { ...outlet2, delay: '3600' })]);
    lab.send('switch', { payload: 'cycle' });
    await until('the off', () => lab.statuses('switch').at(-1) === 'blue ring pausing');
    lab.service.always({ kind: 'hang' });
    const errors: unknown[] = [];
    lab.node('account').error = (text: unknown) => void errors.push(text);
    await helper.unload();
    assert.deepEqual(errors, [
      `Switch on outlet 2 of ${MAC} if needed: a cycle may have switched the power off, and the on was not confirmed before the account was closed.`,
    ]);
  });

  for (const hanging of ['list', 'other']) {
    it(`an account sends that on half though the only connection is taken by "${hanging}", which hangs`, async () => {
      await lab.deploy([
        lab.account({ concurrency: '1' }),
        flowNode('switch', 'strip switch', { ...outlet2, delay: '3600' }),
        flowNode('list', 'strip list'),
        flowNode('other', 'strip switch', { ...outlet2, port: '3' }),
      ]);
      lab.send('switch', { payload: 'cycle' });
      await until('the off', () => lab.statuses('switch').at(-1) === 'blue ring pausing');
      lab.service.next({ kind: 'hang' });
      lab.send(hanging, { payload: true });
      await lab.service.arrived(2);
      await helper.unload();
      assert.equal(lab.service.simulator.isOn(MAC, 2), true);
    });
  }

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
    await until('connections to close', () => lab.service.open <= 3);
    await helper.unload();
    await until('connections to close', () => lab.service.open === 0);
  });
});
