/** The side bar tab "smart strips". It asks the runtime for the accounts while it can be seen, and for nothing otherwise. */
import { macKey } from '../api/mac';
import { PORTS, READINGS, type Outlet, type Port, type Strip } from '../api/types';
import { areAccounts, isSwitchedAnswer, type AccountOverview, type Failure } from '../flow/admin-answers';
import { isRecord } from '../values';
import { readOutlets, SETTINGS, textOf, typeOf, type Config } from '../settings';
import { showDiagnostics } from './diagnostics';
import { adminRequest, button, html, noAnswer, placeNodes, svg, text, type EditorNode } from './red';
import {
  countOn,
  findOutlet,
  findStrip,
  isInSubflow,
  learn,
  matches,
  outletOf,
  readingText,
  stripsOf,
} from './strips';

/** Between two questions, in milliseconds. */
const EVERY = 2000;
/** How long a message is shown, in milliseconds. */
const TELL_FOR = 8000;
/** Accounts with more strips start with their strips folded. */
const MOST_UNFOLDED = 6;
const LINE = { width: 100, height: 18 };
/** Between the lines of the canvas, as Node-RED has them at first. */
const GRID = 20;

/** Fills the tab. It lives as long as the page. */
export function sidebar(content: HTMLElement): void {
  const lease = RED.nodes.id();
  /** Loads since the tab was opened, by the keys of strips. */
  const loads = new Map<string, readonly LoadPoint[]>();
  /** The accounts as the runtime last described them; `null`: not yet. */
  let accounts: AccountOverview[] | null = null;
  let uses = new Map<string, EditorNode[]>();
  /** What was folded or unfolded by hand: accounts by their ids, strips by their keys. */
  const folds = new Map<string, boolean>();
  /** States asked for, by the keys of outlets, until the runtime has answered. */
  const pending = new Map<string, boolean>();
  /** Why the last command of an outlet failed, and the state that it has since. */
  const faults = new Map<string, { reason: string; on: boolean | null }>();
  /** Why the accounts are not known; `null` where they are. */
  let failure: Failure | null = null;
  let seen = false;
  /** Timer of the next question. */
  let timer = 0;
  /** Timer of the last message. */
  let told = 0;
  /** The last question; `null` while nothing is asked because the tab cannot be seen. */
  let question: AbortController | null = null;

  const filter = html('input', {
    type: 'search',
    'aria-label': text('strip-sidebar.filter'),
    placeholder: text('strip-sidebar.filter'),
  });
  const status = html('p', { role: 'status', class: 'smart-strip-told' });
  const notice = html('p', { class: 'smart-strip-trouble' });
  const list = html('div', {});
  const empty = html('p', {}, text('strip-sidebar.empty.noAccount'));
  const addAccount = () => RED.editor.editConfig('', 'strip-account', '_ADD_');
  const add = button('red-ui-button', addAccount, text('strip-sidebar.button.add'));
  const simulate = button('red-ui-button', putSimulator, text('strip-sidebar.button.simulator'));
  content.append(filter, notice, empty, list, add, ' ', simulate, status);

  filter.addEventListener('input', draw);
  document.addEventListener('visibilitychange', follow);
  RED.events.on('nodes:add', ({ type }) => {
    if (type !== 'strip-account' || !seen) return;
    draw();
    list.lastElementChild?.scrollIntoView(); // Node-RED lists the newest last
  });
  // The flows have started, which is later than the deploy was answered.
  RED.comms.subscribe('notification/runtime-deploy', askAgain);
  new IntersectionObserver((entries) => {
    seen = entries.at(-1)?.isIntersecting === true;
    follow();
  }).observe(content);

  /** Begins to ask when the tab comes into sight, and ends it when it goes. */
  function follow(): void {
    const mayRead = RED.user.hasPermission('strip-account.read');
    failure = mayRead ? null : noAnswer(403);
    const visible = seen && mayRead && document.visibilityState === 'visible';
    if (!mayRead) draw();
    if (visible && question === null) {
      draw();
      void ask();
    } else if (!visible && question !== null) {
      clearTimeout(timer);
      question.abort();
      question = null;
      void adminRequest('strip-sidebar/release', isRecord, { data: { lease } });
    }
  }

  async function ask(): Promise<void> {
    clearTimeout(timer);
    question?.abort();
    const { signal } = (question = new AbortController());
    const answer = await adminRequest(`strip-sidebar/accounts?lease=${lease}`, areAccounts, { signal });
    if (signal.aborted) return;
    timer = window.setTimeout(() => void ask(), EVERY);
    failure = 'key' in answer ? answer : null;
    if (!('key' in answer)) take(answer);
    draw();
  }

  /** After a switch or a deploy: the answer to a question from before may still tell the old state. */
  function askAgain(): void {
    if (question !== null) void ask();
  }

  /** Says what happened, for screen readers too. */
  function tell(message: string): void {
    clearTimeout(told);
    status.textContent = message;
    told = window.setTimeout(() => (status.textContent = ''), TELL_FOR);
  }

  const stripOf = (account: string, mac: string): Strip | undefined =>
    findStrip(accounts?.find(({ id }) => id === account)?.strips ?? [], mac);

  /** What went wrong, with strips and outlets called by their names. */
  function sentence(account: string, { key, params }: Failure): string {
    const { mac, port, failed } = params;
    if (typeof mac !== 'string') return text(key, params);
    const strip = stripOf(account, mac);
    const name = strip?.name ?? mac;
    const label = (number: unknown) => outletLabel(name, outletOf(strip, Number(number)), Number(number));
    const named = { strip: name, outlet: label(port), failed: label(failed) };
    return text(key, { ...params, ...named });
  }

  function take(answer: AccountOverview[]): void {
    for (const account of answer) {
      // After a deploy an account begins with nothing; what was shown stays until it has asked.
      const before = accounts?.find(({ id }) => id === account.id);
      if (account.available === null && account.strips.length === 0) account.strips = before?.strips ?? [];
      // For the labels of nodes, which ask the service for nothing.
      if (stripsOf(account.id).length === 0) learn(account.id, account.strips);
      for (const strip of account.strips) {
        const key = useKey(account.id, strip.mac, null);
        loads.set(key, addLoad(loads.get(key) ?? [], strip));
      }
    }
    accounts = answer;
  }

  function draw(): void {
    const nodes: EditorNode[] = [];
    RED.nodes.eachConfig((node) => {
      if (node.type === 'strip-account') nodes.push(node);
    });
    uses = usesOf();
    notice.textContent = failure === null ? '' : text(failure.key);
    empty.hidden = simulate.hidden = nodes.length > 0;
    filter.hidden = nodes.length === 0;
    morph(list, html('div', {}, ...(accounts === null ? [] : nodes.map(accountView))));
  }

  function accountView(node: EditorNode): HTMLElement {
    const { id } = node;
    const name = RED.utils.getNodeLabel(node);
    const info = accounts?.find((account) => account.id === id);
    const kind = stateOf(info);
    const { strips = [], error = null, answeredAgo = null } = info ?? {};
    const shown = strips.filter((strip) => matches(strip, filter.value));
    const never = text('strip-sidebar.notAnswered');
    const asked =
      answeredAgo === null ? never : text('strip-sidebar.answered', { time: clock(-answeredAgo) });

    const state = text(`strip-sidebar.state.${kind}`, { time: clock(info?.pausedFor ?? 0) });
    const reportLabel = text('strip-sidebar.button.diagnostics', { name });
    const editLabel = text('strip-sidebar.button.edit', { name });
    const side = html(
      'div',
      { class: 'smart-strip-side' },
      html('span', { class: 'smart-strip-state', 'data-kind': kind }, state),
      info === undefined ? '' : iconButton('fa-bug', reportLabel, () => void showDiagnostics(id)),
      iconButton('fa-pencil', editLabel, () => RED.editor.editConfig('', 'strip-account', id)),
    );
    const folded = folds.get(id) ?? false;
    const top = html('div', { class: 'smart-strip-top' }, html('h3', {}, foldButton(id, name, folded)), side);
    const body = () =>
      html(
        'div',
        {},
        info === undefined ? '' : html('small', {}, asked),
        html('p', { class: 'smart-strip-fault' }, error === null ? '' : sentence(id, error)),
        html('p', { class: 'smart-strip-note' }, shown.length > 0 ? '' : emptyText(node, info)),
        html('ul', {}, ...shown.map((strip) => stripView(id, strip, strips.length > MOST_UNFOLDED))),
      );
    return html('section', { 'data-key': id, 'aria-label': name }, top, folded ? '' : body());
  }

  function stripView(account: string, strip: Strip, startsFolded: boolean): HTMLElement {
    const { mac, available, outlets } = strip;
    const key = useKey(account, mac, null);
    const folded = folds.get(key) ?? startsFolded;
    const counted = countOn(strip);
    const top = html(
      'div',
      { class: 'smart-strip-top' },
      html('h4', {}, foldButton(key, strip.name ?? mac, folded)),
      folded && available && counted ? html('small', {}, text('strip-account.picker.count', counted)) : '',
      html('span', { class: 'smart-strip-state' }, available ? '' : text('strip-account.state.unavailable')),
    );
    const element = html('li', { 'data-key': key, 'data-available': String(available) }, top);
    if (folded) return element;
    const readings = READINGS.filter((name) => strip[name] !== null).map(
      (name) => `${text(`strip-account.reading.${name}`)} ${readingText(strip, name)}`,
    );
    const figures = html('div', { class: 'smart-strip-figures' }, html('code', {}, mac));
    figures.append(html('small', {}, readings.join(' · ')), loadLine(loads.get(key)));
    const none = outlets.length === 0 ? text('strip-sidebar.empty.noOutlets') : '';
    const list = html('ul', {}, ...outlets.map((outlet) => outletView(account, strip, outlet)));
    const used = usedBy(uses.get(key));
    element.append(html('div', {}, figures, html('p', { class: 'smart-strip-note' }, none), list, used));
    return element;
  }

  function outletView(account: string, { mac, name, available }: Strip, outlet: Outlet): HTMLElement {
    const { port } = outlet;
    // What is known last of a strip that is unavailable may have changed since.
    const on = available ? outlet.on : null;
    const key = useKey(account, mac, port);
    const label = outletLabel(name ?? mac, outlet, port);
    const asked = pending.get(key);
    const listed = readOutlets(RED.nodes.node(account)?.protectedOutlets).outlets;
    const isProtected = findOutlet(listed, mac, port) !== undefined;
    const isBlocked = asked !== undefined || (isProtected && on === true);
    // What went wrong is told until the outlet changes.
    if (faults.get(key)?.on !== outlet.on) faults.delete(key);
    const reason = faults.get(key)?.reason ?? '';

    const press = () => void switchOutlet({ account, mac, port, on: on !== true }, label);
    const toggle = button('smart-strip-toggle', () => isBlocked || press());
    toggle.role = on === null ? null : 'switch';
    toggle.ariaChecked = on === null ? null : String(on);
    toggle.ariaLabel = on === null ? text('strip-sidebar.unknown', { outlet: label }) : label;
    toggle.ariaBusy = asked === undefined ? null : 'true';
    toggle.ariaDisabled = isBlocked ? 'true' : null;
    toggle.disabled = !RED.user.hasPermission('strip-account.write');
    toggle.dataset.on = String(asked ?? on);
    const protectedLabel = text('strip-sidebar.protected');
    const place = (type: string) => (event: MouseEvent) =>
      put(event, { id: 'new', type, account, mac, macType: 'str', port: String(port), portType: 'port' });
    const row = html(
      'div',
      { class: 'smart-strip-outlet' },
      toggle,
      html('span', { class: 'smart-strip-name', title: label }, `${port} ${outlet.name ?? ''}`.trim()),
      isProtected
        ? html('i', { class: 'fa fa-lock', role: 'img', title: protectedLabel, 'aria-label': protectedLabel })
        : '',
      iconButton(
        'fa-toggle-on',
        text('strip-sidebar.button.switch', { outlet: label }),
        place('strip switch'),
      ),
      iconButton('fa-eye', text('strip-sidebar.button.watch', { outlet: label }), place('strip watch')),
    );
    const fault = html('p', { class: 'smart-strip-fault' }, reason === '' ? '' : `✕ ${reason}`);
    return html('li', { 'data-key': key }, row, fault, usedBy(uses.get(key)));
  }

  async function switchOutlet(
    command: { account: string; mac: string; port: Port; on: boolean },
    label: string,
  ): Promise<void> {
    const { account, mac, port } = command;
    const key = useKey(account, mac, port);
    pending.set(key, command.on);
    faults.delete(key);
    tell(text('strip-sidebar.told.switching', { outlet: label }));
    draw();
    const answer = await adminRequest('strip-sidebar/switch', isSwitchedAnswer, { data: command });
    pending.delete(key);
    const outlet = outletOf(stripOf(account, mac), port);
    if (answer.ok) {
      if (outlet) outlet.on = answer.on;
      tell(text(`strip-sidebar.told.${answer.on ? 'on' : 'off'}`, { outlet: label }));
    } else {
      const reason = sentence(account, answer);
      faults.set(key, { reason, on: outlet?.on ?? null });
      tell(text('strip-sidebar.told.failed', { outlet: label, reason }));
    }
    draw();
    askAgain();
  }

  function foldButton(key: string, label: string, folded: boolean): HTMLButtonElement {
    const press = () => {
      folds.set(key, !folded);
      draw();
    };
    const element = button('smart-strip-fold', press, label);
    element.title = label;
    element.ariaExpanded = String(!folded);
    return element;
  }

  /** Puts nodes on the canvas, attached to the pointer; with the keyboard into the middle of what is seen. */
  function put(event: MouseEvent, ...nodes: (Config & { type: string })[]): void {
    const z = RED.workspaces.active();
    if (!z || RED.workspaces.isLocked()) {
      tell(text('strip-sidebar.told.locked'));
      return;
    }
    const scope = nodes.map(({ account }) => RED.nodes.node(String(account))?.z).find(Boolean) ?? z;
    if (scope !== z) {
      tell(text('strip-sidebar.told.otherFlow'));
      return;
    }
    const chart = document.getElementById('red-ui-workspace-chart');
    const middle = (scroll = 0, size = 0) => Math.round((scroll + size / 2) / RED.view.scale() / GRID) * GRID;
    const x = middle(chart?.scrollLeft, chart?.clientWidth);
    let y = middle(chart?.scrollTop, chart?.clientHeight);
    // Below what stands there.
    const there = RED.nodes.filterNodes({ z });
    const isNear = (place: unknown, own: number, least: number) => Math.abs(Number(place) - own) < least;
    while (there.some((node) => isNear(node.x, x, 6 * GRID) && isNear(node.y, y, 2 * GRID))) y += GRID;
    const placed = nodes.map((node, index) =>
      node.type === 'strip-account' ? node : { ...node, z, x, y: y + index * 3 * GRID, wires: [[]] },
    );
    const byKeyboard = event.detail === 0;
    placeNodes(placed, !byKeyboard);
    tell(text(byKeyboard ? 'strip-sidebar.told.placed' : 'strip-sidebar.told.place'));
    draw();
  }

  /** With a node that uses the account: Node-RED warns of one that is not used. */
  function putSimulator(event: MouseEvent): void {
    const baseUrl = SETTINGS['strip simulator'].path.default;
    put(
      event,
      { id: 'simulator', type: 'strip simulator' },
      { id: 'watch', type: 'strip watch', account: 'account' },
      { id: 'account', type: 'strip-account', baseUrl },
    );
  }
}

/** Why an account shows no strips, as far as that is known. */
function emptyText(node: EditorNode, info: AccountOverview | undefined): string {
  if (info === undefined && isInSubflow(node)) return text('strip-account.trouble.instance');
  if (info === undefined) return text('strip-account.trouble.notDeployed');
  if (info.strips.length > 0) return text('strip-sidebar.empty.noMatch');
  if (info.available !== true) return '';
  return text(info.readable ? 'strip-sidebar.empty.noStrips' : 'strip-account.trouble.unreadable');
}

/** "Desk strip, outlet 2 (Lamp)" */
function outletLabel(strip: string, outlet: Outlet | undefined, port: number): string {
  const name = outlet?.name ?? null;
  if (name === null) return text('strip-sidebar.outlet', { strip, port });
  return text('strip-sidebar.outletNamed', { strip, port, name });
}

/** The nodes that are fixed to an outlet or a strip, by its key. */
function usesOf(): Map<string, EditorNode[]> {
  const uses = new Map<string, EditorNode[]>();
  for (const node of RED.nodes.filterNodes({})) {
    const key = useOf(node);
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
  const [first, second] = points;
  if (first === undefined || second === undefined) return '';
  const time = new Date(first.at).toLocaleTimeString();
  const { width, height } = LINE;
  const attributes = {
    viewBox: `0 -1 ${width} ${height + 2}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': text('strip-sidebar.line', { time, ...rangeOf(points) }),
  };
  return svg('svg', attributes, svg('polyline', { points: pointsOf(points, width, height) }));
}

/**
 * Makes a part of the page like one that was made afresh. Elements stay, found by their `data-key` or their place, so that the focus and open
 * details survive.
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

/** Time of day so many milliseconds from now. */
const clock = (fromNow: number): string => new Date(Date.now() + fromNow).toLocaleTimeString();

function iconButton(icon: string, label: string, press: (event: MouseEvent) => void): HTMLButtonElement {
  const element = button(
    'smart-strip-icon',
    press,
    html('i', { class: `fa ${icon}`, 'aria-hidden': 'true' }),
  );
  element.ariaLabel = element.title = label;
  return element;
}

/** How an account is doing: a key below `strip-sidebar.state.`. */
type AccountState =
  'notDeployed' | 'asking' | 'working' | 'polling' | 'paused' | 'auth' | 'unreachable' | 'failing';

export function stateOf(account: AccountOverview | undefined): AccountState {
  if (account === undefined) return 'notDeployed';
  if (account.pausedFor !== null) return 'paused';
  const { error } = account;
  if (error === null) {
    if (account.available === null) return 'asking';
    return account.polling ? 'polling' : 'working';
  }
  if (error.code === 'AUTH') return 'auth';
  return error.code === 'UNREACHABLE' || error.code === 'TIMEOUT' ? 'unreachable' : 'failing';
}

/** The load of a strip, and when it was read, in milliseconds. */
interface LoadPoint {
  load: number;
  at: number;
}

/**
 * Adds the load of a strip that was read since the last point. Beyond a limit every second point is dropped, so that the line still begins
 * where it began.
 */
export function addLoad(
  points: readonly LoadPoint[],
  strip: Pick<Strip, 'load' | 'at'>,
  most = 120,
): readonly LoadPoint[] {
  const at = Date.parse(strip.at);
  if (strip.load === null || at <= (points.at(-1)?.at ?? 0)) return points;
  const all = [...points, { load: strip.load, at }];
  return all.length <= most ? all : all.filter((_, index) => index % 2 === 0);
}

function rangeOf(points: readonly LoadPoint[]): { least: number; most: number } {
  const loads = points.map(({ load }) => load);
  return { least: Math.min(...loads), most: Math.max(...loads) };
}

/** Points of a line in a box, for an SVG polyline. */
export function pointsOf(points: readonly LoadPoint[], width: number, height: number): string {
  const { least, most } = rangeOf(points);
  const [start = 0, end = 0] = [points[0]?.at, points.at(-1)?.at];
  return points
    .map(({ load, at }) => {
      const x = ((at - start) / Math.max(1, end - start)) * width;
      const y = most === least ? height / 2 : height - ((load - least) / (most - least)) * height;
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    })
    .join(' ');
}

/** What a flow node is fixed to: an outlet, or a whole strip as `null`. */
export const useKey = (account: string, mac: string, port: Port | null): string =>
  `${account}/${macKey(mac)}/${String(port)}`;

/** The key of the outlet or strip that a node is fixed to; `null` where a message decides. */
export function useOf(node: Config): string | null {
  const { type } = node;
  if (type !== 'strip switch' && type !== 'strip status' && type !== 'strip watch') return null;
  const settings = SETTINGS[type];
  const mac = textOf(node, 'mac');
  if (mac === '' || typeOf(node, 'mac', settings.mac) !== 'str') return null;
  if (settings.port.kind === 'typed' && typeOf(node, 'port', settings.port) !== 'port') return null;
  const port = PORTS.find((known) => String(known) === textOf(node, 'port')) ?? null;
  return useKey(textOf(node, 'account'), mac, port);
}
