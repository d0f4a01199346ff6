import assert from 'node:assert/strict';
import type { Progress } from '../../../src/account/types';
import { Badge } from '../../../src/flow/badge';
import { Input, type Answered, type Work } from '../../../src/flow/input';
import type { Message } from '../../../src/flow/field';
import { outletMark, type Mark } from '../../../src/flow/marks';
import { calm, TestClock } from '../account/support';
import { switchWork } from '../../../src/flow/switch-work';
import { error, live, MAC, translate } from './support';

const ON = outletMark(true);
const answer = (...messages: Message[]): Answered => ({ messages, mark: ON });

describe('running an input', () => {
  let events: string[];
  let faults: unknown[];
  let input: Input;
  const sent: Message[] = [];

  function start(work: Work): void {
    const badge = new Badge(
      (mark: Mark | null) => events.push(`badge ${mark?.text.split('.').at(-1) ?? 'none'}`),
      new TestClock(),
    );
    input = new Input({
      work,
      badge,
      translate,
      lastKnown: () => true,
      fault: (fault) => faults.push(fault),
    });
  }
  function take(msg: Message, done?: (failure?: Error) => void): void {
    input.take(
      msg,
      (message) => {
        events.push('send');
        sent.push(message);
      },
      done ??
        ((failure) =>
          events.push(failure === undefined ? 'done' : `done ${String(Reflect.get(failure, 'code'))}`)),
    );
  }
  beforeEach(() => {
    events = [];
    faults = [];
    sent.length = 0;
  });
  afterEach(() => input.close());

  it('paints, sends and is done, in that order, at once or later', async () => {
    start((msg) => (msg.later === true ? Promise.resolve(answer(msg)) : answer(msg, { two: 2 })));
    take({});
    assert.deepEqual(events, ['badge on', 'send', 'send', 'done']);
    const msg = { later: true };
    take(msg);
    await calm();
    assert.deepEqual(events.slice(4), ['send', 'done']);
    assert.equal(sent.at(-1), msg);
  });

  it('ends with one error for whatever is thrown or rejected, and sends nothing', async () => {
    for (const fail of [
      () => {
        throw error('AUTH');
      },
      () => Promise.reject(error('AUTH')),
      () => {
        throw new TypeError('x');
      },
      () => Promise.reject(new TypeError('x')),
    ] as Work[]) {
      // prettier-ignore
      start(fail);
      take({});
      await calm();
    }
    assert.deepEqual(events, [
      'badge auth',
      'done AUTH',
      'badge auth',
      'done AUTH',
      'badge service',
      'done SERVICE',
      'badge service',
      'done SERVICE',
    ]);
    assert.deepEqual(sent, []);
  });

  it('says in msg.strip of the failed message whom it concerned', () => {
    start((_msg, seen) => {
      Object.assign(seen, { mac: MAC, port: 3, requested: 'toggle' });
      throw error('TIMEOUT');
    });
    const msg: Message = { payload: 'toggle', strip: 'old' };
    take(msg);
    assert.deepEqual(msg, {
      payload: 'toggle',
      strip: { mac: MAC, port: 3, requested: 'toggle', success: false, results: [], on: true },
    });
  });

  it('ends once, even where sending or ending throws', async () => {
    start((msg) => answer(msg));
    input.take({}, () => { throw new Error('send'); }, (failure) => events.push(`done ${String(Reflect.get(failure ?? {}, 'code'))}`)); // prettier-ignore
    assert.deepEqual(events, ['badge on', 'done SERVICE']);
    for (const work of [(msg: Message) => answer(msg), () => Promise.reject(error('AUTH'))] as Work[]) {
      start(work);
      let calls = 0;
      take({}, () => {
        calls++;
        throw new Error('done');
      });
      await calm();
      assert.equal(calls, 1);
    }
    assert.equal(faults.length, 2);
  });

  it('ends what is not finished with CLOSED when it closes, and then says no more', async () => {
    let finish: (answered: Answered) => void = () => undefined;
    let progress: (progress: Progress) => void = () => undefined;
    start((_msg, _seen, report) => {
      progress = report;
      return new Promise((resolve) => (finish = resolve));
    });
    const msg: Message = {};
    take(msg);
    input.close();
    assert.deepEqual(events, ['done CLOSED']);
    progress({ phase: 'retrying', error: error('TIMEOUT') });
    finish(answer(msg));
    await calm();
    input.close();
    assert.deepEqual(events, ['done CLOSED']);
    assert.deepEqual(sent, []);
  });

  it('says what takes long', () => {
    start((_msg, _seen, report) => {
      report({ phase: 'retrying', error: error('TIMEOUT') });
      return new Promise(() => undefined);
    });
    take({});
    assert.deepEqual(events, ['badge retrying']);
  });

  it('shows a failure on the badge even where the message cannot take it', async () => {
    start(() => Promise.reject(error('AUTH')));
    take(Object.freeze({}));
    await calm();
    assert.equal(events.length, 2);
    assert.match(events[0] ?? '', /^badge /);
    assert.match(events[1] ?? '', /^done /);
  });
});

describe('a message whose fields are being evaluated when its node closes', () => {
  it('ends with CLOSED, and its command is not carried out', async () => {
    const ended: unknown[] = [];
    const run: unknown[] = [];
    let give: (value: unknown) => void = () => undefined;
    const account = live({
      run: (command) => {
        run.push(command);
        return new Promise(() => undefined);
      },
    });
    const fixed = { mac: MAC, macType: 'str', port: '1', portType: 'port', on: 'x', onType: 'jsonata' };
    const input = new Input({
      work: switchWork(
        fixed,
        () => new Promise((resolve) => (give = resolve)),
        () => account,
      ),
      badge: new Badge(() => undefined, new TestClock()),
      translate,
      lastKnown: () => null,
      fault: (fault) => ended.push(fault),
    });
    input.take(
      { payload: 1 },
      () => ended.push('sent'),
      (failure) => ended.push(Reflect.get(failure ?? {}, 'code')),
    );
    input.close();
    give(false);
    await calm();
    assert.deepEqual([ended, run], [['CLOSED'], []]);
  });
});
