import assert from 'node:assert/strict';
import type { Client } from '../../../src/api/client';
import { type Fault, type TestService } from '../../support/service';
import { failureOf, MAC, Stage } from './client-stage';

describe('Client: answers to a switch', () => {
  let stage: Stage;
  let service: TestService;
  let client: Client;

  beforeEach(async () => {
    stage = await Stage.open();
    ({ service } = stage);
    client = stage.connect();
  });
  afterEach(() => stage.close());

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
    ['a 404 in the documented form', answer({ success: false, results: [] }, 404), 'NOT_FOUND.strip', false],
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
