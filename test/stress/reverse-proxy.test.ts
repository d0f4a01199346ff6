import { strict as assert } from 'node:assert';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from '../../src/account/account';
import { systemClock } from '../../src/api/clock';
import { isStripError } from '../../src/api/errors';
import { PORTS } from '../../src/api/types';
import { FastClock } from '../support/fake-clock';
import { API_KEY, startService, STRIPS, type TestService } from '../support/service';
import { openAccount, type OpenOptions, type Opened } from './support/account';
import { SlowLine } from './support/slow-line';
import { freePorts, isInstalled, nginxConfig, WebServer } from './support/web-server';

const TLS = join(__dirname, '../support/tls');
const MAC = STRIPS[0].mac;

const sentenceOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'ok';
  } catch (error) {
    assert.ok(isStripError(error), String(error));
    assert.ok(!JSON.stringify([error.params, error.stack]).includes(API_KEY));
    return error.sentence;
  }
};

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!holds()) {
    assert.ok(performance.now() < deadline, `${what} did not come`);
    await sleep(10);
  }
}

describe('stress: through a real nginx or haproxy', () => {
  let service: TestService;
  let server: WebServer;
  const opened: Opened[] = [];
  const open = (baseUrl: string, more: Partial<OpenOptions> = {}): Account => {
    const one = openAccount({ baseUrl, apiKey: API_KEY, clock: systemClock, ...more });
    opened.push(one);
    return one.account;
  };

  beforeEach(async () => {
    service = await startService();
  });
  afterEach(async () => {
    await Promise.all(opened.map(({ account }) => account.close()));
    for (const { said } of opened.splice(0)) assert.deepEqual(said.faults, []);
    await server.remove();
    await service.close();
  });

  describe('nginx', () => {
    before(function () {
      if (isInstalled('nginx')) return;
      console.log('      nginx is not installed: skipped');
      this.skip();
    });

    it('that closes idle connections fails no poll, though many requests meet the closing', async () => {
      const [port = 0] = await freePorts(1);
      server = new WebServer('nginx', port);
      server.write(
        'config',
        nginxConfig(
          server.folder,
          `server { listen 127.0.0.1:${port}; keepalive_timeout 1s; location / { proxy_pass ${service.baseUrl}; } }`,
        ),
      );
      await server.start();
      const line = new SlowLine(port, 50);
      const baseUrl = `http://127.0.0.1:${await line.start()}`;
      const ends: string[] = [];
      await Promise.all(
        Array.from({ length: 24 }, async (_, index) => {
          const account = open(baseUrl, { settings: { retryFor: 0, concurrency: 1 } });
          for (let round = 0; round < 8; round++) {
            const on = round % 2 === 0;
            const port = PORTS[index % 4] ?? 1;
            ends.push(
              await sentenceOf(
                round % 3 === 0 ? account.run({ mac: MAC, port, action: on, delay: 0 }) : account.list(),
              ),
            );
            // Within the 100 ms in which the server has closed the connection and the client does not know.
            await sleep(880 + ((index * 37 + round * 11) % 110));
          }
        }),
      );
      await Promise.all(opened.map(({ account }) => account.close()));
      await line.stop();
      assert.deepEqual(
        ends.filter((end) => end !== 'ok'),
        [],
      );
      assert.ok(line.tooLate > 0, 'no request met the closing');
    });

    it('that takes no POST, in JSON like the service itself, does not slow the poll', async () => {
      const [port = 0] = await freePorts(1);
      server = new WebServer('nginx', port);
      server.write(
        'config',
        nginxConfig(
          server.folder,
          `server { listen 127.0.0.1:${port};
             error_page 403 @refused;
             location @refused { default_type application/json; return 403 '{"error": "read only"}'; }
             location / { limit_except GET { deny all; } proxy_pass ${service.baseUrl}; } }`,
        ),
      );
      await server.start();
      const account = open(`http://127.0.0.1:${port}`, {
        clock: new FastClock(20),
        timeout: 100_000,
        settings: { interval: 5_000 },
      });
      const unsubscribe = account.subscribe(() => undefined);
      await until('the first poll', () => service.requests.length > 0);
      const command = account.run({ mac: MAC, port: 1, action: true, delay: 0 });
      assert.equal(await sentenceOf(command), 'AUTH.rejected');
      const polls = service.requests.length;
      await until('polls after it', () => service.requests.length > polls + 2);
      assert.equal(account.status().available, true);
      unsubscribe();
    });

    it('that wants a password, shows a page or takes no POST is not taken for the service', async () => {
      const [port = 0, closed = 0] = await freePorts(2);
      server = new WebServer('nginx', port);
      const gate = server.write('gate', '');
      const users = server.write('users', '');
      server.write(
        'config',
        nginxConfig(
          server.folder,
          `server { listen 127.0.0.1:${port};
             location / {
               if (-f ${gate}) { return 403; }
               limit_except GET { deny all; }
               proxy_pass ${service.baseUrl};
             } }
           server { listen 127.0.0.1:${closed};
             location / { auth_basic "Members"; auth_basic_user_file ${users}; proxy_pass ${service.baseUrl}; } }`,
        ),
      );
      await server.start();
      assert.equal(await sentenceOf(open(`http://127.0.0.1:${closed}`).list()), 'SERVICE.inFront');

      const account = open(`http://127.0.0.1:${port}`, {
        clock: new FastClock(20),
        timeout: 100_000,
        settings: { interval: 5_000 },
      });
      const seen: (boolean | null)[] = [];
      const stop = account.onStatus(({ available }) => void seen.push(available));
      const unsubscribe = account.subscribe(() => undefined);
      await until('the failure', () => seen.includes(false));
      assert.equal(account.status().error?.sentence, 'SERVICE.inFront');
      rmSync(gate);
      await until('the recovery', () => seen.at(-1) === true);

      const polls = service.requests.length;
      assert.equal(
        await sentenceOf(account.run({ mac: MAC, port: 1, action: true, delay: 0 })),
        'SERVICE.inFront',
      );
      await until('polls after it', () => service.requests.length > polls + 2);
      assert.equal(account.status().available, true);
      unsubscribe();
      stop();
    });

    it('that expects TLS, or a certificate, points at scheme and TLS', async () => {
      const [port = 0, asking = 0] = await freePorts(2);
      server = new WebServer('nginx', port);
      const tls = `ssl_certificate ${TLS}/trusted.pem; ssl_certificate_key ${TLS}/key.pem;
        location / { proxy_pass ${service.baseUrl}; }`;
      server.write(
        'config',
        nginxConfig(
          server.folder,
          `server { listen 127.0.0.1:${port} ssl; ${tls} }
           server { listen 127.0.0.1:${asking} ssl; ssl_verify_client on;
             ssl_client_certificate ${TLS}/trusted.pem; ${tls} }`,
        ),
      );
      await server.start();
      const connect = { ca: readFileSync(`${TLS}/trusted.pem`, 'utf8') };
      assert.equal(await sentenceOf(open(`https://127.0.0.1:${port}`, { connect }).list()), 'ok');
      assert.equal(await sentenceOf(open(`http://127.0.0.1:${port}`).list()), 'SERVICE.scheme');
      assert.equal(
        await sentenceOf(open(`https://127.0.0.1:${asking}`, { connect }).list()),
        'SERVICE.scheme',
      );
    });

    it('as a proxy that knows no CONNECT forwards plain http, and is named for what it cannot do', async () => {
      const [port = 0] = await freePorts(1);
      server = new WebServer('nginx', port);
      server.write(
        'config',
        nginxConfig(
          server.folder,
          `server { listen 127.0.0.1:${port}; location / { proxy_pass http://$http_host$request_uri; } }`,
        ),
      );
      await server.start();
      const proxy = { url: `http://127.0.0.1:${port}`, noProxy: [] };
      const settings = { retryFor: 0 };
      const account = open(service.baseUrl, { proxy, settings });
      assert.equal(await sentenceOf(account.list()), 'ok');
      assert.equal(await sentenceOf(account.run({ mac: MAC, port: 'all', action: true, delay: 0 })), 'ok');
      assert.ok(PORTS.every((each) => service.simulator.isOn(MAC, each) === true));
      const log = readFileSync(join(server.folder, 'access.log'), 'utf8');
      assert.ok(!log.includes('CONNECT'), log);
      const secure = open(service.baseUrl.replace('http:', 'https:'), { proxy, settings });
      assert.match(await sentenceOf(secure.list()), /^UNREACHABLE\.proxy(Refused|Down)$/);
      await service.stopListening();
      assert.equal(await sentenceOf(account.list()), 'UNREACHABLE.proxyGateway');
      await service.listenAgain();
      assert.equal(await sentenceOf(account.list()), 'ok');
      await server.stop();
      assert.equal(await sentenceOf(account.list()), 'UNREACHABLE.proxyDown');
    });
  });

  describe('haproxy', () => {
    before(function () {
      if (isInstalled('haproxy')) return;
      console.log('      haproxy is not installed: skipped');
      this.skip();
    });

    it('through an outage of the service and one of its own, every command is carried out once', async () => {
      const [port = 0] = await freePorts(1);
      server = new WebServer('haproxy', port);
      server.write(
        'config',
        `defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
  retries 0
frontend strips
  bind 127.0.0.1:${port}
  default_backend service
backend service
  server one 127.0.0.1:${service.port}
`,
      );
      await server.start();
      const account = open(`http://127.0.0.1:${port}`, { settings: { interval: 5_000 } });
      const available: (boolean | null)[] = [];
      account.onStatus((status) => void available.push(status.available));
      const unsubscribe = account.subscribe(() => undefined);
      await until('the first answer', () => available.at(-1) === true);

      const switchAll = (on: boolean): Promise<string[]> =>
        Promise.all(
          STRIPS.flatMap(({ mac }) =>
            PORTS.map((each) => sentenceOf(account.run({ mac, port: each, action: on, delay: 0 }))),
          ),
        );
      const eight = Array<string>(8).fill('ok');

      await service.stopListening();
      const first = switchAll(true);
      await until('the outage', () => available.at(-1) === false);
      assert.match(account.status().error?.sentence ?? '', /^SERVICE\.failed$/);
      await service.listenAgain();
      assert.deepEqual(await first, eight);
      await until('the recovery', () => available.at(-1) === true);

      await server.stop();
      const second = switchAll(false);
      await until('the second outage', () => available.at(-1) === false);
      await server.start();
      assert.deepEqual(await second, eight);
      await until('the second recovery', () => available.at(-1) === true);

      const posts = service.requests.filter(({ method }) => method === 'POST').length;
      assert.equal(posts, 16);
      unsubscribe();
    });
  });
});
