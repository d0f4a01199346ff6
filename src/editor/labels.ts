import { textOf, type LabelParts, type Properties, type Words } from './descriptor';

/** Automatic labels are cut to so many characters; the tip of the node shows them whole. */
const LONGEST = 24;
/** A strip's name is cut first, so that outlet and action stay readable, but no shorter than this. */
const SHORTEST_NAME = 8;

/** Strip and outlet as far as they are fixed in a node. The fallbacks are the types that a flow without one means. */
export function targetOf(
  node: Properties,
  { macType, portType }: { macType: string; portType: string },
  words: Words,
): LabelParts {
  const mac = textOf(node, 'mac');
  const account = textOf(node, 'account');
  const kind = textOf(node, 'macType', macType);
  const fixed = kind === 'str' && mac !== '';
  const port = textOf(node, 'portType', portType) === 'port' ? textOf(node, 'port') : '';
  const strip = fixed ? (words.stripName(account, mac) ?? mac) : kind === 'env' ? mac : '';
  if (port === '') return { strip, outlet: '' };
  if (port === 'all') {
    return { strip, outlet: words.text(`strip-account.${strip === '' ? 'canvas' : 'port'}.all`) };
  }
  const name = fixed ? words.outletName(account, mac, port) : null;
  const number = strip === '' ? words.text('strip-account.canvas.outlet', { port }) : port;
  return { strip, outlet: name ?? number };
}

/** A label from its parts; "" where there is none. */
export function joinLabel({ strip, outlet, action = '' }: LabelParts): string {
  return [[strip, outlet].filter(Boolean).join(': '), action].filter(Boolean).join(', ');
}

/** The same, short enough for a node. */
export function shortLabel(parts: LabelParts): string {
  const whole = joinLabel(parts);
  if (whole.length <= LONGEST) return whole;
  const room = LONGEST - (whole.length - parts.strip.length);
  return cut(joinLabel({ ...parts, strip: cut(parts.strip, Math.max(room, SHORTEST_NAME)) }), LONGEST);
}

/** Text of at most so many characters, the last of which says that something is missing. */
export function cut(text: string, most: number): string {
  const characters = Array.from(text);
  if (characters.length <= most) return text;
  const start = characters.slice(0, most - 1).join('');
  return `${start.trimEnd()}…`;
}
