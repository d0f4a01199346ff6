import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { Client } from '../../src/api/client';
import { PooledDispatcher } from '../../src/api/dispatcher';
import { parseBaseUrl } from '../../src/api/connection-settings';
import { isStripError } from '../../src/api/errors';
import type { ProxySettings } from '../../src/api/proxy';
import { systemClock } from '../../src/api/types';
import { FastClock } from '../support/fake-clock';
import { API_KEY, startService, type Fault } from '../support/service';
import { startListening } from '../support/start-listening';
import { until } from '../support/until';
import { buffersUsed } from './support/memory';
import { randomOf } from './support/random';

const TIMEOUT = 2_000;
const REQUESTS = 3_000;
const AT_ONCE = 60;
const HOUR_AGO = new Date(Date.now() - 3_600_000).toUTCString();

/** A fault and every outcome that is right for it: the beginning of an error's key, or 'ok' for a confirmed switch. */
type Case = [fault: Fault | null, ...outcomes: string[]];

const status = (code: number, headers?: Record<string, string>): Fault => ({
  kind: 'answer',
  status: code,
  json: { error: 'no' },
  ...(headers === undefined ? {} : { headers }),
});

const cases = (elsewhere: string): Case[] => [
  [null, 'ok'],
  [{ kind: 'delay', ms: 30 }, 'ok'],
  [{ kind: 'interim', status: 102 }, 'ok'],
  [{ kind: 'interim', status: 103 }, 'ok'],
  [{ kind: 'reset', when: 'before' }, 'UNREACHABLE'],
  [{ kind: 'reset', when: 'lost' }, 'UNREACHABLE'],
  [{ kind: 'reset', when: 'middle' }, 'BAD_RESPONSE', 'UNREACHABLE'],
  [{ kind: 'reset', when: 'after' }, 'ok', 'BAD_RESPONSE', 'UNREACHABLE'],
  [{ kind: 'idleClose' }, 'UNREACHABLE'],
  [{ kind: 'hang' }, 'TIMEOUT'],
  [{ kind: 'drip', every: 100 }, 'TIMEOUT'],
  [{ kind: 'truncated' }, 'BAD_RESPONSE'],
  [{ kind: 'oversized', bytes: 1_500_000, declared: true }, 'BAD_RESPONSE.tooLarge'],
  [{ kind: 'oversized', bytes: 1_500_000, declared: false }, 'BAD_RESPONSE.tooLarge'],
  [{ kind: 'contentLength', value: '9999' }, 'TIMEOUT'],
  [{ kind: 'contentLength', value: 'many' }, 'BAD_RESPONSE'],
  [{ kind: 'html' }, 'BAD_RESPONSE'],
  [{ kind: 'empty' }, 'BAD_RESPONSE'],
  [{ kind: 'garbage' }, 'BAD_RESPONSE'],
  [{ kind: 'gzipBomb', bytes: 10_000_000 }, 'BAD_RESPONSE.encoded'],
  [{ kind: 'redirect', to: elsewhere }, 'BAD_RESPONSE'],
  [{ kind: 'redirect', to: elsewhere, status: 307 }, 'BAD_RESPONSE'],
  [status(401), 'AUTH'],
  [status(403), 'AUTH'],
  [status(404), 'NOT_FOUND'],
  [status(408), 'SERVICE'],
  [status(409), 'SERVICE'],
  [status(425), 'SERVICE'],
  [status(429, { 'retry-after': '3' }), 'RATE_LIMITED'],
  [status(429, { 'retry-after': HOUR_AGO }), 'RATE_LIMITED'],
  [status(429, { 'retry-after': '9'.repeat(40) }), 'RATE_LIMITED'],
  [status(429, { 'retry-after': 'soon' }), 'RATE_LIMITED'],
  [status(500), 'SERVICE'],
  [status(503, { 'retry-after': '-1' }), 'SERVICE'],
];

describe('stress: the client', () => {
  it('gives each of thousands of requests the outcome of its own fault, with every fault there is at once', async () => {
    const random = randomOf('client');
    let lured = 0;
    const elsewhere = createServer((_, response) => {
      lured++;
      response.end('{"success": true}');
    });
    const table = cases(`http://127.0.0.1:${await startListening(elsewhere)}/`);
    const plan = new Map<string, Case>();
    // Half of the requests have no fault.
    for (let index = 0; index < REQUESTS; index++) {
      const well: Case = [null, 'ok'];
      plan.set(
        index.toString(16).toUpperCase().padStart(12, '0'),
        random.next() < 0.5 ? well : random.pick(table),
      );
    }
    const clock = new FastClock(1);
    const service = await startService({
      clock,
      strips: [...plan.keys()].map((mac) => ({ mac, name: `Strip ${mac}` })),
      faultOf: (path) => plan.get(/\/strips\/([^/]+)/.exec(path)?.[1] ?? '')?.[0] ?? null,
    });
    const base = parseBaseUrl(service.baseUrl);
    const client = new Client({
      baseUrl: base,
      apiKey: API_KEY,
      timeout: TIMEOUT,
      dispatcher: new PooledDispatcher({ origin: base.url.origin, connections: AT_ONCE, timeout: 10_000 }),
      clock,
    });
    try {
      const wrong: string[] = [];
      const ask = async (mac: string, [fault, ...outcomes]: Case) => {
        const port = random.pick([1, 2, 3, 4] as const);
        const outcome = await client.switch(mac, port, true).then(
          ({ results }) => {
            assert.deepEqual(results, [{ port, ok: true }]);
            return service.simulator.isOn(mac, port) === true ? 'ok' : 'a success that was none';
          },
          (error: unknown) => {
            assert(isStripError(error), `not a StripError: ${String(error)}`);
            assert(!inspect(error, { depth: null }).includes(API_KEY));
            return error.sentenceKey;
          },
        );
        if (!outcomes.some((each) => outcome.startsWith(each)))
          wrong.push(`${JSON.stringify(fault)}: ${outcome}`);
      };
      const waiting = [...plan];
      const worker = async () => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await ask(...next);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));

      assert.deepEqual(wrong, []);
      assert.equal(lured, 0, 'a redirect was followed');
      // Still usable, and leaves nothing behind.
      const { strips } = await client.list();
      assert.equal(strips.length, REQUESTS);
    } finally {
      await client.close();
      await service.close();
      await new Promise((resolve) => elsewhere.close(resolve));
    }
  });

  it('holds only the body of a response that is mostly something else', async () => {
    const MEGABYTES = 50;
    const server = createTcpServer();
    const base = parseBaseUrl(`http://127.0.0.1:${await startListening(server)}`);
    const dispatcher = new PooledDispatcher({ origin: base.url.origin, connections: 1, timeout: 10_000 });
    const client = new Client({
      baseUrl: base,
      apiKey: API_KEY,
      timeout: 60_000,
      dispatcher,
      clock: systemClock,
    });
    try {
      const before = buffersUsed();
      const answer = client.list();
      const [socket] = (await once(server, 'connection')) as [Socket];
      socket.resume(); // or it would never see the end of the connection, and stay open
      const write = (text: string) => new Promise((resolve) => socket.write(text, resolve));
      // Each byte of the body comes with an extension of its chunk, which HTTP allows.
      const piece = `1;${'x'.repeat(50_000)}\r\n \r\n`.repeat(20);
      await write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      for (let sent = 0; sent < MEGABYTES; sent++) await write(piece);
      const grown = buffersUsed() - before;
      await write('2\r\n[]\r\n0\r\n\r\n');
      assert.deepEqual((await answer).strips, []);
      assert.ok(grown < (MEGABYTES * 1e6) / 4, `${grown} bytes`);
    } finally {
      await client.close();
      server.close();
    }
  });
});

describe('stress: a connection that is of no use', () => {
  const connect = (baseUrl: string, proxy?: ProxySettings): Client => {
    const base = parseBaseUrl(baseUrl);
    const dispatcher = new PooledDispatcher({
      origin: base.url.origin,
      connections: 1,
      timeout: 10_000,
      proxy,
    });
    return new Client({ baseUrl: base, apiKey: API_KEY, timeout: 1_000, dispatcher, clock: systemClock });
  };

  it('is closed after 20 seconds in which it was idle: most servers would close it later', async () => {
    const service = await startService();
    const client = connect(service.baseUrl);
    try {
      await client.list();
      await until('the end of the connection', () => service.open === 0, 40_000);
    } finally {
      await client.close();
      await service.close();
    }
  });

  it('is closed after 10 seconds in which a proxy did not answer, so that it is free for the next request', async () => {
    let open = 0;
    const proxy = createTcpServer((socket) => {
      open++;
      socket
        .resume()
        .on('error', () => undefined)
        .on('close', () => open--);
    });
    const port = await startListening(proxy);
    const client = connect('https://strips.invalid', { url: `http://127.0.0.1:${port}`, noProxy: [] });
    try {
      await assert.rejects(client.list());
      assert.equal(open, 1);
      await until('the end of the connection', () => open === 0, 30_000);
    } finally {
      await client.close();
      proxy.close();
    }
  });
});
