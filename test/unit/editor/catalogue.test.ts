import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ERROR_CODES } from '../../../src/api/errors';
import { SETTINGS, type Setting } from '../../../src/settings';
import { ownProperty } from '../../../src/values';
import { manifest } from '../../support/manifest';

const ROOT = resolve(__dirname, '../../..');
const LOCALES = join(ROOT, 'nodes/locales');
const MAIN = 'en-US';
const NAMESPACE = '@smart-strip/node-red-smart-strip/';
const read = (...parts: string[]) => readFileSync(join(ROOT, ...parts), 'utf8');

/** As they are built, with all rows written out. */
const forms = readdirSync(join(ROOT, 'dist/nodes')).filter((file) => file.endsWith('.html'));
const sets = forms.map((file) => file.replace('.html', ''));
/** The forms of nodes; the others belong to plugins of the editor, which have neither a dialog nor a help text. */
const nodeForms = forms.filter((file) => read('dist/nodes', file).includes('registerType('));
const nodeSets = nodeForms.map((file) => file.replace('.html', ''));
const languages = readdirSync(LOCALES);

/** Every sentence of a catalogue by its key. */
function flatten(value: unknown, prefix = ''): Map<string, string> {
  if (typeof value === 'string') return new Map([[prefix, value]]);
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), `${prefix} is no sentence`);
  return new Map(
    Object.entries(value).flatMap(([key, inner]) => [
      ...flatten(inner, prefix === '' ? key : `${prefix}.${key}`),
    ]),
  );
}

/** Empty without a file, which one test reports: the others still say what else is missing. */
function catalogue(language: string, set: string): Map<string, string> {
  const file = join(LOCALES, language, `${set}.json`);
  return existsSync(file) ? flatten(JSON.parse(readFileSync(file, 'utf8'))) : new Map<string, string>();
}

const main = new Map(sets.map((set) => [set, catalogue(MAIN, set)]));
const parameters = (sentence: string) => [...new Set(sentence.match(/__\w+?__/g))].sort();

/** Short texts may be the same in two languages ("Proxy", "strip switch"), and so may code. */
const isSentence = (text: string) =>
  (text.replace(/__\w+?__|\{.*?\}|<code>.*?<\/code>|<[^>]*>/g, '').match(/\p{L}+/gu) ?? []).length > 2;

/** The texts of a help panel but for names of properties (`dt`), which are the same in every language. */
const helpTexts = (language: string, set: string) =>
  [...read('nodes/locales', language, `${set}.html`).matchAll(/<(p|dd|li|h3)\b[^>]*>(.*?)<\/\1>/gs)].map(
    ([, , text = '']) => text.trim(),
  );

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .map((file) => join(folder, file));
}

/** A key as it is used; one that ends in "." stands for whatever is put in below it. */
interface Use {
  where: string;
  set: string;
  key: string;
}

function usedInForms(): Use[] {
  return sets.flatMap((set) => {
    const html = read('dist/nodes', `${set}.html`);
    const attributes = [...html.matchAll(/data-i18n="([^"]*)"/g)].flatMap(([, value = '']) =>
      value.split(';').map((key) => key.replace(/^\[[\w-]+\]/, '')),
    );
    const calls = [...html.matchAll(/(?:this|node)\._\('([^']+)'/g)].map(([, key = '']) => key);
    return [...attributes, ...calls]
      .filter((key) => !key.startsWith('node-red:'))
      .map((key) => ({ where: `${set}.html`, set, key }));
  });
}

function usedInEditor(): Use[] {
  return sources('src/editor').flatMap((where) => {
    const code = read(where).replace(/hasPermission\('[^']*'\)/g, '');
    const literal = [...code.matchAll(/'((?:strip-[a-z]+|errors)\.[\w.-]+)'/g)].map(([, key = '']) => key);
    const built = [...code.matchAll(/`((?:strip-[a-z]+|errors)\.(?:[\w-]+\.)*)\$\{/g)].map(
      ([, key = '']) => key,
    );
    return [...literal, ...built].map((key) => ({
      where,
      set: /^strip-[a-z]+/.exec(key)?.[0] ?? 'strip-account',
      key,
    }));
  });
}

/** The sentences of errors, wherever they are thrown. */
function usedByErrors(): Use[] {
  const sentence = new RegExp(`['"\`]((?:${ERROR_CODES.join('|')})\\.\\w+)['"\`]`, 'g');
  return [...sources('src'), ...sources('nodes')].flatMap((where) =>
    [...read(where).matchAll(sentence)].map(([, key = '']) => ({
      where,
      set: 'strip-account',
      key: `errors.${key}`,
    })),
  );
}

/** Texts of a node's status whose keys stand in the code; the other keys are put together from counts and error codes. */
function usedByStatuses(): Use[] {
  const where = 'src/flow/node-status.ts';
  const keys = read(where).matchAll(/\bstatus\('\w+', '\w+', '(\w+)'\)/g);
  return [...keys].map(([, key = '']) => ({ where, set: 'strip-account', key: `status.${key}` }));
}

function usedByNodes(): Use[] {
  return sources('nodes').flatMap((where) => {
    // Neither comments nor permissions are texts.
    const code = read(where).replace(/\/\*[^]*?\*\/|needsPermission\('[^']*'\)/g, '');
    const set = /strip-\w+/.exec(where)?.[0] ?? 'strip-account';
    const own = [...code.matchAll(/['`:](strip-[a-z]+(?:\.[\w-]+)+\.?)(?:'|\$\{|`)/g)].map(
      ([, key = '']) => key,
    );
    const notices = [...code.matchAll(/\bnotice: '(\w+)'/g)].map(([, key = '']) => ({
      where,
      set: 'strip-account',
      key: `notice.${key}`,
    }));
    return [
      ...notices,
      ...own.filter((key) => key.startsWith(`${set}.`)).map((key) => ({ where, set, key })),
    ];
  });
}

const uses = [...usedInForms(), ...usedInEditor(), ...usedByErrors(), ...usedByStatuses(), ...usedByNodes()];

function resolveUse({ set, key }: Pick<Use, 'set' | 'key'>): { set: string; key: string } {
  if (!key.startsWith(NAMESPACE)) return { set, key };
  const [other = '', inner = ''] = key.slice(NAMESPACE.length).split(':');
  return { set: other, key: inner };
}

describe('the catalogues', () => {
  it('have every key that is used', () => {
    const missing = uses.filter((use) => {
      const { set, key } = resolveUse(use);
      const keys = [...(main.get(set)?.keys() ?? [])];
      return !(key.endsWith('.') ? keys.some((there) => there.startsWith(key)) : keys.includes(key));
    });
    assert.deepEqual(missing, [], 'keys that nodes/locales/en-US lacks, and what uses them');
    assert.ok(uses.length > 150, 'uses are found at all');
  });

  it('have a tooltip for the output of a node, whatever its property `output` is, or else for both its ports', () => {
    for (const set of nodeSets.filter((name) => name !== 'strip-account')) {
      const settings: Readonly<Record<string, Setting>> =
        SETTINGS[set.replace('-', ' ') as keyof typeof SETTINGS];
      const tooltips = [...(main.get(set)?.keys() ?? [])].filter((key) => /^[^.]+\.(out|port)\./.test(key));
      const wanted =
        settings.output?.kind === 'choice'
          ? settings.output.choices.map((choice) => `out.${choice}`)
          : ['port.input', 'port.output'];
      assert.deepEqual(tooltips.sort(), wanted.map((key) => `${set}.${key}`).sort());
    }
  });

  it('have no text for the editor that nothing uses', () => {
    const used = uses.map(resolveUse);
    const idle = [...main].flatMap(([set, keys]) =>
      [...keys.keys()]
        .filter((key) => key.startsWith('strip-'))
        .filter(
          (key) =>
            !used.some(
              (use) =>
                use.set === set && (use.key === key || (use.key.endsWith('.') && key.startsWith(use.key))),
            ),
        )
        .filter((key) => !/\.palette$|\.out\.|\.port\.(input|output)$/.test(key))
        .map((key) => `${set}: ${key}`),
    );
    assert.deepEqual(idle, []);
  });

  it('have no error, status or notice that nothing uses', () => {
    const code = [...sources('src'), ...sources('nodes')].map((file) => read(file)).join('\n');
    const words = new Set([...code.matchAll(/['"`.](\w+)['"`]/g)].map(([, word = '']) => word));
    // The status of an error is called by its code: NOT_FOUND is notFound.
    for (const code of ERROR_CODES) {
      const [first = '', ...others] = code.toLowerCase().split('_');
      words.add([first, ...others.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join(''));
    }
    // Errors of a property are called by its name: `levelMissing`.
    for (const property of Object.values(SETTINGS).flatMap((settings) => Object.keys(settings)))
      words.add(`${property}Missing`);
    // Put together from a count, the kind of a config node, or whether the environment names the proxy.
    const counted = /^(on\d(of\d|unknown)|(tls|proxy)Undeployed|proxy(Down|Refused|Gateway)Variable)$/;
    const idle = [...(main.get('strip-account')?.keys() ?? [])]
      .filter((key) => /^(errors|status|notice|outlet)\./.test(key))
      .map((key) => key.split('.').at(-1) ?? '')
      .filter((word) => !words.has(word) && !counted.test(word));
    assert.deepEqual(idle, []);
  });

  it('begin every error with what to do', () => {
    const verbs =
      /^(Check|Choose|Correct|Deploy|Enter|Give|Make|Nothing to do|Paste|Remove|Renew|See|Send|Set|Try|Use|Wait)\b/;
    for (const [key, sentence] of main.get('strip-account') ?? []) {
      const hint = `${key} begins with none of these words: ${verbs.source}`;
      if (key.startsWith('errors.')) assert.match(sentence, verbs, `${hint}: ${sentence}`);
    }
  });

  it('never send the reader to the account, whose dialog shows most errors too', () => {
    const inTheAccount: Record<string, RegExp> = {
      'en-US': /\b(in|into) the account\b(?!')/,
      de: /\b(im|ins|in das) Konto\b/,
      es: /\ben la cuenta\b/,
      fr: /\bdans le compte\b/,
      ja: /アカウント(で|には|内)/,
      'zh-CN': /账户(中|里|内)/,
    };
    for (const language of languages)
      assert.ok(language in inTheAccount, `add a pattern for "${language}" to inTheAccount`);
    for (const [language, phrase] of Object.entries(inTheAccount)) {
      for (const [key, sentence] of catalogue(language, 'strip-account')) {
        if (key.startsWith('errors.')) assert.doesNotMatch(sentence, phrase, `${language} ${key}`);
      }
    }
  });

  it('name the palette category in every set, whichever is loaded first', () => {
    for (const set of nodeSets.filter((name) => name !== 'strip-account')) {
      assert.ok(main.get(set)?.has('palette.label.smart_strip'), `${set}.json: no palette.label.smart_strip`);
    }
  });

  for (const language of languages) {
    describe(language, () => {
      it('has texts for each node and plugin, and help for each node', () => {
        assert.deepEqual(
          readdirSync(join(LOCALES, language)).sort(),
          [...sets.map((set) => `${set}.json`), ...nodeForms].sort(),
          `the files in nodes/locales/${language}`,
        );
      });

      for (const set of sets) {
        it(`${set}: has the same sentences as English, sorted by key, with the same parameters`, () => {
          const own = catalogue(language, set);
          const english = main.get(set) ?? new Map<string, string>();
          assert.deepEqual([...own.keys()], [...english.keys()].sort());
          for (const [key, sentence] of own) {
            assert.notEqual(sentence.trim(), '', key);
            assert.deepEqual(parameters(sentence), parameters(english.get(key) ?? ''), key);
          }
        });

        if (language !== MAIN)
          it(`${set}: has no sentence that is still English`, () => {
            const english = main.get(set);
            const own = [...catalogue(language, set)].filter(([, sentence]) => isSentence(sentence));
            const same = own.filter(([key, sentence]) => sentence === english?.get(key));
            assert.deepEqual(
              same.map(([key]) => key),
              [],
            );
            if (!nodeSets.includes(set)) return;
            const help = new Set(helpTexts(MAIN, set).filter(isSentence));
            assert.ok(help.size > 0);
            assert.deepEqual(
              helpTexts(language, set).filter((text) => help.has(text)),
              [],
            );
          });

        if (!nodeSets.includes(set)) continue;
        it(`${set}: has the same help sections as English`, () => {
          const outline = (of: string) => {
            const help = read('nodes/locales', of, `${set}.html`);
            const count = (tag: string) => help.split(`<${tag}`).length - 1;
            return {
              type: /data-help-name="([^"]+)"/.exec(help)?.[1],
              sections: count('h3'),
              properties: count('dt'),
              explanations: count('dd'),
              items: count('li'),
            };
          };
          assert.deepEqual(outline(language), outline(MAIN));
          assert.equal(
            outline(language).type,
            /registerType\('([^']+)'/.exec(read('dist/nodes', `${set}.html`))?.[1],
          );
        });
      }
    });
  }

  it('call what a mqtt node calls the topic the same', () => {
    const locales = join(dirname(require.resolve('@node-red/nodes/package.json')), 'locales');
    for (const language of languages) {
      const theirs = language === 'es' ? 'es-ES' : language;
      const file = join(locales, theirs, 'messages.json');
      if (!existsSync(file)) continue; // Node-RED itself is not in this language
      const texts: unknown = JSON.parse(readFileSync(file, 'utf8'));
      const labels = flatten(ownProperty(ownProperty(texts, 'common'), 'label'));
      const own = catalogue(language, 'strip-mqtt').get('strip-mqtt.label.topic');
      assert.equal(own, labels.get('topic'), `${language} strip-mqtt.label.topic`);
    }
  });

  it('have labels that end before their fields begin', () => {
    for (const language of languages) {
      for (const set of sets) {
        const labels = read('dist/nodes', `${set}.html`).matchAll(
          /id="smart-strip-label-\w+".*?data-i18n="([^"]*)"/g,
        );
        for (const [, shown = ''] of labels) {
          const { set: owner, key } = resolveUse({ set, key: shown });
          const label = catalogue(language, owner).get(key) ?? '';
          for (const word of label.match(/[A-Za-zÀ-ÿ]+/g) ?? [])
            assert.ok(word.length <= 13, `${language} ${key}: a word of more than 13 letters: ${word}`);
          // Twice as wide as letters, and broken anywhere.
          const wide = label.match(/[\u3040-\u30ff\u4e00-\u9fff]/g) ?? [];
          assert.ok(wide.length <= 6, `${language} ${key}: more than 6 wide characters: ${label}`);
        }
      }
    }
  });

  it('begin no line with a French sign of punctuation: the space before it, or after «, does not break', () => {
    for (const set of sets) {
      for (const [key, sentence] of catalogue('fr', set)) assert.doesNotMatch(sentence, / [:;?!»]|« /, key);
      if (nodeSets.includes(set))
        assert.doesNotMatch(read('nodes/locales/fr', `${set}.html`), / [:;?!»]|« /, set);
    }
  });

  it('follow the guide of Node-RED for help: no bold or italics, and references that lead somewhere', () => {
    const repository = manifest.repository.url.replace(/^git\+|\.git$/g, '');
    for (const language of languages) {
      for (const set of nodeSets) {
        const help = read('nodes/locales', language, `${set}.html`);
        assert.doesNotMatch(help, /<(?:b|i|em|strong)>/, `${language} ${set}`);
        const links = [...help.matchAll(/ href="([^"]*)"/g)].map(([, link = '']) => link);
        assert.equal(links.at(-1), repository, `${language} ${set}`);
        const pages = links.slice(0, -1);
        assert.ok(pages.length > 0, `${language} ${set}`);
        for (const page of pages) {
          assert.ok(page.startsWith(`${repository}/blob/main/docs/`), page);
          const [file = '', section] = page.replace(`${repository}/blob/main/`, '').split('#');
          const headings = [...read(file).matchAll(/^##? (.*)$/gm)].map(([, text = '']) => text);
          const anchors = headings.map((text) => text.toLowerCase().replaceAll(' ', '-'));
          assert.ok(section === undefined || anchors.includes(section), page);
        }
      }
    }
  });

  it('have for each error code the status that docs/messages.md names', () => {
    const rows = [...read('docs/messages.md').matchAll(/^\| `([A-Z_]+)` .*\| (.+?) *\|$/gm)];
    assert.deepEqual(rows.map(([, code]) => code).sort(), [...ERROR_CODES].sort());
    for (const [, code = '', shown] of rows) {
      const key = code.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
      assert.equal(main.get('strip-account')?.get(`status.${key}`), shown, code);
    }
  });

  it('keep the status of a node short enough to be read', () => {
    for (const language of languages) {
      for (const set of sets) {
        for (const [key, sentence] of catalogue(language, set)) {
          if (!/(^|\.)status\./.test(key)) continue;
          assert.ok(sentence.length < 20, `${language} ${key}: 20 characters or more: ${sentence}`);
        }
      }
    }
  });
});

describe('what people read in the editor', () => {
  it('is hard-coded in no form', () => {
    for (const file of forms) {
      for (const [, template = ''] of read('dist/nodes', file).matchAll(
        /<script type="text\/html"[^>]*>([^]*?)<\/script>/g,
      )) {
        assert.match(template.replace(/<[^>]*>/g, ''), /^[\s\d]*$/, file);
        const attributes = [...template.matchAll(/\s(?:placeholder|title|alt|aria-label)="([^"]*)"/g)];
        for (const [, value = ''] of attributes) assert.match(value, /^(https:\/\/.*|W|V|dBm)$/, file);
      }
    }
  });

  it('is hard-coded in no script', () => {
    const scripts = [
      ...sources('src/editor').map((file) => ({ file, code: read(file) })),
      ...forms.map((file) => ({
        file,
        code: /<script type="text\/javascript">([^]*?)<\/script>/.exec(read('dist/nodes', file))?.[1] ?? '',
      })),
    ];
    const shown =
      /(?:\.text\(|\.append\(|html\(\s*'\w+',\s*\{[^}]*\},\s*|(?:placeholder|title|'aria-label'): |addButton: |label: )(['"`])(?!<|strip-[a-z]+\.)([^'"`]*\p{L}{2}[^'"`]*)\1/gu;
    for (const { file, code } of scripts) {
      const found = [...code.replace(/\$\{[^}]*\}/g, '').matchAll(shown)].map(([all]) => all);
      assert.deepEqual(found, [], file);
    }
  });

  it('is coloured by the theme alone', () => {
    for (const file of forms) {
      const html = read('dist/nodes', file);
      const styles = [
        ...[...html.matchAll(/<style>([^]*?)<\/style>/g)].map(([, css = '']) => css),
        ...[...html.matchAll(/style="([^"]*)"/g)].map(([, css = '']) => css),
      ].join('\n');
      for (const [, value = ''] of styles.matchAll(
        /(?:color|background|border(?:-\w+)*|box-shadow|outline):\s*([^;}]+)/g,
      )) {
        assert.doesNotMatch(
          value,
          /#[0-9a-f]{3,8}\b|rgb|hsl|\b(white|black|red|green|blue|gray|grey)\b(?!-)/i,
          `${file}: ${value}`,
        );
      }
    }
  });

  it('has every label tied to a field of the same form', () => {
    for (const file of forms) {
      const html = read('dist/nodes', file);
      // One that is around its field needs no more.
      for (const [label] of html.matchAll(/<label[^>]*>(?!<input [^>]*data-part)/g)) {
        const field = /for="([^"]+)"/.exec(label)?.[1];
        const named = /id="([^"]+)"/.exec(label)?.[1];
        if (field !== undefined) assert.ok(html.includes(`id="${field}"`), `${file}: ${label}`);
        else
          assert.ok(named !== undefined && html.includes(`aria-labelledby="${named}"`), `${file}: ${label}`);
      }
    }
  });
});

describe('the forms', () => {
  it('have a field for every property, so that they can be filled in without the editor script', () => {
    for (const file of nodeForms) {
      const html = read('dist/nodes', file);
      const defaults = /defaults: \{\n([^]*?)\n {4}\},/.exec(html)?.[1] ?? '';
      assert.match(defaults, /^ {6}name: \{/m, `${file}: its defaults were not found`);
      const config = html.includes("category: 'config'");
      for (const [, property = ''] of defaults.matchAll(/^ {6}(\w+): \{/gm)) {
        // A list that only a script can show, or a part of the dialog of its own.
        if (['protectedOutlets', 'outletNames', 'units', 'mapping', 'strips'].includes(property)) continue;
        assert.ok(
          html.includes(`id="node-${config ? 'config-' : ''}input-${property}"`),
          `${file}: no row for ${property}`,
        );
      }
    }
  });

  it('load the editor script once, in a way that neither fails nor waits forever when it is not there', () => {
    const loading = forms.flatMap((file) =>
      [...read('dist/nodes', file).matchAll(/<script src="([^"]+)"/g)].map(([, src]) => src),
    );
    // Node-RED waits for the `load` of a script whose address starts otherwise, and waits forever when it fails.
    assert.deepEqual(loading, ['./resources/@smart-strip/node-red-smart-strip/editor.js']);
  });

  it('name icons that are 2:3 and white', () => {
    for (const file of readdirSync(join(ROOT, 'icons'))) {
      const svg = read('icons', file);
      const [, width = 0, height = 0] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? [];
      assert.equal(Number(width) * 3, Number(height) * 2, file);
      for (const [, colour = ''] of svg.matchAll(/(?:fill|stroke)="([^"]+)"/g)) {
        assert.match(colour, /^(none|#fff)$/, file);
      }
    }
    assert.ok(existsSync(join(ROOT, 'icons/strip-switch.svg')));
  });
});
