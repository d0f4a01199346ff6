import assert from 'node:assert/strict';
import { manifest } from '../support/manifest';
import { PACKAGE } from '../support/node-red';
import { posting } from '../support/node-red-admin';
import { Editor } from './editor';
import { Sidebar } from './sidebar';
import { setStage } from './stage';

describe('the palette manager', () => {
  const settings = {
    externalModules: { palette: { allowInstall: true } },
    editorTheme: { tours: false, palette: { catalogues: [] } },
  };
  const stage = setStage({ nodeRed: { install: 'packed', settings } });

  it('shows one sidebar in an editor that was open while the package was removed elsewhere and installed again', async () => {
    const editor = await Editor.open(stage.browser, stage.red.url);
    const { page } = editor;
    const bar = new Sidebar(editor);
    await bar.show();
    // Node-RED tells this editor nothing of the removal, and calls this after the installation.
    await page.evaluate(() => window.RED.plugins.getPlugin('smart-strip-sidebar').onadd());
    await bar.show();
    await bar.button('Add an account').waitFor();
    const entries = page.locator('[id="menu-item-view-menu-smart-strip-sidebar"]');
    assert.deepEqual([await bar.root.count(), await entries.count()], [1, 1]);
    assert.deepEqual(editor.errors, []);
    await editor.close();
  });

  it('says in the sidebar that the nodes are disabled, and offers nothing that needs them', async () => {
    const enable = async (enabled: boolean) => {
      const { ok } = await stage.red.admin(`/nodes/${PACKAGE}`, { ...posting({ enabled }), method: 'PUT' });
      assert.ok(ok);
    };
    const editor = await Editor.open(stage.browser, stage.red.url);
    const { page } = editor;
    await enable(false);
    await page.reload();
    await page.locator('.red-ui-palette-node[data-palette-type="debug"]').waitFor({ state: 'attached' });
    await page.locator('#red-ui-loading-progress').waitFor({ state: 'hidden' });
    const bar = new Sidebar(editor);
    await bar.show();
    await bar.root.getByText('Enable or install').waitFor();
    assert.equal(await bar.root.getByRole('button').count(), 0);
    await enable(true);
    await bar.root.getByText('There is no account yet').waitFor();
    await bar.button('Add an account').waitFor();
    assert.deepEqual(editor.errors, []);
    await editor.close();
  });

  it('is offered for the dashboard when an example that needs it is imported', async () => {
    const editor = await Editor.open(stage.browser, stage.red.url);
    await editor.importExample('03 - ');
    const notification = editor.page.locator('.red-ui-notification', { hasText: 'Required modules missing' });
    await notification.getByText('@flowfuse/node-red-dashboard').waitFor();
    await notification.getByRole('button', { name: 'Install all' }).waitFor();
    assert.deepEqual(editor.errors, []);
    await editor.close();
  });

  it('lists the sidebar, and removes it with the package, so that it asks for nothing any more', async () => {
    const editor = await Editor.open(stage.browser, stage.red.url);
    const { page } = editor;
    const bar = new Sidebar(editor);
    await bar.show();
    await page.evaluate(() => window.RED.actions.invoke('core:manage-palette'));
    const palette = page.locator('#red-ui-settings-tab-palette');
    const module = palette.locator('.red-ui-palette-module-header', { hasText: PACKAGE });
    const { nodes } = manifest['node-red'];
    await module.getByText(`1 plugin & ${Object.keys(nodes).length} nodes`).waitFor();
    await module.getByText('remove', { exact: true }).click();
    const released = page.waitForRequest(/strip-sidebar\/release/);
    await page.locator('.red-ui-notification').getByRole('button', { name: 'Remove' }).click();
    await page.locator('[data-palette-type="strip switch"]').waitFor({ state: 'detached' });
    await bar.root.waitFor({ state: 'detached' });
    await released;
    assert.deepEqual(editor.errors, []);
    await editor.close();
  });
});
