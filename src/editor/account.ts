import { fieldToMend, type Answer } from './answer';
import { beginEdit, watchField } from './checks';
import { findings } from './findings';
import { explain, sentenceOf } from './messages';
import { protectedList, type ProtectedList } from './protected-list';
import type { EditorNode } from './red';
import { tryAccount, type AccountValues } from './runtime';
import { learn } from './strips';
import { text } from './text';
import { warningOf } from './validate';

const PREFIX = 'node-config-input-';
const TESTED = ['baseUrl', 'apiKey', 'timeout', 'interval', 'tls', 'proxy'];
const NUMBERS = ['interval', 'timeout', 'retryFor', 'concurrency'];

/** Of the dialog that is open; Node-RED opens no second account above the first. */
let outlets: ProtectedList | null = null;

/** Prepares the account's dialog. */
export function prepareAccount(node: EditorNode): void {
  beginEdit(node);
  for (const field of NUMBERS) watchField(node, field, input(field));
  prepareBaseUrl(node);
  outlets = protectedList(node);
  const button = $('#smart-strip-test');
  button.on('click', () => void test(node, button));
  // A row with something to mend must not stay folded away.
  for (const section of $('.smart-strip-section').toArray()) {
    const used = $(section).find('.smart-strip-message').text() !== '' || $(section).find('li').length > 0;
    if (used) section.setAttribute('open', '');
  }
}

/** What Node-RED cannot read from the form by itself. */
export function saveAccount(node: EditorNode): void {
  if (outlets) node.protectedOutlets = outlets.value();
  outlets = null;
}

const input = (field: string) => $(`#${PREFIX}${field}`);

function prepareBaseUrl(node: EditorNode): void {
  const field = input('baseUrl');
  watchField(node, 'baseUrl', field);
  const warn = () => {
    const fault = warningOf(String(field.val()));
    if (fault) explain('baseUrl', sentenceOf(fault), 'warning');
  };
  field.on('change keyup paste input', warn);
  warn();
}

async function test(node: EditorNode, button: JQuery): Promise<void> {
  const result = $('#smart-strip-result').text(text('strip-account.test.running'));
  for (const field of TESTED) explain(field, '');
  button.prop('disabled', true);
  const values = typedValues(node);
  const answer = await tryAccount(values);
  button.prop('disabled', false);
  const warning = warningOf(values.baseUrl);
  if (warning) explain('baseUrl', sentenceOf(warning), 'warning');
  learn(node.id, answer);
  outlets?.refresh();
  result.empty();
  if (answer.ok) findings(result, answer);
  else failure(result, answer);
  const stale = [values.tls, values.proxy].some((id) => RED.nodes.node(id)?.changed === true);
  if (stale) $('<p class="smart-strip-note">').text(text('strip-account.test.stale')).appendTo(result);
}

/** The sentence stands at the field that mends it, and the way there beside the button; or it stands there itself. */
function failure(result: JQuery, answer: Answer & { ok: false }): void {
  const sentence = text(answer.key, answer.params);
  const field = fieldToMend(answer.code, answer.key);
  let shown = sentence;
  if (field !== null) {
    explain(field, sentence);
    input(field).closest('details').attr('open', '');
    shown = text('strip-account.test.failed', { field: text(`strip-account.label.${field}`) });
  }
  $('<p class="smart-strip-failure">').text(`✕ ${shown}`).appendTo(result);
}

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
  };
}
