import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { startService, type TestService } from '../../support/service';
import { failureOf, MAC, Stage } from './client-stage';

describe('Client: failing connections', () => {
  let stage: Stage;
  let service: TestService;
  const connect: Stage['connect'] = (...options) => stage.connect(...options);

  beforeEach(async () => {
    stage = await Stage.open();
    ({ service } = stage);
  });
  afterEach(() => stage.close());

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
