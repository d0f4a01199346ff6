import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { SETTINGS } from '../../src/settings';
import { account, placed, tab } from '../support/flow';
import type { FlowNode } from '../support/node-red';
import { startService } from '../support/service';
import { Editor } from './editor';
import { setStage } from './stage';

const NAMES = ['Desk', 'Bench', 'Rack', 'Kitchen', 'Media', 'Shed'];
/** Thirty strips; two of them have the same name. */
const STRIPS = Array.from({ length: 30 }, (_, index) => ({
  mac: `A1B2C3D4E${(0x500 + index).toString(16).toUpperCase()}`,
  name:
    index === 29
      ? 'Desk 1'
      : index === 28
        ? 'The strip behind the television set in the living room'
        : `${NAMES[index % 6] ?? ''} ${Math.floor(index / 6) + 1}`,
}));
const [DESK, , RACK] = STRIPS;
const LONG = STRIPS[28];
assert.ok(DESK && RACK && LONG);

/** What is wrong in our own part of a dialog, as "rule: element", apart from what Node-RED puts there. */
interface Findings {
  ours: string[];
  nodeRed: string[];
}

async function examine(editor: Editor, form: string): Promise<Findings> {
  const found = await editor.axe(form, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'],
    // The dialog is part of Node-RED's page, whose landmarks and headings are not ours.
    rules: { region: { enabled: false }, 'heading-order': { enabled: false } },
  });
  // Not a rule of axe: each hint and message has a control that it describes.
  const lonely = await editor.page
    .locator(`${form} :is(.smart-strip-hint, .smart-strip-message)[id]`)
    .evaluateAll((texts) =>
      texts.map(({ id }) => id).filter((id) => !document.querySelector(`[aria-describedby~="${id}"]`)),
    );
  const isNodeRed = (html: string) => /red-ui-trap|class="[^"]*red-ui-typedInput-(?!input)/.test(html);
  return {
    ours: [
      ...found.filter(({ html }) => !isNodeRed(html)).map(({ id, html }) => `${id}: ${html}`),
      ...lonely.map((id) => `describes nothing: ${id}`),
      ...(await editor.faintTexts(form)).map((text) => `contrast: ${text}`),
    ],
    nodeRed: found.filter(({ html }) => isNodeRed(html)).map(({ id, target }) => `${id}: ${target}`),
  };
}

/** What Node-RED's own parts of a form get wrong, listed so that a change is noticed: here its bait for password managers. */
const NODE_RED = ['password', 'user', 'username'].map((name) => `label: #red-ui-trap-${name}`);

const FORM = '#dialog-form';
const CONFIG_FORM = '#node-config-dialog-edit-form';

describe('the dialogs with thirty strips', () => {
  const stage = setStage({ service: { strips: STRIPS } });
  let editor: Editor;

  const open = async (properties: Record<string, unknown> = {}, dark = false) => {
    await stage.red.deploy([tab, account(stage.service, properties)]);
    editor = await Editor.open(stage.browser, stage.red.url, { dark });
  };
  afterEach(async () => {
    await editor.close();
  });

  const typed = () => editor.page.locator('#node-input-mac-typed');
  const options = () => editor.page.locator('[role=option]');
  const bar = () => editor.page.locator('.smart-strip-bar');
  const message = (field: string) => editor.page.locator(`#smart-strip-message-${field}`);
  const hint = (field: string) => editor.page.locator(`#smart-strip-hint-${field}`);
  const row = (part: string) => editor.page.locator(`.smart-strip-outlet-row [data-part=${part}]`);
  /** The description of a field. Firefox leaves elements with the role "status" out of it. */
  const descriptionOf = (selector: string) =>
    editor.page.locator(selector).evaluate((field) =>
      (field.getAttribute('aria-describedby') ?? '')
        .split(' ')
        .map((id) => document.getElementById(id))
        .map((part) => (part?.role === 'status' ? '' : (part?.textContent ?? '')))
        .filter((text) => text !== '')
        .join(' '),
    );
  const isInSight = (option: Locator) =>
    option.evaluate((option) => {
      const list = option.parentElement;
      if (list === null) return false;
      const [inner, outer] = [option.getBoundingClientRect(), list.getBoundingClientRect()];
      return inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
    });
  const newSwitch = async () => {
    const id = await editor.drop('strip switch', 300, 100);
    await editor.edit(id);
    await options().first().waitFor();
    return id;
  };

  it('say which topics the mqtt nodes beside a strip mqtt node need', async () => {
    await open();
    const id = await editor.drop('strip mqtt', 300, 100);
    await editor.edit(id);
    assert.match(
      (await hint('topic').textContent()) ?? '',
      /smart-strip\/\+\/\+\/set, smart-strip\/\+\/available and smart-strip\/bridge/,
    );
    assert.match((await hint('discovery').textContent()) ?? '', /homeassistant\/status/);
    await editor.page.locator('#node-input-topic').fill('home/#');
    assert.match((await message('topic').textContent()) ?? '', /"home\/#" cannot be used/);
    await editor.page.locator('#node-input-topic').fill('home/strips');
    assert.equal(await message('topic').textContent(), '');
    assert.match((await hint('topic').textContent()) ?? '', /home\/strips\/\+\/\+\/set/);
    await editor.page.locator('#node-input-discovery').fill('');
    assert.match((await hint('discovery').textContent()) ?? '', /No discovery/);
    await editor.picture('mqtt');
    await editor.done();
    const { topic, discovery, readings } = await editor.properties(id);
    assert.deepEqual({ topic, discovery, readings }, { topic: 'home/strips', discovery: '', readings: true });
  });

  it('filter the strips while one types, and pick with the keyboard', async () => {
    await open();
    const id = await newSwitch();
    assert.equal(await options().count(), 30);
    await bar().getByText('Strips: 30 of 30').waitFor();
    await typed().focus();
    await editor.page.keyboard.press('ArrowUp');
    const last = options().last().and(editor.page.locator('.smart-strip-active'));
    assert.ok(await isInSight(last));
    await editor.page.keyboard.type('rack');
    assert.equal(await typed().getAttribute('aria-activedescendant'), null);
    assert.deepEqual(
      (await options().locator('.smart-strip-name').allTextContents()).map((name) => name.split(' ')[0]),
      Array<string>(5).fill('Rack'),
    );
    await bar().getByText('Strips: 5 of 30').waitFor();
    assert.equal(await message('mac').textContent(), '');
    await editor.page.keyboard.press('Enter');
    assert.equal(await typed().inputValue(), 'rack', 'none of them is chosen');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp']) await editor.page.keyboard.press(key);
    const active = await typed().getAttribute('aria-activedescendant');
    assert.equal(await options().first().getAttribute('id'), active);
    await editor.page.keyboard.press('Enter');
    assert.equal(await typed().inputValue(), RACK.mac);
    assert.equal(await editor.page.locator('.smart-strip-chosen').textContent(), 'Rack 1');
    assert.equal(await options().count(), 30);
    await editor.picture('thirty-switch');
    // The list is no stop: Tab goes to the button that asks again, the outlet's type, the outlets.
    await editor.page.keyboard.press('Tab');
    await editor.page.keyboard.press('Tab');
    await editor.page.keyboard.press('Tab');
    await editor.page.keyboard.press('ArrowRight');
    await editor.done();
    const { mac, macType, port, portType, onType } = await editor.properties(id);
    assert.deepEqual(
      { mac, macType, port, portType, onType },
      { mac: RACK.mac, macType: 'str', port: '2', portType: 'port', onType: 'message' },
    );
  });

  it('keep the strip in sight that the arrow keys have reached, in a small window, too', async () => {
    await open();
    await newSwitch();
    await editor.page.setViewportSize({ width: 1280, height: 430 });
    // Node-RED fits the dialog into the window a moment later.
    await editor.page.waitForFunction(() => {
      const body = document.querySelector('.red-ui-tray-body');
      return body && body.getBoundingClientRect().bottom < 430;
    });
    for (const key of ['ArrowUp', 'ArrowDown']) {
      await typed().press(key);
      const isSeen = await editor.page.locator('.smart-strip-active').evaluate((option) => {
        const { x, y, width, height } = option.getBoundingClientRect();
        return option.contains(document.elementFromPoint(x + width / 2, y + height / 2));
      });
      assert.ok(isSeen, key);
    }
  });

  it('offer no strip any more that the account had once, where they say that it has none', async () => {
    await open();
    await newSwitch();
    const answers = (json: unknown) => stage.service.next({ kind: 'answer', status: 200, json });
    answers({ hello: 'world' });
    await bar().locator('button').click();
    await bar().getByText('was not recognised').waitFor();
    assert.equal(await options().count(), 30);
    assert.equal(await typed().getAttribute('aria-expanded'), 'true');
    answers({ strips: [] });
    await bar().locator('button').click();
    await bar().getByText('The account has no strips').waitFor();
    assert.equal(await options().count(), 0);
    assert.equal(await typed().getAttribute('aria-expanded'), 'false', 'no list is shown');
  });

  it('pick nothing with the Enter key that ends the composition of a character', async () => {
    await open();
    await newSwitch();
    await typed().fill('rack 1');
    await bar().getByText('Strips: 1 of 30').waitFor();
    const press = (isComposing: boolean) =>
      typed().dispatchEvent('keydown', { key: 'Enter', isComposing, bubbles: true });
    await press(true);
    assert.equal(await typed().inputValue(), 'rack 1');
    await press(false);
    assert.equal(await typed().inputValue(), RACK.mac);
  });

  it('show the strips that come while the dialog of the account covers their own', async () => {
    const { answer, answered } = await coverWhileAsking();
    answer();
    await answered;
    await editor.turn();
    await editor.cancelConfig();
    await bar().getByText('Strips: 30 of 30').waitFor({ timeout: 10_000 });
  });

  it('leave a node marked that is wrong when the dialog of its account was over its own', async () => {
    const { page, answer } = await coverWhileAsking();
    answer();
    await editor.doneConfig();
    await page.locator('#node-dialog-cancel').click();
    await editor.dialog.waitFor({ state: 'detached' });
    await editor.drawn();
    assert.ok(await editor.node('switch').locator('.red-ui-flow-node-error').isVisible());
  });

  /** Opens the dialog of a node without a strip, and that of its account over it before the strips come. */
  const coverWhileAsking = async () => {
    const node = placed('switch', 'strip switch', { mac: '', macType: 'str', port: '1', portType: 'port' });
    await stage.red.deploy([tab, account(stage.service), node]);
    editor = await Editor.open(stage.browser, stage.red.url);
    const { page } = editor;
    const url = '**/strip-account/account/strips?refresh=1';
    const answer = await editor.hold(url);
    const asked = page.waitForRequest(url);
    const answered = page.waitForResponse(url).then((response) => response.finished());
    await editor.edit('switch');
    await asked;
    await page.locator('#node-input-btn-account-edit').click();
    await editor.opened(editor.configDialog);
    return { page, answer, answered };
  };

  it('filter by MAC, and turn a name that only one strip has into its MAC', async () => {
    await open();
    const id = await newSwitch();
    await typed().fill('e5:1b');
    assert.equal(await options().count(), 1);
    await typed().fill('shed 2');
    await typed().blur();
    assert.equal(await typed().inputValue(), STRIPS[11]?.mac);
    assert.ok(await isInSight(editor.page.locator('[role=option][aria-selected=true]')));
    await typed().fill('Desk 1');
    await typed().blur();
    assert.match((await message('mac').textContent()) ?? '', /Several strips are called “Desk 1”/);
    assert.equal(await typed().getAttribute('aria-invalid'), 'true');
    await typed().fill('Office');
    await typed().blur();
    assert.match((await message('mac').textContent()) ?? '', /No strip of this account is called “Office”/);
    assert.equal(await hint('mac').textContent(), '', 'it is no strip that is always used');
    await editor.page.locator('label:has([name="smart-strip-port"][value="1"])').click();
    await editor.done();
    const mark = editor.node(id).locator('.red-ui-flow-node-error');
    await mark.waitFor();
    await editor.edit(id);
    await typed().fill('shed 2');
    await editor.done();
    await mark.waitFor({ state: 'hidden' });
  });

  it('scroll to the strip that is chosen, and show its name beside the MAC', async () => {
    const last = STRIPS[28];
    await open();
    await stage.red.deploy([
      tab,
      account(stage.service),
      placed('switch', 'strip switch', { mac: last?.mac, macType: 'str', portType: 'port', port: '1' }),
    ]);
    await editor.page.reload();
    await editor.node('switch').waitFor();
    await editor.edit('switch');
    const chosen = editor.page.locator('[role=option][aria-selected=true]');
    await bar().getByText('Strips: 30 of 30').waitFor();
    assert.ok(await isInSight(chosen));
    assert.equal(await editor.page.locator('.smart-strip-chosen').textContent(), last?.name);
    await editor.picture('thirty-long-name');
    await editor.done();
    await editor.expectLabel('switch', /…/);
    const label = await editor.label('switch');
    assert.ok(label.replace(/\s/g, '').length <= 24, label);
    await editor.node('switch').hover();
    assert.equal(
      await editor.node('switch').locator(':scope > title').textContent(),
      `${last?.name ?? ''}: 1`,
    );
  });

  it('have hints that speak of what is chosen', async () => {
    await open();
    await newSwitch();
    assert.equal(await hint('mac').textContent(), '');
    await options().first().click();
    assert.match((await hint('mac').textContent()) ?? '', /Always this strip/);
    assert.doesNotMatch((await hint('on').textContent()) ?? '', /array/);
    await editor.chooseType('node-input-mac', 'from message');
    assert.match((await hint('mac').textContent()) ?? '', /Reads payload.mac/);
    await editor.chooseType('node-input-port', 'from message');
    assert.match((await hint('port').textContent()) ?? '', /Reads payload.port/);
    assert.match((await hint('on').textContent()) ?? '', /an array of those, or a whole strip/);
    await editor.chooseType('node-input-on', 'action');
    await editor.page.locator('label:has([value="cycle"])').click();
    assert.match((await hint('on').textContent()) ?? '', /waits/);
  });

  it('say what an action means for an outlet, for a protected one and for all', async () => {
    await open({ protectedOutlets: [{ mac: DESK.mac, port: 2 }] });
    await newSwitch();
    const choose = async (field: string, value: string) => {
      await editor.page.locator(`label:has([name="smart-strip-${field}"][value="${value}"])`).click();
      return await hint('on').textContent();
    };
    await options().first().click();
    await editor.chooseType('node-input-on', 'action');
    await choose('on', 'off');
    assert.match((await choose('port', '2')) ?? '', /The account protects this outlet/);
    assert.match((await choose('on', 'cycle')) ?? '', /The account protects this outlet/);
    assert.match((await choose('on', 'on')) ?? '', /switches the outlet on/);
    assert.match(
      (await choose('on', 'toggle')) ?? '',
      /The account protects this outlet: .* fails if it is on/,
    );
    assert.match((await choose('port', 'all')) ?? '', /reads the states/);
    assert.match(
      (await choose('on', 'off')) ?? '',
      /all outlets off, except those that the account protects/,
    );
    assert.match((await choose('on', 'on')) ?? '', /switches all outlets on/);
    await choose('on', 'off');
    await choose('port', '2');
    await options().nth(1).click();
    assert.match((await hint('on').textContent()) ?? '', /switches the outlet off/);
  });

  it('show the whole MAC of an outlet in the account, also with colons', async () => {
    await open({ outletNames: [{ mac: 'DD:DD:DD:DD:DD:DD', port: 1, name: 'Lamp' }] });
    await editor.editConfig('strip-account', 'account');
    const cut = await row('mac').evaluate((field) => field.scrollWidth - field.clientWidth);
    assert.ok(cut <= 0, `${cut} px are cut off`);
  });

  it('name outlets in the account, and show the names in pickers and labels', async () => {
    await open();
    await editor.editConfig('strip-account', 'account');
    await editor.page.locator('#smart-strip-test').click();
    await editor.page.locator('#smart-strip-found table').waitFor();
    await editor.unfold('Outlets');
    await editor.page.locator('.red-ui-editableList-addButton').click();
    // Focus goes into the row.
    await editor.page.keyboard.type('bench 1');
    await row('port').selectOption('2');
    await row('name').fill('Soldering iron');
    assert.equal(await row('mac').inputValue(), STRIPS[1]?.mac);
    assert.equal(
      await editor.page.locator('.smart-strip-outlet-row .smart-strip-name').textContent(),
      'Bench 1',
    );
    await row('protected').check();
    await editor.picture('thirty-outlets');
    await editor.doneConfig();
    const stored = await editor.properties('account');
    assert.deepEqual(stored.outletNames, [{ mac: STRIPS[1]?.mac, port: 2, name: 'Soldering iron' }]);
    assert.deepEqual(stored.protectedOutlets, [{ mac: STRIPS[1]?.mac, port: 2 }]);
    const id = await newSwitch();
    await editor.page.locator('[role=option]', { hasText: 'Bench 1' }).click();
    const second = editor.page.locator('#smart-strip-row-port label:has([value="2"])');
    assert.match((await second.textContent()) ?? '', /^2 Soldering iron/);
    await second.click();
    await editor.done();
    await editor.expectLabel(id, 'Bench 1: Soldering iron');
    await editor.editConfig('strip-account', 'account');
    await editor.unfold('Outlets');
    await row('name').fill('Iron');
    await editor.doneConfig();
    await editor.expectLabel(id, 'Bench 1: Iron');
    await editor.page.evaluate(() => window.RED.actions.invoke('core:undo'));
    await editor.expectLabel(id, 'Bench 1: Soldering iron');
  });

  it('no longer show a name that was removed from the account, and find a strip by a name that it has', async () => {
    const outletNames = [1, 2].map((port) => ({ mac: DESK.mac, port, name: `Lamp ${port}` }));
    await open({ outletNames });
    const id = await newSwitch();
    await typed().fill('lamp 1');
    await options().nth(1).waitFor({ state: 'detached' });
    await typed().press('Enter');
    await editor.page.locator('#smart-strip-row-port label:has([value="1"])').click();
    await editor.done();
    await editor.expectLabel(id, 'Desk 1: Lamp 1');
    await editor.editConfig('strip-account', 'account');
    await row('name').first().fill('');
    assert.equal(await row('name').first().getAttribute('placeholder'), 'Name');
    await editor.doneConfig();
    await editor.expectLabel(id, 'Desk 1: 1');
    await editor.page.evaluate(() => window.RED.actions.invoke('core:undo'));
    await editor.expectLabel(id, 'Desk 1: Lamp 1');
  });

  it('show the names again that an imported account had replaced, when the import is undone', async () => {
    const names = (name: string) => ({ outletNames: [{ mac: DESK.mac, port: 1, name }] });
    await stage.red.deploy([
      tab,
      account(stage.service, names('Lamp')),
      placed('node', 'strip switch', { mac: DESK.mac, macType: 'str', port: '1', portType: 'port' }),
    ]);
    editor = await Editor.open(stage.browser, stage.red.url);
    const { page } = editor;
    const invoke = (name: string) => page.evaluate((name) => window.RED.actions.invoke(name), name);
    await editor.expectLabel('node', /: Lamp$/);
    const { credentials, ...imported } = account(stage.service, names('Heater'));
    assert.ok(credentials);
    await invoke('core:show-import-dialog');
    await page.locator('#red-ui-clipboard-dialog-import-text').focus();
    await page.keyboard.insertText(JSON.stringify([imported]));
    await page.keyboard.press('End');
    await page.locator('#red-ui-clipboard-dialog-ok:enabled').press('Enter');
    await page.locator('.red-ui-notification button', { hasText: 'View nodes' }).press('Enter');
    // The one that includes the node, then the one that lets it replace the other.
    const boxes = page.locator('.ui-dialog:visible input[type=checkbox]');
    for (const box of [boxes.first(), boxes.last()]) await box.dispatchEvent('click');
    await page.locator('button', { hasText: 'Import selected' }).press('Enter');
    await editor.expectLabel('node', /: Heater$/);
    await invoke('core:undo');
    await editor.expectLabel('node', /: Lamp$/);
  });

  it('show the names of strips whole in the list, so that two that begin alike can be told apart', async () => {
    await open();
    await newSwitch();
    const cut = await options()
      .locator('.smart-strip-name')
      .evaluateAll((names) =>
        names.filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent),
      );
    await typed().fill('television');
    await editor.picture('strip-names');
    assert.deepEqual(cut, []);
  });

  it('show the names of outlets whole where there is place', async () => {
    const names = [
      'Computer',
      'Coffee machine',
      'Screen',
      'The lamp behind the television set in the living room',
    ];
    const outletNames = names.map((name, index) => ({ mac: DESK.mac, port: index + 1, name }));
    await open({ outletNames });
    await newSwitch();
    await options().first().click();
    const button = (value: string) =>
      editor.page.locator(`#smart-strip-row-port label:has([value="${value}"])`);
    await button('2').click();
    await editor.picture('outlet-names');
    const isWhole = (value: string) =>
      button(value)
        .locator('span')
        .evaluate((label) => label.scrollWidth <= label.clientWidth);
    const shown = await Promise.all(['1', '2', '3', '4', 'all'].map(isWhole));
    assert.deepEqual(shown, [true, true, true, false, true]);
    assert.match((await button('4').getAttribute('title')) ?? '', /^4 The lamp .* living room/);
  });

  describe('wrap a word in a text below a field that is too long for a line', () => {
    const long = 'x'.repeat(60);
    for (const [id, control, value, where] of [
      ['mqtt', '#node-input-topic', long.repeat(2), '#smart-strip-hint-topic'],
      ['simulator', '#node-input-path', `/${long}${long}`, '#smart-strip-hint-path'],
      ['switch', '#node-input-mac-typed', `${long}${long}`, '#smart-strip-message-mac'],
      [
        'account',
        '#node-config-input-baseUrl',
        `http://${long}.${long}.invalid`,
        '#smart-strip-message-baseUrl',
      ],
    ] as const) {
      it(where, async () => {
        const nodes = ['mqtt', 'simulator', 'switch'].map((kind, index) =>
          placed(kind, `strip ${kind}`, { macType: 'str', y: 100 * (index + 1) }),
        );
        await stage.red.deploy([tab, account(stage.service), ...nodes]);
        editor = await Editor.open(stage.browser, stage.red.url);
        const { page } = editor;
        await (id === 'account' ? editor.editConfig('strip-account', id) : editor.edit(id));
        if (id === 'switch') await options().first().waitFor();
        await page.locator(control).fill(value);
        if (id === 'account') {
          await page.locator('#node-config-input-apiKey').fill('any');
          await page.locator('#smart-strip-test').click();
        } else await page.keyboard.press('Tab');
        const text = page.locator(where, { hasText: long });
        await text.waitFor();
        assert.ok(await text.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth));
      });
    }
  });

  describe('fit in a small window, however long the names are', () => {
    const { mac } = LONG;
    const outletNames = [
      'Television and soundbar',
      'PlayStation 5 and charger',
      'Standing lamp by the window',
      'Wi-Fi router upstairs',
    ].map((name, index) => ({ mac, port: index + 1, name }));
    const openSmall = async (...nodes: FlowNode[]) => {
      await stage.red.deploy([tab, account(stage.service, { outletNames }), ...nodes]);
      editor = await Editor.open(stage.browser, stage.red.url);
      await editor.page.setViewportSize({ width: 1024, height: 768 });
    };
    /** Waits, because the tray may still grow to the width of what it holds. */
    const isInside = () =>
      editor.page.waitForFunction(() => {
        const [body = NaN, tray = NaN] = ['.red-ui-tray-body', '.red-ui-tray'].map(
          (part) => document.querySelector(part)?.getBoundingClientRect().width,
        );
        return body <= tray;
      });

    for (const [type, settings] of Object.entries(SETTINGS)) {
      if (!('mac' in settings)) continue;
      it(type, async () => {
        await openSmall(placed('node', type, { mac, macType: 'str', port: '1', portType: 'port' }));
        // Once its names are known, a dialog is as wide as they make it.
        await editor.edit('node');
        await options().first().waitFor();
        await editor.done();
        await editor.edit('node');
        await editor.page.locator('.smart-strip-chosen', { hasText: LONG.name }).waitFor();
        await editor.picture(`long-names-${type.replace(' ', '-')}`);
        await isInside();
        const isWhole = await typed().evaluate((box) => box.scrollWidth <= box.clientWidth);
        assert.ok(isWhole, 'the whole MAC is seen');
      });
    }

    it('strip-account', async () => {
      await openSmall();
      const test = async () => {
        await editor.editConfig('strip-account', 'account');
        await editor.page.locator('#smart-strip-test').click();
        await editor.page.locator('#smart-strip-found', { hasText: LONG.name }).waitFor();
      };
      await test();
      await editor.doneConfig();
      await test();
      await editor.picture('long-names-strip-account');
      await isInside();
    });
  });

  it('add every outlet of the strips found, and store none that has neither name nor protection', async () => {
    await open();
    await editor.editConfig('strip-account', 'account');
    await editor.page.locator('#smart-strip-test').click();
    await editor.page.locator('#smart-strip-found table').waitFor();
    await editor.unfold('Outlets');
    const add = editor.page.getByRole('button', { name: 'Add the strips found' });
    await add.click();
    assert.equal(await row('mac').count(), 120);
    assert.equal(await editor.page.evaluate(() => document.activeElement?.getAttribute('data-part')), 'name');
    await row('name').nth(5).fill('Lamp');
    await add.click();
    assert.equal(await row('mac').count(), 120, 'they are there already');
    await editor.doneConfig();
    const { outletNames, protectedOutlets } = await editor.properties('account');
    assert.deepEqual(outletNames, [{ mac: STRIPS[1]?.mac, port: 2, name: 'Lamp' }]);
    assert.deepEqual(protectedOutlets, []);
  });

  it('do not search all rows for each of them at a key press, which takes seconds with a thousand rows', async () => {
    const outletNames = STRIPS.map(({ mac }) => ({ mac, port: 1, name: 'Lamp' }));
    await open({ outletNames });
    await editor.editConfig('strip-account', 'account');
    await editor.page.evaluate(`
      window.count = 0;
      const table = document.querySelector('#smart-strip-outlets');
      for (const { prototype } of [Document, Element]) {
        const search = prototype.querySelectorAll;
        prototype.querySelectorAll = function (selector) {
          if (this.contains(table)) window.count++;
          return search.call(this, selector);
        };
      }`);
    await row('name').first().dispatchEvent('input', { bubbles: true });
    const searches = await editor.page.evaluate('window.count');
    assert.ok(Number(searches) < STRIPS.length, String(searches));
  });

  it('resolve the name of a strip that a flow has in place of a MAC, and mark one that is not there', async () => {
    await open({
      protectedOutlets: [
        { mac: 'Kitchen 2', port: 1 },
        { mac: 'Office', port: 3 },
      ],
    });
    await editor.editConfig('strip-account', 'account');
    await editor.page.waitForFunction(
      (mac) => document.querySelector<HTMLInputElement>('[data-part=mac]')?.value === mac,
      STRIPS[9]?.mac,
    );
    const second = editor.page.locator('.smart-strip-outlet-row').nth(1);
    assert.match((await second.locator('.smart-strip-message').textContent()) ?? '', /called “Office”/);
  });

  it('keep the spelling of a MAC that a flow has, so that an account is not changed by opening it', async () => {
    const mac = STRIPS[9]?.mac.toLowerCase().replace(/(..)(?=.)/g, '$1:');
    const units = { load: '', voltage: '', signal: '' };
    await open({ protectedOutlets: [{ mac, port: 1 }], outletNames: [], units, mapping: '' });
    await editor.editConfig('strip-account', 'account');
    const found = editor.page.locator('.smart-strip-outlet-row .smart-strip-name');
    await found.getByText(STRIPS[9]?.name ?? '').waitFor();
    await row('mac').focus();
    await row('name').focus();
    assert.equal(await row('mac').inputValue(), mac);
    await editor.doneConfig();
    assert.equal(await editor.page.evaluate(() => window.RED.nodes.dirty()), false);
  });

  it('warn of a protected outlet whose strip is not listed, and may be switched off', async () => {
    await open({ protectedOutlets: [{ mac: 'A1B2C3D4E5FF', port: 1 }] });
    await editor.editConfig('strip-account', 'account');
    const notice = editor.page.locator('.smart-strip-outlet-row .smart-strip-message.smart-strip-warning');
    await notice.getByText('⚠ Check the MAC: this account lists no strip with it.').waitFor();
    assert.equal(await row('mac').getAttribute('aria-invalid'), 'false');
  });

  it('warn of an outlet that is listed twice, in any spelling of its MAC', async () => {
    await open({ outletNames: [{ mac: 'A1B2C3D4E5FF', port: 1, name: 'Lamp' }] });
    await editor.editConfig('strip-account', 'account');
    const twice = editor.page
      .locator('.smart-strip-outlet-row .smart-strip-warning')
      .filter({ hasText: 'This outlet is listed twice' });
    await editor.page.locator('.red-ui-editableList-addButton').click();
    await row('mac').nth(1).fill('a1:b2:c3:d4:e5:ff');
    await row('name').nth(1).fill('Fan');
    assert.equal(await twice.count(), 2);
    await row('port').nth(1).selectOption('2');
    assert.equal(await twice.count(), 0);
    await row('port').nth(1).selectOption('1');
    assert.equal(await twice.count(), 2);
    await editor.page.locator('.red-ui-editableList-item-remove').nth(1).click();
    await twice.first().waitFor({ state: 'detached' });
  });

  it('say of a row that it names no possible strip: the account would not use it', async () => {
    await open();
    await editor.addConfig('strip-account');
    await editor.unfold('Outlets');
    await editor.page.locator('#smart-strip-row-outlets .red-ui-editableList-addButton').click();
    await row('mac').fill('TV/Hifi');
    await row('name').fill('Lamp');
    const fault = editor.page.locator('.smart-strip-outlet-row .smart-strip-message');
    assert.match((await fault.textContent()) ?? '', /"TV\/Hifi" cannot be a MAC/);
    await row('mac').fill(DESK.mac);
    await row('name').focus();
    assert.equal(await fault.textContent(), '');
  });

  it('keep protected outlets that cannot be read, as rows that can be corrected', async () => {
    await open({ protectedOutlets: 'Office 3' });
    const isMarked = () => editor.page.evaluate(() => window.RED.nodes.node('account')?.valid === false);
    const fault = editor.page.locator('.smart-strip-outlet-row .smart-strip-message');
    await editor.editConfig('strip-account', 'account');
    await fault.getByText('Choose an outlet.').waitFor();
    assert.equal(await row('port').inputValue(), '');
    await editor.page.locator('#node-config-input-name').fill('Home');
    await editor.doneConfig();
    assert.ok(await isMarked());
    await editor.editConfig('strip-account', 'account');
    // Node-RED lists no strips for the deployed account, because it refuses it.
    await fault.getByText('No strip of this account is called “Office 3”').waitFor();
    await row('mac').fill(DESK.mac);
    await row('name').focus();
    assert.equal(await fault.textContent(), '✕ Choose an outlet.');
    await row('port').selectOption('3');
    assert.equal(await fault.textContent(), '');
    await editor.doneConfig();
    assert.equal(await isMarked(), false);
    assert.deepEqual((await editor.properties('account')).protectedOutlets, [{ mac: DESK.mac, port: 3 }]);
  });

  it('keep a protected outlet without a strip, and mark the account: it could be switched off unnoticed', async () => {
    await open();
    const isMarked = () => editor.page.evaluate(() => window.RED.nodes.node('account')?.valid === false);
    const fault = editor.page.locator('.smart-strip-outlet-row .smart-strip-message');
    await editor.editConfig('strip-account', 'account');
    await editor.unfold('Outlets');
    await editor.page.locator('#smart-strip-row-outlets .red-ui-editableList-addButton').click();
    await row('mac').and(editor.page.locator(':focus')).waitFor();
    assert.equal(await fault.textContent(), '', 'nothing was typed');
    await row('name').fill('Fridge');
    await row('protected').check();
    assert.match((await fault.textContent()) ?? '', /Choose the strip.*protects and names nothing/);
    await editor.doneConfig();
    assert.ok(await isMarked());
    await editor.editConfig('strip-account', 'account');
    assert.equal(await row('name').inputValue(), 'Fridge');
    assert.ok(await row('protected').isChecked());
    assert.match((await fault.textContent()) ?? '', /Choose the strip/);
    await row('mac').fill(DESK.mac);
    await editor.doneConfig();
    assert.equal(await isMarked(), false);
    const { protectedOutlets, outletNames } = await editor.properties('account');
    assert.deepEqual(protectedOutlets, [{ mac: DESK.mac, port: 1 }]);
    assert.deepEqual(outletNames, [{ mac: DESK.mac, port: 1, name: 'Fridge' }]);
  });

  it('fill in the numbers of an account that was imported without them', async () => {
    const bare = { interval: undefined, timeout: undefined, retryFor: undefined, concurrency: undefined };
    await open(bare);
    await editor.editConfig('strip-account', 'account');
    await editor.unfold('Polling and retries');
    const value = (id: string) => editor.page.locator(`#${id}`).inputValue();
    assert.deepEqual(
      [
        await value('node-config-input-interval'),
        await value('node-config-input-timeout'),
        await value('node-config-input-retryFor'),
        await value('node-config-input-concurrency'),
      ],
      ['30', '10', '30', '8'],
    );
    const row = editor.page.locator('#smart-strip-row-timeout');
    assert.deepEqual(await row.locator('> span').allTextContents(), ['seconds']);
    await editor.page.locator('#node-config-input-timeout').fill('2.5');
    await editor.doneConfig();
    const { interval, timeout } = await editor.properties('account');
    assert.deepEqual({ interval, timeout }, { interval: '30', timeout: '2500' });
    await editor.deploy();
    assert.deepEqual(editor.errors, []);
  });

  it('have German labels that stand beside their icons', async () => {
    await stage.red.deploy([tab, account(stage.service)]);
    editor = await Editor.open(stage.browser, stage.red.url, { locale: 'de' });
    await editor.editConfig('strip-account', 'account');
    await editor.unfold('Abfragen und Wiederholungen');
    const wrapped = await editor.configDialog
      .locator('.form-row > label[id]')
      .evaluateAll((labels) =>
        labels
          .filter((label) => label.getBoundingClientRect().height > 25)
          .map((label) => label.textContent.trim()),
      );
    assert.deepEqual(wrapped, ['Parallele Anfragen']);
  });

  it('begin every line of a text beside its check box, and none below it', async () => {
    await stage.red.deploy([tab, account(stage.service)]);
    editor = await Editor.open(stage.browser, stage.red.url, { locale: 'de' });
    await editor.edit(await editor.drop('strip watch', 300, 100));
    const boxes = await editor.dialog.locator('.smart-strip-boxes label').evaluateAll((labels) =>
      labels.map((label) => {
        const [box, words] = Array.from(label.children, (child) => child.getBoundingClientRect());
        return box && words ? words.left - box.right : NaN;
      }),
    );
    assert.equal(boxes.length, 4);
    for (const gap of boxes) assert.ok(gap > 0, `${gap}`);
  });

  it('show the whole hint in the field for a MAC, also in German', async () => {
    await stage.red.deploy([tab, account(stage.service)]);
    editor = await Editor.open(stage.browser, stage.red.url, { locale: 'de' });
    await editor.editConfig('strip-account', 'account');
    await editor.unfold('Steckdosen');
    await editor.page.locator('#smart-strip-row-outlets .red-ui-editableList-addButton').click();
    // A field tells whether its value is cut, but not whether its placeholder is.
    await row('mac').fill((await row('mac').getAttribute('placeholder')) ?? '');
    assert.ok(await row('mac').evaluate((box) => box.scrollWidth <= box.clientWidth));
  });

  it('keep numbers that an environment variable stands for', async () => {
    const numbers = ['interval', 'timeout', 'retryFor', 'concurrency'];
    const variables = Object.fromEntries(numbers.map((name) => [name, `\${STRIP_${name}}`]));
    await open(variables);
    await editor.editConfig('strip-account', 'account');
    await editor.unfold('Polling and retries');
    assert.equal(await editor.page.locator('#node-config-input-interval').inputValue(), variables.interval);
    assert.equal(await message('interval').textContent(), '');
    await editor.doneConfig();
    const stored = await editor.properties('account');
    assert.deepEqual(Object.fromEntries(numbers.map((name) => [name, stored[name]])), variables);
    // The field still has the unit that is written beside it.
    await editor.editConfig('strip-account', 'account');
    await editor.unfold('Polling and retries');
    await editor.page.locator('#smart-strip-row-timeout', { hasText: 'milliseconds' }).waitFor();
    // Until it has painted, headless Chromium takes a field for hidden whose type changed while it was folded away.
    await editor.picture('account-variables');
    const timeout = editor.page.locator('#node-config-input-timeout');
    await timeout.fill('10');
    assert.equal(await message('timeout').textContent(), '✕ Enter a number from 100 to 600000.');
    await timeout.fill('2000');
    assert.equal(await message('timeout').textContent(), '');
    await editor.doneConfig();
    assert.equal((await editor.properties('account')).timeout, '2000');
  });

  it('keep numbers with blanks or in hexadecimal, which the browser takes for no numbers', async () => {
    await open({ interval: ' 60 ', timeout: '5000\n', concurrency: '0x10' });
    await editor.editConfig('strip-account', 'account');
    await editor.doneConfig();
    const { interval, timeout, concurrency } = await editor.properties('account');
    assert.deepEqual([interval, timeout, concurrency], ['60', '5000', '16']);
  });

  it('keep what an environment variable stands for in place of a check mark', async () => {
    const flags = { outlets: '${STRIP_OUTLETS}', readings: '${STRIP_READINGS}', initial: 'true' };
    await stage.red.deploy([tab, account(stage.service), placed('node', 'strip watch', flags)]);
    editor = await Editor.open(stage.browser, stage.red.url);
    await editor.edit('node');
    const readings = editor.page.getByLabel('a change of load');
    assert.equal(await readings.inputValue(), flags.readings);
    assert.equal(await message('send').textContent(), '');
    // The fields for what may be sent.
    for (const field of ['port', 'output', 'change'])
      assert.ok(await editor.page.locator(`#smart-strip-row-${field}`).isVisible(), field);
    await editor.picture('watch-variables');
    await editor.done();
    const { outlets, initial, ...kept } = await editor.properties('node');
    assert.deepEqual([outlets, kept.readings, initial], [flags.outlets, flags.readings, true]);
    await editor.edit('node');
    await readings.fill('true');
    await editor.done();
    await editor.edit('node');
    assert.ok(await readings.isChecked());
    await editor.done();
  });

  it('keep and mark what the runtime refuses, until something else is chosen', async () => {
    const refused = {
      switch: {
        mac: DESK.mac,
        macType: 'string',
        port: '2',
        portType: 'port',
        on: 'on',
        onType: 'action',
        delay: '5',
        delayType: 'sec',
        output: 'ON',
      },
      status: { mac: DESK.mac, macType: 'str', port: '2', portType: 'outlet' },
      watch: { readings: 'yes', change: '5 W' },
    };
    await stage.red.deploy([
      tab,
      account(stage.service, { interval: '30 s' }),
      ...Object.entries(refused).map(([id, flow], index) =>
        placed(id, `strip ${id}`, { name: id, y: 100 * (index + 1), ...flow }),
      ),
      placed('whole', 'strip status', { y: 400, mac: DESK.mac, macType: 'str', output: 'ON' }),
    ]);
    editor = await Editor.open(stage.browser, stage.red.url);
    const marked = (id: string) => editor.node(id).locator('.red-ui-flow-node-error').isVisible();
    const stored = async (id: string, flow: object) => {
      const properties = await editor.properties(id);
      return Object.fromEntries(Object.keys(flow).map((name) => [name, properties[name]]));
    };

    await editor.edit('switch');
    assert.equal(await editor.page.locator('#node-input-mac-kind').textContent(), 'string');
    assert.match((await message('mac').textContent()) ?? '', /property macType .*"string" is none/);
    assert.match((await message('output').textContent()) ?? '', /property output .*"ON" is none/);
    // Not used for this action, but refused.
    await message('delay').getByText('property delayType').waitFor();
    await editor.picture('switch-refused');
    await editor.done();
    assert.deepEqual(await stored('switch', refused.switch), refused.switch);
    assert.ok(await marked('switch'));

    await editor.edit('status');
    assert.match((await message('port').textContent()) ?? '', /property portType /);
    await editor.done();
    assert.deepEqual(await stored('status', refused.status), refused.status);
    assert.ok(await marked('status'));

    // Not used for a whole strip, either.
    await editor.edit('whole');
    await message('output').getByText('"ON" is none of them').waitFor();
    await editor.done();

    await editor.edit('watch');
    assert.equal(await editor.page.locator('#node-input-readings').inputValue(), 'yes');
    assert.match((await message('change').textContent()) ?? '', /Enter a number/);
    await editor.done();
    assert.deepEqual(await stored('watch', refused.watch), refused.watch);
    assert.ok(await marked('watch'));

    await editor.editConfig('strip-account', 'account');
    assert.match((await message('interval').textContent()) ?? '', /Enter a number/);
    assert.ok(await message('interval').isVisible(), 'its section is unfolded');
    await editor.doneConfig();
    assert.equal((await editor.properties('account')).interval, '30 s');

    await editor.edit('switch');
    await editor.chooseType('node-input-mac', 'strip');
    await editor.page.locator('#smart-strip-row-port label', { hasText: '3' }).click();
    await editor.page.locator('#node-input-output').selectOption('same');
    for (const field of ['mac', 'port', 'output'])
      assert.equal(await message(field).textContent(), '', field);
    await editor.done();
    const { macType, port: chosen, output } = await editor.properties('switch');
    assert.deepEqual({ macType, chosen, output }, { macType: 'str', chosen: '3', output: 'same' });
    assert.deepEqual(editor.errors, []);
  });

  it('mark an account without a key again after its Delete button was undone', async () => {
    const node = account(stage.service, { id: 'keyless' });
    delete node.credentials;
    await stage.red.deploy([tab, node]);
    editor = await Editor.open(stage.browser, stage.red.url);
    const isValid = () =>
      editor.page.evaluate(() => {
        const found: unknown[] = [];
        window.RED.nodes.eachConfig((node: { id: string; valid?: boolean }) => {
          if (node.id === 'keyless') found.push(node.valid);
        });
        return found[0];
      });
    await editor.editConfig('strip-account', 'keyless');
    await editor.page.locator('#node-config-input-name').fill('Home');
    await editor.doneConfig();
    assert.equal(await isValid(), false);
    await editor.editConfig('strip-account', 'keyless');
    await editor.page.locator('.red-ui-tray .leftButton').click();
    await editor.configDialog.waitFor({ state: 'detached' });
    // The account is back, and then has its old name.
    await editor.page.evaluate(() => window.RED.actions.invoke('core:undo'));
    await editor.page.evaluate(() => window.RED.actions.invoke('core:undo'));
    assert.equal(await isValid(), false);
  });

  it('can be undone after a deploy where there is no key, and change nothing by themselves', async () => {
    const own: FlowNode = {
      ...account(stage.service, { id: 'simulated', baseUrl: '/undo' }),
      outletNames: [],
      units: { load: '', voltage: '', signal: '' },
      mapping: '',
    };
    delete own.credentials;
    const strips = [{ mac: 'A1B2C3D4E5F6', name: 'Desk' }];
    const simulator = { name: '', path: '/undo', strips, shape: 'plain', latency: '0' };
    await stage.red.deploy([
      tab,
      own,
      placed('watch', 'strip watch', { account: 'simulated' }),
      placed('simulator', 'strip simulator', { ...simulator, y: 200 }),
    ]);
    editor = await Editor.open(stage.browser, stage.red.url);
    await editor.editConfig('strip-account', 'simulated');
    await editor.page.locator('#node-config-input-name').fill('Home');
    await editor.doneConfig();
    await editor.deploy();
    await editor.page.evaluate(() => window.RED.actions.invoke('core:undo'));
    await editor.deploy();
    const flows = await stage.red.getFlows();
    assert.equal(flows.find(({ id }) => id === 'simulated')?.name, '');

    await editor.edit('simulator');
    await editor.done();
    await editor.editConfig('strip-account', 'simulated');
    await editor.doneConfig();
    assert.equal(await editor.page.evaluate(() => window.RED.nodes.dirty()), false);
  });

  it('call no name wrong that is still being typed when the strips come', async () => {
    await open();
    const answer = stage.service.hold('answer');
    await editor.edit(await editor.drop('strip switch', 300, 100));
    await typed().pressSequentially('Des');
    answer();
    await options().first().waitFor();
    assert.equal(await message('mac').textContent(), '');
    await typed().pressSequentially('x');
    await typed().blur();
    assert.match((await message('mac').textContent()) ?? '', /No strip of this account is called “Desx”/);
  });

  it('call no name wrong that is still being typed in the table of outlets', async () => {
    await open();
    await newSwitch();
    await editor.done();
    await editor.editConfig('strip-account', 'account');
    await editor.unfold('Outlets');
    await editor.page.locator('.red-ui-editableList-addButton').click();
    const fault = editor.page.locator('.smart-strip-outlet-row .smart-strip-message');
    await row('mac').pressSequentially('Des');
    assert.equal(await fault.textContent(), '');
    await row('mac').blur();
    assert.match((await fault.textContent()) ?? '', /No strip of this account is called “Des”/);
    await row('mac').pressSequentially('x');
    await editor.page.keyboard.press('Backspace');
    assert.equal(await fault.textContent(), '');
    await row('mac').blur();
    assert.match((await fault.textContent()) ?? '', /No strip of this account is called “Des”/);
    await row('protected').check();
    await row('mac').fill('shed 2');
    // Confirms the dialog without leaving the field.
    await editor.page.keyboard.press('Control+Enter');
    await editor.configDialog.waitFor({ state: 'detached' });
    const { protectedOutlets } = await editor.properties('account');
    assert.deepEqual(protectedOutlets, [{ mac: STRIPS[11]?.mac, port: 1 }]);
  });

  it('mark an account that is to protect an outlet of a strip that it does not have', async () => {
    await open();
    await editor.editConfig('strip-account', 'account');
    await editor.page.locator('#smart-strip-test').click();
    await editor.page.locator('#smart-strip-found table').waitFor();
    const isMarked = () => editor.page.evaluate(() => window.RED.nodes.node('account')?.valid === false);
    const protect = async (mac: string) => {
      await editor.unfold('Outlets');
      if ((await row('mac').count()) === 0)
        await editor.page.locator('.red-ui-editableList-addButton').click();
      await row('mac').fill(mac);
      await row('protected').check();
      await editor.doneConfig();
      return await isMarked();
    };
    assert.equal(await protect('Des'), true);
    await editor.editConfig('strip-account', 'account');
    assert.equal(await protect('shed 2'), false);
    await editor.editConfig('strip-account', 'account');
    // It may be a strip that is switched off.
    assert.equal(await protect('A1B2C3D4E5FF'), false);
  });

  it('leave a type alone that was chosen before the strips came', async () => {
    const only = STRIPS.slice(0, 1);
    const service = await startService({ strips: only });
    try {
      await stage.red.deploy([tab, account(service)]);
      editor = await Editor.open(stage.browser, stage.red.url);
      const answer = service.hold('answer');
      await editor.edit(await editor.drop('strip switch', 300, 100));
      await editor.chooseType('node-input-mac', 'from message');
      answer();
      await bar().getByText('Strips: 1 of 1').waitFor({ state: 'attached' });
      assert.equal(await editor.page.locator('#node-input-macType').inputValue(), 'message');
    } finally {
      await service.close();
    }
  });

  it('keep the focus on a button that asks for something', async () => {
    await open();
    const { page } = editor;
    const isFocused = (button: string) =>
      page.locator(button).evaluate((element) => element === document.activeElement);
    await newSwitch();
    await page.locator('.smart-strip-bar button').focus();
    const refreshed = page.waitForResponse(/\/strips\?refresh/);
    await page.keyboard.press('Enter');
    await (await refreshed).finished();
    assert.ok(await isFocused('.smart-strip-bar button'));
    await editor.done();
    await editor.editConfig('strip-account', 'account');
    await page.locator('#smart-strip-test').focus();
    const asked = stage.service.requests.length;
    const answer = stage.service.hold('answer');
    await page.keyboard.down('Enter');
    await page.keyboard.down('Enter'); // held down
    await page.keyboard.up('Enter');
    answer();
    await page.locator('#smart-strip-found table').waitFor();
    assert.ok(await isFocused('#smart-strip-test'));
    assert.equal(stage.service.requests.length, asked + 1);
  });

  it('remove a row of the table with the space bar, and keep the focus beside it', async () => {
    await open({ outletNames: [1, 2].map((port) => ({ mac: DESK.mac, port, name: 'Lamp' })) });
    await editor.editConfig('strip-account', 'account');
    const table = editor.page.locator('#smart-strip-row-outlets');
    await table.getByRole('button', { name: 'Delete' }).first().press('Space');
    await editor.page.waitForFunction(
      () => document.querySelectorAll('.smart-strip-outlet-row').length === 1,
    );
    await table.getByRole('button', { name: 'add an outlet' }).and(editor.page.locator(':focus')).waitFor();
  });

  it('show that a report for a bug is on its way, once also after a double-click, and nothing of it once they are closed', async () => {
    await open();
    const { page } = editor;
    await editor.editConfig('strip-account', 'account');
    const ask = page.locator('#smart-strip-diagnostics');
    const report = page.locator('dialog');
    const answer = await editor.hold('**/strip-sidebar/diagnostics/*');
    await ask.dblclick();
    await report.getByRole('status').getByText('Reading…').waitFor();
    assert.equal(await report.count(), 1);
    await page.keyboard.press('Escape');
    await report.waitFor({ state: 'detached' });
    await editor.cancelConfig();
    const answered = page.waitForResponse('**/strip-sidebar/diagnostics/*');
    answer();
    await (await answered).finished();
    await editor.turn();
    assert.equal(await report.count(), 0);
  });

  it('keep the units that a user declares', async () => {
    await open();
    await editor.editConfig('strip-account', 'account');
    await editor.unfold('Advanced');
    await editor.page.locator('#smart-strip-unit-load').fill('W');
    await editor.picture('account-advanced');
    await editor.doneConfig();
    assert.deepEqual((await editor.properties('account')).units, { load: 'W', voltage: '', signal: '' });
  });

  it('mark an account without a key before it is deployed, but not before anything was typed', async () => {
    const KEY_MISSING = '✕ Enter the API key: the service refuses requests without one.';
    await stage.red.deploy([tab]);
    editor = await Editor.open(stage.browser, stage.red.url);
    const id = await editor.drop('strip list', 300, 100);
    await editor.edit(id);
    await editor.page.locator('#node-input-btn-account-add').click();
    const key = editor.page.locator('#node-config-input-apiKey');
    await editor.configDialog.waitFor();
    await editor.picture('account-new');
    // Nothing was asked of the user yet.
    const messages = editor.configDialog.locator('.smart-strip-message');
    assert.equal((await messages.allTextContents()).join(''), '');
    await editor.page.locator('#node-config-input-baseUrl').fill('https://strips.example.com');
    assert.equal(await message('apiKey').textContent(), '');
    await key.focus();
    await editor.page.locator('#node-config-input-name').focus();
    assert.equal(await message('apiKey').textContent(), KEY_MISSING);
    assert.match((await key.getAttribute('class')) ?? '', /input-error/);
    await editor.doneConfig();
    await editor.done();
    await editor.node(id).locator('.red-ui-flow-node-error').first().waitFor();
    // A simulator needs none.
    const [accountId = ''] = await editor.configIds('strip-account');
    await editor.editConfig('strip-account', accountId);
    assert.equal(await message('apiKey').textContent(), KEY_MISSING);
    await editor.page.locator('#node-config-input-baseUrl').fill('/strip-simulator');
    assert.equal(await message('apiKey').textContent(), '');
    assert.doesNotMatch((await key.getAttribute('class')) ?? '', /input-error/);
    await editor.doneConfig();
    await editor.node(id).locator('.red-ui-flow-node-error').first().waitFor({ state: 'hidden' });
  });

  for (const dark of [false, true]) {
    it(`are accessible${dark ? ' in the dark theme' : ''}`, async () => {
      const theme = dark ? '-dark' : '';
      await open(
        {
          protectedOutlets: [{ mac: DESK.mac, port: 1 }],
          outletNames: [{ mac: DESK.mac, port: 1, name: 'Lamp' }],
        },
        dark,
      );
      const found: Record<string, Findings> = {};
      const types = Object.entries(SETTINGS).filter(([type]) => type !== 'strip-account');
      for (const [index, [type, settings]] of types.entries()) {
        const id = await editor.drop(type, 300, 100 + index * 90);
        await editor.edit(id);
        if ('mac' in settings) await options().first().click();
        if ('port' in settings)
          await editor.page.locator('#smart-strip-row-port label:has([value="2"])').click();
        if (type === 'strip watch') await editor.page.locator('#node-input-readings').check();
        await editor.picture(`thirty-${type.replace(' ', '-')}${theme}`);
        found[type] = await examine(editor, FORM);
        await editor.done();
      }
      await editor.editConfig('strip-account', 'account');
      await editor.unfold('Outlets');
      await editor.unfold('Polling');
      await editor.unfold('Advanced');
      for (const part of ['#smart-strip-test', '#smart-strip-offer button']) {
        const contrast = await editor.contrast(part);
        assert.ok(contrast >= 4.5, `${part}: ${contrast.toFixed(1)}`);
      }
      await editor.page.locator('#smart-strip-test').click();
      await editor.page.locator('#smart-strip-found table').waitFor();
      const states = editor.page.locator('#smart-strip-found td', { hasText: /^○ off$/ });
      const lines = await states.evaluateAll((cells) =>
        cells.map((cell) => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          return range.getClientRects().length;
        }),
      );
      assert.deepEqual([...new Set(lines)], [1], 'lines of a state');
      await editor.picture(`thirty-strip-account${theme}`);
      found['strip-account'] = await examine(editor, CONFIG_FORM);
      await editor.cancelConfig();
      assert.deepEqual(
        Object.entries(found).flatMap(([type, { ours }]) => ours.map((each) => `${type}: ${each}`)),
        [],
      );
      const inherited = new Set(Object.values(found).flatMap(({ nodeRed }) => nodeRed));
      assert.deepEqual([...inherited].sort(), NODE_RED);
    });
  }

  it('show in a contrast theme of the system what is chosen', async () => {
    await stage.red.deploy([
      tab,
      account(stage.service),
      placed('node', 'strip switch', { mac: DESK.mac, macType: 'str', port: '2', portType: 'port' }),
    ]);
    editor = await Editor.open(stage.browser, stage.red.url);
    const { page } = editor;
    await page.emulateMedia({ forcedColors: 'active' });
    await editor.edit('node');
    await options().first().waitFor();
    const colors = (part: string) =>
      page.locator(part).evaluate((element) => getComputedStyle(element).backgroundColor);
    for (const [chosen, other] of [
      ['[role=option][aria-selected=true]', '[role=option] >> nth=1'],
      ['#smart-strip-row-port label:has(:checked)', '#smart-strip-row-port label:has([value="3"])'],
    ] as const) {
      assert.notEqual(await colors(chosen), await colors(other), chosen);
      assert.ok((await editor.contrast(chosen)) >= 4.5, chosen);
    }
  });

  it('name every field by its label', async () => {
    await open();
    await newSwitch();
    for (const label of ['Strip', 'Outlet', 'Switch', 'Off for', 'Payload', 'Account']) {
      const controls = editor.page.locator(FORM).getByLabel(label);
      assert.ok((await controls.filter({ visible: true }).count()) > 0, label);
    }
    const kind = editor.page.locator('#node-input-mac-kind');
    const name = await kind.evaluate((button) =>
      (button.getAttribute('aria-labelledby') ?? '')
        .split(' ')
        .map((id) => document.getElementById(id)?.textContent.trim())
        .join(' '),
    );
    assert.equal(name, 'Strip strip');
    // There before they say anything, as screen readers need it.
    for (const field of ['mac', 'port', 'account'])
      assert.equal(await message(field).and(editor.page.locator('[aria-live=polite]')).count(), 1, field);
  });

  it('describe a number by its unit, and every field by what is wrong with it, in Firefox, too', async () => {
    await open();
    await editor.editConfig('strip-account', 'account');
    for (const field of ['interval', 'timeout', 'retryFor'])
      assert.match(await descriptionOf(`#node-config-input-${field}`), /^seconds /, field);
    await editor.page.locator('#node-config-input-baseUrl').fill('ftp://strips.example.com');
    assert.match(await descriptionOf('#node-config-input-baseUrl'), /^✕ Enter a base URL/);
  });
});
