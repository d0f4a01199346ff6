import { choiceOf, textOf, type Config } from '../settings';
import { cut } from '../values';
import { isUsed, settingsOf, type Descriptor, type LabelParts } from './form';
import { stripAccount } from './nodes/strip-account';
import { stripList } from './nodes/strip-list';
import { stripMqtt } from './nodes/strip-mqtt';
import { stripSimulator } from './nodes/strip-simulator';
import { stripStatus } from './nodes/strip-status';
import { stripSwitch } from './nodes/strip-switch';
import { stripWatch } from './nodes/strip-watch';
import { text } from './red';

/** One line for each node type. */
export const descriptors: Readonly<Record<string, Descriptor>> = {
  'strip-account': stripAccount,
  'strip list': stripList,
  'strip status': stripStatus,
  'strip switch': stripSwitch,
  'strip watch': stripWatch,
  'strip mqtt': stripMqtt,
  'strip simulator': stripSimulator,
};

/** `undefined` for a node of another package. */
export const descriptorOf = ({ type }: Config): Descriptor | undefined => descriptors[String(type)];

/** The label of a node: its own name, or in short what it does, or the name of its type. */
export function labelOf(node: Config, join = shortLabel): string {
  const palette = `${catalogueOf(node)}.palette`;
  return textOf(node, 'name') || join(descriptorOf(node)?.label?.(node) ?? { strip: '' }) || text(palette);
}

/** The same, not shortened. */
export const wholeLabelOf = (node: Config): string => labelOf(node, joinLabel);

/** The catalogue of a node's type. */
const catalogueOf = (node: Config): string => textOf(node, 'type').replaceAll(' ', '-');

/** The tooltip of the input. A node with a property "output" has none. */
export const inputLabelOf = (node: Config): string =>
  settingsOf(node).output ? '' : text(`${catalogueOf(node)}.port.input`);

/** The tooltip of the output: what the property "output" says, if the node has one. */
export function outputLabelOf(node: Config): string {
  const output = settingsOf(node).output;
  if (output?.kind !== 'choice') return text(`${catalogueOf(node)}.port.output`);
  const chosen = isUsed(descriptorOf(node), node, 'output') ? node : {};
  return text(`${catalogueOf(node)}.out.${choiceOf(chosen, 'output', output)}`);
}

/**
 * In automatic labels, strip and outlet together are cut to this many characters; the tooltip of the node shows them whole. The action is never
 * cut: in some languages it alone is half as long.
 */
const LONGEST = 24;
/** At least this many characters of a strip's name stay, so that the outlet's name is cut, too. */
const SHORTEST_STRIP = 8;

/** A label from its parts; "" if there are none. */
function joinLabel({ strip, outlet, action }: LabelParts): string {
  return [[strip, outlet].filter(Boolean).join(': '), action].filter(Boolean).join(', ');
}

/** A label from its parts, short enough for a node. */
function shortLabel(parts: LabelParts): string {
  const { strip, outlet = '' } = parts;
  // In characters, as `cut` counts: an emoji is one.
  const lengthOf = (name: string): number => Array.from(name).length;
  const room = LONGEST - (outlet === '' ? 0 : ': '.length);
  const shortStrip = cut(strip, Math.max(room - lengthOf(outlet), SHORTEST_STRIP));
  return joinLabel({ ...parts, strip: shortStrip, outlet: cut(outlet, room - lengthOf(shortStrip)) });
}
