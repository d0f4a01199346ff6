/** Longest excerpt, in characters. */
const LONGEST = 60;
const DEEPEST = 2;
const MOST_MEMBERS = 6;

/** What came, fit for a sentence: never long, never throwing, whatever it is. Runs no code of the value's own. */
export function excerpt(value: unknown): string {
  let text: string;
  try {
    text = render(value, 0);
  } catch {
    return typeof value; // a proxy that does not want to be looked at
  }
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

function render(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value.length > LONGEST ? value.slice(0, LONGEST) : value);
    case 'number':
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'object':
      return value === null ? 'null' : renderObject(value, depth);
    case 'bigint':
    case 'symbol':
    case 'function':
      return typeof value;
  }
}

function renderObject(value: object, depth: number): string {
  if (ArrayBuffer.isView(value)) return `buffer of ${value.byteLength} bytes`;
  const isArray = Array.isArray(value);
  if (depth >= DEEPEST) return isArray ? '[…]' : '{…}';
  const members: string[] = [];
  for (const key in value) {
    const member = Object.getOwnPropertyDescriptor(value, key);
    if (member === undefined) continue;
    if (members.length === MOST_MEMBERS) {
      members.push('…');
      break;
    }
    const text = 'value' in member ? render(member.value, depth + 1) : 'getter';
    members.push(isArray ? text : `${render(key, depth)}: ${text}`);
  }
  return isArray ? `[${members.join(', ')}]` : `{${members.join(', ')}}`;
}
