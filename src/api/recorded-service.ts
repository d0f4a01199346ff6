import type { Clock } from './clock';
import { isStripError, type ErrorCode, type StripError } from './errors';
import type { ListAnswer, PortOrAll, Service, StripAnswer, SwitchAnswer } from './types';

/** How often an error came, and the last one. */
interface ErrorCount {
  readonly count: number;
  /** Wall-clock milliseconds. */
  readonly at: number;
  readonly last: StripError;
}

/** The last good answer of a kind, held until the next one. */
export interface LastAnswer<Answer> {
  /** Wall-clock milliseconds. */
  readonly at: number;
  readonly answer: Answer;
}

/** Errors of commands for which no request is sent. */
const NEVER_SENT: ReadonlySet<ErrorCode> = new Set(['SUPERSEDED', 'PROTECTED', 'BUSY'] as const);

/** A service that records what is asked of it. It holds the service's texts, so it is for `src/flow/diagnostics.ts` only, which leaves them out. */
export class RecordedService implements Service {
  readonly requests = { list: 0, strip: 0, switch: 0 };
  readonly errors = new Map<ErrorCode, ErrorCount>();
  readonly answers: {
    list: LastAnswer<ListAnswer> | null;
    strip: LastAnswer<StripAnswer> | null;
    switch: LastAnswer<SwitchAnswer> | null;
  } = { list: null, strip: null, switch: null };

  constructor(
    private readonly service: Service,
    private readonly clock: Clock,
  ) {}

  /** Counts the error of a command for which no request was sent. The errors of requests are counted already. */
  commandFailed(error: unknown): void {
    if (isStripError(error) && NEVER_SENT.has(error.code)) this.#failed(error);
  }

  /** Counts an error; one that is no `StripError` is a defect, which is reported elsewhere. */
  #failed(error: unknown): void {
    if (!isStripError(error)) return;
    const count = (this.errors.get(error.code)?.count ?? 0) + 1;
    this.errors.set(error.code, { count, at: this.clock.wall(), last: error });
  }

  list(): Promise<ListAnswer> {
    return this.#ask('list', this.service.list(), (last) => (this.answers.list = last));
  }

  get(mac: string): Promise<StripAnswer> {
    return this.#ask('strip', this.service.get(mac), (last) => (this.answers.strip = last));
  }

  switch(mac: string, port: PortOrAll, on: boolean): Promise<SwitchAnswer> {
    return this.#ask('switch', this.service.switch(mac, port, on), (last) => (this.answers.switch = last));
  }

  beginClose(): void {
    this.service.beginClose();
  }

  close(graceMs: number): Promise<void> {
    return this.service.close(graceMs);
  }

  async #ask<Answer>(
    kind: keyof typeof this.requests,
    asked: Promise<Answer>,
    keep: (last: LastAnswer<Answer>) => void,
  ): Promise<Answer> {
    this.requests[kind]++;
    try {
      const answer = await asked;
      keep({ at: this.clock.wall(), answer });
      return answer;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }
}
