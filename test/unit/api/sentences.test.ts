import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../../..');
const catalogue: unknown = JSON.parse(
  readFileSync(join(root, 'nodes/locales/en-US/strip-account.json'), 'utf8'),
);

/** The sentence below `errors.`, or undefined. */
function sentenceOf(key: string): unknown {
  let part: unknown = catalogue;
  for (const name of ['errors', ...key.split('.')]) {
    part = typeof part === 'object' && part !== null ? (part as Record<string, unknown>)[name] : undefined;
  }
  return part;
}

/** Keys written out in full. */
const keysIn = (source: string): string[] => source.match(/(?<=')[A-Z_]+\.[a-z][A-Za-z]+(?=')/g) ?? [];

describe('The sentences of the client', () => {
  const directory = join(root, 'src/api');
  const keys = new Set(
    readdirSync(directory)
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => keysIn(readFileSync(join(directory, file), 'utf8'))),
  );
  for (const name of [
    'refused',
    'dns',
    'reset',
    'certificate',
    'certificateExpired',
    'certificateHost',
    'certificateSelfSigned',
    'tls',
    'tlsSettings',
    'failed',
  ]) {
    keys.add(`UNREACHABLE.${name}`);
  }
  for (const name of ['empty', 'html', 'truncated', 'notJson']) keys.add(`BAD_RESPONSE.${name}`);
  for (const name of ['unnamed', 'ports', 'some']) keys.add(`SWITCH_FAILED.${name}`);

  it('are many', () => assert.ok(keys.size > 35, String(keys.size)));
  for (const key of [...keys].sort()) {
    it(`are in the catalogue for ${key}`, () => assert.equal(typeof sentenceOf(key), 'string'));
  }
});
