import assert from 'node:assert/strict';
import { pem } from '../support/certificates';
import { account, placed, tab } from '../support/flow';
import { freePorts } from '../support/program';
import { startService, STRIPS, type Fault } from '../support/service';
import { Editor } from './editor';
import { setStage } from './stage';

const [{ mac: MAC }] = STRIPS;

describe('Test connection', () => {
  const stage = setStage({ nodeRed: { env: { STRIPS_KEY: 'key-of-the-test-service' } } });
  let editor: Editor;

  before(async () => {
    await stage.red.deploy([tab]);
    editor = await Editor.open(stage.browser, stage.red.url);
  });
  beforeEach(() => editor.addConfig('strip-account'));

  afterEach(async () => {
    stage.service.always(null);
    await editor.cancelConfig();
  });
  after(() => editor.close());

  const field = (name: string) => editor.page.locator(`#node-config-input-${name}`);
  const result = () => editor.page.locator('#smart-strip-result');
  /** What is said below a field. */
  const said = (name: string) => editor.page.locator(`#smart-strip-row-${name} .smart-strip-message`);

  async function test(values: { baseUrl: string; apiKey?: string; timeout?: string }): Promise<void> {
    await field('baseUrl').fill(values.baseUrl);
    if (values.apiKey !== undefined) await field('apiKey').fill(values.apiKey);
    if (values.timeout !== undefined) {
      await editor.unfold('Polling and retries');
      await editor.page.locator('#node-config-input-timeout').fill(values.timeout);
    }
    await editor.page.locator('#smart-strip-test').click();
    await result().locator('p:not(.smart-strip-running)').first().waitFor();
  }

  it('shows the strips and outlets it finds, before anything is deployed', async () => {
    const { service } = stage;
    service.simulator.apply({ mac: 'A1B2C3D4E5F6', port: 2, on: true });
    await test({ baseUrl: `${service.baseUrl}/api/public/v1/`, apiKey: service.apiKey });
    assert.match((await result().textContent()) ?? '', /Strips found: 2, outlets: 8/);
    assert.deepEqual(
      await editor.page.locator('#smart-strip-found tbody tr').first().locator('td').allTextContents(),
      ['Desk strip', 'A1B2C3D4E5F6', '○ off', '● on', '○ off', '○ off'],
    );
    assert.equal(service.requests.at(-1)?.headers['x-api-key'], service.apiKey);
    await editor.picture('account-connected');
  });

  it('shows the states of all four outlets side by side, in longer words than the English ones, too', async () => {
    const spanish = await Editor.open(stage.browser, stage.red.url, { locale: 'es-ES' });
    try {
      const { page } = spanish;
      await spanish.addConfig('strip-account');
      await page.locator('#node-config-input-baseUrl').fill(stage.service.baseUrl);
      await page.locator('#node-config-input-apiKey').fill(stage.service.apiKey);
      await page.locator('#smart-strip-test').click();
      const found = page.locator('#smart-strip-found');
      await found.waitFor();
      assert.ok(await found.evaluate((table) => table.scrollWidth <= table.clientWidth));
    } finally {
      await spanish.close();
    }
  });

  it('shows the states of all four outlets side by side, where they have names, too', async () => {
    const named = ['Computer', 'Screen', 'Charger of the phone', 'Washing machine'];
    const outlets = named.map((name, index) => ({ port: index + 1, on: true, name }));
    const json = [{ mac: MAC, name: 'The strip in the living room', outlets }];
    stage.service.next({ kind: 'answer', status: 200, json });
    await test({ baseUrl: stage.service.baseUrl, apiKey: stage.service.apiKey });
    const found = editor.page.locator('#smart-strip-found');
    await found.waitFor();
    assert.ok(await found.evaluate((table) => table.scrollWidth <= table.clientWidth));
    await editor.picture('account-named-outlets');
  });

  it('breaks neither the words for a state nor short names of strips because the name of an outlet is long', async () => {
    const name = 'Pump and heater of the aquarium';
    const outlets = [1, 2, 3, 4].map((port) => ({ port, on: true, name: port < 3 ? name : '' }));
    const json = [
      { mac: 'A1:B2:C3:D4:E5:F6', name: 'Office', outlets },
      { mac: 'A1:B2:C3:D4:E5:F7', name: 'Media', online: false, outlets },
    ];
    stage.service.next({ kind: 'answer', status: 200, json });
    await test({ baseUrl: stage.service.baseUrl, apiKey: stage.service.apiKey });
    const found = editor.page.locator('#smart-strip-found');
    await found.waitFor();
    for (const word of ['Name', 'Office', 'unavailable']) {
      const lines = await found.locator('th, td', { hasText: word }).evaluateAll((cells, sought) => {
        return cells.map((cell) => {
          const [text] = cell.childNodes;
          const start = text?.textContent?.indexOf(sought) ?? -1;
          const range = document.createRange();
          if (text && start >= 0) range.setStart(text, start);
          if (text && start >= 0) range.setEnd(text, start + sought.length);
          return range.getClientRects().length;
        });
      }, word);
      assert.ok(lines.length > 0 && lines.every((count) => count === 1), `${word}: ${lines.join()} lines`);
    }
    assert.ok(await found.evaluate((table) => table.scrollWidth <= table.clientWidth));
  });

  it('leaves standing what is wrong with other fields', async () => {
    await editor.unfold('Polling and retries');
    await field('interval').fill('1');
    assert.match((await said('interval').textContent()) ?? '', /from 5 to 86400/);
    await test({ baseUrl: stage.service.baseUrl, apiKey: stage.service.apiKey });
    assert.match((await result().textContent()) ?? '', /Strips found: 2/);
    assert.match((await said('interval').textContent()) ?? '', /from 5 to 86400/);
  });

  it('takes the key from the environment', async () => {
    await test({ baseUrl: stage.service.baseUrl, apiKey: '${STRIPS_KEY}' });
    assert.match((await result().textContent()) ?? '', /Strips found: 2/);
  });

  it('says which variable is not set', async () => {
    await test({ baseUrl: stage.service.baseUrl, apiKey: '${NO_SUCH_KEY}' });
    assert.match((await said('apiKey').textContent()) ?? '', /NO_SUCH_KEY/);
  });

  const faults: [title: string, fault: Fault, pinnedTo: string, words: RegExp][] = [
    ['a web page', { kind: 'html' }, 'baseUrl', /web page/],
    ['a service that hangs', { kind: 'hang' }, 'timeout', /did not answer within 3 s/],
    ['a redirect', { kind: 'redirect', to: 'https://elsewhere.example/' }, 'baseUrl', /elsewhere\.example/],
  ];
  for (const [title, fault, pinnedTo, words] of faults) {
    it(`tells of ${title}, at the field to change`, async () => {
      stage.service.always(fault);
      const timeout = fault.kind === 'hang' ? '3' : '30';
      await test({ baseUrl: stage.service.baseUrl, apiKey: stage.service.apiKey, timeout });
      await said(pinnedTo).waitFor();
      assert.match((await said(pinnedTo).textContent()) ?? '', words);
      // Beside the button, only a field near it is named in place of the reason.
      assert.match((await result().textContent()) ?? '', pinnedTo === 'baseUrl' ? /see “Base URL”/ : words);
    });
  }

  for (const [title, status, words] of [
    ['a service that fails', 500, /status 500/],
    ['a rate limit', 429, /Wait 7 s, or choose a longer polling interval/],
  ] as const) {
    it(`tells of ${title}, and marks no field for it`, async () => {
      stage.service.always({ kind: 'answer', status, headers: { 'retry-after': '7' }, json: {} });
      await test({ baseUrl: stage.service.baseUrl, apiKey: stage.service.apiKey });
      assert.match((await result().textContent()) ?? '', words);
      const messages = await editor.configDialog.locator('.smart-strip-message').allTextContents();
      assert.equal(messages.join(''), '');
    });
  }

  it('tells of a wrong key', async () => {
    await test({ baseUrl: stage.service.baseUrl, apiKey: 'not-the-key' });
    assert.match((await said('apiKey').textContent()) ?? '', /Check the account's key/);
    assert.match((await result().textContent()) ?? '', /API key/);
    assert.equal(await field('apiKey').getAttribute('aria-invalid'), 'true');
    await editor.picture('account-wrong-key');
  });

  it('keeps nothing of its answer when what was tested is changed', async () => {
    const found = editor.page.locator('#smart-strip-found');
    await test({ baseUrl: stage.service.baseUrl, apiKey: stage.service.apiKey });
    await found.waitFor();
    await field('apiKey').fill('not-the-key');
    assert.equal(await result().textContent(), '');
    assert.equal(await found.isVisible(), false);
    await test({ baseUrl: stage.service.baseUrl });
    assert.match((await said('apiKey').textContent()) ?? '', /Check the account's key/);
    await field('baseUrl').fill('http://127.0.0.1:9');
    assert.equal(await result().textContent(), '');
    assert.equal(await said('apiKey').textContent(), '');
  });

  it('keeps nothing of the preview, either, when another address or key is typed', async () => {
    const preview = editor.page.locator('#smart-strip-compare');
    for (const [changed, other] of [
      ['baseUrl', 'http://127.0.0.1:9'],
      ['apiKey', 'not-the-key'],
    ] as const) {
      await test({ baseUrl: stage.service.baseUrl, apiKey: stage.service.apiKey });
      await editor.unfold('How answers are read');
      await preview.waitFor();
      await field(changed).fill(other);
      assert.equal(await preview.isVisible(), false);
      assert.equal(await editor.page.locator('#smart-strip-row-answer').isVisible(), false);
    }
  });

  it('says that the list may be incomplete', async () => {
    const strips = [{ mac: MAC, name: 'Desk strip', outlets: [true, false, false, false] }];
    const headers = { 'x-total-count': '57' };
    stage.service.always({ kind: 'answer', status: 200, json: strips, headers });
    await test({ baseUrl: stage.service.baseUrl, apiKey: stage.service.apiKey });
    assert.match((await result().textContent()) ?? '', /found: 1, outlets: 4\..*The list may be incomplete/);
  });

  it('tells of an answer in which no outlet can be recognised', async () => {
    stage.service.always({
      kind: 'answer',
      status: 200,
      json: { strips: [{ mac: 'A1B2C3D4E5F6', odd: 1 }] },
    });
    await test({ baseUrl: stage.service.baseUrl, apiKey: stage.service.apiKey });
    assert.match((await result().textContent()) ?? '', /not recognised/);
    await editor.page.getByText('No outlet could be read').waitFor();
  });

  it('tells of a port without a server', async () => {
    const [port = 0] = await freePorts(1);
    await test({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'any' });
    assert.match((await said('baseUrl').textContent()) ?? '', /refuses connections/);
  });

  it('tells of a certificate that is not trusted', async () => {
    const secure = await startService({ tls: { key: pem('key'), cert: pem('trusted') } });
    try {
      await test({ baseUrl: secure.baseUrl, apiKey: secure.apiKey });
      await said('tls').waitFor();
      assert.match((await said('tls').textContent()) ?? '', /certificate/);
      assert.match((await result().textContent()) ?? '', /certificate/);
      assert.equal(secure.requests.length, 0);
    } finally {
      await secure.close();
    }
  });

  it('tells of an address that is none, while it is typed and when it is tested', async () => {
    const asked = stage.service.requests.length;
    await field('baseUrl').fill('ftp://strips.example.com');
    assert.match((await said('baseUrl').textContent()) ?? '', /ftp: is not supported/);
    await test({ baseUrl: 'https://strips.example.com/?x=1', apiKey: 'any' });
    assert.match((await said('baseUrl').textContent()) ?? '', /must not hold/);
    assert.equal(stage.service.requests.length, asked);
    await editor.picture('account-bad-address');
  });

  it('warns of plain http to a public host without asking it', async () => {
    await field('baseUrl').fill('http://strips.example.com');
    assert.match((await said('baseUrl').textContent()) ?? '', /plain http/);
    // A warning that went when the field is left would move the button away from the mouse that is about to press it.
    await editor.page.locator('#smart-strip-test').click();
    await said('apiKey')
      .filter({ hasText: /Enter the API key/ })
      .waitFor();
    assert.match((await said('baseUrl').textContent()) ?? '', /plain http/);
    await field('baseUrl').fill('http://127.0.0.1:1880');
    assert.equal(await said('baseUrl').textContent(), '');
  });

  it('asks for the key where none was ever given', async () => {
    await test({ baseUrl: stage.service.baseUrl });
    assert.match((await said('apiKey').textContent()) ?? '', /Enter the API key/);
  });

  it('says nothing in a dialog that was opened after the one that asked', async () => {
    const { page } = editor;
    const answer = await editor.hold('**/strip-account/test');
    const asked = page.waitForRequest('**/strip-account/test');
    await field('baseUrl').fill(stage.service.baseUrl);
    await field('apiKey').fill('another key');
    await page.locator('#smart-strip-test').click();
    await asked;
    await editor.cancelConfig();
    await editor.addConfig('strip-account');
    const answered = page.waitForEvent('requestfinished');
    answer();
    await answered;
    await editor.turn();
    await page.unrouteAll();
    assert.equal(await said('apiKey').textContent(), '');
  });

  it('says nothing of what was changed while it was tested', async () => {
    const answer = stage.service.hold('answer');
    const answered = editor.page.waitForResponse('**/strip-account/test').then((it) => it.finished());
    await field('baseUrl').fill(stage.service.baseUrl);
    await field('apiKey').fill(stage.service.apiKey);
    await editor.page.locator('#smart-strip-test').click();
    await result().getByText('Asking').waitFor();
    await field('apiKey').fill('another key');
    answer();
    await answered;
    await editor.turn();
    assert.equal(await result().textContent(), '');
  });

  it('tells the progress in a paragraph, as it does the result, because Orca reads new elements before new text', async () => {
    const answer = stage.service.hold('answer');
    await field('baseUrl').fill(stage.service.baseUrl);
    await field('apiKey').fill(stage.service.apiKey);
    await editor.page.locator('#smart-strip-test').click();
    await result().locator('p', { hasText: 'Asking' }).waitFor();
    answer();
    await result().locator('p', { hasText: 'Connected' }).waitFor();
  });

  it('tests an address that was corrected while the wrong one did not answer yet', async () => {
    const { page } = editor;
    const late = await startService({ strips: [] });
    const answer = late.hold('answer');
    const answered = page.waitForResponse('**/strip-account/test').then((response) => response.finished());
    try {
      await field('baseUrl').fill(late.baseUrl);
      await field('apiKey').fill(stage.service.apiKey);
      await page.locator('#smart-strip-test').click();
      await result().getByText('Asking').waitFor();
      await field('baseUrl').fill(stage.service.baseUrl);
      await page.locator('#smart-strip-test').press('Enter');
      await result().getByText('Strips found: 2').waitFor({ timeout: 5000 });
      answer();
      await answered;
      await editor.turn();
      assert.match((await result().textContent()) ?? '', /Strips found: 2/);
    } finally {
      await late.close();
    }
  });

  it('says that a TLS node is not deployed yet', async () => {
    await editor.unfold('Advanced');
    await editor.page.locator('#node-config-input-btn-tls-add').click();
    // Node-RED takes the covered dialog off the page once the other one is open.
    await editor.page.locator('#smart-strip-test').waitFor({ state: 'detached' });
    await editor.opened(editor.configDialog);
    await editor.page.locator('#node-config-dialog-ok').click();
    await editor.page.locator('#node-config-input-servername').waitFor({ state: 'detached' });
    await test({ baseUrl: stage.service.baseUrl, apiKey: stage.service.apiKey });
    assert.match((await said('tls').textContent()) ?? '', /Deploy, and start the flows/);
  });
});

describe('Test connection of a deployed account', () => {
  const stage = setStage();
  let editor: Editor;

  beforeEach(async () => {
    const node = placed('switch', 'strip switch', { mac: MAC, macType: 'str', port: '1', portType: 'port' });
    await stage.red.deploy([tab, account(stage.service), node]);
    editor = await Editor.open(stage.browser, stage.red.url);
    await editor.editConfig('strip-account', 'account');
  });

  afterEach(async () => {
    await editor.close();
  });

  it('uses the stored key for the address it was deployed with', async () => {
    await editor.page.locator('#smart-strip-test').click();
    await editor.page.locator('#smart-strip-found table').waitFor();
    assert.equal(stage.service.requests.at(-1)?.headers['x-api-key'], stage.service.apiKey);
  });

  it('uses no stored key after the field was emptied, as it is with the next deploy', async () => {
    const before = stage.service.requests.length;
    await editor.page.locator('#node-config-input-apiKey').fill('');
    await editor.page.locator('#smart-strip-test').click();
    await editor.page.locator('#smart-strip-result', { hasText: 'see “API key”' }).waitFor();
    assert.equal(stage.service.requests.length, before);
  });

  it('keeps what the dialog holds when another account is opened over it, as the sidebar “info” can do', async () => {
    await editor.close();
    const outletNames = [{ mac: MAC, port: 1, name: 'Lamp' }];
    const first = account(stage.service, { name: 'First', outletNames });
    await stage.red.deploy([tab, first, { ...account(stage.service, { name: 'Second' }), id: 'second' }]);
    editor = await Editor.open(stage.browser, stage.red.url);
    const { page } = editor;
    const isShown = (name: string) =>
      page.waitForFunction((name) => {
        const field = document.querySelector<HTMLInputElement>('#node-config-input-name');
        return field?.value === name;
      }, name);
    for (const [id, name] of [
      ['account', 'First'],
      ['second', 'Second'],
    ] as const) {
      await editor.editConfig('strip-account', id);
      await isShown(name);
    }
    await page.locator('#node-config-dialog-ok').click();
    await isShown('First');
    await editor.settled();
    await editor.doneConfig();
    const { timeout, outletNames: saved } = await editor.properties('account');
    assert.equal(timeout, '10000');
    assert.deepEqual(saved, outletNames);
  });

  it('shows an answer that came while another dialog covered the one of the account', async () => {
    const { page } = editor;
    const answer = stage.service.hold('answer');
    const answered = page.waitForResponse('**/strip-account/test').then((response) => response.finished());
    await page.locator('#smart-strip-test').click();
    await editor.unfold('Advanced');
    await page.locator('#node-config-input-btn-tls-add').click();
    await page.locator('#smart-strip-test').waitFor({ state: 'detached' });
    answer();
    await answered;
    await editor.turn();
    await page.locator('#node-config-dialog-cancel').click();
    await page.locator('#smart-strip-result', { hasText: 'Strips found: 2' }).waitFor({ timeout: 10_000 });
  });

  for (const [field, type] of [
    ['tls', 'tls-config'],
    ['proxy', 'http proxy'],
  ] as const) {
    it(`does not ask to deploy a disabled ${type} node, which would change nothing`, async () => {
      await editor.close();
      const other = { id: 'other', type, d: true };
      await stage.red.deploy([tab, account(stage.service, { [field]: 'other' }), other]);
      editor = await Editor.open(stage.browser, stage.red.url);
      await editor.editConfig('strip-account', 'account');
      await editor.page.locator('#smart-strip-test').click();
      const message = editor.page.locator(`#smart-strip-row-${field} .smart-strip-message`);
      await message.filter({ hasText: 'missing or disabled' }).waitFor();
    });
  }

  it('keeps nothing of its answer when Node-RED’s own dialogs have changed what was tested', async () => {
    await editor.close();
    const secure = { id: 'secure', type: 'tls-config', cert: '', key: '', ca: '' };
    await stage.red.deploy([tab, account(stage.service, { mapping: '$.none', tls: secure.id }), secure]);
    editor = await Editor.open(stage.browser, stage.red.url);
    await editor.editConfig('strip-account', 'account');
    const { page } = editor;
    const result = page.locator('#smart-strip-result');
    const button = page.locator('#smart-strip-test');
    const test = async () => {
      await button.click();
      await result.locator('p').first().waitFor();
    };
    await test();
    await page.locator('#smart-strip-row-mapping .red-ui-typedInput-option-expand').click();
    const expression = page.locator('#red-ui-editor-type-expression');
    await expression.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('$');
    await page.locator('#node-dialog-ok').click();
    await expression.waitFor({ state: 'detached' });
    assert.equal(await page.locator('#node-config-input-mapping').inputValue(), '$');
    await result.locator('p').waitFor({ state: 'detached', timeout: 5000 });

    await test();
    await result.getByText('Strips found: 2').waitFor();
    await editor.unfold('Advanced');
    for (const action of ['edit', 'add']) {
      await page.locator(`#node-config-input-btn-tls-${action}`).click();
      await page.locator('#node-config-input-servername').fill('strips');
      // Node-RED takes the covered dialog off the page once the other one is open, and puts it back when that is closed.
      await button.waitFor({ state: 'detached' });
      await page.locator('#node-config-dialog-ok').click();
      await button.waitFor();
      await result.locator('p').first().waitFor({ state: 'detached', timeout: 5000 });
      await test();
      if (action === 'edit') await result.getByText('were changed since the last deploy').waitFor();
    }
  });

  it('keeps the names of the strips in the table of outlets when an answer is not recognised', async () => {
    const { page } = editor;
    await editor.unfold('Outlets');
    await page.locator('#smart-strip-test').click();
    await page.locator('#smart-strip-row-outlets .smart-strip-add:enabled').click();
    const name = page.locator('#smart-strip-outlets .smart-strip-name').first();
    assert.equal(await name.textContent(), 'Desk strip');
    stage.service.next({ kind: 'answer', status: 200, json: { hello: 'world' } });
    await page.locator('#smart-strip-test').click();
    await page.locator('#smart-strip-result', { hasText: 'not recognised' }).waitFor();
    assert.equal(await name.textContent(), 'Desk strip');
  });

  it('keeps the strips that a test has found when the deployed address fails only after that', async () => {
    await editor.close();
    const outletNames = [{ mac: MAC, port: 1, name: 'Lamp' }];
    await stage.red.deploy([tab, account(stage.service, { outletNames, timeout: '5000' })]);
    editor = await Editor.open(stage.browser, stage.red.url);
    const { page } = editor;
    const other = await startService({ strips: [{ mac: MAC, name: 'Stranger' }] });
    stage.service.always({ kind: 'hang' });
    const late = page.waitForResponse((response) => response.url().includes('/account/strips?refresh'));
    try {
      await editor.editConfig('strip-account', 'account');
      await page.locator('#node-config-input-baseUrl').fill(other.baseUrl);
      await page.locator('#node-config-input-apiKey').fill(other.apiKey);
      await page.locator('#smart-strip-test').click();
      const names = page.locator('#smart-strip-outlets .smart-strip-name');
      await names.filter({ hasText: 'Stranger' }).waitFor({ state: 'attached' });
      await (await late).finished();
      await editor.turn();
      assert.equal(await names.first().textContent(), 'Stranger');
    } finally {
      stage.service.always(null);
      await other.close();
    }
  });

  it('changes no label on the canvas when the dialog is cancelled', async () => {
    const { page } = editor;
    const test = async () => {
      await page.locator('#smart-strip-test').click();
      await page.locator('#smart-strip-found table').waitFor();
    };
    await test();
    const stranger = await startService({ strips: [{ mac: MAC, name: 'Stranger' }] });
    try {
      await editor.doneConfig();
      await editor.expectLabel('switch', 'Desk strip: 1');
      await editor.editConfig('strip-account', 'account');
      await page.locator('#node-config-input-baseUrl').fill(stranger.baseUrl);
      await page.locator('#node-config-input-apiKey').fill(stranger.apiKey);
      await test();
      await editor.cancelConfig();
      await editor.expectLabel('switch', 'Desk strip: 1');
    } finally {
      await stranger.close();
    }
  });

  it('offers its strips in no dialog that was opened after its own', async () => {
    const { page } = editor;
    await editor.cancelConfig();
    // From now on the account knows its strips.
    await stage.red.admin('/strip-account/account/strips?refresh=1');
    const url = '**/strip-account/account/strips';
    const answer = await editor.hold(url);
    const asked = page.waitForRequest(url);
    await editor.editConfig('strip-account', 'account');
    await asked;
    await editor.cancelConfig();
    await editor.addConfig('strip-account');
    const answered = page.waitForResponse(url).then((response) => response.finished());
    answer();
    await answered;
    await editor.turn();
    assert.equal(await page.locator('#smart-strip-known option').count(), 0);
  });

  it('sends the stored key to no other address, and asks for it again', async () => {
    const stranger = await startService();
    try {
      await editor.page.locator('#node-config-input-baseUrl').fill(stranger.baseUrl);
      await editor.page.locator('#smart-strip-test').click();
      const message = editor.page.locator('#smart-strip-row-apiKey .smart-strip-message');
      await message.waitFor();
      assert.match((await message.textContent()) ?? '', /Enter the API key again/);
      assert.equal(stranger.requests.length, 0);
      // Another path of the same host may be somebody else's.
      const before = stage.service.requests.length;
      await editor.page.locator('#node-config-input-baseUrl').fill(`${stage.service.baseUrl}/elsewhere`);
      await editor.page.locator('#smart-strip-test').click();
      await message.waitFor();
      assert.match((await message.textContent()) ?? '', /Enter the API key again/);
      assert.equal(stage.service.requests.length, before);
    } finally {
      await stranger.close();
    }
  });
});
