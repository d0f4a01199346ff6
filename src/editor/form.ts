import { isStripError } from '../api/errors';
import {
  choiceOf,
  EVALUATED,
  flagOf,
  isDecimal,
  requireReadable,
  SETTINGS,
  textOf,
  typeOf,
  type Config,
  type Setting,
} from '../settings';
import { environmentVariable, isRecord, ownProperty } from '../values';
import { block, html, text, type EditorNode, type InputType } from './red';

/**
 * What the editor has to know about one node type. Adding a node means a file in `src/editor/nodes` that exports a descriptor, and a line for it in
 * `descriptors.ts`. Kinds, defaults and bounds of its properties are in `src/settings.ts`, the rows of its dialog in `nodes/<name>.html`.
 */
export interface Descriptor {
  /** Checks by property, besides the kind and the bounds that its setting has; credentials are checked here too. */
  readonly checks?: Readonly<Record<string, Check>>;
  /** Properties that are not always used, and when they are. While one is not, the dialog hides it and nothing is checked. */
  readonly usedIf?: Readonly<Record<string, (node: Config) => boolean>>;
  /** Warnings about values that are valid, by property; "": none. */
  readonly warnings?: Readonly<Record<string, (value: string, dialog: Dialog) => string>>;
  /** Hints that depend on what is chosen, by property; the others are in the html. */
  readonly hints?: Readonly<Record<string, (node: Config) => string>>;
  /** The label of a node without a name of its own; empty parts for the name of its type. */
  label?(node: Config): LabelParts;
  /** Prepares what only the dialog of this type has. */
  open?(dialog: Dialog): void;
}

/** Returns what is wrong with a value, in words; "": nothing. `node`: in an open dialog as it would be saved now. */
export type Check = (value: unknown, node: Config) => string;

/** Parts of a label that says what a node does: "Desk: Lamp, toggle". */
export interface LabelParts {
  strip: string;
  outlet?: string;
  action?: string;
}

/** The dialogs that are open, by the ids of their nodes. */
const openDialogs = new Map<string, Dialog>();

/** The dialog of a node, if it is open and not covered by another one. */
export function shownDialog(node: Config): Dialog | undefined {
  const dialog = openDialogs.get(textOf(node, 'id'));
  return dialog?.form[0]?.isConnected === true ? dialog : undefined;
}

/**
 * An open dialog, whose fields Node-RED has filled in. They are looked for only in its form: Node-RED takes it off the page while another dialog, which
 * may have fields with the same ids, covers it.
 */
export class Dialog {
  readonly #prefix: string;
  readonly form: JQuery;
  /** By field: reads the value for the flow, where the field shows it in another form. */
  readonly readers: Record<string, () => string> = {};
  /** Puts into the node what Node-RED cannot read from the dialog by itself. */
  save: () => void = () => undefined;

  constructor(
    readonly descriptor: Descriptor,
    readonly node: EditorNode,
  ) {
    this.#prefix = `node-${node._def.category === 'config' ? 'config-' : ''}input-`;
    this.form = $(`#${this.#prefix}name`).closest('form');
    openDialogs.set(node.id, this);
  }

  get isOpen(): boolean {
    return openDialogs.get(this.node.id) === this;
  }

  find(selector: string): JQuery {
    return this.form.find(selector);
  }

  /** The field that Node-RED fills in and reads. */
  field(name: string): JQuery {
    return this.find(`#${this.#prefix}${name}`);
  }

  /** What is typed or chosen in a field: of a config node, its id. "": nothing is. */
  value(name: string): string {
    const read = this.readers[name];
    if (read) return read();
    const value = this.field(name).val();
    return typeof value === 'string' && value !== '_ADD_' ? value : '';
  }

  /** The node as it would be saved now. */
  values(): Config {
    const values: Record<string, unknown> = { ...this.node };
    for (const [name, { kind }] of Object.entries(settingsOf(this.node))) {
      if (kind !== 'data')
        values[name] = kind === 'flag' ? this.field(name).prop('checked') : this.value(name);
      if (kind === 'typed') values[`${name}Type`] = this.value(`${name}Type`);
    }
    return values;
  }

  /** What is wrong with a value of a field; "": nothing. */
  problem(field: string, value: unknown = this.value(field)): string {
    return problemWith(this.descriptor, this.node, field, value);
  }

  showRow(field: string, visible: boolean): void {
    this.find(`#smart-strip-row-${field}`).toggle(visible);
  }

  /** Shows the hint below a field; "" removes it. */
  showHint(field: string, sentence: string): void {
    this.find(`#smart-strip-hint-${field}`).text(sentence);
  }

  /** Shows the hints that depend on what is chosen. */
  showHints(): void {
    for (const [field, hint] of Object.entries(this.descriptor.hints ?? {}))
      this.showHint(field, hint(this.values()));
  }

  /** Shows below a field what is wrong with it, else the warning; "" for nothing. Its control names the message in `aria-describedby`. */
  showMessage(field: string, error: string, warning = ''): void {
    const invalid = error !== '';
    const message = this.find(`#smart-strip-message-${field}`).toggleClass('smart-strip-warning', !invalid);
    const shown = invalid ? `✕ ${error}` : warning === '' ? '' : `⚠ ${warning}`;
    // Not set again if it is the same: a screen reader would read it out once more.
    if (message.text() !== shown) message.text(shown);
    // Only in the row of the message: with thousands of rows, a search of the whole page for each of them takes seconds.
    const control = `[aria-describedby~="smart-strip-message-${field}"]`;
    message.parent().find(control).addBack(control).attr('aria-invalid', String(invalid));
  }
}

/** Whether a property of a node is used. */
export const isUsed = (descriptor: Descriptor | undefined, node: Config, field: string): boolean =>
  descriptor?.usedIf?.[field]?.(node) !== false;

/** Prepares a dialog. */
export function openDialog(descriptor: Descriptor, node: EditorNode): void {
  const dialog = new Dialog(descriptor, node);
  noteMissingKey(node);
  fillDefaults(dialog);
  preselectAccount(dialog);
  descriptor.open?.(dialog);
  for (const field of Object.keys({ ...settingsOf(node), ...descriptor.checks })) {
    const kind = settingsOf(node)[field]?.kind;
    // Lists have messages of their own, a check box cannot be wrong, and the picker says itself what is wrong with a strip.
    const isUnwatched = kind === 'data' || kind === 'flag' || field === 'mac';
    if (!isUnwatched) watchField(dialog, field);
  }
  showUsedRows(dialog);
  dialog.showHints();
  dialog.form.on('change', () => showUsedRows(dialog)).on('change input', () => dialog.showHints());
  // A row with something to correct must not stay folded away.
  dialog.find('.smart-strip-section:has([aria-invalid=true])').attr('open', '');
}

/** Shows the rows of the properties that are used now, and checks these properties again. */
function showUsedRows(dialog: Dialog): void {
  const { descriptor } = dialog;
  for (const field of Object.keys(descriptor.usedIf ?? {})) {
    // The runtime refuses some values even where it does not use them.
    dialog.showRow(field, isUsed(descriptor, dialog.values(), field) || dialog.problem(field) !== '');
    dialog.field(field).triggerHandler('change');
  }
}

/** Called when Node-RED closes a dialog. Returns it, if it was open. */
export function closeDialog(node: EditorNode): Dialog | undefined {
  const dialog = openDialogs.get(node.id);
  openDialogs.delete(node.id);
  return dialog;
}

/** The settings of a node's properties in `src/settings.ts`. Credentials and nodes of other packages have none. */
export function settingsOf({ type }: Config): Readonly<Record<string, Setting>> {
  const settings: Readonly<Record<string, Readonly<Record<string, Setting>>>> = SETTINGS;
  return settings[String(type)] ?? {};
}

/** The type that is chosen for a typed property; for others, the kind of its setting. */
export function kindOf(node: Config, field: string): string | undefined {
  const setting = settingsOf(node)[field];
  return setting?.kind === 'typed' ? typeOf(node, field, setting) : setting?.kind;
}

/** Ids for the `aria-describedby` of a field's control. */
export const describedBy = (field: string): string =>
  `smart-strip-message-${field} smart-strip-hint-${field}`;

/**
 * What is wrong with a property; "" if nothing is. A text that is exactly `${NAME}` is not checked, because only the runtime knows the variables. A
 * property that a flow does not have takes its default.
 */
export function problemWith(descriptor: Descriptor | undefined, node: Config, field: string, value: unknown) {
  const setting = settingsOf(node)[field];
  const given = value ?? ownProperty(setting, 'default');
  if (given === undefined) return '';
  const now: Config = { ...node, ...shownDialog(node)?.values(), [field]: given };
  const typed = textOf(now, field);
  if ([typed, textOf(now, `${field}Type`)].some((text) => environmentVariable(text) !== null)) return '';
  const refusal = refusalOf(now, field);
  // The runtime refuses what it cannot read even where it does not use it.
  if (!isUsed(descriptor, now, field)) return refusal;
  // For a number, the sentence further down names the bounds.
  if (refusal !== '' && setting?.kind !== 'number') return refusal;
  const kind = kindOf(now, field);
  if (kind === 'message') return '';
  if (setting?.kind === 'node')
    return setting.required && typed === '' ? text('strip-account.invalid.account') : '';
  if (kind === 'env') return typed === '' ? text('strip-account.invalid.expression') : '';
  const expression = EVALUATED.find((type) => type === kind);
  if (expression) return problemByNodeRed(typed, expression);
  if (setting?.kind === 'typed' && kind === 'num') return checkNumber(isDecimal(typed) ? typed : '', setting);
  const check = descriptor?.checks?.[field];
  if (check) return check(kind === 'data' ? given : typed, now);
  return setting?.kind === 'number' ? checkNumber(typed, setting) : '';
}

/** What Node-RED finds wrong with a value of one of its types; "": nothing. */
export function problemByNodeRed(value: string, type: string): string {
  const verdict = RED.utils.validateTypedProperty(value, type, {});
  return verdict === true ? '' : verdict;
}

/** Why the runtime refuses a property, or the type of a typed one, as `config` has it; "": it does not. */
function refusalOf(config: Config, field: string): string {
  const setting = settingsOf(config)[field];
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
function watchField(dialog: Dialog, field: string): void {
  const { descriptor, node } = dialog;
  let touched = Boolean(RED.nodes.node(node.id));
  const check = () => {
    const value = dialog.value(field);
    touched ||= value !== '';
    const problem = touched ? dialog.problem(field) : '';
    dialog.showMessage(field, problem, descriptor.warnings?.[field]?.(value, dialog));
  };
  const leave = () => {
    touched = true;
    check();
  };
  dialog.field(field).on('change input', check).on('blur', leave);
  check();
}

/**
 * Notes in the node that it has no key, if the runtime has no credentials of it at all. Without this note, Node-RED 4.1 and 5.0 take the empty field
 * for a change, and fail when the user undoes this change after a deploy.
 */
function noteMissingKey({ credentials }: EditorNode): void {
  // `_` holds what the runtime said.
  for (const told of [credentials, credentials?._]) if (isRecord(told)) told.has_apiKey ??= false;
}

/** Shows each property as the runtime reads it; the default if the flow does not have it. A text that the runtime refuses is shown as it is. */
function fillDefaults(dialog: Dialog): void {
  const { node } = dialog;
  for (const [field, setting] of Object.entries(settingsOf(node))) {
    const input = dialog.field(field);
    const { kind } = setting;
    const stored = textOf(node, field);
    const isForeign =
      environmentVariable(stored) !== null || (stored !== '' && refusalOf(node, field) !== '');
    // Node-RED has replaced the row's control by its own list.
    if (kind === 'node') input.attr('aria-describedby', describedBy(field));
    if (kind === 'typed') dialog.field(`${field}Type`).val(textOf(node, `${field}Type`) || setting.types[0]);
    // A field of one line loses line breaks, which hand-written JSONata may have. Node-RED's expression editor stores them as tabs.
    if (kind === 'text' || kind === 'typed')
      input.val(textOf(node, field, setting.default).replace(/\r?\n/g, '\t'));
    else if (isForeign) showForeign(input, stored);
    // A number field stays empty if it gets a text such as " 8 " or "0x10", which the runtime reads.
    else if (kind === 'number') input.val(stored === '' ? setting.default : Number(stored));
    else if (kind === 'flag') input.prop('checked', flagOf(node, field, setting));
    else if (kind === 'choice') input.val(choiceOf(node, field, setting));
  }
}

/** Shows a text that a list, a number field or a check box cannot have: as an option of the list, or in a text field in place of the other two. */
function showForeign(input: JQuery, stored: string): void {
  if (!input.is('select')) input.attr('type', 'text').val(stored);
  // In a subflow, Node-RED itself lists the variables that it knows. The data `env` keeps it from offering to edit this one.
  else if (input.val() !== stored)
    input.append($(html('option', {}, stored)).data('env', stored)).val(stored);
}

/**
 * Turns a field, and its hidden type if it has one, into Node-RED's typedInput, with the types that its setting has. `own` describes the type that is
 * neither "message" nor one of Node-RED's. A field whose setting has no types has only the type `own`; without that, it is JSONata. Label, message and
 * hint are linked to the elements that can be typed into or chosen. Returns the element that is shown instead of the field, and the text field in it.
 */
export function typedField(dialog: Dialog, field: string, own?: InputType) {
  const setting = settingsOf(dialog.node)[field];
  const names = setting?.kind === 'typed' ? setting.types : [own?.value ?? 'jsonata'];
  const fromMessage: InputType = {
    value: 'message',
    label: text('strip-account.type.message'),
    icon: 'fa fa-envelope-o',
    hasValue: false,
  };
  const types = names.map((name) => [fromMessage, own].find((type) => type?.value === name) ?? name);
  const input = dialog.field(field);
  const id = String(input.attr('id'));
  // A type that the runtime refuses stays until another one is chosen.
  const stored = dialog.value(`${field}Type`);
  if (stored !== '' && !names.includes(stored)) types.push({ value: stored, label: stored });
  const label = `smart-strip-label-${field}`;
  input.typedInput({ default: names[0], types, typeField: `#${id}Type` });
  const container = input.next('.red-ui-typedInput-container').addClass('smart-strip-typed');
  const description = describedBy(field);
  const box = container
    .find('.red-ui-typedInput-input')
    .attr({ id: `${id}-typed`, 'aria-describedby': description })
    // The typedInput itself notices only the keyboard, not text that comes from a mouse or a phone.
    .on('input', () => input.val(input.typedInput('value')).trigger('input'));
  dialog.find(`#${label}`).attr('for', `${id}-typed`);
  container
    .find('.red-ui-typedInput-type-select')
    .attr({ id: `${id}-kind`, 'aria-labelledby': `${label} ${id}-kind`, 'aria-describedby': description });
  return { container, box };
}

/** The hint for the chosen type of a property. `keys`: of the catalogue, by type; `other`: the key for all other types. "": no hint. */
export function hintByType(node: Config, field: string, keys: Record<string, string>, other: string): string {
  const key = keys[textOf(node, `${field}Type`)] ?? other;
  return key === '' ? '' : text(key);
}

/** A field in a row of an editable list. */
export const fieldIn = (row: JQuery, name: string): JQuery => row.find(`[data-part=${name}]`);

/**
 * Makes an editable list, whose rows are copies of the hidden one beside it. `fill` fills in a row from what was added to the list; if the add button
 * was pressed, that is an empty object. Returns this button.
 */
export function editableRows(
  list: JQuery,
  options: { addButton: string; sortable: boolean; removeItem: () => void },
  fill: (row: JQuery, data: Config) => void,
): JQuery {
  const parts = list.siblings('[hidden]').children();
  list.editableList({
    ...options,
    removeItem: () => {
      options.removeItem();
      // The focus went with the row.
      if (document.activeElement === document.body) add[0]?.focus({ preventScroll: true });
    },
    removable: true,
    height: 'auto',
    addItem: (container, _, data) => {
      const row = $(block('outlet-row')).append(parts.clone()).appendTo(container);
      const given = isRecord(data) ? data : {};
      fill(row, given);
      // Node-RED makes it a link with only an icon.
      const remove = container.closest('li').find('.red-ui-editableList-item-remove');
      remove.attr({ role: 'button', 'aria-label': RED._('common.label.delete') }).on('keydown', (event) => {
        if (event.key !== ' ') return;
        event.preventDefault();
        remove.trigger('click');
      });
      if (Object.keys(given).length === 0) row.find('input').first().trigger('focus');
    },
  });
  const add = list.closest('.red-ui-editableList').find('.red-ui-editableList-addButton');
  return add;
}

/** The rows of an editable list: what was added to the list, and what their fields hold. */
export const rowsOf = (list: JQuery) =>
  Array.from(list.editableList('items'), (item) => {
    const row = $(item);
    const data: unknown = row.data('data');
    const part = (name: string) => String(fieldIn(row, name).val() ?? '').trim();
    return { row, data: isRecord(data) ? data : {}, part };
  });

/** One of a few values to choose from. */
export interface Segment {
  value: string;
  label: string;
  /** Small text below the label: a sign and what it means. */
  state?: string;
}

/** Makes a typedInput with a type whose value is one of a few radio buttons. Call what it returns when `segments` have changed. */
export function segmentedField(
  dialog: Dialog,
  field: string,
  own: Pick<InputType, 'value' | 'label'>,
  segments: () => readonly Segment[],
) {
  const variable = dialog.value(field);
  // A variable that the flow has in place of them is one more.
  const others = environmentVariable(variable) === null ? [] : [{ value: variable, label: variable }];
  const shown = (): readonly Segment[] => [...segments(), ...others];
  const addButtons = (container: JQuery) => {
    const radio = (value: string) => html('input', { type: 'radio', name: `smart-strip-${field}`, value });
    const labels = shown().map(({ value }) =>
      html('label', {}, radio(value), html('span', {}), html('small', {})),
    );
    const named = { 'aria-labelledby': `smart-strip-label-${field}`, 'aria-describedby': describedBy(field) };
    $(html('div', { class: 'smart-strip-segments', role: 'radiogroup', ...named }, ...labels))
      .on('change', (event) => box.val(String($(event.target).val())).trigger('change'))
      .appendTo(container);
  };
  const draw = (container: JQuery, value: string) => {
    // Buttons that are there already stay: one of them may have the focus, or be about to be clicked.
    if (container.children().length === 0) addButtons(container);
    shown().forEach((segment, index) => {
      const { label, state = '' } = segment;
      const element = container.find('label').eq(index).attr('title', `${label} ${state}`.trim());
      element.children('input').prop('checked', segment.value === value);
      element.children('span').text(label);
      element.children('small').text(state);
    });
  };
  const { container, box } = typedField(dialog, field, { ...own, valueLabel: draw });
  return () => {
    if (dialog.field(field).typedInput('type') === own.value)
      draw(container.find('.red-ui-typedInput-value-label'), dialog.value(field));
  };
}

/** Chooses the account of a new node if there is only one. */
function preselectAccount(dialog: Dialog): void {
  const select = dialog.field('account');
  const [only, ...others] = select.find<HTMLOptionElement>('option:not([value=""], [value=_ADD_])');
  if (!dialog.node.account && only && others.length === 0) select.val(only.value).trigger('change');
}
