import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { i18n as typed } from '@node-red/util';
import type { NodeAPI } from 'node-red';
import { translator } from '../../nodes/shared/runtime';
import { CATALOGUE } from '../../src/flow/node-status';

/** What the types leave out. */
const i18n = typed as typeof typed & {
  init(settings: { lang: string }): void;
  i: { changeLanguage(language: string): Promise<unknown> };
};

/** The runtime's own translation, which is all of it that is needed. */
const RED = {
  _: (id: string, values?: Record<string, string | number>) => i18n._(id, values),
} as unknown as NodeAPI;
const translate = translator(RED);
const key = 'errors.UNREACHABLE.failed';

describe('the sentences of an error', () => {
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'smart-strip-locales-'));
    cpSync('nodes/locales', folder, { recursive: true });
    mkdirSync(join(folder, 'xx'), { recursive: true });
    writeFileSync(
      join(folder, 'xx', 'strip-account.json'),
      JSON.stringify({ errors: { UNREACHABLE: { failed: 'XX __host__ __code__' } } }),
    );
    i18n.init({ lang: 'en-US' });
    await i18n.registerMessageCatalog(CATALOGUE.slice(0, -1), folder, 'strip-account.json');
  });
  after(() => rmSync(folder, { recursive: true }));

  it('name the values', () => {
    assert.equal(
      translate(key, { host: 'example.com', code: 'E1' }),
      "Check the account's base URL and the network: example.com cannot be reached (E1).",
    );
    assert.equal(
      translate('errors.TIMEOUT.deadline', { host: 'h', seconds: 0.3 }).startsWith(
        'Check that the service is running, or increase the timeout: h did not answer within 0.3 s',
      ),
      true,
    );
  });

  for (const hostile of [
    '__code__',
    '__host__',
    '$t(errors.AUTH.rejected)',
    '$t(errors.AUTH.rejected, {"host": "x"})',
    '<script>alert(1)</script>',
    '$&$1$`',
    '{{code}}',
    '__proto__',
    'a'.repeat(5000),
  ]) {
    it(`hold ${hostile.slice(0, 30)} word for word`, () => {
      assert.equal(
        translate(key, { host: hostile, code: 'E1' }),
        `Check the account's base URL and the network: ${hostile} cannot be reached (E1).`,
      );
    });
  }

  it('leave a placeholder of which nothing is known as it is', () => {
    assert.equal(translate(key, { host: 'h' }).includes('(__code__)'), true);
    assert.equal(translate(key).includes('__host__ cannot'), true);
  });

  it('are in the language of the runtime', async () => {
    await i18n.i.changeLanguage('xx');
    assert.equal(translate(key, { host: 'h', code: 'c' }), 'XX h c');
    assert.match(translate('errors.AUTH.rejected', { host: 'h', status: 401 }), /the service at h rejected/);
    await i18n.i.changeLanguage('en-US');
  });

  it('are in English where the runtime has none', () => {
    for (const stub of [(id: string) => id, (id: string) => id.replace(CATALOGUE, ''), () => '']) {
      const told = translator({ _: stub } as unknown as NodeAPI)(key, { host: 'h', code: 'c' });
      assert.equal(told, "Check the account's base URL and the network: h cannot be reached (c).");
    }
    assert.equal(
      translator({ _: (id: string) => id } as unknown as NodeAPI)('errors.none.such'),
      'errors.none.such',
    );
  });
});
