import type { Words } from './labels';
import type { EditorNode } from './red';
import { nameOf } from './strips';
import { text } from './text';

/** What the labels of a node are made of, in the language of this browser. */
export const words = (node: EditorNode): Words => ({
  text,
  nameOf,
  palette: node._(`${node.type.replace(' ', '-')}.palette`),
});
