import { checkApiKey, isPublicPlainHttp, parseBaseUrl, simulatorPath } from '../../api/connection-settings';
import { PORTS, READINGS, type Strip } from '../../api/types';
import type { StripsAnswer } from '../../flow/admin-answers';
import { SETTINGS, textOf, type Config } from '../../settings';
import { isRecord } from '../../values';
import { showDiagnostics } from '../diagnostics';
import {
  checkNumber,
  chosenIn,
  isDialogOpen,
  problemThrownBy,
  showMessage,
  typedField,
  uncovered,
  type Descriptor,
} from '../form';
import { checkProtected, nameOutlets, outletsTable } from '../outlets-table';
import { openPreview, typedMapping } from '../preview';
import { html, line, mayRead, mayTest, placeNodes, text, type EditorNode } from '../red';
import {
  accountValues,
  fieldToCorrect,
  learn,
  loadStrips,
  outletOf,
  outletState,
  stateText,
  stripsOf,
  testAccount,
  TESTED,
  type AccountValues,
} from '../strips';
import { canAddSimulator, enabledSimulators } from './strip-simulator';

const { timeout: TIMEOUT } = SETTINGS['strip-account'];
/** Fields whose change makes the result of a test outdated, or that its errors point at. */
const TEST_FIELDS = [...TESTED, 'interval'];
/** What is shown while a test runs. It goes with a change that makes the test outdated, so that another one can begin. */
const RUNNING = '#smart-strip-result > .smart-strip-running';
const SIMULATOR_PATH = SETTINGS['strip simulator'].path.default;

const checkBaseUrl = (baseUrl: string): string => problemThrownBy(() => parseBaseUrl(baseUrl));

const isSimulator = (baseUrl: string): boolean => simulatorPath(baseUrl) !== null;

/**
 * Whether an account has no key, as far as the editor can know. It knows of a stored key only after the dialog was open. Before that, an account that
 * is not deployed in its present form is taken to have one only if it came with one: nearly all of these are imported. Node-RED checks no
 * credentials on the canvas, so the key is checked together with the base URL. An open dialog checks the key's own field instead.
 */
function lacksKey(node: Config): boolean {
  if (isDialogOpen(node) || isSimulator(textOf(node, 'baseUrl'))) return false;
  const credentials = isRecord(node.credentials) ? node.credentials : null;
  if (credentials === null) return node.changed === true;
  return credentials.has_apiKey !== true && textOf(credentials, 'apiKey') === '';
}

const checkKey = (isThere: boolean): string => (isThere ? '' : text('strip-account.invalid.apiKey'));

export const stripAccount: Descriptor = {
  type: 'strip-account',
  checks: {
    baseUrl: (value, node) => checkBaseUrl(String(value)) || checkKey(!lacksKey(node)),
    // Called only for the open dialog, where the base URL may have changed.
    apiKey: (value) =>
      value === ''
        ? checkKey(isSimulator(valueOf('baseUrl')))
        : problemThrownBy(() => checkApiKey(String(value))),
    // Milliseconds in the flow, seconds in the dialog.
    timeout: (value, node) => {
      const seconds = isDialogOpen(node) && hasSeconds() ? value : Number(value) / 1000;
      return checkNumber(String(seconds), { min: TIMEOUT.min / 1000, max: TIMEOUT.max / 1000 });
    },
    protectedOutlets: checkProtected,
    mapping: (value) => {
      if (value === '') return '';
      const verdict = RED.utils.validateTypedProperty(String(value), 'jsonata', {});
      return verdict === true ? '' : verdict;
    },
  },
  warnings: { baseUrl: warningAbout },
  label: (node) => {
    const baseUrl = textOf(node, 'baseUrl');
    const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
    return { strip: host || text('strip-account.canvas.account') };
  },
  open,
  save,
};

const input = (field: string): JQuery => $(`#node-config-input-${field}`);

const valueOf = (field: string): string => chosenIn(input(field));

type OutletsTable = ReturnType<typeof outletsTable>;

/** The tables of the open dialogs. From the sidebar "info", the dialog of another account can be opened over the first. */
const tables = new WeakMap<Config, OutletsTable>();
/** Accounts in whose open dialogs the user chose the simulator. */
const wantSimulator = new WeakSet<Config>();

function open(node: EditorNode): void {
  wantSimulator.delete(node);
  showSeconds();
  openBaseUrl(node);
  const units = isRecord(node.units) ? node.units : {};
  for (const reading of READINGS) $(`#smart-strip-unit-${reading}`).val(textOf(units, reading));
  const table = outletsTable(node);
  tables.set(node, table);
  // Rows need the current names, so the service is asked. Without rows, the strips that the runtime knows are enough.
  const isStored = Boolean(RED.nodes.node(node.id));
  const list = $('#smart-strip-outlets');
  const hasRows = list.find('li').length > 0;
  const before = table.strips();
  if (isStored && (hasRows || node.changed !== true))
    void loadStrips(node.id, { refresh: hasRows }).then(async () => {
      // A test with other values may have been faster.
      if ((await uncovered(node, list)) && table.strips() === before) table.refresh(stripsOf(node.id));
    });
  typedField(node, 'mapping');
  const result = $('#smart-strip-result');
  const preview = openPreview(node, async (asked) =>
    named(await testAccount(node, typedValues(), asked), table),
  );
  $('#smart-strip-test')
    .prop('disabled', !mayTest())
    .on('click', () => {
      if ($(RUNNING).length === 0) void test(node, table, preview.show);
    });
  if (!mayTest()) result.before(line('note', text('strip-account.trouble.notAllowed')));
  for (const field of [...TEST_FIELDS.map(input), $('#smart-strip-use-mapping')])
    field.on('input', clearTest);
  for (const field of ['baseUrl', 'apiKey']) input(field).on('input', preview.clear);
  // No input comes from the dialogs that Node-RED opens for these.
  for (const field of ['tls', 'proxy']) input(field).on('change', clearTest);
  input('mapping').on(
    'change',
    () =>
      void uncovered(node, result).then((isShown) => {
        if (isShown && typedMapping() !== result.data('mapping')) clearTest();
      }),
  );
  $('#smart-strip-diagnostics')
    .toggle(isStored && mayRead())
    .on('click', () => void showDiagnostics(node.id));
  if (hasRows) list.closest('details').attr('open', '');
}

function save(node: EditorNode): void {
  const table = tables.get(node);
  Object.assign(node, table?.value());
  learn(node.id, table?.strips() ?? []);
  input('mapping').val(typedMapping());
  input('timeout').val(timeoutOf());
  const units = READINGS.map((reading) => [reading, String($(`#smart-strip-unit-${reading}`).val()).trim()]);
  const isSet = units.some(([, unit]) => unit !== '');
  if (isSet || node.units !== undefined) node.units = Object.fromEntries(units);
  if (lacksSimulator(valueOf('baseUrl'), node) && canAddSimulator()) addSimulator(valueOf('baseUrl').trim());
}

/** Whether the field for the timeout shows seconds while the dialog is open. With a variable, which has milliseconds, it is no number field. */
const hasSeconds = (): boolean => input('timeout').attr('type') === 'number';

function showSeconds(): void {
  if (!hasSeconds()) return;
  const field = input('timeout').attr({ min: TIMEOUT.min / 1000, max: TIMEOUT.max / 1000 });
  const milliseconds = valueOf('timeout');
  if (milliseconds !== '') field.val(Number(milliseconds) / 1000);
  // Node-RED translates elements with this attribute once more after this.
  field.next('span').removeAttr('data-i18n').text(text('strip-account.unit.seconds'));
}

/** The timeout for the flow. Rounded: with floating-point numbers, decimals of seconds may not give whole milliseconds. */
function timeoutOf(): string {
  const typed = valueOf('timeout');
  return typed !== '' && hasSeconds() ? String(Math.round(Number(typed) * 1000)) : typed;
}

function openBaseUrl(node: EditorNode): void {
  const field = input('baseUrl');
  const offer = $('#smart-strip-offer');
  offer.children('button').on('click', () => {
    wantSimulator.add(node);
    field.val(textOf(enabledSimulators()[0], 'path', SIMULATOR_PATH)).trigger('input');
    // The button goes. There is nothing to test before a simulator is added: the field names what is to be done.
    (lacksSimulator(valueOf('baseUrl'), node) ? field : $('#smart-strip-test')).trigger('focus');
  });
  const described = () => {
    offer.toggle(valueOf('baseUrl').trim() === '');
    input('apiKey').trigger('change');
  };
  field.on('change keyup paste input', described);
  described();
}

function warningAbout(baseUrl: string, node: Config): string {
  // No warning about an address that cannot be used at all, or that only the runtime knows.
  if (checkBaseUrl(baseUrl) !== '') return '';
  if (isPublicPlainHttp(parseBaseUrl(baseUrl))) return text('strip-account.warning.plainHttp');
  return lacksSimulator(baseUrl, node) ? simulatorNote() : '';
}

/** What comes of choosing the simulator where there is none yet. */
const simulatorNote = (): string =>
  text(`strip-account.simulator.${canAddSimulator() ? 'added' : 'notHere'}`);

/** Whether the user chose the simulator, and there is none yet. */
const lacksSimulator = (baseUrl: string, node: Config): boolean =>
  wantSimulator.has(node) && isSimulator(baseUrl) && enabledSimulators().length === 0;

/** Puts a simulator below everything else on the flow that is shown. */
function addSimulator(path: string): void {
  const z = RED.workspaces.active();
  const lowest = Math.max(0, ...RED.nodes.filterNodes({ z }).map((node) => Number(node.y)));
  placeNodes([{ id: 'simulator', type: 'strip simulator', path, z, x: 160, y: lowest + 80, wires: [[]] }]);
}

/** Removes the result of the last test. It is out of date when a tested value has changed. */
function clearTest(): void {
  const result = $('#smart-strip-result');
  if (result.is(':empty')) return;
  result.empty();
  $('#smart-strip-found').hide();
  for (const field of TEST_FIELDS) {
    showMessage(field, '');
    // An error of the field itself stays.
    input(field).triggerHandler('change');
  }
}

async function test(
  node: EditorNode,
  table: OutletsTable,
  showPreview: (answer: StripsAnswer) => void,
): Promise<void> {
  clearTest();
  if (lacksSimulator(valueOf('baseUrl'), node)) {
    $('#smart-strip-result').append(line('caution', `⚠ ${simulatorNote()}`));
    return;
  }
  const running = html('span', { class: 'smart-strip-running' }, text('strip-account.test.running'));
  const result = $('#smart-strip-result').append(running).data('mapping', typedMapping());
  const values = typedValues();
  const answer = await testAccount(node, values);
  // Meanwhile the dialog may have been closed, or a value changed and another test begun.
  if (!(await uncovered(node, result)) || !running.isConnected) return;
  // An answer that was not recognised does not say that the strips are gone, whose names the rows show.
  if (answer.ok && (answer.readable || answer.strips.length > 0)) table.refresh(answer.strips);
  const shown = named(answer, table);
  showPreview(shown);
  result.empty();
  if (shown.ok) showStrips(result, shown);
  else showFailure(result, shown);
  const stale = [values.tls, values.proxy].some((id = '') => RED.nodes.node(id)?.changed === true);
  if (stale) result.append(line('note', text('strip-account.test.stale')));
}

/** An answer with the outlet names from the dialog. */
const named = (answer: StripsAnswer, table: OutletsTable): StripsAnswer =>
  answer.ok ? { ...answer, strips: nameOutlets(answer.strips, table.value().outletNames) } : answer;

const typedValues = (): AccountValues => ({
  ...accountValues(valueOf),
  timeout: timeoutOf(),
  mapping: typedMapping(),
});

/**
 * Shows what went wrong below the field where it can be corrected. Beside the button, it names this field. If there is no such field, or it is in a
 * section, which may be out of sight, the sentence is beside the button, too.
 */
function showFailure(result: JQuery, answer: StripsAnswer & { ok: false }): void {
  const sentence = text(answer.key, answer.params);
  const field = fieldToCorrect(answer.code, answer.key);
  let shown = sentence;
  if (field !== null) {
    showMessage(field, sentence);
    const section = input(field).closest('details').attr('open', '');
    if (section.length === 0)
      shown = text('strip-account.test.failed', { field: text(`strip-account.label.${field}`) });
  }
  result.append(line('failure', `✕ ${shown}`));
}

/** Shows the strips that a test has found, with every outlet's name and state. */
function showStrips(result: JQuery, { strips, readable, complete }: StripsAnswer & { ok: true }): void {
  if (readable) {
    const outlets = strips.reduce((sum, strip) => sum + strip.outlets.length, 0);
    const key = `strip-account.test.${strips.length === 0 ? 'none' : 'found'}`;
    result.append(line('success', `✓ ${text(key, { strips: strips.length, outlets })}`));
    if (!complete) result.append(line('note', text('strip-account.preview.incomplete')));
  } else {
    $('#smart-strip-preview').attr('open', '');
    result.append(line('caution', `⚠ ${text('strip-account.test.unreadable')}`));
  }
  const table = $('#smart-strip-found').toggle(strips.length > 0);
  table.find('tbody').empty().append(strips.map(stripLine));
}

function stripLine(strip: Strip): HTMLElement {
  const name = strip.name ?? '–';
  const cells = PORTS.map((port) => {
    const state = outletState(strip, port);
    if (state === null) return html('td', {});
    const shown = [stateText(state), outletOf(strip, port)?.name].filter(Boolean).join(' ');
    return html('td', { title: shown }, shown);
  });
  const mac = html('td', {}, html('code', {}, strip.mac));
  return html('tr', {}, html('td', { title: name }, name), mac, ...cells);
}
