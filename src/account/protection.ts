import { macKey } from '../api/mac';
import type { Port } from '../api/types';
import type { ProtectedOutlet } from './types';

/** Outlets that this account never switches off. */
export class Protection {
  readonly #ports = new Map<string, Port[]>();

  constructor(outlets: readonly ProtectedOutlet[]) {
    for (const { mac, port } of outlets) {
      const key = macKey(mac);
      const ports = this.#ports.get(key) ?? [];
      if (!ports.includes(port)) ports.push(port);
      this.#ports.set(key, ports.sort());
    }
  }

  /** Protected outlets of a strip, in order. */
  of(key: string): readonly Port[] {
    return this.#ports.get(key) ?? NONE;
  }
}

const NONE: readonly Port[] = [];
