import { actionField } from './action-field';
import { beginEdit, watchField } from './checks';
import { explain } from './messages';
import { plainPortField, portField } from './port-field';
import type { EditorNode } from './red';
import { stripField } from './strip-field';
import { text } from './text';
import { typedField } from './typed-field';

/** Prepares the dialog of a flow node. */
export function prepareNode(node: EditorNode): void {
  beginEdit(node);
  switch (node.type) {
    case 'strip switch':
      prepareSwitch(node);
      break;
    case 'strip status':
      prepareStatus(node);
      break;
    case 'strip watch':
      prepareWatch(node);
      break;
    default:
      withAccount(node, () => undefined);
  }
}

function prepareSwitch(node: EditorNode): void {
  const strip = stripField({ fixed: false, onChange: () => redraw() });
  const redraw = portField('switch', strip.chosen);
  typedField('delay', 'num', ['num', 'msg', 'flow', 'global', 'env', 'jsonata']);
  actionField((mayCycle) => show('delay', mayCycle));
  for (const field of ['mac', 'port', 'on', 'delay']) watchField(node, field, $(`#node-input-${field}`));
  withAccount(node, strip.show);
}

function prepareStatus(node: EditorNode): void {
  const strip = stripField({ fixed: false, onChange: () => redraw() });
  const redraw = portField('status', strip.chosen);
  const port = $('#node-input-port');
  // A whole strip is sent as it is: there is nothing to choose.
  const showOutput = () => show('output', port.typedInput('type') !== 'port' || port.val() !== '');
  port.on('change', showOutput);
  showOutput();
  for (const field of ['mac', 'port']) watchField(node, field, $(`#node-input-${field}`));
  withAccount(node, strip.show);
}

function prepareWatch(node: EditorNode): void {
  const strip = stripField({ fixed: true, onChange: () => redraw() });
  const redraw = plainPortField(strip.chosen);
  const outlets = $('#node-input-outlets');
  const readings = $('#node-input-readings');
  const availability = $('#node-input-availability');
  const showWhatMatters = () => {
    const checked = [outlets, readings, availability].map((box) => box.prop('checked') === true);
    const [sendsOutlets = false, sendsReadings = false] = checked;
    show('port', sendsOutlets);
    show('output', sendsOutlets);
    show('change', sendsReadings);
    explain('send', checked.includes(true) ? '' : text('strip-account.invalid.nothing'), 'warning');
  };
  for (const box of [outlets, readings, availability]) box.on('change', showWhatMatters);
  showWhatMatters();
  for (const field of ['mac', 'change']) watchField(node, field, $(`#node-input-${field}`));
  withAccount(node, strip.show);
}

/** Chooses the account where there is just one to choose, and follows the choice. */
function withAccount(node: EditorNode, show: (account: string, preselect: boolean) => void): void {
  const select = $('#node-input-account');
  const isNew = !node.account;
  const chosen = () => {
    const value = select.val();
    return typeof value === 'string' && value !== '_ADD_' ? value : '';
  };
  if (isNew && chosen() === '') {
    const accounts = select
      .find('option')
      .map((_, option) => $(option).val())
      .get()
      .filter((value) => typeof value === 'string' && value !== '' && value !== '_ADD_');
    const [only, ...others] = accounts;
    if (only !== undefined && others.length === 0) select.val(only).trigger('change');
  }
  const follow = () => {
    explain('account', chosen() === '' ? text('strip-account.invalid.account') : '');
    show(chosen(), isNew);
  };
  select.on('change', follow);
  follow();
}

const show = (field: string, visible: boolean) => $(`#smart-strip-row-${field}`).toggle(visible);
