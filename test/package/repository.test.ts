import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { REPOSITORY } from '../support/node-red-install';

describe('the repository', () => {
  it('has at its top the files and folders of this list, and no others besides what git ignores', () => {
    const agreed = [
      ...['package.json', 'package-lock.json', 'tsconfig.json', 'eslint.config.mjs'],
      ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'SECURITY.md'],
      ...['nodes', 'src', 'icons', 'examples', 'test', 'docs', '.ci', '.config', '.github', '.vscode'],
      ...['.c8rc.json', '.editorconfig', '.gitattributes', '.gitignore', '.mocharc.json', '.npmrc'],
      ...['.prettierignore', '.prettierrc.json'],
    ];
    // Folders such as "dist/", and files such as "*.tgz".
    const ignored = readFileSync(path.join(REPOSITORY, '.gitignore'), 'utf8').trim().split('\n');
    const isIgnored = (name: string): boolean =>
      ignored.some((line) => (line.startsWith('*') ? name.endsWith(line.slice(1)) : line === `${name}/`));
    const found = readdirSync(REPOSITORY).filter((name) => name !== '.git' && !isIgnored(name));
    assert.deepEqual(found.sort(), agreed.sort());
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

  it('has a README of at most 1,000 words', () => {
    const words = readFileSync(path.join(REPOSITORY, 'README.md'), 'utf8').trim().split(/\s+/);
    assert.ok(words.length <= 1000, `${words.length} words: shorten other text, or move it to docs`);
  });

  it('has imports that run one way: nodes -> flow -> account -> api', () => {
    const src = path.join(REPOSITORY, 'src');
    const allowed: Record<string, readonly string[]> = {
      'values.ts': [],
      api: ['values.ts'],
      account: ['api'],
      flow: ['account', 'api', 'settings.ts', 'values.ts'],
      mqtt: ['flow', 'account', 'api', 'settings.ts', 'values.ts'],
      simulator: ['api/types.ts', 'settings.ts', 'values.ts'],
      editor: ['flow', 'api', 'settings.ts', 'values.ts'],
      'settings.ts': ['api', 'values.ts'],
    };
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => name.replaceAll(path.sep, '/')); // as in an import, also on Windows
    assert.ok(files.length > 0);
    for (const file of files) {
      const place = placeOf(file);
      const text = readFileSync(path.join(src, file), 'utf8');
      for (const [, target = ''] of text.matchAll(/\b(?:from |import |import\(|require\()'(.+?)'/g)) {
        if (!target.startsWith('.')) {
          assert.match(target, /^(?:node:\w+|undici)$/, `src/${file} imports ${target}`);
          continue;
        }
        const imported = path.posix.join(path.posix.dirname(file), target);
        const names = [placeOf(imported), `${imported}.ts`];
        const isAllowed = names.some((name) => name === place || allowed[place]?.includes(name) === true);
        assert.ok(isAllowed, `src/${file} imports ${target}`);
      }
    }
  });
});

/** The folder of src that a file belongs to, or the file itself where it stands beside the folders. */
function placeOf(file: string): string {
  const [first = '', ...rest] = file.split('/');
  return rest.length > 0 || first.endsWith('.ts') ? first : `${first}.ts`;
}
