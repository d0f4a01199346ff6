// Why a request got no response: turns the errors of Node and undici into ones that name the host, or the proxy, and say what to do.
import { closedError, StripError, type ErrorDetails, type Params } from './errors';

/** A proxy as errors name it. */
export interface NamedProxy {
  /** Scheme, host and port; never its user name or password. */
  readonly address: string;
  /** The environment variable that names it; `null`: the account does. */
  readonly variable: string | null;
  /** It forwards plain http requests itself, so that a response may be its own. */
  readonly forwards: boolean;
}

/** What the errors of one client need for their texts. */
export interface ErrorContext {
  /** Host and port of the base URL, or the path of a simulator. */
  readonly host: string;
  /** Origin of the base URL. */
  readonly origin: string;
  readonly proxy: NamedProxy | null;
  /** Whether a text contains the API key, so that it must not be shown. */
  readonly isSecret: (text: string) => boolean;
}

/** The connection to a proxy could not be made: `cause` says why. */
export class ProxyConnectionError extends Error {
  override readonly name = 'ProxyConnectionError';
}

/** A server refuses the certificate of this client, or misses one: a TLS alert, as OpenSSL spells it. In TLS 1.3 it comes after the handshake. */
export const CERTIFICATE_REFUSED = /^ERR_SSL_.*_ALERT_(.*CERTIFICATE.*|UNKNOWN_CA)$/;

/** Kinds of failure by the codes of Node and undici; the first that fits counts. */
const KINDS: readonly (readonly [code: RegExp, kind: string])[] = [
  [/^ECONNREFUSED$/, 'refused'],
  [/^(ENOTFOUND|EAI_.*)$/, 'dns'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'reset'],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/, 'certificateExpired'],
  [/^(ERR_TLS_CERT_ALTNAME_INVALID|UND_ERR_PRX_TLS)$/, 'certificateHost'],
  [/^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)$/, 'certificateSelfSigned'],
  [/^(UNABLE_TO_.*|CERT_.*|INVALID_.*|PATH_LENGTH_EXCEEDED)$/, 'certificate'],
  // A client's key or certificate in the TLS settings that cannot be read.
  [/^ERR_OSSL_.*$/, 'tlsSettings'],
  [CERTIFICATE_REFUSED, 'tlsSettings'],
  [/^(EPROTO|ERR_SSL_.*|ERR_TLS_.*)$/, 'tls'],
  [/^NO_SIMULATOR$/, 'simulator'],
];

/** Errors that stay until a certificate or a setting is changed: a retry does not help. */
const LASTING = /^(certificate|tls)/;

/** Codes of undici and its parser for bytes that are no HTTP response. Status 000, for example, fails one of undici's assertions. */
const NOT_HTTP = /^(HPE_.*|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|ERR_ASSERTION)$/;

/** Error codes as Node, OpenSSL, undici and its HTTP parser spell them. A server cannot choose such a text. */
const CODE = /^[A-Z][A-Z0-9_]{0,60}$/;

/**
 * TIMEOUT of a request without a complete response in `timeoutMs` milliseconds. If it was not `sent`, this says nothing about the service: there may
 * have been no connection to it, or the process was too busy to send anything.
 */
export function timeoutError(timeoutMs: number, sent: boolean, { host }: ErrorContext): StripError {
  const kind = sent ? 'deadline' : 'notSent';
  return new StripError(`TIMEOUT.${kind}`, { host, seconds: timeoutMs / 1000 }, { notSent: !sent });
}

/**
 * The error for a failure that Node or undici reported. `sent`: the request had a connection, and may have reached the service; `answered`: the
 * status line of the response had arrived. No text of Node or undici gets into the error, because it may repeat the key.
 */
export function connectionError(
  error: unknown,
  { sent, answered }: { sent: boolean; answered: boolean },
  context: ErrorContext,
): StripError {
  const { code, message, isProxy } = readError(error);
  const { host, origin, proxy } = context;
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') return closedError('account');
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return new StripError('BAD_RESPONSE.tooLarge', { host });
  // For developers. Not undici's own error: that may hold bytes of the response, which may repeat the request.
  const cause = Object.assign(new Error(code), { code });
  const badResponse = (kind: string): StripError =>
    new StripError(`BAD_RESPONSE.${kind}`, { host }, { cause });
  if (answered && (code === 'UND_ERR_SOCKET' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')) {
    return badResponse('truncated');
  }
  const proxyStatus = /^Proxy response \((\d{3})\)/.exec(message)?.[1];
  if (proxyStatus !== undefined) return proxyStatusError(Number(proxyStatus), context);

  const known = KINDS.find(([name]) => name.test(code))?.[1] ?? 'failed';
  // Some servers close a connection on which plain http comes to a TLS port.
  const kind = known === 'reset' && origin.startsWith('http:') ? 'resetPlain' : known;
  const retryable = !LASTING.test(kind);
  const notSent = !sent || kind === 'tlsSettings';
  if (proxy !== null && (isProxy || proxy.forwards || (!sent && retryable))) {
    return proxyError('proxyDown', { code }, context, { cause, retryable, notSent });
  }
  // undici gives up a connection because of an interim response that it did not ask for.
  if (code === 'UND_ERR_SOCKET' && message === 'bad response') return badResponse('interim');
  // An upgrade that was not asked for: what follows it would be another protocol.
  const isUpgrade = code === 'UND_ERR_SOCKET' && message === 'bad upgrade';
  if (isUpgrade || NOT_HTTP.test(code)) return badResponse('notHttp');
  return new StripError(`UNREACHABLE.${kind}`, { host, code }, { cause, retryable, notSent });
}

/** A proxy's own response: from 500 on it could not reach the service; below, its settings or ours are wrong. */
export function proxyStatusError(status: number, context: ErrorContext): StripError {
  const retryable = status >= 500;
  // Only a proxy that forwards has got the request itself by then.
  const details = { retryable, notSent: !retryable || context.proxy?.forwards === false };
  return proxyError(retryable ? 'proxyGateway' : 'proxyRefused', { status }, context, details);
}

function proxyError(
  kind: 'proxyDown' | 'proxyRefused' | 'proxyGateway',
  params: Params,
  { host, proxy }: ErrorContext,
  details: ErrorDetails,
): StripError {
  // A proxy that Node-RED does not know, for example one in front of the service.
  if (proxy === null) return new StripError('UNREACHABLE.proxy', { host, ...params }, details);
  const { address, variable } = proxy;
  const named = { host, proxy: address, ...params, ...(variable === null ? {} : { variable }) };
  // If an environment variable names the proxy, the sentence names the variable.
  const suffix = variable === null ? '' : 'Variable';
  return new StripError(`UNREACHABLE.${kind}${suffix}`, named, details);
}

/** Finds the reason: the innermost error with a code, if undici or Node put it into other errors. */
function readError(error: unknown): { code: string; message: string; isProxy: boolean } {
  let code = 'UNKNOWN';
  let message = '';
  let isProxy = false;
  let current: unknown = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    const own: unknown = 'code' in current ? current.code : undefined;
    if (typeof own === 'string' && CODE.test(own)) {
      code = own;
      message = current.message;
    }
    // undici's parser does not always give its errors a code.
    else if (current.name === 'HTTPParserError') code = 'HPE_UNKNOWN';
    isProxy ||= current instanceof ProxyConnectionError;
    // All addresses of a host were tried: the failure of the first one is reported.
    current = current instanceof AggregateError ? (current.errors as unknown[])[0] : current.cause;
  }
  return { code, message, isProxy };
}
