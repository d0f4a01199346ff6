import { checkApiKey, isPublicPlainHttp, parseBaseUrl, simulatorPath } from '../../api/connection-settings';
import { PORTS, READINGS, type ReadingName, type Strip } from '../../api/types';
import type { StripsAnswer } from '../../flow/admin-answers';
import { SETTINGS, textOf, type Config } from '../../settings';
import { isRecord } from '../../values';
import { showDiagnostics } from '../diagnostics';
import {
  checkNumber,
  problemByNodeRed,
  problemThrownBy,
  shownDialog,
  type Descriptor,
  type Dialog,
} from '../form';
import { checkProtected, OutletsTable, writeOutlets } from '../outlets-table';
import { openPreview } from '../preview';
import { html, line, mayRead, mayTest, placeNodes, text } from '../red';
import {
  accountValues,
  fieldToCorrect,
  isInSubflow,
  learn,
  loadStrips,
  nameOutlets,
  outletOf,
  outletState,
  stripsOf,
  testAccount,
  TESTED,
  type AccountValues,
} from '../strips';
import { canAddSimulator, enabledSimulators, pathOf } from './strip-simulator';

const { timeout: TIMEOUT } = SETTINGS['strip-account'];
/** Bounds of the timeout in the dialog, in seconds. */
const SECONDS = { min: TIMEOUT.min / 1000, max: TIMEOUT.max / 1000 };

const checkBaseUrl = (baseUrl: string): string => problemThrownBy(() => parseBaseUrl(baseUrl));

const isSimulator = (baseUrl: string): boolean => simulatorPath(baseUrl) !== null;

/**
 * Whether an account has no key, as far as the editor can know. The editor learns of a stored key only when the dialog is opened. Before that, an
 * account that is not deployed in its present form counts as having a key only if it was created with one: nearly all of these accounts are imported.
 * Node-RED does not check credentials in the workspace, so the key is checked together with the base URL. An open dialog checks the key's own field
 * instead.
 */
function lacksKey(node: Config): boolean {
  if (shownDialog(node) || isSimulator(textOf(node, 'baseUrl'))) return false;
  const { credentials } = node;
  if (!isRecord(credentials)) return node.changed === true;
  return credentials.has_apiKey !== true && textOf(credentials, 'apiKey') === '';
}

export const stripAccount: Descriptor = {
  checks: {
    baseUrl: (value, node) =>
      checkBaseUrl(String(value)) || (lacksKey(node) ? text('strip-account.invalid.apiKey') : ''),
    apiKey: (value, node) => {
      if (value !== '') return problemThrownBy(() => checkApiKey(String(value)));
      return isSimulator(textOf(node, 'baseUrl')) ? '' : text('strip-account.invalid.apiKey');
    },
    // Milliseconds in the flow, seconds in the dialog, except in a field that had a variable.
    timeout: (value, node) =>
      shownDialog(node)?.readers.timeout
        ? checkNumber(String(Number(value) / 1000), SECONDS)
        : checkNumber(String(value), TIMEOUT),
    protectedOutlets: checkProtected,
    mapping: (value) => (value === '' ? '' : problemByNodeRed(String(value), 'jsonata')),
  },
  warnings: { baseUrl: warningAbout },
  label: (node) => {
    const baseUrl = textOf(node, 'baseUrl');
    const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
    return { strip: host || text('strip-account.canvas.account') };
  },
  open,
};

/** Dialogs in which the user chose the simulator. */
const wantSimulator = new WeakSet<Dialog>();

function open(dialog: Dialog): void {
  const { node } = dialog;
  showSeconds(dialog);
  openBaseUrl(dialog);
  for (const reading of READINGS) unitField(dialog, reading).val(textOf(node.units, reading));
  const table = new OutletsTable(dialog);
  // Rows need the current names, so the service is asked. Without rows, the strips that the runtime knows are enough.
  const isStored = Boolean(RED.nodes.node(node.id));
  const hasRows = table.rows().length > 0;
  const before = table.strips;
  if (isStored && (hasRows || node.changed !== true))
    void loadStrips(node.id, { refresh: hasRows }).then(() => {
      // A test with other values may have been faster.
      if (dialog.isOpen && table.strips === before) table.refresh(stripsOf(node.id));
    });
  openTest(dialog, table);
  dialog
    .find('#smart-strip-diagnostics')
    .toggle(isStored && mayRead() && !isInSubflow(node))
    .on('click', () => void showDiagnostics(node.id));
  if (hasRows) dialog.find('#smart-strip-outlets').closest('details').attr('open', '');
  dialog.save = () => save(dialog, table);
}

/** Prepares _Test connection_, and the preview, which shows the answer that the test got. */
function openTest(dialog: Dialog, table: OutletsTable): void {
  const result = dialog.find('#smart-strip-result');
  const preview = openPreview(dialog, async (asked) =>
    named(await testAccount(dialog.node, typedValues(dialog), asked), table),
  );
  dialog
    .find('#smart-strip-test')
    .prop('disabled', !mayTest())
    .on('click', () => {
      // A change that makes the running test outdated removes this element, so that another test can begin.
      if (result.find('.smart-strip-running').length === 0) void test(dialog, table, preview.show);
    });
  if (!mayTest()) result.before(line('note', text('strip-account.trouble.notAllowed')));
  // A change in one of the dialogs that Node-RED opens over this one is no input.
  dialog.form.on('input change', () => {
    if (JSON.stringify(typedValues(dialog)) !== result.data('tested')) clearTest(dialog);
  });
  // The chosen node may have been edited.
  for (const field of ['tls', 'proxy']) dialog.field(field).on('change', () => clearTest(dialog));
  for (const field of ['baseUrl', 'apiKey']) dialog.field(field).on('input', preview.clear);
}

function save(dialog: Dialog, table: OutletsTable): void {
  const { node } = dialog;
  Object.assign(node, writeOutlets(table.rows()));
  learn(node.id, table.strips);
  for (const field of Object.keys(dialog.readers)) dialog.field(field).val(dialog.value(field));
  const units = READINGS.map((reading) => [reading, String(unitField(dialog, reading).val()).trim()]);
  node.units = Object.fromEntries(units);
  if (lacksSimulator(dialog) && canAddSimulator()) addSimulator(dialog.value('baseUrl').trim());
}

const unitField = (dialog: Dialog, reading: ReadingName): JQuery =>
  dialog.find(`#smart-strip-unit-${reading}`);

function showSeconds(dialog: Dialog): void {
  const field = dialog.field('timeout');
  // With a variable, which has milliseconds, it is no number field.
  if (field.attr('type') !== 'number') return;
  field.attr(SECONDS).val(Number(dialog.value('timeout')) / 1000);
  // Node-RED translates elements with this attribute once more after this.
  field.next('span').removeAttr('data-i18n').text(text('strip-account.unit.seconds'));
  dialog.readers.timeout = () => {
    const seconds = String(field.val());
    // Rounded: with floating-point numbers, decimals of seconds may not give whole milliseconds.
    return seconds === '' ? '' : String(Math.round(Number(seconds) * 1000));
  };
}

function openBaseUrl(dialog: Dialog): void {
  const field = dialog.field('baseUrl');
  const offer = dialog.find('#smart-strip-offer');
  offer.children('button').on('click', () => {
    wantSimulator.add(dialog);
    field.val(pathOf(enabledSimulators()[0])).trigger('input');
    // The button goes. There is nothing to test before a simulator is added: the field names what is to be done.
    (lacksSimulator(dialog) ? field : dialog.find('#smart-strip-test')).trigger('focus');
  });
  const update = () => {
    offer.toggle(dialog.value('baseUrl').trim() === '');
    dialog.field('apiKey').trigger('change');
  };
  field.on('change input', update);
  update();
}

function warningAbout(baseUrl: string, dialog: Dialog): string {
  // No warning about an address that cannot be used at all, or that only the runtime knows.
  if (checkBaseUrl(baseUrl) !== '') return '';
  if (isPublicPlainHttp(parseBaseUrl(baseUrl))) return text('strip-account.warning.plainHttp');
  return lacksSimulator(dialog) ? simulatorNote() : '';
}

/** What comes of choosing the simulator where there is none yet. */
const simulatorNote = (): string =>
  text(`strip-account.simulator.${canAddSimulator() ? 'added' : 'notHere'}`);

/** Whether the user chose the simulator, and there is none yet. */
const lacksSimulator = (dialog: Dialog): boolean =>
  wantSimulator.has(dialog) && isSimulator(dialog.value('baseUrl')) && enabledSimulators().length === 0;

/** Puts a simulator below everything else on the flow that is shown. */
function addSimulator(path: string): void {
  const z = RED.workspaces.active();
  const lowest = Math.max(0, ...RED.nodes.filterNodes({ z }).map((node) => Number(node.y)));
  placeNodes([{ id: 'simulator', type: 'strip simulator', path, z, x: 160, y: lowest + 80, wires: [[]] }]);
}

/** Removes the result of the last test. It is out of date when a tested value has changed. */
function clearTest(dialog: Dialog): void {
  const result = dialog.find('#smart-strip-result');
  if (result.is(':empty')) return;
  result.empty();
  dialog.find('#smart-strip-found').hide();
  // What the test has found wrong is no longer shown. An error of the field itself stays.
  for (const field of TESTED) dialog.field(field).triggerHandler('change');
}

async function test(dialog: Dialog, table: OutletsTable, showPreview: (answer: StripsAnswer) => void) {
  clearTest(dialog);
  const values = typedValues(dialog);
  const result = dialog.find('#smart-strip-result').data('tested', JSON.stringify(values));
  if (lacksSimulator(dialog)) {
    result.append(line('caution', `⚠ ${simulatorNote()}`));
    return;
  }
  // A paragraph, as the result is: the screen reader Orca reads a new paragraph before new text, although the text came first.
  const running = line('running', text('strip-account.test.running'));
  result.append(running);
  const answer = await testAccount(dialog.node, values);
  // Meanwhile the dialog may have been closed, or a value changed and another test begun.
  if (!dialog.isOpen || running.parentElement === null) return;
  // An answer that was not recognised does not say that the strips are gone, whose names the rows show.
  if (answer.ok && (answer.readable || answer.strips.length > 0)) table.refresh(answer.strips);
  const shown = named(answer, table);
  showPreview(shown);
  result.empty().append(shown.ok ? showStrips(dialog, shown) : showFailure(dialog, shown));
  const stale = [values.tls, values.proxy].some((id = '') => RED.nodes.node(id)?.changed === true);
  if (stale) result.append(line('note', text('strip-account.test.stale')));
}

/** An answer with the outlet names from the dialog. */
const named = (answer: StripsAnswer, table: OutletsTable): StripsAnswer =>
  answer.ok ? { ...answer, strips: nameOutlets(answer.strips, table.rows()) } : answer;

/** All that the result of a test depends on. */
const typedValues = (dialog: Dialog): AccountValues => accountValues((field) => dialog.value(field));

/**
 * Shows what went wrong below the field where it can be corrected. Returns the line beside the button, which names this field. If there is no such
 * field, or it is in a section, which may be out of sight, the sentence is beside the button, too.
 */
function showFailure(dialog: Dialog, answer: StripsAnswer & { ok: false }): HTMLElement {
  const sentence = text(answer.key, answer.params);
  const field = fieldToCorrect(answer.code, answer.key);
  let shown = sentence;
  if (field !== null) {
    dialog.showMessage(field, sentence);
    const section = dialog.field(field).closest('details').attr('open', '');
    if (section.length === 0)
      shown = text('strip-account.test.failed', { field: text(`strip-account.label.${field}`) });
  }
  return line('failure', `✕ ${shown}`);
}

/** Shows the strips that a test has found, with every outlet's name and state. Returns the lines beside the button. */
function showStrips(dialog: Dialog, answer: StripsAnswer & { ok: true }): HTMLElement[] {
  const { strips, readable, complete } = answer;
  const table = dialog.find('#smart-strip-found').toggle(strips.length > 0);
  table.find('tbody').empty().append(strips.map(stripLine));
  if (!readable) {
    dialog.find('#smart-strip-preview').attr('open', '');
    return [line('caution', `⚠ ${text('strip-account.test.unreadable')}`)];
  }
  const outlets = strips.flatMap((strip) => strip.outlets).length;
  const key = `strip-account.test.${strips.length === 0 ? 'none' : 'found'}`;
  const found = line('success', `✓ ${text(key, { strips: strips.length, outlets })}`);
  return complete ? [found] : [found, line('note', text('strip-account.preview.incomplete'))];
}

function stripLine(strip: Strip): HTMLElement {
  const name = strip.name ?? '–';
  const cells = PORTS.map((port) => {
    const shown = `${outletState(strip, port)} ${outletOf(strip, port)?.name ?? ''}`.trim() || '–';
    return html('td', { title: shown }, shown);
  });
  const mac = html('td', {}, html('code', {}, strip.mac));
  return html('tr', {}, html('td', { title: name }, name), mac, ...cells);
}
