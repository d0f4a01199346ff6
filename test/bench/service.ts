// The service under the bench, in a process of its own: it does as little per request as node:http allows, so that the
// clients are compared. One port answers at once, the other after 50 ms; both count their requests.
import { createServer, type ServerResponse } from 'node:http';
import { startListening } from '../support/start-listening';

const listOf = (count: number): string =>
  JSON.stringify(
    Array.from({ length: count }, (_, index) => ({
      mac: `A1B2C3D4${String(index).padStart(4, '0')}`,
      name: `Strip ${index}`,
      outlets: [1, 2, 3, 4].map((port) => ({ port, on: false })),
      load: index / 10,
      voltage: 230.1,
      signal: -60,
    })),
  );
const list = listOf(25);
const longList = listOf(1_000);
/** Requests by API key, so that several clients can be told apart. */
const counts: Record<string, number> = {};

function answer(response: ServerResponse, body: string): void {
  const length = Buffer.byteLength(body);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length }).end(body);
}

function serve(delay: number): Promise<number> {
  const server = createServer((request, response) => {
    const key = String(request.headers['x-api-key']);
    const reply = (body: string) => {
      counts[key] = (counts[key] ?? 0) + 1;
      if (delay === 0) answer(response, body);
      else setTimeout(answer, delay, response, body);
    };
    if (request.url === '/counts') answer(response, JSON.stringify(counts));
    else if (request.method === 'GET') reply(key === 'key-of-a-thousand-strips' ? longList : list);
    else {
      let text = '';
      request.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
      request.on('end', () => {
        // `{"port":3,"on":true}`, whoever wrote it.
        const port = /"port":(\d)/.exec(text)?.[1] ?? '0';
        reply(`{"success":true,"results":[{"port":${port},"ok":true}]}`);
      });
    }
  });
  server.keepAliveTimeout = 60_000;
  return startListening(server);
}

process.on('disconnect', () => process.exit(0));
void Promise.all([serve(0), serve(50)]).then(([fast, slow]) => process.send?.({ fast, slow }));
