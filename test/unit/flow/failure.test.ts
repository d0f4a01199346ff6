import assert from 'node:assert/strict';
import type { Outcome } from '../../../src/account/types';
import { StripError } from '../../../src/api/errors';
import { errorFor, failedStrip, severalFailed } from '../../../src/flow/failure';
import type { Asked } from '../../../src/flow/command';
import { error, MAC, outcomeOf, translate } from './support';

describe('an error for the Catch node', () => {
  it('is the sentence alone as text, and has its code as an own property', () => {
    const told = errorFor(new StripError('AUTH', 'AUTH.rejected', { params: { host: 'h' } }), translate);
    assert.equal(String(told), 'errors.AUTH.rejected {"host":"h"}');
    assert(Object.hasOwn(told, 'code') && Reflect.get(told, 'code') === 'AUTH');
    assert(!Object.hasOwn(told, 'cause'));
  });

  it('keeps a cause that is no more than a code', () => {
    const cause = Object.assign(new Error('ECONNREFUSED'), { code: 'ECONNREFUSED' });
    assert.equal(errorFor(new StripError('UNREACHABLE', 'x', { cause }), translate).cause, cause);
    for (const other of [new Error('anything'), { key: 'k' }, error('AUTH')]) {
      assert.equal(
        errorFor(new StripError('UNREACHABLE', 'x', { cause: other }), translate).cause,
        undefined,
      );
    }
  });

  it('says of a defect what kind it is and where, but nothing of its own words', () => {
    const told = errorFor(new TypeError('cannot read secret\nof undefined'), translate);
    assert.equal(String(told), 'errors.SERVICE.unexpected {"name":"TypeError"}');
    assert.equal(Reflect.get(told, 'code'), 'SERVICE');
    assert(!String(told.stack).includes('secret') && String(told.stack).includes('failure.test'));
    for (const thrown of [
      'secret',
      { message: 'secret' },
      undefined,
      null,
      Object.assign(new Error('x'), { name: 'sec ret' }),
    ]) {
      assert(
        !/sec ?ret/.test(JSON.stringify([String(errorFor(thrown, translate)), errorFor(thrown, translate)])),
      );
    }
  });
});

describe('msg.strip of a command that failed', () => {
  it('says what was asked, what became of it, and the last known state', () => {
    const failed = new StripError('SWITCH_FAILED', 'x', { results: [{ port: 2, ok: false }] });
    assert.deepEqual(failedStrip({ mac: MAC, port: 2, requested: 'toggle' }, failed, () => true), {
      mac: MAC, port: 2, requested: 'toggle', success: false, results: [{ port: 2, ok: false }], on: true,
    }); // prettier-ignore
  });

  it('is null where nothing is known', () => {
    const target = { mac: MAC, port: null, requested: null };
    assert.deepEqual(
      failedStrip(target, new Error(), () => true),
      { ...target, success: false, results: [], on: null },
    );
  });
});

describe('one error for several commands', () => {
  const asked = (...ports: (1 | 2 | 3 | 4)[]): Asked[] =>
    ports.map((port) => ({ command: { mac: MAC, port, action: true, delay: 0 }, requested: true }));
  const failed = (reason: unknown): PromiseRejectedResult => ({ status: 'rejected', reason });
  const fine = (one: Asked): PromiseSettledResult<Outcome> => ({
    status: 'fulfilled',
    value: outcomeOf(one.command),
  });
  const [first, second, third] = asked(1, 2, 3) as [Asked, Asked, Asked];

  it('holds every outcome in order', () => {
    const { strips, error: one } = severalFailed(
      [first, second, third],
      [fine(first), failed(error('TIMEOUT')), failed(error('SWITCH_FAILED'))],
      () => false,
    );
    assert.deepEqual(
      strips.map(({ port, success, on }) => [port, success, on]),
      [
        [1, true, true],
        [2, false, false],
        [3, false, false],
      ],
    );
    assert.deepEqual(
      [one.code, one.params],
      ['SWITCH_FAILED', { failed: 2, total: 3, outlets: `${MAC}/2 TIMEOUT, ${MAC}/3 SWITCH_FAILED` }],
    );
  });

  it('has the code of all where all failed alike', () => {
    const outcomes = [failed(error('AUTH', 'rejected')), failed(error('AUTH', 'rejected'))];
    assert.equal(severalFailed([first, second], outcomes, () => null).error.sentence, 'AUTH.rejected');
    const mixed = [failed(error('AUTH')), failed(error('TIMEOUT'))];
    assert.equal(severalFailed([first, second], mixed, () => null).error.sentence, 'SWITCH_FAILED.several');
    const alone = severalFailed([first], [failed(error('SWITCH_FAILED', 'ports'))], () => null);
    assert.equal(alone.error.sentence, 'SWITCH_FAILED.ports');
    const unswitched = [failed(error('SWITCH_FAILED')), failed(error('SWITCH_FAILED'))];
    assert.equal(
      severalFailed([first, second], unswitched, () => null).error.sentence,
      'SWITCH_FAILED.several',
    );
  });

  it('names no more outlets than a sentence bears', () => {
    const many = Array.from({ length: 9 }, () => first);
    const { params } = severalFailed(
      many,
      [fine(first), ...many.slice(1).map(() => failed(error('TIMEOUT')))],
      () => null,
    ).error;
    assert.equal(params.failed, 8);
    assert(String(params.outlets).endsWith(', …') && String(params.outlets).split(',').length === 5);
  });

  it('does not hide a defect', () => {
    assert.throws(
      () => severalFailed([first, second], [fine(first), failed(new TypeError('x'))], () => null),
      TypeError,
    );
  });
});
