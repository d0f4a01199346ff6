import assert from 'node:assert/strict';
import { inject, tab } from '../support/flow';
import { Editor } from './editor';
import { setStage } from './stage';

/** Counts what a person has to do. */
class Person {
  clicks = 0;
  drags = 0;
  keys = 0;
  readonly #editor: Editor;
  readonly #start = Date.now();

  constructor(editor: Editor) {
    this.#editor = editor;
  }

  async click(selector: string, text?: string): Promise<void> {
    this.clicks++;
    const { page } = this.#editor;
    const found = text === undefined ? page.locator(selector) : page.locator(selector, { hasText: text });
    await found.filter({ visible: true }).first().click();
  }

  /** Into the field that has the focus. */
  async paste(text: string): Promise<void> {
    this.keys += 2; // Ctrl+V
    await this.#editor.page.keyboard.insertText(text);
  }

  async press(keys: string): Promise<void> {
    this.keys += keys.split('+').length;
    await this.#editor.page.keyboard.press(keys);
  }

  async drag(type: string): Promise<string> {
    this.drags++;
    return await this.#editor.drop(type, 300, 100);
  }

  /** Counts as one. */
  async doubleClick(id: string): Promise<void> {
    this.clicks++;
    await this.#editor.edit(id);
  }

  get told(): string {
    const seconds = ((Date.now() - this.#start) / 1000).toFixed(1);
    return `${this.clicks} clicks, ${this.drags} drags, ${this.keys} keys, ${seconds} s`;
  }
}

describe('the first minute', () => {
  const stage = setStage();
  let editor: Editor;
  let person: Person;

  beforeEach(async () => {
    await stage.red.deploy([tab]);
    editor = await Editor.open(stage.browser, stage.red.url);
    person = new Person(editor);
  });
  afterEach(async () => {
    await editor.close();
  });

  const deploy = async () => {
    person.clicks++;
    await editor.deploy();
  };
  /** An inject node switches the outlet on. */
  const switchesOn = async (id: string) => {
    const button = { ...inject('button', id), payload: 'true', payloadType: 'bool' };
    await stage.red.deploy([...(await stage.red.getFlows()), button]);
    await stage.red.inject('button');
    await stage.red.status(id, ({ fill, shape }) => fill === 'green' && shape === 'dot');
  };

  it('without an account: import the first example, deploy, click', async () => {
    await person.press('Control+i');
    await person.click('#red-ui-clipboard-dialog-import-tabs a', 'Examples');
    await person.click('.red-ui-treeList-label', '@smart-strip/node-red-smart-strip');
    await person.click('.red-ui-treeList-label', '01 - First flow');
    await person.click('#red-ui-clipboard-dialog-ok');
    await editor.page.locator('.red-ui-notification', { hasText: 'Imported' }).waitFor();
    await person.click('.red-ui-tab-label', '01');
    const label = editor.page.locator('.red-ui-flow-node-group', { hasText: 'toggle' });
    await label.first().waitFor();
    await deploy();
    const inject = editor.page.locator('.red-ui-flow-node-group', { hasText: /^on$/ }).first();
    person.clicks++;
    await inject.locator('.red-ui-flow-node-button-button').click();
    await editor.page.locator('.red-ui-flow-node-status-label', { hasText: /^on$/ }).first().waitFor();
    await editor.picture('first-minute-example');
    process.stdout.write(`      ${person.told}\n`);
    assert.ok(person.clicks <= 7, person.told);
    assert.deepEqual(editor.errors, []);
  });

  it('without an account: an account of one’s own on the simulator', async () => {
    const id = await person.drag('strip switch');
    await person.doubleClick(id);
    await person.click('#node-input-btn-account-add');
    await person.click('#smart-strip-offer button');
    assert.equal(await editor.page.locator('#node-config-input-baseUrl').inputValue(), '/strip-simulator');
    assert.match(
      (await editor.page.locator('#smart-strip-message-baseUrl').textContent()) ?? '',
      /added to the flow/,
    );
    await editor.picture('account-simulator-offer');
    // Not deployed yet: the test says so, and what to do.
    await editor.page.locator('#smart-strip-test').click();
    const said = editor.page.locator('#smart-strip-message-baseUrl', { hasText: /[Dd]eploy/ });
    await said.waitFor();
    await editor.doneConfig();
    await editor.done();
    const simulators = await editor.page.locator('.red-ui-flow-node-group', { hasText: 'simulator' }).count();
    assert.equal(simulators, 1);
    await editor.page.locator('.red-ui-flow-node-group', { hasText: 'simulator' }).waitFor();
    // The switch has no strip yet, so that Node-RED asks before it deploys.
    await editor.page.locator('#red-ui-header-button-deploy').click();
    await editor.page.locator('button', { hasText: 'Confirm deploy' }).click();
    await editor.page.waitForFunction(() =>
      document.querySelector('#red-ui-header-button-deploy')?.classList.contains('disabled'),
    );
    await editor.edit(id);
    await editor.page.locator('[role=option]', { hasText: 'Desk strip' }).click();
    await editor.page.locator('#smart-strip-row-port [data-value="4"]').click();
    await editor.done();
    await editor.deploy();
    const stored = (await stage.red.getFlows()).find(({ type }) => type === 'strip-account');
    assert.equal(stored?.baseUrl, '/strip-simulator');
    await switchesOn(id);
  });

  it('with an account: one node dragged in, eight clicks', async () => {
    const id = await person.drag('strip switch');
    await person.doubleClick(id);
    await person.click('#node-input-btn-account-add');
    await person.click('#node-config-input-baseUrl');
    await person.paste(stage.service.baseUrl);
    await person.press('Tab');
    await person.paste(stage.service.apiKey);
    await person.click('#node-config-dialog-ok');
    await person.click('[role=option]', 'Desk strip');
    await person.click('#smart-strip-row-port [data-value="2"]');
    await person.click('#node-dialog-ok');
    await editor.dialog.waitFor({ state: 'detached' });
    await deploy();
    await switchesOn(id);
    process.stdout.write(`      ${person.told}\n`);
    assert.ok(person.clicks <= 8, person.told);
    assert.deepEqual(editor.errors, []);
  });
});
