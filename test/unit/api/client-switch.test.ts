import assert from 'node:assert/strict';
import type { Client } from '../../../src/api/client';
import { type Fault, type TestService } from '../../support/service';
import type { PortOrAll } from '../../../src/api/types';
import { failureOf, MAC, ClientStage } from './client-stage';

describe('Client: answers to a switch', () => {
  let stage: ClientStage;
  let service: TestService;
  let client: Client;

  beforeEach(async () => {
    stage = await ClientStage.open();
    ({ service } = stage);
    client = stage.connect();
  });
  afterEach(() => stage.close());

  const ok = (...ports: number[]) => ports.map((port) => ({ port, ok: true }));
  const answer = (json: unknown, status = 200): Fault => ({ kind: 'answer', status, json });

  it('are a success with any status below 300', async () => {
    service.next(answer({ success: true }, 299));
    assert.deepEqual((await client.switch(MAC, 1, true)).confirmed, [1]);
  });

  it('are a success without results, too', async () => {
    service.next(answer({ success: true, extra: 1 }));
    assert.deepEqual(await client.switch(MAC, 1, true), {
      results: [],
      confirmed: [1],
      response: { success: true, extra: 1 },
      text: '{"success":true,"extra":1}',
    });
  });

  const results = [...ok(2, 3), { port: 4, ok: false }];
  for (const body of [
    { success: true, results },
    { success: true, data: { results } },
  ]) {
    it(`confirm an outlet whatever they say of others: ${Object.keys(body)[1]}`, async () => {
      service.next(answer(body));
      const { results, confirmed } = await client.switch(MAC, 3, true);
      assert.deepEqual([results, confirmed], [ok(3), [3]]);
    });
  }

  it('confirm all outlets that they name, and all there are where they name none', async () => {
    for (const [more, confirmed] of [
      [{ results: ok(4, 1) }, [1, 4]],
      [{ results: [] }, [1, 2, 3, 4]],
      [{ switched: [1, 3] }, [1, 3]],
    ] as const) {
      service.next(answer({ success: true, ...more }));
      assert.deepEqual((await client.switch(MAC, 'all', true)).confirmed, confirmed);
    }
  });

  const unconfirmed: [string, PortOrAll, unknown][] = [
    ['another outlet', 2, { success: true, results: ok(3) }],
    ['several others', 2, { success: true, results: ok(1, 3, 4) }],
    ['no outlet', 2, { success: true, results: [{ ok: true }] }],
    ['an outlet, but not whether it was switched', 2, { success: true, results: [{ port: 2 }] }],
    ['an outlet, but not of success', 2, { results: ok(2) }],
    ['an outlet that there is not', 2, { results: [{ port: 5, ok: true }] }],
    ['another outlet, without results', 2, { success: true, port: 3 }],
    ['another outlet in a list of those that were switched', 2, { success: true, switched: [3] }],
    ['another outlet in results further down', 2, { success: true, port: 2, data: { results: ok(3) } }],
    ['another strip', 2, { success: true, mac: 'B1C2D3E4F5A6', results: ok(2) }],
    ['the opposite state', 2, { success: true, results: [{ port: 2, ok: true, on: false }] }],
    ['some of all outlets clearly', 'all', { success: true, results: [...ok(1, 2, 3), { port: 4 }] }],
  ];
  for (const [name, port, json] of unconfirmed) {
    it(`confirm nothing where they say something of ${name}`, async () => {
      service.next(answer(json));
      const error = await failureOf(client.switch(MAC, port, true));
      assert.deepEqual([error.sentenceKey, error.retryable], ['BAD_RESPONSE.unconfirmed', false]);
      assert.deepEqual([error.response, error.results, error.params.port], [json, [], port]);
    });
  }

  it('fail where they say no of another outlet only, which counts for that one no more', async () => {
    service.next(answer({ success: true, results: [{ port: 3, ok: false }] }));
    const error = await failureOf(client.switch(MAC, 2, true));
    assert.deepEqual([error.sentenceKey, error.results], ['SWITCH_FAILED.unnamed', []]);
  });

  const failures: [string, Fault, string, Record<string, unknown>][] = [
    ['success: false', answer({ success: false }), 'unnamed', { failed: '', switched: '' }],
    [
      'an ok: false',
      answer({ success: true, results: [{ port: 1, ok: false }] }),
      'ports',
      { failed: '1', switched: '' },
    ],
    [
      'an outlet that both was and was not switched',
      answer({ success: true, results: [...ok(1), { port: 1, ok: false }] }),
      'ports',
      { failed: '1', switched: '' },
    ],
    [
      'an ok: false without a port beside a yes',
      answer({ success: true, results: [...ok(1), { ok: false }] }),
      'unnamed',
      { switched: '1' },
    ],
    ['an ok: false without a port', answer({ success: true, results: [{ ok: false }] }), 'unnamed', {}],
    ['a failure with 400', answer({ success: false, results: [{ port: 1, ok: false }] }, 400), 'ports', {}],
    ['a failure with 409', answer({ success: false }, 409), 'unnamed', { status: 409 }],
    ['results with 500', answer({ success: false, results: [{ port: 1, ok: false }] }, 500), 'ports', {}],
    ['success: false beside a yes', answer({ success: false, results: ok(1) }), 'unnamed', { switched: '1' }],
    ['a yes that 500 denies', answer({ success: false, results: ok(1) }, 500), 'unnamed', { switched: '1' }],
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
      assert.deepEqual([error.code, error.sentenceKey], ['SWITCH_FAILED', `SWITCH_FAILED.${sentence}`]);
      assert.equal(error.retryable, false);
      assert.deepEqual({ ...error.params, ...params }, error.params);
      assert.equal(error.params.mac, MAC);
      assert.equal(typeof error.response, 'object');
    });
  }

  it('name those of all that failed, and those that were switched', async () => {
    const results = [...ok(1, 3), { port: 2, ok: false }, { port: 4, ok: false }];
    service.next(answer({ success: true, results }));
    const error = await failureOf(client.switch(MAC, 'all', true));
    assert.equal(error.sentenceKey, 'SWITCH_FAILED.some');
    assert.deepEqual([error.params.failed, error.params.switched], ['2, 4', '1, 3']);
  });

  it('pass on the result of each port', async () => {
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
    ['a 500 that says success', answer({ success: true }, 500), 'SERVICE.failed', true],
    ['a 503 without a body', { kind: 'answer', status: 503 }, 'SERVICE.failed', true],
    ['a 400 with an error', answer({ error: 'bad port' }, 400), 'SERVICE.refused', false],
    ['a 200 that says neither', answer({ ok: true }), 'BAD_RESPONSE.notSwitch', false],
    ['a list', answer([]), 'BAD_RESPONSE.notSwitch', false],
    ['an empty 204', { kind: 'empty' }, 'BAD_RESPONSE.notSwitch', false],
    ['a web page', { kind: 'html' }, 'BAD_RESPONSE.html', false],
    ['a 401 in the documented form', answer({ success: false }, 401), 'AUTH.rejected', false],
    ['a 403 in the documented form', answer({ success: false }, 403), 'AUTH.rejected', false],
    ['a 404 in the documented form', answer({ success: false, results: [] }, 404), 'NOT_FOUND.strip', false],
    ['a 429 in the documented form', answer({ success: false }, 429), 'RATE_LIMITED.later', true],
    ['a 429 that names the outlet', answer({ error: 'busy', port: 1 }, 429), 'RATE_LIMITED.later', true],
    ['a 407 that says it failed', answer({ success: false }, 407), 'UNREACHABLE.proxy', false],
    ['a 408 that says it failed', answer({ success: false }, 408), 'SERVICE.failed', true],
    ['a 425 that says it failed', answer({ success: false }, 425), 'SERVICE.failed', true],
    ['a 503 that names the outlet', answer({ success: false, port: 1 }, 503), 'SERVICE.failed', true],
    ['a 300 in the documented form', answer({ success: true }, 300), 'BAD_RESPONSE.noLocation', false],
    ['a 399 in the documented form', answer({ success: true }, 399), 'BAD_RESPONSE.noLocation', false],
    ['a 302 in the documented form', answer({ success: true }, 302), 'BAD_RESPONSE.noLocation', false],
  ];
  for (const [name, fault, sentence, retryable] of others) {
    it(`are ${sentence} with ${name}`, async () => {
      service.next(fault);
      const error = await failureOf(client.switch(MAC, 1, true));
      assert.equal(error.sentenceKey, sentence);
      assert.equal(error.retryable, retryable);
      if (fault.kind === 'answer') assert.equal(error.params.status, fault.status);
      if (sentence === 'BAD_RESPONSE.notSwitch' && 'json' in fault)
        assert.deepEqual(error.response, fault.json);
    });
  }
});
