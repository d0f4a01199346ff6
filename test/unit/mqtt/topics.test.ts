import assert from 'node:assert/strict';
import fc from 'fast-check';
import { macKey } from '../../../src/api/types';
import { preview } from '../../../src/values';
import {
  commandTopic,
  discoveryTopic,
  readTopic,
  stateTopic,
  stripId,
  topicsOf,
} from '../../../src/mqtt/topics';
import { HOSTILE, isTopic } from '../../support/home-assistant';
import { failing } from '../flow/support';

const SETTINGS = { topic: 'smart-strip', discovery: 'homeassistant' };
const read = (topic: unknown, settings = SETTINGS) => readTopic(settings, topic);

describe('the id of a strip in topics', () => {
  it('is its MAC without separators, in upper case', () => {
    for (const mac of ['a1b2c3d4e5f6', 'A1:B2:C3:D4:E5:F6', ' A1-B2-c3-d4-e5-f6 ', 'a1b2.c3d4.e5f6']) {
      assert.equal(stripId(mac), 'A1B2C3D4E5F6');
    }
  });

  for (const mac of HOSTILE) {
    it(`is one topic level for ${JSON.stringify(mac.slice(0, 20))}`, () => {
      const id = stripId(mac);
      assert.match(id, /^[A-Za-z0-9_-]{0,64}$/);
      assert.ok(mac.trim() === '' || id !== '');
      if (id !== '') for (const topic of topicsOf(SETTINGS, id)) assert.ok(isTopic(topic), topic);
    });
  }

  it('is the same only for what names the same strip', () => {
    const name = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(...HOSTILE),
      fc.stringMatching(/^[a-c_:#-]*$/),
    );
    fc.assert(
      fc.property(name, name, (one, other) => {
        assert.match(stripId(one), /^[A-Z0-9_-]*$/);
        assert.equal(stripId(one) === stripId(other), macKey(one) === macKey(other));
      }),
    );
  });

  it('does not take the code of one character for that of another with a letter behind it', () => {
    assert.notEqual(stripId('x\u0001f'), stripId('x\u001f'));
  });

  it('differs where only the end of a very long one does', () => {
    assert.notEqual(stripId(`${'x'.repeat(5000)}1`), stripId(`${'x'.repeat(5000)}2`));
  });
});

describe('reading a topic', () => {
  it('finds strip and outlet of a command', () => {
    for (const port of [1, 2, 3, 4] as const) {
      const topic = commandTopic(SETTINGS, 'A1B2C3D4E5F6', port);
      assert.equal(topic, `smart-strip/A1B2C3D4E5F6/${port}/set`);
      assert.deepEqual(read(topic), { kind: 'command', id: 'A1B2C3D4E5F6', port });
    }
    assert.deepEqual(read('smart-strip/X/all/set'), { kind: 'command', id: 'X', port: 'all' });
    assert.deepEqual(read('a/b/__proto__/1/set', { topic: 'a/b', discovery: '' }), {
      kind: 'command',
      id: '__proto__',
      port: 1,
    });
  });

  it('finds the birth messages of the broker connection and of Home Assistant', () => {
    assert.deepEqual(read('smart-strip/bridge'), { kind: 'birth' });
    assert.deepEqual(read('homeassistant/status'), { kind: 'birth' });
    const settings = { topic: 'smart-strip', discovery: 'hass' };
    for (const topic of ['hass/status', 'homeassistant/status']) {
      assert.deepEqual(read(topic, settings), { kind: 'birth' });
    }
  });

  it('knows every topic that it publishes on', () => {
    for (const topic of topicsOf(SETTINGS, 'A1B2C3D4E5F6')) {
      const own = topic.endsWith('/available')
        ? { kind: 'availability', id: 'A1B2C3D4E5F6' }
        : { kind: 'own' };
      assert.deepEqual(read(topic), own);
    }
    assert.equal(stateTopic(SETTINGS, 'X', 'load'), 'smart-strip/X/load');
    assert.equal(discoveryTopic(SETTINGS, 'X'), 'homeassistant/device/smart_strip_X/config');
    assert.ok(
      !topicsOf({ topic: 'smart-strip', discovery: '' }, 'X').some((topic) => topic.includes('device')),
    );
  });

  for (const port of ['0', '5', '', '1.0', '01', '__proto__', 'x'.repeat(5000)]) {
    it(`refuses the outlet ${JSON.stringify(port.slice(0, 20))}`, async () => {
      const error = await failing(() => read(`smart-strip/A1B2C3D4E5F6/${port}/set`));
      assert.equal(error.sentenceKey, 'INVALID_INPUT.port');
      assert.ok(String(error.params.got).length < 100);
    });
  }

  for (const topic of [
    ...['', 'smart-strip', 'smart-strip/', 'smart-strip/X', 'smart-strip/X/1/set/', 'smart-strip/X/1/get'],
    ...[
      'smart-strip/X/1/2/set',
      'other/X/1/set',
      'SMART-STRIP/X/1/set',
      'smart-strip-2/X/1/set',
      'smart-strip/X/humidity',
    ],
    ...['homeassistant', 'homeassistant/switch/x/config', '__proto__', '#', 'x'.repeat(5000)],
    ...[undefined, null, 7, {}, ['smart-strip/bridge']],
  ]) {
    it(`refuses ${preview(topic)}`, async () => {
      const error = await failing(() => read(topic));
      assert.equal(error.sentenceKey, 'INVALID_INPUT.topic');
      assert.deepEqual(error.params, { topic: preview(topic), prefix: 'smart-strip' });
      assert.ok(preview(topic).length < 100);
    });
  }

  it('without discovery takes nothing below it', async () => {
    const settings = { topic: 'smart-strip', discovery: '' };
    assert.equal((await failing(() => read('/status', settings))).code, 'INVALID_INPUT');
    assert.deepEqual(read('homeassistant/status', settings), { kind: 'birth' });
  });
});
