import type { Params } from '../api/errors';
import { textOf, type Properties } from './fields';

/** What a label needs to know besides the node itself. */
export interface Words {
  /** A sentence of the account's catalogue. */
  text(key: string, params?: Params): string;
  /** The name the service has for a strip of that account; `null` while nobody has asked, or where it has none. */
  nameOf(account: string, mac: string): string | null;
  /** What the node's type is called in the palette. */
  palette: string;
}

/** What a node does, in the few words that fit on it: "Desk strip 2: toggle". Its own name, where it has one, comes first. */
export function nodeLabel(node: Properties, words: Words): string {
  const name = textOf(node, 'name');
  if (name !== '') return name;
  switch (node.type) {
    case 'strip-account':
      return host(textOf(node, 'baseUrl')) || words.text('strip-account.canvas.account');
    case 'strip list':
      return words.text(
        `strip-account.canvas.${known(textOf(node, 'output'), ['list', 'strips', 'outlets'])}`,
      );
    case 'strip status':
      return target(node, 'port', words) || words.palette;
    case 'strip switch':
      return switchLabel(node, words);
    case 'strip watch':
      return watchLabel(node, words);
    default:
      return words.palette;
  }
}

/** What comes out of a node, for the tip of its output. */
export function outputLabel(node: Properties, words: Words): string {
  const output = textOf(node, 'output');
  switch (node.type) {
    case 'strip list':
      return words.text(`strip-account.out.${known(output, ['list', 'strips', 'outlets'])}`);
    case 'strip status': {
      const whole = textOf(node, 'portType', 'port') === 'port' && textOf(node, 'port') === '';
      return words.text(`strip-account.out.${whole ? 'strip' : known(output, ['strip', 'on', 'port-on'])}`);
    }
    case 'strip switch':
      return words.text(`strip-account.out.${known(output, ['same', 'on', 'port-on'])}`);
    case 'strip watch':
      return words.text(`strip-account.out.${known(output, ['on', 'port-on'])}`);
    default:
      return '';
  }
}

function switchLabel(node: Properties, words: Words): string {
  const where = target(node, 'message', words);
  const on = textOf(node, 'on');
  const fixed =
    textOf(node, 'onType', 'message') === 'action' && ['on', 'off', 'toggle', 'cycle'].includes(on);
  const what = fixed ? words.text(`strip-account.action.${on}`) : '';
  if (where === '') return what === '' ? words.palette : `${words.palette}: ${what}`;
  return what === '' ? where : `${where}: ${what}`;
}

function watchLabel(node: Properties, words: Words): string {
  const port = textOf(node, 'port');
  if (textOf(node, 'mac') !== '') return join(strip(node, 'str', words), port, words);
  const every = words.text('strip-account.canvas.every');
  return port === '' ? every : `${every}, ${words.text('strip-account.canvas.outlet', { port })}`;
}

/** Strip and outlet as far as they are fixed. */
function target(node: Properties, portFallback: string, words: Words): string {
  const port = textOf(node, 'portType', portFallback) === 'port' ? textOf(node, 'port') : '';
  return join(strip(node, 'message', words), port, words);
}

function join(strip: string, port: string, words: Words): string {
  if (port === '') return strip;
  if (strip !== '') {
    return port === 'all' ? words.text('strip-account.canvas.stripAll', { strip }) : `${strip} ${port}`;
  }
  return port === 'all'
    ? words.text('strip-account.canvas.all')
    : words.text('strip-account.canvas.outlet', { port });
}

function strip(node: Properties, fallbackType: string, words: Words): string {
  const mac = textOf(node, 'mac');
  switch (textOf(node, 'macType', fallbackType)) {
    case 'str':
      return words.nameOf(textOf(node, 'account'), mac) ?? mac;
    case 'env':
      return mac;
    default:
      return '';
  }
}

/** The value, or the first of the known ones for a flow that has none or another. */
function known(value: string, values: [string, ...string[]]): string {
  return values.includes(value) ? value : values[0];
}

function host(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
}
