import type { Command } from '../account/types';
import { StripError } from '../api/errors';
import type { PortOrAll } from '../api/types';
import { SETTINGS, type Config } from '../settings';
import { isRecord, ownProperty, preview } from '../values';
import {
  actionOf,
  Field,
  invalidInput,
  keepOrder,
  parseOnePort,
  parsePort,
  parseRequested,
  readingMessage,
  readMac,
  requireMac,
  throwFirst,
  valueOf,
  type Evaluate,
  type Message,
  type Requested,
  type Target,
} from './input-fields';

/** A command with the word the message used for it. */
export interface RequestedCommand {
  command: Command;
  requested: Requested;
}

/** Everything that one message asks for. */
export interface SwitchRequest {
  /** How it was asked, and with that the form of the answer: on/off, one outlet, an array of outlets, or a whole strip. */
  form: 'on' | 'port-on' | 'array' | 'strip';
  commands: readonly RequestedCommand[];
}

const { mac: MAC, port: PORT, on: ON, delay: DELAY } = SETTINGS['strip switch'];

/**
 * Reads commands from messages and from what is fixed in the node, which wins. A message is either exactly one of the accepted forms or
 * INVALID_INPUT; nothing is taken for on or off because it is truthy.
 */
export class CommandReader {
  readonly #mac: Field;
  readonly #port: Field;
  readonly #on: Field;
  readonly #delay: Field;
  /** Expressions take time: messages that need them are kept in order. */
  readonly #keepOrder: ReturnType<typeof keepOrder> | null;
  /** Strip, outlet and state all come from elsewhere: the payload says nothing. */
  readonly #ignoresPayload: boolean;

  constructor(config: Config, evaluate: Evaluate) {
    this.#mac = new Field(config, 'mac', MAC, evaluate);
    this.#port = new Field(config, 'port', PORT, evaluate);
    this.#on = new Field(config, 'on', ON, evaluate);
    this.#delay = new Field(config, 'delay', DELAY, evaluate);
    const fields = [this.#mac, this.#port, this.#on];
    const hasExpression = [...fields, this.#delay].some(({ source }) => source === 'expression');
    this.#keepOrder = hasExpression ? keepOrder() : null;
    this.#ignoresPayload = fields.every(({ source }) => source !== 'message');
  }

  /** Rejects with INVALID_INPUT or NOT_CONFIGURED. Writes into `target` what could be read, also then. */
  read(msg: Message, target: Target): Promise<SwitchRequest> {
    const request = readingMessage(() => this.#read(msg, target));
    return this.#keepOrder === null ? request : this.#keepOrder(request);
  }

  async #read(msg: Message, target: Target): Promise<SwitchRequest> {
    const payload = ownProperty(msg, 'payload');
    const several = !this.#ignoresPayload && (Array.isArray(payload) || isWholeStrip(payload));
    const [mac, port, requested] = await Promise.allSettled([
      readMac(this.#mac, msg, payload),
      this.#readPort(msg, payload),
      this.#readRequested(msg, payload),
    ]);
    if (mac.status === 'fulfilled') target.mac = mac.value;
    // The elements of an array name their own outlets, whatever `msg.port` says.
    if (port.status === 'fulfilled' && !(several && this.#port.source === 'message'))
      target.port = port.value;
    if (several) return await this.#withDelay(this.#readSeveral(payload, mac), msg, payload);
    if (requested.status === 'fulfilled') target.requested = requested.value;
    throwFirst([requested, port, mac]);
    const command = commandOf(valueOf(mac), valueOf(port), valueOf(requested));
    const form = this.#payloadNamesField(payload) ? 'port-on' : 'on';
    return await this.#withDelay({ form, commands: [command] }, msg, payload);
  }

  async #readPort(msg: Message, payload: unknown): Promise<PortOrAll> {
    if (this.#port.isEmpty) throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.port');
    const value = await this.#port.read(msg, payload);
    if (value === undefined && this.#port.source === 'message') {
      throw new StripError('INVALID_INPUT', 'INVALID_INPUT.portMissing');
    }
    const port = parsePort(value);
    if (port === null) throw invalidInput('port', value);
    return port;
  }

  async #readRequested(msg: Message, payload: unknown): Promise<Requested> {
    if (this.#on.isEmpty) throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.on');
    const fromMessage = this.#on.source === 'message';
    const inPayload = isRecord(payload) ? ownProperty(payload, 'on') : payload;
    const value = fromMessage ? inPayload : await this.#on.read(msg, payload);
    const requested = parseRequested(value);
    if (requested === null) throw fromMessage ? invalidInput('on', payload) : invalidInput('state', value);
    return requested;
  }

  /** Whether the payload is an object that holds the value of a field. */
  #payloadNamesField(payload: unknown): boolean {
    return Object.entries({ on: this.#on, port: this.#port, mac: this.#mac }).some(
      ([name, { source }]) => source === 'message' && ownProperty(payload, name) !== undefined,
    );
  }

  /** `mac`: the strip that the node or the message as a whole names. */
  #readSeveral(payload: unknown, mac: PromiseSettledResult<string>): SwitchRequest {
    if (this.#port.source !== 'message' || this.#on.source !== 'message')
      throw invalidInput('fixed', payload);
    if (!Array.isArray(payload)) return { form: 'strip', commands: readWholeStrip(payload, valueOf(mac)) };
    if (payload.length === 0) throw new StripError('INVALID_INPUT', 'INVALID_INPUT.arrayEmpty');
    const isFixed = this.#mac.source !== 'message';
    const elements = Array.from(payload, readElement); // unlike `map`, not skipping holes
    const commands = elements.map(({ port, requested, mac: own }) =>
      commandOf(isFixed || own === undefined ? valueOf(mac) : requireMac(own), port, requested),
    );
    return { form: 'array', commands };
  }

  /** Reads the delay, if any of the commands is a cycle. */
  async #withDelay(request: SwitchRequest, msg: Message, payload: unknown): Promise<SwitchRequest> {
    const cycles = request.commands.filter(({ command }) => command.action === 'cycle');
    if (cycles.length === 0) return request;
    const delay = parseDelay(await this.#delay.read(msg, payload));
    for (const { command } of cycles) command.delay = delay;
    return request;
  }
}

const commandOf = (mac: string, port: PortOrAll, requested: Requested): RequestedCommand => ({
  command: { mac, port, action: actionOf(requested), delay: 0 },
  requested,
});

/** Milliseconds of a delay in seconds, as a number or numeric text. Throws INVALID_INPUT for anything else and outside the bounds. */
function parseDelay(value: unknown): number {
  if (value === undefined || value === '') return Number(DELAY.default) * 1000;
  const isNumeric = typeof value === 'string' && /^\s*\d{1,9}(\.\d{1,9})?\s*$/.test(value);
  const seconds = typeof value === 'number' ? value : isNumeric ? Number(value) : NaN;
  if (!(seconds >= DELAY.least && seconds <= DELAY.most)) throw invalidInput('delay', value);
  return seconds * 1000;
}

/** One element of an array: `{port, on, mac?}`. Throws INVALID_INPUT. */
function readElement(
  element: unknown,
  index: number,
): { port: PortOrAll; requested: Requested; mac: unknown } {
  const port = parsePort(ownProperty(element, 'port'));
  const requested = parseRequested(ownProperty(element, 'on'));
  if (port === null || requested === null) {
    throw new StripError('INVALID_INPUT', 'INVALID_INPUT.element', {
      params: { number: index + 1, got: preview(element) },
    });
  }
  return { port, requested, mac: ownProperty(element, 'mac') };
}

/** Whether a payload is a strip with its outlets rather than one outlet. */
const isWholeStrip = (payload: unknown): boolean =>
  ownProperty(payload, 'outlets') !== undefined && ownProperty(payload, 'on') === undefined;

/** Commands that restore the outlets of a strip whose state is known. Throws INVALID_INPUT. */
function readWholeStrip(strip: unknown, mac: string): RequestedCommand[] {
  const outlets = ownProperty(strip, 'outlets');
  if (!Array.isArray(outlets)) throw invalidInput('wholeStrip', outlets);
  const commands = Array.from(outlets, (outlet: unknown) => {
    const port = parseOnePort(ownProperty(outlet, 'port'));
    const on = ownProperty(outlet, 'on') ?? null;
    const requested = parseRequested(on);
    const isState = on === null || (requested !== null && typeof actionOf(requested) === 'boolean');
    if (port === null || !isState) throw invalidInput('wholeStrip', outlet);
    return requested === null ? null : commandOf(mac, port, requested);
  }).filter((command) => command !== null);
  if (commands.length === 0) throw new StripError('INVALID_INPUT', 'INVALID_INPUT.wholeStripEmpty');
  return commands;
}
