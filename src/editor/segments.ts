/** One of a few values to choose from. */
export interface Segment {
  value: string;
  label: string;
  /** A sign before the label, and what it stands for. */
  sign?: string;
  meaning?: string;
}

/**
 * Buttons of which exactly one is chosen, for a mouse as well as for the arrow keys (the pattern of a radio group). The
 * caller draws them anew when the value changes.
 */
export function segments(
  container: JQuery,
  options: { label: string; value: string; segments: readonly Segment[]; onPick: (value: string) => void },
): void {
  const values = options.segments.map((segment) => segment.value);
  const chosen = values.indexOf(options.value);
  const group = $('<div class="smart-strip-segments" role="radiogroup">').attr('aria-label', options.label);
  options.segments.forEach((segment, index) => {
    const button = $('<button type="button" role="radio">')
      .attr({
        'aria-checked': index === chosen ? 'true' : 'false',
        'data-value': segment.value,
        // One stop for the Tab key; the arrows move within.
        tabindex: index === Math.max(chosen, 0) ? 0 : -1,
      })
      .on('click', () => options.onPick(segment.value))
      .appendTo(group);
    $('<span>').text(segment.label).appendTo(button);
    if (segment.sign !== undefined && segment.meaning !== undefined) {
      button.attr('title', segment.meaning);
      $('<small>').text(`${segment.sign} ${segment.meaning}`).appendTo(button);
    }
  });
  group.on('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const next = values[(Math.max(chosen, 0) + step + values.length) % values.length];
    if (next !== undefined) options.onPick(next);
  });
  group.appendTo(container.empty());
}

/** Puts the keyboard back where it was after the buttons were drawn anew. */
export function focusChosen(container: JQuery): void {
  container.find('[aria-checked=true]').trigger('focus');
}
