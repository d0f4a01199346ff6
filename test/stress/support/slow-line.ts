import { connect, createServer, type Socket } from 'node:net';
import { startListening } from '../../support/start-listening';

/** Delays everything that is sent to and from a server on this machine. */
export class SlowLine {
  /** How often a request went out on a connection that the server had closed already. */
  tooLate = 0;
  readonly #sockets = new Set<Socket>();
  readonly #server;

  constructor(target: number, delay: number) {
    this.#server = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => socket.destroy()).on('close', () => this.#sockets.delete(socket));
      }
      const later = (work: () => void): void => void setTimeout(work, delay);
      let isClosed = false;
      near.on('data', (chunk) => {
        later(() => {
          if (isClosed) this.tooLate++;
          else far.write(chunk);
        });
      });
      near.on('end', () => later(() => far.end()));
      far.on('data', (chunk) => later(() => near.write(chunk)));
      far.on('end', () => {
        isClosed = true;
        later(() => near.end());
      });
      // Also after a reset, which comes without an end: the server had closed the connection when it got a request.
      far.on('close', () => later(() => near.destroy()));
    });
  }

  start(): Promise<number> {
    return startListening(this.#server);
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
