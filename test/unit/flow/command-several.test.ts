import assert from 'node:assert/strict';
import { commands, failing, MAC, OTHER, outlet2, request } from './support';

/** All from the message, as in a flow that says nothing. */
const open = {};

describe('a payload with outlets', () => {
  it('is one outlet where it says on or off itself', async () => {
    const payload = { mac: MAC, port: 3, on: true, outlets: [{ port: 1, on: false }] };
    assert.deepEqual(await commands(open, { payload }), [`${MAC}/3 true`]);
  });

  it('is refused where the outlets are no list', async () => {
    for (const outlets of [{}, 'x', null]) {
      const failed = await failing(() => commands(open, { payload: { mac: MAC, outlets } }));
      assert.equal(failed.sentenceKey, 'INVALID_INPUT.wholeStrip');
    }
  });
});

describe('several outlets in one message', () => {
  describe('arrays', () => {
    it('become their commands in order', async () => {
      const payload = [
        { port: 1, on: true },
        { port: 'all', on: 'toggle', mac: OTHER },
        { port: '1', on: 'OFF' },
      ];
      const read = await request(open, { payload, mac: MAC });
      assert.equal(read.form, 'array');
      assert.deepEqual(await commands(open, { payload, mac: MAC }), [
        `${MAC}/1 true`,
        `${OTHER}/all toggle`,
        `${MAC}/1 false`,
      ]);
    });

    it('leave out what elements say of the strip where it is fixed', async () => {
      assert.deepEqual(
        await commands({ mac: MAC, macType: 'str' }, { payload: [{ port: 1, on: true, mac: OTHER }] }),
        [`${MAC}/1 true`],
      );
    });

    it('are checked whole', async () => {
      for (const wrong of [
        true,
        null,
        undefined,
        {},
        { port: 1 },
        { on: true },
        { port: 9, on: true },
        { port: 1, on: 2 },
        [{ port: 1, on: true }],
      ]) {
        const error = await failing(() =>
          commands(open, { payload: [{ port: 1, on: true }, wrong], mac: MAC, port: 3 }),
        );
        assert.deepEqual([error.sentenceKey, error.params.number], ['INVALID_INPUT.element', 2]);
      }
      const holes = [{ port: 1, on: true }];
      holes[3] = { port: 2, on: true };
      assert.equal((await failing(() => commands(open, { payload: holes, mac: MAC }))).params.number, 2);
      assert.equal(
        (await failing(() => commands(open, { payload: [], mac: MAC }))).sentenceKey,
        'INVALID_INPUT.arrayEmpty',
      );
      assert.equal(
        (await failing(() => commands(open, { payload: [{ port: 1, on: true }] }))).sentenceKey,
        'INVALID_INPUT.macMissing',
      );
    });

    it('are at most 10,000, however long the array is', async () => {
      const payload = Array.from({ length: 10_001 }, () => ({ port: 1, on: true }));
      for (const length of [10_001, 2 ** 32 - 1]) {
        payload.length = length;
        const error = await failing(() => commands(open, { payload, mac: MAC }));
        assert.deepEqual(
          [error.sentenceKey, error.params],
          ['INVALID_INPUT.arrayLong', { max: 10_000, count: length }],
        );
      }
      payload.length = 10_000;
      assert.equal((await commands(open, { payload, mac: MAC })).length, 10_000);
    });

    it('do not read a mac of null as the strip of the message', async () => {
      const payload = [{ port: 1, on: true, mac: null }];
      assert.equal(
        (await failing(() => commands(open, { payload, mac: MAC }))).sentenceKey,
        'INVALID_INPUT.mac',
      );
    });

    it('need outlet and state from the message, and so do whole strips', async () => {
      const strip = { mac: MAC, outlets: [{ port: 1, on: true }] };
      for (const payload of [[{ port: 1, on: true, mac: MAC }], [], strip]) {
        for (const config of [
          { port: '2', portType: 'port' },
          { on: 'on', onType: 'action' },
          outlet2,
          { ...outlet2, macType: 'message', on: 'on', onType: 'action' },
        ]) {
          assert.equal(
            (await failing(() => commands(config, { payload }))).sentenceKey,
            'INVALID_INPUT.fixed',
          );
        }
      }
    });
  });

  describe('a whole strip', () => {
    it('has each outlet once, so it cannot be long', async () => {
      const outlets = [{ port: 1, on: true }, { port: 2 }, { port: '1', on: true }];
      outlets.length = 2 ** 32 - 1;
      const error = await failing(() => commands(open, { payload: { mac: MAC, outlets } }));
      assert.deepEqual(
        [error.sentenceKey, error.params.got],
        ['INVALID_INPUT.wholeStrip', '{"port": "1", "on": true}'],
      );
    });

    it('is put back where it is known', async () => {
      const payload = {
        mac: MAC,
        name: 'Desk',
        available: true,
        outlets: [{ port: 1, on: true }, { port: 2, on: null }, { port: '3', on: 'off' }, { port: 4 }],
      };
      const read = await request(open, { payload });
      assert.equal(read.form, 'strip');
      assert.deepEqual(
        read.commands.map(({ requested }) => requested),
        [true, 'off'],
      );
      assert.deepEqual(await commands(open, { payload }), [`${MAC}/1 true`, `${MAC}/3 false`]);
    });

    it('is put back on the strip that is fixed', async () => {
      const payload = { mac: OTHER, outlets: [{ port: 1, on: true }] };
      assert.deepEqual(await commands({ mac: MAC, macType: 'str' }, { payload, mac: OTHER }), [
        `${MAC}/1 true`,
      ]);
    });

    it('is refused where nothing in it is known', async () => {
      for (const outlets of [[], [{ port: 1, on: null }]]) {
        assert.equal(
          (await failing(() => commands(open, { payload: { mac: MAC, outlets } }))).sentenceKey,
          'INVALID_INPUT.wholeStripEmpty',
        );
      }
    });

    it('is refused where anything in it is not a strip', async () => {
      for (const wrong of [
        true,
        null,
        { port: 'all', on: true },
        { port: 5, on: true },
        { on: true },
        { port: 1, on: 'toggle' },
        { port: 1, on: 2 },
        { port: 1, on: 'maybe' },
      ]) {
        const error = await failing(() =>
          commands(open, { payload: { mac: MAC, outlets: [{ port: 2, on: true }, wrong] } }),
        );
        assert.equal(error.sentenceKey, 'INVALID_INPUT.wholeStrip');
      }
      for (const outlets of [true, null, {}, 'on', 4]) {
        const error = await failing(() => commands(open, { payload: { mac: MAC, outlets } }));
        assert.equal(error.code, 'INVALID_INPUT');
      }
    });
  });
});
