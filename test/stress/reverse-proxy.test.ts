import { strict as assert } from 'node:assert';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from '../../src/account/account';
import { isStripError } from '../../src/api/errors';
import { PORTS, systemClock } from '../../src/api/types';
import { pem } from '../support/certificates';
import { FastClock } from '../support/fake-clock';
import { freePorts, Program, requireProgram } from '../support/program';
import { API_KEY, startService, STRIPS, type TestService } from '../support/service';
import { until } from '../support/until';
import { openAccount, type OpenOptions, type Opened } from './support/account';
import { SlowLine } from './support/slow-line';

const TLS = join(__dirname, '../support/tls');
const MAC = STRIPS[0].mac;

const sentenceOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'ok';
  } catch (error) {
    assert.ok(isStripError(error), String(error));
    assert.ok(!JSON.stringify([error.params, error.stack]).includes(API_KEY));
    return error.sentenceKey;
  }
};

/** The frame of an nginx configuration around its servers. */
const nginxConfig = (folder: string, servers: string): string => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${folder}/pid;
error_log ${folder}/error.log;
events { worker_connections 512; }
http {
  access_log ${folder}/access.log;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  proxy_http_version 1.1;
  ${servers}
}`;

describe('stress: through a real nginx or haproxy', () => {
  let service: TestService;
  let server: Program;
  const opened: Opened[] = [];
  const open = (baseUrl: string, more: Partial<OpenOptions> = {}): Account => {
    const one = openAccount({ baseUrl, apiKey: API_KEY, clock: systemClock, ...more });
    opened.push(one);
    return one.account;
  };
  /** One that polls often, on a clock on which no busy machine makes it time out. */
  const openFast = (baseUrl: string): Account =>
    open(baseUrl, { clock: new FastClock(20), settings: { interval: 5_000 } });

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
      requireProgram(this, 'nginx');
    });
    beforeEach(() => {
      server = new Program('nginx');
    });

    /** Starts it with a server for each of these blocks, which begin behind the port; gives the ports. */
    async function start(...blocks: string[]): Promise<number[]> {
      const ports = await freePorts(blocks.length);
      const servers = blocks.map((block, index) => `server { listen 127.0.0.1:${ports[index]} ${block} }`);
      const config = server.write('config', nginxConfig(server.folder, servers.join('\n')));
      await server.start(['-p', server.folder, '-c', config], ports[0] ?? 0);
      return ports;
    }

    it('that closes idle connections fails no poll, though many requests meet the closing', async () => {
      const [port = 0] = await start(`; keepalive_timeout 1s; location / { proxy_pass ${service.baseUrl}; }`);
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
      const [port = 0] = await start(
        `; error_page 403 @refused;
         location @refused { default_type application/json; return 403 '{"error": "read only"}'; }
         location / { limit_except GET { deny all; } proxy_pass ${service.baseUrl}; }`,
      );
      const account = openFast(`http://127.0.0.1:${port}`);
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
      const gate = server.write('gate', '');
      const users = server.write('users', '');
      const [port = 0, closed = 0] = await start(
        `; location / {
           if (-f ${gate}) { return 403; }
           limit_except GET { deny all; }
           proxy_pass ${service.baseUrl};
         }`,
        `; location / { auth_basic "Members"; auth_basic_user_file ${users}; proxy_pass ${service.baseUrl}; }`,
      );
      assert.equal(await sentenceOf(open(`http://127.0.0.1:${closed}`).list()), 'SERVICE.inFront');

      const account = openFast(`http://127.0.0.1:${port}`);
      const seen: (boolean | null)[] = [];
      const unsubscribe = account.subscribe((change) => {
        if (change.kind === 'account') seen.push(change.available);
      });
      await until('the failure', () => seen.includes(false));
      assert.equal(account.status().error?.sentenceKey, 'SERVICE.inFront');
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
    });

    it('that expects TLS, or a certificate, points at scheme and TLS', async () => {
      const tls = `ssl_certificate ${TLS}/trusted.pem; ssl_certificate_key ${TLS}/key.pem;
        location / { proxy_pass ${service.baseUrl}; }`;
      const [port = 0, asking = 0] = await start(
        `ssl; ${tls}`,
        `ssl; ssl_verify_client on; ssl_client_certificate ${TLS}/trusted.pem; ${tls}`,
      );
      const trusting = { ca: pem('trusted') };
      assert.equal(await sentenceOf(open(`https://127.0.0.1:${port}`, { tls: trusting }).list()), 'ok');
      assert.equal(await sentenceOf(open(`http://127.0.0.1:${port}`).list()), 'SERVICE.scheme');
      assert.equal(
        await sentenceOf(open(`https://127.0.0.1:${asking}`, { tls: trusting }).list()),
        'SERVICE.scheme',
      );
    });

    it('as a proxy that knows no CONNECT forwards plain http, and is named for what it cannot do', async () => {
      const [port = 0] = await start('; location / { proxy_pass http://$http_host$request_uri; }');
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
      await server.end();
      assert.equal(await sentenceOf(account.list()), 'UNREACHABLE.proxyDown');
    });
  });

  describe('haproxy', () => {
    before(function () {
      requireProgram(this, 'haproxy');
    });
    beforeEach(() => {
      server = new Program('haproxy');
    });

    /** Puts it in front of the service: its port, and what starts it. `tls`: further options of that port. */
    const configure = async (tls = '') => {
      const [port = 0] = await freePorts(1);
      const config = server.write(
        'config',
        `defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
  retries 0
frontend strips
  bind 127.0.0.1:${port} ${tls}
  default_backend service
backend service
  server one 127.0.0.1:${service.port}
`,
      );
      return { port, start: () => server.start(['-db', '-f', config], port) };
    };

    it('through an outage of the service and one of its own, every command is carried out once', async () => {
      const { port, start } = await configure();
      await start();
      const account = open(`http://127.0.0.1:${port}`, { settings: { interval: 5_000 } });
      const available: (boolean | null)[] = [];
      const unsubscribe = account.subscribe((change) => {
        if (change.kind === 'account') available.push(change.available);
      });
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
      assert.match(account.status().error?.sentenceKey ?? '', /^SERVICE\.failed$/);
      await service.listenAgain();
      assert.deepEqual(await first, eight);
      await until('the recovery', () => available.at(-1) === true);

      await server.end();
      const second = switchAll(false);
      await until('the second outage', () => available.at(-1) === false);
      await start();
      assert.deepEqual(await second, eight);
      await until('the second recovery', () => available.at(-1) === true);

      const posts = service.requests.filter(({ method }) => method === 'POST').length;
      assert.equal(posts, 16);
      unsubscribe();
    });

    it('that refuses a client without a certificate, or with another one, points at the TLS settings', async () => {
      const own = server.write('own.pem', pem('trusted') + pem('key'));
      const { port, start } = await configure(`ssl crt ${own} ca-file ${TLS}/trusted.pem verify required`);
      await start();
      const ca = pem('trusted');
      const key = pem('key');
      for (const [cert, sentence] of [
        [undefined, 'UNREACHABLE.tlsSettings'],
        [pem('elsewhere'), 'UNREACHABLE.tlsSettings'],
        [pem('trusted'), 'ok'],
      ] as const) {
        const tls = cert === undefined ? { ca } : { ca, key, cert };
        const account = open(`https://127.0.0.1:${port}`, { tls });
        assert.equal(await sentenceOf(account.list()), sentence);
        // Not retried, and the outlet is surely not off, so that nothing is to be switched on again.
        const cycle = account.run({ mac: MAC, port: 1, action: 'cycle', delay: 1 });
        assert.equal(await sentenceOf(cycle), sentence);
      }
    });
  });
});
