import { choiceOf, textOf, type Config } from '../settings';
import { cut } from '../values';
import { settingOf, type Descriptor, type LabelParts } from './form';
import { stripAccount } from './nodes/strip-account';
import { stripList } from './nodes/strip-list';
import { stripMqtt } from './nodes/strip-mqtt';
import { stripSimulator } from './nodes/strip-simulator';
import { stripStatus } from './nodes/strip-status';
import { stripSwitch } from './nodes/strip-switch';
import { stripWatch } from './nodes/strip-watch';
import { text } from './red';

/** One line for each node type. */
export const descriptors: readonly Descriptor[] = [
  stripAccount,
  stripList,
  stripStatus,
  stripSwitch,
  stripWatch,
  stripMqtt,
  stripSimulator,
];

export const descriptorOf = (node: Config): Descriptor | undefined =>
  descriptors.find(({ type }) => type === node.type);

/** The label of a node: its own name, or what it does, or what its type is called. `whole`: however long that is. */
export function labelOf(node: Config, whole = false): string {
  const name = textOf(node, 'name');
  if (name !== '') return name;
  const parts: LabelParts = descriptorOf(node)?.label?.(node) ?? { strip: '' };
  const palette = `${textOf(node, 'type').replace(' ', '-')}.palette`;
  return (whole ? joinLabel(parts) : shortLabel(parts)) || text(palette);
}

/** Tip of the output. */
export function outputLabelOf(node: Config): string {
  const descriptor = descriptorOf(node);
  const output = descriptor && settingOf(descriptor, 'output');
  const sent = output?.kind === 'choice' ? text(`strip-account.out.${choiceOf(node, 'output', output)}`) : '';
  return descriptor?.outputLabel?.(node) ?? sent;
}

/** Automatic labels are cut to so many characters; the tip of the node shows them whole. */
const LONGEST = 24;
/** Which name is cut, in this order until the label fits, and how many characters of it stay at least. The action is never cut. */
const CUTS = [
  ['strip', 8],
  ['outlet', 4],
  ['strip', 1],
] as const;

/** A label from its parts; "" where there is none. */
function joinLabel({ strip, outlet, action }: LabelParts): string {
  return [[strip, outlet].filter(Boolean).join(': '), action].filter(Boolean).join(', ');
}

/** The same, short enough for a node. */
function shortLabel(parts: LabelParts): string {
  const short = { ...parts };
  for (const [part, min] of CUTS) {
    const name = short[part] ?? '';
    const room = LONGEST - (joinLabel(short).length - name.length);
    short[part] = cut(name, Math.max(room, min));
  }
  return joinLabel(short);
}
