import { WebSocket } from 'undici';
import type { CommsEvent, FlowNode, RunningNodeRed, Status } from './node-red';
import type { Recorder } from './recorder';

/** For settings.js: `admin` may do anything, `guest` may only look, `operator` may switch too, `none` may not even read accounts. The password is "open". */
export const USERS = `
const permissions = { admin: '*', guest: 'read', operator: ['read', 'strip-account.write'], none: ['flows.read', 'settings.read', 'nodes.read', 'plugins.read', 'status.read'] };
const user = (username) => (username in permissions ? { username, permissions: permissions[username] } : null);
settings.adminAuth = {
  type: 'credentials',
  users: (name) => Promise.resolve(user(name)),
  authenticate: (name, password) => Promise.resolve(password === 'open' ? user(name) : null),
};`;

/** A request that posts JSON. */
export const posting = (body: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

/** Gets an access token, for the admin API and the websocket. */
export async function logIn(
  url: string,
  login: { username: string; password: string },
  scope = '*',
): Promise<string> {
  const response = await fetch(
    `${url}/auth/token`,
    posting({ client_id: 'node-red-admin', grant_type: 'password', scope, ...login }),
  );
  if (!response.ok) throw new Error(`logging in: ${response.status} ${await response.text()}`);
  const { access_token: token } = (await response.json()) as { access_token: string };
  return token;
}

/** Opens the editor's websocket and asks for everything. */
export async function listen(
  url: string,
  token: string | undefined,
  comms: Recorder<CommsEvent>,
): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/comms`);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('error', () =>
      reject(new Error('the websocket of Node-RED could not be opened')),
    );
    const subscribe = () => {
      for (const topic of ['debug', 'status/#', 'notification/#']) {
        socket.send(JSON.stringify({ subscribe: topic }));
      }
      resolve();
    };
    socket.addEventListener('open', () => {
      if (token === undefined) subscribe();
      else socket.send(JSON.stringify({ auth: token }));
    });
    socket.addEventListener('message', ({ data }) => {
      const told: unknown = JSON.parse(String(data));
      if (Array.isArray(told)) for (const event of told as CommsEvent[]) comms.push(event);
      else if (token !== undefined) subscribe();
    });
  });
  return socket;
}

/** Calls of the admin API, and waiting for events of the websocket. */
export function adminApi(url: string, headers: Record<string, string>, comms: Recorder<CommsEvent>) {
  const admin: RunningNodeRed['admin'] = async (path, init = {}) =>
    await fetch(`${url}${path}`, {
      ...init,
      headers: { ...headers, ...(init.headers as Record<string, string> | undefined) },
    });
  const ask = async (path: string, init?: RequestInit) => {
    const response = await admin(path, init);
    if (response.ok) return response;
    throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
  const json = async (path: string, more: Record<string, string> = {}): Promise<unknown> =>
    await (await ask(path, { headers: { accept: 'application/json', ...more } })).json();
  return {
    admin,
    json: async (path: string) => await json(path),
    deploy: async (flows: readonly FlowNode[], type = 'full') => {
      const after = comms.mark;
      const answer = await ask(
        '/flows',
        posting({ flows }, { 'Node-RED-API-Version': 'v2', 'Node-RED-Deployment-Type': type }),
      );
      const { rev } = (await answer.json()) as { rev: string };
      // The answer comes when the old flows have stopped; this, when the new ones have started.
      await comms.find(
        `start of revision ${rev}`,
        ({ topic, data }) =>
          topic === 'notification/runtime-deploy' && (data as { revision?: unknown }).revision === rev,
        { after },
      );
    },
    getFlows: async () => {
      const answer = await json('/flows', { 'Node-RED-API-Version': 'v2' });
      return (answer as { flows: FlowNode[] }).flows;
    },
    inject: async (id: string, properties: Record<string, unknown> = {}) => {
      const given = Object.entries(properties).map(([p, v]) => ({ p, v: JSON.stringify(v), vt: 'json' }));
      await ask(`/inject/${id}`, posting(given.length > 0 ? { __user_inject_props__: given } : {}));
    },
    debug: async (id: string, after = 0) => {
      const event = await comms.find(
        `message of debug node ${id}`,
        ({ topic, data }) => topic === 'debug' && (data as { id?: unknown }).id === id,
        { after },
      );
      return JSON.parse((event.data as { msg: string }).msg) as Record<string, unknown>;
    },
    status: async (id: string, fits: (status: Status) => boolean = () => true, after = 0) => {
      const event = await comms.find(
        `status of node ${id}`,
        ({ topic, data }) => topic === `status/${id}` && fits(data as Status),
        { after },
      );
      return event.data as Status;
    },
  };
}
