import { isPossibleMac, looksLikeMac, macKey, sameMac } from '../api/mac';
import { PORTS, type Strip } from '../api/types';
import { textOf, typeOf, type Config, type TextSetting, type TypedSetting } from '../settings';
import { environmentVariable, previewText } from '../values';
import {
  isOpen,
  onPress,
  problemWith,
  segmentedField,
  showHint,
  showMessage,
  typedField,
  type Segment,
  type Check,
  type Descriptor,
  type LabelParts,
} from './form';
import { html, text, type EditorNode } from './red';
import {
  findStrip,
  knownStrip,
  loadStrips,
  matches,
  outletName,
  outletState,
  stateText,
  stripsOf,
  stripText,
} from './strips';

/** After this time without a change the account is taken as chosen, in milliseconds. */
const SETTLES_IN = 100;

/** Strip and outlet as far as they are fixed in a node. An outlet without a type beside it is always fixed. */
export function targetOf(
  node: Config,
  settings: { mac: TypedSetting; port: TypedSetting | TextSetting },
): LabelParts {
  const mac = textOf(node, 'mac');
  const account = textOf(node, 'account');
  const kind = typeOf(node, 'mac', settings.mac);
  const fixed = kind === 'str' && mac !== '';
  const isPort = settings.port.kind === 'text' || typeOf(node, 'port', settings.port) === 'port';
  const port = isPort ? textOf(node, 'port') : '';
  const strip = fixed ? (knownStrip(account, mac)?.name ?? mac) : kind === 'env' ? mac : '';
  if (port === '') return { strip };
  if (port === 'all') {
    return { strip, outlet: text(`strip-account.${strip === '' ? 'canvas' : 'port'}.all`) };
  }
  const name = fixed ? outletName(account, mac, port) : null;
  const number = strip === '' ? text('strip-account.canvas.outlet', { port }) : port;
  return { strip, outlet: name ?? number };
}

/** A strip that is typed or picked. */
export const checkStrip: Check = (value) => {
  const mac = String(value);
  if (mac === '') return text('strip-account.invalid.mac');
  return isPossibleMac(mac) ? '' : text('errors.INVALID_INPUT.mac', { got: previewText(mac) });
};

/** An outlet that is picked. */
export const checkPort =
  (...others: string[]): Check =>
  (value) =>
    [...PORTS.map(String), ...others].includes(String(value)) ? '' : text('strip-account.invalid.port');

/** The strip that a text names, or what is to be said of the text. */
interface StripMatch {
  strip?: Strip;
  error?: string;
  warning?: string;
}

/**
 * The strip that a text names by its MAC or its name. Where the account's strips are known, a text that is neither and does not look like a
 * MAC is an error; a MAC that is not listed may be that of a strip that is switched off. Variables are known to the runtime alone.
 */
export function lookUp(strips: readonly Strip[], typed: string): StripMatch {
  const mac = typed.trim();
  const strip = findStrip(strips, mac);
  if (strip) return { strip };
  const namesakes = strips.filter(({ name }) => name?.trim().toLowerCase() === mac.toLowerCase());
  const [named, ...others] = namesakes;
  if (named && others.length > 0) return { error: text('strip-account.invalid.stripTwice', { name: mac }) };
  if (named) return { strip: named };
  if (strips.length === 0 || mac === '' || environmentVariable(mac) !== null) return {};
  if (looksLikeMac(macKey(mac))) return { warning: text('strip-account.warning.unlisted') };
  return { error: text('strip-account.invalid.stripName', { name: mac }) };
}

/**
 * A strip to type or to pick: a combobox whose list is always open. What is typed filters the list by name or MAC; arrow keys move in it,
 * Enter picks.
 */
export function stripPicker(descriptor: Descriptor, node: EditorNode, onChange: () => void) {
  const typed = typedField(descriptor, node, 'mac', {
    value: 'str',
    label: text('strip-account.type.strip'),
  });
  const { input, container, box } = typed;
  const name = $('<span class="smart-strip-chosen">').insertAfter(box.parent());
  const note = $('<span role="status">');
  const again = text('strip-account.picker.refresh');
  const refresh = $('<button type="button" class="red-ui-button red-ui-button-small">')
    .attr({ title: again, 'aria-label': again })
    .append('<i class="fa fa-refresh" aria-hidden="true">');
  onPress(refresh, () => load(false));
  const list = $('<ul class="smart-strip-list" role="listbox" id="smart-strip-list" tabindex="-1">');
  list.attr('aria-label', text('strip-account.picker.strips'));
  const picker = $('<div class="smart-strip-picker">')
    .append($('<div class="smart-strip-bar">').append(note, refresh), list)
    .insertAfter(container);
  box.attr({ 'aria-controls': 'smart-strip-list', 'aria-autocomplete': 'list' });

  let account = '';
  /** What is typed since a strip was picked; filters the list. */
  let filter = '';
  let active = -1;
  let shown: Strip[] = [];
  let trouble = '';
  let turn = 0;
  const fixed = () => typed.type() === 'str';
  const chosen = () => (fixed() ? findStrip(stripsOf(account), typed.value()) : undefined);

  const draw = () => {
    const all = stripsOf(account);
    shown = all.filter((strip) => matches(strip, filter));
    active = Math.min(active, shown.length - 1);
    picker.toggle(fixed());
    box.attr('role', fixed() ? 'combobox' : null).attr('aria-expanded', fixed() ? 'true' : null);
    const title = chosen()?.name ?? '';
    name
      .text(title)
      .attr('title', title)
      .toggle(title !== '');
    const count = { shown: shown.length, all: all.length };
    const counted = all.length === 0 ? '' : text('strip-account.picker.shown', count);
    const said = trouble === '' ? counted : trouble;
    if (note.text() !== said) note.text(said);
    list.empty();
    shown.forEach((strip, index) => {
      $(stripOption(strip, strip === chosen()))
        .attr('id', `smart-strip-option-${index}`)
        .toggleClass('smart-strip-active', index === active)
        // The text field keeps the focus.
        .on('mousedown', (event) => event.preventDefault())
        .on('click', () => pick(strip))
        .appendTo(list);
    });
    box.attr('aria-activedescendant', active >= 0 ? `smart-strip-option-${active}` : null);
  };
  /** Scrolls the list to the middle of an option, and nothing around it. */
  const reveal = (option: JQuery) => {
    const [element] = option;
    const [frame] = list;
    if (!element || !frame) return;
    frame.scrollTop = element.offsetTop - frame.offsetTop - (frame.clientHeight - element.offsetHeight) / 2;
  };
  const pick = (strip: Strip) => {
    filter = '';
    active = -1;
    typed.set(strip.mac);
    draw();
    reveal(list.find('[aria-selected=true]'));
  };
  const look = (): StripMatch => (fixed() ? lookUp(stripsOf(account), typed.value()) : {});
  const check = (left: boolean) => {
    const value = typed.value();
    const { error, warning } = look();
    const problem = error ?? problemWith(descriptor, node, 'mac', value);
    const isTyping = !left && (error !== undefined || value === '');
    showMessage('mac', isTyping ? '' : problem, warning);
  };

  box
    .on('keydown', (event) => {
      if (!fixed()) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined && shown.length > 0) {
        event.preventDefault();
        active = active < 0 && step < 0 ? shown.length - 1 : (active + step + shown.length) % shown.length;
        draw();
        reveal(list.find('.smart-strip-active'));
      } else if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
        const strip = shown[active] ?? (filter !== '' && shown.length === 1 ? shown[0] : undefined);
        if (strip === undefined) return;
        event.preventDefault();
        pick(strip);
      }
    })
    .on('blur', () => {
      const { strip } = look();
      // A name that only one strip has becomes its MAC.
      if (strip && !sameMac(strip.mac, typed.value())) pick(strip);
      check(true);
    });
  input.on('input', () => {
    filter = typed.value();
    active = -1;
  });
  input.on('change input keyup paste', () => {
    if (!fixed()) filter = '';
    draw();
    check(false);
    onChange();
  });

  const load = async (preselect: boolean) => {
    const mine = ++turn;
    trouble = text(`strip-account.${account === '' ? 'trouble.noAccount' : 'picker.asking'}`);
    draw();
    if (account === '') return;
    // Another account may have been chosen meanwhile, or the dialog closed.
    const isOver = () => mine !== turn || !isOpen(list);
    // Node-RED reports the account of a dialog that opens up to three times.
    await new Promise((resolve) => setTimeout(resolve, SETTLES_IN));
    if (isOver()) return;
    const answer = await loadStrips(account, true);
    if (isOver()) return;
    const failed = (reason: string): string => text('strip-account.picker.failed', { reason });
    if (!answer.ok) trouble = failed(text(answer.key, answer.params));
    else if (answer.strips.length > 0) trouble = '';
    else if (answer.readable) trouble = text('strip-account.picker.none');
    else trouble = failed(text('strip-account.trouble.unreadable'));
    const [only, ...others] = answer.ok ? answer.strips : [];
    if (preselect && fixed() && only && others.length === 0 && typed.value() === '') typed.set(only.mac);
    draw();
    reveal(list.find('[aria-selected=true]'));
    check(typed.value() !== '' && !box.is(':focus'));
    onChange();
  };

  return {
    /** Where the strip comes from: "str" for one that is fixed there. */
    type: typed.type,
    value: typed.value,
    /** Buttons for the outlets of the chosen strip, with their names and states, and for `whole`, which stands for all of them. */
    segments: (whole: Segment): Segment[] => {
      const mac = fixed() ? typed.value() : '';
      const ports = PORTS.map((port): Segment => {
        const value = String(port);
        const name = mac === '' ? null : outletName(account, mac, value);
        const state = outletState(chosen(), value);
        const label = name === null ? value : `${value} ${name}`;
        return state === null ? { value, label } : { value, label, state: stateText(state) };
      });
      return whole.value === '' ? [whole, ...ports] : [...ports, whole];
    },
    /** Shows the strips of another account; with `preselect` its only strip is chosen. */
    show: (next: string, preselect: boolean) => {
      account = next;
      void load(preselect);
    },
  };
}

function stripOption(strip: Strip, chosen: boolean): HTMLElement {
  const title = strip.name ?? strip.mac;
  const name = html('span', { class: 'smart-strip-name' }, title);
  const mac = strip.name === null ? '' : html('code', {}, strip.mac);
  const attributes = { role: 'option', 'aria-selected': String(chosen), 'data-mac': strip.mac, title };
  return html('li', attributes, name, mac, html('small', {}, stripText(strip)));
}

/**
 * The strip field of an open dialog, and below it the outlet's: buttons that follow the chosen strip.
 * `hints`: keys of what is said of `whole`, and of an outlet that the message names.
 */
export function targetFields(
  descriptor: Descriptor,
  node: EditorNode,
  whole: Segment,
  hints: { whole: string; message: string },
) {
  // Nothing is said of a choice that is still to be made.
  const showStrip = () => {
    port.redraw();
    const fixed = picker.value() === '' ? '' : 'strip-account.hint.macFixed';
    const keys: Record<string, string> = { str: fixed, message: 'strip-account.hint.macMessage' };
    showHint('mac', keys[picker.type()] ?? 'strip-account.hint.macEvaluated');
  };
  const showOutlet = () => {
    const one = port.value() === '' ? '' : 'strip-account.hint.portFixed';
    const fixed = port.value() === whole.value ? hints.whole : one;
    const keys: Record<string, string> = { port: fixed, message: hints.message };
    showHint('port', keys[port.type()] ?? 'strip-account.hint.portEvaluated');
  };
  const picker = stripPicker(descriptor, node, showStrip);
  const own = { value: 'port', label: text('strip-account.type.port') };
  const port = segmentedField(descriptor, node, 'port', own, () => picker.segments(whole));
  port.input.on('change', showOutlet);
  showStrip();
  showOutlet();
  return { picker, port };
}
