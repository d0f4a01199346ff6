import { STATUS_CODES } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Clock, Timer } from '../../src/api/types';
import { send, type ServiceAnswer } from '../../src/simulator/http';

/** What goes wrong with one request. Unless the fault says so, the request is not carried out. */
export type Fault =
  /** The connection is reset. 'before': not carried out; 'lost': carried out, but no answer; 'middle': after half of the body; 'after': after all of it. */
  | { kind: 'reset'; when: 'before' | 'lost' | 'middle' | 'after' }
  /** The connection is closed in an orderly way as the request comes, as a server does with an idle one. */
  | { kind: 'idleClose' }
  /** Never answered. */
  | { kind: 'hang' }
  /** Carried out and answered, but the body comes one byte at a time. */
  | { kind: 'drip'; every: number }
  /** Carried out; half of the body, then the connection is closed. */
  | { kind: 'truncated' }
  /** Status 200 and valid JSON, padded with blanks to so many bytes; 'declared' has a content-length. */
  | { kind: 'oversized'; bytes: number; declared: boolean }
  /** Carried out; the content-length says something else than the body's length. */
  | { kind: 'contentLength'; value: string }
  /** Status 200, a web page. */
  | { kind: 'html' }
  /** Status 204. */
  | { kind: 'empty' }
  /** Carried out; before the true answer comes an interim one (102 or 103). */
  | { kind: 'interim'; status: 100 | 102 | 103 }
  /** Status 200, a few kB that unpack to so many bytes of JSON. */
  | { kind: 'gzipBomb'; bytes: number }
  | { kind: 'redirect'; to: string; status?: number }
  /** Any answer: `json` or `body`. */
  | {
      kind: 'answer';
      status: number;
      headers?: Record<string, string | string[]>;
      json?: unknown;
      body?: string;
    }
  /** These bytes take the place of an answer. 'end': then the connection is closed. */
  | { kind: 'raw'; bytes: string; end?: boolean }
  /** Status 200, content-type JSON, not JSON. */
  | { kind: 'garbage' }
  /** Carried out, answered so many milliseconds later. */
  | { kind: 'delay'; ms: number };

interface FaultedRequest {
  request: IncomingMessage;
  response: ServerResponse;
  clock: Clock;
  /** Timers still running, for whoever closes the service. */
  timers: Set<Timer>;
  /** Lets the simulator carry the request out. */
  carryOut: () => Promise<ServiceAnswer>;
}

/** Makes a request fail in this way. May resolve before a delayed answer is sent. */
export async function commit(fault: Fault, faulted: FaultedRequest): Promise<void> {
  const { response, request, carryOut } = faulted;
  const { socket } = request;
  switch (fault.kind) {
    case 'reset':
      await reset(fault.when, faulted);
      return;
    case 'idleClose':
      socket.end();
      return;
    case 'hang':
      return;
    case 'drip':
      drip(fault.every, await carryOut(), faulted);
      return;
    case 'truncated':
      await half(await carryOut(), response);
      socket.end();
      return;
    case 'oversized': {
      // Without a content-length, the body is sent in chunks.
      const length = fault.declared ? { 'content-length': fault.bytes } : {};
      response.writeHead(200, { ...JSON_TYPE, ...length }).end(emptyList(fault.bytes));
      return;
    }
    case 'contentLength': {
      const { status, headers, body } = await carryOut();
      // Written to the socket: `ServerResponse` would correct or refuse it.
      writeRaw(socket, status, { ...headers, 'content-length': fault.value }, body);
      return;
    }
    case 'raw':
      socket.write(fault.bytes);
      if (fault.end === true) socket.end();
      return;
    case 'html':
      send(response, {
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: '<!doctype html><title>Sign in</title><h1>Please sign in</h1>',
      });
      return;
    case 'empty':
      response.writeHead(204).end();
      return;
    case 'interim': {
      const answer = await carryOut();
      socket.write(`HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status] ?? ''}\r\n\r\n`);
      send(response, answer);
      return;
    }
    case 'gzipBomb': {
      const packed = gzipSync(emptyList(fault.bytes));
      response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip', 'content-length': packed.length });
      response.end(packed);
      return;
    }
    case 'redirect':
      send(response, { status: fault.status ?? 302, headers: { location: fault.to }, body: '' });
      return;
    case 'answer': {
      const isJson = fault.json !== undefined;
      const body = isJson ? JSON.stringify(fault.json) : (fault.body ?? '');
      const headers = { ...(isJson ? JSON_TYPE : {}), ...fault.headers };
      send(response, { status: fault.status, headers, body });
      return;
    }
    case 'garbage':
      send(response, { status: 200, headers: JSON_TYPE, body: '{"strips": [{"mac": ' });
      return;
    case 'delay': {
      const answer = await carryOut();
      later(fault.ms, faulted, () => send(response, answer));
    }
  }
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

const emptyList = (bytes: number): string => `[${' '.repeat(bytes - 2)}]`;

async function reset(when: 'before' | 'lost' | 'middle' | 'after', faulted: FaultedRequest): Promise<void> {
  const { request, response, carryOut } = faulted;
  const { socket } = request;
  if (when !== 'before') {
    const answer = await carryOut();
    if (when === 'middle') await half(answer, response);
    if (when === 'after') {
      const sent = new Promise((resolve) => response.once('finish', resolve).once('close', resolve));
      send(response, answer);
      await sent;
    }
  }
  // A TLS socket can only be closed at once; a plain one sends an RST.
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

/** The head and the first half of the body, on the wire. */
async function half({ status, headers, body }: ServiceAnswer, response: ServerResponse): Promise<void> {
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.write(bytes.subarray(0, bytes.length >> 1), () => resolve());
  });
}

function writeRaw(socket: Socket, status: number, headers: Record<string, string>, body: string): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
}

function drip(every: number, { status, headers, body }: ServiceAnswer, faulted: FaultedRequest): void {
  const bytes = Buffer.from(body);
  faulted.response.writeHead(status, { ...headers, 'content-length': bytes.length });
  faulted.response.flushHeaders();
  let sent = 0;
  const drop = () => {
    if (faulted.response.destroyed) return;
    faulted.response.write(bytes.subarray(sent, ++sent));
    if (sent < bytes.length) later(every, faulted, drop);
    else faulted.response.end();
  };
  later(every, faulted, drop);
}

function later(ms: number, { clock, timers, request }: FaultedRequest, callback: () => void): void {
  if (request.socket.destroyed) return; // the service was closed while the answer was held back
  const timer = clock.setTimeout(() => {
    timers.delete(timer);
    callback();
  }, ms);
  timers.add(timer);
}
