import type { Locator } from 'playwright-core';
import type { Editor } from './editor';
import { Sidebar } from './sidebar';

/** Uses the editor with mouse and keyboard alone, and counts what that takes. */
export class Person {
  clicks = 0;
  drags = 0;
  keys = 0;
  readonly #editor: Editor;
  readonly #start = Date.now();

  constructor(editor: Editor) {
    this.#editor = editor;
  }

  async click(target: string | Locator, text?: string): Promise<void> {
    this.clicks++;
    const found = typeof target === 'string' ? this.#editor.page.locator(target) : target;
    const wanted = text === undefined ? found : found.filter({ hasText: text });
    await wanted.filter({ visible: true }).first().click();
  }

  /** Counts as two clicks. */
  async doubleClick(id: string): Promise<void> {
    this.clicks += 2;
    await this.#editor.edit(id);
  }

  /** Counts as the keys that open the dialog, and clicks on "Examples", the package, the example and "Import". */
  async importExample(name: string): Promise<void> {
    this.keys += 2;
    this.clicks += 4;
    await this.#editor.importExample(name);
  }

  /** Counts as a click, but needs no mouse: Node-RED ignores a click on a tab that still changes its width. */
  async showTab(id: string): Promise<void> {
    this.clicks++;
    await this.#editor.showTab(id);
  }

  /** From the palette to a place on the chart; the id of the new node. */
  async dragIn(type: string, x: number, y: number): Promise<string> {
    this.drags++;
    return await this.#editor.drop(type, x, y);
  }

  async wire(from: string, to: string): Promise<void> {
    this.drags++;
    await this.#editor.wire(from, to);
  }

  async press(keys: string): Promise<void> {
    this.keys += keys.split('+').length;
    await this.#editor.page.keyboard.press(keys);
  }

  /** Into the field that has the focus. The text was copied where it came from. */
  async paste(text: string): Promise<void> {
    const { page } = this.#editor;
    await page.evaluate((copied) => navigator.clipboard.writeText(copied), text);
    await this.press('Control+v');
  }

  async deploy(): Promise<void> {
    this.clicks++;
    await this.#editor.deploy();
  }

  /** Node-RED 5.0 has a button for the tab, 4.1 an entry of the menu above its sidebar. */
  async showSidebar(): Promise<Sidebar> {
    const button = this.#editor.page.locator('[data-tab-id="smart-strip-sidebar"]');
    if ((await button.count()) > 0) await this.click(button);
    else {
      await this.click('#red-ui-sidebar .red-ui-tab-link-button-menu');
      await this.click('.red-ui-menu-dropdown a', 'smart strips');
    }
    return new Sidebar(this.#editor);
  }

  get seconds(): number {
    return (Date.now() - this.#start) / 1000;
  }
}
