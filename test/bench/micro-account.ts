import { Account } from '../../src/account/account';
import { State } from '../../src/account/state';
import type { AccountLog, Change } from '../../src/account/types';
import { systemClock } from '../../src/api/clock';
import { decodeList } from '../../src/api/decode';
import type { Service, SwitchReading } from '../../src/api/service';
import { PORTS } from '../../src/api/types';
import { speak } from '../../src/simulator/shapes';
import { pictures } from './pictures';
import { heapUsed, time } from './timing';

const AT = '2026-01-01T00:00:00.000Z';
const MAC = 'A1B2C3D4E5F6';

export interface StateFigure {
  strips: number;
  /** Microseconds. */
  parse: number;
  update: number;
}

/** Taking in a list in which one outlet has changed, at the side of parsing its text. */
export function measureState(sizes: readonly number[], rounds: number): StateFigure[] {
  return sizes.map((strips) => {
    const [text, other] = [false, true].map((on) => {
      const all = pictures(strips);
      const [first, ...others] = all;
      const changed = first && { ...first, outlets: PORTS.map((port) => ({ port, on })) };
      return JSON.stringify(speak('plain').list(changed ? [changed, ...others] : all));
    });
    if (text === undefined || other === undefined) throw new Error('nothing to parse');
    const lists = [text, other].map((each) => decodeList(JSON.parse(each), AT));
    let changes = 0;
    const state = new State(
      (found: readonly Change[]) => void (changes += found.length),
      () => true,
    );
    let turn = 0;
    const update = (): void => {
      const list = lists[turn++ % 2];
      if (list) state.list(list.strips, list.complete, state.draw(), () => false);
    };
    const [parse = NaN, updating = NaN] = time([() => JSON.parse(text) as unknown, update], rounds);
    // All outlets of the first strip, every time but the first.
    if (changes < turn) throw new Error('no changes were found');
    return { strips, parse, update: updating };
  });
}

const silent: AccountLog = {
  failing: () => undefined,
  recovered: () => undefined,
  unreadable: () => undefined,
  dropped: () => undefined,
  retrying: () => undefined,
  retryingOver: () => undefined,
  rateLimited: () => undefined,
  unknownOutlet: () => undefined,
  notRestored: () => undefined,
  fault: (error) => {
    throw error;
  },
};

/** A service that answers at once, or not before it is let. */
function stub(held?: Promise<void>): Service {
  const confirmed = async (port: number): Promise<SwitchReading> => {
    if (held) await held;
    const results = [{ port, ok: true }];
    return { results, response: { success: true, results } };
  };
  return {
    list: () => Promise.resolve({ strips: [], complete: true, readable: true, response: [] }),
    get: () => Promise.reject(new Error('not asked for')),
    switch: (_, port) => confirmed(Number(port)),
    close: () => Promise.resolve(),
  };
}

const accountOn = (service: Service): Account =>
  new Account({
    service,
    settings: {
      interval: 30_000,
      retryFor: 30_000,
      concurrency: 8,
      timeout: 10_000,
      protectedOutlets: [],
      outletNames: [],
      units: { load: '', voltage: '', signal: '' },
    },
    clock: systemClock,
    log: silent,
  });

export interface WaitingFigure {
  commands: number;
  /** Microseconds per command, from being asked to being confirmed. */
  each: number;
  /** Bytes per waiting command. */
  heap: number;
}

/** Commands for one and the same outlet, all waiting behind the first. */
export async function measureWaiting(counts: readonly number[], rounds: number): Promise<WaitingFigure[]> {
  const figures = counts.map((commands) => ({ commands, each: Infinity, heap: NaN }));
  // The round before the first warms everything up, the largest number first.
  for (let round = -1; round < rounds; round++) {
    for (const figure of round < 0 ? figures.toReversed() : figures) {
      let release = (): void => undefined;
      const account = accountOn(stub(new Promise<void>((resolve) => (release = resolve))));
      const before = heapUsed();
      const start = performance.now();
      const waiting: Promise<unknown>[] = [];
      for (let index = 0; index < figure.commands; index++) {
        waiting.push(account.run({ mac: MAC, port: 1, action: index % 2 === 0, delay: 0 }));
      }
      const asked = performance.now();
      figure.heap = (heapUsed() - before) / figure.commands;
      const released = performance.now();
      release();
      await Promise.all(waiting);
      const took = asked - start + performance.now() - released;
      if (round >= 0) figure.each = Math.min(figure.each, (took * 1000) / figure.commands);
      await account.close();
    }
  }
  return figures;
}

export interface ListeningFigure {
  listeners: number;
  /** Microseconds for a confirmed switch that all of them are told of. */
  each: number;
}

/** A switch that many `strip watch` nodes are told of. */
export async function measureListening(
  counts: readonly number[],
  switches: number,
): Promise<ListeningFigure[]> {
  const figures: ListeningFigure[] = [];
  // The first one twice, for the compiler to have done with it.
  for (const listeners of [...counts.slice(0, 1), ...counts]) {
    const account = accountOn(stub());
    let told = 0;
    for (let index = 0; index < listeners; index++) account.subscribe(() => told++);
    const turn = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index++) {
        await account.run({ mac: MAC, port: 1, action: index % 2 === 0, delay: 0 });
      }
    };
    await turn(switches);
    const before = told;
    const start = performance.now();
    await turn(switches);
    figures.push({ listeners, each: ((performance.now() - start) * 1000) / switches });
    if (told - before < switches * listeners) throw new Error('listeners were not told');
    await account.close();
  }
  return figures.slice(1);
}
