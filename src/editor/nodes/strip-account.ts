import { isPublicPlainHttp, parseBaseUrl } from '../../api/connection-settings';
import { PORTS } from '../../api/types';
import { SETTINGS, textOf, type Config } from '../../settings';
import { fieldToCorrect, type Answer, type StripInfo } from '../answers';
import { baseUrlFault, isSimulatorPath, numberFault } from '../checks';
import { isRecord } from '../../values';
import type { Check, Descriptor } from '../descriptor';
import { showDiagnostics } from '../diagnostics';
import { showMessage, watchField } from '../form';
import { checkProtected, nameOutlets, outletsTable, type OutletsTable } from '../outlets-table';
import { openPreview, savePreview, typedMapping } from '../preview';
import { text, type EditorNode } from '../red';
import {
  askRuntime,
  loadStrips,
  learn,
  outletState,
  redrawUsers,
  stateText,
  testAccount,
  type AccountValues,
} from '../strips';

const { timeout: TIMEOUT } = SETTINGS['strip-account'];
const READINGS = ['load', 'voltage', 'signal'] as const;
/** Fields that Test connection uses, or that its errors point at. */
const TESTED = ['baseUrl', 'apiKey', 'timeout', 'interval', 'tls', 'proxy', 'mapping'];
const SIMULATOR_PATH = SETTINGS['strip simulator'].path.default;

/** Milliseconds in the flow, seconds in the dialog. */
const checkTimeout: Check = (value) =>
  numberFault(typeof value === 'string' ? value : '', TIMEOUT.least, TIMEOUT.most, 1000);

const MISSING_KEY = { key: 'strip-account.invalid.apiKey' } as const;

/**
 * A stored key is known to the editor only once the dialog was open. Before that, an account that was not deployed as it is (an imported one,
 * for instance) has a key only if it came with one. Node-RED checks no credentials on the canvas, so that this is checked with the base URL.
 */
function lacksKey(node: Config): boolean {
  if (isSimulatorPath(node.baseUrl)) return false;
  const credentials = isRecord(node.credentials) ? node.credentials : null;
  if (credentials === null) return node.changed === true;
  return credentials.has_apiKey !== true && textOf(credentials, 'apiKey') === '';
}

export const stripAccount: Descriptor = {
  type: 'strip-account',
  checks: {
    baseUrl: (value, node, isOpen) =>
      baseUrlFault(String(value)) ?? (!isOpen && lacksKey(node) ? MISSING_KEY : null),
    // Asked only for the dialog, where the base URL may have changed.
    apiKey: (value) => (value === '' && !isSimulatorPath(input('baseUrl').val()) ? MISSING_KEY : null),
    timeout: checkTimeout,
    protectedOutlets: checkProtected,
  },
  label: (node, words) => {
    const baseUrl = textOf(node, 'baseUrl');
    const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
    return { strip: host || words.text('strip-account.canvas.account'), outlet: '' };
  },
  open,
  save,
};

const input = (field: string): JQuery => $(`#node-config-input-${field}`);

/** Of the dialog that is open; Node-RED opens no second account above the first. */
let outlets: OutletsTable | null = null;
/** The dialog was told to use the simulator. */
let wantsSimulator = false;

function open(node: EditorNode): void {
  wantsSimulator = false;
  for (const field of ['interval', 'retryFor', 'concurrency']) watchField(stripAccount, node, field);
  showSeconds(node);
  openBaseUrl(node);
  watchField(stripAccount, node, 'apiKey');
  const units = isRecord(node.units) ? node.units : {};
  for (const reading of READINGS) $(`#smart-strip-unit-${reading}`).val(textOf(units, reading));
  outlets = outletsTable(node);
  // Names in the rows are looked up at once; without rows, what the runtime knows will do.
  const isStored = Boolean(RED.nodes.node(node.id));
  if (isStored && outlets.hasRows()) void loadStrips(node.id).then(() => outlets?.refresh());
  else if (isStored && node.changed !== true) askRuntime(node.id, () => outlets?.refresh());
  const showPreview = openPreview(node, async (asked) =>
    named(await testAccount({ ...typedValues(node), ...asked })),
  );
  const button = $('#smart-strip-test');
  button.on('click', () => void test(node, button, showPreview));
  $('<button type="button" class="red-ui-button" style="margin-left: 8px">')
    .text(text('strip-sidebar.diagnostics.title'))
    .on('click', () => void showDiagnostics(node.id))
    .insertAfter(button);
  // A row with something to correct must not stay folded away.
  for (const section of $('.smart-strip-section').toArray()) {
    const rows = $(section).find('#smart-strip-outlets li').length;
    const faults = $(section).find('[aria-invalid=true]').length;
    if (rows > 0 || faults > 0) section.setAttribute('open', '');
  }
}

function save(node: EditorNode): void {
  if (outlets) Object.assign(node, outlets.value());
  outlets = null;
  savePreview();
  const units = READINGS.map((reading) => [reading, String($(`#smart-strip-unit-${reading}`).val()).trim()]);
  const isSet = units.some(([, unit]) => unit !== '');
  if (isSet || node.units !== undefined) node.units = Object.fromEntries(units);
  if (wantsSimulator && isSimulatorPath(input('baseUrl').val())) addSimulator();
  redrawUsers(node.id);
}

/** The field for the timeout shows seconds; the one that Node-RED reads keeps milliseconds. */
function showSeconds(node: EditorNode): void {
  const kept = input('timeout').hide();
  // Node-RED translates what has the attribute once more after this.
  const unit = kept.next('span').removeAttr('data-i18n').text(text('strip-account.unit.seconds'));
  const milliseconds = Number(kept.val());
  const shown = $('<input type="number" step="any" style="width: 110px">')
    .attr({
      id: 'smart-strip-timeout',
      min: TIMEOUT.least / 1000,
      max: TIMEOUT.most / 1000,
      'aria-describedby': 'smart-strip-message-timeout smart-strip-hint-timeout',
    })
    .val(String(kept.val()).trim() === '' || Number.isNaN(milliseconds) ? '' : milliseconds / 1000)
    .insertBefore(unit)
    .after(' ');
  $('#smart-strip-label-timeout').attr('for', 'smart-strip-timeout');
  kept.removeAttr('aria-describedby');
  shown.on('input change', () => {
    const typed = String(shown.val()).trim();
    // Decimals of seconds are whole milliseconds, whatever floating point makes of them.
    kept.val(typed === '' ? '' : Math.round(Number(typed) * 1000)).trigger('change');
  });
  // A variable is no number and has no seconds: it is edited as it is.
  if (textOf(node, 'timeout').startsWith('$')) {
    shown.hide();
    kept.attr('type', 'text').val(textOf(node, 'timeout')).show();
    unit.text(text('strip-account.unit.milliseconds'));
  }
  watchField(stripAccount, node, 'timeout');
}

function openBaseUrl(node: EditorNode): void {
  const field = input('baseUrl');
  watchField(stripAccount, node, 'baseUrl');
  const offer = $('#smart-strip-offer');
  $('<span>').text(text('strip-account.simulator.question')).appendTo(offer);
  $('<button type="button" class="red-ui-button red-ui-button-small">')
    .text(text('strip-account.simulator.use'))
    .on('click', () => {
      wantsSimulator = true;
      field.val(simulators().map(pathOf)[0] ?? SIMULATOR_PATH).trigger('change');
      $('#smart-strip-test').trigger('focus');
    })
    .appendTo(offer.append(' '));
  const described = () => {
    const value = String(field.val()).trim();
    offer.toggle(value === '');
    if (isPublicHttp(value)) showMessage('baseUrl', text('strip-account.warning.plainHttp'), 'warning');
    const simulated = isSimulatorPath(value);
    if (simulated && wantsSimulator && simulators().length === 0)
      showMessage('baseUrl', text('strip-account.simulator.added'), 'warning');
    input('apiKey').trigger('change');
  };
  field.on('change keyup paste input', described);
  described();
}

/** Nothing more is said of an address that cannot be used at all. */
const isPublicHttp = (baseUrl: string): boolean =>
  baseUrlFault(baseUrl) === null && !isSimulatorPath(baseUrl) && isPublicPlainHttp(parseBaseUrl(baseUrl));

/** The simulators in the workspace that are not disabled. */
function simulators(): EditorNode[] {
  const found: EditorNode[] = [];
  RED.nodes.eachNode((node) => {
    if (node.type === 'strip simulator' && node.d !== true) found.push(node);
  });
  return found;
}

const pathOf = (simulator: EditorNode): string => textOf(simulator, 'path', SIMULATOR_PATH);

/** What a test of a simulator that is not deployed as it is comes to: the runtime cannot know it. */
function undeployedSimulator(baseUrl: string): Answer | null {
  if (!isSimulatorPath(baseUrl)) return null;
  const path = withoutSlash(baseUrl);
  const isDeployed = simulators().some(
    (node) => node.changed !== true && withoutSlash(pathOf(node)) === path,
  );
  if (isDeployed) return null;
  return {
    ok: false,
    code: 'UNREACHABLE',
    key: 'strip-account.simulator.undeployed',
    params: { path },
    sent: null,
  };
}

/** A base URL may go on to the API's own path. */
const withoutSlash = (path: string): string => path.trim().replace(/(\/api\/public\/v1)?\/*$/, '') || '/';

/** Puts a simulator below everything else on the flow that is shown. */
function addSimulator(): void {
  if (simulators().length > 0 || RED.workspaces.isLocked()) return;
  const flow = RED.workspaces.active();
  let lowest = 0;
  RED.nodes.eachNode((node) => {
    if (node.z === flow && typeof node.y === 'number') lowest = Math.max(lowest, node.y);
  });
  const defaults = SETTINGS['strip simulator'];
  const simulator = {
    id: 'simulator',
    type: 'strip simulator',
    z: flow,
    name: '',
    path: SIMULATOR_PATH,
    strips: defaults.strips.default,
    shape: defaults.shape.choices[0],
    latency: String(defaults.latency.default),
    x: 160,
    y: lowest + 80,
    wires: [[]],
  };
  const wasDirty = RED.nodes.dirty();
  const { nodes } = RED.nodes.import([simulator], { generateIds: true });
  for (const node of nodes) node.changed = true;
  RED.history.push({ t: 'add', nodes: nodes.map(({ id }) => id), dirty: wasDirty });
  RED.nodes.dirty(true);
  RED.view.redraw(true);
}

async function test(node: EditorNode, button: JQuery, showPreview: (answer: Answer) => void): Promise<void> {
  const result = $('#smart-strip-result').text(text('strip-account.test.running'));
  for (const field of TESTED) showMessage(field, '');
  button.prop('disabled', true);
  const values = typedValues(node);
  const answer = undeployedSimulator(values.baseUrl) ?? (await testAccount(values));
  button.prop('disabled', false);
  if (isPublicHttp(values.baseUrl))
    showMessage('baseUrl', text('strip-account.warning.plainHttp'), 'warning');
  if (answer.ok) learn(node.id, answer.strips);
  outlets?.refresh();
  const shown = named(answer);
  showPreview(shown);
  result.empty();
  if (shown.ok) showStrips(result, shown);
  else showFailure(result, shown);
  const stale = [values.tls, values.proxy].some((id) => RED.nodes.node(id)?.changed === true);
  if (stale) $('<p class="smart-strip-note">').text(text('strip-account.test.stale')).appendTo(result);
}

/** An answer with the outlets called as they are in the dialog. */
const named = (answer: Answer): Answer =>
  answer.ok && outlets !== null
    ? { ...answer, strips: nameOutlets(answer.strips, outlets.value().outletNames) }
    : answer;

function typedValues(node: EditorNode): AccountValues {
  const value = (field: string) => {
    const typed = input(field).val();
    return typeof typed === 'string' && typed !== '_ADD_' ? typed : '';
  };
  return {
    id: node.id,
    baseUrl: value('baseUrl'),
    apiKey: value('apiKey'),
    timeout: value('timeout'),
    tls: value('tls'),
    proxy: value('proxy'),
    mapping: typedMapping(),
  };
}

/** The sentence stands below the field where it can be corrected, and the way there beside the button; or it stands there itself. */
function showFailure(result: JQuery, answer: Answer & { ok: false }): void {
  const sentence = text(answer.key, answer.params);
  const field = fieldToCorrect(answer.code, answer.key);
  let shown = sentence;
  if (field !== null) {
    showMessage(field, sentence);
    input(field).closest('details').attr('open', '');
    shown = text('strip-account.test.failed', { field: text(`strip-account.label.${field}`) });
  }
  $('<p class="smart-strip-failure">').text(`✕ ${shown}`).appendTo(result);
}

/** The strips an account was found to have, with every outlet's name and state. */
function showStrips(result: JQuery, { strips, readable }: Answer & { ok: true }): void {
  const count = strips.reduce((sum, strip) => sum + strip.outlets.length, 0);
  if (!readable) {
    $('#smart-strip-preview').attr('open', '');
    $('<p class="smart-strip-caution">')
      .text(`⚠ ${text('strip-account.test.unreadable')}`)
      .appendTo(result);
  } else {
    const key = `strip-account.test.${strips.length === 0 ? 'none' : 'found'}`;
    $('<p class="smart-strip-success">')
      .text(`✓ ${text(key, { strips: strips.length, outlets: count })}`)
      .appendTo(result);
  }
  if (strips.length > 0) stripsTable(strips).appendTo(result);
}

function stripsTable(strips: readonly StripInfo[]): JQuery {
  const header = $('<tr>');
  const columns = [text('strip-account.test.name'), text('strip-account.test.mac'), ...PORTS.map(String)];
  for (const column of columns) $('<th scope="col">').text(column).appendTo(header);
  const body = $('<tbody>');
  for (const strip of strips) stripLine(strip).appendTo(body);
  const table = $('<table>').attr('aria-label', text('strip-account.picker.strips'));
  // Focusable, so that the keyboard can scroll it.
  return $('<div class="smart-strip-table" tabindex="0" role="region">')
    .attr('aria-label', text('strip-account.picker.strips'))
    .append(table.append($('<thead>').append(header), body));
}

function stripLine(strip: StripInfo): JQuery {
  const line = $('<tr>');
  const name = strip.name ?? '–';
  $('<td>').attr('title', name).text(name).appendTo(line);
  $('<td>').append($('<code>').text(strip.mac)).appendTo(line);
  for (const port of PORTS) {
    const cell = $('<td>').appendTo(line);
    const state = outletState(strip, String(port));
    const outlet = strip.outlets.find((each) => each.port === port);
    if (state === null) continue;
    const shown = [stateText(state), outlet?.name].filter(Boolean).join(' ');
    cell.attr('title', shown).text(shown);
  }
  return line;
}
