import assert from 'node:assert/strict';
import type { Evaluate } from '../../../src/flow/input-fields';
import { commandReader } from '../../../src/flow/strip-switch';
import { commands, failing, MAC, noEvaluate, nothing, OTHER, outlet2 } from './support';

/** As a promise that is rejected with anything at all, which JSONata's are. */
const throwing = (thrown: unknown): Promise<never> =>
  Promise.resolve().then(() => {
    throw thrown;
  });

describe('fields that are more than a value', () => {
  describe('the delay of a cycle', () => {
    it('is five seconds unless the node says otherwise', async () => {
      assert.deepEqual(await commands(outlet2, { payload: 'cycle', delay: 99 }), [`${MAC}/2 cycle 5000`]);
      assert.deepEqual(
        await commands({ ...outlet2, delay: ' 1.5 ', delayType: 'num' }, { payload: 'cycle' }),
        [`${MAC}/2 cycle 1500`],
      );
      assert.deepEqual(await commands({ ...outlet2, delay: 3600 }, { payload: 'cycle' }), [
        `${MAC}/2 cycle 3600000`,
      ]);
    });

    it('comes from the message where the node says so, and is five seconds where it says nothing', async () => {
      const fromMessage = { ...outlet2, delayType: 'message' };
      for (const [msg, ms] of [
        [{}, 5000],
        [{ delay: '' }, 5000],
        [{ delay: 1 }, 1000],
        [{ delay: 2 }, 2000],
        [{ delay: '1.25' }, 1250],
      ] as const) {
        assert.deepEqual(await commands(fromMessage, { payload: 'cycle', ...msg }), [`${MAC}/2 cycle ${ms}`]);
      }
      const payload = [
        { mac: MAC, port: 1, on: 'cycle', delay: 3 },
        { mac: MAC, port: 2, on: 'cycle' },
      ];
      const several = { ...fromMessage, macType: 'message', portType: 'message' };
      const expected = [`${MAC}/1 cycle 3000`, `${MAC}/2 cycle 7000`];
      assert.deepEqual(await commands(several, { payload, delay: 7 }), expected);
      for (const delay of [true, null, ['5'], {}]) {
        const { sentenceKey } = await failing(() => commands(fromMessage, { payload: 'cycle', delay }));
        assert.equal(sentenceKey, 'INVALID_INPUT.delay');
      }
    });

    for (const delay of ['0', '0.9', '3601', '-5', 'x', '1e3', '0x10', 'NaN', 'Infinity']) {
      it(`cannot be ${delay}, which matters to a cycle only`, async () => {
        assert.equal(
          (await failing(() => commands({ ...outlet2, delay }, { payload: 'cycle' }))).sentenceKey,
          'INVALID_INPUT.delay',
        );
        assert.deepEqual(await commands({ ...outlet2, delay }, { payload: 'toggle' }), [`${MAC}/2 toggle`]);
      });
    }

    it('may be an expression, which may fail where there is no cycle', async () => {
      const config = { ...outlet2, delay: 'wait', delayType: 'msg' };
      const seven: Evaluate = () => Promise.resolve(7);
      assert.deepEqual(await commands(config, { payload: 'cycle' }, seven), [`${MAC}/2 cycle 7000`]);
      assert.deepEqual(await commands(config, { payload: true }, noEvaluate), [`${MAC}/2 true`]);
      const { sentenceKey } = await failing(() => commands(config, { payload: 'cycle' }, noEvaluate));
      assert.equal(sentenceKey, 'INVALID_INPUT.expression');
      for (const wrong of [0, NaN, null, undefined, true, {}, '5s', 3601]) {
        const error = await failing(() =>
          commands(config, { payload: 'cycle' }, () => Promise.resolve(wrong)),
        );
        assert.equal(error.sentenceKey, 'INVALID_INPUT.delay');
      }
    });
  });

  describe('expressions', () => {
    const config = {
      mac: 'which',
      macType: 'flow',
      port: 'n',
      portType: 'msg',
      on: 'what',
      onType: 'jsonata',
    };

    it('give the values, under the same rules as a message', async () => {
      const values: Record<string, unknown> = { 'flow.which': MAC, 'msg.n': '3', 'jsonata.what': 'Toggle' };
      const evaluate = (value: string, type: string) => Promise.resolve(values[`${type}.${value}`]);
      assert.deepEqual(await commands(config, { payload: { mac: OTHER, port: 1, on: true } }, evaluate), [
        `${MAC}/3 toggle`,
      ]);
      for (const [name, wrong, sentence] of [
        ['flow.which', undefined, 'INVALID_INPUT.mac'],
        ['flow.which', 5, 'INVALID_INPUT.mac'],
        ['msg.n', undefined, 'INVALID_INPUT.port'],
        ['msg.n', true, 'INVALID_INPUT.port'],
        ['jsonata.what', undefined, 'INVALID_INPUT.state'],
        ['jsonata.what', 'yes', 'INVALID_INPUT.state'],
      ] as const) {
        const failed = await failing(() =>
          commands(config, {}, (value, type) =>
            Promise.resolve(`${type}.${value}` === name ? wrong : values[`${type}.${value}`]),
          ),
        );
        assert.equal(failed.sentenceKey, sentence);
      }
    });

    it('that fail are INVALID_INPUT with the reason, whatever is thrown', async () => {
      for (const [thrown, reason] of [
        [new TypeError('no such thing'), 'no such thing'],
        [{ code: 'T2001', message: 'left side' }, 'left side'],
        ['text', 'text'],
        ...[undefined, null, '', {}, { message: '' }, { message: 5 }].map(
          (none) => [none, 'failed'] as const,
        ),
      ] as const) {
        const failed = await failing(() => commands(config, {}, () => throwing(thrown)));
        assert.deepEqual([failed.sentenceKey, failed.params.reason], ['INVALID_INPUT.expression', reason]);
        assert.equal(failed.cause, undefined);
      }
    });

    it('that are environment variables may be numbers, as in a subflow', async () => {
      const config = { ...outlet2, port: 'OUTLET', portType: 'env' };
      assert.deepEqual(await commands(config, { payload: true }, () => Promise.resolve(3)), [
        `${MAC}/3 true`,
      ]);
    });

    it('that are environment variables must be set', async () => {
      const values: Record<string, unknown> = { env: '', msg: 1, jsonata: true };
      const failed = await failing(() =>
        commands({ ...config, macType: 'env' }, {}, (_value, type) => Promise.resolve(values[type])),
      );
      assert.deepEqual(
        [failed.sentenceKey, failed.params],
        ['NOT_CONFIGURED.variable', { variable: 'which' }],
      );
    });

    it('are shown by their beginning where they or their reasons are long', async () => {
      const config = { ...outlet2, on: 'x'.repeat(500), onType: 'jsonata' };
      const failed = await failing(() => commands(config, {}, () => throwing({ message: 'y'.repeat(500) })));
      assert.deepEqual(failed.params, {
        expression: `${'x'.repeat(159)}…`,
        reason: `${'y'.repeat(159)}…`,
      });
    });

    it('do not let a later message overtake an earlier one', async () => {
      const waiting: ((value: unknown) => void)[] = [];
      const read = commandReader(
        { ...outlet2, on: 'x', onType: 'flow' },
        () => new Promise((resolve) => waiting.push(resolve)),
      );
      const came: string[] = [];
      const all = ['first', 'second', 'third'].map(async (name) => {
        try {
          await read({}, nothing());
          came.push(name);
        } catch {
          came.push(`${name} failed`);
        }
      });
      waiting[2]?.(true);
      waiting[1]?.('wrong');
      await new Promise(setImmediate);
      assert.deepEqual(came, []);
      waiting[0]?.(false);
      await Promise.all(all);
      assert.deepEqual(came, ['first', 'second failed', 'third']);
    });
  });
});
