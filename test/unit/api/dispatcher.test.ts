import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { getGlobalDispatcher } from 'undici';
import { Client } from '../../../src/api/client';
import { parseBaseUrl } from '../../../src/api/connection-settings';
import { PooledDispatcher, type DispatcherOptions } from '../../../src/api/dispatcher';
import type { StripError } from '../../../src/api/errors';
import { systemClock } from '../../../src/api/types';
import { pem } from '../../support/certificates';
import { TestProxy } from '../../support/proxy';
import { startService, type TestService } from '../../support/service';
import { failureOf } from './client-stage';

const VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY'];
/** The name in upper case. On Windows the two are one variable, and what is found is the name in lower case. */
const upper = (name: string): string => (process.platform === 'win32' ? name : name.toUpperCase());
const tls = { key: pem('key'), cert: pem('trusted') };

describe('PooledDispatcher', () => {
  let service: TestService;
  let proxy: TestProxy;
  let proxyHost: string;
  let environment: Record<string, string | undefined>;
  const clients: Client[] = [];

  const connect = (options: Partial<DispatcherOptions> = {}, baseUrl = service.baseUrl): Client => {
    const base = parseBaseUrl(baseUrl);
    const dispatcher = new PooledDispatcher({
      origin: base.url.origin,
      connections: 2,
      timeout: 10_000,
      ...options,
    });
    const { apiKey } = service;
    const client = new Client({ baseUrl: base, apiKey, timeout: 5_000, dispatcher, clock: systemClock });
    clients.push(client);
    return client;
  };
  const through = (url: string, noProxy: string[] = []): Partial<DispatcherOptions> => ({
    proxy: { url, noProxy },
  });
  /** Another service, over https, for the length of some work. */
  const withSecure = async (work: (secure: TestService) => Promise<void>): Promise<void> => {
    const secure = await startService({ tls });
    try {
      await work(secure);
    } finally {
      await Promise.all(clients.splice(0).map((client) => client.close()));
      await secure.close();
    }
  };

  beforeEach(async () => {
    environment = Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]]));
    for (const name of VARIABLES) Reflect.deleteProperty(process.env, name);
    service = await startService();
    proxy = new TestProxy();
    proxyHost = `127.0.0.1:${await proxy.start()}`;
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await proxy.stop();
    await service.close();
    for (const [name, value] of Object.entries(environment)) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  });

  it('connects directly where no proxy is named', async () => {
    await connect().list();
    assert.deepEqual(proxy.seen, []);
  });

  describe('through a proxy', () => {
    it('forwards plain http without CONNECT, with the key and the host of the service', async () => {
      const client = connect(through(`http://${proxyHost}`));
      await client.list();
      await client.switch('A1B2C3D4E5F6', 2, true);
      const base = `${service.baseUrl}/api/public/v1/strips`;
      assert.deepEqual(
        proxy.seen.map(({ method, target }) => `${method} ${target}`),
        [`GET ${base}`, `POST ${base}/A1B2C3D4E5F6/switch`],
      );
      assert.equal(service.requests[0]?.headers.host, new URL(service.baseUrl).host);
      assert.equal(service.requests[0].headers['x-api-key'], service.apiKey);
      assert.equal(service.requests[1]?.body, '{"port":2,"on":true}');
      assert.deepEqual(
        proxy.seen.map(({ authorization }) => authorization),
        [undefined, undefined],
      );
    });

    it('reaches https with CONNECT, and keeps the tunnel', async () => {
      await withSecure(async (secure) => {
        const client = connect(
          { ...through(`http://${proxyHost}`), connections: 1, timeout: 10_000, tls: { ca: tls.cert } },
          secure.baseUrl,
        );
        await client.list();
        await client.list();
        assert.deepEqual(
          proxy.seen.map(({ method, target }) => `${method} ${target}`),
          [`CONNECT ${new URL(secure.baseUrl).host}`],
        );
        assert.equal(secure.connections, 1);
      });
    });

    it('checks the certificate of an https proxy against the name of the proxy, for plain http, too', async () => {
      // In a process of its own, because Node.js reads trusted certificates when it starts.
      const script = `
        require('tsx/cjs');
        const { createServer } = require('node:https');
        const { PooledDispatcher } = require('./src/api/dispatcher.ts');
        const { pem } = require('./test/support/certificates.ts');
        const proxy = createServer({ key: pem('key'), cert: pem('trusted') }, (request, response) => {
          response.end(request.url);
        });
        proxy.listen(0, '127.0.0.1', () => {
          const origin = 'http://strips.example.com';
          const url = 'https://127.0.0.1:' + proxy.address().port;
          const dispatcher = new PooledDispatcher({ origin, connections: 1, timeout: 10_000, proxy: { url, noProxy: [] } });
          const end = (result) => { console.log(String(result)); process.exit(); };
          dispatcher.dispatch({ path: '/strips', method: 'GET', headers: {}, body: '' }, {
            onRequestStart() {},
            onResponseStart() {},
            onResponseData(_, chunk) { end(chunk); },
            onResponseError(_, error) { end(error.cause); },
          });
        });`;
      const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
        cwd: join(__dirname, '../../..'),
        env: { ...process.env, NODE_EXTRA_CA_CERTS: join(__dirname, '../../support/tls/trusted.pem') },
      });
      assert.equal(stdout.trim(), 'http://strips.example.com/strips');
    });

    it('gives its credentials to the proxy only, whatever the environment says', async () => {
      process.env.http_proxy = 'http://127.0.0.1:1';
      const login = { username: 'us:er', password: 'pä' };
      await connect({ proxy: { url: `http://${proxyHost}`, noProxy: [], ...login } }).list();
      assert.equal(proxy.seen[0]?.authorization, `Basic ${Buffer.from('us:er:pä').toString('base64')}`);
      assert.equal(service.requests[0]?.headers['proxy-authorization'], undefined);
    });

    it('takes a user name without a password, and characters that were never escaped', async () => {
      const expected = (login: string): string => `Basic ${Buffer.from(login).toString('base64')}`;
      await connect({ proxy: { url: `http://${proxyHost}`, noProxy: [], username: 'user' } }).list();
      process.env.http_proxy = `http://50%:p%C3%A4@${proxyHost}`;
      await connect().list();
      assert.deepEqual(
        proxy.seen.map(({ authorization }) => authorization),
        [expected('user:'), expected('50%:pä')],
      );
    });

    for (const scheme of ['http', 'https']) {
      it(`takes credentials from the address, for ${scheme}`, async () => {
        process.env[`${scheme}_proxy`] = `http://us%20er:p%C3%A4@${proxyHost}`;
        const expected = `Basic ${Buffer.from('us er:pä').toString('base64')}`;
        if (scheme === 'http') await connect().list();
        else {
          await withSecure(async (secure) => {
            await connect({ tls: { ca: tls.cert } }, secure.baseUrl).list();
          });
        }
        assert.equal(proxy.seen[0]?.authorization, expected);
      });
    }

    it('keeps its connections to the proxy', async () => {
      const client = connect(through(`http://${proxyHost}`));
      for (let i = 0; i < 5; i++) await client.list();
      assert.equal(proxy.seen.length, 5);
      assert.ok(proxy.connections <= 2, `${proxy.connections} connections`);
    });
  });

  describe('takes from the environment', () => {
    it('the proxy for the scheme of the base URL, in lower case first', async () => {
      process.env.HTTP_PROXY = 'http://127.0.0.1:1';
      process.env.http_proxy = `http://${proxyHost}`;
      await connect().list();
      assert.equal(proxy.seen.length, 1);
      process.env.http_proxy = '';
      await connect().list();
      assert.equal(proxy.seen.length, 1, 'an empty variable means no proxy');
    });

    it('nothing that is for the other scheme, whatever it is', async () => {
      process.env.https_proxy = 'socks5://127.0.0.1:1080';
      process.env.HTTPS_PROXY = 'nonsense';
      await connect().list();
      Reflect.deleteProperty(process.env, 'https_proxy');
      Reflect.deleteProperty(process.env, 'HTTPS_PROXY');
      process.env.http_proxy = 'socks5://127.0.0.1:1080';
      await withSecure(async (secure) => {
        await connect({ tls: { ca: tls.cert } }, secure.baseUrl).list();
      });
    });

    it('no proxy for a host in no_proxy, even where its address is none', async () => {
      process.env.http_proxy = 'socks5://secret@127.0.0.1';
      process.env.NO_PROXY = 'elsewhere.example, 127.0.0.1';
      await connect().list();
      process.env.no_proxy = 'elsewhere.example';
      assert.throws(() => connect(), {
        sentenceKey: 'NOT_CONFIGURED.proxyVariable',
        params: { variable: 'http_proxy' },
      });
    });

    it('no_proxy as it is now, not as it was when the package was loaded', async () => {
      process.env.http_proxy = `http://${proxyHost}`;
      process.env.no_proxy = '*';
      await connect().list();
      assert.deepEqual(proxy.seen, []);
    });
  });

  describe('leaves the proxy out', () => {
    const cases: [target: string, entry: string, isExcepted: boolean][] = [
      ['http://strips.example.com', 'strips.example.com', true],
      ['http://strips.example.com', ' strips.example.com ', true],
      ['http://strips.example.com', 'STRIPS.example.COM.', true],
      ['http://strips.example.com', 'example.com', true],
      ['http://strips.example.com', '.example.com', true],
      ['http://strips.example.com', '*.example.com', true],
      ['http://example.com.', '.example.com', true],
      ['http://notexample.com', 'example.com', false],
      ['http://strips.example.com', 'com.example', false],
      ['http://strips.example.com', 'example.com:80', true],
      ['http://strips.example.com', 'example.com:8080', false],
      ['http://strips.example.com:8080', 'example.com:8080', true],
      ['https://strips.example.com', 'example.com:443', true],
      ['https://strips.example.com', 'example.com:80', false],
      ['http://strips.example.com', '*', true],
      ['http://strips.example.com', '', false],
      ['http://strips.example.com', '.', false],
      ['http://10.0.0.1', '10.0.0.1', true],
      ['http://10.0.0.1', '0.0.1', false],
      ['http://10.0.0.1', '10.0.0.0/8', false],
      ['http://[::1]', '::1', true],
      ['http://[::1]', '[::1]', true],
      ['http://[::1]:8080', '[::1]:8080', true],
      ['http://[::1]:8080', '[::1]:80', false],
      ['http://[fd00::1]', '::1', false],
      ['http://[::1]', 'x[::1]', false],
      ['http://[::1]', '[::1]x', false],
      ['http://strips.example.com', 'example.com:', false],
      ['http://strips.example.com', 'example.com:http', false],
      ['http://strips.example.com', 'example.com:80x', false],
    ];
    for (const [target, entry, isExcepted] of cases) {
      it(`${isExcepted ? 'for' : 'not for'} ${target} with "${entry}"`, async () => {
        const dispatcher = new PooledDispatcher({
          origin: target,
          connections: 1,
          timeout: 10_000,
          ...through('http://proxy.example', [entry]),
        });
        assert.equal(dispatcher.proxy === null, isExcepted);
        await dispatcher.destroy();
      });
    }
  });

  describe('names a proxy that fails', () => {
    const sentenceOf = async (client: Client): Promise<[string, unknown]> => {
      const error = await failureOf(client.list());
      assert.equal(error.code, 'UNREACHABLE');
      assert.ok(!JSON.stringify(error.params).includes('secret'));
      return [error.sentenceKey, error.params.proxy];
    };

    it('that refuses connections, and where it comes from', async () => {
      await proxy.stop();
      const address = `http://${proxyHost}`;
      const url = `http://user:secret@${proxyHost}`;
      assert.deepEqual(await sentenceOf(connect(through(url))), ['UNREACHABLE.proxyDown', address]);
      process.env.http_proxy = url;
      const error = await failureOf(connect().list());
      assert.equal(error.sentenceKey, 'UNREACHABLE.proxyDownVariable');
      assert.deepEqual(
        [error.params.variable, error.params.proxy, error.params.code, error.retryable],
        ['http_proxy', address, 'ECONNREFUSED', true],
      );
      process.env.HTTPS_PROXY = url;
      const secure = await failureOf(connect({}, 'https://strips.example.com').list());
      assert.deepEqual(
        [secure.sentenceKey, secure.params.variable],
        ['UNREACHABLE.proxyDownVariable', upper('https_proxy')],
      );
      proxy = new TestProxy();
      await proxy.start();
    });

    it('that does not exist', async () => {
      for (const target of [service.baseUrl, 'https://strips.example.com']) {
        const error = await failureOf(connect(through('http://proxy.invalid:3128'), target).list());
        assert.deepEqual(
          [error.sentenceKey, error.params.proxy],
          ['UNREACHABLE.proxyDown', 'http://proxy.invalid:3128'],
        );
      }
    });

    it('that speaks the other scheme', async () => {
      const secureProxy = new TestProxy(tls);
      const port = await secureProxy.start();
      for (const target of [service.baseUrl, 'https://strips.example.com']) {
        for (const address of [`https://${proxyHost}`, `http://127.0.0.1:${port}`]) {
          assert.deepEqual(await sentenceOf(connect(through(address), target)), [
            'UNREACHABLE.proxyDown',
            address,
          ]);
        }
      }
      await secureProxy.stop();
    });

    it('but not for what is wrong with the certificate of the service', async () => {
      await withSecure(async (secure) => {
        const error = await failureOf(connect(through(`http://${proxyHost}`), secure.baseUrl).list());
        assert.equal(error.sentenceKey, 'UNREACHABLE.certificateSelfSigned');
        const named = { ca: tls.cert, servername: 'elsewhere.example' };
        const other = connect({ ...through(`http://${proxyHost}`), tls: named }, secure.baseUrl);
        assert.equal((await failureOf(other.list())).sentenceKey, 'UNREACHABLE.certificateHost');
      });
    });

    for (const [status, sentence, retryable] of [
      [407, 'proxyRefused', false],
      [403, 'proxyRefused', false],
      [502, 'proxyGateway', true],
      [503, 'proxyGateway', true],
    ] as const) {
      it(`that answers ${status} to CONNECT`, async () => {
        proxy.status = status;
        const target = 'https://strips.example.com';
        const error = await failureOf(connect(through(`http://${proxyHost}`), target).list());
        assert.deepEqual(
          [error.sentenceKey, error.params.status, error.retryable, error.params.host],
          [`UNREACHABLE.${sentence}`, status, retryable, 'strips.example.com'],
        );
        process.env.https_proxy = `http://${proxyHost}`;
        const named = await failureOf(connect({}, target).list());
        assert.deepEqual(
          [named.sentenceKey, named.params.variable, named.params.status],
          [`UNREACHABLE.${sentence}Variable`, 'https_proxy', status],
        );
      });
    }

    for (const [status, sentence, retryable] of [
      [407, 'UNREACHABLE.proxyRefused', false],
      [502, 'UNREACHABLE.proxyGateway', true],
      [504, 'UNREACHABLE.proxyGateway', true],
      [500, 'SERVICE.failed', true],
      [505, 'SERVICE.failed', true],
      [403, 'SERVICE.inFront', false],
    ] as const) {
      it(`that answers ${status} with a page of its own to plain http`, async () => {
        proxy.status = status;
        const error = await failureOf(connect(through(`http://${proxyHost}`)).list());
        assert.deepEqual([error.sentenceKey, error.retryable], [sentence, retryable]);
      });
    }

    it('but not for a 502 that the service sends as JSON, nor for one without a proxy', async () => {
      const answer = { kind: 'answer', status: 502, json: { error: 'no' } } as const;
      service.next(answer, { kind: 'answer', status: 502, body: '<h1>no</h1>' });
      const error = await failureOf(connect(through(`http://${proxyHost}`)).list());
      assert.equal(error.sentenceKey, 'SERVICE.failed');
      assert.equal((await failureOf(connect().list())).sentenceKey, 'SERVICE.failed');
    });
  });

  it('refuses a proxy address that is none, without repeating it', () => {
    for (const url of ['user:secret@proxy', 'socks5://secret', '', 'ftp://secret@x']) {
      assert.throws(
        () => connect(through(url)),
        (error: StripError) =>
          error.code === 'NOT_CONFIGURED' &&
          error.sentenceKey === 'NOT_CONFIGURED.proxy' &&
          !JSON.stringify(error).includes('secret'),
      );
    }
    const unset = { sentenceKey: 'NOT_CONFIGURED.variable', params: { variable: 'PROXY' } };
    assert.throws(() => connect(through('${PROXY}')), unset);
    process.env.HTTP_PROXY = 'proxy:8080';
    assert.throws(() => connect(), { code: 'NOT_CONFIGURED', params: { variable: upper('http_proxy') } });
  });

  it('opens no more connections than it may', async () => {
    const letGo = service.hold();
    const client = connect({ connections: 3 });
    const reads = Array.from({ length: 12 }, () => client.list());
    await service.arrived(3);
    assert.equal(service.connections, 3);
    letGo();
    await Promise.all(reads);
    assert.equal(service.connections, 3);
  });

  it("loads undici when it is first used, and leaves the process's own fetch as it is", async () => {
    // In a process of its own, because here the test runner may have loaded either already.
    const script = `
      require('tsx/cjs');
      const { PooledDispatcher } = require('./src/api/dispatcher.ts');
      const isLoaded = () => Object.keys(require.cache).some((file) => /[\\\\/]undici[\\\\/]/.test(file));
      const before = isLoaded();
      new PooledDispatcher({ origin: 'http://127.0.0.1', connections: 1, timeout: 10_000 }).destroy();
      const after = isLoaded();
      const used = globalThis[Symbol.for('undici.globalDispatcher.1')];
      const undici = require('undici');
      console.log(JSON.stringify({ before, after, set: used !== undefined, ours: used instanceof undici.Agent }));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
      cwd: join(__dirname, '../../..'),
    });
    assert.deepEqual(JSON.parse(stdout), { before: false, after: true, set: true, ours: false });
  });

  it('connects also if Node.js was started with --no-experimental-fetch', async () => {
    const builtIn = Object.getOwnPropertyDescriptor(globalThis, 'Request');
    Reflect.deleteProperty(globalThis, 'Request');
    try {
      await connect().list();
    } finally {
      if (builtIn) Object.defineProperty(globalThis, 'Request', builtIn);
    }
  });

  it('sets no dispatcher for others', async () => {
    const before = getGlobalDispatcher();
    await connect().list();
    assert.equal(getGlobalDispatcher(), before);
  });
});
