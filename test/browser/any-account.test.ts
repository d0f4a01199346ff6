import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { examples } from '../support/examples';
import type { Fault } from '../support/service';
import { takePicture } from './editor';
import { setStage } from './stage';

const strips = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    mac: `A1B2C3D4E5${index.toString(16).padStart(2, '0').toUpperCase()}`,
    name: `Strip ${String(index + 1).padStart(2, '0')}`,
    outlets: [{ on: true }],
  }));
const MAC = 'A1B2C3D4E500';
/** Names that the account gives; the other outlets have none. */
const outletNames = [
  { mac: MAC, port: 1, name: 'Desk lamp' },
  { mac: MAC, port: 3, name: 'A name that is far too long for one line of a narrow page' },
];

/** The page as one person has it open. */
class AllStrips {
  constructor(readonly page: Page) {}

  strip(name: string): Locator {
    return this.page.getByRole('region', { name, exact: true });
  }

  toggle(strip: string, outlet: string): Locator {
    return this.strip(strip).getByRole('switch', { name: outlet });
  }

  /** Resolves when the toggle rests at this state. */
  async rests(strip: string, outlet: string, on: boolean): Promise<void> {
    await this.toggle(strip, outlet)
      .and(this.page.locator(`[aria-checked=${on}][aria-busy=false]`))
      .waitFor();
  }

  get toasts(): Locator {
    return this.page.locator('.nrdb-ui-notification .v-snackbar__content');
  }

  async picture(name: string): Promise<void> {
    await takePicture(this.page, name);
  }
}

for (const count of [1, 30]) {
  describe(`the dashboard for any account, with ${count} strips`, () => {
    /** What a switch is answered with; the poll goes on. */
    let switchFault: Fault | null = null;
    const stage = setStage({
      nodeRed: { dashboard: true },
      service: {
        strips: strips(count),
        faultOf: (path) => (path.endsWith('/switch') ? switchFault : null),
      },
    });
    const open: Page[] = [];

    async function visit(width = 1100, height = 700): Promise<AllStrips> {
      const context = await stage.browser.newContext({ viewport: { width, height } });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      open.push(page);
      await page.goto(`${stage.red.url}/dashboard/all-strips`);
      const dashboard = new AllStrips(page);
      await dashboard.strip('Strip 01').waitFor();
      return dashboard;
    }

    before(async () => {
      const example = examples().find(({ name }) => name.startsWith('16'));
      assert.ok(example);
      const { baseUrl, apiKey } = stage.service;
      await stage.red.deploy(
        example.nodes
          .filter(({ type }) => type !== 'strip simulator')
          .map((node) =>
            node.type === 'strip-account'
              ? { ...node, retryFor: '0', outletNames, baseUrl, credentials: { apiKey } }
              : node,
          ),
      );
    });

    beforeEach(() => {
      stage.service.simulator.apply({ mac: MAC, available: true });
    });

    afterEach(async () => {
      stage.service.always(null);
      for (const page of open.splice(0)) await page.context().close();
    });

    it('draws every strip and outlet by name, with readings, in a page that is opened late too', async () => {
      const page = await visit();
      await page.strip(`Strip ${String(count).padStart(2, '0')}`).waitFor();
      assert.equal(await page.page.getByRole('region').count(), count);
      assert.equal(await page.page.getByRole('switch').count(), 4 * count);
      await page
        .strip('Strip 01')
        .getByText(/^\d+(\.\d)? W · 2\d\d(\.\d)? V · -52 dBm$/)
        .waitFor();
      await page.rests('Strip 01', 'Desk lamp', true);
      await page.rests('Strip 01', 'Outlet 2', false);
      await page.picture(`any-account-${count}`);
    });

    it('waits for the answer to a click, and shows the confirmed state to everyone', async () => {
      const [mine, theirs] = [await visit(), await visit()];
      const from = stage.service.requests.length;
      const release = stage.service.hold('answer');
      await mine.toggle('Strip 01', 'Outlet 2').click();
      const pending = mine.toggle('Strip 01', 'Outlet 2').and(mine.page.locator('[aria-busy=true]:disabled'));
      await pending.waitFor();
      assert.equal(await mine.toggle('Strip 01', 'Outlet 2').getAttribute('aria-checked'), 'false');
      release();
      for (const page of [mine, theirs]) await page.rests('Strip 01', 'Outlet 2', true);
      const posts = stage.service.requests.slice(from).filter(({ method }) => method === 'POST');
      assert.deepEqual(
        posts.map(({ path, body }) => [path.split('/').at(-2), JSON.parse(body) as unknown]),
        [[MAC, { port: 2, on: true }]],
      );
      await theirs.toggle('Strip 01', 'Outlet 2').click();
      for (const page of [mine, theirs]) await page.rests('Strip 01', 'Outlet 2', false);
    });

    it('puts the toggle back after an error, and tells only the person who clicked', async () => {
      const [mine, theirs] = [await visit(), await visit()];
      const json = { success: false, results: [{ port: 1, ok: false }] };
      switchFault = { kind: 'answer', status: 200, json };
      await mine.toggle('Strip 01', 'Desk lamp').click();
      await mine.toasts.waitFor();
      switchFault = null;
      for (const page of [mine, theirs]) await page.rests('Strip 01', 'Desk lamp', true);
      assert.equal(await theirs.toasts.count(), 0);
      // It is not stuck: the next click is carried out.
      await mine.toggle('Strip 01', 'Desk lamp').click();
      await theirs.rests('Strip 01', 'Desk lamp', false);
      await mine.toggle('Strip 01', 'Desk lamp').click();
      await theirs.rests('Strip 01', 'Desk lamp', true);
    });

    it('shows what is switched by hand, and a strip that is not there, which cannot be switched', async () => {
      const page = await visit();
      stage.service.simulator.apply({ mac: MAC, port: 4, on: true });
      await page.rests('Strip 01', 'Outlet 4', true);
      stage.service.simulator.apply({ mac: MAC, port: 4, on: false });
      stage.service.simulator.apply({ mac: MAC, available: false });
      await page.strip('Strip 01').getByText('not available').waitFor();
      assert.equal(await page.toggle('Strip 01', 'Desk lamp').isDisabled(), true);
      stage.service.simulator.apply({ mac: MAC, available: true });
      await page.strip('Strip 01').getByText(/dBm/).waitFor();
      await page.rests('Strip 01', 'Outlet 4', false);
    });

    it('says that the strips cannot be read', async () => {
      const page = await visit();
      stage.service.always({ kind: 'reset', when: 'before' });
      const note = page.page.getByText('The strips cannot be read');
      await note.waitFor();
      stage.service.always(null);
      await note.waitFor({ state: 'detached' });
    });

    it('fits on a phone: one column, nothing cut off, toggles large enough for a finger', async () => {
      const page = await visit(375, 740);
      await page.page.waitForFunction(() => {
        const lefts = Array.from(
          document.querySelectorAll('section'),
          (one) => one.getBoundingClientRect().left,
        );
        return document.documentElement.scrollWidth <= 375 && new Set(lefts).size === 1;
      });
      const box = await page.toggle('Strip 01', 'Desk lamp').boundingBox();
      assert.ok(box !== null && box.height >= 44 && box.x + box.width <= 375);
      await page.picture(`any-account-${count}-phone`);
      await page.toggle('Strip 01', 'Outlet 2').click();
      await page.rests('Strip 01', 'Outlet 2', true);
      await page.toggle('Strip 01', 'Outlet 2').click();
      await page.rests('Strip 01', 'Outlet 2', false);
    });
  });
}
