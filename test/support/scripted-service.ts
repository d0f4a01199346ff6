import assert from 'node:assert/strict';
import { errors } from '../../nodes/locales/en-US/strip-account.json';
import { StripError, type ErrorCode, type ErrorDetails, type Params } from '../../src/api/errors';
import {
  type JsonBody,
  type ListAnswer,
  type Port,
  type PortOrAll,
  PORTS,
  type Service,
  type Strip,
  type StripAnswer,
  type SwitchAnswer,
  type Timer,
} from '../../src/api/types';
import { ownProperty } from '../../src/values';
import { calm, type FakeClock } from './fake-clock';

export const MAC = 'AABBCCDDEEFF';
export const OTHER = '112233445566';

export type FailureDetails = ErrorDetails & { params?: Params };

/** Details of a failure without a connection. */
export const NOT_SENT = { notSent: true };

export const failure = (
  code: ErrorCode,
  { params, ...details }: FailureDetails = {},
  sentence = 'test',
): StripError => new StripError(`${code}.${sentence}`, params, details);

/** Checks that the catalogue has the sentence of an error: some keys are put together from parts, so that no search of the source finds them. */
export function assertSentence({ sentenceKey }: StripError): void {
  const [code = '', sentence = ''] = sentenceKey.split('.');
  // A test made this error itself.
  if (sentence === 'test') return;
  assert.equal(typeof ownProperty(ownProperty(errors, code), sentence), 'string', `no ${sentenceKey}`);
}

export function makeStrip(mac: string, on: readonly (boolean | null)[], more: Partial<Strip> = {}): Strip {
  return {
    mac,
    name: null,
    available: true,
    outlets: on.map((state, index) => ({ port: PORTS[index] ?? 1, on: state, name: null })),
    load: null,
    voltage: null,
    signal: null,
    units: {},
    at: '2027-01-15T08:00:00.000Z',
    ...more,
  };
}

/** A strip with names for its outlets. */
export const withNames = (strip: Strip, nameOf: (port: Port) => string | null): Strip => ({
  ...strip,
  outlets: strip.outlets.map((outlet) => ({ ...outlet, name: nameOf(outlet.port) })),
});

/** A JSON body as the service's client hands it over. */
export const bodyOf = (response: unknown): JsonBody => ({ response, text: JSON.stringify(response) });

export const listOf = (...strips: Strip[]): ListAnswer => ({
  strips: structuredClone(strips),
  complete: true,
  readable: true,
  ...bodyOf({ strips: strips.length }),
});

export const stripOf = (strip: Strip, saysOnline = strip.available): StripAnswer => ({
  strip: structuredClone(strip),
  saysOnline,
  readable: true,
  ...bodyOf({ strip: strip.mac }),
});

/** One request that reached the service, until somebody answers it. */
export class Call<Reading = unknown> {
  over = false;
  readonly promise: Promise<Reading>;
  #settle: (reading: Reading) => void = () => undefined;
  #refuse: (error: unknown) => void = () => undefined;

  constructor(
    readonly kind: 'list' | 'get' | 'switch',
    readonly at: number,
    readonly mac = '',
    readonly port: PortOrAll = 'all',
    readonly on = false,
  ) {
    this.promise = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#refuse = reject;
    });
  }

  /** Short, for comparing whole histories. */
  get text(): string {
    return this.kind === 'switch'
      ? `${this.mac}/${this.port} ${this.on ? 'on' : 'off'}`
      : `${this.kind} ${this.mac}`;
  }

  async answer(reading: Reading): Promise<void> {
    this.over = true;
    this.#settle(reading);
    await calm();
  }

  async fail(error: unknown): Promise<void> {
    this.over = true;
    this.#refuse(error);
    await calm();
  }

  abort(error: unknown): void {
    if (!this.over) void this.fail(error);
  }
}

/** A service in which every request waits until the test, or `auto`, answers it. */
export class ScriptedService implements Service {
  readonly lists: Call<ListAnswer>[] = [];
  readonly gets: Call<StripAnswer>[] = [];
  readonly switches: Call<SwitchAnswer>[] = [];
  readonly all: Call[] = [];
  autoList: (() => Promise<ListAnswer>) | null = null;
  autoGet: ((mac: string) => Promise<StripAnswer>) | null = null;
  autoSwitch: ((mac: string, port: PortOrAll, on: boolean) => Promise<SwitchAnswer>) | null = null;
  closed = false;
  #graceTimer: Timer | null = null;

  constructor(private readonly clock: FakeClock) {}

  list(): Promise<ListAnswer> {
    const call = new Call<ListAnswer>('list', this.clock.elapsed);
    return this.#take(call, this.lists, this.autoList);
  }

  get(mac: string): Promise<StripAnswer> {
    const call = new Call<StripAnswer>('get', this.clock.elapsed, mac);
    const { autoGet } = this;
    return this.#take(call, this.gets, autoGet && (() => autoGet(mac)));
  }

  switch(mac: string, port: PortOrAll, on: boolean): Promise<SwitchAnswer> {
    const call = new Call<SwitchAnswer>('switch', this.clock.elapsed, mac, port, on);
    const { autoSwitch } = this;
    return this.#take(call, this.switches, autoSwitch && (() => autoSwitch(mac, port, on)));
  }

  beginClose(graceMs: number): void {
    this.#abort([...this.lists, ...this.gets] as Call[]);
    const underWay = [...this.switches] as Call[];
    this.#graceTimer = this.clock.setTimeout(() => this.#abort(underWay), graceMs);
  }

  close(): Promise<void> {
    this.closed = true;
    this.clock.clearTimeout(this.#graceTimer);
    this.#abort([...this.lists, ...this.gets, ...this.switches] as Call[]);
    return Promise.resolve();
  }

  #abort(calls: readonly Call[]): void {
    for (const call of calls) call.abort(failure('CLOSED'));
  }

  /** What reached the service, in order. */
  get texts(): string[] {
    return this.all.map(({ text }) => text);
  }

  get switchTexts(): string[] {
    return this.switches.map(({ text }) => text);
  }

  /** The newest request to switch. */
  get last(): Call<SwitchAnswer> {
    const call = this.switches.at(-1);
    if (call === undefined) throw new Error('nothing was switched');
    return call;
  }

  #take<Reading>(
    call: Call<Reading>,
    calls: Call<Reading>[],
    auto: (() => Promise<Reading>) | null,
  ): Promise<Reading> {
    calls.push(call);
    this.all.push(call as Call);
    if (this.closed) call.abort(failure('CLOSED'));
    else if (auto !== null) {
      auto().then(
        (reading) => void call.answer(reading),
        (error: unknown) => void call.fail(error),
      );
    }
    return call.promise;
  }
}

export const yes = (port: PortOrAll = 1): SwitchAnswer => ({
  results: port === 'all' ? PORTS.map((each) => ({ port: each, ok: true })) : [{ port, ok: true }],
  confirmed: port === 'all' ? [...PORTS] : [port],
  ...bodyOf({ success: true, results: [{ port, ok: true }] }),
});
