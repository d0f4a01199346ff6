import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium, type Browser, type Locator, type Page, type Route } from 'playwright-core';
import { PACKAGE, REPOSITORY } from '../support/node-red';
import { find } from '../support/program';

// The shell is Chromium without a desktop: it takes a fifth less processor time for the same pages.
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** Where Chromium is; `undefined` where there is none, which is an error where the suite has to run. */
export function findChromium(): string | undefined {
  const { CHROMIUM, CI } = process.env;
  const found = CHROMIUM ?? NAMES.map(find).find((path) => path !== undefined);
  if (found === undefined && CI === 'true') throw new Error('no Chromium found: set CHROMIUM to its path');
  return found;
}

export const launch = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });

const AXE = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');

declare global {
  interface Window {
    axe: {
      run(
        part: string,
        options: object,
      ): Promise<{ violations: { id: string; nodes: { html: string; target: string[] }[] }[] }>;
    };
    /** What the tests use of Node-RED's editor in the page. */
    RED: {
      actions: { invoke(name: string): void };
      editor: { editConfig(name: string, type: string, id: string): void };
      nodes: {
        createCompleteNodeSet(options: object): Record<string, unknown>[];
        dirty(): boolean;
        eachConfig(visit: (node: { type: string; id: string }) => void): void;
        node(id: string): { valid: boolean } | null;
        eachLink(visit: (link: { source: { id: string }; target: { id: string } }) => void): void;
      };
      plugins: { getPlugin(id: string): { onadd(): void } };
      sidebar: { show(id: string): void };
      workspaces: { show(id: string): void; hide(): void };
    };
  }
}

/** For each profile, the page that stays open. */
const profiles = new WeakMap<Browser, Map<string, Promise<Page>>>();

/**
 * A new page. Those with the same options share a profile of which one page stays open, so that Chromium keeps what it
 * has loaded and compiled of the editor: opening it again takes a third less. What the editor stored in it is removed.
 */
async function newPage(browser: Browser, url: string, dark: boolean, locale: string): Promise<Page> {
  const ofBrowser = profiles.get(browser) ?? new Map<string, Promise<Page>>();
  profiles.set(browser, ofBrowser);
  const key = JSON.stringify([url, dark, locale]);
  const open = async (): Promise<Page> => {
    const colorScheme = dark ? 'dark' : 'light';
    const viewport = { width: 1280, height: 860 };
    const context = await browser.newContext({ viewport, colorScheme, locale });
    const page = await context.newPage();
    await page.goto(`${url}/favicon.ico`);
    return page;
  };
  const profile = ofBrowser.get(key) ?? open();
  ofBrowser.set(key, profile);
  const kept = await profile;
  await kept.evaluate(() => localStorage.clear());
  return await kept.context().newPage();
}

/** A strip as a dialog holds it or a flow file. */
export type Properties = Record<string, unknown>;

/** Node-RED 5 shows its first tip after a second, and fails on a slow machine where the sidebar for it is not there yet. */
const OF_TIPS =
  /^TypeError: Cannot read properties of undefined \(reading 'html'\)\n\s*at \w+ \(\S+\/red\/red\.min\.js\S*\)$/;

/** Node-RED's editor, as a person sees and uses it. */
export class Editor {
  /** What the page logged as errors, uncaught ones included. */
  readonly errors: string[] = [];

  private constructor(readonly page: Page) {
    page.on('pageerror', (error) => {
      const text = error.stack ?? String(error);
      if (!OF_TIPS.test(text)) this.errors.push(text);
    });
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(`${message.text()} ${message.location().url}`);
    });
  }

  static async open(
    browser: Browser,
    url: string,
    options: {
      dark?: boolean;
      locale?: string;
      blockScript?: boolean;
      login?: { username: string; password: string };
    } = {},
  ): Promise<Editor> {
    const { dark = false, locale = 'en-US', blockScript = false } = options;
    const page = await newPage(browser, url, dark, locale);
    page.setDefaultTimeout(60_000);
    // Node-RED 5 follows the system only where the user asked for it.
    if (dark) await page.addInitScript(() => localStorage.setItem('view-dark-theme', 'dark'));
    if (blockScript) await page.route('**/resources/@smart-strip/**', (route) => route.abort());
    const editor = new Editor(page);
    await page.goto(url);
    if (options.login) {
      await page.locator('#node-dialog-login-username').fill(options.login.username);
      await page.locator('#node-dialog-login-password').fill(options.login.password);
      await page.locator('#node-dialog-login-submit').click();
    }
    await page
      .locator('.red-ui-palette-node[data-palette-type="strip switch"]')
      .waitFor({ state: 'attached' });
    await page.locator('#red-ui-loading-progress').waitFor({ state: 'hidden' });
    return editor;
  }

  /** Drags a node from the palette to a place on the chart; its id. */
  async drop(type: string, x: number, y: number): Promise<string> {
    const { page } = this;
    const before = await this.ids();
    const chart = await boxOf(page.locator('#red-ui-workspace-chart'));
    // Waits until nothing lies over it, as a dialog does that is closing.
    await page.locator(`.red-ui-palette-node[data-palette-type="${type}"]`).hover();
    await page.mouse.down();
    await page.mouse.move(chart.x + x - 20, chart.y + y - 20, { steps: 4 });
    await page.mouse.move(chart.x + x, chart.y + y, { steps: 4 });
    await page.mouse.up();
    const handle = await page.waitForFunction((before) => {
      const nodes = [...document.querySelectorAll('.red-ui-flow-node-group')];
      return nodes.find(({ id }) => !before.includes(id))?.id;
    }, before);
    return (await handle.jsonValue()) ?? '';
  }

  /** Draws a wire from the output of a node to the input of another. */
  async wire(from: string, to: string): Promise<void> {
    const { mouse } = this.page;
    await this.node(from).locator('.red-ui-flow-port-output .red-ui-flow-port').first().hover();
    await mouse.down();
    const input = await boxOf(this.node(to).locator('.red-ui-flow-port-input .red-ui-flow-port'));
    await mouse.move(input.x, input.y, { steps: 4 });
    await mouse.move(input.x + input.width / 2, input.y + input.height / 2, { steps: 4 });
    await mouse.up();
    await this.page.waitForFunction(
      ([from, to]) => {
        const links: string[] = [];
        window.RED.nodes.eachLink(({ source, target }) => links.push(`${source.id} ${target.id}`));
        return links.includes(`${from} ${to}`);
      },
      [from, to],
    );
  }

  /** Imports an example of the package through the menu's dialog, to a tab of its own. */
  async importExample(name: string): Promise<void> {
    const { page } = this;
    const list = page.locator('#red-ui-clipboard-dialog-import-tab-examples');
    const line = (text: string) => list.locator('.red-ui-treeList-label', { hasText: text });
    const tabs = page.locator('#red-ui-workspace-tabs .red-ui-tab');
    const before = await tabs.count();
    // The menu's action: a tab of the dialog takes no click while it grows to its width.
    await page.evaluate(() => window.RED.actions.invoke('core:show-examples-import-dialog'));
    await list.waitFor();
    // Timers that began with the dialog, and end before this one, choose the first line and disable the button.
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
    // Lists slide open, and a mouse may miss a line that moves.
    await line(PACKAGE).dispatchEvent('click');
    await line(name).dispatchEvent('click');
    // With the keyboard: the notifications of earlier imports slide over the button.
    await page.locator('#red-ui-clipboard-dialog-ok:enabled').press('Enter');
    // The dialog closes before the example is there.
    await tabs.nth(before).waitFor({ state: 'attached' });
  }

  async showTab(id: string): Promise<void> {
    await this.page.evaluate((id) => window.RED.workspaces.show(id), id);
  }

  /** Opens the dialog of a node with the Enter key: on a busy machine, two clicks may be too far apart for a double-click. */
  async edit(id: string): Promise<void> {
    await this.node(id).locator('.red-ui-flow-node').first().click();
    await this.page.keyboard.press('Enter');
    await this.opened(this.dialog);
  }

  /** Opens the dialog for a config node that does not exist yet. */
  async addConfig(type: string): Promise<void> {
    await this.editConfig(type, '_ADD_');
  }

  /** Unfolds a section of the account's dialog. */
  async unfold(section: string): Promise<void> {
    const summary = this.page.locator('summary', { hasText: section });
    const details = this.page.locator('.smart-strip-section', { has: summary });
    if ((await details.getAttribute('open')) === null) await details.locator('summary').click();
  }

  /** Opens the dialog of a config node that exists. */
  async editConfig(type: string, id: string): Promise<void> {
    await this.page.evaluate(
      ([type, id]) => {
        window.RED.editor.editConfig('', type ?? '', id ?? '');
      },
      [type, id],
    );
    await this.opened(this.configDialog);
  }

  /** Resolves when a dialog has slid in, and Node-RED has put the focus into it, which it does a moment later. */
  async opened(form: Locator): Promise<void> {
    await form.waitFor();
    await this.settled();
    await this.page.waitForFunction(() => document.activeElement?.closest('.red-ui-tray-body'));
  }

  get dialog(): Locator {
    return this.page.locator('#dialog-form');
  }

  get configDialog(): Locator {
    return this.page.locator('#node-config-dialog-edit-form');
  }

  node(id: string): Locator {
    return this.page.locator(`[id="${id}"]`);
  }

  /** The words on a node. */
  async label(id: string): Promise<string> {
    const lines = await this.node(id).locator('.red-ui-flow-node-label-text').allTextContents();
    return lines.join(' ');
  }

  /** Fails if the label of a node does not become these words: Node-RED draws nodes a moment after their dialog has closed. */
  async expectLabel(id: string, expected: string | RegExp): Promise<void> {
    const fits = (label: string) =>
      typeof expected === 'string' ? label === expected : expected.test(label);
    const deadline = Date.now() + 60_000;
    while (!fits(await this.label(id)) && Date.now() < deadline) await this.drawn();
    const label = await this.label(id);
    assert.ok(fits(label), `the label is ${label}, not ${String(expected)}`);
  }

  /** Resolves when the page has done what it was about to do, such as reading an answer that has come. */
  async turn(): Promise<void> {
    await this.page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  }

  /** Resolves before the page is drawn again. */
  async drawn(): Promise<void> {
    await this.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  }

  /** Keeps requests to addresses of a kind from being answered until the returned function is called. `times`: only the next ones. */
  async hold(url: string, options: { times?: number } = {}): Promise<() => void> {
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    const wait = async (route: Route) => {
      await held;
      await route.continue();
    };
    await this.page.route(url, wait, options);
    return answer;
  }

  async statusText(id: string): Promise<string> {
    return (await this.node(id).locator('.red-ui-flow-node-status-label').textContent()) ?? '';
  }

  async done(): Promise<void> {
    await this.#expectReasons(this.dialog);
    await this.page.locator('#node-dialog-ok').click();
    await this.dialog.waitFor({ state: 'detached' });
    await this.settled();
  }

  async doneConfig(): Promise<void> {
    await this.#expectReasons(this.configDialog);
    await this.page.locator('#node-config-dialog-ok').click();
    await this.configDialog.waitFor({ state: 'detached' });
    await this.settled();
  }

  /**
   * Node-RED marks a field only where the dialog says below it what is wrong. Left out: the strip, about which the picker says it, and the field with the
   * focus, which Node-RED checks when it is left.
   */
  async #expectReasons(form: Locator): Promise<void> {
    const marked = form.locator('input.input-error:not(:focus):not([id$=input-mac])');
    for (const id of await marked.evaluateAll((inputs) => inputs.map((input) => input.id))) {
      const message = form.locator(`#smart-strip-message-${id.replace(/^.*input-/, '')}`);
      assert.notDeepEqual(await message.allTextContents(), [''], `${id} is marked without a reason`);
    }
  }

  async cancelConfig(): Promise<void> {
    await this.page.locator('#node-config-dialog-cancel').click();
    await this.configDialog.waitFor({ state: 'detached' });
    await this.settled();
  }

  /** `confirm`: Node-RED asks first, because a node is not configured. */
  async deploy({ confirm = false } = {}): Promise<void> {
    await this.page.locator('#red-ui-header-button-deploy').click();
    if (confirm) await this.page.locator('button', { hasText: 'Confirm deploy' }).click();
    // The button is disabled before the answer is there.
    await this.page.waitForFunction(() => !window.RED.nodes.dirty());
  }

  /** Presses the button at the left of a node. */
  async press(id: string): Promise<void> {
    await this.node(id).locator('.red-ui-flow-node-button-button').click();
  }

  /** Chooses what a typedInput's value is. */
  async chooseType(field: string, label: string): Promise<void> {
    await this.page.locator(`[id="${field}-kind"]`).click();
    await this.page.locator('.red-ui-typedInput-options:visible a', { hasText: label }).first().click();
  }

  /** What the editor would deploy of a node. */
  async properties(id: string): Promise<Properties> {
    return await this.page.evaluate(
      (wanted) =>
        window.RED.nodes.createCompleteNodeSet({ credentials: true }).find((node) => node.id === wanted) ??
        {},
      id,
    );
  }

  async configIds(type: string): Promise<string[]> {
    return await this.page.evaluate((type) => {
      const ids: string[] = [];
      window.RED.nodes.eachConfig((node) => {
        if (node.type === type) ids.push(node.id);
      });
      return ids;
    }, type);
  }

  /** How far the text of the first such element stands out from what is behind it (WCAG's contrast ratio). */
  async contrast(selector: string): Promise<number> {
    const element = this.page.locator(selector).first();
    await element.waitFor({ state: 'attached' });
    const [first] = await element.evaluateAll(coloursOf);
    assert.ok(first, selector);
    return contrastOf(first);
  }

  /** The texts in a part of the page whose contrast is below WCAG's 4.5. Axe does not judge those in Node-RED's dialogs: it takes them for hidden. */
  async faintTexts(part: string): Promise<string[]> {
    await this.page.mouse.move(0, 0); // Node-RED has other colours for the button under the mouse
    const elements = await this.page.locator(`${part} :visible`).evaluateAll(coloursOf);
    assert.ok(elements.some(({ text }) => text !== ''));
    const faint = elements.filter((each) => each.text !== '' && contrastOf(each) < 4.5);
    return faint.map((each) => `${each.text}: ${contrastOf(each).toFixed(1)}`);
  }

  /** What axe finds wrong in a part of the page. */
  async axe(part: string, options: object = {}): Promise<{ id: string; html: string; target: string }[]> {
    await this.page.evaluate(AXE);
    return await this.page.evaluate(
      async ([part, options]) => {
        const { violations } = await window.axe.run(part, options);
        return violations.flatMap(({ id, nodes }) =>
          nodes.map(({ html, target }) => ({ id, html: html.slice(0, 160), target: target.join(' ') })),
        );
      },
      [part, options] as const,
    );
  }

  async picture(name: string): Promise<void> {
    await takePicture(this.page, name);
  }

  async close(): Promise<void> {
    await this.page.close();
  }

  private async ids(): Promise<string[]> {
    return await this.page
      .locator('.red-ui-flow-node-group')
      .evaluateAll((nodes) => nodes.map((node) => node.id));
  }

  /** Resolves when no dialog slides any more. */
  async settled(): Promise<void> {
    await this.page.waitForFunction(() => {
      const tray = [...document.querySelectorAll('.red-ui-tray')].at(-1);
      return tray === undefined || getComputedStyle(tray).right === '0px';
    });
  }
}

/** Where something is in the window; fails if it cannot be seen. */
export async function boxOf(locator: Locator) {
  const box = await locator.boundingBox();
  if (box === null) throw new Error('it cannot be seen');
  return box;
}

/** Of a colour as the browser computes it, `rgb(r, g, b)`, by WCAG's formula. */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = (colour.match(/[\d.]+/g) ?? []).map((channel) => {
    const part = Number(channel) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Elements with the text that is directly in them, its colour, and what is behind it. Runs in the page. */
const coloursOf = (elements: Element[]) =>
  elements.map((element) => {
    let behind: Element | null = element;
    while (behind && getComputedStyle(behind).backgroundColor.endsWith(', 0)')) behind = behind.parentElement;
    return {
      text: [...element.childNodes].map((node) => (node instanceof Text ? node.data.trim() : '')).join(''),
      front: getComputedStyle(element).color,
      back: behind ? getComputedStyle(behind).backgroundColor : 'white',
    };
  });

function contrastOf({ front, back }: ReturnType<typeof coloursOf>[number]): number {
  const [one, other] = [luminance(front), luminance(back)];
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

/** Keeps a picture of a page outside of git. */
export async function takePicture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(REPOSITORY, '.artefacts', `${name}.png`) });
}
