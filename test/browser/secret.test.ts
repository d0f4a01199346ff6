import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { account, inject, placed, tab } from '../support/flow';
import { STRIPS } from '../support/service';
import { Editor } from './editor';
import { setStage } from './stage';

const API_KEY = 'sentinel-key-9a47e1';
const [{ mac: MAC }] = STRIPS;

/** Everything that comes over the wire to a page from now on: bodies, headers and websocket frames. */
function listenTo(page: Page): { texts: () => Promise<string[]> } {
  const bodies: Promise<string>[] = [];
  const frames: string[] = [];
  page.on('response', (response) => {
    const headers = JSON.stringify(response.headers());
    // A redirect, or what the page no longer wanted, has no body.
    bodies.push(
      response.text().then(
        (text) => `${response.url()} ${headers} ${text}`,
        () => `${response.url()} ${headers}`,
      ),
    );
  });
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => frames.push(String(payload))));
  return { texts: async () => [...(await Promise.all(bodies)), ...frames] };
}

describe('the key in the editor', () => {
  const stage = setStage({ service: { apiKey: API_KEY } });
  let editor: Editor;

  beforeEach(async () => {
    const { red, service, browser } = stage;
    await red.deploy([
      tab,
      account(service),
      inject('inject', 'node'),
      placed('node', 'strip switch', {
        mac: MAC,
        macType: 'str',
        port: '1',
        portType: 'port',
        on: 'on',
        onType: 'action',
      }),
    ]);
    editor = await Editor.open(browser, red.url);
  });

  afterEach(() => editor.close());

  it('never comes to the page: not as it loads, in a dialog, in a test of the connection nor with a status', async () => {
    const { page } = editor;
    const { service } = stage;
    const heard = listenTo(page);
    await page.reload();
    await editor.node('node').waitFor();
    await stage.red.inject('inject', { payload: '' });
    await editor.node('node').locator('.red-ui-flow-node-status-label', { hasText: 'on' }).waitFor();
    await editor.editConfig('strip-account', 'account');
    await page.locator('#smart-strip-test').click();
    await page.locator('#smart-strip-found table').waitFor();
    assert.equal(service.requests.at(-1)?.headers['x-api-key'], API_KEY);

    const values = await page
      .locator('input, textarea, select')
      .evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).value));
    const stored = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
    const all = [await page.content(), ...values, stored, ...(await heard.texts())];
    for (const known of ['data-template-name="strip-account"', 'status/node', service.baseUrl]) {
      assert.ok(
        all.some((text) => text.includes(known)),
        `${known} was not looked at`,
      );
    }
    assert.deepEqual(
      all.filter((text) => text.includes(API_KEY)),
      [],
    );
  });

  it('is in no export of the flows, not even one made where it has just been typed in', async () => {
    const { page } = editor;
    await editor.editConfig('strip-account', 'account');
    await page.locator('#node-config-input-apiKey').fill(`typed-${API_KEY}`);
    await editor.doneConfig();
    await page.evaluate(() => window.RED.actions.invoke('core:show-export-dialog'));
    await page.locator('#red-ui-clipboard-dialog-export-rng-full').click();
    const exported = page.locator('#red-ui-clipboard-dialog-export-text');
    await exported.waitFor({ state: 'attached' });
    const text = await exported.inputValue();
    assert.match(text, /"strip switch"/);
    assert.match(text, /"strip-account"/);
    assert.ok(!text.includes(API_KEY));
  });
});
