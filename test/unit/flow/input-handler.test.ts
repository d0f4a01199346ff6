import assert from 'node:assert/strict';
import type { RunOptions } from '../../../src/account/types';
import { StripError } from '../../../src/api/errors';
import { EMPTY_STORE } from '../../../src/flow/node-error';
import type { Evaluate, Message } from '../../../src/flow/input-fields';
import { InputHandler, type HandlerResult, type Handle, type Input } from '../../../src/flow/input-handler';
import { outletStatus, StatusDisplay } from '../../../src/flow/node-status';
import { switchHandler } from '../../../src/flow/strip-switch';
import { calm, FakeClock } from '../../support/fake-clock';
import { failure } from '../../support/scripted-service';
import { accountWith, input, MAC, noEvaluate, translate } from './support';

const answer = (...messages: Message[]): HandlerResult => ({ messages, status: outletStatus(true) });
const codeOf = (failure: Error | undefined): string =>
  failure === undefined ? 'done' : `done ${String(Reflect.get(failure, 'code'))}`;

describe('handling messages', () => {
  let events: string[];
  let sent: Message[];
  let logged: string[];
  let cancelled: object[];
  let handler: InputHandler;

  function start(handle: Handle): void {
    const status = new StatusDisplay(
      (shown) => events.push(`status ${shown?.text.split('.').at(-1) ?? 'none'}`),
      new FakeClock(),
    );
    handler = new InputHandler({
      handle,
      status,
      translate,
      store: () => ({
        ...EMPTY_STORE,
        names: () => ({ name: 'Desk', outlet: 'Lamp' }),
        lastState: () => true,
      }),
      cancel: (owner) => cancelled.push(owner),
      warn: (sentence) => logged.push(sentence),
    });
  }

  function receive(msg: Message, done = (failure?: Error): unknown => events.push(codeOf(failure))): void {
    const send = (message: Message): void => {
      events.push('send');
      sent.push(message);
    };
    handler.receive(msg, send, done);
  }

  beforeEach(() => {
    [events, sent, logged, cancelled] = [[], [], [], []];
  });
  afterEach(() => handler.close());

  it('shows the status, sends and is done, in that order', async () => {
    start(({ msg }) => Promise.resolve(answer(msg, { two: 2 })));
    const msg = {};
    receive(msg);
    await calm();
    assert.deepEqual(events, ['status on', 'send', 'send', 'done']);
    assert.equal(sent[0], msg);
  });

  it('ends with one error for whatever goes wrong, and sends nothing', async () => {
    for (const thrown of [failure('AUTH'), new TypeError('x')]) {
      start(() => Promise.reject(thrown));
      receive({});
      await calm();
    }
    assert.deepEqual(events, ['status auth', 'done AUTH', 'status service', 'done SERVICE']);
    assert.deepEqual(sent, []);
  });

  it('reports in msg.strip what the failed message was about, with names and the last known state', async () => {
    start(({ target }) => {
      Object.assign(target, { mac: MAC, port: 3, requested: 'toggle' });
      return Promise.reject(failure('TIMEOUT'));
    });
    const msg: Message = { payload: 'toggle', strip: 'old' };
    receive(msg);
    await calm();
    assert.deepEqual(msg, {
      payload: 'toggle',
      strip: {
        mac: MAC,
        name: 'Desk',
        port: 3,
        outlet: 'Lamp',
        requested: 'toggle',
        success: false,
        results: [],
        on: true,
      },
    });
  });

  it('ends once, even where sending or ending throws', async () => {
    start(({ msg }) => Promise.resolve(answer(msg)));
    const refuse = (): never => assert.fail('send');
    handler.receive({}, refuse, (failure) => events.push(codeOf(failure)));
    await calm();
    assert.deepEqual(events, ['status on', 'done INVALID_INPUT']);
    for (const handle of [
      ({ msg }: Input) => Promise.resolve(answer(msg)),
      () => Promise.reject(failure('AUTH')),
    ]) {
      start(handle);
      let calls = 0;
      receive({}, () => {
        calls++;
        throw new Error('done');
      });
      await calm();
      assert.equal(calls, 1);
    }
    assert.deepEqual(logged, ['errors.INVALID_INPUT.uncopied {}', 'errors.AUTH.test {}']);
  });

  const proxy = new Proxy({}, { isExtensible: () => assert.fail('no') });
  const locked = (name: string): Message => Object.defineProperty({}, name, { value: 1, writable: false });
  const unwritable: [string, Message][] = [
    ['frozen', Object.freeze({ payload: true })],
    ['sealed', Object.seal({ payload: true })],
    ['with a payload that cannot be set', locked('payload')],
    ['with a strip that cannot be set', locked('strip')],
    ['with a response that cannot be set', locked('response')],
    ['behind a proxy whose traps throw', proxy],
  ];
  for (const [what, msg] of unwritable) {
    it(`refuses a message ${what} before anything is done for it`, () => {
      start(() => assert.fail('it is handled'));
      receive(msg);
      assert.deepEqual(events, ['status invalidInput', 'done INVALID_INPUT']);
    });
  }

  it('ends with CLOSED what is not finished when it closes, and then sends and shows nothing', async () => {
    let finish: (answered: HandlerResult) => void = () => undefined;
    let open: Input | null = null;
    start((input) => {
      open = input;
      return new Promise((resolve) => (finish = resolve));
    });
    const msg: Message = {};
    receive(msg);
    handler.close();
    assert.deepEqual(events, ['done CLOSED']);
    const { submit } = open as unknown as Input;
    assert.throws(submit, { sentenceKey: 'CLOSED.notSent' });
    finish(answer(msg));
    await calm();
    handler.close();
    assert.deepEqual(events, ['done CLOSED']);
    assert.deepEqual(sent, []);
  });

  it('cancels its commands when it closes, and reports what the account says of each', async () => {
    let fail: (error: unknown) => void = () => undefined;
    let owner: unknown;
    let onProgress: RunOptions['onProgress'];
    start(({ submit }) => {
      ({ owner, onProgress } = submit());
      return new Promise((_, reject) => (fail = reject));
    });
    receive({});
    handler.close();
    assert.deepEqual(events, []);
    assert(cancelled.length === 1 && cancelled[0] === owner);
    fail(new StripError('CLOSED.sent', { mac: MAC, port: 2 }));
    await calm();
    onProgress?.({ phase: 'retrying', error: failure('RATE_LIMITED', {}, 'later') });
    assert.deepEqual(events, ['done CLOSED']);
  });

  it('shows what takes long', () => {
    start(({ submit }) => {
      submit().onProgress?.({ phase: 'retrying', error: failure('UNREACHABLE', {}, 'refused') });
      return new Promise(() => undefined);
    });
    receive({});
    assert.deepEqual(events, ['status retryingRefused']);
  });
});

describe('the handler of a strip switch node', () => {
  const fixed = { mac: MAC, macType: 'str', port: '1', portType: 'port', on: 'x', onType: 'jsonata' };

  it('does not submit a command if the node is closed while its fields are being evaluated', async () => {
    const ended: unknown[] = [];
    let give: (value: unknown) => void = () => undefined;
    const evaluate: Evaluate = () => new Promise((resolve) => (give = resolve));
    const account = accountWith({ run: () => assert.fail('it is carried out') });
    const handler = new InputHandler({
      handle: switchHandler({ config: fixed, evaluate, account: () => account }),
      status: new StatusDisplay(() => undefined, new FakeClock()),
      translate,
      store: () => EMPTY_STORE,
      cancel: () => undefined,
      warn: (sentence) => ended.push(sentence),
    });
    handler.receive(
      { payload: 1 },
      () => ended.push('sent'),
      (failure) => ended.push(String(failure)),
    );
    handler.close();
    give(false);
    await calm();
    assert.deepEqual(ended, ['errors.CLOSED.notSent {}']);
  });

  it('runs every command of a message with the options of that message', async () => {
    const given: unknown[] = [];
    const account = accountWith({
      run: (_command, options?: RunOptions) => {
        given.push(options);
        return Promise.reject(failure('BUSY'));
      },
    });
    const config = { mac: MAC, macType: 'str' };
    const handle = switchHandler({ config, evaluate: noEvaluate, account: () => account });
    const msg = {
      payload: [
        { port: 1, on: true },
        { port: 2, on: true },
      ],
    };
    const options = { owner: {} };
    await assert.rejects(handle(input(msg, () => options)));
    assert(given.length === 2 && given.every((each) => each === options));
  });
});
