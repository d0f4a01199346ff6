import type { StripRow } from './answer';
import { loadStrips, stripsOf } from './strips';
import { countOn, findStrip, SIGNS } from './outlets';
import { text } from './text';
import { fromMessage, MESSAGE_TYPES, typedField, typeOf } from './typed-field';

/** The strip field of an open dialog. */
export interface StripField {
  /** The strip that is fixed there, if the service knows it. */
  chosen: () => StripRow | undefined;
  /** Shows the strips of another account; with `preselect` its only strip is chosen. */
  show: (account: string, preselect: boolean) => void;
}

/** A strip to type or to pick from the account's, or, unless `fixed`, to be found in the message. */
export function stripField(options: { fixed: boolean; onChange: () => void }): StripField {
  const strip = { value: 'str', label: text('strip-account.type.strip') };
  const types = options.fixed ? [strip, 'env'] : [fromMessage(), strip, ...MESSAGE_TYPES];
  const input = typedField('mac', options.fixed ? 'str' : 'message', types);
  const again = text('strip-account.picker.refresh');
  const refresh = $('<button type="button" class="red-ui-button red-ui-button-small">')
    .attr({ title: again, 'aria-label': again })
    .append('<i class="fa fa-refresh">');
  const note = $('<span role="status">');
  const group = $('<div role="group" class="smart-strip-choices">').attr(
    'aria-label',
    text('strip-account.picker.strips'),
  );
  const list = $('<div class="smart-strip-strips">')
    .append($('<div class="smart-strip-bar">').append(note, refresh), group)
    .insertAfter(input.next('.red-ui-typedInput-container'));
  const state = { account: '', note: '', turn: 0 };

  const fixed = () => typeOf(input) === 'str';
  const draw = () => {
    const focused = group.find(':focus').attr('data-mac');
    list.toggle(fixed());
    if (note.text() !== state.note) note.text(state.note);
    group.empty();
    const value = String(input.val());
    for (const row of stripsOf(state.account)) {
      stripButton(row, findStrip([row], value) !== undefined)
        .on('click', () => input.typedInput('value', row.mac))
        .appendTo(group);
    }
    if (focused !== undefined) group.find(`[data-mac="${$.escapeSelector(focused)}"]`).trigger('focus');
  };
  const load = async (preselect: boolean) => {
    const turn = ++state.turn;
    if (state.account === '') {
      state.note = text('strip-account.trouble.noAccount');
      draw();
      return;
    }
    state.note = text('strip-account.picker.asking');
    refresh.prop('disabled', true);
    draw();
    const answer = await loadStrips(state.account);
    if (turn !== state.turn) return; // another account was chosen meanwhile
    refresh.prop('disabled', false);
    if (!answer.ok)
      state.note = text('strip-account.picker.failed', { reason: text(answer.key, answer.params) });
    else state.note = text(`strip-account.picker.${answer.strips.length === 0 ? 'none' : 'strips'}`);
    const [only, ...others] = answer.ok ? answer.strips : [];
    if (preselect && only && others.length === 0 && input.val() === '') {
      input.typedInput('type', 'str').typedInput('value', only.mac);
    }
    draw();
    options.onChange();
  };

  refresh.on('click', () => void load(false));
  input.on('change input', () => {
    draw();
    options.onChange();
  });
  return {
    chosen: () => (fixed() ? findStrip(stripsOf(state.account), String(input.val())) : undefined),
    show: (account, preselect) => {
      state.account = account;
      void load(preselect);
    },
  };
}

function stripButton(strip: StripRow, chosen: boolean): JQuery {
  const button = $('<button type="button" class="smart-strip-strip">').attr({
    'aria-pressed': chosen ? 'true' : 'false',
    'data-mac': strip.mac,
  });
  const name = strip.name ?? strip.mac;
  $('<span class="smart-strip-name">').attr('title', name).text(name).appendTo(button);
  if (strip.name !== null) $('<code>').text(strip.mac).appendTo(button);
  $('<small>').text(summary(strip)).appendTo(button);
  return button;
}

function summary(strip: StripRow): string {
  if (!strip.available) return `${SIGNS.unavailable} ${text('strip-account.state.unavailable')}`;
  const count = countOn(strip);
  return count === null
    ? `${SIGNS.unknown} ${text('strip-account.state.unknown')}`
    : `${count.on > 0 ? SIGNS.on : SIGNS.off} ${text('strip-account.picker.count', count)}`;
}
