// The sidebar tab "smart strips".
import { PORTS, READINGS, type Outlet, type Strip } from '../api/types';
import type { AccountOverview, Failure, OutletRequest } from '../flow/admin-answers';
import { textOf, type Config } from '../settings';
import { descriptorOf } from './descriptors';
import { showDiagnostics } from './diagnostics';
import { isUsed } from './form';
import { LiveAccounts, targetKey, type LoadPoint } from './live-accounts';
import { canAddSimulator, enabledSimulators, pathOf } from './nodes/strip-simulator';
import {
  block,
  button,
  html,
  iconButton,
  line,
  mayDeploy,
  maySwitch,
  placeNodes,
  svg,
  text,
  type EditorNode,
} from './red';
import { fixedTarget } from './strip-picker';
import { isDisabled, isInSubflow, matches, outletKey, outletOf, readingText, stripText } from './strips';

/** The most strips of an account that are drawn: with thousands, the whole editor stands still at each update. The filter finds the others. */
const MAX_SHOWN = 500;
/** How long a message is shown, in milliseconds. */
const MESSAGE_MS = 8000;
/** Accounts with more strips start with their strips folded. */
const MAX_UNFOLDED = 6;
/** Distance between the grid lines of the canvas, by Node-RED's default. */
const GRID = 20;

/** Fills the tab, and asks the runtime for the accounts while the tab is visible. It lives as long as the page. */
export class Sidebar {
  readonly #accounts = new LiveAccounts(() => this.#draw());
  /** The nodes that are fixed to an outlet or a strip, by its key. */
  #uses = new Map<string, EditorNode[]>();
  /** What was folded or unfolded by hand: accounts by their ids, strips by their keys. */
  readonly #folds = new Map<string, boolean>();
  /** Whether the tab is shown, even if the page is hidden. */
  #isShown = false;
  #messageTimer = 0;
  /** The nodes that were put on the canvas last, and the entry for that in Node-RED's history. */
  #placed: { nodes: NewNode[]; event: object | undefined } = { nodes: [], event: undefined };

  readonly #filter = html('input', {
    type: 'search',
    'aria-label': text('strip-sidebar.filter'),
    placeholder: text('strip-sidebar.filter'),
  });
  readonly #status = html('p', { role: 'status', class: 'smart-strip-told' });
  readonly #notice = line('trouble', '');
  readonly #list = html('div', {});
  readonly #empty = html('p', {});
  readonly #add = button('red-ui-button', () => editAccount('_ADD_'), text('strip-sidebar.button.add'));
  readonly #simulate = button(
    'red-ui-button',
    (event) => this.#placeSimulator(event),
    text('strip-sidebar.button.simulator'),
  );
  readonly #buttons = html('div', {}, this.#add, ' ', this.#simulate);

  constructor(content: HTMLElement) {
    content.append(this.#filter, this.#notice, this.#empty, this.#list, this.#buttons, this.#status);

    this.#filter.addEventListener('input', () => this.#draw());
    document.addEventListener('visibilitychange', () => this.#askWhileVisible());
    RED.events.on('nodes:add', ({ type }) => {
      if (type !== 'strip-account' || !this.#isShown) return;
      this.#draw();
      this.#list.lastElementChild?.scrollIntoView(); // Node-RED lists the newest last
    });
    // Node-RED marks the flows as changed when the pointer puts nodes down.
    RED.events.on('workspace:dirty', () => {
      if (this.#status.textContent === text('strip-sidebar.told.place')) this.#tell('');
    });
    // This comes when the flows have started, which is later than the answer to the deploy.
    RED.comms.subscribe('notification/runtime-deploy', () => this.#accounts.deployed());
    new IntersectionObserver((entries) => {
      this.#isShown = entries.at(-1)?.isIntersecting === true;
      this.#askWhileVisible();
    }).observe(content);
  }

  #askWhileVisible(): void {
    if (this.#isShown && document.visibilityState === 'visible') this.#accounts.start();
    else this.#accounts.stop();
  }

  /** Says what happened, for screen readers too. */
  #tell(message: string): void {
    clearTimeout(this.#messageTimer);
    this.#status.textContent = message;
    this.#messageTimer = window.setTimeout(() => (this.#status.textContent = ''), MESSAGE_MS);
  }

  #draw(): void {
    const nodes: EditorNode[] = [];
    RED.nodes.eachConfig((node) => {
      if (node.type === 'strip-account') nodes.push(node);
    });
    this.#uses = nodesByTarget();
    const { all, failure } = this.#accounts;
    this.#notice.textContent = failure === null ? '' : text(failure.key);
    // The palette manager disables nodes, but not this tab.
    const isEnabled = RED.nodes.getType('strip-account') !== undefined;
    this.#simulate.hidden = nodes.length > 0;
    // The first answer takes a while during a deploy, or where Node-RED is busy.
    const isWaiting = all === null && failure === null && nodes.length > 0;
    const key = `strip-sidebar.empty.${isEnabled ? 'noAccount' : 'noType'}`;
    this.#empty.textContent = text(isWaiting ? 'strip-account.preview.reading' : key);
    this.#empty.hidden = nodes.length > 0 && !isWaiting;
    this.#buttons.hidden = !isEnabled || !mayDeploy();
    const views = all === null ? [] : nodes.map((node) => this.#accountView(node));
    this.#filter.hidden = views.length === 0;
    const focused = document.activeElement;
    morph(this.#list, html('div', {}, ...views));
    // An element loses the focus when it is moved, for instance because a strip above it is gone.
    if (focused instanceof HTMLElement && focused !== document.activeElement)
      focused.focus({ preventScroll: true });
  }

  #accountView(node: EditorNode): HTMLElement {
    const { id } = node;
    const info = this.#accounts.find(id);
    const name = RED.utils.getNodeLabel(node);
    // While Node-RED does not answer, the last known state may no longer be true.
    const kind = this.#accounts.failure === null ? stateOf(info) : 'asking';
    const state = text(`strip-sidebar.state.${kind}`, { time: this.#timeOfDay(info?.pausedFor ?? 0) });
    const reportLabel = text('strip-sidebar.button.diagnostics', { name });
    const editLabel = text('strip-sidebar.button.edit', { name });
    const side = block(
      'side',
      // The runtime runs only the instances of a subflow, not the accounts in its template.
      isInSubflow(node) ? '' : html('span', { class: 'smart-strip-state', 'data-kind': kind }, state),
      info ? iconButton('smart-strip-icon', 'fa-bug', reportLabel, () => void showDiagnostics(id)) : '',
      iconButton('smart-strip-icon', 'fa-pencil', editLabel, () => this.#edit(node)),
    );
    const folded = this.#folds.get(id) ?? false;
    const heading = html('h3', {}, this.#foldButton(id, name, folded));
    const top = block('top', heading, side);
    const body = () => (info ? this.#accountBody(info) : html('div', {}, line('note', whyNotRun(node))));
    return html('section', { 'data-key': id, 'aria-label': name }, top, folded ? '' : body());
  }

  /** The time of day, this many milliseconds from when the runtime last described the accounts. */
  #timeOfDay(ms: number): string {
    return new Date(this.#accounts.at + ms).toLocaleTimeString();
  }

  #edit(account: EditorNode): void {
    const flow = textOf(account, 'z');
    // Node-RED would open no dialog, and not say why.
    if (flow !== '' && RED.workspaces.isLocked(flow)) this.#tell(text('strip-sidebar.told.lockedAccount'));
    else editAccount(account.id);
  }

  #accountBody(account: AccountOverview): HTMLElement {
    const { strips, error, answeredAgo, listed } = account;
    const found = strips.filter((strip) => matches(strip, this.#filter.value));
    const shown = found.slice(0, MAX_SHOWN);
    const counts = { shown: shown.length, all: found.length };
    const never = text('strip-sidebar.notAnswered');
    const answered =
      answeredAgo === null ? never : text('strip-sidebar.answered', { time: this.#timeOfDay(-answeredAgo) });
    const isPart = strips.length > 0 && listed === 'part';
    return html(
      'div',
      {},
      html('small', {}, answered),
      line('fault', error ? this.#sentence(account.id, error) : ''),
      line('note', noteAbout(account, shown.length)),
      html('ul', {}, ...shown.map((strip) => this.#stripView(account, strip))),
      line('note', counts.shown < counts.all ? text('strip-account.picker.shown', counts) : ''),
      line('note', isPart ? text('strip-account.preview.incomplete') : ''),
    );
  }

  #stripView(account: AccountOverview, strip: Strip): HTMLElement {
    const { mac, available, outlets } = strip;
    const key = targetKey(account.id, mac, null);
    const folded = this.#folds.get(key) ?? account.strips.length > MAX_UNFOLDED;
    const top = block(
      'top',
      html('h4', {}, this.#foldButton(key, strip.name ?? mac, folded)),
      html('span', { class: 'smart-strip-state' }, folded || !available ? stripText(strip) : ''),
    );
    const element = html('li', { 'data-key': key, 'data-available': String(available) }, top);
    if (folded) return element;
    const readings = READINGS.filter((name) => available && strip[name] !== null).map(
      (name) => `${text(`strip-account.reading.${name}`)} ${readingText(strip, name)}`,
    );
    const load = loadLine(this.#accounts.loads.get(key));
    const values = [html('code', {}, mac), html('small', {}, readings.join(' · ')), load];
    const figures = block('figures', ...values);
    const none = outlets.length === 0 ? text('strip-sidebar.empty.noOutlets') : '';
    const views = outlets.map((outlet) => this.#outletView(account, strip, outlet));
    // Two strips may have the same name, which a screen reader could not tell apart.
    const list = html('ul', { 'data-key': 'outlets', 'aria-label': mac }, ...views);
    const used = usedBy(this.#uses.get(key));
    // Below the outlets, it would look as if it were about the last of them.
    element.append(html('div', {}, figures, used, line('note', none), list));
    return element;
  }

  #outletView({ id: account, protectedOutlets }: AccountOverview, strip: Strip, outlet: Outlet): HTMLElement {
    const { mac } = strip;
    const { port } = outlet;
    const key = targetKey(account, mac, port);
    // As deployed: the toggle acts on the runtime.
    const isProtected = protectedOutlets.map(outletKey).includes(outletKey({ mac, port }));
    // The last known state of an outlet may be old if the strip is unavailable.
    const on = strip.available ? outlet.on : null;
    const label = outletLabel(strip.name ?? mac, outlet, port);
    const lockLabel = text('strip-sidebar.protected');
    const lock = { class: 'fa fa-lock', role: 'img', title: lockLabel, 'aria-label': lockLabel };
    const fixed = { account, mac, macType: 'str', port: String(port), portType: 'port' };
    const placeButton = (kind: 'switch' | 'watch', icon: string) => {
      const node = () => ({ id: RED.nodes.id(), type: `strip ${kind}`, ...fixed });
      const title = text(`strip-sidebar.button.${kind}`, { outlet: label });
      return iconButton('smart-strip-icon', icon, title, (event) => this.#place(event, node()));
    };
    const buttons = mayDeploy()
      ? [placeButton('switch', 'fa-toggle-on'), placeButton('watch', 'fa-eye')]
      : [];
    const row = block(
      'outlet',
      this.#toggle({ account, mac, port, on: on !== true }, on, isProtected, label),
      html('span', { class: 'smart-strip-name', title: label }, `${port} ${outlet.name ?? ''}`.trim()),
      isProtected ? html('i', lock) : '',
      html('span', { class: 'smart-strip-buttons' }, ...buttons),
    );
    const failed = this.#accounts.failed.get(key);
    const fault = failed ? `✕ ${this.#sentence(account, failed.failure)}` : '';
    return html('li', { 'data-key': key }, row, line('fault', fault), usedBy(this.#uses.get(key)));
  }

  /** `on`: the state of the outlet; `label`: its name. */
  #toggle(command: OutletRequest, on: boolean | null, isProtected: boolean, label: string): HTMLElement {
    const asked = this.#accounts.pending.get(targetKey(command.account, command.mac, command.port));
    const isPending = asked !== undefined;
    const isRefused = isProtected && on === true;
    const toggle = button('smart-strip-toggle', () => {
      if (isPending) return;
      if (isRefused) this.#tell(text('strip-sidebar.protected'));
      else void this.#switchOutlet(command, label);
    });
    if (on === null) {
      // A question mark does not say what a click does.
      toggle.title = toggle.ariaLabel = text('strip-sidebar.unknown', { outlet: label });
    } else {
      toggle.role = 'switch';
      toggle.ariaChecked = String(on);
      toggle.ariaLabel = label;
    }
    if (isPending) toggle.ariaBusy = 'true';
    if (isPending || isRefused) toggle.ariaDisabled = 'true';
    toggle.disabled = !maySwitch();
    if (toggle.disabled) toggle.title = text('strip-account.trouble.notAllowed');
    toggle.dataset.on = String(asked ?? on);
    return toggle;
  }

  async #switchOutlet(command: OutletRequest, label: string): Promise<void> {
    this.#tell(text('strip-sidebar.told.switching', { outlet: label }));
    const answer = await this.#accounts.switchOutlet(command);
    if (answer.ok) this.#tell(text(`strip-sidebar.told.${answer.on ? 'on' : 'off'}`, { outlet: label }));
    else {
      const reason = this.#sentence(command.account, answer);
      this.#tell(text('strip-sidebar.told.failed', { outlet: label, reason }));
    }
  }

  /** The sentence of a failure, which calls strips and outlets by their names. */
  #sentence(account: string, { key, params }: Failure): string {
    const { mac, port, failed } = params;
    if (typeof mac !== 'string') return text(key, params);
    const strip = this.#accounts.strip(account, mac);
    const name = strip?.name ?? mac;
    const label = (number: unknown) => outletLabel(name, outletOf(strip, Number(number)), Number(number));
    return text(key, { ...params, strip: name, outlet: label(port), failed: label(failed) });
  }

  #foldButton(key: string, label: string, folded: boolean): HTMLButtonElement {
    const press = () => {
      this.#folds.set(key, !folded);
      this.#draw();
    };
    const element = button('smart-strip-fold', press, label);
    element.ariaExpanded = String(!folded);
    return element;
  }

  #placeSimulator(event: MouseEvent): void {
    const [there] = enabledSimulators();
    // Where nothing at all can be placed, the next function says so.
    if (there || canAddSimulator() || RED.workspaces.isLocked()) this.#place(event, ...simulatorNodes(there));
    else this.#tell(text('strip-sidebar.told.noSimulator'));
    // With the keyboard, the focus was on this button.
    if (event.detail === 0 && this.#simulate.hidden) this.#add.focus();
  }

  /** Puts nodes on the canvas: attached to the pointer or, with the keyboard or a finger, in the middle of the visible part. */
  #place(event: MouseEvent, ...added: NewNode[]): void {
    // Node-RED would drop nodes that are still attached to the pointer, all in one place. So they are attached again, together with the new ones.
    const last = this.#placed;
    const areAttached = RED.view.state() === RED.state.IMPORT_DRAGGING && RED.history.peek() === last.event;
    const nodes = areAttached ? [...last.nodes, ...added] : added;
    const z = RED.workspaces.active();
    if (!z || RED.workspaces.isLocked()) {
      this.#tell(text('strip-sidebar.told.locked'));
      return;
    }
    const scope = nodes.map(({ account }) => RED.nodes.node(String(account))?.z).find(Boolean) ?? z;
    if (scope !== z) {
      this.#tell(text('strip-sidebar.told.otherFlow'));
      return;
    }
    if (areAttached) RED.actions.invoke('core:select-none');
    // A finger moves nothing before it touches the canvas: Node-RED would leave the nodes where it attached them, in a corner.
    const byFinger = event instanceof PointerEvent && event.pointerType === 'touch';
    const isAttached = event.detail !== 0 && !byFinger;
    placeNodes(arrange(nodes, z), isAttached);
    this.#placed = { nodes, event: RED.history.peek() };
    this.#tell(text(`strip-sidebar.told.${isAttached ? 'place' : 'placed'}`));
    this.#draw();
  }
}

const editAccount = (id: string): void => RED.editor.editConfig('', 'strip-account', id);

type NewNode = Config & { type: string };

/** Places nodes one below the other, in the middle of the visible part of the flow `z`, or below the nodes that are there. */
function arrange(nodes: readonly NewNode[], z: string): object[] {
  const chart = document.getElementById('red-ui-workspace-chart');
  const middle = (scroll = 0, size = 0) => Math.round((scroll + size / 2) / RED.view.scale() / GRID) * GRID;
  // In Node-RED 5, the sidebar on the right lies over the canvas.
  const [left = 0, right = 0] = [chart, document.getElementById('red-ui-sidebar')].map(
    (element) => element?.getBoundingClientRect().left,
  );
  const x = middle(chart?.scrollLeft, Math.min(chart?.clientWidth ?? 0, right - left));
  let y = middle(chart?.scrollTop, chart?.clientHeight);
  const others = RED.nodes.filterNodes({ z });
  const isNear = (place: unknown, own: number, within: number) => Math.abs(Number(place) - own) < within;
  while (others.some((node) => isNear(node.x, x, 6 * GRID) && isNear(node.y, y, 2 * GRID))) y += GRID;
  return nodes.map((node, index) =>
    node.type === 'strip-account' ? node : { ...node, z, x, y: y + index * 3 * GRID, wires: [[]] },
  );
}

/**
 * An account, a node that uses it, because Node-RED warns about one that is not used, and a simulator for it, unless there is one: `there`. Two with
 * the same path would not both answer.
 */
const simulatorNodes = (there?: EditorNode): NewNode[] => [
  ...(there ? [] : [{ id: 'simulator', type: 'strip simulator' }]),
  { id: 'watch', type: 'strip watch', account: 'account' },
  { id: 'account', type: 'strip-account', baseUrl: pathOf(there) },
];

/** Why Node-RED does not run an account, and what to do. */
function whyNotRun(node: EditorNode): string {
  // A deploy does not start flows that are stopped.
  const reason = isDisabled(node) ? 'disabled' : RED.runtime.started ? 'undeployed' : 'stopped';
  return text(`strip-account.trouble.${isInSubflow(node) ? 'instance' : reason}`);
}

/** Why an account shows no strips, or no states, as far as that is known. `shown`: how many strips it shows. */
function noteAbout({ strips, available, readable }: AccountOverview, shown: number): string {
  if (shown === 0 && strips.length > 0) return text('strip-sidebar.empty.noMatch');
  if (shown === 0 && available !== true) return '';
  if (!readable) return text('strip-account.trouble.unreadable');
  return shown === 0 ? text('strip-sidebar.empty.noStrips') : '';
}

/** "Desk strip, outlet 2 (Lamp)" */
function outletLabel(strip: string, outlet: Outlet | undefined, port: number): string {
  const name = outlet?.name ?? null;
  if (name === null) return text('strip-sidebar.outlet', { strip, port });
  return text('strip-sidebar.outletNamed', { strip, port, name });
}

/** The nodes that are fixed to an outlet or a strip, by its key. */
function nodesByTarget(): Map<string, EditorNode[]> {
  const uses = new Map<string, EditorNode[]>();
  for (const node of RED.nodes.filterNodes({})) {
    const key = targetKeyOf(node);
    if (key !== null) uses.set(key, [...(uses.get(key) ?? []), node]);
  }
  return uses;
}

function usedBy(nodes: readonly EditorNode[] = []): HTMLElement | '' {
  if (nodes.length === 0) return '';
  const items = nodes.map((node) => {
    const reveal = button('', () => RED.view.reveal(node.id), RED.utils.getNodeLabel(node));
    return html('li', { 'data-key': node.id }, reveal);
  });
  const summary = html('summary', {}, text('strip-sidebar.used', { count: nodes.length }));
  return html('details', { class: 'smart-strip-used' }, summary, html('ul', {}, ...items));
}

function loadLine(points: readonly LoadPoint[] = []): SVGElement | '' {
  const [first, last] = [points[0], points.at(-1)];
  if (first === last || !first || !last) return '';
  const time = new Date(first.at).toLocaleTimeString();
  const loads = points.map(({ load }) => load);
  const [min, max] = [Math.min(...loads), Math.max(...loads)];
  // The margin shows the whole thickness of the line at the edges, and keeps the line in the middle if nothing changes.
  const margin = (max - min) / 18 || 1;
  const attributes = {
    viewBox: `0 ${-max - margin} ${last.at - first.at} ${max - min + 2 * margin}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': text('strip-sidebar.line', { time, min, max }),
  };
  const places = points.map(({ load, at }) => `${at - first.at},${-load}`);
  return svg('svg', attributes, svg('polyline', { points: places.join(' ') }));
}

/**
 * Changes a part of the page so that it equals a new one. Elements are found by their `data-key` or their place, and stay, so that the focus and
 * open details are kept.
 */
function morph(old: Element, fresh: Element): void {
  for (const name of old.getAttributeNames())
    if (name !== 'open' && !fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old instanceof HTMLElement && fresh instanceof HTMLElement) old.onclick = fresh.onclick;
  const keyed = new Map(Array.from(old.children, (child) => [keyOf(child), child]));
  const children = Array.from(fresh.childNodes);
  children.forEach((child, index) => {
    const there = old.childNodes[index] ?? null;
    const key = keyOf(child);
    const found = key === undefined ? there : keyed.get(key);
    const stays = found?.nodeName === child.nodeName && keyOf(found) === key ? found : child;
    if (stays !== there) old.insertBefore(stays, there);
    if (stays instanceof Element && child instanceof Element) {
      if (stays !== child) morph(stays, child);
    } else if (stays.nodeValue !== child.nodeValue) stays.nodeValue = child.nodeValue;
  });
  while (old.childNodes.length > children.length) old.lastChild?.remove();
}

const keyOf = (node: Node): string | undefined =>
  node instanceof HTMLElement ? node.dataset.key : undefined;

/** How an account is doing: a key below `strip-sidebar.state.`. */
export function stateOf(account: AccountOverview | undefined) {
  if (account === undefined) return 'notRunning';
  if (account.pausedFor !== null) return 'paused';
  const code = account.error?.code;
  if (code === 'AUTH') return 'auth';
  if (code === 'UNREACHABLE' || code === 'TIMEOUT') return 'unreachable';
  if (code !== undefined) return 'failing';
  if (account.available === null) return 'asking';
  if (!account.readable) return 'unreadable';
  return account.polling ? 'polling' : 'working';
}

/** The key of the outlet or strip that a node is fixed to; `null` if a message decides. */
export function targetKeyOf(node: Config): string | null {
  const { mac, port } = fixedTarget(node);
  if (mac === '' || port === null) return null;
  const usesPort = isUsed(descriptorOf(node), node, 'port');
  const outlet = PORTS.find((known) => usesPort && String(known) === port) ?? null;
  return targetKey(textOf(node, 'account'), mac, outlet);
}
