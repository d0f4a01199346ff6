import { PORTS } from '../api/types';
import { textOf } from './fields';
import { explain } from './messages';
import type { EditorNode } from './red';
import { stripsOf } from './strips';
import { text } from './text';
import { findStrip, outletState, SIGNS } from './outlets';

export interface ProtectedList {
  /** As it stands in the flow file; rows without a strip are dropped. */
  value(): { mac: string; port: number }[];
  /** Offers the strips that are known by now. */
  refresh(): void;
}

const MACS = 'smart-strip-known-macs';

/** Rows of strip and outlet. Strips found by a test or by a node can be picked, any other MAC typed. */
export function protectedList(node: EditorNode): ProtectedList {
  const list = $('#smart-strip-protected');
  const offers = $('<datalist>').attr('id', MACS).insertAfter(list);
  const rows = () =>
    list
      .editableList('items')
      .toArray()
      .map((item) => $(item));
  const macOf = (row: JQuery) => String(row.find('.smart-strip-mac').val()).trim();

  const check = () =>
    explain(
      'protectedOutlets',
      rows().some((row) => macOf(row) === '') ? text('strip-account.invalid.protected') : '',
      'warning',
    );

  list.editableList({
    addButton: text('strip-account.protected.add'),
    removable: true,
    sortable: false,
    height: 'auto',
    addItem: (container, _, data) => {
      addRow(container, isRecord(data) ? data : {}, node.id);
      container.find('.smart-strip-mac').on('input change', check);
      check();
    },
    removeItem: check,
  });
  const stored = node.protectedOutlets;
  if (Array.isArray(stored)) {
    for (const entry of (stored as unknown[]).flatMap(outletsOf)) list.editableList('addItem', entry);
  }

  const refresh = () => {
    offers.empty();
    for (const strip of stripsOf(node.id)) {
      $('<option>')
        .attr({ value: strip.mac, label: strip.name ?? strip.mac })
        .appendTo(offers);
    }
    for (const row of rows()) row.trigger('smart-strip-refresh');
  };
  refresh();
  return {
    refresh,
    value: () =>
      rows()
        .map((row) => ({ mac: macOf(row), port: Number(row.find('select').val()) }))
        .filter(({ mac }) => mac !== ''),
  };
}

/** A whole strip, as a flow written by hand may have it, is a row for each of its outlets. */
function outletsOf(entry: unknown): unknown[] {
  return isRecord(entry) && entry.port === 'all' ? PORTS.map((port) => ({ ...entry, port })) : [entry];
}

function addRow(container: JQuery, entry: Record<string, unknown>, account: string): void {
  const row = $('<div class="smart-strip-protected-row">').appendTo(container);
  const mac = $('<input type="text" class="smart-strip-mac" spellcheck="false">')
    .attr({
      list: MACS,
      placeholder: text('strip-account.protected.mac'),
      'aria-label': text('strip-account.protected.mac'),
    })
    .val(textOf(entry, 'mac'))
    .appendTo(row);
  const port = $('<select>').attr('aria-label', text('strip-account.type.port')).appendTo(row);
  const name = $('<span class="smart-strip-name">').appendTo(row);
  const chosen = textOf(entry, 'port', '1');
  for (const value of PORTS) $('<option>').val(value).appendTo(port);
  port.val(chosen);

  const describe = () => {
    const strip = findStrip(stripsOf(account), String(mac.val()));
    name.text(strip?.name ?? '');
    port.find('option').each((_, option) => {
      const value = String($(option).val());
      const state = outletState(strip, value);
      const now = state === null ? '' : ` ${SIGNS[state]} ${text(`strip-account.state.${state}`)}`;
      $(option).text(text('strip-account.canvas.outlet', { port: value }) + now);
    });
  };
  mac.on('input change', describe);
  container.on('smart-strip-refresh', describe);
  describe();
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
