import { strict as assert } from 'node:assert';
import { createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { Client } from '../../src/api/client';
import { PooledDispatcher } from '../../src/api/dispatcher';
import { checkApiKey, parseBaseUrl } from '../../src/api/connection-settings';
import { isStripError } from '../../src/api/errors';
import { systemClock } from '../../src/api/types';
import { startListening } from '../support/start-listening';
import { SEED } from './support/random';

const KEY = 'sentinel-7f3a9c1e-key';
const ROOT = '/api/public/v1';

interface Wire {
  readonly baseUrl: string;
  /** What every request is answered with, byte for byte. */
  answer: Buffer;
  /** Heads of the requests that came. */
  readonly heads: string[];
  close(): Promise<void>;
}

/** A server that answers every request with the given bytes, HTTP or not, and closes the connection. */
async function startWire(): Promise<Wire> {
  const sockets = new Set<Socket>();
  const heads: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < end + 4 + length) return;
      heads.push(text.slice(0, end));
      text = '';
      socket.end(wire.answer);
    });
  });
  const wire: Wire = {
    baseUrl: `http://127.0.0.1:${await startListening(server)}`,
    answer: Buffer.alloc(0),
    heads,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return wire;
}

function clientOf(baseUrl: string, apiKey = KEY): Client {
  const base = parseBaseUrl(baseUrl);
  return new Client({
    baseUrl: base,
    apiKey: checkApiKey(apiKey),
    timeout: 2_000,
    dispatcher: new PooledDispatcher({ origin: base.url.origin, connections: 4, timeout: 2_000 }),
    clock: systemClock,
  });
}

/** The outcome of a request: a value, or an error that is one of ours and does not hold the key. */
async function outcomeOf<T>(work: () => Promise<T>): Promise<{ value: T } | { code: string }> {
  try {
    return { value: await work() };
  } catch (error) {
    assert(isStripError(error), `not a StripError: ${String(error)}`);
    // Not its `response`: that is the service's own words, untouched.
    const { message, stack, cause, params } = error;
    const told = [
      message,
      stack,
      cause instanceof Error ? [cause.message, cause.stack, Object.entries(cause)] : cause,
      params,
    ];
    assert(!JSON.stringify(told).includes(KEY), 'the key stands in an error');
    assert(cause === undefined || cause instanceof Error);
    return { code: error.code };
  }
}

const response = (status: number, headers: readonly (readonly [string, string])[], body: string): Buffer => {
  const bytes = Buffer.from(body);
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const head = `HTTP/1.1 ${status} Any\r\ncontent-length: ${bytes.length}\r\n${lines}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes]);
};

const parameters = { seed: SEED, numRuns: 400 };

describe('stress: anything a service may send', () => {
  let wire: Wire;
  let client: Client;
  before(async () => {
    wire = await startWire();
    client = clientOf(wire.baseUrl);
  });
  after(async () => {
    await client.close();
    await wire.close();
  });

  const ask = async (): Promise<({ value: unknown } | { code: string })[]> => [
    await outcomeOf(() => client.list()),
    await outcomeOf(() => client.get('A1B2C3D4E5F6')),
    await outcomeOf(() => client.switch('A1B2C3D4E5F6', 1, true)),
  ];

  it('takes any JSON body with any status, and calls no switch a success that is not said to be one', async () => {
    const switchBody = fc.record(
      {
        success: fc.oneof(fc.constant(true), fc.boolean(), fc.jsonValue({ maxDepth: 1 })),
        results: fc.oneof(
          fc.array(
            fc.record({
              port: fc.oneof(fc.constantFrom(1, 2), fc.jsonValue({ maxDepth: 0 })),
              ok: fc.oneof(fc.boolean(), fc.jsonValue({ maxDepth: 0 })),
            }),
          ),
          fc.jsonValue({ maxDepth: 2 }),
        ),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.jsonValue({ maxDepth: 5 }), switchBody),
        fc.oneof(
          { weight: 3, arbitrary: fc.constant(200) },
          { weight: 1, arbitrary: fc.integer({ min: 200, max: 599 }) },
        ),
        async (body, status) => {
          wire.answer = response(status, [['content-type', 'application/json']], JSON.stringify(body));
          const [list, get, switched] = await ask();
          assert(list && get && switched);
          if (status > 299) {
            assert('code' in list && 'code' in get && 'code' in switched);
          }
          if ('value' in switched) {
            const said = body as { success?: unknown; results?: unknown };
            assert.equal(said.success, true);
            const results = (Array.isArray(said.results) ? said.results : []) as ({
              port?: unknown;
              ok?: unknown;
            } | null)[];
            assert(!results.some((each) => each?.port === 1 && each.ok === false));
          }
        },
      ),
      parameters,
    );
  });

  it('takes any header', async () => {
    const names = fc.constantFrom(
      'content-type',
      'retry-after',
      'location',
      'content-encoding',
      'transfer-encoding',
      'connection',
      'keep-alive',
      'set-cookie',
      'trailer',
      'upgrade',
      'date',
      '__proto__',
      'constructor',
      'x-api-key',
    );
    const name = fc.oneof(names, fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}$/));
    const value = fc.oneof(
      fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,200}$/),
      fc.constantFrom(
        KEY,
        'gzip',
        'chunked',
        '-1',
        '1e9',
        '9'.repeat(500),
        'Infinity',
        `http://${KEY}.example/`,
      ),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(200, 301, 302, 307, 401, 404, 429, 503),
        fc.array(fc.tuple(name, value), { maxLength: 8 }),
        async (status, headers) => {
          wire.answer = response(status, headers, '{"success": true, "results": []}');
          await ask();
        },
      ),
      parameters,
    );
  });

  it('takes any bytes at all', async () => {
    const torn = fc
      .tuple(
        fc.jsonValue(),
        fc.nat({ max: 400 }),
        fc.oneof(fc.uint8Array({ maxLength: 20 }), fc.constant(Buffer.from(KEY))),
      )
      .map(([body, at, noise]) => {
        const whole = response(200, [['content-type', 'application/json']], JSON.stringify(body));
        const cut = Math.min(at, whole.length);
        return Buffer.concat([whole.subarray(0, cut), noise, whole.subarray(cut)]);
      });
    const bytes = fc.uint8Array({ maxLength: 300 }).map((all) => Buffer.from(all));
    await fc.assert(
      fc.asyncProperty(fc.oneof(torn, bytes), async (answer) => {
        wire.answer = answer;
        await ask();
      }),
      { ...parameters, numRuns: 250 },
    );
  });
});

describe('stress: anything a user may configure or send', () => {
  it('asks for no path outside the strips, and puts any MAC into one segment of it', async () => {
    const wire = await startWire();
    wire.answer = response(200, [], '{"success": true}');
    const client = clientOf(`${wire.baseUrl}/below/it`);
    try {
      const mac = fc.oneof(
        fc.string({ unit: 'binary', maxLength: 30 }),
        fc.string({ maxLength: 30 }),
        fc.constantFrom(
          '..',
          '.',
          '',
          '../..',
          '%2e%2e',
          'a/b',
          'a\\b',
          'a?b',
          'a#b',
          'a;b',
          'a\r\nx-evil: 1',
          'ä',
          ' ',
          '\ud800',
        ),
      );
      await fc.assert(
        fc.asyncProperty(mac, async (text) => {
          const before = wire.heads.length;
          const outcome = await outcomeOf(() => client.switch(text, 1, false));
          const heads = wire.heads.slice(before);
          if ('code' in outcome && outcome.code === 'INVALID_INPUT') {
            assert.deepEqual(heads, []);
            return;
          }
          assert.equal(heads.length, 1);
          const path = /^POST (\S+) HTTP\/1\.1\r\n/.exec(heads[0] ?? '')?.[1] ?? '';
          const segment = /^\/below\/it\/api\/public\/v1\/strips\/([^/?#]+)\/switch$/.exec(path)?.[1];
          assert.equal(decodeURIComponent(segment ?? ''), text);
          assert.equal(new URL(path, wire.baseUrl).pathname, path, 'a path that others would read otherwise');
        }),
        parameters,
      );
    } finally {
      await client.close();
      await wire.close();
    }
  });

  it('takes a key that fits into a header as it is and refuses any other without repeating it', async () => {
    const wire = await startWire();
    wire.answer = response(200, [], '[]');
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: 'binary', maxLength: 60 })),
          async (key) => {
            let client: Client;
            try {
              client = clientOf(wire.baseUrl, key);
            } catch (error) {
              assert(isStripError(error) && error.code === 'NOT_CONFIGURED');
              const told = JSON.stringify([error.message, error.params, error.cause]);
              assert(key.trim().length < 4 || !told.includes(key.trim()));
              assert(!/^[\x21-\x7e]+$/.test(key.trim()) || key.includes('${'));
              return;
            }
            await client.list();
            await client.close();
            const head = wire.heads.at(-1) ?? '';
            assert(head.startsWith(`GET ${ROOT}/strips HTTP/1.1\r\n`));
            const lines = head.split('\r\n').filter((line) => line.toLowerCase().startsWith('x-api-key:'));
            assert.deepEqual(lines, [`x-api-key: ${key.trim()}`]);
          },
        ),
        { ...parameters, numRuns: 200 },
      );
    } finally {
      await wire.close();
    }
  });
});
