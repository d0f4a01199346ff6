import type { NodeAPI } from 'node-red';
import type { DispatcherOptions, TlsOptions } from '../../src/api/dispatcher';
import { StripError } from '../../src/api/errors';

/** How to connect, as Node-RED's own TLS and proxy nodes say. Throws NOT_CONFIGURED for one that is chosen but not deployed. */
export function connectionOf(
  RED: NodeAPI,
  tls: string,
  proxy: string,
): Pick<DispatcherOptions, 'connect' | 'proxy'> {
  return {
    ...(tls === '' ? {} : { connect: tlsOptions(RED.nodes.getNode(tls)) }),
    ...(proxy === '' ? {} : { proxy: proxyOptions(RED.nodes.getNode(proxy)) }),
  };
}

function tlsOptions(node: unknown): TlsOptions {
  if (!isRecord(node) || typeof node.addTLSOptions !== 'function') {
    throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.tlsUndeployed');
  }
  const options: TlsOptions = {};
  Reflect.apply(node.addTLSOptions, node, [options]);
  return options;
}

function proxyOptions(node: unknown): NonNullable<DispatcherOptions['proxy']> {
  if (!isRecord(node) || typeof node.url !== 'string') {
    throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.proxyUndeployed');
  }
  const credentials = isRecord(node.credentials) ? node.credentials : {};
  return {
    url: node.url,
    noProxy: Array.isArray(node.noproxy) ? node.noproxy.filter((host) => typeof host === 'string') : [],
    ...(typeof credentials.username === 'string' ? { username: credentials.username } : {}),
    ...(typeof credentials.password === 'string' ? { password: credentials.password } : {}),
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
