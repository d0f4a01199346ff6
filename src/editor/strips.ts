import type { Params } from '../api/errors';
import { sameMac } from '../api/mac';
import { PORTS, READINGS, type Port, type ReadingName } from '../api/types';
import { textOf } from '../settings';
import { isRecord } from '../values';
import { adminRequest, listOf, text, type EditorNode } from './red';

/** An outlet in an answer of an admin route. */
export interface OutletInfo {
  port: Port;
  on: boolean | null;
  name: string | null;
}

/** A strip in an answer of an admin route. */
export interface StripInfo {
  mac: string;
  name: string | null;
  available: boolean;
  /** In order of port; an outlet the service did not mention is missing. */
  outlets: OutletInfo[];
  /** Known readings only, with the unit where one is known. */
  readings: { name: ReadingName; value: number; unit: string }[];
}

/** Why something failed. */
export interface Failure {
  /** An error code, or "" where the runtime itself could not be asked. */
  code: string;
  /** Of the sentence, in a catalogue. */
  key: string;
  params: Params;
}

/** Why a value is unknown. */
export interface NoteInfo {
  mac: string | null;
  about: string;
  reason: string;
  fields: string[];
}

/** What the service sent, as far as it can be shown. */
export interface SentInfo {
  body: unknown;
  shortened: boolean;
}

/** The runtime's answer about the strips of an account. */
export type Answer = {
  /** `null` where the runtime was asked only for what it knows. */
  sent: SentInfo | null;
} & (
  | {
      ok: true;
      strips: StripInfo[];
      /** Outlets could be read, or there were none to read. */
      readable: boolean;
      complete: boolean;
      notes: NoteInfo[];
    }
  | ({ ok: false } & Failure)
);

/** A deployed account in the runtime's answer. */
export interface AccountInfo {
  id: string;
  available: boolean | null;
  error: Failure | null;
  polling: boolean;
  /** Milliseconds; `null`: never. */
  answeredAgo: number | null;
  /** Milliseconds; `null`: there is no pause. */
  pausedFor: number | null;
  strips: StripInfo[];
}

/** Reads the answer about one account; `null` for one that is not ours, such as a proxy's error page. */
export function readAnswer(body: unknown): Answer | null {
  if (!isRecord(body)) return null;
  const sent = isRecord(body.sent) ? { body: body.sent.body, shortened: body.sent.shortened === true } : null;
  if (body.ok === true && Array.isArray(body.strips)) {
    return {
      ok: true,
      strips: readEach(body.strips, readStrip),
      readable: body.readable !== false,
      complete: body.complete !== false,
      notes: readEach(body.notes, readNote),
      sent,
    };
  }
  const failure = body.ok === false ? readFailure(body) : null;
  if (failure === null) return null;
  const { params } = failure;
  // Sentences call a strip by its name, or else by its MAC.
  const named = params.mac === undefined ? params : { strip: params.mac, ...params };
  return { ok: false, ...failure, params: named, sent };
}

/** Reads the runtime's answer about all accounts; `null` for anything else, such as a proxy's error page. */
export function readAccounts(body: unknown): AccountInfo[] | null {
  return Array.isArray(body) ? readEach(body, readAccount) : null;
}

/** Reads the answer to a switch: the confirmed state, or why it failed; `null` for anything else. */
export function readSwitched(body: unknown): { on: boolean } | Failure | null {
  if (!isRecord(body)) return null;
  return body.ok === true && typeof body.on === 'boolean' ? { on: body.on } : readFailure(body);
}

/** Why the runtime did not answer, by the HTTP status (0: no answer at all). */
export function noAnswer(status: number): Failure {
  const kinds: Readonly<Record<number, string>> = {
    0: 'silent',
    401: 'forbidden',
    403: 'forbidden',
    404: 'notDeployed',
  };
  return { code: '', key: `strip-account.trouble.${kinds[status] ?? 'unexpected'}`, params: {} };
}

function readAccount(value: unknown): AccountInfo | null {
  if (!isRecord(value) || typeof value.id !== 'string' || !Array.isArray(value.strips)) return null;
  const { id, available, polling, strips } = value;
  return {
    id,
    available: typeof available === 'boolean' ? available : null,
    error: readFailure(value.error),
    polling: polling === true,
    answeredAgo: numberOf(value.answeredAgo),
    pausedFor: numberOf(value.pausedFor),
    strips: readEach(strips, readStrip),
  };
}

function readStrip(value: unknown): StripInfo | null {
  if (!isRecord(value) || typeof value.mac !== 'string') return null;
  const units = isRecord(value.units) ? value.units : {};
  return {
    mac: value.mac,
    name: nameOf(value.name),
    available: value.available === true,
    outlets: readEach(value.outlets, readOutlet),
    readings: READINGS.flatMap((name) => {
      const reading = numberOf(value[name]);
      return reading === null ? [] : [{ name, value: reading, unit: nameOf(units[name]) ?? '' }];
    }),
  };
}

function readOutlet(value: unknown): OutletInfo | null {
  if (!isRecord(value)) return null;
  const port = PORTS.find((known) => known === value.port);
  if (port === undefined) return null;
  return { port, on: typeof value.on === 'boolean' ? value.on : null, name: nameOf(value.name) };
}

function readNote(value: unknown): NoteInfo | null {
  if (!isRecord(value) || typeof value.reason !== 'string') return null;
  const fields = Array.isArray(value.fields) ? value.fields.map(String) : [];
  return { mac: nameOf(value.mac), about: String(value.about), reason: value.reason, fields };
}

function readFailure(value: unknown): Failure | null {
  if (!isRecord(value) || typeof value.code !== 'string' || typeof value.sentence !== 'string') return null;
  const params = isRecord(value.params) ? Object.entries(value.params) : [];
  const known = params.filter(
    (entry): entry is [string, string | number] =>
      typeof entry[1] === 'string' || typeof entry[1] === 'number',
  );
  return { code: value.code, key: `errors.${value.sentence}`, params: Object.fromEntries(known) };
}

/** Reads a list by its elements; leaves out those that cannot be read, and takes anything but a list for an empty one. */
const readEach = <Value>(list: unknown, read: (value: unknown) => Value | null): Value[] =>
  listOf(list)
    .map(read)
    .filter((value) => value !== null);

/** A text that is not empty; else `null`. */
const nameOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/** The field of the account's dialog where a failure can be corrected; `null` where it is in none of them. */
export function fieldToCorrect(code: string, key: string): string | null {
  if (code === '') return null;
  const kind = key.slice(key.lastIndexOf('.') + 1);
  if (code === 'AUTH' || kind.startsWith('key')) return 'apiKey';
  // The service itself fails, the account was closed, or the fault is not asked for in a test: no field here would help.
  if (code === 'SERVICE' || code === 'CLOSED' || kind === 'variable' || kind === 'protected') return null;
  if (code === 'TIMEOUT') return 'timeout';
  if (code === 'RATE_LIMITED') return 'interval';
  if (kind.startsWith('mapping')) return 'mapping';
  if (kind.startsWith('proxy')) return 'proxy';
  if (kind.startsWith('tls') && code === 'NOT_CONFIGURED') return 'tls';
  if (kind === 'certificate' || kind === 'certificateSelfSigned') return 'tls';
  return 'baseUrl';
}

/** What the account's dialog holds; the key is "__PWRD__" where the stored one was not touched. */
export interface AccountValues {
  id: string;
  baseUrl: string;
  apiKey: string;
  /** Milliseconds. */
  timeout: string;
  tls: string;
  proxy: string;
  mapping: string;
}

/** What a deployed account knows of its strips; with `refresh` it asks the service first. */
const deployedStrips = (account: string, refresh: boolean): Promise<Answer> =>
  ask(`strip-account/${encodeURIComponent(account)}/strips${refresh ? '?refresh=1' : ''}`);

/** What of the service is asked for, besides the list of strips. */
export interface AskedFor {
  /** One strip. */
  mac?: string;
  /** What it sent before, to be read again without a request. */
  body?: unknown;
}

/** Asks the service with values that need not be deployed. */
export const testAccount = (values: AccountValues & AskedFor): Promise<Answer> =>
  ask('strip-account/test', values);

async function ask(url: string, data?: object): Promise<Answer> {
  const { status, body } = await adminRequest(url, data);
  return readAnswer(body) ?? { ok: false, ...noAnswer(status), sent: null };
}

/** Strips of each account by its id, as this browser last received them; none where it has asked and has no answer yet. */
const known = new Map<string, StripInfo[]>();

export const stripsOf = (account: string): readonly StripInfo[] => known.get(account) ?? [];

export const findStrip = (strips: readonly StripInfo[], mac: string): StripInfo | undefined =>
  strips.find((strip) => sameMac(strip.mac, mac));

/**
 * A strip of an account, as far as it is known. The first question about a deployed account asks the runtime for what it already knows, and
 * the labels are drawn again when it has answered; nothing is asked of the service for the sake of a label.
 */
export function knownStrip(account: string, mac: string): StripInfo | undefined {
  const node = RED.nodes.node(account);
  if (node && node.changed !== true && !known.has(account)) {
    known.set(account, []);
    void askRuntime(account);
  }
  return findStrip(stripsOf(account), mac);
}

/** Takes in what the runtime knows of a deployed account's strips, without asking the service. */
export async function askRuntime(account: string): Promise<void> {
  const answer = await deployedStrips(account, false);
  if (answer.ok) learn(account, answer.strips);
}

/** Name of an outlet: the one given in the account, else the service's. */
export function outletName(account: string, mac: string, port: string): string | null {
  const names = listOf(RED.nodes.node(account)?.outletNames);
  const named = names.find((entry) => sameMac(textOf(entry, 'mac'), mac) && textOf(entry, 'port') === port);
  const name = textOf(named, 'name');
  if (name !== '') return name;
  const outlet = knownStrip(account, mac)?.outlets.find((each) => String(each.port) === port);
  return outlet?.name ?? null;
}

/**
 * Strips of an account for a picker, deployed or not; cached for labels. The service is asked each time: an account that is not watched
 * knows only the strips it has dealt with, as they were then.
 */
export async function loadStrips(account: string): Promise<Answer> {
  const node = RED.nodes.node(account);
  if (!node) return { ok: false, code: '', key: 'strip-account.trouble.noAccount', params: {}, sent: null };
  const answer = await (node.changed === true
    ? testAccount(storedValues(node))
    : deployedStrips(account, true));
  if (answer.ok) learn(account, answer.strips);
  return answer;
}

/** Keeps the strips of an answer, and draws the labels that change with them. */
export function learn(account: string, strips: StripInfo[]): void {
  if (strips.length === 0) return;
  known.set(account, strips);
  redrawUsers(account);
}

/** Draws the nodes of an account again, whose labels hold names. */
export function redrawUsers(account: string): void {
  RED.nodes.eachNode((node) => {
    if (node.account !== account) return;
    node.dirty = true;
    node.resize = true;
  });
  RED.view.redraw();
}

function storedValues(node: EditorNode): AccountValues {
  const stored = node.credentials?.has_apiKey === true ? '__PWRD__' : '';
  const typed = node.credentials?.apiKey;
  return {
    id: node.id,
    baseUrl: textOf(node, 'baseUrl'),
    apiKey: typeof typed === 'string' && typed !== '' ? typed : stored,
    timeout: textOf(node, 'timeout'),
    tls: textOf(node, 'tls'),
    proxy: textOf(node, 'proxy'),
    mapping: textOf(node, 'mapping'),
  };
}

/** The state of an outlet; the values are keys below `strip-account.state`. */
export type OutletState = 'on' | 'off' | 'unknown' | 'unavailable';

/** Signs that tell states apart without colour. */
const SIGNS: Readonly<Record<OutletState, string>> = { on: '●', off: '○', unknown: '?', unavailable: '–' };

/** State of one outlet of a strip; `null` where the strip is not known or has no such outlet. */
export function outletState(strip: StripInfo | undefined, port: string): OutletState | null {
  const outlet = strip?.outlets.find((candidate) => String(candidate.port) === port);
  if (strip === undefined || outlet === undefined) return null;
  if (!strip.available) return 'unavailable';
  if (outlet.on === null) return 'unknown';
  return outlet.on ? 'on' : 'off';
}

/** "● on" */
export const stateText = (state: OutletState): string =>
  `${SIGNS[state]} ${text(`strip-account.state.${state}`)}`;

/** Figures for "2 of 4 on"; `null` where the service names no state of any outlet. */
export function countOn(strip: StripInfo): { on: number; of: number } | null {
  const states = strip.outlets.filter((outlet) => outlet.on !== null);
  return states.length === 0
    ? null
    : { on: states.filter((outlet) => outlet.on).length, of: strip.outlets.length };
}

/** A strip's state in short: "● 2 of 4 on". */
export function stripText(strip: StripInfo): string {
  if (!strip.available) return stateText('unavailable');
  const count = countOn(strip);
  if (count === null) return stateText('unknown');
  return `${count.on > 0 ? SIGNS.on : SIGNS.off} ${text('strip-account.picker.count', count)}`;
}
