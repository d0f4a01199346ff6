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

const isMac = (mac: string): boolean => mac.trim() !== '' && !/[/\\]/.test(mac);

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

/** Checks whatever is read from `inputs`, which is more than nothing; the rest fails with one of `codes`. */
async function checkReads<Given, Result>(
  inputs: fc.Arbitrary<Given>,
  read: (given: Given) => Result | Promise<Result>,
  codes: string[],
  check: (result: Result) => void,
  numRuns = 300,
): Promise<void> {
  let count = 0;
  const property = fc.asyncProperty(inputs, async (given) => {
    const result = await attempt(() => read(given), ...codes);
    if (result === null) return;
    count++;
    check(result);
  });
  await fc.assert(property, { numRuns });
  assert(count > 0, 'nothing could be read');
}

describe('any message', () => {
  const given = fc.record({ properties: config, msg: message });

  it('is either an accepted command or INVALID_INPUT', async () => {
    await checkReads(
      given,
      ({ properties, msg }) => commandReader(properties, noEvaluate)(msg, nothing()),
      ['INVALID_INPUT', 'NOT_CONFIGURED'],
      ({ commands }) => {
        assert(commands.length > 0);
        for (const command of commands) {
          assert([1, 2, 3, 4, 'all'].includes(command.port));
          assert(isMac(command.mac));
          assert.equal(command.action, meaning(command.requested));
          if (command.action === 'cycle') assert(command.delay >= 1000 && command.delay <= 3_600_000);
        }
      },
      3000,
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
    await checkReads(
      given,
      ({ properties, msg }) => statusRequestReader(properties, noEvaluate)(msg, nothing()),
      ['INVALID_INPUT', 'NOT_CONFIGURED'],
      ({ mac, port }) => assert(isMac(mac) && [1, 2, 3, 4, 'all'].includes(port)),
    );
  });
});

describe('any flow file', () => {
  const number = fc.oneof(fc.integer({ min: -10, max: 200 }), fc.integer(), fc.double()).map(String);
  /** Properties as the editor saves them, but for some that are anything else or missing. */
  const near = (saved: Record<string, fc.Arbitrary<unknown>>) =>
    fc.record(
      Object.fromEntries(
        Object.entries(saved).map(([name, usual]) => [
          name,
          fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: anything }),
        ]),
      ),
      { requiredKeys: [] },
    );

  it('gives an account settings within their bounds, or NOT_CONFIGURED', async () => {
    const outlets = fc.array(fc.record({ mac: nearMac, port: fc.constantFrom<unknown>(1, '4', 'all') }));
    await checkReads(
      near({
        baseUrl: fc.string(),
        interval: number,
        timeout: number,
        retryFor: number,
        concurrency: number,
        tls: fc.string(),
        proxy: fc.string(),
        protectedOutlets: fc.oneof(fc.constant([]), outlets),
      }),
      readAccountSettings,
      ['NOT_CONFIGURED'],
      ({ interval, timeout, retryFor, concurrency, protectedOutlets }) => {
        assert(interval >= 5000 && interval <= 86_400_000);
        assert(timeout >= 100 && timeout <= 600_000);
        assert(retryFor >= 0 && retryFor <= 86_400_000);
        assert(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 100);
        assert(protectedOutlets.every(({ mac, port }) => isMac(mac) && [1, 2, 3, 4].includes(port)));
      },
    );
  });

  it('gives a watching node something to watch, or a reason why not', async () => {
    await checkReads(
      near({
        mac: fc.oneof(fc.constant(MAC), fc.string()),
        macType: fc.constantFrom('str', 'env'),
        port: fc.constantFrom('', '1', '4', '5'),
        output: fc.constantFrom('on', 'port-on'),
        initial: fc.boolean(),
        outlets: fc.boolean(),
        availability: fc.boolean(),
        readings: fc.boolean(),
        change: number,
      }),
      (config) => readWatchOptions(config, () => undefined),
      ['NOT_CONFIGURED', 'INVALID_INPUT'],
      ({ mac, port, change }) => {
        assert(mac === null || isMac(mac));
        assert(port === null || [1, 2, 3, 4].includes(port));
        assert(change >= 0);
      },
    );
  });
});
