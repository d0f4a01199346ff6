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

/**
 * In automatic labels strip and outlet are cut to so many characters together, and the tip of the node shows them whole. What the node does is
 * never cut: in some languages this alone is half as long.
 */
const LONGEST = 24;
/** What stays at least of a strip's name, so that the outlet's is cut, too. */
const SHORTEST_STRIP = 8;

/** A label from its parts; "" where there is none. */
function joinLabel({ strip, outlet, action }: LabelParts): string {
  return [[strip, outlet].filter(Boolean).join(': '), action].filter(Boolean).join(', ');
}

/** The same, short enough for a node. */
function shortLabel(parts: LabelParts): string {
  const { strip, outlet = '' } = parts;
  const room = LONGEST - (outlet === '' ? 0 : ': '.length);
  const shortStrip = cut(strip, Math.max(room - outlet.length, SHORTEST_STRIP));
  return joinLabel({ ...parts, strip: shortStrip, outlet: cut(outlet, room - shortStrip.length) });
}
