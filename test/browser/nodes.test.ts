import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS } from '../../src/settings';
import { account, debug, placed, tab } from '../support/flow';
import { REPOSITORY } from '../support/node-red';
import { until } from '../support/until';
import { Editor } from './editor';
import { setStage } from './stage';

const NODES = Object.entries(SETTINGS).filter(([type]) => type !== 'strip-account');

describe('the nodes in the editor', () => {
  const stage = setStage();
  let editor: Editor;

  afterEach(async () => {
    await editor.close();
  });

  const open = async (options?: Parameters<typeof Editor.open>[2]) => {
    editor = await Editor.open(stage.browser, stage.red.url, options);
  };
  const withAccount = async () => {
    await stage.red.deploy([tab, account(stage.service)]);
    await open();
  };
  const message = (field: string) => editor.page.locator(`#smart-strip-row-${field} .smart-strip-message`);
  const option = (name: string) => editor.page.locator('[role=option]', { hasText: name });
  const outletRow = (part: string) =>
    editor.page.locator(`.smart-strip-outlet-row [data-part=${part}]`).last();
  const visible = (field: string) => editor.page.locator(`#smart-strip-row-${field}`).isVisible();

  it('can each be dragged in, opened and deployed', async () => {
    await withAccount();
    const ids: string[] = [];
    for (const [index, [type, settings]] of NODES.entries()) {
      const id = await editor.drop(type, 300, 100 + index * 90);
      ids.push(id);
      await editor.edit(id);
      if ('mac' in settings) await option('Desk strip').click();
      if ('port' in settings) await editor.page.locator('label:has([value="2"])').click();
      await editor.picture(`fresh-${type.replace(' ', '-')}`);
      await editor.done();
    }
    await editor.picture('canvas');
    await editor.deploy();
    const types = (await stage.red.getFlows()).map(({ type }) => type);
    for (const [type] of NODES) assert.ok(types.includes(type), type);
    assert.deepEqual(editor.errors, []);
  });

  it('are configured with the pickers, and then say what they do', async () => {
    const { service } = stage;
    service.simulator.apply({ mac: 'A1B2C3D4E5F6', port: 2, on: true });
    await withAccount();
    const id = await editor.drop('strip switch', 300, 100);
    await editor.edit(id);
    assert.equal(await editor.page.locator('#node-input-account').inputValue(), 'account');
    await option('Desk strip').click();
    const second = editor.page.locator('#smart-strip-row-port label:has([value="2"])');
    assert.equal(await second.textContent(), '2● on');
    await second.click();
    await editor.chooseType('node-input-on', 'action');
    assert.equal(await visible('delay'), false);
    await editor.page.locator('label:has([value="cycle"])').click();
    assert.equal(await visible('delay'), true);
    await editor.page.locator('label:has([value="toggle"])').click();
    await editor.picture('switch-configured');
    await editor.done();
    await editor.expectLabel(id, 'Desk strip: 2, toggle');
    const { mac, macType, port, portType, on, onType } = await editor.properties(id);
    assert.deepEqual(
      { mac, macType, port, portType, on, onType },
      { mac: 'A1B2C3D4E5F6', macType: 'str', port: '2', portType: 'port', on: 'toggle', onType: 'action' },
    );
  });

  it('are configured by hand, with the keyboard alone for the buttons', async () => {
    await withAccount();
    const id = await editor.drop('strip switch', 300, 100);
    await editor.edit(id);
    await editor.page.locator('#node-input-mac-typed').fill('00:11:22:33:44:55');
    const chosen = editor.page.locator('#smart-strip-row-port :checked');
    await editor.page.locator('#smart-strip-row-port [type=radio]').first().focus();
    await editor.page.keyboard.press('ArrowRight');
    assert.equal(await chosen.getAttribute('value'), '2');
    await editor.page.keyboard.press('ArrowRight');
    assert.equal(await chosen.getAttribute('value'), '3');
    assert.ok(await chosen.evaluate((button) => button === document.activeElement));
    await editor.done();
    const { mac, port, on, onType } = await editor.properties(id);
    assert.deepEqual(
      { mac, port, on, onType },
      { mac: '00:11:22:33:44:55', port: '3', on: '', onType: 'message' },
    );
    await editor.expectLabel(id, '00:11:22:33:44:55: 3');
  });

  it('offer the strips of an account that is not deployed yet', async () => {
    await stage.red.deploy([tab]);
    await open();
    const id = await editor.drop('strip status', 300, 100);
    await editor.edit(id);
    await editor.page.locator('#node-input-btn-account-add').click();
    await editor.page.locator('#node-config-input-baseUrl').fill(stage.service.baseUrl);
    await editor.page.locator('#node-config-input-apiKey').fill(stage.service.apiKey);
    await editor.doneConfig();
    await option('Desk strip').click();
    assert.equal(await visible('output'), false);
    await editor.page.locator('#smart-strip-row-port label:has([value="1"])').click();
    assert.equal(await visible('output'), true);
    assert.equal(await editor.page.locator('#node-input-output').inputValue(), 'on');
    await editor.picture('status-configured');
    await editor.done();
    await editor.expectLabel(id, 'Desk strip: 1');
  });

  it('offer all strips of an account that has dealt with only one of them, and choose none of them', async () => {
    await stage.red.deploy([
      tab,
      account(stage.service),
      placed('status', 'strip status', { mac: 'A1B2C3D4E5F6', macType: 'str' }, ['out']),
      debug('out'),
    ]);
    const after = stage.red.comms.mark;
    await stage.red.inject('status');
    await stage.red.debug('out', after);
    await open();
    const id = await editor.drop('strip switch', 300, 300);
    await editor.edit(id);
    await option('Media strip').waitFor();
    assert.equal(await editor.page.locator('#node-input-mac-typed').inputValue(), '');
    await editor.done();
  });

  it('say in a subflow that each of its instances has an account of its own', async () => {
    const ui = { type: 'conf-types' };
    const subflow = {
      id: 'subflow',
      type: 'subflow',
      name: 'Outlet',
      info: '',
      in: [],
      out: [],
      meta: {},
      env: [
        { name: 'ACCOUNT', type: 'strip-account', value: '', ui },
        { name: 'SERVICE', type: 'str', value: stage.service.baseUrl },
      ],
    };
    const inside = { z: 'subflow', macType: 'str' };
    const baseUrl = '${SERVICE}';
    const inner = { ...account(stage.service, { id: 'inner', name: 'Inner', baseUrl }), z: 'subflow' };
    await stage.red.deploy([
      tab,
      subflow,
      inner,
      placed('chosen', 'strip switch', { ...inside, account: '${ACCOUNT}' }),
      placed('own', 'strip switch', { ...inside, account: 'inner', y: 200 }),
    ]);
    await open();
    await editor.showTab('subflow');
    for (const [id, chosen] of [
      ['chosen', '${ACCOUNT}'],
      ['own', 'inner'],
    ] as const) {
      await editor.edit(id);
      const offered = await editor.page
        .locator('#node-input-account option')
        .evaluateAll((options: HTMLOptionElement[]) => options.map(({ value }) => value));
      assert.equal(offered.filter((value) => value === '${ACCOUNT}').length, 1);
      assert.equal(await editor.page.locator('#node-input-account').inputValue(), chosen);
      await editor.page.locator('.smart-strip-bar').getByText('each instance of the subflow').waitFor();
      await editor.done();
    }
    // The variable is set in the instances.
    await editor.editConfig('strip-account', 'inner');
    await editor.page.locator('#smart-strip-test').click();
    await editor.page.locator('#smart-strip-result').getByText('each instance of the subflow').waitFor();
    // Diagnostics are those of a running account, and only the instances have one.
    assert.equal(await editor.page.locator('#smart-strip-diagnostics').isVisible(), false);
    await editor.doneConfig();
    assert.deepEqual(editor.errors, []);
  });

  it('stay where they are when their labels get the names of strips, in a group and in a flow that is not shown, too', async () => {
    const fixed = { mac: 'A1B2C3D4E5F6', macType: 'str', port: '1', portType: 'port' };
    const size = { x: 100, y: 300, w: 500, h: 100 };
    await stage.red.deploy([
      tab,
      { ...tab, id: 'other' },
      { id: 'group', type: 'group', z: 'tab', name: '', style: {}, nodes: ['grouped'], ...size },
      account(stage.service),
      placed('shown', 'strip switch', { ...fixed, y: 100 }),
      placed('grouped', 'strip switch', { ...fixed, y: 350, g: 'group' }),
      placed('hidden', 'strip switch', { ...fixed, z: 'other' }),
    ]);
    await open();
    // Before the account is asked for its strips, Node-RED does not know the shorter name.
    await editor.showTab('other');
    await editor.expectLabel('hidden', 'A1B2C3D4E5F6: 1');
    await editor.showTab('tab');
    await editor.expectLabel('shown', 'A1B2C3D4E5F6: 1');
    await editor.edit('shown');
    await option('Desk strip').waitFor();
    await editor.done();
    for (const id of ['shown', 'grouped']) await editor.expectLabel(id, 'Desk strip: 1');
    await editor.showTab('other');
    await editor.expectLabel('hidden', 'Desk strip: 1');
    await editor.drawn();
    const nodes = await Promise.all(['shown', 'grouped', 'hidden'].map((id) => editor.properties(id)));
    assert.deepEqual(
      nodes.map(({ x }) => x),
      [300, 300, 300],
    );
    const { x, w } = await editor.properties('group');
    assert.ok(Number.isFinite(x) && Number.isFinite(w));
    assert.deepEqual(editor.errors, []);
  });

  it('keep a variable in place of a choice', async () => {
    await stage.red.deploy([
      tab,
      account(stage.service),
      placed('node', 'strip list', { output: '${OUTPUT}' }),
    ]);
    await open();
    await editor.edit('node');
    assert.equal(await editor.page.locator('#node-input-output').inputValue(), '${OUTPUT}');
    await editor.done();
    assert.equal((await editor.properties('node')).output, '${OUTPUT}');
  });

  it('show a variable in place of an outlet or an action as one more button, and the delay that it may need', async () => {
    const fixed = { mac: 'A1B2C3D4E5F6', macType: 'str' };
    const variables = { port: '${PORT}', portType: 'port', on: '${ACTION}', onType: 'action' };
    await stage.red.deploy([
      tab,
      account(stage.service),
      placed('switch', 'strip switch', { ...fixed, ...variables }),
      placed('watch', 'strip watch', { ...fixed, port: '${PORT}', y: 100 }),
    ]);
    await open();
    const chosen = editor.page.locator('.smart-strip-segments label:has(:checked)');
    await editor.edit('switch');
    await option('Desk strip').waitFor();
    assert.deepEqual(await chosen.allInnerTexts(), ['${PORT}', '${ACTION}']);
    assert.equal(await visible('delay'), true);
    // Another one can be chosen, and the variable again.
    await editor.page.locator('label:has([value="toggle"])').click();
    assert.equal(await visible('delay'), false);
    await editor.page.locator('label', { hasText: '${ACTION}' }).click();
    await editor.done();
    const { port, on } = await editor.properties('switch');
    assert.deepEqual([port, on], ['${PORT}', '${ACTION}']);
    await editor.edit('watch');
    assert.deepEqual(await chosen.allInnerTexts(), ['${PORT}']);
    await editor.done();
    assert.equal((await editor.properties('watch')).port, '${PORT}');
  });

  it('keep a variable in place of an account, whose strips only the runtime knows', async () => {
    const variable = { account: '${ACCOUNT}', macType: 'str' };
    await stage.red.deploy([tab, account(stage.service), placed('node', 'strip switch', variable)]);
    await open();
    await editor.edit('node');
    assert.equal(await editor.page.locator('#node-input-account').inputValue(), '${ACCOUNT}');
    assert.equal(await message('account').textContent(), '');
    await editor.page.locator('.smart-strip-bar').getByText('Choose an account to see its strips').waitFor();
    await editor.done();
    assert.equal((await editor.properties('node')).account, '${ACCOUNT}');
    assert.deepEqual(editor.errors, []);
  });

  it('explain what is wrong beside the field', async () => {
    await withAccount();
    const id = await editor.drop('strip switch', 300, 100);
    await editor.edit(id);
    const leave = () => editor.page.locator('#node-input-name').focus();
    await option('Desk strip').waitFor();
    await editor.page.locator('#node-input-mac-typed').fill('Office');
    await leave();
    assert.match((await message('mac').textContent()) ?? '', /No strip of this account is called “Office”/);
    await editor.page.locator('#node-input-mac-typed').fill('001122334455');
    await leave();
    assert.match((await message('mac').textContent()) ?? '', /^⚠ Check the MAC: this account lists no strip/);
    await editor.page.locator('#node-input-mac-typed').fill('');
    await leave();
    assert.match((await message('mac').textContent()) ?? '', /Choose a strip/);
    await editor.page.locator('#node-input-delay-typed').fill('4000');
    assert.match((await message('delay').textContent()) ?? '', /from 1 to 3600/);
    await editor.picture('switch-invalid');
    await editor.done();
    await editor.node(id).locator('.red-ui-flow-node-error').first().waitFor();
  });

  it('show what a flow holds as text where the list of config nodes says what is wrong', async () => {
    const mapping = '"b" "<img src=x onerror=window.hacked=1>"';
    await stage.red.deploy([tab, account(stage.service, { mapping })]);
    await open();
    await editor.page.evaluate(() => window.RED.sidebar.show('config'));
    await editor.page.locator('.red-ui-palette-node-annotations.red-ui-flow-node-error').hover();
    const tip = editor.page.locator('.red-ui-popover-content');
    await tip.getByText('Invalid JSONata expression').waitFor();
    assert.match((await tip.textContent()) ?? '', /img src=x onerror/);
    assert.equal(await editor.page.evaluate(() => 'hacked' in window), false);
  });

  it('call the account as the dialog does in the tip of a node that has none', async () => {
    await stage.red.deploy([tab, placed('list', 'strip list', { account: '' })]);
    editor = await Editor.open(stage.browser, stage.red.url, { locale: 'de' });
    await editor.node('list').locator('.red-ui-flow-node-error').hover();
    await editor.page.locator('text.red-ui-flow-port-tooltip-label', { hasText: 'Konto: ' }).waitFor();
  });

  it('do not mark a node because of a delay that counts for nothing, and that its dialog does not show', async () => {
    const chosen = { mac: 'A1B2C3D4E5F6', macType: 'str', port: '1', portType: 'port' };
    const cycle = { ...chosen, on: 'cycle', onType: 'action', delay: '0', delayType: 'num' };
    await stage.red.deploy([tab, account(stage.service), placed('switch', 'strip switch', cycle)]);
    await open();
    const mark = editor.node('switch').locator('.red-ui-flow-node-error');
    await mark.waitFor();
    await editor.edit('switch');
    const message = editor.page.locator('#smart-strip-message-delay');
    await message.filter({ hasText: 'from 1 to 3600' }).waitFor();
    const action = (name: string) =>
      editor.page.locator(`#smart-strip-row-on label:has([value="${name}"])`).click();
    await action('toggle');
    assert.equal(await editor.page.locator('#smart-strip-row-delay').isVisible(), false);
    await action('cycle');
    await message.filter({ hasText: 'from 1 to 3600' }).waitFor();
    await action('toggle');
    await editor.done();
    await mark.waitFor({ state: 'hidden' });
  });

  it('show of a watch node only what matters', async () => {
    await withAccount();
    const id = await editor.drop('strip watch', 300, 100);
    await editor.edit(id);
    assert.deepEqual(
      [await visible('port'), await visible('output'), await visible('change')],
      [true, true, false],
    );
    await editor.page.locator('#node-input-readings').check();
    assert.equal(await visible('change'), true);
    await editor.page.locator('#node-input-change').fill('-1');
    assert.match((await message('change').textContent()) ?? '', /from 0 to 1000000/);
    await editor.page.locator('#node-input-readings').uncheck();
    await editor.page.locator('#node-input-outlets').uncheck();
    assert.equal(await visible('port'), false);
    assert.match((await message('send').textContent()) ?? '', /never sends anything/);
    await editor.page.locator('#node-input-outlets').check();
    await editor.page.locator('#smart-strip-row-port label:has([value="2"])').click();
    await editor.picture('watch-configured');
    await editor.done();
    assert.equal((await editor.properties(id)).port, '2');
    await editor.expectLabel(id, 'every strip: outlet 2');
    assert.equal(await editor.node(id).locator('.red-ui-flow-node-error').isVisible(), false);
    await editor.edit(id);
    await editor.page.locator('#node-input-readings').check();
    assert.match((await message('change').textContent()) ?? '', /from 0 to 1000000/);
    await editor.done();
    await editor.node(id).locator('.red-ui-flow-node-error').first().waitFor();
  });

  it('say of a watch node that its outlet does not exist', async () => {
    await stage.red.deploy([tab, account(stage.service), placed('watch', 'strip watch', { port: '7' })]);
    await open();
    await editor.edit('watch');
    assert.match((await message('port').textContent()) ?? '', /Choose an outlet/);
  });

  it('send on/off of one outlet where the flow does not say what to send', async () => {
    const status = { id: 'status', type: 'strip status', z: tab.id, x: 200, y: 100, wires: [[]] };
    await stage.red.deploy([tab, account(stage.service), { ...status, account: 'account', port: '2' }]);
    await open();
    await editor.edit('status');
    assert.equal(await editor.page.locator('#node-input-output').inputValue(), 'on');
  });

  it('keep what a status node sends of one outlet where the whole strip was chosen in between', async () => {
    const more = { mac: 'A1B2C3D4E5F6', macType: 'str', port: '2', portType: 'port', output: 'port-on' };
    await stage.red.deploy([tab, account(stage.service), placed('status', 'strip status', more)]);
    await open();
    await editor.edit('status');
    for (const port of ['', '2'])
      await editor.page.locator(`#smart-strip-row-port label:has([value="${port}"])`).click();
    assert.equal(await editor.page.locator('#node-input-output').inputValue(), 'port-on');
  });

  it('save the default where the flow lacks a property or has an empty one', async () => {
    const odd = { macType: ' ', onType: null, output: '', readings: 'false', topic: null, strips: 'none' };
    const nodes = NODES.flatMap(([type], index) => {
      const y = 60 + 60 * index;
      return [
        placed(`bare ${type}`, type, { x: 200, y }),
        placed(`odd ${type}`, type, { x: 500, y, ...odd }),
      ];
    });
    await stage.red.deploy([tab, account(stage.service), ...nodes]);
    await open();
    for (const [id, expected] of [
      [
        'strip switch',
        { macType: 'message', onType: 'message', delay: '5', delayType: 'num', output: 'same' },
      ],
      ['strip watch', { macType: 'str', outlets: true, readings: false, change: '0', output: 'on' }],
      ['strip mqtt', { topic: 'smart-strip', discovery: 'homeassistant' }],
      ['strip simulator', { path: '/strip-simulator', strips: SETTINGS['strip simulator'].strips.default }],
    ] as const) {
      for (const kind of ['bare', 'odd']) {
        await editor.edit(`${kind} ${id}`);
        await editor.done();
        const saved = await editor.properties(`${kind} ${id}`);
        assert.deepEqual({ ...saved, ...expected }, saved, `${kind} ${id}`);
      }
    }
    assert.equal((await editor.properties('bare strip mqtt')).readings, true);
    assert.deepEqual(editor.errors, []);
  });

  it('may be closed before the strips have come', async () => {
    const nodes = ['strip switch', 'strip watch'].map((type, index) =>
      placed(type, type, { y: 100 + 100 * index, macType: 'str' }),
    );
    await stage.red.deploy([tab, account(stage.service), ...nodes]);
    await open();
    for (const { id } of nodes) {
      const release = stage.service.hold('answer');
      await editor.edit(id);
      const answered = editor.page.waitForResponse(/\/strips\?refresh/);
      await editor.done();
      release();
      await answered;
    }
    await editor.edit('strip switch');
    await option('Desk strip').waitFor();
    assert.deepEqual(editor.errors, []);
  });

  it('take a name that was typed before the strips came for that of its strip', async () => {
    await stage.red.deploy([tab, account(stage.service), placed('node', 'strip switch', { macType: 'str' })]);
    await open();
    const release = stage.service.hold('answer');
    await editor.edit('node');
    await editor.page.locator('#node-input-mac-typed').fill('desk strip');
    await editor.page.locator('#node-input-name').focus();
    release();
    await option('Desk strip').and(editor.page.locator('[aria-selected=true]')).waitFor();
    await editor.done();
    assert.equal((await editor.properties('node')).mac, 'A1B2C3D4E5F6');
  });

  it('say that the list may be incomplete, and do not choose the only strip in it', async () => {
    await withAccount();
    const strips = [{ mac: 'A1B2C3D4E5F6', name: 'Desk strip', outlets: [true, false, false, false] }];
    const headers = { 'x-total-count': '57' };
    stage.service.always({ kind: 'answer', status: 200, json: strips, headers });
    try {
      await editor.edit(await editor.drop('strip switch', 300, 100));
      await option('Desk strip').waitFor();
      await editor.page.getByText(/^Strips: 1 of 1 · The list may be incomplete/).waitFor();
      assert.equal(await editor.page.locator('#node-input-mac-typed').inputValue(), '');
      await editor.picture('picker-part');
    } finally {
      stage.service.always(null);
    }
  });

  it('choose the only strip of the account again when another account is chosen', async () => {
    const other = account(stage.service, { id: 'other', name: 'Other' });
    await stage.red.deploy([tab, account(stage.service), other]);
    await open();
    const choose = async (chosen: string, name: string, macs: readonly string[]) => {
      const json = macs.map((mac) => ({ mac, name, outlets: [true, false, false, false] }));
      stage.service.always({ kind: 'answer', status: 200, json });
      await editor.page.locator('#node-input-account').selectOption(chosen);
      await option(name).first().waitFor();
    };
    const field = editor.page.locator('#node-input-mac-typed');
    try {
      await editor.edit(await editor.drop('strip switch', 300, 100));
      await choose('account', 'Only one', ['A1B2C3D4E5F6']);
      await until('the only strip', async () => (await field.inputValue()) === 'A1B2C3D4E5F6', 10_000);
      await choose('other', 'Its own', ['B1B2C3D4E5F6']);
      await until(
        'the only strip of the other account',
        async () => (await field.inputValue()) === 'B1B2C3D4E5F6',
        10_000,
      );
      await choose('account', 'One of two', ['A1B2C3D4E5F6', 'A1B2C3D4E5F7']);
      assert.equal(await field.inputValue(), '');
      // What the user has chosen stays.
      await option('One of two').first().click();
      await choose('other', 'Its own', ['B1B2C3D4E5F6']);
      assert.equal(await field.inputValue(), 'A1B2C3D4E5F6');
    } finally {
      stage.service.always(null);
    }
  });

  it('ask for the strips once when they are opened, and again when their button is pressed', async () => {
    await stage.red.deploy([tab, account(stage.service), placed('node', 'strip switch', { macType: 'str' })]);
    await open();
    const asked: string[] = [];
    editor.page.on('request', (request) => {
      if (request.url().includes('/strips?refresh')) asked.push(request.url());
    });
    const { requests } = stage.service;
    const before = requests.length;
    await editor.edit('node');
    await option('Desk strip').waitFor();
    assert.equal(asked.length, 1);
    assert.equal(requests.slice(before).filter(({ path }) => path.endsWith('/strips')).length, 1);
    const again = editor.page.waitForResponse(/\/strips\?refresh/);
    await editor.page.getByRole('button', { name: 'Ask the service for its strips again' }).click();
    await again;
    assert.equal(asked.length, 2);
  });

  it('say that the list could not be read, and not that there are no strips', async () => {
    await stage.red.deploy([tab, account(stage.service), placed('node', 'strip switch', { macType: 'str' })]);
    await open();
    stage.service.always({ kind: 'answer', status: 200, json: { hello: 'world' } });
    try {
      await editor.edit('node');
      await editor.page.getByText('was not recognised: press Test connection').waitFor();
      stage.service.always({ kind: 'answer', status: 200, json: [] });
      await editor.page.getByRole('button', { name: 'Ask the service for its strips again' }).click();
      await editor.page.getByText('The account has no strips').waitFor();
    } finally {
      stage.service.always(null);
    }
  });

  it('ask to choose an account first, and cannot ask for strips until then', async () => {
    await stage.red.deploy([tab]);
    await open();
    await editor.edit(await editor.drop('strip switch', 300, 100));
    await editor.page.getByText('Choose an account to see its strips').waitFor();
    assert.ok(await editor.page.locator('.smart-strip-bar button').isDisabled());
  });

  it('show no outlets of the account before while another one is asked, or none is chosen', async () => {
    const mac = 'A1B2C3D4E5F6';
    const outletNames = [{ mac, port: 2, name: 'Lamp' }];
    await stage.red.deploy([
      tab,
      account(stage.service, { outletNames }),
      account(stage.service, { id: 'other' }),
      placed('node', 'strip switch', { mac, macType: 'str', port: '2', portType: 'port' }),
    ]);
    await open();
    await editor.edit('node');
    const second = editor.page.locator('#smart-strip-row-port label:has([value="2"])');
    await second.getByText(/^. (on|off)$/).waitFor();
    assert.equal(await second.locator('span').textContent(), '2 Lamp');
    const answer = stage.service.hold();
    for (const chosen of ['other', '_ADD_']) {
      await editor.page.locator('#node-input-account').selectOption('account');
      await second.getByText('2 Lamp').waitFor();
      await editor.page.locator('#node-input-account').selectOption(chosen);
      assert.equal(await second.textContent(), '2', chosen);
    }
    answer();
  });

  for (const [what, flow, properties] of [
    ['an account is', tab, { d: true }],
    ['the flow of an account is', { ...tab, disabled: true }, { z: tab.id }],
  ] as const) {
    it(`say that ${what} disabled, and ask for nothing`, async () => {
      const node = placed('node', 'strip switch', { mac: 'A1B2C3D4E5F6', macType: 'str' });
      await stage.red.deploy([flow, account(stage.service, properties), node]);
      await open();
      await editor.edit('node');
      await editor.page.getByText('Enable this account').waitFor();
      assert.deepEqual(editor.errors, []);
    });
  }

  it('mark simulators with the same path before they are deployed, also when the other one changes', async () => {
    const simulator = (id: string, path: string, more: object = {}) => ({
      ...{ id, type: 'strip simulator', z: tab.id, name: '', x: 200, y: 100, wires: [[]] },
      ...{ path, strips: [], ...more },
    });
    await stage.red.deploy([tab, simulator('first', '/a'), simulator('second', '/b', { y: 200 })]);
    await open();
    const isMarked = (id: string) => editor.node(id).locator('.red-ui-flow-node-error').isVisible();
    const message = editor.page.locator('#smart-strip-message-path');
    const rename = async (id: string, path: string) => {
      await editor.edit(id);
      await editor.page.locator('#node-input-path').fill(path);
    };
    await rename('second', '/a/');
    assert.match((await message.textContent()) ?? '', /another simulator has this path/);
    await editor.done();
    await editor.node('first').locator('.red-ui-flow-node-error').waitFor();
    assert.ok(await isMarked('second'));
    await rename('first', '/c');
    assert.equal(await message.textContent(), '');
    await editor.done();
    await editor.node('second').locator('.red-ui-flow-node-error').waitFor({ state: 'hidden' });
    assert.equal(await isMarked('first'), false);
    await editor.page.evaluate(() => window.RED.actions.invoke('core:undo'));
    await editor.node('second').locator('.red-ui-flow-node-error').waitFor();
    await editor.node('second').locator('.red-ui-flow-node').first().click();
    await editor.page.keyboard.press('Delete');
    await editor.node('first').locator('.red-ui-flow-node-error').waitFor({ state: 'hidden' });
  });

  it('show the status of a simulator below it, and below a subflow that shows it, too', async () => {
    const simulator = (id: string, path: string, z = tab.id) =>
      placed(id, 'strip simulator', { z, name: '', path, strips: [] });
    const status = { x: 400, y: 100, wires: [{ id: 'listener', port: 0 }] };
    const flows = [
      { id: 'subflow', type: 'subflow', name: 'Inside', info: '', in: [], out: [], env: [], status },
      simulator('second', '/shared', 'subflow'),
      placed('listener', 'status', { z: 'subflow', scope: null }),
      placed('instance', 'subflow:subflow', { wires: [] }),
      { ...simulator('alone', '/alone'), y: 100 },
    ];
    // Status nodes hear nothing of what is shown while nodes are created, but of what changes when the path is free.
    await stage.red.deploy([tab, simulator('first', '/shared'), ...flows]);
    await stage.red.deploy([tab, ...flows], 'nodes');
    await open();
    for (const id of ['alone', 'instance']) {
      await editor.node(id).locator('.red-ui-flow-node-status-label', { hasText: /./ }).waitFor();
      assert.equal(await editor.statusText(id), 'simulated');
    }
  });

  it('keep the outlets of a simulated strip, and name them', async () => {
    const strips = [{ mac: 'A1', name: 'Desk', outlets: [{ name: 'Lamp', on: true }, { on: false }] }];
    const simulator = { id: 'simulator', type: 'strip simulator', z: tab.id, x: 200, y: 100, wires: [[]] };
    await stage.red.deploy([tab, { ...simulator, name: '', path: '/sim', strips }]);
    await open();
    await editor.edit('simulator');
    // The flow does not say how it answers.
    assert.equal(await editor.page.locator('#node-input-shape').inputValue(), 'plain');
    await editor.done();
    assert.deepEqual((await editor.properties('simulator')).strips, strips);
    await editor.edit('simulator');
    assert.equal(await editor.page.getByLabel('Outlet 1').inputValue(), 'Lamp');
    await editor.page.getByLabel('Outlet 2').fill('Fan');
    await editor.done();
    const [lamp, fan] = strips[0]?.outlets ?? [];
    assert.deepEqual((await editor.properties('simulator')).strips, [
      { ...strips[0], outlets: [lamp, { ...fan, name: 'Fan' }, { on: false }, { on: false }] },
    ]);
  });

  it('mark the MACs of simulated strips that are missing, impossible or there twice, and nothing else', async () => {
    const strips = ['A1', 'A2', 'A3'].map((mac) => ({ mac, name: '' }));
    const simulator = { id: 'simulator', type: 'strip simulator', z: tab.id, x: 200, y: 100, wires: [[]] };
    await stage.red.deploy([tab, { ...simulator, name: '', path: '/sim', strips }]);
    await open();
    await editor.edit('simulator');
    const macs = editor.page.locator('#smart-strip-strips [data-part=mac]');
    const wrong = editor.page.locator('#smart-strip-strips [aria-invalid=true]');
    const wrongMacs = () =>
      wrong.evaluateAll((fields: HTMLInputElement[]) => fields.map(({ value }) => value));
    const message = editor.page.locator('#smart-strip-message-strips');
    assert.deepEqual(await wrongMacs(), []);
    await macs.nth(2).fill('a-1');
    assert.equal(await message.textContent(), '✕ Give each strip a MAC of its own: two have the same.');
    assert.deepEqual(await wrongMacs(), ['A1', 'a-1']);
    await macs.nth(2).fill('..');
    assert.equal(await message.textContent(), '✕ ".." cannot be a MAC: use letters, digits, “:” and “-”.');
    assert.deepEqual(await wrongMacs(), ['..']);
    await macs.nth(2).fill('');
    assert.equal(await message.textContent(), '✕ Every strip needs a MAC.');
    assert.deepEqual(await wrongMacs(), ['']);
    await editor.page.locator('#smart-strip-strips .red-ui-editableList-item-remove').nth(2).click();
    await editor.page.waitForFunction(
      () => !document.querySelector('#smart-strip-strips [aria-invalid=true]'),
    );
    assert.equal(await message.textContent(), '');
  });

  it('add a simulated strip with a MAC of its own, so that it is not wrong before anything is typed', async () => {
    const strips = ['A1B2C3D4E5F6', 'a1:b2:c3:d4:e5:f7'].map((mac) => ({ mac, name: '' }));
    const simulator = { id: 'simulator', type: 'strip simulator', z: tab.id, x: 200, y: 100, wires: [[]] };
    await stage.red.deploy([tab, { ...simulator, name: '', path: '/sim', strips }]);
    await open();
    await editor.edit('simulator');
    const add = editor.page.locator('#smart-strip-row-strips .red-ui-editableList-addButton');
    const added = editor.page.locator('#smart-strip-strips [data-part=mac]').nth(2);
    await add.click();
    await added.and(editor.page.locator(':focus')).waitFor();
    assert.equal(await editor.page.locator('#smart-strip-message-strips').textContent(), '');
    assert.equal(await added.getAttribute('aria-invalid'), 'false');
    await add.click();
    await editor.done();
    const macs = (await editor.properties('simulator')).strips as { mac: string }[];
    assert.deepEqual(
      macs.slice(2).map(({ mac }) => mac),
      ['A1B2C3D4E5F8', 'A1B2C3D4E5F9'],
    );
  });

  it('keep protected outlets in the account', async () => {
    await withAccount();
    await editor.editConfig('strip-account', 'account');
    await editor.unfold('Outlets');
    await editor.page.locator('.red-ui-editableList-addButton').click();
    await outletRow('mac').fill('A1B2C3D4E5F6');
    await outletRow('port').selectOption('3');
    await outletRow('protected').check();
    await editor.picture('account-protected');
    await editor.doneConfig();
    await editor.deploy();
    const stored = (await stage.red.getFlows()).find(({ id }) => id === 'account');
    assert.ok(stored);
    assert.deepEqual(stored.protectedOutlets, [{ mac: 'A1B2C3D4E5F6', port: 3 }]);
    assert.equal('apiKey' in stored, false);
  });

  it('can be edited and deployed where the editor script is missing', async () => {
    await stage.red.deploy([tab, account(stage.service)]);
    await open({ blockScript: true });
    const id = await editor.drop('strip switch', 300, 100);
    await editor.edit(id);
    await editor.page.locator('#node-input-account').selectOption('account');
    await editor.page.locator('#node-input-mac').fill('A1B2C3D4E5F6');
    await editor.page.locator('#node-input-macType').fill('str');
    await editor.done();
    await editor.deploy();
    const { mac, macType } = await editor.properties(id);
    assert.deepEqual({ mac, macType }, { mac: 'A1B2C3D4E5F6', macType: 'str' });
  });

  it('have help texts that need no scrolling sideways in the narrow sidebar of Node-RED 5', async () => {
    await open();
    const locales = join(REPOSITORY, 'nodes/locales');
    const files = readdirSync(locales, { recursive: true, encoding: 'utf8' });
    const panels = files
      .filter((file) => file.endsWith('.html'))
      .map((file) => ({ file, help: readFileSync(join(locales, file), 'utf8') }));
    const tooWide = await editor.page.evaluate((panels) => {
      const panel = document.createElement('div');
      panel.className = 'red-ui-help';
      panel.style.width = '267px';
      document.querySelector('.red-ui-editor')?.append(panel);
      return panels.filter(({ help }) => {
        panel.innerHTML = help.replace(/<.?script[^>]*>/g, '');
        return panel.scrollWidth > panel.clientWidth;
      });
    }, panels);
    assert.deepEqual(
      tooWide.map(({ file }) => file),
      [],
    );
  });

  it('can be read in the dark theme', async () => {
    await stage.red.deploy([tab, account(stage.service)]);
    await open({ dark: true });
    const id = await editor.drop('strip switch', 300, 100);
    await editor.edit(id);
    await option('Desk strip').click();
    await editor.page.locator('#smart-strip-row-port label:has([value="2"])').click();
    await editor.picture('dark-switch');
    for (const part of [
      '.smart-strip-list li',
      '.smart-strip-hint',
      '.smart-strip-segments label:has(:checked)',
      '.smart-strip-segments label',
    ]) {
      const contrast = await editor.contrast(part);
      assert.ok(contrast >= 4.5, `${part}: ${contrast.toFixed(1)}`);
    }
  });
});
