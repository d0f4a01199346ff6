import assert from 'node:assert/strict';
import { readAccountSettings } from '../../src/flow/shared-account';
import { readWatchOptions } from '../../src/flow/strip-watch';
import { checkPrefix, SETTINGS, type Setting } from '../../src/settings';
import { readConfig } from '../../src/simulator/simulator';
import { failing } from './flow/support';

const tables = Object.entries(SETTINGS).flatMap(([type, table]) =>
  Object.entries<Setting>(table).map(([name, setting]) => ({ where: `${type}.${name}`, name, setting })),
);

/** Names that Node-RED drops from `defaults`, besides single letters and what begins with "_" as in "_def". */
const TAKEN =
  'id type valid users wires changed dirty moved selected inputLabels outputLabels validationErrors';

describe('the table of settings', () => {
  it('has no name that Node-RED would drop', () => {
    for (const { where, name } of tables) {
      assert.ok(name.length > 1 && !name.startsWith('_') && !TAKEN.split(' ').includes(name), where);
    }
  });

  it('has every default within its bounds', () => {
    for (const { where, setting } of tables) {
      if (!('min' in setting)) continue;
      const { min = NaN, max = NaN } = setting;
      assert.ok(Number(setting.default) >= min && Number(setting.default) <= max, where);
    }
  });

  it('lets a new node start only with a type that its field has', () => {
    for (const { where, setting } of tables) {
      if (setting.kind !== 'typed' || setting.newType === undefined) continue;
      assert.ok(setting.types.includes(setting.newType), where);
    }
  });
});

describe('a number out of bounds', () => {
  it('is moved to the nearest bound at run time', () => {
    const { change } = SETTINGS['strip watch'];
    const watched = readWatchOptions({ change: '1e300' }, () => '');
    assert.ok('change' in watched);
    assert.equal(watched.change, change.max);
    assert.equal(readAccountSettings({ interval: '1' }).interval, 5000);
    assert.equal(readAccountSettings({ timeout: 1e9 }).timeout, 600_000);
    assert.equal(readConfig({ latency: '99999999' }).latency, 60_000);
  });
});

describe('a topic prefix', () => {
  it('loses the slashes at its ends', () => {
    assert.equal(checkPrefix(' /home/strips// '), 'home/strips');
    assert.equal(checkPrefix('smart-strip'), 'smart-strip');
  });

  // The last one must not take minutes.
  const long = `a${'/'.repeat(300_000)}b`;
  for (const text of [
    '',
    '/',
    'a//b',
    'a/#',
    '+/b',
    'a\0',
    'a\nb',
    '$SYS/x',
    '\ud800',
    'a\ufdd0',
    'a\uffff',
    'a\u{1fffe}',
    'x'.repeat(201),
    long,
  ]) {
    it(`must not be ${JSON.stringify(text.slice(0, 20))}`, async () => {
      const { code, sentenceKey } = await failing(() => checkPrefix(text));
      assert.deepEqual([code, sentenceKey], ['NOT_CONFIGURED', 'NOT_CONFIGURED.topic']);
    });
  }
});
