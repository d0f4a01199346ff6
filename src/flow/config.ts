import type { ChoiceSetting, FlagSetting, NumberSetting } from '../settings';

/** A node's properties as the flow file has them: missing, wrong-typed and hostile ones included. */
export type Config = Readonly<Record<string, unknown>>;

const own = (config: Config, name: string): unknown =>
  Object.hasOwn(config, name) ? config[name] : undefined;

/** A property that is a text, trimmed; hand-written flows may have a number or a boolean instead. */
export function textOf(config: Config, name: string, otherwise = ''): string {
  const value = own(config, name);
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : otherwise;
}

/** A number, moved into its bounds; the default where there is none. */
export function numberOf(config: Config, name: string, setting: NumberSetting): number {
  const text = textOf(config, name);
  const number = text === '' ? NaN : Number(text);
  return Number.isNaN(number) ? setting.default : Math.min(Math.max(number, setting.least), setting.most);
}

export function flagOf(config: Config, name: string, setting: FlagSetting): boolean {
  const value = own(config, name);
  if (typeof value === 'boolean') return value;
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

/** Name of the variable where a whole `${NAME}` is left, which Node-RED leaves where the variable is not set. */
export function unresolved(text: string): string | null {
  return /^\$\{([^{}]*)\}$/.exec(text)?.[1] ?? null;
}
