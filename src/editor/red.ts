import type { Params } from '../api/errors';
import type { Failure } from '../flow/admin-answers';
import { fill } from '../values';

/** A node in the editor. Its properties are as the flow file has them, of any type. */
export interface EditorNode {
  id: string;
  type: string;
  /** Not deployed yet, or changed since. */
  changed?: boolean;
  /** To be drawn again. */
  dirty?: boolean;
  /** Its label may have another width now. */
  resize?: boolean;
  /** Its width; missing until it was drawn for the first time. */
  w?: number;
  /**
   * Credentials that were typed since the last deploy, and which ones the runtime has: it never sends a password back. Missing until the node's dialog
   * was open, and again after each deploy.
   */
  credentials?: Record<string, unknown>;
  _def: { category: string };
  [property: string]: unknown;
}

/** The part of Node-RED's editor that is used here. Node-RED publishes no types for it, and the community's types lag behind 4.1. */
interface Editor {
  actions: { invoke(name: string): void };
  /** What can be undone. */
  history: { peek(): object | undefined };
  state: { IMPORT_DRAGGING: number; JOINING: number };
  /** `started`: the flows run. */
  runtime: { started: boolean };
  _(key: string, params?: Record<string, unknown>): string;
  nodes: {
    /** A new random id. */
    id(): string;
    node(id: string): EditorNode | null | undefined;
    /** The definition of a node type that is installed and enabled. */
    getType(type: string): object | undefined;
    filterNodes(filter: { type?: string; z?: unknown }): EditorNode[];
    /** The template with this id. */
    subflow(id: unknown): object | undefined;
    /** The flow with this id. */
    workspace(id: unknown): { disabled?: boolean } | undefined;
    eachConfig(visit: (node: EditorNode) => void): void;
    dirty(dirty: boolean): void;
  };
  /** Messages from the runtime to all editors. */
  comms: { subscribe(topic: string, listener: () => void): void };
  events: {
    /** For events about a node or a flow. */
    on(event: string, listener: (node: { id: string; type: string; outletNames?: unknown }) => void): void;
    emit(event: 'nodes:change', node: EditorNode): void;
  };
  utils: {
    getNodeLabel(node: EditorNode): string;
    validateTypedProperty(value: string, type: string, options: object): true | string;
  };
  editor: {
    editConfig(name: string, type: string, id: string): void;
    /** Marks the node if a check finds something wrong with it. */
    validateNode(node: EditorNode): void;
  };
  user: { hasPermission(permission: string): boolean };
  view: {
    /** One of `RED.state`. */
    state(): number;
    redraw(): void;
    focus(): void;
    /** Brings a node into sight and highlights it. */
    reveal(id: string): void;
    scale(): number;
    importNodes(nodes: readonly object[], options: Record<string, boolean>): void;
  };
  workspaces: {
    /** Id of the flow that is shown; 0 or "": none. */
    active(): string | 0;
    /** Without an id: of the flow that is shown. */
    isLocked(id?: string): boolean;
  };
}

/** One type of a typedInput. */
export interface InputType {
  value: string;
  label: string;
  icon?: string;
  hasValue?: boolean;
  /** Draws the value. If it is given, there is no text field. */
  valueLabel?: (container: JQuery, value: string) => void;
}

declare global {
  const RED: Editor;

  interface JQuery {
    typedInput(options: { default: string; types: (string | InputType)[]; typeField?: string }): this;
    typedInput(property: 'type' | 'value'): string;
    typedInput(property: 'type' | 'value', value: string): this;
    editableList(options: {
      addButton: string;
      removable: boolean;
      sortable: boolean;
      height: 'auto';
      /** `data`: what was added; an empty object if the add button was pressed. */
      addItem: (row: JQuery, index: number, data: unknown) => void;
      removeItem?: () => void;
    }): this;
    editableList(method: 'items'): JQuery;
    editableList(method: 'addItems', data: readonly unknown[]): this;
  }
}

/** A text in the language of this browser. The beginning of the key names the catalogue; otherwise it is the account's, which all nodes share. */
export function text(key: string, params: Params = {}): string {
  const set = /^strip-[a-z]+/.exec(key)?.[0] ?? 'strip-account';
  return fill(RED._(`@smart-strip/node-red-smart-strip/${set}:${key}`, { skipInterpolation: true }), params);
}

type Attributes = Readonly<Record<string, string>>;
type Child = Node | string;

/** An element of the page. Text goes in as text: what a service or a person calls a strip never becomes HTML. */
export function html<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes,
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  return build(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export const svg = (tag: string, attributes: Attributes, ...children: Node[]): SVGElement =>
  build(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

function build<Kind extends Element>(element: Kind, attributes: Attributes, children: Child[]): Kind {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A button with the CSS class `kind`. */
export function button(kind: string, press: (event: MouseEvent) => void, ...children: Child[]) {
  const element = html('button', { type: 'button', class: kind }, ...children);
  element.onclick = press;
  return element;
}

/** A button with nothing but an icon of Font Awesome. */
export function iconButton(kind: string, icon: string, label: string, press: (event: MouseEvent) => void) {
  const element = button(kind, press, html('i', { class: `fa ${icon}`, 'aria-hidden': 'true' }));
  element.title = element.ariaLabel = label;
  return element;
}

/** A block with the CSS class `smart-strip-<kind>`. */
export const block = (kind: string, ...children: Child[]): HTMLElement =>
  html('div', { class: `smart-strip-${kind}` }, ...children);

/** A line of text, with the CSS class `smart-strip-<kind>`. */
export const line = (kind: string, sentence: string): HTMLElement =>
  html('p', { class: `smart-strip-${kind}` }, sentence);

/** Puts nodes on the canvas: at their coordinates, or attached to the pointer. */
export function placeNodes(nodes: readonly object[], attached = false): void {
  RED.view.importNodes(nodes, {
    generateIds: true,
    applyNodeDefaults: true,
    touchImport: !attached,
    notify: false,
  });
  // With the focus, Escape removes them again. When the pointer puts them down, Node-RED itself marks the flows as changed.
  if (attached) RED.view.focus();
  else RED.nodes.dirty(true);
}

/** A failure in the editor itself, by its key below `strip-account.trouble`. */
export const trouble = (kind: string): Failure & { ok: false } => ({
  ok: false,
  code: '',
  key: `strip-account.trouble.${kind}`,
  params: {},
});

/** Why the runtime did not answer, by the HTTP status (0: no answer at all; 502 to 504: a reverse proxy says so). */
function reasonOf(status: number): string {
  if (status === 404) return 'notDeployed';
  if (status === 401 || status === 403) return 'forbidden';
  return [0, 502, 503, 504].includes(status) ? 'silent' : 'unexpected';
}

/** Whether the runtime tells this user about accounts and strips. */
export const mayRead = (): boolean => RED.user.hasPermission('strip-account.read');

/** Whether this user may deploy. */
export const mayDeploy = (): boolean => RED.user.hasPermission('flows.write');

/** Whether the runtime switches outlets for this user. */
export const maySwitch = (): boolean => RED.user.hasPermission('strip-account.write');

/** Whether the runtime tests a connection for this user. */
export const mayTest = (): boolean => maySwitch() && mayDeploy();

/**
 * Asks the runtime's admin API, or posts `data` to it. Never rejects. Uses a relative address and jQuery, because only such requests carry the
 * login's token. `timeout`: after so many milliseconds without an answer, it is given up.
 */
export function adminRequest<Answer>(
  url: string,
  isAnswer: (body: unknown) => body is Answer,
  { data, signal, timeout }: { data?: object; signal?: AbortSignal; timeout?: number } = {},
): Promise<Answer | (Failure & { ok: false })> {
  return new Promise((resolve) => {
    const request = $.ajax({
      url,
      type: data === undefined ? 'GET' : 'POST',
      contentType: 'application/json; charset=utf-8',
      data: JSON.stringify(data),
      dataType: 'json',
      timeout,
      complete: ({ status, responseJSON: body }: { status: number; responseJSON?: unknown }) =>
        resolve(isAnswer(body) ? body : trouble(reasonOf(status))),
    });
    signal?.addEventListener('abort', () => request.abort());
  });
}
