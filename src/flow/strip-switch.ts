import { MAX_WAITING } from '../account/command-queue';
import type { Command, Outcome } from '../account/types';
import { asError, StripError, valueOrNull } from '../api/errors';
import { sameMac, type Port, type PortOrAll } from '../api/types';
import { choiceOf, CYCLE_DELAY, isDecimal, requireReadable, SETTINGS, type Config } from '../settings';
import { isRecord, ownProperty, preview } from '../values';
import {
  actionOf,
  InputField,
  invalidInput,
  mainError,
  messageReader,
  parsePort,
  parseRequested,
  requireMac,
  requirePort,
  withAnswer,
  type Evaluate,
  type MessageValues,
  type ReadMessage,
  type Requested,
  type Target,
} from './input-fields';
import type { Handle, HandlerContext } from './input-handler';
import { CommandsFailed, failedStrip, type SwitchedStrip } from './node-error';
import { outletStatus, stripStatus, SWITCHED, type NodeStatus } from './node-status';
import type { SharedAccount } from './shared-account';

const settings = SETTINGS['strip switch'];

/** What `strip switch` does with a message. Throws NOT_CONFIGURED. */
export function switchHandler({ config, evaluate, account }: HandlerContext): Handle {
  requireReadable(config, settings);
  const read = commandReader(config, evaluate);
  const output = choiceOf(config, 'output', settings.output);
  return async (input) => {
    const { form, commands } = await read(input.msg, input.target);
    const options = input.submit();
    const shared = account();
    const settled = await Promise.all(
      commands.map((target) =>
        shared.run(target, options).then(
          (outcome) => ({ target, outcome }),
          (error: unknown) => ({ target, error: asError(error) }),
        ),
      ),
    );
    const strips = settled.map((each) =>
      'error' in each
        ? failedStrip(each.target, each.error, shared.store)
        : switchedStrip(each.target.requested, each.outcome),
    );
    const failures = settled.filter((each) => 'error' in each);
    const outcomes = settled.filter((each) => 'outcome' in each).map(({ outcome }) => outcome);
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

/**
 * Returns a function that reads commands from a message and from what is fixed in the node, which takes precedence. A message that is not exactly one
 * of the accepted forms is INVALID_INPUT; truthiness never means on.
 */
export function commandReader(config: Config, evaluate: Evaluate): ReadMessage<SwitchRequest> {
  const macField = new InputField(config, 'mac', settings.mac);
  const portField = new InputField(config, 'port', settings.port);
  const onField = new InputField(config, 'on', settings.on);
  const delayField = new InputField(config, 'delay', settings.delay);
  const fields = [macField, portField, onField];
  /** Neither strip nor outlet nor state is "from message", so the payload is only a trigger. */
  const ignoresPayload = fields.every(({ source }) => source !== 'message');

  const readMac = (values: MessageValues): string => requireMac(macField.readRequired(values));
  const readPort = (values: MessageValues): PortOrAll => requirePort(portField.readRequired(values));
  /** Only a message may leave out the delay: an expression without a value is a mistake. */
  const readDelay = (values: MessageValues): unknown =>
    delayField.source === 'expression' ? delayField.readRequired(values) : delayField.read(values);
  const commandOf = (
    values: MessageValues,
    mac: string,
    port: PortOrAll,
    requested: Requested,
  ): RequestedCommand => {
    const action = actionOf(requested);
    const delay = action === 'cycle' ? parseDelay(readDelay(values)) : 0;
    return { mac, port, action, delay, requested };
  };

  const readOne = (values: MessageValues, target: Target): SwitchRequest => {
    const errors: StripError[] = [];
    target.requested = valueOrNull(() => readRequested(onField, values), errors);
    target.port = valueOrNull(() => readPort(values), errors);
    target.mac = valueOrNull(() => readMac(values), errors);
    const { requested, port, mac } = target;
    if (requested === null || port === null || mac === null) throw mainError(errors);
    const form = fields.some((field) => field.isIn(values.payload)) ? 'port-on' : 'on';
    return { form, commands: [commandOf(values, mac, port, requested)] };
  };

  const readArray = (values: MessageValues, elements: readonly unknown[]): RequestedCommand[] => {
    const count = elements.length;
    if (count > MAX_WAITING) throw new StripError('INVALID_INPUT.arrayLong', { max: MAX_WAITING, count });
    if (count === 0) throw new StripError('INVALID_INPUT.arrayEmpty');
    // Unlike `map`, `from` does not skip holes.
    return Array.from(elements, (element, index) => {
      const port = parsePort(ownProperty(element, 'port'));
      const requested = parseRequested(ownProperty(element, 'on'));
      if (port === null || requested === null)
        throw new StripError('INVALID_INPUT.element', { number: index + 1, got: preview(element) });
      // Strip and delay are read as if the element were the payload.
      const own = { ...values, payload: element };
      return commandOf(own, readMac(own), port, requested);
    });
  };

  const readSeveral = (values: MessageValues, target: Target): SwitchRequest => {
    const { payload } = values;
    target.mac = valueOrNull(() => readMac(values));
    // The payload names its own outlets, whatever `msg.port` says.
    if (portField.source !== 'message') target.port = valueOrNull(() => readPort(values));
    if (portField.source !== 'message' || onField.source !== 'message') throw invalidInput('fixed', payload);
    if (Array.isArray(payload)) return { form: 'array', commands: readArray(values, payload) };
    const mac = readMac(values);
    const outlets = readWholeStrip(payload);
    const commands = outlets.map(({ port, requested }) => commandOf(values, mac, port, requested));
    return { form: 'strip', commands };
  };

  return messageReader([...fields, delayField], evaluate, (values, target) => {
    const { payload } = values;
    const isSeveral = !ignoresPayload && (Array.isArray(payload) || isWholeStrip(payload));
    return isSeveral ? readSeveral(values, target) : readOne(values, target);
  });
}

function readRequested(field: InputField, values: MessageValues): Requested {
  const { payload } = values;
  const isFromMessage = field.source === 'message';
  const inPayload = isRecord(payload) ? ownProperty(payload, 'on') : payload;
  const value = isFromMessage ? inPayload : field.readRequired(values, 'state');
  const requested = parseRequested(value);
  if (requested === null) throw isFromMessage ? invalidInput('on', payload) : invalidInput('state', value);
  return requested;
}

/** Reads a delay in seconds, a number or numeric text, and returns milliseconds. Throws INVALID_INPUT for anything else and outside the bounds. */
function parseDelay(value: unknown): number {
  if (value === undefined || value === '') return CYCLE_DELAY;
  const isNumber = typeof value === 'number' || (typeof value === 'string' && isDecimal(value));
  const seconds = isNumber ? Number(value) : NaN;
  if (!(seconds >= settings.delay.min && seconds <= settings.delay.max)) throw invalidInput('delay', value);
  return seconds * 1000;
}

/** Whether a payload is a strip with its outlets rather than one outlet. */
const isWholeStrip = (payload: unknown): boolean =>
  ownProperty(payload, 'outlets') !== undefined && ownProperty(payload, 'on') === undefined;

/** The outlets of a strip whose state is known. Throws INVALID_INPUT. */
function readWholeStrip(strip: unknown) {
  const outlets = ownProperty(strip, 'outlets');
  if (!Array.isArray(outlets)) throw invalidInput('wholeStrip', outlets);
  const seen = new Set<Port>();
  const known: { port: Port; requested: Requested }[] = [];
  for (const outlet of outlets as readonly unknown[]) {
    const port = parsePort(ownProperty(outlet, 'port'));
    const on = ownProperty(outlet, 'on') ?? null;
    const requested = parseRequested(on);
    const isState = on === null || (requested !== null && typeof actionOf(requested) === 'boolean');
    // An outlet that comes twice would have two states. This also ends a list that is too long.
    if (port === null || port === 'all' || !isState || seen.has(port))
      throw invalidInput('wholeStrip', outlet);
    seen.add(port);
    if (requested !== null) known.push({ port, requested });
  }
  if (known.length === 0) throw new StripError('INVALID_INPUT.wholeStripEmpty');
  return known;
}
