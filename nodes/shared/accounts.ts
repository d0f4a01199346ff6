import type { Node, NodeAPI } from 'node-red';
import { StripError } from '../../src/api/errors';
import type { ReportSource } from '../../src/flow/diagnostics';
import type { LazyAccount } from '../../src/flow/shared-account';

/** What the other nodes of this package use of an account node. */
export interface AccountLink {
  readonly node: Node;
  readonly account: LazyAccount;
  readonly baseUrl: string;
  /** Removes its API key from a text that is to be shown. */
  hideKey(text: string): string;
  /** For a diagnostics report: its settings, and what it has done. */
  diagnostics(): Omit<ReportSource, 'versions' | 'status' | 'now'>;
}

const links = new WeakMap<object, AccountLink>();

export function provide(link: AccountLink): void {
  links.set(link.node, link);
}

/** The account with this id, where it is deployed and not disabled. */
export function findAccount(RED: NodeAPI, id: string): AccountLink | undefined {
  const node: unknown = id === '' ? null : RED.nodes.getNode(id);
  return typeof node === 'object' && node !== null ? links.get(node) : undefined;
}

/** The account a flow node uses. Throws NOT_CONFIGURED. */
export function accountOf(RED: NodeAPI, id: string): LazyAccount {
  const link = findAccount(RED, id);
  if (link === undefined) throw new StripError('NOT_CONFIGURED', 'NOT_CONFIGURED.account');
  return link.account;
}

/** All accounts that are deployed and not disabled, in the order of the flow file. */
export function deployedAccounts(RED: NodeAPI): AccountLink[] {
  const ids: string[] = [];
  RED.nodes.eachNode(({ id, type }) => {
    if (type === 'strip-account') ids.push(id);
  });
  return ids.map((id) => findAccount(RED, id)).filter((link) => link !== undefined);
}

/** Returns a function that removes a key from texts that are shown. A key of a few characters would match ordinary words, so it is left. */
export const keyRemover =
  (apiKey: string) =>
  (text: string): string =>
    apiKey.trim().length < 4 ? text : text.replaceAll(apiKey.trim(), '***');
