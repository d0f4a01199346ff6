import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { REPOSITORY } from '../support/node-red-install';

describe('the repository', () => {
  it('has at its top only what was agreed on', () => {
    const made = ['.git', 'node_modules', 'dist', 'resources', 'coverage', '.demo', '.artefacts'];
    const usual = ['package.json', 'package-lock.json', 'tsconfig.json', 'eslint.config.mjs'];
    const texts = ['README.md', 'CHANGELOG.md', 'LICENSE', 'SECURITY.md'];
    const folders = ['nodes', 'src', 'icons', 'examples', 'test', '.ci', '.config'];
    const dots = [
      ...['.c8rc.json', '.editorconfig', '.gitattributes', '.gitignore', '.mocharc.json', '.npmrc'],
      ...['.prettierignore', '.prettierrc.json'],
    ];
    const agreed = new Set([...made, ...usual, ...texts, ...folders, ...dots]);
    assert.deepEqual(
      readdirSync(REPOSITORY).filter((name) => !agreed.has(name)),
      [],
    );
  });

  it('locks one package for users; all others are for development', () => {
    const lock = JSON.parse(readFileSync(path.join(REPOSITORY, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: true; devOptional?: true }>;
    };
    const forUsers = Object.entries(lock.packages)
      .filter(([name, { dev, devOptional }]) => name !== '' && !dev && !devOptional)
      .map(([name]) => name);
    assert.deepEqual(forUsers, ['node_modules/undici']);
  });

  it('has arrows that run one way', () => {
    const allowed: Record<string, readonly string[]> = {
      api: [],
      account: ['api'],
      flow: ['account', 'api'],
      simulator: ['api'],
      editor: ['api'],
    };
    const folders = readdirSync(path.join(REPOSITORY, 'src'));
    assert.deepEqual(folders.toSorted(), Object.keys(allowed).toSorted());
    for (const [folder, others] of Object.entries(allowed)) {
      const files = readdirSync(path.join(REPOSITORY, 'src', folder)).filter((name) => name.endsWith('.ts'));
      assert.ok(files.length > 0, folder);
      for (const file of files) {
        const text = readFileSync(path.join(REPOSITORY, 'src', folder, file), 'utf8');
        for (const [, target = ''] of text.matchAll(/from '\.\.\/(.+?)\//g)) {
          assert.ok(others.includes(target), `${folder}/${file} imports from ${target}`);
        }
      }
    }
  });
});
