import { isPublicPlainHttp, parseBaseUrl, stripPath } from '../api/endpoint';
import { isStripError, type Params } from '../api/errors';

/** What is wrong with a value: a key of the account's catalogue, or, from Node-RED's own checks, the sentence itself. */
export type Fault = { key: string; params?: Params } | { sentence: string };

/** Node-RED's check of `msg.`, `flow.`, `global.`, number and JSONata values: `true`, or what is wrong. */
export type TypedCheck = (value: string, type: string) => true | string;

export interface FieldValue {
  /** Type of the node the field belongs to. */
  node: string;
  field: string;
  value: unknown;
  /** Of a field with a choice of types; else "". */
  type: string;
}

/** Bounds of the plain numbers, as the runtime keeps them. */
const BOUNDS: Readonly<Record<string, readonly [number, number]>> = {
  interval: [5, 86_400],
  timeout: [100, 600_000],
  retryFor: [0, 86_400],
  concurrency: [1, 100],
  change: [0, 1_000_000],
};
const DELAY = [1, 3600] as const;
/** An old or hand-written flow may lack them: the runtime then takes the usual figure. */
const HAVE_DEFAULTS = new Set([...Object.keys(BOUNDS), 'delay']);
const EXPRESSIONS = new Set(['msg', 'flow', 'global', 'jsonata', 'num']);
const PORTS = new Set(['1', '2', '3', '4']);
const ACTIONS = new Set(['on', 'off', 'toggle', 'cycle']);

/** What is wrong with a field, or `null`. A whole `${NAME}` is left to the runtime, which alone knows the variables. */
export function faultOf({ node, field, value, type }: FieldValue, typed: TypedCheck): Fault | null {
  if (field === 'protectedOutlets') return outletsFault(value);
  if (value === undefined && HAVE_DEFAULTS.has(field)) return null;
  const text = typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
  if (/^\$\{[^{}]+\}$/.test(text)) return null;
  if (EXPRESSIONS.has(type)) {
    const verdict = typed(text, type);
    if (verdict !== true) return { sentence: verdict };
  }
  switch (type) {
    case 'message':
      return null;
    case 'env':
    case 'jsonata':
      return text === '' ? { key: 'strip-account.invalid.expression' } : null;
    case 'num':
      return numberFault(text, DELAY);
    case 'msg':
    case 'flow':
    case 'global':
      return null;
    default:
      return plainFault(node, field, text);
  }
}

/** What deserves a second thought, though it works: the key in plain sight of everybody on the way. */
export function warningOf(baseUrl: string): Fault | null {
  try {
    return isPublicPlainHttp(parseBaseUrl(baseUrl)) ? { key: 'strip-account.warning.plainHttp' } : null;
  } catch (error) {
    if (isStripError(error)) return null; // an address that is none is `faultOf`'s business
    throw error;
  }
}

function plainFault(node: string, field: string, text: string): Fault | null {
  switch (field) {
    case 'baseUrl':
      return thrown(() => parseBaseUrl(text));
    case 'mac':
      if (text === '') return node === 'strip watch' ? null : { key: 'strip-account.invalid.mac' };
      return thrown(() => stripPath(text));
    case 'port':
      if (PORTS.has(text) || (text === 'all' && node === 'strip switch')) return null;
      if (text === '' && node !== 'strip switch') return null;
      return { key: 'strip-account.invalid.port' };
    case 'on':
      return ACTIONS.has(text) ? null : { key: 'strip-account.invalid.on' };
    default: {
      const bounds = BOUNDS[field];
      return bounds ? numberFault(text, bounds) : null;
    }
  }
}

function numberFault(text: string, [least, most]: readonly [number, number]): Fault | null {
  const number = text === '' ? NaN : Number(text);
  return number >= least && number <= most
    ? null
    : { key: 'strip-account.invalid.number', params: { least, most } };
}

function outletsFault(value: unknown): Fault | null {
  if (value === undefined) return null;
  const complete =
    Array.isArray(value) &&
    value.every((entry: unknown) => {
      if (typeof entry !== 'object' || entry === null || !('mac' in entry) || !('port' in entry))
        return false;
      const { mac, port } = entry;
      return typeof mac === 'string' && mac.trim() !== '' && PORTS.has(String(port));
    });
  return complete ? null : { key: 'strip-account.invalid.protected' };
}

function thrown(parse: () => unknown): Fault | null {
  try {
    parse();
    return null;
  } catch (error) {
    if (isStripError(error)) return { key: `errors.${error.sentence}`, params: error.params };
    throw error;
  }
}
