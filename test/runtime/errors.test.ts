import assert from 'node:assert/strict';
import { account, around, errorOf, placed, send } from '../support/flow';
import type { Outcome } from '../support/flow';
import { startNodeRed } from '../support/node-red';
import type { RunningNodeRed } from '../support/node-red';
import { STRIPS, startService } from '../support/service';
import type { Fault, TestService } from '../support/service';

const MAC = STRIPS[0].mac;
const fixed = { mac: MAC, macType: 'str', port: '1', portType: 'port', onType: 'message', output: 'same' };

describe('what goes wrong in a real Node-RED', () => {
  let red: RunningNodeRed;
  let service: TestService;

  before(async () => {
    service = await startService();
    red = await startNodeRed({ install: 'packed' });
  });

  after(async () => {
    await red.stop();
    await service.close();
  });

  const deploy = async (properties: Record<string, unknown> = {}) =>
    await red.deploy([...around('strip switch', fixed), account(service, properties)]);

  /** A sentence for the user, and what a dashboard needs to go back. */
  const check = (outcome: Outcome, code: string, sentence: RegExp, expected: unknown[] = []) => {
    const error = errorOf(outcome);
    assert.equal(error.code, code);
    assert.match(error.message, sentence);
    assert.match(error.message, /^[^_{}]+\.$/, 'a whole sentence, all names filled in, no catalogue key');
    assert.doesNotMatch(error.message, /errors\.|Error:/);
    const { mac, port, requested, success, results } = outcome.message.strip as Record<string, unknown>;
    assert.deepEqual(
      { mac, port, requested, success, results },
      { mac: MAC, port: 1, requested: true, success: false, results: expected },
    );
  };

  const works = async () => {
    assert.ok((await send(red, { payload: true })).sent, 'the next message works');
  };

  it('an account that is not set is NOT_CONFIGURED', async () => {
    await red.deploy([...around('strip switch', { ...fixed, account: '' }), account(service)]);
    check(await send(red, { payload: true }), 'NOT_CONFIGURED', /account/);
  });

  const settings: [string, () => Record<string, unknown>, string, RegExp][] = [
    [
      'an account without a key is NOT_CONFIGURED',
      () => ({ credentials: { apiKey: '' } }),
      'NOT_CONFIGURED',
      /API key/,
    ],
    [
      'an account without a base URL is NOT_CONFIGURED',
      () => ({ baseUrl: '' }),
      'NOT_CONFIGURED',
      /base URL/,
    ],
    [
      'an environment variable that is not set is NOT_CONFIGURED and named',
      () => ({ credentials: { apiKey: '${MISSING}' } }),
      'NOT_CONFIGURED',
      /variable MISSING/,
    ],
    ['a wrong key is AUTH', () => ({ credentials: { apiKey: 'wrong' } }), 'AUTH', /API key/],
    [
      'a wrong path is NOT_FOUND',
      () => ({ baseUrl: `${service.baseUrl}/elsewhere` }),
      'NOT_FOUND',
      /^Check /,
    ],
    [
      'a service that nobody reaches is UNREACHABLE',
      () => ({ baseUrl: 'http://127.0.0.1:9' }),
      'UNREACHABLE',
      /127\.0\.0\.1/,
    ],
  ];
  for (const [name, properties, code, sentence] of settings) {
    it(`${name}, and a corrected account works`, async () => {
      await deploy(properties());
      check(await send(red, { payload: true }), code, sentence);
      await deploy();
      await works();
    });
  }

  it('a key other than the one typed in the simulator is AUTH', async () => {
    await red.deploy([
      ...around('strip switch', fixed),
      placed('simulator', 'strip simulator', { path: '/sim', credentials: { apiKey: 'typed' } }),
      account(service, { baseUrl: '/sim', credentials: { apiKey: 'wrong' } }),
    ]);
    check(await send(red, { payload: true }), 'AUTH', /API key/);
  });

  const notSwitched = [{ port: 1, ok: false }];
  const faults: [string, Fault, string, RegExp, typeof notSwitched?][] = [
    ['a web page instead of JSON is BAD_RESPONSE', { kind: 'html' }, 'BAD_RESPONSE', /web page/],
    ['a body that breaks off is BAD_RESPONSE', { kind: 'truncated' }, 'BAD_RESPONSE', /127\.0\.0\.1/],
    [
      'a body of more than 1 MiB is BAD_RESPONSE',
      { kind: 'oversized', bytes: 2 * 1024 * 1024, declared: false },
      'BAD_RESPONSE',
      /1 MiB/,
    ],
    ['a service that hangs is TIMEOUT', { kind: 'hang' }, 'TIMEOUT', /1 s/],
    ['a fault of the service is SERVICE', { kind: 'answer', status: 503, json: {} }, 'SERVICE', /503/],
    [
      'too many requests is RATE_LIMITED',
      { kind: 'answer', status: 429, headers: { 'retry-after': '7' }, json: {} },
      'RATE_LIMITED',
      /7 s/,
    ],
    [
      'a redirect is BAD_RESPONSE and not followed',
      { kind: 'redirect', to: 'http://127.0.0.1:9/' },
      'BAD_RESPONSE',
      /127\.0\.0\.1:9/,
    ],
    [
      'an outlet that did not switch is SWITCH_FAILED whatever the status',
      { kind: 'answer', status: 200, json: { success: false, results: notSwitched } },
      'SWITCH_FAILED',
      /outlet 1 of /,
      notSwitched,
    ],
  ];
  for (const [name, fault, code, sentence, results] of faults) {
    it(`${name}, and the next message works`, async () => {
      await deploy({ timeout: fault.kind === 'hang' ? '1000' : '10000' });
      service.next(fault);
      check(await send(red, { payload: true }), code, sentence, results);
      await works();
    });
  }

  it('an outage shorter than the deadline is only a delay', async () => {
    await deploy({ retryFor: '30' });
    service.next({ kind: 'answer', status: 503, json: {} }, { kind: 'reset', when: 'before' });
    const before = service.requests.length;
    await works();
    assert.equal(service.requests.length - before, 3);
  });

  it('Node-RED never logged an uncaught exception', () => {
    assert.doesNotMatch(red.output, /[Uu]ncaught|[Uu]nhandled/);
  });
});
