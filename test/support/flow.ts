import type { FlowNode, RunningNodeRed } from './node-red';

/** The address of a service, and its key. */
export interface ServiceAddress {
  baseUrl: string;
  apiKey: string;
}

export const tab: FlowNode = { id: 'tab', type: 'tab', label: 'Test' };

/** An account with the id 'account' that does not retry, so that a fault shows at once. */
export const account = (
  { baseUrl, apiKey }: ServiceAddress,
  properties: Record<string, unknown> = {},
): FlowNode => ({
  id: 'account',
  type: 'strip-account',
  name: '',
  baseUrl,
  interval: '30',
  timeout: '10000',
  retryFor: '0',
  concurrency: '8',
  tls: '',
  proxy: '',
  protectedOutlets: [],
  credentials: { apiKey },
  ...properties,
});

/**
 * A node of any type on the tab, with coordinates, without which Node-RED takes it for a configuration node. If it needs an account, it has the one with
 * the id 'account'.
 */
export const placed = (id: string, type: string, properties: object, to: string[] = []): FlowNode => ({
  id,
  type,
  z: 'tab',
  ...(/^strip (?!simulator)/.test(type) ? { account: 'account' } : {}),
  x: 300,
  y: 300,
  wires: [to],
  ...properties,
});

export const inject = (id: string, to: string): FlowNode =>
  placed(
    id,
    'inject',
    {
      props: [{ p: 'payload' }, { p: 'topic', vt: 'str' }],
      repeat: '',
      crontab: '',
      once: false,
      onceDelay: 0.1,
      topic: '',
      payload: '',
      payloadType: 'date',
    },
    [to],
  );

/** Shows the whole message. */
export const debug = (id: string): FlowNode =>
  placed(id, 'debug', {
    active: true,
    tosidebar: true,
    console: false,
    tostatus: false,
    complete: 'true',
    targetType: 'full',
    statusVal: '',
    statusType: 'auto',
  });

/** The node under test with the id 'node', an inject node 'in' before it, what it sends in 'out', what it fails with in 'caught'. */
export const around = (type: string, properties: Record<string, unknown> = {}): FlowNode[] => [
  tab,
  inject('in', 'node'),
  placed('node', type, properties, ['out']),
  debug('out'),
  placed('catch', 'catch', { scope: null, uncaught: false }, ['caught']),
  debug('caught'),
];

export interface Outcome {
  /** Whether it came out of the node; otherwise it was caught. */
  sent: boolean;
  message: Record<string, unknown>;
}

/** Sends a message into 'in' of a flow made by `around` and waits for what becomes of it. */
export async function send(red: RunningNodeRed, properties: Record<string, unknown>): Promise<Outcome> {
  const after = red.comms.mark;
  await red.inject('in', properties);
  const event = await red.comms.find(
    'outcome of a message',
    ({ topic, data }) =>
      topic === 'debug' && ['out', 'caught'].includes(String((data as { id?: unknown }).id)),
    { after },
  );
  const { id, msg } = event.data as { id: string; msg: string };
  return { sent: id === 'out', message: JSON.parse(msg) as Record<string, unknown> };
}

/** Code and sentence of a message that was caught. */
export function errorOf({ sent, message }: Outcome): { code: unknown; message: string } {
  if (sent) throw new Error(`the message was sent on: ${JSON.stringify(message)}`);
  return message.error as { code: unknown; message: string };
}
