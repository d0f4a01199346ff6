import assert from 'node:assert/strict';
import { withNames } from '../../../src/editor/nodes/strip-simulator';
import { filterStrips, lookUp } from '../../../src/editor/strip-picker';
import { readConfig } from '../../../src/simulator/simulator';
import { countOn, fieldToCorrect, findStrip, outletState, readAnswer } from '../../../src/editor/strips';

const strip = {
  mac: 'A1B2C3D4E5F6',
  name: 'Desk strip',
  available: true,
  outlets: [
    { port: 1, on: true, name: 'Lamp' },
    { port: 2, on: false, name: null },
    { port: 3, on: null, name: null },
  ],
  load: 12,
  units: { load: 'W' },
};
const read = {
  mac: strip.mac,
  name: strip.name,
  available: true,
  outlets: strip.outlets,
  readings: [{ name: 'load', value: 12, unit: 'W' }],
};
const known = { ok: true, readable: true, complete: true, notes: [], sent: null };

function strips(...more: object[]) {
  const answer = readAnswer({ ok: true, strips: [strip, ...more] });
  assert.ok(answer?.ok);
  return answer.strips;
}

describe('what the editor reads of an admin answer', () => {
  it('is the strips and their outlets', () => {
    const answer = { ok: true, strips: [strip], readable: true };
    assert.deepEqual(readAnswer(answer), { ...known, strips: [read] });
  });

  it('is what the service sent, and why values are unknown', () => {
    const sent = { body: [1], shortened: true };
    const note = { mac: 'A', about: 2, reason: 'disagree', fields: ['on', 'state'] };
    const list = { mac: null, about: 'list', reason: 'more', fields: ['next'] };
    const answer = { ok: true, strips: [], readable: false, complete: false, notes: [note, list, 7], sent };
    assert.deepEqual(readAnswer(answer), { ...answer, notes: [{ ...note, about: '2' }, list] });
  });

  it('is an error that calls a strip by its MAC', () => {
    const said = { ok: false, code: 'NOT_FOUND', sentence: 'NOT_FOUND.strip', params: { mac: 'A1' } };
    const answer = readAnswer(said);
    assert.deepEqual(answer?.ok === false && answer.params, { mac: 'A1', strip: 'A1' });
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
      sent: null,
    });
  });

  it('is nothing where another program answered', () => {
    for (const body of [undefined, null, '<html>', [], {}, { ok: true }, { ok: false, code: 'AUTH' }]) {
      assert.equal(readAnswer(body), null);
    }
  });

  it('leaves out what is no strip and no outlet, and guesses no state', () => {
    const odd = { mac: 'B', name: '', outlets: [{ port: 9, on: true }, 'x', { port: 4, on: 'on', name: 5 }] };
    assert.deepEqual(readAnswer({ ok: true, strips: [null, { name: 'x' }, odd] }), {
      ...known,
      strips: [
        {
          mac: 'B',
          name: null,
          available: false,
          outlets: [{ port: 4, on: null, name: null }],
          readings: [],
        },
      ],
    });
  });
});

describe('the field where a failed test is corrected', () => {
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
    ['BAD_RESPONSE', 'BAD_RESPONSE.mappingAt', 'mapping'],
    ['NOT_CONFIGURED', 'NOT_CONFIGURED.protected', null],
    ['SERVICE', 'SERVICE.failed', null],
    ['CLOSED', 'CLOSED.account', null],
  ];
  for (const [code, kind, field] of cases) {
    it(`for ${kind} is ${String(field)}`, () => assert.equal(fieldToCorrect(code, `errors.${kind}`), field));
  }

  it('is none where Node-RED itself could not be asked', () => {
    assert.equal(fieldToCorrect('', 'strip-account.trouble.silent'), null);
  });
});

describe('outlets in the dialogs', () => {
  it('are found whatever the spelling of the MAC', () => {
    assert.equal(findStrip(strips(), 'a1:b2:c3:d4:e5:f6')?.name, 'Desk strip');
    assert.equal(findStrip(strips(), ''), undefined);
  });

  it('are on, off, unknown, unavailable, or not there', () => {
    const [there, gone] = strips({ ...strip, mac: 'FF', available: false });
    assert.deepEqual(
      ['1', '2', '3', '4'].map((port) => outletState(there, port)),
      ['on', 'off', 'unknown', null],
    );
    assert.equal(outletState(gone, '1'), 'unavailable');
    assert.equal(outletState(undefined, '1'), null);
  });

  it('are counted only where a state is known', () => {
    const [there] = strips();
    assert.ok(there);
    assert.deepEqual(countOn(there), { on: 1, of: 3 });
    assert.equal(countOn({ ...there, outlets: [{ port: 1, on: null, name: null }] }), null);
  });
});

describe('a strip that is typed', () => {
  const known = strips(
    { mac: 'B1B2C3D4E5F6', name: 'Kitchen' },
    { mac: 'C1B2C3D4E5F6', name: 'Kitchen ' },
    { mac: 'odd-id', name: 'Shed' },
  );

  it('is found by its MAC in any spelling, or by a name that only one has', () => {
    for (const typed of ['A1B2C3D4E5F6', 'a1:b2:c3:d4:e5:f6', 'Desk strip', ' desk STRIP ']) {
      const found = lookUp(known, typed);
      assert.ok('strip' in found && found.strip.mac === 'A1B2C3D4E5F6', typed);
    }
    const odd = lookUp(known, 'odd-id');
    assert.ok('strip' in odd && odd.strip.name === 'Shed');
  });

  it('is an error where its name is not there, or there twice', () => {
    assert.deepEqual(lookUp(known, 'Office'), { key: 'strip-account.invalid.stripName' });
    assert.deepEqual(lookUp(known, 'kitchen'), { key: 'strip-account.invalid.stripTwice' });
  });

  it('may be any MAC, a variable, or anything at all while no strip is known', () => {
    for (const mac of ['00:11:22:33:44:55', '001122334455', '00-11-22-33-44-55-66-77', '${STRIP}', '']) {
      assert.deepEqual(lookUp(known, ` ${mac} `), { mac }, mac);
    }
    assert.deepEqual(lookUp([], 'Office'), { mac: 'Office' });
  });

  it('filters the list by name and by MAC', () => {
    const macs = (typed: string) => filterStrips(known, typed).map(({ mac }) => mac);
    assert.equal(macs('').length, 4);
    assert.deepEqual(macs('kit'), ['B1B2C3D4E5F6', 'C1B2C3D4E5F6']);
    assert.deepEqual(macs('b1:b2'), ['B1B2C3D4E5F6']);
    assert.deepEqual(macs('nothing like it'), []);
  });
});

describe('the outlets of a simulated strip', () => {
  const bare = { mac: 'A', name: 'Desk' };
  const outlets = [
    { name: 'Lamp', on: false },
    { on: true, extra: 1 },
  ];

  it('stay as they are where no name changes', () => {
    assert.equal(withNames(bare, ['', '', '', '']), bare);
    const named = { ...bare, outlets };
    assert.equal(withNames(named, ['Lamp', '', '', '']), named);
  });

  it('take names, and keep what else is known of them', () => {
    assert.deepEqual(withNames({ ...bare, outlets }, ['', 'Fan', '', 'TV']).outlets, [
      { name: '', on: false },
      { on: true, extra: 1, name: 'Fan' },
      { on: false },
      { on: false, name: 'TV' },
    ]);
  });

  it('start as they would without names', () => {
    const named = withNames(bare, ['', 'Fan', '', '']);
    const states = (strip: unknown) =>
      readConfig({ strips: [strip] }).strips[0]?.outlets?.map(({ on }) => on);
    assert.deepEqual(states(named), states(bare));
  });
});
