import { Remembered } from './remembered';

const SEPARATORS = /[\s:._-]/g;
const HEXADECIMAL = /^[0-9a-f]+$/;

/**
 * What two spellings of the same MAC have in common: lower case, no separators. For comparing and for `Map` keys only;
 * the service is always sent its own spelling. The API document does not promise that an identifier is a MAC at
 * all, so separators count in anything that is not hexadecimal.
 */
export function macKey(mac: string): string {
  return keys.get(mac);
}

const keys = new Remembered(20_000, (mac) => {
  const lower = mac.trim().toLowerCase();
  const bare = lower.replace(SEPARATORS, '');
  return HEXADECIMAL.test(bare) ? bare : lower;
});

/** Whether both name the same strip, however they are spelled. */
export function sameMac(a: string, b: string): boolean {
  return a === b || macKey(a) === macKey(b);
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
  if (text.length < 12 || text.length > 23) return false;
  let digits = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const letter = code | 0x20; // lower case
    if ((code >= 0x30 && code <= 0x39) || (letter >= 0x61 && letter <= 0x66)) digits++;
    else if (!isSeparator(code)) return false;
  }
  return digits === 12 || digits === 16;
}

function isSeparator(code: number): boolean {
  return code === 0x3a /* : */ || code === 0x2d /* - */ || code === 0x2e; /* . */
}
