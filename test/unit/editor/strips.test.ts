import assert from 'node:assert/strict';
import { withNames } from '../../../src/editor/nodes/strip-simulator';
import { lookUp } from '../../../src/editor/strip-picker';
import { readConfig } from '../../../src/simulator/simulator';
import { areAccounts, isStripsAnswer, isSwitchedAnswer } from '../../../src/flow/admin-answers';
import { makeStrip } from '../../support/scripted-service';
import {
  accountChanged,
  fieldToCorrect,
  findStrip,
  loadStrips,
  matches,
  outletState,
  readingText,
  stripText,
} from '../../../src/editor/strips';

const desk = makeStrip('A1B2C3D4E5F6', [true, false, null], {
  name: 'Desk strip',
  load: 12,
  signal: -61,
  units: { load: 'W' },
});

describe('an answer to the editor', () => {
  const strips = { ok: true, strips: [desk], complete: true, readable: true, notes: [] };
  const failed = { ok: false, code: 'AUTH', key: 'errors.AUTH.rejected', params: {} };
  const odd: unknown[] = [undefined, null, '<html>', {}, { error: 'x' }, { ok: true }, { ok: false }, [{}]];

  it('about strips holds them, or says why it does not', () => {
    for (const body of [strips, { ...strips, strips: [] }, failed]) assert.ok(isStripsAnswer(body));
    const others = [
      { ...strips, strips: [{ mac: 'A1B2C3D4E5F6' }] },
      { ...strips, strips: {} },
      { ...strips, notes: null },
    ];
    for (const body of [...odd, ...others]) assert.ok(!isStripsAnswer(body), JSON.stringify(body));
  });

  it('about a switch says what was confirmed, or why it was not', () => {
    for (const body of [{ ok: true, on: false }, failed]) assert.ok(isSwitchedAnswer(body));
    for (const body of [...odd, { ok: true, on: 'yes' }])
      assert.ok(!isSwitchedAnswer(body), JSON.stringify(body));
  });

  it('about accounts is a list of them with their strips', () => {
    const known = { id: 'a', strips: [desk], protectedOutlets: [{ mac: desk.mac, port: 1 }] };
    for (const body of [[], [known]]) assert.ok(areAccounts(body));
    const others = [{ strips: [null] }, { protectedOutlets: undefined }, { protectedOutlets: [null] }];
    for (const body of [...odd, [{ id: 'a' }], ...others.map((other) => [{ ...known, ...other }])])
      assert.ok(!areAccounts(body), JSON.stringify(body));
  });
});

describe('a reading in the dialogs', () => {
  it('has a unit where one is known', () => {
    assert.equal(readingText(desk, 'load'), '12 W');
    assert.equal(readingText(desk, 'signal'), '-61');
    assert.equal(readingText(desk, 'voltage'), null);
  });
});

describe('the field where a failed test is corrected', () => {
  const cases: [code: string, kind: string, field: string | null][] = [
    ['AUTH', 'AUTH.rejected', 'apiKey'],
    ['NOT_CONFIGURED', 'NOT_CONFIGURED.keyMissing', 'apiKey'],
    ['NOT_CONFIGURED', 'NOT_CONFIGURED.keyAgain', 'apiKey'],
    ['NOT_CONFIGURED', 'NOT_CONFIGURED.keyUndeployed', 'apiKey'],
    ['NOT_CONFIGURED', 'NOT_CONFIGURED.urlScheme', 'baseUrl'],
    ['NOT_CONFIGURED', 'NOT_CONFIGURED.tlsUndeployed', 'tls'],
    ['NOT_CONFIGURED', 'NOT_CONFIGURED.proxyUndeployed', 'proxy'],
    ['UNREACHABLE', 'UNREACHABLE.refused', 'baseUrl'],
    ['UNREACHABLE', 'UNREACHABLE.tls', 'baseUrl'],
    ['UNREACHABLE', 'UNREACHABLE.tlsSettings', 'tls'],
    ['UNREACHABLE', 'UNREACHABLE.certificateHost', 'baseUrl'],
    ['UNREACHABLE', 'UNREACHABLE.certificateSelfSigned', 'tls'],
    ['UNREACHABLE', 'UNREACHABLE.proxy', 'proxy'],
    ['TIMEOUT', 'TIMEOUT.deadline', 'timeout'],
    ['RATE_LIMITED', 'RATE_LIMITED.seconds', null],
    ['BAD_RESPONSE', 'BAD_RESPONSE.html', 'baseUrl'],
    ['BAD_RESPONSE', 'BAD_RESPONSE.mappingAt', 'mapping'],
    ['NOT_CONFIGURED', 'NOT_CONFIGURED.property', 'timeout'],
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
  before(() => Object.assign(globalThis, { RED: { _: (key: string) => key.replace(/^.*:/, '') } }));
  after(() => Reflect.deleteProperty(globalThis, 'RED'));

  it('are found whatever the spelling of the MAC', () => {
    assert.equal(findStrip([desk], 'a1:b2:c3:d4:e5:f6')?.name, 'Desk strip');
    assert.equal(findStrip([desk], ''), undefined);
  });

  it('are on, off, unknown, unavailable, or not there', () => {
    const gone = { ...desk, available: false };
    assert.deepEqual(
      ['1', '2', '3', '4'].map((port) => outletState(desk, port)),
      ['● status.on', '○ status.off', '? status.unknown', ''],
    );
    assert.equal(outletState(gone, '1'), '– status.unavailable');
    assert.equal(outletState(undefined, '1'), '');
  });

  it('are counted only where all states are known', () => {
    const known = [
      makeStrip('A1', [true, false]),
      desk,
      makeStrip('A1', [false]),
      makeStrip('A1', [null]),
      { ...desk, available: false },
    ];
    assert.deepEqual(known.map(stripText), [
      '● status.on1of2',
      '? status.on1unknown',
      '○ status.on0of1',
      '? status.unknown',
      '– status.unavailable',
    ]);
  });
});

describe('a strip that is typed', () => {
  before(() => Object.assign(globalThis, { RED: { _: (key: string) => key.replace(/^.*:/, '') } }));
  after(() => Reflect.deleteProperty(globalThis, 'RED'));

  const known = [
    desk,
    makeStrip('B1B2C3D4E5F6', [], { name: 'Kitchen' }),
    makeStrip('C1B2C3D4E5F6', [], { name: 'Kitchen ' }),
    makeStrip('odd-id', [], { name: 'Shed' }),
  ];

  it('is found by its MAC in any spelling, or by a name that only one has', () => {
    for (const typed of ['A1B2C3D4E5F6', 'a1:b2:c3:d4:e5:f6', 'Desk strip', ' desk STRIP ']) {
      assert.equal(lookUp(known, typed).strip, desk, typed);
    }
    assert.equal(lookUp(known, 'odd-id').strip?.name, 'Shed');
  });

  it('is an error where its name is not there, or there twice', () => {
    assert.deepEqual(lookUp(known, 'Office'), { error: 'strip-account.invalid.stripName' });
    assert.deepEqual(lookUp(known, 'kitchen'), { error: 'strip-account.invalid.stripTwice' });
  });

  it('may be a MAC that is not listed, a variable, or anything at all while no strip is known', () => {
    for (const mac of ['00:11:22:33:44:55', '001122334455', '00-11-22-33-44-55-66-77']) {
      assert.deepEqual(lookUp(known, ` ${mac} `), { warning: 'strip-account.warning.unlisted' }, mac);
      assert.deepEqual(lookUp([], mac), {}, mac);
    }
    const impossible = { error: 'errors.INVALID_INPUT.mac' };
    for (const strips of [known, []]) assert.deepEqual(lookUp(strips, 'TV/Hifi'), impossible);
    for (const text of ['${STRIP}', '']) assert.deepEqual(lookUp(known, ` ${text} `), {}, text);
    assert.deepEqual(lookUp([], 'Office'), {});
  });
});

describe('the nodes of an account', () => {
  /** The nodes that Node-RED was told to index and draw again. */
  let redrawn: string[];
  let nodes: { id: string; account: string; w?: number }[];
  let beforeFrame: () => void;
  const requestAnimationFrame = (callback: () => void): void => {
    beforeFrame();
    callback();
  };
  before(() => {
    const RED = {
      nodes: { filterNodes: () => nodes },
      events: { emit: (_: string, node: { id: string }) => redrawn.push(node.id) },
      state: { JOINING: 2 },
      view: { redraw: () => undefined, state: () => 0 },
    };
    Object.assign(globalThis, { RED, requestAnimationFrame });
  });
  beforeEach(() => ([redrawn, nodes, beforeFrame] = [[], [], () => undefined]));
  after(() => ['RED', 'requestAnimationFrame'].forEach((name) => Reflect.deleteProperty(globalThis, name)));

  const account = (name: string) => ({
    id: 'a',
    outletNames: [{ mac: 'A1B2C3D4E5F6', port: 1, name }],
  });

  it('are not all indexed again for each one that is loaded', () => {
    for (let index = 0; index < 100; index++) {
      // Node-RED says that the account has changed before the node is there.
      accountChanged(account('Lamp'));
      nodes.push({ id: `n${index}`, account: 'a' });
    }
    assert.deepEqual(redrawn, []);
  });

  it('are drawn again when an outlet gets another name', () => {
    accountChanged(account('Lamp'));
    nodes.push({ id: 'n', account: 'a', w: 100 });
    accountChanged(account('Fan'));
    assert.deepEqual(redrawn, ['n']);
    assert.equal(nodes[0]?.w, undefined, 'with a width, Node-RED would move it');
  });

  it('keep the width that they got when they were drawn meanwhile', () => {
    const node = { id: 'n', account: 'a', w: 100, resize: false };
    nodes.push(node);
    beforeFrame = () => Object.assign(node, { w: 120, resize: false });
    accountChanged(account('Radio'));
    assert.equal(node.w, 120);
  });
});

describe('the strips of an account that is not deployed in its present form', () => {
  let sent: { apiKey?: string };
  let credentials: Record<string, unknown> | undefined;
  before(() => {
    const node = () => ({ id: 'a', type: 'strip-account', changed: true, credentials });
    const nodes = { node, subflow: () => undefined };
    const ajax = ({ data, complete }: { data: string; complete: (response: object) => void }) => {
      sent = JSON.parse(data) as typeof sent;
      complete({ status: 0 });
    };
    Object.assign(globalThis, { RED: { nodes, user: { hasPermission: () => true } }, $: { ajax } });
  });
  after(() => ['RED', '$'].forEach((name) => Reflect.deleteProperty(globalThis, name)));

  const cases: [title: string, credentials: Record<string, unknown> | undefined, key: string][] = [
    ['the stored key where the editor does not know of any', undefined, '__PWRD__'],
    ['the stored key where an import has no key', {}, '__PWRD__'],
    ['the stored key where it was not changed', { has_apiKey: true }, '__PWRD__'],
    ['the key that was typed', { has_apiKey: true, apiKey: 'typed' }, 'typed'],
    ['the key that was imported', { apiKey: 'imported' }, 'imported'],
    ['no key where it was emptied', { has_apiKey: false, apiKey: '' }, ''],
    ['no key where none is stored', { has_apiKey: false }, ''],
  ];
  for (const [title, given, key] of cases) {
    it(`are asked for with ${title}`, async () => {
      credentials = given;
      await loadStrips('a', { refresh: true });
      assert.equal(sent.apiKey, key);
    });
  }
});

describe('the filter', () => {
  const strip = makeStrip('A1:B2:C3:D4:E5:F6', [], {
    name: 'Desk strip',
    outlets: [{ port: 2, on: null, name: 'Coffee maker' }],
  });

  it('finds a strip by parts of its name, its MAC in any spelling, and the names of its outlets', () => {
    for (const text of ['', ' ', 'desk', 'STRIP de', 'a1:b2', 'b2c3', 'coffee', 'desk coffee']) {
      assert.ok(matches(strip, text), text);
    }
    for (const text of ['garden', 'desk garden', 'desk 2', 'ffff']) assert.ok(!matches(strip, text), text);
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
