import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { account, placed, tab } from '../support/flow';
import { REPOSITORY } from '../support/node-red';
import { Editor } from './editor';
import { setStage } from './stage';

const MAC = 'A1B2C3D4E5F6';
/** Readable, but for one outlet; and not readable without a mapping. */
const READABLE = {
  strips: [
    {
      mac: MAC,
      name: 'Desk',
      token: 'secret-of-the-service',
      load: '45.2 W',
      voltage: { rated: 230, measured: 228.4 },
      signal: { level: -61, strength: -70 },
      outlets: [
        { port: 1, name: 'Lamp', state: true },
        { port: 2, name: 'Fan', state: true, physical_state: false },
        { port: 3, name: 'TV', state: 'off' },
        { port: 4, name: null, state: 'off' },
      ],
    },
  ],
};
const STRANGE = {
  devs: [
    {
      hw: MAC,
      bits: [
        { n: 1, v: 'A' },
        { n: 2, v: 'B' },
      ],
    },
  ],
};
const MAPPING = '{"strips": [devs.{"mac": hw, "outlets": [bits.{"port": n, "on": v = "A"}]}]}';

describe('The preview of answers', () => {
  const stage = setStage();
  let editor: Editor;

  /** Opens the dialog of a new account and tests the connection to a service that answers so. */
  const open = async (
    json: unknown,
    options: { dark?: boolean; locale?: string } = {},
    headers: Record<string, string> = {},
  ): Promise<void> => {
    stage.service.always({ kind: 'answer', status: 200, json, headers });
    await stage.red.deploy([tab]);
    editor = await Editor.open(stage.browser, stage.red.url, options);
    await editor.addConfig('strip-account');
    const { page } = editor;
    await page.locator('#node-config-input-baseUrl').fill(stage.service.baseUrl);
    await page.locator('#node-config-input-apiKey').fill(stage.service.apiKey);
    await page.locator('#smart-strip-test').click();
    await page.locator('#smart-strip-result p').waitFor();
    const section = page.locator('#smart-strip-preview');
    if ((await section.getAttribute('open')) === null) await section.locator('summary').click();
    await page.locator('#smart-strip-compare').waitFor();
    await page.locator('#smart-strip-compare').scrollIntoViewIfNeeded();
  };

  afterEach(async () => {
    stage.service.always(null);
    await editor.close();
  });

  /** What is to happen some time after a key stroke happens when the test calls `window.later()`. */
  const holdKeyStrokes = () =>
    editor.page.evaluate(
      'const start = setTimeout; window.setTimeout = (run, ms) => (ms === 400 ? ((window.later ??= run), 1) : start(run, ms))',
    );

  it('shows what is sent beside what is read, and why an outlet is unknown', async () => {
    await open(READABLE);
    const region = editor.page.getByRole('region', { name: 'The service sends', exact: true });
    const sent = (await region.textContent()) ?? '';
    assert.match(sent, /"physical_state": false/);
    assert.ok(!sent.includes('secret-of-the-service'));
    const read = editor.page.getByRole('region', { name: 'Read from it', exact: true });
    assert.deepEqual(await read.locator('li').allTextContents(), [
      '1 Lamp: ● on',
      '2 Fan: ? unknown',
      '3 TV: ○ off',
      'Outlet 4: ○ off',
      'Load: 45.2 W',
      'Voltage: 228.4',
      'Signal: unknown',
    ]);
    const reasons = await read.locator('.smart-strip-caution').allTextContents();
    assert.deepEqual(reasons, [
      'Signal: two values disagree: level, strength',
      'Outlet 2: two values disagree: physical_state, state',
    ]);
    await editor.picture('preview-readable');
  });

  it('says of a strip that it is unavailable', async () => {
    await open({ strips: [{ mac: MAC, name: 'Desk', online: false, outlets: [true, false, false, false] }] });
    const strip = editor.page.locator('#smart-strip-compare .smart-strip-read p');
    assert.equal(await strip.textContent(), `Desk ${MAC} – unavailable`);
  });

  it('writes the colon behind a name as the language does', async () => {
    await open(READABLE, { locale: 'fr' });
    const [outlet, , , , load] = await editor.page.locator('#smart-strip-compare li').allTextContents();
    assert.deepEqual([outlet, load], ['1 Lamp\u00a0: ● allumée', 'Charge\u00a0: 45.2 W']);
  });

  it('reads it again with a mapping, without another request, and keeps the mapping', async () => {
    await open(STRANGE, {}, { 'x-total-count': '57' });
    const { page } = editor;
    const read = page.locator('#smart-strip-compare div[role=region]');
    assert.match((await read.textContent()) ?? '', /No strips were read/);
    await editor.picture('preview-unreadable');
    const before = stage.service.requests.length;
    await page.locator('#smart-strip-use-mapping').check();
    const field = page.locator('#smart-strip-row-mapping .red-ui-typedInput-input');
    await field.fill('devs.(');
    const said = page.locator('#smart-strip-message-mapping');
    await said.getByText("Correct the account's mapping").waitFor();
    assert.equal(await read.textContent(), '', 'the sentence stands at the field alone');
    await editor.picture('preview-wrong-mapping');
    await field.fill(MAPPING);
    await read.getByText('Outlet 1: ● on').waitFor();
    assert.equal(await said.textContent(), '');
    // Screen readers say this, and not all that is read.
    assert.match(
      (await page.locator('#smart-strip-preview [role=status]').allTextContents()).join(''),
      /^Strips: (\d+) of \1$/,
    );
    await editor.picture('preview-mapped');
    assert.match((await read.textContent()) ?? '', /The list may be incomplete/);
    assert.equal(stage.service.requests.length, before);
    await field.blur();
    assert.equal(await page.locator('#node-config-input-mapping').inputValue(), MAPPING);
  });

  it('marks a mapping that cannot be read, at the field and on the canvas', async () => {
    await stage.red.deploy([
      tab,
      account(stage.service, { mapping: '[payload.' }),
      placed('node', 'strip list', {}),
    ]);
    editor = await Editor.open(stage.browser, stage.red.url);
    const mark = editor.node('node').locator('.red-ui-flow-node-error').first();
    await mark.waitFor();
    await editor.editConfig('strip-account', 'account');
    const said = editor.page.locator('#smart-strip-message-mapping');
    assert.match((await said.textContent()) ?? '', /^✕ Invalid JSONata expression/);
    await editor.picture('mapping-marked');
    const field = editor.page.locator('#node-config-input-mapping-typed');
    await field.fill(MAPPING);
    await field.blur();
    assert.equal(await said.textContent(), '');
    await editor.doneConfig();
    await mark.waitFor({ state: 'hidden' });
    await editor.editConfig('strip-account', 'account');
    await field.fill('[payload.');
    await field.blur();
    await editor.doneConfig();
    await mark.waitFor();
    // One that is switched off is not stored.
    await editor.editConfig('strip-account', 'account');
    await editor.page.locator('#smart-strip-use-mapping').uncheck();
    await editor.doneConfig();
    await mark.waitFor({ state: 'hidden' });
  });

  it('keeps the line breaks of JSONata in a hand-written flow, as tabs, which Node-RED’s expression editor shows as lines', async () => {
    const own = { mac: '"A"\nin ["A"]', macType: 'jsonata', portType: 'message', onType: 'message' };
    const mapping = 'devs.bits\r\nand true';
    await stage.red.deploy([tab, account(stage.service, { mapping }), placed('node', 'strip switch', own)]);
    editor = await Editor.open(stage.browser, stage.red.url);
    await editor.edit('node');
    await editor.done();
    assert.equal((await editor.properties('node')).mac, '"A"\tin ["A"]');
    await editor.editConfig('strip-account', 'account');
    await editor.doneConfig();
    assert.equal((await editor.properties('account')).mapping, 'devs.bits\tand true');
  });

  it('leaves standing what is wrong with a mapping when a test fails before it is used', async () => {
    await open(STRANGE);
    const { page } = editor;
    await page.locator('#smart-strip-use-mapping').check();
    await page.locator('#node-config-input-mapping-typed').fill('[payload.');
    const said = page.locator('#smart-strip-message-mapping');
    await said.getByText("Correct the account's mapping").waitFor();
    stage.service.always({ kind: 'answer', status: 500, json: {} });
    await page.locator('#smart-strip-test').click();
    await page.locator('#smart-strip-result').getByText('status 500').waitFor();
    assert.match((await said.textContent()) ?? '', /^✕ Invalid JSONata expression/);
  });

  it('reads it again with a mapping that was typed just before another dialog covered its own', async () => {
    await open(STRANGE);
    const { page } = editor;
    await holdKeyStrokes();
    await page.locator('#smart-strip-use-mapping').check();
    await editor.unfold('Advanced');
    await page.locator('#smart-strip-row-mapping .red-ui-typedInput-input').fill(MAPPING);
    await page.locator('#node-config-input-btn-tls-add').dispatchEvent('click');
    await page.locator('#smart-strip-test').waitFor({ state: 'detached' });
    await page.evaluate('window.later()');
    await page.locator('#node-config-dialog-cancel').click();
    await page.locator('#smart-strip-compare').getByText('Outlet 1: ● on').waitFor({ timeout: 5000 });
  });

  it('asks for nothing after its dialog was closed', async () => {
    await open(STRANGE);
    const { page } = editor;
    const asked: string[] = [];
    await holdKeyStrokes();
    await page.locator('#smart-strip-use-mapping').check();
    await page.locator('#smart-strip-row-mapping .red-ui-typedInput-input').fill(MAPPING);
    await editor.cancelConfig();
    await editor.addConfig('strip-account');
    page.on('request', (request) => asked.push(request.url()));
    await page.evaluate('window.later()');
    await editor.turn();
    assert.deepEqual(
      asked.filter((url) => url.endsWith('/strip-account/test')),
      [],
    );
  });

  it('uses a mapping that is typed but not deployed for the test itself, for pickers too', async () => {
    await open(STRANGE);
    const { page } = editor;
    const result = page.locator('#smart-strip-result');
    assert.match((await result.textContent()) ?? '', /not recognised/);
    await page.locator('#smart-strip-use-mapping').check();
    const field = page.locator('#smart-strip-row-mapping .red-ui-typedInput-input');
    await field.fill('devs.(');
    await page.locator('#smart-strip-test').click();
    await result.getByText("Correct the account's mapping").waitFor();
    const said = page.locator('#smart-strip-message-mapping');
    assert.match((await said.textContent()) ?? '', /Correct the account's mapping/);
    // At the field, in a section that may be out of sight, and beside the button.
    assert.equal(await page.getByText("Correct the account's mapping").count(), 2);
    // A line about a mapping that is not used any more says nothing.
    await page.locator('#smart-strip-use-mapping').uncheck();
    assert.equal(await result.textContent(), '');
    await page.locator('#smart-strip-use-mapping').check();
    await field.fill(MAPPING);
    await page.locator('#smart-strip-test').click();
    await result.getByText('Strips found: 1, outlets: 2').waitFor();
    assert.equal(await said.textContent(), '');
    await editor.doneConfig();
    const id = await editor.drop('strip switch', 300, 200);
    await editor.edit(id);
    await page.locator('.smart-strip-list li', { hasText: MAC }).waitFor();
  });

  it('shows the answer about one strip, also with a mapping', async () => {
    const one = {
      hw: MAC,
      bits: [
        { n: 1, v: 'A' },
        { n: 2, v: 'A' },
      ],
      token: 'secret-of-the-service',
    };
    await open(READABLE);
    const { page } = editor;
    stage.service.always({ kind: 'answer', status: 200, json: one });
    const sent = page.locator('#smart-strip-compare pre');
    const read = page.locator('#smart-strip-compare div[role=region]');
    const choice = page.getByLabel('Answer', { exact: true });
    assert.deepEqual(await choice.locator('option').allTextContents(), ['List of strips', `Desk (${MAC})`]);
    await choice.selectOption(MAC);
    await sent.getByText('"bits"').waitFor();
    assert.equal(stage.service.requests.at(-1)?.path, `/api/public/v1/strips/${MAC}`);
    assert.doesNotMatch((await sent.textContent()) ?? '', /secret-of-the-service/);
    await read.getByText('No outlet could be read').waitFor();
    const before = stage.service.requests.length;
    await page.locator('#smart-strip-use-mapping').check();
    const field = page.locator('#smart-strip-row-mapping .red-ui-typedInput-input');
    await field.fill('{"mac": hw, "outlets": [bits.{"port": n, "on": v = "A"}]}');
    await read.getByText('Outlet 2: ● on').waitFor();
    assert.equal(stage.service.requests.length, before);
    await editor.picture('preview-one-strip');
    // The service no longer knows the strip: the sentence says which.
    stage.service.always({ kind: 'answer', status: 404, json: {} });
    await choice.selectOption('');
    await choice.selectOption(MAC);
    await page.getByText(`the service does not know ${MAC}`).waitFor();
    assert.equal(await page.locator('#smart-strip-compare').isVisible(), false);
    stage.service.always({ kind: 'answer', status: 200, json: READABLE });
    await page.locator('#smart-strip-test').click();
    await sent.getByText('"strips"').waitFor();
    assert.equal(await choice.inputValue(), '');
    await page.locator('#smart-strip-use-mapping').uncheck();
    const listed = page.locator('#smart-strip-preview-told', { hasText: /^Strips: 1/ });
    await listed.waitFor();
    // An answer that comes when something else was asked for since, or another service is meant, is not shown.
    const newer = [
      async () => {
        await choice.selectOption('');
        await listed.waitFor();
      },
      async () => {
        await page.locator('#smart-strip-test').click();
        await page.locator('#smart-strip-result p').waitFor();
      },
      () => page.locator('#node-config-input-apiKey').fill('another key'),
    ];
    for (const change of newer) {
      stage.service.always({ kind: 'answer', status: 200, json: READABLE });
      const answer = await editor.hold('**/strip-account/test', { times: 1 });
      await choice.selectOption(MAC);
      await change();
      stage.service.always({ kind: 'answer', status: 200, json: one });
      const answered = page.waitForResponse('**/strip-account/test').then((response) => response.finished());
      answer();
      await answered;
      await editor.turn();
      assert.equal(await sent.getByText('"bits"').isVisible(), false);
      assert.equal(await choice.locator('option').count(), 2);
    }
  });

  const languages = readdirSync(join(REPOSITORY, 'nodes/locales'));
  for (const locale of languages.filter((language) => language !== 'en-US')) {
    it(`speaks ${locale}`, async () => {
      await open(READABLE, { locale, dark: locale === 'de' });
      const shown = (await editor.page.locator('#smart-strip-preview').textContent()) ?? '';
      assert.doesNotMatch(shown, /strip-account\.|two values|__/);
      if (locale === 'de') await editor.picture('preview-dark');
    });
  }
});
