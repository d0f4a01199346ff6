import assert from 'node:assert/strict';
import type { Dispatcher } from 'undici';
import { systemClock } from '../../../src/api/clock';
import type { Clock } from '../../../src/api/clock';
import { NO_SIMULATOR, SimulatorDispatcher } from '../../../src/simulator/dispatcher';
import { SHAPES } from '../../../src/simulator/shapes';
import { Simulator } from '../../../src/simulator/simulator';
import { FakeClock } from '../../support/fake-clock';

const MAC = 'A1B2C3D4E5F6';
const PATH = '/sim';
const LIST = `${PATH}/api/public/v1/strips`;

const simulatorWith = (more: { latency?: number; clock?: Clock; shape?: (typeof SHAPES)[number] } = {}) =>
  new Simulator({
    strips: [{ mac: MAC, name: 'Desk strip' }],
    apiKey: '',
    shape: 'plain',
    latency: 0,
    clock: systemClock,
    ...more,
  });

/** One request, and what its handler was told in order. */
function send(
  dispatcher: SimulatorDispatcher,
  request: { path?: string; method?: Dispatcher.HttpMethod; headers?: string[]; body?: string } = {},
  onStart: (controller: Dispatcher.DispatchController) => void = () => undefined,
) {
  const events: string[] = [];
  let status = 0;
  let text = '';
  let failure: unknown;
  let controller: Dispatcher.DispatchController | undefined;
  const over = new Promise<void>((resolve) => {
    const { path = LIST, method = 'GET', headers = ['x-api-key', 'any'], body = null } = request;
    dispatcher.dispatch(
      { origin: 'http://simulator', path, method, headers, body },
      {
        onRequestStart: (given) => {
          events.push('start');
          controller = given;
          onStart(given);
        },
        onResponseStart: (_, code) => {
          events.push('head');
          status = code;
        },
        onResponseData: (_, chunk) => {
          events.push('data');
          text += chunk.toString();
        },
        onResponseEnd: () => {
          events.push('end');
          resolve();
        },
        onResponseError: (_, error) => {
          events.push('error');
          failure = error;
          resolve();
        },
      },
    );
  });
  return {
    over,
    get events() {
      return events.join(' ');
    },
    get status() {
      return status;
    },
    get body() {
      return JSON.parse(text) as unknown;
    },
    get failure() {
      return failure;
    },
    abort: (reason: Error) => controller?.abort(reason),
  };
}

const switchOn: Parameters<typeof send>[1] = {
  path: `${LIST}/${MAC}/switch`,
  method: 'POST',
  headers: ['x-api-key', 'any', 'Content-Type', 'application/json'],
  body: '{"port":1,"on":true}',
};
const codeOf = (error: unknown) => (error as { code?: unknown }).code;
const turns = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
};

describe('a simulator inside the process', () => {
  const toSimulator = (simulator: Simulator | null) =>
    new SimulatorDispatcher(PATH, () => Promise.resolve(simulator));

  for (const shape of SHAPES) {
    it(`answers in the shape ${shape} as it does over HTTP`, async () => {
      const simulator = simulatorWith({ shape });
      const it = send(toSimulator(simulator));
      await it.over;
      assert.deepEqual(
        [it.events, it.status, it.body],
        ['start head data end', 200, JSON.parse(JSON.stringify(simulator.list()))],
      );
    });
  }

  it('carries out a switch', async () => {
    const simulator = simulatorWith();
    const it = send(toSimulator(simulator), switchOn);
    await it.over;
    assert.deepEqual(it.body, { success: true, results: [{ port: 1, ok: true }] });
    assert.equal(simulator.isOn(MAC, 1), true);
  });

  it('answers with the status of what went wrong', async () => {
    const dispatcher = toSimulator(simulatorWith());
    const refused: [request: Parameters<typeof send>[1], status: number][] = [
      [{ headers: [] }, 401],
      [{ path: `${LIST}/none` }, 404],
      [{ path: `${PATH}/elsewhere` }, 404],
      [{ ...switchOn, body: '{"port":5,"on":true}' }, 400],
    ];
    for (const [request, status] of refused) {
      const it = send(dispatcher, request);
      await it.over;
      assert.equal(it.status, status);
    }
  });

  it('fails a request where there is no simulator, before anything is sent', async () => {
    const it = send(toSimulator(null));
    await it.over;
    assert.deepEqual([it.events, codeOf(it.failure)], ['error', NO_SIMULATOR]);
  });

  it('asks at every request which simulator is there', async () => {
    const simulators = [simulatorWith(), null, simulatorWith()];
    const dispatcher = new SimulatorDispatcher(PATH, () => Promise.resolve(simulators.shift() ?? null));
    const events = [];
    for (let i = 0; i < 3; i++) {
      const it = send(dispatcher);
      await it.over;
      events.push(it.events);
    }
    assert.deepEqual(events, ['start head data end', 'error', 'start head data end']);
  });

  it('waits until the simulator has been found', async () => {
    let found: (simulator: Simulator) => void = () => undefined;
    const dispatcher = new SimulatorDispatcher(PATH, () => new Promise((resolve) => (found = resolve)));
    const it = send(dispatcher);
    await turns();
    assert.equal(it.events, '');
    found(simulatorWith());
    await it.over;
    assert.equal(it.status, 200);
  });

  it('answers after the latency, by the clock it is given', async () => {
    const clock = new FakeClock();
    const it = send(toSimulator(simulatorWith({ latency: 5_000, clock })));
    await turns();
    await clock.pass(4_999);
    assert.equal(it.events, 'start');
    await clock.pass(1);
    await it.over;
    assert.equal(it.status, 200);
  });

  it('does not carry out what was given up before it began, and ends it once', async () => {
    const simulator = simulatorWith();
    const reason = new Error('given up');
    const it = send(toSimulator(simulator), switchOn, (controller) => controller.abort(reason));
    await it.over;
    await turns();
    assert.deepEqual([it.events, it.failure, simulator.isOn(MAC, 1)], ['start error', reason, false]);
  });

  it('ends at once what is given up during the latency, although it was carried out', async () => {
    const clock = new FakeClock();
    const simulator = simulatorWith({ latency: 5_000, clock });
    const it = send(toSimulator(simulator), switchOn);
    await turns();
    const reason = new Error('late');
    it.abort(reason);
    it.abort(new Error('again'));
    await it.over;
    await clock.pass(5_000);
    assert.deepEqual([it.events, it.failure, simulator.isOn(MAC, 1)], ['start error', reason, true]);
  });

  it('answers at once what waits when its simulator closes', async () => {
    const simulator = simulatorWith({ latency: 60_000 });
    const it = send(toSimulator(simulator));
    await turns();
    simulator.close();
    await it.over;
    assert.equal(it.status, 200);
  });

  it('fails what is under way when it is destroyed, and everything later', async () => {
    const simulator = simulatorWith({ latency: 60_000 });
    const dispatcher = toSimulator(simulator);
    const first = send(dispatcher);
    await turns();
    await dispatcher.destroy();
    const second = send(dispatcher);
    for (const it of [first, second]) {
      await it.over;
      assert.equal(codeOf(it.failure), 'UND_ERR_DESTROYED');
    }
    simulator.close();
    await turns();
    assert.deepEqual([first.events, second.events], ['start error', 'error']);
  });

  it('ends a request whose handler fails, without an unhandled rejection', async () => {
    const it = send(toSimulator(simulatorWith()), {}, () => {
      throw new Error('a fault of the handler');
    });
    await it.over;
    assert.equal(it.events, 'start error');
  });
});
