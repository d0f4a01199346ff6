// The identifier of a strip: comparing two spellings, checking one, and putting one into a path.
import { preview } from '../values';
import { StripError } from './errors';

const SEPARATORS = /[\s:._-]/g;
const HEXADECIMAL = /^[0-9a-f]+$/;

/**
 * What two spellings of the same MAC have in common: lower case, no separators. For comparing and for `Map` keys only;
 * the service is always sent its own spelling. The API document does not promise that an identifier is a MAC at
 * all, so separators count in anything that is not hexadecimal.
 */
export function macKey(mac: string): string {
  const lower = mac.trim().toLowerCase();
  const bare = lower.replace(SEPARATORS, '');
  return HEXADECIMAL.test(bare) ? bare : lower;
}

/** Whether both name the same strip, however they are spelled. */
export function sameMac(a: string, b: string): boolean {
  return macKey(a) === macKey(b);
}

/** Longest identifier of a strip that is accepted, in characters. */
const LONGEST_MAC = 200;

/**
 * Whether a text can stand as a strip's MAC in a request's path: not empty, not ".", "..", without separators of a path and without
 * characters that cannot be encoded.
 */
export function isPossibleMac(mac: string): boolean {
  return (
    mac.trim() !== '' &&
    mac !== '.' &&
    mac !== '..' &&
    mac.length <= LONGEST_MAC &&
    !/[/\\]|\p{Cc}|\p{Cs}/u.test(mac)
  );
}

/** Twelve (or, for EUI-64, sixteen) hexadecimal digits, with or without separators: no ordinary word or number of ours. */
export function looksLikeMac(text: string): boolean {
  return text.length <= 23 && /^[:.-]*(?:[0-9a-f][:.-]*){12}(?:(?:[0-9a-f][:.-]*){4})?$/i.test(text);
}

/**
 * The path of one strip below the base URL, `/strips/{mac}` (API document, section 4), with the MAC as the service
 * spelled it. Throws INVALID_INPUT where `isPossibleMac` says no.
 */
export function stripPath(mac: string): string {
  if (!isPossibleMac(mac)) {
    throw new StripError('INVALID_INPUT', 'INVALID_INPUT.mac', { params: { got: preview(mac) } });
  }
  return `/strips/${encodeURIComponent(mac)}`;
}
