import { isStripError } from '../api/errors';
import {
  choiceOf,
  flagOf,
  isDecimal,
  requireReadable,
  SETTINGS,
  textOf,
  typeOf,
  type Config,
  type NodeType,
  type Setting,
} from '../settings';
import { environmentVariable, isRecord } from '../values';
import { html, text, type EditorNode, type InputType } from './red';

/**
 * What the editor has to know about one node type. Adding a node means a file in `src/editor/nodes` that exports a descriptor, and a line for it in
 * `descriptors.ts`. Kinds, defaults and bounds of its properties are in `src/settings.ts`, the rows of its dialog in `nodes/<name>.html`.
 */
export interface Descriptor {
  readonly type: NodeType;
  /** Checks by property, besides the kind and the bounds that its setting has; credentials are checked here too. */
  readonly checks?: Readonly<Record<string, Check>>;
  /** Properties that are not always used, and when they are. While one is not, the dialog hides it and nothing is checked. */
  readonly usedIf?: Readonly<Record<string, (node: Config) => boolean>>;
  /** Warnings about values that are valid, by property; "": none. */
  readonly warnings?: Readonly<Record<string, (value: string, node: Config) => string>>;
  /** Hints that depend on the value, by property; the others are in the html. */
  readonly hints?: Readonly<Record<string, (value: string) => string>>;
  /** The label of a node without a name of its own; empty parts for the name of its type. */
  label?(node: Config): LabelParts;
  /** Tooltips of the ports. If `outputLabel` is missing or returns `null`, the property "output" decides. */
  inputLabel?(node: Config): string;
  outputLabel?(node: Config): string | null;
  /** Prepares what only the dialog of this type has. */
  open?(node: EditorNode): void;
  /** Puts into the node what Node-RED cannot read from the dialog by itself. */
  save?(node: EditorNode): void;
}

/** Returns what is wrong with a value, in words; "": nothing. */
export type Check = (value: unknown, node: Config) => string;

/** Parts of a label that says what a node does: "Desk: Lamp, toggle". */
export interface LabelParts {
  strip: string;
  outlet?: string;
  action?: string;
}

/** The name fields of the dialogs that are open, by the ids of their nodes. Node-RED takes a dialog off the page while another covers it. */
const openDialogs = new Map<string, JQuery>();

/** Whether the dialog of a node is open and not covered: what is chosen there counts instead of what is stored. */
export const isDialogOpen = (node: Config): boolean => {
  const name = openDialogs.get(textOf(node, 'id'));
  return name !== undefined && isOpen(name);
};

/** Milliseconds between two checks whether a dialog is still covered: Node-RED does not tell. */
const COVERED_INTERVAL = 200;

/** Waits while another dialog covers that of a node. Returns whether the element, which belongs to it, is on the page then. */
export async function uncovered(node: EditorNode, element: JQuery): Promise<boolean> {
  while (!isOpen(element) && openDialogs.has(node.id))
    await new Promise((resolve) => setTimeout(resolve, COVERED_INTERVAL));
  return isOpen(element);
}

/** Prepares a dialog, whose fields Node-RED has filled in. */
export function openDialog(descriptor: Descriptor, node: EditorNode): void {
  openDialogs.set(node.id, fieldOf(node, 'name'));
  noteMissingKey(node);
  fillDefaults(descriptor, node);
  if (settingOf(descriptor, 'account')) watchAccount(node);
  descriptor.open?.(node);
  for (const field of Object.keys({ ...SETTINGS[descriptor.type], ...descriptor.checks })) {
    const kind = settingOf(descriptor, field)?.kind ?? 'credential';
    // The picker says itself what is wrong with a strip.
    const isWatched = ['text', 'number', 'choice', 'typed', 'credential'].includes(kind) && field !== 'mac';
    if (isWatched) watchField(descriptor, node, field);
  }
  // A row with something to correct must not stay folded away.
  $('.smart-strip-section:has([aria-invalid=true])').attr('open', '');
}

/** Whether the dialog was open. */
export const closeDialog = (node: EditorNode): boolean => openDialogs.delete(node.id);

/** The setting of a property in `src/settings.ts`. Credentials and nodes of other packages have none. */
export function settingOf({ type }: { type?: unknown }, field: string): Setting | undefined {
  const settings: Readonly<Record<string, Readonly<Record<string, Setting>>>> = SETTINGS;
  return settings[String(type)]?.[field];
}

/** Whether the dialog that an element belongs to is still open, and no other one covers it: that may have fields of the same names. */
export const isOpen = (element: JQuery): boolean => element[0]?.isConnected === true;

/** The field that Node-RED fills in and reads. */
export const fieldOf = (node: EditorNode, field: string): JQuery =>
  $(`#node-${node._def.category === 'config' ? 'config-' : ''}input-${field}`);

export const showRow = (field: string, visible: boolean) => $(`#smart-strip-row-${field}`).toggle(visible);

/** Shows the hint below a field: a key of a catalogue; "" removes it. */
export const showHint = (field: string, key: string) =>
  $(`#smart-strip-hint-${field}`).text(key === '' ? '' : text(key));

/** Shows below a field what is wrong with it, else the warning; "" for nothing. Its control names the message in `aria-describedby`. */
export function showMessage(field: string, error: string, warning = ''): void {
  const invalid = error !== '';
  const message = $(`#smart-strip-message-${field}`).toggleClass('smart-strip-warning', !invalid);
  const shown = invalid ? `✕ ${error}` : warning === '' ? '' : `⚠ ${warning}`;
  // Not set again if it is the same: a screen reader would read it out once more.
  if (message.text() !== shown) message.text(shown);
  // Only in the row of the message: with thousands of rows, a search of the whole page for each of them takes seconds.
  const control = `[aria-describedby~="smart-strip-message-${field}"]`;
  message.parent().find(control).addBack(control).attr('aria-invalid', String(invalid));
}

/** Ids for the `aria-describedby` of a field's control. */
export const describedBy = (field: string): string =>
  `smart-strip-message-${field} smart-strip-hint-${field}`;

/** Types whose values Node-RED checks itself. */
const CHECKED_BY_NODE_RED = new Set(['msg', 'flow', 'global', 'jsonata', 'num']);

/**
 * What is wrong with a property; "" if nothing is. A whole `${NAME}` is left to the runtime, which alone knows the variables, and a property that a
 * flow does not have takes its default. In an open dialog, the type that is chosen there counts.
 */
export function problemWith(descriptor: Descriptor, node: Config, field: string, value: unknown): string {
  const setting = settingOf(descriptor, field);
  const check = descriptor.checks?.[field];
  const typed = typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
  const isMissing = value === undefined || value === null;
  const typeName = `${field}Type`;
  const type: unknown = isDialogOpen(node) ? $(`#node-input-${typeName}`).val() : node[typeName];
  const chosen = { [field]: value, [typeName]: type };
  if ([typed, textOf(chosen, typeName)].some((text) => environmentVariable(text) !== null)) return '';
  const refusal = refusalOf(descriptor, chosen, field);
  // The runtime refuses what it cannot read even where it does not use it.
  if (descriptor.usedIf?.[field]?.(node) === false) return refusal;
  if (refusal !== '' && setting?.kind !== 'number') return refusal;
  if (setting?.kind === 'typed') {
    const kind = typeOf(chosen, field, setting);
    const isDefault = isMissing && kind === setting.types[0] && setting.default !== '';
    if (isDefault || kind === 'message') return '';
    if (kind === 'env') return typed === '' ? text('strip-account.invalid.expression') : '';
    if (!CHECKED_BY_NODE_RED.has(kind)) return check?.(typed, node) ?? '';
    const verdict = RED.utils.validateTypedProperty(typed, kind, {});
    if (verdict !== true) return verdict;
    return kind === 'num' ? checkNumber(isDecimal(typed) ? typed : '', setting) : '';
  }
  if (isMissing && !(setting?.kind === 'text' && setting.default === '')) return '';
  if (check) return check(setting?.kind === 'data' ? value : typed, node);
  return setting?.kind === 'number' ? checkNumber(typed, setting) : '';
}

/** Why the runtime refuses a property, or the type of a typed one, as `config` has it; "": it does not. */
function refusalOf(descriptor: Descriptor, config: Config, field: string): string {
  const setting = settingOf(descriptor, field);
  return setting ? problemThrownBy(() => requireReadable(config, { [field]: setting })) : '';
}

export function checkNumber(typed: string, { min = -Infinity, max = Infinity, whole = false }): string {
  const number = typed === '' ? NaN : Number(typed);
  const isValid = number >= min && number <= max && (!whole || Number.isInteger(number));
  return isValid ? '' : text(`strip-account.invalid.${whole ? 'wholeNumber' : 'number'}`, { min, max });
}

/** `parse`: reads a setting in the same way as the runtime. Returns the sentence of the error that it throws; "" if the value is valid. */
export function problemThrownBy(parse: () => unknown): string {
  try {
    parse();
    return '';
  } catch (error) {
    if (isStripError(error)) return text(`errors.${error.sentenceKey}`, error.params);
    throw error;
  }
}

/** Keeps the message below a field up to date. In a config node that is not added yet, an empty field is no error until the user was in it. */
function watchField(descriptor: Descriptor, node: EditorNode, field: string): void {
  const input = fieldOf(node, field);
  const isRefused = refusalOf(descriptor, node, field) !== '';
  let touched = Boolean(RED.nodes.node(node.id));
  const check = () => {
    const value = String(input.val());
    touched ||= value !== '';
    const problem = touched ? problemWith(descriptor, node, field, value) : '';
    // It may be hidden because it is not used.
    if (problem !== '' && isRefused) showRow(field, true);
    showMessage(field, problem, descriptor.warnings?.[field]?.(value, node));
    const hint = descriptor.hints?.[field];
    if (hint) $(`#smart-strip-hint-${field}`).text(hint(value.trim()));
  };
  input.on('change keyup paste input', check).on('blur', () => {
    touched = true;
    check();
  });
  check();
}

/**
 * Adds the note that a node has no key, if the runtime has no credentials of the node at all. Without it, Node-RED 4.1 and 5.0 take the empty field for
 * a change, and fail when that is undone after a deploy.
 */
function noteMissingKey({ credentials }: EditorNode): void {
  if (credentials === undefined) return;
  // `_` holds what the runtime said.
  for (const told of [credentials, credentials._]) if (isRecord(told)) told.has_apiKey ??= false;
}

/** Shows each property as the runtime reads it; the default if the flow does not have it. A text that the runtime refuses is shown as it is. */
function fillDefaults(descriptor: Descriptor, node: EditorNode): void {
  for (const [field, setting] of Object.entries<Setting>(SETTINGS[descriptor.type])) {
    const input = fieldOf(node, field);
    const { kind } = setting;
    const stored = textOf(node, field);
    const isVariable = environmentVariable(stored) !== null;
    // Neither a number, nor a check mark, nor one of the choices.
    const isForeign = isVariable || (stored !== '' && refusalOf(descriptor, node, field) !== '');
    if ((kind === 'number' || kind === 'flag') && isForeign) input.attr('type', 'text').val(stored);
    if (kind === 'number' && stored === '') input.val(setting.default);
    if (kind === 'choice') input.val(choiceOf(node, field, setting));
    // The data `env` keeps Node-RED from offering to edit it. In a subflow, Node-RED itself lists the variables that it knows.
    const isOption = kind === 'choice' ? isForeign : kind === 'node' && isVariable;
    if (isOption && input.val() !== stored)
      input.append($(html('option', {}, stored)).data('env', stored)).val(stored);
    if (kind === 'flag' && !isForeign) input.prop('checked', flagOf(node, field, setting));
    // A field of one line loses line breaks, which hand-written JSONata may have. Node-RED's expression editor stores them as tabs.
    if (kind === 'text' || kind === 'typed')
      input.val(textOf(node, field, setting.default).replace(/\r?\n/g, '\t'));
    if (kind === 'typed') $(`#node-input-${field}Type`).val(textOf(node, `${field}Type`) || setting.types[0]);
    // Node-RED has replaced the row's control by its own list.
    if (kind === 'node') input.attr('aria-describedby', describedBy(field));
  }
}

/**
 * Turns a field, and its hidden type if it has one, into Node-RED's typedInput, with the types that its setting has. `own` describes the type that is
 * neither "message" nor one of Node-RED's. A field whose setting has no types has only the type `own`; without that, it is JSONata. Label, message and
 * hint are linked to the elements that can be typed into or chosen.
 */
export function typedField(node: EditorNode, field: string, own?: InputType) {
  const setting = settingOf(node, field);
  const names = setting?.kind === 'typed' ? setting.types : [own?.value ?? 'jsonata'];
  const fromMessage: InputType = {
    value: 'message',
    label: text('strip-account.type.message'),
    icon: 'fa fa-envelope-o',
    hasValue: false,
  };
  const types = names.map((name) => [fromMessage, own].find((type) => type?.value === name) ?? name);
  const input = fieldOf(node, field);
  const id = String(input.attr('id'));
  // A type that the runtime refuses stays until another one is chosen.
  const stored = $(`#${id}Type`).val();
  if (typeof stored === 'string' && !names.includes(stored)) types.push({ value: stored, label: stored });
  const label = `smart-strip-label-${field}`;
  input.typedInput({ default: names[0], types, typeField: `#${id}Type` });
  const container = input.next('.red-ui-typedInput-container').addClass('smart-strip-typed');
  const description = describedBy(field);
  const box = container
    .find('.red-ui-typedInput-input')
    .attr({ id: `${id}-typed`, 'aria-describedby': description })
    // The typedInput itself notices only the keyboard, not text that comes from a mouse or a phone.
    .on('input', () => input.val(input.typedInput('value')).trigger('input'));
  $(`#${label}`).attr('for', `${id}-typed`);
  const kind = container.find('.red-ui-typedInput-type-select');
  kind.attr({ id: `${id}-kind`, 'aria-labelledby': `${label} ${id}-kind`, 'aria-describedby': description });
  return {
    input,
    /** The element that is shown instead of the input. */
    container,
    /** The text field. */
    box,
    type: () => input.typedInput('type'),
    value: () => String(input.val()),
    set: (value: string) => void input.typedInput('value', value),
  };
}

/** Does the work of a button, unless it is already being done. The button is not `disabled` meanwhile: it would lose the keyboard focus. */
export async function whileBusy(button: HTMLElement, work: () => Promise<void>): Promise<void> {
  if (button.ariaDisabled === 'true') return;
  button.ariaDisabled = 'true';
  try {
    await work();
  } finally {
    button.ariaDisabled = null;
  }
}

/** Makes an editable list. `fill` draws a row from what was added to the list; if the add button was pressed, that is an empty object. */
export function editableRows(
  list: JQuery,
  options: { addButton: string; sortable: boolean; removeItem: () => void },
  fill: (row: JQuery, data: Config) => void,
): void {
  list.editableList({
    ...options,
    removeItem: () => {
      options.removeItem();
      // The focus went with the row.
      const [add] = list.closest('.red-ui-editableList').find('.red-ui-editableList-addButton');
      if (document.activeElement === document.body) add?.focus({ preventScroll: true });
    },
    removable: true,
    height: 'auto',
    addItem: (container, _, data) => {
      const row = $(html('div', { class: 'smart-strip-outlet-row' })).appendTo(container);
      fill(row, isRecord(data) ? data : {});
      // Node-RED makes it a link with only an icon.
      const remove = container.closest('li').find('.red-ui-editableList-item-remove');
      remove.attr({ role: 'button', 'aria-label': RED._('common.label.delete') });
      remove.on('keydown', (event) => {
        if (event.key !== ' ') return;
        event.preventDefault();
        remove.trigger('click');
      });
      if (isRecord(data) && Object.keys(data).length === 0) row.find('input').first().trigger('focus');
    },
  });
}

/** The rows of an editable list: what was added to the list, and what their fields hold. */
export const rowsOf = (list: JQuery) =>
  Array.from(list.editableList('items'), (item) => {
    const element = $(item);
    const data: unknown = element.data('data');
    const part = (name: string) => String(element.find(`[data-part=${name}]`).val() ?? '').trim();
    return { element, data: isRecord(data) ? data : {}, part };
  });

/** One of a few values to choose from. */
export interface Segment {
  value: string;
  label: string;
  /** Small text below the label: a sign and what it means. */
  state?: string;
}

/** A typedInput with a type whose value is one of a few radio buttons. Call `redraw` after `segments` have changed. */
export function segmentedField(
  node: EditorNode,
  field: string,
  own: Pick<InputType, 'value' | 'label'>,
  segments: () => readonly Segment[],
) {
  const addButtons = (container: JQuery) => {
    const radio = (value: string) => html('input', { type: 'radio', name: `smart-strip-${field}`, value });
    const labels = segments().map(({ value }) =>
      html('label', {}, radio(value), html('span', {}), html('small', {})),
    );
    const named = { 'aria-labelledby': `smart-strip-label-${field}`, 'aria-describedby': describedBy(field) };
    $(html('div', { class: 'smart-strip-segments', role: 'radiogroup', ...named }, ...labels))
      .on('change', (event) => typed.box.val(String($(event.target).val())).trigger('change'))
      .appendTo(container);
  };
  const draw = (container: JQuery, value: string) => {
    // Buttons that are there already stay: one of them may have the focus, or be about to be clicked.
    if (container.children().length === 0) addButtons(container);
    segments().forEach((segment, index) => {
      const { label, state = '' } = segment;
      const element = container.find('label').eq(index).attr('title', `${label} ${state}`.trim());
      element.children('input').prop('checked', segment.value === value);
      element.children('span').text(label);
      element.children('small').text(state);
    });
  };
  const typed = typedField(node, field, { ...own, hasValue: true, valueLabel: draw });
  const redraw = () => {
    if (typed.type() === own.value)
      draw(typed.container.find('.red-ui-typedInput-value-label'), typed.value());
  };
  return { ...typed, redraw };
}

/** The id of the config node that is chosen in a field, or the text that is typed there; "" if there is none. */
export function chosenIn(field: JQuery): string {
  const value = field.val();
  return typeof value === 'string' && value !== '_ADD_' ? value : '';
}

/** Chooses the account of a new node if there is only one, and shows a message while none is chosen. */
function watchAccount(node: EditorNode): void {
  const select = fieldOf(node, 'account');
  const options = Array.from(select.find('option'), (option) => chosenIn($(option)));
  const [only, ...others] = options.filter((id) => id !== '');
  if (!node.account && only !== undefined && others.length === 0) select.val(only).trigger('change');
  const check = () =>
    showMessage('account', chosenIn(select) === '' ? text('strip-account.invalid.account') : '');
  select.on('change', check);
  check();
}
