import assert from 'node:assert/strict';
import { calm } from '../../support/fake-clock';
import { failure, listOf, MAC, makeStrip, stripOf, yes } from '../../support/scripted-service';
import { startAccount } from './support';

describe('a toggle', () => {
  it('reads the strip and sends the opposite', async () => {
    const { service, run } = startAccount();
    const ending = run(2, 'toggle');
    assert.deepEqual(service.texts, [`get ${MAC}`]);
    await service.gets[0]?.answer(stripOf(makeStrip(MAC, [false, true])));
    assert.deepEqual(service.switchTexts, [`${MAC}/2 off`]);
    await service.last.answer(yes(2));
    assert.equal(ending.outcome?.on, false);
  });

  it('that is retried, and may have been carried out, is not cancelled by the toggle behind it', async () => {
    const { service, clock, run } = startAccount();
    const older = run(1, 'toggle');
    await service.gets[0]?.answer(stripOf(makeStrip(MAC, [false])));
    await service.last.fail(failure('TIMEOUT'));
    const newer = run(1, 'toggle');
    await clock.pass(500);
    await service.last.answer(yes());
    await service.gets[1]?.answer(stripOf(makeStrip(MAC, [true])));
    await service.last.answer(yes());
    assert.deepEqual(service.switchTexts, [`${MAC}/1 on`, `${MAC}/1 on`, `${MAC}/1 off`]);
    assert.deepEqual([older.outcome?.on, newer.outcome?.on], [true, false]);
  });

  it('reads only when it is its turn', async () => {
    const { service, run } = startAccount();
    run(1, true);
    run(1, 'toggle');
    await calm();
    assert.equal(service.gets.length, 0);
    await service.last.answer(yes());
    assert.equal(service.gets.length, 1);
  });

  it('does not share a read that a status node has asked', async () => {
    const { service, account, run } = startAccount();
    const reading = account.get(MAC);
    run(1, 'toggle');
    assert.equal(service.gets.length, 2);
    await service.gets[0]?.answer(stripOf(makeStrip(MAC, [true])));
    await reading;
  });

  it('goes by its own reading and not by the list that gave the spelling of its MAC', async () => {
    const { service, run } = startAccount();
    run(1, 'toggle', { mac: 'aa:bb:cc:dd:ee:ff' });
    await service.gets[0]?.fail(failure('NOT_FOUND', {}, 'strip'));
    await service.lists[0]?.answer(listOf(makeStrip(MAC, [false])));
    // Somebody has switched it on by hand since the list.
    await service.gets[1]?.answer(stripOf(makeStrip(MAC, [true])));
    assert.deepEqual(service.switchTexts, [`${MAC}/1 off`]);
  });

  it('in a burst ends in the state that their number gives', async () => {
    const { service, run } = startAccount();
    let on = false;
    service.autoGet = async (mac) => Promise.resolve(stripOf(makeStrip(mac, [on])));
    service.autoSwitch = async (_, __, next) => {
      on = next;
      return Promise.resolve(yes());
    };
    const endings = Array.from({ length: 101 }, () => run(1, 'toggle'));
    while (endings.some(({ times }) => times === 0)) await calm();
    assert.equal(on, true);
    assert.deepEqual(
      endings.map(({ outcome }) => outcome?.on),
      endings.map((_, index) => index % 2 === 0),
    );
  });

  it('repeats its reading like a command, then its switch with the same value', async () => {
    const { service, clock, run } = startAccount();
    const ending = run(1, 'toggle');
    await service.gets[0]?.fail(failure('TIMEOUT'));
    await clock.pass(250);
    await service.gets[1]?.answer(stripOf(makeStrip(MAC, [true])));
    await service.last.fail(failure('TIMEOUT'));
    await clock.pass(250);
    assert.deepEqual(service.switchTexts, [`${MAC}/1 off`, `${MAC}/1 off`]);
    assert.equal(service.gets.length, 2);
    await service.last.answer(yes());
    assert.equal(ending.outcome?.on, false);
  });

  it('has one deadline for reading and switching together, once one of them has failed', async () => {
    const { service, clock, run } = startAccount({ retryFor: 2000 });
    const ending = run(1, 'toggle');
    await service.gets[0]?.fail(failure('TIMEOUT'));
    await clock.pass(1900);
    await service.gets[1]?.answer(stripOf(makeStrip(MAC, [true])));
    await service.last.fail(failure('TIMEOUT'));
    await clock.pass(100);
    assert.equal(service.switches.length, 2, 'the last attempt, at the deadline');
    await service.last.fail(failure('TIMEOUT'));
    assert.equal(ending.error?.code, 'TIMEOUT');
  });

  it('is retried from the answer to its reading on, however long that took', async () => {
    const { service, clock, run } = startAccount({ retryFor: 2000 });
    const ending = run(1, 'toggle');
    await clock.pass(9000);
    await service.gets[0]?.answer(stripOf(makeStrip(MAC, [true])));
    await service.last.fail(failure('UNREACHABLE'));
    await clock.pass(250);
    await service.last.answer(yes());
    assert.equal(ending.outcome?.on, false);
  });

  for (const [what, strip] of [
    ['is not said', makeStrip(MAC, [null])],
    ['is missing', makeStrip(MAC, [])],
  ] as const) {
    it(`of an outlet whose state ${what} is BAD_RESPONSE and switches nothing`, async () => {
      const { service, run } = startAccount();
      const ending = run(1, 'toggle');
      await service.gets[0]?.answer(stripOf(strip));
      assert.equal(ending.error?.code, 'BAD_RESPONSE');
      assert.equal(ending.error.sentenceKey, 'BAD_RESPONSE.unknownState');
      assert.deepEqual(ending.error.params, { mac: MAC, port: 1 });
      assert.deepEqual(ending.error.response, stripOf(strip).response);
      assert.equal(service.switches.length, 0);
    });
  }

  for (const port of [1, 'all'] as const) {
    it(`of ${port} of a strip that cannot be reached is BAD_RESPONSE and switches nothing: its states are old`, async () => {
      const { service, run } = startAccount();
      const ending = run(port, 'toggle');
      await service.gets[0]?.answer(stripOf(makeStrip(MAC, [true, false], { available: false })));
      assert.equal(ending.error?.sentenceKey, 'BAD_RESPONSE.offline');
      assert.equal(service.switches.length, 0);
    });
  }

  it('of a strip that is unknown is NOT_FOUND and switches nothing', async () => {
    const { service, run } = startAccount();
    service.autoList = () => Promise.resolve(listOf());
    const ending = run(1, 'toggle');
    await service.gets[0]?.fail(failure('NOT_FOUND'));
    assert.equal(ending.error?.code, 'NOT_FOUND');
    assert.equal(service.switches.length, 0);
  });

  for (const [states, expected] of [
    [[false, true, false, false], 'off'],
    [[false, false, false, false], 'on'],
    [[null, true, null, null], 'off'],
    [[false, null, false, false], 'BAD_RESPONSE'],
    [[], 'BAD_RESPONSE'],
  ] as const) {
    it(`of all, with ${JSON.stringify(states)}, is ${expected}`, async () => {
      const { service, run } = startAccount();
      const ending = run('all', 'toggle');
      await service.gets[0]?.answer(stripOf(makeStrip(MAC, states)));
      if (expected === 'BAD_RESPONSE') assert.equal(ending.error?.sentenceKey, 'BAD_RESPONSE.unknownStates');
      else assert.deepEqual(service.switchTexts, [`${MAC}/all ${expected}`]);
    });
  }
});
