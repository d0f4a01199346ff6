import assert from 'node:assert/strict';
import type { Node, NodeAPI, NodeMessage } from 'node-red';
import helper from 'node-red-node-test-helper';
import type { Spy } from 'node-red-node-test-helper';
import stripAccount from '../../nodes/strip-account';
import stripList from '../../nodes/strip-list';
import stripMqtt from '../../nodes/strip-mqtt';
import stripStatus from '../../nodes/strip-status';
import stripSwitch from '../../nodes/strip-switch';
import stripWatch from '../../nodes/strip-watch';
import { CATALOGUE } from '../../src/flow/node-status';
import type { NodeStatus } from '../../src/flow/node-status';
import { placed } from '../support/flow';
import type { FlowNode } from '../support/node-red';
import { Recorder } from '../support/recorder';
import { redeploy } from '../support/redeploy';
import { startService } from '../support/service';
import type { ServiceOptions, TestService } from '../support/service';

export const MAC = 'A1B2C3D4E5F6';
export const OTHER_MAC = 'A1B2C3D4E5F7';

/** Strip and outlet fixed in the node. */
export const outlet2 = { mac: MAC, macType: 'str', port: '2', portType: 'port' };

export const flowNode = (id: string, type: string, more: object = {}): FlowNode =>
  placed(id, type, more, ['out']);

/** A node of the test helper: `node(id)` of the lab hears what it gets. */
export const helperNode = (id: string): FlowNode => placed(id, 'helper', {});

/** A message as some node got it, and which one. */
interface Arrival {
  at: string;
  msg: NodeMessage & { strip?: unknown; error?: { message?: string; code?: unknown; cause?: unknown } };
}

/** A node in the test helper's runtime. */
export const nodeOf = (id: string): Node =>
  helper.getNode(id) ?? assert.fail(`there is no node ${id}: does everyNode in lab.ts register its type?`);

/** Everything a node, which may be gone, has said with one of its methods, in order. */
export function said(of: string | Node, method: 'status' | 'warn' | 'error' | 'log'): unknown[] {
  const node = typeof of === 'string' ? nodeOf(of) : of;
  const spied: unknown = Reflect.get(node, method);
  return (spied as Spy)
    .getCalls()
    .filter(({ thisValue }) => thisValue === node)
    .map(({ args }) => args[0]);
}

const everyNode = (RED: NodeAPI): void => {
  for (const register of [stripAccount, stripList, stripStatus, stripSwitch, stripWatch, stripMqtt])
    register(RED);
};

/** The nodes in the test helper's runtime, and a service for them. */
export class Lab {
  /** What the helper nodes "out", "caught" and "completed" got. */
  readonly arrivals = new Recorder<Arrival>();

  readonly #heard = new WeakSet<Node>();

  private constructor(readonly service: TestService) {}

  static async start(options: ServiceOptions = {}): Promise<Lab> {
    // A close that hangs then hangs the test, too, instead of being ended by Node-RED.
    helper.settings({ nodeCloseTimeout: 600_000 });
    return new Lab(await startService(options));
  }

  account(more: object = {}): FlowNode {
    return { id: 'account', type: 'strip-account', baseUrl: this.service.baseUrl, retryFor: '0', ...more };
  }

  /** One `strip switch`, with the id 'switch', and its account. */
  async startSwitch(config: object = {}, account: object = {}): Promise<void> {
    await this.deploy([this.account(account), flowNode('switch', 'strip switch', config)]);
  }

  /** The whole flow: `nodes`, the account (unless one is among them), and what listens. */
  flow(nodes: readonly FlowNode[]): FlowNode[] {
    const scope = nodes.filter(({ type }) => type.startsWith('strip ')).map(({ id }) => id);
    return [
      { id: 'tab', type: 'tab' },
      ...(nodes.some(({ type }) => type === 'strip-account') ? [] : [this.account()]),
      ...nodes,
      placed('catch', 'catch', { scope: null }, ['caught']),
      placed('complete', 'complete', { scope }, ['completed']),
      ...['out', 'caught', 'completed'].map(helperNode),
    ];
  }

  async deploy(
    nodes: readonly FlowNode[],
    credentials: object = { account: { apiKey: this.service.apiKey } },
    more: readonly ((RED: NodeAPI) => void)[] = [],
  ): Promise<void> {
    await helper.load([everyNode, ...more], this.flow(nodes), credentials);
    this.listen();
  }

  async redeploy(nodes: readonly FlowNode[], type: 'full' | 'flows' | 'nodes'): Promise<void> {
    await redeploy(this.flow(nodes), type, { account: { apiKey: this.service.apiKey } });
    this.listen();
  }

  /** Records what the helper nodes get; call it again after a deploy, which may have made new ones. */
  listen(): void {
    for (const at of ['out', 'caught', 'completed']) {
      const node = helper.getNode(at);
      if (node === null || this.#heard.has(node)) continue;
      this.#heard.add(node);
      node.on('input', (msg: NodeMessage) => this.arrivals.push({ at, msg }));
    }
  }

  readonly node = nodeOf;

  send(id: string, msg: NodeMessage): void {
    this.node(id).receive(msg);
  }

  /** Sends a message to a node; resolves with what came of it, at "out" or "caught". */
  async ask(id: string, msg: NodeMessage): Promise<Arrival> {
    const after = this.arrivals.mark;
    this.send(id, msg);
    return await this.arrivals.find('outcome', ({ at }) => at !== 'completed', { after });
  }

  async out(id: string, msg: NodeMessage): Promise<Arrival['msg']> {
    const { at, msg: got } = await this.ask(id, msg);
    assert.equal(at, 'out', `caught: ${JSON.stringify(got.error)}`);
    return got;
  }

  async caught(id: string, msg: NodeMessage): Promise<Arrival['msg']> {
    const { at, msg: got } = await this.ask(id, msg);
    assert.equal(at, 'caught', `came out: ${JSON.stringify(got.payload)}`);
    return got;
  }

  readonly said = said;

  /** Statuses of a node in order, as "fill shape key"; without "asking", which only a slow machine shows. */
  statuses(id: string): string[] {
    const all = this.said(id, 'status').map((status) => {
      const { fill, shape, text } = status as Partial<NodeStatus>;
      if (text === undefined) return 'none';
      return `${fill} ${shape} ${text.replace(`${CATALOGUE}status.`, '')}`;
    });
    return all.filter((status, index) => {
      if (status === 'blue ring asking') return false;
      // On a slow machine "asking" is shown, and then the same status as before.
      return all[index - 1] !== 'blue ring asking' || all[index - 2] !== status;
    });
  }

  /** Requests as "POST /strips/… body", without the base path. */
  requests(): string[] {
    return this.service.requests.map(({ method, path, body }) =>
      `${method} ${path.replace('/api/public/v1', '')} ${body}`.trim(),
    );
  }

  /** The switches among them. */
  posts(): string[] {
    return this.requests().filter((request) => request.startsWith('POST'));
  }

  async stop(): Promise<void> {
    await helper.unload();
    await this.service.close();
  }
}
