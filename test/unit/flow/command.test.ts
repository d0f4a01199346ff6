import assert from 'node:assert/strict';
import { preview } from '../../../src/values';
import { commands, failing, MAC, noEvaluate, nothing, OTHER, outlet2, request } from './support';

/** All from the message, as in a flow that says nothing. */
const open = {};

describe('reading a command from a message', () => {
  const words: [unknown, string][] = [
    [true, 'true'],
    [false, 'false'],
    [1, 'true'],
    [0, 'false'],
    [-0, 'false'],
    ['on', 'true'],
    ['off', 'false'],
    ['true', 'true'],
    ['false', 'false'],
    [' ON\n', 'true'],
    ['False ', 'false'],
    ['Toggle', 'toggle'],
    ['CYCLE', 'cycle 5000'],
  ];
  for (const [payload, action] of words) {
    it(`takes ${JSON.stringify(payload)} for ${action}`, async () => {
      assert.deepEqual(await commands(outlet2, { payload }), [`${MAC}/2 ${action}`]);
      assert.deepEqual(await commands(open, { payload: { port: 2, on: payload, mac: MAC } }), [
        `${MAC}/2 ${action}`,
      ]);
      assert.deepEqual(await commands(open, { payload: [{ port: 2, on: payload }], mac: MAC }), [
        `${MAC}/2 ${action}`,
      ]);
    });
  }

  it('refuses what the node lacks before what the message lacks', async () => {
    const config = { mac: MAC, macType: 'str', port: '${PORT}', portType: 'port' };
    const failed = await failing(() => commands(config, { payload: 'x' }));
    assert.equal(failed.sentenceKey, 'NOT_CONFIGURED.variable');
  });

  const refused: unknown[] = [
    undefined,
    null,
    NaN,
    '',
    ' ',
    2,
    -1,
    0.5,
    Infinity,
    '1',
    '0',
    'yes',
    'onn',
    'toggle!',
    'hasOwnProperty',
    '__proto__',
    'constructor',
    {},
    [],
    { on: undefined },
    { on: null },
    { on: 2 },
    { on: {} },
    { on: [] },
    { on: '1' },
    Object.create({ on: true }),
    { state: true },
    new Boolean(true),
    new Number(1),
    new String('on'),
    new Date(1),
    () => true,
    Symbol('on'),
    1n,
    Buffer.from('on'),
    new Map([['on', true]]),
    [[true]],
  ];
  for (const payload of refused) {
    it(`refuses ${preview(payload)}, which is none of the words, and shows it`, async () => {
      const { code, params } = await failing(() => commands(outlet2, { payload }));
      assert.deepEqual([code, params.got], ['INVALID_INPUT', preview(payload)]);
      const other = await failing(() => commands({ mac: MAC, macType: 'str' }, { payload, port: 2 }));
      assert.equal(other.code, 'INVALID_INPUT');
    });
  }

  it('keeps the word that was asked, and a number as a boolean', async () => {
    for (const [payload, requested] of [
      [true, true],
      [1, true],
      [' OFF', 'off'],
      ['Toggle', 'toggle'],
      ['TRUE', 'true'],
    ] as const) {
      const {
        commands: [first],
      } = await request(outlet2, { payload });
      assert.equal(first?.requested, requested);
    }
  });

  it('reads the port from the payload, else from the message', async () => {
    const config = { mac: MAC, macType: 'str' };
    assert.deepEqual(await commands(config, { payload: { port: 1, on: true }, port: 2 }), [`${MAC}/1 true`]);
    assert.deepEqual(await commands(config, { payload: { on: true }, port: 2 }), [`${MAC}/2 true`]);
    assert.deepEqual(await commands(config, { payload: true, port: '3' }), [`${MAC}/3 true`]);
    for (const [port, read] of [
      [2.0, '2'],
      ['4', '4'],
      [' 3 ', '3'],
      ['all', 'all'],
      [' ALL\n', 'all'],
    ] as const) {
      assert.deepEqual(await commands(config, { payload: true, port }), [`${MAC}/${read} true`]);
    }
  });

  for (const port of [
    0,
    5,
    2.5,
    -1,
    NaN,
    true,
    null,
    '',
    '02',
    '2.0',
    '2.5',
    '5',
    'one',
    '0x2',
    '1e0',
    'al l',
    '1 2',
    [2],
    { port: 2 },
    2n,
  ]) {
    it(`takes no ${typeof port} such as ${typeof port === 'bigint' ? '2n' : JSON.stringify(port)} for a port`, async () => {
      const error = await failing(() => commands({ mac: MAC, macType: 'str' }, { payload: true, port }));
      assert.equal(error.sentenceKey, 'INVALID_INPUT.port');
      const inside = await failing(() =>
        commands({ mac: MAC, macType: 'str' }, { payload: { on: true, port }, port: 1 }),
      );
      assert.equal(inside.sentenceKey, 'INVALID_INPUT.port');
    });
  }

  it('never takes a missing port for all', async () => {
    const error = await failing(() => commands({ mac: MAC, macType: 'str' }, { payload: true }));
    assert.equal(error.sentenceKey, 'INVALID_INPUT.portMissing');
  });

  it('reads the strip from the payload, else from the message, without blanks around it', async () => {
    assert.deepEqual(await commands(open, { payload: { mac: MAC, port: 1, on: true }, mac: OTHER }), [
      `${MAC}/1 true`,
    ]);
    assert.deepEqual(await commands(open, { payload: { port: 1, on: true }, mac: ` ${OTHER} ` }), [
      `${OTHER}/1 true`,
    ]);
    assert.deepEqual(await commands(open, { payload: true, port: 1, mac: 'a1:b2:c3' }), ['a1:b2:c3/1 true']);
  });

  it('says so when no strip is named, and guesses none', async () => {
    assert.equal(
      (await failing(() => commands(open, { payload: true, port: 1 }))).sentenceKey,
      'INVALID_INPUT.macMissing',
    );
  });

  for (const mac of [
    '',
    ' ',
    '.',
    '..',
    'a/b',
    'a\\b',
    'a\r\nb',
    '\ud800',
    'x'.repeat(300),
    12,
    true,
    null,
    {},
    ['a'],
  ]) {
    it(`takes no ${typeof mac} such as ${JSON.stringify(mac).slice(0, 20)} for a MAC`, async () => {
      assert.equal(
        (await failing(() => commands(open, { payload: true, port: 1, mac }))).sentenceKey,
        'INVALID_INPUT.mac',
      );
      assert.equal(
        (await failing(() => commands(open, { payload: [{ port: 1, on: true, mac: mac ?? 0 }] })))
          .sentenceKey,
        'INVALID_INPUT.mac',
      );
    });
  }

  it('asks to be answered in the form it came', async () => {
    const forms: [object, object, string][] = [
      [outlet2, { payload: true }, 'on'],
      [outlet2, { payload: { on: true } }, 'port-on'],
      [open, { payload: true, mac: MAC, port: 1 }, 'on'],
      [open, { payload: { mac: MAC, port: 1, on: true } }, 'port-on'],
      [{ ...outlet2, portType: 'message', on: 'on', onType: 'action' }, { payload: { port: 1 } }, 'port-on'],
      [
        { ...outlet2, portType: 'message', on: 'on', onType: 'action' },
        { payload: { other: 1 }, port: 1 },
        'on',
      ],
    ];
    for (const [config, msg, form] of forms)
      assert.equal((await request({ ...config }, { ...msg })).form, form);
  });

  it('reports what a refused message is about, as far as it says', async () => {
    for (const [payload, delay, requested] of [
      ['x', '5', null],
      ['cycle', '0', 'cycle'],
    ]) {
      const target = nothing();
      await failing(() => request({ ...outlet2, delay }, { payload, port: 1 }, noEvaluate, target));
      assert.deepEqual(target, { mac: MAC, port: 2, requested });
    }
  });

  it('reports what the other fields say where one cannot be read', async () => {
    const whole = [{ port: 1, on: true }];
    const typed = { on: 'x', onType: 'jsonata' };
    for (const [config, msg, seen] of [
      [{ ...outlet2, ...typed }, { payload: true }, [MAC, 2, null]],
      [{ ...outlet2, on: '${WHICH}', onType: 'action' }, {}, [MAC, 2, null]],
      [{ ...outlet2, mac: 'x', macType: 'env' }, { payload: 'on' }, [null, 2, 'on']],
      [{ ...outlet2, port: '${WHICH}' }, { payload: 'on' }, [MAC, null, 'on']],
      [outlet2, { payload: whole }, [MAC, 2, null]],
      [{ mac: MAC, macType: 'str' }, { payload: [1], port: 3 }, [MAC, null, null]],
      [open, { payload: { mac: MAC, outlets: 1 }, port: 3 }, [MAC, null, null]],
    ] as const) {
      const target = nothing();
      await failing(() => request({ ...config }, { ...msg }, noEvaluate, target));
      assert.deepEqual([target.mac, target.port, target.requested], seen);
    }
  });

  it('refuses a message whose getters throw', async () => {
    const payload = Object.defineProperty({ port: 1 }, 'on', {
      enumerable: true,
      get: () => assert.fail('boom'),
    });
    const error = await failing(() => commands(open, { payload, mac: MAC }));
    assert.deepEqual([error.sentenceKey, error.cause], ['INVALID_INPUT.unreadable', undefined]);
  });
});
