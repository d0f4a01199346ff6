import assert from 'node:assert/strict';
import fc from 'fast-check';
import { commandReader } from '../../../src/flow/strip-switch';
import { readAccountSettings } from '../../../src/flow/shared-account';
import { isStripError } from '../../../src/api/errors';
import { statusRequestReader } from '../../../src/flow/strip-read';
import { readWatchOptions } from '../../../src/flow/strip-watch';
import { MAC, noEvaluate, nothing } from './support';

const anything = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSparseArray: true,
  withTypedArray: true,
});
const nearState = fc.oneof(
  fc.constantFrom<unknown>(true, false, 1, 0, 'on', 'OFF', ' toggle ', 'cycle', 'True', 'false'),
  fc.constantFrom<unknown>(2, -1, '1', '0', '', 'yes', null, undefined, NaN),
  anything,
);
const nearPort = fc.oneof(
  fc.constantFrom<unknown>(1, 2, 3, 4, '1', '4', 'all', ' ALL '),
  fc.constantFrom<unknown>(0, 5, 2.5, '02', '', true, null),
  anything,
);
const nearMac = fc.oneof(fc.constant<unknown>(MAC), fc.string(), anything);
const nearOutlet = fc.record({ port: nearPort, on: nearState, mac: nearMac }, { requiredKeys: [] });
const nearPayload = fc.oneof(
  nearState,
  nearOutlet,
  fc.array(fc.oneof(nearOutlet, anything), { maxLength: 4 }),
  fc.record({ mac: nearMac, outlets: fc.oneof(fc.array(nearOutlet, { maxLength: 5 }), anything) }),
);
const message = fc.record(
  { payload: nearPayload, port: nearPort, mac: nearMac, delay: anything },
  { requiredKeys: [] },
);
const fixedOr = (name: string, plain: string, values: string[]) =>
  fc.record(
    {
      [name]: fc.oneof(fc.constantFrom<unknown>(...values), anything),
      [`${name}Type`]: fc.constantFrom('message', plain),
    },
    { requiredKeys: [] },
  );
const config = fc
  .tuple(
    fixedOr('mac', 'str', [MAC, '']),
    fixedOr('port', 'port', ['1', 'all', '']),
    fixedOr('on', 'action', ['on', 'toggle', 'cycle', '']),
    fixedOr('delay', 'num', ['5', '0', '']),
  )
  .map(([mac, port, on, delay]): Record<string, unknown> => ({ ...mac, ...port, ...on, ...delay }));

const WORDS = new Map<unknown, unknown>([
  ['on', true],
  ['true', true],
  ['off', false],
  ['false', false],
  ['toggle', 'toggle'],
  ['cycle', 'cycle'],
]);
/** The rule itself, written once more and apart from the code. */
const meaning = (value: unknown): unknown => {
  if (value === true || value === 1) return true;
  if (value === false || value === 0) return false;
  return typeof value === 'string' ? WORDS.get(value.trim().toLowerCase()) : undefined;
};

/** Runs something that may only fail as its users are told. */
async function attempt<Result>(
  run: () => Result | Promise<Result>,
  ...codes: string[]
): Promise<Result | null> {
  try {
    return await run();
  } catch (error) {
    assert(isStripError(error), `not a StripError: ${String(error)}`);
    assert(codes.includes(error.code), error.message);
    return null;
  }
}

describe('any message', () => {
  it('is either an accepted command or INVALID_INPUT', async () => {
    await fc.assert(
      fc.asyncProperty(config, message, async (properties, msg) => {
        const request = await attempt(
          () => commandReader(properties, noEvaluate)(msg, nothing()),
          'INVALID_INPUT',
          'NOT_CONFIGURED',
        );
        if (request === null) return;
        assert(request.commands.length > 0);
        for (const command of request.commands) {
          assert([1, 2, 3, 4, 'all'].includes(command.port));
          assert(command.mac.trim() !== '' && !/[/\\]/.test(command.mac));
          assert.equal(command.action, meaning(command.requested));
          if (command.action === 'cycle') assert(command.delay >= 1000 && command.delay <= 3_600_000);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('never switches by being truthy or falsy', async () => {
    await fc.assert(
      fc.asyncProperty(nearState, async (payload) => {
        const outlet = { mac: MAC, macType: 'str', port: '2', portType: 'port' };
        const expected = meaning(payload);
        fc.pre(expected === undefined && (typeof payload !== 'object' || payload === null));
        const request = await attempt(
          () => commandReader(outlet, noEvaluate)({ payload }, nothing()),
          'INVALID_INPUT',
        );
        assert.equal(request, null);
      }),
    );
  });

  it('asks for a strip, for one outlet, or is INVALID_INPUT', async () => {
    await fc.assert(
      fc.asyncProperty(config, message, async (properties, msg) => {
        const request = await attempt(
          () => statusRequestReader(properties, noEvaluate)(msg, nothing()),
          'INVALID_INPUT',
          'NOT_CONFIGURED',
        );
        if (request === null) return;
        assert([1, 2, 3, 4, 'all'].includes(request.port));
      }),
    );
  });
});

describe('any flow file', () => {
  const names = [
    'baseUrl',
    'interval',
    'timeout',
    'retryFor',
    'concurrency',
    'tls',
    'proxy',
    'protectedOutlets',
  ];
  const properties = (keys: string[]) =>
    fc.record(Object.fromEntries(keys.map((key) => [key, anything])), { requiredKeys: [] });

  it('gives an account settings within their bounds, or NOT_CONFIGURED', async () => {
    await fc.assert(
      fc.asyncProperty(properties(names), async (config) => {
        const settings = await attempt(() => readAccountSettings(config), 'NOT_CONFIGURED');
        if (settings === null) return;
        const { interval, timeout, retryFor, concurrency } = settings;
        assert(interval >= 5000 && retryFor >= 0 && Number.isInteger(concurrency) && concurrency >= 1);
        assert(timeout >= 100 && timeout <= 600_000);
      }),
    );
  });

  it('gives a watching node something to watch, or a reason why not', async () => {
    const keys = [
      'mac',
      'macType',
      'port',
      'output',
      'initial',
      'outlets',
      'availability',
      'readings',
      'change',
    ];
    await fc.assert(
      fc.asyncProperty(properties(keys), async (config) => {
        await attempt(() => readWatchOptions(config, () => undefined), 'NOT_CONFIGURED', 'INVALID_INPUT');
      }),
    );
  });
});
