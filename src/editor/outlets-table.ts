import { macKey, PORTS, type Strip } from '../api/types';
import { readOutlets, textOf, type Config } from '../settings';
import { isRecord, ownProperty } from '../values';
import {
  describedBy,
  editableRows,
  isOpen,
  rowField,
  rowsOf,
  showHint,
  showMessage,
  type Check,
} from './form';
import { button, html, text, type EditorNode } from './red';
import { lookUp } from './strip-picker';
import { findOutlet, findStrip, outletOf, outletState, stateText, stripsOf } from './strips';

/** An outlet that has a name in the account, is protected, or both. */
interface OutletRow {
  mac: string;
  port: string;
  name: string;
  protected: boolean;
}

/** A table's row: an outlet, or something that cannot be read as one and is kept as it is. */
type TableRow = OutletRow | { unreadable: unknown };

/** How `protectedOutlets` and `outletNames` stand in a flow. */
interface StoredOutlets {
  protectedOutlets: unknown;
  outletNames: { mac: string; port: number; name: string }[];
}

/** One row for each outlet of the two lists. A whole strip, as a flow written by hand may have it, is a row for each of its outlets. */
export function tableRows(protectedOutlets: unknown, outletNames: unknown): TableRow[] {
  const rows: OutletRow[] = [];
  const rowOf = (mac: string, port: string): OutletRow => {
    const found = findOutlet(rows, mac, port);
    if (found) return found;
    const row = { mac, port, name: '', protected: false };
    rows.push(row);
    return row;
  };
  const listed = readOutlets(protectedOutlets);
  for (const { mac, port } of listed.outlets) rowOf(mac, String(port)).protected = true;
  for (const { mac, port, name } of readOutlets(outletNames).outlets) {
    if (name !== '') rowOf(mac, String(port)).name = name;
  }
  return [...rows, ...listed.unreadable.map((unreadable) => ({ unreadable }))];
}

/** The two lists again. A value that could not be read stays as it is, so that an outlet does not silently lose its protection. */
export function writeOutlets(rows: readonly TableRow[]): StoredOutlets {
  const outlets = rows.filter((row) => 'mac' in row).filter((row) => row.mac !== '');
  const unreadable = rows.filter((row) => 'unreadable' in row).map((row) => row.unreadable);
  const kept = outlets.filter((row) => row.protected).map(({ mac, port }) => ({ mac, port: Number(port) }));
  const [only] = unreadable;
  const untouched = kept.length === 0 && unreadable.length === 1 && !isRecord(only);
  return {
    protectedOutlets: untouched ? only : [...kept, ...unreadable],
    outletNames: outlets
      .filter((row) => row.name !== '')
      .map(({ mac, port, name }) => ({ mac, port: Number(port), name })),
  };
}

/** Strips with the names that are given in the account in place of the service's. */
export const nameOutlets = (strips: readonly Strip[], names: StoredOutlets['outletNames']): Strip[] =>
  strips.map((strip) => ({
    ...strip,
    outlets: strip.outlets.map((outlet) => {
      const given = findOutlet(names, strip.mac, outlet.port);
      return given ? { ...outlet, name: given.name } : outlet;
    }),
  }));

/** A list with something unreadable in it protects nothing: the runtime refuses it. */
export const checkProtected: Check = (value) =>
  readOutlets(value).unreadable.length > 0 ? text('strip-account.invalid.protected') : '';

/** Id of the list of known strips, which the fields for a MAC offer. */
const KNOWN = 'smart-strip-known';

/** The table of outlets in the account's dialog. Strips found by a test or by a node can be picked, and any other MAC typed. */
export function outletsTable(node: EditorNode) {
  const list = $('#smart-strip-outlets').on('change', () => checkRows());
  let strips = stripsOf(node.id);
  /** The outlets of the rows, by their keys: how many rows each has. */
  const counts = new Map<string, number>();
  const keyOf = (mac: string, port: string) => `${macKey(lookUp(strips, mac).strip?.mac ?? mac)}/${port}`;
  const checkRows = () => {
    counts.clear();
    for (const { part } of rowsOf(list)) {
      const key = keyOf(part('mac'), part('port'));
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    list.find('.smart-strip-outlet-row').trigger('smart-strip-refresh');
  };
  const isTwice = (mac: string, port: string) => mac.trim() !== '' && (counts.get(keyOf(mac, port)) ?? 0) > 1;
  const options = { addButton: text('strip-account.outlets.add'), sortable: false, removeItem: checkRows };
  editableRows(list, options, (row, data) => {
    if ('unreadable' in data) showUnreadable(row, data.unreadable);
    else showOutlet(row, data, () => strips, isTwice);
  });
  const addStrips = () => {
    const rows = rowsOf(list).map(readRow);
    const listed = rows.filter((row) => 'mac' in row);
    const found = strips.flatMap(({ mac, outlets }) =>
      outlets.filter(({ port }) => !findOutlet(listed, mac, port)).map(({ port }) => ({ mac, port })),
    );
    list.editableList('addItems', found);
    rowsOf(list)[rows.length]?.element.find('[data-part=name]').trigger('focus');
  };
  const small = 'red-ui-button red-ui-button-small smart-strip-add';
  const addFound = button(small, addStrips, text('strip-account.outlets.addFound'));
  list.closest('.red-ui-editableList').find('.red-ui-editableList-addButton').after(' ', addFound);

  const refresh = (found: readonly Strip[]) => {
    if (!isOpen(list)) return;
    strips = found;
    const offers = strips.map(({ mac, name }) => html('option', { value: mac, label: name ?? mac }));
    $(`#${KNOWN}`).empty().append(offers);
    addFound.disabled = strips.length === 0;
    showHint('outlets', strips.length === 0 ? 'strip-account.outlets.none' : '');
    checkRows();
  };
  list.editableList('addItems', tableRows(node.protectedOutlets, node.outletNames));
  refresh(strips);
  return {
    refresh,
    /** What is known of the account's strips while the dialog is open. */
    strips: () => strips,
    hasRows: () => rowsOf(list).length > 0,
    value: () => writeOutlets(rowsOf(list).map(readRow)),
  };
}

function readRow({ element, data, part }: ReturnType<typeof rowsOf>[number]): TableRow {
  if ('unreadable' in data) return { unreadable: data.unreadable };
  const isProtected = element.find('[data-part=protected]').prop('checked') === true;
  return { mac: part('mac'), port: part('port'), name: part('name'), protected: isProtected };
}

/** Only its removal changes it. */
function showUnreadable(row: JQuery, value: unknown): void {
  const fault = `✕ ${text('strip-account.invalid.protected')}`;
  row.append(html('code', {}, JSON.stringify(value)), html('div', { class: 'smart-strip-message' }, fault));
}

let lastLine = 0;

/** `outlet`: an `OutletRow`, or of a new row as much as is known. */
function showOutlet(
  row: JQuery,
  outlet: Config,
  known: () => readonly Strip[],
  isTwice: (mac: string, port: string) => boolean,
): void {
  const line = `outlet-${++lastLine}`;
  const field = (part: string, label: string) => rowField(row, part, label, textOf(outlet, part));
  const mac = field('mac', text('strip-account.outlets.strip'));
  mac.attr({ list: KNOWN, 'aria-describedby': describedBy(line) });
  const stripName = $('<span class="smart-strip-name">').appendTo(row);
  const port = $('<select data-part="port">')
    .attr('aria-label', text('strip-account.type.port'))
    .append(PORTS.map((value) => html('option', {}, String(value))))
    .val(textOf(outlet, 'port', '1'))
    .appendTo(row);
  const nameLabel = text('strip-account.outlets.name');
  const name = field('name', nameLabel);
  const box = html('input', { type: 'checkbox', 'data-part': 'protected' });
  box.checked = ownProperty(outlet, 'protected') === true;
  const message = { class: 'smart-strip-message', role: 'status', id: `smart-strip-message-${line}` };
  row.append(html('label', {}, box, text('strip-account.outlets.protected')), html('div', message));

  /** `typing`: a name that is still being typed is not wrong yet. */
  const describe = (typing = false) => {
    const typed = String(mac.val());
    const strip = findStrip(known(), typed);
    stripName.text(strip?.name ?? '').attr('title', strip?.name ?? '');
    name.attr('placeholder', outletOf(strip, String(port.val()))?.name ?? nameLabel);
    const state = outletState(strip, String(port.val()));
    port.attr('title', state === null ? '' : stateText(state));
    const { error = '', warning } = lookUp(known(), typed);
    const problem = typed.trim() === '' ? text('strip-account.invalid.rowStrip') : error;
    const twice = isTwice(typed, String(port.val())) ? text('strip-account.warning.outletTwice') : warning;
    showMessage(line, typing ? '' : problem, twice);
  };
  /** A name becomes the MAC of its strip as soon as the strips are known. */
  const resolve = () => {
    const { strip } = lookUp(known(), String(mac.val()));
    if (strip) mac.val(strip.mac);
    describe();
  };
  mac.on('input', () => describe(true)).on('blur', resolve);
  port.on('change', () => describe());
  row.on('smart-strip-refresh', resolve);
  resolve();
}
