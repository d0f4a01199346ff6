import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Client } from '../../../src/api/client';
import type { Clock, Timer } from '../../../src/api/clock';
import { systemClock } from '../../../src/api/clock';
import { createDispatcher, type DispatcherOptions } from '../../../src/api/dispatcher';
import { parseBaseUrl } from '../../../src/api/endpoint';
import { isStripError, type StripError } from '../../../src/api/errors';
import { API_KEY, startService, STRIPS, type Fault, type TestService } from '../../support/service';

const MAC = STRIPS[0].mac;

/** Timeouts that fire only when told to, and a wall clock that stands still. */
class HandClock implements Clock {
  readonly #due = new Map<object, { callback: () => void; ms: number }>();
  now = Date.parse('2026-05-04T03:02:01.000Z');

  monotonic(): number {
    return 0;
  }
  wall(): number {
    return this.now;
  }
  setTimeout(callback: () => void, ms: number): Timer {
    const timer = {};
    this.#due.set(timer, { callback, ms });
    return timer;
  }
  clearTimeout(timer: Timer): void {
    if (typeof timer === 'object') this.#due.delete(timer);
  }
  random(): number {
    return 0;
  }
  get pending(): number[] {
    return [...this.#due.values()].map(({ ms }) => ms);
  }
  /** Lets every timeout of that length pass. */
  pass(length: number): void {
    for (const [timer, { callback, ms }] of [...this.#due]) {
      if (ms !== length) continue;
      this.#due.delete(timer);
      callback();
    }
  }
}

async function failureOf(promise: Promise<unknown>): Promise<StripError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(isStripError(error), String(error));
    assertSafe(error);
    return error;
  }
  throw new assert.AssertionError({ message: 'it succeeded' });
}

/** No error may hold the key, wherever one looks. */
function assertSafe(error: StripError): void {
  const { cause, message, stack, params, code, sentence } = error;
  const inner = cause instanceof Error ? [cause.message, cause.stack, Object.entries(cause)] : cause;
  const text = JSON.stringify([message, stack, params, code, sentence, inner]);
  assert.ok(!text.includes(API_KEY), text);
}

describe('Client', () => {
  let service: TestService;
  let clock: HandClock;
  let client: Client;
  const clients: Client[] = [];

  const connect = (
    baseUrl: string,
    options: Partial<DispatcherOptions> & { clock?: Clock; timeout?: number } = {},
  ): Client => {
    const { clock: time = clock, timeout = 10_000, ...rest } = options;
    const endpoint = parseBaseUrl(baseUrl);
    const made = new Client({
      endpoint,
      apiKey: API_KEY,
      timeout,
      clock: time,
      dispatcher: createDispatcher({ origin: endpoint.origin, connections: 2, ...rest }),
    });
    clients.push(made);
    return made;
  };

  beforeEach(async () => {
    service = await startService();
    clock = new HandClock();
    client = connect(service.baseUrl);
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((one) => one.close(0)));
    assert.deepEqual(clock.pending, [], 'a timer was left');
    await service.close();
  });

  describe('requests', () => {
    it('lists strips with a GET and the key in its header', async () => {
      const { strips, complete, readable, response } = await client.list();
      assert.deepEqual(
        strips.map(({ mac, name }) => ({ mac, name })),
        STRIPS,
      );
      assert.deepEqual([complete, readable], [true, true]);
      assert.equal(strips[0]?.at, '2026-05-04T03:02:01.000Z');
      assert.ok(Array.isArray(response) || typeof response === 'object');
      const [request] = service.requests;
      assert.deepEqual([request?.method, request?.path, request?.body], ['GET', '/api/public/v1/strips', '']);
      assert.equal(request?.headers['x-api-key'], API_KEY);
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

    it('keeps its paths right for more strips than it remembers', async () => {
      service.always({ kind: 'answer', status: 200, json: { outlets: [true] } });
      for (let i = 0; i < 2_100; i++) await client.get(`strip-${i}`);
      await client.get('strip-0');
      assert.equal(service.requests.at(-1)?.path, '/api/public/v1/strips/strip-0');
    });
  });

  describe('answers to reads', () => {
    const cases: [string, Fault, string, string, boolean][] = [
      ['a web page', { kind: 'html' }, 'BAD_RESPONSE', 'html', false],
      ['204', { kind: 'empty' }, 'BAD_RESPONSE', 'empty', false],
      ['an empty 200', { kind: 'answer', status: 200, body: '' }, 'BAD_RESPONSE', 'empty', false],
      ['blanks', { kind: 'answer', status: 200, body: ' \r\n' }, 'BAD_RESPONSE', 'empty', false],
      ['text', { kind: 'answer', status: 200, body: 'it works' }, 'BAD_RESPONSE', 'notJson', false],
      [
        'half of the JSON',
        { kind: 'answer', status: 200, body: '{"strips": [{"ma' },
        'BAD_RESPONSE',
        'truncated',
        false,
      ],
      ['half of the body', { kind: 'truncated' }, 'BAD_RESPONSE', 'truncated', false],
      [
        'a body that outgrows 1 MiB',
        { kind: 'oversized', bytes: 2 ** 20 + 1, declared: false },
        'BAD_RESPONSE',
        'tooLarge',
        false,
      ],
      [
        'a body announced to outgrow 1 MiB',
        { kind: 'oversized', bytes: 2 ** 20 + 1, declared: true },
        'BAD_RESPONSE',
        'tooLarge',
        false,
      ],
      ['a gzip bomb', { kind: 'gzipBomb', bytes: 50 * 2 ** 20 }, 'BAD_RESPONSE', 'encoded', false],
      [
        '301',
        { kind: 'redirect', to: 'https://elsewhere.example/x?y', status: 301 },
        'BAD_RESPONSE',
        'redirect',
        false,
      ],
      ['307', { kind: 'redirect', to: '/login', status: 307 }, 'BAD_RESPONSE', 'redirect', false],
      ['304 to nowhere', { kind: 'answer', status: 304 }, 'BAD_RESPONSE', 'redirectUnknown', false],
      ['401', { kind: 'answer', status: 401, json: { error: 'x' } }, 'AUTH', 'rejected', false],
      ['403', { kind: 'answer', status: 403 }, 'AUTH', 'rejected', false],
      ['404', { kind: 'answer', status: 404 }, 'NOT_FOUND', 'address', false],
      ['407', { kind: 'answer', status: 407 }, 'UNREACHABLE', 'proxy', false],
      ['408', { kind: 'answer', status: 408 }, 'SERVICE', 'failed', true],
      ['409', { kind: 'answer', status: 409 }, 'SERVICE', 'refused', false],
      ['425', { kind: 'answer', status: 425 }, 'SERVICE', 'failed', true],
      ['429', { kind: 'answer', status: 429 }, 'RATE_LIMITED', 'later', true],
      ['500', { kind: 'answer', status: 500 }, 'SERVICE', 'failed', true],
      ['503 with a web page', { kind: 'answer', status: 503, body: '<html>' }, 'SERVICE', 'failed', true],
      ['a reset before the answer', { kind: 'reset', when: 'before' }, 'UNREACHABLE', 'reset', true],
      ['a connection that closes as the request comes', { kind: 'idleClose' }, 'UNREACHABLE', 'reset', true],
    ];
    for (const [name, fault, code, sentence, retryable] of cases) {
      it(`are ${code} (${sentence}) for ${name}, and the next one is read`, async () => {
        service.next(fault);
        const error = await failureOf(client.list());
        assert.deepEqual([error.code, error.sentence], [code, `${code}.${sentence}`]);
        assert.equal(error.retryable, retryable);
        assert.equal(error.params.host, new URL(service.baseUrl).host);
        assert.equal((await client.list()).readable, true);
      });
    }

    it('are cut off by a reset in the middle', async () => {
      service.next({ kind: 'reset', when: 'middle' });
      const error = await failureOf(client.list());
      assert.ok(['UNREACHABLE.reset', 'BAD_RESPONSE.truncated'].includes(error.sentence), error.sentence);
    });

    it('may come after an interim answer', async () => {
      service.next({ kind: 'interim', status: 103 });
      assert.equal((await client.list()).readable, true);
    });

    it('may be as large as 1 MiB', async () => {
      service.next({ kind: 'oversized', bytes: 2 ** 20, declared: true });
      await client.list();
    });

    it('may begin with a byte order mark and call themselves anything', async () => {
      service.next({
        kind: 'answer',
        status: 200,
        body: '\ufeff[]',
        headers: { 'content-type': 'text/html' },
      });
      assert.deepEqual((await client.list()).strips, []);
    });

    it('are JSON of any kind, and unreadable where they say nothing', async () => {
      service.next({ kind: 'answer', status: 200, json: 'fine' });
      assert.deepEqual(await client.list(), {
        strips: [],
        complete: false,
        readable: false,
        response: 'fine',
      });
    });

    it('are missed as a whole where the content-length says less or more than came', async () => {
      service.next({ kind: 'contentLength', value: '5' });
      assert.equal((await failureOf(client.list())).code, 'BAD_RESPONSE');
      service.next({ kind: 'contentLength', value: '100000' });
      const late = failureOf(client.list());
      await service.arrived(2);
      clock.pass(10_000);
      assert.ok(['TIMEOUT', 'BAD_RESPONSE'].includes((await late).code));
      service.next({ kind: 'contentLength', value: 'many' });
      assert.equal((await failureOf(client.list())).sentence, 'BAD_RESPONSE.notHttp');
    });

    it('name the origin of a redirect only, and never the key', async () => {
      service.next({ kind: 'redirect', to: 'https://user:pw@elsewhere.example:8443/secret?key=x' });
      assert.equal((await failureOf(client.list())).params.location, 'https://elsewhere.example:8443');
      service.next({ kind: 'redirect', to: `https://${API_KEY}.example/` });
      assert.equal((await failureOf(client.list())).sentence, 'BAD_RESPONSE.redirectUnknown');
      assert.equal(service.requests.length, 2);
    });

    it('say of a 404 to a strip which strip is not known', async () => {
      const error = await failureOf(client.get('FFFFFFFFFFFF'));
      assert.deepEqual(
        [error.code, error.sentence, error.params.mac],
        ['NOT_FOUND', 'NOT_FOUND.strip', 'FFFFFFFFFFFF'],
      );
      assert.notEqual(error.response, undefined);
    });

    it('say of a web page with 404 that the address is wrong, not the strip', async () => {
      for (const ask of [() => client.get(MAC), () => client.switch(MAC, 1, true)]) {
        service.next({ kind: 'answer', status: 404, body: '<!doctype html><h1>Not found</h1>' });
        assert.equal((await failureOf(ask())).sentence, 'NOT_FOUND.address');
      }
    });

    const waits: [string, number | undefined][] = [
      ['0', 0],
      ['7', 7_000],
      ['99999999999999999999', 86_400_000],
      ['Mon, 04 May 2026 03:02:31 GMT', 30_000],
      ['Monday, 04-May-26 03:02:31 GMT', 30_000],
      ['Mon, 04 May 2020 03:02:31 GMT', 0],
      ['Mon, 04 May 2099 03:02:31 GMT', 86_400_000],
      ['-5', undefined],
      ['1.5', undefined],
      ['soon', undefined],
      ['2026', 2_026_000],
      ['', undefined],
    ];
    for (const [header, wait] of waits) {
      it(`ask for ${wait ?? 'no'} ms with Retry-After "${header}"`, async () => {
        for (const status of [429, 503]) {
          service.next({ kind: 'answer', status, headers: { 'retry-after': header } });
          assert.equal((await failureOf(client.list())).retryAfter, wait);
        }
      });
    }
  });

  describe('answers to a switch', () => {
    const ok = (...ports: number[]) => ports.map((port) => ({ port, ok: true }));
    const answer = (json: unknown, status = 200): Fault => ({ kind: 'answer', status, json });

    it('are a success without results, too', async () => {
      service.next(answer({ success: true, extra: 1 }));
      assert.deepEqual(await client.switch(MAC, 1, true), {
        results: [],
        response: { success: true, extra: 1 },
      });
    });

    const failures: [string, Fault, string, Record<string, unknown>][] = [
      ['success: false', answer({ success: false }), 'unnamed', { failed: '', switched: '' }],
      ['no success', answer({ results: ok(1) }), 'unnamed', { failed: '', switched: '1' }],
      [
        'an ok: false',
        answer({ success: true, results: [{ port: 1, ok: false }] }),
        'ports',
        { failed: '1', switched: '' },
      ],
      [
        'some ok: false',
        answer({ success: true, results: [...ok(1, 3), { port: 2, ok: false }, { port: 4, ok: false }] }),
        'some',
        { failed: '2, 4', switched: '1, 3' },
      ],
      ['an ok: false without a port', answer({ success: true, results: [{ ok: false }] }), 'unnamed', {}],
      ['a failure with 400', answer({ success: false, results: [{ port: 1, ok: false }] }, 400), 'ports', {}],
      ['a failure with 409', answer({ success: false }, 409), 'unnamed', { status: 409 }],
      ['results with 500', answer({ success: false, results: [{ port: 1, ok: false }] }, 500), 'ports', {}],
      ['success with 500', answer({ success: true, results: ok(1) }, 500), 'unnamed', {}],
      ...[401, 403, 404, 429, 503].map((status): [string, Fault, string, Record<string, unknown>] => [
        `a port that failed with ${status}`,
        answer({ success: false, results: [{ port: 1, ok: false }] }, status),
        'ports',
        { failed: '1', switched: '' },
      ]),
    ];
    for (const [name, fault, sentence, params] of failures) {
      it(`are SWITCH_FAILED (${sentence}) with ${name}`, async () => {
        service.next(fault);
        const error = await failureOf(client.switch(MAC, 1, true));
        assert.deepEqual([error.code, error.sentence], ['SWITCH_FAILED', `SWITCH_FAILED.${sentence}`]);
        assert.equal(error.retryable, false);
        assert.deepEqual({ ...error.params, ...params }, error.params);
        assert.equal(error.params.mac, MAC);
        assert.equal(typeof error.response, 'object');
      });
    }

    it('hand on what was said of each port', async () => {
      service.next(
        answer({
          success: false,
          results: [
            { port: 1, ok: true },
            { port: 2, ok: false },
          ],
        }),
      );
      assert.deepEqual((await failureOf(client.switch(MAC, 'all', true))).results, [
        { port: 1, ok: true },
        { port: 2, ok: false },
      ]);
    });

    const others: [string, Fault, string, boolean][] = [
      [
        'a 500 that only says that it failed',
        answer({ success: false, results: [] }, 500),
        'SERVICE.failed',
        true,
      ],
      ['a 503 without a body', { kind: 'answer', status: 503 }, 'SERVICE.failed', true],
      ['a 400 with an error', answer({ error: 'bad port' }, 400), 'SERVICE.refused', false],
      ['a 200 that says neither', answer({ ok: true }), 'BAD_RESPONSE.notSwitch', false],
      ['a list', answer([]), 'BAD_RESPONSE.notSwitch', false],
      ['a web page', { kind: 'html' }, 'BAD_RESPONSE.html', false],
      ['a 401 in the documented form', answer({ success: false }, 401), 'AUTH.rejected', false],
      ['a 403 in the documented form', answer({ success: false }, 403), 'AUTH.rejected', false],
      [
        'a 404 in the documented form',
        answer({ success: false, results: [] }, 404),
        'NOT_FOUND.strip',
        false,
      ],
      ['a 429 in the documented form', answer({ success: false }, 429), 'RATE_LIMITED.later', true],
      ['a 302 in the documented form', answer({ success: true }, 302), 'BAD_RESPONSE.redirectUnknown', false],
    ];
    for (const [name, fault, sentence, retryable] of others) {
      it(`are ${sentence} with ${name}`, async () => {
        service.next(fault);
        const error = await failureOf(client.switch(MAC, 1, true));
        assert.equal(error.sentence, sentence);
        assert.equal(error.retryable, retryable);
      });
    }
  });

  describe('the deadline', () => {
    const faults: Fault[] = [{ kind: 'hang' }, { kind: 'drip', every: 1 }];
    for (const fault of faults) {
      it(`ends a request whose answer is a ${fault.kind}, naming the seconds`, async () => {
        service.next(fault);
        const late = failureOf(connect(service.baseUrl, { timeout: 2_500 }).list());
        await service.arrived(1);
        clock.pass(2_500);
        const error = await late;
        assert.deepEqual([error.code, error.params.seconds, error.retryable], ['TIMEOUT', 2.5, true]);
      });
    }

    it('ends a request that still waits for a connection, which then is never sent', async () => {
      service.next({ kind: 'hang' });
      const one = connect(service.baseUrl, { connections: 1, timeout: 500 });
      const hanging = failureOf(one.list());
      await service.arrived(1);
      const waiting = failureOf(one.switch(MAC, 1, true));
      clock.pass(500);
      assert.equal((await hanging).code, 'TIMEOUT');
      assert.equal((await waiting).code, 'TIMEOUT');
      await one.list();
      assert.deepEqual(
        service.requests.map(({ method }) => method),
        ['GET', 'GET'],
      );
    });

    it('leaves no timer behind', async () => {
      await client.list();
      assert.deepEqual(clock.pending, []);
    });
  });

  describe('failing connections', () => {
    const pem = (name: string): string => readFileSync(`${__dirname}/../../support/tls/${name}.pem`, 'utf8');
    const key = pem('key');

    it('are refused where nobody listens', async () => {
      await service.stopListening();
      const error = await failureOf(connect(service.baseUrl).switch(MAC, 1, true));
      assert.deepEqual([error.sentence, error.params.code], ['UNREACHABLE.refused', 'ECONNREFUSED']);
      assert.equal(error.retryable, true);
    });

    it('are named for a host that does not exist', async () => {
      const error = await failureOf(connect('http://strips.invalid').list());
      assert.equal(error.sentence, 'UNREACHABLE.dns');
      assert.equal(error.params.host, 'strips.invalid');
    });

    for (const [cert, trust, sentence] of [
      ['trusted', false, 'certificateSelfSigned'],
      ['expired', true, 'certificateExpired'],
      ['elsewhere', true, 'certificateHost'],
    ] as const) {
      it(`are ${sentence} with a certificate that is ${cert}`, async () => {
        const secure = await startService({ tls: { key, cert: pem(cert) } });
        const error = await failureOf(
          connect(secure.baseUrl, trust ? { connect: { ca: pem(cert) } } : {}).list(),
        );
        await secure.close();
        assert.equal(error.sentence, `UNREACHABLE.${sentence}`);
        assert.equal(error.retryable, false);
      });
    }

    it('are none with a certificate that is trusted', async () => {
      const secure = await startService({ tls: { key, cert: pem('trusted') } });
      const one = connect(secure.baseUrl, { connect: { ca: pem('trusted') } });
      assert.equal((await one.list()).readable, true);
      await one.close(0);
      await secure.close();
    });

    it('tell https on a plain port', async () => {
      const error = await failureOf(connect(service.baseUrl.replace('http:', 'https:')).list());
      assert.equal(error.sentence, 'UNREACHABLE.tls');
    });

    it('tell plain http on a TLS port', async () => {
      const secure = await startService({ tls: { key, cert: pem('trusted') } });
      const error = await failureOf(connect(secure.baseUrl.replace('https:', 'http:')).list());
      await secure.close();
      assert.ok(['BAD_RESPONSE.notHttp', 'UNREACHABLE.reset'].includes(error.sentence), error.sentence);
    });
  });

  describe('close', () => {
    it('refuses what comes after it', async () => {
      await client.close(1_000);
      assert.equal((await failureOf(client.list())).code, 'CLOSED');
      assert.equal((await failureOf(client.switch(MAC, 1, true))).code, 'CLOSED');
      assert.equal(service.requests.length, 0);
    });

    it('ends reads at once, and waits for a switch that is on the wire', async () => {
      const letGo = service.hold('answer');
      const read = failureOf(client.list());
      const write = client.switch(MAC, 1, true);
      await service.arrived(2);
      const closing = client.close(1_000);
      assert.equal((await read).code, 'CLOSED');
      letGo();
      assert.deepEqual((await write).results, [{ port: 1, ok: true }]);
      await closing;
    });

    it('gives a switch that is not answered up when its grace is over', async () => {
      service.always({ kind: 'hang' });
      const write = failureOf(client.switch(MAC, 1, true));
      await service.arrived(1);
      const closing = client.close(1_000);
      clock.pass(1_000);
      assert.equal((await write).code, 'CLOSED');
      await closing;
    });

    it('ends a switch at once that waits for a connection', async () => {
      service.always({ kind: 'hang' });
      const one = connect(service.baseUrl, { connections: 1 });
      const sent = failureOf(one.switch(MAC, 1, true));
      await service.arrived(1);
      const waiting = failureOf(one.switch(MAC, 2, true));
      const closing = one.close(1_000);
      assert.equal((await waiting).code, 'CLOSED');
      clock.pass(1_000);
      assert.equal((await sent).code, 'CLOSED');
      await closing;
      assert.equal(service.requests.length, 1);
    });

    it('is the same the second time', async () => {
      assert.equal(client.close(0), client.close(0));
      await client.close(0);
    });

    it('leaves no connection', async () => {
      await client.list();
      await client.close(0);
      await connect(service.baseUrl, { clock: systemClock }).close(0);
      assert.ok(service.open <= 1);
    });
  });
});
