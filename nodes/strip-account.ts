import type { Node, NodeAPI } from 'node-red';
import { Account } from '../src/account/account';
import type { AccountLog } from '../src/account/types';
import { systemClock } from '../src/api/clock';
import { parseBaseUrl } from '../src/api/endpoint';
import { isStripError } from '../src/api/errors';
import { readAccount } from '../src/flow/account-config';
import type { Translate } from '../src/flow/catalogue';
import { textOf } from '../src/flow/config';
import { sentenceOf } from '../src/flow/failure';
import { LazyAccount } from '../src/flow/live';
import { findAccount, provide } from './shared/accounts';
import { registerAdmin } from './shared/admin';
import { connect } from './shared/connection';
import { describeFault } from './shared/faults';
import type { Definition } from './shared/input-node';
import { translator } from './shared/translate';

interface Credentials {
  apiKey?: unknown;
}

export = (RED: NodeAPI): void => {
  const translate = translator(RED);

  function StripAccount(this: Node<Credentials>, def: Definition): void {
    RED.nodes.createNode(this, def);
    const apiKey = typeof this.credentials.apiKey === 'string' ? this.credentials.apiKey : '';
    // Nobody who gets hold of the node, to show or to log it, gets the key with it.
    this.credentials = {};

    const account = new LazyAccount(() => {
      const { baseUrl, tls, proxy, settings } = readAccount(def);
      const endpoint = parseBaseUrl(baseUrl);
      const { concurrency: connections, timeout } = settings;
      const service = connect(RED, { endpoint, apiKey, timeout, connections, tls, proxy }, 'Missing');
      return new Account({ service, settings, clock: systemClock, log: logOf(this, translate) });
    });
    provide({ node: this, account, baseUrl: textOf(def, 'baseUrl') });

    this.on('close', (done: () => void) => {
      account.close().then(done, (error: unknown) => {
        this.warn(describeFault(error, translate));
        done();
      });
    });
  }

  RED.nodes.registerType<Node<Credentials>, Definition, object, Credentials>('strip-account', StripAccount, {
    credentials: { apiKey: { type: 'password' } },
  });

  registerAdmin(RED, (id) => {
    const link = findAccount(RED, id);
    if (link === undefined) return undefined;
    const { node, account, baseUrl } = link;
    return {
      node,
      endpoint: endpointOf(baseUrl),
      strips: () => account.strips(),
      list: async () => await account.get().list(),
    };
  });
};

/** What the account itself has to say. Never with a message: that would reach the Catch nodes of all its users. */
function logOf(node: Node<Credentials>, translate: Translate): AccountLog {
  const warn = (key: string, params = {}) => node.warn(translate(`notice.${key}`, params));
  return {
    failing: (error) => warn('failing', { reason: sentenceOf(error, translate) }),
    recovered: () => warn('recovered'),
    unreadable: (what) => warn(what === 'list' ? 'unreadableList' : 'unreadableStrip'),
    dropped: (count) => warn('dropped', { count }),
    retrying: () => undefined,
    retryingOver: () => undefined,
    rateLimited: () => undefined,
    unknownOutlet: () => undefined,
    notRestored: ({ mac, port }, error) =>
      node.error(translate('notice.notRestored', { mac, port, reason: sentenceOf(error, translate) })),
    fault: (error) => node.warn(describeFault(error, translate)),
  };
}

function endpointOf(baseUrl: string): URL | null {
  try {
    return parseBaseUrl(baseUrl);
  } catch (error) {
    if (isStripError(error)) return null;
    throw error;
  }
}
