import { StripError } from '../api/errors';
import type { ChoiceSetting, FlagSetting, NumberSetting } from '../settings';
import { ownProperty } from '../values';

/** A node's properties as the flow file has them: missing, of another type, or hostile. */
export type Config = Readonly<Record<string, unknown>>;

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

export const variableMissing = (variable: string): StripError =>
  new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.variable', { params: { variable } });
