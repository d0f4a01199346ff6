import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { TestService } from '../../support/service';
import { MAC } from './support';

/** One raw connection: what came, and how it ended. */
export class Wire {
  bytes = Buffer.alloc(0);
  ended: 'open' | 'end' | 'reset' = 'open';
  readonly #socket: Socket;
  #wake = (): void => undefined;

  constructor(
    readonly service: TestService,
    socket: Socket = connect(service.port, '127.0.0.1'),
  ) {
    this.#socket = socket
      .on('data', (chunk: Buffer) => {
        this.bytes = Buffer.concat([this.bytes, chunk]);
        this.#wake();
      })
      .on('end', () => {
        if (this.ended === 'open') this.ended = 'end';
        this.#wake();
      })
      .on('error', () => {
        this.ended = 'reset';
        this.#wake();
      });
  }

  get text(): string {
    return this.bytes.toString('latin1');
  }

  get body(): string {
    const at = this.text.lastIndexOf('\r\n\r\n');
    return at < 0 ? '' : this.text.slice(at + 4);
  }

  list(): this {
    const { apiKey } = this.service;
    this.#socket.write(`GET /api/public/v1/strips HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\n\r\n`);
    return this;
  }

  switchOn(): this {
    const { apiKey } = this.service;
    const body = '{"port":1,"on":true}';
    this.#socket.write(
      `POST /api/public/v1/strips/${MAC}/switch HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    return this;
  }

  /** Waits until `condition` holds; mocha's timeout is the end of its patience. */
  async until(condition: () => boolean): Promise<this> {
    while (!condition()) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this;
  }

  async over(): Promise<this> {
    return await this.until(() => this.ended !== 'open');
  }

  async answered(): Promise<this> {
    return await this.until(() => {
      const length = Number(/content-length: (\d+)/i.exec(this.text)?.[1] ?? NaN);
      return this.body.length >= length;
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}
