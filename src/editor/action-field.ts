import { focusChosen, segments } from './segments';
import { text } from './text';
import type { InputType } from './red';
import { fromMessage, MESSAGE_TYPES, typedField, typeOf } from './typed-field';

const ACTIONS = ['on', 'off', 'toggle', 'cycle'] as const;

/** What to do with the outlet; tells of every change, and whether it may be a cycle. */
export function actionField(onChange: (mayCycle: boolean) => void): void {
  const action: InputType = {
    value: 'action',
    label: text('strip-account.type.action'),
    hasValue: true,
    valueLabel: (container, value) =>
      segments(container, {
        label: text('strip-account.action.choose'),
        value,
        segments: ACTIONS.map((word) => ({ value: word, label: text(`strip-account.action.${word}`) })),
        onPick: (picked) => {
          input.typedInput('value', picked);
          focusChosen(container);
        },
      }),
  };
  const input: JQuery = typedField('on', 'message', [fromMessage(), action, ...MESSAGE_TYPES]);
  const tell = () => onChange(typeOf(input) !== 'action' || input.val() === 'cycle');
  input.on('change', tell);
  tell();
}
