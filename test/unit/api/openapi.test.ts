import { createConfig, lintFromString } from '@redocly/openapi-core';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { Client } from '../../../src/api/client';
import { PooledDispatcher } from '../../../src/api/dispatcher';
import { parseBaseUrl } from '../../../src/api/connection-settings';
import { systemClock } from '../../../src/api/types';
import { startService, STRIPS, type Recorded, type TestService } from '../../support/service';

const source = readFileSync(join(__dirname, '../../../src/api/openapi.yaml'), 'utf8');
const document: unknown = parse(source);

/** A part of the document; fails the test where it is not there. */
function at(...path: string[]): Record<string, unknown> {
  let part = document;
  for (const name of path) {
    assert.ok(typeof part === 'object' && part !== null && name in part, `no ${path.join(' / ')}`);
    part = (part as Record<string, unknown>)[name];
  }
  assert.ok(typeof part === 'object' && part !== null);
  return part as Record<string, unknown>;
}

describe('The OpenAPI document', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema({ $id: 'openapi', ...at() });
  const validator = (name: string): ValidateFunction =>
    ajv.compile({ $ref: `openapi#/components/schemas/${name}` });

  it('keeps the recommended rules', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source, absoluteRef: 'openapi.yaml', config });
    assert.deepEqual(
      problems.map(
        ({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ''})`,
      ),
      [],
    );
  });

  it('claims nothing of answers that are not shown', () => {
    for (const path of ['/strips', '/strips/{mac}']) {
      assert.deepEqual(
        at('paths', path, 'get', 'responses', '200', 'content', 'application/json', 'schema'),
        {},
      );
    }
    assert.deepEqual(at('components', 'responses', 'NotShown', 'content', 'application/json', 'schema'), {});
  });

  it('marks every assumption', () => {
    for (const [path, method] of [
      ['/strips', 'get'],
      ['/strips/{mac}', 'get'],
      ['/strips/{mac}/switch', 'post'],
    ] as const) {
      assert.equal(typeof at('paths', path, method, 'responses', '200')['x-guess'], 'string');
    }
  });

  describe('and the client', () => {
    let service: TestService;
    let client: Client;
    beforeEach(async () => {
      service = await startService();
      const base = parseBaseUrl(service.baseUrl);
      const dispatcher = new PooledDispatcher({ origin: base.url.origin, connections: 1, timeout: 10_000 });
      client = new Client({
        baseUrl: base,
        apiKey: service.apiKey,
        timeout: 5_000,
        dispatcher,
        clock: systemClock,
      });
    });
    afterEach(async () => {
      await client.close();
      await service.close();
    });

    /** The operation that a request is, by method and path; fails the test where there is none. */
    function operationOf({ method, path }: Recorded): Record<string, unknown> {
      for (const [template, item] of Object.entries(at('paths'))) {
        const pattern = new RegExp(`^/api/public/v1${template.replace('{mac}', '[^/]+')}$`);
        if (!pattern.test(path) || typeof item !== 'object' || item === null) continue;
        const operation = (item as Record<string, unknown>)[method.toLowerCase()];
        if (operation !== undefined) return operation as Record<string, unknown>;
      }
      throw new assert.AssertionError({ message: `${method} ${path} is not documented` });
    }

    it('agree about every request', async () => {
      const { mac } = STRIPS[0];
      await client.list();
      await client.get(mac);
      for (const port of [1, 2, 3, 4, 'all'] as const) {
        await client.switch(mac, port, true);
        await client.switch(mac, port, false);
      }
      const isRequest = validator('SwitchRequest');
      assert.deepEqual(
        service.requests.map((request) => operationOf(request).operationId),
        ['listStrips', 'getStrip', ...Array.from({ length: 10 }, () => 'switchOutlets')],
      );
      const { name } = at('components', 'securitySchemes', 'apiKey');
      for (const request of service.requests) {
        assert.equal(request.headers[String(name)], service.apiKey);
        if (operationOf(request).requestBody === undefined) assert.equal(request.body, '');
        else {
          assert.equal(request.headers['content-type'], 'application/json');
          assert.ok(isRequest(JSON.parse(request.body)), ajv.errorsText(isRequest.errors));
        }
      }
    });

    it('agree about the answer to a switch', async () => {
      const isResponse = validator('SwitchResponse');
      const { response } = await client.switch(STRIPS[0].mac, 'all', true);
      assert.ok(isResponse(response), ajv.errorsText(isResponse.errors));
      assert.ok(!isResponse({ success: 'yes' }));
      assert.ok(!isResponse({ success: true, results: [{ port: 1 }] }));
    });
  });

  it('allows no switch request but the documented ones', () => {
    const isRequest = validator('SwitchRequest');
    for (const body of [
      { port: 0, on: true },
      { port: 5, on: true },
      { port: '1', on: true },
      { port: 'ALL', on: true },
      { port: 1, on: 1 },
      { port: 1 },
      { on: true },
      { port: 1, on: true, x: 1 },
    ]) {
      assert.ok(!isRequest(body), JSON.stringify(body));
    }
  });
});
