import { PORTS } from '../api/types';
import type { StripRow } from './answer';
import { outletState, SIGNS } from './outlets';
import type { InputType } from './red';
import { focusChosen, segments, type Segment } from './segments';
import { text } from './text';
import { fromMessage, MESSAGE_TYPES, typedField, typeOf } from './typed-field';

/** Choices of outlet; `whole` is what stands beside the four: all of a strip to switch, the strip to read, every one to watch. */
function choices(whole: { value: string; label: string }, strip: StripRow | undefined): Segment[] {
  const ports = PORTS.map((port): Segment => {
    const value = String(port);
    const state = outletState(strip, value);
    if (state === null) return { value, label: value };
    return { value, label: value, sign: SIGNS[state], meaning: text(`strip-account.state.${state}`) };
  });
  return whole.value === '' ? [whole, ...ports] : [...ports, whole];
}

const WHOLE = {
  switch: () => ({ value: 'all', label: text('strip-account.port.all') }),
  status: () => ({ value: '', label: text('strip-account.port.whole') }),
  watch: () => ({ value: '', label: text('strip-account.port.every') }),
};

/** Draws the field again with what is known of the chosen strip's outlets. */
type Redraw = () => void;

/** Outlet buttons that show what is on now, or an outlet found in the message. */
export function portField(node: 'switch' | 'status', chosen: () => StripRow | undefined): Redraw {
  const port: InputType = {
    value: 'port',
    label: text('strip-account.type.port'),
    hasValue: true,
    valueLabel: (container, value) =>
      segments(container, {
        label: text('strip-account.port.choose'),
        value,
        segments: choices(WHOLE[node](), chosen()),
        onPick: (picked) => {
          input.typedInput('value', picked);
          focusChosen(container);
        },
      }),
  };
  const fallback = node === 'switch' ? 'message' : 'port';
  const input: JQuery = typedField('port', fallback, [fromMessage(), port, ...MESSAGE_TYPES]);
  return () => {
    if (typeOf(input) !== 'port') return;
    const container = input.next('.red-ui-typedInput-container').find('.red-ui-typedInput-value-label');
    port.valueLabel?.(container, String(input.val()));
  };
}

/** The same buttons in place of a plain text field. */
export function plainPortField(chosen: () => StripRow | undefined): Redraw {
  const input = $('#node-input-port').hide();
  const container = $('<div class="smart-strip-plain">').insertAfter(input);
  const draw = () =>
    segments(container, {
      label: text('strip-account.port.choose'),
      value: String(input.val()),
      segments: choices(WHOLE.watch(), chosen()),
      onPick: (picked) => {
        input.val(picked).trigger('change');
        draw();
        focusChosen(container);
      },
    });
  draw();
  return draw;
}
