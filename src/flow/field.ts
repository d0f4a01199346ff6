import { StripError } from '../api/errors';
import { isRecord } from '../api/values';
import type { TypedSetting } from '../settings';
import { choiceOf, textOf, unresolved, type Config } from './config';

/** A message, of which nothing is known. */
export type Message = Record<string, unknown>;

/** The value of a `msg`, `flow`, `global`, `env` or `jsonata` field. Rejects with whatever it fails with. */
export type Evaluate = (value: string, type: string, msg: Message) => Promise<unknown>;

/** How a field gets its value: from the message by default, fixed here, or by evaluating an expression. */
type Way = 'message' | 'fixed' | 'evaluated';

/** A value of which the message need not know the place: a property of the payload or, in its absence, of the message itself. */
export class Field {
  readonly way: Way;
  readonly #name: string;
  readonly #value: string;
  readonly #type: string;

  /** `plain`: the type whose value is the field's own. */
  constructor(config: Config, name: string, plain: string, setting: TypedSetting) {
    this.#name = name;
    this.#value = textOf(config, name);
    const type = choiceOf(config, `${name}Type`, { choices: setting.types });
    this.#type = type;
    this.way = type === 'message' ? 'message' : type === plain ? 'fixed' : 'evaluated';
  }

  /** Nothing is chosen. */
  get empty(): boolean {
    return this.way === 'fixed' && this.#value === '';
  }

  /** What is fixed in the node; NOT_CONFIGURED for a variable that is not set. */
  get fixed(): string | StripError {
    const variable = unresolved(this.#value);
    return variable === null ? this.#value : variableMissing(variable);
  }

  /**
   * The value of an expression; INVALID_INPUT, or NOT_CONFIGURED for a variable that is not set. Such an error is a value, too, so that what
   * the other fields say is not lost with it.
   */
  async evaluate(evaluate: Evaluate, msg: Message): Promise<unknown> {
    let value: unknown;
    try {
      value = await evaluate(this.#value, this.#type, msg);
    } catch (error) {
      return new StripError('INVALID_INPUT', 'INVALID_INPUT.expression', {
        params: { expression: shorten(this.#value), reason: shorten(reasonOf(error)) },
      });
    }
    const isMissing = this.#type === 'env' && (value === '' || value === undefined);
    return isMissing ? variableMissing(this.#value) : value;
  }

  /** From the message: the payload's own property, else the message's own. */
  from(msg: Message, payload: unknown): unknown {
    const said = ownOf(payload, this.#name);
    return said === undefined ? ownOf(msg, this.#name) : said;
  }
}

/** An own property of an object that is no array; prototypes say nothing. */
export function ownOf(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

const variableMissing = (variable: string): StripError =>
  new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.variable', { params: { variable } });

/** JSONata throws plain objects. */
function reasonOf(error: unknown): string {
  const message: unknown =
    typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  return typeof message === 'string' && message !== '' ? message : 'failed';
}

const LONGEST = 160;
const shorten = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
