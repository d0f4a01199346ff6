// The parts of Node-RED's runtime that the nodes use: its language, its deploys and its admin API.
import { EventEmitter, once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { NodeAPI } from 'node-red';
import { editorError, type Translate } from '../../src/flow/node-error';
import { CATALOGUE } from '../../src/flow/node-status';
import { textOf } from '../../src/settings';
import { fill, isRecord, ownProperty } from '../../src/values';
import catalogue from '../locales/en-US/strip-account.json';

/** Sentences of the account's catalogue in the runtime's language; in English if the runtime has none. */
export const translator =
  (RED: NodeAPI): Translate =>
  (key, params = {}) => {
    const id = CATALOGUE + key;
    const text: unknown = RED._(id, { skipInterpolation: 1 });
    const isTranslated = typeof text === 'string' && ![id, key, ''].includes(text);
    return fill(isTranslated ? text : englishText(key), params);
  };

function englishText(key: string): string {
  const text = key.split('.').reduce<unknown>((texts, name) => ownProperty(texts, name), catalogue);
  return typeof text === 'string' ? text : key;
}

/** Emits `stopped`, `ended` and `started` at each deploy. Not the runtime's own event emitter, which warns of many listeners. */
const deploys = new EventEmitter().setMaxListeners(0);
const watched = new WeakSet();
/** How far a deploy is; `null`: none is going on. */
let phase: 'stopping' | 'starting' | null = null;

/** Follows the deploys from now on. */
export function watchDeploys(RED: NodeAPI): void {
  if (watched.has(RED.events)) return;
  watched.add(RED.events);
  const enter = (next: typeof phase, ...events: string[]) => {
    phase = next;
    for (const event of events) deploys.emit(event);
  };
  RED.events.on('flows:stopping', () => enter('stopping'));
  RED.events.on('flows:stopped', () => enter('starting', 'stopped'));
  RED.events.on('flows:starting', () => enter('starting'));
  RED.events.on('flows:started', () => enter(null, 'ended', 'started'));
  RED.events.on('runtime-event', (event: unknown) => {
    if (isStop(event)) enter(null, 'ended');
  });
}

/**
 * Whether an event of the runtime says that no flow runs and that none is about to: they were stopped, a node type or a module is missing, or
 * Node-RED is in safe mode.
 */
function isStop(event: unknown): boolean {
  const payload = isRecord(event) && event.id === 'runtime-state' ? event.payload : null;
  return (
    isRecord(payload) && (payload.state === 'stop' || payload.state === 'safe') && payload.deploy !== true
  );
}

/** Resolves when the current deploy has ended; `null`: there is none. */
export const deployEnded = (): Promise<unknown> | null => (phase !== null ? once(deploys, 'ended') : null);

/**
 * Calls back at the end of each deploy, when all nodes of the flows exist: a message sent earlier may not find its receiver. Returns a function
 * that ends this.
 */
export function onStarted(RED: NodeAPI, listener: () => void): () => void {
  watchDeploys(RED);
  deploys.on('started', listener);
  return () => deploys.off('started', listener);
}

/** Calls back at once or, while a deploy stops nodes, when all of these have closed. */
export function whenStopped(callback: () => void): void {
  if (phase === 'stopping') deploys.once('stopped', callback);
  else callback();
}

/** Ids of the deployed nodes of a type, in the order of the flow file. */
export function idsOf(RED: NodeAPI, type: string): string[] {
  const ids: string[] = [];
  try {
    RED.nodes.eachNode((node) => {
      if (node.type === type) ids.push(node.id);
    });
  } catch {
    // Node-RED throws if it could not load its flows, for example because a project's credentials cannot be decrypted. Then nothing is deployed.
  }
  return ids;
}

/**
 * Adds a route to Node-RED's admin API. It answers with the JSON that `work` returns or, if that is a number, only with this status. If `work` throws a
 * `StripError`, it answers with what the editor can show of it.
 */
export function adminRoute(
  RED: NodeAPI,
  method: 'get' | 'post',
  path: string,
  permission: RequestHandler | RequestHandler[],
  work: (request: Request) => object | number | Promise<object | number>,
): void {
  watchDeploys(RED);
  const answer = async (request: Request, response: Response): Promise<void> => {
    let result: object | number;
    // During a deploy there may be no accounts.
    await deployEnded();
    try {
      result = await work(request);
    } catch (error) {
      result = { ok: false, ...editorError(error) };
    }
    response.set('Cache-Control', 'no-store');
    if (typeof result === 'number') response.sendStatus(result);
    else response.json(result);
  };
  const route = RED.httpAdmin.route(path);
  route[method](permission);
  if (method === 'post') route.post(requireJson);
  route[method]((request, response, next) => void answer(request, response).catch(next));
}

/**
 * Accepts JSON only, and answers 415 to anything else before it is read. A page of another site can make a browser send a form with the user's
 * login, but not JSON.
 */
function requireJson(request: Request, response: Response, next: NextFunction): void {
  if (request.is('application/json') === 'application/json') next();
  else response.sendStatus(415);
}

const manifests = ['../..', '../../..'].map((folder) => join(__dirname, folder, 'package.json'));

/**
 * Version of this package, from its package.json. From the built files, that is one folder further up. It is read together with the code: an update
 * replaces the file, but its code runs only after a restart of Node-RED.
 */
export const PACKAGE_VERSION = textOf(
  JSON.parse(readFileSync(manifests.find((file) => existsSync(file)) ?? '', 'utf8')),
  'version',
);
