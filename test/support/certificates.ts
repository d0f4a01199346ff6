import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A certificate for 127.0.0.1, or the key of them all, as `tls/README.md` describes them. */
export const pem = (name: 'key' | 'trusted' | 'expired' | 'elsewhere'): string =>
  readFileSync(join(__dirname, 'tls', `${name}.pem`), 'utf8');
