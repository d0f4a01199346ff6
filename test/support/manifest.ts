import { readFileSync } from 'node:fs';
import path from 'node:path';
import { REPOSITORY } from './node-red-install';

interface Manifest {
  name: string;
  license: string;
  keywords: string[];
  repository: { type: string; url: string };
  engines: { node: string };
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  'node-red': { version: string; nodes: Record<string, string>; plugins: Record<string, string> };
}

/** The package.json of the repository. */
export const manifest = JSON.parse(readFileSync(path.join(REPOSITORY, 'package.json'), 'utf8')) as Manifest;
