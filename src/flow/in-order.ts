/** Lets results through in the order in which they were asked for, however long each takes. */
export class InOrder {
  #last: Promise<unknown> = Promise.resolve();

  /** Settles as `result` does, but not before all that were handed in earlier. */
  wait<Result>(result: Promise<Result>): Promise<Result> {
    const turn = Promise.allSettled([result, this.#last]).then(([own]) => {
      if (own.status === 'rejected') throw own.reason;
      return own.value;
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
