import type { Translate } from '../../src/flow/catalogue';

/** A defect, for the log: of what kind it is and where, but not its own words, which may hold anything. */
export function describeFault(error: unknown, translate: Translate): string {
  const name = error instanceof Error && /^\w{1,40}$/.test(error.name) ? error.name : typeof error;
  const where = error instanceof Error ? /\n\s+at [^\n]*/.exec(error.stack ?? '')?.[0] : undefined;
  return translate('notice.fault', { name }) + (where ?? '');
}
