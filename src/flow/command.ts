import type { Command } from '../account/types';
import { isStripError, StripError } from '../api/errors';
import type { PortOrAll } from '../api/types';
import { isRecord } from '../api/values';
import { SETTINGS } from '../settings';
import type { Config } from './config';
import { readDelay } from './delay';
import { excerpt } from './excerpt';
import { Field, ownOf, type Evaluate, type Message } from './field';
import { InOrder } from './in-order';
import { isPicture, readArray, readPicture } from './several';
import { checkMac, macOf, portRefused, portValue, valueOf, type Target } from './target';
import { actionOf, readPort, readRequested, type Requested } from './words';

const SETTING = SETTINGS['strip switch'];

/** One command of a message. */
export interface Asked {
  command: Command;
  requested: Requested;
}

/** All that one message asks for. */
export interface Order {
  /** How it was asked, which is how it is answered: on/off, one outlet, an array of outlets, or a whole strip. */
  form: 'on' | 'port-on' | 'array' | 'strip';
  commands: readonly Asked[];
}

/** What the expressions of a node's fields gave. */
interface Values {
  mac?: unknown;
  port?: unknown;
  on?: unknown;
  delay?: unknown;
}

const NO_VALUES: Values = {};

/**
 * Reads commands from messages and from what is fixed in the node, which wins. A message is either exactly one of the accepted forms or
 * INVALID_INPUT; nothing is ever taken for on or off because it is truthy.
 */
export class CommandReader {
  readonly #mac: Field;
  readonly #port: Field;
  readonly #on: Field;
  readonly #delay: Field;
  readonly #evaluate: Evaluate;
  readonly #order = new InOrder();
  /** Something has to be evaluated, which takes its time. */
  readonly #slow: boolean;
  /** Strip, outlet and state do not come from the message, so that the payload means nothing. */
  readonly #triggered: boolean;

  constructor(config: Config, evaluate: Evaluate) {
    this.#mac = new Field(config, 'mac', 'str', SETTING.mac);
    this.#port = new Field(config, 'port', 'port', SETTING.port);
    this.#on = new Field(config, 'on', 'action', SETTING.on);
    this.#delay = new Field(config, 'delay', 'num', SETTING.delay);
    this.#evaluate = evaluate;
    const fields = [this.#mac, this.#port, this.#on];
    this.#slow = [...fields, this.#delay].some(({ way }) => way === 'evaluated');
    this.#triggered = fields.every(({ way }) => way !== 'message');
  }

  /**
   * Throws or rejects with a `StripError`, and leaves in `seen` what could be read all the same. Messages whose fields have to be
   * evaluated come out in the order they came in.
   */
  read(msg: Message, seen: Target): Order | Promise<Order> {
    if (this.#slow) return this.#order.wait(this.#evaluated(msg, seen));
    return this.#read(msg, NO_VALUES, seen);
  }

  async #evaluated(msg: Message, seen: Target): Promise<Order> {
    const [mac, port, on] = await Promise.all(
      [this.#mac, this.#port, this.#on].map((field) => valueOf(field, this.#evaluate, msg)),
    );
    const order = this.#read(msg, { mac, port, on }, seen);
    if (this.#delay.way === 'evaluated' && order.commands.some(isCycle)) {
      const delay = readDelay(demand(await valueOf(this.#delay, this.#evaluate, msg)));
      for (const { command } of order.commands) command.delay = delay;
    }
    return order;
  }

  #read(msg: Message, values: Values, seen: Target): Order {
    try {
      const payload = ownOf(msg, 'payload');
      const order = this.#orderOf(msg, payload, values, seen);
      if (this.#delay.way !== 'evaluated' && order.commands.some(isCycle)) {
        const { way } = this.#delay;
        const delay = readDelay(way === 'fixed' ? demand(this.#delay.fixed) : this.#delay.from(msg, payload));
        for (const { command } of order.commands) command.delay = delay;
      }
      return order;
    } catch (error) {
      if (isStripError(error)) throw error;
      // Only a message that is more than data can do that: a getter or a proxy that throws.
      throw new StripError('INVALID_INPUT', 'INVALID_INPUT.unreadable');
    }
  }

  #orderOf(msg: Message, payload: unknown, values: Values, seen: Target): Order {
    const several = !this.#triggered && (Array.isArray(payload) || isPicture(payload));
    const mac = macOf(this.#mac, values.mac, msg, payload);
    if (!isStripError(mac)) seen.mac = mac;
    const port = this.#portOf(portValue(this.#port, values.port, msg, payload));
    // Several outlets bear numbers of their own, whatever `msg.port` says.
    if (!isStripError(port) && !(several && this.#port.way === 'message')) seen.port = port;
    if (several) return this.#several(payload, mac);
    const said = this.#requested(payload, values);
    if (!isStripError(said)) seen.requested = said;
    // What cannot be evaluated is amiss in the node, whatever the message says.
    demand(values.mac);
    demand(values.port);
    demand(values.on);
    // What was asked is what a person looks at first; whom it concerns comes after.
    if (isStripError(said)) throw said;
    if (isStripError(port)) throw port;
    if (isStripError(mac)) throw mac;
    const form = !this.#triggered && isRecord(payload) && this.#reads(payload) ? 'port-on' : 'on';
    return { form, commands: [asked(mac, port, said)] };
  }

  /** Whether a field really comes from the payload. */
  #reads(payload: unknown): boolean {
    return (
      (this.#on.way === 'message' && ownOf(payload, 'on') !== undefined) ||
      (this.#port.way === 'message' && ownOf(payload, 'port') !== undefined) ||
      (this.#mac.way === 'message' && ownOf(payload, 'mac') !== undefined)
    );
  }

  #requested(payload: unknown, values: Values): Requested | StripError {
    const { way } = this.#on;
    if (way === 'message') {
      const value = isRecord(payload) ? ownOf(payload, 'on') : payload;
      return readRequested(value) ?? refused('on', payload);
    }
    if (way === 'fixed' && this.#on.empty) return new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.on');
    const value = way === 'fixed' ? this.#on.fixed : values.on;
    if (isStripError(value)) return value;
    return readRequested(value) ?? refused('state', value);
  }

  #portOf(given: unknown): PortOrAll | StripError {
    if (isStripError(given)) return given;
    if (given !== undefined || this.#port.way === 'evaluated') return readPort(given) ?? portRefused(given);
    return this.#port.empty
      ? new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.port')
      : new StripError('INVALID_INPUT', 'INVALID_INPUT.portMissing');
  }

  /** `mac`: the strip that the node or the message as a whole names, or why there is none. */
  #several(payload: readonly unknown[] | Record<string, unknown>, mac: string | StripError): Order {
    if (this.#port.way !== 'message' || this.#on.way !== 'message') throw refused('fixed', payload);
    if (!isList(payload)) {
      const commands = readPicture(payload).map(({ port, requested }) => asked(demand(mac), port, requested));
      return { form: 'strip', commands };
    }
    const isFixed = this.#mac.way !== 'message';
    const commands = readArray(payload).map((wish) => {
      const named = isFixed || wish.mac === undefined ? mac : checkMac(wish.mac);
      return asked(demand(named), wish.port, wish.requested);
    });
    return { form: 'array', commands };
  }
}

const refused = (sentence: string, got: unknown): StripError =>
  new StripError('INVALID_INPUT', `INVALID_INPUT.${sentence}`, { params: { got: excerpt(got) } });

const asked = (mac: string, port: PortOrAll, requested: Requested): Asked => ({
  command: { mac, port, action: actionOf(requested), delay: 0 },
  requested,
});

const isCycle = ({ command }: Asked): boolean => command.action === 'cycle';

/** `Array.isArray` makes `any` of what it does not know. */
const isList = (value: object): value is readonly unknown[] => Array.isArray(value);

function demand<Value>(value: Value | StripError): Value {
  if (isStripError(value)) throw value;
  return value;
}
