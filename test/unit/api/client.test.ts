import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Client } from '../../../src/api/client';
import { parseBaseUrl } from '../../../src/api/connection-settings';
import { mayBeCarriedOut, StripError } from '../../../src/api/errors';
import { systemClock } from '../../../src/api/types';
import { API_KEY, STRIPS, type Fault, type TestService } from '../../support/service';
import type { FakeClock } from '../../support/fake-clock';
import { startListening } from '../../support/start-listening';
import { until } from '../../support/until';
import { failureOf, MAC, ClientStage } from './client-stage';

/** A service in a thread of its own: an empty list, 50 ms after it has said that it was asked. Then it says in shared memory that it has answered. */
const SERVER = `
  const { parentPort, workerData: answered } = require('node:worker_threads');
  const server = require('node:http').createServer((request, response) => {
    parentPort.postMessage('asked');
    const tell = () => Atomics.store(answered, 0, 1) === 1 && Atomics.notify(answered, 0);
    setTimeout(() => response.end('[]', tell), 50);
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;

/** A server that answers nothing by itself; `request` is the connection of the first request, once that has come. */
async function startWire() {
  let arrived: (socket: Socket) => void;
  const request = new Promise<Socket>((resolve) => (arrived = resolve));
  const server = createServer((socket) => void socket.once('data', () => arrived(socket)));
  const port = await startListening(server);
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    request,
    close: async () => {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('Client', () => {
  let stage: ClientStage;
  let service: TestService;
  let clock: FakeClock;
  let client: Client;
  const connect: ClientStage['connect'] = (...options) => stage.connect(...options);

  beforeEach(async () => {
    stage = await ClientStage.open();
    ({ service, clock } = stage);
    client = stage.connect();
  });
  afterEach(() => stage.close());

  describe('requests', () => {
    it('lists strips with a GET and the key in its header', async () => {
      const { strips, complete, readable, response } = await client.list();
      assert.deepEqual(
        strips.map(({ mac, name }) => ({ mac, name })),
        STRIPS,
      );
      assert.deepEqual([complete, readable], [true, true]);
      assert.equal(strips[0]?.at, '2027-01-15T08:00:00.000Z');
      assert.ok(Array.isArray(response) || typeof response === 'object');
      const [request] = service.requests;
      assert.deepEqual([request?.method, request?.path, request?.body], ['GET', '/api/public/v1/strips', '']);
      assert.equal(request?.headers['x-api-key'], API_KEY);
      assert.equal(request.headers.accept, 'application/json');
      assert.equal(request.headers['content-type'], undefined);
    });

    it('reads one strip', async () => {
      const { strip, readable } = await client.get(MAC);
      assert.equal(strip.mac, MAC);
      assert.equal(strip.outlets.length, 4);
      assert.equal(readable, true);
      assert.equal(service.requests[0]?.path, `/api/public/v1/strips/${MAC}`);
    });

    for (const [port, on] of [
      [1, true],
      [4, false],
      ['all', true],
    ] as const) {
      it(`switches ${port} ${on ? 'on' : 'off'} with exactly the documented body`, async () => {
        const { results } = await client.switch(MAC, port, on);
        assert.deepEqual(
          results,
          (port === 'all' ? [1, 2, 3, 4] : [port]).map((one) => ({ port: one, ok: true })),
        );
        const [request] = service.requests;
        assert.equal(request?.method, 'POST');
        assert.equal(request.path, `/api/public/v1/strips/${MAC}/switch`);
        assert.equal(request.body, JSON.stringify({ port, on }));
        assert.equal(request.headers['content-type'], 'application/json');
        assert.equal(request.headers['x-api-key'], API_KEY);
      });
    }

    it('say who sends them: web firewalls refuse requests without a user agent', async () => {
      await client.list();
      await client.switch(MAC, 1, true);
      const agents = service.requests.map(({ headers }) => headers['user-agent']);
      assert.deepEqual(agents, ['node-red-smart-strip', 'node-red-smart-strip']);
    });

    it('keeps a base path, and sends the MAC as it is spelled, encoded', async () => {
      service.always({ kind: 'answer', status: 200, json: { success: true } });
      await connect(`${service.baseUrl}/base`).switch('a:b?c#d%', 1, true);
      assert.equal(service.requests[0]?.path, '/base/api/public/v1/strips/a%3Ab%3Fc%23d%25/switch');
    });

    it('sends nothing for a MAC that leads elsewhere', async () => {
      for (const mac of ['', '..', 'a/b']) {
        assert.equal((await failureOf(client.get(mac))).code, 'INVALID_INPUT');
        assert.equal((await failureOf(client.switch(mac, 1, true))).code, 'INVALID_INPUT');
      }
      assert.equal(service.requests.length, 0);
    });

    it('keeps its connections', async () => {
      for (let i = 0; i < 20; i++) await client.list();
      assert.ok(service.connections <= 2, `${service.connections} connections`);
    });
  });

  describe('the deadline', () => {
    const faults: [string, Fault][] = [
      ['never comes', { kind: 'hang' }],
      ['comes byte by byte', { kind: 'drip', every: 1 }],
    ];
    for (const [what, fault] of faults) {
      it(`ends a request whose answer ${what}, naming the seconds`, async () => {
        service.next(fault);
        const late = failureOf(connect(service.baseUrl, { timeout: 2_500 }).list());
        await service.arrived(1);
        clock.block(2_500);
        const error = await late;
        const { sentenceKey, params, retryable } = error;
        assert.deepEqual([sentenceKey, params.seconds, retryable], ['TIMEOUT.deadline', 2.5, true]);
      });
    }

    it('ends a request that still waits for a connection, which then is never sent', async () => {
      service.next({ kind: 'hang' });
      const one = connect(service.baseUrl, { connections: 1, timeout: 500 });
      const hanging = failureOf(one.list());
      await service.arrived(1);
      const waiting = failureOf(one.switch(MAC, 1, true));
      clock.block(500);
      // Before the connection can become free.
      const soon = new Promise<null>((resolve) => setImmediate(resolve, null));
      assert.equal((await Promise.race([waiting, soon]))?.sentenceKey, 'TIMEOUT.notSent');
      assert.equal((await hanging).sentenceKey, 'TIMEOUT.deadline');
      await one.list();
      assert.deepEqual(
        service.requests.map(({ method }) => method),
        ['GET', 'GET'],
      );
    });

    it('ends a switch whose connection is there only after the machine slept, which then is never sent', async () => {
      const switched = failureOf(client.switch(MAC, 1, true));
      clock.jump += 3_600_000;
      assert.equal((await switched).sentenceKey, 'TIMEOUT.notSent');
      await client.list();
      assert.deepEqual(
        service.requests.map(({ method }) => method),
        ['GET'],
      );
    });

    it('sends a read also if the clock was set, or the machine slept, before its connection was there', async () => {
      const listed = client.list();
      clock.jump += 3_600_000;
      assert.equal((await listed).strips.length, 2);
    });

    it('repeats a read also if its connection broke while the machine slept', async () => {
      const one = connect(service.baseUrl, { connections: 1 });
      await one.list();
      service.next({ kind: 'idleClose' });
      const release = service.hold();
      const listed = one.list();
      await service.arrived(2);
      clock.jump += 3_600_000;
      release();
      assert.equal((await listed).strips.length, 2);
    });

    it('ends a switch whose connection broke while the machine slept, which then is not repeated', async () => {
      const one = connect(service.baseUrl, { connections: 1 });
      await one.list();
      service.next({ kind: 'idleClose' });
      const release = service.hold();
      const switched = failureOf(one.switch(MAC, 1, true));
      await service.arrived(2);
      clock.jump += 3_600_000;
      release();
      const error = await switched;
      assert.deepEqual([error.sentenceKey, mayBeCarriedOut(error)], ['TIMEOUT.deadline', true]);
      assert.equal(service.requests.length, 2);
    });

    it('does not end a request whose answer has arrived but was not read yet', async () => {
      const wire = await startWire();
      const one = connect(wire.baseUrl, { timeout: 500 });
      const listed = one.list();
      const socket = await wire.request;
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]');
      clock.block(500);
      assert.deepEqual((await listed).strips, []);
      await one.close();
      await wire.close();
    });

    it('does not end a request because the process was too busy to read its answer', async () => {
      // A thread of its own answers while this one is blocked, until the answer is there and the deadline is over.
      const timeout = 2_000;
      const answered = new Int32Array(new SharedArrayBuffer(4));
      const worker = new Worker(SERVER, { eval: true, workerData: answered });
      try {
        const port = await new Promise<number>((resolve) => worker.once('message', resolve));
        const one = connect(`http://127.0.0.1:${port}`, { clock: systemClock, timeout });
        const asked = new Promise((resolve) => worker.once('message', resolve));
        const listed = one.list();
        await asked;
        assert.notEqual(Atomics.wait(answered, 0, 0, 60_000), 'timed-out');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, timeout);
        assert.deepEqual((await listed).strips, []);
        await one.close();
      } finally {
        await worker.terminate();
      }
    });

    it('leaves no timer behind', async () => {
      await client.list();
      assert.equal(clock.pending, 0);
    });
  });

  it('fails with an error of ours where a request cannot even be made', async () => {
    const dispatcher = {
      dispatch: (): boolean => {
        throw new TypeError(`bad ${API_KEY}`);
      },
      destroy: () => Promise.resolve(),
    };
    const baseUrl = parseBaseUrl(service.baseUrl);
    const one = new Client({ baseUrl, apiKey: API_KEY, timeout: 500, dispatcher, clock });
    assert.equal((await failureOf(one.list())).sentenceKey, 'UNREACHABLE.failed');
  });

  describe('the mapping', () => {
    const withMapping = (mapping: (body: unknown) => Promise<unknown>): Client =>
      connect(service.baseUrl, { mapping });

    it('changes what is read of a list and of a strip, not the response', async () => {
      service.always({ kind: 'answer', status: 200, json: { odd: true } });
      const one = withMapping((body) => {
        assert.deepEqual(body, { odd: true });
        return Promise.resolve([{ mac: MAC, outlets: [true, false, true, false] }]);
      });
      const { strips, response } = await one.list();
      assert.deepEqual([strips.length, strips[0]?.outlets[0]?.on, response], [1, true, { odd: true }]);
      const read = await one.get(MAC);
      assert.deepEqual([read.strip.outlets[1]?.on, read.response], [false, { odd: true }]);
    });

    it('is asked about no switch and no failure', async () => {
      const one = withMapping(() => Promise.reject(new Error('asked')));
      await one.switch(MAC, 1, true);
      service.next({ kind: 'answer', status: 500 });
      assert.equal((await failureOf(one.list())).code, 'SERVICE');
    });

    it('that fails is the failure of the request', async () => {
      const failure = new StripError('BAD_RESPONSE.notJson');
      assert.equal(await failureOf(withMapping(() => Promise.reject(failure)).list()), failure);
    });
  });

  describe('close', () => {
    it('refuses what comes after it', async () => {
      await client.close();
      assert.equal((await failureOf(client.list())).sentenceKey, 'CLOSED.account');
      assert.equal((await failureOf(client.switch(MAC, 1, true))).sentenceKey, 'CLOSED.account');
      assert.equal(service.requests.length, 0);
    });

    it('ends reads at once, and waits for a switch that was sent', async () => {
      const letGo = service.hold('answer');
      const read = failureOf(client.list());
      const write = client.switch(MAC, 1, true);
      await service.arrived(2);
      client.beginClose(1_000);
      assert.equal((await read).code, 'CLOSED');
      letGo();
      assert.deepEqual((await write).results, [{ port: 1, ok: true }]);
    });

    it('ends the mappings of reads, too: those under way when it begins, and later ones at its end', async () => {
      const mappings = new EventEmitter();
      const one = connect(service.baseUrl, {
        mapping: async (_, isClosed = () => false) => {
          mappings.emit('begun');
          while (!isClosed()) await turn();
          throw new StripError('CLOSED.account');
        },
      });
      let over = 0;
      const read = async (): Promise<void> => {
        const begun = once(mappings, 'begun');
        void failureOf(one.list()).then(() => over++);
        await begun;
      };
      await read();
      one.beginClose(1_000);
      await until('the first read to end', () => over === 1);
      await read();
      for (let turns = 0; turns < 5; turns++) await turn();
      assert.equal(over, 1);
      await one.close();
      await until('the second read to end', () => over === 2);
    });

    it('waits for every switch that was sent, not only for the first that is answered', async () => {
      const letGo = service.hold();
      const first = client.switch(MAC, 1, true);
      await service.arrived(1);
      const letSecondGo = service.hold();
      const second = client.switch(MAC, 2, true);
      await service.arrived(2);
      client.beginClose(1_000);
      letGo();
      await first;
      letSecondGo();
      assert.deepEqual((await second).results, [{ port: 2, ok: true }]);
    });

    it('gives up what is not answered', async () => {
      service.always({ kind: 'hang' });
      const write = failureOf(client.switch(MAC, 1, true));
      await service.arrived(1);
      await client.close();
      assert.equal((await write).sentenceKey, 'CLOSED.account');
    });

    it('gives up a switch that is not answered when its grace is over, but none that came later', async () => {
      service.always({ kind: 'hang' });
      const write = failureOf(client.switch(MAC, 1, true));
      await service.arrived(1);
      client.beginClose(1_000);
      let isOver = false;
      const later = failureOf(client.switch(MAC, 2, true)).finally(() => (isOver = true));
      await service.arrived(2);
      clock.block(1_000);
      assert.equal((await write).code, 'CLOSED');
      assert.equal(isOver, false);
      await client.close();
      assert.equal((await later).code, 'CLOSED');
    });

    it('ends a switch at once that waits for a connection', async () => {
      service.always({ kind: 'hang' });
      const one = connect(service.baseUrl, { connections: 1 });
      const sent = failureOf(one.switch(MAC, 1, true));
      await service.arrived(1);
      const waiting = failureOf(one.switch(MAC, 2, true));
      one.beginClose(1_000);
      const waited = await waiting;
      assert.deepEqual([waited.code, waited.notSent], ['CLOSED', true]);
      clock.block(1_000);
      const { code, notSent } = await sent;
      assert.deepEqual([code, notSent], ['CLOSED', false]);
      assert.equal(service.requests.length, 1);
    });

    it('that was announced lets a switch out although every connection is busy', async () => {
      service.next({ kind: 'hang' });
      const one = connect(service.baseUrl, { connections: 1 });
      const hanging = failureOf(one.switch(MAC, 1, true));
      await service.arrived(1);
      one.beginClose(1_000);
      assert.deepEqual((await one.switch(MAC, 2, true)).results, [{ port: 2, ok: true }]);
      await one.close();
      assert.equal((await hanging).code, 'CLOSED');
    });

    it('is the same the second time', async () => {
      assert.equal(client.close(), client.close());
      await client.close();
    });

    it('leaves no connection', async () => {
      await client.list();
      assert.equal(service.open, 1);
      await client.close();
      await service.closed();
    });
  });
});
