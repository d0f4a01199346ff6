import { promisify } from 'node:util';
import type { Node, NodeAPI, NodeDef } from 'node-red';
import { asError, StripError, valueOrNull } from '../../src/api/errors';
import { systemClock } from '../../src/api/types';
import { InputHandler, type Handle, type HandlerContext } from '../../src/flow/input-handler';
import { EMPTY_STORE, reportedError, sentenceOf } from '../../src/flow/node-error';
import { errorStatus, StatusDisplay } from '../../src/flow/node-status';
import { unusableAccount, type LazyAccount, type UsedAccount } from '../../src/flow/shared-account';
import { requireSet, textOf, type Config } from '../../src/settings';
import { deployEnded, onStarted, translator, watchDeploys } from './runtime';

export type Definition = NodeDef & Record<string, unknown>;

/** Credentials of an account or a simulator, as they were stored: missing, or of any type. */
export interface Credentials {
  apiKey?: unknown;
}

/** Registers a node that answers messages. `createHandler` is called once for each node; if it throws NOT_CONFIGURED, each message fails with that. */
export function registerInputNode(
  RED: NodeAPI,
  type: string,
  createHandler: (context: HandlerContext) => Handle,
): void {
  watchDeploys(RED);
  const evaluate = promisify(RED.util.evaluateNodeProperty.bind(RED.util));

  function InputNode(this: Node, def: Definition): void {
    RED.nodes.createNode(this, def);
    const id = textOf(def, 'account');
    let handle: Handle;
    try {
      handle = createHandler({
        config: def,
        evaluate: (value, kind, msg) => evaluate(value, kind, this, msg),
        account: () => accountOf(RED, id).account.get(),
      });
    } catch (error) {
      const failure = asError(error);
      handle = () => Promise.reject(failure);
    }
    const handleAfterDeploy: Handle = async (input) => {
      // A node in a subflow stays while a deploy replaces its account, and may get a message when there is none.
      if (findAccount(RED, id) === undefined) await deployEnded();
      return await handle(input);
    };
    handleInput(RED, this, def, statusDisplay(this), handleAfterDeploy);
  }

  RED.nodes.registerType(type, InputNode);
}

/** Passes a node's messages to `handle`. */
export function handleInput(
  RED: NodeAPI,
  node: Node,
  def: Definition,
  status: StatusDisplay,
  handle: Handle,
): void {
  const id = textOf(def, 'account');
  /** The account at the latest message: when the node is closed, the runtime may not know it any more. */
  let known: LazyAccount | undefined;
  const account = () => findAccount(RED, id)?.account ?? known;
  const translate = translator(RED);
  const handler = new InputHandler({
    handle,
    status,
    translate,
    store: () => account()?.store ?? EMPTY_STORE,
    cancel: (owner) => account()?.cancel(owner),
    warn: (sentence) => node.warn(sentence),
  });
  node.on('input', (msg, send, done) => {
    known = account();
    handler.receive(msg, send, done);
  });
  node.on('close', () => handler.close());
}

/** The status of a new node. */
export const statusDisplay = (node: Node): StatusDisplay =>
  new StatusDisplay((status) => node.status(status ?? {}), systemClock);

/** An account node, as the other nodes of this package use it. */
export interface AccountNode {
  readonly node: Node;
  readonly config: Config;
  readonly account: LazyAccount;
  /** Returns its API key, to be sent only to its base URL and only through its TLS and proxy nodes. */
  readonly storedKey: () => string;
}

const accountNodes = new WeakMap<object, AccountNode>();

/** Lets `findAccount` find an account node. */
export function registerAccount(accountNode: AccountNode): void {
  accountNodes.set(accountNode.node, accountNode);
}

/** The account node with this id, if it is deployed and not disabled. */
export const findAccount = (RED: NodeAPI, id: string): AccountNode | undefined =>
  accountNodes.get(RED.nodes.getNode(id));

/** The account node that a flow node uses. Throws NOT_CONFIGURED. */
export function accountOf(RED: NodeAPI, id: string): AccountNode {
  const accountNode = findAccount(RED, id);
  if (accountNode !== undefined) return accountNode;
  requireSet(id);
  throw new StripError('NOT_CONFIGURED.account');
}

interface StartOptions {
  display: StatusDisplay;
  /** Key below `notice` in `strip-account.json` of the sentence that is logged if the node cannot start. */
  notice: string;
  /**
   * Returns a function that ends it; throws if it cannot start. If the account cannot be used, another object takes its place, so that the node tells
   * that nothing is available.
   */
  start: (account: UsedAccount) => () => void;
}

/**
 * Starts a node that works without messages as soon as all nodes of the flows exist, and ends it when the node is closed. Starts it again after a
 * deploy that has replaced its account but not the node: Node-RED does that with a node in a subflow, if the instance of the subflow names the account.
 */
export function startWithAccount(
  RED: NodeAPI,
  node: Node,
  def: Definition,
  { display, notice, start }: StartOptions,
): void {
  const id = textOf(def, 'account');
  /** The account that it has started with; `null`: it has not started. */
  let startedWith: AccountNode | null = null;
  /** The sentence that was logged because it could not start; "": it has started. */
  let logged = '';
  let stop = (): void => undefined;
  const cancel = onStarted(RED, () => {
    // After a failure it tries again even with the same account: what was missing, such as a TLS node, may have been deployed since.
    if (findAccount(RED, id) === startedWith) return;
    try {
      startedWith = accountOf(RED, id);
      const account = startedWith.account.get();
      stop();
      stop = () => undefined;
      stop = start(account);
      logged = '';
    } catch (error) {
      startedWith = null;
      const translate = translator(RED);
      const reported = reportedError(error, translate);
      const sentence = sentenceOf(reported, translate);
      // If the reason is still the same, there is nothing new to tell.
      if (sentence === logged) return;
      stop();
      display.set(errorStatus(reported.code));
      node.warn(translate(`notice.${notice}`, { reason: sentence }));
      logged = sentence;
      // This fails too if the reason is in the node itself. Then it tells nothing.
      stop = valueOrNull(() => start(unusableAccount(reported))) ?? (() => undefined);
    }
  });
  node.on('close', () => {
    cancel();
    stop();
  });
}
