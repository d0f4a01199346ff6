import assert from 'node:assert/strict';
import { fieldToMend, readAnswer } from '../../../src/editor/answer';
import { countOn, findStrip, outletState } from '../../../src/editor/outlets';

const strip = {
  mac: 'A1B2C3D4E5F6',
  name: 'Desk strip',
  available: true,
  outlets: [
    { port: 1, on: true },
    { port: 2, on: false },
    { port: 3, on: null },
  ],
};

describe('what the editor reads of an admin answer', () => {
  it('is the strips and their outlets', () => {
    assert.deepEqual(readAnswer({ ok: true, strips: [strip], readable: true }), {
      ok: true,
      strips: [strip],
      readable: true,
    });
  });

  it('is an error with the key of its sentence', () => {
    const said = {
      ok: false,
      code: 'AUTH',
      sentence: 'AUTH.rejected',
      params: { host: 'h', status: 401, odd: {} },
    };
    assert.deepEqual(readAnswer(said), {
      ok: false,
      code: 'AUTH',
      key: 'errors.AUTH.rejected',
      params: { host: 'h', status: 401 },
    });
  });

  it('is nothing where somebody else answered', () => {
    for (const body of [undefined, null, '<html>', [], {}, { ok: true }, { ok: false, code: 'AUTH' }]) {
      assert.equal(readAnswer(body), null);
    }
  });

  it('leaves out what is no strip and no outlet, and guesses no state', () => {
    const odd = { mac: 'B', name: '', outlets: [{ port: 9, on: true }, 'x', { port: 4, on: 'on' }] };
    assert.deepEqual(readAnswer({ ok: true, strips: [null, { name: 'x' }, odd] }), {
      ok: true,
      strips: [{ mac: 'B', name: null, available: true, outlets: [{ port: 4, on: null }] }],
      readable: true,
    });
  });
});

describe('the field to mend', () => {
  const cases: [code: string, kind: string, field: string | null][] = [
    ['AUTH', 'AUTH.rejected', 'apiKey'],
    ['NOT_CONFIGURED', 'NOT_CONFIGURED.keyMissing', 'apiKey'],
    ['NOT_CONFIGURED', 'NOT_CONFIGURED.keyAgain', 'apiKey'],
    ['NOT_CONFIGURED', 'NOT_CONFIGURED.urlScheme', 'baseUrl'],
    ['NOT_CONFIGURED', 'NOT_CONFIGURED.tlsUndeployed', 'tls'],
    ['NOT_CONFIGURED', 'NOT_CONFIGURED.proxyUndeployed', 'proxy'],
    ['UNREACHABLE', 'UNREACHABLE.refused', 'baseUrl'],
    ['UNREACHABLE', 'UNREACHABLE.tls', 'baseUrl'],
    ['UNREACHABLE', 'UNREACHABLE.certificateHost', 'baseUrl'],
    ['UNREACHABLE', 'UNREACHABLE.certificateSelfSigned', 'tls'],
    ['UNREACHABLE', 'UNREACHABLE.proxy', 'proxy'],
    ['TIMEOUT', 'TIMEOUT.deadline', 'timeout'],
    ['RATE_LIMITED', 'RATE_LIMITED.seconds', 'interval'],
    ['BAD_RESPONSE', 'BAD_RESPONSE.html', 'baseUrl'],
    ['NOT_CONFIGURED', 'NOT_CONFIGURED.protected', null],
    ['SERVICE', 'SERVICE.failed', null],
    ['CLOSED', 'CLOSED.account', null],
  ];
  for (const [code, kind, field] of cases) {
    it(`for ${kind} is ${String(field)}`, () => assert.equal(fieldToMend(code, `errors.${kind}`), field));
  }

  it('is none where Node-RED itself could not be asked', () => {
    assert.equal(fieldToMend('', 'strip-account.trouble.silent'), null);
  });
});

describe('outlets in the dialogs', () => {
  const answer = readAnswer({ ok: true, strips: [strip, { ...strip, mac: 'FF', available: false }] });
  assert.ok(answer?.ok);
  const { strips } = answer;

  it('are found whatever the spelling of the MAC', () => {
    assert.equal(findStrip(strips, 'a1:b2:c3:d4:e5:f6')?.name, 'Desk strip');
    assert.equal(findStrip(strips, ''), undefined);
  });

  it('are on, off, unknown, unavailable, or not there', () => {
    const [there, gone] = strips;
    assert.deepEqual(
      ['1', '2', '3', '4'].map((port) => outletState(there, port)),
      ['on', 'off', 'unknown', null],
    );
    assert.equal(outletState(gone, '1'), 'unavailable');
    assert.equal(outletState(undefined, '1'), null);
  });

  it('are counted only where a state is known', () => {
    const [there] = strips;
    assert.ok(there);
    assert.deepEqual(countOn(there), { on: 1, of: 3 });
    assert.equal(countOn({ ...there, outlets: [{ port: 1, on: null }] }), null);
  });
});
