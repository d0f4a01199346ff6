import { account, debug, inject, placed, tab, type ServiceAddress } from './flow';
import type { FlowNode, RunningNodeRed } from './node-red';
import type { TestService } from './service';

export interface BridgeFlowOptions {
  /** Ids of all nodes begin with it. */
  prefix?: string;
  topic?: string;
  discovery?: string;
  /** Further properties of the `strip mqtt` node and of the account. */
  node?: Record<string, unknown>;
  account?: Record<string, unknown>;
}

/**
 * A `strip mqtt` node between the mqtt nodes of Node-RED, as the examples and the documentation have it. Ids: `bridge`, `caught` (debug node with
 * its errors), `completed` (debug node with the messages that it is done with), `list` (makes the account read its strips).
 */
export function bridgeFlow(
  port: number,
  service: ServiceAddress,
  options: BridgeFlowOptions = {},
): FlowNode[] {
  const { prefix = '', topic = 'smart-strip', discovery = 'homeassistant' } = options;
  const id = (name: string) => `${prefix}${name}`;
  const accountId = id('account');
  const node = (name: string, type: string, properties: Record<string, unknown>, to: string[] = []) =>
    placed(id(name), type, { account: accountId, ...properties }, to.map(id));
  const mqttIn = (name: string, from: string) =>
    node(
      name,
      'mqtt in',
      { broker: id('broker'), topic: from, qos: '1', datatype: 'auto-detect', nl: false, rap: true, rh: 0 },
      ['bridge'],
    );
  return [
    ...(prefix === '' ? [tab] : []),
    { ...account(service, { interval: '5', ...options.account }), id: accountId },
    broker(id('broker'), port, topic),
    mqttIn('commands', `${topic}/+/+/set`),
    mqttIn('birth', `${topic}/bridge`),
    ...(discovery === '' ? [] : [mqttIn('status', `${discovery}/status`)]),
    node('bridge', 'strip mqtt', { topic, discovery, readings: true, ...options.node }, ['publish']),
    node('publish', 'mqtt out', { broker: id('broker'), topic: '', qos: '', retain: '' }),
    node('catch', 'catch', { scope: [id('bridge')], uncaught: false }, ['caught']),
    debug(id('caught')),
    node('complete', 'complete', { scope: [id('bridge')] }, ['completed']),
    debug(id('completed')),
    inject(id('list'), id('listing')),
    node('listing', 'strip list', { output: 'list' }),
  ];
}

/** Waits until the `strip mqtt` node is done with a message that came on a topic. */
export const completed = (red: RunningNodeRed, topic: string, after = 0, payload?: string) =>
  red.comms.find(
    `completed message on ${topic}`,
    ({ topic: event, data }) => {
      if (event !== 'debug' || (data as { id: unknown }).id !== 'completed') return false;
      const msg = JSON.parse((data as { msg: string }).msg) as { topic: unknown; payload: unknown };
      return msg.topic === topic && (payload === undefined || msg.payload === payload);
    },
    { after },
  );

/** Deploys while the service answers nothing until the birth message has come, so that each strip is published once, when it is known. */
export async function deployBridge(
  red: RunningNodeRed,
  service: TestService,
  flow: readonly FlowNode[],
  topic = 'smart-strip',
): Promise<void> {
  const after = red.comms.mark;
  const answerRequests = service.hold();
  await red.deploy(flow);
  await completed(red, `${topic}/bridge`, after, 'online');
  answerRequests();
}

/** Node-RED's own broker node; birth, close and will messages say whether the bridge is there. */
const broker = (id: string, port: number, topic: string): FlowNode => {
  const said = (name: string, payload: string) => ({
    [`${name}Topic`]: `${topic}/bridge`,
    [`${name}Payload`]: payload,
    [`${name}Qos`]: '1',
    [`${name}Retain`]: 'true',
    [`${name}Msg`]: {},
  });
  return {
    id,
    type: 'mqtt-broker',
    name: '',
    broker: '127.0.0.1',
    port: String(port),
    clientid: '',
    autoConnect: true,
    usetls: false,
    protocolVersion: '4',
    keepalive: '60',
    cleansession: true,
    autoUnsubscribe: true,
    ...said('birth', 'online'),
    ...said('close', 'offline'),
    ...said('will', 'offline'),
  };
};
