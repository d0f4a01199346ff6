import { MAX_WAITING } from '../account/command-queue';
import type { Command, Outcome } from '../account/types';
import { asError, closedError, StripError, valueOrNull } from '../api/errors';
import { sameMac, type PortOrAll } from '../api/types';
import { choiceOf, CYCLE_DELAY, isDecimal, requireReadable, SETTINGS, type Config } from '../settings';
import { isRecord, ownProperty, preview } from '../values';
import {
  actionOf,
  InputField,
  invalidInput,
  mainError,
  messageReader,
  parseOnePort,
  parsePort,
  parseRequested,
  requireMac,
  requirePort,
  withAnswer,
  type Evaluate,
  type Message,
  type MessageSource,
  type Requested,
  type Target,
} from './input-fields';
import type { Handle, HandlerContext } from './input-handler';
import { CommandsFailed, failedStrip, type SwitchedStrip } from './node-error';
import { outletStatus, stripStatus, SWITCHED, type NodeStatus } from './node-status';
import type { SharedAccount } from './shared-account';

/** What `strip switch` does with a message. Throws NOT_CONFIGURED. */
export function switchHandler({ config, evaluate, account }: HandlerContext): Handle {
  requireReadable(config, SETTINGS['strip switch']);
  const read = commandReader(config, evaluate);
  const output = choiceOf(config, 'output', SETTINGS['strip switch'].output);
  return async (input) => {
    const { form, commands } = await read(input.msg, input.target);
    if (input.ended) throw closedError('notSent');
    const shared = account();
    input.submitted = true;
    const ends = await Promise.all(
      commands.map((target) =>
        shared.run(target, input.runOptions).then(
          (outcome) => ({ target, outcome }),
          (error: unknown) => ({ target, error: asError(error) }),
        ),
      ),
    );
    const strips = ends.map((end) =>
      'error' in end
        ? failedStrip(end.target, end.error, shared.store)
        : switchedStrip(end.target.requested, end.outcome),
    );
    const failures = ends.filter((end) => 'error' in end);
    const outcomes = ends.filter((end) => 'outcome' in end).map(({ outcome }) => outcome);
    const isSingle = form === 'on' || form === 'port-on';
    const [failure] = failures;
    if (failure !== undefined) throw isSingle ? failure.error : new CommandsFailed(failures, strips);
    const wanted = output === 'same' ? form : output;
    const payload = outcomes.map(({ mac, port, on }) => (wanted === 'on' ? on : { mac, port, on }));
    const response = outcomes.map((outcome) => outcome.response);
    const answer = isSingle
      ? { payload: payload[0], strip: strips[0], response: response[0] }
      : { payload: wanted === 'strip' ? stripOf(outcomes) : payload, strip: strips, response };
    return { messages: [withAnswer(input.msg, answer)], status: statusOf(shared, outcomes) };
  };
}

const stripOf = (outcomes: readonly Outcome[]) => ({
  mac: outcomes[0]?.mac,
  outlets: outcomes.map(({ port, on }) => ({ port, on })),
});

function switchedStrip(requested: Requested, outcome: Outcome): SwitchedStrip {
  const { mac, name, port, outlet, on, results, skipped, at } = outcome;
  const strip: SwitchedStrip = { mac, name, port, outlet, on, requested, success: true, results, at };
  if (skipped !== undefined) strip.skipped = skipped;
  return strip;
}

function statusOf(account: SharedAccount, outcomes: readonly Outcome[]): NodeStatus {
  const [first, ...others] = outcomes;
  if (first === undefined || !others.every(({ mac }) => sameMac(mac, first.mac))) return SWITCHED;
  if (others.length === 0 && first.port !== 'all') return outletStatus(first.on);
  const strip = account.store.find(first.mac);
  // The service has just answered for this strip, even if the latest list did not have it.
  return strip === undefined ? outletStatus(first.on) : stripStatus({ ...strip, available: true });
}

/** A command with the word or boolean that the message used for it. */
interface RequestedCommand extends Command {
  requested: Requested;
}

/** Everything that one message asks for. */
export interface SwitchRequest {
  /** The form of the message, and so of the answer: on/off, one outlet, an array of outlets, or a whole strip. */
  form: 'on' | 'port-on' | 'array' | 'strip';
  commands: readonly RequestedCommand[];
}

const { mac: MAC, port: PORT, on: ON, delay: DELAY } = SETTINGS['strip switch'];

/**
 * Returns a function that reads commands from a message and from what is fixed in the node, which takes precedence. A message that is not exactly one
 * of the accepted forms is INVALID_INPUT; truthiness never means on. The function may reject with INVALID_INPUT or NOT_CONFIGURED; even then it
 * writes into `target` what it could read.
 */
export function commandReader(
  config: Config,
  evaluate: Evaluate,
): (msg: Message, target: Target) => Promise<SwitchRequest> {
  const mac = new InputField(config, 'mac', MAC, evaluate);
  const port = new InputField(config, 'port', PORT, evaluate);
  const on = new InputField(config, 'on', ON, evaluate);
  const delay = new InputField(config, 'delay', DELAY, evaluate);
  const fields = [mac, port, on];
  /** Neither strip nor outlet nor state is "from message", so the payload is only a trigger. */
  const ignoresPayload = fields.every(({ source }) => source !== 'message');

  const readRequest = (source: MessageSource, target: Target): SwitchRequest => {
    const { payload } = source;
    if (!ignoresPayload && (Array.isArray(payload) || isWholeStrip(payload))) {
      target.mac = valueOrNull(() => requireMac(mac.readRequired(source)));
      // The payload names its own outlets, whatever `msg.port` says.
      if (port.source !== 'message') target.port = valueOrNull(() => requirePort(port.readRequired(source)));
      return readSeveral(source);
    }
    const errors: StripError[] = [];
    const requested = (target.requested = valueOrNull(() => readRequested(on, source), errors));
    const outlet = (target.port = valueOrNull(() => requirePort(port.readRequired(source)), errors));
    const strip = (target.mac = valueOrNull(() => requireMac(mac.readRequired(source)), errors));
    if (requested === null || outlet === null || strip === null) throw mainError(errors);
    const form = fields.some((field) => field.isIn(payload)) ? 'port-on' : 'on';
    return { form, commands: [commandOf(strip, outlet, requested)] };
  };

  const readSeveral = (source: MessageSource): SwitchRequest => {
    const { payload } = source;
    /** The strip that the node or the message as a whole names. */
    const strip = (): string => requireMac(mac.readRequired(source));
    if (port.source !== 'message' || on.source !== 'message') throw invalidInput('fixed', payload);
    if (!Array.isArray(payload)) return { form: 'strip', commands: readWholeStrip(payload, strip()) };
    if (payload.length > MAX_WAITING) {
      throw new StripError('INVALID_INPUT.arrayLong', { max: MAX_WAITING, count: payload.length });
    }
    if (payload.length === 0) throw new StripError('INVALID_INPUT.arrayEmpty');
    const isFixed = mac.source !== 'message';
    const elements = Array.from(payload, readElement); // unlike `map`, it does not skip holes
    const commands = elements.map((element) =>
      commandOf(
        isFixed || element.mac === undefined ? strip() : requireMac(element.mac),
        element.port,
        element.requested,
      ),
    );
    return { form: 'array', commands };
  };

  const read = messageReader([...fields, delay]);
  return (msg, target) =>
    read(msg, (source) => {
      const request = readRequest(source, target);
      const { payload } = source;
      for (const [index, command] of request.commands.entries()) {
        if (command.action !== 'cycle') continue;
        // An element of an array may have its own delay.
        const own: unknown = request.form === 'array' && Array.isArray(payload) ? payload[index] : payload;
        command.delay = parseDelay(delay.read({ ...source, payload: own }));
      }
      return request;
    });
}

function readRequested(field: InputField, source: MessageSource): Requested {
  if (field.isEmpty) throw new StripError('NOT_CONFIGURED.on');
  const { payload } = source;
  const fromMessage = field.source === 'message';
  const inPayload = isRecord(payload) ? ownProperty(payload, 'on') : payload;
  const value = fromMessage ? inPayload : field.read(source);
  if (value === undefined && !fromMessage) throw field.withoutValue('state');
  const requested = parseRequested(value);
  if (requested === null) throw fromMessage ? invalidInput('on', payload) : invalidInput('state', value);
  return requested;
}

const commandOf = (mac: string, port: PortOrAll, requested: Requested): RequestedCommand => ({
  mac,
  port,
  action: actionOf(requested),
  delay: 0,
  requested,
});

/** Reads a delay in seconds, a number or numeric text, and returns milliseconds. Throws INVALID_INPUT for anything else and outside the bounds. */
function parseDelay(value: unknown): number {
  if (value === undefined || value === '') return CYCLE_DELAY;
  const isNumber = typeof value === 'number' || (typeof value === 'string' && isDecimal(value));
  const seconds = isNumber ? Number(value) : NaN;
  if (!(seconds >= DELAY.min && seconds <= DELAY.max)) throw invalidInput('delay', value);
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
    throw new StripError('INVALID_INPUT.element', { number: index + 1, got: preview(element) });
  }
  return { port, requested, mac: ownProperty(element, 'mac') };
}

/** Whether a payload is a strip with its outlets rather than one outlet. */
const isWholeStrip = (payload: unknown): boolean =>
  ownProperty(payload, 'outlets') !== undefined && ownProperty(payload, 'on') === undefined;

/** A payload with more outlets than this is no strip. */
const MAX_OUTLETS = 64;

/** Commands that restore the outlets of a strip whose state is known. Throws INVALID_INPUT. */
function readWholeStrip(strip: unknown, mac: string): RequestedCommand[] {
  const outlets = ownProperty(strip, 'outlets');
  if (!Array.isArray(outlets) || outlets.length > MAX_OUTLETS) throw invalidInput('wholeStrip', outlets);
  const commands = Array.from(outlets, (outlet: unknown) => {
    const port = parseOnePort(ownProperty(outlet, 'port'));
    const on = ownProperty(outlet, 'on') ?? null;
    const requested = parseRequested(on);
    const isState = on === null || (requested !== null && typeof actionOf(requested) === 'boolean');
    if (port === null || !isState) throw invalidInput('wholeStrip', outlet);
    return requested === null ? null : commandOf(mac, port, requested);
  }).filter((command) => command !== null);
  if (commands.length === 0) throw new StripError('INVALID_INPUT.wholeStripEmpty');
  return commands;
}
