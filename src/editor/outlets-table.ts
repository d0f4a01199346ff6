import { macKey, sameMac, type Strip } from '../api/types';
import { readOutlets, textOf, type Config } from '../settings';
import { ownProperty } from '../values';
import { describedBy, editableRows, fieldIn, rowsOf, type Check, type Dialog } from './form';
import { button, html, mayTest, text } from './red';
import { checkStrip, lookUp } from './strip-picker';
import { outletKey, outletOf, outletState, stripsOf } from './strips';

/** An outlet that has a name in the account, is protected, or both. Of a hand-written one, strip and outlet may be missing or impossible. */
interface OutletRow {
  mac: string;
  port: string;
  name: string;
  protected: boolean;
}

/** The entries of one of the two lists. What cannot be read is an entry, too, so that it can be corrected. */
function entriesOf(list: unknown) {
  const { outlets, unreadable } = readOutlets(list);
  const others = unreadable.map((entry) => {
    const mac = textOf(entry, 'mac', typeof entry === 'string' ? entry : '');
    return { mac, port: textOf(entry, 'port'), name: textOf(entry, 'name') };
  });
  return [...outlets, ...others];
}

/**
 * One row for each outlet of the two lists, in the order of both. A whole strip, which a hand-written flow may have, becomes a row for each of its
 * outlets.
 */
export function tableRows(protectedOutlets: unknown, outletNames: unknown): OutletRow[] {
  const rows: OutletRow[] = [];
  /** Where the next outlet of a list goes, if it has no row yet: behind the one before it. */
  let place = 0;
  const byOutlet = new Map<string, OutletRow>();
  const rowOf = (mac: string, port: string): OutletRow => {
    const key = outletKey({ mac, port });
    const row = byOutlet.get(key) ?? { mac, port, name: '', protected: false };
    if (!byOutlet.has(key)) rows.splice(place, 0, row);
    byOutlet.set(key, row);
    place = rows.indexOf(row) + 1;
    return row;
  };
  for (const { mac, port } of entriesOf(protectedOutlets)) rowOf(mac, String(port)).protected = true;
  place = 0;
  for (const { mac, port, name } of entriesOf(outletNames)) {
    if (name !== '') rowOf(mac, String(port)).name = name;
  }
  return rows;
}

/** The two lists for the flow. A row with something wrong stays: the runtime refuses an account that is to protect an outlet it cannot read. */
export const writeOutlets = (rows: readonly OutletRow[]) => ({
  protectedOutlets: rows.filter((row) => row.protected).map(({ mac, port }) => ({ mac, port: Number(port) })),
  outletNames: rows
    .filter(({ name }) => name !== '')
    .map(({ mac, port, name }) => ({ mac, port: Number(port), name })),
});

/** A list with something unreadable in it protects nothing: the runtime refuses it. An outlet of no known strip is not protected either. */
export const checkProtected: Check = (value, { id }) => {
  const { outlets, unreadable } = readOutlets(value);
  if (unreadable.length > 0) return text('errors.NOT_CONFIGURED.protected');
  return outlets.map(({ mac }) => checkStrip(mac, { account: id })).find(Boolean) ?? '';
};

/** The table of outlets in the account's dialog. Strips found by a test or by a node can be picked, and any other MAC typed. */
export class OutletsTable {
  /** The strips of the account that are known while the dialog is open. */
  strips: readonly Strip[] = [];
  readonly #list: JQuery;
  readonly #addFound = button(
    'red-ui-button red-ui-button-small smart-strip-add',
    () => this.#addStrips(),
    text('strip-account.outlets.addFound'),
  );

  constructor(private readonly dialog: Dialog) {
    const { node } = dialog;
    const check = () => this.#check();
    this.#list = dialog
      .find('#smart-strip-outlets')
      .on('input', ({ target }) => this.#check(target))
      .on('change focusin focusout', check);
    const addButton = text('strip-account.outlets.add');
    const add = editableRows(this.#list, { addButton, sortable: false, removeItem: check }, fillRow);
    add.after(' ', this.#addFound);
    this.#list.editableList('addItems', tableRows(node.protectedOutlets, node.outletNames));
    this.refresh(stripsOf(node.id));
  }

  /** Shows other strips. */
  refresh(strips: readonly Strip[]): void {
    this.strips = strips;
    const offers = strips.map(({ mac, name }) => html('option', { value: mac, label: name ?? mac }));
    this.dialog.find('#smart-strip-known').empty().append(offers);
    this.#addFound.disabled = strips.length === 0;
    const hint = strips.length === 0 && mayTest() ? text('strip-account.outlets.none') : '';
    this.dialog.showHint('outlets', hint);
    this.#check();
  }

  rows(): OutletRow[] {
    return rowsOf(this.#list).map(readRow);
  }

  /** Adds a row for each outlet of the strips that has none. */
  #addStrips(): void {
    const rows = this.rows().map(outletKey);
    const found = this.strips.flatMap(({ mac, outlets }) => outlets.map(({ port }) => ({ mac, port })));
    const added = found.filter((outlet) => !rows.includes(outletKey(outlet)));
    this.#list.editableList('addItems', added);
    this.#check();
    fieldIn(this.#list.children().eq(rows.length), 'name').trigger('focus');
  }

  /** Shows what is known of the outlet in each row, and what is wrong with it. In the field `typing`, a name may be incomplete. */
  #check(typing?: EventTarget): void {
    // To search all strips for each of thousands of rows takes seconds.
    const byMac = new Map(this.strips.map((strip) => [macKey(strip.mac), strip]));
    const items = rowsOf(this.#list).map((item) => {
      const mac = fieldIn(item.row, 'mac');
      const isTyping = mac[0] === typing;
      const match = lookUp(this.strips, item.part('mac'), (typed) => byMac.get(macKey(typed)));
      // A name becomes the MAC of its strip as soon as the strips are known.
      if (match.strip && !isTyping && !sameMac(match.strip.mac, item.part('mac'))) mac.val(match.strip.mac);
      const key = outletKey({ mac: match.strip?.mac ?? item.part('mac'), port: item.part('port') });
      return { ...match, row: item.row, isTyping, outlet: readRow(item), key };
    });
    const keys = items.map(({ key }) => key);
    for (const { row, isTyping, outlet, key, strip, error = '', warning } of items) {
      const { mac, port, name } = outlet;
      showKnown(row, port, strip);
      // A row that says nothing yet is not saved.
      const lacksStrip = mac === '' && (name !== '' || outlet.protected);
      const lacksOutlet = port === '' ? text('strip-account.invalid.port') : '';
      const problem = lacksStrip ? text('strip-account.invalid.rowStrip') : error || lacksOutlet;
      const isTwice = mac !== '' && keys.indexOf(key) !== keys.lastIndexOf(key);
      const caution = isTwice ? text('strip-account.warning.outletTwice') : warning;
      const line = String(row.find('[data-line]').data('line'));
      this.dialog.showMessage(line, isTyping ? '' : problem, caution);
    }
  }
}

/** Shows the names and the state of the outlet in a row, as far as its strip is known. */
function showKnown(row: JQuery, port: string, strip: Strip | undefined): void {
  const stripName = strip?.name ?? '';
  row.find('.smart-strip-name').text(stripName).attr('title', stripName);
  const ownName = outletOf(strip, port)?.name ?? text('strip-account.outlets.name');
  fieldIn(row, 'name').attr('placeholder', ownName);
  fieldIn(row, 'port').attr('title', outletState(strip, port));
}

function readRow({ row, part }: ReturnType<typeof rowsOf>[number]): OutletRow {
  const isProtected = fieldIn(row, 'protected').is(':checked');
  return { mac: part('mac'), port: part('port'), name: part('name'), protected: isProtected };
}

let lastLine = 0;

/** Fills in a row. `outlet`: an `OutletRow`; for a new row, only what is known of it. */
function fillRow(row: JQuery, outlet: Config): void {
  const line = `outlet-${++lastLine}`;
  fieldIn(row, 'mac').val(textOf(outlet, 'mac')).attr('aria-describedby', describedBy(line));
  fieldIn(row, 'port').val(textOf(outlet, 'port', '1'));
  fieldIn(row, 'name').val(textOf(outlet, 'name'));
  fieldIn(row, 'protected').prop('checked', ownProperty(outlet, 'protected') === true);
  row.find('.smart-strip-message').attr({ id: `smart-strip-message-${line}`, 'data-line': line });
}
