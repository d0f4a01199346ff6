import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Node, NodeAPI } from 'node-red';
import { keyRemover, provide, startWithAccount, type AccountLink } from '../../nodes/shared/flow-node';
import { StripError } from '../../src/api/errors';
import { StatusDisplay } from '../../src/flow/node-status';
import { FakeClock } from '../support/fake-clock';

describe('a node that works without messages', () => {
  it('starts after a deploy that adds what its account was missing, and says only once why it could not', () => {
    const events = new EventEmitter();
    const accountNode = new EventEmitter() as Node;
    const nodes = { getNode: () => accountNode };
    const RED = { events, _: (key: string) => key, nodes } as unknown as NodeAPI;
    provide({ node: accountNode } as AccountLink);
    const warned: unknown[] = [];
    const node = { warn: (text: unknown) => warned.push(text) } as unknown as Node;
    let isThere = false;
    let started = 0;
    const stop = startWithAccount(RED, node, { account: 'account' } as never, {
      display: new StatusDisplay(() => undefined, new FakeClock()),
      notice: 'watch',
      start: () => {
        if (!isThere) throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.tlsMissing');
        started++;
        return () => undefined;
      },
    });
    events.emit('flows:started');
    events.emit('flows:started');
    assert.equal(warned.length, 1);
    // Node-RED restarts neither the account nor its users where a deploy only adds a node.
    isThere = true;
    events.emit('flows:started');
    events.emit('flows:started');
    assert.equal(started, 1);
    stop();
  });
});

describe('a key in a text that is shown', () => {
  it('is removed, also as it stands in JSON', () => {
    const key = 'a "quoted\\key"';
    const hide = keyRemover(` ${key} `);
    assert.equal(hide(`sent ${key}`), 'sent ***');
    assert.equal(hide(JSON.stringify({ key })), '{"key":"***"}');
    assert.equal(keyRemover('abc')('abc'), 'abc');
  });
});
