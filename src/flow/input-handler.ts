import type { ReadonlyStripStore } from '../account/strip-store';
import type { RunOptions } from '../account/types';
import { closedError, StripError } from '../api/errors';
import type { Config } from '../settings';
import type { Evaluate, Message, Target } from './input-fields';
import { CommandsFailed, errorForDone, failedStrip, type Translate } from './node-error';
import { errorStatus, type Activity, type NodeStatus, type StatusDisplay } from './node-status';
import type { SharedAccount } from './shared-account';

/** The result of a message that succeeded. */
export interface HandlerResult {
  /** The messages to send, in this order. */
  messages: readonly Message[];
  status: NodeStatus;
}

/** One message on its way through a node. */
export interface Input {
  readonly msg: Message;
  /** The handler fills it in as far as it can read it. */
  readonly target: Target;
  /**
   * To be called before the account gets its commands: from then on, the account says how it ends, also when the node is closed. Returns the options for
   * the commands: they end with the node, and its status shows the progress of those that take longer. Throws CLOSED if the node is closed already.
   */
  readonly submit: () => RunOptions;
}

/** What a node does with a message. Rejects if that fails. */
export type Handle = (input: Input) => Promise<HandlerResult>;

/** Everything from which the handler of a node is created. */
export interface HandlerContext {
  config: Config;
  evaluate: Evaluate;
  /** Throws NOT_CONFIGURED or CLOSED. */
  account: () => SharedAccount;
}

interface InputHandlerOptions {
  handle: Handle;
  status: StatusDisplay;
  translate: Translate;
  /** What the node's account knows now. */
  store: () => ReadonlyStripStore;
  /** Ends the commands of this owner that the node has submitted to its account. */
  cancel: (owner: object) => void;
  /** Logs a sentence about a message if Catch and Complete nodes cannot be told. */
  warn: (sentence: string) => void;
}

interface Pending extends Input {
  readonly send: (msg: Message) => void;
  readonly done: (error?: Error) => void;
  readonly activity: Activity;
  isSubmitted: boolean;
}

/**
 * Handles a node's messages. Each ends with exactly one call of `done`, whatever goes wrong. Nothing is thrown to the runtime. Once the node is closed,
 * nothing is sent or shown.
 */
export class InputHandler {
  readonly #pending: Pending[] = [];

  constructor(private readonly options: InputHandlerOptions) {}

  receive(msg: Message, send: (msg: Message) => void, done: (error?: Error) => void): void {
    const { handle, status } = this.options;
    const activity = status.begin();
    const pending: Pending = {
      msg,
      target: { mac: null, port: null, requested: null },
      submit: () => {
        if (activity.timer === null) throw closedError('notSent');
        pending.isSubmitted = true;
        return { owner: this, onProgress: (progress) => status.progress(activity, progress) };
      },
      send,
      done,
      activity,
      isSubmitted: false,
    };
    this.#pending.push(pending);
    if (!isWritable(msg)) {
      this.#fail(pending, new StripError('INVALID_INPUT.frozen'));
      return;
    }
    handle(pending).then(
      (answer) => this.#succeed(pending, answer),
      (error: unknown) => this.#fail(pending, error),
    );
  }

  /** Ends all messages with CLOSED, while a Catch node may still be there to receive it; those with commands by ending their commands. */
  close(): void {
    const { status, cancel } = this.options;
    status.close();
    cancel(this);
    const unsubmitted = this.#pending.filter(({ isSubmitted }) => !isSubmitted);
    for (const pending of unsubmitted) this.#fail(pending, closedError('notSent'));
  }

  #succeed(pending: Pending, { messages, status }: HandlerResult): void {
    if (!this.#end(pending, status)) return;
    let failure: Error | undefined;
    try {
      for (const message of messages) pending.send(message);
    } catch {
      // Node-RED catches errors of other nodes, so only copying the message can fail here.
      failure = this.#uncopied();
    }
    this.#done(pending, failure);
  }

  #fail(pending: Pending, error: unknown): void {
    const { translate } = this.options;
    const store = this.options.store();
    const failure = errorForDone(error, translate, store);
    if (!this.#end(pending, errorStatus(failure.code))) return;
    const { msg, target } = pending;
    try {
      msg.strip = error instanceof CommandsFailed ? error.strips : failedStrip(target, error, store);
    } catch {
      // A frozen message: its error is reported without `msg.strip`.
    }
    this.#done(pending, failure);
  }

  /** Returns false if the message has ended already. */
  #end(pending: Pending, status: NodeStatus): boolean {
    const index = this.#pending.indexOf(pending);
    if (index < 0) return false;
    this.#pending.splice(index, 1);
    this.options.status.end(pending.activity, status);
    return true;
  }

  #done({ done }: Pending, failure: Error | undefined): void {
    try {
      done(failure);
    } catch {
      // Node-RED cannot copy the message for its Catch or Complete nodes.
      this.options.warn((failure ?? this.#uncopied()).message);
    }
  }

  #uncopied(): Error {
    const { translate, store } = this.options;
    return errorForDone(new StripError('INVALID_INPUT.uncopied'), translate, store());
  }
}

/** Whether an answer can be written into a message. Checked before anything is switched. */
function isWritable(msg: Message): boolean {
  const isFree = (name: string): boolean => {
    const property = Object.getOwnPropertyDescriptor(msg, name);
    return property === undefined || property.writable === true;
  };
  try {
    return Object.isExtensible(msg) && ['payload', 'strip', 'response'].every(isFree);
  } catch {
    return false; // a proxy whose traps throw
  }
}
