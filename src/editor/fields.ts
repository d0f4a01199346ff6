/** A node's properties as a flow file may hold them: any of them missing, of another type, or left over from elsewhere. */
export type Properties = Readonly<Record<string, unknown>>;

/** Text of a property; `fallback` where an old or hand-written flow has none. */
export function textOf(node: Properties, property: string, fallback = ''): string {
  const value = node[property];
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : fallback;
}

/** Types whose value a message cannot change. */
const FIXED = new Set(['str', 'port', 'action', 'num', 'env', 'flow', 'global']);

/** Whether what a field stands for is settled without a message; an empty fixed field settles nothing. */
function isFixed(node: Properties, property: string, fallbackType: string): boolean {
  return FIXED.has(textOf(node, `${property}Type`, fallbackType)) && textOf(node, property) !== '';
}

/** Whether pressing the node's button on the canvas can mean one thing only. */
export function runsByItself(node: Properties): boolean {
  switch (node.type) {
    case 'strip list':
      return true;
    case 'strip status':
      return (
        isFixed(node, 'mac', 'message') &&
        (textOf(node, 'portType', 'port') === 'port' || isFixed(node, 'port', 'port'))
      );
    case 'strip switch':
      return ['mac', 'port', 'on'].every((property) => isFixed(node, property, 'message'));
    default:
      return false;
  }
}
