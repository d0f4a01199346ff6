import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { connect as connectTcp, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EnvHttpProxyAgent, getGlobalDispatcher, Pool } from 'undici';
import { Client } from '../../../src/api/client';
import { systemClock } from '../../../src/api/clock';
import { createDispatcher, type DispatcherOptions } from '../../../src/api/dispatcher';
import { parseBaseUrl } from '../../../src/api/endpoint';
import { isStripError, type StripError } from '../../../src/api/errors';
import { startService, type TestService } from '../../support/service';

/** A proxy that opens tunnels, or answers with a status of its own. */
class TestProxy {
  readonly seen: { target: string; authorization: string | undefined }[] = [];
  status = 200;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server = createServer();

  constructor() {
    this.#server.on('connection', (socket: Socket) => this.#sockets.add(socket));
    this.#server.on('connect', (request, client: Socket) => {
      const target = request.url ?? '';
      this.seen.push({ target, authorization: request.headers['proxy-authorization'] });
      client.on('error', () => client.destroy());
      if (this.status !== 200) {
        client.end(`HTTP/1.1 ${this.status} No\r\ncontent-length: 0\r\n\r\n`);
        return;
      }
      const [host = '', port] = target.split(':');
      const upstream = connectTcp(Number(port), host, () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.pipe(client).pipe(upstream);
      });
      this.#sockets.add(upstream);
      upstream.on('error', () => client.destroy());
    });
  }
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY'];

describe('createDispatcher', () => {
  let service: TestService;
  let proxy: TestProxy;
  let proxyUrl: string;
  let environment: Record<string, string | undefined>;
  const clients: Client[] = [];

  const connect = (options: Partial<DispatcherOptions> = {}): Client => {
    const endpoint = parseBaseUrl(service.baseUrl);
    const dispatcher = createDispatcher({ origin: endpoint.origin, connections: 2, ...options });
    const { apiKey } = service;
    const client = new Client({ endpoint, apiKey, timeout: 5_000, dispatcher, clock: systemClock });
    clients.push(client);
    return client;
  };

  beforeEach(async () => {
    environment = Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]]));
    for (const name of VARIABLES) Reflect.deleteProperty(process.env, name);
    service = await startService();
    proxy = new TestProxy();
    proxyUrl = await proxy.start();
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close(0)));
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

  it('takes the fast way where the environment names no proxy, and the other where it does', async () => {
    const direct = createDispatcher({ origin: service.baseUrl, connections: 1 });
    process.env.HTTP_PROXY = proxyUrl;
    const proxied = createDispatcher({ origin: service.baseUrl, connections: 1 });
    assert.ok(direct instanceof Pool);
    assert.ok(proxied instanceof EnvHttpProxyAgent);
    await Promise.all([direct.destroy(), proxied.destroy()]);
  });

  it('goes through the proxy of the environment, except to hosts it excepts', async () => {
    process.env.http_proxy = proxyUrl;
    await connect().list();
    assert.equal(proxy.seen.length, 1);
    process.env.no_proxy = '127.0.0.1';
    await connect().list();
    assert.equal(proxy.seen.length, 1);
  });

  it('goes through the proxy it is given, with its credentials, whatever the environment says', async () => {
    process.env.http_proxy = 'http://127.0.0.1:1';
    const client = connect({ proxy: { url: proxyUrl, noProxy: [], username: 'us:er', password: 'pä' } });
    await client.list();
    await client.list();
    assert.deepEqual(proxy.seen[0], {
      target: new URL(service.baseUrl).host,
      authorization: `Basic ${Buffer.from('us:er:pä').toString('base64')}`,
    });
    assert.ok(proxy.seen.length <= 2);
    assert.equal(service.requests[0]?.headers['proxy-authorization'], undefined);
  });

  it('does not use the proxy it is given for the hosts excepted', async () => {
    process.env.no_proxy = 'elsewhere.example';
    await connect({ proxy: { url: proxyUrl, noProxy: ['.example.com', '127.0.0.1'] } }).list();
    assert.deepEqual(proxy.seen, []);
  });

  for (const [status, retryable] of [
    [407, false],
    [403, false],
    [502, true],
  ] as const) {
    it(`tells that a proxy answered ${status} itself`, async () => {
      proxy.status = status;
      const error = await connect({ proxy: { url: proxyUrl, noProxy: [] } })
        .list()
        .catch((reason: unknown) => reason);
      assert.ok(isStripError(error));
      assert.deepEqual(
        [error.sentence, error.params.status, error.retryable],
        ['UNREACHABLE.proxy', status, retryable],
      );
    });
  }

  it('refuses a proxy address that is none, without repeating it', () => {
    for (const url of ['user:secret@proxy', 'socks5://secret', '', 'ftp://secret@x']) {
      assert.throws(
        () => createDispatcher({ origin: service.baseUrl, connections: 1, proxy: { url, noProxy: [] } }),
        (error: StripError) =>
          error.sentence === 'NOT_CONFIGURED.proxy' && !JSON.stringify(error).includes('secret'),
      );
    }
    process.env.HTTPS_PROXY = 'proxy:8080';
    assert.throws(() => createDispatcher({ origin: service.baseUrl, connections: 1 }), {
      code: 'NOT_CONFIGURED',
    });
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

  it("leaves the process's own fetch as it is", async () => {
    // In a process of its own, because here the test runner may have loaded either already.
    const script = `
      require('tsx/cjs');
      const { createDispatcher } = require('./src/api/dispatcher.ts');
      const undici = require('undici');
      const used = globalThis[Symbol.for('undici.globalDispatcher.1')];
      createDispatcher({ origin: 'http://127.0.0.1', connections: 1 }).destroy();
      console.log(JSON.stringify({
        ours: used instanceof undici.Agent,
        same: used === globalThis[Symbol.for('undici.globalDispatcher.1')],
        set: used !== undefined,
      }));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
      cwd: join(__dirname, '../../..'),
    });
    assert.deepEqual(JSON.parse(stdout), { ours: false, same: true, set: true });
  });

  it('sets no dispatcher for others', async () => {
    const before = getGlobalDispatcher();
    await connect().list();
    assert.equal(getGlobalDispatcher(), before);
  });
});
