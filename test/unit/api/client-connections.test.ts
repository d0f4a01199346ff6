import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { errors, Pool } from 'undici';
import type { Client } from '../../../src/api/client';
import { isStripError, mayBeCarriedOut } from '../../../src/api/errors';
import { systemClock } from '../../../src/api/types';
import { pem } from '../../support/certificates';
import { TestProxy } from '../../support/proxy';
import { startService, type Fault, type TestService } from '../../support/service';
import { startListening } from '../../support/start-listening';
import { failureOf, MAC, ClientStage } from './client-stage';

describe('Client: failing connections', () => {
  let stage: ClientStage;
  let service: TestService;
  const connect: ClientStage['connect'] = (...options) => stage.connect(...options);

  beforeEach(async () => {
    stage = await ClientStage.open();
    ({ service } = stage);
  });
  afterEach(() => stage.close());

  const key = pem('key');

  it('are refused where no server listens', async () => {
    await service.stopListening();
    const error = await failureOf(connect(service.baseUrl).switch(MAC, 1, true));
    assert.deepEqual([error.sentenceKey, error.params.code], ['UNREACHABLE.refused', 'ECONNREFUSED']);
    assert.deepEqual([error.retryable, error.notSent], [true, true]);
  });

  it('are named for a host that does not exist', async () => {
    const error = await failureOf(connect('http://strips.invalid').list());
    assert.equal(error.sentenceKey, 'UNREACHABLE.dns');
    assert.equal(error.params.host, 'strips.invalid');
  });

  for (const [cert, trust, sentence] of [
    ['trusted', false, 'certificateSelfSigned'],
    ['expired', true, 'certificateExpired'],
    ['elsewhere', true, 'certificateHost'],
  ] as const) {
    it(`are ${sentence} with a certificate that is ${cert}`, async () => {
      const secure = await startService({ tls: { key, cert: pem(cert) } });
      const error = await failureOf(connect(secure.baseUrl, trust ? { tls: { ca: pem(cert) } } : {}).list());
      await secure.close();
      assert.equal(error.sentenceKey, `UNREACHABLE.${sentence}`);
      assert.equal(error.retryable, false);
    });
  }

  it('are none with a certificate that is trusted', async () => {
    const secure = await startService({ tls: { key, cert: pem('trusted') } });
    const one = connect(secure.baseUrl, { tls: { ca: pem('trusted') } });
    assert.equal((await one.list()).readable, true);
    await one.close();
    await secure.close();
  });

  it('are blamed on the TLS settings where the key of a client certificate cannot be read', async () => {
    const secure = await startService({ tls: { key, cert: pem('trusted') } });
    const connection = { ca: pem('trusted'), cert: pem('trusted'), key: 'no key' };
    const error = await failureOf(connect(secure.baseUrl, { tls: connection }).list());
    await secure.close();
    assert.deepEqual([error.sentenceKey, error.retryable], ['UNREACHABLE.tlsSettings', false]);
  });

  it('are given up soon after the deadline where a handshake hangs, so that later requests go out', async () => {
    const secure = createTlsServer({ key, cert: pem('trusted') }, (socket) => {
      socket.on('error', () => undefined);
      const body = JSON.stringify({ success: true, results: [{ port: 1, ok: true }] });
      socket.on('data', () =>
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
      );
    });
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      // The first connection gets no answer to its handshake.
      if (sockets.push(socket) > 1) secure.emit('connection', socket);
      socket.on('error', () => undefined);
    });
    const port = await startListening(server);
    const own = { connections: 1, timeout: 200, clock: systemClock, tls: { ca: pem('trusted') } };
    const client = connect(`https://localhost:${port}`, own);
    const failures: string[] = [];
    const attempt = async (): Promise<string | null> => {
      try {
        await client.switch(MAC, 1, true);
        return null;
      } catch (error) {
        return isStripError(error) ? error.sentenceKey : String(error);
      }
    };
    for (let failure = await attempt(); failure !== null; failure = await attempt()) failures.push(failure);
    // With undici's own limit of ten seconds there would be 50.
    assert.ok(failures.length > 0 && failures.length < 30, `${failures.length} attempts`);
    assert.deepEqual([...new Set(failures)], ['TIMEOUT.notSent']);
    await client.close();
    sockets.forEach((socket) => socket.destroy());
    await new Promise((resolve) => server.close(resolve));
  });

  it('recognise https on a plain port', async () => {
    const error = await failureOf(connect(service.baseUrl.replace('http:', 'https:')).list());
    assert.equal(error.sentenceKey, 'UNREACHABLE.tls');
  });

  it('recognise plain http on a TLS port', async () => {
    const secure = await startService({ tls: { key, cert: pem('trusted') } });
    const error = await failureOf(connect(secure.baseUrl.replace('https:', 'http:')).list());
    await secure.close();
    assert.ok(
      ['BAD_RESPONSE.notHttp', 'UNREACHABLE.resetPlain'].includes(error.sentenceKey),
      error.sentenceKey,
    );
  });
});

describe('Client: connections that were closed while idle', () => {
  let stage: ClientStage;
  let service: TestService;

  beforeEach(async () => {
    stage = await ClientStage.open();
    ({ service } = stage);
  });
  afterEach(() => stage.close());

  const closings: Fault[] = [{ kind: 'idleClose' }, { kind: 'reset', when: 'before' }];
  /** A client whose only connection has carried a request. */
  const used = async (options: Parameters<ClientStage['connect']>[1] = {}, of = service): Promise<Client> => {
    const client = stage.connect(of.baseUrl, { connections: 1, ...options });
    await client.list();
    return client;
  };

  for (const fault of closings) {
    it(`are replaced at once for a read (${fault.kind})`, async () => {
      const client = await used();
      service.next(fault);
      assert.equal((await client.list()).readable, true);
      assert.deepEqual([service.requests.length, service.connections], [3, 2]);
      assert.equal((await client.get(MAC)).readable, true);
    });

    it(`are replaced at once for a switch (${fault.kind})`, async () => {
      const client = await used();
      service.next(fault);
      assert.deepEqual((await client.switch(MAC, 1, true)).confirmed, [1]);
      const sent = service.requests.slice(1).map(({ method, path, body }) => [method, path, body]);
      assert.deepEqual(sent[0], sent[1]);
      assert.equal(sent.length, 2);
    });

    it(`are replaced once only (${fault.kind})`, async () => {
      const client = await used();
      service.next(fault, fault);
      const error = await failureOf(client.list());
      assert.deepEqual([error.sentenceKey, error.retryable], ['UNREACHABLE.resetPlain', true]);
      assert.equal(service.requests.length, 3);
    });

    it(`leave it open whether a switch was carried out when the repeat is refused (${fault.kind})`, async () => {
      for (const status of [401, 403, 404, 429]) {
        const client = await used();
        service.next(fault, { kind: 'answer', status, json: {} });
        const error = await failureOf(client.switch(MAC, 1, true));
        assert.equal(mayBeCarriedOut(error), true, String(status));
        service.next({ kind: 'answer', status, json: {} });
        assert.equal(mayBeCarriedOut(await failureOf(client.switch(MAC, 1, true))), false, String(status));
      }
    });

    it(`are not replaced where the connection is new (${fault.kind})`, async () => {
      service.next(fault);
      const { sentenceKey, notSent } = await failureOf(stage.connect().list());
      assert.deepEqual([sentenceKey, notSent], ['UNREACHABLE.resetPlain', false]);
      assert.equal(service.requests.length, 1);
    });

    it(`are replaced over https (${fault.kind})`, async () => {
      const tls = { key: pem('key'), cert: pem('trusted') };
      const secure = await startService({ tls });
      const client = await used({ tls: { ca: tls.cert } }, secure);
      secure.next(fault);
      assert.equal((await client.list()).readable, true);
      assert.equal(secure.requests.length, 3);
      secure.next(null, fault, fault);
      await client.list();
      assert.equal((await failureOf(client.list())).sentenceKey, 'UNREACHABLE.reset');
      await client.close();
      await secure.close();
    });
  }

  it('are replaced once only where each answer breaks off in its head', async () => {
    const client = await used();
    service.always({ kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\n', end: true });
    assert.equal((await failureOf(client.list())).sentenceKey, 'UNREACHABLE.resetPlain');
    assert.equal(service.requests.length, 3);
  });

  it('are not replaced over https where the connection is new', async () => {
    const tls = { key: pem('key'), cert: pem('trusted') };
    const secure = await startService({ tls });
    secure.next({ kind: 'idleClose' });
    const client = stage.connect(secure.baseUrl, { tls: { ca: tls.cert } });
    assert.equal((await failureOf(client.list())).sentenceKey, 'UNREACHABLE.reset');
    assert.equal(secure.requests.length, 1);
    await client.close();
    await secure.close();
  });

  for (const scheme of ['http', 'https'] as const) {
    it(`are replaced through a proxy, for ${scheme}`, async () => {
      const tls = { key: pem('key'), cert: pem('trusted') };
      const target = await startService(scheme === 'https' ? { tls } : {});
      const proxy = new TestProxy();
      const url = `http://127.0.0.1:${await proxy.start()}`;
      const connect = scheme === 'https' ? { tls: { ca: tls.cert } } : {};
      const client = await used({ ...connect, proxy: { url, noProxy: [] } }, target);
      // Over http the proxy answers for the service: what breaks there is the connection to the proxy.
      if (scheme === 'http') proxy.closeNext = true;
      else target.next({ kind: 'idleClose' });
      assert.equal((await client.list()).readable, true);
      await client.close();
      await proxy.stop();
      await target.close();
    });
  }

  it('are replaced for every request that went out on one', async () => {
    const letGo = service.hold();
    const client = stage.connect(service.baseUrl, { connections: 8 });
    const first = Array.from({ length: 8 }, () => client.list());
    await service.arrived(8);
    letGo();
    await Promise.all(first);
    service.next(...Array<Fault>(8).fill({ kind: 'idleClose' }));
    const second = await Promise.all(Array.from({ length: 8 }, () => client.list()));
    assert.ok(second.every(({ readable }) => readable));
    assert.equal(service.requests.length, 24);
  });

  it('do not hide an answer that broke off', async () => {
    const client = await used();
    service.next({ kind: 'truncated' });
    assert.equal((await failureOf(client.list())).sentenceKey, 'BAD_RESPONSE.truncated');
    await client.list();
    service.next({ kind: 'interim', status: 100 });
    assert.equal((await failureOf(client.list())).sentenceKey, 'BAD_RESPONSE.interim');
    assert.equal(service.requests.length, 4);
  });

  it('are not replaced once an answer has begun, even an interim one', async () => {
    const interim: Fault = { kind: 'raw', bytes: 'HTTP/1.1 103 Early Hints\r\n\r\n', end: true };
    const client = await used();
    service.next(interim);
    assert.equal((await failureOf(client.list())).sentenceKey, 'UNREACHABLE.resetPlain');
    assert.equal(service.requests.length, 2);
  });

  it('leave no pool behind for a request that was repeated', async () => {
    const client = await used();
    service.next({ kind: 'idleClose' });
    await client.list();
    while (service.open > 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    const destroyed = new Set<unknown>();
    const { destroy } = Pool.prototype as unknown as Record<'destroy', () => unknown>;
    const value = function (this: unknown, ...args: []): unknown {
      destroyed.add(this);
      return Reflect.apply(destroy, this, args);
    };
    Object.defineProperty(Pool.prototype, 'destroy', { value, configurable: true });
    try {
      await client.close();
    } finally {
      Reflect.deleteProperty(Pool.prototype, 'destroy');
    }
    assert.equal(destroyed.size, 1);
  });

  it('cost no second deadline', async () => {
    const client = await used();
    service.next({ kind: 'idleClose' }, { kind: 'hang' });
    const late = failureOf(client.list());
    await service.arrived(3);
    stage.clock.block(10_000);
    assert.equal((await late).code, 'TIMEOUT');
  });

  it('leave no unhandled rejection where the new connection cannot be closed', async () => {
    const client = await used();
    let calls = 0;
    const close = (): Promise<void> => {
      calls++;
      return Promise.reject(new errors.ClientDestroyedError());
    };
    Object.defineProperty(Pool.prototype, 'close', { value: close, configurable: true });
    try {
      service.next({ kind: 'idleClose' });
      assert.equal((await client.list()).readable, true);
      // An unhandled rejection is reported by the end of this turn, and fails the test.
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(calls, 1);
    } finally {
      Reflect.deleteProperty(Pool.prototype, 'close');
    }
  });

  it('leave nothing behind when the client is closed meanwhile', async () => {
    const client = await used();
    service.next({ kind: 'idleClose' }, { kind: 'hang' });
    const ended = failureOf(client.list());
    await service.arrived(3);
    await client.close();
    assert.equal((await ended).code, 'CLOSED');
    await service.closed();
    assert.equal(service.open, 0);
  });
});
