import type { Node, NodeAPI } from 'node-red';
import { parseBaseUrl, type BaseUrl } from '../../src/api/connection-settings';
import { isStripError, StripError } from '../../src/api/errors';
import type { Service } from '../../src/api/types';
import {
  parseConnectionTest,
  previewOf,
  testSucceeded,
  type AnswerPreview,
  type ConnectionTest,
  type ConnectionTestResult,
} from '../../src/flow/connection-test';
import { editorError } from '../../src/flow/node-error';
import { environmentVariable } from '../../src/values';
import { findAccount, keyRemover, type AccountLink } from './accounts';
import { connect, mappingOf } from './connection';

type Reads = Pick<Service, 'list' | 'get'>;

/** The strips of a deployed account: those it knows, or, with `refresh`, those the service lists now. `null`: it is not deployed. */
export async function listStrips(
  RED: NodeAPI,
  id: string,
  refresh: boolean,
): Promise<ConnectionTestResult | null> {
  const account = findAccount(RED, id)?.account;
  if (account === undefined) return null;
  if (!refresh) return testSucceeded(account.strips(), true);
  try {
    const { strips, readable } = await account.get().list();
    return testSucceeded(strips, readable);
  } catch (error) {
    return { ok: false, ...editorError(error) };
  }
}

/**
 * What the service answers to the dialog's settings, and what is read from it with the dialog's mapping. `null`: the dialog sends no such
 * request.
 */
export async function testConnection(
  RED: NodeAPI,
  request: unknown,
): Promise<AnswerPreview | ConnectionTestResult | null> {
  const test = parseConnectionTest(request);
  if (test === null) return null;
  const deployed = findAccount(RED, test.id);
  const hideTyped = keyRemover(test.apiKey === null ? '' : variable(RED, test.apiKey, deployed?.node));
  const hideKey = (text: string) => hideTyped(deployed?.hideKey(text) ?? text);
  try {
    const mapping = mappingOf(RED, test.mapping, deployed?.node, hideKey);
    const body = test.again === null ? await ask(RED, test, deployed) : test.again.body;
    return await previewOf(body, test.mac, mapping, hideKey);
  } catch (error) {
    return { ok: false, ...editorError(error) };
  }
}

/** The body of the answer, with the settings of the dialog. */
async function ask(RED: NodeAPI, test: ConnectionTest, deployed: AccountLink | undefined): Promise<unknown> {
  const baseUrl = parseBaseUrl(variable(RED, test.baseUrl, deployed?.node));
  const isDeployed = deployed !== undefined && isAt(baseUrl, deployed);
  // A simulator in this Node-RED needs no key, so none is stored for it.
  const needsStoredKey = test.apiKey === null && (isDeployed || baseUrl.simulator === null);
  if (needsStoredKey) return await read(withStoredKey(baseUrl, deployed), test.mac);
  const apiKey = variable(RED, test.apiKey ?? '', deployed?.node);
  const { timeout, tls, proxy } = test;
  const client = connect(RED, { baseUrl, apiKey, timeout, connections: 1, tls, proxy }, 'Undeployed');
  try {
    return await read(client, test.mac);
  } finally {
    await client.close(0);
  }
}

/** The answer's body, also where the mapping that is deployed fails on it. */
async function read(service: Reads, mac: string): Promise<unknown> {
  try {
    return (await (mac === '' ? service.list() : service.get(mac))).response;
  } catch (error) {
    if (isStripError(error) && error.sentence.startsWith('BAD_RESPONSE.mapping')) return error.response;
    throw error;
  }
}

/** The stored key is sent only to the address it was deployed with, over that account's own connection. */
function withStoredKey(baseUrl: BaseUrl, deployed: AccountLink | undefined): Reads {
  if (!deployed) throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.keyMissing');
  if (!isAt(baseUrl, deployed)) throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.keyAgain');
  return deployed.account.get();
}

/** Whether a deployed account sends its requests to this address. */
function isAt({ url }: BaseUrl, deployed: AccountLink): boolean {
  try {
    return parseBaseUrl(deployed.baseUrl).url.href === url.href;
  } catch {
    return false; // its base URL is not valid
  }
}

/** `${NAME}` as a deploy would resolve it; what is not set stays as it is, for the error to name it. */
function variable(RED: NodeAPI, text: string, node: Node | undefined): string {
  const name = environmentVariable(text);
  if (name === null) return text;
  const value: unknown = node ? RED.util.evaluateNodeProperty(name, 'env', node, {}) : process.env[name];
  return typeof value === 'string' && value !== '' ? value : text;
}
