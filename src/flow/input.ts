import type { Progress } from '../account/types';
import { Chain, type Link } from '../api/chain';
import { StripError } from '../api/errors';
import type { Badge, Flight } from './badge';
import type { Translate } from './catalogue';
import { asStripError, errorFor, failedStrip, SeveralFailed, type LastKnown } from './failure';
import type { Message } from './field';
import { failureMark, type Mark } from './marks';
import { nobody, type Target } from './target';

/** What a message led to. */
export interface Answered {
  /** To be sent, in order. */
  messages: readonly Message[];
  mark: Mark;
}

/**
 * What a node does with a message: throws or rejects where it cannot be done, leaves in `seen` whom it concerns, and tells `progress` what takes
 * long. Once `isOver`, the node is closed and the message has been told so: nothing must be begun for it any more.
 */
export type Work = (
  msg: Message,
  seen: Target,
  progress: (progress: Progress) => void,
  isOver: () => boolean,
) => Answered | Promise<Answered>;

export interface InputOptions {
  work: Work;
  badge: Badge;
  translate: Translate;
  lastKnown: LastKnown;
  /** Told of what goes wrong where no message can be blamed. */
  fault: (error: unknown) => void;
}

interface Pending extends Link<Pending> {
  readonly msg: Message;
  readonly send: (msg: Message) => void;
  readonly done: (error?: Error) => void;
  readonly seen: Target;
  readonly flight: Flight;
}

/**
 * The one place where an input runs. Every message ends with exactly one `done`; whatever goes wrong goes to it, nothing escapes; nothing is
 * sent or shown once the node is closed.
 */
export class Input {
  readonly #work: Work;
  readonly #badge: Badge;
  readonly #translate: Translate;
  readonly #lastKnown: LastKnown;
  readonly #fault: (error: unknown) => void;
  readonly #pending = new Chain<Pending>();

  constructor({ work, badge, translate, lastKnown, fault }: InputOptions) {
    this.#work = work;
    this.#badge = badge;
    this.#translate = translate;
    this.#lastKnown = lastKnown;
    this.#fault = fault;
  }

  take(msg: Message, send: (msg: Message) => void, done: (error?: Error) => void): void {
    const flight = this.#badge.begin();
    const pending: Pending = { msg, send, done, seen: nobody(), flight, before: null, behind: null };
    this.#pending.add(pending);
    try {
      const answer = this.#work(
        msg,
        pending.seen,
        (progress) => this.#badge.progress(flight, progress),
        () => !this.#pending.has(pending),
      );
      if (answer instanceof Promise) {
        answer.then(
          (answered) => this.#succeed(pending, answered),
          (error: unknown) => this.#fail(pending, error),
        );
      } else {
        this.#succeed(pending, answer);
      }
    } catch (error) {
      this.#fail(pending, error);
    }
  }

  /** What is not finished ends here, while there may still be a Catch node to hear of it. */
  close(): void {
    this.#badge.close();
    for (const pending of this.#pending.items())
      this.#fail(pending, new StripError('CLOSED', 'CLOSED.account'));
  }

  #succeed(pending: Pending, { messages, mark }: Answered): void {
    if (!this.#pending.delete(pending)) return;
    let failure: Error | undefined;
    try {
      this.#badge.end(pending.flight, mark);
      for (const message of messages) pending.send(message);
    } catch (error) {
      failure = errorFor(error, this.#translate);
    }
    this.#finish(pending, failure);
  }

  #fail(pending: Pending, error: unknown): void {
    if (!this.#pending.delete(pending)) return;
    const { msg, seen, flight } = pending;
    let failure: Error;
    try {
      failure = errorFor(error, this.#translate);
      // Before the message, which may be one that cannot be written to.
      this.#badge.end(flight, failureMark(asStripError(error).code));
      msg.strip = error instanceof SeveralFailed ? error.strips : failedStrip(seen, error, this.#lastKnown);
    } catch (defect) {
      failure = errorFor(defect, this.#translate);
    }
    this.#finish(pending, failure);
  }

  #finish({ done }: Pending, failure: Error | undefined): void {
    try {
      if (failure === undefined) done();
      else done(failure);
    } catch (error) {
      this.#fault(error);
    }
  }
}
