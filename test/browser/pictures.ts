/**
 * Takes the pictures of the README, and writes the words that each shows into a file beside it. Run by hand, after a build, when
 * `pictures.test.ts` says that the words have changed: `npx tsx test/browser/pictures.ts`, for some of them with their names behind it.
 */
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { examples } from '../support/examples';
import { account, debug, inject, placed, tab } from '../support/flow';
import { REPOSITORY, startNodeRed, type FlowNode, type RunningNodeRed } from '../support/node-red';
import { Dashboard } from './dashboard';
import { boxOf, Editor, findChromium, launch } from './editor';
import { Sidebar } from './sidebar';

/** Bytes. */
const LARGEST = 82_000;
const DESK = 'A1B2C3D4E5F6';
const KITCHEN = 'A1B2C3D4E5F7';
/** Of the pictures that stand side by side: the three have to be read in the width of a page. */
const HEIGHT = 290;
const OUR_NODES = ['toggle', 'cycle', 'off', 'status', 'watch'];

interface Studio {
  red: RunningNodeRed;
  browser: Browser;
  /** Resolves when the accounts have asked again, for a line with more than one point; at once where only the words matter. */
  nextPoll: () => Promise<unknown>;
}

/** What a picture is taken of. */
interface Scene {
  page: Page;
  /** What of the page is in the picture; all of it where it is not given. */
  clip?: { x: number; y: number; width: number; height: number };
  /** The words of these nodes that are in the picture. */
  words: string;
}

export const PICTURES: Readonly<Record<string, (studio: Studio) => Promise<Scene>>> = {
  flow,
  drag,
  pick,
  click,
  account: accountDialog,
  sidebar,
  dashboard,
};

export const pictureFile = (name: string, extension: 'png' | 'txt'): string =>
  join(REPOSITORY, 'examples/images', `${name}.${extension}`);

const home = account({ baseUrl: '/home', apiKey: '' }, { name: 'Home', interval: '5' });
const protectedOutlets = [{ mac: KITCHEN, port: 4 }];

const outlets = (names: readonly string[], on: readonly string[]) =>
  names.map((name) => ({ name, on: on.includes(name) }));

const simulator: FlowNode[] = [
  { id: 'workshop', type: 'tab', label: 'Simulator' },
  {
    ...placed('simulator', 'strip simulator', { path: '/home', shape: 'measured', latency: '0' }),
    z: 'workshop',
    strips: [
      {
        mac: DESK,
        name: 'Desk',
        outlets: outlets(['Computer', 'Screen', 'Camera', 'Lamp'], ['Computer', 'Camera']),
      },
      {
        mac: KITCHEN,
        name: 'Kitchen',
        outlets: outlets(['Coffee', 'Kettle', 'Radio', 'Fridge'], ['Radio', 'Fridge']),
      },
    ],
  },
];

/** The nodes as they are wired by hand, each after its button was pressed. */
async function flow({ red, browser }: Studio): Promise<Scene> {
  const left = (id: string, name: string, x: number, y: number, to: string): FlowNode => ({
    ...inject(id, to),
    ...{ name, x, y },
  });
  const right = (id: string, name: string, x: number, y: number): FlowNode => ({ ...debug(id), name, x, y });
  const fixed = { mac: DESK, macType: 'str', portType: 'port', onType: 'action' };
  const restart = { ...fixed, port: '3', on: 'cycle', delay: '1', delayType: 'num' };
  const everything = { mac: '', macType: 'str', port: '', output: 'on', initial: true, outlets: true };
  await red.deploy([
    tab,
    { ...home, protectedOutlets },
    ...simulator,
    left('press', 'the lamp button', 150, 60, 'toggle'),
    placed('toggle', 'strip switch', { ...fixed, port: '4', on: 'toggle', x: 430, y: 60 }, ['lamp']),
    right('lamp', 'is the lamp on?', 740, 60),
    left('hangs', 'the camera hangs', 150, 140, 'cycle'),
    placed('cycle', 'strip switch', { ...restart, x: 430, y: 140 }, ['camera']),
    right('camera', 'is it on again?', 740, 140),
    left('night', 'at 23:00', 120, 220, 'off'),
    placed('off', 'strip switch', { ...fixed, mac: KITCHEN, port: '4', on: 'off', x: 420, y: 220 }),
    left('ask', 'how is the desk?', 150, 300, 'status'),
    placed('status', 'strip status', { ...fixed, port: '', x: 410, y: 300 }, ['strip']),
    right('strip', 'outlets and load', 740, 300),
    placed('watch', 'strip watch', { ...everything, x: 380, y: 380 }, ['changed']),
    right('changed', 'whoever switched it', 750, 380),
    placed('catch', 'catch', { name: 'what fails', scope: null, uncaught: false, x: 380, y: 460 }, ['why']),
    { ...right('why', 'why, in a sentence', 750, 460), complete: 'error.message', targetType: 'msg' },
  ]);
  const editor = await Editor.open(browser, red.url);
  const { page } = editor;
  await page.setViewportSize({ width: 1500, height: 800 });
  for (const button of ['press', 'hangs', 'night']) await editor.press(button);
  const shows = (id: string, words: string) =>
    editor.node(id).locator('.red-ui-flow-node-status-label', { hasText: words }).waitFor();
  await shows('toggle', 'on');
  await shows('cycle', 'on');
  await shows('off', 'protected');
  await editor.press('ask');
  await shows('status', '3 of 4 on');
  await editor.expectLabel('toggle', 'Desk: Lamp, toggle');
  await page.mouse.move(1400, 700);
  await page.locator('.red-ui-notification').first().waitFor({ state: 'hidden' });
  const { x, y } = await boxOf(page.locator('#red-ui-workspace-chart'));
  const words: string[] = [];
  for (const id of OUR_NODES) words.push(`${await editor.label(id)}: ${await editor.statusText(id)}`);
  return { page, clip: { x: x + 20, y: y + 20, width: 870, height: 490 }, words: words.join('\n') };
}

/** A node on its way from the palette to the chart. */
async function drag({ red, browser }: Studio): Promise<Scene> {
  await red.deploy([tab, home, ...simulator]);
  const { page } = await Editor.open(browser, red.url);
  const category = page.locator('#red-ui-palette-container-smart_strip');
  await category.scrollIntoViewIfNeeded();
  const { x, y, height } = await boxOf(category);
  const node = await boxOf(category.locator('[data-palette-type="strip switch"]'));
  await page.mouse.move(node.x + 60, node.y + 15);
  await page.mouse.down();
  await page.mouse.move(x + 285, y + height / 2, { steps: 4 });
  await pointAt(page, x + 285, y + height / 2);
  // Not the labels, which are broken into lines where the font asks for it.
  const types = await category
    .locator('[data-palette-type]')
    .evaluateAll((nodes) => nodes.map((node) => node.getAttribute('data-palette-type')));
  return { page, clip: { x, y, width: 360, height: HEIGHT }, words: types.join('\n') };
}

/** The dialog of a switch with everything chosen. */
async function pick({ red, browser }: Studio): Promise<Scene> {
  await red.deploy([tab, home, ...simulator]);
  const editor = await Editor.open(browser, red.url);
  const { page } = editor;
  await editor.edit(await editor.drop('strip switch', 200, 100));
  await widen(page, 100); // for the names of outlets
  await page.locator('[role=option]', { hasText: 'Desk' }).click();
  await page.locator('#smart-strip-row-port label:has([value="4"])').click();
  await editor.chooseType('node-input-on', 'action');
  const toggle = page.locator('#smart-strip-row-on label:has([value="toggle"])');
  await toggle.click();
  const { x, y } = await boxOf(page.locator('#smart-strip-row-mac'));
  const last = await boxOf(toggle);
  await pointAt(page, last.x + last.width / 2, last.y + last.height / 2);
  const words: string[] = [];
  for (const row of ['mac', 'port', 'on'])
    words.push(await page.locator(`#smart-strip-row-${row}`).innerText());
  return { page, clip: { x: x - 8, y: y - 8, width: 590, height: HEIGHT }, words: words.join('\n') };
}

/** The inject node before it was clicked, and the lamp is on. */
async function click({ red, browser }: Studio): Promise<Scene> {
  const lamp = { mac: DESK, macType: 'str', port: '4', portType: 'port', on: 'toggle', onType: 'action' };
  await red.deploy([
    tab,
    home,
    ...simulator,
    { ...inject('press', 'toggle'), name: 'click', x: 80, y: 140 },
    placed('toggle', 'strip switch', { ...lamp, x: 290, y: 140 }),
    // Makes the names of the strips known.
    { ...placed('watch', 'strip watch', { mac: '', port: '' }), z: 'workshop' },
  ]);
  const editor = await Editor.open(browser, red.url);
  const { page } = editor;
  await editor.expectLabel('toggle', 'Desk: Lamp, toggle');
  const button = editor.node('press').locator('.red-ui-flow-node-button-button');
  await button.click();
  await editor.node('toggle').locator('.red-ui-flow-node-status-label', { hasText: 'on' }).waitFor();
  await page.locator('.red-ui-notification').first().waitFor({ state: 'hidden' });
  const { x, y, width, height } = await boxOf(button);
  await pointAt(page, x + width / 2, y + height / 2);
  const chart = await boxOf(page.locator('#red-ui-workspace-chart'));
  const words = `${await editor.label('press')}: ${await editor.label('toggle')}: ${await editor.statusText('toggle')}`;
  return { page, clip: { ...chart, width: 400, height: HEIGHT }, words };
}

/** Makes the dialog on top wider. */
async function widen(page: Page, by: number): Promise<void> {
  const handle = await boxOf(page.locator('.red-ui-tray-resize-handle').last());
  await page.mouse.move(handle.x + 2, 600);
  await page.mouse.down();
  await page.mouse.move(handle.x + 2 - by, 600, { steps: 4 });
  await page.mouse.up();
}

/** Draws a mouse pointer, which no screenshot has by itself. */
async function pointAt(page: Page, x: number, y: number): Promise<void> {
  await page.evaluate(
    ([x, y]) => {
      const pointer = document.createElement('div');
      pointer.style.cssText = `position: fixed; left: ${x}px; top: ${y}px; z-index: 10000; pointer-events: none`;
      pointer.innerHTML =
        '<svg width="20" height="28"><path d="M1 1v20l5-4 3 8 4-2-3-7h7z" fill="#000" stroke="#fff" stroke-width="1.5"/></svg>';
      document.body.append(pointer);
    },
    [x, y] as const,
  );
}

/** The account's dialog with what Test connection found, and what was read of the answer. */
async function accountDialog({ red, browser }: Studio): Promise<Scene> {
  await red.deploy([tab, ...simulator]);
  const editor = await Editor.open(browser, red.url);
  const { page } = editor;
  await page.setViewportSize({ width: 1280, height: 1200 });
  await editor.addConfig('strip-account');
  await widen(page, 100); // for a table of four outlets with names
  await page.locator('#node-config-input-name').fill('Home');
  await page.locator('#node-config-input-baseUrl').fill('/home');
  await page.locator('#smart-strip-test').click();
  await page.locator('#smart-strip-found tbody tr').first().waitFor();
  await page.locator('#smart-strip-preview > summary').click();
  await page.locator('.smart-strip-read').first().waitFor();
  await page.locator('#smart-strip-preview > summary').blur();
  const { x, width } = await boxOf(page.locator('.red-ui-tray').last());
  const { y } = await boxOf(page.locator('#node-config-input-name'));
  const compared = await boxOf(page.locator('#smart-strip-compare'));
  const words: string[] = [];
  const shown = ['label:visible', '.smart-strip-hint:visible'];
  const parts = [...shown, '#smart-strip-result', '#smart-strip-found', '.smart-strip-read'];
  for (const part of parts) {
    words.push(...(await editor.configDialog.locator(part).allInnerTexts()));
  }
  return {
    page,
    clip: { x, y: y - 8, width, height: compared.y + compared.height + 16 - y },
    words: words.join('\n'),
  };
}

/** The sidebar with two strips, one with a protected outlet. */
async function sidebar({ red, browser, nextPoll }: Studio): Promise<Scene> {
  await red.deploy([tab, { ...home, protectedOutlets }, ...simulator]);
  const editor = await Editor.open(browser, red.url);
  const bar = new Sidebar(editor);
  await bar.show();
  await bar.shows('Desk, outlet 4 (Lamp)', false);
  await bar.toggle('Desk, outlet 4 (Lamp)').click();
  await bar.shows('Desk, outlet 4 (Lamp)', true);
  await editor.page.mouse.move(300, 700);
  await nextPoll();
  const { x, y, width } = await boxOf(bar.root);
  const last = await boxOf(bar.root.locator('li').last());
  const words = await bar.account('Home').ariaSnapshot();
  return {
    page: editor.page,
    clip: { x, y, width, height: last.y + last.height + 12 - y },
    // The line is drawn from the second reading on.
    words: words.replace(/.*Load since.*\n/g, ''),
  };
}

/** The page of the dashboard example, after some minutes' use in little time. */
async function dashboard({ red, browser, nextPoll }: Studio): Promise<Scene> {
  const example = examples().find(({ name }) => name.startsWith('03'));
  await red.deploy(example?.nodes ?? []);
  const opened = await Dashboard.open(browser, red.url);
  const { page } = opened;
  await page.setViewportSize({ width: 1060, height: 566 });
  await opened.rests('kitchen4', true);
  await opened.reads('serviceText', 'online');
  const steps: [toggle: string, on: boolean][] = [
    ['desk2', false],
    ['kitchen1', true],
    ['desk4', true],
    ['kitchen2', true],
  ];
  for (const [toggle, on] of steps) {
    await opened.click(toggle);
    await opened.rests(toggle, on);
    await nextPoll();
  }
  await page.mouse.move(500, 560);
  const lines = (await page.locator('[id^=nrdb-ui-widget-]').allInnerTexts()).join('\n').split('\n');
  return { page, words: lines.filter((line) => !/\d/.test(line)).join('\n') };
}

/** The words of a scene as they stand beside its picture: without icons, times and simulated readings, which are different each time. */
export function wordsOf({ words }: Scene): string {
  const lines = words
    .replace(/\p{Private_Use}/gu, '')
    .replace(/\d+:\d\d(:\d\d)?(\s[AP]M)?/g, '…')
    .replace(/-?\d+(\.\d+)?(?= (W|V|dBm)\b)/g, '…')
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
  return `${lines.join('\n')}\n`;
}

async function main(): Promise<void> {
  const chromium = findChromium();
  if (chromium === undefined) throw new Error('no Chromium found: set CHROMIUM to its path');
  mkdirSync(join(REPOSITORY, 'examples/images'), { recursive: true });
  const red = await startNodeRed({ dashboard: true });
  const browser = await launch(chromium);
  const nextPoll = () => new Promise((resolve) => setTimeout(resolve, 5500));
  const wanted = process.argv.slice(2);
  try {
    for (const [name, show] of Object.entries(PICTURES)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      const scene = await show({ red, browser, nextPoll });
      const path = pictureFile(name, 'png');
      await scene.page.screenshot({ path, ...(scene.clip && { clip: scene.clip }) });
      writeFileSync(pictureFile(name, 'txt'), wordsOf(scene));
      await scene.page.close();
      const { size } = statSync(path);
      process.stdout.write(`${name}.png: ${size} bytes\n`);
      if (size > LARGEST) process.exitCode = 1;
    }
  } finally {
    await browser.close();
    await red.stop();
  }
}

if (require.main === module) void main();
