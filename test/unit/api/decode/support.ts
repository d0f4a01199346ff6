import { decodeStrip } from '../../../../src/api/decode';

export const MAC = 'A0B1C2D3E4F5';
export const AT = '2026-05-04T03:02:01.000Z';

/** What is read of outlets 1 to 4; `undefined`: that there is none. */
export const statesOf = (body: unknown): (boolean | null | undefined)[] => {
  const { outlets } = decodeStrip(body, MAC, AT).strip;
  return [1, 2, 3, 4].map((port) => outlets.find((found) => found.port === port)?.on);
};
