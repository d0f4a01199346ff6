import assert from 'node:assert/strict';
import { failure, MAC, makeStrip, stripOf, yes } from '../../support/scripted-service';
import { startAccount } from './support';

const MINUTE = 60_000;
const OFF = `${MAC}/1 off`;
const ON = `${MAC}/1 on`;

/** Time goes on by so many milliseconds: without any of ours running, or on the wall clock alone. */
const GAPS = [
  ['the process was busy', (lab, ms) => lab.clock.block(ms)],
  ['the machine slept', (lab, ms) => void (lab.clock.jump += ms)],
] as const satisfies readonly (readonly [
  string,
  (lab: ReturnType<typeof startAccount>, ms: number) => void,
])[];

describe('an answer that is read late', () => {
  for (const [why, skip] of GAPS) {
    it(`because ${why} past the deadline is still the answer`, async () => {
      const lab = startAccount();
      const one = lab.run(1, true);
      const all = lab.run('all', false, { mac: 'OTHER' });
      await lab.clock.pass(1000);
      skip(lab, 10 * MINUTE);
      const [first, second] = lab.service.switches;
      await first?.answer(yes());
      await second?.answer(yes('all'));
      await lab.clock.pass(MINUTE);
      assert.equal(one.outcome?.on, true);
      assert.equal(all.outcome?.on, false);
      assert.equal(lab.service.switches.length, 2);
      assert.equal(lab.clock.pending, 0);
    });

    it(`because ${why} may also be a failure, which is then not retried`, async () => {
      const lab = startAccount();
      const ending = lab.run(1, true);
      skip(lab, 10 * MINUTE);
      await lab.service.last.fail(failure('UNREACHABLE', {}, 'reset'));
      await lab.clock.pass(MINUTE);
      assert.equal(ending.error?.sentenceKey, 'UNREACHABLE.reset');
      assert.equal(lab.service.switches.length, 1);
    });

    it(`because ${why} is still that of a switch after a toggle's reading`, async () => {
      const lab = startAccount();
      const ending = lab.run(1, 'toggle');
      await lab.service.gets[0]?.answer(stripOf(makeStrip(MAC, [true])));
      skip(lab, 10 * MINUTE);
      await lab.service.last.answer(yes());
      assert.equal(ending.outcome?.on, false);
    });

    it(`because ${why} lets a cycle go on: its outlet comes back`, async () => {
      const lab = startAccount();
      const ending = lab.run(1, 'cycle');
      skip(lab, 10 * MINUTE);
      await lab.service.last.answer(yes());
      skip(lab, 10 * MINUTE);
      await lab.clock.pass(5000);
      assert.deepEqual(lab.service.switchTexts, [OFF, ON]);
      skip(lab, 10 * MINUTE);
      await lab.service.last.answer(yes());
      assert.equal(ending.outcome?.on, true);
    });
  }

  it('after a busy time is read before the waiting commands are looked at', async () => {
    const lab = startAccount();
    const first = lab.run(1, true);
    const waiting = [lab.run(1, false), lab.run(1, true)];
    lab.clock.block(MINUTE / 3);
    assert.deepEqual(
      waiting.map(({ times }) => times),
      [0, 0],
    );
    await lab.service.last.answer(yes());
    assert.equal(first.outcome?.on, true);
    await lab.clock.pass(1000);
    await lab.service.last.answer(yes());
    await lab.service.last.answer(yes());
    assert.deepEqual(
      waiting.map(({ outcome }) => outcome?.on),
      [false, true],
    );
  });

  it('does not delay the end of commands that wait for another answer', async () => {
    const lab = startAccount();
    lab.run(1, true);
    const waiting = lab.run(1, false);
    lab.clock.block(10 * MINUTE);
    await lab.clock.pass(1);
    assert.equal(waiting.error?.sentenceKey, 'TIMEOUT.waiting');
  });
});
