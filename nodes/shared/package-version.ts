import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Version of this package, from its package.json, which is one folder further up for what is built. */
export function packageVersion(): string {
  const places = ['../..', '../../..'].map((folder) => join(__dirname, folder, 'package.json'));
  const manifest: unknown = JSON.parse(readFileSync(places.find((place) => existsSync(place)) ?? '', 'utf8'));
  const known = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return known && typeof manifest.version === 'string' ? manifest.version : '';
}
