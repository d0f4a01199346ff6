import assert from 'node:assert/strict';
import { account, placed, tab } from '../support/flow';
import { logIn, posting, USERS } from '../support/node-red-admin';
import { STRIPS } from '../support/service';
import { Editor } from './editor';
import { Sidebar } from './sidebar';
import { setStage } from './stage';

const [{ mac: DESK }] = STRIPS;

describe('the editor behind a login', () => {
  const stage = setStage({
    nodeRed: { settingsScript: USERS, login: { username: 'admin', password: 'open' } },
  });

  it('says in the sidebar to a user who may not read that they may not, and asks for nothing', async () => {
    await stage.red.deploy([tab, account(stage.service, { name: 'Home' })]);
    const login = { username: 'none', password: 'open' };
    const editor = await Editor.open(stage.browser, stage.red.url, { login });
    try {
      const bar = new Sidebar(editor);
      const asked: string[] = [];
      editor.page.on('request', (request) => asked.push(request.url()));
      await bar.show();
      await bar.root.getByText('You are not allowed to use smart strip accounts').waitFor();
      assert.ok(asked.every((url) => !url.includes('strip-sidebar/')));
      assert.equal(await bar.account('Home').count(), 0, 'whether it is deployed is not known');
      assert.equal(await bar.root.getByRole('searchbox').count(), 0, 'there is nothing to filter');
    } finally {
      await editor.close();
    }
  });

  it('shows a reader everything in the sidebar, lets them switch nothing, and says why', async () => {
    await stage.red.deploy([tab, account(stage.service, { name: 'Home', interval: '5' })]);
    const login = { username: 'guest', password: 'open' };
    const editor = await Editor.open(stage.browser, stage.red.url, { login });
    try {
      const bar = new Sidebar(editor);
      await bar.show();
      await bar.shows('Desk strip, outlet 1', false);
      assert.equal(await bar.root.locator('button[role=switch]:enabled').count(), 0);
      // They could not deploy what these add.
      assert.equal(await bar.root.getByRole('button', { name: /^(Add an|Try it|Put a)/ }).count(), 0);
      assert.match((await bar.toggle('Desk strip, outlet 1').getAttribute('title')) ?? '', /not allowed/);
      const request = posting(
        { account: 'account', mac: DESK, port: 1, on: true },
        { authorization: `Bearer ${await logIn(stage.red.url, login, 'read')}` },
      );
      const { status } = await fetch(`${stage.red.url}/strip-sidebar/switch`, request);
      assert.ok(status === 401 || status === 403, String(status));
      assert.ok(stage.service.requests.every(({ method }) => method === 'GET'));
    } finally {
      await editor.close();
    }
  });

  it('offers a reader no test of the connection, and says why', async () => {
    await stage.red.deploy([tab, account(stage.service, { name: 'Home' })]);
    const login = { username: 'guest', password: 'open' };
    const editor = await Editor.open(stage.browser, stage.red.url, { login });
    try {
      await editor.editConfig('strip-account', 'account');
      const row = editor.page.locator('#smart-strip-row-test');
      assert.ok(await row.getByRole('button', { name: 'Test connection' }).isDisabled());
      assert.ok(await row.getByRole('button', { name: 'Diagnostics' }).isEnabled());
      await row.getByText('You are not allowed to do this').waitFor();
    } finally {
      await editor.close();
    }
  });

  it('does not ask a reader to test the connection, where no strip is known', async () => {
    stage.service.always({ kind: 'answer', status: 500, json: {} });
    await stage.red.deploy([tab, account(stage.service, { name: 'Home' })]);
    const login = { username: 'guest', password: 'open' };
    const editor = await Editor.open(stage.browser, stage.red.url, { login });
    try {
      await editor.editConfig('strip-account', 'account');
      await editor.unfold('Outlets');
      await editor.page.getByRole('button', { name: 'Add the strips found' }).waitFor();
      assert.equal(await editor.page.locator('#smart-strip-hint-outlets').textContent(), '');
    } finally {
      stage.service.always(null);
      await editor.close();
    }
  });

  it('asks for no strips that the user may not read or test', async () => {
    const lamp = { mac: DESK, macType: 'str', port: '1', portType: 'port', on: 'toggle', onType: 'action' };
    await stage.red.deploy([tab, account(stage.service), placed('switch', 'strip switch', lamp)]);
    for (const [username, note] of [
      ['none', 'not allowed to use smart strip accounts'],
      ['guest', 'not allowed to do this'],
    ] as const) {
      const login = { username, password: 'open' };
      const editor = await Editor.open(stage.browser, stage.red.url, { login });
      try {
        const { page, errors } = editor;
        errors.length = 0; // The login itself begins with one.
        // What is not deployed could only be tested.
        if (username === 'guest') {
          await editor.editConfig('strip-account', 'account');
          await page.locator('#node-config-input-name').fill('Home');
          await editor.doneConfig();
        }
        await editor.edit('switch');
        await page.locator('.smart-strip-picker', { hasText: note }).waitFor();
        assert.deepEqual(errors, []);
      } finally {
        await editor.close();
      }
    }
  });
});
