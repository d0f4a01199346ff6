/** The part of the test helper that the tests use; it comes without types of its own. */
declare module 'node-red-node-test-helper' {
  import type { Node, NodeInitializer } from 'node-red';

  /** What the methods of nodes become: all nodes' calls together. */
  export interface Spy {
    getCalls(): { thisValue: unknown; args: unknown[] }[];
  }

  interface Helper {
    /** Merged with the runtime's defaults; each call replaces what the last one set. */
    settings(settings: object): void;
    load(nodes: NodeInitializer | NodeInitializer[], flow: object[], credentials?: object): Promise<void>;
    setFlows(flow: object[], type: 'full' | 'flows' | 'nodes', credentials?: object): Promise<void>;
    getNode(id: string): Node | null;
    unload(): Promise<void>;
  }

  const helper: Helper;
  export default helper;
}
