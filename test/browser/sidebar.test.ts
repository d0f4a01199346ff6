import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Locator } from 'playwright-core';
import { account, debug, placed, tab } from '../support/flow';
import { STRIPS } from '../support/service';
import { boxOf, Editor } from './editor';
import { setSidebar, Sidebar } from './sidebar';
import { setStage } from './stage';

const [{ mac: DESK }, { mac: MEDIA }] = STRIPS;

describe('the sidebar', () => {
  const { stage, home, edit, open } = setSidebar();

  it('shows a change made elsewhere within an interval', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 2', false);
    stage.service.simulator.apply({ mac: DESK, port: 2, on: true });
    const asked = stage.service.requests.length;
    await bar.shows('Desk strip, outlet 2', true);
    const lists = stage.service.requests.slice(asked).filter(({ path }) => path.endsWith('/strips'));
    assert.ok(lists.length <= 2, `${lists.length} polls later`);
    assert.deepEqual(editor.errors, []);
  });

  it('can be opened with an action of Node-RED, for those who use the keyboard', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await edit();
    await bar.hide();
    await editor.page.evaluate(() => window.RED.actions.invoke('smart-strip:show-sidebar'));
    await bar.root.waitFor();
  });

  it('shows readings, and the load since it was opened as a line', async () => {
    await stage.red.deploy([tab, home()]);
    const { bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    await bar.strip('Desk strip').getByText('Voltage 231').waitFor();
    stage.service.simulator.apply({ mac: DESK, port: 1, on: true });
    const line = bar.strip('Desk strip').getByRole('img', { name: /^Load since/ });
    await line.waitFor();
    const [box, drawn] = await Promise.all([boxOf(line), boxOf(line.locator('polyline'))]);
    assert.ok(Math.abs(drawn.width - box.width) < 2, 'from side to side');
    assert.ok(drawn.height > box.height / 2 && drawn.height < box.height, 'from the least to the most');
    const constant = bar.strip('Media strip').getByRole('img', { name: /^Load since/ });
    const [frame, flat] = await Promise.all([boxOf(constant), boxOf(constant.locator('polyline'))]);
    assert.ok(Math.abs(flat.y + flat.height / 2 - frame.y - frame.height / 2) < 2, 'in the middle');
  });

  it('says that strips may be missing where the service lists only a part of them', async () => {
    await stage.red.deploy([tab, home()]);
    const strips = [{ mac: DESK, name: 'Desk strip', outlets: [true, false, false, false] }];
    const headers = { 'x-total-count': '57' };
    stage.service.always({ kind: 'answer', status: 200, json: strips, headers });
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 1', true);
    await editor.page.getByText(/^The list may be incomplete/).waitFor();
    // It says nothing about readings, either.
    assert.equal(await bar.strip('Desk strip').locator('.smart-strip-figures').textContent(), DESK);
    await editor.picture('sidebar-part');
    stage.service.always(null);
    await editor.page.getByText(/^The list may be incomplete/).waitFor({ state: 'hidden' });
  });

  it('shows a part of very many strips, says so, and finds the others', async () => {
    await stage.red.deploy([tab, home()]);
    const json = Array.from({ length: 600 }, (_, index) => ({
      mac: `A1B2C3D4${String(index).padStart(4, '0')}`,
      name: `Strip ${index}.`,
      outlets: [false, false, false, false],
    }));
    stage.service.always({ kind: 'answer', status: 200, json });
    const { bar } = await open();
    await bar.account('Home').getByText('Strips: 500 of 600').waitFor();
    assert.equal(await bar.account('Home').locator('h4').count(), 500);
    await bar.root.getByRole('searchbox').fill('strip 599.');
    await bar.strip('Strip 599.').waitFor();
    await bar.account('Home').getByText('Strips: 500 of 600').waitFor({ state: 'hidden' });
  });

  it('tells times by the clock of the browser where that of Node-RED is wrong', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await edit();
    await editor.page.route('**/strip-sidebar/accounts*', async (route) => {
      const response = await route.fetch();
      const hour = (at: string) => String((Number(at) + 12) % 24).padStart(2, '0');
      const body = await response.text();
      await route.fulfill({ response, body: body.replace(/(?<="at":"[^T]+T)\d\d/g, hour) });
    });
    const from = Date.now();
    await bar.show();
    await bar.shows('Desk strip, outlet 1', false);
    stage.service.simulator.apply({ mac: DESK, port: 1, on: true });
    const line = bar.strip('Desk strip').getByRole('img', { name: /^Load since/ });
    await line.waitFor();
    const times = await editor.page.evaluate((from) => {
      const seconds = Math.ceil((Date.now() - from) / 1000) + 1;
      return Array.from({ length: seconds }, (_, i) => new Date(from + i * 1000).toLocaleTimeString());
    }, from);
    const label = (await line.getAttribute('aria-label')) ?? '';
    assert.ok(
      times.some((time) => label.startsWith(`Load since ${time}: `)),
      label,
    );
  });

  it('keeps a toggle grey until the service has confirmed it', async () => {
    await stage.red.deploy([tab, home()]);
    const { bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    const asked = stage.service.requests.length;
    // There before it says anything, as screen readers need it.
    assert.equal(await bar.root.getByRole('status').count(), 1);
    const answer = stage.service.hold('answer');
    const toggle = bar.toggle('Desk strip, outlet 1');
    await toggle.click();
    assert.equal(await toggle.getAttribute('aria-busy'), 'true');
    assert.equal(await toggle.getAttribute('aria-checked'), 'false');
    assert.equal(await toggle.getAttribute('data-on'), 'true', 'where the user has put it');
    assert.equal(await bar.root.getByRole('status').textContent(), 'Desk strip, outlet 1: switching');
    await toggle.click({ force: true }); // does nothing while it is pending
    answer();
    await bar.shows('Desk strip, outlet 1', true);
    assert.equal(await bar.root.getByRole('status').textContent(), 'Desk strip, outlet 1 is on');
    const posts = stage.service.requests.slice(asked).filter(({ method }) => method === 'POST');
    assert.equal(posts.length, 1);
  });

  it('puts a toggle back when it is refused, and says why', async () => {
    await stage.red.deploy([tab, home()]);
    const { bar } = await open();
    await bar.shows('Media strip, outlet 3', false);
    stage.service.always({ kind: 'answer', status: 500, json: {} });
    await bar.toggle('Media strip, outlet 3').click();
    await bar
      .strip('Media strip')
      .getByText(/✕ .*\(status 500\)/)
      .waitFor();
    await bar.shows('Media strip, outlet 3', false);
    assert.match((await bar.root.getByRole('status').textContent()) ?? '', /^Media strip, outlet 3: .*500/);
  });

  it('marks a protected outlet and switches it on, but not off', async () => {
    stage.service.simulator.apply({ mac: DESK, port: 4, on: true });
    const protectedOutlets = [1, 4].map((port) => ({ mac: DESK, port }));
    await stage.red.deploy([tab, home({ protectedOutlets })]);
    const { bar } = await open();
    const toggle = bar.toggle('Desk strip, outlet 4');
    await bar.shows('Desk strip, outlet 4', true);
    assert.equal(await toggle.getAttribute('aria-disabled'), 'true');
    const before = stage.service.requests.filter(({ method }) => method === 'POST').length;
    await toggle.click({ force: true });
    assert.equal(await bar.root.getByRole('status').textContent(), 'Protected: never switched off');
    assert.equal(
      await bar
        .strip('Desk strip')
        .getByRole('img', { name: /^Protected/ })
        .count(),
      2,
    );
    assert.equal(stage.service.requests.filter(({ method }) => method === 'POST').length, before);
    await bar.toggle('Desk strip, outlet 1').click();
    await bar.shows('Desk strip, outlet 1', true);
  });

  it('marks an outlet as protected while the account that is deployed protects it', async () => {
    await stage.red.deploy([tab, home({ protectedOutlets: [{ mac: DESK, port: 4 }] })]);
    const { editor, bar } = await open();
    const locks = bar.root.getByRole('img', { name: /^Protected/ });
    await locks.waitFor();
    await editor.editConfig('strip-account', 'account');
    await editor.page.locator('.smart-strip-outlet-row [data-part=protected]').uncheck();
    await editor.doneConfig();
    // Drawn again with the next answer of Node-RED.
    await editor.page.waitForResponse(/strip-sidebar\/accounts/);
    await editor.drawn();
    assert.equal(await locks.count(), 1);
    await editor.deploy();
    await locks.waitFor({ state: 'detached' });
  });

  it('keeps the two buttons of an outlet side by side where it is narrow', async () => {
    await stage.red.deploy([tab, home()]);
    const { bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    await bar.root.evaluate((element) => (element.style.width = '160px'));
    const [first, second] = await Promise.all(
      ['switch', 'watch'].map((kind) =>
        boxOf(bar.button(`Put a strip ${kind} in the workspace: Desk strip, outlet 1`)),
      ),
    );
    assert.equal(second?.y, first?.y);
  });

  it('wraps a word in a message that is too long for a line', async () => {
    await stage.red.deploy([tab, home({ outletNames: [{ mac: DESK, port: 1, name: 'x'.repeat(60) }] })]);
    const { bar } = await open();
    await bar.root.evaluate((element) => (element.style.width = '160px'));
    await bar.toggle(`Desk strip, outlet 1 (${'x'.repeat(60)})`).click();
    await bar.root.getByRole('status').getByText('x'.repeat(60)).waitFor();
    assert.ok(await bar.root.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth));
  });

  it('shows the names of outlets whole, so that two that begin alike can be told apart', async () => {
    const names = ['Pump and heater of the aquarium, left', 'Pump-and-heater-of-the-aquarium,-right'];
    const outletNames = names.map((name, index) => ({ mac: DESK, port: index + 1, name }));
    await stage.red.deploy([tab, home({ outletNames })]);
    const { bar } = await open();
    for (const name of names) {
      const shown = bar.root.locator('.smart-strip-name', { hasText: name });
      await shown.waitFor();
      assert.ok(await shown.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth), name);
    }
  });

  it('puts configured nodes on the canvas that work after a deploy, and shows which nodes use an outlet', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 2', false);
    const { page } = editor;
    const chart = await boxOf(page.locator('#red-ui-workspace-chart'));
    await bar.button('Put a strip watch in the workspace: Desk strip, outlet 1').click();
    await page.mouse.move(chart.x + 200, chart.y + 100, { steps: 5 });
    await page.locator('.red-ui-flow-node-group').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.red-ui-flow-node-group').waitFor({ state: 'detached' });
    const ids: string[] = [];
    for (const [index, type] of ['switch', 'watch'].entries()) {
      await bar.button(`Put a strip ${type} in the workspace: Desk strip, outlet 2`).click();
      await page.mouse.move(chart.x + 200, chart.y + 100 + index * 80, { steps: 5 });
      assert.match((await bar.root.getByRole('status').textContent()) ?? '', /^Click in the workspace/);
      await page.mouse.down();
      await page.mouse.up();
      assert.equal(await bar.root.locator('.smart-strip-told').textContent(), '');
      await page.locator('.red-ui-flow-node-group').nth(index).waitFor();
      const all = await page
        .locator('.red-ui-flow-node-group')
        .evaluateAll((nodes) => nodes.map(({ id }) => id));
      ids.push(...all.filter((id) => !ids.includes(id)));
    }
    const [switching = '', watching = ''] = ids;
    const wanted = { account: 'account', mac: DESK, port: '2' };
    const fixed = { ...wanted, macType: 'str', portType: 'port', onType: 'message' };
    for (const [id, properties] of [
      [switching, { type: 'strip switch', ...fixed }],
      [watching, { type: 'strip watch', ...wanted }],
    ] as const) {
      const node = await editor.properties(id);
      assert.deepEqual(
        Object.fromEntries(Object.keys(properties).map((key) => [key, node[key]])),
        properties,
      );
    }
    await editor.deploy();
    await bar.shows('Desk strip, outlet 2', false);
    await bar.toggle('Desk strip, outlet 2').click();
    await bar.shows('Desk strip, outlet 2', true);
    await editor.node(watching).locator('.red-ui-flow-node-status-label', { hasText: 'on' }).waitFor();

    const used = bar.strip('Desk strip').locator('.smart-strip-used', { hasText: 'Nodes that use it: 2' });
    await used.locator('summary').click();
    await used.getByRole('button').first().click();
    await page.locator('.red-ui-flow-node-highlighted').waitFor({ state: 'attached' });
  });

  it('lists the nodes of a whole strip above its outlets, where they do not seem to be those of the last one', async () => {
    const whole = { mac: DESK, macType: 'str', port: '', portType: 'port' };
    await stage.red.deploy([tab, home(), placed('node', 'strip status', whole)]);
    const { bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    const used = bar.strip('Desk strip').locator('.smart-strip-used');
    const [above, below] = [await boxOf(used), await boxOf(bar.toggle('Desk strip, outlet 1'))];
    assert.ok(above.y < below.y);
  });

  it('puts all nodes of several presses down at once, one below the other, and Escape takes them all away', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    const { page } = editor;
    const nodes = page.locator('.red-ui-flow-node-group');
    const chart = await boxOf(page.locator('#red-ui-workspace-chart'));
    const press = async () => {
      for (const port of [1, 2, 3])
        await bar.button(`Put a strip switch in the workspace: Desk strip, outlet ${port}`).click();
      await page.mouse.move(chart.x + 200, chart.y + 100, { steps: 5 });
      await nodes.nth(2).waitFor();
    };
    await press();
    await page.keyboard.press('Escape');
    await nodes.first().waitFor({ state: 'detached' });
    await press();
    await page.mouse.down();
    await page.mouse.up();
    await bar.button('Put a strip watch in the workspace: Desk strip, outlet 1').click();
    await page.mouse.move(chart.x + 500, chart.y + 100, { steps: 5 });
    await page.mouse.down();
    await page.mouse.up();
    await editor.deploy();
    const flow = await stage.red.getFlows();
    const switches = flow.filter(({ type }) => type === 'strip switch');
    const [first = 0, ...rest] = switches.map(({ y }) => Number(y));
    assert.deepEqual(rest, [first + 60, first + 120]);
    assert.deepEqual(
      switches.map(({ port }) => port),
      ['1', '2', '3'],
    );
    assert.equal(flow.filter(({ type }) => type === 'strip watch').length, 1);
  });

  it('places a node in the middle of the visible canvas where the keyboard is used, however wide the sidebar is', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    const sidebar = editor.page.locator('#red-ui-sidebar');
    const separator = await boxOf(
      editor.page.locator('#red-ui-sidebar-separator, .red-ui-sidebar-separator').last(),
    );
    const { mouse } = editor.page;
    await mouse.move(separator.x + separator.width / 2, separator.y + 300);
    await mouse.down();
    await mouse.move(separator.x - 100, separator.y + 300, { steps: 5 });
    await mouse.move(separator.x - 400, separator.y + 300, { steps: 5 });
    await mouse.up();
    await bar.shows('Desk strip, outlet 1', false);
    await editor.page.evaluate(() => window.RED.actions.invoke('core:zoom-in'));
    await editor.page.locator('#red-ui-workspace-chart').evaluate((chart) => chart.scrollTo(600, 400));
    await bar.button('Put a strip switch in the workspace: Desk strip, outlet 1').press('Enter');
    await editor.page.locator('.red-ui-flow-node-group').waitFor();
    const box = await boxOf(editor.page.locator('.red-ui-flow-node-group'));
    const chart = await boxOf(editor.page.locator('#red-ui-workspace-chart'));
    // In Node-RED 5, the sidebar lies over the canvas.
    const right = (await boxOf(sidebar)).x;
    assert.ok(right < 800, `the sidebar begins at ${right}`);
    chart.width = Math.min(chart.width, right - chart.x);
    for (const [side, size] of [
      ['x', 'width'],
      ['y', 'height'],
    ] as const) {
      const beside = box[side] + box[size] / 2 - (chart[side] + chart[size] / 2);
      // Node-RED moves it to the lines of its grid, which are 20 px apart.
      assert.ok(Math.abs(beside) < 40, `${beside} px beside the middle`);
    }
  });

  it('places each further node below the last where the keyboard is used', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    for (const port of [1, 2, 3])
      await bar.button(`Put a strip switch in the workspace: Desk strip, outlet ${port}`).press('Enter');
    assert.match((await bar.root.getByRole('status').textContent()) ?? '', /^The node was placed/);
    const nodes = editor.page.locator('.red-ui-flow-node-group');
    await nodes.nth(2).waitFor();
    await editor.deploy();
    const flow = (await stage.red.getFlows()).filter(({ type }) => type === 'strip switch');
    assert.equal(new Set(flow.map(({ x }) => x)).size, 1);
    const [first = 0, ...rest] = flow.map(({ y }) => Number(y));
    assert.deepEqual(rest, [first + 40, first + 80]);
    assert.equal(first % 20, 0);
  });

  it('places each node below the last, too, where a finger is used, which moves nothing before it touches the canvas', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    const devTools = await editor.page.context().newCDPSession(editor.page);
    for (const port of [1, 2]) {
      const button = bar.button(`Put a strip switch in the workspace: Desk strip, outlet ${port}`);
      await button.scrollIntoViewIfNeeded();
      const box = await boxOf(button);
      const touchPoints = [{ x: box.x + box.width / 2, y: box.y + box.height / 2 }];
      await devTools.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
      await devTools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
      await editor.page
        .locator('.red-ui-flow-node-group')
        .nth(port - 1)
        .waitFor();
    }
    assert.match((await bar.root.getByRole('status').textContent()) ?? '', /^The node was placed/);
    await editor.deploy();
    const flow = (await stage.red.getFlows()).filter(({ type }) => type === 'strip switch');
    const [first, second] = flow.map(({ y }) => Number(y));
    assert.equal(second, (first ?? NaN) + 40);
  });

  it('says in a locked flow that no node can be placed, and that an account of it cannot be edited', async () => {
    const locked = { ...tab, locked: true };
    await stage.red.deploy([locked, home({ z: tab.id }), home({ id: 'other', name: 'Office' })]);
    const { editor, bar } = await open();
    await bar.toggle('Desk strip, outlet 1').first().waitFor();
    const told = bar.root.getByRole('status');
    const place = bar.button('Put a strip watch in the workspace: Desk strip, outlet 1').first();
    await place.press('Enter');
    await told.getByText('Nothing can be placed here').waitFor();
    await bar.button('Edit Home').click();
    await told.getByText('part of a locked flow').waitFor();
    assert.equal(await editor.page.locator('.red-ui-flow-node-group').count(), 0);
    assert.equal(await editor.configDialog.count(), 0);
    // One of no flow can be edited, and without a flow nothing can be placed, either.
    await bar.button('Edit Office').click();
    await editor.opened(editor.configDialog);
    await editor.cancelConfig();
    await editor.page.evaluate(() => window.RED.workspaces.hide());
    await place.press('Enter');
    await told.getByText('Nothing can be placed here').waitFor();
  });

  it('places no node in a flow where its account cannot be used', async () => {
    const other = { ...tab, id: 'other', label: 'Other' };
    await stage.red.deploy([tab, other, home({ z: tab.id })]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    await editor.showTab('other');
    await bar.button('Put a strip watch in the workspace: Desk strip, outlet 1').press('Enter');
    await bar.root.getByRole('status').getByText('can be used in one flow only').waitFor();
    assert.equal(await editor.page.locator('.red-ui-flow-node-group').count(), 0);
    await editor.showTab(tab.id);
    await bar.button('Put a strip watch in the workspace: Desk strip, outlet 1').press('Enter');
    await editor.page.locator('.red-ui-flow-node-group').waitFor();
  });

  it('can be opened with the keyboard alone, from the list of actions', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await edit();
    const { page } = editor;
    await page.locator('#red-ui-workspace-chart').focus();
    await page.keyboard.press('Control+Shift+p');
    await page.locator('#red-ui-actionList input:focus').waitFor();
    await page.keyboard.type('smart strips');
    await page.locator('#red-ui-actionList li.selected', { hasText: 'smart strips' }).waitFor();
    await page.keyboard.press('Enter');
    await bar.shows('Desk strip, outlet 1', false);
  });

  it('can be used with the keyboard alone, and keeps the focus while it is drawn again', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    const { page } = editor;
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
    await bar.root.getByRole('searchbox').focus();
    const seen: string[] = [];
    while (!seen.includes('Desk strip, outlet 1') && seen.length < 12) {
      await page.keyboard.press('Tab');
      seen.push(await focused());
    }
    await page.keyboard.press('Space');
    await bar.shows('Desk strip, outlet 1', true);
    // A MAC that is selected can be copied.
    await page.evaluate(`
      const { firstChild } = document.querySelector('.smart-strip-figures code');
      getSelection().setBaseAndExtent(firstChild, 0, firstChild, firstChild.length);
    `);
    // Each answer is drawn before the next is asked for.
    for (let i = 0; i < 3; i++) await page.waitForResponse('**/strip-sidebar/accounts*');
    assert.equal(await focused(), 'Desk strip, outlet 1');
    assert.equal(await page.evaluate('String(getSelection())'), DESK);
  });

  it('hides nothing that gets the focus behind a message', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    const { page } = editor;
    await page.setViewportSize({ width: 1280, height: 400 });
    await bar.shows('Desk strip, outlet 1', false);
    await bar.toggle('Desk strip, outlet 1').press('Space');
    await bar.root.getByRole('status').getByText('outlet 1 is on').waitFor();
    for (let stops = 0; stops < 20; stops++) {
      await page.keyboard.press('Tab');
      const hidden = await page.evaluate(() => {
        const focused = document.activeElement ?? document.body;
        const { x, y, width, height } = focused.getBoundingClientRect();
        const seen = document.elementFromPoint(x + width / 2, y + height / 2);
        return focused.contains(seen)
          ? ''
          : `${focused.ariaLabel ?? ''} is behind ${seen?.textContent ?? ''}`;
      });
      assert.equal(hidden, '');
    }
  });

  it('gives the labels of nodes the names that it receives', async () => {
    const fixed = { mac: DESK, macType: 'str', port: '2', portType: 'port' };
    // The sidebar of the test before may still make the account ask.
    const answer = stage.service.hold('answer');
    await stage.red.deploy([tab, home(), placed('node', 'strip switch', fixed)]);
    const { editor, bar } = await edit();
    await editor.expectLabel('node', `${DESK}: 2`);
    answer();
    await bar.show();
    await editor.expectLabel('node', 'Desk strip: 2');
    // They are found by these names, too, and nothing counts as changed.
    const { page } = editor;
    assert.equal(await page.evaluate(() => window.RED.nodes.dirty()), false);
    assert.equal(await editor.node('node').locator('.red-ui-flow-node-changed').isVisible(), false);
    await bar.hide();
    const outline = page.locator('.red-ui-info-outline .red-ui-treeList-label');
    await outline.filter({ hasText: 'Test' }).locator('.fa-angle-right').click();
    await outline.filter({ hasText: 'Desk strip: 2' }).waitFor();
    await page.evaluate(() => window.RED.actions.invoke('core:search'));
    await page.locator('.red-ui-search-container input:visible').pressSequentially('desk strip');
    await page.locator('.red-ui-search-result-node-label', { hasText: 'Desk strip: 2' }).waitFor();
  });

  it('gives these names also where the account knew only one of its strips before', async () => {
    const fixed = { mac: DESK, macType: 'str', port: '2', portType: 'port' };
    const on = { ...fixed, mac: MEDIA, on: 'on', onType: 'action', y: 400 };
    const nodes = [placed('node', 'strip switch', fixed), placed('other', 'strip switch', on, ['out'])];
    await stage.red.deploy([tab, home(), ...nodes, debug('out')]);
    const after = stage.red.comms.mark;
    await stage.red.inject('other');
    await stage.red.debug('out', after);
    const { editor, bar } = await edit();
    await editor.expectLabel('other', `${MEDIA}: 2, on`);
    await bar.show();
    await editor.expectLabel('other', 'Media strip: 2, on');
    await editor.expectLabel('node', 'Desk strip: 2');
  });

  for (const dark of [false, true]) {
    it(`is free of what axe finds wrong, also with a fault and an open list${dark ? ', in the dark' : ''}`, async () => {
      await stage.red.deploy([
        tab,
        home({ protectedOutlets: [{ mac: DESK, port: 4 }] }),
        placed('node', 'strip switch', { mac: DESK, macType: 'str', port: '1', portType: 'port' }),
      ]);
      const { editor, bar } = await open({ dark });
      await bar.shows('Desk strip, outlet 1', false);
      await bar.root.locator('.smart-strip-used summary').first().click();
      stage.service.always({ kind: 'answer', status: 500, json: {} });
      await bar.toggle('Desk strip, outlet 2').click();
      await bar.root.getByText(/✕ /).first().waitFor();
      assert.deepEqual(await editor.axe('.smart-strip-sidebar'), []);
      // Which axe does not judge: it takes what is in Node-RED's sidebar for hidden.
      for (const part of [
        ...[
          'small',
          'code',
          'summary',
          'h3 button',
          'h4 button',
          '.red-ui-button',
          '.smart-strip-used button',
        ],
        ...['.smart-strip-state', '.smart-strip-name', '.smart-strip-fault', '.smart-strip-told'],
      ]) {
        const contrast = await editor.contrast(`.smart-strip-sidebar ${part}`);
        assert.ok(contrast >= 4.5, `${part}: ${contrast.toFixed(1)}`);
      }
    });
  }

  it('shows which outlets are on in a contrast theme of the system, too', async () => {
    stage.service.simulator.apply({ mac: DESK, port: 1, on: true });
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 1', true);
    await editor.page.emulateMedia({ forcedColors: 'active' });
    const [on, off, alsoOff] = await Promise.all(
      [1, 2, 3].map((port) => bar.toggle(`Desk strip, outlet ${port}`).screenshot()),
    );
    assert.deepEqual(off, alsoOff);
    assert.notDeepEqual(on, off);
  });

  it('shows exactly what a report for a bug holds, to copy and to download', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    const { page } = editor;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await bar.button('Diagnostics for a bug report: Home').press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Diagnostics' });
    const shown = (await dialog.locator('pre').textContent()) ?? '';
    const report = JSON.parse(shown) as Record<string, Record<string, unknown>>;
    assert.ok(report.answers?.list);
    for (const secret of [stage.service.apiKey, String(stage.service.port), DESK, 'Desk strip', 'Home']) {
      assert.ok(!shown.includes(secret), secret);
    }
    await dialog.getByRole('heading', { name: 'Diagnostics' }).waitFor();
    const fonts = (where: Locator) =>
      where.evaluate((element) => {
        const { fontFamily, fontSize } = getComputedStyle(element);
        return [fontFamily, fontSize];
      });
    assert.deepEqual(await fonts(dialog.locator('p')), await fonts(bar.root));
    await editor.picture('sidebar-diagnostics');
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.getByRole('status').getByText('Copied').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), shown);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Download' }).click(),
    ]);
    assert.equal(readFileSync(await download.path(), 'utf8'), shown);
    // A page without https has no clipboard.
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', {})`);
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.getByRole('status').getByText('Selected').waitFor();
    assert.equal(await page.evaluate('String(getSelection())'), shown);
    // Node-RED's shortcuts act on nothing behind it.
    await page.keyboard.press('Control+e');
    assert.equal(await page.locator('#red-ui-clipboard-dialog:visible').count(), 0);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('offers the same report in the dialog of an account that was added, and says why there is none', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.hide();
    const { page } = editor;
    const button = editor.configDialog.getByRole('button', { name: 'Diagnostics' });
    const dialog = page.getByRole('dialog', { name: 'Diagnostics' });
    const reports = async (text: string) => {
      await button.click();
      await dialog.getByText(text).waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
    };
    await editor.addConfig('strip-account');
    assert.equal(await button.isVisible(), false);
    await editor.cancelConfig();
    await editor.editConfig('strip-account', 'account');
    await reports('"apiKey": true');
    await page.route('**/strip-sidebar/diagnostics/*', (route) => route.abort());
    await reports('Node-RED does not answer');
    await page.unrouteAll();
    await stage.red.deploy([tab]);
    await reports('does not run this account');
    await editor.cancelConfig();
  });

  it('takes no memory for being opened', async () => {
    await stage.red.deploy([tab, home()]);
    const { editor, bar } = await open();
    await bar.shows('Desk strip, outlet 1', false);
    const session = await editor.page.context().newCDPSession(editor.page);
    await session.send('Performance.enable');
    const measure = async () => {
      await session.send('HeapProfiler.collectGarbage');
      const { metrics } = await session.send('Performance.getMetrics');
      const of = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? 0;
      return { nodes: of('Nodes'), listeners: of('JSEventListeners'), heap: of('JSHeapUsedSize') };
    };
    const openings = async (count: number) => {
      for (let i = 0; i < count; i++) {
        await bar.hide();
        await bar.show();
      }
    };
    await openings(20);
    const before = await measure();
    await openings(100);
    let after = await measure();
    const hasGrown = () =>
      after.nodes - before.nodes > 100 ||
      after.listeners - before.listeners > 50 ||
      after.heap - before.heap > 1_000_000;
    // What was just drawn, or is about to be collected, may be counted, too.
    for (const deadline = Date.now() + 30_000; hasGrown() && Date.now() < deadline;) after = await measure();
    assert.ok(!hasGrown(), JSON.stringify({ before, after }));
  });
});

describe('the sidebar with many strips and hostile names', () => {
  const HOSTILE = '<img src=x onerror="window.hacked=1">$t(strip-sidebar.label) __outlet__';
  const LONG = 'The strip behind the television set in the living room';
  const strips = Array.from({ length: 30 }, (_, index) => ({
    mac: `A1B2C3D4${String(index).padStart(4, '0')}`,
    name:
      { 0: HOSTILE, 1: `${LONG}, left`, 2: `${LONG}, right`, 3: 'Twin', 4: 'Twin' }[index] ??
      `Strip ${index}`,
  }));
  const stage = setStage({ service: { strips } });
  let editor: Editor;
  let bar: Sidebar;

  beforeEach(async () => {
    const failing = ['Second', 'Third', 'Fourth', 'Fifth'].map((name, index) =>
      account({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k' }, { id: `account${index}`, name, interval: '5' }),
    );
    await stage.red.deploy([tab, account(stage.service, { name: 'Home', interval: '5' }), ...failing]);
    editor = await Editor.open(stage.browser, stage.red.url);
    bar = new Sidebar(editor);
    await bar.show();
    await bar.strip('Strip 29').waitFor();
  });

  afterEach(() => editor.close());

  it('counts no outlets that are on where none says so', async () => {
    const outlets = [1, 2, 3, 4].map((port) => ({ port, state: 'stuck' }));
    const unknown = strips.slice(1, 9).map((strip) => ({ ...strip, outlets }));
    stage.service.always({ kind: 'answer', status: 200, json: unknown });
    await stage.red.deploy([tab, account(stage.service, { id: 'other', name: 'Other', interval: '5' })]);
    const other = await Editor.open(stage.browser, stage.red.url);
    try {
      const shown = new Sidebar(other);
      await shown.show();
      await shown.strip('Strip 8').waitFor();
      assert.doesNotMatch((await shown.strip('Strip 8').textContent()) ?? '', /of 4 on/);
    } finally {
      stage.service.always(null);
      await other.close();
    }
  });

  it('stays usable: strips start folded, can be found, and keep their order', async () => {
    assert.equal(await bar.root.locator('[role=switch]:visible').count(), 0);
    const names = () => bar.account('Home').locator('h4').allTextContents();
    const before = await names();
    assert.deepEqual(
      before,
      strips.map(({ name }) => name),
    );
    await editor.picture('sidebar-30');
    await bar.root.getByRole('searchbox').fill('strip 17');
    await bar.strip('Strip 17').waitFor();
    assert.deepEqual(await names(), ['Strip 17']);
    await bar.button('Strip 17').click();
    await bar.toggle('Strip 17, outlet 1').click();
    await bar.shows('Strip 17, outlet 1', true);
    await bar.root.getByRole('searchbox').fill('nothing like it');
    await bar.account('Home').getByText('No strip matches').waitFor();
    await bar.root.getByRole('searchbox').fill('');
    await bar.strip('Strip 29').waitFor();
    assert.deepEqual(await names(), before);
    assert.ok(await bar.toggle('Strip 17, outlet 1').isVisible(), 'what was unfolded stays so');
    await bar.button('Home').click();
    assert.equal(await bar.strip('Strip 29').isVisible(), false);
  });

  it('shows the names of folded strips whole, so that two that begin alike can be told apart', async () => {
    for (const name of [`${LONG}, left`, `${LONG}, right`]) {
      const isWhole = ({ scrollWidth, clientWidth }: HTMLElement) => scrollWidth <= clientWidth;
      assert.ok(await bar.button(name).evaluate(isWhole), name);
    }
  });

  it('tells a screen reader the MAC of outlets, because strips may have the same name', async () => {
    const [first = '', second = ''] = strips.filter(({ name }) => name === 'Twin').map(({ mac }) => mac);
    for (const twin of await bar.button('Twin').all()) await twin.click();
    await bar.root.getByRole('list', { name: second }).getByRole('switch').first().click();
    await bar.root.getByRole('status').getByText('Twin, outlet 1 is on').waitFor();
    const isOn = (mac: string) => stage.service.simulator.isOn(mac, 1);
    assert.deepEqual([isOn(first), isOn(second)], [false, true]);
  });

  it('shows names as text, wherever they come from', async () => {
    await bar.button(HOSTILE).click();
    await bar.root.getByRole('switch').first().click();
    await bar.root.getByRole('status').getByText(`${HOSTILE}, outlet 1 is on`).waitFor();
    assert.equal(await editor.page.evaluate(() => 'hacked' in window), false);
    assert.equal(await bar.root.locator('img').count(), 0);
  });
});
