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

/** A number as the editor saves one, within bounds; `otherwise` where there is none. */
export function numberOf(
  config: Config,
  name: string,
  otherwise: number,
  [least, most]: readonly [number, number],
): number {
  const text = textOf(config, name);
  const number = text === '' ? NaN : Number(text);
  return Number.isNaN(number) ? otherwise : Math.min(Math.max(number, least), most);
}

export function flagOf(config: Config, name: string, otherwise: boolean): boolean {
  const value = own(config, name);
  if (typeof value === 'boolean') return value;
  const text = textOf(config, name).toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : otherwise;
}

/** One of a few words; the first where it is none of them. */
export function choiceOf<Choice extends string>(
  config: Config,
  name: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  const text = textOf(config, name);
  return choices.find((choice) => choice === text) ?? choices[0];
}

/** Name of the variable where a whole `${NAME}` is left, which Node-RED leaves where the variable is not set. */
export function unresolved(text: string): string | null {
  return /^\$\{([^{}]*)\}$/.exec(text)?.[1] ?? null;
}
