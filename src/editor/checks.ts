import { textOf } from './fields';
import { explain, sentenceOf } from './messages';
import type { EditorNode } from './red';
import { faultOf, type Fault } from './validate';

/** What Node-RED's own validators say of an expression. */
const typed = (value: string, type: string): true | string =>
  RED.utils.validateTypedProperty(value, type, {});

/** Which type of value stands for an old flow that names none. */
const TYPE_FALLBACKS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'strip switch': { mac: 'message', port: 'message', on: 'message', delay: 'num' },
  'strip status': { mac: 'message', port: 'port' },
  'strip watch': { mac: 'str' },
};

/** Id of the node whose dialog is open; its unsaved types count instead of its stored ones. */
let edited: string | null = null;

export function beginEdit(node: EditorNode): void {
  edited = node.id;
}

/** As Node-RED asks of a validator: `true`, or what is wrong, in words. */
export function validate(node: EditorNode, field: string, value: unknown): true | string {
  const fault = faultIn(node, field, value);
  return fault === null ? true : sentenceOf(fault);
}

/** Keeps the words below a field of the open dialog true while it is being changed. Nothing is said of what nobody touched yet. */
export function watchField(node: EditorNode, field: string, input: JQuery): void {
  let touched = String(input.val()) !== '';
  const check = () => {
    const fault = faultIn(node, field, input.val());
    explain(field, fault !== null && touched ? sentenceOf(fault) : '');
  };
  input.on('change keyup paste input', () => {
    touched = true;
    check();
  });
  check();
}

function faultIn(node: EditorNode, field: string, value: unknown): Fault | null {
  const fallback = TYPE_FALLBACKS[node.type]?.[field];
  let type = '';
  if (fallback !== undefined) {
    const chosen = edited === node.id ? $(`#node-input-${field}Type`).val() : undefined;
    type = typeof chosen === 'string' && chosen !== '' ? chosen : textOf(node, `${field}Type`) || fallback;
  }
  return faultOf({ node: node.type, field, value: value ?? undefined, type }, typed);
}
