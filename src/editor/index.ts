// The functions that the nodes' html calls, bundled to `resources/editor.js`. The html works without them, with plain fields.
import { descriptorOf, inputLabelOf, labelOf, outputLabelOf, wholeLabelOf } from './descriptors';
import { closeDialog, openDialog, problemWith, shownDialog } from './form';
import { checkSimulators } from './nodes/strip-simulator';
import { svg, type EditorNode } from './red';
import { Sidebar } from './sidebar';
import { accountChanged } from './strips';

const SmartStrip = {
  /** Returns what Node-RED expects from a validator: `true`, or what is wrong, in words. */
  validate: (node: EditorNode, field: string, value: unknown): true | string => {
    // Node-RED has read the field itself, which may show the value in another form.
    const shown = shownDialog(node)?.readers[field]?.() ?? value;
    const problem = problemWith(descriptorOf(node), node, field, shown);
    // Node-RED's list of config nodes shows it as HTML, other places as text. It may hold a part of an expression that was imported.
    return problem === '' || problem.replaceAll('<', '‹');
  },
  label: labelOf,
  inputLabel: inputLabelOf,
  outputLabel: outputLabelOf,
  open: (node: EditorNode): void => {
    const descriptor = descriptorOf(node);
    if (descriptor) openDialog(descriptor, node);
  },
  save: (node: EditorNode): void => {
    closeDialog(node)?.save();
  },
  close: closeDialog,
  sidebar: (content: HTMLElement) => new Sidebar(content),
};

Object.assign(window, { SmartStrip });

/** An account gives names to outlets, which labels show. Undo may change them, too, or put another account in its place. */
for (const event of ['nodes:add', 'nodes:change'] as const) {
  RED.events.on(event, (node) => {
    if (node.type === 'strip-account') accountChanged(node);
  });
}

for (const event of ['nodes:add', 'nodes:change', 'nodes:remove', 'flows:change'] as const) {
  RED.events.on(event, ({ type }) => {
    if (type === 'strip simulator' || type === 'tab') checkSimulators();
  });
}

/** A label that is cut is shown whole while the mouse is over its node. */
$(document).on('mouseenter', '.red-ui-flow-node-group', (event) => {
  const group: unknown = event.currentTarget;
  if (!(group instanceof Element)) return;
  const node = RED.nodes.node(group.id);
  if (!node || !descriptorOf(node)) return;
  const tip = group.querySelector(':scope > title') ?? group.appendChild(svg('title', {}));
  const whole = wholeLabelOf(node);
  tip.textContent = whole === labelOf(node) ? '' : whole;
});
