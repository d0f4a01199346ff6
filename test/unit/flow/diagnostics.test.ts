import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { AccountDiagnostics } from '../../../src/account/account';
import type { AccountStatus } from '../../../src/account/types';
import { StripError } from '../../../src/api/errors';
import type { Strip } from '../../../src/api/types';
import type { Config } from '../../../src/settings';
import { Aliases, isKnownKey, reportOf, shapeOf, type ReportSource } from '../../../src/flow/diagnostics';
import { bodyOf, failure, listOf, MAC, makeStrip, OTHER, stripOf, yes } from '../../support/scripted-service';

const config: Config = {
  baseUrl: 'https://strips.example.com/base/api/public/v1',
  interval: 30,
  timeout: 10_000,
  retryFor: 30,
  concurrency: 8,
  tls: '',
  proxy: 'id of a proxy',
  mapping: 'devices.some',
  protectedOutlets: [{ mac: MAC, port: 4 }],
  outletNames: [{ mac: OTHER, port: 1, name: 'Coffee maker' }],
  units: { load: 'W', voltage: '', signal: 'bananas' },
};
const status: AccountStatus = {
  available: false,
  error: new StripError('UNREACHABLE.failed', { host: 'h', code: 'ENOTFOUND' }),
  readable: true,
  listed: null,
  lastAnswerAt: Date.parse('2027-01-15T08:00:00.000Z'),
  cooldownUntil: null,
  polling: true,
};
const source = (more: Partial<ReportSource> = {}): ReportSource => ({
  versions: {
    package: '0.1.0',
    nodeRed: '4.1.15',
    node: 'v20.19.0',
    platform: 'linux',
    release: '6.1.0-17-amd64',
    arch: 'x64',
  },
  config,
  hasKey: true,
  status,
  account: null,
  now: Date.parse('2027-01-15T08:00:10.000Z'),
  ...more,
});
const diagnosticsOf = (more: Partial<AccountDiagnostics>): AccountDiagnostics => ({
  requests: { list: 0, strip: 0, switch: 0 },
  errors: new Map(),
  list: null,
  strip: null,
  switch: null,
  retries: 0,
  ...more,
});
const dated = <Answer>(answer: Answer) => ({ at: Date.parse('2027-01-15T08:00:00.000Z'), answer });
/** A report as it is copied or downloaded. */
const reportAbout = (more: Partial<ReportSource> = {}): unknown =>
  JSON.parse(JSON.stringify(reportOf(source(more))));
const shape = (value: unknown) => shapeOf(value, new Aliases());

describe('the shape of an answer', () => {
  it('keeps keys, types and lengths, and replaces what they say', () => {
    const body = {
      strips: [
        { mac: MAC, name: 'Desk', online: true, port1: 'ON', load: '12.5 W', voltage: 230.1, rssi: -61 },
        { mac: OTHER, name: '', online: false, port1: 'off', load: '7', voltage: 1, rssi: null },
      ],
      updated_at: '2027-01-15T08:00:00Z',
      total: 2,
    };
    assert.deepEqual(shape(body), {
      strips: [
        {
          count: 1,
          shape: {
            mac: 'mac 1',
            name: 'text of 4',
            online: 'boolean',
            port1: 'on or off as text',
            load: 'number with unit',
            voltage: 'decimal',
            rssi: 'integer',
          },
        },
        {
          count: 1,
          shape: {
            mac: 'mac 2',
            name: 'empty text',
            online: 'boolean',
            port1: 'on or off as text',
            load: 'number as text',
            voltage: 'integer 0 to 4',
            rssi: 'null',
          },
        },
      ],
      updated_at: 'time as text',
      total: 'integer 0 to 4',
    });
  });

  it('says of a text what kind it is, and otherwise only how long', () => {
    const kinds: Record<string, string[]> = {
      'empty text': [''],
      'on or off as text': ['on', 'OFF', ' true ', 'no'],
      'number as text': ['7', '-12', '+3,25', ' 10.50 '],
      'number with unit': ['5W', '231 V', '-61 dBm', '12,5  %', ' 7.25kW '],
      'time as text': ['2027-01-15T08:00:00Z', '2027-01-15T08:00:00.123+01:00', '2027-01-15T08:00'],
    };
    for (const [kind, texts] of Object.entries(kinds))
      for (const each of texts) assert.equal(shape(each), kind, each);
    for (const each of [
      ...[
        'on top',
        'xon',
        'aloof off',
        '7 a b',
        'x7',
        '7.',
        '1.2.3',
        '7x8',
        '5 bananas',
        'a 5 W',
        '5.W',
        '*7',
        '7W!',
      ],
      ...['at 2027-01-15T08:00:00Z', '2027-01-15T08:00:00Z!', '2027-01-15T08:00:00+1', '2027-1-15T08:00:00Z'],
    ]) {
      assert.equal(shape(each), `text of ${each.length}`);
    }
  });

  it('says of a whole number only whether it may be that of an outlet', () => {
    const kinds = [-1, 0, 4, 5, 0.5].map(shape);
    const ours = 'integer 0 to 4';
    assert.deepEqual(kinds, ['integer', ours, ours, 'integer', 'decimal']);
  });

  it('shows eight levels, forty keys of a record and five shapes of a list', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : { data: nested(levels - 1) });
    assert.ok(JSON.stringify(shape(nested(9))).includes('left out'));
    assert.ok(!JSON.stringify(shape(nested(8))).includes('left out'));
    const lists = (levels: number): unknown => (levels === 0 ? 1 : [lists(levels - 1)]);
    assert.ok(JSON.stringify(shape(lists(9))).includes('left out'));
    const keys = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`port ${i}`, i]));
    assert.equal(Object.keys(shape(keys(40)) as object).length, 40);
    assert.deepEqual(Object.entries(shape(keys(43)) as object).at(-1), ['3 more', 'left out']);
    const different = Array.from({ length: 7 }, (_, i) => ({
      on: 1,
      ...Object.fromEntries([[`item${i}`, 1]]),
    }));
    const shapes = shape([...different, ...different]) as { count: number; shape: unknown }[];
    assert.deepEqual(
      shapes.map(({ count }) => count),
      [2, 2, 2, 2, 2, 4],
    );
    assert.equal(shapes.at(-1)?.shape, 'left out');
  });

  it('replaces the names of outlets, too', () => {
    const aliases = new Aliases();
    const strip = makeStrip(MAC, [true]);
    aliases.learn({ ...strip, outlets: strip.outlets.map((outlet) => ({ ...outlet, name: 'Lamp' })) });
    assert.deepEqual(shapeOf({ label: 'Lamp', Lamp: 1 }, aliases), {
      label: 'name 1',
      'name 1': 'integer 0 to 4',
    });
  });

  it('counts entries of the same shape once', () => {
    const strips = Array.from({ length: 100 }, (_, index) => ({ mac: `A1B2C3D4E5${index % 10}F`, on: true }));
    assert.deepEqual(shape(strips), [{ count: 100, shape: { mac: 'mac 1', on: 'boolean' } }]);
  });

  it('numbers keys that are MACs, names or unknown words', () => {
    const aliases = new Aliases();
    aliases.learn(makeStrip(MAC, [], { name: 'Bedroom' }));
    const body = { 'AA:BB:CC:DD:EE:FF': { '1': true }, Bedroom: 1, MySecretHouse: 1, bootTime: 1 };
    assert.deepEqual(shapeOf(body, aliases), {
      'mac 1': { '1': 'boolean' },
      'name 1': 'integer 0 to 4',
      'key 1 of 13': 'integer 0 to 4',
      'key 2 of 8': 'integer 0 to 4',
    });
  });

  it('takes a name for a name also where it is an ordinary word', () => {
    const aliases = new Aliases();
    aliases.learn(makeStrip(MAC, [], { name: 'Power' }));
    assert.deepEqual(shapeOf({ Power: 'Power' }, aliases), { 'name 1': 'name 1' });
  });

  it('knows keys in every usual spelling', () => {
    for (const key of [
      'mac',
      'relayState',
      'relay_state',
      'RELAY-STATE',
      'port1',
      'Outlet 2',
      'nextCursor',
    ]) {
      assert.ok(isKnownKey(key), key);
    }
    for (const key of ['', '12', 'kitchen', 'portKitchen', 'port12', 'MariaStrip', 'état', '__proto__']) {
      assert.ok(!isKnownKey(key), key);
    }
  });

  it('shows no symbols that stand beside a known word: they may be a text', () => {
    for (const key of [
      'on Ⓜⓐⓡⓘⓐ',
      '🏠 state',
      'relay\nstate',
      'state (!)',
      'o\u0301n',
      'on\u2003on',
      'port:1',
    ]) {
      assert.ok(!isKnownKey(key), key);
    }
  });
});

describe('a report', () => {
  it('says how the account is set and how it is doing', () => {
    const report = reportAbout();
    assert.deepEqual(report, {
      versions: {
        package: '0.1.0',
        nodeRed: '4.1.15',
        node: '20.19.0',
        platform: 'linux',
        release: '6.1.0',
        arch: 'x64',
      },
      settings: {
        baseUrl: { kind: 'https', host: 'name', port: 'usual', path: 1 },
        apiKey: true,
        interval: 30_000,
        timeout: 10_000,
        retryFor: 30_000,
        concurrency: 8,
        tls: false,
        proxy: true,
        mapping: 12,
        protectedOutlets: [{ mac: 'mac 1', port: 4 }],
        outletNames: [{ mac: 'mac 2', port: 1, name: 'name 1' }],
        units: { load: 'W', voltage: '', signal: 'text of 7' },
      },
      status: {
        available: false,
        readable: true,
        polling: true,
        error: { code: 'UNREACHABLE', sentenceKey: 'UNREACHABLE.failed', reason: 'ENOTFOUND' },
        lastAnswerAt: '2027-01-15T08:00:00.000Z',
        cooldownUntil: null,
      },
      requests: {},
      errors: [],
      answers: {},
      madeAt: '2027-01-15T08:00:10.000Z',
    });
  });

  it('says whether TLS settings and a proxy are chosen', () => {
    const chosen = (own: Config) => {
      const report = reportAbout({ config: { ...config, ...own } });
      const { settings } = report as { settings: { tls: unknown; proxy: unknown } };
      return [settings.tls, settings.proxy];
    };
    assert.deepEqual(chosen({ tls: 'id of TLS settings', proxy: '' }), [true, false]);
    assert.deepEqual(chosen({ tls: '', proxy: 'id of a proxy' }), [false, true]);
  });

  it('says of the base URL what kind it is', () => {
    const kindOf = (baseUrl: string) =>
      (reportAbout({ config: { ...config, baseUrl } }) as { settings: { baseUrl: unknown } }).settings
        .baseUrl;
    const usual = { port: 'usual', path: 0 };
    assert.deepEqual(kindOf('http://localhost:1880'), {
      kind: 'http',
      host: 'localhost',
      port: 'other',
      path: 0,
    });
    assert.deepEqual(kindOf('http://192.168.1.2'), { kind: 'http', host: 'IPv4 address', ...usual });
    for (const name of ['4strips.example', 'nas2'])
      assert.deepEqual(kindOf(`http://${name}`), { kind: 'http', host: 'name', ...usual });
    assert.deepEqual(kindOf('https://[::1]/a'), {
      kind: 'https',
      host: 'IPv6 address',
      port: 'usual',
      path: 1,
    });
    assert.deepEqual(kindOf('/simulator'), { kind: 'simulator', host: 'none', port: 'usual', path: 1 });
    for (const bad of ['', '${BASE_URL}', '//host']) assert.equal(kindOf(bad), null, bad);
  });

  it('says what was answered and what was read from it, with the same numbers for the same strip', () => {
    const strip = makeStrip(MAC, [true, null], { name: 'Desk', load: 12.5, units: { load: 'W' } });
    const response = { items: [{ mac: 'aa:bb:cc:dd:ee:ff', name: 'Desk', sockets: [1, null] }] };
    const at = '2027-01-15T08:00:00.000Z';
    const last = failure('SERVICE', { params: { host: 'strips.example.com', status: 503 } }, 'failed');
    const account = diagnosticsOf({
      requests: { list: 1, strip: 0, switch: 0 },
      errors: new Map([['SERVICE', { count: 1, at: Date.parse(at), last }]]),
      list: dated({ ...listOf(strip), ...bodyOf(response) }),
      retries: 3,
    });
    const report = reportAbout({ account }) as Record<string, unknown>;
    assert.deepEqual(report.answers, {
      list: {
        at,
        shape: {
          items: [
            {
              count: 1,
              shape: {
                mac: 'mac 1',
                name: 'name 1',
                sockets: [
                  { count: 1, shape: 'integer 0 to 4' },
                  { count: 1, shape: 'null' },
                ],
              },
            },
          ],
        },
        complete: true,
        readable: true,
        strips: [
          {
            mac: 'mac 1',
            name: 'name 1',
            available: true,
            outlets: [
              { port: 1, on: true, name: null },
              { port: 2, on: null, name: null },
            ],
            load: 'number',
            voltage: null,
            signal: null,
            units: { load: 'W' },
          },
        ],
        more: 0,
      },
    });
    assert.deepEqual(report.requests, { list: 1, strip: 0, switch: 0, retries: 3 });
    assert.deepEqual(report.errors, [
      { count: 1, at, last: { code: 'SERVICE', sentenceKey: 'SERVICE.failed', status: 503 } },
    ]);
  });

  it('says what form the answer had with which the last error of a code came', () => {
    const shapes = (response: unknown) => {
      const last = failure('BAD_RESPONSE', { response }, 'notSwitch');
      const errors = new Map([['BAD_RESPONSE', { count: 1, at: 0, last }]] as const);
      const list = dated(listOf(makeStrip(MAC, [true], { name: 'Desk' })));
      const report = reportAbout({ account: diagnosticsOf({ errors, list }) });
      return (report as { errors: { shape?: unknown }[] }).errors.map((error) => error.shape);
    };
    const state = { mac: MAC, state: 'running', Desk: 7, Lamp: 'on' };
    const shown = {
      mac: 'mac 1',
      state: 'text of 7',
      'name 1': 'integer',
      'key 1 of 4': 'on or off as text',
    };
    assert.deepEqual(shapes(state), [shown]);
    assert.deepEqual(shapes(null), ['null']);
    assert.deepEqual(shapes(undefined), [undefined], 'no JSON came');
  });

  it('says what was read of one strip and of the latest switch, and shows ten strips of a list', () => {
    const strip = makeStrip(MAC, [true], { name: 'Desk' });
    const many = Array.from({ length: 12 }, (_, i) => makeStrip(`A1B2C3D4E5${10 + i}`, []));
    const account = diagnosticsOf({
      list: dated(listOf(...many)),
      strip: dated({ ...stripOf(strip), ...bodyOf({ name: 'Desk' }) }),
      switch: dated(yes(1)),
    });
    const report = reportAbout({ account }) as {
      answers: Record<'list' | 'strip' | 'switch', Record<string, unknown>>;
    };
    const { list, strip: one, switch: switched } = report.answers;
    assert.equal((list.strips as unknown[]).length, 10);
    assert.equal(list.more, 2);
    assert.deepEqual(one.shape, { name: 'name 1' });
    assert.deepEqual(
      (one.strips as { mac: string; name: string }[]).map(({ mac, name }) => [mac, name]),
      [['mac 13', 'name 1']],
    );
    assert.equal(one.readable, true);
    assert.deepEqual(switched.results, [{ port: 1, ok: true }]);
  });

  it('can be made where nothing is configured and nothing was asked', () => {
    const report = reportAbout({ config: { protectedOutlets: ['Lamp'] } }) as Record<string, unknown>;
    assert.equal(report.settings, null);
    const paused = { ...status, error: null, cooldownUntil: Date.parse('2027-01-15T09:00:00.000Z') };
    const { status: shown } = reportAbout({ status: paused }) as { status: Record<string, unknown> };
    assert.equal(shown.error, null);
    assert.equal(shown.cooldownUntil, '2027-01-15T09:00:00.000Z');
  });

  it('keeps a text only if the whole of it is of an expected form', () => {
    const versions = (more: Partial<ReportSource['versions']>) => {
      const report = reportAbout({ versions: { ...source().versions, ...more } });
      return (report as { versions: Record<string, unknown> }).versions;
    };
    for (const nodeRed of ['4.1.15', '5.0.0-beta.12', '10.20.30-rc'])
      assert.equal(versions({ nodeRed }).nodeRed, nodeRed);
    for (const nodeRed of ['v4.1.15', '4.1.15 of Maria', 'Maria 4.1.15', '4.1', '4.1.15-'])
      assert.equal(versions({ nodeRed }).nodeRed, undefined, nodeRed);
    for (const [release, kept] of [
      ['6', '6'],
      ['10.0.22631', '10.0.22631'],
      ['6.1.0-maria', '6.1.0'],
      ['maria6.1', undefined],
    ] as const)
      assert.equal(versions({ release }).release, kept, release);
    assert.equal(versions({ platform: 'win32' }).platform, 'win32');
    assert.equal(versions({ platform: "Maria's computer" }).platform, undefined);
    assert.equal(versions({ arch: 'x86_64' }).arch, 'x86_64');
    assert.equal(versions({ arch: "Maria's computer" }).arch, undefined);
  });

  it('says of a unit that is not among the usual ones only how long it is', () => {
    const unitOf = (load: string) => {
      const report = reportAbout({ config: { ...config, units: { load } } });
      return (report as { settings: { units: { load: unknown } } }).settings.units.load;
    };
    for (const usual of ['', 'W', 'kW', 'mW', 'VA', 'A', 'mA', 'V', 'kV', 'mV', 'dBm', 'dB', '%'])
      assert.equal(unitOf(usual), usual);
    assert.equal(unitOf('bananas'), 'text of 7');
  });

  it('says of an error its code, its sentence, the HTTP status and the code of a failed connection', () => {
    const shown = (params: Record<string, string | number>) => {
      const error = new StripError('UNREACHABLE.failed', params);
      return (reportAbout({ status: { ...status, error } }) as { status: { error: unknown } }).status.error;
    };
    const error = { code: 'UNREACHABLE', sentenceKey: 'UNREACHABLE.failed' };
    for (const reason of ['ECONNREFUSED', 'CERT_NOT_YET_VALID', 'UND_ERR_CONNECT_TIMEOUT'])
      assert.deepEqual(shown({ code: reason }), { ...error, reason });
    for (const code of ['', 'code of Maria', 'Maria', 'maria.example ENOTFOUND', 7])
      assert.deepEqual(shown({ code }), error);
    for (const code of [100, 503, 599]) assert.deepEqual(shown({ status: code }), { ...error, status: code });
    for (const code of [600, 192_168, '503']) assert.deepEqual(shown({ status: code }), error);
  });

  it('holds no sentinel, wherever in settings, names, errors and answers one is put', () => {
    const SENTINEL = 'sentinel';
    const NUMBER = 987_654_321;
    const secret = (kind: string) => `${SENTINEL}-${kind}`;
    const hidden = `${SENTINEL}Key`;
    // Each property is written out, so that a new one has to be added here.
    const strip: Strip = {
      mac: secret('mac'),
      name: secret('name'),
      available: true,
      outlets: [{ port: 1, on: true, name: secret('outlet') }],
      load: NUMBER,
      voltage: NUMBER,
      signal: NUMBER,
      units: { load: secret('unit') },
      at: secret('at'),
    };
    const response = {
      [secret('mac')]: { [hidden]: secret('text'), mac: secret('mac'), name: secret('name'), load: NUMBER },
      strips: [{ [secret('name')]: [secret('deep')], state: secret('state'), signal: NUMBER + 0.5 }],
      [`${SENTINEL} on`]: { __proto__: secret('proto') },
      AABBCCDDEEFF: `${NUMBER} W`,
      next: `https://${SENTINEL}.example.com/?key=${SENTINEL}`,
      url: secret('url'),
    };
    const error = failure('UNREACHABLE', {
      params: { host: secret('host'), code: secret('code'), status: NUMBER, reason: secret('reason') },
      cause: new Error(secret('cause')),
      response,
    });
    const account = diagnosticsOf({
      errors: new Map([['UNREACHABLE', { count: 1, at: 0, last: error }]]),
      list: dated({ ...listOf(strip), ...bodyOf(response) }),
      strip: dated({ ...stripOf(strip), ...bodyOf(response) }),
      switch: dated({ results: [{ port: NUMBER, ok: true }], confirmed: [], ...bodyOf(response) }),
    });
    const report = reportOf({
      versions: {
        package: secret('version'),
        nodeRed: secret('version'),
        node: secret('version'),
        platform: secret('platform'),
        release: `6.1.0-${SENTINEL}`,
        arch: secret('arch'),
      },
      config: {
        name: secret('name'),
        baseUrl: `https://${SENTINEL}:${SENTINEL}@${SENTINEL}.example.com:8443/${SENTINEL}?${SENTINEL}`,
        tls: secret('tls'),
        proxy: secret('proxy'),
        mapping: secret('mapping'),
        protectedOutlets: [{ mac: secret('mac'), port: 1 }],
        outletNames: [{ mac: secret('other'), port: 2, name: secret('outlet') }],
        units: { load: secret('unit'), voltage: secret('unit'), signal: secret('unit') },
      },
      hasKey: true,
      status: { ...status, error, lastAnswerAt: NUMBER },
      account,
      now: 0,
    });
    const json = JSON.stringify(report);
    assert.doesNotMatch(json, /sentinel|987654321|8443|AABBCCDDEEFF/i);
    for (const part of ['"list":{', '"strip":{', '"switch":{', '"UNREACHABLE"', '"mac 1"', '"name 1"']) {
      assert.ok(json.includes(part), `${part} was not looked at`);
    }
  });

  it('holds of any answer only kinds of values, and keys that are known words or numbered', () => {
    const KIND =
      /^(null|boolean|integer|integer 0 to 4|decimal|empty text|text of \d+|on or off as text|number as text|number with unit|time as text|mac \d+|left out)$/;
    const KEY = /^(key \d+ of \d+|mac \d+|\d{1,2}|\d+ more)$/;
    const check = (value: unknown): void => {
      if (Array.isArray(value)) {
        for (const { count, shape: inner, ...more } of value as { count: number; shape: unknown }[]) {
          assert.ok(count > 0);
          assert.deepEqual(more, {});
          check(inner);
        }
      } else if (typeof value === 'object' && value !== null) {
        for (const [key, inner] of Object.entries(value)) {
          assert.ok(KEY.test(key) || isKnownKey(key), key);
          check(inner);
        }
      } else assert.match(String(value), KIND);
    };
    fc.assert(
      fc.property(fc.jsonValue(), (response) => {
        const account = diagnosticsOf({ list: dated({ ...listOf(), ...bodyOf(response) }) });
        const { answers } = reportAbout({ account }) as { answers: { list: { shape: unknown } } };
        check(answers.list.shape);
      }),
    );
  });
});
