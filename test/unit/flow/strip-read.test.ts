import assert from 'node:assert/strict';
import type { ListAnswer } from '../../../src/api/types';
import { listHandler, statusHandler, statusRequestReader } from '../../../src/flow/strip-read';
import type { Message } from '../../../src/flow/input-fields';
import { listOf, makeStrip, stripOf } from '../../support/scripted-service';
import { accountWith, failing, input, MAC, noEvaluate, nothing, OTHER } from './support';

const tools = { cloneMessage: structuredClone<Message>, generateId: () => 'id' };
const short = (text: string) => text.split('.').at(-1);

async function ask(
  config: object,
  msg: Message,
  strip = makeStrip(MAC, [true, null, false]),
  readable = true,
) {
  const account = accountWith({ get: (mac) => Promise.resolve({ ...stripOf({ ...strip, mac }), readable }) });
  const handle = statusHandler({
    config: { ...config },
    evaluate: noEvaluate,
    account: () => account,
  });
  const { messages, status } = await handle(input(msg));
  assert.deepEqual(messages, [msg]);
  return [msg.payload, short(status.text)];
}

async function list(output: string, msg: Message, ...strips: Parameters<typeof listOf>) {
  return await handOn(output, msg, listOf(...strips));
}

async function handOn(output: string, msg: Message, answer: ListAnswer) {
  const account = accountWith({ list: () => Promise.resolve(answer) });
  const context = { config: { output }, evaluate: noEvaluate, account: () => account };
  const { messages, status } = await listHandler(context, tools)(input(msg));
  return { messages, status: short(status.text) };
}

describe('strip status', () => {
  it('answers with the strip, and keeps the rest of the message', async () => {
    const msg: Message = { payload: 'x', mac: MAC, topic: 't' };
    const [payload, status] = await ask({}, msg);
    assert.deepEqual(payload, makeStrip(MAC, [true, null, false]));
    assert.equal(status, 'on1unknown');
    assert.deepEqual(
      [msg.topic, msg.mac, msg.response, 'port' in msg, 'strip' in msg],
      ['t', MAC, { strip: MAC }, false, false],
    );
  });

  it('answers with one outlet in the form chosen', async () => {
    const at = { mac: MAC, macType: 'str', portType: 'port' };
    assert.deepEqual(await ask({ ...at, port: '1', output: 'on' }, {}), [true, 'on']);
    assert.deepEqual(await ask({ ...at, port: '3', output: 'port-on' }, {}), [
      { mac: MAC, port: 3, on: false },
      'off',
    ]);
    assert.deepEqual(await ask({ ...at, output: 'on' }, { port: 1 }), [
      makeStrip(MAC, [true, null, false]),
      'on1unknown',
    ]);
  });

  it('answers with on/off for one outlet unless the node says otherwise', async () => {
    const at = { mac: MAC, macType: 'str', portType: 'port', port: '1' };
    for (const output of [{}, { output: '' }]) {
      assert.deepEqual(await ask({ ...at, ...output }, {}), [true, 'on']);
    }
    const whole = makeStrip(MAC, [true, null, false]);
    assert.deepEqual(await ask({ ...at, output: 'strip' }, {}), [whole, 'on']);
  });

  it('answers null for what the service did not say', async () => {
    const at = { mac: MAC, macType: 'str', output: 'on' };
    assert.deepEqual(await ask({ ...at, port: '2' }, {}), [null, 'unknownAnswer']);
    assert.deepEqual(await ask({ ...at, port: '4', output: 'port-on' }, {}), [
      { mac: MAC, port: 4, on: null },
      'unknownAnswer',
    ]);
    assert.equal((await ask({ ...at, port: '' }, {}, makeStrip(MAC, []), false))[1], 'unknownAnswer');
    assert.equal(
      (await ask({ ...at, port: '1' }, {}, makeStrip(MAC, [true], { available: false })))[1],
      'unavailable',
    );
  });

  it('takes the whole strip where a message names no outlet', async () => {
    const at = { mac: MAC, macType: 'str', portType: 'message', output: 'on' };
    for (const msg of [{}, { port: '' }, { port: null }, { payload: { port: 'all' } }]) {
      assert.equal((await ask(at, msg))[1], 'on1unknown');
    }
    assert.deepEqual(await ask(at, { payload: { port: '1' }, port: 3 }), [true, 'on']);
    for (const port of [5, 'x', true, {}, NaN]) {
      assert.equal((await failing(() => ask(at, { port }))).sentenceKey, 'INVALID_INPUT.port');
    }
    assert.equal((await failing(() => ask({}, { payload: 1 }))).sentenceKey, 'INVALID_INPUT.macMissing');
  });

  it('ignores what the message says where the node says it', async () => {
    const at = { mac: MAC, macType: 'str', port: '1', portType: 'port', output: 'port-on' };
    const stray = { mac: OTHER, port: 3 };
    assert.deepEqual(await ask(at, { payload: stray, ...stray }), [{ mac: MAC, port: 1, on: true }, 'on']);
  });
});

describe('what strip status is asked for', () => {
  const read = async (config: object, msg: Message, target = nothing()) =>
    await statusRequestReader({ ...config }, noEvaluate)(msg, target);

  it('is reported with the error as far as it could be read', async () => {
    for (const [msg, told] of [
      [
        { mac: MAC, port: 9 },
        { mac: MAC, port: null },
      ],
      [{ port: 2 }, { mac: null, port: 2 }],
      [{}, { mac: null, port: 'all' }],
    ] as const) {
      const target = nothing();
      await failing(() => read({ portType: 'message' }, msg, target));
      assert.deepEqual(target, { ...told, requested: null });
    }
  });

  it('is refused for what the node lacks before what the message lacks', async () => {
    const wrong = { port: '${PORT}', portType: 'port' };
    assert.equal((await failing(() => read(wrong, { mac: 7 }))).sentenceKey, 'NOT_CONFIGURED.variable');
  });

  it('keeps the order of messages, also where an expression takes its time', async () => {
    const answers: ((mac: string) => void)[] = [];
    const evaluate = () => new Promise<unknown>((resolve) => answers.push(resolve));
    const read = statusRequestReader({ mac: 'x', macType: 'jsonata' }, evaluate);
    const order: string[] = [];
    const reads = ['first', 'second'].map(async (name) => {
      await read({}, nothing());
      order.push(name);
    });
    answers[1]?.(MAC);
    await new Promise(setImmediate);
    answers[0]?.(OTHER);
    await Promise.all(reads);
    assert.deepEqual(order, ['first', 'second']);
  });
});

describe('strip list', () => {
  const two = [makeStrip(MAC, [true, null]), makeStrip(OTHER, [false])] as const;

  it('refuses a message that is not plain data, if it has to be copied or its parts cannot be set', async () => {
    const extra = { enumerable: true, get: () => assert.fail('read') };
    const parts = { enumerable: true, value: { id: 'outer' } };
    for (const hostile of [{ extra }, { parts }]) {
      const msg: Message = Object.defineProperties({}, hostile);
      const error = await failing(() =>
        list('strips', msg, makeStrip(MAC, [true]), makeStrip(OTHER, [true])),
      );
      assert.equal(error.sentenceKey, 'INVALID_INPUT.unreadable');
    }
  });

  it('answers with all strips in one message', async () => {
    const msg: Message = { payload: 1, topic: 't' };
    const { messages, status } = await list('list', msg, ...two);
    assert.deepEqual(messages, [{ payload: two, topic: 't', response: { strips: 2 } }]);
    assert.equal(messages[0], msg);
    assert.equal(status, '1/3');
    assert.equal((await list('list', {}, two[0])).status, '1/2');
    assert.deepEqual(await list('list', {}), {
      messages: [{ payload: [], response: { strips: 0 } }],
      status: 'noStrips',
    });
  });

  it('does not say that there are no strips after an empty page of a list', async () => {
    const { messages, status } = await handOn('list', {}, { ...listOf(), complete: false });
    assert.deepEqual(messages, [{ payload: [], response: { strips: 0 } }]);
    assert.equal(status, 'unknownAnswer');
  });

  it('counts the strips of a page', async () => {
    const { status } = await handOn('list', {}, { ...listOf(...two), complete: false });
    assert.equal(status, '1/3');
  });

  it('answers with a message for each strip or outlet, which a join node can put together again', async () => {
    const { messages } = await list('strips', { _msgid: 'm', payload: 1, parts: { id: 'outer' } }, ...two);
    assert.deepEqual(
      messages,
      two.map((payload, index) => ({
        _msgid: 'm',
        payload,
        response: { strips: 2 },
        parts: { parts: { id: 'outer' }, id: 'id', type: 'array', len: 1, count: 2, index },
      })),
    );
    const outlets = (await list('outlets', {}, ...two)).messages.map(({ payload }) => payload);
    assert.deepEqual(outlets, [
      { mac: MAC, port: 1, on: true },
      { mac: MAC, port: 2, on: null },
      { mac: OTHER, port: 1, on: false },
    ]);
  });

  it('makes messages that share nothing that can be changed', async () => {
    const {
      messages: [first, second],
    } = await list('strips', { nested: { a: 1 }, parts: { id: 'outer' } }, ...two);
    assert(first !== undefined && second !== undefined);
    assert.notEqual(first.nested, second.nested);
    const [one, other] = [first, second].map(({ parts }) => (parts as { parts: object }).parts);
    assert.deepEqual(one, other);
    assert.notEqual(one, other);
    assert.equal(first.response, second.response);
    assert(Object.isFrozen(first.response));
  });

  it('freezes the answer that they share, down to its last object', async () => {
    const response = { nothing: null, list: [{ deep: { on: true } }] };
    const account = accountWith({ list: () => Promise.resolve({ ...listOf(...two), response }) });
    const context = { config: { output: 'strips' }, evaluate: noEvaluate, account: () => account };
    const msg: Message = {};
    const { messages } = await listHandler(context, tools)(input(msg));
    assert(Object.isFrozen(response.list) && Object.isFrozen(response.list[0]?.deep));
    assert.equal(messages.length, 2);
    assert.equal(messages[1], msg);
  });

  it('copies nothing that it replaces: an earlier answer is as large as all messages together', async () => {
    const copied: Message[] = [];
    const cloneMessage = (msg: Message) => {
      copied.push(msg);
      return { ...msg };
    };
    const account = accountWith({ list: () => Promise.resolve(listOf(...two)) });
    const context = { config: { output: 'strips' }, evaluate: noEvaluate, account: () => account };
    const msg = { payload: [], response: { earlier: true }, kept: 1 };
    await listHandler(context, { ...tools, cloneMessage })(input(msg));
    assert.deepEqual(copied, [{ kept: 1 }]);
  });

  it('sends nothing where there is nothing to send', async () => {
    assert.deepEqual((await list('outlets', {})).messages, []);
  });

  it('still passes on an answer that cannot be read', async () => {
    const account = accountWith({
      list: () => Promise.resolve({ ...listOf(), readable: false, response: { odd: [[[]]] } }),
    });
    for (const output of ['list', 'strips', 'outlets']) {
      const context = { config: { output }, evaluate: noEvaluate, account: () => account };
      const { messages, status } = await listHandler(context, tools)(input({}));
      assert.deepEqual(messages, [{ payload: output === 'list' ? [] : null, response: { odd: [[[]]] } }]);
      assert.equal(short(status.text), 'unknownAnswer');
    }
  });
});
