import { decodeSwitch } from './decode';
import { StripError, type ErrorDetails } from './errors';
import { headerOf, type Answer } from './exchange';
import { retryAfterOf, type Failures } from './failure';
import type { PortOrAll, SwitchResult } from './types';

/** What a body turned out to be. */
type Body = { readonly json: unknown } | { readonly not: 'empty' | 'html' | 'truncated' | 'notJson' };

/**
 * The JSON body of a successful answer to a read; throws a `StripError` that says what it was instead. `now`: wall-clock time, for
 * a `Retry-After` that is a date; `mac`: the strip that was asked for.
 */
export function readBody(answer: Answer, failures: Failures, now: number, mac?: string): unknown {
  const body = bodyOf(answer.text);
  if (answer.status < 200 || answer.status > 299) throw refusal(answer, body, failures, now, mac);
  return jsonOf(answer, body, failures);
}

/**
 * The results of a switch that the service confirmed, or a `StripError`. A body in the documented form counts whatever the status
 * (API document, section 7, shows none), but for redirects; one that names no port gives way to a status that says what is wrong.
 */
export function readSwitch(
  answer: Answer,
  port: PortOrAll,
  mac: string,
  failures: Failures,
  now: number,
): { results: SwitchResult[]; response: unknown } {
  const { status } = answer;
  const body = bodyOf(answer.text);
  const fine = status >= 200 && status <= 299;
  const isRedirect = status >= 300 && status <= 399;
  if ('json' in body && !isRedirect) {
    const said = decodeSwitch(body.json);
    if (fine && said.success === true && !said.failed) return { results: said.results, response: body.json };
    const named = said.results.length > 0 || said.failed;
    const answered = said.success !== null || said.listed;
    if (named || (answered && !saysMore(status, said.success))) {
      throw switchFailed(status, port, mac, said.results, body.json);
    }
  }
  if (!fine) throw refusal(answer, body, failures, now, mac);
  const response = jsonOf(answer, body, failures);
  throw failures.make('BAD_RESPONSE', 'notSwitch', { status }, { response });
}

/** Whether the status says more of what is wrong than a body that names no port. */
const saysMore = (status: number, success: boolean | null): boolean =>
  status === 401 ||
  status === 403 ||
  status === 404 ||
  status === 429 ||
  (status >= 500 && success === false);

function switchFailed(
  status: number,
  port: PortOrAll,
  mac: string,
  results: SwitchResult[],
  response: unknown,
): StripError {
  const failed = portsWith(results, false);
  const switched = portsWith(results, true);
  const sentence = failed === '' ? 'unnamed' : switched === '' ? 'ports' : 'some';
  return new StripError('SWITCH_FAILED', `SWITCH_FAILED.${sentence}`, {
    params: { mac, port, failed, switched, status },
    results,
    response,
  });
}

function portsWith(results: SwitchResult[], ok: boolean): string {
  return results
    .filter((result) => result.ok === ok)
    .map((result) => result.port)
    .join(', ');
}

/** What a status outside 2xx means. The document names none (section 7), so these are HTTP's own meanings. */
function refusal(answer: Answer, body: Body, failures: Failures, now: number, mac?: string): StripError {
  const { status, headers } = answer;
  const details: ErrorDetails = 'json' in body ? { response: body.json } : {};
  if (status >= 300 && status <= 399) return failures.redirect(status, headerOf(headers, 'location'));
  if (status === 401 || status === 403) return failures.make('AUTH', 'rejected', { status }, details);
  if (status === 404) {
    // A service that knows no such strip would hardly say so on a web page: one comes from whatever else is at that address.
    return mac === undefined || ('not' in body && body.not === 'html')
      ? failures.make('NOT_FOUND', 'address', { status }, details)
      : failures.make('NOT_FOUND', 'strip', { status, mac }, details);
  }
  if (status === 407) return failures.proxy(status);
  const retryAfter = retryAfterOf(headers, now);
  if (retryAfter !== undefined) details.retryAfter = retryAfter;
  if (status === 429) {
    return retryAfter === undefined
      ? failures.make('RATE_LIMITED', 'later', { status }, details)
      : failures.make('RATE_LIMITED', 'seconds', { status, seconds: Math.ceil(retryAfter / 1000) }, details);
  }
  if (status >= 500 || status === 408 || status === 425) {
    return failures.make('SERVICE', 'failed', { status }, { ...details, retryable: true });
  }
  return failures.make('SERVICE', 'refused', { status }, details);
}

function jsonOf({ status, headers }: Answer, body: Body, failures: Failures): unknown {
  if ('json' in body) return body.json;
  throw failures.notJson(
    status,
    body.not,
    body.not === 'empty' ? undefined : headerOf(headers, 'content-encoding'),
  );
}

/** Whatever the content type says: JSON is what parses as JSON. */
function bodyOf(text: string): Body {
  if (text === '') return { not: 'empty' };
  try {
    const json: unknown = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
    return { json };
  } catch {
    const bare = text.replace(/^\ufeff/, '').trim();
    if (bare === '') return { not: 'empty' };
    if (bare.startsWith('<')) return { not: 'html' };
    const whole = bare.startsWith('{') ? bare.endsWith('}') : !bare.startsWith('[') || bare.endsWith(']');
    return { not: whole ? 'notJson' : 'truncated' };
  }
}
