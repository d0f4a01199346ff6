import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { PICTURES, pictureFile, wordsOf } from './pictures';
import { setStage } from './stage';

describe('the pictures of the README', () => {
  const stage = setStage({ nodeRed: { dashboard: true } });

  for (const [name, show] of Object.entries(PICTURES)) {
    it(`show ${name} as it is today`, async () => {
      const { red, browser } = stage;
      const scene = await show({ red, browser, nextPoll: () => Promise.resolve() });
      const words = wordsOf(scene);
      await scene.page.close();
      assert.equal(
        words,
        readFileSync(pictureFile(name, 'txt'), 'utf8'),
        `examples/images/${name}.png is out of date: run "npx tsx test/browser/pictures.ts" after a build, and look at what it took`,
      );
    });
  }
});
