import { macKey, sameMac, type Outlet, type ReadingName, type Strip } from '../api/types';
import { isStripsAnswer, STORED_PASSWORD, type SentAnswer, type StripsAnswer } from '../flow/admin-answers';
import { readOutlets, textOf, type Config } from '../settings';
import { environmentVariable } from '../values';
import { adminRequest, mayRead, mayTest, text, trouble, type EditorNode } from './red';

/** The field of the account's dialog where a failure can be corrected; `null`: none of them. */
export function fieldToCorrect(code: string, key: string): string | null {
  const kind = key.slice(key.lastIndexOf('.') + 1);
  // Node-RED did not answer, the service fails or asks for a pause, the account was closed, or the cause is not in a tested field.
  if (['', 'SERVICE', 'RATE_LIMITED', 'CLOSED'].includes(code)) return null;
  if (['variable', 'protected'].includes(kind)) return null;
  if (code === 'AUTH' || kind.startsWith('key')) return 'apiKey';
  // Of the tested properties, only this one has to be a number.
  if (code === 'TIMEOUT' || kind === 'property') return 'timeout';
  if (kind.startsWith('mapping')) return 'mapping';
  if (kind.startsWith('proxy')) return 'proxy';
  if (/^(tls.+|certificate|certificateSelfSigned)$/.test(kind)) return 'tls';
  return 'baseUrl';
}

/** Properties of an account that a connection test uses. */
export const TESTED = ['baseUrl', 'apiKey', 'timeout', 'tls', 'proxy', 'mapping'];

/** The values of these properties. The key is `STORED_PASSWORD` if it was not typed again. */
export type AccountValues = Readonly<Record<string, string>>;

export const accountValues = (valueOf: (property: string) => string): AccountValues =>
  Object.fromEntries(TESTED.map((property) => [property, valueOf(property)]));

/** What to ask for instead of the list. A body: that of an earlier answer, to be decoded again without a new request. */
export interface AskedFor extends Partial<SentAnswer> {
  /** The MAC of one strip; "" for the list. */
  mac?: string;
}

/** Asks the service with values that need not be deployed. */
export async function testAccount(
  node: EditorNode,
  values: AccountValues,
  asked?: AskedFor,
): Promise<StripsAnswer> {
  // If the runtime would refuse, nothing is requested: the browser would log a refusal as an error.
  if (!mayTest()) return trouble('notAllowed');
  const data = { id: node.id, ...values, ...asked };
  const answer = await adminRequest('strip-account/test', isStripsAnswer, { data });
  if (answer.ok) return answer;
  const [, absent = ''] = /^errors\.NOT_CONFIGURED\.(tls|proxy)Undeployed$/.exec(answer.key) ?? [];
  // The runtime cannot tell a disabled node from one that is not deployed.
  if (RED.nodes.node(values[absent] ?? '')?.d === true)
    return { ...answer, key: `errors.NOT_CONFIGURED.${absent}Missing` };
  if (!isInSubflow(node)) return answer;
  // Only an instance of the subflow knows its variables.
  const isVariable = Object.values(values).map(environmentVariable).includes(String(answer.params.variable));
  return isVariable ? trouble('instance') : answer;
}

/** Strips by the id of their account, from the latest answer for a dialog, a label or the sidebar. */
const known = new Map<string, readonly Strip[]>();

export const stripsOf = (account: string): readonly Strip[] => known.get(account) ?? [];

export const findStrip = (strips: readonly Strip[], mac: string): Strip | undefined =>
  strips.find((strip) => sameMac(strip.mac, mac));

/** Whether a strip fits a search text: each word is in the names of the strip and its outlets, or the text is a part of the MAC. */
export function matches({ name, mac, outlets }: Strip, typed: string): boolean {
  const names = [name, ...outlets.map((outlet) => outlet.name)].join(' ').toLowerCase();
  const words = typed.toLowerCase().split(/\s+/);
  return words.every((word) => names.includes(word)) || macKey(mac).includes(macKey(typed));
}

/** An outlet as the lists of an account have it. */
export interface OutletEntry {
  mac: string;
  port: number | string;
  name?: string;
}

/** The same text for an outlet, however its MAC is spelled. */
export const outletKey = ({ mac, port }: OutletEntry): string => `${macKey(mac)}/${port}`;

/** Whether an account, deployed or not, protects an outlet. */
export const isProtected = (account: string, outlet: OutletEntry): boolean =>
  readOutlets(RED.nodes.node(account)?.protectedOutlets).outlets.map(outletKey).includes(outletKey(outlet));

/** The names that a list gives to outlets, by their keys; of several names the last counts, as in the runtime. */
export const namesByOutlet = (entries: readonly OutletEntry[]) =>
  new Map(entries.filter(({ name }) => name !== '').map((entry) => [outletKey(entry), entry.name]));

/** Strips whose outlets have other names. `rename`: chooses from the name that an outlet has and the one that the list gives it. */
function renameOutlets(
  strips: readonly Strip[],
  entries: readonly OutletEntry[],
  rename: (name: string | null, given: string | undefined) => string | null,
): Strip[] {
  const names = namesByOutlet(entries);
  return strips.map((strip) => ({
    ...strip,
    outlets: strip.outlets.map((outlet) => {
      const given = names.get(outletKey({ mac: strip.mac, port: outlet.port }));
      return { ...outlet, name: rename(outlet.name, given) };
    }),
  }));
}

/** Strips with the outlet names from the account in place of the service's names. */
export const nameOutlets = (strips: readonly Strip[], entries: readonly OutletEntry[]): Strip[] =>
  renameOutlets(strips, entries, (name, given) => given ?? name);

export const outletOf = (strip: Strip | undefined, port: number | string): Outlet | undefined =>
  strip?.outlets.find((outlet) => String(outlet.port) === String(port));

/**
 * A strip of an account, if it is known. The first call for a deployed account asks the runtime for the strips that it already knows, and the labels
 * are drawn again when it has answered. The service is never asked because of a label.
 */
export function knownStrip(account: string, mac: string): Strip | undefined {
  const node = RED.nodes.node(account);
  if (node && node.changed !== true && !known.has(account)) {
    known.set(account, []);
    void loadStrips(account, { refresh: false });
  }
  return findStrip(stripsOf(account), mac);
}

/** The name of an outlet: the one that the account gives it, else the service's. */
export function outletName(account: string, mac: string, port: string): string | null {
  const { outlets } = readOutlets(RED.nodes.node(account)?.outletNames);
  return (
    namesByOutlet(outlets).get(outletKey({ mac, port })) ??
    outletOf(knownStrip(account, mac), port)?.name ??
    null
  );
}

/**
 * Strips of an account, deployed or not; cached for labels. Without `refresh`, a deployed account returns the strips it knows, perhaps not all and
 * in an old state; one that is not deployed always asks the service.
 */
export async function loadStrips(account: string, { refresh }: { refresh: boolean }): Promise<StripsAnswer> {
  if (!mayRead()) return trouble('forbidden');
  const node = RED.nodes.node(account);
  // A variable names the account. In a subflow, each instance has its own variable.
  if (!node) return trouble(isInSubflow({ z: RED.workspaces.active() }) ? 'instance' : 'noAccount');
  const isDeployed = node.changed !== true;
  if (isDeployed && isInSubflow(node)) return trouble('instance');
  // The runtime would answer 404, which the browser logs as an error.
  if (isDeployed && isDisabled(node)) return trouble('disabled');
  const url = `strip-account/${encodeURIComponent(account)}/strips${refresh ? '?refresh=1' : ''}`;
  const answer = await (isDeployed
    ? adminRequest(url, isStripsAnswer)
    : testAccount(node, storedValues(node)));
  if (answer.ok) learn(account, answer.strips, answer.readable && answer.complete);
  return answer;
}

/** Whether a node, or the flow that it belongs to, is disabled. */
export const isDisabled = ({ d, z }: Config): boolean =>
  d === true || RED.nodes.workspace(z)?.disabled === true;

/** Whether an account is part of a subflow. Then the runtime has an account for each instance, with a different id. */
export const isInSubflow = ({ z }: Config): boolean => RED.nodes.subflow(z) !== undefined;

/**
 * Keeps the strips of an answer, without the names that the account itself gives to outlets: these count only as long as it has them. `complete`: there
 * are no others, so that an account without any has lost those it had.
 */
export function learn(account: string, strips: readonly Strip[], complete = false): void {
  if (strips.length === 0 && !complete) return;
  const { outlets } = readOutlets(RED.nodes.node(account)?.outletNames);
  known.set(
    account,
    renameOutlets(strips, outlets, (name, given) => (name === given ? null : name)),
  );
  accountChanged({ id: account, outletNames: outlets });
}

/** The names of strips and outlets that the labels of an account's nodes can show: JSON, by the id of the account. */
const shownNames = new Map<string, string>();

/**
 * Draws the nodes of an account again, but only if a name has changed: in a large flow, Node-RED takes long to index many nodes again. Every dialog
 * asks for the strips, and Node-RED says that an account has changed for each node that begins to use it, so hundreds of times when a flow is loaded.
 */
export function accountChanged({ id, outletNames }: { id: string; outletNames?: unknown }): void {
  const named = [stripsOf(id), readOutlets(outletNames).outlets];
  const names = JSON.stringify(named, ['mac', 'name', 'outlets', 'port']);
  if (names === shownNames.get(id)) return;
  shownNames.set(id, names);
  for (const node of RED.nodes.filterNodes({})) {
    if (node.account !== id) continue;
    node.dirty = true;
    node.resize = true;
    // If Node-RED knows the old width when it draws the node, it keeps the left edge and changes `x`, which the next deploy would
    // store. It needs the width of a node that it has drawn meanwhile, and while the user draws a wire, when it draws no nodes.
    requestAnimationFrame(() => {
      if (node.resize && RED.view.state() !== RED.state.JOINING) delete node.w;
    });
    // Search and outline keep the labels that nodes had when they were loaded.
    RED.events.emit('nodes:change', node);
  }
  RED.view.redraw();
}

function storedValues(node: EditorNode): AccountValues {
  const { credentials } = node;
  // Unless a key was typed or removed, only the runtime knows whether it has one: an imported account may replace a deployed one.
  const apiKey = credentials?.has_apiKey === false ? '' : textOf(credentials, 'apiKey', STORED_PASSWORD);
  return { ...accountValues((property) => textOf(node, property)), apiKey };
}

/** The state of an outlet; the values are keys below `status`. */
type OutletState = 'on' | 'off' | 'unknown' | 'unavailable';

/** Signs that tell states apart without colour. */
const SIGNS: Readonly<Record<OutletState, string>> = { on: '●', off: '○', unknown: '?', unavailable: '–' };

/** The state of an outlet whose strip is available. */
export const onOff = (on: boolean | null): OutletState => (on === null ? 'unknown' : on ? 'on' : 'off');

/** "● on" */
export const stateText = (state: OutletState): string => `${SIGNS[state]} ${text(`status.${state}`)}`;

/** The state of one outlet of a strip, such as "● on"; "" if the strip is not known or has no such outlet. */
export function outletState(strip: Strip | undefined, port: number | string): string {
  const outlet = outletOf(strip, port);
  if (outlet === undefined) return '';
  return stateText(strip?.available === true ? onOff(outlet.on) : 'unavailable');
}

/** "12 W"; `null`: the reading is not known. */
export function readingText(strip: Strip, name: ReadingName): string | null {
  const value = strip[name];
  return value === null ? null : `${value} ${strip.units[name] ?? ''}`.trim();
}

/** A strip's state in short: "● 2 of 4 on". */
export function stripText({ available, outlets }: Strip): string {
  if (!available) return stateText('unavailable');
  const unknown = outlets.filter((outlet) => outlet.on === null).length;
  if (unknown === outlets.length) return stateText('unknown');
  const on = outlets.filter((outlet) => outlet.on).length;
  if (unknown > 0) return `${SIGNS.unknown} ${text(`status.on${on}unknown`)}`;
  return `${on > 0 ? SIGNS.on : SIGNS.off} ${text(`status.on${on}of${outlets.length}`)}`;
}
