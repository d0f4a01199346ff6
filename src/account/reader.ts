import { failureOf, isStripError, isUnknownStrip } from '../api/errors';
import { macKey } from '../api/mac';
import type { ListAnswer, Service, StripAnswer } from '../api/types';
import type { Requests } from './requests';
import type { StripStore } from './strip-store';

/** A read that is under way, for all callers that ask for the same. */
interface SharedRead<Answer> {
  readonly answer: Promise<Answer>;
  /**
   * `commandRequestsOver` when the read was sent; Infinity: not sent yet. A read that was sent before a command's request ended may show the state
   * before it, so later callers do not share it.
   */
  readonly sentAfter: () => number;
}

/** Reads the service, takes in what it says, and lets simultaneous reads of the same thing share one request. */
export class Reader {
  readonly #lists = new Map<null, SharedRead<ListAnswer>>();
  /** By MAC key. */
  readonly #strips = new Map<string, SharedRead<StripAnswer>>();

  constructor(
    private readonly service: Service,
    private readonly store: StripStore,
    private readonly requests: Requests,
  ) {}

  /** The answer is shared: a caller who hands it on makes a copy. */
  list(): Promise<ListAnswer> {
    return this.#share(this.#lists, null, () => this.#askList());
  }

  /** As `list`. */
  get(mac: string): Promise<StripAnswer> {
    return this.#share(this.#strips, macKey(mac), () => this.askStrip(mac));
  }

  /** One request for a strip, not shared. The caller has acquired the semaphore. */
  async askStrip(mac: string): Promise<StripAnswer> {
    const version = this.store.nextVersion();
    try {
      const answer = await this.withSpelling(mac, (spelling) => this.service.get(spelling));
      return this.store.strip(answer, version);
    } catch (error) {
      if (isUnknownStrip(error)) this.store.missing(mac, version);
      throw error;
    }
  }

  /**
   * Sends a request about a strip, with the MAC in the spelling of the service, which only a list tells. If the service does not know the user's
   * spelling and no list was read yet, reads the list and sends the request again. The caller has acquired the semaphore.
   */
  withSpelling<Answer>(mac: string, send: (spelling: string) => Promise<Answer>): Promise<Answer> {
    const spelling = this.store.spelling(mac);
    return send(spelling).catch(async (error: unknown) => {
      if (!isUnknownStrip(error) || this.store.listed !== null) throw error;
      const listError = await failureOf(this.#askList());
      // The service knows no list either: the base URL is wrong.
      if (listError?.code === 'NOT_FOUND') throw listError;
      if (this.store.spelling(mac) === spelling) throw error;
      return await send(this.store.spelling(mac));
    });
  }

  async #askList(): Promise<ListAnswer> {
    const version = this.store.nextVersion();
    try {
      return this.store.list(await this.service.list(), version);
    } catch (error) {
      if (isStripError(error)) this.store.failed(error, version);
      throw error;
    }
  }

  #share<Key, Answer>(
    underWay: Map<Key, SharedRead<Answer>>,
    key: Key,
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    const current = underWay.get(key);
    if (current !== undefined && current.sentAfter() >= this.requests.commandRequestsOver)
      return current.answer;
    let sentAfter = Infinity;
    const answer = this.requests.send(null, () => {
      sentAfter = this.requests.commandRequestsOver;
      return ask();
    });
    const shared: SharedRead<Answer> = { answer, sentAfter: () => sentAfter };
    underWay.set(key, shared);
    const over = (): void => {
      if (underWay.get(key) === shared) underWay.delete(key);
    };
    answer.then(over, over);
    return answer;
  }
}
