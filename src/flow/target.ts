import { stripPath } from '../api/endpoint';
import { isStripError, StripError } from '../api/errors';
import type { Port, PortOrAll } from '../api/types';
import type { Config } from './config';
import { excerpt } from './excerpt';
import { Field, ownOf, type Evaluate, type Message } from './field';
import { InOrder } from './in-order';
import { SETTINGS } from '../settings';
import { readPort, type Requested } from './words';

const SETTING = SETTINGS['strip status'];

/** What is known of whom a message concerns, as far as it could be read: what an error says in `msg.strip`. */
export interface Target {
  mac: string | null;
  port: PortOrAll | null;
  requested: Requested | null;
}

export const nobody = (): Target => ({ mac: null, port: null, requested: null });

/** A MAC that can go into a path, or why it cannot. */
export function checkMac(value: unknown): string | StripError {
  if (value === undefined) return new StripError('INVALID_INPUT', 'INVALID_INPUT.macMissing');
  if (typeof value !== 'string' || value.trim() === '') {
    return macRefused(value);
  }
  const mac = value.trim();
  try {
    stripPath(mac);
    return mac;
  } catch (error) {
    if (isStripError(error)) return error;
    throw error;
  }
}

/** The strip a field means. `value`: what its expression gave, which may be why it gave nothing. */
export function macOf(field: Field, value: unknown, msg: Message, payload: unknown): string | StripError {
  switch (field.way) {
    case 'fixed':
      if (field.empty) return new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.mac');
      return whyNot(field.fixed) ?? checkMac(field.fixed);
    case 'evaluated':
      // An expression that gave nothing is not a message that says nothing.
      return whyNot(value) ?? (value === undefined ? macRefused(value) : checkMac(value));
    case 'message':
      return checkMac(field.from(msg, payload));
  }
}

const whyNot = (value: unknown): StripError | null => (isStripError(value) ? value : null);

/** What a field says of the outlet, or why it says nothing; `undefined` where it just says nothing. */
export function portValue(field: Field, value: unknown, msg: Message, payload: unknown): unknown {
  switch (field.way) {
    case 'fixed':
      return field.empty ? undefined : field.fixed;
    case 'evaluated':
      return value;
    case 'message':
      return field.from(msg, payload);
  }
}

const macRefused = (got: unknown): StripError =>
  new StripError('INVALID_INPUT', 'INVALID_INPUT.mac', { params: { mac: excerpt(got) } });

export const portRefused = (got: unknown): StripError =>
  new StripError('INVALID_INPUT', 'INVALID_INPUT.port', { params: { got: excerpt(got) } });

/** A strip, or one outlet of it, to be read. */
export interface Place {
  mac: string;
  /** `null`: the whole strip. */
  port: Port | null;
}

/** Reads from messages what `strip status` is to read. */
export class PlaceReader {
  readonly #mac: Field;
  readonly #port: Field;
  readonly #evaluate: Evaluate;
  readonly #order = new InOrder();

  constructor(config: Config, evaluate: Evaluate) {
    this.#mac = new Field(config, 'mac', 'str', SETTING.mac);
    this.#port = new Field(config, 'port', 'port', SETTING.port);
    this.#evaluate = evaluate;
  }

  /** Throws or rejects with a `StripError`, and leaves in `seen` what could be read all the same. */
  read(msg: Message, seen: Target): Place | Promise<Place> {
    if (this.#mac.way !== 'evaluated' && this.#port.way !== 'evaluated') {
      return this.#read(msg, undefined, undefined, seen);
    }
    return this.#order.wait(this.#evaluated(msg, seen));
  }

  async #evaluated(msg: Message, seen: Target): Promise<Place> {
    const [mac, port] = await Promise.all([
      valueOf(this.#mac, this.#evaluate, msg),
      valueOf(this.#port, this.#evaluate, msg),
    ]);
    return this.#read(msg, mac, port, seen);
  }

  #read(msg: Message, macValue: unknown, portGiven: unknown, seen: Target): Place {
    const payload = ownOf(msg, 'payload');
    const mac = macOf(this.#mac, macValue, msg, payload);
    const given = portValue(this.#port, portGiven, msg, payload);
    // Reading too much harms nobody, so that here, unlike in a command, a missing outlet means the whole strip.
    const port = given === undefined || given === null || given === '' ? 'all' : readPort(given);
    if (typeof mac === 'string') seen.mac = mac;
    seen.port = port;
    if (isStripError(given)) throw given;
    if (port === null) throw portRefused(given);
    if (typeof mac !== 'string') throw mac;
    return { mac, port: port === 'all' ? null : port };
  }
}

/** What an expression gives, or why it gives nothing; nothing for a field that is none. */
export const valueOf = (field: Field, evaluate: Evaluate, msg: Message): unknown =>
  field.way === 'evaluated' ? field.evaluate(evaluate, msg) : undefined;
