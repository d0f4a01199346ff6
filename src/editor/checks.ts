import { parseBaseUrl } from '../api/connection-settings';
import { isStripError } from '../api/errors';
import { isPossibleMac } from '../api/mac';
import { SETTINGS, typeOf, type Config, type Setting, type TypedSetting } from '../settings';
import type { Check, Descriptor, Fault } from './descriptor';
import { environmentVariable, previewText } from '../values';

/** Node-RED's check of `msg.`, `flow.`, `global.`, number and JSONata values: `true`, or what is wrong. */
export type TypedCheck = (value: string, type: string) => true | string;

const NUMBERS_AND_EXPRESSIONS = new Set(['msg', 'flow', 'global', 'jsonata', 'num']);

/**
 * What is wrong with a property, or `null`. `type` is the one chosen in the open dialog, if that is open. A whole `${NAME}` is left to the
 * runtime, which alone knows the variables, and a property that a flow does not have takes its default.
 */
export function faultOf(
  descriptor: Descriptor,
  node: Config,
  { field, value, type, open }: { field: string; value: unknown; type?: string | undefined; open: boolean },
  typed: TypedCheck,
): Fault | null {
  const settings: Readonly<Record<string, Setting>> = SETTINGS[descriptor.type];
  const setting = settings[field];
  const check = descriptor.checks?.[field];
  const text = typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
  if (environmentVariable(text) !== null) return null;
  if (setting?.kind === 'typed') {
    const kind = type ?? typeOf(node, field, setting);
    const isDefault = value === undefined && kind === setting.types[0] && setting.default !== '';
    const isPlain = isDefault || kind === 'message';
    return isPlain ? null : typedFault(text, kind, setting, typed, () => check?.(text, node, open) ?? null);
  }
  if (value === undefined && setting?.kind !== 'text') return null;
  if (check) return check(setting?.kind === 'data' ? value : text, node, open);
  return setting?.kind === 'number' ? numberFault(text, setting.least, setting.most) : null;
}

function typedFault(
  text: string,
  kind: string,
  { least = -Infinity, most = Infinity }: TypedSetting,
  typed: TypedCheck,
  plain: () => Fault | null,
): Fault | null {
  if (NUMBERS_AND_EXPRESSIONS.has(kind)) {
    const verdict = typed(text, kind);
    if (verdict !== true) return { sentence: verdict };
  }
  if (kind === 'num') return numberFault(text, least, most);
  if (kind === 'env' || kind === 'jsonata') {
    return text === '' ? { key: 'strip-account.invalid.expression' } : null;
  }
  return NUMBERS_AND_EXPRESSIONS.has(kind) ? null : plain();
}

/** `scale`: how many of the flow's units the dialog shows as one. */
export function numberFault(text: string, least: number, most: number, scale = 1): Fault | null {
  const number = text === '' ? NaN : Number(text);
  if (number >= least && number <= most) return null;
  return { key: 'strip-account.invalid.number', params: { least: least / scale, most: most / scale } };
}

/** A strip that is typed or picked. */
export const checkStrip: Check = (value) =>
  value === '' ? { key: 'strip-account.invalid.mac' } : macFault(String(value));

const macFault = (mac: string): Fault | null =>
  isPossibleMac(mac) ? null : { key: 'errors.INVALID_INPUT.mac', params: { got: previewText(mac) } };

/** An outlet that is picked. */
export const checkPort =
  (...others: string[]): Check =>
  (value) =>
    ['1', '2', '3', '4', ...others].includes(String(value)) ? null : { key: 'strip-account.invalid.port' };

export const baseUrlFault = (baseUrl: string): Fault | null => faultThrownBy(() => parseBaseUrl(baseUrl));

/** Whether a base URL is the path of a simulator in this Node-RED. */
export const isSimulatorPath = (baseUrl: unknown): boolean =>
  typeof baseUrl === 'string' && /^\/(?!\/)/.test(baseUrl.trim());

/** What is wrong with a setting by the function that reads it at run time. */
export function faultThrownBy(parse: () => unknown): Fault | null {
  try {
    parse();
    return null;
  } catch (error) {
    if (isStripError(error)) return { key: `errors.${error.sentence}`, params: error.params };
    throw error;
  }
}
