import type { Strip } from '../api/types';
import { SETTINGS } from '../settings';
import { choiceOf, type Config } from './config';
import type { Evaluate, Message } from './field';
import type { Answered, Work } from './input';
import type { Live } from './live';
import { LISTED, NO_STRIPS, outletMark, stripMark, UNAVAILABLE, UNKNOWN_ANSWER, type Mark } from './marks';
import { PlaceReader, type Place } from './target';

/** What `strip status` does with a message. `live` throws NOT_CONFIGURED or CLOSED. */
export function statusWork(config: Config, evaluate: Evaluate, live: () => Live): Work {
  const reader = new PlaceReader(config, evaluate);
  const output = choiceOf(config, 'output', SETTINGS['strip status'].output);

  const ask = async (msg: Message, { mac, port }: Place): Promise<Answered> => {
    const { strip, readable, response } = await live().get(mac);
    let payload: unknown = strip;
    let mark = readable ? stripMark(strip) : UNKNOWN_ANSWER;
    if (port !== null) {
      const on = strip.outlets.find((outlet) => outlet.port === port)?.on ?? null;
      if (output === 'on') payload = on;
      else if (output === 'port-on') payload = { mac: strip.mac, port, on };
      mark = strip.available ? outletMark(on) : UNAVAILABLE;
    }
    return { messages: [Object.assign(msg, { payload, response })], mark };
  };

  return (msg, seen) => {
    const place = reader.read(msg, seen);
    return place instanceof Promise ? place.then((read) => ask(msg, read)) : ask(msg, place);
  };
}

/** Node-RED's own way of making a message nobody else holds. */
export interface Tools {
  clone: (msg: Message) => Message;
  generateId: () => string;
}

/** What `strip list` does with a message. `live` throws NOT_CONFIGURED or CLOSED. */
export function listWork(config: Config, live: () => Live, tools: Tools): Work {
  const output = choiceOf(config, 'output', SETTINGS['strip list'].output);
  return async (msg) => {
    const { strips, readable, response } = await live().list();
    const mark = listMark(strips, readable);
    const parts =
      output === 'list'
        ? [strips]
        : output === 'strips'
          ? strips
          : strips.flatMap(({ mac, outlets }) => outlets.map(({ port, on }) => ({ mac, port, on })));
    if (output === 'list') return { messages: [Object.assign(msg, { payload: strips, response })], mark };
    if (parts.length > 0) return { messages: separate(msg, parts, response, tools), mark };
    // Without anything to send there is no message, but for the one that brings an answer nobody could read.
    return { messages: readable ? [] : [Object.assign(msg, { payload: null, response })], mark };
  };
}

function listMark(strips: readonly Strip[], readable: boolean): Mark {
  if (!readable) return UNKNOWN_ANSWER;
  const [first] = strips;
  if (first === undefined) return NO_STRIPS;
  return strips.length === 1 ? stripMark(first) : LISTED;
}

/**
 * One message for each part, with what a `join` node needs. All of them share the service's answer, which is as long as all parts together:
 * it is frozen instead of copied.
 */
function separate(msg: Message, parts: readonly unknown[], response: unknown, tools: Tools): Message[] {
  const rest = { ...msg };
  delete rest.payload;
  const inner = Object.hasOwn(msg, 'parts') ? { parts: msg.parts } : {};
  const id = tools.generateId();
  freeze(response);
  return parts.map((payload, index) => {
    // The message that came is the last to go: the others are made from it.
    const part = index === parts.length - 1 ? msg : tools.clone(rest);
    const place = { ...inner, id, type: 'array', len: 1, count: parts.length, index };
    return Object.assign(part, { payload, parts: place, response });
  });
}

/** Makes JSON immutable, however deep. */
function freeze(json: unknown): void {
  const left = [json];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null || Object.isFrozen(value)) continue;
    Object.freeze(value);
    for (const member of Object.values(value)) left.push(member);
  }
}
