import type { NextFunction, Request, Response } from 'express';
import type { Node, NodeAPI } from 'node-red';
import {
  parseConnectionTest,
  previewOf,
  testFailed,
  testSucceeded,
  type AnswerPreview,
  type ConnectionTest,
  type ConnectionTestResult,
} from '../../src/flow/connection-test';
import { parseBaseUrl, type BaseUrl } from '../../src/api/connection-settings';
import { isStripError, StripError } from '../../src/api/errors';
import type { Service, Strip } from '../../src/api/types';
import { environmentVariable } from '../../src/values';
import { connect, hidingOf, mappingOf } from './connection';

/** What the editor may learn from an account that runs. */
export interface DeployedAccount {
  readonly node: Node;
  /** Where its requests go; `null` where its settings are not in order. */
  readonly baseUrl: BaseUrl | null;
  /** What it knows without asking. */
  strips(): Strip[];
  /** Takes its API key out of a text that is to be shown. */
  hideKey(text: string): string;
  /** The service over its own connection and with its own key. Throws NOT_CONFIGURED. */
  service(): Reads;
}

type Reads = Pick<Service, 'list' | 'get'>;

/**
 * What the edit dialogs ask of the runtime: the strips of a deployed account (`strip-account.read`), and of settings that need not be
 * deployed (`strip-account.write`). Accounts come and go with deploys while routes stay, so `find` looks one up by id each time.
 */
export function registerAdmin(RED: NodeAPI, find: (id: string) => DeployedAccount | undefined): void {
  RED.httpAdmin.post(
    '/strip-account/test',
    RED.auth.needsPermission('strip-account.write'),
    requireJson,
    (request, response, next) => {
      const body: unknown = request.body;
      const test = parseConnectionTest(body);
      if (test === null) {
        response.sendStatus(400);
        return;
      }
      testConnection(RED, test, find(test.id)).then((answer) => response.json(answer), next);
    },
  );

  RED.httpAdmin.get(
    '/strip-account/:id/strips',
    RED.auth.needsPermission('strip-account.read'),
    (request, response, next) => {
      const account = find(String(request.params.id));
      if (!account) {
        response.sendStatus(404);
        return;
      }
      const answer =
        request.query.refresh === undefined
          ? Promise.resolve(testSucceeded(account.strips(), true))
          : listOf(account);
      answer.then((told) => response.json(told), next);
    },
  );
}

/**
 * For every route that writes: lets nothing but JSON through, and answers 415 before anything is read. A page of another site can make a
 * browser send a form, with the login of whoever uses it, but not JSON.
 */
export function requireJson(request: Request, response: Response, next: NextFunction): void {
  if (request.is('application/json') === 'application/json') next();
  else response.sendStatus(415);
}

/** What the service answers to the dialog's settings, and what is read from it with the dialog's mapping. */
async function testConnection(
  RED: NodeAPI,
  test: ConnectionTest,
  deployed: DeployedAccount | undefined,
): Promise<AnswerPreview | ConnectionTestResult> {
  const hideTyped = hidingOf(test.apiKey === null ? '' : variable(RED, test.apiKey, deployed?.node));
  const hideKey = (text: string) => hideTyped(deployed?.hideKey(text) ?? text);
  try {
    const mapping = mappingOf(RED, test.mapping, deployed?.node, hideKey);
    const body = test.again === null ? await ask(RED, test, deployed) : test.again.body;
    return await previewOf(body, test.mac, mapping, hideKey);
  } catch (error) {
    return testFailed(error);
  }
}

/** The body of the answer, with the settings of the dialog. */
async function ask(
  RED: NodeAPI,
  test: ConnectionTest,
  deployed: DeployedAccount | undefined,
): Promise<unknown> {
  const baseUrl = parseBaseUrl(variable(RED, test.baseUrl, deployed?.node));
  const isDeployed = deployed?.baseUrl?.url.href === baseUrl.url.href;
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

/** The stored key goes nowhere but to the address it was deployed with, and over that account's own connection. */
function withStoredKey(baseUrl: BaseUrl, deployed: DeployedAccount | undefined): Reads {
  if (!deployed) throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.keyMissing');
  if (deployed.baseUrl?.url.href !== baseUrl.url.href)
    throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.keyAgain');
  return deployed.service();
}

async function listOf(account: DeployedAccount): Promise<ConnectionTestResult> {
  try {
    const { strips, readable } = await account.service().list();
    return testSucceeded(strips, readable);
  } catch (error) {
    return testFailed(error);
  }
}

/** `${NAME}` as a deploy would resolve it; what is not set stays as it is, for the error to name it. */
function variable(RED: NodeAPI, text: string, node: Node | undefined): string {
  const name = environmentVariable(text);
  if (name === null) return text;
  const value: unknown = node ? RED.util.evaluateNodeProperty(name, 'env', node, {}) : process.env[name];
  return typeof value === 'string' && value !== '' ? value : text;
}
