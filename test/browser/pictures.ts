/**
 * Takes the pictures of the README from a running editor and dashboard. Run by hand, after a build, when what they show has changed:
 * `npx tsx test/browser/pictures.ts`. Where `pngquant` is installed it makes them smaller.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { examples } from '../support/examples';
import { account, debug, inject, tab } from '../support/flow';
import { REPOSITORY, startNodeRed, type FlowNode, type RunningNodeRed } from '../support/node-red';
import { startService, type TestService } from '../support/service';
import { Dashboard } from './dashboard';
import { Editor, findChromium, launch } from './editor';

const FOLDER = join(REPOSITORY, 'examples/images');
const LARGEST = 60_000;
const DESK = 'A1B2C3D4E5F6';
const KITCHEN = 'A1B2C3D4E5F7';

interface Studio {
  red: RunningNodeRed;
  service: TestService;
  browser: Browser;
}

/** The middle of a node. */
type Place = [x: number, y: number];

const file = (name: string) => join(FOLDER, `${name}.png`);
const protectedOutlets = [{ mac: KITCHEN, port: 4 }];

/** The nodes as they are wired by hand, each after its button was pressed. */
async function pictureFlow({ red, service, browser }: Studio): Promise<void> {
  const left = (id: string, name: string, [x, y]: Place, to: string): FlowNode => ({
    ...inject(id, to),
    ...{ name, x, y },
  });
  const strip = (type: string, id: string, [x, y]: Place, properties: object, wires: string[]): FlowNode => ({
    ...{ id, type, z: 'tab', name: '', account: 'account', x, y, wires: [wires] },
    ...properties,
  });
  const right = (id: string, name: string, [x, y]: Place): FlowNode => ({ ...debug(id), name, x, y });
  const onDesk = { mac: DESK, macType: 'str', portType: 'port', onType: 'action' };
  const fridge = { ...onDesk, mac: KITCHEN, port: '4', on: 'off' };
  const restart = { port: '3', on: 'cycle', delay: '1', delayType: 'num' };
  const everything = { mac: '', macType: 'str', port: '', output: 'on', initial: true, outlets: true };
  service.simulator.setOutlet(DESK, 1, true);
  service.simulator.setOutlet(KITCHEN, 4, true);
  await red.deploy([
    tab,
    account(service, { name: 'Home', protectedOutlets }),
    left('press', 'the lamp button', [150, 60], 'toggle'),
    strip('strip switch', 'toggle', [430, 60], { ...onDesk, port: '4', on: 'toggle' }, ['lamp']),
    right('lamp', 'is the lamp on?', [740, 60]),
    left('hangs', 'the camera hangs', [160, 140], 'cycle'),
    strip('strip switch', 'cycle', [430, 140], { ...onDesk, ...restart }, ['camera']),
    right('camera', 'is it on again?', [740, 140]),
    left('night', 'at 23:00', [130, 220], 'off'),
    strip('strip switch', 'off', [420, 220], fridge, []),
    left('ask', 'how is the desk?', [150, 300], 'status'),
    strip('strip status', 'status', [410, 300], { mac: DESK, macType: 'str', port: '', portType: 'port' }, [
      'strip',
    ]),
    right('strip', 'outlets and load', [740, 300]),
    strip('strip watch', 'watch', [380, 380], everything, ['changed']),
    right('changed', 'whoever switched it', [750, 380]),
    {
      ...{ id: 'catch', type: 'catch', z: 'tab', name: 'what fails', scope: null, uncaught: false },
      ...{ x: 380, y: 460, wires: [['sentence']] },
    },
    { ...right('sentence', 'why, in a sentence', [750, 460]), complete: 'error.message', targetType: 'msg' },
  ]);

  const editor = await Editor.open(browser, red.url);
  const { page } = editor;
  await page.setViewportSize({ width: 1500, height: 800 });
  for (const button of ['press', 'hangs', 'night']) await editor.press(button);
  const badge = (id: string, words: string) =>
    editor.node(id).locator('.red-ui-flow-node-status-label', { hasText: words }).waitFor();
  await badge('toggle', 'on');
  await badge('cycle', 'on');
  await badge('off', 'protected');
  await editor.press('ask');
  await badge('status', '3 of 4 on');
  await page.mouse.move(1400, 700);
  await page.locator('.red-ui-notification').first().waitFor({ state: 'hidden' });
  const chart = await page.locator('#red-ui-workspace-chart').boundingBox();
  if (chart === null) throw new Error('the chart cannot be seen');
  await page.screenshot({
    path: file('flow'),
    clip: { x: chart.x + 20, y: chart.y + 20, width: 870, height: 490 },
  });
  await editor.close();
}

/** The account's dialog with what Test connection found. */
async function pictureAccount({ red, service, browser }: Studio): Promise<void> {
  await red.deploy([tab]);
  const editor = await Editor.open(browser, red.url);
  const { page } = editor;
  await editor.addConfig('strip-account');
  await page.locator('#node-config-input-name').fill('Home');
  await page.locator('#node-config-input-baseUrl').fill(service.baseUrl);
  await page.locator('#node-config-input-apiKey').fill(service.apiKey);
  await page.locator('#smart-strip-test').click();
  await page.locator('#smart-strip-result tbody tr').first().waitFor();
  await page.locator('#smart-strip-test').blur();
  const tray = await page.locator('.red-ui-tray').last().boundingBox();
  const last = await page.locator('.smart-strip-section').last().boundingBox();
  if (tray === null || last === null) throw new Error('the dialog cannot be seen');
  const { x, y, width } = tray;
  await page.screenshot({
    path: file('account'),
    clip: { x, y, width, height: last.y + last.height + 20 - y },
  });
  await editor.close();
}

/** The page of the dashboard example, after some minutes' use in little time. */
async function pictureDashboard({ red, service, browser }: Studio): Promise<void> {
  const { simulator, baseUrl, apiKey } = service;
  for (const mac of [DESK, KITCHEN]) simulator.setOutlet(mac, 'all', false);
  simulator.setOutlet(KITCHEN, 4, true);
  const example = examples().find(({ name }) => name.includes('Dashboard'));
  await red.deploy(
    (example?.nodes ?? []).map((node) =>
      node.type === 'strip-account' ? { ...node, baseUrl, interval: '5', credentials: { apiKey } } : node,
    ),
  );
  const dashboard = await Dashboard.open(browser, red.url);
  await dashboard.page.setViewportSize({ width: 1060, height: 566 });
  await dashboard.rests('kitchen4', true);
  const steps: [toggle: string, on: boolean, widget: string, load: string][] = [
    ['desk2', true, 'deskLoad', '60'],
    ['kitchen1', true, 'kitchenLoad', '128.5'],
    ['desk4', true, 'deskLoad', '180'],
    ['kitchen3', true, 'kitchenLoad', '171'],
    ['desk2', false, 'deskLoad', '120'],
    ['desk1', true, 'deskLoad', '128.5'],
  ];
  for (const [toggle, on, widget, load] of steps) {
    await dashboard.click(toggle);
    await dashboard.rests(toggle, on);
    await dashboard.reads(widget, load);
  }
  await dashboard.page.mouse.move(500, 560);
  // Gauges and toggles are still moving to where they belong.
  await dashboard.page.waitForTimeout(2000);
  await dashboard.page.screenshot({ path: file('dashboard') });
  await dashboard.close();
}

function shrink(): void {
  for (const name of ['flow', 'account', 'dashboard']) {
    const path = file(name);
    const { error } = spawnSync('pngquant', [
      '--force',
      '--skip-if-larger',
      '--speed',
      '1',
      '--output',
      path,
      path,
    ]);
    const { size } = statSync(path);
    const remark = error === undefined ? '' : ' (pngquant is not installed)';
    process.stdout.write(`${name}.png: ${size} bytes${remark}\n`);
    if (size > LARGEST) process.exitCode = 1;
  }
}

async function main(): Promise<void> {
  const chromium = findChromium();
  if (chromium === undefined) throw new Error('no Chromium found: set CHROMIUM to its path');
  mkdirSync(FOLDER, { recursive: true });
  const strips = [
    { mac: DESK, name: 'Desk strip' },
    { mac: KITCHEN, name: 'Kitchen strip' },
  ];
  const service = await startService({ strips });
  const red = await startNodeRed({ dashboard: true });
  const browser = await launch(chromium);
  try {
    const studio = { red, service, browser };
    await pictureFlow(studio);
    await pictureAccount(studio);
    await pictureDashboard(studio);
    shrink();
  } finally {
    await browser.close();
    await red.stop();
    await service.close();
  }
}

void main();
