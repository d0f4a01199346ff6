import type { Action } from '../account/types';
import { isStripError, StripError, variableMissing } from '../api/errors';
import { isPossibleMac, PORTS, type PortOrAll } from '../api/types';
import { EVALUATED, requireSet, textOf, typeOf, type Config, type TypedSetting } from '../settings';
import { cut, environmentVariable, messageOf, ownProperty, preview } from '../values';

/** A message as a node gets it: nothing is known of its properties. */
export type Message = Record<string, unknown>;

/** Returns the value of a `msg`, `flow`, `global`, `env` or `jsonata` field. May reject with any error. */
export type Evaluate = (value: string, type: string, msg: Message) => Promise<unknown>;

/** The action that each word for a state asks for. */
const ACTIONS = { on: true, true: true, off: false, false: false, toggle: 'toggle', cycle: 'cycle' } as const;

/** The state a message asks for: its own word in lower case, or a boolean. */
export type Requested = boolean | keyof typeof ACTIONS;

/** What a message is about, as far as it could be read. Errors report it in `msg.strip`. */
export interface Target {
  mac: string | null;
  port: PortOrAll | null;
  requested: Requested | null;
}

/** Longest text of an expression, or of the reason why it failed, in an error sentence. */
const LONGEST_EXPRESSION = 160;

/** Where the fields of a node find their values for one message. */
export interface MessageValues {
  readonly msg: Message;
  readonly payload: unknown;
  /** For each field with an expression, its value, or the error that says why it has none. */
  readonly evaluated: ReadonlyMap<InputField, unknown>;
}

/** A typed field of a node: fixed in the node, taken from the message, or the value of an expression. */
export class InputField {
  readonly source: 'message' | 'fixed' | 'expression';
  readonly #name: string;
  readonly #value: string;
  readonly #type: string;

  constructor(config: Config, name: string, setting: TypedSetting) {
    this.#name = name;
    this.#value = textOf(config, name, setting.default);
    this.#type = typeOf(config, name, setting);
    // An empty expression means that nothing was chosen.
    const isExpression = this.#value !== '' && EVALUATED.some((type) => type === this.#type);
    this.source = isExpression ? 'expression' : this.#type === 'message' ? 'message' : 'fixed';
  }

  /** Whether the payload is an object that holds its value. */
  isIn(payload: unknown): boolean {
    return this.source === 'message' && ownProperty(payload, this.#name) !== undefined;
  }

  /**
   * The field's value; `undefined` if neither the payload nor the message has a property of its name. Throws INVALID_INPUT for an
   * expression that fails and NOT_CONFIGURED for an environment variable that is not set.
   */
  read({ msg, payload, evaluated }: MessageValues): unknown {
    if (this.source === 'message') {
      const value = ownProperty(payload, this.#name);
      return value === undefined ? ownProperty(msg, this.#name) : value;
    }
    if (this.source === 'fixed') return requireSet(this.#value);
    const value = evaluated.get(this);
    if (isStripError(value)) throw value;
    return value;
  }

  /**
   * Like `read`, but also throws if nothing is chosen in the node (NOT_CONFIGURED), or if the message has no value or the expression is undefined,
   * such as a variable of the flow that was not set (INVALID_INPUT). `kind`: of the sentence that then names the expression.
   */
  readRequired(values: MessageValues, kind = this.#name): unknown {
    if (this.source === 'fixed' && this.#value === '') throw new StripError(`NOT_CONFIGURED.${this.#name}`);
    const value = this.read(values);
    if (value !== undefined) return value;
    if (this.source === 'message') throw new StripError(`INVALID_INPUT.${this.#name}Missing`);
    throw new StripError(`INVALID_INPUT.${kind}`, { got: `undefined (${this.#expression})` });
  }

  /** The value of the expression for a message, or the error that says why it has none. */
  async evaluate(msg: Message, evaluate: Evaluate): Promise<unknown> {
    try {
      const value = await evaluate(this.#value, this.#type, msg);
      return this.#type === 'env' ? requireVariable(this.#value, value) : value;
    } catch (error) {
      if (isStripError(error)) return error;
      const reason = cut(messageOf(error), LONGEST_EXPRESSION);
      return new StripError('INVALID_INPUT.expression', { expression: this.#expression, reason });
    }
  }

  /** The expression as error sentences name it. */
  get #expression(): string {
    // In a flow file, "#:(store)::" stands before a variable of a context store that was chosen by name.
    const variable = this.#value.replace(/^#:\((\S+?)\)::(.*)$/, '$2 [$1]');
    return cut(this.#type === 'jsonata' ? this.#value : `${this.#type}.${variable}`, LONGEST_EXPRESSION);
  }
}

/** The value of an environment variable. Throws NOT_CONFIGURED if it is not set, or if its value is `${NAME}` of another one that is not set. */
export function requireVariable(name: string, value: unknown): unknown {
  if (value === '' || value === undefined) throw variableMissing(environmentVariable(name) ?? name);
  return typeof value === 'string' ? requireSet(value) : value;
}

/** Reads what a message asks for. May reject with INVALID_INPUT or NOT_CONFIGURED; even then it writes into `target` what it could read. */
export type ReadMessage<Value> = (msg: Message, target: Target) => Promise<Value>;

/**
 * Returns a function that evaluates the expressions of these fields for a message and then calls `read`. Messages are read in the order in which they
 * came: an expression may take time.
 */
export function messageReader<Value>(
  fields: readonly InputField[],
  evaluate: Evaluate,
  read: (values: MessageValues, target: Target) => Value,
): ReadMessage<Value> {
  const expressions = fields.filter(({ source }) => source === 'expression');
  let last: Promise<unknown> = Promise.resolve();
  return async (msg, target) => {
    const readWith = (evaluated: MessageValues['evaluated']) =>
      asInputError(() => read({ msg, payload: ownProperty(msg, 'payload'), evaluated }, target));
    // Without expressions there is nothing to wait for. So messages to several nodes in one turn keep their order, too.
    if (expressions.length === 0) return readWith(new Map());
    const results = expressions.map(async (field) => [field, await field.evaluate(msg, evaluate)] as const);
    const inOrder = Promise.all([last, ...results]).then(([, ...evaluated]) => readWith(new Map(evaluated)));
    last = inOrder.catch(() => undefined);
    return await inOrder;
  };
}

/** Reads or copies a message. An error other than a `StripError` can only mean that the message is no plain data: it may have a getter that throws. */
export function asInputError<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw isStripError(error) ? error : new StripError('INVALID_INPUT.unreadable');
  }
}

/** Writes the answer into its message. That could be done when the message came, but a flow may have frozen it since. */
export function withAnswer(msg: Message, answer: Message): Message {
  try {
    return Object.assign(msg, answer);
  } catch {
    throw new StripError('INVALID_INPUT.uncopied');
  }
}

/** The error to report if several fields failed: one of the node's configuration comes first, because no message can correct it. */
export const mainError = (errors: readonly StripError[]): unknown =>
  errors.find(({ code }) => code === 'NOT_CONFIGURED') ?? errors[0];

/** The state that a value asks for; `null` for anything but the accepted values. Truthiness does not count. */
export function parseRequested(value: unknown): Requested | null {
  if (typeof value === 'boolean') return value;
  if (value === 1) return true;
  if (value === 0) return false;
  const word = wordOf(value);
  return isStateWord(word) ? word : null;
}

const isStateWord = (word: string): word is keyof typeof ACTIONS => Object.hasOwn(ACTIONS, word);

export const actionOf = (requested: Requested): Action =>
  typeof requested === 'boolean' ? requested : ACTIONS[requested];

/** An outlet as a number or numeric text, or "all"; `null` for anything else. */
export function parsePort(value: unknown): PortOrAll | null {
  const word = typeof value === 'number' ? String(value) : wordOf(value);
  return word === 'all' ? word : (PORTS.find((port) => String(port) === word) ?? null);
}

const wordOf = (value: unknown): string => (typeof value === 'string' ? value.trim().toLowerCase() : '');

/** A MAC, without spaces around it. Throws INVALID_INPUT for what cannot be one. */
export function requireMac(value: unknown): string {
  const mac = typeof value === 'string' ? value.trim() : '';
  if (!isPossibleMac(mac)) throw invalidInput('mac', value);
  return mac;
}

/** An outlet, or "all". Throws INVALID_INPUT for anything else. */
export function requirePort(value: unknown): PortOrAll {
  const port = parsePort(value);
  if (port === null) throw invalidInput('port', value);
  return port;
}

/** INVALID_INPUT with a sentence that shows what came. */
export const invalidInput = (kind: string, got: unknown): StripError =>
  new StripError(`INVALID_INPUT.${kind}`, { got: preview(got) });
