import assert from 'node:assert/strict';
import { placed, tab } from '../support/flow';
import { STRIPS } from '../support/service';
import { posting } from '../support/node-red-admin';
import { Editor } from './editor';
import { INTERVAL, setSidebar, Sidebar } from './sidebar';

const [{ mac: DESK }, { mac: MEDIA }] = STRIPS;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('the accounts in the sidebar', () => {
  const { stage, home, edit, open } = setSidebar();

  it('says when the service is down and why, and when it is back', async () => {
    stage.service.simulator.apply({ mac: DESK, port: 1, on: true });
    await stage.red.deploy([tab, home()]);
    const { bar } = await open();
    await bar.shows('Desk strip, outlet 1', true);
    const readings = bar.strip('Desk strip').getByText(/Load \d/);
    await readings.waitFor();
    await stage.service.stopListening();
    try {
      await bar.state('Home').getByText('unreachable').waitFor();
      const label = 'Desk strip, outlet 1: state unknown, switch on';
      await bar.button(label).waitFor();
      // The title explains the question mark.
      assert.equal(await bar.button(label).getAttribute('title'), label);
      assert.equal(await bar.root.getByRole('switch').count(), 0);
      assert.equal(await bar.strip('Desk strip').getByText('unavailable').count(), 1);
      assert.equal(await readings.count(), 0);
      await bar.button('Desk strip').click();
      assert.doesNotMatch((await bar.strip('Desk strip').textContent()) ?? '', /of 4 on/);
      await bar.button('Desk strip').click();
      await bar
        .account('Home')
        .getByText(/refuses connections/)
        .waitFor();
    } finally {
      await stage.service.listenAgain();
    }
    await bar.state('Home').getByText('working').waitFor();
    await bar.shows('Desk strip, outlet 1', true);
    await bar
      .account('Home')
      .getByText(/refuses connections/)
      .waitFor({ state: 'detached' });
  });

  it('keeps the focus on an outlet when a strip above it is gone after a deploy', async () => {
    await stage.red.deploy([tab, home()]);
    const { bar } = await open();
    await bar.shows('Media strip, outlet 1', false);
    const toggle = bar.toggle('Media strip, outlet 1');
    await toggle.focus();
    const outlets = [1, 2, 3, 4].map((port) => ({ port, on: true }));
    const media = { mac: MEDIA, name: 'Media strip', outlets };
    stage.service.always({ kind: 'answer', status: 200, json: [media] });
    await stage.red.deploy([tab, home()]);
    await bar.shows('Media strip, outlet 1', true);
    assert.equal(await bar.strip('Desk strip').count(), 0);
    assert.ok(await toggle.evaluate((element) => element === document.activeElement));
  });

  it('shows the strips all through a deploy, and keeps the focus on an outlet', async () => {
    await stage.red.deploy([tab, home()]);
    const { bar } = await open();
    await bar.shows('Desk strip, outlet 2', false);
    const toggle = bar.toggle('Desk strip, outlet 2');
    const answer = stage.service.hold('answer');
    const asked = stage.service.requests.length;
    await toggle.press('Enter');
    await stage.service.arrived(asked + 1);
    // The sidebar asks Node-RED again when the command ends, which is while the account is being replaced.
    await stage.red.deploy([tab, home()]);
    await bar.root.getByText('may still be carried out').first().waitFor();
    answer();
    await bar.shows('Desk strip, outlet 2', true);
    assert.ok(await toggle.evaluate((element) => element === document.activeElement));
  });

  it('says until when the service asks for a pause', async () => {
    await stage.red.deploy([tab, home()]);
    const { bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    await bar
      .account('Home')
      .getByText(/^Last answer: \d/)
      .waitFor();
    await bar.state('Home').getByText('working, polled').waitFor();
    stage.service.next({ kind: 'answer', status: 429, headers: { 'retry-after': '20' }, json: {} });
    await bar
      .state('Home')
      .getByText(/^rate limited until \d/)
      .waitFor();
  });

  it('shows a name whole, beside the longest state or above it', async () => {
    const names = ['Home', 'Example 01: simulated strips'];
    await stage.red.deploy([tab, ...names.map((name, index) => home({ id: `account${index}`, name }))]);
    const { bar } = await open({ locale: 'fr' });
    for (const name of names) {
      await bar.state(name).getByText('fonctionne, interrogé').waitFor();
      const shown = bar.account(name).locator('.smart-strip-fold').first();
      assert.ok(await shown.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth), name);
    }
  });

  it('says of a rejected key that it is the key', async () => {
    await stage.red.deploy([tab, home({ credentials: { apiKey: 'another' } })]);
    const { bar } = await open();
    await bar.state('Home').getByText('API key rejected').waitFor();
  });

  it('no longer says below an outlet what was corrected with a deploy, also where it was hidden meanwhile', async () => {
    const watch = placed('watch', 'strip watch', { availability: true });
    await stage.red.deploy([tab, home(), watch]);
    const { bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    stage.service.always({ kind: 'answer', status: 401, json: { error: 'no' } });
    await bar.toggle('Desk strip, outlet 1').click();
    const fault = bar.strip('Desk strip').getByText(/API key/);
    await fault.waitFor();
    await bar.hide();
    stage.service.always(null);
    const before = stage.service.requests.length;
    await stage.red.deploy([tab, home(), watch]);
    await stage.service.arrived(before + 1); // The watch node's account has asked.
    await bar.show();
    await bar.state('Home').getByText('working').waitFor();
    await fault.waitFor({ state: 'detached', timeout: 10_000 });
  });

  it('does not say of a list that could not be read that it has no strips', async () => {
    stage.service.always({ kind: 'answer', status: 200, json: { hello: 'world' } });
    await stage.red.deploy([tab, home()]);
    const { bar } = await open();
    await bar.account('Home').getByText('was not recognised: press Test connection').waitFor();
    assert.equal(await bar.account('Home').getByText('may be incomplete').isVisible(), false);
    stage.service.always({ kind: 'answer', status: 200, json: [] });
    await bar.account('Home').getByText('lists no strips for this account').waitFor();
  });

  it('says of strips without an outlet that could be recognised that the answer is the reason', async () => {
    const json = [{ mac: DESK, name: 'Desk strip', odd: 1 }];
    stage.service.always({ kind: 'answer', status: 200, json });
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.strip('Desk strip').waitFor();
    await bar.account('Home').getByText('was not recognised: press Test connection').waitFor();
    await bar.state('Home').getByText('unknown answer').waitFor();
    await editor.picture('sidebar-unreadable');
    stage.service.always(null);
    await bar.shows('Desk strip, outlet 1', false);
    await bar.account('Home').getByText('was not recognised').waitFor({ state: 'hidden' });
  });

  it('says of an account that is not deployed, or deleted meanwhile, what to do', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    await stage.red.deploy([tab]);
    await bar.account('Home').getByText('Deploy this account: Node-RED does not run it.').waitFor();
    assert.equal(await bar.root.getByRole('switch').count(), 0);
    assert.equal(await bar.button('Diagnostics for a bug report: Home').count(), 0);
    assert.deepEqual(editor.errors, []);
  });

  it('says of an account that is disabled, or its flow, to enable it, and of a subflow that its instances have their own', async () => {
    const flow = { id: 'off', type: 'tab', label: 'Off', disabled: true };
    const inFlow = home({ id: 'other', name: 'Office', z: flow.id });
    const subflow = { id: 'subflow', type: 'subflow', name: 'Outlet', info: '', in: [], out: [], meta: {} };
    const template = home({ id: 'template', name: 'Template', z: subflow.id });
    await stage.red.deploy([tab, flow, subflow, home({ d: true }), inFlow, template]);
    const { bar } = await open();
    for (const name of ['Home', 'Office']) await bar.account(name).getByText('Enable this account').waitFor();
    await bar.account('Template').getByText('each instance of the subflow').waitFor();
    assert.equal(await bar.state('Template').count(), 0);
  });

  it('says of an account whose flows are stopped to start them, because a deploy would not', async () => {
    const setState = async (state: 'start' | 'stop') => {
      assert.ok((await stage.red.admin('/flows/state', posting({ state }))).ok);
    };
    await stage.red.deploy([tab, home()]);
    const { bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    await setState('stop');
    try {
      await bar.state('Home').getByText('not running').waitFor();
      await bar
        .account('Home')
        .getByText('Start or restart the flows in the Deploy menu: they are stopped')
        .waitFor();
    } finally {
      await setState('start');
    }
    await bar.shows('Desk strip, outlet 1', false);
  });

  it('says that missing node types may be the reason why flows are stopped, because a restart alone would not start them', async () => {
    const missing = { ...placed('other', 'a type that nobody installed', {}), account: undefined };
    await stage.red.deploy([tab, home(), missing]);
    const { bar } = await open();
    await bar.account('Home').getByText('If node types are missing, install or enable them first.').waitFor();
  });

  it('says that it waits for the first answer of Node-RED, which takes a while during a deploy', async () => {
    await stage.red.deploy([tab, home(), placed('watch', 'strip watch', {})]);
    const { editor, bar } = await edit();
    const answer = await editor.hold('**/strip-sidebar/accounts?*');
    // Node-RED 5 may have shown the tab at once, if it was open the last time.
    await editor.page.reload();
    await editor.node('watch').waitFor();
    await bar.show();
    const waiting = bar.root.getByText('Reading…');
    await waiting.waitFor();
    answer();
    await bar.shows('Desk strip, outlet 1', false);
    assert.equal(await waiting.isVisible(), false);
  });

  it('does not say that an account works while Node-RED does not answer, and keeps the time of the last answer', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    await editor.page.route('**/strip-sidebar/accounts*', (route) => route.abort());
    await bar.root.getByText('Node-RED does not answer').waitFor();
    const answered = async () => await bar.account('Home').getByText('Last answer').textContent();
    const before = await answered();
    assert.equal(await bar.state('Home').textContent(), 'asking…');
    for (let request = 0; request < 2; request++) await editor.page.waitForEvent('requestfailed');
    assert.equal(await answered(), before);
  });

  it('does not say that an account works while a request to Node-RED gets no answer at all', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    await editor.page.clock.install();
    await bar.toggle('Desk strip, outlet 1').click();
    const told = bar.root.getByRole('status');
    await told.getByText('Desk strip, outlet 1 is on').waitFor();
    const answer = await editor.hold('**/strip-sidebar/accounts*');
    await editor.page.waitForRequest('**/strip-sidebar/accounts*');
    await editor.page.clock.fastForward(10_000);
    await bar.root.getByText('Node-RED does not answer').waitFor();
    assert.equal(await bar.state('Home').textContent(), 'asking…');
    assert.equal(await told.textContent(), '', 'what happened is said for a while');
    answer();
    await bar.account('Home').getByText('working').waitFor();
  });

  it('says what to do where there is no account, and offers a simulator that works', async () => {
    await stage.red.deploy([tab]);
    const { editor, bar } = await open();
    await bar.root.getByText('There is no account yet.').waitFor();
    await editor.picture('sidebar-empty');
    const simulate = bar.button('Try it with a simulator');
    await simulate.click();
    await simulate.waitFor({ state: 'hidden' });
    // With the mouse, the focus is where the nodes are.
    await editor.page.keyboard.press('Escape');
    await simulate.press('Enter');
    await editor.page.locator('.red-ui-flow-node-group').first().waitFor();
    const [id = '', ...others] = await editor.configIds('strip-account');
    assert.deepEqual(others, []);
    assert.ok(!(await editor.properties(id)).z, 'every flow can use it');
    await bar.root.getByText('Deploy this account').waitFor();
    // The button that had the focus is gone.
    await bar.button('Add an account').and(editor.page.locator(':focus')).waitFor();
    await editor.deploy();
    await bar.root.getByRole('switch', { name: 'Desk strip, outlet 1' }).waitFor();
  });

  it('uses a simulator that is there already, because two with the same path would not both answer', async () => {
    const own = { id: 'own', type: 'strip simulator', z: tab.id, path: '/own', x: 200, y: 100, wires: [[]] };
    await stage.red.deploy([tab, own]);
    const { editor, bar } = await open();
    await bar.root.getByRole('button', { name: 'Try it with a simulator' }).press('Enter');
    await editor.page.locator('.red-ui-flow-node-group').nth(1).waitFor();
    const types = await editor.page.evaluate(() =>
      window.RED.nodes.createCompleteNodeSet({}).map(({ type }) => type),
    );
    assert.equal(types.filter((type) => type === 'strip simulator').length, 1);
    await editor.deploy();
    await bar.root.getByRole('switch', { name: 'Desk strip, outlet 1' }).waitFor();
  });

  it('places no simulator in a flow that is disabled, where it would not run', async () => {
    await stage.red.deploy([{ ...tab, disabled: true }]);
    const { editor, bar } = await open();
    await bar.root.getByRole('button', { name: 'Try it with a simulator' }).press('Enter');
    await bar.root.getByText('A simulator would not run in this flow').waitFor();
    assert.equal(await editor.page.locator('.red-ui-flow-node-group').count(), 0);
    assert.deepEqual(await editor.configIds('strip-account'), []);
  });

  it('says of an account that was added that it is to be deployed, and asks when it was, without waiting', async () => {
    await stage.red.deploy([tab]);
    const { editor, bar } = await edit();
    const { page } = editor;
    // Of what is asked every 2 s, only the first question is.
    await page.evaluate(
      'const start = setTimeout; window.setTimeout = (run, ms) => (ms === 2000 ? 1 : start(run, ms))',
    );
    await bar.show();
    await bar.root.getByText('There is no account yet.').waitFor();
    await bar.button('Add an account').click();
    await editor.configDialog.waitFor();
    await page.locator('#node-config-input-baseUrl').fill(stage.service.baseUrl);
    await page.locator('#node-config-input-apiKey').fill(stage.service.apiKey);
    await editor.doneConfig();
    await bar.root.getByText('Deploy this account').waitFor();
    const answer = stage.service.hold();
    await editor.deploy();
    await bar.root.locator('.smart-strip-state', { hasText: 'asking' }).waitFor();
    assert.equal(await bar.root.getByText('lists no strips').count(), 0);
    answer();
  });

  it('adds an account beside those that exist', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    assert.equal(await bar.button('Try it with a simulator').count(), 0);
    await bar.button('Add an account').click();
    await editor.configDialog.waitFor();
    const { page } = editor;
    await page.locator('#node-config-input-name').fill('Garden');
    await page.locator('#node-config-input-baseUrl').fill(stage.service.baseUrl);
    await page.locator('#node-config-input-apiKey').fill(stage.service.apiKey);
    // As little of the sidebar as Node-RED 5.0 shows above its debug messages.
    await page.setViewportSize({ width: 1280, height: 500 });
    await editor.doneConfig();
    const added = await bar.account('Garden').boundingBox();
    const visible = await bar.root.boundingBox();
    assert.ok(added && visible);
    assert.ok(added.y >= visible.y && added.y + added.height <= visible.y + visible.height, 'is in sight');
    // What is seen stays where it is when a node is placed.
    const place = bar.button('Put a strip watch in the workspace: Desk strip, outlet 1');
    const scrolled = () => bar.root.evaluate((content) => content.scrollTop);
    await place.focus();
    const before = await scrolled();
    await place.press('Enter');
    await editor.page.locator('.red-ui-flow-node-group').waitFor();
    assert.equal(await scrolled(), before);
  });

  it('asks for nothing while it is hidden', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    const { requests } = stage.service;
    const asked: string[] = [];
    editor.page.on('request', (request) => {
      if (request.url().includes('strip-sidebar')) asked.push(request.url());
    });
    const visible = requests.length;
    await stage.service.arrived(visible + 1);
    const released = editor.page.waitForResponse((response) =>
      response.url().endsWith('/strip-sidebar/release'),
    );
    // In the middle of a question.
    await editor.page.route('**/strip-sidebar/accounts*', async (route) => {
      await released;
      await route.continue().catch(() => undefined);
    });
    await editor.page.waitForRequest('**/strip-sidebar/accounts*');
    await bar.hide();
    await released;
    // After the requests that may still be under way.
    await stage.red.json('/settings');
    const [before, hidden] = [requests.length, asked.length];
    await wait(INTERVAL * 1.5);
    assert.equal(requests.length, before);
    assert.equal(asked.length, hidden);
    await editor.page.unroute('**/strip-sidebar/accounts*');
    await bar.show();
    await stage.service.arrived(before + 1);
  });

  it('asks for nothing while the page itself is hidden', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    const setVisibility = async (state: string) => {
      await editor.page.evaluate((value) => {
        Object.defineProperty(document, 'visibilityState', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, state);
    };
    // No poll is under way when the page is hidden.
    await stage.service.arrived(stage.service.requests.length + 1);
    const released = editor.page.waitForResponse('**/strip-sidebar/release');
    await setVisibility('hidden');
    await released;
    const before = stage.service.requests.length;
    await wait(INTERVAL * 1.5);
    assert.equal(stage.service.requests.length, before);
    await setVisibility('visible');
    await stage.service.arrived(before + 1);
  });

  it('shows the same in two editors, and goes on in one when the other is hidden', async () => {
    await stage.red.deploy([tab, home()]);
    const { bar } = await open();
    const other = await Editor.open(stage.browser, stage.red.url);
    try {
      const second = new Sidebar(other);
      await second.show();
      await second.shows('Desk strip, outlet 1', false);
      await bar.shows('Desk strip, outlet 1', false);
      await bar.toggle('Desk strip, outlet 1').click();
      await second.shows('Desk strip, outlet 1', true);
      await bar.hide();
      stage.service.simulator.apply({ mac: MEDIA, port: 1, on: true });
      await second.shows('Media strip, outlet 1', true);
    } finally {
      await other.close();
    }
  });
});
