import type { Node, NodeAPI } from 'node-red';
import { Account } from '../../src/account/account';
import type { AccountLog } from '../../src/account/types';
import { Client, type ClientOptions } from '../../src/api/client';
import { PooledDispatcher, type TlsOptions } from '../../src/api/dispatcher';
import { checkApiKey, parseBaseUrl } from '../../src/api/connection-settings';
import { StripError, valueOrNull } from '../../src/api/errors';
import { createMapping, type Expression, type Mapping } from '../../src/api/mapping';
import type { ProxySettings } from '../../src/api/proxy';
import { systemClock } from '../../src/api/types';
import type { SentAnswer, StripsAnswer } from '../../src/flow/admin-answers';
import { previewOf, readConnectionTest, type ConnectionTest } from '../../src/flow/connection-test';
import { keyRemover, readAccountSettings } from '../../src/flow/shared-account';
import { requireSet, textOf, type Config } from '../../src/settings';
import { simulatorDispatcher, simulators } from '../../src/simulator/registry';
import type { Simulator } from '../../src/simulator/simulator';
import { environmentVariable, isRecord, ownProperty } from '../../src/values';
import { findAccount, type AccountNode } from './flow-node';
import { deployEnded, idsOf } from './runtime';

/** What a client needs besides the address, TLS and proxy in a configuration. */
interface ConnectionOptions extends Pick<ClientOptions, 'timeout' | 'mapping'> {
  /** As it was typed. */
  apiKey: string;
  /** The most connections, and so the most requests, at the same time. */
  connections: number;
  /** Why the runtime does not know a TLS or proxy node: it is not deployed yet, or does not exist. */
  absence: 'Undeployed' | 'Missing';
}

/** The key that is sent to a simulator in this Node-RED if the account has none. */
const KEY_FOR_SIMULATOR = 'simulator';

/** Creates the account of an account node. Throws NOT_CONFIGURED. */
export function createAccount(
  RED: NodeAPI,
  { node, config, storedKey }: AccountNode,
  log: AccountLog,
): Account {
  const settings = readAccountSettings(config);
  const { timeout, concurrency: connections } = settings;
  const apiKey = storedKey();
  const mapping = mappingOf(RED, requireSet(textOf(config, 'mapping')), node, keyRemover(apiKey));
  const options = { apiKey, timeout, connections, mapping, absence: 'Missing' } as const;
  return new Account({ service: connect(RED, config, options), settings, clock: systemClock, log });
}

/**
 * Creates a client and its connections; the client closes them. A simulator in this Node-RED needs no connection. `config`: of an account, or of a
 * connection that is tested. Throws NOT_CONFIGURED.
 */
function connect(
  RED: NodeAPI,
  config: Config,
  { apiKey, timeout, connections, mapping = null, absence }: ConnectionOptions,
): Client {
  const baseUrl = parseBaseUrl(textOf(config, 'baseUrl'));
  const { simulator, url } = baseUrl;
  const key = simulator !== null && apiKey.trim() === '' ? KEY_FOR_SIMULATOR : checkApiKey(apiKey);
  const [tls, proxy] = [textOf(config, 'tls'), textOf(config, 'proxy')];
  const dispatcher =
    simulator !== null
      ? simulatorDispatcher(simulator, () => simulatorAt(simulator))
      : new PooledDispatcher({
          origin: url.origin,
          connections,
          timeout,
          tls: tls === '' ? undefined : tlsOptions(RED.nodes.getNode(requireSet(tls)), absence),
          proxy: proxy === '' ? undefined : proxyOptions(RED.nodes.getNode(requireSet(proxy)), absence),
        });
  return new Client({ baseUrl, apiKey: key, timeout, mapping, clock: systemClock, dispatcher });
}

/**
 * The mapping with the expression from the account's dialog; `null` if there is none. `node`: the expression may use its context and environment;
 * `hideKey`: removes the API key from a text before an error shows it.
 */
function mappingOf(
  RED: NodeAPI,
  expression: string,
  node: Node | undefined,
  hideKey: (text: string) => string,
): Mapping | null {
  if (expression.trim() === '') return null;
  // The runtime needs the node only for contexts and environment variables, and accepts none, although its types do not say so.
  const util: { prepareJSONataExpression(expression: string, node?: Node): Expression } = RED.util;
  const prepare = (): Expression => util.prepareJSONataExpression(expression, node);
  return createMapping(prepare, hideKey);
}

/** The simulator with this path. During a deploy, waits for it until the deploy has ended. */
async function simulatorAt(path: string): Promise<Simulator | null> {
  if (simulators.at(path) === null) await deployEnded();
  return simulators.at(path);
}

function tlsOptions(node: unknown, absence: ConnectionOptions['absence']): TlsOptions {
  if (!isRecord(node) || typeof node.addTLSOptions !== 'function') {
    throw new StripError(`NOT_CONFIGURED.tls${absence}`);
  }
  const options: TlsOptions = {};
  Reflect.apply(node.addTLSOptions, node, [options]);
  return options;
}

function proxyOptions(node: unknown, absence: ConnectionOptions['absence']): ProxySettings {
  if (!isRecord(node) || typeof node.url !== 'string') throw new StripError(`NOT_CONFIGURED.proxy${absence}`);
  const [username, password] = ['username', 'password'].map((name) => ownProperty(node.credentials, name));
  return {
    url: node.url,
    noProxy: Array.isArray(node.noproxy) ? node.noproxy.filter((host) => typeof host === 'string') : [],
    username: typeof username === 'string' ? username : '',
    password: typeof password === 'string' ? password : '',
  };
}

/** The strips of an account: those it knows, or, with `refresh`, those the service lists now. */
export async function listStrips({ account }: AccountNode, refresh: boolean): Promise<StripsAnswer> {
  // The account may know only some of its strips.
  const stored = { strips: account.store.all(), readable: true, complete: false };
  const { strips, readable, complete } = refresh ? await account.get().list() : stored;
  return { ok: true, strips, readable, complete, notes: [] };
}

/** Asks the service with the dialog's settings. Returns its answer, and what is read from it with the dialog's mapping. */
export async function testConnection(RED: NodeAPI, request: unknown): Promise<StripsAnswer> {
  const deployed = findAccount(RED, textOf(request, 'id'));
  const test = readConnectionTest(request, (text) => replaceVariable(RED, text, deployed?.node));
  const hideTyped = keyRemover(test.apiKey ?? '');
  const hideStored = keyRemover(deployed?.storedKey() ?? '');
  const hideKey = (text: string) => hideTyped(hideStored(text));
  const mapping = mappingOf(RED, requireSet(test.mapping), deployed?.node, hideKey);
  const { body, paging } = test.again ?? (await ask(RED, test, deployed));
  return await previewOf(body, test.mac, mapping, hideKey, paging);
}

/** The service's answer: the list, or the strip that the dialog asks for. */
async function ask(
  RED: NodeAPI,
  test: ConnectionTest,
  deployed: AccountNode | undefined,
): Promise<Pick<SentAnswer, 'body' | 'paging'>> {
  const { timeout, mac } = test;
  const apiKey = test.apiKey ?? keyFor(RED, test, deployed);
  const client = connect(RED, test, { apiKey, timeout, connections: 1, absence: 'Undeployed' });
  try {
    if (mac !== '') return { body: (await client.get(mac)).response, paging: {} };
    const { response, paging } = await client.list();
    return { body: response, paging };
  } finally {
    await client.close();
  }
}

/**
 * The stored key; "" if there is none. It may be sent only to the address, and through the TLS and proxy nodes, with which it was deployed. Throws
 * NOT_CONFIGURED for others, and if the account does not run.
 */
function keyFor(RED: NodeAPI, { id, baseUrl, tls, proxy }: ConnectionTest, deployed?: AccountNode): string {
  const { url, simulator } = parseBaseUrl(baseUrl);
  if (deployed !== undefined) {
    const { config, storedKey } = deployed;
    const stored = valueOrNull(() => parseBaseUrl(textOf(config, 'baseUrl')));
    const isSame = stored?.url.href === url.href && stored.simulator === simulator;
    if (isSame && tls === textOf(config, 'tls') && proxy === textOf(config, 'proxy')) return storedKey();
  }
  // A simulator in this Node-RED needs no key. Node-RED keeps the keys of accounts that do not run, too.
  if (simulator !== null || textOf(RED.nodes.getCredentials(id), 'apiKey') === '') return '';
  throw new StripError(`NOT_CONFIGURED.${deployed === undefined ? 'keyUndeployed' : 'keyAgain'}`);
}

/** Replaces `${NAME}` as a deploy would. If the variable is not set, the text stays, so that the error can name it. */
function replaceVariable(RED: NodeAPI, text: string, deployed: Node | undefined): string {
  const name = environmentVariable(text);
  if (name === null) return text;
  // An account that is not deployed can at least use Node-RED's global variables. They are in a node, which exists once any was set.
  const [global] = idsOf(RED, 'global-config');
  const node = deployed ?? (global === undefined ? null : RED.nodes.getNode(global));
  const value: unknown = node ? RED.util.evaluateNodeProperty(name, 'env', node, {}) : process.env[name];
  return textOf({ value }, 'value') || text;
}
