// Turns a whole HTTP response into the JSON body, the outcome of a switch, or the error that its status and body mean.
import { cut } from '../values';
import { decodeSwitch, type AskedSwitch, type DecodedSwitch } from './decode/switch';
import { readJson } from './decode/values';
import { StripError, type ErrorDetails, type Params, type SentenceKey } from './errors';
import { proxyStatusError, type ErrorContext } from './network-error';
import {
  PORTS,
  type JsonBody,
  type JsonRecord,
  type Port,
  type PortOrAll,
  type SwitchAnswer,
  type SwitchResult,
} from './types';

/** By lower-case name; a header that was sent more than once has more than one value. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Longest wait that is accepted from a service, in milliseconds. */
const LONGEST_WAIT = 24 * 60 * 60 * 1000;

/** Longest origin that a sentence names, in characters. */
const LONGEST_ORIGIN = 200;

/** Ways to log in that belong to web servers and proxies; the service takes a key. */
const FOREIGN_LOGIN = /(?:^|,\s*)(?:basic|digest|negotiate|ntlm)(?=[\s,]|$)/i;

/** A body as far as it could be read. */
type ParsedBody = Json | { readonly kind: 'empty' | 'html' | 'truncated' | 'notJson' };

interface Json {
  readonly kind: 'json';
  readonly json: unknown;
  readonly text: string;
}

/** A whole response, whatever its status. */
export class HttpResponse {
  readonly body: ParsedBody;

  /** `receivedAt`: wall-clock time, for a `Retry-After` that is a date. */
  constructor(
    readonly status: number,
    readonly headers: ResponseHeaders,
    readonly text: string,
    readonly context: ErrorContext,
    readonly receivedAt: number,
  ) {
    this.body = parseBody(text);
  }

  get isSuccess(): boolean {
    return this.status < 300;
  }

  get isRedirect(): boolean {
    return this.status >= 300 && this.status < 400;
  }

  /** A header that should be there once. If there are several, the first counts. */
  header(name: string): string | undefined {
    return [this.headers[name]].flat()[0];
  }

  /** All values of a header, in one text as a proxy may join them. */
  headerList(name: string): string {
    return [this.headers[name] ?? []].flat().join(', ');
  }

  /** The error that this response means. */
  error(sentenceKey: SentenceKey, params: Params = {}, details: ErrorDetails = {}): StripError {
    const { status, context, body } = this;
    const response = body.kind === 'json' ? body.json : undefined;
    return new StripError(sentenceKey, { host: context.host, status, ...params }, { response, ...details });
  }
}

/** The answer to a read. */
export interface ReadAnswer extends JsonBody {
  /** Headers about paging, in the form of fields of a body. */
  readonly paging: JsonRecord;
}

/** The JSON body of a successful response to a read; throws a `StripError` that says what it was instead. `mac`: the strip that was asked for. */
export function readAnswer(response: HttpResponse, mac: string | null): ReadAnswer {
  if (!response.isSuccess) throw statusError(response, mac);
  const { json, text } = jsonOrThrow(response);
  return { response: json, text, paging: pagingOf(response) };
}

/** A link to the next page. */
const NEXT = /;\s*rel\s*=\s*(?:"[^"]*\bnext\b|next\b)/i;

/** Headers that many services use to say how much there is. Others with such words are about rate limits or sizes. */
const PAGING =
  /^x-(?:total(?:-?(?:count|items|pages))?|page(?:-?count)?|next-page|has-(?:more|next)|pagination)$/;

/** Status 206, `link: …; rel="next"`, `x-total-count: 57`, `x-next-page: 2` and `content-range: items 0-19/57`. None is documented. */
function pagingOf(response: HttpResponse): JsonRecord {
  const { status, headers } = response;
  const own = Object.keys(headers).filter((name) => PAGING.test(name));
  const total = /\/(\d+)$/.exec(response.header('content-range') ?? '')?.[1];
  return {
    ...Object.fromEntries(own.map((name) => [name.slice(2), readJson(response.header(name))])),
    ...(total === undefined ? {} : { total }),
    ...(status === 206 ? { status } : {}),
    ...(NEXT.test(response.headerList('link')) ? { link: 'rel="next"' } : {}),
  };
}

/**
 * What a switch answer confirmed. Throws a `StripError` if it confirms nothing. A body in the documented form counts whatever the status is, except
 * after a redirect (API document, section 7, shows no status). If the body says nothing about the outlets asked for, the status decides which error
 * is thrown.
 */
export function readSwitch(response: HttpResponse, asked: AskedSwitch): SwitchAnswer {
  const { status, isSuccess, body } = response;
  const { mac, port } = asked;
  if (body.kind === 'json' && !response.isRedirect) {
    const said = decodeSwitch(body.json, asked);
    const { success, results, failed, unclear, listed } = said;
    const own = port === 'all' ? results : results.filter((result) => result.port === port);
    if (isSuccess && success !== false) {
      const confirmed = success === true ? confirmedPorts(port, said, own) : [];
      if (confirmed.length > 0) return { results: own, confirmed, response: body.json, text: body.text };
      if (!failed && (unclear || listed)) throw response.error('BAD_RESPONSE.unconfirmed', { mac, port });
    }
    const isAnswer = success !== null || listed;
    // Only `SERVICE.refused` says less about the failure than a body that names no port.
    const saysMore = statusError(response, mac).sentenceKey !== 'SERVICE.refused';
    if (own.length > 0 || failed || (isAnswer && !saysMore)) {
      throw switchFailedError({ mac, port, status }, { results: own, response: body.json });
    }
  }
  if (!isSuccess) throw statusError(response, mac);
  // Many services answer a command with an empty body, so it is the outlet that is to be checked.
  if (body.kind !== 'empty') jsonOrThrow(response);
  throw response.error('BAD_RESPONSE.notSwitch');
}

/** The outlets that a successful answer confirms; none if it says no. `own`: the results about the outlets asked for. */
function confirmedPorts(
  port: PortOrAll,
  { results, failed }: DecodedSwitch,
  own: readonly SwitchResult[],
): Port[] {
  const isNo = ({ ok }: SwitchResult): boolean => !ok;
  // A no without a port may be about any of them.
  if (own.some(isNo) || (failed && !results.some(isNo))) return [];
  const asked = port === 'all' ? PORTS : [port];
  return asked.filter((each) => results.length === 0 || own.some((result) => result.port === each));
}

/** SWITCH_FAILED with a sentence that names the outlets that failed and those that were switched, if there are any. */
export function switchFailedError(
  params: { mac: string; port: PortOrAll; status?: number },
  details: ErrorDetails & { results: SwitchResult[] },
): StripError {
  const { results } = details;
  const failed = results.filter(({ ok }) => !ok);
  // An answer may say both of one outlet.
  const switched = results.filter(({ port, ok }) => ok && !failed.some((no) => no.port === port));
  const kind = failed.length === 0 ? 'unnamed' : switched.length === 0 ? 'ports' : 'some';
  const ports = { failed: portList(failed), switched: portList(switched) };
  return new StripError(`SWITCH_FAILED.${kind}`, { ...params, ...ports }, details);
}

const portList = (results: readonly SwitchResult[]): string => results.map(({ port }) => port).join(', ');

/** What a status outside 2xx means. The document names none (section 7), so these are HTTP's own meanings. `mac`: the strip that was asked for. */
function statusError(response: HttpResponse, mac: string | null): StripError {
  const { status, body, text, context } = response;
  const isHtml = body.kind === 'html';

  if (response.isRedirect) return redirectError(response);
  // Some servers say in plain text that an HTTP request came to their HTTPS port. An address in the text says nothing about that.
  if (status === 400 && body.kind !== 'json' && (isHtml || /https(?!:)/i.test(text))) {
    return response.error('SERVICE.scheme');
  }
  if (status === 401 || status === 403) return response.error(refusal(response));
  if (status === 404) {
    // A service would not say in a web page that it does not know a strip: the page comes from something else at that address.
    return mac === null || isHtml
      ? response.error('NOT_FOUND.address')
      : response.error('NOT_FOUND.strip', { mac });
  }
  const isGateway = status >= 502 && status <= 504 && body.kind !== 'json';
  if (status === 407 || (isGateway && context.proxy?.forwards === true)) {
    return proxyStatusError(status, context);
  }
  const retryAfter = retryAfterOf(response);
  if (status === 429) {
    const seconds = Math.ceil((retryAfter ?? 0) / 1000);
    return seconds > 0
      ? response.error('RATE_LIMITED.seconds', { seconds }, { retryAfter })
      : response.error('RATE_LIMITED.later', {}, { retryAfter });
  }
  return status >= 500 || status === 408 || status === 425
    ? response.error('SERVICE.failed', {}, { retryAfter, retryable: true })
    : response.error('SERVICE.refused', {}, { retryAfter });
}

/** Who refused with 401 or 403: only a JSON body counts as the service's own answer about the key. */
function refusal(response: HttpResponse): SentenceKey {
  const { body } = response;
  if (FOREIGN_LOGIN.test(response.headerList('www-authenticate')) || body.kind === 'html')
    return 'SERVICE.inFront';
  return body.kind === 'json' && typeof body.json !== 'number' ? 'AUTH.rejected' : 'SERVICE.denied';
}

/** Redirects are not followed, because the key would be sent along. Only the target's origin is named: the rest may hold secrets. */
function redirectError(response: HttpResponse): StripError {
  const { context } = response;
  const location = response.header('location');
  // For example a 304, which a server should send only for a conditional request.
  if (location === undefined) return response.error('BAD_RESPONSE.noLocation');
  const base = `${context.origin}/`;
  const target = URL.canParse(location, base) ? new URL(location, base).origin : 'null';
  return target === 'null' || context.isSecret(target)
    ? response.error('BAD_RESPONSE.redirectUnknown')
    : response.error('BAD_RESPONSE.redirect', { location: cut(target, LONGEST_ORIGIN) });
}

function jsonOrThrow(response: HttpResponse): Json {
  const { body, context } = response;
  if (body.kind === 'json') return body;
  const encodings = response.header('content-encoding')?.toLowerCase().split(',') ?? [];
  const encoding = encodings.map((each) => each.trim()).find((each) => each !== 'identity') ?? '';
  // No compressed body was asked for, and nothing here decompresses one.
  const isEncoded = body.kind !== 'empty' && /^[a-z-]{2,12}$/.test(encoding) && !context.isSecret(encoding);
  throw isEncoded
    ? response.error('BAD_RESPONSE.encoded', { encoding })
    : response.error(`BAD_RESPONSE.${body.kind}`);
}

/** The content type does not matter: JSON is what parses as JSON. */
function parseBody(text: string): ParsedBody {
  // A byte order mark counts as white space.
  const bare = text.trim();
  if (bare === '') return { kind: 'empty' };
  try {
    return { kind: 'json', json: JSON.parse(bare), text: bare };
  } catch (error) {
    if (bare.startsWith('<')) return { kind: 'html' };
    return { kind: failsAtEnd(bare, String(error)) ? 'truncated' : 'notJson' };
  }
}

/** Whether a text is the beginning of JSON, judged by the message of the parse error. These words are the same in Node.js 20, 22 and 24. */
function failsAtEnd(text: string, message: string): boolean {
  if (/end of JSON input|Unterminated string/.test(message)) return true;
  return Number(/at position (\d+)/.exec(message)?.[1]) >= text.length;
}

/**
 * Milliseconds that a `Retry-After` asks for, in seconds or as an HTTP date, between 0 and a day. A date is compared with the response's own
 * `Date`, because the clocks of the service and of this machine may differ; without one, with the time at which the response came. Of several numbers,
 * which a proxy may have joined, the longest counts. Undefined if there is no `Retry-After`, or it cannot be read.
 */
function retryAfterOf(response: HttpResponse): number | undefined {
  const text = response.headerList('retry-after').trim();
  const sent = httpDate(response.header('date') ?? '');
  const wait = /^\d+(\s*,\s*\d+)*$/.test(text)
    ? Math.max(...text.split(',').map(Number)) * 1000
    : httpDate(text) - (Number.isNaN(sent) ? response.receivedAt : sent);
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), LONGEST_WAIT);
}

/** The time of an HTTP date; NaN if the text is none. The oldest form, "Sun Nov  6 08:49:37 1994", means GMT without saying so. */
function httpDate(text: string): number {
  if (!/^[A-Za-z]{3,9},? .*\d\d:\d\d:\d\d/.test(text)) return NaN;
  return Date.parse(/:\d\d \d{4}$/.test(text) ? `${text} GMT` : text);
}
