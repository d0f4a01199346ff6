import { meaningOf, type KeyMeaning } from './names';

/** A JSON object; its keys and values are the service's and mean nothing yet. */
export type JsonRecord = Record<string, unknown>;

/** Whether a field is one of those that are looked for, by what its key means and by its value. */
type IsField = (meaning: KeyMeaning, value: unknown) => boolean;

/** Whether a record has such a field. */
export function hasField(record: JsonRecord, isIt: IsField): boolean {
  for (const key in record) if (isIt(meaningOf(key), record[key])) return true;
  return false;
}

/** The keys of all such fields of a record. */
export const keysWhere = (record: JsonRecord, isIt: IsField): string[] =>
  Object.keys(record).filter((key) => isIt(meaningOf(key), record[key]));

/** The values of all such fields of a record. */
export const valuesWhere = (record: JsonRecord, isIt: IsField): unknown[] =>
  keysWhere(record, isIt).map((key) => record[key]);
