import type { Node, NodeAPI } from 'node-red';
import type { AccountLog } from '../src/account/types';
import type { StripError } from '../src/api/errors';
import { defectText, outletText, sentenceOf, type Translate } from '../src/flow/node-error';
import { LazyAccount } from '../src/flow/shared-account';
import { textOf } from '../src/settings';
import type * as Connection from './shared/connection';
import { findAccount, registerAccount } from './shared/flow-node';
import type { AccountNode, Credentials, Definition } from './shared/flow-node';
import { adminRoute, translator } from './shared/runtime';

export = (RED: NodeAPI): void => {
  const translate = translator(RED);

  function StripAccount(this: Node<Credentials>, def: Definition): void {
    RED.nodes.createNode(this, def);
    const apiKey = textOf(this.credentials, 'apiKey');
    // The node object may be shown or logged, so it must not hold the key.
    this.credentials = {};

    const { createAccount } = loadConnection();
    const account: LazyAccount = new LazyAccount(
      () => createAccount(RED, accountNode, log),
      (count) => this.warn(translate('notice.dropped', { count })),
    );
    const log = logOf(this, translate, account);
    const accountNode: AccountNode = { node: this, config: def, account, storedKey: () => apiKey };
    registerAccount(accountNode);

    this.on('close', (done: () => void) => {
      account.close().then(done, (error: unknown) => {
        this.warn(defectText(error, translate));
        done();
      });
    });
  }

  RED.nodes.registerType<Node<Credentials>, Definition, object, Credentials>('strip-account', StripAccount, {
    credentials: { apiKey: { type: 'password' } },
  });

  const mayRead = RED.auth.needsPermission('strip-account.read');
  const mayWrite = RED.auth.needsPermission('strip-account.write');
  // The test can send any environment variable to any address, so it also needs the permission to deploy.
  const mayDeploy = RED.auth.needsPermission('flows.write');
  adminRoute(RED, 'post', '/strip-account/test', [mayWrite, mayDeploy], ({ body }) =>
    loadConnection().testConnection(RED, body),
  );
  adminRoute(RED, 'get', '/strip-account/:id/strips', mayRead, ({ params, query }) => {
    const deployed = findAccount(RED, String(params.id));
    return deployed === undefined ? 404 : loadConnection().listStrips(deployed, query.refresh !== undefined);
  });
};

/**
 * Loads the account, its client and the decoder with the first account node. They are half of the code: loaded earlier, they would delay the start of
 * every Node-RED that has this package installed (`npm run bench -- --only=footprint`). Loaded when an account is first used, they could be those of
 * an update that waits for a restart, and not fit the code that runs.
 */
const loadConnection = () => require('./shared/connection') as typeof Connection;

/** Logs what the account reports. A log line never carries a message: it would reach the Catch nodes of all users of the account. */
function logOf(node: Node<Credentials>, translate: Translate, account: LazyAccount): AccountLog {
  const warn = (key: string, params = {}) => node.warn(translate(`notice.${key}`, params));
  const reasonOf = (error: StripError) => sentenceOf(error, translate, account.store);
  return {
    failing: (what, error) =>
      warn(what === 'list' ? 'failing' : 'readingsFailing', { reason: reasonOf(error) }),
    recovered: (what) => warn(what === 'list' ? 'recovered' : 'readingsRecovered'),
    retrying: (error) => warn('retrying', { reason: reasonOf(error) }),
    retryingOver: () => warn('retryingOver'),
    rateLimited: (seconds) => warn('rateLimited', { seconds }),
    unknownOutlet: (kind, mac, port) =>
      warn(kind === 'protected' ? 'unknownProtected' : 'unknownNamed', { mac, port }),
    unreadable: (what) => warn(what === 'list' ? 'unreadableList' : 'unreadableStrip'),
    notRestored: ({ mac, port }, error) => {
      const outlet = outletText({ mac, port }, translate, account.store);
      // The sentence of CLOSED asks to send the message again, which would start another cycle.
      const reason = error.code === 'CLOSED' ? '' : reasonOf(error);
      node.error(translate('notice.notRestored', { outlet, reason }).trim());
    },
    fault: (error) => node.warn(defectText(error, translate)),
  };
}
