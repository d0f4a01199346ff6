/** What the nodes' html calls; bundled to `resources/editor.js`. The html works without it, only less conveniently. */
import { prepareAccount, saveAccount } from './account';
import { press } from './button';
import { validate } from './checks';
import { prepareNode } from './dialogs';
import { runsByItself } from './fields';
import { nodeLabel, outputLabel } from './labels';
import type { EditorNode } from './red';
import { sidebar } from './sidebar';
import { words } from './words';

const SmartStrip = {
  validate,
  label: (node: EditorNode) => nodeLabel(node, words(node)),
  outputLabel: (node: EditorNode) => outputLabel(node, words(node)),
  hasButton: runsByItself,
  press,
  edit: (node: EditorNode) => (node.type === 'strip-account' ? prepareAccount(node) : prepareNode(node)),
  save: saveAccount,
  sidebar,
};

Object.assign(window, { SmartStrip });
