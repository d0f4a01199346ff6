import assert from 'node:assert/strict';
import { mayBeCarriedOut } from '../../../src/api/errors';
import {
  connectionError,
  ProxyConnectionError,
  proxyStatusError,
  timeoutError,
  type ErrorContext,
} from '../../../src/api/network-error';
import { assertSentence } from '../../support/scripted-service';

const context: ErrorContext = {
  host: 'strips.example.com',
  origin: 'https://strips.example.com',
  proxy: null,
  isSecret: () => false,
};
const proxied: ErrorContext = {
  ...context,
  proxy: { address: 'http://proxy.example:3128', variable: null, forwards: false },
};
const forwarded: ErrorContext = {
  ...context,
  proxy: { address: 'http://proxy.example:3128', variable: null, forwards: true },
};
const coded = (code: unknown, message = ''): Error => Object.assign(new Error(message), { code });
const unsent = { sent: false, answered: false };
const sent = { sent: true, answered: false };
const answered = { sent: true, answered: true };

describe('connectionError', () => {
  for (const [code, sentence, retryable] of [
    ['ECONNREFUSED', 'refused', true],
    ['ENOTFOUND', 'dns', true],
    ['EAI_AGAIN', 'dns', true],
    ['ECONNRESET', 'reset', true],
    ['EPIPE', 'reset', true],
    ['UND_ERR_SOCKET', 'reset', true],
    ['CERT_HAS_EXPIRED', 'certificateExpired', false],
    ['CERT_NOT_YET_VALID', 'certificateExpired', false],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificateHost', false],
    ['UND_ERR_PRX_TLS', 'certificateHost', false],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificateSelfSigned', false],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'certificateSelfSigned', false],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate', false],
    ['CERT_REVOKED', 'certificate', false],
    ['INVALID_CA', 'certificate', false],
    ['PATH_LENGTH_EXCEEDED', 'certificate', false],
    ['EPROTO', 'tls', false],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls', false],
    ['ERR_TLS_HANDSHAKE_TIMEOUT', 'tls', false],
    ['ERR_OSSL_BAD_DECRYPT', 'tlsSettings', false],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'tlsSettings', false],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'tlsSettings', false],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'tls', false],
    ['NO_SIMULATOR', 'simulator', true],
    ['EHOSTUNREACH', 'failed', true],
    ['XEAI_AGAIN', 'failed', true],
  ] as const) {
    it(`says "${sentence}" for ${code}, also where it is wrapped`, () => {
      for (const error of [coded(code), new TypeError('x', { cause: coded(code) })]) {
        const told = connectionError(error, unsent, context);
        assertSentence(told);
        const { code: own, sentenceKey: said, params, cause, retryable: again } = told;
        assert.deepEqual([own, said, again], ['UNREACHABLE', `UNREACHABLE.${sentence}`, retryable]);
        assert.deepEqual(params, { host: 'strips.example.com', code });
        assert.ok(cause instanceof Error && 'code' in cause);
        assert.deepEqual([cause.message, cause.code], [code, code]);
      }
    });
  }

  it('asks whether https is needed if a connection over plain http is cut off', () => {
    for (const code of ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']) {
      const told = connectionError(coded(code), sent, { ...context, origin: 'http://strips.example.com' });
      assertSentence(told);
      assert.deepEqual([told.sentenceKey, told.retryable], ['UNREACHABLE.resetPlain', true]);
    }
  });

  it('says that a request without a connection was not carried out, whatever the code is', () => {
    for (const code of [
      'EHOSTUNREACH',
      'ECONNREFUSED',
      'ENOTFOUND',
      'ECONNRESET',
      'EPROTO',
      'NO_SIMULATOR',
    ]) {
      for (const where of [context, proxied]) {
        assert.equal(mayBeCarriedOut(connectionError(coded(code), unsent, where)), false);
        assert.equal(mayBeCarriedOut(connectionError(coded(code), sent, where)), true);
      }
    }
    for (const isSent of [false, true])
      assert.equal(mayBeCarriedOut(timeoutError(1000, isSent, context)), isSent);
  });

  it('says that a request was not read by a service that refuses the certificate of the client', () => {
    const error = connectionError(coded('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), sent, context);
    assert.equal(mayBeCarriedOut(error), false);
  });

  it('says that nothing was sent to the service while a proxy had not opened the tunnel', () => {
    const answer = coded('UND_ERR_ABORTED', 'Proxy response (502) !== 200 when HTTP Tunneling');
    const error = connectionError(answer, unsent, proxied);
    assert.deepEqual([error.sentenceKey, mayBeCarriedOut(error)], ['UNREACHABLE.proxyGateway', false]);
  });

  it('says of a response of a forwarding proxy that the request may be carried out if the proxy tried', () => {
    assert.equal(mayBeCarriedOut(proxyStatusError(502, forwarded)), true);
    assert.equal(mayBeCarriedOut(proxyStatusError(407, forwarded)), false);
    assert.equal(mayBeCarriedOut(proxyStatusError(407, context)), false);
  });

  it('names no code that is none', () => {
    for (const error of [coded(7), coded('secret words'), coded('x ECONNRESET'), coded('E!'), null, 'text']) {
      assert.deepEqual(connectionError(error, unsent, context).params.code, 'UNKNOWN');
    }
    assert.equal(
      connectionError(coded('x', 'Proxy response (502)'), sent, context).sentenceKey,
      'UNREACHABLE.failed',
    );
  });

  it('takes the first of several addresses, and looks five causes deep', () => {
    const all = new AggregateError([coded('ECONNREFUSED'), coded('ENETUNREACH')]);
    assert.equal(connectionError(all, unsent, context).sentenceKey, 'UNREACHABLE.refused');
    const nest = (depth: number): Error =>
      depth === 0 ? coded('EPIPE') : new Error('x', { cause: nest(depth - 1) });
    assert.equal(connectionError(nest(4), unsent, context).params.code, 'EPIPE');
    assert.equal(connectionError(nest(5), unsent, context).params.code, 'UNKNOWN');
    const endless = new Error('x');
    endless.cause = endless;
    assert.equal(connectionError(endless, unsent, context).params.code, 'UNKNOWN');
  });

  it('tells what is wrong with a response that had begun', () => {
    const cases: [Error, typeof sent, string][] = [
      [coded('UND_ERR_SOCKET'), answered, 'truncated'],
      [coded('UND_ERR_RES_CONTENT_LENGTH_MISMATCH'), answered, 'truncated'],
      [coded('UND_ERR_SOCKET', 'bad response'), sent, 'interim'],
      [coded('HPE_INVALID_CONSTANT'), sent, 'notHttp'],
      [Object.assign(new Error('x'), { name: 'HTTPParserError' }), sent, 'notHttp'],
      [coded('UND_ERR_HEADERS_OVERFLOW'), sent, 'notHttp'],
      [coded('UND_ERR_RES_EXCEEDED_MAX_SIZE'), answered, 'tooLarge'],
    ];
    for (const [error, progress, sentence] of cases) {
      const told = connectionError(error, progress, context);
      assert.deepEqual([told.code, told.sentenceKey], ['BAD_RESPONSE', `BAD_RESPONSE.${sentence}`]);
      assert.deepEqual(told.params, { host: 'strips.example.com' });
    }
    assert.equal(connectionError(coded('ECONNRESET'), answered, context).sentenceKey, 'UNREACHABLE.reset');
    assert.equal(
      connectionError(coded('ECONNRESET', 'bad response'), sent, context).sentenceKey,
      'UNREACHABLE.reset',
    );
  });

  it('takes the end of the client for what it is', () => {
    for (const code of ['UND_ERR_DESTROYED', 'UND_ERR_CLOSED']) {
      assert.equal(connectionError(coded(code), sent, context).sentenceKey, 'CLOSED.account');
    }
  });

  it('names a proxy for what fails before the request is sent, but not for the certificate of the service', () => {
    const sentenceOf = (error: Error, progress: typeof sent): string =>
      connectionError(error, progress, proxied).sentenceKey;
    assert.equal(sentenceOf(coded('ECONNRESET'), unsent), 'UNREACHABLE.proxyDown');
    assert.equal(sentenceOf(coded('ECONNRESET'), sent), 'UNREACHABLE.reset');
    assert.equal(sentenceOf(coded('CERT_HAS_EXPIRED'), unsent), 'UNREACHABLE.certificateExpired');
    const own = new ProxyConnectionError('proxy', { cause: coded('CERT_HAS_EXPIRED') });
    assert.equal(sentenceOf(own, sent), 'UNREACHABLE.proxyDown');
    assert.deepEqual(connectionError(own, unsent, proxied).params, {
      host: 'strips.example.com',
      proxy: 'http://proxy.example:3128',
      code: 'CERT_HAS_EXPIRED',
    });
    const { code, retryable } = connectionError(own, unsent, proxied);
    assert.deepEqual([code, retryable], ['UNREACHABLE', false]);
    const refused = connectionError(
      coded('UND_ERR_ABORTED', 'Proxy response (500) !== 200'),
      unsent,
      proxied,
    );
    assert.deepEqual([refused.sentenceKey, refused.params.status], ['UNREACHABLE.proxyGateway', 500]);
    const other = connectionError(coded('UND_ERR_ABORTED', 'No Proxy response (500)'), sent, proxied);
    assert.equal(other.sentenceKey, 'UNREACHABLE.failed');
  });
});

describe('The other errors of a connection', () => {
  it('name the host and what they are about', () => {
    const host = 'strips.example.com';
    const errors = [
      timeoutError(2_500, true, context),
      timeoutError(2_500, false, context),
      connectionError(coded('UND_ERR_RES_EXCEEDED_MAX_SIZE'), sent, context),
    ];
    assert.deepEqual(
      errors.map(({ code, sentenceKey, params }) => [code, sentenceKey, params]),
      [
        ['TIMEOUT', 'TIMEOUT.deadline', { host, seconds: 2.5 }],
        ['TIMEOUT', 'TIMEOUT.notSent', { host, seconds: 2.5 }],
        ['BAD_RESPONSE', 'BAD_RESPONSE.tooLarge', { host }],
      ],
    );
    const { code, sentenceKey, params, retryable } = proxyStatusError(499, context);
    assert.deepEqual(
      [code, sentenceKey, params, retryable],
      ['UNREACHABLE', 'UNREACHABLE.proxy', { host, status: 499 }, false],
    );
    assert.equal(proxyStatusError(500, context).retryable, true);
  });
});
