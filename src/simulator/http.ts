// The service's HTTP API for a simulator: answers a request, which may come from inside the process or from a `node:http` server.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { API_ROOT, type PortOrAll } from '../api/types';
import { isRecord } from '../values';
import { isPortOrAll, type Simulator } from './simulator';

/** A request to the service, from HTTP or from inside the process. */
export interface ServiceRequest {
  method: string;
  /** As in the request line: percent-encoded, a query allowed. Starts with `API_ROOT`. */
  path: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

export interface ServiceAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}): ServiceAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(body),
});

/** A refusal. The service's own status codes and error body are not documented: these are the simulator's. */
const refusal = (status: number, error: string, headers?: Record<string, string>): ServiceAnswer =>
  json(status, { error }, headers);

/** Answers one request as the API document says, after the simulator's latency. Never rejects. */
export async function handle(simulator: Simulator, request: ServiceRequest): Promise<ServiceAnswer> {
  const answer = carryOut(simulator, request);
  await simulator.latency();
  return answer;
}

/** The longest request body that is accepted, in bytes. The service's own limit is not documented. */
export const BODY_LIMIT = 64 * 1024;

/** The endpoints of the API document, sections 2 to 4; a query is allowed. */
const ROUTE = new RegExp(`^${API_ROOT}/strips(?:/([^/?]+)(/switch)?)?(?:\\?|$)`);

function carryOut(simulator: Simulator, { method, path, headers, body }: ServiceRequest): ServiceAnswer {
  const route = ROUTE.exec(path);
  if (route === null) return refusal(404, 'there is no such endpoint');
  const apiKey = headers['x-api-key'];
  if (typeof apiKey !== 'string' || !simulator.accepts(apiKey)) {
    return refusal(401, 'the x-api-key header does not hold a valid API key');
  }
  const [, segment, isSwitch] = route;
  const allowed = isSwitch === undefined ? 'GET' : 'POST';
  if (method !== allowed) return refusal(405, `this endpoint takes ${allowed} only`, { allow: allowed });
  if (segment === undefined) return json(200, simulator.list());
  const mac = decodeSegment(segment);
  if (mac === null) return refusal(400, 'the mac in the path is not properly encoded');
  if (isSwitch === undefined) {
    const strip = simulator.strip(mac);
    return strip === undefined ? unknownStrip : json(200, strip);
  }
  if (!isJson(headers['content-type'])) return refusal(415, 'the content-type must be application/json');
  if (Buffer.byteLength(body) > BODY_LIMIT) {
    return refusal(413, `the body is longer than ${BODY_LIMIT} bytes`);
  }
  const asked = readSwitchRequest(body);
  if (typeof asked === 'string') return refusal(400, asked);
  const results = simulator.switch(mac, asked.port, asked.on);
  if (results === undefined) return unknownStrip;
  return json(200, { success: results.every(({ ok }) => ok), results });
}

const unknownStrip = refusal(404, 'no strip with this mac is here');

function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null; // a lone "%" or bytes that are not UTF-8
  }
}

const isJson = (contentType: string | string[] | undefined): boolean =>
  typeof contentType === 'string' && /^\s*application\/json\s*(;|$)/i.test(contentType);

/** The documented body and nothing else (section 2), or what is wrong with it. */
function readSwitchRequest(text: string): { port: PortOrAll; on: boolean } | string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return 'the body is not JSON';
  }
  if (!isRecord(body)) return 'the body must be a JSON object';
  const { port, on, ...others } = body;
  if (!isPortOrAll(port)) return 'port must be an integer from 1 to 4 or "all"';
  if (typeof on !== 'boolean') return 'on must be true or false';
  const stray = Object.keys(others);
  return stray.length === 0 ? { port, on } : `the body holds more than port and on: ${stray.join(', ')}`;
}

/** Serves one request of a `node:http` server. `path` is what follows the base URL. */
export async function serve(
  simulator: Simulator,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  const body = await readBody(request);
  const { method = '', headers } = request;
  if (body !== null) send(response, await handle(simulator, { method, path, headers, body }));
}

/** Reads a request's body as text; `null` when the caller hung up before its end. */
export async function readBody(request: IncomingMessage): Promise<string | null> {
  // If Node-RED's admin API has the same root, it gets the request first, has already read JSON, and has left it here. So has an application in which
  // Node-RED is embedded, which may leave a text or a buffer.
  const body: unknown = 'body' in request ? request.body : undefined;
  if (request.readableEnded && body !== undefined)
    return typeof body === 'string' || Buffer.isBuffer(body) ? body.toString() : JSON.stringify(body);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      // A body that is too long is read to its end, but not kept: a caller that is still sending would lose the answer.
      if (length <= BODY_LIMIT) chunks.push(chunk);
      length += chunk.length;
    }
  } catch {
    return null; // there is nothing to undo
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Writes an answer. `node:http` drops it if the caller is gone. */
export function send(response: ServerResponse, { status, headers, body }: ServiceAnswer): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
