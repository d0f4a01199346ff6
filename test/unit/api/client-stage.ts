import assert from 'node:assert/strict';
import { Client, type ClientOptions } from '../../../src/api/client';
import { PooledDispatcher, type DispatcherOptions } from '../../../src/api/dispatcher';
import { parseBaseUrl } from '../../../src/api/connection-settings';
import { isStripError, type StripError } from '../../../src/api/errors';
import { FakeClock } from '../../support/fake-clock';
import { assertSentence } from '../../support/scripted-service';
import { API_KEY, startService, STRIPS, type TestService } from '../../support/service';

export const MAC = STRIPS[0].mac;

/** The error it rejects with, which must be one of ours, have a sentence in the catalogue and hold no secret. */
export async function failureOf(promise: Promise<unknown>): Promise<StripError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(isStripError(error), String(error));
    assertSafe(error);
    assertSentence(error);
    return error;
  }
  throw new assert.AssertionError({ message: 'it succeeded' });
}

/** No error may hold the key, wherever one looks. */
function assertSafe(error: StripError): void {
  const { cause, message, stack, params, code, sentenceKey } = error;
  const inner = cause instanceof Error ? [cause.message, cause.stack, Object.entries(cause)] : cause;
  const text = JSON.stringify([message, stack, params, code, sentenceKey, inner]);
  assert.ok(!text.includes(API_KEY), text);
}

/** A client and its service, created for each test. */
export class ClientStage {
  readonly clock = new FakeClock();
  readonly #clients: Client[] = [];

  private constructor(readonly service: TestService) {}

  static async open(): Promise<ClientStage> {
    return new ClientStage(await startService());
  }

  /** One more client. */
  connect(
    baseUrl = this.service.baseUrl,
    options: Partial<DispatcherOptions> &
      Partial<Pick<ClientOptions, 'apiKey' | 'clock' | 'timeout' | 'mapping'>> = {},
  ): Client {
    const { apiKey = API_KEY, clock = this.clock, timeout = 10_000, mapping, ...rest } = options;
    const base = parseBaseUrl(baseUrl);
    const made = new Client({
      baseUrl: base,
      apiKey,
      timeout,
      clock,
      mapping: mapping ?? null,
      dispatcher: new PooledDispatcher({ origin: base.url.origin, connections: 2, timeout, ...rest }),
    });
    this.#clients.push(made);
    return made;
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((one) => one.close()));
    assert.equal(this.clock.pending, 0, 'a timer was left');
    await this.service.close();
  }
}
