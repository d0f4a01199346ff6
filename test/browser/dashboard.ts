import type { Browser, Locator, Page } from 'playwright-core';
import { takePicture } from './editor';

/** The page of the dashboard example, as one person sees and uses it in a browser of their own. */
export class Dashboard {
  private constructor(readonly page: Page) {}

  static async open(browser: Browser, url: string): Promise<Dashboard> {
    const context = await browser.newContext({ viewport: { width: 1100, height: 660 } });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`${url}/dashboard/strips`);
    const dashboard = new Dashboard(page);
    await dashboard.widget('kitchen4').waitFor();
    return dashboard;
  }

  /** A widget of the example by what its id ends with, e.g. `desk1`. */
  widget(name: string): Locator {
    return this.page.locator(`#nrdb-ui-widget-strip03_${name}`);
  }

  async click(toggle: string): Promise<void> {
    await this.widget(toggle).locator('input').click();
  }

  async isOn(toggle: string): Promise<boolean> {
    return await this.widget(toggle).locator('input').isChecked();
  }

  /** Resolves when the toggle rests at this state. */
  async rests(toggle: string, on: boolean): Promise<void> {
    await this.page.waitForFunction(
      ({ id, on }) => {
        const widget = document.getElementById(id);
        const input = widget?.querySelector('input');
        return input?.checked === on && widget?.querySelector('[role=progressbar]') === null;
      },
      { id: `nrdb-ui-widget-strip03_${toggle}`, on },
    );
  }

  /** Resolves when the toggle shows that its click is not answered yet. */
  async spins(toggle: string): Promise<void> {
    await this.widget(toggle).locator('[role=progressbar]').waitFor({ state: 'attached' });
  }

  get toasts(): Locator {
    return this.page.locator('.nrdb-ui-notification .v-snackbar__content');
  }

  /** Resolves when the group of a strip is greyed out, or is no more. */
  async greyed(strip: string, grey: boolean): Promise<void> {
    const id = `#nrdb-ui-group-strip03_ui_${strip}`;
    await this.page.locator(grey ? `${id}[disabled]` : `${id}:not([disabled])`).waitFor();
  }

  /** Resolves when a widget holds these words. */
  async reads(widget: string, words: string | RegExp): Promise<void> {
    await this.widget(widget).filter({ hasText: words }).waitFor();
  }

  async picture(name: string): Promise<void> {
    await takePicture(this.page, name);
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
