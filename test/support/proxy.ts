import { createServer, request as requestHttp, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { startListening } from './start-listening';

/** One request to a proxy as it came. */
interface Proxied {
  /** 'CONNECT' for a tunnel. */
  method: string;
  /** Host and port of a tunnel; else the whole address. */
  target: string;
  authorization: string | undefined;
}

/** A proxy that forwards plain requests and opens tunnels, or answers with a status and a web page of its own. */
export class TestProxy {
  readonly seen: Proxied[] = [];
  /** Connections accepted so far. */
  connections = 0;
  /** 200: does its work. */
  status = 200;
  /** Closes the connection of the next plain request, as a proxy does with an idle one. */
  closeNext = false;
  readonly #sockets = new Set<Duplex>();
  readonly #server: Server;

  constructor(tls?: { key: string; cert: string }) {
    this.#server = tls === undefined ? createServer() : createTlsServer(tls);
    this.#server.on('connection', (socket: Socket) => {
      this.connections++;
      this.#track(socket);
    });
    this.#server.on('request', (request: IncomingMessage, response) => {
      const { method = '', url: target = '', headers } = request;
      const { 'proxy-authorization': authorization, ...others } = headers;
      this.seen.push({ method, target, authorization });
      if (this.closeNext) {
        this.closeNext = false;
        request.socket.end();
        return;
      }
      if (this.status !== 200) {
        response.writeHead(this.status, { 'content-type': 'text/html' }).end('<h1>The proxy says no</h1>');
        return;
      }
      const upstream = requestHttp(target, { method, headers: others }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      upstream.on('error', () => response.writeHead(502).end('<h1>Bad gateway</h1>'));
      request.pipe(upstream);
    });
    this.#server.on('connect', (request: IncomingMessage, client: Duplex) => {
      const target = request.url ?? '';
      this.seen.push({
        method: 'CONNECT',
        target,
        authorization: request.headers['proxy-authorization'],
      });
      client.on('error', () => client.destroy());
      if (this.status !== 200) {
        client.end(`HTTP/1.1 ${this.status} No\r\ncontent-length: 0\r\n\r\n`);
        return;
      }
      const [host = '', port] = target.split(':');
      const upstream = connectTcp(Number(port), host, () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.pipe(client).pipe(upstream);
      });
      this.#track(upstream);
    });
  }

  /** Gives its port on 127.0.0.1. */
  start(): Promise<number> {
    return startListening(this.#server);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #track(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => this.#sockets.delete(socket));
  }
}
