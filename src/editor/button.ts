import { nodeLabel } from './labels';
import type { EditorNode } from './red';
import { text } from './text';
import { words } from './words';

/** Runs a node now, by the same means as the button of an inject node. */
export function press(node: EditorNode): void {
  if (node.changed === true) {
    RED.notify(escaped(text('strip-account.button.notDeployed')), { type: 'warning' });
    return;
  }
  const label = nodeLabel(node, words(node));
  void $.ajax({
    url: `inject/${encodeURIComponent(node.id)}`,
    type: 'POST',
    contentType: 'application/json; charset=utf-8',
    data: '{}',
    success: () =>
      RED.notify(escaped(text('strip-account.button.done', { label })), {
        type: 'success',
        id: 'smart-strip-button',
        timeout: 2000,
      }),
    error: (reply) =>
      RED.notify(escaped(text(`strip-account.button.${reason(reply.status)}`)), { type: 'error' }),
  });
}

function reason(status: number): string {
  if (status === 0) return 'silent';
  if (status === 401 || status === 403) return 'forbidden';
  return status === 404 ? 'notDeployed' : 'failed';
}

/** Notifications are HTML, and a label holds what a service or a person called a strip. */
const escaped = (sentence: string): string => $('<div>').text(sentence).html();
