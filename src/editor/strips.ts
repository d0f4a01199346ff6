import { sameMac } from '../api/mac';
import { problemOf, readAnswer, type Answer, type StripInfo } from './answers';
import { textOf } from '../settings';
import type { Words } from './descriptor';
import { adminRequest, text, type EditorNode } from './red';

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
  return readAnswer(body) ?? trouble(problemOf(status));
}

const trouble = (kind: string): Answer => ({
  ok: false,
  code: '',
  key: `strip-account.trouble.${kind}`,
  params: {},
  sent: null,
});

/** Strips of each account by its id, as this browser last received them. */
const known = new Map<string, StripInfo[]>();
const asked = new Set<string>();

export const stripsOf = (account: string): readonly StripInfo[] => known.get(account) ?? [];

export const findStrip = (strips: readonly StripInfo[], mac: string): StripInfo | undefined =>
  strips.find((strip) => sameMac(strip.mac, mac));

/** Strips of exactly this name, whatever its case. */
export function stripsNamed(strips: readonly StripInfo[], name: string): StripInfo[] {
  const wanted = name.trim().toLowerCase();
  return strips.filter((strip) => strip.name?.trim().toLowerCase() === wanted);
}

/**
 * A strip of an account, as far as it is known. The first question about a deployed account asks the runtime for what it already knows, and
 * the labels are drawn again when it has answered; nothing is asked of the service for the sake of a label.
 */
export function knownStrip(account: string, mac: string): StripInfo | undefined {
  const node = RED.nodes.node(account);
  if (node && node.changed !== true && !asked.has(account) && !known.has(account)) {
    asked.add(account);
    askRuntime(account, () => undefined);
  }
  return findStrip(stripsOf(account), mac);
}

/** Calls back with what the runtime knows of a deployed account's strips, without asking the service. */
export function askRuntime(account: string, learned: () => void): void {
  void deployedStrips(account, false).then((answer) => {
    if (answer.ok) learn(account, answer.strips);
    learned();
  });
}

/** Name of an outlet: the one given in the account, else the service's. */
export function outletName(account: string, mac: string, port: string): string | null {
  const given: unknown = RED.nodes.node(account)?.outletNames;
  const names: unknown[] = Array.isArray(given) ? given : [];
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
  const answer = !node
    ? trouble('noAccount')
    : node.changed === true
      ? await testAccount(storedValues(node))
      : await deployedStrips(account, true);
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

/** What labels are made of, in the language of this browser. */
export const words: Words = {
  text,
  stripName: (account, mac) => knownStrip(account, mac)?.name ?? null,
  outletName,
};
