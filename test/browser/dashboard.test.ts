import assert from 'node:assert/strict';
import { examples } from '../support/examples';
import { debug, inject } from '../support/flow';
import type { Fault } from '../support/service';
import { posting } from '../support/node-red-admin';
import { Dashboard } from './dashboard';
import { setStage } from './stage';

const DESK = 'A1B2C3D4E5F6';
const KITCHEN = 'A1B2C3D4E5F7';
const TOGGLES = ['desk1', 'desk2', 'desk3', 'desk4', 'kitchen1', 'kitchen2', 'kitchen3', 'kitchen4'];

describe('the dashboard example', () => {
  const stage = setStage({ nodeRed: { dashboard: true } });
  let mine: Dashboard;
  let theirs: Dashboard;

  beforeEach(() => {
    for (const mac of [DESK, KITCHEN]) {
      stage.service.simulator.apply({ mac, available: true });
      stage.service.simulator.apply({ mac, port: 'all', on: false });
    }
  });

  afterEach(async () => {
    stage.service.always(null);
    await Promise.all([mine.close(), theirs.close()]);
  });

  /** Deploys the example with an account of the test service, and opens its page in two browsers. */
  async function begin(
    account: { interval?: string; retryFor?: string } = {},
    says: 'online' | 'not available' = 'online',
  ): Promise<void> {
    const { red, service, browser } = stage;
    const example = examples().find(({ name }) => name.startsWith('03'));
    assert.ok(example);
    await red.deploy([
      ...example.nodes.map((node) => {
        if (node.type !== 'strip-account') return node;
        const { baseUrl, apiKey } = service;
        // No poll takes the answer that a test has prepared for a click.
        return { ...node, interval: '86400', retryFor: '0', ...account, baseUrl, credentials: { apiKey } };
      }),
      { ...inject('desk2', 'strip03_desk2'), z: 'strip03_tab' },
      { ...debug('caught'), z: 'strip03_tab' },
      { id: 'hears', type: 'catch', z: 'strip03_tab', scope: null, x: 100, y: 1400, wires: [['caught']] },
    ]);
    [mine, theirs] = await Promise.all([Dashboard.open(browser, red.url), Dashboard.open(browser, red.url)]);
    await both((page) => page.reads('serviceText', says));
    await both((page) => page.greyed('desk', says !== 'online'));
  }

  const both = async (look: (page: Dashboard) => Promise<void>) => {
    await Promise.all([look(mine), look(theirs)]);
  };

  /** The bodies of the switches asked for since the request `from`. */
  const switches = (from: number) =>
    stage.service.requests
      .slice(from)
      .filter(({ method }) => method === 'POST')
      .map(({ path, body }) => ({ strip: path.split('/').at(-2), ...(JSON.parse(body) as object) }));

  /**
   * Lets everything that is under way arrive: a click of the other person goes to the service and comes back to both, behind all
   * that was sent before, while a loop would have gone round many times.
   */
  async function settle(): Promise<void> {
    const from = stage.service.requests.length;
    await theirs.click('kitchen3');
    await both((page) => page.rests('kitchen3', true));
    assert.deepEqual(switches(from), [{ strip: KITCHEN, port: 3, on: true }]);
  }

  it('switches with one request, and shows the confirmed state to everyone', async () => {
    await begin();
    const from = stage.service.requests.length;
    await mine.click('desk2');
    await both((page) => page.rests('desk2', true));
    assert.deepEqual(switches(from), [{ strip: DESK, port: 2, on: true }]);
    assert.equal(stage.service.simulator.isOn(DESK, 2), true);

    await theirs.click('desk2');
    await both((page) => page.rests('desk2', false));
    assert.deepEqual(switches(from).slice(1), [{ strip: DESK, port: 2, on: false }]);
    const settled = stage.service.requests.length;
    await settle();
    assert.equal(switches(settled).length, 1);
    assert.equal(await mine.toasts.count(), 0);
  });

  it('shows a click as under way until the answer is there', async () => {
    await begin();
    const release = stage.service.hold('answer');
    await mine.click('desk1');
    await mine.spins('desk1');
    assert.equal(await mine.isOn('desk1'), false);
    assert.equal(await theirs.isOn('desk1'), false);
    release();
    await both((page) => page.rests('desk1', true));
  });

  const FAULTS: [title: string, fault: Fault, words: RegExp][] = [
    ['a fault of the service', { kind: 'answer', status: 500, json: { error: 'broken' } }, /500/],
    [
      'an outlet that does not switch',
      { kind: 'answer', status: 200, json: { success: false, results: [{ port: 3, ok: false }] } },
      /3/,
    ],
    ['a key that is refused', { kind: 'answer', status: 401, json: {} }, /key/],
  ];
  for (const [title, fault, words] of FAULTS) {
    it(`puts the toggle back after ${title}, and tells only the person who clicked`, async () => {
      stage.service.simulator.apply({ mac: DESK, port: 3, on: true });
      await begin();
      await both((page) => page.rests('desk3', true));
      const from = stage.service.requests.length;
      stage.service.next(fault);
      await mine.click('desk3');
      await mine.toasts.filter({ hasText: words }).waitFor();
      await both((page) => page.rests('desk3', true));
      assert.deepEqual(switches(from), [{ strip: DESK, port: 3, on: false }]);
      await mine.picture(`dashboard-${title.replaceAll(' ', '-')}`);
      await settle();
      assert.equal(await theirs.toasts.count(), 0);
      assert.equal(await mine.isOn('desk3'), true);

      // It is not stuck: the next click is one request again.
      const again = stage.service.requests.length;
      await mine.click('desk3');
      await both((page) => page.rests('desk3', false));
      assert.deepEqual(switches(again), [{ strip: DESK, port: 3, on: false }]);
    });
  }

  it('refuses to switch a protected outlet off, without a request', async () => {
    stage.service.simulator.apply({ mac: KITCHEN, port: 4, on: true });
    await begin();
    await both((page) => page.rests('kitchen4', true));
    const from = stage.service.requests.length;
    await mine.click('kitchen4');
    await mine.toasts.filter({ hasText: /protect/ }).waitFor();
    await both((page) => page.rests('kitchen4', true));
    assert.deepEqual(switches(from), []);
    await settle();
    assert.equal(await theirs.toasts.count(), 0);
  });

  it('shows to everyone what was switched by hand, and how much is drawn', async () => {
    await begin({ interval: '5' });
    const from = stage.service.requests.length;
    stage.service.simulator.apply({ mac: DESK, port: 4, on: true });
    stage.service.simulator.apply({ mac: DESK, readings: { load: 123 } });
    stage.service.simulator.apply({ mac: DESK, readings: { voltage: 229.5 } });
    stage.service.simulator.apply({ mac: DESK, readings: { signal: -71 } });
    await both((page) => page.rests('desk4', true));
    await both((page) => page.reads('deskLoad', '123'));
    await both((page) => page.reads('deskVoltage', '229.5'));
    await both((page) => page.reads('deskSignal', '-71'));
    await both((page) => page.reads('kitchenSignal', '-52'));
    assert.deepEqual(switches(from), []);
  });

  it('draws the load of each strip', async () => {
    await begin();
    await both((page) => page.widget('chart').locator('canvas').waitFor());
    await mine.picture('dashboard');
  });

  it('switches all off but what is protected', async () => {
    for (const mac of [DESK, KITCHEN]) stage.service.simulator.apply({ mac, port: 'all', on: true });
    await begin();
    for (const toggle of TOGGLES) await both((page) => page.rests(toggle, true));
    const from = stage.service.requests.length;
    await mine.widget('allOff').locator('button').click();
    for (const toggle of TOGGLES) await both((page) => page.rests(toggle, toggle === 'kitchen4'));
    assert.deepEqual(
      new Set(switches(from).map((one) => JSON.stringify(one))),
      new Set([
        JSON.stringify({ strip: DESK, port: 'all', on: false }),
        ...[1, 2, 3].map((port) => JSON.stringify({ strip: KITCHEN, port, on: false })),
      ]),
    );
    assert.equal(await mine.toasts.count(), 0);
    await settle();
  });

  it('says it once, to the person who clicked, when "all off" fails', async () => {
    stage.service.simulator.apply({ mac: DESK, port: 'all', on: true });
    await begin();
    await both((page) => page.rests('desk1', true));
    stage.service.simulator.apply({ mac: DESK, available: false });
    await mine.widget('allOff').locator('button').click();
    await mine.toasts.filter({ hasText: /Desk strip/ }).waitFor();
    await settle();
    assert.equal(await theirs.toasts.count(), 0);
    assert.equal(await mine.isOn('desk1'), true);
  });

  it('greys a strip that is not there, in every browser, and brings it back', async () => {
    await begin({ interval: '5' });
    stage.service.simulator.apply({ mac: KITCHEN, available: false });
    await both((page) => page.greyed('kitchen', true));
    await both((page) => page.greyed('desk', false));
    await mine.picture('dashboard-unavailable');
    const late = await Dashboard.open(stage.browser, stage.red.url);
    await late.greyed('kitchen', true);
    await late.close();
    stage.service.simulator.apply({ mac: KITCHEN, available: true });
    await both((page) => page.greyed('kitchen', false));
  });

  it('says that the service is not available, and that it is again', async () => {
    await begin({ interval: '5' });
    stage.service.always({ kind: 'reset', when: 'before' });
    await both((page) => page.reads('serviceText', 'not available'));
    await both((page) => page.greyed('kitchen', true));
    stage.service.always(null);
    await both((page) => page.reads('serviceText', 'online'));
    await both((page) => page.greyed('kitchen', false));
    assert.equal(await mine.toasts.count(), 0);
  });

  it('cannot be clicked as long as no strip was heard of, nor while the service does not answer', async () => {
    const strips = ['desk', 'kitchen'];
    const all = (grey: boolean) =>
      both(async (page) => {
        for (const each of strips) await page.greyed(each, grey);
      });
    stage.service.simulator.apply({ mac: DESK, port: 1, on: true });
    stage.service.always({ kind: 'reset', when: 'before' });
    await begin({ interval: '5' }, 'not available');
    await all(true);
    await mine.picture('dashboard-nothing-known');
    stage.service.always(null);
    await all(false);
    await both((page) => page.rests('desk1', true));
    // An open page would keep from the last deploy that the strips are available.
    await Promise.all([mine.close(), theirs.close()]);
    stage.service.always({ kind: 'reset', when: 'before' });
    await begin({ interval: '6' }, 'not available');
    await all(true);
  });

  describe('during an outage', () => {
    /** Switches an outlet during an outage; the second click, `replace`, replaces the first. */
    async function replaced(replace: () => Promise<void>): Promise<void> {
      await begin({ retryFor: '60' });
      const { red, service } = stage;
      const from = service.requests.length;
      service.always({ kind: 'answer', status: 503, json: {} });
      await mine.click('desk1');
      await mine.spins('desk1');
      await service.arrived(from + 2);
      const mark = red.comms.mark;
      await replace();
      const { error } = await red.debug('caught', mark);
      assert.equal((error as { code: unknown }).code, 'SUPERSEDED');
    }

    it('shows the last known state where a command was replaced by a newer one, until that is done', async () => {
      await replaced(() => mine.click('desk1'));
      await mine.rests('desk1', false);
      stage.service.always(null);
      await both((page) => page.rests('desk1', true));
      assert.equal(stage.service.simulator.isOn(DESK, 1), true);
      await settle();
      assert.equal(await mine.isOn('desk1'), true);
      assert.equal(await mine.toasts.count(), 0);
    });

    it('brings a toggle to rest whose command was replaced from elsewhere, though nothing changes', async () => {
      const ends: Promise<Response>[] = [];
      await replaced(async () => {
        const command = { account: 'strip03_account', mac: DESK, port: 1, on: false };
        ends.push(stage.red.admin('/strip-sidebar/switch', posting(command)));
        await Promise.resolve();
      });
      stage.service.always(null);
      await Promise.all(ends);
      await both((page) => page.rests('desk1', false));
      assert.equal(await mine.toasts.count(), 0);
    });

    it('brings a toggle to rest whose command was replaced by "all off"', async () => {
      await replaced(() => mine.widget('allOff').locator('button').click());
      const { service } = stage;
      const from = service.requests.length;
      service.always(null);
      // The whole desk strip, and three outlets of the other: its fourth is protected.
      for (let count = from; switches(from).length < 4; count++) await service.arrived(count + 1);
      await both((page) => page.rests('desk1', false));
      assert.equal(service.simulator.isOn(DESK, 1), false);
      await settle();
      assert.equal(await mine.toasts.count(), 0);
    });
  });
});
