import assert from 'node:assert/strict';
import { commands, failing, MAC, OTHER, outlet2, request } from './support';

describe('reading a command whose fields are fixed in the node', () => {
  it('wins over whatever the message says', async () => {
    const stray = { mac: OTHER, port: 4, delay: 9 };
    assert.deepEqual(await commands(outlet2, { payload: { ...stray, on: true }, ...stray }), [
      `${MAC}/2 true`,
    ]);
    assert.deepEqual(
      await commands(
        { ...outlet2, on: 'off', onType: 'action' },
        { payload: { ...stray, on: true }, ...stray },
      ),
      [`${MAC}/2 false`],
    );
    assert.deepEqual(await commands({ port: '2', portType: 'port' }, { payload: { ...stray, on: true } }), [
      `${OTHER}/2 true`,
    ]);
  });

  it('ignores what the payload holds if all are fixed', async () => {
    const config = { ...outlet2, on: 'toggle', onType: 'action' };
    for (const payload of [
      undefined,
      null,
      'anything',
      7,
      [],
      [{ port: 9 }],
      { outlets: 1 },
      { port: 9, on: 'x' },
    ]) {
      const {
        form,
        commands: [first],
      } = await request(config, { payload });
      assert.deepEqual([form, first?.action, first?.requested], ['on', 'toggle', 'toggle']);
    }
  });

  it('is missed where it is empty', async () => {
    for (const name of ['mac', 'port', 'on']) {
      const config = { ...outlet2, on: 'on', onType: 'action', [name]: '' };
      assert.equal(
        (await failing(() => commands(config, { payload: true }))).sentenceKey,
        `NOT_CONFIGURED.${name}`,
      );
    }
  });

  it('names the variable that is not set', async () => {
    for (const name of ['mac', 'port', 'on']) {
      const config = { ...outlet2, on: 'on', onType: 'action', [name]: '${WHICH}' };
      const error = await failing(() => commands(config, { payload: true }));
      assert.deepEqual([error.sentenceKey, error.params], ['NOT_CONFIGURED.variable', { variable: 'WHICH' }]);
    }
  });

  it('is read from any flow file without complaint', async () => {
    const hostile = {
      mac: 7,
      macType: ' ',
      port: null,
      portType: null,
      on: true,
      onType: '',
      delay: ' 5 ',
    };
    assert.deepEqual(await commands(hostile, { payload: 'cycle', mac: MAC, port: 1 }), [
      `${MAC}/1 cycle 5000`,
    ]);
    assert.deepEqual(await commands({ ...outlet2, port: 2 }, { payload: true }), [`${MAC}/2 true`]);
  });
});
