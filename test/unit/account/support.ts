import { createClock } from '@sinonjs/fake-timers';
import { Account } from '../../../src/account/account';
import type { ListAnswer, Service, StripAnswer, SwitchAnswer } from '../../../src/api/service';
import type { AccountSettings, Change, Command, Outcome, Progress } from '../../../src/account/types';
import type { Clock } from '../../../src/api/clock';
import { StripError, type ErrorCode, type ErrorDetails } from '../../../src/api/errors';
import type { Port, PortOrAll, Strip } from '../../../src/api/types';
import { PORTS } from '../../../src/api/types';

export const MAC = 'AABBCCDDEEFF';
export const OTHER = '112233445566';

/** Time that stands still until it is moved. */
export class TestClock implements Clock {
  readonly #timers = createClock(0);
  /** What `random` gives; 0.5 leaves an interval as it is. */
  luck: () => number = () => 0.5;
  /** Added to the wall clock only. */
  jump = 0;

  monotonic = (): number => this.#timers.now;
  wall = (): number => 1_800_000_000_000 + this.#timers.now + this.jump;
  random = (): number => this.luck();

  setTimeout(callback: () => void, ms: number): object | number {
    return this.#timers.setTimeout(callback, ms);
  }

  clearTimeout(timer: object | number): void {
    this.#timers.clearTimeout(timer as number);
  }

  get pending(): number {
    return this.#timers.countTimers();
  }

  /** Moves on, with all that is to happen on the way. */
  async pass(ms: number): Promise<void> {
    await this.#timers.tickAsync(ms);
    await calm();
  }
}

/** Lets everything happen that needs no time. */
export const calm = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export const failure = (code: ErrorCode, details: ErrorDetails = {}, sentence = 'test'): StripError =>
  new StripError(code, `${code}.${sentence}`, details);

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

export const listOf = (...strips: Strip[]): ListAnswer => ({
  strips: structuredClone(strips),
  complete: true,
  readable: true,
  response: { strips: strips.length },
});

export const stripOf = (strip: Strip): StripAnswer => ({
  strip: structuredClone(strip),
  readable: true,
  response: { strip: strip.mac },
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
    if (this.over) return;
    this.over = true;
    this.#refuse(error);
  }
}

/** A service in which every request waits until the test, or `auto`, answers it. */
export class TestService implements Service {
  readonly lists: Call<ListAnswer>[] = [];
  readonly gets: Call<StripAnswer>[] = [];
  readonly switches: Call<SwitchAnswer>[] = [];
  readonly all: Call[] = [];
  readonly #clock: TestClock;
  autoList: (() => Promise<ListAnswer>) | null = null;
  autoGet: ((mac: string) => Promise<StripAnswer>) | null = null;
  autoSwitch: ((mac: string, port: PortOrAll, on: boolean) => Promise<SwitchAnswer>) | null = null;
  closed: number | null = null;

  constructor(clock: TestClock) {
    this.#clock = clock;
  }

  list(): Promise<ListAnswer> {
    const call = new Call<ListAnswer>('list', this.#clock.monotonic());
    return this.#take(call, this.lists, this.autoList);
  }

  get(mac: string): Promise<StripAnswer> {
    const call = new Call<StripAnswer>('get', this.#clock.monotonic(), mac);
    const { autoGet } = this;
    return this.#take(call, this.gets, autoGet && (() => autoGet(mac)));
  }

  switch(mac: string, port: PortOrAll, on: boolean): Promise<SwitchAnswer> {
    const call = new Call<SwitchAnswer>('switch', this.#clock.monotonic(), mac, port, on);
    const { autoSwitch } = this;
    return this.#take(call, this.switches, autoSwitch && (() => autoSwitch(mac, port, on)));
  }

  async close(graceMs: number): Promise<void> {
    this.closed = graceMs;
    const abort = (calls: Call[]): void => calls.forEach((call) => call.abort(failure('CLOSED')));
    abort([...this.lists, ...this.gets] as Call[]);
    const open = (): boolean => this.switches.some((call) => !call.over);
    if (open() && graceMs > 0) {
      await new Promise<void>((resolve) => {
        const timer = this.#clock.setTimeout(resolve, graceMs);
        for (const call of this.switches) {
          const ended = (): void => {
            if (open()) return;
            this.#clock.clearTimeout(timer);
            resolve();
          };
          call.promise.then(ended, ended);
        }
      });
    }
    abort(this.switches as Call[]);
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
    if (this.closed !== null) call.abort(failure('CLOSED'));
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
  response: { success: true, port },
});

/** What the account had to say that concerns no message. */
export class TestLog {
  readonly lines: string[] = [];
  failing = (error: StripError): void => void this.lines.push(`failing ${error.code}`);
  recovered = (): void => void this.lines.push('recovered');
  unreadable = (what: string): void => void this.lines.push(`unreadable ${what}`);
  dropped = (count: number): void => void this.lines.push(`dropped ${count}`);
  retrying = (error: StripError): void => void this.lines.push(`retrying ${error.code}`);
  retryingOver = (): void => void this.lines.push('retrying over');
  rateLimited = (seconds: number): void => void this.lines.push(`rate limited ${seconds}`);
  unknownOutlet = (kind: string, mac: string, port: Port): void =>
    void this.lines.push(`unknown ${kind} ${mac}/${port}`);
  notRestored = ({ mac, port }: Command, error: StripError): void =>
    void this.lines.push(`not restored ${mac}/${port} ${error.code}`);
  fault = (error: unknown): void => void this.lines.push(`fault ${String(error)}`);
}

/** How a promise ended, once it did. */
export interface Ending {
  outcome?: Outcome;
  error?: StripError;
  /** How often it settled. */
  times: number;
  progress: Progress['phase'][];
}

export interface Bench {
  clock: TestClock;
  service: TestService;
  log: TestLog;
  account: Account;
  /** Runs a command and watches how it ends. */
  run: (port: PortOrAll, action: Command['action'], more?: Partial<Command> & { owner?: object }) => Ending;
}

export const SETTINGS: AccountSettings = {
  interval: 30_000,
  retryFor: 30_000,
  timeout: 10_000,
  concurrency: 8,
  protectedOutlets: [],
  outletNames: [],
  units: { load: '', voltage: '', signal: '' },
};

export function bench(settings: Partial<AccountSettings> = {}): Bench {
  const clock = new TestClock();
  const service = new TestService(clock);
  const log = new TestLog();
  const account = new Account({ service, clock, log, settings: { ...SETTINGS, ...settings } });
  return {
    clock,
    service,
    log,
    account,
    run: (port, action, { owner = {}, ...more } = {}) => {
      const ending: Ending = { times: 0, progress: [] };
      account
        .run(
          { mac: MAC, port, action, delay: 5000, ...more },
          {
            owner,
            onProgress: ({ phase }) => ending.progress.push(phase),
          },
        )
        .then(
          (outcome) => {
            ending.outcome = outcome;
            ending.times++;
          },
          (error: unknown) => {
            if (!(error instanceof StripError)) throw error;
            ending.error = error;
            ending.times++;
          },
        );
      return ending;
    },
  };
}

const onOff = (on: boolean | null): string => (on === null ? 'unknown' : on ? 'on' : 'off');

/** A change in short. */
export function said(change: Change): string {
  const first = 'first' in change && change.first ? ' (first)' : '';
  switch (change.kind) {
    case 'account':
      return `account ${change.available ? 'available' : 'unavailable'}${first}`;
    case 'strip':
      return `${change.strip.mac} ${change.available ? 'available' : 'unavailable'}${first}`;
    case 'outlet':
      return `${change.strip.mac}/${change.port} ${onOff(change.on)}${first}`;
    case 'reading':
      return `${change.strip.mac} ${change.name} ${change.value}${first}`;
    case 'description':
    case 'removed':
      return `${change.strip.mac} ${change.kind}`;
  }
}

export const ports = (...list: Port[]): Port[] => list;
