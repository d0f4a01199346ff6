import assert from 'node:assert/strict';
import { closedError, StripError } from '../../../src/api/errors';
import type { Config } from '../../../src/settings';
import type { Message } from '../../../src/flow/input-fields';
import { CommandsFailed, EMPTY_STORE, reportedError, type SwitchedStrip } from '../../../src/flow/node-error';
import { switchHandler } from '../../../src/flow/strip-switch';
import { failure, makeStrip } from '../../support/scripted-service';
import {
  accountWith,
  failing,
  input,
  MAC,
  noEvaluate,
  OTHER,
  outcomeOf,
  translate,
  AT,
  type Run,
} from './support';

const strip = { mac: MAC, macType: 'str' };

const succeed: Run = (command) => Promise.resolve(outcomeOf(command, { name: 'Desk' }));

/** What the node sends for a message, and the key of its status. */
async function answer(
  msg: Message,
  config: Config = {},
  run = succeed,
  known?: ReturnType<typeof makeStrip>,
) {
  const account = accountWith({ run, store: { ...EMPTY_STORE, find: () => known } });
  const handle = switchHandler({
    config: { ...strip, ...config },
    evaluate: noEvaluate,
    account: () => account,
  });
  const { messages, status } = await handle(input(msg));
  assert.deepEqual(messages, [msg]);
  assert.equal(messages[0], msg);
  const { payload, strip: switched, response } = msg;
  return { payload, strip: switched, response, status: status.text.split('.').at(-1) };
}

describe('a command that is not carried out', () => {
  const handler = (run: Run) =>
    switchHandler({
      config: strip,
      evaluate: noEvaluate,
      account: () => accountWith({ run }),
    });

  it('is not started once its message has ended', async () => {
    const ended = input({ payload: true, port: 1 }, () => {
      throw closedError('notSent');
    });
    const failed = await failing(() => handler(() => assert.fail('run'))(ended));
    assert.equal(failed.sentenceKey, 'CLOSED.notSent');
  });

  it('reports a defect as itself, of several outlets too', async () => {
    const payload = [
      { port: 1, on: true },
      { port: 2, on: true },
    ];
    const broken = handler(() => Promise.reject(new TypeError('a defect')));
    await assert.rejects(broken(input({ payload })), TypeError);
  });
});

describe('the answer to a command', () => {
  it('is an array for an array of one', async () => {
    const { payload, strip: switched } = await answer({ payload: [{ port: 1, on: true }] });
    assert.deepEqual(payload, [{ mac: MAC, port: 1, on: true }]);
    assert.equal((switched as unknown[]).length, 1);
  });

  it('is on/off for on/off', async () => {
    const { payload, strip, response } = await answer({ payload: 'ON', port: 2 });
    assert.equal(payload, true);
    assert.deepEqual(strip, {
      mac: MAC,
      name: 'Desk',
      port: 2,
      outlet: null,
      on: true,
      requested: 'on',
      success: true,
      results: [{ port: 2, ok: true }],
      at: AT,
    });
    assert.deepEqual(response, { success: true });
    assert.equal((await answer({ payload: 0, port: 'all' })).payload, false);
    assert.equal((await answer({ payload: 'cycle', port: 1 })).payload, true);
  });

  it('is one outlet for one outlet', async () => {
    assert.deepEqual((await answer({ payload: { port: 'all', on: false } })).payload, {
      mac: MAC,
      port: 'all',
      on: false,
    });
  });

  it('is an array for an array, in its order', async () => {
    const { payload, strip, response } = await answer({
      payload: [
        { port: 3, on: true },
        { port: 1, on: 'off' },
      ],
    });
    assert.deepEqual(payload, [
      { mac: MAC, port: 3, on: true },
      { mac: MAC, port: 1, on: false },
    ]);
    assert(Array.isArray(strip));
    assert.deepEqual(
      (strip as SwitchedStrip[]).map(({ port, requested }) => [port, requested]),
      [
        [3, true],
        [1, 'off'],
      ],
    );
    assert.deepEqual(response, [{ success: true }, { success: true }]);
  });

  it('is a strip for a strip', async () => {
    const { payload, strip } = await answer({
      payload: {
        outlets: [
          { port: 1, on: true },
          { port: 2, on: null },
        ],
      },
    });
    assert.deepEqual(payload, { mac: MAC, outlets: [{ port: 1, on: true }] });
    assert(Array.isArray(strip));
  });

  it('can be fixed to on/off or to port and on/off', async () => {
    assert.equal((await answer({ payload: { port: 1, on: true } }, { output: 'on' })).payload, true);
    assert.deepEqual((await answer({ payload: true, port: 1 }, { output: 'port-on' })).payload, {
      mac: MAC,
      port: 1,
      on: true,
    });
    assert.deepEqual(
      (
        await answer(
          {
            payload: [
              { port: 1, on: true },
              { port: 2, on: false },
            ],
          },
          { output: 'on' },
        )
      ).payload,
      [true, false],
    );
    assert.deepEqual(
      (await answer({ payload: { outlets: [{ port: 1, on: true }] } }, { output: 'port-on' })).payload,
      [{ mac: MAC, port: 1, on: true }],
    );
  });

  it('names the outlets that were left alone', async () => {
    const msg = { payload: false, port: 'all' };
    const run: Run = (command) => Promise.resolve(outcomeOf(command, { skipped: [4] }));
    assert.deepEqual(Reflect.get(Object((await answer(msg, {}, run)).strip), 'skipped'), [4]);
  });
});

describe('the status after a switch', () => {
  const of = async (msg: Message, known?: ReturnType<typeof makeStrip>) =>
    (await answer(msg, { macType: 'message' }, succeed, known)).status;

  it('is the state of the outlet, or how many of the strip are on', async () => {
    const known = makeStrip(MAC, [true, true, false], { available: false });
    assert.equal(await of({ payload: true, mac: MAC, port: 1 }, known), 'on');
    assert.equal(await of({ payload: { mac: MAC, port: 'all', on: true } }, known), 'on2of3');
    assert.equal(await of({ payload: { mac: MAC, port: 'all', on: false } }), 'off');
    const both = [
      { port: 1, on: true },
      { port: 2, on: true, mac: MAC.toLowerCase() },
    ];
    assert.equal(await of({ payload: both, mac: MAC }, known), 'on2of3');
  });

  it('says no more than "switched" where several strips were', async () => {
    const payload = [
      { port: 1, on: true },
      { port: 2, on: true, mac: OTHER },
    ];
    assert.equal(await of({ payload, mac: MAC }, makeStrip(MAC, [true])), 'switched');
  });
});

describe('one error for several commands', () => {
  /** Runs an array for outlet 1, 2, ...; one that is not `null` fails. */
  async function failed(...errors: (Error | null)[]): Promise<CommandsFailed> {
    const payload = errors.map((_, index) => ({ port: (index % 4) + 1, on: true }));
    let count = 0;
    const run: Run = (command) => {
      const reason = errors[count++] ?? null;
      return reason === null ? succeed(command) : Promise.reject(reason);
    };
    try {
      await answer({ payload }, {}, run);
    } catch (thrown) {
      assert(thrown instanceof CommandsFailed, String(thrown));
      return thrown;
    }
    assert.fail('it did not fail');
  }
  const reported = async (...errors: (Error | null)[]) => {
    const { code, sentenceKey, params } = reportedError(await failed(...errors), translate, EMPTY_STORE);
    return { code, sentenceKey, params };
  };

  it('holds every outcome in order', async () => {
    const { strips } = await failed(null, failure('TIMEOUT'), failure('SWITCH_FAILED'));
    assert.deepEqual(
      strips.map(({ port, success, on }) => [port, success, on]),
      [
        [1, true, true],
        [2, false, null],
        [3, false, null],
      ],
    );
  });

  it('has a sentence that names the outlets that failed, each with its code', async () => {
    const { code, sentenceKey, params } = await reported(null, failure('TIMEOUT'), failure('SWITCH_FAILED'));
    assert.deepEqual([code, sentenceKey], ['SWITCH_FAILED', 'SWITCH_FAILED.several']);
    assert.deepEqual([params.failed, params.total], [2, 3]);
    const outlet = (port: number) => translate('outlet.unnamed', { strip: MAC, port });
    assert.equal(params.outlets, `${outlet(2)} TIMEOUT, ${outlet(3)} SWITCH_FAILED`);
  });

  it('has the code of all where all failed alike, but for a reason of the outlets themselves', async () => {
    const rejected = () => failure('AUTH', {}, 'rejected');
    assert.equal((await reported(rejected(), rejected())).sentenceKey, 'AUTH.rejected');
    assert.equal((await reported(rejected(), null)).sentenceKey, 'SWITCH_FAILED.several');
    assert.equal((await reported(failure('AUTH'), failure('TIMEOUT'))).sentenceKey, 'SWITCH_FAILED.several');
    assert.equal((await reported(failure('SWITCH_FAILED', {}, 'ports'))).sentenceKey, 'SWITCH_FAILED.ports');
    const notSwitched = await reported(failure('SWITCH_FAILED'), failure('SWITCH_FAILED'));
    assert.equal(notSwitched.sentenceKey, 'SWITCH_FAILED.several');
  });

  for (const [unsent, sent] of [
    ['CLOSED.notSent', 'CLOSED.sent'],
    ['CLOSED.cycle', 'CLOSED.sent'],
    ['TIMEOUT.waiting', 'TIMEOUT.deadline'],
    ['TIMEOUT.notSent', 'TIMEOUT.deadline'],
  ] as const) {
    it(`is ${sent} where others are ${unsent}, so that it does not say that nothing was sent`, async () => {
      const both = [new StripError(unsent), new StripError(sent)];
      assert.equal((await reported(...both)).sentenceKey, sent);
      assert.equal((await reported(...both.toReversed())).sentenceKey, sent);
    });
  }

  it('names each outlet to check where the node was closed, and says "nothing to do" of cycles alone', async () => {
    const closed = async (...kinds: ('notSent' | 'sent' | 'cycle')[]) =>
      await reported(...kinds.map((kind, index) => closedError(kind, { mac: MAC, port: index + 1 })));
    const outlet = (port: number) => translate('outlet.unnamed', { strip: MAC, port });
    for (const kinds of [
      ['sent', 'notSent', 'sent'],
      ['cycle', 'notSent', 'sent'],
      ['cycle', 'notSent', 'cycle'],
    ] as const) {
      const { sentenceKey, params } = await closed(...kinds);
      assert.deepEqual([sentenceKey, params.outlet], ['CLOSED.sent', `${outlet(1)}, ${outlet(3)}`]);
    }
    assert.equal((await closed('cycle', 'cycle')).sentenceKey, 'CLOSED.cycle');
    assert.equal((await closed('notSent', 'notSent')).sentenceKey, 'CLOSED.notSent');
  });

  it('names at most four outlets', async () => {
    const failures = (count: number) => Array.from({ length: count }, () => failure('TIMEOUT'));
    const named = async (count: number) =>
      String((await reported(null, ...failures(count))).params.outlets).split('TIMEOUT').length - 1;
    assert.deepEqual([await named(4), await named(5)], [4, 4]);
    assert(String((await reported(null, ...failures(5))).params.outlets).endsWith(', …'));
    assert(!String((await reported(null, ...failures(4))).params.outlets).endsWith('…'));
  });

  it('is the error itself where the message was about one outlet', async () => {
    const failure = new StripError('TIMEOUT.deadline');
    await assert.rejects(
      answer({ payload: true, port: 1 }, {}, () => Promise.reject(failure)),
      failure,
    );
  });
});
