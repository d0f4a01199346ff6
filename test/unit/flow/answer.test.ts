import assert from 'node:assert/strict';
import { answerOf, type Output } from '../../../src/flow/answer';
import type { Config } from '../../../src/flow/config';
import type { Message } from '../../../src/flow/field';
import { MAC, order, outcomeOf } from './support';

const AT = '2027-01-15T08:00:00.000Z';

async function answer(msg: Message, output: Output = 'same', config: Config = { mac: MAC, macType: 'str' }) {
  const read = await order(config, msg);
  return answerOf(
    read,
    read.commands.map(({ command }) => outcomeOf(command)),
    output,
  );
}

describe('the answer to a command', () => {
  it('is on/off for on/off', async () => {
    const { payload, strip, response } = await answer({ payload: 'ON', port: 2 });
    assert.equal(payload, true);
    assert.deepEqual(strip, {
      mac: MAC,
      port: 2,
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
      strip.map(({ port, requested }) => [port, requested]),
      [
        [3, true],
        [1, 'off'],
      ],
    );
    assert.deepEqual(response, [{ success: true }, { success: true }]);
    assert.deepEqual((await answer({ payload: [{ port: 3, on: true }] })).strip instanceof Array, true);
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
    assert.equal((await answer({ payload: { port: 1, on: true } }, 'on')).payload, true);
    assert.deepEqual((await answer({ payload: true, port: 1 }, 'port-on')).payload, {
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
          'on',
        )
      ).payload,
      [true, false],
    );
    assert.deepEqual((await answer({ payload: { outlets: [{ port: 1, on: true }] } }, 'port-on')).payload, [
      { mac: MAC, port: 1, on: true },
    ]);
  });

  it('names the outlets that were left alone', async () => {
    const read = await order({ mac: MAC, macType: 'str' }, { payload: false, port: 'all' });
    const outcomes = read.commands.map(({ command }) => outcomeOf(command, { skipped: [4] }));
    const { strip } = answerOf(read, outcomes, 'same');
    assert(!Array.isArray(strip));
    assert.deepEqual(strip.skipped, [4]);
  });
});
