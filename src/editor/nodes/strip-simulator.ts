import { simulatorPath } from '../../api/connection-settings';
import { isPossibleMac, macKey, PORTS } from '../../api/types';
import { OUTLETS_AT_START, SETTINGS, textOf, type Config } from '../../settings';
import { isRecord, preview } from '../../values';
import { editableRows, fieldIn, rowsOf, type Check, type Descriptor, type Dialog } from '../form';
import { text, type EditorNode } from '../red';
import { isDisabled } from '../strips';

const { path: PATH, strips: STRIPS } = SETTINGS['strip simulator'];

/** Whether a node runs once it is deployed. A node in a subflow does not: only the subflow's instances run. */
const isEnabled = (node: Config): boolean => RED.nodes.workspace(node.z) !== undefined && !isDisabled(node);

/** The simulators in the workspace that are not disabled. */
export const enabledSimulators = (): EditorNode[] =>
  RED.nodes.filterNodes({ type: 'strip simulator' }).filter(isEnabled);

/** Whether a simulator can be added to the flow that is shown, and would run there. */
export const canAddSimulator = (): boolean =>
  isEnabled({ z: RED.workspaces.active() }) && !RED.workspaces.isLocked();

/** The path of a simulator, or of one that is to be added. */
export const pathOf = (simulator?: Config): string => textOf(simulator, 'path', PATH.default);

const checkPath: Check = (value, node) => {
  const path = simulatorPath(String(value));
  if (path === null) return text('strip-simulator.invalid.path');
  const others = isEnabled(node) ? enabledSimulators().filter(({ id }) => id !== node.id) : [];
  const isTaken = others.some((other) => simulatorPath(pathOf(other)) === path);
  return isTaken ? text('strip-simulator.invalid.pathTwice') : '';
};

/** Checks all simulators again: one's path may be wrong because another has the same. */
export function checkSimulators(): void {
  for (const node of RED.nodes.filterNodes({ type: 'strip simulator' })) RED.editor.validateNode(node);
  RED.view.redraw();
}

const checkStrips: Check = (value) => {
  const macs = [value].flat().map((strip) => textOf(strip, 'mac'));
  if (macs.includes('')) return text('strip-simulator.invalid.mac');
  // The simulator would list it, but no account could ask for it.
  const impossible = macs.find((mac) => !isPossibleMac(mac));
  if (impossible !== undefined)
    return text('strip-simulator.invalid.macImpossible', { mac: preview(impossible) });
  const isTwice = new Set(macs.map(macKey)).size < macs.length;
  return isTwice ? text('strip-simulator.invalid.macTwice') : '';
};

export const stripSimulator: Descriptor = {
  checks: { path: checkPath, strips: checkStrips },
  hints: {
    path: (node) => {
      const path = simulatorPath(textOf(node, 'path'));
      return path === null ? '' : text('strip-simulator.hint.path', { path: path === '' ? '/' : path });
    },
  },
  open,
};

/** The strips in a list. Properties that have no field there stay as they are. */
const stripsIn = (list: JQuery): { mac: string }[] =>
  rowsOf(list).map(({ data, part }) => {
    const names = PORTS.map((port) => part(`outlet${port}`));
    return { ...withNames(data, names), mac: part('mac'), name: part('name') };
  });

const nameOf = (outlet: unknown): string => textOf(outlet, 'name');

/** Gives the outlets of a strip these names ("": none). If they have them already, returns the strip as it is. */
export function withNames(strip: Config, names: readonly string[]): Config {
  const outlets: readonly unknown[] = Array.isArray(strip.outlets) ? strip.outlets : OUTLETS_AT_START;
  if (names.every((name, index) => name === nameOf(outlets[index]))) return strip;
  return {
    ...strip,
    outlets: names.map((name, index) => {
      const outlet = outlets[index] ?? { on: false };
      return name === nameOf(outlet) ? outlet : { ...(isRecord(outlet) ? outlet : {}), name };
    }),
  };
}

function open(dialog: Dialog): void {
  const { node } = dialog;
  const check = () => {
    const strips = stripsIn(list);
    dialog.showMessage('strips', dialog.problem('strips', strips));
    const macs = strips.map(({ mac }) => macKey(mac));
    for (const { row, part } of rowsOf(list)) {
      const mac = part('mac');
      const isTwice = macs.indexOf(macKey(mac)) !== macs.lastIndexOf(macKey(mac));
      fieldIn(row, 'mac').attr('aria-invalid', String(isTwice || !isPossibleMac(mac)));
    }
  };
  // `focusin`, because a row that is added by hand gets the focus.
  const list = dialog.find('#smart-strip-strips').on('input focusin', check);
  const options = { addButton: text('strip-simulator.add'), sortable: true, removeItem: check };
  editableRows(list, options, (row, strip) => {
    fieldIn(row, 'mac').val('mac' in strip ? textOf(strip, 'mac') : freeMac(list));
    fieldIn(row, 'name').val(textOf(strip, 'name'));
    const outlets: unknown[] = Array.isArray(strip.outlets) ? strip.outlets : [];
    for (const port of PORTS) {
      const label = text('strip-account.preview.unnamed', { port });
      const field = fieldIn(row, `outlet${port}`).val(nameOf(outlets[port - 1]));
      field.attr({ placeholder: label, 'aria-label': label });
    }
  });
  list.editableList('addItems', Array.isArray(node.strips) ? node.strips : STRIPS.default);
  check();
  dialog.save = () => {
    node.strips = stripsIn(list);
  };
}

/** The first MAC from that of the default strip on that no strip in the list has. */
function freeMac(list: JQuery): string {
  const taken = rowsOf(list).map(({ part }) => macKey(part('mac')));
  let mac = parseInt(STRIPS.default[0].mac, 16);
  while (taken.includes(macKey(mac.toString(16)))) mac++;
  return mac.toString(16).toUpperCase();
}
