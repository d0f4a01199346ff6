import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020';
import fc from 'fast-check';
import { parse } from 'yaml';
import { handle } from '../../../src/simulator/http';
import { SETTINGS } from '../../../src/settings';
import type { ShapeName } from '../../../src/simulator/shapes';
import { KEY, MAC, simulatorWith } from './support';

const { choices: SHAPES } = SETTINGS['strip simulator'].shape;

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

const document = parse(readFileSync(path.resolve(__dirname, '../../../src/api/openapi.yaml'), 'utf8')) as {
  paths: Record<string, object>;
} & object;
const ajv = new Ajv2020({ strict: false });
ajv.addSchema(document, 'api');
const conforms = (schema: string, value: unknown): boolean =>
  ajv.validate({ $ref: `api#/components/schemas/${schema}` }, value);

describe('the simulator and the API described', () => {
  const setUp = (shape: ShapeName = 'plain') => {
    const simulator = simulatorWith({ shape });
    const ask = async (method: string, at: string, body = '') => {
      const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
      const request = { method, path: `/api/public/v1${at}`, headers, body };
      const { status, headers: sent, body: text } = await handle(simulator, request);
      return { status, type: sent['content-type'], body: JSON.parse(text) as unknown };
    };
    return { simulator, ask };
  };

  for (const [at, operations] of Object.entries(document.paths)) {
    it(`${at} takes the described methods and no other`, async () => {
      const { ask } = setUp();
      for (const method of METHODS) {
        const { status } = await ask(method.toUpperCase(), at.replace('{mac}', MAC));
        assert.equal(status === 405, !Object.hasOwn(operations, method), method);
      }
    });
  }

  it('a switch is taken exactly when its body is as described', async () => {
    const near = fc.record(
      {
        port: fc.oneof(fc.integer({ min: -1, max: 6 }), fc.constantFrom('all', '1', 'ALL', null, 2.5)),
        on: fc.oneof(fc.boolean(), fc.constantFrom(0, 'on', null)),
        more: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(near, fc.jsonValue()), async (body) => {
        const { ask } = setUp();
        const { status } = await ask('POST', `/strips/${MAC}/switch`, JSON.stringify(body));
        assert.equal(status, conforms('SwitchRequest', body) ? 200 : 400);
      }),
      { numRuns: 500 },
    );
  });

  it('every answer to a switch is as described, one entry for each affected port', async () => {
    const { simulator, ask } = setUp();
    for (const available of [true, false]) {
      simulator.apply({ mac: MAC, available });
      for (const port of [1, 2, 3, 4, 'all']) {
        const { status, body } = await ask(
          'POST',
          `/strips/${MAC}/switch`,
          JSON.stringify({ port, on: true }),
        );
        assert.equal(status, 200);
        assert.ok(conforms('SwitchResponse', body));
        const { success, results } = body as { success: boolean; results: { port: number; ok: boolean }[] };
        assert.deepEqual(
          [success, results],
          [
            available,
            (port === 'all' ? [1, 2, 3, 4] : [port]).map((each) => ({ port: each, ok: available })),
          ],
        );
      }
    }
  });

  it('every other answer is JSON, whatever the shape and whatever the status', async () => {
    for (const shape of SHAPES) {
      const { ask } = setUp(shape);
      for (const at of ['/strips', `/strips/${MAC}`, '/strips/none', '/none']) {
        const { type, body } = await ask('GET', at);
        assert.match(type ?? '', /^application\/json/);
        assert.ok(typeof body === 'object' && body !== null);
      }
    }
  });
});
