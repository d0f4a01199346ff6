import { StripError } from '../api/errors';
import type { Port, PortOrAll } from '../api/types';
import { isRecord } from '../api/values';
import { excerpt } from './excerpt';
import { ownOf } from './field';
import { actionOf, readOnePort, readPort, readRequested, type Requested } from './words';

/** One outlet of an array or of a strip's picture, before it is known which strip it belongs to. */
export interface Wish {
  port: PortOrAll;
  requested: Requested;
  /** What the element says of the strip. */
  mac: unknown;
}

const refused = (sentence: string, params: Record<string, string | number>): StripError =>
  new StripError('INVALID_INPUT', `INVALID_INPUT.${sentence}`, { params });

/** An array of `{port, on, mac?}`, checked whole. Throws INVALID_INPUT. */
export function readArray(elements: readonly unknown[]): Wish[] {
  if (elements.length === 0) throw refused('arrayEmpty', {});
  // Not `map`, which leaves out holes.
  return Array.from(elements, (element, index) => {
    const port = readPort(ownOf(element, 'port'));
    const requested = readRequested(ownOf(element, 'on'));
    if (port === null || requested === null) {
      throw refused('element', { number: index + 1, got: excerpt(element) });
    }
    return { port, requested, mac: ownOf(element, 'mac') };
  });
}

/** Whether a payload is a whole strip rather than one outlet. */
export const isPicture = (payload: unknown): payload is Record<string, unknown> =>
  isRecord(payload) && ownOf(payload, 'outlets') !== undefined && ownOf(payload, 'on') === undefined;

/** The outlets of a whole strip whose on/off is known. Throws INVALID_INPUT. */
export function readPicture(picture: Record<string, unknown>): { port: Port; requested: Requested }[] {
  const outlets = ownOf(picture, 'outlets');
  if (!Array.isArray(outlets)) throw refused('picture', { got: excerpt(outlets) });
  const known: { port: Port; requested: Requested }[] = [];
  for (const outlet of outlets as unknown[]) {
    const port = readOnePort(ownOf(outlet, 'port'));
    const said = ownOf(outlet, 'on');
    const requested = stateOf(said);
    if (port === null || requested === undefined) throw refused('picture', { got: excerpt(outlet) });
    if (requested !== null) known.push({ port, requested });
  }
  if (known.length === 0) throw refused('pictureEmpty', {});
  return known;
}

/** A state in a picture: `null` for one that was unknown, `undefined` for what is none. */
function stateOf(value: unknown): Requested | null | undefined {
  if (value === null || value === undefined) return null;
  const requested = readRequested(value);
  return requested !== null && typeof actionOf(requested) === 'boolean' ? requested : undefined;
}
