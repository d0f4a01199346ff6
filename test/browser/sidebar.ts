import type { Locator, Page } from 'playwright-core';
import type { Editor } from './editor';

/** The side bar tab "smart strips", as a person sees and uses it. */
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
    await this.page.evaluate(
      (id) => (window as unknown as { RED: { sidebar: { show(id: string): void } } }).RED.sidebar.show(id),
      tab,
    );
  }
}
