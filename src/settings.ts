import { StripError, variableMissing } from './api/errors';
import { isPossibleMac, PORTS, type Port } from './api/types';
import { environmentVariable, ownProperty, preview } from './values';

interface TextSetting {
  readonly kind: 'text';
  readonly default: string;
}

/** A number in its own field. The editor saves it as text. */
interface NumberSetting {
  readonly kind: 'number';
  readonly default: number;
  readonly min: number;
  readonly max: number;
  /** Has to be a whole number. */
  readonly whole?: boolean;
}

interface FlagSetting {
  readonly kind: 'flag';
  readonly default: boolean;
}

interface ChoiceSetting<Choice extends string = string> {
  readonly kind: 'choice';
  /** The first is the default. */
  readonly choices: readonly [Choice, ...Choice[]];
}

/** A value whose type is chosen beside it and kept in a second property, `<name>Type`. */
export interface TypedSetting<Type extends string = string> {
  readonly kind: 'typed';
  readonly default: string;
  /** The first one applies to a flow without a type. */
  readonly types: readonly [Type, ...Type[]];
  /** The type in a newly dragged node, if it is not the first one. */
  readonly newType?: Type;
  /** Bounds of a value of type "num". */
  readonly min?: number;
  readonly max?: number;
}

/** The id of a config node of this type. */
interface NodeSetting {
  readonly kind: 'node';
  readonly type: string;
  readonly required: boolean;
}

/** A list or an object. The dialog has its own fields for it. */
interface DataSetting {
  readonly kind: 'data';
  readonly default: unknown;
  /** It has to be a list of these. Without this, what is accepted is checked where it is read. */
  readonly list?: string;
}

export type Setting =
  TextSetting | NumberSetting | FlagSetting | ChoiceSetting | TypedSetting | NodeSetting | DataSetting;

/** Types of a value that is evaluated for each message. */
export const EVALUATED = ['msg', 'flow', 'global', 'env', 'jsonata'] as const;

const name = { kind: 'text', default: '' } as const;
const account = { kind: 'node', type: 'strip-account', required: true } as const;
const mac = { kind: 'typed', default: '', types: ['message', 'str', ...EVALUATED], newType: 'str' } as const;

/** Outlets of a simulated strip at the start, if its flow does not give them. */
export const OUTLETS_AT_START: readonly { on: boolean }[] = PORTS.map((port) => ({
  on: port === 1 || port === 4,
}));

/**
 * Every configuration property of every node type: what kind it is, its default and its bounds. The runtime reads flows with this
 * table, the edit dialogs check what is typed against it, and the build writes the `defaults` of the nodes' html from it. The names
 * are a contract with flows that exist: add properties, never rename one.
 */
export const SETTINGS = {
  'strip-account': {
    name,
    baseUrl: { kind: 'text', default: '' },
    /** Seconds. */
    interval: { kind: 'number', default: 30, min: 5, max: 86_400 },
    /** Milliseconds. */
    timeout: { kind: 'number', default: 10_000, min: 100, max: 600_000 },
    /** Seconds; 0: no retry. */
    retryFor: { kind: 'number', default: 30, min: 0, max: 86_400 },
    concurrency: { kind: 'number', default: 8, min: 1, max: 100, whole: true },
    tls: { kind: 'node', type: 'tls-config', required: false },
    proxy: { kind: 'node', type: 'http proxy', required: false },
    /** `[{mac, port}]` */
    protectedOutlets: { kind: 'data', default: [] },
    /** `[{mac, port, name}]` */
    outletNames: { kind: 'data', default: [] },
    units: { kind: 'data', default: { load: '', voltage: '', signal: '' } },
    /** JSONata; "": none. */
    mapping: { kind: 'text', default: '' },
  },
  'strip list': {
    name,
    account,
    output: { kind: 'choice', choices: ['list', 'strips', 'outlets'] },
  },
  'strip status': {
    name,
    account,
    mac,
    port: { kind: 'typed', default: '', types: ['port', 'message', ...EVALUATED] },
    output: { kind: 'choice', choices: ['strip', 'on', 'port-on'] },
  },
  'strip switch': {
    name,
    account,
    mac,
    port: { kind: 'typed', default: '', types: ['message', 'port', ...EVALUATED], newType: 'port' },
    on: { kind: 'typed', default: '', types: ['message', 'action', ...EVALUATED] },
    /** Seconds that a cycle leaves the outlet off. */
    delay: { kind: 'typed', default: '5', types: ['num', 'message', ...EVALUATED], min: 1, max: 3600 },
    output: { kind: 'choice', choices: ['same', 'on', 'port-on'] },
  },
  'strip watch': {
    name,
    account,
    mac: { kind: 'typed', default: '', types: ['str', 'env'] },
    port: { kind: 'text', default: '' },
    output: { kind: 'choice', choices: ['on', 'port-on'] },
    initial: { kind: 'flag', default: false },
    outlets: { kind: 'flag', default: true },
    availability: { kind: 'flag', default: false },
    readings: { kind: 'flag', default: false },
    /** Smallest change of a reading, in the unit that the service reports. */
    change: { kind: 'number', default: 0, min: 0, max: 1_000_000 },
  },
  'strip mqtt': {
    name,
    account,
    topic: { kind: 'text', default: 'smart-strip' },
    /** "": no discovery. */
    discovery: { kind: 'text', default: 'homeassistant' },
    readings: { kind: 'flag', default: true },
  },
  'strip simulator': {
    name,
    path: { kind: 'text', default: '/strip-simulator' },
    /** `[{mac, name, outlets}]`; `outlets`, which may be left out: `[{name, on}]` at the start, of ports 1 to 4 */
    strips: {
      kind: 'data',
      list: '[{mac, name}]',
      default: [
        {
          mac: 'A1B2C3D4E5F6',
          name: 'Desk strip',
          outlets: [
            { name: 'Computer', on: true },
            { name: 'Screen', on: true },
            { name: 'Charger', on: false },
            { name: 'Lamp', on: false },
          ],
        },
        {
          mac: 'A1B2C3D4E5F7',
          name: 'Media strip',
          outlets: [
            { name: 'TV', on: false },
            { name: 'Speakers', on: false },
            { name: 'Console', on: false },
            { name: 'Router', on: true },
          ],
        },
      ],
    },
    shape: {
      kind: 'choice',
      choices: ['plain', 'words', 'keyed', 'booleans', 'zero-based', 'text', 'measured'],
    },
    /** Milliseconds. */
    latency: { kind: 'number', default: 0, min: 0, max: 60_000 },
  },
} as const satisfies Record<string, Record<string, Setting>>;

/** Milliseconds that a cycle leaves an outlet off, if nothing else is given. */
export const CYCLE_DELAY = Number(SETTINGS['strip switch'].delay.default) * 1000;

/** A node's properties as the flow file has them: missing, of another type, or hostile. */
export type Config = Readonly<Record<string, unknown>>;

/** A text property, trimmed; hand-written flows may have a number or a boolean instead, or none. */
export function textOf(config: unknown, name: string, otherwise = ''): string {
  const value = ownProperty(config, name);
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : otherwise;
}

/** A number, clamped to its bounds and rounded down if it has to be whole; the default if there is none. */
export function numberOf(config: Config, name: string, setting: NumberSetting): number {
  const text = textOf(config, name);
  const number = text === '' ? NaN : Number(text);
  if (Number.isNaN(number)) return setting.default;
  const clamped = Math.min(Math.max(number, setting.min), setting.max);
  return setting.whole === true ? Math.floor(clamped) : clamped;
}

/** Whether a text is a plain decimal number, which a delay has to be. Other forms, such as "1e3", are more likely a mistake. */
export const isDecimal = (text: string): boolean => /^\s*\d{1,9}(\.\d{1,9})?\s*$/.test(text);

export function flagOf(config: Config, name: string, setting: FlagSetting): boolean {
  const text = textOf(config, name).toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : setting.default;
}

/** One of a few words; the first if the property has none of them. */
export function choiceOf<Choice extends string>(
  config: Config,
  name: string,
  { choices }: Pick<ChoiceSetting<Choice>, 'choices'>,
): Choice {
  const text = textOf(config, name);
  return choices.find((choice) => choice === text) ?? choices[0];
}

/** The type of a typed property; the first if the flow has none of these types. */
export const typeOf = <Type extends string>(
  config: Config,
  name: string,
  { types }: TypedSetting<Type>,
): Type => choiceOf(config, `${name}Type`, { choices: types });

/** A text of the configuration. Throws NOT_CONFIGURED if it is `${NAME}`: Node-RED leaves that if the variable is not set. */
export function requireSet(text: string): string {
  const variable = environmentVariable(text);
  if (variable !== null) throw variableMissing(variable);
  return text;
}

type CheckedSetting = Exclude<Setting, TextSetting | NodeSetting>;

/**
 * The values that are accepted in place of this one (of a typed setting: the types), for an error sentence. `null`: this one is accepted, or is checked
 * where it is read. `text`: the value as text.
 */
function acceptedInstead(setting: CheckedSetting, value: unknown, text: string): string | null {
  if (setting.kind === 'number') return Number.isNaN(Number(text)) ? `${setting.min}–${setting.max}` : null;
  if (setting.kind === 'flag') return /^(true|false)$/i.test(text) ? null : 'true, false';
  if (setting.kind === 'data') return Array.isArray(value) ? null : (setting.list ?? null);
  const words = setting.kind === 'choice' ? setting.choices : setting.types;
  return words.includes(text) ? null : words.join(', ');
}

/**
 * Throws NOT_CONFIGURED if one of a node's properties is `${NAME}`, or has a value that its kind does not accept. Without this, the default would be
 * used, and the user would not learn of it. A missing or empty property is accepted. A number above or below its limits is no error, and the content
 * of a text is checked where it is used. `owner`: follows the name of the property in the error, to say whose it is if another node reports it.
 */
export function requireReadable(
  config: Config,
  settings: Readonly<Record<string, Setting>>,
  owner = '',
): void {
  for (const [name, setting] of Object.entries(settings)) {
    // A node works without its name, and says itself that it has no account.
    if (name === 'name' || name === 'account') continue;
    const isText = setting.kind === 'text' || setting.kind === 'node';
    const isTyped = setting.kind === 'typed';
    const written = ownProperty(config, name) ?? '';
    if ((isText || isTyped) && typeof written === 'object')
      throw new StripError('NOT_CONFIGURED.text', { property: name + owner, got: preview(written) });
    if (isText) continue;
    const property = isTyped ? `${name}Type` : name;
    const value = ownProperty(config, property) ?? '';
    const text = requireSet(textOf(config, property, typeof value === 'object' ? preview(value) : ''));
    const accepted = text === '' ? null : acceptedInstead(setting, value, text);
    if (accepted === null) continue;
    const params = { property: property + owner, accepted, got: preview(value) };
    throw new StripError('NOT_CONFIGURED.property', params);
  }
}

/** The outlets in one of an account's two lists, and the entries that cannot be read. "all" stands for each outlet of a strip. */
export function readOutlets(list: unknown) {
  const outlets: { mac: string; port: Port; name: string }[] = [];
  const unreadable: unknown[] = [];
  const isMissing = list === undefined || list === null || list === '';
  for (const entry of isMissing ? [] : [list].flat()) {
    const mac = textOf(entry, 'mac');
    const text = textOf(entry, 'port').toLowerCase();
    const ports = PORTS.filter((port) => text === 'all' || text === String(port));
    const name = textOf(entry, 'name');
    if (!isPossibleMac(mac) || ports.length === 0) unreadable.push(entry);
    else outlets.push(...ports.map((port) => ({ mac, port, name })));
  }
  return { outlets, unreadable };
}

const LONGEST_PREFIX = 200;

/**
 * A prefix of MQTT topics, without slashes at its ends. Throws NOT_CONFIGURED for one that a broker does not accept in a
 * published topic (wildcards, control characters, characters that Unicode reserves, empty levels) or keeps for itself (`$`).
 * Not in `src/mqtt`, because the dialog checks it, too.
 */
export function checkPrefix(text: string): string {
  // For the lookbehind, see `ENDING` in `api/connection-settings.ts`.
  const prefix = text.trim().replace(/^\/+|(?<!\/)\/+$/g, '');
  const levels = prefix.split('/');
  if (
    prefix.length > LONGEST_PREFIX ||
    prefix.startsWith('$') ||
    levels.some((level) => level === '' || /[#+]|\p{Cc}|\p{Cs}|\p{NChar}/u.test(level))
  ) {
    throw new StripError('NOT_CONFIGURED.topic', { topic: preview(text) });
  }
  return prefix;
}
