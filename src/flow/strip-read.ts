import type { Command } from '../account/types';
import { valueOrNull, type StripError } from '../api/errors';
import type { PortOrAll, Strip } from '../api/types';
import { choiceOf, requireReadable, SETTINGS, textOf, type Config } from '../settings';
import {
  asInputError,
  InputField,
  mainError,
  messageReader,
  requireMac,
  requirePort,
  withAnswer,
  type Evaluate,
  type Message,
  type ReadMessage,
} from './input-fields';
import type { Handle, HandlerContext } from './input-handler';
import { listStatus, outletStatus, stripStatus, UNAVAILABLE, UNKNOWN_ANSWER } from './node-status';

type StatusRequest = Pick<Command, 'mac' | 'port'>;

/** Returns a function that finds out from a message which strip, or which outlet of it, `strip status` is to read. */
export function statusRequestReader(config: Config, evaluate: Evaluate): ReadMessage<StatusRequest> {
  const settings = SETTINGS['strip status'];
  const macField = new InputField(config, 'mac', settings.mac);
  const portField = new InputField(config, 'port', settings.port);
  return messageReader([macField, portField], evaluate, (values, target) => {
    const errors: StripError[] = [];
    target.port = valueOrNull(() => readPort(portField.read(values)), errors);
    target.mac = valueOrNull(() => requireMac(macField.readRequired(values)), errors);
    const { mac, port } = target;
    if (mac === null || port === null) throw mainError(errors);
    return { mac, port };
  });
}

/** Reading too much does no harm: unlike in a command, a missing outlet means the whole strip. */
function readPort(value: unknown): PortOrAll {
  return value === undefined || value === null || value === '' ? 'all' : requirePort(value);
}

/** What `strip status` does with a message. Throws NOT_CONFIGURED. */
export function statusHandler({ config, evaluate, account }: HandlerContext): Handle {
  const settings = SETTINGS['strip status'];
  requireReadable(config, settings);
  const read = statusRequestReader(config, evaluate);
  // A flow that does not say what to send for one outlet gets on/off.
  const outletOutput = textOf(config, 'output') === '' ? 'on' : choiceOf(config, 'output', settings.output);
  return async ({ msg, target }) => {
    const { mac, port } = await read(msg, target);
    const { strip, readable, response } = await account().get(mac);
    let payload: unknown = strip;
    let status = readable ? stripStatus(strip) : UNKNOWN_ANSWER;
    if (port !== 'all') {
      const on = strip.outlets.find((outlet) => outlet.port === port)?.on ?? null;
      payload = { strip, on, 'port-on': { mac: strip.mac, port, on } }[outletOutput];
      status = strip.available ? outletStatus(on) : UNAVAILABLE;
    }
    return { messages: [withAnswer(msg, { payload, response })], status };
  };
}

/** Node-RED's functions to make new messages. */
interface MessageFactory {
  cloneMessage: (msg: Message) => Message;
  generateId: () => string;
}

/** What `strip list` does with a message. Throws NOT_CONFIGURED. */
export function listHandler({ config, account }: HandlerContext, factory: MessageFactory): Handle {
  requireReadable(config, SETTINGS['strip list']);
  const output = choiceOf(config, 'output', SETTINGS['strip list'].output);
  return async ({ msg }) => {
    const { strips, complete, readable, response } = await account().list();
    const isEmptyPage = strips.length === 0 && !complete;
    const status = readable && !isEmptyPage ? listStatus(strips) : UNKNOWN_ANSWER;
    if (output === 'list') return { messages: [withAnswer(msg, { payload: strips, response })], status };
    const payloads = output === 'strips' ? strips : strips.flatMap(outletsOf);
    if (payloads.length > 0) {
      return { messages: asInputError(() => messageForEach(payloads, msg, response, factory)), status };
    }
    // Without strips there are no messages, but an answer that cannot be read is passed on.
    return { messages: readable ? [] : [withAnswer(msg, { payload: null, response })], status };
  };
}

const outletsOf = ({ mac, outlets }: Strip) => outlets.map(({ port, on }) => ({ mac, port, on }));

/**
 * One message for each payload, with the `msg.parts` that a `join` node needs. All share the service's answer, which is as large as all payloads
 * together: it is frozen instead of copied.
 */
function messageForEach(
  payloads: readonly unknown[],
  msg: Message,
  response: unknown,
  { cloneMessage, generateId }: MessageFactory,
): Message[] {
  const rest = { ...msg };
  // What is replaced is not copied: an earlier answer in `response` may be as large as this one.
  delete rest.payload;
  delete rest.response;
  const id = generateId();
  deepFreeze(response);
  return payloads.map((payload, index) => {
    // The last message is the original one. The others are copies of it.
    const message = index === payloads.length - 1 ? msg : cloneMessage(rest);
    const outer = Object.hasOwn(message, 'parts') ? { parts: message.parts } : {};
    const parts = { ...outer, id, type: 'array', len: 1, count: payloads.length, index };
    return Object.assign(message, { payload, parts, response });
  });
}

/** Works without recursion: JSON may be nested deeper than the stack allows. */
function deepFreeze(json: unknown): void {
  const left = [json];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null) continue;
    Object.freeze(value);
    for (const member of Object.values(value)) left.push(member);
  }
}
