import { textOf, type Config } from '../settings';
import { type Descriptor, type LabelParts, type Words, joinLabel, shortLabel } from './descriptor';
import { stripAccount } from './nodes/strip-account';
import { stripList } from './nodes/strip-list';
import { stripMqtt } from './nodes/strip-mqtt';
import { stripSimulator } from './nodes/strip-simulator';
import { stripStatus } from './nodes/strip-status';
import { stripSwitch } from './nodes/strip-switch';
import { stripWatch } from './nodes/strip-watch';

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

/** What stands on a node: its own name, or what it does, or what its type is called. `whole`: however long that is. */
export function labelOf(node: Config, words: Words, whole = false): string {
  const name = textOf(node, 'name');
  if (name !== '') return name;
  const parts: LabelParts = descriptorOf(node)?.label?.(node, words) ?? { strip: '', outlet: '' };
  const palette = `${textOf(node, 'type').replace(' ', '-')}.palette`;
  return (whole ? joinLabel(parts) : shortLabel(parts)) || words.text(palette);
}
