import { StripError } from '../api/errors';
import { SETTINGS } from '../settings';
import { excerpt } from './excerpt';

const { default: USUAL, least: LEAST, most: MOST } = SETTINGS['strip switch'].delay;

/** Milliseconds of a delay in seconds, as a number or numeric text; throws INVALID_INPUT for what is none or out of bounds. */
export function readDelay(value: unknown): number {
  if (value === undefined || value === '') return Number(USUAL) * 1000;
  const seconds =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && /^\s*\d{1,9}(\.\d{1,9})?\s*$/.test(value)
        ? Number(value)
        : NaN;
  if (seconds >= LEAST && seconds <= MOST) return seconds * 1000;
  throw new StripError('INVALID_INPUT', 'INVALID_INPUT.delay', { params: { got: excerpt(value) } });
}
