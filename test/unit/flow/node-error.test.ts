import assert from 'node:assert/strict';
import { StripError } from '../../../src/api/errors';
import type { PortOrAll } from '../../../src/api/types';
import {
  defectText,
  editorError,
  errorForDone,
  failedStrip,
  EMPTY_STORE,
  outletText,
  sentenceOf,
} from '../../../src/flow/node-error';
import { failure } from '../../support/scripted-service';
import { MAC, OTHER, translate } from './support';

/** A strip and one outlet that have names. */
const known = {
  ...EMPTY_STORE,
  names: (mac: string, port: PortOrAll | null) => ({
    name: mac === MAC ? 'Desk' : null,
    outlet: mac === MAC && port === 2 ? 'Lamp' : null,
  }),
  lastState: () => true,
};

describe('an error for the Catch node', () => {
  it('is the sentence alone as text, and has its code as an own property', () => {
    const told = errorForDone(new StripError('AUTH.rejected', { host: 'h' }), translate, EMPTY_STORE);
    assert.equal(String(told), 'errors.AUTH.rejected {"host":"h"}');
    assert(Object.hasOwn(told, 'code') && Reflect.get(told, 'code') === 'AUTH');
    assert.deepEqual(Object.keys(told), ['code']);
    assert(!Object.hasOwn(told, 'cause'));
  });

  it('keeps a cause that is no more than a code', () => {
    const cause = Object.assign(new Error('ECONNREFUSED'), { code: 'ECONNREFUSED' });
    assert.equal(
      errorForDone(new StripError('UNREACHABLE.x', {}, { cause }), translate, EMPTY_STORE).cause,
      cause,
    );
    for (const other of [new Error('anything'), { key: 'k' }, failure('AUTH')]) {
      assert.equal(
        errorForDone(new StripError('UNREACHABLE.x', {}, { cause: other }), translate, EMPTY_STORE).cause,
        undefined,
      );
    }
  });

  it('says what kind of defect it is and where, without its own message', () => {
    const told = errorForDone(new TypeError('cannot read secret\nof undefined'), translate, EMPTY_STORE);
    assert.equal(String(told), 'errors.SERVICE.unexpected {"name":"TypeError"}');
    assert.equal(Reflect.get(told, 'code'), 'SERVICE');
    assert(!String(told.stack).includes('secret') && String(told.stack).includes('node-error.test'));
    for (const thrown of [
      'secret',
      { message: 'secret' },
      undefined,
      null,
      Object.assign(new Error('x'), { name: 'sec ret' }),
    ]) {
      assert(
        !/sec ?ret/.test(
          JSON.stringify([
            String(errorForDone(thrown, translate, EMPTY_STORE)),
            errorForDone(thrown, translate, EMPTY_STORE),
          ]),
        ),
      );
    }
  });
});

describe('the place of a defect', () => {
  const faulty = (): Error => new TypeError('secret');

  it('is in the stack below the sentence', () => {
    const { stack, message } = errorForDone(faulty(), translate, EMPTY_STORE);
    const [first, second] = String(stack).split('\n');
    assert.equal(first, message);
    assert.match(String(second), /faulty/);
  });

  it('is left out where the defect has no stack', () => {
    const bare = faulty();
    delete bare.stack;
    const told = errorForDone(bare, translate, EMPTY_STORE);
    assert.equal(told.stack, told.message);
    assert.equal(defectText(bare, translate), 'notice.fault {"name":"TypeError"}');
  });
});

describe('msg.strip of a command that failed', () => {
  it('says what was asked, what became of it, and the last known state', () => {
    const failed = new StripError('SWITCH_FAILED.x', {}, { results: [{ port: 2, ok: false }] });
    assert.deepEqual(failedStrip({ mac: MAC, port: 2, requested: 'toggle' }, failed, known), {
      mac: MAC,
      name: 'Desk',
      port: 2,
      outlet: 'Lamp',
      requested: 'toggle',
      success: false,
      results: [{ port: 2, ok: false }],
      on: true,
    });
  });

  it('is null where nothing is known', () => {
    const target = { mac: MAC, port: null, requested: null };
    assert.deepEqual(failedStrip(target, new Error(), known), {
      ...target,
      name: 'Desk',
      outlet: null,
      success: false,
      results: [],
      on: null,
    });
  });

  it('is null throughout where the message names no strip', () => {
    const target = { mac: null, port: 2, requested: true } as const;
    const names = () => assert.fail('asked for names');
    assert.deepEqual(failedStrip(target, failure('INVALID_INPUT'), { ...known, names }), {
      ...target,
      name: null,
      outlet: null,
      success: false,
      results: [],
      on: null,
    });
  });
});

describe('the sentence of an error', () => {
  const params = (mac: string, more: object) => {
    const text = sentenceOf(
      { sentenceKey: 'SERVICE.y', params: { mac, ...more } },
      (key, values) =>
        key.startsWith('outlet.')
          ? `<${key} ${Object.values(values ?? {}).join(' ')}>`
          : JSON.stringify(values),
      known,
    );
    const { strip, outlet, failed, switched } = JSON.parse(text) as Record<string, unknown>;
    return { strip, outlet, failed, switched };
  };

  it('names strip and outlet by their names where they have one', () => {
    assert.deepEqual(params(MAC, { port: 2 }), {
      strip: 'Desk',
      outlet: '<outlet.named Desk 2 Lamp>',
      failed: undefined,
      switched: undefined,
    });
    assert.equal(params(MAC, { port: 3 }).outlet, '<outlet.unnamed Desk 3>');
    assert.equal(params(MAC, { port: 'all' }).outlet, '<outlet.all Desk>');
    assert.equal(params(MAC, {}).outlet, 'Desk');
    assert.deepEqual(params(OTHER, { port: 2 }), {
      strip: OTHER,
      outlet: `<outlet.unnamed ${OTHER} 2>`,
      failed: undefined,
      switched: undefined,
    });
  });

  it('names each outlet that was or was not switched', () => {
    const { failed, switched } = params(MAC, { port: 'all', failed: '2, 3', switched: '4' });
    assert.deepEqual(
      [failed, switched],
      ['<outlet.named Desk 2 Lamp>, <outlet.unnamed Desk 3>', '<outlet.unnamed Desk 4>'],
    );
  });

  it('has a name of any length and with line breaks in one line, and the MAC for a name that is blank', () => {
    const name = `Desk\r\nerror: ${'x'.repeat(5000)}`;
    const long = { ...known, names: () => ({ name, outlet: '\n ' }) };
    assert.equal(
      outletText({ mac: MAC, port: 2 }, translate, long),
      `outlet.unnamed ${JSON.stringify({ strip: `Desk error: ${'x'.repeat(87)}…`, port: 2 })}`,
    );
    const blank = { ...known, names: () => ({ name: ' ', outlet: null }) };
    assert.equal(outletText({ mac: MAC, port: null }, translate, blank), MAC);
  });

  it('keeps what is not about a strip as it is', () => {
    assert.equal(
      sentenceOf({ sentenceKey: 'SERVICE.y', params: { host: 'h' } }, translate),
      'errors.SERVICE.y {"host":"h"}',
    );
    assert.equal(
      outletText({ mac: MAC, port: 2 }, translate),
      `outlet.unnamed ${JSON.stringify({ strip: MAC, port: 2 })}`,
    );
  });
});

describe('a defect in the log', () => {
  it('shows its kind and where it is, without its own message', () => {
    const text = defectText(new TypeError('secret'), translate);
    assert(text.startsWith('notice.fault {"name":"TypeError"}') && text.includes('node-error.test'), text);
    assert(!text.includes('secret'));
    assert.equal(defectText('secret', translate), 'notice.fault {"name":"string"}');
  });
});

describe('an error for the editor', () => {
  it('holds its code, the key of its sentence and what the sentence names', () => {
    const error = new StripError('AUTH.rejected', { host: 'h' }, { response: { secret: 1 } });
    assert.deepEqual(editorError(error), {
      code: 'AUTH',
      key: 'errors.AUTH.rejected',
      params: { host: 'h' },
    });
  });

  it('calls a strip by its MAC', () => {
    const error = new StripError('NOT_FOUND.strip', { mac: 'A1' });
    assert.deepEqual(editorError(error).params, { mac: 'A1', strip: 'A1' });
  });

  it('hides no defect', () => {
    assert.throws(() => editorError(new TypeError('a defect')), /a defect/);
  });
});
