import assert from 'node:assert/strict';
import { account, around } from '../support/flow';
import { startNodeRed } from '../support/node-red';
import { logIn } from '../support/node-red-admin';
import type { RunningNodeRed } from '../support/node-red';
import { startService } from '../support/service';
import type { TestService } from '../support/service';

const API_KEY = 'sentinel-key-71bd02';

// Two users: 'admin' may do anything, 'guest' may only look.
const USERS = `
const permissions = { admin: '*', guest: 'read' };
const user = (username) => (username in permissions ? { username, permissions: permissions[username] } : null);
settings.adminAuth = {
  type: 'credentials',
  users: (name) => Promise.resolve(user(name)),
  authenticate: (name, password) => Promise.resolve(password === 'open' ? user(name) : null),
};`;

describe('the admin routes behind a login', () => {
  let red: RunningNodeRed;
  let service: TestService;
  let guest: string;

  before(async function () {
    this.timeout(180_000);
    service = await startService({ apiKey: API_KEY });
    red = await startNodeRed({ settingsScript: USERS, login: { username: 'admin', password: 'open' } });
    await red.deploy([...around('strip switch'), account(service)]);
    guest = await logIn(red.url, { username: 'guest', password: 'open' }, 'read');
  });

  after(async () => {
    await red.stop();
    await service.close();
  });

  const strips = '/strip-account/account/strips?refresh=1';
  const trial = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: 'account',
      baseUrl: '',
      apiKey: '__PWRD__',
      timeout: '1000',
      tls: '',
      proxy: '',
    }),
  };
  const asGuest = async (path: string, init: RequestInit = {}) =>
    await fetch(`${red.url}${path}`, {
      ...init,
      headers: { ...(init.headers as Record<string, string>), authorization: `Bearer ${guest}` },
    });

  it('answer 401 to whoever has not logged in, and ask the service nothing', async () => {
    const before = service.requests.length;
    assert.equal((await fetch(`${red.url}${strips}`)).status, 401);
    assert.equal((await fetch(`${red.url}/strip-account/test`, trial)).status, 401);
    assert.equal((await fetch(`${red.url}/inject/in`, { method: 'POST' })).status, 401);
    assert.equal(service.requests.length, before);
  });

  it('let a user who may only read see the strips, without the key', async () => {
    const response = await asGuest(strips);
    assert.equal(response.status, 200);
    const text = await response.text();
    assert.match(text, /A1B2C3D4E5F6/);
    assert.ok(!text.includes(API_KEY));
  });

  it('let a user who may only read neither test a connection nor press a button', async () => {
    const before = service.requests.length;
    // Node-RED itself answers a missing permission with 401.
    assert.ok([401, 403].includes((await asGuest('/strip-account/test', trial)).status));
    assert.ok([401, 403].includes((await asGuest('/inject/in', { method: 'POST' })).status));
    assert.equal(service.requests.length, before);
  });

  it('never send the stored key to an address that was only typed', async () => {
    const stranger = await startService({ apiKey: API_KEY });
    try {
      const response = await red.admin('/strip-account/test', {
        ...trial,
        body: JSON.stringify({ ...(JSON.parse(trial.body) as object), baseUrl: stranger.baseUrl }),
      });
      assert.ok(!(await response.text()).includes(API_KEY));
      assert.ok(stranger.requests.every(({ headers }) => headers['x-api-key'] === undefined));
      assert.equal(stranger.requests.length, 0);
    } finally {
      await stranger.close();
    }
  });
});
