/** The side bar tab "smart strips". It asks the runtime for the accounts while it can be seen, and for nothing otherwise. */
import { macKey } from '../api/mac';
import { PORTS, READINGS, type Outlet, type Port, type Strip } from '../api/types';
import { areAccounts, isSwitchedAnswer, type AccountOverview, type Failure } from '../flow/admin-answers';
import { isRecord } from '../values';
import { readOutlets, SETTINGS, textOf, typeOf, type Config } from '../settings';
import { showDiagnostics } from './diagnostics';
import { adminRequest, button, html, noAnswer, placeNodes, text, type EditorNode } from './red';
import { countOn, findOutlet, findStrip, learn, outletOf, readingText, stripsOf } from './strips';

/** Between two questions, in milliseconds. */
const EVERY = 2000;
/** How long a message stands, in milliseconds. */
const TELL_FOR = 8000;
/** Accounts with more strips start with their strips folded. */
const MOST_UNFOLDED = 6;
const LINE = { width: 100, height: 18 };

/** A part of the page that lives as long as what it shows. */
interface View<Data> {
  readonly element: HTMLElement;
  update(data: Data): void;
}

/** Fills the tab. It lives as long as the page. */
export function sidebar(content: HTMLElement): void {
  const lease = RED.nodes.id();
  const histories = new Map<string, History>();
  /** What the runtime last said of them; `null`: nothing yet. */
  let accounts: AccountOverview[] | null = null;
  let uses = new Map<string, EditorNode[]>();
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
  const drawAccounts = keyed(list, accountView, (node: EditorNode) => node.id);

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
    setText(status, message);
    told = window.setTimeout(() => setText(status, ''), TELL_FOR);
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
      for (const { mac, load } of account.strips) {
        if (load === null) continue;
        const key = useKey(account.id, mac, null);
        const history = histories.get(key) ?? new History(Date.now());
        histories.set(key, history);
        history.add(load);
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
    setText(notice, failure === null ? '' : text(failure.key));
    empty.hidden = simulate.hidden = nodes.length > 0;
    filter.hidden = nodes.length === 0;
    drawAccounts(accounts === null ? [] : nodes);
  }

  function accountView({ id }: EditorNode): View<EditorNode> {
    let hasManyStrips = false;
    const fold = foldButton(() => false);
    const state = html('span', { class: 'smart-strip-state' });
    const edit = iconButton('fa-pencil', () => RED.editor.editConfig('', 'strip-account', id));
    const report = iconButton('fa-bug', () => void showDiagnostics(id));
    const asked = html('small', {});
    const reason = html('p', { class: 'smart-strip-fault' });
    const hint = html('p', { class: 'smart-strip-note' });
    const strips = html('ul', {});
    const body = html('div', {}, asked, reason, hint, strips);
    const heading = html('h3', {}, fold.element);
    const side = html('div', { class: 'smart-strip-side' }, state, report, edit);
    const top = html('div', { class: 'smart-strip-top' }, heading, side);
    const element = html('section', {}, top, body);
    const drawStrips = keyed(
      strips,
      (strip: Strip) => stripView(id, strip, () => hasManyStrips),
      ({ mac }) => macKey(mac),
    );

    return {
      element,
      update(node) {
        const name = RED.utils.getNodeLabel(node);
        const info = accounts?.find((account) => account.id === id);
        const kind = stateOf(info);
        const all = info?.strips ?? [];
        hasManyStrips = all.length > MOST_UNFOLDED;
        const shown = all.filter((strip) => matches(strip, filter.value));
        element.ariaLabel = name;
        fold.update(name);
        body.hidden = fold.folded();
        state.dataset.kind = kind;
        setText(state, text(`strip-sidebar.state.${kind}`, { time: clock(info?.pausedFor ?? 0) }));
        setLabel(edit, text('strip-sidebar.button.edit', { name }));
        setLabel(report, text('strip-sidebar.button.diagnostics', { name }));
        const ago = info?.answeredAgo ?? null;
        const never = text('strip-sidebar.notAnswered');
        setText(asked, ago === null ? never : text('strip-sidebar.answered', { time: clock(-ago) }));
        asked.hidden = report.hidden = info === undefined;
        const error = info?.error ?? null;
        setText(reason, error === null ? '' : sentence(id, error));
        const none = info?.available === true && all.length === 0 ? 'noStrips' : '';
        const unmatched = all.length > 0 && shown.length === 0 ? 'noMatch' : none;
        const what = kind === 'notDeployed' ? kind : unmatched;
        setText(hint, what === '' ? '' : text(`strip-sidebar.empty.${what}`));
        drawStrips(shown);
      },
    };
  }

  function stripView(account: string, first: Strip, startsFolded: () => boolean): View<Strip> {
    const key = useKey(account, first.mac, null);
    const fold = foldButton(startsFolded);
    const mac = html('code', {});
    const available = html('span', { class: 'smart-strip-state' });
    const count = html('small', {});
    const readings = html('small', {});
    const line = loadLine();
    const hint = html('p', { class: 'smart-strip-note' });
    const outlets = html('ul', {});
    const used = usedBy();
    const figures = html('div', { class: 'smart-strip-figures' }, mac, readings, line.element);
    const body = html('div', {}, figures, hint, outlets, used.element);
    const top = html('div', { class: 'smart-strip-top' }, html('h4', {}, fold.element), count, available);
    const element = html('li', {}, top, body);
    let strip = first;
    const drawOutlets = keyed(
      outlets,
      (outlet: Outlet) => outletView(account, () => strip, outlet.port),
      ({ port }) => String(port),
    );

    return {
      element,
      update(current) {
        strip = current;
        fold.update(strip.name ?? strip.mac);
        body.hidden = fold.folded();
        setText(mac, strip.mac);
        element.dataset.available = String(strip.available);
        setText(available, strip.available ? '' : text('strip-account.state.unavailable'));
        const counted = countOn(strip);
        setText(count, counted === null ? '' : text('strip-account.picker.count', counted));
        count.hidden = !fold.folded();
        const read = READINGS.filter((name) => strip[name] !== null).map(
          (name) => `${text(`strip-sidebar.reading.${name}`)} ${readingText(strip, name)}`,
        );
        setText(readings, read.join(' · '));
        line.update(histories.get(key));
        setText(hint, strip.outlets.length === 0 ? text('strip-sidebar.empty.noOutlets') : '');
        drawOutlets(strip.outlets);
        used.update(uses.get(key) ?? []);
      },
    };
  }

  function outletView(account: string, stripNow: () => Strip, port: Port): View<Outlet> {
    const { mac } = stripNow();
    const key = useKey(account, mac, port);
    /** The state asked for, until the runtime has answered. */
    let pending: boolean | null = null;
    /** Why the last command failed; "" where it did not. */
    let reason = '';
    let now: boolean | null = null;
    let label = '';
    const toggle = button('smart-strip-toggle', () => void press());
    const name = html('span', { class: 'smart-strip-name' });
    const lock = html('i', { class: 'fa fa-lock', role: 'img' });
    const place = (type: string) => (event: MouseEvent) =>
      put(event, { id: 'new', type, account, mac, macType: 'str', port: String(port), portType: 'port' });
    const addSwitch = iconButton('fa-toggle-on', place('strip switch'));
    const addWatch = iconButton('fa-eye', place('strip watch'));
    const used = usedBy();
    const fault = html('p', { class: 'smart-strip-fault' });
    const row = html('div', { class: 'smart-strip-outlet' }, toggle, name, lock, addSwitch, addWatch);
    const element = html('li', {}, row, fault, used.element);

    async function press(): Promise<void> {
      if (toggle.ariaDisabled === 'true') return;
      const on = now !== true;
      pending = on;
      reason = '';
      tell(text('strip-sidebar.told.switching', { outlet: label }));
      draw();
      const data = { account, mac, port, on };
      const answer = await adminRequest('strip-sidebar/switch', isSwitchedAnswer, { data });
      pending = null;
      if (answer.ok) {
        const outlet = outletOf(stripOf(account, mac), port);
        if (outlet) outlet.on = answer.on;
        tell(text(`strip-sidebar.told.${answer.on ? 'on' : 'off'}`, { outlet: label }));
      } else {
        reason = sentence(account, answer);
        tell(text('strip-sidebar.told.failed', { outlet: label, reason }));
      }
      draw();
      askAgain();
    }

    return {
      element,
      update(outlet) {
        const strip = stripNow();
        label = outletLabel(strip.name ?? strip.mac, outlet, port);
        if (now !== outlet.on) reason = '';
        now = outlet.on;
        const { outlets: kept } = readOutlets(RED.nodes.node(account)?.protectedOutlets);
        const isProtected = findOutlet(kept, mac, port) !== undefined;
        toggle.role = now === null ? null : 'switch';
        toggle.ariaChecked = now === null ? null : String(now);
        toggle.ariaLabel = now === null ? text('strip-sidebar.unknown', { outlet: label }) : label;
        toggle.ariaBusy = pending === null ? null : 'true';
        toggle.ariaDisabled = pending !== null || (isProtected && now === true) ? 'true' : null;
        toggle.disabled = !RED.user.hasPermission('strip-account.write');
        toggle.dataset.on = String(pending ?? now);
        setText(name, outlet.name === null ? String(port) : `${port} ${outlet.name}`);
        name.title = label;
        lock.hidden = !isProtected;
        setLabel(lock, text('strip-sidebar.protected'));
        setLabel(addSwitch, text('strip-sidebar.button.switch', { outlet: label }));
        setLabel(addWatch, text('strip-sidebar.button.watch', { outlet: label }));
        setText(fault, reason === '' ? '' : `✕ ${reason}`);
        used.update(uses.get(key) ?? []);
      },
    };
  }

  function foldButton(startsFolded: () => boolean) {
    /** `null`: it was not pressed yet. */
    let chosen: boolean | null = null;
    const folded = () => chosen ?? startsFolded();
    const element = button('smart-strip-fold', () => {
      chosen = !folded();
      draw();
    });
    return {
      element,
      folded,
      update(label: string) {
        setText(element, label);
        element.title = label;
        element.ariaExpanded = String(!folded());
      },
    };
  }

  /** Puts nodes on the canvas, attached to the pointer; with the keyboard into the middle of what is seen. */
  function put(event: MouseEvent, ...nodes: (Config & { type: string })[]): void {
    const z = RED.workspaces.active();
    if (!z || RED.workspaces.isLocked()) {
      tell(text('strip-sidebar.told.locked'));
      return;
    }
    const chart = document.getElementById('red-ui-workspace-chart');
    const middle = (scroll = 0, size = 0) => (scroll + size / 2) / RED.view.scale();
    const x = middle(chart?.scrollLeft, chart?.clientWidth);
    const y = middle(chart?.scrollTop, chart?.clientHeight);
    const placed = nodes.map((node, index) =>
      node.type === 'strip-account' ? node : { ...node, z, x, y: y + index * 60, wires: [[]] },
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

function usedBy(): View<EditorNode[]> {
  const summary = html('summary', {});
  const list = html('ul', {});
  const element = html('details', { class: 'smart-strip-used' }, summary, list);
  const draw = keyed(
    list,
    (node: EditorNode): View<EditorNode> => {
      const reveal = button('', () => RED.view.reveal(node.id));
      return {
        element: html('li', {}, reveal),
        update: (now) => setText(reveal, RED.utils.getNodeLabel(now)),
      };
    },
    ({ id }) => id,
  );
  return {
    element,
    update(nodes) {
      element.hidden = nodes.length === 0;
      setText(summary, text('strip-sidebar.used', { count: nodes.length }));
      draw(nodes);
    },
  };
}

function loadLine() {
  const namespace = 'http://www.w3.org/2000/svg';
  const element = document.createElementNS(namespace, 'svg');
  const line = document.createElementNS(namespace, 'polyline');
  const { width, height } = LINE;
  element.append(line);
  element.setAttribute('viewBox', `0 -1 ${width} ${height + 2}`);
  element.setAttribute('preserveAspectRatio', 'none');
  element.setAttribute('role', 'img');
  return {
    element,
    update(history: History | undefined) {
      const values = history?.values ?? [];
      element.style.display = values.length < 2 ? 'none' : '';
      if (history === undefined || values.length < 2) return;
      const [least, most] = [Math.min(...values), Math.max(...values)];
      const time = new Date(history.since).toLocaleTimeString();
      element.ariaLabel = text('strip-sidebar.line', { time, least, most });
      line.setAttribute('points', history.points(width, height));
    },
  };
}

/**
 * Draws a list whose elements stay with what they show, so that focus and open details survive. What leaves the list is kept as it was until
 * it comes back.
 */
function keyed<Data>(
  parent: HTMLElement,
  create: (data: Data) => View<Data>,
  keyOf: (data: Data) => string,
): (items: readonly Data[]) => void {
  const views = new Map<string, View<Data>>();
  return (items) => {
    const gone = new Set(parent.children);
    items.forEach((item, index) => {
      const view = views.get(keyOf(item)) ?? create(item);
      views.set(keyOf(item), view);
      view.update(item);
      gone.delete(view.element);
      const there = parent.children[index] ?? null;
      if (there !== view.element) parent.insertBefore(view.element, there);
    });
    for (const element of gone) element.remove();
  };
}

/** Time of day so many milliseconds from now. */
const clock = (fromNow: number): string => new Date(Date.now() + fromNow).toLocaleTimeString();

const iconButton = (icon: string, press: (event: MouseEvent) => void): HTMLButtonElement =>
  button('smart-strip-icon', press, html('i', { class: `fa ${icon}`, 'aria-hidden': 'true' }));

function setText(element: Element, value: string): void {
  if (element.textContent !== value) element.textContent = value;
}

function setLabel(element: HTMLElement, label: string): void {
  element.ariaLabel = label;
  element.title = label;
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

/** Whether a strip has all words of the filter in its name, its MAC or the names of its outlets. */
export function matches(strip: Strip, filter: string): boolean {
  const text = [strip.name, strip.mac, ...strip.outlets.map(({ name }) => name)].join(' ').toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word) || (word !== '' && macKey(strip.mac).includes(macKey(word))));
}

/** Values of a reading since the tab was opened. Beyond a limit every second one is dropped, so that it still begins there. */
export class History {
  readonly values: number[] = [];
  /** Wall-clock milliseconds of the first value. */
  readonly since: number;
  readonly #most: number;
  /** Only every n-th value is kept. */
  #step = 1;
  #count = 0;

  constructor(since: number, most = 120) {
    this.since = since;
    this.#most = most;
  }

  add(value: number): void {
    if (this.#count++ % this.#step !== 0) return;
    this.values.push(value);
    if (this.values.length < this.#most) return;
    const kept = this.values.filter((_, index) => index % 2 === 0);
    this.values.splice(0, this.values.length, ...kept);
    this.#step *= 2;
  }

  /** Points of a line in a box, for an SVG polyline. */
  points(width: number, height: number): string {
    const least = Math.min(...this.values);
    const range = Math.max(...this.values) - least;
    const step = width / Math.max(1, this.values.length - 1);
    return this.values
      .map((value, index) => {
        const y = range === 0 ? height / 2 : height - ((value - least) / range) * height;
        return `${(index * step).toFixed(1)},${y.toFixed(1)}`;
      })
      .join(' ');
  }
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
