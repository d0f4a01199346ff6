import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { Aedes } from 'aedes';
import { examples } from '../support/examples';
import type { Example } from '../support/examples';
import { startNodeRed } from '../support/node-red';
import type { CommsEvent, FlowNode, RunningNodeRed, Status } from '../support/node-red';
import { startListening } from '../support/start-listening';

/** What a click shows: a message in the debug sidebar, or the status of a node. Nodes by what their ids end with. */
type Effect =
  { debug: string; says: RegExp; topic?: string } | { status: string; text: RegExp; fill?: string };

const ON = /status\.on$/;
const OFF = /status\.off$/;
/** What a trigger node shows while it waits. */
const WAITING: Effect = { status: 'hour', text: /^\s*$/, fill: 'blue' };
const hears = (says: RegExp): Effect[] =>
  ['d1', 'homekit', 'alexa', 'matter'].map((debug) => ({ debug, says }));
const HEARS_ON = hears(/^(true|ON|\{"(On|state)":true\})$/i);
const HEARS_OFF = hears(/^(false|OFF|\{"(On|state)":false\})$/i);

/** For each example, its inject nodes in the order in which they are clicked, and all that each click shows. */
const EFFECTS: Record<string, Record<string, Effect[]>> = {
  '01': {
    on: [
      { debug: 'confirmed', says: /"payload":true/ },
      { status: 'lamp', text: ON },
      { debug: 'switched', says: /"on":true/ },
      { debug: 'changed', says: /true/ },
    ],
    off: [
      { debug: 'confirmed', says: /"payload":false/ },
      { status: 'lamp', text: OFF },
    ],
    toggle: [
      { debug: 'confirmed', says: /"payload":true/ },
      { status: 'lamp', text: ON },
    ],
    press: [{ debug: 'changed', says: /false/ }],
    unplug: [{ debug: 'changed', says: /false/ }],
    plug: [{ debug: 'changed', says: /true/ }],
  },
  '02': {
    i1: [{ debug: 'd1', says: /Desk strip.*Kitchen strip/s }],
    i2: [{ debug: 'd2', says: /"voltage":2[23]\d/ }],
    i3: [
      { debug: 'd3', says: /true/ },
      { status: 'lamp', text: ON },
    ],
    i4: [{ debug: 'd4', says: /"port":1.*"port":2.*"port":3.*"port":3.*"port":4/s }],
  },
  '04': {
    press: [{ debug: 'notify', says: /\(Desk strip\) is now on$/ }],
    unplug: [{ debug: 'notify', says: /^Kitchen strip is not available any more$/ }],
    plug: [{ debug: 'notify', says: /^Kitchen strip is available again$/ }],
  },
  '05': {
    hangs: [
      { debug: 'switched', says: /"port":3,"on":false/ },
      { debug: 'switched', says: /"port":3,"on":true/ },
      { debug: 'd1', says: /^true$/ },
    ],
  },
  '06': {
    night: [
      { debug: 'd1', says: /A1B2C3D4E5F7.*"skipped":\[4\]/s },
      { status: 'off', text: /status\.on1of4$/ },
    ],
  },
  '07': {
    press: [
      { debug: 'd1', says: /false/ },
      { status: 'screen', text: OFF },
    ],
  },
  '08': {
    i1: [{ debug: 'd2', says: /Desk strip/ }],
    i2: [{ debug: 'd1', says: /"port":"all".*"on":false/s }],
    i3: [{ debug: 'd1', says: /"port":3,"on":true/ }],
  },
  '09': { press: [{ debug: 'd1', says: /"payload":true/ }] },
  '10': {
    i1: [{ debug: 'd1', says: /INVALID_INPUT/ }],
    i2: [{ debug: 'd2', says: /NOT_FOUND/ }],
    i3: [{ debug: 'd3', says: /PROTECTED/ }],
    i4: [
      { debug: 'd0', says: /"on":true/ },
      { status: 'switch', text: ON },
    ],
  },
  '11': {
    // The states of all outlets are still being sent when the first click comes.
    hand_on: [{ debug: 'sent', says: /^ON$/, topic: 'smart-strip/A1B2C3D4E5F6/4' }],
    hand_off: [{ debug: 'sent', says: /^OFF$/, topic: 'smart-strip/A1B2C3D4E5F6/4' }],
  },
  '12': {
    on: [{ debug: 'd1', says: /^ON$/ }],
    off: [{ debug: 'd1', says: /^OFF$/ }],
    toggle: [{ debug: 'd1', says: /^ON$/ }],
  },
  '13': {
    press: [{ debug: 'pressed', says: /toggle/ }],
    call: [{ debug: 'changed', says: /"port":4,"on":true/ }],
  },
  '14': {
    on: [{ status: 'coffee', text: ON }, WAITING],
    offNow: [{ status: 'coffee', text: OFF }],
    press: [{ status: 'watch', text: ON }, WAITING],
  },
  '15': {
    homekitOn: HEARS_ON,
    homekitOff: HEARS_OFF,
    alexaOn: HEARS_ON,
    alexaOff: HEARS_OFF,
    matterOn: HEARS_ON,
    matterOff: HEARS_OFF,
  },
  '16': {
    press: [{ debug: 'changed', says: /^A1B2C3D4E5F6\/4$/ }],
    unplug: [{ debug: 'changed', says: /^A1B2C3D4E5F7\/available$/ }],
    plug: [{ debug: 'changed', says: /^A1B2C3D4E5F7\/available$/ }],
  },
  '17': {
    runs: [{ debug: 'load', says: /^450$/ }],
    drops: [
      { debug: 'load', says: /^3$/ },
      { debug: 'say', says: /^The washing machine is done$/ },
      { debug: 'switched', says: /"port":1,"on":false/ },
    ],
  },
};

/** A poll, at most: up to 10 seconds after a start, else every 5 with some jitter; and a busy machine. */
const TIMEOUT = 60_000;

const numberOf = ({ name }: Example): string => name.slice(0, 2);
const endOf = ({ id }: FlowNode): string => id.replace(/^strip\d\d_/, '');
const injectsOf = ({ nodes }: Example): string[] => nodes.filter(({ type }) => type === 'inject').map(endOf);

async function see(red: RunningNodeRed, number: string, effect: Effect, after: number): Promise<void> {
  if ('status' in effect) {
    const node = `status/strip${number}_${effect.status}`;
    const shows = ({ text, fill }: Status) =>
      effect.text.test(text ?? '') && (effect.fill === undefined || effect.fill === fill);
    await red.comms.find(
      `${node} with ${String(effect.text)}`,
      ({ topic, data }) => topic === node && shows(data as Status),
      { after, timeout: TIMEOUT },
    );
    return;
  }
  const id = `strip${number}_${effect.debug}`;
  await red.comms.find(
    `message in ${id} with ${String(effect.says)}`,
    ({ topic, data }) => {
      const shown = data as { id?: unknown; msg?: unknown; topic?: unknown };
      const isAbout = effect.topic === undefined || effect.topic === shown.topic;
      return topic === 'debug' && shown.id === id && isAbout && effect.says.test(String(shown.msg));
    },
    { after, timeout: TIMEOUT },
  );
}

describe('the examples, all imported into one Node-RED', () => {
  let aedes: Aedes;
  let broker: Server;
  let red: RunningNodeRed;
  /** By the number of the example: all at the same time, as each mostly waits for polls. */
  let clicked: Map<string, Promise<void>>;

  before(async () => {
    aedes = await Aedes.createBroker();
    broker = createServer(aedes.handle);
    const port = String(await startListening(broker));
    red = await startNodeRed({ dashboard: true });
    const all = examples().filter((example) => numberOf(example) in EFFECTS);
    await red.deploy(
      all.flatMap(({ nodes }) =>
        nodes.map((node) => (node.type === 'mqtt-broker' ? { ...node, port } : node)),
      ),
    );
    clicked = new Map(all.map((example) => [numberOf(example), clickAll(red, example)]));
    await Promise.allSettled(clicked.values());
  });

  after(async () => {
    await red.stop();
    await new Promise<void>((resolve) => aedes.close(resolve));
    await new Promise((resolve) => broker.close(resolve));
  });

  it('have an effect listed here for every inject node', () => {
    for (const example of examples()) {
      assert.deepEqual(
        Object.keys(EFFECTS[numberOf(example)] ?? {}).sort(),
        injectsOf(example).sort(),
        example.name,
      );
    }
  });

  for (const example of examples().filter((example) => numberOf(example) in EFFECTS)) {
    it(`${example.name}: every click has its effect, with nothing entered`, async () => {
      await clicked.get(numberOf(example));
    });
  }

  it('log no warning, and no error but those that example 10 is about', () => {
    const isWarning = (level: string, text: string) => level === 'warn' && text.startsWith('[');
    const logged = red.log.items
      .filter(({ level, text }) => level === 'error' || isWarning(level, text))
      .map(({ text }) => text);
    const expected = byNumber('10').nodes.map(
      ({ type, name, id }) => `[${type}:${typeof name === 'string' && name !== '' ? name : id}]`,
    );
    assert.deepEqual(
      logged.filter((text) => !expected.some((node) => text.startsWith(node))),
      [],
    );
  });

  it('13: a call from outside is answered and makes the change known, whatever it sends', async () => {
    const json = { 'content-type': 'application/json' };
    for (const [method, body, headers] of [
      ['POST', 'no JSON', {}],
      ['POST', 'no JSON', json],
      ['POST', '"'.repeat(6_000_000), json],
      ['POST', '{}', { ...json, 'content-encoding': 'unknown' }],
      ['GET', null, {}],
    ] as const) {
      await red.inject('strip13_press');
      const mark = red.comms.mark;
      const answer = await fetch(`${red.url}/strip-webhook/choose-a-secret`, { method, body, headers });
      assert.equal(answer.status, 204);
      await see(red, '13', { debug: 'changed', says: /"port":4/ }, mark);
    }
  });

  it('04: reports an outage in one notification, and its end in another', async () => {
    // A simulator that starts has forgotten what was switched: "Desk lamp (Desk strip) is now off".
    const sentences = (end: string) =>
      new RegExp(`^Desk strip ${end}\\n(.*now off\\n)?Kitchen strip ${end}\\nThe service ${end}$`);
    let mark = red.comms.mark;
    await simulate(red, '04', false);
    await see(red, '04', { debug: 'notify', says: sentences('is not available any more') }, mark);
    mark = red.comms.mark;
    await simulate(red, '04', true);
    await see(red, '04', { debug: 'notify', says: sentences('is available again') }, mark);
  });

  it('06: switches off later if the strips could not be listed, but not after more than an hour', async () => {
    await simulate(red, '06', false);
    await change(red, { strip06_later: { timeoutUnits: 'seconds' } });
    const start = red.comms.mark;
    for (const [topic, began] of [
      ['too old', Date.now() - 3_600_000],
      ['in time', Date.now()],
    ] as const) {
      const mark = red.comms.mark;
      await red.inject('strip06_night', { topic, began });
      await see(red, '06', { debug: 'd2', says: new RegExp(`"topic":"${topic}".*UNREACHABLE`, 's') }, mark);
    }
    await simulate(red, '06', true);
    await see(red, '06', { debug: 'd1', says: /A1B2C3D4E5F7.*"skipped":\[4\]/s }, start);
    const switched = shownBy(red, 'strip06_d1', start);
    assert.ok(switched.length > 0);
    assert.deepEqual(
      switched.filter((message) => !message.includes('"in time"') || message.includes('UNREACHABLE')),
      [],
    );
  });

  it('06: tries to switch a strip off again, but not after a newer command', async () => {
    const wireTo = (...wires: string[]) => change(red, { strip06_night: { wires: [wires] } });
    const mac = 'A1B2C3D4E5F7';
    await change(red, { strip06_later: { timeout: '0.3', timeoutUnits: 'seconds' } });
    await wireTo('strip06_sim', 'strip06_which');
    const start = red.comms.mark;
    const began = Date.now();
    await red.inject('strip06_night', { topic: 'away', began, payload: { mac, available: false } });
    await see(red, '06', { debug: 'd2', says: /"topic":"away".*SWITCH_FAILED/s }, start);
    await wireTo('strip06_sim');
    await red.inject('strip06_night', { payload: { mac, available: true } });
    await see(red, '06', { debug: 'd1', says: /"topic":"away".*"skipped":\[4\]/s }, start);
    await wireTo('strip06_hour');
    for (const code of ['SUPERSEDED', 'SERVICE']) {
      await red.inject('strip06_night', { topic: code, began, payload: { mac }, error: { code } });
    }
    await see(red, '06', { debug: 'd1', says: /"topic":"SERVICE"/ }, start);
    const switched = shownBy(red, 'strip06_d1', start);
    assert.deepEqual(
      switched.filter((message) => /"topic":"SUPERSEDED"|"error"/.test(message)),
      [],
    );
  });

  it('07: gives the screen the state that the computer has at the start', async () => {
    await see(red, '07', { debug: 'd1', says: /true/ }, 0);
  });

  it('07 and 17: show why an outlet was not switched', async () => {
    const flows = await red.getFlows();
    const mark = red.comms.mark;
    await change(red, {
      strip07_press: { wires: [['strip07_screen']] },
      strip17_runs: { wires: [['strip17_off']] },
      strip17_account: { protectedOutlets: [{ mac: 'A1B2C3D4E5F9', port: 1 }] },
    });
    await red.inject('strip07_press', { payload: 'neither' });
    await see(red, '07', { debug: 'd2', says: /INVALID_INPUT/ }, mark);
    await red.inject('strip17_runs');
    await see(red, '17', { debug: 'd2', says: /PROTECTED/ }, mark);
    await red.deploy(flows, 'nodes');
  });

  it('08: says that nothing is remembered', async () => {
    await red.admin('/context/flow/strip08_tab/remembered', { method: 'DELETE' });
    const mark = red.comms.mark;
    await red.inject('strip08_i3');
    await see(red, '08', { debug: 'd3', says: /^Nothing is remembered: click 1 first\.$/ }, mark);
  });

  it('09: goes on trying to switch on, however often that fails, and says so once', async () => {
    await change(red, {
      strip09_account: { retryFor: '0' },
      strip09_later: { duration: '0.1', units: 's' },
      strip09_press: { wires: [['strip09_isOff']] },
      strip09_sim: { d: true },
    });
    const start = red.comms.mark;
    await red.inject('strip09_press', { payload: false });
    await seeTimes(red, 12, waitingIn('strip09_later'), start);
    const notifications = shownBy(red, 'strip09_d2', start);
    assert.equal(notifications.length, 1);
    assert.match(notifications[0] ?? '', /UNREACHABLE/);
    await simulate(red, '09', true);
    await see(red, '09', { debug: 'd1', says: /"payload":true/ }, start);
    assert.deepEqual(
      shownBy(red, 'strip09_d1', start).filter((message) => message.includes('"error"')),
      [],
    );
  });

  it('09: does not try again after somebody else has switched it on', async () => {
    await change(red, { strip09_later: { duration: '5', units: 'min' }, strip09_sim: { d: true } });
    let mark = red.comms.mark;
    await red.inject('strip09_press', { payload: false });
    await see(red, '09', { status: 'later', text: /^\s*$/, fill: 'blue' }, mark);
    mark = red.comms.mark;
    await red.inject('strip09_press', { payload: true });
    await see(red, '09', { status: 'later', text: /^$/ }, mark);
  });

  it('10: calls what the service or the account cannot do at the moment something to try again later', async () => {
    await change(red, { strip10_i4: { wires: [['strip10_code']] } });
    for (const code of ['UNREACHABLE', 'TIMEOUT', 'SERVICE', 'RATE_LIMITED', 'BUSY']) {
      const mark = red.comms.mark;
      await red.inject('strip10_i4', { error: { code } });
      await see(red, '10', { debug: 'd4', says: new RegExp(code) }, mark);
    }
  });

  it('14: switches off when the time has passed', async () => {
    await change(red, { strip14_hour: { units: 's' } });
    let mark = red.comms.mark;
    await red.inject('strip14_offNow');
    await see(red, '14', { status: 'watch', text: OFF }, mark);
    mark = red.comms.mark;
    await red.inject('strip14_on');
    await see(red, '14', { debug: 'd1', says: /false/ }, mark);
  });

  it('14: tries to switch off again, says once that it failed, and gives a newer command its hour', async () => {
    const flows = await red.getFlows();
    const again =
      byNumber('14').nodes.find(({ id }) => id === 'strip14_again') ?? assert.fail('no such node');
    const rules = (milliseconds: string) =>
      JSON.parse(JSON.stringify(again.rules).replace('300000', milliseconds)) as unknown;
    const common = { strip14_watch: { wires: [[]] }, strip14_hour: { units: 's' } };
    await change(red, {
      ...common,
      strip14_account: { retryFor: '0' },
      strip14_sim: { d: true },
      strip14_again: { rules: rules('100') },
      strip14_press: { wires: [['strip14_hour']] },
    });
    let start = red.comms.mark;
    await red.inject('strip14_press', { payload: true });
    await seeTimes(red, 12, waitingIn('strip14_hour'), start);
    assert.equal(shownBy(red, 'strip14_d2', start).length, 1);
    await simulate(red, '14', true);
    await see(red, '14', { debug: 'd1', says: /false/ }, start);
    await change(red, { ...common, strip14_press: { wires: [['strip14_again']] } }, flows);
    start = red.comms.mark;
    await red.inject('strip14_press', { error: { code: 'SUPERSEDED' } });
    await see(red, '14', { debug: 'd1', says: /false/ }, start);
  });

  it('17: notices a load that falls in steps', async () => {
    const start = red.comms.mark;
    for (const load of [450, 12, 8]) {
      const mark = red.comms.mark;
      await red.inject('strip17_runs', { payload: { mac: 'A1B2C3D4E5F9', load } });
      await see(red, '17', { debug: 'load', says: new RegExp(`^${load}$`) }, mark);
    }
    await see(red, '17', { debug: 'say', says: /is done$/ }, start);
  });

  it('17: a machine whose load rises again, but only a little, is not done', async () => {
    await change(red, { strip17_runs: { wires: [['strip17_level']] } });
    const waiting: Effect = { status: 'wait', text: /^\s*$/, fill: 'blue' };
    for (const [payload, effect] of [
      [450, null],
      [3, waiting],
      [30, { status: 'wait', text: /^$/ }],
      [8, waiting],
    ] as const) {
      const mark = red.comms.mark;
      await red.inject('strip17_runs', { payload });
      if (effect !== null) await see(red, '17', effect, mark);
    }
  });

  it('15: sets the apps back when the lamp is not switched', async () => {
    let mark = red.comms.mark;
    await red.inject('strip15_homekitOn');
    for (const effect of HEARS_ON) await see(red, '15', effect, mark);
    mark = red.comms.mark;
    await change(red, { strip15_account: { protectedOutlets: [{ mac: 'A1B2C3D4E5F6', port: 4 }] } });
    const apps = HEARS_ON.filter((effect) => !('debug' in effect && effect.debug === 'd1'));
    for (const app of apps) await see(red, '15', app, mark);
    for (const click of ['homekitOff', 'alexaOff', 'matterOff']) {
      mark = red.comms.mark;
      await red.inject(`strip15_${click}`);
      for (const app of apps) await see(red, '15', app, mark);
      await see(red, '15', { debug: 'd2', says: /protected/ }, mark);
    }
  });

  it('15: HomeKit shows no response until the lamp answers again, also after a command that failed', async () => {
    const shown = (says: RegExp): Effect => ({ debug: 'homekit', says });
    let mark = red.comms.mark;
    await simulate(red, '15', false);
    await see(red, '15', shown(/NO_RESPONSE/), mark);
    mark = red.comms.mark;
    await red.inject('strip15_homekitOn');
    await red.inject('strip15_alexaOn');
    await see(red, '15', { debug: 'd2', says: /newer command/ }, mark);
    await see(red, '15', shown(/./), mark);
    const sent = shownBy(red, 'strip15_homekit', mark);
    assert.deepEqual([...new Set(sent)], ['{"On":"NO_RESPONSE"}']);
    mark = red.comms.mark;
    await simulate(red, '15', true);
    await see(red, '15', shown(/\{"On":(true|false)\}/), mark);
  });

  it('15: sends HomeKit only on, off and that the outlet does not answer', () => {
    const sent = shownBy(red, 'strip15_homekit', 0);
    assert.ok(sent.length > 0);
    assert.deepEqual(
      sent.filter((text) => !/^\{"On":(true|false|"NO_RESPONSE")\}$/.test(text)),
      [],
    );
  });
});

/** All that a debug node has shown since `after`. */
function shownBy(red: RunningNodeRed, id: string, after: number): string[] {
  return red.comms.items
    .slice(after)
    .filter(({ topic }) => topic === 'debug')
    .map(({ data }) => data as { id?: unknown; msg?: unknown })
    .filter((shown) => shown.id === id)
    .map(({ msg }) => String(msg));
}

/** Whether a trigger node says that it waits. */
const waitingIn =
  (id: string) =>
  ({ topic, data }: CommsEvent): boolean =>
    topic === `status/${id}` && (data as Status).fill === 'blue';

/** Waits until the editor was told so a number of times. */
async function seeTimes(
  red: RunningNodeRed,
  times: number,
  fits: (event: CommsEvent) => boolean,
  after: number,
): Promise<void> {
  let seen = 0;
  await red.comms.find(`${times} times`, (event) => fits(event) && ++seen === times, {
    after,
    timeout: TIMEOUT,
  });
}

/** Deploys the flows with other properties of some nodes, by their ids. */
async function change(
  red: RunningNodeRed,
  instead: Record<string, object>,
  flows?: readonly FlowNode[],
): Promise<void> {
  const changed = (flows ?? (await red.getFlows())).map((node) => ({ ...node, ...instead[node.id] }));
  await red.deploy(changed, 'nodes');
}

/** Deploys an example's simulator, or takes it away, so that the service does not answer. */
const simulate = (red: RunningNodeRed, number: string, isThere: boolean): Promise<void> =>
  change(red, { [`strip${number}_sim`]: { d: !isThere } });

/** Clicks what there is to click in an example, one after the other, and waits for what each click shows. */
async function clickAll(red: RunningNodeRed, example: Example): Promise<void> {
  const number = numberOf(example);
  for (const { id, type } of example.nodes) {
    // Its first values are those with which it compares later ones.
    if (['strip watch', 'strip mqtt'].includes(type)) await red.status(id, ({ text }) => isKnown(text));
  }
  for (const [id, shown] of Object.entries(EFFECTS[number] ?? {})) {
    const mark = red.comms.mark;
    await red.inject(`strip${number}_${id}`);
    for (const effect of shown) await see(red, number, effect, mark);
  }
}

function byNumber(number: string): Example {
  const found = examples().find((example) => numberOf(example) === number);
  return found ?? assert.fail(`there is no example ${number}`);
}

/** Whether the status of a node says that the account has answered. */
const isKnown = (text: Status['text']): boolean => /^\d+$|status\.(?!asking)/.test(text ?? '');
