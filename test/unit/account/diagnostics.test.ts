import assert from 'node:assert/strict';
import { failure, listOf, MAC, makeStrip, stripOf, yes } from '../../support/scripted-service';
import { startAccount } from './support';

/** How often each error was counted. */
const errorsOf = ({ account }: ReturnType<typeof startAccount>) =>
  Object.fromEntries([...account.diagnostics().errors].map(([code, { count }]) => [code, count]));

describe('the diagnostics of an account', () => {
  it('begin with nothing', () => {
    const { requests, retries, errors, list, strip, switch: switched } = startAccount().account.diagnostics();
    assert.deepEqual({ requests, retries }, { requests: { list: 0, strip: 0, switch: 0 }, retries: 0 });
    assert.equal(errors.size, 0);
    assert.deepEqual([list, strip, switched], [null, null, null]);
  });

  it('count requests of each kind, and keep the latest good answer of each', async () => {
    const lab = startAccount();
    lab.service.autoList = () => Promise.resolve(listOf(makeStrip(MAC, [true])));
    lab.service.autoGet = () => Promise.resolve(stripOf(makeStrip(MAC, [true])));
    lab.account.subscribe(() => undefined, 'all');
    await lab.clock.pass(15_000);
    await Promise.all([lab.account.list(), lab.account.list()]);
    lab.run(1, 'toggle');
    await lab.clock.pass(1000);
    await lab.service.last.answer(yes());
    const { requests, list, strip, switch: switched } = lab.account.diagnostics();
    assert.deepEqual(requests, { list: 3, strip: 3, switch: 1 });
    assert.equal(list?.answer.strips[0]?.mac, MAC);
    assert.equal(strip?.answer.strip.mac, MAC);
    assert.deepEqual(switched?.answer.results, [{ port: 1, ok: true }]);
    assert.equal(switched.at - list.at, 1000);
  });

  it('keep what was read, whatever a flow does to its message', async () => {
    const lab = startAccount();
    const reading = lab.account.list();
    await lab.service.lists[0]?.answer(listOf(makeStrip(MAC, [true])));
    const { strips, response } = await reading;
    strips.length = 0;
    Object.assign(response as object, { added: true });
    const { list } = lab.account.diagnostics();
    assert.equal(list?.answer.strips[0]?.mac, MAC);
    assert.deepEqual(list.answer.response, listOf(makeStrip(MAC, [true])).response);
  });

  it('keep the latest good answer when a later request fails', async () => {
    const lab = startAccount();
    const good = lab.account.list();
    await lab.service.lists[0]?.answer(listOf());
    await good;
    const { list } = lab.account.diagnostics();
    const bad = lab.account.list();
    await Promise.all([assert.rejects(bad), lab.service.lists[1]?.fail(failure('TIMEOUT'))]);
    assert.equal(lab.account.diagnostics().list, list);
  });

  it('count each failed request once, with the latest error of its code and its time', async () => {
    const lab = startAccount({ retryFor: 0 });
    const failures = [failure('TIMEOUT'), failure('TIMEOUT'), failure('AUTH')];
    for (const error of failures) {
      lab.run(1, true);
      await lab.service.last.fail(error);
      await lab.clock.pass(1000);
    }
    lab.service.autoList = () => Promise.resolve(listOf());
    const reading = lab.account.get(MAC);
    await Promise.all([assert.rejects(reading), lab.service.gets[0]?.fail(failure('NOT_FOUND'))]);
    assert.deepEqual(errorsOf(lab), { TIMEOUT: 2, AUTH: 1, NOT_FOUND: 1 });
    const timeout = lab.account.diagnostics().errors.get('TIMEOUT');
    assert.ok(timeout);
    assert.equal(timeout.last, failures[1]);
    assert.equal(lab.clock.wall() - timeout.at, 2000);
    assert.equal(lab.account.diagnostics().retries, 0);
  });

  it('count retries, and not the first attempt', async () => {
    const lab = startAccount();
    lab.run(1, true);
    await lab.service.last.fail(failure('TIMEOUT'));
    await lab.clock.pass(10_000);
    await lab.service.last.fail(failure('TIMEOUT'));
    await lab.clock.pass(10_000);
    await lab.service.last.answer(yes());
    assert.equal(lab.account.diagnostics().retries, 2);
    assert.equal(lab.account.diagnostics().requests.switch, 3);
    assert.deepEqual(errorsOf(lab), { TIMEOUT: 2 });
  });

  it('count commands that were refused or replaced before a request', async () => {
    const lab = startAccount({ protectedOutlets: [{ mac: MAC, port: 2 }] });
    lab.run(2, false);
    lab.run(1, true);
    await lab.service.last.fail(failure('TIMEOUT'));
    lab.run(1, false);
    await lab.clock.pass(0);
    assert.deepEqual(errorsOf(lab), { PROTECTED: 1, TIMEOUT: 1, SUPERSEDED: 1 });
  });
});
