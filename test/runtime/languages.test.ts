import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { account, around, errorOf, send } from '../support/flow';
import { PACKAGE, REPOSITORY, startNodeRed } from '../support/node-red';

const languages = readdirSync(join(REPOSITORY, 'nodes/locales'));
const service = { baseUrl: 'http://127.0.0.1:9', apiKey: 'any' };

describe('the languages of a real Node-RED', () => {
  const sentences = new Set<string>();

  for (const lang of languages) {
    it(`${lang}: reports errors in it and serves its texts to the editor`, async () => {
      const red = await startNodeRed({ settings: { lang } });
      try {
        await red.deploy([
          ...around('strip switch', { mac: 'A1', macType: 'str', port: '1', portType: 'port' }),
          account(service, { credentials: {} }),
        ]);
        const { code, message } = errorOf(await send(red, { payload: true }));
        assert.equal(code, 'NOT_CONFIGURED');
        assert.doesNotMatch(message, /errors\.|__/);
        assert.ok(!sentences.has(message), `the same sentence in another language: ${message}`);
        sentences.add(message);
        const words = (await red.json(`/locales/${PACKAGE}/strip-switch?lng=${lang}`)) as Record<
          string,
          unknown
        >;
        assert.equal(typeof words['strip-switch'], 'object');
      } finally {
        await red.stop();
      }
    });
  }
});
