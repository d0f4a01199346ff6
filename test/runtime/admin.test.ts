import assert from 'node:assert/strict';
import type { Note } from '../../src/api/decode';
import type { Strip } from '../../src/api/types';
import { account, around, tab } from '../support/flow';
import { startNodeRed } from '../support/node-red';
import { logIn, posting, USERS } from '../support/node-red-admin';
import type { RunningNodeRed } from '../support/node-red';
import { startService } from '../support/service';
import type { TestService } from '../support/service';

const API_KEY = 'sentinel-key-71bd02';

/** What _Test connection_ answers. */
interface Tested {
  ok: boolean;
  code?: string;
  key?: string;
  params?: Record<string, unknown>;
  strips?: Strip[];
  complete: boolean;
  notes: Note[];
  sent: { body: unknown };
}

describe('the admin routes behind a login', () => {
  let red: RunningNodeRed;
  let service: TestService;
  let guest: string;

  before(async () => {
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
  /** What the dialog of the account holds where nothing was changed. */
  const typed = {
    id: 'account',
    baseUrl: '',
    apiKey: '__PWRD__',
    timeout: '1000',
    tls: '',
    proxy: '',
  };
  const trial = posting(typed);
  /** Tests the connection with other values in the dialog. */
  const test = async (values: object) =>
    (await (await red.admin('/strip-account/test', posting({ ...typed, ...values }))).json()) as Tested;
  const asGuest = async (path: string, init: RequestInit = {}) =>
    await fetch(`${red.url}${path}`, {
      ...init,
      headers: { ...(init.headers as Record<string, string>), authorization: `Bearer ${guest}` },
    });

  it('answer 401 without a login, and ask the service nothing', async () => {
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

  it('let a user who may only read neither test a connection nor click an inject node', async () => {
    const before = service.requests.length;
    // Node-RED itself answers a missing permission with 401.
    assert.ok([401, 403].includes((await asGuest('/strip-account/test', trial)).status));
    assert.ok([401, 403].includes((await asGuest('/inject/in', { method: 'POST' })).status));
    assert.equal(service.requests.length, before);
  });

  it('let a user who may only read and switch send no environment variable to an address', async () => {
    const operator = await logIn(red.url, { username: 'operator', password: 'open' }, 'strip-account.write');
    const before = service.requests.length;
    const request = posting({ ...typed, apiKey: '${PATH}' }, { authorization: `Bearer ${operator}` });
    const response = await fetch(`${red.url}/strip-account/test`, request);
    assert.ok([401, 403].includes(response.status));
    assert.equal(service.requests.length, before);
  });

  it('never send the stored key to an address that was only typed', async () => {
    const stranger = await startService({ apiKey: API_KEY });
    try {
      const answer = await test({ baseUrl: stranger.baseUrl });
      assert.ok(!JSON.stringify(answer).includes(API_KEY));
      assert.equal(stranger.requests.length, 0);
    } finally {
      await stranger.close();
    }
  });

  it('send the stored key through no TLS or proxy node that was only chosen', async () => {
    const before = service.requests.length;
    for (const chosen of [{ proxy: 'other' }, { tls: 'other' }]) {
      const { key } = await test({ baseUrl: service.baseUrl, ...chosen });
      assert.equal(key, 'errors.NOT_CONFIGURED.keyAgain');
    }
    assert.equal(service.requests.length, before);
  });

  it('send the key that is stored for a simulator to no host on the network that is called like it', async () => {
    await red.deploy([...around('strip switch'), account(service, { baseUrl: '/strip-simulator' })]);
    const { key } = await test({ baseUrl: 'http://simulator/strip-simulator' });
    await red.deploy([...around('strip switch'), account(service)]);
    assert.equal(key, 'errors.NOT_CONFIGURED.keyAgain');
  });

  it('hide the key where a mapping puts it into its error', async () => {
    service.next({ kind: 'answer', status: 200, json: [{ note: `key ${API_KEY}` }] });
    const { params } = await test({ baseUrl: service.baseUrl, mapping: '$error($[0].note)' });
    assert.equal(params?.reason, 'key ***');
  });

  it('answer a dialog that does not refresh with the strips that are known, and ask the service nothing', async () => {
    const before = service.requests.length;
    assert.equal((await red.admin('/strip-account/account/strips')).status, 200);
    assert.equal(service.requests.length, before);
  });

  it('do not say that an account has no key where one is stored, but the account is disabled', async () => {
    await red.deploy([...around('strip switch'), account(service, { d: true })]);
    try {
      const { key } = await test({ baseUrl: service.baseUrl });
      assert.equal(key, 'errors.NOT_CONFIGURED.keyUndeployed');
    } finally {
      await red.deploy([...around('strip switch'), account(service)]);
    }
  });

  it('say that an account has no key where none is stored, whether it is deployed or not', async () => {
    // Node-RED forgets the key of an account that is gone.
    await red.deploy([tab]);
    await red.deploy([
      ...around('strip switch'),
      { ...account(service), baseUrl: '/simulator', credentials: {} },
    ]);
    try {
      for (const id of ['account', 'imported']) {
        const { key } = await test({ id, baseUrl: service.baseUrl });
        assert.equal(key, 'errors.NOT_CONFIGURED.keyMissing', id);
      }
    } finally {
      await red.deploy([...around('strip switch'), account(service)]);
    }
  });

  it('test with the timeout and the mapping of the dialog, also where the stored key is used', async () => {
    const { baseUrl } = service;
    await red.deploy([...around('strip switch'), { ...account(service), mapping: '$error("deployed")' }]);
    assert.equal((await test({ baseUrl })).strips?.length, 2);
    service.next({ kind: 'hang' });
    const { code, params } = await test({ baseUrl, timeout: '150' });
    await red.deploy([...around('strip switch'), account(service)]);
    assert.deepEqual([code, params], ['TIMEOUT', { host: new URL(baseUrl).host, seconds: 0.15 }]);
  });

  it("test an account that is not deployed with Node-RED's global variables", async () => {
    const variables = [
      { name: 'STRIPS_URL', value: service.baseUrl, type: 'str' },
      { name: 'STRIPS_KEY', value: API_KEY, type: 'str' },
      { name: 'STRIPS_MAPPING', value: '[$[0]]', type: 'str' },
    ];
    await red.deploy([...around('strip switch'), { id: 'global', type: 'global-config', env: variables }]);
    const values = { id: 'new', baseUrl: '${STRIPS_URL}', apiKey: '${STRIPS_KEY}' };
    const older = { id: 'new', baseUrl: '$(STRIPS_URL)', apiKey: '$(STRIPS_KEY)' };
    const [plain, old, mapped, unset] = [
      await test(values),
      await test(older),
      await test({ ...values, mapping: '${STRIPS_MAPPING}' }),
      await test({ ...values, mapping: '${NO_SUCH_MAPPING}' }),
    ];
    await red.deploy([...around('strip switch'), account(service)]);
    assert.equal(plain.strips?.length, 2);
    assert.equal(old.strips?.length, 2);
    assert.equal(mapped.strips?.length, 1);
    assert.equal(unset.key, 'errors.NOT_CONFIGURED.variable');
    assert.deepEqual(unset.params, { variable: 'NO_SUCH_MAPPING' });
  });

  it('replace variables in the timeout and the mapping, too, as a deploy does', async () => {
    const variables = [
      { name: 'STRIPS_TIMEOUT', value: '150', type: 'str' },
      { name: 'STRIPS_MAPPING', value: '{"strips": [{"mac": "B1", "outlets": [true]}]}', type: 'str' },
    ];
    await red.deploy([...around('strip switch'), { id: 'global', type: 'global-config', env: variables }]);
    const values = {
      ...{ id: 'new', baseUrl: service.baseUrl, apiKey: API_KEY },
      ...{ mapping: '${STRIPS_MAPPING}', timeout: '${STRIPS_TIMEOUT}' },
    };
    const { strips } = await test(values);
    service.next({ kind: 'hang' });
    const { params } = await test(values);
    await red.deploy([...around('strip switch'), account(service)]);
    assert.deepEqual([strips?.[0]?.mac, params?.seconds], ['B1', 0.15]);
  });

  it('name a timeout that a deploy would refuse', async () => {
    for (const [timeout, sentence] of [
      ['${NO_SUCH_TIMEOUT}', 'variable'],
      ['10s', 'property'],
    ] as const) {
      const { key } = await test({ baseUrl: service.baseUrl, apiKey: API_KEY, timeout });
      assert.equal(key, `errors.NOT_CONFIGURED.${sentence}`);
    }
  });

  it('show an answer with the stored key hidden, and read it again without a request', async () => {
    service.always({ kind: 'answer', status: 200, json: { rows: [{ id: 'A1B2C3D4E5F6', note: API_KEY }] } });
    const ask = (more: object) => test({ baseUrl: service.baseUrl, ...more });
    const { sent } = await ask({});
    assert.deepEqual(sent.body, { rows: [{ id: 'A1B2C3D4E5F6', note: '***' }] });
    const oneStrip = await ask({ mac: 'A1B2C3D4E5F6' });
    assert.deepEqual(oneStrip.sent, sent);
    assert.equal(service.requests.at(-1)?.path, '/api/public/v1/strips/A1B2C3D4E5F6');
    const before = service.requests.length;
    const again = await ask({ body: sent.body, mapping: 'rows.[{"mac": id, "outlets": [true, false]}]' });
    assert.equal(again.strips?.[0]?.outlets.length, 2);
    const failed = await ask({ body: sent.body, mapping: '$error("no")' });
    assert.deepEqual([failed.ok, failed.key], [false, 'errors.BAD_RESPONSE.mappingAt']);
    assert.equal(service.requests.length, before);
    service.always(null);
  });

  it('hide the key in an answer also where it is part of an address, or a number', async () => {
    const ask = async (apiKey: string, json: unknown) => {
      service.next({ kind: 'answer', status: 200, json });
      return (await test({ baseUrl: service.baseUrl, apiKey })).sent.body;
    };
    const key = 'a+b/7f3a==';
    const next = `https://example.com/strips?key=${encodeURIComponent(key)}&page=2`;
    assert.deepEqual(await ask(key, { next }), { next: 'https://example.com/strips?key=***&page=2' });
    assert.deepEqual(await ask('71308842', { user: 71308842, load: 713088421 }), {
      user: '***',
      load: 713088421,
    });
  });

  it('say that a list is only a part where only a header says so, also when it is read again', async () => {
    const headers = { 'x-total-count': '57', 'x-pagination': JSON.stringify({ note: API_KEY }) };
    service.next({ kind: 'answer', status: 200, json: [{ mac: 'A1B2C3D4E5F6' }], headers });
    const first = await test({ baseUrl: service.baseUrl });
    const again = await test({ baseUrl: service.baseUrl, ...first.sent });
    assert.ok(!JSON.stringify(first).includes(API_KEY));
    for (const { complete, notes } of [first, again]) {
      assert.equal(complete, false);
      assert.deepEqual(notes.find(({ reason }) => reason === 'more')?.fields, ['total-count']);
    }
  });

  it('say at once that no simulator has the path while the flows cannot start because a node type is missing', async () => {
    const lost = { id: 'lost', type: 'no such type', z: 'tab', x: 100, y: 500, wires: [] };
    await red.deploy([...around('strip switch'), account(service), lost]);
    const { code } = await test({ baseUrl: '/strip-simulator', timeout: '20000' });
    await red.deploy([...around('strip switch'), account(service)]);
    assert.equal(code, 'UNREACHABLE');
  });

  it('take nothing but JSON where they write, so that a page of another site cannot make a browser do it', async () => {
    const target = await startService({ apiKey: API_KEY });
    const fields = { id: '', baseUrl: target.baseUrl, apiKey: 'typed', timeout: '1000', tls: '', proxy: '' };
    try {
      for (const path of ['/strip-account/test', '/strip-sidebar/switch']) {
        for (const [type, body] of [
          ['application/x-www-form-urlencoded', new URLSearchParams(fields).toString()],
          ['text/plain', JSON.stringify(fields)],
          ['text/plain; application/json', JSON.stringify(fields)],
        ] as const) {
          const init = { method: 'POST', headers: { 'content-type': type }, body };
          assert.equal((await red.admin(path, init)).status, 415, `${path} with ${type}`);
        }
        assert.equal((await red.admin(path, { method: 'POST' })).status, 415, `${path} with nothing`);
      }
      assert.equal(target.requests.length, 0);
    } finally {
      await target.close();
    }
  });

  const outlet = { account: 'account', mac: 'A1B2C3D4E5F6', port: 1, on: true };

  it('answer the sidebar with accounts and strips, without the key, and refuse it without the permission to read', async () => {
    const accounts = '/strip-sidebar/accounts?lease=test';
    assert.equal((await fetch(`${red.url}${accounts}`)).status, 401);
    assert.equal((await fetch(`${red.url}/strip-sidebar/diagnostics/account`)).status, 401);
    const release = posting({ lease: 'test' });
    assert.equal((await fetch(`${red.url}/strip-sidebar/release`, release)).status, 401);
    assert.equal((await asGuest('/strip-sidebar/accounts')).status, 400, 'without a lease');
    const before = service.requests.length;
    const response = await asGuest(accounts);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('cache-control'), 'no-store');
    await service.arrived(before + 1);
    const text = await (await asGuest(accounts)).text();
    assert.match(text, /"id":"account"/);
    assert.ok(!text.includes(API_KEY));
    assert.equal((await asGuest('/strip-sidebar/release', release)).status, 204);
  });

  it('switch an outlet with the permission to write, and only for JSON', async () => {
    const path = '/strip-sidebar/switch';
    const before = service.requests.filter(({ method }) => method === 'POST').length;
    assert.equal((await fetch(`${red.url}${path}`, posting(outlet))).status, 401);
    assert.ok([401, 403].includes((await asGuest(path, posting(outlet))).status));
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const typed = await red.admin(path, {
      method: 'POST',
      headers: form,
      body: new URLSearchParams({ account: 'account', mac: outlet.mac, port: '1', on: 'true' }),
    });
    assert.equal(typed.status, 415);
    assert.equal((await red.admin(path, posting({ ...outlet, port: 'all' }))).status, 400);
    assert.equal(service.requests.filter(({ method }) => method === 'POST').length, before);
    const answer = await red.admin(path, posting(outlet));
    assert.deepEqual(await answer.json(), { ok: true, on: true });
  });

  it('wait for the end of a deploy that replaces the account', async () => {
    const path = '/strip-sidebar/switch';
    const before = service.requests.length;
    service.next({ kind: 'hang' });
    const first = red.admin(path, posting(outlet));
    await service.arrived(before + 1);
    service.next({ kind: 'hang' });
    const read = red.admin(strips);
    await service.arrived(before + 2);
    const deployed = red.deploy([...around('strip switch'), account(service, { name: 'again' })]);
    // The old account closes: it ends the read at once, and gives the switch a second.
    assert.equal(((await (await read).json()) as { code: string }).code, 'CLOSED');
    const diagnostics = red.admin('/strip-sidebar/diagnostics/account');
    const answer = await red.admin(path, posting(outlet));
    assert.deepEqual(await answer.json(), { ok: true, on: true });
    assert.equal((await diagnostics).status, 200);
    assert.equal(((await (await first).json()) as { code: string }).code, 'CLOSED');
    await deployed;
  });

  it('answer a command that fails with code, sentence and what the sentence names', async () => {
    const path = '/strip-sidebar/switch';
    const missing = await red.admin(path, posting({ ...outlet, account: 'gone' }));
    assert.deepEqual(await missing.json(), {
      ok: false,
      code: 'NOT_CONFIGURED',
      key: 'errors.NOT_CONFIGURED.account',
      params: {},
    });
    service.next({ kind: 'answer', status: 500, json: {} });
    const failed = await red.admin(path, posting(outlet));
    const { ok, code } = (await failed.json()) as { ok: boolean; code: string };
    assert.deepEqual([ok, code], [false, 'SERVICE']);
  });

  it('report about an account with versions and figures, and with no key, host, MAC or name', async () => {
    await red.admin('/strip-account/account/strips?refresh=1');
    const response = await asGuest('/strip-sidebar/diagnostics/account');
    assert.equal(response.status, 200);
    const text = await response.text();
    for (const secret of [API_KEY, '127.0.0.1', String(service.port), 'A1B2C3D4E5F6', 'Desk strip']) {
      assert.ok(!text.includes(secret), secret);
    }
    const report = JSON.parse(text) as Record<string, Record<string, unknown>>;
    assert.match(String(report.versions?.nodeRed), /^\d+\.\d+\.\d+/);
    assert.match(String(report.versions?.package), /^\d+\.\d+\.\d+/);
    if (process.env.NODE_BIN === undefined) assert.equal(report.versions?.node, process.versions.node);
    assert.ok(Number(report.requests?.list) > 0);
    assert.ok(report.answers?.list);
    assert.equal((await asGuest('/strip-sidebar/diagnostics/gone')).status, 404);
  });

  it('report the form of an answer that was not understood, without its texts', async () => {
    const json = { status: 'Desk lamp', results: [{ port: 'Desk lamp', ok: 7001 }], 'Desk lamp': API_KEY };
    service.next({ kind: 'answer', status: 200, json });
    await red.admin('/strip-sidebar/switch', posting(outlet));
    const text = await (await asGuest('/strip-sidebar/diagnostics/account')).text();
    const { errors } = JSON.parse(text) as { errors: { last: { code: string }; shape?: unknown }[] };
    assert.deepEqual(errors.find(({ last }) => last.code === 'BAD_RESPONSE')?.shape, {
      status: 'text of 9',
      results: [{ count: 1, shape: { port: 'text of 9', ok: 'integer' } }],
      'key 1 of 9': `text of ${API_KEY.length}`,
    });
    assert.doesNotMatch(text, /Desk lamp|7001/);
    assert.ok(!text.includes(API_KEY));
  });

  it('report of an account without a key that it has none', async () => {
    await red.deploy([tab, account(service, { id: 'keyless', credentials: undefined })]);
    const report = await red.json('/strip-sidebar/diagnostics/keyless');
    assert.equal((report as { settings: { apiKey: boolean } }).settings.apiKey, false);
  });
});

describe('the admin routes of a Node-RED that could not load its flows', () => {
  let red: RunningNodeRed;

  before(async () => {
    // As with a project whose credentials cannot be decrypted.
    const settingsScript = `
const none = () => Promise.resolve({});
settings.storageModule = {
  init: none, getCredentials: none, getSettings: none, getSessions: none, saveSettings: none,
  getFlows: () => Promise.reject(new Error('no flows')),
};`;
    red = await startNodeRed({ settingsScript });
  });

  after(() => red.stop());

  it('show the sidebar no account', async () => {
    assert.deepEqual(await red.json('/strip-sidebar/accounts?lease=test'), []);
  });

  it('still test a connection, and name an environment variable that is not set', async () => {
    const request = posting({ id: 'new', baseUrl: '${NO_SUCH_URL}', apiKey: 'a key' });
    const response = await red.admin('/strip-account/test', request);
    const { code, params } = (await response.json()) as { code: string; params: unknown };
    assert.deepEqual([code, params], ['NOT_CONFIGURED', { variable: 'NO_SUCH_URL' }]);
  });
});
