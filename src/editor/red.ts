/** What is used of Node-RED's editor. It publishes no types of its own, and the community's lag behind 4.1. */

/** A node as the editor holds it; its properties are whatever the flow file said. */
export interface EditorNode {
  id: string;
  type: string;
  /** Not deployed yet, or changed since. */
  changed?: boolean;
  /** To be drawn again. */
  dirty?: boolean;
  /** Its label may have another width now. */
  resize?: boolean;
  /** Of what was typed since the last deploy; the runtime never hands a password back. */
  credentials?: Record<string, unknown>;
  /** A sentence of the node set's own catalogue. */
  _(key: string, params?: Record<string, unknown>): string;
  [property: string]: unknown;
}

type Notice = 'success' | 'warning' | 'error';

interface Editor {
  _(key: string, params?: Record<string, unknown>): string;
  notify(message: string, options: { type: Notice; id?: string; timeout?: number }): void;
  nodes: {
    node(id: string): EditorNode | null;
    eachNode(visit: (node: EditorNode) => void): void;
    eachConfig(visit: (node: EditorNode) => void): void;
    getType(type: string): { defaults: Readonly<Record<string, { value: unknown }>> } | undefined;
  };
  editor: { editConfig(name: string, type: string, id: string): void };
  user: { hasPermission(permission: string): boolean };
  workspaces: {
    /** Id of the flow that is shown; 0 or "" where there is none. */
    active(): string | 0;
    isLocked(): boolean;
  };
  utils: { validateTypedProperty(value: string, type: string, options: object): true | string };
  view: {
    redraw(): void;
    /** Brings a node into sight and highlights it. */
    reveal(id: string): void;
    scale(): number;
    importNodes(
      nodes: readonly object[],
      options: {
        generateIds: boolean;
        addFlow: boolean;
        /** Place the nodes where their coordinates say instead of attaching them to the pointer. */
        touchImport: boolean;
        notify: boolean;
      },
    ): void;
  };
}

/** One type of a typedInput. */
export interface InputType {
  value: string;
  label: string;
  icon?: string;
  hasValue?: boolean;
  /** Draws the value; where it is given there is no text field. */
  valueLabel?: (container: JQuery, value: string) => void;
}

declare global {
  const RED: Editor;

  interface JQuery {
    typedInput(options: { default: string; types: (string | InputType)[]; typeField: string }): this;
    typedInput(property: 'type' | 'value'): string;
    typedInput(property: 'type' | 'value', value: string): this;
    editableList(options: {
      addButton: string;
      removable: boolean;
      sortable: boolean;
      height: 'auto';
      addItem: (row: JQuery, index: number, data: unknown) => void;
      removeItem: () => void;
    }): this;
    editableList(method: 'items'): JQuery;
    editableList(method: 'addItem', data: unknown): this;
  }
}
