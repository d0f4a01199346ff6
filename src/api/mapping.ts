import { getHeapStatistics } from 'node:v8';
import { cut, messageOf, oneLine, ownProperty } from '../values';
import { closedError, StripError } from './errors';

/** The part of a JSONata expression that is used here. Node-RED prepares the expression. */
export interface Expression {
  assign(name: string | symbol, value: unknown): void;
  evaluate(input: unknown): Promise<unknown>;
}

/** Changes the service's body into one that the decoder reads. Rejects with BAD_RESPONSE, or with CLOSED soon after `isClosed` becomes true. */
export type Mapping = (body: unknown, isClosed?: () => boolean) => Promise<unknown>;

/** The most parts of an expression that may be evaluated. A list of 1,000 strips takes about 100,000. */
const MAX_STEPS = 2_000_000;
/**
 * The most parts that may have begun and not ended. These are nested calls, and also branches side by side, such as one for each strip if a list is
 * grouped by MAC. JSONata does not let us tell the two apart, because it counts branches on an environment that they share. Each part takes about 3
 * kB.
 */
const MAX_UNFINISHED = 30_000;
/** Milliseconds after which everything else in the process gets a turn. Only a single step, such as `[1..1000000]`, may take longer. */
const LONGEST_TURN = 20;
/**
 * How much of the memory that was free when an evaluation began may be taken by the time it ends. Some functions take memory between steps: JSONata sorts
 * with one nested call for each element, each with a copy of the elements that are left, so that sorting 30,000 of them takes more than 1 GB. Without
 * free memory, Node.js ends the whole process.
 */
const MOST_OF_FREE = 0.5;

/**
 * A mapping by a JSONata expression. `prepare` parses it: once for each evaluation, because two may run side by side and each has its own
 * limits. `hideKey`: takes the API key out of a text before an error shows it.
 */
export function createMapping(prepare: () => Expression, hideKey: (text: string) => string): Mapping {
  return async (body, isClosed = () => false) => {
    try {
      const expression = prepare();
      setLimits(expression, isClosed);
      // JSONata returns `undefined` if nothing matches.
      return (await expression.evaluate(body)) ?? null;
    } catch (error) {
      throw isClosed() ? closedError('account') : mappingError(error, hideKey, body);
    }
  };
}

/** Ends an evaluation that takes too many steps or too much memory, has too many unfinished parts, or is not needed any more. */
function setLimits(expression: Expression, isClosed: () => boolean): void {
  let steps = 0;
  let unfinished = 0;
  let turnBegan = performance.now();
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  const mostUsed = used + MOST_OF_FREE * (limit - used);
  const entry = async (): Promise<void> => {
    steps++;
    unfinished++;
    if (steps > MAX_STEPS) throw new Error('The expression takes too many steps');
    if (unfinished > MAX_UNFINISHED) throw new Error('The expression calls itself too often');
    if (performance.now() - turnBegan < LONGEST_TURN) return;
    if (isClosed()) throw new Error('The account was closed');
    if (getHeapStatistics().used_heap_size > mostUsed)
      throw new Error('The expression needs too much memory');
    await new Promise((resolve) => setImmediate(resolve));
    turnBegan = performance.now();
  };
  const exit = () => unfinished--;
  // JSONata calls these at each part of an expression, as its guide on limiting evaluation says; newer versions find them under a symbol.
  for (const [name, hook] of Object.entries({ __evaluate_entry: entry, __evaluate_exit: exit })) {
    expression.assign(name, hook);
    expression.assign(Symbol.for(`jsonata.${name}`), hook);
  }
}

const LONGEST_REASON = 200;

/** The error with JSONata's own message and, if known, the position in the expression. */
function mappingError(error: unknown, hideKey: (text: string) => string, response: unknown): StripError {
  const position = ownProperty(error, 'position');
  const reason = cut(oneLine(hideKey(messageOf(error))), LONGEST_REASON);
  return typeof position === 'number'
    ? new StripError('BAD_RESPONSE.mappingAt', { reason, position }, { response })
    : new StripError('BAD_RESPONSE.mapping', { reason }, { response });
}
