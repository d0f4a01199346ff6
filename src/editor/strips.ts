import type { Answer, StripRow } from './answer';
import { textOf } from './fields';
import { findStrip } from './outlets';
import { deployedStrips, tryAccount } from './runtime';
import type { EditorNode } from './red';

/** Strips of each account by its id, as last heard of in this browser. */
const strips = new Map<string, StripRow[]>();
const asked = new Set<string>();

export const stripsOf = (account: string): readonly StripRow[] => strips.get(account) ?? [];

/**
 * The service's name for a strip. The first question about a deployed account asks the runtime for what it already knows, and the
 * labels are drawn again when it has answered; nothing is asked of the service for the sake of a label.
 */
export function nameOf(account: string, mac: string): string | null {
  const node = RED.nodes.node(account);
  if (node && node.changed !== true && !asked.has(account)) {
    asked.add(account);
    void deployedStrips(account, false).then((answer) => learn(account, answer));
  }
  return findStrip(stripsOf(account), mac)?.name ?? null;
}

/**
 * Strips of an account for a picker, deployed or not; remembered for labels. The service is asked each time: an account that nobody watches
 * knows only the strips it has dealt with, as they were then.
 */
export async function loadStrips(account: string): Promise<Answer> {
  const node = RED.nodes.node(account);
  let answer: Answer;
  if (node === null) answer = noAccount();
  else if (node.changed === true) answer = await tryAccount(valuesOf(node));
  else answer = await deployedStrips(account, true);
  learn(account, answer);
  return answer;
}

/** Keeps what an answer told and draws the labels that change with it. */
export function learn(account: string, answer: Answer): void {
  if (!answer.ok || answer.strips.length === 0) return;
  strips.set(account, answer.strips);
  RED.nodes.eachNode((node) => {
    if (node.account !== account) return;
    node.dirty = true;
    node.resize = true;
  });
  RED.view.redraw();
}

function valuesOf(node: EditorNode) {
  const stored = node.credentials?.has_apiKey === true ? '__PWRD__' : '';
  const typed = node.credentials?.apiKey;
  return {
    id: node.id,
    baseUrl: textOf(node, 'baseUrl'),
    apiKey: typeof typed === 'string' && typed !== '' ? typed : stored,
    timeout: textOf(node, 'timeout'),
    tls: textOf(node, 'tls'),
    proxy: textOf(node, 'proxy'),
  };
}

const noAccount = (): Answer => ({ ok: false, code: '', key: 'strip-account.trouble.noAccount', params: {} });
