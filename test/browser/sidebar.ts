import type { Locator, Page } from 'playwright-core';
import { account } from '../support/flow';
import type { FlowNode } from '../support/node-red';
import { STRIPS } from '../support/service';
import { Editor } from './editor';
import { setStage } from './stage';

/** The sidebar tab "smart strips", as a person sees and uses it. */
export class Sidebar {
  readonly page: Page;
  readonly root: Locator;

  constructor(editor: Editor) {
    this.page = editor.page;
    this.root = editor.page.locator('.smart-strip-sidebar');
  }

  async show(): Promise<void> {
    await this.#select('smart-strip-sidebar');
    await this.root.waitFor();
  }

  /** Shows another tab in its place. */
  async hide(): Promise<void> {
    await this.#select('info');
    await this.root.waitFor({ state: 'hidden' });
  }

  account(name: string): Locator {
    return this.root.locator(`section[aria-label="${name}"]`);
  }

  state(name: string): Locator {
    return this.account(name).locator('.smart-strip-state').first();
  }

  /** The toggle of an outlet, named as a screen reader names it. */
  toggle(outlet: string): Locator {
    return this.root.getByRole('switch', { name: outlet, exact: true });
  }

  /** Resolves when an outlet is shown as on or off and nothing is pending. */
  async shows(outlet: string, on: boolean): Promise<void> {
    await this.root
      .locator(`button[aria-label="${outlet}"][aria-checked="${on}"]:not([aria-busy])`)
      .waitFor();
  }

  button(name: string): Locator {
    return this.root.getByRole('button', { name, exact: true });
  }

  strip(name: string): Locator {
    return this.root.locator('section li', { has: this.page.locator('h4', { hasText: name }) });
  }

  async #select(tab: string): Promise<void> {
    await this.page.evaluate((id) => window.RED.sidebar.show(id), tab);
  }
}

/** Milliseconds between two polls of the account. */
export const INTERVAL = 5000;

/** A stage for tests of the sidebar. After each test its editors are closed, and the service is as it was. */
export function setSidebar() {
  const stage = setStage({ nodeRed: { settings: { runtimeState: { enabled: true } } } });
  const opened: Editor[] = [];

  afterEach(async () => {
    for (const editor of opened.splice(0)) await editor.close();
    // After what a closed sidebar may have asked last: it would keep the accounts of the next test polled.
    await stage.red.json('/settings');
    stage.service.always(null);
    for (const { mac } of STRIPS) stage.service.simulator.apply({ mac, port: 'all', on: false });
  });

  /** Opens an editor; its sidebar shows another tab. */
  const edit = async (options?: Parameters<typeof Editor.open>[2]) => {
    const editor = await Editor.open(stage.browser, stage.red.url, options);
    opened.push(editor);
    return { editor, bar: new Sidebar(editor) };
  };
  return {
    stage,
    home: (properties: Record<string, unknown> = {}): FlowNode =>
      account(stage.service, { name: 'Home', interval: String(INTERVAL / 1000), ...properties }),
    edit,
    open: async (options?: Parameters<typeof Editor.open>[2]) => {
      const { editor, bar } = await edit(options);
      await bar.show();
      return { editor, bar };
    },
  };
}
