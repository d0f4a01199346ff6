// How every part of the package reads values of unknown type: from flow files, messages and answers.

/** Whether a value is an object or an array. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Whether a value is an object and no array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !Array.isArray(value);
}

/** An own property of an object that is no array; inherited ones do not count. */
export function ownProperty(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/**
 * The name in a text that is exactly `${NAME}`, or `$(NAME)` as older flows have it, which Node-RED leaves as it is if the environment variable is not
 * set; otherwise `null`.
 */
export function environmentVariable(text: string): string | null {
  const [, name, old] = /^\$(?:\{([^{}]*)\}|\(([^()]*)\))$/.exec(text.trim()) ?? [];
  return name ?? old ?? null;
}

/**
 * A sentence with values in place of `__name__`; a placeholder without a value stays. Node-RED's own function is not used: it gives some names of
 * values, such as "count" and "context", another meaning.
 */
export const fill = (sentence: string, params: Readonly<Record<string, unknown>>): string =>
  sentence.replace(/__(\w+?)__/g, (placeholder, name: string) =>
    Object.hasOwn(params, name) ? String(params[name]) : placeholder,
  );

/** A text cut to at most `max` characters; the last one is then "…". */
export function cut(text: string, max: number): string {
  const characters = Array.from(text);
  if (characters.length <= max) return text;
  const start = characters.slice(0, max - 1).join('');
  return `${start.trimEnd()}…`;
}

/** The message of anything that was thrown: JSONata throws plain objects. */
export function messageOf(thrown: unknown): string {
  const message: unknown = isObject(thrown) && 'message' in thrown ? thrown.message : thrown;
  return typeof message === 'string' && message !== '' ? message : 'failed';
}

/** Home Assistant makes entity ids of at most 255 characters from names. */
const LONGEST_NAME = 100;

/**
 * A name for a sentence or another program: one line, not too long, and without unpaired surrogates, which strict JSON parsers refuse; `null` if
 * nothing is left.
 */
export function displayName(name: string | null): string | null {
  const line = oneLine(name ?? '');
  return line === '' ? null : cut(line, LONGEST_NAME);
}

/** A text from elsewhere for a sentence: in one line, because each entry of the log is one, and without unpaired surrogates. */
export const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replace(/\p{Cs}/gu, '\ufffd')
    .trim();

/** Longest preview, in characters. */
const LONGEST_PREVIEW = 60;
const DEEPEST = 2;
const MAX_MEMBERS = 6;

/** A short text that shows a value in an error sentence. Never throws, and runs no code of the value (getters, `toString`). */
export function preview(value: unknown): string {
  try {
    return cut(render(value, 0), LONGEST_PREVIEW);
  } catch {
    return typeof value; // a proxy whose traps throw
  }
}

function render(value: unknown, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, LONGEST_PREVIEW));
  if (isObject(value)) return renderObject(value, depth);
  return ['bigint', 'symbol', 'function'].includes(typeof value) ? typeof value : String(value);
}

function renderObject(value: object, depth: number): string {
  if (ArrayBuffer.isView(value)) return `buffer of ${value.byteLength} bytes`;
  const isArray = Array.isArray(value);
  if (depth >= DEEPEST) return isArray ? '[…]' : '{…}';
  // Listing all keys of an array with millions of entries takes seconds.
  const keys = Object.keys(isArray ? value.slice(0, MAX_MEMBERS + 1) : value);
  // Of a promise or a date there is nothing else to show.
  const name = dataOf(dataOf(Object.getPrototypeOf(value), 'constructor'), 'name');
  const className = typeof name === 'string' && /^(?!Object$)\w+$/.test(name) ? `${name} ` : '';
  const members = keys.slice(0, MAX_MEMBERS).map((key) => {
    const member = Object.getOwnPropertyDescriptor(value, key);
    const isValue = member !== undefined && 'value' in member;
    const text = isValue ? render(member.value, depth + 1) : 'getter';
    return isArray ? text : `${render(key, depth)}: ${text}`;
  });
  if (keys.length > MAX_MEMBERS) members.push('…');
  return isArray ? `[${members.join(', ')}]` : `${className}{${members.join(', ')}}`;
}

/** An own property; `undefined` for a getter. */
const dataOf = (owner: unknown, name: string): unknown =>
  Object.getOwnPropertyDescriptor(Object(owner), name)?.value;
