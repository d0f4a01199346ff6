import { SETTINGS, textOf, type Setting } from '../settings';
import { faultOf } from './checks';
import type { Descriptor, Fault } from './descriptor';
import { text, type EditorNode, type InputType } from './red';

/** Ids of the nodes whose dialogs are open; what is chosen there counts instead of what is stored. */
const opened = new Set<string>();

export const setOpen = (node: EditorNode, open: boolean) =>
  open ? opened.add(node.id) : opened.delete(node.id);

export const isOpen = (node: EditorNode): boolean => opened.has(node.id);

export const faultText = (fault: Fault): string =>
  'sentence' in fault ? fault.sentence : text(fault.key, fault.params);

/** The field that Node-RED fills in and reads. */
export const fieldOf = (node: EditorNode, field: string): JQuery =>
  $(`#node-${node._def.category === 'config' ? 'config-' : ''}input-${field}`);

export const showRow = (field: string, visible: boolean) => $(`#smart-strip-row-${field}`).toggle(visible);

/** Says below a field what it means at the moment. */
export const showHint = (field: string, sentence: string) => $(`#smart-strip-hint-${field}`).text(sentence);

/** Says below a field what is wrong with it; "" takes it back. Its control names the message in `aria-describedby`. */
export function showMessage(field: string, sentence: string, kind: 'error' | 'warning' = 'error'): void {
  const message = $(`#smart-strip-message-${field}`).toggleClass('smart-strip-warning', kind === 'warning');
  const shown = sentence === '' ? '' : `${kind === 'error' ? '✕' : '⚠'} ${sentence}`;
  // A screen reader speaks what changes, also where it changes to the same.
  if (message.text() !== shown) message.text(shown);
  const invalid = sentence !== '' && kind === 'error';
  $(`[aria-describedby~="smart-strip-message-${field}"]`).attr('aria-invalid', invalid ? 'true' : 'false');
}

const typedCheck = (value: string, type: string): true | string =>
  RED.utils.validateTypedProperty(value, type, {});

/** What is wrong with a property of a node, in the open dialog or as it is stored. */
export function faultIn(
  descriptor: Descriptor,
  node: EditorNode,
  field: string,
  value: unknown,
): Fault | null {
  const chosen = isOpen(node) ? $(`#node-input-${field}Type`).val() : undefined;
  const type = typeof chosen === 'string' && chosen !== '' ? chosen : undefined;
  return faultOf(
    descriptor,
    node,
    { field, value: value ?? undefined, type, open: isOpen(node) },
    typedCheck,
  );
}

/** Keeps the message below a field true while it is changed. In a config node that is still to be added, an empty field may wait to be filled in. */
export function watchField(descriptor: Descriptor, node: EditorNode, field: string): void {
  const input = fieldOf(node, field);
  let touched = Boolean(RED.nodes.node(node.id));
  const check = () => {
    touched ||= input.val() !== '';
    const fault = faultIn(descriptor, node, field, input.val());
    showMessage(field, fault !== null && touched ? faultText(fault) : '');
  };
  input.on('change keyup paste input', check).on('blur', () => {
    touched = true;
    check();
  });
  check();
}

/** Shows the default of every number that the flow does not have, and of every choice that it does not have or that is none. */
export function fillDefaults(descriptor: Descriptor, node: EditorNode): void {
  for (const [field, setting] of Object.entries<Setting>(SETTINGS[descriptor.type])) {
    const input = fieldOf(node, field);
    if (setting.kind === 'number' && textOf(node, field) === '') input.val(setting.default);
    if (setting.kind === 'choice' && !setting.choices.includes(String(input.val())))
      input.val(setting.choices[0]);
  }
}

/** Labels of the types that are ours. */
const fromMessage = (): InputType => ({
  value: 'message',
  label: text('strip-account.type.message'),
  icon: 'fa fa-envelope-o',
  hasValue: false,
});

/** A typedInput and what its parts are. */
export interface TypedField {
  readonly input: JQuery;
  /** What can be typed into. */
  readonly box: JQuery;
  type: () => string;
  value: () => string;
  set: (value: string, type?: string) => void;
}

/**
 * Turns a field and its hidden type into Node-RED's typedInput, with the types that its setting has; `own` describes those that are
 * neither "message" nor Node-RED's. Label, message and hint belong to whatever can be typed into or chosen.
 */
export function typedField(descriptor: Descriptor, field: string, own: InputType[]): TypedField {
  const settings: Readonly<Record<string, Setting>> = SETTINGS[descriptor.type];
  const setting = settings[field];
  const [first = 'message', ...others] = setting?.kind === 'typed' ? setting.types : [];
  const types = [first, ...others].map((type) =>
    type === 'message' ? fromMessage() : (own.find(({ value }) => value === type) ?? type),
  );
  const id = `node-input-${field}`;
  const label = `smart-strip-label-${field}`;
  const input = $(`#${id}`);
  input.typedInput({ default: first, types, typeField: `#${id}Type` });
  const container = input.next('.red-ui-typedInput-container').addClass('smart-strip-typed');
  const description = `smart-strip-message-${field} smart-strip-hint-${field}`;
  const box = container
    .find('.red-ui-typedInput-input')
    .attr({ id: `${id}-typed`, 'aria-describedby': description })
    // The typedInput itself listens to the keyboard only, and not to what a mouse or a phone puts in.
    .on('input', () => input.val(input.typedInput('value')).trigger('input'));
  $(`#${label}`).attr('for', `${id}-typed`);
  const kind = container.find('.red-ui-typedInput-type-select');
  kind.attr({ id: `${id}-kind`, 'aria-labelledby': `${label} ${id}-kind`, 'aria-describedby': description });
  return {
    input,
    box,
    type: () => input.typedInput('type'),
    value: () => String(input.val()),
    set: (value, type) => {
      if (type !== undefined) input.typedInput('type', type);
      input.typedInput('value', value);
    },
  };
}

/** Names the button that removes a line of an editable list: Node-RED gives it only a sign. */
export const nameRemoval = (line: JQuery) =>
  line
    .closest('li')
    .find('.red-ui-editableList-item-remove')
    .attr({ role: 'button', 'aria-label': RED._('common.label.delete') });

/** One of a few values to choose from. */
export interface Segment {
  value: string;
  label: string;
  /** Below the label, in small: a sign and what it stands for. */
  state?: string;
}

/**
 * Buttons of which exactly one is chosen, for a mouse as well as for the arrow keys (the pattern of a radio group). Buttons that are there
 * already are changed and not replaced: one of them may have the focus, or be about to be clicked.
 */
function drawSegments(
  container: JQuery,
  { field, value, segments }: { field: string; value: string; segments: readonly Segment[] },
  pick: (value: string) => void,
): void {
  const values = segments.map((segment) => segment.value);
  let group = container.children('.smart-strip-segments');
  if (group.length === 0) {
    group = newSegments(field, values, (picked) => {
      pick(picked);
      container.find('[aria-checked=true]').trigger('focus');
    }).appendTo(container.empty());
  }
  const chosen = values.indexOf(value);
  segments.forEach(({ label, state = '' }, index) => {
    const button = group.children().eq(index);
    button.attr({
      'aria-checked': index === chosen ? 'true' : 'false',
      title: `${label} ${state}`.trim(),
      // One stop for the Tab key; the arrows move within.
      tabindex: index === Math.max(chosen, 0) ? 0 : -1,
    });
    button.children('span').text(label);
    button
      .children('small')
      .text(state)
      .toggle(state !== '');
  });
}

function newSegments(field: string, values: readonly string[], pick: (value: string) => void): JQuery {
  const group = $('<div class="smart-strip-segments" role="radiogroup">').attr({
    'aria-labelledby': `smart-strip-label-${field}`,
    'aria-describedby': `smart-strip-message-${field} smart-strip-hint-${field}`,
  });
  for (const value of values) {
    $('<button type="button" role="radio"><span></span><small></small></button>')
      .attr('data-value', value)
      .on('click', () => pick(value))
      .appendTo(group);
  }
  return group.on('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const current = group.children('[aria-checked=true]').index();
    const next = values[(Math.max(current, 0) + step + values.length) % values.length];
    if (next !== undefined) pick(next);
  });
}

/** A typedInput with a type whose value is one of a few buttons; `redraw` after the buttons have changed. */
export function segmentedField(
  descriptor: Descriptor,
  field: string,
  type: string,
  segments: () => readonly Segment[],
): TypedField & { redraw: () => void } {
  const own: InputType = {
    value: type,
    label: text(`strip-account.type.${type}`),
    hasValue: true,
    valueLabel: (container, value) =>
      drawSegments(container, { field, value, segments: segments() }, (picked) => typed.set(picked)),
  };
  const typed: TypedField = typedField(descriptor, field, [own]);
  return {
    ...typed,
    redraw: () => {
      if (typed.type() !== type) return;
      const container = typed.input
        .next('.red-ui-typedInput-container')
        .find('.red-ui-typedInput-value-label');
      own.valueLabel?.(container, typed.value());
    },
  };
}

/** The same buttons in place of a plain text field. */
export function plainSegments(field: string, segments: () => readonly Segment[]): { redraw: () => void } {
  const input = $(`#node-input-${field}`).hide();
  $(`#smart-strip-label-${field}`).removeAttr('for');
  const container = $('<div class="smart-strip-plain">').insertAfter(input);
  const redraw = () =>
    drawSegments(container, { field, value: String(input.val()), segments: segments() }, (picked) => {
      input.val(picked).trigger('change');
      redraw();
    });
  redraw();
  return { redraw };
}

/**
 * Chooses the account of a new node where there is just one to choose, and calls back with the chosen one, now and at each change.
 * `isNew`: the node never had one.
 */
export function followAccount(node: EditorNode, follow: (account: string, isNew: boolean) => void): void {
  const select = $('#node-input-account').attr(
    'aria-describedby',
    'smart-strip-message-account smart-strip-hint-account',
  );
  const isNew = !node.account;
  const chosen = () => {
    const value = select.val();
    return typeof value === 'string' && value !== '_ADD_' ? value : '';
  };
  if (isNew && chosen() === '') {
    const accounts = select
      .find('option')
      .map((_, option) => $(option).val())
      .get()
      .filter((value) => typeof value === 'string' && value !== '' && value !== '_ADD_');
    const [only, ...others] = accounts;
    if (only !== undefined && others.length === 0) select.val(only).trigger('change');
  }
  const tell = () => {
    showMessage('account', chosen() === '' ? text('strip-account.invalid.account') : '');
    follow(chosen(), isNew);
  };
  select.on('change', tell);
  tell();
}
