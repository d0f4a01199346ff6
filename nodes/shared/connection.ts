import type { Node, NodeAPI } from 'node-red';
import { Account } from '../../src/account/account';
import type { AccountLog } from '../../src/account/types';
import { Client } from '../../src/api/client';
import { systemClock } from '../../src/api/clock';
import { createDispatcher, type TlsOptions } from '../../src/api/dispatcher';
import { checkApiKey, parseBaseUrl, type BaseUrl } from '../../src/api/connection-settings';
import { StripError } from '../../src/api/errors';
import { createMapping, type Expression, type Mapping } from '../../src/api/mapping';
import type { ProxySettings } from '../../src/api/proxy';
import { readAccountConfig } from '../../src/flow/shared-account';
import { textOf, type Config } from '../../src/settings';
import { SimulatorDispatcher } from '../../src/simulator/dispatcher';
import { normalisePath, simulators } from '../../src/simulator/registry';
import { isRecord } from '../../src/values';
import { deployEnded } from './deploys';

/** Where and how to connect, typed in a dialog or deployed. */
export interface ConnectionSettings {
  /** As `parseBaseUrl` returns it. */
  baseUrl: BaseUrl;
  /** As it was typed. */
  apiKey: string;
  /** Milliseconds for one request. */
  timeout: number;
  /** Connections at once, and with them requests. */
  connections: number;
  /** Ids of Node-RED's own config nodes; "": none. */
  tls: string;
  proxy: string;
  /** For the answers to reads, if one is set. */
  mapping?: Mapping | null;
}

/** What a simulator in this Node-RED is sent where the account has no key. */
const KEY_FOR_SIMULATOR = 'simulator';

/** The account behind an account node. Throws NOT_CONFIGURED. */
export function createAccount(
  RED: NodeAPI,
  node: Node,
  def: Config,
  { apiKey, hideKey, log }: { apiKey: string; hideKey: (text: string) => string; log: AccountLog },
): Account {
  const { settings, ...config } = readAccountConfig(def);
  const baseUrl = parseBaseUrl(config.baseUrl);
  const { concurrency: connections, timeout } = settings;
  const mapping = mappingOf(RED, textOf(def, 'mapping'), node, hideKey);
  const service = connect(RED, { ...config, baseUrl, apiKey, timeout, connections, mapping }, 'Missing');
  return new Account({ service, settings, clock: systemClock, log });
}

/** What to say of a TLS or proxy node that the runtime does not know. */
type Absence = 'Undeployed' | 'Missing';

/** A client with connections of its own, which it closes; for a simulator in this Node-RED, one without. Throws NOT_CONFIGURED. */
export function connect(
  RED: NodeAPI,
  { baseUrl, apiKey, timeout, connections, tls, proxy, mapping }: ConnectionSettings,
  absence: Absence,
): Client {
  const { simulator } = baseUrl;
  const options = { baseUrl, timeout, clock: systemClock, ...(mapping ? { mapping } : {}) };
  if (simulator !== null) {
    const key = apiKey.trim() === '' ? KEY_FOR_SIMULATOR : checkApiKey(apiKey);
    return new Client({ ...options, apiKey: key, dispatcher: simulatorDispatcher(simulator) });
  }
  const key = checkApiKey(apiKey);
  const dispatcher = createDispatcher({
    origin: baseUrl.url.origin,
    connections,
    ...(tls === '' ? {} : { connect: tlsOptions(RED.nodes.getNode(tls), absence) }),
    ...(proxy === '' ? {} : { proxy: proxyOptions(RED.nodes.getNode(proxy), absence) }),
  });
  return new Client({ ...options, apiKey: key, dispatcher });
}

/**
 * The mapping that an expression in the account's dialog makes; `null` where there is none. `node`: whose context and environment the
 * expression may use; `hideKey`: removes the API key from a text before an error
 * shows it.
 */
export function mappingOf(
  RED: NodeAPI,
  expression: string,
  node: Node | undefined,
  hideKey: (text: string) => string,
): Mapping | null {
  if (expression.trim() === '') return null;
  // The runtime needs a node only to find contexts and variables, and knows how to do without.
  const util: { prepareJSONataExpression(expression: string, node?: Node): Expression } = RED.util;
  const prepare = (): Expression => util.prepareJSONataExpression(expression, node);
  return createMapping(prepare, hideKey);
}

/** Hands requests to the simulator with this path. During a deploy they wait for one until the deploy has ended. */
function simulatorDispatcher(typed: string): SimulatorDispatcher {
  const path = normalisePath(typed);
  return new SimulatorDispatcher(path ?? typed, async () => {
    if (path === null) return null;
    let deploy = deployEnded();
    while (deploy !== null && simulators.at(path) === null) {
      await deploy;
      deploy = deployEnded();
    }
    return simulators.at(path);
  });
}

function tlsOptions(node: unknown, absence: Absence): TlsOptions {
  if (!isRecord(node) || typeof node.addTLSOptions !== 'function') {
    throw new StripError('NOT_CONFIGURED', `NOT_CONFIGURED.tls${absence}`);
  }
  const options: TlsOptions = {};
  Reflect.apply(node.addTLSOptions, node, [options]);
  return options;
}

function proxyOptions(node: unknown, absence: Absence): ProxySettings {
  if (!isRecord(node) || typeof node.url !== 'string') {
    throw new StripError('NOT_CONFIGURED', `NOT_CONFIGURED.proxy${absence}`);
  }
  const credentials = isRecord(node.credentials) ? node.credentials : {};
  return {
    url: node.url,
    noProxy: Array.isArray(node.noproxy) ? node.noproxy.filter((host) => typeof host === 'string') : [],
    ...(typeof credentials.username === 'string' ? { username: credentials.username } : {}),
    ...(typeof credentials.password === 'string' ? { password: credentials.password } : {}),
  };
}
