import { StripError } from '../api/errors';
import { isRecord } from '../api/values';
import type { ChoiceSetting, FlagSetting, NumberSetting } from '../settings';

/** A node's properties as the flow file has them: missing, of another type, or hostile. */
export type Config = Readonly<Record<string, unknown>>;

/** An own property of an object that is no array; inherited ones do not count. */
export function ownProperty(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A text property, trimmed; hand-written flows may have a number or a boolean instead. */
export function textOf(config: Config, name: string, otherwise = ''): string {
  const value = ownProperty(config, name);
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : otherwise;
}

/** A number, clamped to its bounds; the default where there is none. */
export function numberOf(config: Config, name: string, setting: NumberSetting): number {
  const text = textOf(config, name);
  const number = text === '' ? NaN : Number(text);
  return Number.isNaN(number) ? setting.default : Math.min(Math.max(number, setting.least), setting.most);
}

export function flagOf(config: Config, name: string, setting: FlagSetting): boolean {
  const text = textOf(config, name).toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : setting.default;
}

/** One of a few words; the first where it is none of them. */
export function choiceOf<Choice extends string>(
  config: Config,
  name: string,
  { choices }: Pick<ChoiceSetting<Choice>, 'choices'>,
): Choice {
  const text = textOf(config, name);
  return choices.find((choice) => choice === text) ?? choices[0];
}

/** The name in a text that is `${NAME}` as a whole, which Node-RED leaves where the environment variable is not set; else `null`. */
export function environmentVariable(text: string): string | null {
  return /^\$\{([^{}]*)\}$/.exec(text)?.[1] ?? null;
}

export const variableMissing = (variable: string): StripError =>
  new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.variable', { params: { variable } });
