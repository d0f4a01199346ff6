import { asError, isUnknownStrip, type StripError } from '../api/errors';
import type { Cooldown } from '../api/limits';
import { macKey, READINGS } from '../api/types';
import type { Reader } from './requests';
import type { StripStore, UnlistedReadings } from './strip-store';
import type { AccountOptions } from './types';

/** Longest wait, in milliseconds, before asking a strip again that did not answer, or whose answer added nothing to the list. */
const LONGEST_WAIT = 5 * 60_000;

/** What happened so far when one strip was asked for its readings. */
interface Attempts {
  /** When it may be asked again, on the monotonic clock. */
  due: number;
  /** How many requests failed, one after another, and why the latest did. */
  failures: number;
  error: StripError | null;
}

/** Reads the load, voltage and signal of strips if they are not in the list: one request for each strip. */
export class ReadingsPoll {
  /** Of the strips of the latest round, by `keyOf`. */
  #attempts = new Map<string, Attempts>();

  constructor(
    private readonly options: AccountOptions,
    private readonly store: StripStore,
    private readonly reader: Reader,
    private readonly cooldown: Cooldown,
  ) {}

  /**
   * One round, after a list. It uses about half of the account's parallel requests, so that commands need not wait until it is over. Returns an error
   * if the readings of some strip cannot be read, else `null`.
   */
  async round(): Promise<StripError | null> {
    const { clock, settings } = this.options;
    const strips = this.store.unlistedReadings().map((state) => {
      const none: Attempts = { due: -Infinity, failures: 0, error: null };
      return { state, attempts: this.#attempts.get(keyOf(state)) ?? none };
    });
    this.#attempts = new Map(strips.map(({ state, attempts }) => [keyOf(state), attempts]));
    // There may not be enough time for all strips, so those that have been due for longest come first.
    strips.sort((a, b) => a.attempts.due - b.attempts.due);
    const end = clock.monotonic() + settings.interval;
    // One iterator for all `ask` loops, so that each strip is taken once.
    const turns = strips.values();
    let failure: StripError | null = null;
    const ask = async (): Promise<void> => {
      for (const { state, attempts } of turns) {
        if (!this.store.wantsReadings(state.strip.mac)) continue;
        // Strips that do not answer, or a pause, must not delay the next list for long. A strip that is then not asked still fails if it failed before.
        const isOver = clock.monotonic() > end || this.cooldown.remaining > 0;
        // After its own answer called it offline, only another one can say that it is online again.
        const isAwaited = state.isOfflineByAnswer && attempts.failures === 0;
        if (!isOver && (isAwaited || clock.monotonic() >= attempts.due)) await this.#ask(state, attempts);
        failure ??= attempts.error;
      }
    };
    await Promise.all(Array.from({ length: Math.ceil(settings.concurrency / 2) }, ask));
    return failure;
  }

  async #ask({ strip: { mac }, unlisted }: UnlistedReadings, attempts: Attempts): Promise<void> {
    const { clock, settings } = this.options;
    const version = this.store.nextVersion();
    attempts.due = clock.monotonic();
    try {
      const { strip } = await this.reader.get(mac);
      // If the list has the only readings there are, asking in every round brings nothing new.
      const addsNothing = unlisted.length < READINGS.length && unlisted.every((name) => strip[name] === null);
      const wait = addsNothing && strip.available ? LONGEST_WAIT : 0;
      Object.assign(attempts, { due: clock.monotonic() + wait, failures: 0, error: null });
    } catch (thrown) {
      const error = asError(thrown);
      // It is no failure if the service does not know the strip, or if the list has a MAC that cannot be put into a path.
      attempts.error = isUnknownStrip(error) || error.code === 'INVALID_INPUT' ? null : error;
      if (attempts.error === null || ++attempts.failures < 2) return;
      // A single failure may be chance. From the second on, the readings are unknown, and the strip is asked less and less often.
      this.store.forgetReadings(mac, version);
      attempts.due =
        clock.monotonic() + Math.min(settings.interval * 2 ** (attempts.failures - 1), LONGEST_WAIT);
    }
  }
}

/** The key contains the missing readings. So if the list starts or stops having a reading, the strip's attempts start from zero. */
const keyOf = ({ strip, unlisted }: UnlistedReadings): string => [macKey(strip.mac), ...unlisted].join(' ');
