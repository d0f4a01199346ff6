import assert from 'node:assert/strict';
import type { AccountStatus, Change, Listener } from '../../../src/account/types';
import type { StripError } from '../../../src/api/errors';
import type { ReadingName } from '../../../src/api/types';
import { EMPTY_STORE } from '../../../src/flow/node-error';
import { StatusDisplay } from '../../../src/flow/node-status';
import type { Message } from '../../../src/flow/input-fields';
import {
  readWatchOptions,
  startWatching,
  WatchMessages,
  type WatchOptions,
} from '../../../src/flow/strip-watch';
import { FakeClock } from '../../support/fake-clock';
import { failure, makeStrip } from '../../support/scripted-service';
import { accountWith, failing, MAC, OTHER, STATUS } from './support';

const noEnv = (): unknown => undefined;
const read = (config: object, env: (name: string) => unknown = noEnv) => readWatchOptions({ ...config }, env);
const watched = (config: object = {}): WatchOptions => read(config);
const refused = (config: object, env: (name: string) => unknown = noEnv): Promise<StripError> =>
  failing(() => read(config, env));
const strip = makeStrip(MAC, [true, false, null, false]);
const outlet = (more: object = {}): Change => ({
  kind: 'outlet',
  strip,
  port: 1,
  on: true,
  previous: false,
  ...more,
});
const reading = (value: number, previous: number | null, name: ReadingName = 'load'): Change => ({
  kind: 'reading',
  strip,
  name,
  value,
  previous,
});
const messages = (config: object, ...changes: Change[]): (Message | null)[] => {
  const watch = new WatchMessages(watched(config));
  return changes.map((change) => watch.messageFor(change));
};

describe('what is watched', () => {
  it('is every outlet of every strip unless the node says otherwise', () => {
    assert.deepEqual(watched(), {
      mac: null,
      port: null,
      output: 'on',
      initial: false,
      outlets: true,
      availability: false,
      readings: false,
      change: 0,
    });
  });

  it('is read from what the editor saves', () => {
    assert.deepEqual(
      watched({
        mac: ` ${MAC} `,
        macType: 'str',
        port: '2',
        output: 'port-on',
        initial: true,
        outlets: 'true',
        availability: true,
        readings: true,
        change: '1.5',
      }),
      {
        mac: MAC,
        port: 2,
        output: 'port-on',
        initial: true,
        outlets: true,
        availability: true,
        readings: true,
        change: 1.5,
      },
    );
  });

  it('may be named by an environment variable, which must be set', async () => {
    const config = { mac: 'WHICH', macType: 'env' };
    assert.deepEqual(
      read(config, (name) => (name === 'WHICH' ? MAC : '')),
      watched({ mac: MAC }),
    );
    for (const [broken, variable] of [
      [config, 'WHICH'],
      [{ mac: '${STRIP}' }, 'STRIP'],
      [{ port: '${OUTLET}' }, 'OUTLET'],
    ] as const) {
      for (const missing of ['', undefined]) {
        const failed = await refused(broken, () => missing);
        assert.deepEqual([failed.sentenceKey, failed.params], ['NOT_CONFIGURED.variable', { variable }]);
      }
    }
    const { params } = await refused(config, () => '${STRIP}');
    assert.deepEqual(params, { variable: 'STRIP' });
  });

  it('may be all outlets by the word that a switch node takes, so that both can use one variable', () => {
    for (const port of ['', 'all', ' ALL ']) assert.equal(watched({ port }).port, null, port);
  });

  it('cannot be what is no strip or no outlet', async () => {
    assert.equal((await refused({ mac: 'a/b' })).sentenceKey, 'INVALID_INPUT.mac');
    for (const port of ['5', 'x']) {
      assert.equal((await refused({ port })).sentenceKey, 'NOT_CONFIGURED.watchPort');
      assert.equal(watched({ port, outlets: false }).port, null, 'it does not matter');
    }
  });
});

describe('messages of a watching node', () => {
  it('tell of an outlet on or off, with the strip and what was before', () => {
    const [message] = messages({}, outlet());
    assert.deepEqual(message, {
      topic: `${MAC}/1`,
      payload: true,
      strip: { ...strip, outlet: null, previous: false },
    });
    const [other] = messages({ output: 'port-on' }, outlet({ on: false, previous: true }));
    assert.deepEqual(other?.payload, { mac: MAC, port: 1, on: false });
  });

  it('carry the names of strip and outlet', () => {
    const outlets = [
      { port: 1 as const, on: true, name: 'Fan' },
      { port: 2 as const, on: true, name: 'Lamp' },
    ];
    const named = { ...strip, name: 'Desk', outlets, units: { load: 'W' } };
    const [message] = messages({}, outlet({ port: 2, strip: named }));
    assert.deepEqual(message?.strip, { ...named, outlet: 'Lamp', previous: false });
  });

  it('tell once of an outlet or a reading that was unknown at the start, when it is known again unchanged', () => {
    const unknown = outlet({ on: null, previous: null });
    const again = outlet({ on: true, previous: true });
    const [start, first, second] = messages({ initial: true }, unknown, again, again);
    assert.deepEqual([start, second], [null, null]);
    assert.equal(first?.payload, true);
    assert.equal((first.strip as { previous: unknown }).previous, null);
    const [, changed] = messages({ initial: true }, unknown, outlet({ on: false, previous: true }));
    assert.equal(changed?.payload, false);
    const noLoad: Change = { kind: 'reading', strip, name: 'load', value: null, previous: null };
    const config = { initial: true, readings: true };
    const [, load, same] = messages(config, noLoad, reading(5, 5), reading(5, 5));
    assert.deepEqual([load?.payload, same], [5, null]);
  });

  it('are the same where the service begins to spell the MAC in another way', () => {
    const respelled = makeStrip('a1:b2:c3:d4:e5:f6', [true]);
    const unknown = outlet({ on: null, previous: null });
    const [, first] = messages(
      { initial: true },
      unknown,
      outlet({ strip: respelled, on: true, previous: true }),
    );
    assert.equal(first?.payload, true);
    const load = (value: number, previous: number) => ({ ...reading(value, previous), strip: respelled });
    const told = messages({ readings: true, change: 3 }, reading(10, 5), reading(12, 10), load(13, 12));
    assert.deepEqual(
      told.map((message) => message?.payload),
      [10, undefined, 13],
    );
  });

  it('leave out what becomes unknown, or is known again unchanged', () => {
    const on = (state: boolean | null, previous: boolean | null) => outlet({ on: state, previous });
    const [unknown, same, other] = messages({}, on(null, true), on(true, true), on(false, true));
    assert.deepEqual([unknown, same, other?.payload], [null, null, false]);
    const load = (value: number | null): Change => ({
      kind: 'reading',
      strip,
      name: 'load',
      value,
      previous: 5,
    });
    const [gone, back, changed] = messages({ readings: true }, load(null), load(5), load(6));
    assert.deepEqual([gone, back, changed?.payload], [null, null, 6]);
  });

  it('belong to their receiver alone', () => {
    const frozen = Object.freeze({
      ...strip,
      outlets: Object.freeze(strip.outlets.map((each) => Object.freeze({ ...each }))),
      units: Object.freeze({}),
    });
    const [message] = messages({}, outlet({ strip: frozen }));
    const own = message?.strip as typeof strip;
    Object.assign(own.outlets, [{ port: 1, on: null, name: null }]);
    Object.assign(own.units, { load: 'W' });
    assert.deepEqual([frozen.outlets[0]?.on, frozen.units], [true, {}]);
  });

  it('leave out what is not watched', () => {
    const readings = reading(2, 1);
    const available: Change = { kind: 'strip', strip, available: false, previous: true, isNew: false };
    const account: Change[] = [true, false].map((is) => ({ kind: 'account', available: is }));
    const none = (config: object, ...changes: Change[]) =>
      assert.deepEqual(
        messages(config, ...changes),
        changes.map(() => null),
      );
    none({}, readings, available, ...account);
    none({ outlets: false }, outlet());
    none({ port: '2' }, outlet());
    none({ mac: OTHER, availability: true, readings: true }, outlet(), readings, available);
    assert.notEqual(messages({ mac: 'a1:b2:c3:d4:e5:f6' }, outlet())[0], null);
  });

  it('tell of availability', () => {
    const config = { availability: true, outlets: false };
    const all = messages(
      config,
      { kind: 'strip', strip, available: false, previous: true, isNew: false },
      { kind: 'strip', strip, available: true, previous: null, isNew: true },
    );
    assert.deepEqual(all, [
      { topic: `${MAC}/available`, payload: false, strip: { ...strip, outlet: null, previous: true } },
      { topic: `${MAC}/available`, payload: true, strip: { ...strip, outlet: null, previous: null } },
    ]);
  });

  it('leave out what is known at the start unless it is asked for, but not a new strip', () => {
    const available: Change = { kind: 'strip', strip, available: true, previous: null, isNew: false };
    const known = [available, outlet({ previous: null }), reading(5, null)];
    const config = { availability: true, readings: true };
    assert.deepEqual(messages(config, ...known), [null, null, null]);
    const payloads = (all: (Message | null)[]) => all.map((message) => message?.payload);
    assert.deepEqual(payloads(messages({ ...config, initial: true }, ...known)), [true, true, 5]);
    assert.deepEqual(payloads(messages(config, { ...available, isNew: true })), [true]);
  });

  it('tell of the availability of the account, at the start only where that is asked for', () => {
    const told = [null, true, true, false, true].map((available): Change => ({ kind: 'account', available }));
    const payloads = (config: object) =>
      messages({ availability: true, ...config }, ...told).map((message) => message?.payload);
    assert.deepEqual(payloads({}), [undefined, undefined, undefined, false, true]);
    assert.deepEqual(payloads({ initial: true }), [undefined, true, undefined, false, true]);
    assert.deepEqual(messages({ availability: true, initial: true }, { kind: 'account', available: false }), [
      { topic: 'account/available', payload: false },
    ]);
    // An outage that is there at the start is no change.
    const outage = [false, true].map((available) => ({ kind: 'account', available }) as const);
    assert.deepEqual(messages({ availability: true }, ...outage), [
      null,
      { topic: 'account/available', payload: true },
    ]);
  });

  it('tell of readings by name', () => {
    const all = messages({ readings: true, initial: true }, reading(12.5, 12), reading(230, null, 'voltage'));
    assert.deepEqual(
      all.map((message) => [
        message?.topic,
        message?.payload,
        (message?.strip as { previous: unknown }).previous,
      ]),
      [
        [`${MAC}/load`, 12.5, 12],
        [`${MAC}/voltage`, 230, null],
      ],
    );
  });

  it('tell of the readings of a strip that was forgotten as at the start, once it is back', () => {
    const config = { readings: true, initial: true, change: 5 };
    const removed: Change = { kind: 'removed', strip };
    const sent = messages(config, reading(10, null), reading(12, 10), removed, reading(13, null));
    assert.deepEqual(
      sent.map((msg) => msg?.payload),
      [10, undefined, undefined, 13],
    );
  });

  it('keep small movements back, measured from the value sent last', () => {
    const config = { readings: true, change: '0.3' };
    const payloads = messages(
      config,
      reading(1.1, 1),
      reading(1.2, 1.1),
      reading(1.3, 1.2),
      reading(1.4, 1.3),
      reading(1.0, 1.4),
      reading(50, 49.9, 'voltage'),
    ).map((message) => message?.payload ?? null);
    assert.deepEqual(payloads, [null, null, 1.3, null, 1.0, null]);
  });

  it('tell of every outlet and of a first reading, however large the smallest change is', () => {
    const config = { readings: true, initial: true, change: 10 };
    const sent = messages(config, outlet(), outlet({ on: false, previous: true }), reading(3, null));
    assert.deepEqual(
      sent.map((message) => message?.payload),
      [true, false, 3],
    );
  });

  it('keep small movements of each reading of each strip apart', () => {
    const other = { kind: 'reading', strip: makeStrip(OTHER, []), name: 'load' } as const;
    const ofOther = (value: number, previous: number): Change => ({ ...other, value, previous });
    const sent = messages(
      { readings: true, change: 5 },
      reading(12, 10),
      reading(232, 230, 'voltage'),
      ofOther(102, 100),
      reading(15, 12),
      reading(235, 232, 'voltage'),
      ofOther(104, 102),
    );
    assert.deepEqual(
      sent.map((message) => message?.payload ?? null),
      [null, null, null, 15, 235, null],
    );
  });
});

describe('a node that watches', () => {
  let clock: FakeClock;
  let shown: string[];
  let sent: Message[];
  let listeners: Listener[];
  let asked: unknown;
  let running: number;
  let known: typeof strip | undefined;
  let told: AccountStatus;

  function start(config: object): () => void {
    const account = accountWith({
      subscribe: (listener, readings) => {
        listeners.push(listener);
        asked = readings;
        running++;
        return () => {
          running--;
        };
      },
      status: () => told,
      store: { ...EMPTY_STORE, find: () => known },
    });
    const display = new StatusDisplay(
      (shownStatus) => shown.push(shownStatus?.text.split('.').at(-1) ?? 'none'),
      clock,
    );
    return startWatching(watched(config), account, display, (msg) => sent.push(msg));
  }
  beforeEach(() => {
    clock = new FakeClock();
    [shown, sent, running, listeners] = [[], [], 0, []];
    known = structuredClone(strip);
    told = { ...STATUS, available: null };
  });
  const fine = STATUS;
  const tell = (change: Change): void => listeners.forEach((listener) => listener(change));
  const status = (now: AccountStatus): void => {
    told = now;
    tell({ kind: 'account', available: now.available });
  };

  it('asks for the readings that its options say', () => {
    start({ readings: true });
    assert.equal(asked, 'all');
    start({ mac: MAC, readings: true });
    assert.deepEqual(asked, [MAC]);
    start({ mac: MAC });
    assert.deepEqual(asked, []);
  });

  it('says that it is asking until the service has answered', async () => {
    start({});
    status({ ...fine, available: null });
    await clock.pass(200);
    status(fine);
    assert.deepEqual(shown, ['asking', 'watching']);
  });

  it('shows the state of what is watched', () => {
    start({ mac: MAC, port: '1' });
    status(fine);
    assert.deepEqual(shown, ['on']);
    known = makeStrip(MAC, [false]);
    tell(outlet({ on: false, previous: true }));
    assert.deepEqual([shown, sent.length], [['on', 'off'], 1]);
    known = makeStrip(MAC, [null]);
    tell(outlet());
    known = makeStrip(MAC, [true], { available: false });
    tell(outlet());
    known = undefined;
    tell(outlet());
    assert.deepEqual(shown.slice(2), ['unknownAnswer', 'unavailable', 'notFound']);
    status({ ...fine, listed: 'part' });
    assert.equal(shown.at(-1), 'unknownAnswer', 'a part of the list may lack it');
    known = strip;
    status({ ...fine, listed: 'part' });
    assert.equal(shown.at(-1), 'on', 'an earlier answer had it');
    known = undefined;
    status({ ...fine, listed: null });
    assert.equal(shown.at(-1), 'on', 'a command for another strip says nothing of this one');
  });

  it('shows the outlet that is watched and no other', () => {
    start({ mac: MAC, port: '2' });
    status(fine);
    known = makeStrip(MAC, [true]);
    tell(outlet());
    assert.deepEqual(shown, ['off', 'unknownAnswer']);
  });

  it('shows nothing of an outlet that was chosen before outlets were unticked', () => {
    start({ mac: MAC, port: '2', outlets: false, availability: true });
    status(fine);
    assert.deepEqual(shown, ['on1unknown']);
  });

  it('looks for no new status where another strip changed', () => {
    start({ mac: MAC, port: '1' });
    status(fine);
    known = makeStrip(MAC, [false]);
    tell(outlet({ strip: makeStrip(OTHER, [false]) }));
    assert.deepEqual(shown, ['on']);
  });

  it('shows how many outlets of a strip are on', () => {
    start({ mac: MAC });
    status(fine);
    assert.deepEqual(shown, ['on1unknown']);
  });

  it('shows what keeps the account from knowing', () => {
    start({ mac: MAC });
    status({ ...fine, available: false, error: failure('AUTH') });
    status({ ...fine, readable: false });
    assert.deepEqual(shown, ['auth', 'unknownAnswer']);
  });

  it('stops all of it when it ends', () => {
    const stop = start({ mac: MAC });
    assert.ok(running > 0);
    stop();
    assert.equal(running, 0);
  });
});
