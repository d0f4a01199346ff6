import { StripError, type ErrorCode, type ErrorDetails, type Params } from './errors';
import { headerOf, type Headers } from './exchange';

/** Longest wait a service may ask for that is believed, in milliseconds. */
const LONGEST_WAIT = 24 * 60 * 60 * 1000;

/** Sentences for the codes of Node and undici; a name that ends in `*` stands for all that begin so. */
const NETWORK: readonly (readonly [code: string, sentence: string])[] = [
  ['ECONNREFUSED', 'refused'],
  ['ENOTFOUND', 'dns'],
  ['EAI_*', 'dns'],
  ['ECONNRESET', 'reset'],
  ['EPIPE', 'reset'],
  ['UND_ERR_SOCKET', 'reset'],
  ['CERT_HAS_EXPIRED', 'certificateExpired'],
  ['CERT_NOT_YET_VALID', 'certificateExpired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificateHost'],
  ['UND_ERR_PRX_TLS', 'certificateHost'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificateSelfSigned'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'certificateSelfSigned'],
  ['UNABLE_TO_*', 'certificate'],
  ['CERT_*', 'certificate'],
  ['INVALID_*', 'certificate'],
  ['PATH_LENGTH_EXCEEDED', 'certificate'],
  ['EPROTO', 'tls'],
  ['ERR_SSL_*', 'tls'],
  ['ERR_TLS_*', 'tls'],
];

/** What no second attempt mends: somebody has to change a certificate or a setting first. */
const LASTING = /^(certificate|tls)/;

/** Error code as Node, OpenSSL, undici and its HTTP parser spell them; nothing a server could have chosen. */
const CODE = /^[A-Z][A-Z0-9_]{0,60}$/;

/** Turns what went wrong into errors that name the host. No foreign text gets into one that could repeat the key. */
export class Failures {
  readonly #endpoint: URL;
  readonly #host: string;
  readonly #seconds: number;
  readonly #secret: string;

  /** `timeout` in milliseconds. */
  constructor(endpoint: URL, timeout: number, apiKey: string) {
    this.#endpoint = endpoint;
    this.#host = endpoint.host;
    this.#seconds = timeout / 1000;
    this.#secret = apiKey.toLowerCase();
  }

  make(
    code: ErrorCode,
    sentence: string,
    params: Params = {},
    details: Omit<ErrorDetails, 'params'> = {},
  ): StripError {
    return new StripError(code, `${code}.${sentence}`, {
      params: { host: this.#host, ...params },
      ...details,
    });
  }

  late(): StripError {
    return this.make('TIMEOUT', 'deadline', { seconds: this.#seconds });
  }

  closed(): StripError {
    return this.make('CLOSED', 'account');
  }

  tooLarge(): StripError {
    return this.make('BAD_RESPONSE', 'tooLarge');
  }

  /** Redirects are not followed: the key would travel along. Only the target's origin is named; the rest may hold anything. */
  redirect(status: number, location: string | undefined): StripError {
    const base = this.#endpoint.href;
    const target = location !== undefined && URL.canParse(location, base) ? new URL(location, base) : null;
    return target === null || target.origin === 'null' || this.#isSecret(target.origin)
      ? this.make('BAD_RESPONSE', 'redirectUnknown', { status })
      : this.make('BAD_RESPONSE', 'redirect', { status, location: target.origin });
  }

  /** A body that is no JSON; where it is compressed, although nobody asked for that, the reason is named. */
  notJson(status: number, sentence: string, contentEncoding: string | undefined): StripError {
    const encoding = contentEncoding?.trim().toLowerCase() ?? 'identity';
    return encoding === 'identity' || !/^[a-z-]{2,12}$/.test(encoding) || this.#isSecret(encoding)
      ? this.make('BAD_RESPONSE', sentence, { status })
      : this.make('BAD_RESPONSE', 'encoded', { status, encoding });
  }

  /** `answering`: the status line had come when the connection failed. */
  network(error: unknown, answering: boolean): StripError {
    const { code, message } = rootOf(error);
    const cause = safeCause(code);
    if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') return this.closed();
    if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return this.tooLarge();
    if (answering && (code === 'UND_ERR_SOCKET' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')) {
      return this.make('BAD_RESPONSE', 'truncated', {}, { cause });
    }
    if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW') {
      return this.make('BAD_RESPONSE', 'notHttp', {}, { cause });
    }
    const proxyStatus = /^Proxy .*\((\d{3})\)/.exec(message)?.[1];
    if (proxyStatus !== undefined) return this.proxy(Number(proxyStatus));
    const sentence = sentenceOf(code);
    return new StripError('UNREACHABLE', `UNREACHABLE.${sentence}`, {
      params: { host: this.#host, code },
      cause,
      retryable: !LASTING.test(sentence),
    });
  }

  #isSecret(text: string): boolean {
    return text.toLowerCase().includes(this.#secret);
  }

  /** A proxy's own answer; 407 asks for credentials, which no second attempt brings. */
  proxy(status: number): StripError {
    return new StripError('UNREACHABLE', 'UNREACHABLE.proxy', {
      params: { host: this.#host, status },
      retryable: status >= 500,
    });
  }
}

/** The innermost error that carries a code: the reason, where undici or Node wrapped it up. */
function rootOf(error: unknown): { code: string; message: string } {
  let found = { code: 'UNKNOWN', message: '' };
  let current: unknown = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    const code: unknown = 'code' in current ? current.code : undefined;
    if (typeof code === 'string' && CODE.test(code)) found = { code, message: current.message };
    // undici's parser does not always give its errors a code.
    else if (current.name === 'HTTPParserError') found = { code: 'HPE_UNKNOWN', message: '' };
    // All of a host's addresses were tried: the first one's failure stands for them.
    current = current instanceof AggregateError ? (current.errors as unknown[])[0] : current.cause;
  }
  return found;
}

/** A cause for developers: undici's own may hold bytes of the answer, which in turn may repeat the request. */
function safeCause(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function sentenceOf(code: string): string {
  for (const [name, sentence] of NETWORK) {
    if (name.endsWith('*') ? code.startsWith(name.slice(0, -1)) : code === name) return sentence;
  }
  return 'failed';
}

/**
 * Milliseconds that a `Retry-After` asks for, in seconds or as an HTTP date, between 0 and a day. `now` is the wall clock's
 * time. Undefined where there is none, or none that can be read.
 */
export function retryAfterOf(headers: Headers, now: number): number | undefined {
  const text = headerOf(headers, 'retry-after')?.trim();
  if (text === undefined) return undefined;
  const wait = /^\d+$/.test(text)
    ? Number(text) * 1000
    : /^[A-Za-z]{3,9},? .*\d\d:\d\d:\d\d/.test(text)
      ? Date.parse(text) - now
      : NaN;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), LONGEST_WAIT);
}
