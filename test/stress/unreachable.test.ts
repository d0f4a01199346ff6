import { strict as assert } from 'node:assert';
import type { Account } from '../../src/account/account';
import type { TlsOptions } from '../../src/api/dispatcher';
import { isStripError } from '../../src/api/errors';
import { PORTS } from '../../src/api/types';
import { pem } from '../support/certificates';
import { FastClock } from '../support/fake-clock';
import { API_KEY, startService, STRIPS } from '../support/service';
import { until } from '../support/until';
import { openAccount, type Opened } from './support/account';
import { handles } from './support/memory';

const key = pem('key');
/** Among the commands. */
const READS = 8;
const AT_ONCE = 8;
const UNDER_WAY = ['TCPSocketWrap', 'GetAddrInfoReqWrap', 'TCPServerWrap'];
/** Milliseconds of the account's clock, which is this much faster than the one on the wall. */
const RETRY_FOR = 2_000;
const TIMEOUT = 600_000;
const FACTOR = 20;

/** Switches every outlet many times over, with a reading now and then, and gives how each command ended. */
async function traffic(account: Account, count: number): Promise<string[]> {
  const commands = Array.from({ length: count }, async (_, index) => {
    const { mac } = STRIPS[index % 2 === 0 ? 0 : 1];
    const port = PORTS[(index >> 1) % 4] ?? 1;
    if (index % (count / READS) === 0) account.list().catch(() => undefined);
    try {
      await account.run({ mac, port, action: index % 3 === 0, delay: 0 });
      return 'ok';
    } catch (error) {
      assert.ok(isStripError(error), String(error));
      assert.ok(!JSON.stringify([error, error.stack, String(error.cause)]).includes(API_KEY));
      return error.sentenceKey;
    }
  });
  return await Promise.all(commands);
}

/** Each outlet's newest command says why; older ones gave way to it. */
function assertReason(ended: readonly string[], reason: string): void {
  const others = ended.filter((each) => each !== reason && each !== 'SUPERSEDED.newer');
  assert.deepEqual(others, []);
  assert.deepEqual(ended.slice(-8), Array(8).fill(reason));
}

describe('stress: a service that cannot be reached', () => {
  let opened: Opened;
  const open = (baseUrl: string, tls: TlsOptions = {}) => {
    opened = openAccount({
      baseUrl,
      apiKey: API_KEY,
      clock: new FastClock(FACTOR),
      timeout: TIMEOUT,
      tls,
      settings: { concurrency: AT_ONCE, retryFor: RETRY_FOR },
    });
    return opened.account;
  };

  afterEach(async () => {
    await opened.account.close();
    assert.deepEqual(opened.said.faults, []);
    const isOver = () => UNDER_WAY.every((kind) => handles()[kind] === undefined);
    // A name that is being looked up takes its time to be given up.
    await until('the end of all requests', isOver, 200_000);
  });

  for (const [sentence, certificate, isTrusted] of [
    ['certificateSelfSigned', 'trusted', false],
    ['certificateExpired', 'expired', true],
    ['certificateHost', 'elsewhere', true],
  ] as const) {
    it(`gets no request and no second attempt: ${sentence}`, async () => {
      const cert = pem(certificate);
      const service = await startService({ tls: { key, cert } });
      try {
        const account = open(service.baseUrl, isTrusted ? { ca: cert } : {});
        const ended = await traffic(account, 400);
        assertReason(ended, `UNREACHABLE.${sentence}`);
        assert.deepEqual(service.requests, [], 'something was sent to a service that is not to be trusted');
        assert.ok(service.connections <= 400 + READS, `${service.connections} connections`);
        await account.close();
        await until('the end of all connections', () => service.open === 0);
      } finally {
        await service.close();
      }
    });
  }

  // Few, because a resolver may take seconds to say that it knows no such name.
  it('ends each message with the reason: a host name that does not exist', async () => {
    const account = open('http://strips.invalid');
    assertReason(await traffic(account, 16), 'UNREACHABLE.dns');
  });
});
