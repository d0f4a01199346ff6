import type { IncomingMessage, ServerResponse } from 'node:http';
import { handle, refusal } from './handler';
import type { ServiceAnswer } from './handler';
import type { SimulatorRegistry } from './registry';
import type { Simulator } from './simulator';

/** Bytes of a request body that are read; more is refused. The service's own limit is not documented. */
export const BODY_LIMIT = 64 * 1024;

/** The registry's simulators as one handler for Express; what leads to none of them goes on to `next`. */
export function middleware(registry: SimulatorRegistry) {
  // A server's routes cannot be taken back, so a single one stays for good and asks the registry at every request.
  return (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void => {
    const found = registry.find(request.url ?? '');
    if (found === null) next();
    else serve(found.simulator, request, response, found.path).catch(next);
  };
}

/** Serves one request of a `node:http` server. `path` is what follows the base URL. */
async function serve(
  simulator: Simulator,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  const body = await readBody(request);
  if (body === 'gone') return;
  if (body === 'too long') {
    send(response, refusal(413, `the body is longer than ${BODY_LIMIT} bytes`));
    return;
  }
  const { method = '', headers } = request;
  send(response, await handle(simulator, { method, path, headers, body: body.text }));
}

/** Reads a request's body as text: 'too long' past the limit, 'gone' when the caller hung up before its end. */
export async function readBody(request: IncomingMessage): Promise<{ text: string } | 'too long' | 'gone'> {
  // Node-RED's admin API, which is asked first where both share a root, has read JSON already and left it here.
  const { body } = request as IncomingMessage & { body?: unknown };
  if (request.readableEnded && body !== undefined) return { text: JSON.stringify(body) };
  const chunks: Buffer[] = [];
  let length = 0;
  return await new Promise((resolve) => {
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > BODY_LIMIT) {
        // The rest is let through unread: hanging up on a caller that still sends would lose it the answer.
        request.off('data', onData).resume();
        resolve('too long');
      } else {
        chunks.push(chunk);
      }
    };
    request
      .on('data', onData)
      .once('end', () => resolve({ text: Buffer.concat(chunks).toString('utf8') }))
      // Nobody is left to be answered, and there is nothing to undo.
      .on('error', () => resolve('gone'))
      .once('close', () => resolve('gone'));
  });
}

/** Writes an answer; one that nobody waits for any more is dropped by `node:http` itself. */
export function send(response: ServerResponse, { status, headers, body }: ServiceAnswer): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
