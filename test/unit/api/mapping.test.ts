import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import util from '@node-red/util';
import { decodeList, decodeStrip } from '../../../src/api/decode';
import { StripError } from '../../../src/api/errors';
import { createMapping, type Expression } from '../../../src/api/mapping';

const LOCALES = join(__dirname, '../../../nodes/locales');

const ENDLESS = '($f := function($n) { $n < 0 ? 0 : $f($n + 1) }; $f(0))';

const map = (expression: string, body: unknown): Promise<unknown> =>
  createMapping(
    () => util.util.prepareJSONataExpression(expression, undefined as never),
    (text) => text.replaceAll('sentinel', '***'),
  )(body);

const failure = async (expression: string, body: unknown = {}): Promise<StripError> => {
  const error: unknown = await map(expression, body).catch((reason: unknown) => reason);
  assert.ok(error instanceof StripError);
  assert.equal(error.code, 'BAD_RESPONSE');
  return error;
};

describe('A mapping', () => {
  it('makes another body of the one that the service sent', async () => {
    const body = { devices: [{ id: 'A0B1C2D3E4F5', s: [1, 0] }] };
    assert.deepEqual(
      JSON.parse(JSON.stringify(await map('{"strips": [devices.{"mac": id, "outlets": s}]}', body))),
      {
        strips: [{ mac: 'A0B1C2D3E4F5', outlets: [1, 0] }],
      },
    );
    assert.deepEqual(body, { devices: [{ id: 'A0B1C2D3E4F5', s: [1, 0] }] });
  });

  it('of the documentation reads the list and the strip of its example', async () => {
    const page = readFileSync(join(__dirname, '../../../docs/behaviour.md'), 'utf8');
    const section = page.slice(page.indexOf('## How answers are read'));
    const block = (kind: string) =>
      new RegExp(`^\`\`\`${kind}\\n([^]*?)^\`\`\``, 'm').exec(section)?.[1] ?? '';
    const list = JSON.parse(block('json')) as { powerbars: [{ serial: string }] };
    const [strip] = list.powerbars;
    const at = '2026-01-01T00:00:00.000Z';
    const read = decodeList(await map(block('jsonata'), list), at).strips;
    const outlets = [true, false].map((on, index) => ({ port: index + 1, on, name: null }));
    assert.deepEqual([read.length, read[0]?.name, read[0]?.outlets], [1, 'Desk', outlets]);
    assert.deepEqual(decodeStrip(await map(block('jsonata'), strip), strip.serial, at).strip, read[0]);
  });

  for (const language of readdirSync(LOCALES)) {
    it(`of the dialog's hint reads a list and a strip (${language})`, async () => {
      const texts = JSON.parse(readFileSync(join(LOCALES, language, 'strip-account.json'), 'utf8')) as {
        'strip-account': { hint: { mapping: string } };
      };
      const [expression = ''] = /\[\$.*\]/.exec(texts['strip-account'].hint.mapping) ?? [];
      const strip = { id: 'A0B1C2D3E4F5', sockets: [true, false, false, true] };
      const at = '2026-01-01T00:00:00.000Z';
      const [read] = decodeList(await map(expression, { devices: [strip] }), at).strips;
      assert.deepEqual(
        read?.outlets.map(({ on }) => on),
        strip.sockets,
      );
      assert.deepEqual(decodeStrip(await map(expression, strip), strip.id, at).strip, read);
    });
  }

  for (const [what, expression] of Object.entries({
    'a list': '[s.{"mac": id, "name": t, "outlets": o.{"port": n, "on": a = "Y"}}]',
    'an object keyed by MAC': 's{id: {"name": t, "outlets": o.{"port": n, "on": a = "Y"}}}',
  })) {
    it(`makes ${what} of 1,000 strips`, async () => {
      const o = [1, 2, 3, 4].map((n) => ({ n, a: 'Y' }));
      const s = Array.from({ length: 1_000 }, (_, index) => ({ id: `a0b1c2d3${1_000 + index}`, t: 'x', o }));
      const { strips } = decodeList(await map(expression, { s }), '2026-01-01T00:00:00.000Z');
      assert.equal(strips.length, 1_000);
      assert.ok(
        strips.every(({ outlets }) => outlets.length === 4 && outlets.every(({ on }) => on === true)),
      );
    });
  }

  it('of what is not there is nothing', async () => assert.equal(await map('nothing.here', {}), null));

  it("fails with JSONata's own words and the place", async () => {
    const error = await failure('strips.(');
    assert.equal(error.sentenceKey, 'BAD_RESPONSE.mappingAt');
    assert.equal(error.params.position, 8);
    assert.match(String(error.params.reason), /end of expression/);
  });

  it('fails with the body at hand, and without the key', async () => {
    const error = await failure('$error("it is sentinel")', { strips: 1 });
    assert.deepEqual(error.response, { strips: 1 });
    assert.match(String(error.params.reason), /it is \*\*\*/);
  });

  it('gives the reason in one line, as it may hold texts of the service', async () => {
    const error = await failure('$error(said)', { said: 'no\r\n1 Jan 00:00:00 - [error]\u2028forged' });
    assert.equal(error.params.reason, 'no 1 Jan 00:00:00 - [error] forged');
  });

  it('gives the reason in short, and says that it is cut', async () => {
    const error = await failure(`$error("${'x'.repeat(300)}")`);
    assert.match(String(error.params.reason), /^.{199}…$/);
  });

  it('without a place names none', async () => {
    const failing = createMapping(
      () => ({ assign: () => undefined, evaluate: () => Promise.reject(new Error('no')) }),
      (text) => text,
    );
    const response = { strips: 1 };
    const sentenceKey = 'BAD_RESPONSE.mapping';
    await assert.rejects(failing(response), { sentenceKey, params: { reason: 'no' }, response });
  });

  it('ends where it calls itself without end', async () => {
    const error = await failure('($f := function($n) { 1 + $f($n + 1) }; $f(0))');
    assert.match(String(error.params.reason), /calls itself/);
  });

  it('ends where it takes too long', async () => {
    const error = await failure(ENDLESS);
    assert.match(String(error.params.reason), /too many steps/);
  }).timeout(60_000);

  it('ends when the account closes, in a part of the expression that is evaluated later, too', async () => {
    for (const expression of [ENDLESS, `$eval('${ENDLESS}')`]) {
      let isClosed = false;
      const mapping = createMapping(
        () => util.util.prepareJSONataExpression(expression, undefined as never),
        (text) => text,
      );
      const result = mapping({}, () => isClosed);
      setImmediate(() => (isClosed = true));
      await assert.rejects(result, { sentenceKey: 'CLOSED.account' });
    }
  });

  it('has 2,000,000 steps', async () => {
    const takes = async (steps: number) => {
      const hooks = new Map<unknown, () => unknown>();
      const expression: Expression = {
        assign: (name, hook) => hooks.set(name, hook as () => unknown),
        evaluate: async () => {
          for (let step = 0; step < steps; step++) {
            await hooks.get('__evaluate_entry')?.();
            hooks.get('__evaluate_exit')?.();
          }
          return 'done';
        },
      };
      return await createMapping(
        () => expression,
        (text) => text,
      )({});
    };
    assert.equal(await takes(2_000_000), 'done');
    await assert.rejects(takes(2_000_001), { sentenceKey: 'BAD_RESPONSE.mapping' });
  });

  it('lets everything else have its turn between steps that take long', async () => {
    const block = (): void => {
      const end = performance.now() + 25;
      while (performance.now() < end);
    };
    const mapping = createMapping(
      () => {
        const expression = util.util.prepareJSONataExpression(
          '$map([1..20], function($i) { $block() })',
          undefined as never,
        );
        expression.assign('block', block);
        return expression;
      },
      (text) => text,
    );
    let turns = 0;
    const count = (): void => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await mapping({});
    clearImmediate(next);
    assert.ok(turns >= 19, `${turns} turns`);
  });

  it('ends before it takes all memory of the process', async () => {
    const program = `
      const util = require('@node-red/util');
      const { createMapping } = require('./src/api/mapping.ts');
      const prepare = () => util.util.prepareJSONataExpression('strips^(name)');
      const strips = Array.from({ length: 20_000 }, (_, index) => ({ name: index * 7_919 % 20_000 }));
      createMapping(prepare, (text) => text)({ strips }).catch(({ params }) => process.stdout.write(params.reason));`;
    const options = ['--max-old-space-size=256', '--import', 'tsx', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, options, {
      cwd: join(__dirname, '../../..'),
    });
    assert.equal(stdout, 'The expression needs too much memory');
  });

  it('has limits of its own for every answer', async () => {
    const mapping = createMapping(
      () =>
        util.util.prepareJSONataExpression('$sum($map([1..5000], function($n) { $n }))', undefined as never),
      (text) => text,
    );
    assert.deepEqual(await Promise.all([mapping({}), mapping({})]), [12502500, 12502500]);
  });

  describe('counts', () => {
    type Hook = () => unknown;

    /** An expression that calls the hooks itself; `symbols`: those under a symbol, as newer versions of JSONata do. */
    const evaluating = (
      evaluate: (entry: Hook, exit: Hook) => Promise<unknown>,
      symbols = false,
    ): Promise<unknown> => {
      const hooks = new Map<string | symbol, Hook>();
      const named = (name: string): Hook =>
        hooks.get(symbols ? Symbol.for(`jsonata.${name}`) : name) ?? assert.fail(name);
      const expression: Expression = {
        assign: (name, value) => void hooks.set(name, value as Hook),
        evaluate: () => evaluate(named('__evaluate_entry'), named('__evaluate_exit')),
      };
      const mapping = createMapping(
        () => expression,
        (text) => text,
      );
      return mapping({});
    };
    const tooDeep = { params: { reason: 'The expression calls itself too often' } };
    const enter = async (entry: Hook, times: number): Promise<void> => {
      for (let time = 0; time < times; time++) await entry();
    };

    for (const symbols of [false, true]) {
      it(`30,000 parts that do not end as enough, by hooks under ${symbols ? 'symbols' : 'names'}`, async () => {
        await evaluating((entry) => enter(entry, 30_000), symbols);
        await assert.rejects(
          evaluating((entry) => enter(entry, 30_001), symbols),
          tooDeep,
        );
      });
    }

    it('parts only until they end', async () => {
      await evaluating(async (entry, exit) => {
        for (let part = 0; part < 40_000; part++) {
          await entry();
          exit();
        }
      });
    });
  });
});
