import assert from 'node:assert/strict';
import type { Client } from '../../../src/api/client';
import { API_KEY, type Fault, type TestService } from '../../support/service';
import type { FakeClock } from '../../support/fake-clock';
import { failureOf, MAC, ClientStage } from './client-stage';

describe('Client: answers to reads', () => {
  let stage: ClientStage;
  let service: TestService;
  let clock: FakeClock;
  let client: Client;

  beforeEach(async () => {
    stage = await ClientStage.open();
    ({ service, clock } = stage);
    client = stage.connect();
  });
  afterEach(() => stage.close());

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
    [
      'JSON with other bytes in it',
      { kind: 'answer', status: 200, body: '{"strips": [ \0\u0001garb' },
      'BAD_RESPONSE',
      'notJson',
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
    ['300', { kind: 'redirect', to: '/a', status: 300 }, 'BAD_RESPONSE', 'redirect', false],
    ['399', { kind: 'redirect', to: '/a', status: 399 }, 'BAD_RESPONSE', 'redirect', false],
    [
      'a redirect to no place',
      { kind: 'redirect', to: 'data:,x', status: 302 },
      'BAD_RESPONSE',
      'redirectUnknown',
      false,
    ],
    [
      'a redirect to no address',
      { kind: 'redirect', to: 'http://[', status: 302 },
      'BAD_RESPONSE',
      'redirectUnknown',
      false,
    ],
    [
      'half of a list',
      { kind: 'answer', status: 200, body: '[{"mac": 1}, {' },
      'BAD_RESPONSE',
      'truncated',
      false,
    ],
    [
      'braces that hold no JSON',
      { kind: 'answer', status: 200, body: '{no}' },
      'BAD_RESPONSE',
      'notJson',
      false,
    ],
    [
      'brackets that hold no JSON',
      { kind: 'answer', status: 200, body: '[no]' },
      'BAD_RESPONSE',
      'notJson',
      false,
    ],
    ['505', { kind: 'answer', status: 505, body: '<h1>x' }, 'SERVICE', 'failed', true],
    ['304 to nowhere', { kind: 'answer', status: 304 }, 'BAD_RESPONSE', 'noLocation', false],
    ['401', { kind: 'answer', status: 401, json: { error: 'x' } }, 'AUTH', 'rejected', false],
    ['403', { kind: 'answer', status: 403, json: { error: 'x' } }, 'AUTH', 'rejected', false],
    ['403 without a body', { kind: 'answer', status: 403 }, 'SERVICE', 'denied', false],
    ['401 in plain text', { kind: 'answer', status: 401, body: 'no' }, 'SERVICE', 'denied', false],
    ['401 with a bare number', { kind: 'answer', status: 401, body: '401' }, 'SERVICE', 'denied', false],
    ['401 with a web page', { kind: 'answer', status: 401, body: '<h1>x' }, 'SERVICE', 'inFront', false],
    ['403 with a web page', { kind: 'answer', status: 403, body: '<h1>x' }, 'SERVICE', 'inFront', false],
    [
      '401 that asks for a password',
      {
        kind: 'answer',
        status: 401,
        json: { error: 'x' },
        headers: { 'www-authenticate': 'Basic realm="x"' },
      },
      'SERVICE',
      'inFront',
      false,
    ],
    [
      '401 that asks for a token or a password',
      {
        kind: 'answer',
        status: 401,
        json: { error: 'x' },
        headers: { 'www-authenticate': ['Bearer realm="x"', 'Basic realm="y"'] },
      },
      'SERVICE',
      'inFront',
      false,
    ],
    [
      '401 that asks for a token or a password in one line',
      {
        kind: 'answer',
        status: 401,
        json: { error: 'x' },
        headers: { 'www-authenticate': 'Bearer realm="x", Basic' },
      },
      'SERVICE',
      'inFront',
      false,
    ],
    [
      '401 that asks for a token',
      { kind: 'answer', status: 401, json: { error: 'x' }, headers: { 'www-authenticate': 'ApiKey' } },
      'AUTH',
      'rejected',
      false,
    ],
    [
      '401 that speaks of another way to log in',
      {
        kind: 'answer',
        status: 401,
        json: { error: 'x' },
        headers: { 'www-authenticate': 'Bearer realm="basic"' },
      },
      'AUTH',
      'rejected',
      false,
    ],
    [
      'an empty body that calls itself packed',
      { kind: 'answer', status: 200, body: '', headers: { 'content-encoding': 'gzip' } },
      'BAD_RESPONSE',
      'empty',
      false,
    ],
    ...['identity', 'gzip;q=1', '=gzip', 'g'.repeat(13)].map(
      (encoding): [string, Fault, string, string, boolean] => [
        `a body packed as ${encoding}`,
        { kind: 'answer', status: 200, body: 'x', headers: { 'content-encoding': encoding } },
        'BAD_RESPONSE',
        'notJson',
        false,
      ],
    ),
    ['400 without a body', { kind: 'answer', status: 400 }, 'SERVICE', 'refused', false],
    ['400', { kind: 'answer', status: 400, json: { error: 'not HTTPS' } }, 'SERVICE', 'refused', false],
    [
      '400 with an address in its text',
      { kind: 'answer', status: 400, body: 'Unknown port, see https://docs.example.com/errors' },
      'SERVICE',
      'refused',
      false,
    ],
    ['400 with a web page', { kind: 'answer', status: 400, body: '<h1>x' }, 'SERVICE', 'scheme', false],
    [
      '400 in plain text that asks for https',
      { kind: 'answer', status: 400, body: 'Client sent an HTTP request to an HTTPS server.\n' },
      'SERVICE',
      'scheme',
      false,
    ],
    ['400 in plain text', { kind: 'answer', status: 400, body: 'Bad request' }, 'SERVICE', 'refused', false],
    [
      '400 in JSON that speaks of https',
      { kind: 'answer', status: 400, json: { error: 'https://docs.example' } },
      'SERVICE',
      'refused',
      false,
    ],
    ['100 that nobody asked for', { kind: 'interim', status: 100 }, 'BAD_RESPONSE', 'interim', false],
    ['404', { kind: 'answer', status: 404 }, 'NOT_FOUND', 'address', false],
    ['407', { kind: 'answer', status: 407 }, 'UNREACHABLE', 'proxy', false],
    ['408', { kind: 'answer', status: 408 }, 'SERVICE', 'failed', true],
    ['409', { kind: 'answer', status: 409 }, 'SERVICE', 'refused', false],
    ['425', { kind: 'answer', status: 425 }, 'SERVICE', 'failed', true],
    ['429', { kind: 'answer', status: 429 }, 'RATE_LIMITED', 'later', true],
    ['500', { kind: 'answer', status: 500 }, 'SERVICE', 'failed', true],
    ['503 with a web page', { kind: 'answer', status: 503, body: '<html>' }, 'SERVICE', 'failed', true],
    ['a reset before the answer', { kind: 'reset', when: 'before' }, 'UNREACHABLE', 'resetPlain', true],
    [
      'a connection that closes as the request comes',
      { kind: 'idleClose' },
      'UNREACHABLE',
      'resetPlain',
      true,
    ],
  ];
  for (const [name, fault, code, sentence, retryable] of cases) {
    it(`are ${code} (${sentence}) for ${name}, and the next one is read`, async () => {
      service.next(fault);
      const error = await failureOf(client.list());
      assert.deepEqual([error.code, error.sentenceKey], [code, `${code}.${sentence}`]);
      assert.equal(error.retryable, retryable);
      assert.equal(error.params.host, new URL(service.baseUrl).host);
      if (fault.kind === 'answer' || fault.kind === 'redirect')
        assert.equal(error.params.status, fault.status);
      assert.equal((await client.list()).readable, true);
    });
  }

  it('are cut off wherever JSON ends too early', async () => {
    const whole = '{"a": [true, null, -1.5e+3, "x\\u00e9\\n", {"b": {}}], "c": "d"}';
    for (let length = 1; length < whole.length; length++) {
      const body = whole.slice(0, length);
      service.next({ kind: 'answer', status: 200, body });
      assert.equal((await failureOf(client.list())).sentenceKey, 'BAD_RESPONSE.truncated', body);
    }
  });

  const answer = (head: string, body: string): string => `HTTP/1.1 ${head}\r\n\r\n${body}`;
  const broken: [string, string, string][] = [
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'notHttp'],
    ['a body without a head', '[]', 'notHttp'],
    ['a status that is none', answer('000 X\r\ncontent-length: 2', '[]'), 'notHttp'],
    ['a status for an upgrade', answer('101 X', ''), 'notHttp'],
    [
      'an upgrade that nobody asked for',
      answer('101 X\r\nupgrade: websocket\r\nconnection: upgrade', ''),
      'notHttp',
    ],
    ['two lengths', answer('200 OK\r\ncontent-length: 2\r\ncontent-length: 3', '[]'), 'notHttp'],
    [
      'a length for a body in chunks',
      answer('200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked', '2\r\n[]\r\n0\r\n\r\n'),
      'notHttp',
    ],
    ['chunks without a size', answer('200 OK\r\ntransfer-encoding: chunked', 'zz\r\n[]\r\n'), 'notHttp'],
    ['chunks that break off', answer('200 OK\r\ntransfer-encoding: chunked', '2\r\n[]\r\n'), 'truncated'],
    ['headers without end', answer(`200 OK\r\nx: ${'y'.repeat(20_000)}`, '[]'), 'notHttp'],
  ];
  for (const [name, bytes, sentence] of broken) {
    it(`are BAD_RESPONSE (${sentence}) for ${name}, and the next one is read`, async () => {
      service.next({ kind: 'raw', bytes, end: true });
      const error = await failureOf(client.list());
      assert.deepEqual([error.sentenceKey, error.retryable], [`BAD_RESPONSE.${sentence}`, false]);
      assert.equal((await client.list()).readable, true);
    });
  }

  for (const head of [
    'HTTP/1.0 200 OK',
    'HTTP/1.0 200 OK\r\ncontent-length: 2',
    'HTTP/1.1 200 OK\r\nconnection: close',
  ]) {
    it(`are read with ${JSON.stringify(head)}`, async () => {
      const fault: Fault = { kind: 'raw', bytes: `${head}\r\n\r\n[]`, end: true };
      service.next(fault, fault);
      assert.deepEqual((await client.list()).strips, []);
      assert.deepEqual((await client.list()).strips, []);
    });
  }

  it('may be followed by bytes that belong to nothing', async () => {
    service.next({ kind: 'raw', bytes: answer('200 OK\r\ncontent-length: 2', '[]HTTP/1.1 500 X\r\n\r\n') });
    assert.deepEqual((await client.list()).strips, []);
    assert.equal((await client.list()).strips.length, 2);
  });

  it('are cut off by a reset in the middle', async () => {
    service.next({ kind: 'reset', when: 'middle' });
    const error = await failureOf(client.list());
    assert.ok(
      ['UNREACHABLE.resetPlain', 'BAD_RESPONSE.truncated'].includes(error.sentenceKey),
      error.sentenceKey,
    );
  });

  it('name the way in which they are packed', async () => {
    const named = { gzip: 'gzip', ' BR ': 'br', 'identity, gzip': 'gzip' };
    for (const [header, encoding] of Object.entries(named)) {
      service.next({ kind: 'answer', status: 200, body: 'x', headers: { 'content-encoding': header } });
      const { sentenceKey, params } = await failureOf(client.list());
      assert.deepEqual([sentenceKey, params.encoding], ['BAD_RESPONSE.encoded', encoding]);
    }
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

  it('are only a part of the list where the status or a link to the next page says so', async () => {
    const next = '</api/public/v1/strips?page=2>; rel="next"';
    const cases: [status: number, headers: Record<string, string>, complete: boolean][] = [
      [200, {}, true],
      [206, {}, false],
      [200, { link: next }, false],
      [200, { link: `</strips?page=1>; rel=prev, ${next.replaceAll('"', '')}` }, false],
      [200, { link: '</strips?page=9>;rel = "last next"' }, false],
      [200, { link: '</strips?page=1>; rel="prev"; title="next"' }, true],
      [200, { 'x-total-count': '57' }, false],
      [200, { 'x-total-count': '0' }, true],
      [200, { 'x-totalitems': '57' }, false],
      [200, { 'x-total': '57' }, false],
      [200, { 'x-page': '2' }, false],
      [200, { 'x-pagecount': '3' }, false],
      [200, { 'x-next-page': '2' }, false],
      [200, { 'x-next-page': '', 'x-total': '0' }, true],
      [200, { 'x-has-more': 'true' }, false],
      [200, { 'x-pagination': '{"totalCount": 57, "currentPage": 1}' }, false],
      [200, { 'content-range': 'items 0-19/57' }, false],
      [200, { 'content-range': 'items */0' }, true],
      [200, { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '3', 'x-request-id': '57' }, true],
      [
        200,
        { 'x-limit': '60', 'x-remaining': '59', 'x-count': '3', 'x-cached': 'true', 'x-size': '9' },
        true,
      ],
      [200, { 'x-powered-by': 'Express', 'x-cache': 'HIT', 'x-frame-options': 'DENY' }, true],
    ];
    for (const [status, headers, complete] of cases) {
      service.next({ kind: 'answer', status, json: [], headers });
      assert.equal((await client.list()).complete, complete, JSON.stringify([status, headers]));
    }
  });

  it('are JSON of any kind, and unreadable where they say nothing', async () => {
    service.next({ kind: 'answer', status: 200, json: 'fine' });
    assert.deepEqual(await client.list(), {
      strips: [],
      complete: false,
      readable: false,
      response: 'fine',
      text: '"fine"',
      paging: {},
    });
  });

  it('are missed as a whole where the content-length says less or more than came', async () => {
    service.next({ kind: 'contentLength', value: '5' });
    assert.equal((await failureOf(client.list())).code, 'BAD_RESPONSE');
    service.next({ kind: 'contentLength', value: '100000' });
    const late = failureOf(client.list());
    await service.arrived(2);
    clock.block(10_000);
    assert.ok(['TIMEOUT', 'BAD_RESPONSE'].includes((await late).code));
    service.next({ kind: 'contentLength', value: 'many' });
    assert.equal((await failureOf(client.list())).sentenceKey, 'BAD_RESPONSE.notHttp');
  });

  it('name the origin of a redirect only, and never the key', async () => {
    service.next({ kind: 'redirect', to: 'https://user:pw@elsewhere.example:8443/secret?key=x' });
    assert.equal((await failureOf(client.list())).params.location, 'https://elsewhere.example:8443');
    service.next({ kind: 'redirect', to: `https://${API_KEY}.example/` });
    assert.equal((await failureOf(client.list())).sentenceKey, 'BAD_RESPONSE.redirectUnknown');
    service.next({ kind: 'redirect', to: `https://${'a.'.repeat(6_000)}example/` });
    const { location } = (await failureOf(client.list())).params;
    assert.match(String(location), /^https:\/\/a\.a\..{187}…$/);
    const twice = ['https://a.example', 'https://b.example'];
    service.next({ kind: 'answer', status: 302, headers: { location: twice } });
    assert.equal((await failureOf(client.list())).params.location, 'https://a.example');
    assert.equal(service.requests.length, 4);
  });

  it('never name the key, also where it is repeated in lower case', async () => {
    client = stage.connect(service.baseUrl, { apiKey: 'SECRET' });
    service.next({ kind: 'redirect', to: 'https://SECRET.example/' });
    assert.equal((await failureOf(client.list())).sentenceKey, 'BAD_RESPONSE.redirectUnknown');
    service.next({ kind: 'answer', status: 200, body: 'x', headers: { 'content-encoding': 'SECRET' } });
    assert.equal((await failureOf(client.list())).sentenceKey, 'BAD_RESPONSE.notJson');
  });

  it('say of a 404 to a strip which strip is not known', async () => {
    const error = await failureOf(client.get('FFFFFFFFFFFF'));
    assert.deepEqual(
      [error.code, error.sentenceKey, error.params.mac],
      ['NOT_FOUND', 'NOT_FOUND.strip', 'FFFFFFFFFFFF'],
    );
    assert.notEqual(error.response, undefined);
    service.next({ kind: 'answer', status: 404 });
    assert.equal((await failureOf(client.get(MAC))).sentenceKey, 'NOT_FOUND.strip');
  });

  it('say of a web page with 404 that the address is wrong, not the strip', async () => {
    for (const ask of [() => client.get(MAC), () => client.switch(MAC, 1, true)]) {
      service.next({ kind: 'answer', status: 404, body: '<!doctype html><h1>Not found</h1>' });
      assert.equal((await failureOf(ask())).sentenceKey, 'NOT_FOUND.address');
    }
  });

  const waits: [string, number | undefined][] = [
    ['0', 0],
    ['7', 7_000],
    ['99999999999999999999', 86_400_000],
    [' 7 ', 7_000],
    ['3, 3', 3_000],
    ['3,7 , 5', 7_000],
    ['3, soon', undefined],
    ['3,', undefined],
    ['Mon, 04 May 2026 03:02:31 GMT', 30_000],
    ['Monday, 04-May-26 03:02:31 GMT', 30_000],
    ['Mon May  4 03:02:31 2026', 30_000],
    ['Mon, 04 May 2020 03:02:31 GMT', 0],
    ['Mon, 04 May 2099 03:02:31 GMT', 86_400_000],
    ['1 Mon, 04 May 2026 03:02:31 GMT', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['2026', 2_026_000],
    ['', undefined],
  ];
  it('ask for the longest of several times in headers of their own', async () => {
    service.next({ kind: 'answer', status: 429, headers: { 'retry-after': ['0', '90'] } });
    assert.equal((await failureOf(client.list())).retryAfter, 90_000);
  });

  it('ask for the time from now to a date, if the response does not say when it was sent', async () => {
    const headers = { 'retry-after': 'Fri, 15 Jan 2027 08:00:30 GMT', date: 'today' };
    service.next({ kind: 'answer', status: 429, headers });
    assert.equal((await failureOf(client.list())).retryAfter, 30_000);
  });

  // All forms of an HTTP date mean GMT, wherever this machine is.
  describe('in Tokyo', () => {
    const { TZ } = process.env;
    before(() => (process.env.TZ = 'Asia/Tokyo'));
    after(() => {
      if (TZ === undefined) Reflect.deleteProperty(process.env, 'TZ');
      else process.env.TZ = TZ;
    });
    for (const [header, wait] of waits) {
      it(`ask for ${wait ?? 'no'} ms with Retry-After "${header}"`, async () => {
        for (const status of [429, 503, 409]) {
          // Months before what the clock of this machine says.
          const date = 'Mon, 04 May 2026 03:02:01 GMT';
          service.next({ kind: 'answer', status, headers: { 'retry-after': header, date } });
          const error = await failureOf(client.list());
          assert.equal(error.retryAfter, wait);
          if (status === 429) {
            const seconds = (wait ?? 0) > 0 ? (wait ?? 0) / 1000 : undefined;
            assert.equal(error.sentenceKey, `RATE_LIMITED.${seconds === undefined ? 'later' : 'seconds'}`);
            assert.equal(error.params.seconds, seconds);
          }
        }
      });
    }
  });
});
