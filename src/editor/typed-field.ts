import type { InputType } from './red';
import { text } from './text';

/** What a message, the flow or the environment can give; the same for every field that takes one. */
export const MESSAGE_TYPES = ['msg', 'flow', 'global', 'env', 'jsonata'] as const;

/** The choice to read a field the way `msg.payload` and its neighbours carry it. */
export const fromMessage = (): InputType => ({
  value: 'message',
  label: text('strip-account.type.message'),
  icon: 'fa fa-envelope-o',
  hasValue: false,
});

/** Turns a field and its hidden type into Node-RED's typedInput, and ties its label to what can be typed into. */
export function typedField(field: string, fallbackType: string, types: (string | InputType)[]): JQuery {
  const id = `node-input-${field}`;
  const input = $(`#${id}`);
  const label = $(`label[for="${id}"]`);
  input.typedInput({ default: fallbackType, types, typeField: `#${id}Type` });
  const container = input.next('.red-ui-typedInput-container').addClass('smart-strip-typed');
  // The typedInput itself listens to the keyboard only, and not to what a mouse or a phone puts in.
  container
    .find('.red-ui-typedInput-input')
    .attr('id', `${id}-typed`)
    .on('input', () => input.val(input.typedInput('value')).trigger('input'));
  label.attr('for', `${id}-typed`);
  container.find('.red-ui-typedInput-type-select').attr({
    id: `${id}-kind`,
    'aria-label': text('strip-account.field.kind', { field: label.text().trim() }),
  });
  return input;
}

/** The type a typedInput shows now; its hidden field lags behind while it is being built. */
export const typeOf = (input: JQuery): string => input.typedInput('type');
