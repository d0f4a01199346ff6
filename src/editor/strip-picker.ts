import { isPossibleMac, looksLikeMac, macKey, PORTS, sameMac, type Strip } from '../api/types';
import type { StripsAnswer } from '../flow/admin-answers';
import { readOutlets, textOf, type Config } from '../settings';
import { environmentVariable, preview } from '../values';
import {
  hintByType,
  kindOf,
  segmentedField,
  typedField,
  type Segment,
  type Check,
  type Dialog,
  type LabelParts,
} from './form';
import { block, html, iconButton, text } from './red';
import {
  findStrip,
  knownStrip,
  loadStrips,
  matches,
  nameOutlets,
  outletName,
  outletState,
  stripsOf,
  stripText,
} from './strips';

/** Milliseconds without a change after which the account counts as chosen. */
const SETTLES_IN = 100;

/** The strip and the outlet that are fixed in a node; "" and `null` if a message decides. An outlet without a type is always fixed. */
export function fixedTarget(node: Config): { mac: string; port: string | null } {
  const mac = kindOf(node, 'mac') === 'str' ? textOf(node, 'mac') : '';
  const port = ['text', 'port'].includes(kindOf(node, 'port') ?? '') ? textOf(node, 'port') : null;
  return { mac, port };
}

/** Strip and outlet of a node for its label, as far as they are known. */
export function targetOf(node: Config): LabelParts {
  const account = textOf(node, 'account');
  const { mac, port } = fixedTarget(node);
  const variable = (field: string): string => (kindOf(node, field) === 'env' ? textOf(node, field) : '');
  const strip = mac === '' ? variable('mac') : (knownStrip(account, mac)?.name ?? mac);
  if (port === null || port === '') return { strip, outlet: variable('port') };
  if (port === 'all') return { strip, outlet: text(`strip-account.${strip === '' ? 'canvas' : 'port'}.all`) };
  const name = mac === '' ? null : outletName(account, mac, port);
  const number = strip === '' ? text('strip-account.canvas.outlet', { port }) : port;
  return { strip, outlet: name ?? number };
}

/** Checks a strip that is typed or picked, as far as the strips of the node's account are known. */
export const checkStrip: Check = (value, node) => {
  const typed = String(value);
  if (typed === '') return text('strip-account.invalid.mac');
  return lookUp(stripsOf(textOf(node, 'account')), typed).error ?? '';
};

/** The hints for strip and outlet. `hints`: keys of those for `whole`, the value for a whole strip, and for an outlet that the message names. */
export const targetHints = (whole: string, hints: { whole: string; message: string }) => ({
  mac: (node: Config): string => {
    // There is no hint while no strip is chosen.
    const str = checkStrip(textOf(node, 'mac'), node) === '' ? 'strip-account.hint.macFixed' : '';
    const keys = { str, message: 'strip-account.hint.macMessage' };
    return hintByType(node, 'mac', keys, 'strip-account.hint.macEvaluated');
  },
  port: (node: Config): string => {
    const port = textOf(node, 'port');
    const one = port === '' ? '' : 'strip-account.hint.portFixed';
    const keys = { port: port === whole ? hints.whole : one, message: hints.message };
    return hintByType(node, 'port', keys, 'strip-account.hint.portEvaluated');
  },
});

/** Checks an outlet that is picked. `whole`: the value for a whole strip. */
export const checkPort =
  (whole: string): Check =>
  (value) =>
    [whole, ...PORTS.map(String)].includes(String(value)) ? '' : text('strip-account.invalid.port');

/** The strip that a text names, or an error or a warning about the text. */
interface StripMatch {
  strip?: Strip;
  error?: string;
  warning?: string;
}

/**
 * The strip that a text names by its MAC or its name. If the account's strips are known, a text that is neither and does not look like a MAC is an
 * error. A MAC that is not listed is only a warning: the strip may be switched off. Only the runtime knows the values of variables. `find`: finds one of
 * the strips by its MAC.
 */
export function lookUp(
  strips: readonly Strip[],
  typed: string,
  find = (mac: string) => findStrip(strips, mac),
): StripMatch {
  const mac = typed.trim();
  const strip = find(mac);
  if (strip) return { strip };
  const [named, ...others] = strips.filter(({ name }) => name?.trim().toLowerCase() === mac.toLowerCase());
  if (named && others.length > 0) return { error: text('strip-account.invalid.stripTwice', { name: mac }) };
  if (named) return { strip: named };
  if (mac === '' || environmentVariable(mac) !== null) return {};
  if (!isPossibleMac(mac)) return { error: text('errors.INVALID_INPUT.mac', { got: preview(mac) }) };
  if (strips.length === 0) return {};
  if (looksLikeMac(macKey(mac))) return { warning: text('strip-account.warning.unlisted') };
  return { error: text('strip-account.invalid.stripName', { name: mac }) };
}

/**
 * A strip to type or to pick: a combobox whose list is always open. What is typed filters the list by name or MAC; arrow keys move in it,
 * Enter picks.
 */
class StripPicker {
  /** The text field. */
  readonly #box: JQuery;
  /** The name of the chosen strip. */
  readonly #name = html('span', { class: 'smart-strip-chosen' });
  /** How many strips are listed, or why there are none. */
  readonly #note = html('span', { role: 'status' });
  readonly #list = html('ul', {
    class: 'smart-strip-list',
    role: 'listbox',
    id: 'smart-strip-list',
    tabindex: '-1',
    'aria-label': text('strip-account.picker.strips'),
  });
  readonly #panel: HTMLElement;
  /** What was typed since a strip was picked; filters the list. */
  #filter = '';
  /** The strips that are listed. */
  #shown: Strip[] = [];
  /** The one of them that the arrow keys have reached; -1: none. */
  #active = -1;
  /** The account's strips, or why they are not known; `null`: not answered yet. */
  #answer: StripsAnswer | null = null;
  /** Counts the requests for strips, so that an outdated answer is ignored. */
  #turn = 0;
  /** The strip that was chosen because its account had no other; `null`: the user has chosen. */
  #preselected: { account: string; mac: string } | null = null;

  constructor(
    private readonly dialog: Dialog,
    private readonly changed: () => void,
  ) {
    const own = { value: 'str', label: text('strip-account.type.strip') };
    const { container, box } = typedField(dialog, 'mac', own);
    this.#box = box;
    box.parent().after(this.#name);
    const again = text('strip-account.picker.refresh');
    const ask = () => void this.#load(false);
    const refresh = iconButton('red-ui-button red-ui-button-small', 'fa-refresh', again, ask);
    const bar = block('bar', this.#note, refresh);
    this.#panel = block('picker', bar, this.#list);
    container.after(this.#panel);
    box.attr({ 'aria-controls': 'smart-strip-list', 'aria-autocomplete': 'list' });

    box.on('keydown', (event) => this.#onKeyDown(event)).on('blur', () => this.#complete());
    const input = dialog.field('mac');
    input.on('input', () => {
      this.#filter = this.#typed();
      this.#active = -1;
    });
    input.on('change input', () => {
      if (!this.#isFixed()) this.#filter = '';
      this.#draw();
      this.#check(false);
      this.changed();
    });
    const load = () => {
      refresh.disabled = this.#account === '';
      void this.#load(!dialog.node.account);
    };
    dialog.field('account').on('change', () => {
      const own = this.#preselected;
      if (own && own.account !== this.#account && own.mac === this.#typed()) input.typedInput('value', '');
      load();
      // What is known of the strip in the account before does not count any more.
      this.#check(false);
      this.changed();
    });
    load();
  }

  /** Buttons for the outlets of the chosen strip, with their names and states, and for `whole`, which stands for all of them. */
  segments(whole: Segment): Segment[] {
    const mac = this.#typed();
    const ports = PORTS.map((port): Segment => {
      const value = String(port);
      const name = mac === '' ? null : outletName(this.#account, mac, value);
      const state = outletState(this.#chosen(), value);
      return { value, label: `${value} ${name ?? ''}`.trim(), state };
    });
    return whole.value === '' ? [whole, ...ports] : [...ports, whole];
  }

  /** Shows the strips of the account; with `preselect` its only strip is chosen. */
  async #load(preselect: boolean): Promise<void> {
    const mine = ++this.#turn;
    this.#answer = null;
    this.#draw();
    if (this.#account === '') return;
    // Another account may have been chosen meanwhile, or the dialog closed.
    const isOver = () => mine !== this.#turn || !this.dialog.isOpen;
    // When a dialog opens, Node-RED reports its account up to three times.
    await new Promise((resolve) => setTimeout(resolve, SETTLES_IN));
    if (isOver()) return;
    const answer = await loadStrips(this.#account, { refresh: true });
    if (isOver()) return;
    this.#answer = answer;
    const [only, ...others] = answer.ok && answer.complete ? answer.strips : [];
    this.#draw();
    this.#revealChosen();
    const isEmpty = this.#isFixed() && this.#typed() === '';
    if (preselect && isEmpty && only && others.length === 0) {
      this.#pick(only);
      this.#preselected = { account: this.#account, mac: only.mac };
    }
    // What is typed already may be the name of one of these strips.
    if (this.#typed() === '' || this.#box.is(':focus')) this.#check(false);
    else this.#complete();
    this.changed();
    this.dialog.showHints();
  }

  get #account(): string {
    return this.dialog.value('account');
  }

  /** Whether the strip is fixed in the node. */
  #isFixed(): boolean {
    return this.dialog.value('macType') === 'str';
  }

  /** What is typed or picked; "" if the strip is not fixed. */
  #typed(): string {
    return this.#isFixed() ? this.dialog.value('mac') : '';
  }

  #chosen(): Strip | undefined {
    return findStrip(stripsOf(this.#account), this.#typed());
  }

  #draw(): void {
    const { outlets } = readOutlets(RED.nodes.node(this.#account)?.outletNames);
    // The search finds these names, too.
    const all = nameOutlets(stripsOf(this.#account), outlets);
    const isFixed = this.#isFixed();
    const chosen = findStrip(all, this.#typed());
    this.#shown = all.filter((strip) => matches(strip, this.#filter));
    this.#active = Math.min(this.#active, this.#shown.length - 1);
    this.#panel.hidden = !isFixed;
    this.#name.textContent = this.#name.title = chosen?.name ?? '';
    const note = this.#noteAbout(all.length);
    if (this.#note.textContent !== note) this.#note.textContent = note;
    const options = this.#shown.map((strip, index) => {
      const option = stripOption(strip);
      option.id = `smart-strip-option-${index}`;
      option.ariaSelected = String(strip === chosen);
      if (index === this.#active) option.className = 'smart-strip-active';
      // The text field keeps the focus.
      option.onmousedown = (event) => event.preventDefault();
      option.onclick = () => this.#pick(strip);
      return option;
    });
    this.#list.replaceChildren(...options);
    this.#box.attr({
      role: isFixed ? 'combobox' : null,
      'aria-expanded': isFixed ? String(options.length > 0) : null,
      'aria-activedescendant': this.#active >= 0 ? `smart-strip-option-${this.#active}` : null,
    });
  }

  /** How many of all strips are listed, or why there are none. */
  #noteAbout(all: number): string {
    const answer = this.#answer;
    if (this.#account === '') return text('strip-account.trouble.noAccount');
    if (answer === null) return text('strip-account.picker.asking');
    if (answer.ok && answer.strips.length > 0) {
      const shown = text('strip-account.picker.shown', { shown: this.#shown.length, all });
      return answer.complete ? shown : `${shown} · ${text('strip-account.preview.incomplete')}`;
    }
    if (answer.ok && answer.readable) return text('strip-account.picker.none');
    const reason = answer.ok ? text('strip-account.trouble.unreadable') : text(answer.key, answer.params);
    return text('strip-account.picker.failed', { reason });
  }

  /** Scrolls only the list, so that the chosen strip is in its middle. */
  #revealChosen(): void {
    const frame = this.#list;
    const element = frame.querySelector<HTMLElement>('[aria-selected=true]');
    if (element)
      frame.scrollTop = element.offsetTop - frame.offsetTop - (frame.clientHeight - element.offsetHeight) / 2;
  }

  #pick(strip: Strip): void {
    this.#filter = '';
    this.#active = -1;
    this.#preselected = null;
    this.dialog.field('mac').typedInput('value', strip.mac);
    this.#revealChosen();
  }

  #onKeyDown(event: JQuery.KeyDownEvent): void {
    // While a character is composed, as Japanese and Chinese ones are, these keys choose it.
    if (!this.#isFixed() || event.originalEvent?.isComposing === true) return;
    const shown = this.#shown;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && shown.length > 0) {
      event.preventDefault();
      const isFromBelow = this.#active < 0 && step < 0;
      this.#active = isFromBelow ? shown.length - 1 : (this.#active + step + shown.length) % shown.length;
      this.#draw();
      // In a small window, the dialog has to scroll, too.
      this.#list.children[this.#active]?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
      const strip = shown[this.#active] ?? (this.#filter !== '' && shown.length === 1 ? shown[0] : undefined);
      if (strip === undefined) return;
      event.preventDefault();
      this.#pick(strip);
    }
  }

  /** Called when nothing more is being typed. */
  #complete(): void {
    const { strip } = this.#lookUp();
    // A name that only one strip has becomes its MAC.
    if (strip && !sameMac(strip.mac, this.#typed())) this.#pick(strip);
    this.#check(true);
  }

  #lookUp(): StripMatch {
    return lookUp(stripsOf(this.#account), this.#typed());
  }

  /** Shows what is wrong. `isComplete`: nothing more is being typed. */
  #check(isComplete: boolean): void {
    const { error, warning } = this.#lookUp();
    const isTyping = !isComplete && (error !== undefined || this.dialog.value('mac') === '');
    this.dialog.showMessage('mac', isTyping ? '' : this.dialog.problem('mac'), warning);
  }
}

function stripOption(strip: Strip): HTMLElement {
  const title = strip.name ?? strip.mac;
  const name = html('span', { class: 'smart-strip-name' }, title);
  const mac = strip.name === null ? '' : html('code', {}, strip.mac);
  return html('li', { role: 'option', title }, name, mac, html('small', {}, stripText(strip)));
}

/**
 * Sets up the strip field of an open dialog and, below it, the outlet field, whose buttons show the outlets of the chosen strip. `label`: what
 * a fixed outlet is called among the types of the field.
 */
export function targetFields(dialog: Dialog, whole: Segment, label = text('strip-account.type.port')) {
  const picker = new StripPicker(dialog, () => redraw());
  const redraw = segmentedField(dialog, 'port', { value: 'port', label }, () => picker.segments(whole));
}
