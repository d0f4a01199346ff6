import assert from 'node:assert/strict';
import { readConnectionTest, previewOf } from '../../../src/flow/connection-test';
import { StripError } from '../../../src/api/errors';

const MAC = 'A0B1C2D3E4F5';
const asIs = (text: string): string => text;
const body = { id: 'n', baseUrl: 'https://h', apiKey: 'k', timeout: '5000', tls: '', proxy: '' };

describe('a connection to try', () => {
  it('is read from what the dialog sends', () => {
    const list = { ...body, timeout: 5000, mapping: '', mac: '', again: null };
    assert.deepEqual(readConnectionTest(body), list);
    const strip = { ...list, mapping: 'a.b', mac: 'A1' };
    assert.deepEqual(readConnectionTest({ ...body, mapping: 'a.b', mac: 'A1' }), strip);
    assert.deepEqual(readConnectionTest({ ...body, body: null, paging: {} }).again, {
      body: null,
      paging: {},
    });
    const ids = { tls: 't', proxy: 'p' };
    assert.deepEqual(readConnectionTest({ ...body, ...ids }), { ...list, ...ids });
  });

  it('takes an untouched key for the stored one, and an empty one for none', () => {
    assert.equal(readConnectionTest({ ...body, apiKey: '__PWRD__' }).apiKey, null);
    assert.equal(readConnectionTest({ ...body, apiKey: '' }).apiKey, '');
    assert.equal(readConnectionTest({ id: 'n' }).apiKey, '');
  });

  it('has a timeout that is neither too short nor too long for a person', () => {
    assert.deepEqual(
      ['', '1', '-5', '1e9'].map((timeout) => readConnectionTest({ ...body, timeout }).timeout),
      [10_000, 100, 100, 60_000],
    );
  });

  it('is refused with a timeout that is no number', () => {
    const isRefusal = ({ sentenceKey }: StripError) => sentenceKey === 'NOT_CONFIGURED.property';
    assert.throws(() => readConnectionTest({ ...body, timeout: '5 s' }), isRefusal);
  });

  it('has nothing of what is no text', () => {
    const nothing = { ...readConnectionTest({}), baseUrl: 'https://h' };
    for (const other of [undefined, null, [], {}, ['x']]) {
      const all = {
        id: other,
        apiKey: other,
        timeout: other,
        tls: other,
        proxy: other,
        mapping: other,
        mac: other,
      };
      assert.deepEqual(readConnectionTest({ ...all, baseUrl: 'https://h' }), nothing);
      assert.deepEqual(readConnectionTest(other), readConnectionTest({}));
    }
    const hostile: unknown = JSON.parse('{"__proto__":{"baseUrl":"http://elsewhere"}}');
    assert.equal(readConnectionTest(hostile).baseUrl, '');
  });
});

describe('the preview of an answer', () => {
  it('shows what was sent beside what was read, and why a value is unknown', async () => {
    const body = {
      strips: [{ mac: MAC, outlets: [{ port: 2, name: 'Lamp', state: true, physical_state: false }] }],
    };
    const preview = await previewOf(body, '', null, asIs);
    assert.deepEqual(preview.sent?.body, body);
    assert.equal(preview.sent.shortened, false);
    assert.ok(preview.ok);
    assert.deepEqual(preview.strips[0]?.outlets, [{ port: 2, on: null, name: 'Lamp' }]);
    assert.deepEqual(preview.notes, [
      { mac: MAC, about: 2, reason: 'disagree', fields: ['physical_state', 'state'] },
    ]);
  });

  it('reads what the mapping makes of it, and shows what was sent', async () => {
    const preview = await previewOf(
      { x: MAC },
      '',
      () => Promise.resolve([{ mac: MAC, outlets: [true] }]),
      asIs,
    );
    assert.deepEqual(preview.sent?.body, { x: MAC });
    assert.ok(preview.ok && preview.strips.length === 1);
  });

  it('says what is wrong with a mapping', async () => {
    const error = new StripError('BAD_RESPONSE.mapping', { reason: 'no' });
    const preview = await previewOf([], '', () => Promise.reject(error), asIs);
    assert.deepEqual(preview, {
      sent: { paging: {}, body: [], shortened: false },
      ok: false,
      code: 'BAD_RESPONSE',
      key: 'errors.BAD_RESPONSE.mapping',
      params: { reason: 'no' },
    });
  });

  it('hides the key and whatever is called a secret', async () => {
    const body = {
      token: 'abc',
      note: 'key is k3y',
      Api_Key: 12,
      k3y: 1,
      password: { set: true },
      name: 'Desk',
      seen: 45_007,
      count: 45,
    };
    const hideKey = (text: string): string => text.replaceAll(/k3y|45007/g, '***');
    const preview = await previewOf(body, '', null, hideKey);
    assert.deepEqual(preview.sent?.body, {
      token: '***',
      note: 'key is ***',
      Api_Key: '***',
      '***': 1,
      password: { set: true },
      name: 'Desk',
      seen: '***',
      count: 45,
    });
  });

  it('shows as much as its bounds allow, and says where it left something out', async () => {
    const sent = async (answer: unknown) => (await previewOf(answer, '', null, asIs)).sent;
    const keys = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, null]));
    const nested = (depth: number): unknown => (depth === 0 ? [] : [nested(depth - 1)]);
    for (const whole of ['x'.repeat(200), Array(50).fill(1), keys(200), nested(11)]) {
      assert.deepEqual(await sent(whole), { paging: {}, body: whole, shortened: false });
    }
    assert.deepEqual(await sent('x'.repeat(201)), {
      paging: {},
      body: `${'x'.repeat(200)}…`,
      shortened: true,
    });
    assert.deepEqual(await sent(Array(51).fill(1)), { paging: {}, body: Array(50).fill(1), shortened: true });
    assert.deepEqual(await sent(keys(201)), { paging: {}, body: keys(200), shortened: true });
    const tooDeep = await sent(nested(12));
    assert.match(JSON.stringify(tooDeep), /"…"/);
    assert.equal(tooDeep?.shortened, true);
    const many = await sent(Array(50).fill(Array(50).fill({})));
    assert.equal(JSON.stringify(many).includes('"…"'), true);
  });

  it('hides no defect of a mapping', async () => {
    const broken = () => Promise.reject(new TypeError('a defect'));
    await assert.rejects(previewOf([], '', broken, asIs), /a defect/);
  });

  it('reads one strip where one was asked for, with what is unknown about it', async () => {
    const outlets = [
      { port: 1, state: 'on' },
      { port: 2, state: true, physical_state: false },
    ];
    const preview = await previewOf({ data: { outlets } }, MAC, null, asIs);
    assert.ok(preview.ok && preview.complete);
    assert.deepEqual(
      preview.strips.map((strip) => [strip.mac, strip.outlets]),
      [
        [
          MAC,
          [
            { port: 1, on: true, name: null },
            { port: 2, on: null, name: null },
          ],
        ],
      ],
    );
    assert.deepEqual(
      preview.notes.map((note) => [note.mac, note.about, note.reason]),
      [[MAC, 2, 'disagree']],
    );
    const other = await previewOf({ mac: 'B0B1C2D3E4F5', outlets }, MAC, null, asIs);
    assert.ok(other.ok);
    assert.deepEqual([other.readable, other.notes.map(({ reason }) => reason)], [false, ['other']]);
  });

  it('names all strips, and why values are unknown for as many of them as are shown', async () => {
    const body = Array.from({ length: 120 }, (_, index) => ({
      mac: `A0B1C2D3${1000 + index}`,
      outlets: [{ port: 1, on: true, state: 'off' }],
    }));
    const preview = await previewOf(body, '', null, asIs);
    assert.ok(preview.ok);
    assert.deepEqual([preview.strips.length, preview.notes.length, preview.sent?.shortened], [120, 50, true]);
    const page = await previewOf({ strips: [], next: 'https://strips.example/2' }, '', null, asIs);
    assert.ok(page.ok && !page.complete);
    assert.deepEqual(page.notes, [{ mac: null, about: 'list', reason: 'more', fields: ['next'] }]);
  });
});
