import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeList, decodeStrip, decodeSwitch, type DecodedSwitch } from '../../../../src/api/decode';
import type { Outlet, PortOrAll, Strip } from '../../../../src/api/types';
import { AT } from './support';

const FOLDER = join(__dirname, 'cases');

/** What is read of a strip. What a case leaves out is `null`, or for an outlet: not there. */
interface Read {
  mac?: string;
  outlets?: Record<string, boolean | null>;
  /** Names of outlets. */
  names?: Record<string, string>;
  name?: string;
  available?: boolean;
  load?: number;
  voltage?: number;
  signal?: number;
  units?: Strip['units'];
}

/**
 * An answer of a service, `body`, and what is to be read from it, `read`. `shows` is the title of its test.
 * - With `strip`, it is about the strip with this MAC.
 * - With `switch`, it is the answer to a switch, and `asked` is what was asked for. `read` is `listed` and not `unclear`, if it does not say so.
 * - With neither, it is a list.
 *
 * `words` are tried one after the other in place of WORD; those in snake_case also in camelCase and kebab-case.
 */
type Case = { shows: string; words?: string; body: unknown } & (
  | { strip: string; read: Read }
  | { switch: true; asked?: { mac: string; port?: PortOrAll; on: boolean }; read: Partial<DecodedSwitch> }
  | { read: { complete: boolean; readable: boolean; strips: Read[] } }
);

function stripOf(read: Read, mac: string): Strip {
  const outlets = Object.entries(read.outlets ?? {}).map(([port, on]) => ({
    port: Number(port) as Outlet['port'],
    on,
    name: read.names?.[port] ?? null,
  }));
  return {
    mac: read.mac ?? mac,
    name: read.name ?? null,
    available: read.available ?? true,
    outlets,
    load: read.load ?? null,
    voltage: read.voltage ?? null,
    signal: read.signal ?? null,
    units: read.units ?? {},
    at: AT,
  };
}

function check(example: Case): void {
  const { body } = example;
  if ('strip' in example) {
    const expected = stripOf(example.read, example.strip);
    const readable = !expected.available || expected.outlets.some(({ on }) => on !== null);
    const { saysOnline, ...read } = decodeStrip(body, example.strip, AT);
    assert.deepEqual(read, { strip: expected, readable });
    assert.ok(!saysOnline || expected.available);
  } else if ('switch' in example) {
    const asked = example.asked && { port: 'all' as const, ...example.asked };
    assert.deepEqual(decodeSwitch(body, asked), { listed: true, unclear: false, ...example.read });
  } else {
    const { complete, readable, strips } = example.read;
    assert.deepEqual(decodeList(body, AT), {
      strips: strips.map((read) => stripOf(read, '')),
      complete,
      readable,
    });
  }
}

function spellings(word: string): string[] {
  if (!/[a-z]_[a-z]/.test(word)) return [word];
  return [
    word,
    word.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    word.replace(/_/g, '-'),
  ];
}

const withWord = (example: Case, word: string): Case =>
  JSON.parse(JSON.stringify(example).replaceAll('WORD', word)) as Case;

function define(example: Case): void {
  const { shows, words } = example;
  if (words === undefined) it(shows, () => check(example));
  for (const word of words?.split(', ') ?? []) {
    it(`"${word}" ${shows}`, () => {
      for (const spelling of spellings(word)) check(withWord(example, spelling));
    });
  }
}

/** JSON that cannot be made a text: `String` throws. */
const WITHOUT_TEXT: readonly unknown[] = [
  { toString: 'a text' },
  JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)) as unknown,
];

/** Decodes a body once for each value in it, with `value` in its place. */
function decodeWith(value: unknown, body: unknown, container = body): void {
  if (typeof container !== 'object' || container === null) return;
  const values: [string, unknown][] = Object.entries(container);
  for (const [key, before] of values) {
    if (key === '__proto__') continue; // would change the prototype
    Object.assign(container, { [key]: value });
    decodeList(body, AT);
    decodeStrip(body, 'A0B1C2D3E4F5', AT);
    decodeSwitch(body);
    Object.assign(container, { [key]: before });
    decodeWith(value, body, before);
  }
}

describe('An answer is read', () => {
  for (const file of readdirSync(FOLDER)) {
    describe(file.replace(/-/g, ' ').replace('.json', ''), () => {
      const { cases } = JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as { cases: Case[] };
      cases.forEach(define);
      it('without an error, also with a value that cannot be made a text in place of any of its values', () => {
        for (const example of cases) {
          for (const word of example.words?.split(', ') ?? ['']) {
            for (const value of WITHOUT_TEXT) decodeWith(value, withWord(example, word).body);
          }
        }
      });
    });
  }
});
